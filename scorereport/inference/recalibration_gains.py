"""The gain of recalibration: cross-fitting folds, and intervals that include the error of the fit.

The estimand is the mean gain on new cases of a map fitted to a sample of this size. Intervals from the spread
of cross-fitted differences alone are too narrow: all folds share cases, and near calibration the gain is a
square, which is not normal. A map with k parameters gains G = u x in the sample, where u, the cost of the
error of one parameter, is ½ tr(HV)/k with the curvature H of the expected score and the covariance V of the
fit; x has nearly a noncentral χ² distribution with k degrees of freedom, and its root has a nearly normal
error. On new cases the map loses k u by its own error.

References
----------
Bates, Hastie, Tibshirani (2024), J. Am. Stat. Assoc. 119, doi:10.1080/01621459.2023.2197686
Fithian, Sun, Taylor (2014), Optimal inference after model selection, arXiv:1410.2597
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import hypot, isfinite, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import chdtrc, chdtri, expit, log_ndtr, logit, ndtri

from scorereport.inference.grouped_rows import MANY_CASES, group_rows
from scorereport.inference.large_panels import are_many_alike
from scorereport.inference.likelihood import gram, influence, information, invert
from scorereport.inference.mean_errors import wald_test
from scorereport.inference.panel import ForecastPanel

if TYPE_CHECKING:
    from scorereport._utils.arrays import FloatArray, IntArray
    from scorereport.inference.estimates import Difference
    from scorereport.inference.grouped_rows import CellSums, GroupedRows
    from scorereport.inference.mean_errors import ErrorDistribution
    from scorereport.reliability.blocks import Blocks
    from scorereport.reliability.sampling import SamplingUnits


#: Equivalent number of parameters of a block with several distinct forecasts, as in the closed-form overfit.
_PARAMETERS_OF_A_BLOCK = 1.5


class FittedMap(NamedTuple):
    """A map fitted to all cases: its gain on them, and the expected cost of its error on new cases.

    `is_smooth` is whether it has a fixed number of parameters.
    """

    gain: float
    cost: float
    parameters: float
    is_smooth: bool

    @property
    def unit(self) -> float:
        """The cost of the error of one parameter."""
        return self.cost / self.parameters


def cost_of_line(
    panel: ForecastPanel, line: tuple[float, ...], cells: GroupedRows | None = None
) -> dict[str, float]:
    """Return the expected cost of the error of a line in log-odds on new cases, by score.

    `line` is the intercept, or intercept and slope. Forecasts of 0 and 1 stay as they are and cost nothing.
    With `cells` of neighbouring forecasts, costs of independent cases are those of the cells.
    """
    if cells is None or not _has_likelihood(panel):
        is_finite = (panel.only > 0) & (panel.only < 1)
        rows = panel.select(np.flatnonzero(is_finite)) if not is_finite.all() else panel
        x, weight = logit(rows.only), rows.units.row_weight
        columns, log_odds = _columns(x, line)
        covariance = _covariance(rows, columns, log_odds)
    else:
        x, _, weight = cells
        columns, log_odds = _columns(x, line)
        covariance = invert(information(columns, log_odds, weight))
    spread = expit(log_odds) * expit(-log_odds)
    curvatures = {"brier": 2 * spread**2, "log_loss": spread}
    total = panel.units.total
    return {
        name: float((gram(columns, weight * curvature) * covariance).sum()) / (2 * total)
        for name, curvature in curvatures.items()
    }


def _has_likelihood(panel: ForecastPanel) -> bool:
    return panel.cluster is None and panel.units.are_repeated_rows


def _columns(x: FloatArray, line: tuple[float, ...]) -> tuple[FloatArray, FloatArray]:
    """The columns of the regression on log-odds, and the log-odds of the line."""
    columns = np.stack([np.ones_like(x), x])[: len(line)]
    return columns, line[0] + (x if len(line) == 1 else line[1] * x)


def _covariance(rows: ForecastPanel, columns: FloatArray, log_odds: FloatArray) -> FloatArray:
    """Covariance of the coefficients: from the likelihood, or over weighted rows or clusters."""
    weight = rows.units.row_weight
    if _has_likelihood(rows):
        return invert(information(columns, log_odds, weight))
    parts = influence(columns, log_odds, rows.outcome, weight) * weight
    if rows.cluster is not None:
        parts = np.array([np.bincount(rows.cluster, weights=part) for part in parts])
    draws = parts.shape[1]
    return gram(parts, np.full(draws, draws / max(draws - 1, 1))) / rows.units.total**2


def parameters_of(blocks: Blocks) -> float:
    """Return the equivalent number of parameters of an isotonic fit: 1.5 for each block, 1 for one value."""
    return float(_parameters(blocks).sum())


def _parameters(blocks: Blocks) -> FloatArray:
    return np.where(blocks.x_min == blocks.x_max, 1.0, _PARAMETERS_OF_A_BLOCK)


def cost_of_blocks(blocks: Blocks, units: SamplingUnits, design_effect: float) -> dict[str, float]:
    """Return the approximate cost of the error of an isotonic fit, by score; dependence increases it."""
    cases = units.total / units.case_weight / design_effect
    parameters, mean = _parameters(blocks), blocks.mean
    brier = float((parameters * mean * (1 - mean)).sum()) / cases
    return {"brier": brier, "log_loss": float(parameters.sum()) / (2 * cases)}


def design_effect(units: SamplingUnits, values: FloatArray) -> float:
    """Return the factor by which clusters raise the variance of a mean; at least 1; 1 without clusters."""
    if units.cluster is None:
        return 1.0
    alone = replace(units, cluster=None).standard_error(values)
    return max((units.standard_error(values) / alone) ** 2, 1.0) if alone > 0 else 1.0


def allow_for_fit(
    difference: Difference, fitted: FittedMap, *, folds: int, distribution: ErrorDistribution
) -> Difference:
    """Replace the interval and test of a cross-fitted difference by those of the gain on new cases.

    The interval of a smooth map is extended to include that of the noncentral χ²; for an isotonic map the
    variance of its overfit is added to the variance.
    """
    is_known = isfinite(difference.value) and isfinite(fitted.gain)
    if not (is_known and difference.standard_error > 0 and fitted.cost > 0):
        return difference
    method = f"{difference.method}, with the error of the fitted maps"
    if not fitted.is_smooth:
        error = hypot(difference.standard_error, fitted.cost * sqrt(2 / fitted.parameters))
        test = wald_test(difference.value, error, difference.level, distribution)
        return replace(
            difference,
            standard_error=test.standard_error,
            lower=test.lower,
            upper=test.upper,
            statistic=test.statistic,
            p_value=test.p_value,
            method=method,
        )
    lower, upper, p_value = _bound_square(fitted, folds, difference.level, distribution)
    return replace(
        difference,
        lower=min(difference.lower, -upper),
        upper=max(difference.upper, -lower),
        p_value=max(difference.p_value, p_value),
        method=method,
    )


def _bound_square(
    fitted: FittedMap, folds: int, level: float, distribution: ErrorDistribution
) -> tuple[float, float, float]:
    """Interval of the gain on new cases from the gain in the sample, and the p-value of no gain."""
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
    """Return the bounds of a gain that is reported only if its adjusted p-value is at most `alpha`.

    Gains that are too large by chance are reported more often than others. The lower bound is therefore that
    of a normal estimate conditional on rejection (Fithian and others); it is not below 0, because of the
    test.
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


