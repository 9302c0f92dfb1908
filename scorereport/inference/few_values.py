"""Intervals of miscalibration and discrimination where forecasts take few distinct values.

With few values the fit overfits little, and the spread of the cases misleads: where observed rates happen to
equal forecasts, the difference of their scores has no spread, and the bracket is too narrow. With one value
the exact interval (Clopper and Pearson) of its rate q gives that of the miscalibration d(x, q). With several
values, Σ s d(x, r) over shares s and observed rates r is approximately a scaled noncentral chi-square
variable, whose noncentrality corresponds to the true component: the limits are the noncentralities that put
the observed value into either tail. A value below the lower quartile for a calibrated forecast counts as that
quartile.

References
----------
Clopper, Pearson (1934), Biometrika 26, doi:10.1093/biomet/26.4.404
Satterthwaite (1946), Biometrics Bulletin 2, doi:10.2307/3002019: scale and degrees of freedom
Kent, Hainsworth (1995), J. Stat. Plan. Inference 46, 147-159: intervals of a noncentrality
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq
from scipy.special import chdtri, chndtr

from scorereport._utils.arrays import FloatArray, IntArray
from scorereport.inference.rare_cases import effective_cases, exact_share, widen
from scorereport.reliability.clusters import effective_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorereport.inference.estimates import ComponentEstimate
    from scorereport.inference.losses import Measure
    from scorereport.reliability.blocks import Blocks
    from scorereport.reliability.fitted_sample import FittedSample

#: With more distinct forecasts the bracket has its nominal coverage.
MOST_VALUES = 5
ONE_VALUE = "exact: from the interval of the event rate at the only forecast (Clopper and Pearson)"
FEW_VALUES = "widened for few distinct forecasts to what their event rates allow"
#: A statistic below this quantile of a calibrated forecast counts as the quantile.
_QUARTILE = 0.25


@dataclass(frozen=True, kw_only=True, eq=False)
class FewValues:
    """The distinct forecasts, with share of cases, event rate and effective number of cases of each."""

    x: FloatArray
    share: FloatArray
    rate: FloatArray
    cases: FloatArray

    def __len__(self) -> int:
        return len(self.x)


def find_few_values(sample: FittedSample, level: float) -> FewValues | None:
    """Return the distinct forecasts of a sample with effective numbers of cases; None if not few."""
    distinct, units = sample.distinct, sample.units
    if len(distinct) > MOST_VALUES:
        return None
    kish = distinct.n**2 / sample.squares
    if units.cluster is None:
        return tabulate_values(distinct, kish)
    value = np.searchsorted(distinct.x_min, sample.cases.y_prob)
    cases = [
        _count_clustered(sample, units.cluster, value == place, float(kish[place]), level)
        for place in range(len(distinct))
    ]
    return tabulate_values(distinct, np.array(cases))


def _count_clustered(
    sample: FittedSample, clusters: IntArray, chosen: NDArray[np.bool_], most: float, level: float
) -> float:
    """The effective number of cases at one forecast, from the spread of its clusters around their rate."""
    y, weight = sample.cases.y_true[chosen], sample.units.row_weight[chosen]
    cluster = np.unique(clusters[chosen], return_inverse=True)[1]
    size, rate = int(cluster.max()) + 1, float((weight * y).sum() / weight.sum())
    sums = np.bincount(cluster, weights=weight * (y - rate))
    error = np.sqrt((sums**2).sum() * size / (size - 1)) / weight.sum() if size > 1 else np.nan
    quantile = sample.units.critical_value(level)
    alike = min(most, effective_number(np.bincount(cluster, weights=weight).astype(np.float64)))
    return effective_cases(rate, float(error), most=most, alike=alike, quantile=quantile, level=level)


def tabulate_values(distinct: Blocks, cases: FloatArray) -> FewValues:
    """Make the table of distinct forecasts with these effective numbers of cases."""
    n = distinct.n.astype(np.float64)
    return FewValues(x=distinct.x_min, share=n / n.sum(), rate=distinct.events / n, cases=cases)


def allow_for_few_values(
    bound: ComponentEstimate, few: FewValues | None, measure: Measure
) -> ComponentEstimate:
    """Widen the interval of a component for few distinct forecasts; return it unchanged if there are many."""
    if few is None or not np.isfinite(bound.lower + bound.upper):
        return bound
    is_miscalibration = bound.component == "miscalibration"
    if len(few) == 1:
        if not is_miscalibration:  # one forecast does not discriminate
            return replace(bound, lower=0.0, upper=0.0, method=ONE_VALUE)
        lower, upper = _bound_one(few, measure, bound.level)
        return replace(bound, lower=lower, upper=upper, method=ONE_VALUE)
    if not measure.curvature_problem:
        bounds = _bound_several(few, measure, bound.level, is_miscalibration=is_miscalibration)
    else:
        bounds = np.nan, _bound_by_rates(few, measure, bound.level) if is_miscalibration else np.nan
    if is_miscalibration:
        bounds = np.nan, bounds[1]  # the test decides where the interval starts
    lower, upper = widen((bound.lower, bound.upper), bounds)
    if (lower, upper) == (bound.lower, bound.upper):
        return bound
    return replace(bound, lower=lower, upper=upper, method=f"{bound.method}; {FEW_VALUES}")


def divergence(measure: Measure, x: FloatArray, q: FloatArray) -> FloatArray:
    """Return the expected loss of the forecast x minus that of the event probability q."""
    loss = np.zeros(np.broadcast(x, q).shape)
    x, q = np.broadcast_to(x, loss.shape), np.broadcast_to(q, loss.shape)
    for outcome, probability in ((1.0, q), (0.0, 1 - q)):
        y, happens = np.full(loss.shape, outcome), probability > 0
        more = np.subtract(measure.loss(y, x), measure.loss(y, q), out=np.zeros(loss.shape), where=happens)
        loss += np.where(happens, probability * more, 0.0)
    return np.maximum(loss, 0.0)


def _bound_one(few: FewValues, measure: Measure, level: float) -> tuple[float, float]:
    """The smallest and the largest divergence at a rate of the exact interval."""
    x = float(few.x[0])
    ends = exact_share(float(few.rate[0]), float(few.cases[0]), level)
    rates = np.array([*ends, np.clip(x, *ends)])
    found = divergence(measure, few.x, rates)
    return float(found[2]), float(found[:2].max())


def _bound_by_rates(few: FewValues, measure: Measure, level: float) -> float:
    """The largest miscalibration at rates in their exact intervals (Šidák), for non-smooth scores."""
    each = level ** (1 / len(few))
    ends = [exact_share(rate, cases, each) for rate, cases in zip(few.rate, few.cases, strict=True)]
    worst = np.max([divergence(measure, few.x, np.array(end)) for end in zip(*ends, strict=True)], axis=0)
    return float((few.share * worst).sum())


def _bound_several(
    few: FewValues, measure: Measure, level: float, *, is_miscalibration: bool
) -> tuple[float, float]:
    """The components whose scaled noncentral distribution has the observed value in either tail."""
    prevalence = float((few.share * few.rate).sum())
    reference = few.x if is_miscalibration else np.full(len(few), prevalence)
    observed = float((few.share * divergence(measure, reference, few.rate)).sum())
    rate = (few.rate * few.cases + 0.5) / (few.cases + 1)
    spread = few.share * measure.overfit_weight(rate) / few.cases
    if not spread.sum() > 0:
        return np.nan, np.nan
    scale = float((spread**2).sum() / spread.sum())
    freedom = float(spread.sum() ** 2 / (spread**2).sum())
    freedom = freedom if is_miscalibration else freedom * (len(few) - 1) / len(few)
    tail, statistic = (1 - level) / 2, observed / scale
    lower = _noncentrality(statistic, freedom, 1 - tail)
    upper = _noncentrality(max(statistic, float(chdtri(freedom, 1 - _QUARTILE))), freedom, tail)
    return scale * lower, scale * upper


def _noncentrality(statistic: float, freedom: float, probability: float) -> float:
    """The noncentrality at which P(X <= statistic) is `probability`; 0 if it is smaller already at 0."""

    def excess(noncentrality: float) -> float:
        return float(chndtr(statistic, freedom, noncentrality)) - probability

    if excess(0.0) <= 0:
        return 0.0
    highest = 2 * statistic + 50.0  # more than ten standard deviations above any statistic
    while excess(highest) > 0:
        highest *= 2
    return float(brentq(excess, 0.0, highest, xtol=1e-12, rtol=1e-12))
