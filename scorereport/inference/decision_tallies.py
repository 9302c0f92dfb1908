"""Decisions at thresholds: the four sums of weights, their limits, and how rows or counts are tallied.

For weighted or clustered rows the products of the sums are accumulated as well, over sampling units.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from scorereport._utils.arrays import FloatArray
from scorereport.curves.decision import interventions_avoided
from scorereport.inference.rates import log_odds_limits, wilson_limits
from scorereport.reliability.blocks import outcomes_before

if TYPE_CHECKING:
    from scorereport._utils.arrays import IntArray
    from scorereport._utils.checks import CheckedCases
    from scorereport.curves.fit_or_arrays import IsotonicFit
    from scorereport.reliability.fit import Corp
    from scorereport.reliability.sampling import SamplingUnits

ThresholdSide = Literal["left", "right"]

#: Sums of weights this small relative to their total are rounding errors.
_ROUNDING = 1e-13
#: A variance this small relative to the squares of the sums is a rounding error: all sampling units have the
#: same share.
_CANCELLED = 1e-12
#: Places of the four sums.
_TP, _FP, _FN, _TN = range(4)
#: For each of them, 0 if it is a sum over events, 1 if over non-events.
_CLASS_OF = np.array([0, 1, 0, 1])
#: For each rate, the sums of its numerator, and the other sums of its denominator.
RATES = {
    "flagged": ((_TP, _FP), (_FN, _TN)),
    "sensitivity": ((_TP,), (_FN,)),
    "specificity": ((_TN,), (_FP,)),
    "positive_predictive_value": ((_TP,), (_FP,)),
    "negative_predictive_value": ((_TN,), (_FN,)),
}
#: Net benefit minus that of treating all.
OVER_TREAT_ALL = "net_benefit_over_treat_all"


class DecisionLimits(NamedTuple):
    """Values with their lower and upper limits, one for each threshold."""

    value: FloatArray
    lower: FloatArray
    upper: FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Decisions:
    """Decisions at some thresholds: the four sums, and how much they vary.

    `sums` has a row for each of the four. `moments` are the products of every two, summed over the `draws`
    sampling units, rows or clusters; None if cases are independent and counted. `size` is the effective
    number of cases; NaN if it is not known. `class_weights` are the weights of an event and of a non-event,
    if they differ.
    """

    sums: FloatArray
    size: float
    level: float
    method: str
    moments: FloatArray | None = None
    draws: float = np.nan
    quantile: float = np.nan
    note: str = ""
    class_weights: tuple[float, float] | None = None

    @property
    def total(self) -> FloatArray:
        """Sum of all weights, which is the same at each threshold."""
        return self.sums.sum(axis=0)

    def rate(self, measure: str) -> DecisionLimits:
        """A rate with its limits."""
        return self._bound_share(*RATES[measure])

    def net_benefit(self, odds: FloatArray) -> DecisionLimits:
        """Net benefit at the odds of the thresholds."""
        return self._combine((_TP, np.ones_like(odds)), (_FP, -odds))

    def over_treat_all(self, odds: FloatArray) -> DecisionLimits:
        """Net benefit minus that of treating all: the benefit of sparing cases."""
        return self._combine((_TN, odds), (_FN, -np.ones_like(odds)))

    def interventions_avoided(self, threshold: FloatArray) -> DecisionLimits:
        """Net reduction in interventions per 100 cases: net benefit over treating all, rescaled."""
        with np.errstate(divide="ignore", invalid="ignore"):
            odds = np.where(threshold < 1, threshold / (1 - threshold), np.nan)
        limits = self.over_treat_all(odds)
        return DecisionLimits(*(interventions_avoided(number, threshold) for number in limits))

    def regret(self, threshold: FloatArray) -> DecisionLimits:
        """Regret at the thresholds, taken as costs."""
        return self._combine((_FP, threshold), (_FN, 1 - threshold))

    @np.errstate(divide="ignore", invalid="ignore")
    def _bound_share(self, top: tuple[int, ...], rest: tuple[int, ...]) -> DecisionLimits:
        """The share of the sums `top` in all of `top` and `rest`, with limits by Wilson or on log-odds."""
        happened = self.sums[list(top)].sum(axis=0)
        counted = happened + self.sums[list(rest)].sum(axis=0)
        rate = happened / counted
        lower, upper = wilson_limits(rate, self._count_cases([*top, *rest]), self.level)
        if self.moments is None:
            return DecisionLimits(rate, lower, upper)
        gradient = np.zeros_like(self.sums)
        gradient[list(top)], gradient[list(rest)] = 1 - rate, -rate
        error = np.sqrt(self._covariance(gradient, gradient)) / counted
        robust = log_odds_limits(rate, error, self.quantile)
        has_error = (error > _ROUNDING) & (rate > 0) & (rate < 1)
        return DecisionLimits(
            rate, np.where(has_error, robust[0], lower), np.where(has_error, robust[1], upper)
        )

    def _count_cases(self, parts: list[int]) -> FloatArray:
        """The number of cases in some of the sums: by share, or Kish's number from the class weights."""
        sums = self.sums[parts]
        counted = sums.sum(axis=0)
        if self.class_weights is None:
            return np.asarray(self.size * counted / self.total)
        squares = (sums * np.array(self.class_weights)[_CLASS_OF[parts]][:, None]).sum(axis=0)
        return np.asarray(counted**2 / squares)

    @np.errstate(divide="ignore", invalid="ignore")
    def _combine(self, first: tuple[int, FloatArray], second: tuple[int, FloatArray]) -> DecisionLimits:
        """The sum of two shares of all cases, each times a factor.

        The distance of each share to its own limit, on the side of the limit sought, is added in quadrature,
        with the correlation of the shares.

        References
        ----------
        Zou, Donner (2008), Stat. Med. 27, doi:10.1002/sim.3095
        """
        shares = [self._bound_share((k,), tuple({_TP, _FP, _FN, _TN} - {k})) for k in (first[0], second[0])]
        factors = (first[1], second[1])
        together = self._correlate(first[0], second[0]) * np.sign(factors[0]) * np.sign(factors[1])
        value = factors[0] * shares[0].value + factors[1] * shares[1].value
        reach = []
        for outwards in (-1, 1):
            one, two = (
                np.abs(factor) * np.where(outwards * factor > 0, s.upper - s.value, s.value - s.lower)
                for factor, s in zip(factors, shares, strict=True)
            )
            reach.append(np.sqrt(np.maximum(one**2 + two**2 + 2 * together * one * two, 0)))
        return DecisionLimits(value, value - reach[0], value + reach[1])

    def _correlate(self, first: int, second: int) -> FloatArray:
        """The correlation of two shares of all cases; 0 where one of them does not vary."""
        shares = self.sums / self.total
        if self.moments is None:
            p, q = shares[first], shares[second]
            found = -np.sqrt(p * q / ((1 - p) * (1 - q)))
        else:
            one, two = (-np.tile(shares[k], (4, 1)) for k in (first, second))
            one[first] += 1
            two[second] += 1
            spread = np.sqrt(self._covariance(one, one) * self._covariance(two, two))
            found = np.where(spread > 0, np.clip(self._covariance(one, two) / spread, -1, 1), 0.0)
        return np.where(np.isfinite(found), found, 0.0)

    def _covariance(self, one: FloatArray, two: FloatArray) -> FloatArray:
        """Covariance of two sums with these factors, over sampling units; a variance is not rounding."""
        moments = np.zeros((4, 4, 1)) if self.moments is None else self.moments
        found = np.einsum("it,jt,ijt->t", one, two, moments) * self.draws / (self.draws - 1)
        if one is not two:
            return found
        size = np.einsum("iit->it", moments).max(axis=0)
        return np.where(found > _CANCELLED * size, found, 0.0)


