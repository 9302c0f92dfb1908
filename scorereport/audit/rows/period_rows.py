"""Rows of a period: written to a file in batches, or checked and counted as predictions in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from scorereport._utils.checks import refuse_places
from scorereport._utils.formatting import format_counted
from scorereport._utils.mistakes import hint_at_dates
from scorereport._utils.progress import report_progress
from scorereport._utils.row_places import ROWS_TO_FIND, names_positions, positions_restored
from scorereport.audit.rows.mature_rows import Maturity, describe_immature_period
from scorereport.audit.rows.period_window import (
    MISSING_TIME_ADVICE,
    describe_empty_period,
    is_in_period,
    parse_times,
)
from scorereport.audit.rows.source_rows import list_label_columns
from scorereport.configuration.periods import Period
from scorereport.data.column_rules import label_text
from scorereport.data.columns import DATE_RULE
from scorereport.data.csv_files import MISSING_WORDS
from scorereport.data.csv_format import FORMAT_ARGUMENTS
from scorereport.data.predictions import DroppedRows, ImmatureRows, MissingValues, RowFlow
from scorereport.data.reader import read_checked
from scorereport.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

    from scorereport._utils.arrays import IntArray
    from scorereport.audit.rows.period_window import PeriodRows
    from scorereport.audit.rows.source_rows import SourceRows
    from scorereport.data.predictions import ClassPredictions, Predictions
    from scorereport.data.roles import Columns, Roles


#: The column of positions in the source; no table of a user has such a name.
SOURCE_ROWS = "row of the source, counted from 0"
#: The column that marks immature rows, in the file of rows without a final outcome.
IS_IMMATURE = "whether the row is too young for a final outcome"
#: The name of the file of rows without a final outcome, beside that of the other rows.
UNKNOWN_FILE = "unknown.parquet"


class SpoolCounts(NamedTuple):
    """How many rows were written and read, and how many of those read were of other days or had no time.

    `immature` counts those that are too young for a final outcome; it is None if every age is accepted.
    """

    rows: int
    read: int
    others: int = 0
    without_time: int = 0
    immature: ImmatureRows | None = None


@dataclass(slots=True, kw_only=True)
class _RuleViolations:
    """Rows that break a rule: how many, the first few of them, and the value of the first."""

    count: int = 0
    rows: list[int] = field(default_factory=list)
    first: Any = None

    def add(self, is_bad: NDArray[np.bool_], values: Any, before: int) -> None:
        places = np.flatnonzero(is_bad)
        if len(places) and not self.count:
            self.first = values[places[0]]
        self.count += len(places)
        room = ROWS_TO_FIND - len(self.rows)
        self.rows += (before + places[:room]).tolist()

    def refuse(self, rule: str, total: int, advice: str = "") -> None:
        if self.count:
            refuse_places(self.first, self.rows, self.count, total, rule, advice)


class _ParquetFile:
    """A file that is opened when the first table is written, and closed with the others."""

    def __init__(self, path: Path, opened: ExitStack) -> None:
        self._path, self._opened = path, opened
        self._writer: Any = None

    def write(self, table: pa.Table) -> None:
        import pyarrow.parquet as pq

        if self._writer is None:
            self._writer = self._opened.enter_context(pq.ParquetWriter(self._path, table.schema))
        self._writer.write_table(table)


@dataclass(slots=True, kw_only=True)
class RowSpool:
    """Selects the rows of a period, by a column of times if there is one, and writes them to a file.

    If the column is also that of `evaluation.time`, its local times are written. With `keeps_rows`, a column
    has the positions of the rows in the source. Rows that are too young for a final outcome and, with `drop`,
    rows without an outcome are written to a file of their own, `UNKNOWN_FILE`, without the outcomes.
    `collect` is given all rows of the period, as they were read, in tables of Arrow.
    """

    source: str
    path: Path
    column: str
    outcome: str
    period: Period
    zone: ZoneInfo
    is_time: bool
    drop: bool
    maturity: Maturity | None = None
    counts_others: bool = True
    keeps_rows: bool = False
    find_edges: Callable[[], NDArray[np.datetime64]] | None = None
    collect: Callable[[Any], None] | None = None
    _read: int = 0
    _written: int = 0
    _missing: _RuleViolations = field(default_factory=_RuleViolations)
    _bad: _RuleViolations = field(default_factory=_RuleViolations)
    _edges: list[np.datetime64] = field(default_factory=list)
    _young: int = 0
    _young_edges: list[np.datetime64] = field(default_factory=list)

    def fill(self, batches: Iterable[pa.Table]) -> SpoolCounts:
        """Write the rows of the period; refuse times that cannot be read, and a source without such rows."""
        with ExitStack() as opened:
            rows = _ParquetFile(self.path, opened)
            unknown = _ParquetFile(self.path.with_name(UNKNOWN_FILE), opened)
            for batch in batches:
                chosen, without_outcome = self._choose(batch)
                rows.write(chosen)
                if len(without_outcome):
                    unknown.write(without_outcome)
                report_progress(f"copying rows of {self.source}", self._read, 0, unit="rows")
        return self._count()

    def _choose(self, batch: pa.Table) -> tuple[pa.Table, pa.Table]:
        """Return the rows of the period with a final age, and those without a final outcome."""
        before = self._read
        self._read += len(batch)
        if not self.column:
            self._written += len(batch)
            self._pass_on(batch)
            nothing = np.zeros(len(batch), dtype=np.bool_)
            return batch, self._mark_young(batch, nothing).filter(self._lack_outcome(batch))
        values = batch.column(self.column).to_pandas()
        times, is_bad = parse_times(values, self.zone)
        is_missing = np.isnat(times) & ~is_bad
        self._bad.add(is_bad, values.to_numpy(), before)
        self._missing.add(is_missing, np.full(len(times), np.nan), before)
        self._edges = _extend_edges(self._edges, times[~np.isnat(times)])
        is_in = is_in_period(times, self.period)
        self._pass_on(batch.filter(is_in))
        is_young = self._find_young(times, is_in)
        is_old = is_in & ~is_young
        self._written += int(is_old.sum())
        rows = self._with_rows(self._with_times(batch, times), before)
        is_unknown = is_young | (is_old & self._lack_outcome(batch))
        return rows.filter(is_old), self._mark_young(rows, is_young).filter(is_unknown)

    def _pass_on(self, rows: pa.Table) -> None:
        if self.collect is not None and len(rows):
            self.collect(rows)

    def _lack_outcome(self, batch: pa.Table) -> NDArray[np.bool_]:
        """Which rows have no outcome; such rows are refused later unless they are dropped."""
        if not self.drop:
            return np.zeros(len(batch), dtype=np.bool_)
        codes, values = batch.column(self.outcome).to_pandas().factorize()
        return np.array([*(label_text(value) in MISSING_WORDS for value in values), True])[codes]

    def _mark_young(self, rows: pa.Table, is_young: NDArray[np.bool_]) -> pa.Table:
        import pyarrow as pa

        return rows.drop_columns([self.outcome]).append_column(IS_IMMATURE, pa.array(is_young))

    def _with_rows(self, batch: pa.Table, before: int) -> pa.Table:
        import pyarrow as pa

        if not self.keeps_rows:
            return batch
        return batch.append_column(SOURCE_ROWS, pa.array(np.arange(before, before + len(batch))))

    def _with_times(self, batch: pa.Table, times: NDArray[np.datetime64]) -> pa.Table:
        import pyarrow as pa

        if not self.is_time:
            return batch
        return batch.set_column(batch.column_names.index(self.column), self.column, pa.array(times))

    def _find_young(self, times: NDArray[np.datetime64], is_in: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which rows of the period are too young for a final outcome."""
        if self.maturity is None:
            return np.zeros(len(times), dtype=np.bool_)
        is_young = is_in & ~self.maturity.is_final(times)
        young = times[is_young]
        self._young += len(young)
        self._young_edges = _extend_edges(self._young_edges, young)
        return is_young

    def _count(self) -> SpoolCounts:
        self._bad.refuse(f"`{self.column}` {DATE_RULE}", self._read, hint_at_dates([self._bad.first]))
        if not self.drop:
            self._missing.refuse(f"`{self.column}` must not be missing", self._read, MISSING_TIME_ADVICE)
        if not self._written:
            raise DataError(self._describe_no_rows())
        without = self._missing.count
        others = self._read - self._written - self._young - without if self.counts_others else 0
        return SpoolCounts(
            rows=self._written,
            read=self._written + self._young + without + others,
            others=others,
            without_time=without,
            immature=self._count_young(),
        )

    def _count_young(self) -> ImmatureRows | None:
        if self.maturity is None:
            return None
        return self.maturity.describe(self._young, self._young_edges[-1] if self._young else None)

    def _describe_no_rows(self) -> str:
        if not self.column:
            return f"The {self.source} gave no rows."
        if self.maturity is not None and self._young:
            ends = (self._young_edges[0], self._young_edges[-1])
            return describe_immature_period(self.source, self.column, self.period, self.maturity, ends)
        edges = (
            np.array(self._edges, dtype="datetime64[us]") if self.find_edges is None else self.find_edges()
        )
        return describe_empty_period(self.source, self.column, self.period, edges)


