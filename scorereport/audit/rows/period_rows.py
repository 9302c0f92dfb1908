"""The rows of a period in a file of our own, a few at a time, so that they need not fit into memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from scorereport._utils.checks import ROWS_TO_FIND, describe_places
from scorereport._utils.progress import report_progress
from scorereport.audit.rows.period_window import MISSING_TIME_ADVICE, describe_empty_period, is_in_period
from scorereport.audit.rows.times import DATE_RULE, parse_times
from scorereport.configuration.periods import Period
from scorereport.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa


class SpoolCounts(NamedTuple):
    """How many rows were written, and of how many that were read; how many were others, or had no time."""

    rows: int
    read: int
    others: int = 0
    without_time: int = 0


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

    def refuse(self, rule: str, total: int, way_out: str = "") -> None:
        if self.count:
            raise DataError(
                f"{rule}; got {describe_places(self.first, self.rows, self.count, total)}.{way_out}"
            )


@dataclass(slots=True, kw_only=True)
class RowSpool:
    """What chooses the rows of a period, by a column of times if there is one, and writes them to a file.

    Where the column is also that of `evaluation.time` its local times are written.
    """

    source: str
    path: Path
    column: str
    period: Period
    zone: ZoneInfo
    is_time: bool
    drop: bool
    counts_others: bool = True
    find_edges: Callable[[], NDArray[np.datetime64]] | None = None
    _read: int = 0
    _written: int = 0
    _missing: _RuleViolations = field(default_factory=_RuleViolations)
    _bad: _RuleViolations = field(default_factory=_RuleViolations)
    _edges: list[np.datetime64] = field(default_factory=list)

    def fill(self, lots: Iterable[pa.Table]) -> SpoolCounts:
        """Write the rows of the period; refuse what cannot be told, and a source that has none of them."""
        import pyarrow.parquet as pq

        writer = None
        try:
            for lot in lots:
                chosen = self._choose(lot)
                writer = writer or pq.ParquetWriter(self.path, chosen.schema)
                writer.write_table(chosen)
                report_progress(f"copying rows of {self.source}", self._read, 0, unit="rows")
        finally:
            if writer is not None:
                writer.close()
        return self._count()

    def _choose(self, lot: pa.Table) -> pa.Table:
        before = self._read
        self._read += len(lot)
        if not self.column:
            self._written += len(lot)
            return lot
        values = lot.column(self.column).to_pandas()
        times, is_bad = parse_times(values, self.zone)
        is_missing = np.isnat(times) & ~is_bad
        self._bad.add(is_bad, values.to_numpy(), before)
        self._missing.add(is_missing, np.full(len(times), np.nan), before)
        self._remember(times[~np.isnat(times)])
        is_in = is_in_period(times, self.period)
        self._written += int(is_in.sum())
        return self._with_times(lot, times).filter(is_in)

    def _with_times(self, lot: pa.Table, times: NDArray[np.datetime64]) -> pa.Table:
        import pyarrow as pa

        if not self.is_time:
            return lot
        return lot.set_column(lot.column_names.index(self.column), self.column, pa.array(times))

    def _remember(self, times: NDArray[np.datetime64]) -> None:
        if len(times):
            known = np.array([*self._edges, times.min(), times.max()])
            self._edges = [known.min(), known.max()]

    def _count(self) -> SpoolCounts:
        self._bad.refuse(f"`{self.column}` {DATE_RULE}", self._read)
        if not self.drop:
            self._missing.refuse(f"`{self.column}` must not be missing", self._read, MISSING_TIME_ADVICE)
        if not self._written:
            raise DataError(self._tell_empty())
        without = self._missing.count
        others = self._read - self._written - without if self.counts_others else 0
        read = self._written + without + others
        return SpoolCounts(rows=self._written, read=read, others=others, without_time=without)

    def _tell_empty(self) -> str:
        if not self.column:
            return f"The {self.source} gave no rows."
        edges = (
            np.array(self._edges, dtype="datetime64[us]") if self.find_edges is None else self.find_edges()
        )
        return describe_empty_period(self.source, self.column, self.period, edges)
