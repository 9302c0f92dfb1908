"""Reference to rows that stay in a file: the source itself, or a temporary copy of the rows of a period."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from zoneinfo import ZoneInfo

from scorereport._utils.files import TemporaryFolder
from scorereport._utils.processes import signals_deferred
from scorereport._utils.row_places import names_positions, positions_restored
from scorereport.audit.databases.database_rows import read_batches
from scorereport.audit.rows.mature_rows import Maturity
from scorereport.audit.rows.period_rows import (
    SOURCE_ROWS,
    UNKNOWN_FILE,
    RowSpool,
    SpoolCounts,
    describe_row_counting,
    extend_row_flow,
)
from scorereport.audit.rows.period_window import local_times
from scorereport.audit.rows.row_hash_collector import HashedColumns, RowHashCollector
from scorereport.audit.rows.source_rows import hash_while_unchanged, list_label_columns, open_batches
from scorereport.audit.rows.unknown_rows import read_unknown_rows
from scorereport.configuration.periods import Period
from scorereport.data.csv_files import use_points
from scorereport.data.roles import Roles
from scorereport.data.sources import describe_source, locate_source, rows_named
from scorereport.errors import DataError, UsageError
from scorereport.evaluation.arguments import Arguments
from scorereport.evaluation.missing_outcome_bounds import bound_batches
from scorereport.evaluation.notes import describe_unbounded
from scorereport.history.row_hashes import RowHashes
from scorereport.history.trend.seal_records import SealCheck

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from scorereport.audit.databases.database_rows import SourceDatabase
    from scorereport.audit.databases.table_query import TableName
    from scorereport.data.csv_format import CsvFormat
    from scorereport.data.predictions import RowFlow
    from scorereport.data.roles import Columns
    from scorereport.inference.missing_outcomes import MissingOutcomes
    from scorereport.results.evaluation import Evaluation


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RowSelection:
    """Which rows of a source an audit uses: those of a period, by a column of times if there is one.

    With `maturity`, only rows that are old enough for a final outcome are used. All rows of the period are
    hashed by the columns in `hashed`, if it is given.
    """

    column: str
    period: Period
    zone: ZoneInfo
    roles: Roles
    drop: bool = False
    maturity: Maturity | None = None
    hashed: HashedColumns | None = None

    @property
    def labels(self) -> list[str]:
        """The columns that are needed and are not numeric."""
        more = () if self.hashed is None else self.hashed.names
        return list_label_columns(self.roles, self.column, more)

    @property
    def columns(self) -> list[str]:
        """The columns that are needed."""
        return [*self.roles.numbers, *self.labels]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SourceCopy:
    """A temporary file with the rows of a period, and how many rows were left out."""

    folder: TemporaryFolder = field(repr=False)
    choice: RowSelection
    spooled: SpoolCounts
    order: str
    hashes: RowHashes | None = field(default=None, repr=False)
    #: Names rows by their positions in the source as people find them there, if the copy keeps these.
    name_rows: Callable[[], AbstractContextManager[None]] | None = field(default=None, repr=False)

    @property
    def path(self) -> Path:
        """The file."""
        return self.folder.path / "rows.parquet"

    def bound_outcomes(self, evaluation: Evaluation, columns: Columns) -> MissingOutcomes | None:
        """Bound the scores of an evaluation of the rows by those without a final outcome.

        Bounds of missing outcomes alone that the evaluation has already are kept, as they include MCB.
        """
        immature = self.spooled.immature
        if evaluation.missing_outcomes is not None and (immature is None or not immature.rows):
            return evaluation.missing_outcomes
        path = self.path.with_name(UNKNOWN_FILE)
        return bound_batches(evaluation, read_unknown_rows(path, columns, self.order, self.name_rows))

    def extend(self, flow: RowFlow) -> RowFlow:
        """Extend the flow of rows to the source."""
        choice = self.choice
        return extend_row_flow(flow, self.spooled, choice.column, choice.period, choice.roles)

    @contextmanager
    def row_counting_explained(self) -> Iterator[None]:
        """Name rows in errors of the block as in the source, or add how they are counted."""
        try:
            with self.name_rows() if self.name_rows else nullcontext(), self._positions_restored():
                yield
        except DataError as error:
            if not names_positions(error):
                raise
            how = describe_row_counting(self.spooled.rows, self.spooled.read, self.choice.period, self.order)
            raise DataError(f"{error} {how}") from error

    def _positions_restored(self) -> AbstractContextManager[None]:
        return positions_restored(self._find_source_rows) if self.name_rows else nullcontext()

    def _find_source_rows(self, rows: Sequence[int]) -> list[int]:
        import pyarrow.parquet as pq

        (column,) = pq.read_table(self.path, columns=[SOURCE_ROWS]).columns
        return [int(column[row].as_py()) for row in rows]

    def remove(self) -> None:
        """Remove the file and its folder."""
        with signals_deferred():
            self.folder.close()


def copy_file_rows(
    path: Path,
    table: str,
    choice: RowSelection,
    temporary_folder: str | Path | None,
    csv_format: CsvFormat | None = None,
) -> tuple[SourceCopy, str]:
    """Copy rows of a file, a folder of files or a table of a database file; also return the source's hash."""
    name, copy = describe_source(path, table or None), None
    name_rows = partial(rows_named, path, table or None, csv_format)
    is_named = locate_source(path, table or None, csv_format).kind.name_rows is not None
    try:
        with (
            hash_while_unchanged(path) as sha256,
            name_rows(),
            open_batches(path, table, choice.columns, csv_format) as batches,
        ):
            numbers = choice.roles.numbers if csv_format and csv_format.decimal == "," else []
            rows = use_decimal_points(batches, numbers)
            copy = _copy_batches(
                rows, choice, temporary_folder, name, "in the order of the file", keeps_rows=is_named
            )
            copy = replace(copy, name_rows=name_rows) if is_named else copy
    except BaseException:
        if copy is not None:
            copy.remove()
        raise
    return copy, sha256