def _extend_edges(edges: list[np.datetime64], times: NDArray[np.datetime64]) -> list[np.datetime64]:
    """The first and the last of all times so far."""
    if not len(times):
        return edges
    known = np.array([*edges, times.min(), times.max()])
    return [known.min(), known.max()]


def check_period_rows(
    chosen: PeriodRows,
    read: SourceRows,
    column: str,
    period: Period,
    columns: Columns,
    roles: Roles,
) -> Predictions | ClassPredictions:
    """Return the predictions of the rows of a period, with the source and the flow of its rows."""
    predictions = _check_chosen_rows(chosen, read, period, columns)
    return replace(
        predictions,
        source=read.source,
        file_sha256=read.sha256,
        rows=_find_source_rows(predictions, chosen),
        row_flow=extend_row_flow(predictions.row_flow, chosen, column, period, roles),
    )


def _check_chosen_rows(
    chosen: PeriodRows, read: SourceRows, period: Period, columns: Columns
) -> Predictions | ClassPredictions:
    """Check the rows of the period; an error that names rows also states how they are counted."""
    try:
        with read.name_rows(), positions_restored(lambda rows: chosen.rows[rows].tolist()):
            return read_checked(chosen.frame, without_format(columns), chosen.is_immature)
    except DataError as error:
        is_file_order = len(chosen.frame) == chosen.read and read.sha256
        if not names_positions(error) or is_file_order:
            raise
        raise DataError(
            f"{error} {describe_row_counting(len(chosen.frame), chosen.read, period, read.order)}"
        ) from error


