"""Counts of marked rows in cells of rows, for many samples at once.

A table of marks has a row for each row of the data and a column, of a byte, for each sample. Eight samples
are summed as one number of 64 bits, over at most 255 rows, so that no sum of a byte runs over into the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from scorereport._utils.arrays import IntArray

#: A byte holds no larger sum.
_MOST_IN_BYTE = 255
_BYTES_OF_WORD = 8
#: Rows that are marked at a time: few enough for the cache of a processor.
_ROWS_AT_A_TIME = 4096
#: The most samples of a chunk.
_MOST_SAMPLES = 64


def choose_samples(rows: int, most: int) -> int:
    """Return for how many samples rows are counted together: about `most` rows in all samples.

    >>> choose_samples(1000, 1 << 20), choose_samples(50_000, 1 << 20), choose_samples(10**7, 1 << 20)
    (64, 16, 8)
    """
    return min(max(most // rows // _BYTES_OF_WORD, 1) * _BYTES_OF_WORD, _MOST_SAMPLES)


class MarkedRows:
    """Rows in the order of their cells, whose marks are counted; `n` are the rows of each cell."""

    def __init__(self, n: NDArray[np.intp]) -> None:
        pieces = -(-n // _MOST_IN_BYTE)
        self._rows = int(n.sum())
        self._first_pieces = np.cumsum(pieces) - pieces
        piece = np.arange(pieces.sum()) - np.repeat(self._first_pieces, pieces)
        self._starts = np.repeat(np.cumsum(n) - n, pieces) + _MOST_IN_BYTE * piece

    def count(
        self, samples: int, mark: Callable[[slice, int, NDArray[np.bool_]], object], turns: int = 1
    ) -> IntArray:
        """Count the marked rows of each cell, a row of the table for each sample.

        `mark` gets some rows, the number of the turn and a table to write their marks into. What is counted
        is the sum over all turns.
        """
        width = -(-samples // _BYTES_OF_WORD) * _BYTES_OF_WORD
        marks = np.zeros((_ROWS_AT_A_TIME + _MOST_IN_BYTE, width), dtype=np.bool_)
        counts = np.zeros((len(self._starts), width), dtype=np.int64)
        for pieces, rows in self._portions():
            part = marks[: rows.stop - rows.start]
            starts = self._starts[pieces] - rows.start
            for turn in range(turns):
                mark(rows, turn, part[:, :samples])
                counts[pieces] += np.add.reduceat(part.view(np.uint64), starts, axis=0).view(np.uint8)
        of_cells = np.add.reduceat(counts, self._first_pieces, axis=0)
        return np.ascontiguousarray(of_cells[:, :samples].T)

    def _portions(self) -> list[tuple[slice, slice]]:
        """Pieces that are counted at a time, and their rows."""
        first = np.unique(self._starts // _ROWS_AT_A_TIME, return_index=True)[1]
        pieces = np.append(first, len(self._starts)).tolist()
        rows = np.append(self._starts[first], self._rows).tolist()
        return [
            (slice(*pieces[place : place + 2]), slice(*rows[place : place + 2]))
            for place in range(len(first))
        ]
