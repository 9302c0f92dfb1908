"""Groups of the bins in which forecasts of all audits are counted, which a test compares."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport.results.tallies import EDGES, find_bins

if TYPE_CHECKING:
    from scorereport._utils.arrays import FloatArray, IntArray

__all__ = ["EDGES", "find_bins", "group_bins"]
#: Groups that a test compares, unless forecasts are too few or too much alike.
_GROUP_COUNT = 10
#: Fewest cases that a group is to have in the smaller sample.
_MIN_GROUP_COUNT = 5.0


def group_bins(counts: FloatArray, smaller: float) -> IntArray:
    """The group of each bin: neighbours together, about a tenth of all cases in each.

    `counts` are those of both samples together, `smaller` is the size of the smaller one, in which each
    group is to have five cases or more.
    """
    share = counts / counts.sum()
    tenth = np.minimum((_GROUP_COUNT * (np.cumsum(share) - share / 2)).astype(np.int64), _GROUP_COUNT - 1)
    expected = smaller * np.bincount(tenth, weights=share, minlength=_GROUP_COUNT)
    group, filled = np.zeros(_GROUP_COUNT, dtype=np.int64), 0.0
    for place in range(1, _GROUP_COUNT):
        filled += float(expected[place - 1])
        is_full = filled >= _MIN_GROUP_COUNT and expected[place:].sum() >= _MIN_GROUP_COUNT
        group[place] = group[place - 1] + is_full
        filled = 0.0 if is_full else filled
    return group[tenth]