#: Counts decisions at thresholds; forecasts equal to a threshold are flagged ("left") or not ("right").
DecisionTally = Callable[[FloatArray, ThresholdSide], Decisions]


def tally_rows(fit: Corp, level: float) -> DecisionTally:
    """Return the tally of decisions of a fit whose rows are in memory."""
    units, rows = fit.sample.units, _Rows.of(fit)
    if rows is None:
        return tally_counts(fit, level)
    clustered = units.cluster is not None
    size = units.effective_size if clustered else units.total / units.case_weight

    def tally(t: FloatArray, side: ThresholdSide) -> Decisions:
        return Decisions(
            sums=_count(fit, t, side),
            moments=rows.moments(t, side),
            draws=units.size,
            quantile=units.critical_value(level),
            size=float(size),
            level=level,
            method=f"normal on log-odds, errors over {'clusters' if clustered else 'weighted rows'}",
            note="" if units.size > 1 else f"One {units.unit} does not show how much rates vary.",
        )

    return tally


def tally_counts(
    fit: IsotonicFit,
    level: float,
    *,
    class_weights: tuple[float, float] | None = None,
    clustered: bool = False,
) -> DecisionTally:
    """Return the tally of decisions from counts of cases.

    Class weights lead to Kish's number of cases; with clusters there are no intervals.
    """
    note = "Counts do not show how much clusters vary: there is no interval." if clustered else ""

    def tally(t: FloatArray, side: ThresholdSide) -> Decisions:
        return Decisions(
            sums=_count(fit, t, side),
            size=np.nan if clustered else float(fit.n),
            level=level,
            method="Wilson" if class_weights is None else "Wilson, Kish's number of cases",
            note=note,
            class_weights=None if clustered else class_weights,
        )

    return tally