@dataclass(frozen=True, eq=False)
class FoldAssignment:
    """The cases of a panel and the fold of each."""

    panel: ForecastPanel
    fold: NDArray[np.integer]
    folds: int

    @cached_property
    def cells(self) -> CellSums | None:
        """Sums over cells of log-odds, by fold; None for few rows, or for a forecast of 0 or 1."""
        panel, p = self.panel, self.panel.only
        if len(p) < MANY_CASES or not 0 < p[0] <= p[-1] < 1:
            return None
        return group_rows(p, panel.outcome, panel.units.row_weight, self.fold, self.folds)


def assign_folds(panel: ForecastPanel, folds: int, rng: np.random.Generator) -> FoldAssignment:
    """Assign sampling units to folds of equal size.

    A row goes to one fold with its whole weight: if copies were in two folds, the map of one would be fitted
    to the outcome of the other.
    """
    if panel.cluster is not None:
        fold = (rng.permutation(int(panel.units.size)) % folds)[panel.cluster]
        return FoldAssignment(panel, fold, folds)
    if are_many_alike(panel):
        return FoldAssignment(panel, _assign_in_order(panel.only, folds, rng), folds)
    if panel.weight is None or (panel.units.are_repeated_rows and (panel.weight == 1).all()):
        return _assign_repeated(panel, folds, rng)
    shuffled = np.lexsort([rng.random(len(panel.only)), panel.only])  # outcomes must not order ties
    fold = np.empty(len(shuffled), dtype=np.int64)
    fold[shuffled] = _shuffle_turns(-(-len(fold) // folds), folds, rng).ravel()[: len(fold)]
    return FoldAssignment(panel, fold, folds)


def _assign_in_order(p: FloatArray, folds: int, rng: np.random.Generator) -> NDArray[np.integer]:
    """The folds of ascending forecasts; tied forecasts are assigned in random order."""
    fold = _shuffle_turns(-(-len(p) // folds), folds, rng).ravel()[: len(p)]
    is_same = np.append(False, np.append(p[1:] == p[:-1], False))
    tied = np.flatnonzero(is_same[1:] | is_same[:-1])
    fold[tied[np.lexsort([rng.random(len(tied)), p[tied]])]] = fold[tied]
    return fold


def _shuffle_turns(turns: int, folds: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """All folds in random order, separately for each turn."""
    return rng.permuted(np.tile(np.arange(folds, dtype=np.int32), (turns, 1)), axis=1)


def _assign_repeated(panel: ForecastPanel, folds: int, rng: np.random.Generator) -> FoldAssignment:
    """Assign the cases of each distinct forecast by counts: a row for each forecast, outcome and fold.

    No case has a weight: rows with the same forecast and outcome are different cases.
    """
    (name,) = panel.forecasts
    distinct, place = np.unique(panel.only, return_inverse=True)
    n = np.bincount(place)
    events = np.bincount(place, weights=panel.outcome).astype(np.int64)
    sizes = _assign_counts(n, folds, rng)
    of_events = _draw_events(sizes, events, rng)
    counts = np.stack([sizes - of_events, of_events], axis=1)  # by forecast, outcome and fold
    at, outcome, fold = np.nonzero(counts)
    count = counts[at, outcome, fold].astype(np.float64)
    assigned = ForecastPanel(
        outcome=outcome.astype(np.float64),
        forecasts={name: distinct[at]},
        weight=None if (count == 1).all() else count,
        weight_kind="frequency",
    )
    return FoldAssignment(assigned, fold, folds)


def _assign_counts(n: IntArray, folds: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """How many of the cases of each forecast go to each fold.

    A turn gives one case to each fold. The order is needed only for turns that two forecasts share.
    """
    turn, place = np.divmod(np.append(0, np.cumsum(n)).astype(np.int32), folds)  # rows are fewer than 2^31
    turns, which = np.unique(turn, return_inverse=True)
    place_of_fold = _shuffle_turns(len(turns), folds, rng)[which]
    return np.diff(turn[:, None] + (place_of_fold < place[:, None]), axis=0)


def _draw_events(sizes: NDArray[np.int32], events: IntArray, rng: np.random.Generator) -> NDArray[np.int32]:
    """How many of the events of each forecast are in each fold, if all its cases are equally likely."""
    drawn = np.zeros_like(sizes)
    left, events_left = sizes.sum(axis=1), events.copy()
    for fold in range(sizes.shape[1]):
        drawn[:, fold] = rng.hypergeometric(events_left, left - events_left, sizes[:, fold])
        left, events_left = left - sizes[:, fold], events_left - drawn[:, fold]
    return drawn
