"""Ranges of forecasts that fit into memory, chosen by how many rows each of many narrow bins has.

Doubles that are not negative are in the order of their bits. A bin holds those that share their first
bits; a range is a run of bins of one label, short enough for the rest of the bits to leave room in a key for
outcome and bucket.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scorereport._utils.arrays import FloatArray, IntArray

#: Bits below those that name the bin of a forecast: there are 256 bins between a half and 1.
_SHIFT = 44
BINS = (int(np.float64(1).view(np.int64)) >> _SHIFT) + 1
#: Bits that a key has beside those of the forecast, for outcome and bucket.
PACKED_BITS = 10
_MOST_BINS = 1 << (64 - PACKED_BITS - _SHIFT)
#: Ranges are numbered by 16 bits.
_MOST_RANGES = 1 << 16


def count_bins(x: FloatArray) -> IntArray:
    """How many forecasts lie in each bin."""
    return np.bincount(_bits(x) >> _SHIFT, minlength=BINS)


def _bits(x: FloatArray) -> NDArray[np.int64]:
    return (x + 0.0).view(np.int64)  # -0.0 is 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LabelBins:
    """Pairs of a label and one of the bins that are not empty, numbered label after label."""

    bins: NDArray[np.intp]
    place: NDArray[np.int32]
    labels: int = 1

    @classmethod
    def of(cls, counts: IntArray, labels: int = 1) -> LabelBins:
        """Cells for forecasts that are counted by bins."""
        bins = np.flatnonzero(counts)
        place = np.zeros(BINS, dtype=np.int32)
        place[bins] = np.arange(len(bins))
        return cls(bins=bins, place=place, labels=labels)

    def __len__(self) -> int:
        return self.labels * len(self.bins)

    def find(self, bits: NDArray[np.int64], code: NDArray[Any] | None) -> NDArray[np.int64]:
        """The cell of each row."""
        place = self.place[bits >> _SHIFT]
        return place if code is None else code.astype(np.int64) * len(self.bins) + place

    def count(self, x: FloatArray, code: NDArray[Any] | None) -> IntArray:
        """How many rows lie in each cell."""
        return np.bincount(self.find(_bits(x), code), minlength=len(self))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ForecastRanges:
    """The range of each cell, and of each range its label, its rows and the bits at which it starts."""

    cells: LabelBins
    of_cell: NDArray[np.uint16]
    label: NDArray[np.int64]
    rows: NDArray[np.int64]
    start: NDArray[np.int64]

    def make_keys(
        self, x: FloatArray, packed: NDArray[np.uint16], code: NDArray[Any] | None = None
    ) -> tuple[NDArray[np.uint64], NDArray[np.uint16]]:
        """Keys that sort like forecast, bucket and outcome within a range, and the range of each row."""
        bits = _bits(x)
        of_row = self.of_cell[self.cells.find(bits, code)]
        return (bits - self.start[of_row]).astype(np.uint64) << np.uint64(PACKED_BITS) | packed, of_row

    def read_keys(self, keys: NDArray[np.uint64], place: int) -> tuple[FloatArray, NDArray[np.uint16]]:
        """Forecasts of a range from their keys, and what is packed with them."""
        bits = (keys >> np.uint64(PACKED_BITS)).astype(np.int64) + self.start[place]
        return bits.view(np.float64), (keys & np.uint64((1 << PACKED_BITS) - 1)).astype(np.uint16)


def plan_ranges(cells: LabelBins, counts: IntArray, most: int) -> ForecastRanges | None:
    """Ranges of at most so many rows, from the rows of each cell; None if a single cell has more."""
    if counts.max() > most:
        return None
    filled = np.flatnonzero(counts)
    of_cell = np.zeros(len(cells), dtype=np.uint16)
    label, at = np.divmod(filled, len(cells.bins))
    bins = cells.bins[at]
    first, rows = [(int(label[0]), int(bins[0]))], [0]
    for cell, of, bin_, n in zip(*(a.tolist() for a in (filled, label, bins, counts[filled])), strict=True):
        if of != first[-1][0] or bin_ - first[-1][1] >= _MOST_BINS or rows[-1] + n > most:
            first.append((of, bin_))
            rows.append(0)
        rows[-1] += n
        of_cell[cell] = min(len(rows), _MOST_RANGES) - 1
    if len(rows) > _MOST_RANGES:
        return None
    labels, bits = np.array(first, dtype=np.int64).T
    return ForecastRanges(
        cells=cells, of_cell=of_cell, label=labels, rows=np.array(rows), start=bits << _SHIFT
    )
