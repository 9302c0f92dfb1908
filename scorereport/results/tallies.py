"""Counts of forecasts in fixed bins, by bucket, which later audits compare.

Bins are the same for every model and every audit, so that distributions can be added and compared without
the forecasts themselves. They have equal width in log-odds, where 0.001 and 0.002 are as far apart as 0.5
and 0.67. No edge is at 0.5, which many models forecast exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from scorereport._utils.arrays import FloatArray, IntArray
from scorereport._utils.representation import short_repr

#: Log-odds from −9.06 to 9.06 in steps of an eighth; the first and the last bin hold all forecasts beyond.
EDGES: FloatArray = expit((np.arange(-72, 74) - 0.5) / 8)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tallies:
    """Sums of weights by bucket: of each outcome and, for each model, of each bin of its forecasts.

    `rows` is the number of independent rows if there are no clusters; `are_rows` is True if there are none
    and weights, if any, are frequencies. `means` are the mean forecasts.
    """

    rows: float
    are_rows: bool
    outcomes: FloatArray
    forecasts: Mapping[str, FloatArray]
    means: Mapping[str, float]

    __repr__ = short_repr


def find_bins(forecast: FloatArray) -> IntArray:
    """The number of the bin of each forecast."""
    return np.searchsorted(EDGES, forecast, side="right").astype(np.int64)
