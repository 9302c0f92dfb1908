"""A copy of the rows of a period, in a temporary folder: the rest of the source is of no concern."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from scorereport._utils.files import TemporaryFolder
from scorereport._utils.processes import undisturbed
from scorereport.audit.databases.lots import read_tables
from scorereport.audit.rows.accepting import extend_flow, tell_counting
from scorereport.audit.rows.lots import open_lots
from scorereport.audit.rows.period_rows import Spool, Spooled
from scorereport.audit.rows.source_rows import list_labels, unchanged
from scorereport.audit.rows.times import local_times
from scorereport.configuration.periods import Period
from scorereport.data.roles import Roles
from scorereport.data.sources import describe
from scorereport.errors import DataError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from scorereport.audit.databases.database_rows import Database
    from scorereport.audit.databases.table_query import TableName
    from scorereport.data.predictions import RowFlow


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Choice:
    """Which rows of a source an audit is about: those of a period, by a column of times if there is one."""

    column: str
    period: Period
    zone: ZoneInfo
    roles: Roles
    drop: bool = False

    @property
    def columns(self) -> list[str]:
        """The columns that are needed."""
        return [*self.roles.numbers, *list_labels(self.roles, self.column)]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Copy:
    """The rows of a period in a file, and how many others there were."""

    folder: TemporaryFolder = field(repr=False)
    choice: Choice
    spooled: Spooled
    order: str

    @property
    def path(self) -> Path:
        """The file."""
        return self.folder.path / "rows.parquet"

    def extend(self, flow: RowFlow) -> RowFlow:
        """The flow of rows from the source on."""
        choice = self.choice
        return extend_flow(flow, self.spooled, choice.column, choice.period, choice.roles)

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Say of refusals in the block how rows are counted, if they name any."""
        try:
            yield
        except DataError as error:
            if " at row " not in str(error):
                raise
            how = tell_counting(self.spooled.rows, self.spooled.read, self.choice.period, self.order)
            raise DataError(f"{error} {how}") from error

    def remove(self) -> None:
        """Remove the file and its folder."""
        with undisturbed():
            self.folder.close()


def copy_file(path: Path, table: str, choice: Choice, below: str | None) -> tuple[Copy, str]:
    """Copy rows of a file, a folder of files or a table of a database in a file; with the hash of that."""
    name, made = describe(path, table or None), None
    try:
        with unchanged(path) as sha256, open_lots(path, table, choice.columns) as lots:
            made = _copy(lots, choice, below, name, "in the order of the file")
    except BaseException:
        if made is not None:
            made.remove()
        raise
    return made, sha256


def copy_database(database: Database, choice: Choice, below: str | None) -> Copy:
    """Copy rows of a table or a query: no connection lasts as long as the work on them."""
    roles, column, table = choice.roles, choice.column, database.table
    lots = read_tables(database, roles.numbers, list_labels(roles, column), column, choice.period)
    options: dict[str, Any] = {}
    if table:
        options = {"counts_others": False, "find_edges": partial(_find_edges, database, table, choice)}
    return _copy(lots, choice, below, database.source, "in the order in which it gave them", **options)


def _find_edges(database: Database, table: TableName, choice: Choice) -> NDArray[np.datetime64]:
    """The first and the last time of a table."""
    return local_times(database.read_edges(table, choice.column), choice.column, choice.zone)


def _copy(
    lots: Iterable[pa.Table], choice: Choice, below: str | None, source: str, order: str, **options: Any
) -> Copy:
    folder = _make_folder(below)
    try:
        spool = Spool(
            source=source,
            path=folder.path / "rows.parquet",
            column=choice.column,
            period=choice.period,
            zone=choice.zone,
            is_time=choice.column == choice.roles.time,
            drop=choice.drop,
            **options,
        )
        return Copy(folder=folder, choice=choice, spooled=spool.fill(lots), order=order)
    except BaseException:
        folder.close()
        raise


def _make_folder(below: str | None) -> TemporaryFolder:
    try:
        return TemporaryFolder(below=below)
    except OSError as error:
        raise UsageError(
            f"`evaluation.temporary_folder` must be a folder that can be written; got {str(below)!r}."
        ) from error
