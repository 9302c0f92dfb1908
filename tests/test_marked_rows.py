"""Counts of marked rows in cells equal those of single samples, however cells and samples are cut."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from scorereport.reliability.marked_rows import MarkedRows, choose_samples

CELLS = {
    "one row": [1],
    "single rows": [1] * 40,
    "as large as a byte": [255, 255, 1, 256, 254],
    "larger than a byte": [600, 3, 1000, 2],
    "larger than what is counted at a time": [5, 9000, 4096, 1, 4095, 4097],
    "all sizes": list(np.random.default_rng(1).integers(1, 700, 60)),
}


@pytest.mark.parametrize("samples", [1, 7, 8, 9, 64])
@pytest.mark.parametrize("n", CELLS.values(), ids=CELLS)
@pytest.mark.parametrize("share", [0.4, 1.0])
def test_counts_are_those_of_single_samples(n, samples, share):
    n = np.array(n)
    marks = np.random.default_rng(samples).random((n.sum(), samples)) < share

    def mark(rows, turn, out):
        assert turn == 0
        out[:] = marks[rows]

    found = MarkedRows(n).count(samples, mark)
    first = np.cumsum(n) - n
    assert_array_equal(found, np.add.reduceat(marks.astype(int), first, axis=0).T)
    if share == 1:
        assert_array_equal(found, np.broadcast_to(n, found.shape))


def test_turns_are_added():
    n = np.array([300, 20, 5000])
    rows_of_turns = [0, 0, 0]

    def mark(rows, turn, out):
        rows_of_turns[turn] += rows.stop - rows.start
        out[:] = turn != 1

    found = MarkedRows(n).count(3, mark, turns=3)
    assert_array_equal(found, np.broadcast_to(2 * n, (3, 3)))
    assert rows_of_turns == [5320] * 3


@pytest.mark.parametrize("rows", [1, 100, 4096, 70_000, 10**8])
def test_samples_fill_words(rows):
    samples = choose_samples(rows, 1 << 22)
    assert samples % 8 == 0
    assert 8 <= samples <= 64
    assert samples * rows <= max(1 << 22, 8 * rows)
