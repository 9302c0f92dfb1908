"""Maps of log-odds with the lowest mean score: a shift, and a nondecreasing line.

Lines of the log score are those of maximum likelihood. The Brier score of a line is not convex in its
coefficients: it is lowered by Newton's method with halved steps from the line of maximum likelihood and, if
that is not better than the next simpler map, from this map, so that a line never scores worse than a shift,
nor a shift worse than the forecasts. If the score then falls without end, as towards a step, there is no best
line. A slope below 0 would reverse the ranking: the best line is then a
constant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import expit

from scorereport.inference.grouped_rows import MANY_CASES, group_rows
from scorereport.inference.likelihood import combine, gram
from scorereport.inference.logistic import fit_line, fit_offset
from scorereport.inference.recalibration_maps import move_log_odds

if TYPE_CHECKING:
    from collections.abc import Callable

    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.grouped_rows import GroupedRows
    from scorereport.reliability.fitted_sample import FittedSample

#: Newton's method stops after a step this small, or is given up after this many.
_LAST_STEP = 1e-9
_MOST_STEPS = 100
#: Relative differences of mean scores up to this are rounding errors.
_ROUNDING = 1e-12
#: A step is halved up to this many times.
_MOST_HALVES = 60
#: Log-odds beyond this are certain to the last digit: no slope leads there but that of separated outcomes.
_MOST_LOG_ODDS = 700.0


class ScoreOfLogOdds(NamedTuple):
    """A score as a function of outcome and log-odds, with its first two derivatives by the log-odds.

    `expected_curvature` and `expected_square`, of the first derivative, are those for an outcome that has the
    probability of the log-odds; they are functions of that probability.
    """

    name: str
    loss: Callable[[FloatArray, FloatArray], FloatArray]
    slope: Callable[[FloatArray, FloatArray], FloatArray]
    curvature: Callable[[FloatArray, FloatArray], FloatArray]
    expected_curvature: Callable[[FloatArray], FloatArray]
    expected_square: Callable[[FloatArray], FloatArray]


def _spread(q: FloatArray) -> FloatArray:
    return q * (1 - q)


def _slope_of_brier(y: FloatArray, log_odds: FloatArray) -> FloatArray:
    q = expit(log_odds)
    return 2 * (q - y) * _spread(q)


def _curvature_of_brier(y: FloatArray, log_odds: FloatArray) -> FloatArray:
    q = expit(log_odds)
    return 2 * _spread(q) * (_spread(q) + (q - y) * (1 - 2 * q))


BRIER = ScoreOfLogOdds(
    name="brier",
    loss=lambda y, z: (expit(z) - y) ** 2,
    slope=_slope_of_brier,
    curvature=_curvature_of_brier,
    expected_curvature=lambda q: 2 * _spread(q) ** 2,
    expected_square=lambda q: 4 * _spread(q) ** 3,
)
LOG = ScoreOfLogOdds(
    name="log_loss",
    loss=lambda y, z: np.logaddexp(0.0, (1 - 2 * y) * z),
    slope=lambda y, z: expit(z) - y,
    curvature=lambda _, z: _spread(expit(z)),
    expected_curvature=_spread,
    expected_square=_spread,
)


class ScoreLine(NamedTuple):
    """Intercept and slope of a line in log-odds; a constant has no column for its slope."""

    intercept: float
    slope: float

    @property
    def is_constant(self) -> bool:
        """Whether the best nondecreasing line does not depend on the forecast."""
        return self.slope == 0

    def at(self, x: FloatArray) -> FloatArray:
        """The log-odds of the line."""
        return self.intercept + self.slope * x

    def move(self, p: FloatArray) -> FloatArray:
        """Forecasts recalibrated by the line; forecasts of 0 and 1 stay."""
        return move_log_odds(p, self.intercept, self.slope)

    def columns(self, x: FloatArray) -> FloatArray:
        """The columns of its coefficients."""
        ones = np.ones_like(x)
        return ones[None] if self.is_constant else np.stack([ones, x])


class BestLines(NamedTuple):
    """The shift and the line with the lowest mean score; NaN where none is found."""

    shift: ScoreLine
    line: ScoreLine


def group_points(sample: FittedSample) -> GroupedRows | None:
    """Points that stand for many independent cases; None for few, or where some forecast is 0 or 1."""
    y, p, _ = sample.cases
    is_independent = sample.cluster is None and sample.units.are_repeated_rows
    if not is_independent or len(p) < MANY_CASES or not 0 < p[0] <= p[-1] < 1:
        return None
    cells = group_rows(p, y, sample.units.row_weight)
    return cells.without() if cells.represent(1.0) else None


@np.errstate(all="ignore")
def fit_best_lines(points: GroupedRows, scores: tuple[ScoreOfLogOdds, ...]) -> list[BestLines]:
    """Find the best shift and the best nondecreasing line under each score, from the same points."""
    x, y, weight = points
    shift = ScoreLine(fit_offset(x, y, weight), 1.0)
    is_flat = bool(len(x)) and x.min() == x.max()
    line = shift if is_flat else ScoreLine(*fit_line(x, y, weight))
    if line.slope < 0 or (np.isnan(line.slope) and _falls(x, y)):
        line = ScoreLine(float(np.log((weight * y).sum()) - np.log((weight * (1 - y)).sum())), 0.0)
    likeliest = BestLines(shift, line)
    return [likeliest if score is LOG else _improve(points, score, likeliest) for score in scores]


def _falls(x: FloatArray, y: FloatArray) -> bool:
    """Whether no event has a higher forecast than a non-event, though both occur."""
    return bool((y == 1).any() and (y == 0).any() and x[y == 1].max() <= x[y == 0].min())


def mean_loss(points: GroupedRows, score: ScoreOfLogOdds, line: ScoreLine) -> float:
    """The mean score of a line over the points."""
    x, y, weight = points
    return float((weight * score.loss(y, line.at(x))).sum() / weight.sum())


def _improve(points: GroupedRows, score: ScoreOfLogOdds, likeliest: BestLines) -> BestLines:
    """Lower the mean score from the lines of maximum likelihood, and from the next simpler map."""
    identity = ScoreLine(0.0, 1.0)
    shift = _best(points, score, (likeliest.shift, identity), held_slope=True)
    if likeliest.line == likeliest.shift:  # all forecasts are the same
        return BestLines(shift, shift)
    if not np.isfinite(likeliest.line.slope):
        return BestLines(shift, likeliest.line)
    line = _best(points, score, (likeliest.line, shift), held_slope=likeliest.line.is_constant)
    return BestLines(shift, line)


def _best(
    points: GroupedRows, score: ScoreOfLogOdds, starts: tuple[ScoreLine, ScoreLine], *, held_slope: bool
) -> ScoreLine:
    """The best line to which the first start descends, or the second if it is not better than the second.

    A slope below 0 becomes a constant. NaN if no start descends to a line that is as good as the second.
    """
    found = [_descend(points, score, starts[0], held_slope=held_slope)]
    simpler = starts[1]
    if not mean_loss(points, score, found[0]) <= mean_loss(points, score, simpler):
        found.append(_descend(points, score, simpler, held_slope=held_slope))
    if not held_slope and any(line.slope < 0 for line in found):
        found = [line for line in found if line.slope >= 0]
        found.append(_descend(points, score, ScoreLine(0.0, 0.0), held_slope=True))
    losses = {line: mean_loss(points, score, line) for line in found if np.isfinite(line.intercept)}
    most = mean_loss(points, score, simpler) * (1 + _ROUNDING)
    if not losses or min(losses.values()) > most:
        return ScoreLine(np.nan, np.nan)
    return min(losses, key=losses.__getitem__)


def _descend(points: GroupedRows, score: ScoreOfLogOdds, start: ScoreLine, *, held_slope: bool) -> ScoreLine:
    """Lower the mean score until the steps of Newton's method are negligible; NaN if they never are."""
    x, y, weight = points
    columns = np.stack([np.ones_like(x), x])[: 1 if held_slope else 2]
    offset = start.slope * x if held_slope else np.zeros_like(x)
    at = np.array(start[: len(columns)])

    def loss_at(coefficients: FloatArray) -> float:
        return float((weight * score.loss(y, offset + combine(coefficients, columns))).sum())

    lowest = loss_at(at)
    for _ in range(_MOST_STEPS):
        step = _find_step(columns, offset + combine(at, columns), y, weight, score)
        step, lowest = _halve(step, at, lowest, loss_at)
        at = at + step
        if (np.abs(step) <= _LAST_STEP * (1 + np.abs(at))).all():
            break
    else:
        return ScoreLine(np.nan, np.nan)
    if np.abs(combine(at, columns)).max() > _MOST_LOG_ODDS:
        return ScoreLine(np.nan, np.nan)
    return ScoreLine(float(at[0]), start.slope if held_slope else float(at[1]))


def _find_step(
    columns: FloatArray, log_odds: FloatArray, y: FloatArray, weight: FloatArray, score: ScoreOfLogOdds
) -> FloatArray:
    """The step of Newton's method, by expected curvatures where the observed ones do not lead down."""
    gradient = (columns * (weight * score.slope(y, log_odds))).sum(axis=1)
    curvature = gram(columns, weight * score.curvature(y, log_odds))
    if not (np.linalg.eigvalsh(curvature) > 0).all():
        curvature = gram(columns, weight * score.expected_curvature(expit(log_odds)))
    try:
        return -np.linalg.solve(curvature, gradient)
    except np.linalg.LinAlgError:
        return np.full(len(gradient), np.nan)


def _halve(
    step: FloatArray, at: FloatArray, lowest: float, loss_at: Callable[[FloatArray], float]
) -> tuple[FloatArray, float]:
    """A step, halved until the score does not rise; no step if none does so."""
    for _ in range(_MOST_HALVES):
        reached = loss_at(at + step)
        if reached <= lowest:
            return step, reached
        step = step / 2
    return np.zeros_like(step), lowest
