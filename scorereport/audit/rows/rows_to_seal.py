"""Rows whose forecasts are sealed: those of a period in the source, which needs no outcomes yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from scorereport._utils.checks import refuse_rows
from scorereport._utils.row_places import positions_restored
from scorereport.audit.databases.database_rows import find_source_database, read_batches
from scorereport.audit.rows.period_window import (
    MISSING_TIME_ADVICE,
    describe_empty_period,
    is_in_period,
    local_times,
)
from scorereport.audit.rows.row_hash_collector import HashedColumns, SealCollector
from scorereport.audit.rows.source_files import find_source_file
from scorereport.audit.rows.source_reference import use_decimal_points
from scorereport.audit.rows.source_rows import hash_while_unchanged, open_batches
from scorereport.configuration.periods import Period
from scorereport.data.csv_format import CsvFormat
from scorereport.data.roles import Columns
from scorereport.data.sources import describe_source, locate_source, rows_named
from scorereport.errors import DataError
from scorereport.history.row_hashes import RowHashes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    import pandas as pd
    import pyarrow as pa

    from scorereport._utils.arrays import IntArray
    from scorereport.configuration.audit_tables import SourceTable, WindowTable


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RowsToSeal:
    """The hashes of the rows of a period, which of these have an outcome, and the source.

    `has_outcome` is None if the source has no column of outcomes.
    """

    hashes: RowHashes
    has_outcome: NDArray[np.bool_] | None
    source: str
    source_sha256: str = ""


def read_rows_to_seal(
    source: SourceTable,
    window: WindowTable,
    period: Period,
    columns: Columns,
    hashed: HashedColumns,
    *,
    folder: Path,
    zone: ZoneInfo,
    expand: Callable[[str, str], str],
) -> RowsToSeal:
    """Read the rows of a period in batches, and hash them; see `load_rows` for the arguments."""
    reader = _Reader(window=window.column, period=period, zone=zone, columns=columns, hashed=hashed)
    if source.file:
        path = find_source_file(source.file, period, folder, newest=source.newest, table=source.table)
        return reader.read_file(path, source.table)
    database = find_source_database(source, folder=folder, zone=zone, expand=expand)

    def read(labels: list[str]) -> Iterator[pa.Table]:
        return read_batches(database, list(hashed.forecasts), labels, window.column, period)

    return reader.read_database(read, database.source)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    """Reads rows in batches, and selects those of the period."""

    window: str
    period: Period
    zone: ZoneInfo
    columns: Columns
    hashed: HashedColumns

    def read_file(self, path: Path, table: str) -> RowsToSeal:
        """Read a file, a folder of files, or a table of a database in a file."""
        csv_format, name = CsvFormat.of(self.columns), describe_source(path, table or None)
        place = locate_source(path, table or None, csv_format)
        outcome = self._find_outcome(place.kind.list_columns(place))
        names = list(dict.fromkeys([*self.hashed.forecasts, *self._list_labels(outcome)]))
        with (
            hash_while_unchanged(path) as sha256,
            rows_named(path, table or None, csv_format),
            open_batches(path, table, names, csv_format) as batches,
        ):
            numbers = self.hashed.forecasts if csv_format.decimal == "," else ()
            hashes, known = self._collect(use_decimal_points(batches, numbers), name, outcome)
        return RowsToSeal(hashes=hashes, has_outcome=known, source=name, source_sha256=sha256)

    def read_database(self, read: Callable[[list[str]], Iterator[pa.Table]], name: str) -> RowsToSeal:
        """Read a query or a table; `read` returns its rows with columns of labels."""
        outcome = self.columns["outcome"]
        try:
            hashes, known = self._collect(read(self._list_labels(outcome)), name, outcome)
        except DataError as error:
            if f"has no column `{outcome}`" not in str(error):
                raise
            hashes, known = self._collect(read(self._list_labels("")), name, "")
        return RowsToSeal(hashes=hashes, has_outcome=known, source=name)

    def _find_outcome(self, present: Iterable[str]) -> str:
        return self.columns["outcome"] if self.columns["outcome"] in set(present) else ""

    def _list_labels(self, outcome: str) -> list[str]:
        """List the columns that are not forecasts: keys, the time of the window, and the outcome."""
        return list(dict.fromkeys(name for name in (*self.hashed.keys, self.window, outcome) if name))

    def _collect(
        self, batches: Iterable[pa.Table], source: str, outcome: str
    ) -> tuple[RowHashes, NDArray[np.bool_] | None]:
        is_bounded = not self.columns.get("normalize", False)
        collector = SealCollector(self.hashed, outcome, is_bounded=is_bounded)
        before, count, edges = 0, 0, np.empty(0, dtype="datetime64[us]")
        for batch in batches:
            times = self._read_times(batch, before)
            places = (
                np.arange(len(batch)) if times is None else np.flatnonzero(is_in_period(times, self.period))
            )
            if times is not None:
                edges = _extend(edges, times)
            if len(places):
                self._add(collector, batch.take(places).to_pandas(), before + places)
            before, count = before + len(batch), count + len(places)
        if not count:
            raise DataError(self._describe_empty(source, edges))
        return collector.finish()

    def _add(self, collector: SealCollector, frame: pd.DataFrame, places: IntArray) -> None:
        with positions_restored(lambda rows: places[rows].tolist()):
            collector.add({str(name): frame[name] for name in frame})

    def _read_times(self, batch: pa.Table, before: int) -> NDArray[np.datetime64] | None:
        """Return local times; None if there is no column of them. Missing ones are refused unless dropped."""
        if not self.window:
            return None
        with positions_restored(lambda rows: [before + row for row in rows]):
            times = local_times(batch.column(self.window).to_pandas(), self.window, self.zone)
            is_missing = np.isnat(times)
            if is_missing.any() and self.columns.get("missing") != "drop":
                rule = f"`{self.window}` must not be missing"
                refuse_rows(np.full(len(times), np.nan), is_missing, rule, MISSING_TIME_ADVICE)
        return times

    def _describe_empty(self, source: str, edges: NDArray[np.datetime64]) -> str:
        if not self.window:
            return f"{source} holds no rows."
        return describe_empty_period(source, self.window, self.period, edges)


def _extend(edges: NDArray[np.datetime64], times: NDArray[np.datetime64]) -> NDArray[np.datetime64]:
    """The first and the last of all times so far."""
    known = np.concatenate([edges, times[~np.isnat(times)]])
    return np.array([known.min(), known.max()]) if len(known) else known
