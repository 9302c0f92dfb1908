"""Intervals of distances between forecasts and observed frequencies: ICI, E50, E90, Emax and ECE.

Distances are not negative, and noise makes them larger: a calibrated forecast has the distance 0, but every
sample of it has a larger one. The percentile bootstrap therefore never covers 0, and the basic bootstrap
covers too rarely. Here distances of a family of curves are drawn: the forecast plus λ times the observed
deviation, with λ from 0, the calibrated curve, to 1, the observed curve, and beyond.

- The lower limit belongs to the smallest λ under which a distance as large as the observed one is not too
  rare; it is 0 where that holds for the calibrated forecast.
- The upper limit belongs to the largest λ under which a distance as small as the observed one is not too rare
  or, if larger, is the quantile of the draws at λ = 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy.special import ndtri

from scorereport._utils.arrays import FloatArray, IntArray
from scorereport.inference.estimates import Estimate
from scorereport.inference.rates import rate_interval
from scorereport.reliability.sampling import random_stream

if TYPE_CHECKING:
    from scorereport.inference.panel import ForecastPanel

CARPENTER_1999 = "Carpenter (1999), J. R. Stat. Soc. B 61, doi:10.1111/1467-9868.00169"
#: Number of draws of curves.
DRAWS = 400
#: Multiples of the observed deviation at which curves are drawn; more are added where limits are expected.
_MULTIPLES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 10.0, 20.0)
_NEAR_LIMITS = np.array([-1.4, -1.15, -0.95, -0.7, 0.7, 0.95, 1.15, 1.4])
#: More clusters than this are merged at random into groups, which does not change their covariance.
_MOST_GROUPS = 1000
#: Key of the random streams of this module.
_KEY = 19
#: Distances that differ by less than this, relative to them, are equal.
_ROUNDING = 1e-9


class DistanceSummary(Protocol):
    """Statistics of distances, whose columns are draws."""

    def values(self, distance: FloatArray) -> FloatArray:
        """A row for each statistic, a column for each draw."""

    def reach(self, distance: FloatArray, *bounds: FloatArray) -> list[FloatArray]:
        """For each set of bounds: which statistics of the draws are at least as large, as 0 and 1."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ForecastCells:
    """Cases grouped by forecast: a cell for each distinct forecast, or for neighbouring ones.

    `index` is the cell of each row; rows are in the order of forecasts.
    """

    index: IntArray
    weight: FloatArray
    forecast: FloatArray
    event_rate: FloatArray

    @classmethod
    def of(cls, panel: ForecastPanel, index: IntArray) -> ForecastCells:
        """Compute weights, mean forecasts and event rates by cell."""
        weight, start = panel.weight, np.flatnonzero(index[1:] != index[:-1]) + 1
        start = np.append(0, start)
        n, forecast, events = (
            np.add.reduceat(values if weight is None else weight * values, start)
            for values in (np.broadcast_to(1.0, len(index)), panel.only, panel.outcome)
        )
        return cls(index=index, weight=n, forecast=forecast / n, event_rate=events / n)

    @property
    def deviation(self) -> FloatArray:
        """Event rate minus mean forecast of each cell."""
        return self.event_rate - self.forecast

    def noise(
        self, panel: ForecastPanel, expected: FloatArray, draws: int, seed: int, level: float
    ) -> FloatArray:
        """Random deviations of each cell, a column for each draw, if events have the `expected` probability.

        Outcomes of independent rows have the variance of their probability; those of clusters have the
        variance of the cluster sums, and draws are scaled by the quantile of t over that of the normal
        distribution.
        """
        units, rng = panel.units, random_stream(seed, 0, _KEY)
        if units.cluster is None or units.size < 2:
            spread = self.noise_error(panel, expected)
            return spread[:, None] * rng.standard_normal((len(spread), draws))
        sums = self._sum_groups(panel, expected)
        scale = np.sqrt(units.size / (units.size - 1)) * units.critical_value(level) / _normal(level)
        drawn = np.einsum("gm,gb->mb", sums, rng.standard_normal((len(sums), draws)))  # not BLAS: threads
        return scale * drawn / self.weight[:, None]

    def noise_error(self, panel: ForecastPanel, expected: FloatArray) -> FloatArray:
        """The standard deviation of the random deviation of each cell."""
        units = panel.units
        if units.cluster is None or units.size < 2:
            squares = self.weight
            if not units.are_repeated_rows:
                squares = np.bincount(self.index, units.row_weight**2).astype(np.float64)
            return np.sqrt(expected * (1 - expected) * squares) / self.weight
        sums = self._sum_groups(panel, expected)
        return np.sqrt((sums**2).sum(axis=0) * units.size / (units.size - 1)) / self.weight

    def _sum_groups(self, panel: ForecastPanel, expected: FloatArray) -> FloatArray:
        """Weighted residuals summed over each cluster, or group of clusters, and cell."""
        groups = int(min(panel.units.size, _MOST_GROUPS))
        code = np.asarray(panel.cluster, dtype=np.int64) % groups
        residual = panel.units.row_weight * (panel.outcome - expected[self.index])
        size = groups * len(self.weight)
        sums = np.bincount(code * len(self.weight) + self.index, residual, minlength=size)
        return sums.reshape(groups, len(self.weight)).astype(np.float64)


def _normal(level: float) -> float:
    return float(ndtri((1 + level) / 2))


