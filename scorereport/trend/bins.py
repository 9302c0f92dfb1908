"""The bins in which forecasts of all audits are counted, and groups of them that a test compares.

Bins are the same for every model and every audit, so that distributions can be added and compared without
the forecasts themselves. They have equal width on the log-odds, where 0.001 and 0.002 are as far apart as
0.5 and 0.67. No edge is at 0.5, which many models forecast exactly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

if TYPE_CHECKING:
    from scorereport.arrays import FloatArray, IntArray

#: Log-odds from −9.06 to 9.06 in steps of an eighth; the first and the last bin hold all beyond.
EDGES: FloatArray = expit((np.arange(-72, 74) - 0.5) / 8)
#: Groups that a test compares, unless forecasts are too few or too much alike.
_GROUPS = 10
#: Fewest cases that a group is to have in the smaller sample.
_FEWEST = 5.0


def find_bins(forecast: FloatArray) -> IntArray:
    """The number of the bin of each forecast."""
    return np.searchsorted(EDGES, forecast, side="right").astype(np.int64)


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
