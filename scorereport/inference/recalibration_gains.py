"""How well the gain of recalibration is known: intervals that allow for the error of the fitted maps.

What is estimated is the mean gain on new cases of a map that is fitted to a sample of this size. The spread
of cross-fitted differences alone is too narrow for it: all folds share cases, and near calibration the gain
is a square, which is not normal. A map with k parameters gains G = u x in the sample, where u is the unit of
a parameter, ½ tr(HV)/k with the curvature H of the expected score and the covariance V of the fit; x is
nearly a noncentral χ² with k degrees of freedom whose root is known up to a normal error. On new cases the
map loses k u by its own error.

References
----------
Bates, Hastie, Tibshirani (2024), J. Am. Stat. Assoc. 119, doi:10.1080/01621459.2023.2197686
Fithian, Sun, Taylor (2014), Optimal inference after model selection, arXiv:1410.2597
"""

from __future__ import annotations

from dataclasses import replace
from math import hypot, isfinite, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import chdtrc, chdtri, expit, log_ndtr, logit, ndtri

from scorereport.inference.likelihood import gram, influence, information, invert
from scorereport.inference.mean_errors import wald_test

if TYPE_CHECKING:
    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.estimates import Difference
    from scorereport.inference.mean_errors import ErrorDistribution
    from scorereport.inference.panel import ForecastPanel
    from scorereport.reliability.blocks import Blocks
    from scorereport.reliability.sampling import SamplingUnits

#: Parameters' worth of a block of several distinct forecasts, as in the closed form of the overfit.
_PARAMETERS_OF_A_BLOCK = 1.5


class FittedMap(NamedTuple):
    """A map fitted to all cases: its gain among them, and what its error is expected to cost on new ones.

    `is_smooth` says whether it has a fixed number of parameters.
    """

    gain: float
    cost: float
    parameters: float
    is_smooth: bool

    @property
    def unit(self) -> float:
        """What the error of one parameter costs."""
        return self.cost / self.parameters


def cost_of_line(panel: ForecastPanel, line: tuple[float, ...]) -> dict[str, float]:
    """What the error of a line in the log-odds costs on new cases, by score.

    `line` is the intercept, or intercept and slope. Forecasts of 0 and 1 stay as they are and cost nothing.
    """
    is_finite = (panel.only > 0) & (panel.only < 1)
    rows = panel.select(np.flatnonzero(is_finite)) if not is_finite.all() else panel
    x, weight = logit(rows.only), rows.units.row_weight
    columns = np.stack([np.ones_like(x), x])[: len(line)]
    log_odds = line[0] + (x if len(line) == 1 else line[1] * x)
    covariance = _covariance(rows, columns, log_odds)
    spread = expit(log_odds) * expit(-log_odds)
    curvatures = {"brier": 2 * spread**2, "log_loss": spread}
    total = panel.units.total
    return {
        name: float((gram(columns, weight * curvature) * covariance).sum()) / (2 * total)
        for name, curvature in curvatures.items()
    }


def _covariance(rows: ForecastPanel, columns: FloatArray, log_odds: FloatArray) -> FloatArray:
    """Covariance of the coefficients: from the likelihood, or over weighted rows or clusters."""
    weight = rows.units.row_weight
    if rows.cluster is None and rows.units.are_repeated_rows:
        return invert(information(columns, log_odds, weight))
    parts = influence(columns, log_odds, rows.outcome, weight) * weight
    if rows.cluster is not None:
        parts = np.array([np.bincount(rows.cluster, weights=part) for part in parts])
    draws = parts.shape[1]
    return gram(parts, np.full(draws, draws / max(draws - 1, 1))) / rows.units.total**2


def parameters_of(blocks: Blocks) -> float:
    """About how many parameters an isotonic fit has: one and a half in each block, one at a single value."""
    return float(_parameters(blocks).sum())


