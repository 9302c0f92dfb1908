"""Reference to rows that stay in a file: the source itself, or a temporary copy of the rows of a period.

It is that of the source, or one of our own with the rows of the period.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from scorereport._utils.files import TemporaryFolder
from scorereport._utils.processes import signals_deferred
from scorereport.audit.databases.database_rows import read_batches
from scorereport.audit.rows.period_rows import RowSpool, SpoolCounts, describe_row_counting, extend_row_flow
from scorereport.audit.rows.period_window import local_times
from scorereport.audit.rows.source_rows import hash_while_unchanged, list_label_columns, open_batches
from scorereport.configuration.periods import Period
from scorereport.data.roles import Roles
from scorereport.data.sources import describe_source
from scorereport.errors import DataError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from scorereport.audit.databases.database_rows import SourceDatabase
    from scorereport.audit.databases.table_query import TableName
    from scorereport.data.predictions import RowFlow
    from scorereport.results.evaluation import Evaluation


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RowSelection:
    """Which rows of a source an audit is about: those of a period, by a column of times if there is one."""

    column: str
    period: Period
    zone: ZoneInfo
    roles: Roles
    drop: bool = False

    @property
    def columns(self) -> list[str]:
        """The columns that are needed."""
        return [*self.roles.numbers, *list_label_columns(self.roles, self.column)]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SourceCopy:
    """The rows of a period in a file, and how many others there were."""

    folder: TemporaryFolder = field(repr=False)
    choice: RowSelection
    spooled: SpoolCounts
    order: str

    @property
    def path(self) -> Path:
        """The file."""
        return self.folder.path / "rows.parquet"

    def extend(self, flow: RowFlow) -> RowFlow:
        """The flow of rows from the source on."""
        choice = self.choice
        return extend_row_flow(flow, self.spooled, choice.column, choice.period, choice.roles)

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Say of refusals in the block how rows are counted, if they name any."""
        try:
            yield
        except DataError as error:
            if " at row " not in str(error):
                raise
            how = describe_row_counting(self.spooled.rows, self.spooled.read, self.choice.period, self.order)
            raise DataError(f"{error} {how}") from error

    def remove(self) -> None:
        """Remove the file and its folder."""
        with signals_deferred():
            self.folder.close()


def copy_file_rows(path: Path, table: str, choice: RowSelection, below: str | None) -> tuple[SourceCopy, str]:
    """Copy rows of a file, a folder of files or a table of a database in a file; with the hash of that."""
    name, made = describe_source(path, table or None), None
    try:
        with hash_while_unchanged(path) as sha256, open_batches(path, table, choice.columns) as lots:
            made = _copy_batches(lots, choice, below, name, "in the order of the file")
    except BaseException:
        if made is not None:
            made.remove()
        raise
    return made, sha256


def copy_database_rows(database: SourceDatabase, choice: RowSelection, below: str | None) -> SourceCopy:
    """Copy rows of a table or a query: no connection lasts as long as the work on them."""
    roles, column, table = choice.roles, choice.column, database.table
    lots = read_batches(database, roles.numbers, list_label_columns(roles, column), column, choice.period)
    options: dict[str, Any] = {}
    if table:
        options = {"counts_others": False, "find_edges": partial(_find_time_range, database, table, choice)}
    return _copy_batches(
        lots, choice, below, database.source, "in the order in which it gave them", **options
    )


def _find_time_range(
    database: SourceDatabase, table: TableName, choice: RowSelection
) -> NDArray[np.datetime64]:
    """The first and the last time of a table."""
    return local_times(database.read_edges(table, choice.column), choice.column, choice.zone)


def _copy_batches(
    lots: Iterable[pa.Table], choice: RowSelection, below: str | None, source: str, order: str, **options: Any
) -> SourceCopy:
    folder = _make_folder(below)
    try:
        spool = RowSpool(
            source=source,
            path=folder.path / "rows.parquet",
            column=choice.column,
            period=choice.period,
            zone=choice.zone,
            is_time=choice.column == choice.roles.time,
            drop=choice.drop,
            **options,
        )
        return SourceCopy(folder=folder, choice=choice, spooled=spool.fill(lots), order=order)
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SourceReference:
    """Where the rows of an audit are, and the hash of the file that is their source if it is one.

    `arguments` are those of `evaluate` beside its settings; `engine` is what will do the work. Rows that were
    copied lie in `copy`, which goes when this is closed.
    """

    path: Path
    arguments: Mapping[str, Any]
    engine: str
    source: str
    source_sha256: str = ""
    copy: SourceCopy | None = field(default=None, repr=False)

    @property
    def data_sha256(self) -> str:
        """Not known before the rows are read."""
        return ""

    def evaluate(self, evaluate: Callable[..., Evaluation], settings: Mapping[str, Any]) -> Evaluation:
        """Evaluate the rows of a source that nobody writes meanwhile."""
        if self.copy is None:
            with hash_while_unchanged(self.path, self.source_sha256):
                return evaluate(self.path, **self.arguments, **settings)
        with self.copy.telling():
            evaluation = evaluate(self.path, **self.arguments, **settings)
        flow = self.copy.extend(evaluation.data.row_flow)
        data = replace(evaluation.data, source=self.source, file_sha256=self.source_sha256, row_flow=flow)
        object.__setattr__(evaluation, "data", data)  # of the source, not of the copy; nobody has seen it yet
        return evaluation

    def close(self) -> None:
        """Remove what was copied."""
        if self.copy is not None:
            self.copy.remove()
