"""Honest band of the calibration curve of a baseline, from outcomes that are counted in bins of forecasts.

If the event probability does not fall as forecasts rise, the outcomes of any run of neighbouring bins bound
it beyond both ends of the run by exact binomial bounds (Clopper, Pearson). The error is shared among all runs
of the bins that are not empty, so that the band holds at all forecasts at once, for every number of cases.
The rows of a bin have different forecasts: a lower bound is used only for forecasts to the right of its run
and an upper bound only for forecasts to the left, so that the band is honest whatever the curve in a bin.

References
----------
Dimitriadis, Duembgen, Henzi, Puke, Ziegel (2023), Biometrika 110, doi:10.1093/biomet/asac068
Yang, Barber (2019), Electron. J. Stat. 13, doi:10.1214/18-EJS1519
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.arrays import FloatArray, IntArray, read_only
from scorereport._utils.checks import check_inside
from scorereport._utils.representation import short_repr
from scorereport.errors import UsageError
from scorereport.inference.baseline_means import find_mean_bounds
from scorereport.reliability.band_bounds import honest_bounds
from scorereport.reliability.blocks import Blocks

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BaselineBand:
    """Bounds of the event probability at any forecast: constant in each bin between two of the `edges`.

    `lower` and `upper` have one value more than there are edges. A forecast at an edge belongs to the bin to
    its right. `cases` and `events` are those of the baseline in each bin, `level` is that of the band.
    """

    edges: FloatArray
    lower: FloatArray
    upper: FloatArray
    cases: FloatArray
    events: FloatArray
    level: float

    __repr__ = short_repr

    def __post_init__(self) -> None:
        for name in ("edges", "lower", "upper", "cases", "events"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def bounds(self, forecast: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return the lower and the upper bound of the event probability at each forecast."""
        place = self._find_bins(forecast)
        return self.lower[place], self.upper[place]

    def count(self, forecast: ArrayLike, weight: ArrayLike) -> FloatArray:
        """Return the weights of rows in each bin; those of several parts of a sample add up."""
        place = self._find_bins(forecast)
        return np.bincount(place, weights=weight, minlength=len(self.cases)).astype(np.float64)

    def mean_bounds(self, counts: FloatArray) -> tuple[float, float]:
        """Return bounds of the mean event probability of rows, given their weights in each bin.

        They hold at the same level.
        """
        return find_mean_bounds(self.cases, self.events, counts, level=self.level)

    def _find_bins(self, forecast: ArrayLike) -> IntArray:
        return np.searchsorted(self.edges, np.asarray(forecast, dtype=np.float64), side="right")

    @property
    def is_crossing(self) -> bool:
        """Whether the bounds cross, which shows that the curve of the baseline falls somewhere."""
        return bool((self.lower > self.upper).any())


def find_baseline_band(
    edges: FloatArray, cases: FloatArray, events: FloatArray, *, level: float
) -> BaselineBand:
    """Return the band that contains the whole calibration curve of a baseline with probability `level`.

    It holds for independent cases and a curve that does not fall. Dependent or weighted cases are given as
    numbers of independent cases; the band is then approximate.

    Parameters
    ----------
    edges : the forecasts at which a bin ends and the next begins, ascending
    cases : the number of cases in each bin, one bin more than edges; fractions are allowed
    events : the number of cases with the event in each bin
    level : the probability that the band holds at all forecasts at once

    >>> band = find_baseline_band(np.array([0.3, 0.6]), np.array([500.0, 300, 200]),
    ...                           np.array([50.0, 120, 160]), level=0.95)
    >>> [bound.round(3).tolist() for bound in band.bounds([0.2, 0.5, 0.9])]
    [[0.0, 0.068, 0.326], [0.477, 0.869, 1.0]]
    """
    level = check_inside(level, "level", 0, 1, closed="neither")
    cases, events = _check_counts(edges, cases, events)
    return _bound_curve(edges, cases, events, level)


def _check_counts(edges: FloatArray, cases: FloatArray, events: FloatArray) -> tuple[FloatArray, FloatArray]:
    cases, events = np.asarray(cases, dtype=np.float64), np.asarray(events, dtype=np.float64)
    if not len(cases) == len(events) == len(edges) + 1:
        raise UsageError(
            f"`cases` and `events` must have one value for each of {len(edges) + 1} bins; "
            f"got {len(cases)} and {len(events)}."
        )
    if not (np.isfinite(cases) & np.isfinite(events) & (events >= 0) & (cases >= 0)).all():
        raise UsageError("`cases` and `events` must be finite numbers of at least 0.")
    return cases, np.minimum(events, cases)  # sums of weights may differ by rounding


def _bound_curve(edges: FloatArray, cases: FloatArray, events: FloatArray, level: float) -> BaselineBand:
    """Bound the curve in each bin by the bins on its left and on its right that are not empty."""
    bins = np.arange(len(cases))
    held = np.flatnonzero(cases > 0)
    lower, upper = np.zeros(len(cases)), np.ones(len(cases))
    if len(held):
        place = held.astype(np.float64)
        cells = Blocks(x_min=place, x_max=place, n=cases[held], events=events[held])
        from_left, from_right = honest_bounds(cells, level)
        lower = np.append(0.0, from_left)[np.searchsorted(held, bins, side="left")]
        upper = np.append(from_right, 1.0)[np.searchsorted(held, bins, side="right")]
    return BaselineBand(edges=edges, lower=lower, upper=upper, cases=cases, events=events, level=level)