def use_decimal_points(batches: Iterable[pa.Table], numbers: Sequence[str]) -> Iterator[pa.Table]:
    """Write the decimal commas of numbers as points; the copy has no format of its own."""
    before = 0
    for batch in batches:
        changed = batch
        for name in numbers:
            place = batch.column_names.index(name)
            changed = changed.set_column(place, name, use_points(batch[name], name, before))
        before += len(batch)
        yield changed


def copy_database_rows(
    database: SourceDatabase, choice: RowSelection, temporary_folder: str | Path | None
) -> SourceCopy:
    """Copy rows of a table or a query: a connection does not last as long as the evaluation."""
    roles, column, table = choice.roles, choice.column, database.table
    batches = read_batches(database, roles.numbers, choice.labels, column, choice.period)
    options: dict[str, Any] = {}
    if table:
        options = {"counts_others": False, "find_edges": partial(_find_time_range, database, table, choice)}
    return _copy_batches(
        batches, choice, temporary_folder, database.source, "in the order of the database", **options
    )


def _find_time_range(
    database: SourceDatabase, table: TableName, choice: RowSelection
) -> NDArray[np.datetime64]:
    """Return the first and the last time of a table."""
    return local_times(database.read_edges(table, choice.column), choice.column, choice.zone)


def _copy_batches(
    batches: Iterable[pa.Table],
    choice: RowSelection,
    temporary_folder: str | Path | None,
    source: str,
    order: str,
    **options: Any,
) -> SourceCopy:
    folder = _make_folder(temporary_folder)
    collector = None if choice.hashed is None else RowHashCollector(choice.hashed)
    try:
        spool = RowSpool(
            source=source,
            path=folder.path / "rows.parquet",
            column=choice.column,
            outcome=choice.roles.outcome,
            period=choice.period,
            zone=choice.zone,
            is_time=choice.column == choice.roles.time,
            drop=choice.drop,
            maturity=choice.maturity,
            collect=None if collector is None else collector.add_table,
            **options,
        )
        spooled = spool.fill(batches)
        hashes = None if collector is None else collector.finish()
        return SourceCopy(folder=folder, choice=choice, spooled=spooled, order=order, hashes=hashes)
    except BaseException:
        folder.close()
        raise


def _make_folder(temporary_folder: str | Path | None) -> TemporaryFolder:
    try:
        return TemporaryFolder(below=temporary_folder)
    except OSError as error:
        raise UsageError(
            "`evaluation.temporary_folder` must be a folder that can be written; "
            f"got {str(temporary_folder)!r}."
        ) from error


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SourceReference:
    """The path of the rows of an audit, their source, and the hash of the source if it is a file.

    `arguments` are those of `evaluate` beside its settings; `engine` is the engine that evaluates the rows.
    `copy` holds the copied rows, if they were copied; `close` removes it. `hashes` are those of all rows
    of the period, if its forecasts were sealed, and `seal_check` what became of the sealed rows.
    """

    path: Path
    arguments: Arguments
    engine: str
    source: str
    source_sha256: str = ""
    copy: SourceCopy | None = field(default=None, repr=False)
    hashes: RowHashes | None = field(default=None, repr=False)
    seal_check: SealCheck | None = None

    @property
    def data_sha256(self) -> str:
        """Empty: the hash of the rows is not known before they are read."""
        return ""

    def evaluate(self, evaluate: Callable[..., Evaluation], settings: Arguments) -> Evaluation:
        """Evaluate the rows; a source that is not copied must not change meanwhile."""
        if self.copy is None:
            with hash_while_unchanged(self.path, self.source_sha256):
                return evaluate(self.path, **{**self.arguments, **settings})
        with self.copy.row_counting_explained():
            evaluation = evaluate(self.path, **{**self.arguments, **settings})
        missing = self.copy.bound_outcomes(evaluation, cast("Columns", self.arguments))
        flow = self.copy.extend(evaluation.data.row_flow)
        data = replace(evaluation.data, source=self.source, file_sha256=self.source_sha256, row_flow=flow)
        notes = _renew_notes(evaluation, flow, is_bounded=missing is not None)
        # The data of the source, not of the copy. The evaluation is frozen, but not shared yet.
        for name, value in {"data": data, "notes": notes, "missing_outcomes": missing}.items():
            object.__setattr__(evaluation, name, value)
        return evaluation

    @property
    def maturity(self) -> Maturity | None:
        """The age at which outcomes are final, as of a moment; None if every age is accepted."""
        return None if self.copy is None else self.copy.choice.maturity

    @property
    def immature(self) -> int | None:
        """The number of rows that are too young for a final outcome; None if every age is accepted."""
        counted = None if self.copy is None else self.copy.spooled.immature
        return None if counted is None else counted.rows

    def close(self) -> None:
        """Remove the copy."""
        if self.copy is not None:
            self.copy.remove()


def _renew_notes(evaluation: Evaluation, flow: RowFlow, *, is_bounded: bool) -> tuple[str, ...]:
    """The notes, with that on bounds over missing outcomes for all rows of the source."""
    data = evaluation.data
    before = {*describe_unbounded(data.row_flow, data.outcome, engine=evaluation.settings.engine)}
    now = () if is_bounded else describe_unbounded(flow, data.outcome, engine="memory")
    return (*(note for note in evaluation.notes if note not in before), *now)