def _count(fit: IsotonicFit, t: FloatArray, side: ThresholdSide) -> FloatArray:
    """The four sums at each threshold."""
    distinct = fit.distinct
    first = np.searchsorted(distinct.x_min, t, side=side)
    found = outcomes_before(distinct.n, distinct.events, first)
    below, spared = (before[:-1].astype(np.float64) for before in found)
    all_events, all_others = (float(before[-1]) for before in found)
    sums = np.stack([all_events - below, all_others - spared, below, spared])
    return np.where(sums > _ROUNDING * (all_events + all_others), sums, 0.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Rows:
    """Weighted rows by forecast, highest first, and cumulative sums of products over sampling units.

    `products` has a row for each product of two of these sums in a unit: events above a threshold, others
    above it, all events and all others; `whole` has the products of the last two.
    """

    forecast: FloatArray  # ascending
    products: FloatArray  # seven rows, cumulated from the highest forecast, 0 in front
    whole: FloatArray

    @classmethod
    def of(cls, fit: Corp) -> _Rows | None:
        """The rows of a fit; None if they are independent and counted."""
        units = fit.sample.units
        if units.cluster is None and units.are_repeated_rows:
            return None
        above, everything = _weigh(fit.cases, units)
        products, whole = (
            _products_of_rows(above)
            if units.cluster is None
            else _products_of_clusters(above, everything, units)
        )
        sums = np.concatenate([np.zeros((7, 1)), np.cumsum(products, axis=1)], axis=1)
        return cls(forecast=fit.cases.y_prob, products=sums, whole=whole)

    def moments(self, t: FloatArray, side: ThresholdSide) -> FloatArray:
        """Products of every two of the four sums at each threshold, summed over sampling units."""
        above = len(self.forecast) - np.searchsorted(self.forecast, t, side=side)
        of = np.empty((4, 4, len(t)))  # above: events, others; in all: events, others
        (of[0, 0], of[0, 1], of[1, 1], of[0, 2], of[0, 3], of[1, 2], of[1, 3]) = self.products[:, above]
        of[2, 2], of[2, 3], of[3, 3] = self.whole[:, None]
        for i, j in ((1, 0), (2, 0), (3, 0), (2, 1), (3, 1), (3, 2)):
            of[i, j] = of[j, i]
        return np.einsum("ai,bj,ijt->abt", _FOUR_SUMS, _FOUR_SUMS, of)


#: The four sums from events and others above a threshold, and in all.
_FOUR_SUMS = np.array([[1.0, 0, 0, 0], [0, 1, 0, 0], [-1, 0, 1, 0], [0, -1, 0, 1]])


def _weigh(cases: CheckedCases, units: SamplingUnits) -> tuple[FloatArray, FloatArray]:
    """Weights of each row as event and as other case: highest forecast first, and in row order."""
    event = cases.y_true.astype(np.float64)
    everything = np.stack([units.row_weight * event, units.row_weight * (1 - event)])
    return everything[:, ::-1], everything


def _products_of_rows(above: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The products of single rows, in which an event and another case never meet."""
    events, others = above**2
    nothing = np.zeros_like(events)
    whole = np.array([events.sum(), 0.0, others.sum()])
    return np.stack([events, nothing, others, events, nothing, nothing, others]), whole


def _products_of_clusters(
    above: FloatArray, everything: FloatArray, units: SamplingUnits
) -> tuple[FloatArray, FloatArray]:
    """What each row adds to the products of the sums of its cluster, after the rows above it."""
    cluster: IntArray = units.cluster if units.cluster is not None else np.arange(units.rows)
    totals = np.stack([np.bincount(cluster, weights=part) for part in everything])
    code = cluster[::-1]
    before = np.stack([_sum_before(part, code) for part in above])
    (a, b), (of_a, of_b), (all_a, all_b) = above, before, totals[:, code]
    added = [(2 * of_a + a) * a, of_a * b + of_b * a, (2 * of_b + b) * b]
    products = np.stack([*added, a * all_a, a * all_b, b * all_a, b * all_b])
    return products, np.array([(totals[0] ** 2).sum(), (totals[0] * totals[1]).sum(), (totals[1] ** 2).sum()])


def _sum_before(values: FloatArray, code: IntArray) -> FloatArray:
    """For each row, the sum over earlier rows of its cluster."""
    order = np.argsort(code, kind="stable")
    ordered, codes = values[order], code[order]
    sums = np.cumsum(ordered) - ordered
    starts = np.flatnonzero(np.append(True, codes[1:] != codes[:-1]))
    sums -= np.repeat(sums[starts], np.diff(np.append(starts, len(codes))))
    out = np.empty_like(values)
    out[order] = sums
    return out