def _parameters(blocks: Blocks) -> FloatArray:
    return np.where(blocks.x_min == blocks.x_max, 1.0, _PARAMETERS_OF_A_BLOCK)


def cost_of_blocks(blocks: Blocks, units: SamplingUnits, design_effect: float) -> dict[str, float]:
    """What the error of an isotonic fit costs about, by score; dependent cases cost more."""
    cases = units.total / units.case_weight / design_effect
    parameters, mean = _parameters(blocks), blocks.mean
    brier = float((parameters * mean * (1 - mean)).sum()) / cases
    return {"brier": brier, "log_loss": float(parameters.sum()) / (2 * cases)}


def design_effect(units: SamplingUnits, values: FloatArray) -> float:
    """By how much clusters raise the variance of a mean; 1 without clusters, and not below."""
    if units.cluster is None:
        return 1.0
    alone = replace(units, cluster=None).standard_error(values)
    return max((units.standard_error(values) / alone) ** 2, 1.0) if alone > 0 else 1.0


def allow_for_fit(
    difference: Difference, fitted: FittedMap, *, folds: int, distribution: ErrorDistribution
) -> Difference:
    """A cross-fitted difference with the interval and test of the gain that fitted maps have on new cases.

    The interval of a smooth map is joined with that of the noncentral χ²; for an isotonic map the spread of
    its overfit is added to the variance.
    """
    is_known = isfinite(difference.value) and isfinite(fitted.gain)
    if not (is_known and difference.standard_error > 0 and fitted.cost > 0):
        return difference
    method = f"{difference.method}, with the error of the fitted maps"
    if not fitted.is_smooth:
        error = hypot(difference.standard_error, fitted.cost * sqrt(2 / fitted.parameters))
        test = wald_test(difference.value, error, difference.level, distribution)
        return replace(difference, **test._asdict(), method=method)
    lower, upper, p_value = _examine_square(fitted, folds, difference.level, distribution)
    return replace(
        difference,
        lower=min(difference.lower, -upper),
        upper=max(difference.upper, -lower),
        p_value=max(difference.p_value, p_value),
        method=method,
    )


def _examine_square(
    fitted: FittedMap, folds: int, level: float, distribution: ErrorDistribution
) -> tuple[float, float, float]:
    """Interval of the gain on new cases from that in the sample, and the p-value of no gain."""
    cost = fitted.cost * folds / (folds - 1)  # each map is fitted to the other folds
    root, null = sqrt(max(fitted.gain, 0.0) / fitted.unit), sqrt(cost / fitted.unit)
    below = max(root - sqrt(float(chdtri(fitted.parameters, 1 - level))), 0.0)
    above = root + distribution.critical_value(level)
    if root > null:
        p_value = float(chdtrc(fitted.parameters, (root - null) ** 2))
    else:
        p_value = distribution.p_value(root - null)
    return fitted.unit * below**2 - cost, fitted.unit * above**2 - cost, p_value


def bound_shown_gain(difference: Difference, alpha: float) -> tuple[float, float]:
    """Ends of the interval of a gain that is stated only because its adjusted p-value is at most `alpha`.

    Gains that chance made too large are stated more often than others. So the lower end is that of a normal
    estimate given that its test rejected (Fithian and others); it is not below 0, because of the test.
    """
    gain, holm = -difference.value, difference.p_value_holm or difference.p_value
    statistic = -float(ndtri(difference.p_value / 2))
    least = -float(ndtri(min(alpha * difference.p_value / holm, 1.0) / 2)) if holm > 0 else 0.0

    def excess(mean: float) -> float:
        return float(log_ndtr(mean - statistic) - log_ndtr(mean - least) - np.log(alpha / 2))

    if not isfinite(statistic):
        return -difference.upper, -difference.lower
    if excess(0.0) >= 0:
        return 0.0, -difference.lower
    mean = float(brentq(excess, 0.0, statistic))
    return min(mean / statistic * gain, -difference.upper), -difference.lower