def without_format(columns: Columns) -> Columns:
    """The columns without the format of a CSV file, which the source has and its rows do not."""
    kept = {name: value for name, value in columns.items() if name not in FORMAT_ARGUMENTS}
    return cast("Columns", kept)


def describe_row_counting(rows: int, read: int, period: Period, order: str) -> str:
    """Describe how an error counts rows, if not from the first row of the source."""
    which = "" if rows == read else f" of {period.describe()}"
    return f"Rows are counted from 0 among the {format_counted(rows, 'row')}{which}, {order}."


def _find_source_rows(predictions: Predictions | ClassPredictions, chosen: PeriodRows) -> IntArray | None:
    """Return the indices of the rows in the source, if some were left out."""
    if predictions.rows is not None:
        return chosen.rows[predictions.rows]
    return None if len(chosen.rows) == chosen.read else chosen.rows


def find_kept_times(
    predictions: Predictions | ClassPredictions, chosen: PeriodRows
) -> NDArray[np.datetime64] | None:
    """Return the local times of the predictions of a period; None if there is no column of times."""
    if chosen.times is None or predictions.rows is None:
        return chosen.times
    return chosen.times[np.searchsorted(chosen.rows, predictions.rows)]


def extend_row_flow(
    flow: RowFlow, chosen: PeriodRows | SpoolCounts, column: str, period: Period, roles: Roles
) -> RowFlow:
    """Extend the flow of rows to the source: rows of other days and rows without a time are dropped first."""
    counts = {
        f"missing `{column}`": chosen.without_time,
        period.describe_others(): chosen.others,
    }
    if chosen.immature is not None:
        counts[chosen.immature.reason] = chosen.immature.rows
    dropped = tuple(DroppedRows(reason=reason, rows=rows) for reason, rows in counts.items() if rows)
    missing = {item.column: item.rows for item in flow.missing}
    if chosen.without_time:
        used = dict.fromkeys([roles.outcome, *roles.numbers, *list_label_columns(roles, column)], 0)
        missing = used | missing | {column: chosen.without_time}
    return RowFlow(
        read=chosen.read,
        kept=flow.kept,
        dropped=(*dropped, *flow.dropped),
        missing=tuple(MissingValues(column=name, rows=rows) for name, rows in missing.items()),
        immature=chosen.immature,
    )
