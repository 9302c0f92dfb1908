"""Isotonic fits of many draws at once, on groups of neighbouring forecasts, and the marks of their source."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport.reliability.draws import Redraws
from scorereport.scores.probability import ROBUSTNESS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorereport._utils.arrays import CountArray, FloatArray

#: Number of groups of equal size in the middle for draws and, as it depends on them more, for the overfit.
GROUPS, OVERFIT_GROUPS = 500, 2000
#: Number of cases that are groups of their own at either end, and the factor by which groups grow between.
ALONE, GROWTH = 64, 1.05
#: Sums of weights may be off by this much, relative to them.
_ROUNDING = 1e-9


def spread_places(n: int, groups: int | None = None) -> NDArray[np.intp]:
    """Positions among n that are evenly spaced in the middle, and ever closer towards both ends."""
    size = n / (groups or GROUPS)
    steps = np.log(max(size / (GROWTH - 1) / ALONE, 1.0)) / np.log(GROWTH)
    near = np.append(np.arange(ALONE), ALONE * GROWTH ** np.arange(int(steps) + 1)).astype(np.intp)
    near = near[near < n]
    return np.unique(np.concatenate([near, n - 1 - near, np.arange(0, n, max(int(size), 1))]))


def group_values(weight: FloatArray, groups: int | None = None) -> NDArray[np.intp]:
    """The first value of each group of neighbouring values, from the weight of each value in order.

    Places are those among as many equal weights as there are values. Few values are not grouped.
    """
    n = len(weight)
    if n <= (groups or GROUPS):
        return np.arange(n)
    end = np.cumsum(weight) * (n / weight.sum())
    first = np.searchsorted(end, spread_places(n, groups) * (1 + _ROUNDING), side="right")
    return np.unique(np.append(0, np.minimum(first, n - 1)))


def fit_source(events: FloatArray, n: FloatArray) -> FloatArray:
    """The three marks of the source in blocks of isotonic fits: rows are draws, columns groups in order."""
    fits = Redraws(n, events).fit()
    share = np.divide(fits.events, fits.n, out=np.ones(len(fits.n)), where=fits.events > 0)
    summands = fits.events * np.array([share, np.log(share), share**ROBUSTNESS])
    return mean_marks(np.add.reduceat(summands, fits.start, axis=1), fits.sum_samples(fits.events))


def source_marks(events: FloatArray, n: FloatArray) -> FloatArray:
    """Return the three means of the shares of events in bins, weighted by events; NaN without events."""
    share = np.divide(events, n, out=np.ones(events.shape), where=events > 0)
    sums = (events * np.array([share, np.log(share), share**ROBUSTNESS])).sum(axis=-1)
    return mean_marks(sums, events.sum(axis=-1))


def mean_marks(sums: FloatArray, total: FloatArray | CountArray) -> FloatArray:
    """The three means from sums of probabilities, of their logarithms and of their powers -2/3, by weight."""
    means = np.divide(sums, total, out=np.full(sums.shape, np.nan), where=total > 0)
    return np.stack([means[0], np.exp(means[1]), np.power(means[2], 1 / ROBUSTNESS)], axis=-1)
