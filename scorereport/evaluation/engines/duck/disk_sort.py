"""A sort on disk: rows are dealt out to ranges of forecasts in a file, and each range is sorted in memory.

This gives the very rows of an ORDER BY, in the same order, in a fraction of its time.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport.errors import DataError, UsageError
from scorereport.evaluation.engines.duck.working import map_in_order
from scorereport.evaluation.engines.protocol import Chunk
from scorereport.evaluation.engines.stretches import ROWS_PER_CHUNK

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path
    from typing import BinaryIO

    import pyarrow as pa
    from numpy.typing import NDArray

    from scorereport.evaluation.engines.duck.ranges import ForecastRanges

#: Bytes of a key, and of a weight.
_BYTES = 8


def sort_by_ranges(
    batches: Iterable[pa.RecordBatch], ranges: ForecastRanges, folder: Path
) -> Iterator[tuple[int, Chunk]]:
    """Labels with stretches of their rows in ascending order, from batches of rows in any order.

    Batches have columns named x, packed, and perhaps weight and code.
    """
    paths = [folder / "keys", folder / "weights"]
    try:
        with ExitStack() as files:
            _distribute_rows(
                batches, ranges, [files.enter_context(path.open("wb", buffering=0)) for path in paths]
            )
        yield from _read_sorted(ranges, paths)
    finally:
        for path in paths:
            path.unlink(missing_ok=True)


def _distribute_rows(
    batches: Iterable[pa.RecordBatch], ranges: ForecastRanges, files: list[BinaryIO]
) -> None:
    """Write the keys of each range, and their weights, to its place in the files."""

    def prepare(batch: pa.RecordBatch) -> tuple[list[NDArray[Any]], NDArray[np.int64]]:
        columns = {name: batch.column(name).to_numpy() for name in batch.schema.names}
        weight = columns.pop("weight", None)
        keys, of_row = ranges.make_keys(**columns)
        order = np.argsort(of_row, kind="stable")
        parts = [keys[order]] if weight is None else [keys[order], weight[order]]
        return parts, np.bincount(of_row, minlength=len(ranges.rows))

    place = _starts(ranges)
    for parts, counts in map_in_order(prepare, batches):
        ends = np.cumsum(counts)
        for at in np.flatnonzero(counts).tolist():
            for file, part in zip(files, parts, strict=False):
                _write(file, part[ends[at] - counts[at] : ends[at]], int(place[at]))
        place += counts
    if not np.array_equal(place, _starts(ranges) + ranges.rows):
        raise DataError("The source has changed since it was surveyed; read it again once it is complete.")


def _write(file: BinaryIO, values: NDArray[Any], place: int) -> None:
    """Write values to their place, all of them or with an error that says why not."""
    left = values.data.cast("B")
    try:
        file.seek(place * _BYTES)
        while left:
            left = left[file.write(left) :]
    except OSError as error:
        told = error.strerror or str(error)
        raise UsageError(f"`temporary_folder` cannot hold what does not fit into memory: {told}.") from error


def _starts(ranges: ForecastRanges) -> NDArray[np.int64]:
    return np.cumsum(ranges.rows) - ranges.rows


def _read_sorted(ranges: ForecastRanges, paths: list[Path]) -> Iterator[tuple[int, Chunk]]:
    """The sorted rows of each range; the next ones are sorted while one is worked on."""
    starts = _starts(ranges)
    weighted = paths[1].stat().st_size > 0

    def sort(place: int) -> tuple[int, NDArray[np.uint64], NDArray[Any] | None]:
        count, offset = int(ranges.rows[place]), int(starts[place]) * _BYTES
        keys = np.fromfile(paths[0], dtype=np.uint64, count=count, offset=offset)
        if not weighted:
            keys.sort()
            return place, keys, None
        weight = np.fromfile(paths[1], dtype=np.float64, count=count, offset=offset)
        order = np.lexsort((weight, keys))
        return place, keys[order], weight[order]

    for place, keys, weight in map_in_order(sort, range(len(starts))):
        for first in range(0, len(keys), ROWS_PER_CHUNK):
            rows = slice(first, first + ROWS_PER_CHUNK)
            x, packed = ranges.read_keys(keys[rows], place)
            stretch = unpack_chunk(x, packed, None if weight is None else weight[rows])
            yield int(ranges.label[place]), stretch


def unpack_chunk(x: NDArray[np.float64], packed: NDArray[np.uint16], weight: NDArray[Any] | None) -> Chunk:
    """A stretch of forecasts, with outcomes and buckets that are in the same number."""
    is_event = (packed & np.uint16(1)).astype(bool)
    return Chunk(x=x, y=is_event, bucket=packed >> np.uint16(1), weight=weight)
