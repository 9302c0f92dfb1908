"""Parts of miscalibration: what a shift of the log-odds removes, what a line, and what only a curve.

MCB = [S(p) - S(shift)] + [S(shift) - S(line)] + [S(line) - S(isotonic)] with the mean score S, the shift and
the nondecreasing line of the log-odds with the lowest score, and the isotonic fit. No part is negative: the
forecasts are a shift by 0, a shift is a line, and the isotonic fit has the lowest score of all nondecreasing
functions of the forecast under every proper score. The first two are the global part, the last is the local
part. Brauer, Menzel and Wüthrich split miscalibration into the gain of a correction of the level and the
rest; the line between them is an addition.

In a sample, a map with k parameters gains by chance what the overfit of its fit is, ½ tr(J H⁻¹) with the
curvature H of the mean score and the covariance J of its gradient (Takeuchi): k/(2n) for the log score of n
independent cases. Near 0 the gain of a map is a square, so its interval is computed on the root scale, where
errors are nearly normal. The interval of the local part is the bracket of a component, with the overfit of
the isotonic fit less that of the line.

References
----------
Brauer, Menzel, Wüthrich (2025), Model monitoring, arXiv:2510.04556
Brümmer, du Preez (2013), The PAV algorithm optimizes binary proper scoring rules, arXiv:1304.2331
Takeuchi (1976), Suri Kagaku 153, 12-18: the overfit of a fit whose model need not hold
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite, isnan, nan, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import chdtri, expit, logit, ndtri

from scorereport._utils.checks import check_inside, check_whole
from scorereport._utils.choices import SEED
from scorereport._utils.representation import short_repr
from scorereport.errors import InternalError
from scorereport.inference.component_tests import component_intervals, is_miscalibrated
from scorereport.inference.components import bound_component, describe_bracket, reach_on_root_scale
from scorereport.inference.estimates import ComponentEstimate, HypothesisTest, adjust_tests
from scorereport.inference.few_values import MOST_VALUES
from scorereport.inference.grouped_rows import GroupedRows
from scorereport.inference.likelihood import gram, invert
from scorereport.inference.local_miscalibration import DRAWS, check_local
from scorereport.inference.losses import resolve_measure
from scorereport.inference.overfit import Overfit
from scorereport.inference.recalibration import FEWEST_EVENTS
from scorereport.inference.recalibration_maps import is_certain
from scorereport.inference.score_lines import BRIER, LOG, fit_best_lines, group_points
from scorereport.reliability.decomposition import mean_at
from scorereport.reliability.fit import corp
from scorereport.reliability.sampling import SamplingUnits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.score_lines import BestLines, ScoreLine, ScoreOfLogOdds
    from scorereport.reliability.blocks import Blocks
    from scorereport.reliability.fit import Corp
    from scorereport.reliability.fitted_sample import FittedSample

#: Names of the parts, as components of the miscalibration.
SHIFT, SLOPE, GLOBAL, LOCAL = "shift", "slope", "global", "local"
SCORES = (BRIER, LOG)
_METHOD = "gain in the sample less the overfit of the map, interval on the root scale"
#: A part below 0 by at most this is a rounding error.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class MiscalibrationParts:
    """The miscalibration of a score by what removes it, each part raw, overfit-corrected and with interval.

    Raw values of `by_shift` and `by_slope` add up to `global_part`, which a line in log-odds removes, and
    with `local_part`, which only a new curve removes, to the `miscalibration`. `offset` is the best shift of
    the log-odds; `intercept` and `slope` are those of the best nondecreasing line, whose slope is 0 if the
    ranking is inverted. `local_test` tests that nothing is left after a line. NaN where no line fits, see the
    note.
    """

    measure: str
    miscalibration: float
    by_shift: ComponentEstimate
    by_slope: ComponentEstimate
    global_part: ComponentEstimate
    local_part: ComponentEstimate
    offset: float
    intercept: float
    slope: float
    local_test: HypothesisTest
    note: str = ""

    __repr__ = short_repr


def split_miscalibration(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    draws: int = DRAWS,
    seed: int = SEED,
    sample_weight: ArrayLike | None = None,
    weight_kind: str = "sampling",
    cluster: ArrayLike | None = None,
    level: float = 0.95,
) -> tuple[MiscalibrationParts, ...]:
    """Split the miscalibration of the Brier and of the log score into global and local parts.

    The global part is what the best shift of the log-odds removes, and what the best line removes beyond it;
    the local part is what only another nondecreasing curve removes. Forecasts of exactly 0 and 1 stay as they
    are under shift and line. There are no parts with fewer than 10 events or non-events.

    Parameters
    ----------
    y_true, y_prob : outcomes 0 or 1 and their forecasts
    draws, seed : number of samples drawn from the line by the test of the local part, and their seed
    sample_weight, weight_kind : not negative; "sampling" weights of rows that were drawn once, or
        "frequency", how often each row was observed
    cluster : a label per row; rows of a cluster may depend on each other
    level : confidence level of the intervals

    >>> rng = np.random.default_rng(1)
    >>> p = rng.random(2000)
    >>> brier, _ = split_miscalibration(rng.random(2000) < p, 1 / (1 + 3 * (1 - p) / p))
    >>> round(brier.offset, 2), round(brier.slope, 2), brier.local_test.p_value > 0.05
    (1.17, 0.97, True)
    """
    draws, seed = check_whole(draws, "draws", 1), check_whole(seed, "seed", 0)
    level = check_inside(level, "level", 0, 1, closed="neither")
    fit = corp(y_true, y_prob, sample_weight, weight_kind=weight_kind, cluster=cluster)
    known = [  # without the test of miscalibration, which the parts do not need
        part
        for score in SCORES
        for part in component_intervals(fit, score.name, level=level, seed=seed, resamples=1)
    ]
    return split_fit(fit, known, level=level, seed=seed, draws=draws)


def split_fit(
    fit: Corp, components: Sequence[ComponentEstimate], *, level: float, seed: int, draws: int = DRAWS
) -> tuple[MiscalibrationParts, ...]:
    """Split the miscalibration of a fit, whose overfit the estimates of its components have."""
    sample = fit.sample
    if min(sample.counts) < FEWEST_EVENTS:
        return ()
    rows = _choose_rows(sample)
    lines = fit_best_lines(rows.points, SCORES)
    gains = [_find_gains(rows, sample.blocks, s.name, best) for s, best in zip(SCORES, lines, strict=True)]
    likeliest = lines[SCORES.index(LOG)].line
    tests = check_local(sample, likeliest, SCORES, [g.means[LOCAL] for g in gains], seed=seed, draws=draws)
    totals = {c.measure: c for c in components if c.component == "miscalibration"}
    return tuple(
        _describe(_Split(sample, rows, *each, totals[each[0].name], level))
        for each in zip(SCORES, lines, gains, tests, strict=True)
    )


def adjust_parts(
    by_model: Sequence[tuple[MiscalibrationParts, ...]],
) -> list[tuple[MiscalibrationParts, ...]]:
    """Adjust the p-values of the tests of the local part over the models; not for one model."""
    if len(by_model) < 2 or not all(by_model):
        return list(by_model)
    tests = adjust_tests([tuple(parts.local_test for parts in of_model) for of_model in by_model])
    return [
        tuple(replace(parts, local_test=test) for parts, test in zip(of_model, adjusted, strict=True))
        for of_model, adjusted in zip(by_model, tests, strict=True)
    ]


class _Rows(NamedTuple):
    """Rows that are scored, or points that stand for them: outcome, forecast, isotonic fit and units.

    `points` are those whose log-odds are finite, and `moves` says which rows they are.
    """

    y: FloatArray
    p: FloatArray
    curve: FloatArray
    units: SamplingUnits
    points: GroupedRows
    moves: NDArray[np.bool_] | None


def _choose_rows(sample: FittedSample) -> _Rows:
    """The rows of a sample; for many independent cases, points that stand for them."""
    blocks, points = sample.blocks, group_points(sample)
    if points is not None:
        p = expit(points.x)
        curve = blocks.mean[np.minimum(np.searchsorted(blocks.x_max, p), len(blocks) - 1)]
        units = SamplingUnits(rows=len(p), weight=points.weight, weight_kind="frequency")
        return _Rows(points.y, p, curve, units, points, None)
    y, p, _ = sample.cases
    moves = ~is_certain(p)
    points = GroupedRows(logit(p[moves]), y[moves], sample.units.row_weight[moves])
    curve = blocks.mean[np.searchsorted(blocks.x_max, p)]
    return _Rows(y, p, curve, sample.units, points, moves)


class _Gains(NamedTuple):
    """What each step of recalibration gains: mean and standard error, by part."""

    means: dict[str, float]
    errors: dict[str, float]


@np.errstate(invalid="ignore")  # two infinite scores have no difference
def _find_gains(rows: _Rows, blocks: Blocks, name: str, best: BestLines) -> _Gains:
    """The gains of the steps from the forecasts to the isotonic fit."""
    measure = resolve_measure(name, {})
    maps = [rows.p, best.shift.move(rows.p), best.line.move(rows.p), rows.curve]
    losses = [measure.loss(rows.y, moved) for moved in maps]
    gains = {
        SHIFT: losses[0] - losses[1],
        SLOPE: losses[1] - losses[2],
        GLOBAL: losses[0] - losses[2],
        LOCAL: losses[2] - losses[3],
    }
    means = {part: rows.units.mean(gain) for part, gain in gains.items()}
    of_curve = mean_at(measure.loss, blocks.mean, blocks.n, blocks.events)  # points do not have its steps
    means[LOCAL] = rows.units.mean(losses[2]) - of_curve
    if rows.moves is None:  # a point beside a step of the fit may have the value of the next block
        gains[LOCAL] = np.where(np.isfinite(gains[LOCAL]), gains[LOCAL], 0.0)
    errors = {part: rows.units.standard_error(gain) for part, gain in gains.items()}
    return _Gains({part: _cut(mean) for part, mean in means.items()}, errors)


def _cut(gain: float) -> float:
    """A gain without rounding errors below 0."""
    if gain < -_ROUNDING:
        raise InternalError(f"A part of the miscalibration is negative: {gain}.")
    return gain if isnan(gain) else max(gain, 0.0)


class _Split(NamedTuple):
    """A sample, its lines and gains under one score, and the estimate of its miscalibration."""

    sample: FittedSample
    rows: _Rows
    score: ScoreOfLogOdds
    best: BestLines
    gains: _Gains
    test: HypothesisTest
    total: ComponentEstimate
    level: float


def _describe(split: _Split) -> MiscalibrationParts:
    shift, line = split.best
    note = _explain(split)
    costs = {SHIFT: _overfit(split, shift, held_slope=True), GLOBAL: _overfit(split, line)}
    costs[SLOPE] = 0.0 if line == shift else max(costs[GLOBAL] - costs[SHIFT], 0.0) or costs[GLOBAL] / 2
    sizes = {SHIFT: 1, SLOPE: 1, GLOBAL: 1 if line == shift or line.is_constant else 2}
    smooth = {part: _bound_smooth(split, part, costs[part], sizes[part], note) for part in sizes}
    return MiscalibrationParts(
        measure=split.score.name,
        miscalibration=split.total.value,
        by_shift=smooth[SHIFT],
        by_slope=smooth[SLOPE],
        global_part=smooth[GLOBAL],
        local_part=_bound_local(split, costs[GLOBAL], note),
        offset=shift.intercept,
        intercept=line.intercept,
        slope=line.slope,
        local_test=split.test,
        note=note,
    )


def _explain(split: _Split) -> str:
    """Why parts are not known, or what the line cannot show."""
    if not isfinite(split.total.value):
        return "The score is infinite, because a forecast was certain and wrong: it has no parts."
    if not isfinite(split.best.line.slope):
        x, y, _ = split.rows.points
        if x[y == 1].min(initial=np.inf) >= x[y == 0].max(initial=-np.inf):
            return "The forecasts separate events from non-events: no line fits."
        return "The steeper the line, the lower the score: no line fits."
    if split.best.line.is_constant:
        return "The ranking is inverted: the best nondecreasing line is a constant."
    return ""


def _overfit(split: _Split, line: ScoreLine, *, held_slope: bool = False) -> float:
    """What the coefficients of a line gain by chance: ½ tr(J H⁻¹), in the mean score of all cases."""
    x, _, weight = split.rows.points
    units, score = split.sample.units, split.score
    q = expit(line.at(x))
    columns = line.columns(x)[: 1 if held_slope else None]
    inverse = invert(gram(columns, weight * score.expected_curvature(q)))
    if units.cluster is None and units.are_repeated_rows:
        covariance = gram(columns, weight * score.expected_square(q))
    else:
        covariance = _covariance_of_draws(split, line, columns)
    return float((covariance * inverse).sum()) / (2 * units.total)


def _covariance_of_draws(split: _Split, line: ScoreLine, columns: FloatArray) -> FloatArray:
    """Sums of squared gradients of weighted rows, or of clusters."""
    x, y, weight = split.rows.points
    cluster = split.sample.units.cluster
    parts = columns * (weight * split.score.slope(y, line.at(x)))
    if cluster is not None:
        parts = np.array([np.bincount(cluster[split.rows.moves], weights=part) for part in parts])
    draws = parts.shape[1]
    return gram(parts, np.full(draws, draws / max(draws - 1, 1)))


def _bound_smooth(split: _Split, part: str, cost: float, size: int, note: str) -> ComponentEstimate:
    """The gain of a map with this many parameters, with its interval.

    The root of the gain, in units of the overfit of a parameter, has a standard error of 1 near 0, and at
    least that of the mean gain further away. The lower limit is 0 unless a χ² test shows a gain.
    """
    raw, error = split.gains.means[part], split.gains.errors[part]
    unit, quantile = cost / size, split.sample.units.critical_value(split.level)
    lower = upper = 0.0 if raw == 0 and cost == 0 else nan
    if unit > 0 and isfinite(raw) and isfinite(error):
        root = sqrt(raw / unit)
        spread = max(1.0, error / (2 * sqrt(unit * raw))) if raw > 0 else 1.0
        least = sqrt(float(chdtri(size, 1 - split.level))) * quantile / float(ndtri((1 + split.level) / 2))
        lower = unit * max(root - spread * least, 0.0) ** 2
        upper = unit * (root + spread * quantile) ** 2
    return ComponentEstimate(
        measure=split.score.name,
        component=part,
        value=raw,
        corrected=nan if isnan(raw) else max(raw - cost, 0.0),
        standard_error=error,
        lower=lower,
        upper=upper,
        level=split.level,
        overfit_closed=cost,
        overfit_resampled=cost,
        n=split.sample.units.total,
        method=_METHOD,
        note=note,
    )


def _bound_local(split: _Split, cost: float, note: str) -> ComponentEstimate:
    """The bracket of what the isotonic fit gains over the line; it starts at 0 unless the test rejects."""
    units, total = split.sample.units, split.total
    overfit = Overfit(
        closed=max(total.overfit_closed - cost, 0.0),
        resampled=max(total.overfit_resampled - cost, 0.0),
        constant=0.0,
    )
    error, quantile = split.gains.errors[LOCAL], units.critical_value(split.level)
    bound = bound_component(
        split.score.name,
        LOCAL,
        raw=split.gains.means[LOCAL],
        error=error,
        overfit=overfit,
        quantile=quantile,
        level=split.level,
        n=units.total,
        method=f"{describe_bracket(overfit)}, less the overfit of the line",
        note=note,
    )
    if units.cluster is not None:
        bound = reach_on_root_scale(bound, quantile * error)
    if len(split.sample.distinct) <= MOST_VALUES:  # few values do not show the spread of the bracket
        bound = replace(bound, upper=max(bound.upper, total.upper))
    is_shown = is_miscalibrated(split.test, split.level)
    return bound if is_shown or isnan(bound.lower) else replace(bound, lower=0.0)
