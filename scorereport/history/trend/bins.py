"""Groups of the bins in which forecasts of all audits are counted, which a test compares."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport.results.tallies import EDGES, find_bins

if TYPE_CHECKING:
    from scorereport._utils.arrays import FloatArray, IntArray

__all__ = ["EDGES", "find_bins", "form_groups"]
#: Groups that a test compares, unless forecasts are too few or too much alike.
_GROUPS = 10
#: Fewest cases that a group is to have in the smaller sample.
_FEWEST = 5.0


def form_groups(counts: FloatArray, smaller: float) -> IntArray:
    """The group of each bin: neighbours together, about a tenth of all cases in each.

    `counts` are those of both samples together, `smaller` is the size of the smaller one, in which each
    group is to have five cases or more.
    """
    share = counts / counts.sum()
    tenth = np.minimum((_GROUPS * (np.cumsum(share) - share / 2)).astype(np.int64), _GROUPS - 1)
    expected = smaller * np.bincount(tenth, weights=share, minlength=_GROUPS)
    group, filled = np.zeros(_GROUPS, dtype=np.int64), 0.0
    for place in range(1, _GROUPS):
        filled += float(expected[place - 1])
        is_full = filled >= _FEWEST and expected[place:].sum() >= _FEWEST
        group[place] = group[place - 1] + is_full
        filled = 0.0 if is_full else filled
    return group[tenth]