@dataclass(frozen=True, kw_only=True, eq=False)
class DrawnCurve:
    """A curve of event rates at some forecasts, and draws of its noise if calibrated and if as observed."""

    forecast: FloatArray
    curve: FloatArray
    calibrated: FloatArray
    observed: FloatArray

    def distances(self, multiple: float) -> FloatArray:
        """Distances of curves drawn at a multiple of the observed deviation, a column for each."""
        x = self.forecast[:, None]
        curves = x + multiple * (self.curve[:, None] - x) + self._noise(multiple)
        np.clip(curves, 0, 1, out=curves)
        curves -= x
        return np.abs(curves, out=curves)

    def _noise(self, multiple: float) -> FloatArray:
        if multiple >= 1:
            return self.observed
        return (1 - multiple) * self.calibrated + multiple * self.observed


@dataclass(frozen=True, slots=True, kw_only=True)
class DistanceLimits:
    """A statistic of the drawn curve, its limits, and the standard deviation of its draws.

    `most` is the largest value that is possible for the forecasts.
    """

    value: float
    lower: float
    upper: float
    most: float
    standard_error: float

    def scaled_to(self, value: float) -> DistanceLimits:
        """Rescale the limits to the statistic of the whole sample, which differs a little."""
        scale = float(np.clip(value / self.value, 0.5, 2.0)) if self.value > 0 else 1.0
        return DistanceLimits(
            value=value,
            lower=scale * self.lower,
            upper=min(scale * self.upper, self.most),
            most=self.most,
            standard_error=scale * self.standard_error,
        )


def bound_distances(drawn: DrawnCurve, summary: DistanceSummary, level: float) -> list[DistanceLimits]:
    """Compute the limits of each statistic of distances.

    References
    ----------
    Carpenter (1999), J. R. Stat. Soc. B 61, doi:10.1111/1467-9868.00169, on inverting bootstrap tests
    """
    found = summary.values(np.abs(drawn.curve - drawn.forecast)[:, None])
    here, tail = summary.values(drawn.distances(1.0)), (1 - level) / 2
    multiples = _choose_multiples(found[:, 0], here, level)
    shares = np.array([_compare(drawn.distances(multiple), summary, found) for multiple in multiples])
    as_large, as_small = shares[:, 0], shares[:, 1]
    quantile = np.quantile(here, 1 - tail, axis=1)
    most = summary.values(np.maximum(drawn.forecast, 1 - drawn.forecast)[:, None])[:, 0].tolist()
    return [
        DistanceLimits(
            value=value,
            lower=_smallest(multiples, as_large[:, k], tail) * value,
            upper=max(_largest(multiples, as_small[:, k], tail) * value, float(quantile[k])),
            most=most[k],
            standard_error=float(here[k].std(ddof=1)),
        )
        for k, value in enumerate(found[:, 0].tolist())
    ]


def _compare(distance: FloatArray, summary: DistanceSummary, found: FloatArray) -> FloatArray:
    """The shares of draws whose statistics are at least, and at most, as large as those found."""
    reached = summary.reach(distance, found * (1 - _ROUNDING), found * (1 + _ROUNDING))
    as_large, larger = (which.mean(axis=1) for which in reached)
    return np.stack([as_large, 1 - larger])


def _choose_multiples(found: FloatArray, here: FloatArray, level: float) -> FloatArray:
    """Multiples from 0 to far beyond 1, and some near the limits of the normal distribution."""
    some = found > 0
    spread = _normal(level) * here[some].std(axis=1) / found[some]
    near = 1 + np.outer(spread[spread < 1], _NEAR_LIMITS).ravel()
    return np.unique(np.concatenate([_MULTIPLES, near[near > 0]]))


def _smallest(multiples: FloatArray, share: FloatArray, tail: float) -> float:
    """The smallest multiple at which the share of draws as large as observed is `tail`."""
    rising = np.maximum.accumulate(share)
    return 0.0 if rising[0] >= tail else float(np.interp(tail, rising, multiples))


def _largest(multiples: FloatArray, share: FloatArray, tail: float) -> float:
    """The largest multiple at which the share of draws as small as observed is `tail`."""
    falling = np.minimum.accumulate(share)
    return 0.0 if falling[0] <= tail else float(np.interp(-tail, -falling, multiples))


def shrink(rate: FloatArray, n: FloatArray | float) -> FloatArray:
    """Return rates of n cases with half an event and half a non-event added, so that none is 0 or 1."""
    return (n * rate + 0.5) / (n + 1)


def reach_of_prevalence(panel: ForecastPanel, level: float) -> float:
    """Return how far the mean forecast may be from the event probability; no mean distance is smaller."""
    prevalence = rate_interval("prevalence", panel.outcome, panel.units, level)
    mean = panel.units.mean(panel.only)
    return max(prevalence.upper - mean, mean - prevalence.lower)


def describe_distance(
    measure: str,
    value: float,
    limits: DistanceLimits,
    panel: ForecastPanel,
    *,
    level: float,
    least_upper: float,
    draws: int,
    seed: int,
    note: str,
) -> Estimate:
    """Make the estimate of a distance; the interval contains the value and reaches at least `least_upper`."""
    found = limits.scaled_to(value)
    is_known = panel.cluster is None or panel.units.size > 1
    error, lower, upper = found.standard_error, min(found.lower, value), max(found.upper, value, least_upper)
    return Estimate(
        measure=measure,
        value=value,
        standard_error=error if is_known else np.nan,
        lower=lower if is_known else np.nan,
        upper=upper if is_known else np.nan,
        level=level,
        method=f"test inversion, {draws} draws about multiples of the observed deviation, seed {seed}",
        n=panel.units.total,
        note=note if is_known else "One cluster does not show how much outcomes vary: there is no interval.",
    )
