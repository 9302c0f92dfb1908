"""Logistic regression of an outcome on the log-odds of its forecast: kernels for fits and resamples.

They agree with statsmodels' GLM. They exist for two reasons: a bootstrap calls them thousands of times with a
start close to the solution, and their sums are numpy's own, whose last bits do not depend on the number of
threads, unlike those of BLAS.

Whether a maximum exists is decided by comparing log-odds, not by whether a search converges. It is sought by
Newton's method and, where that fails, by bracketing, which cannot fail. Every solution is checked against the
score equations before it is returned.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import frexp, fsum, isfinite
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, log_expit

from scorereport._utils.arrays import row_chunks
from scorereport.inference.likelihood import combine, gram, influence

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from scorereport._utils.arrays import FloatArray

#: Newton's method stops after a step this small; as steps shrink quadratically, later ones do not count.
_LAST_STEP = 1e-8
#: Newton's method is given up after this many steps: every step may move log-odds by only one.
_MOST_STEPS = 60
#: A bracket is widened by doubling it up to this many times: log-odds may differ by 1e-300.
_MOST_DOUBLINGS = 1100
#: Weights are scaled if the binary exponent of the largest one is beyond this.
_USUAL = 500
#: Probabilities below this may have underflowed: their logarithm is computed from log-odds, which is slower.
_TINY = 1e-290
#: A likelihood counts as lower only if it is lower by more than this, relative to its size.
_ROUNDING = 1e-10
#: Score equations hold if their sums are at most this share of the information.
_BALANCE = 1e-8


@dataclass(frozen=True, slots=True)
class _Line:
    """Log-odds `middle` + `slope` (x - `centre`), where the centre is that of the information of the fit.

    There both coefficients are uncorrelated, and an intercept far from the data does not lose digits.
    """

    centre: float
    middle: float
    slope: float

    def at(self, x: FloatArray) -> FloatArray:
        return self.middle + self.slope * (x - self.centre)

    def moved_to(self, centre: float) -> _Line:
        return _Line(centre, self.middle + self.slope * (centre - self.centre), self.slope)

    @property
    def coefficients(self) -> tuple[float, float]:
        return float(self.middle - self.slope * self.centre), float(self.slope)


@np.errstate(all="ignore")
def fit_line(
    logit_p: FloatArray, y: FloatArray, weight: FloatArray, start: tuple[float, float] = (0.0, 1.0)
) -> tuple[float, float]:
    """Fit intercept and slope together, fastest from a start near them; NaN where no fit exists.

    A fit exists if and only if some event has a lower forecast than some non-event, and some event a higher
    forecast than some non-event.

    >>> a, b = fit_line(np.array([-2.0, -1, 1, 3]), np.array([0.0, 1, 0, 1]), np.ones(4))
    >>> round(a, 4), round(b, 4)
    (-0.0976, 0.4447)
    """
    classes = _Classes.of(logit_p, y, weight)
    if not classes.overlap:
        return np.nan, np.nan
    weight = _scale(weight)
    centre = _mean(logit_p, weight)
    spread = float(np.sqrt(_mean((logit_p - centre) ** 2, weight)))
    flat = _Line(centre, _level(y, weight), 0.0)
    for near in (_Line(0.0, *start).moved_to(centre), flat):
        line, middle_of_information = _climb_line(logit_p, y, weight, near, spread)
        if _is_top(line.moved_to(middle_of_information), logit_p, y, weight):
            return line.coefficients
    line = _bracket_line(logit_p, y, weight, flat)
    return line.coefficients if _is_top(line, logit_p, y, weight) else (np.nan, np.nan)


@np.errstate(all="ignore")
def fit_offset(logit_p: FloatArray, y: FloatArray, weight: FloatArray, start: float = 0.0) -> float:
    """Fit the intercept with the slope held at 1, fastest from a start near it; NaN where no fit exists.

    A fit exists if and only if both outcomes occur and all log-odds are finite.

    >>> round(fit_offset(np.array([-2.0, -1, 1, 2]), np.array([0.0, 1, 1, 1]), np.ones(4)), 4)
    1.6879
    """
    classes = _Classes.of(logit_p, y, weight)
    if not classes.both_occur:
        return np.nan
    weight = _scale(weight)
    (climbed,), _ = _climb(_ones_of, logit_p, y, weight, (start,))

    def is_top(intercept: float) -> bool:
        return _is_top(_Line(0.0, intercept, 1.0), logit_p, y, weight, equations=1)

    intercept = float(climbed) if is_top(climbed) else _bracket_offset(logit_p, y, weight, classes)
    return intercept if is_top(intercept) else np.nan


@np.errstate(all="ignore")
def fit_slope(x: FloatArray, y: FloatArray, weight: FloatArray, intercept: float, start: float) -> float:
    """Fit the slope with the intercept held, as the root of the derivative of the likelihood.

    A fit exists if and only if some outcomes favour a larger slope and some a smaller one; else it is NaN.
    """
    signed = x[weight > 0] * (2 * y[weight > 0] - 1)
    if not (len(signed) and signed.min() < 0 < signed.max()):
        return np.nan

    def rise(slope: float) -> float:
        return _sum_residuals(intercept + slope * x, y, weight, x)

    return _find_root(rise, start, 1.0)


@np.errstate(all="ignore")
def fit_columns(columns: FloatArray, y: FloatArray, weight: FloatArray) -> FloatArray:
    """Fit a logistic regression on columns, the first all ones; NaN where no maximum is found.

    >>> fit_columns(np.array([[1.0, 1, 1, 1], [-2, -1, 1, 3]]), np.array([0.0, 1, 0, 1]), np.ones(4)).round(4)
    array([-0.0976,  0.4447])
    """
    weight, start = _scale(weight), np.zeros(len(columns))
    start[0] = _level(y, weight)
    at, _ = _climb(lambda rows: columns[:, rows], None, y, weight, start)
    _, slopes, curvature = _derive(columns, None, y, weight, at)
    next_step = np.abs(_solve(curvature, slopes))
    return at if (next_step <= _BALANCE * (1 + np.abs(at))).all() else np.full(len(columns), np.nan)


@np.errstate(all="ignore")
def line_influence(logit_p: FloatArray, y: FloatArray, weight: FloatArray) -> FloatArray:
    """Return the influence of each row on the slope, the intercept and the intercept at slope 1: three rows.

    The standard error of an estimate is `SamplingUnits.standard_error` of its influence.
    """
    a, b = fit_line(logit_p, y, weight)
    columns = np.stack([np.ones_like(logit_p), logit_p])
    at_one = fit_offset(logit_p, y, weight)
    intercept, slope = influence(columns, a + b * logit_p, y, weight)
    (intercept_at_one,) = influence(columns[:1], at_one + logit_p, y, weight)
    return np.stack([slope, intercept, intercept_at_one])


# Existence of a maximum


@dataclass(frozen=True, slots=True)
class _Classes:
    """Ranges of the log-odds of events and of non-events, without rows of weight 0.

    A class without cases has the range from infinity to minus infinity.
    """

    events: tuple[float, float]
    others: tuple[float, float]

    @classmethod
    def of(cls, x: FloatArray, y: FloatArray, weight: FloatArray) -> _Classes:
        ranges = [_find_ranges(x[p], y[p], weight[p]) for p in row_chunks(len(y))]
        low, high, low_others, high_others = zip(*ranges, strict=True) if ranges else [[np.nan]] * 4
        return cls((min(low), max(high)), (min(low_others), max(high_others)))

    @property
    def lowest(self) -> float:
        return min(self.events[0], self.others[0])

    @property
    def highest(self) -> float:
        return max(self.events[1], self.others[1])

    @property
    def both_occur(self) -> bool:
        """Whether there are events and non-events, all with finite log-odds."""
        return all(map(isfinite, (*self.events, *self.others)))

    @property
    def overlap(self) -> bool:
        """Whether neither class is entirely above the other."""
        is_mixed = self.events[0] < self.others[1] and self.others[0] < self.events[1]
        return is_mixed and self.both_occur


def _find_ranges(x: FloatArray, y: FloatArray, weight: FloatArray) -> tuple[float, float, float, float]:
    if weight.min() == 0:
        x, y = x[weight > 0], y[weight > 0]
    is_event = y == 1
    events, others = x[is_event], x[~is_event]
    return (
        float(events.min(initial=np.inf)),
        float(events.max(initial=-np.inf)),
        float(others.min(initial=np.inf)),
        float(others.max(initial=-np.inf)),
    )


def _scale(weight: FloatArray) -> FloatArray:
    """Scale weights so that sums neither overflow nor vanish, by a power of 2, which keeps their digits."""
    exponent = frexp(weight.max())[1]
    return weight if abs(exponent) < _USUAL else np.ldexp(weight, -exponent)


def _level(y: FloatArray, weight: FloatArray) -> float:
    """Log-odds of the share of events, finite even if the share rounds to 1."""
    return float(np.log((weight * y).sum()) - np.log((weight * (1 - y)).sum()))


# Search for the maximum


def _residuals(
    log_odds: FloatArray, y: FloatArray, weight: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Weighted outcomes minus their probabilities, as a sum of two parts; and the information of each case.

    The first part is the signed weight of cases on the wrong side, and 0 for others. These weights may cancel
    each other; then the second parts decide, however small: added to the first parts, they would be lost.
    """
    signed = weight * (2 * y - 1)
    is_wrong = signed * log_odds < 0
    doubt = expit(-np.abs(log_odds))
    second = signed * doubt
    return signed * is_wrong, np.where(is_wrong, -second, second), weight * doubt * (1 - doubt)


def _sum_residuals(
    log_odds: FloatArray, y: FloatArray, weight: FloatArray, column: FloatArray | None = None
) -> float:
    """The sum of residuals, or of their products with a column; the sum of the first parts is exact."""
    first, second, _ = _residuals(log_odds, y, weight)
    if column is not None:
        first, second = column * first, column * second
    return fsum(first[first != 0]) + float(second.sum())


def _is_top(line: _Line, x: FloatArray, y: FloatArray, weight: FloatArray, equations: int = 2) -> bool:
    """Whether the likelihood is greatest at a line: the score equations of middle and slope hold.

    Their sums are compared with the information, so that another step of Newton's method would not change
    any log-odds noticeably; residuals alone can balance far from the maximum.
    """
    sums = np.zeros((2, 3))
    furthest = 0.0
    for rows in row_chunks(len(y)):
        z = x[rows] - line.centre
        first, second, information = _residuals(line.middle + line.slope * z, y[rows], weight[rows])
        sums[0] += first.sum(), second.sum(), information.sum()
        if equations == 2:
            of_slope = information * z * z
            sums[1] += (first * z).sum(), (second * z).sum(), of_slope.sum()
            furthest += float((of_slope * np.abs(z)).sum())
    scores, scale = sums[:, 0] + sums[:, 1], sums[:, 2]
    if equations == 2:
        # divided by the mean distance from the centre, weighted by the information on the slope
        scale[1] *= sums[1, 2] / furthest
    return bool((np.abs(scores) <= _BALANCE * scale)[:equations].all())


def _climb_line(
    x: FloatArray, y: FloatArray, weight: FloatArray, start: _Line, spread: float
) -> tuple[_Line, float]:
    """Find the line by Newton's method in standardized log-odds; return it and the information's centre."""

    def columns_of(rows: slice) -> FloatArray:
        z = (x[rows] - start.centre) / spread
        return np.stack([np.ones_like(z), z])

    at, curvature = _climb(columns_of, None, y, weight, (start.middle, start.slope * spread))
    line = _Line(start.centre, float(at[0]), float(at[1] / spread))
    return line, start.centre + spread * float(curvature[0, 1] / curvature[0, 0])


@np.errstate(all="ignore")
def _climb(
    columns_of: Callable[[slice], FloatArray],
    offset: FloatArray | None,
    y: FloatArray,
    weight: FloatArray,
    start: ArrayLike,
) -> tuple[FloatArray, FloatArray]:
    """Maximise the logistic likelihood by Newton's method; a step that lowers it is halved.

    Return the coefficients, NaN if the search was given up, and the curvature close to them.
    """
    at = np.array(start, dtype=np.float64)
    step, before, curvature = np.zeros(len(at)), -np.inf, np.full((len(at), len(at)), np.nan)
    for _ in range(_MOST_STEPS):
        found = [
            _derive(columns_of(p), None if offset is None else offset[p], y[p], weight[p], at)
            for p in row_chunks(len(y))
        ]
        likelihood, slopes, curvature = (sum(part) for part in zip(*found, strict=True))
        if likelihood < before - _ROUNDING * abs(before):
            step = step / 2
            at = at - step
            continue
        step, before = _solve(curvature, slopes), likelihood
        at = at + step
        if not np.isfinite(at).all():
            break
        if (np.abs(step) <= _LAST_STEP * (1 + np.abs(at))).all():
            return at, curvature
    return np.full(len(at), np.nan), curvature


def _derive(
    columns: FloatArray, offset: FloatArray | None, y: FloatArray, weight: FloatArray, at: FloatArray
) -> tuple[float, FloatArray, FloatArray]:
    """The log-likelihood of some rows, its gradient, and its negative second derivatives."""
    sign, log_odds = 2 * y - 1, combine(at, columns)
    of_observed = sign * (log_odds if offset is None else log_odds + offset)
    probability = expit(of_observed)
    is_tiny = probability.min(initial=1.0) < _TINY
    likelihood = float((weight * (log_expit(of_observed) if is_tiny else np.log(probability))).sum())
    slopes = (columns * (weight * sign * (1 - probability))).sum(axis=1)
    return likelihood, slopes, gram(columns, weight * probability * (1 - probability))


def _ones_of(rows: slice) -> FloatArray:
    return np.ones((1, rows.stop - rows.start))


def _solve(matrix: FloatArray, right: FloatArray) -> FloatArray:
    try:
        return np.linalg.solve(matrix, right).astype(np.float64, copy=False)
    except np.linalg.LinAlgError:
        return np.full(right.shape, np.nan)


def _bracket_line(x: FloatArray, y: FloatArray, weight: FloatArray, line: _Line) -> _Line:
    """Find the maximum by two nested root searches: for the slope, and for the middle given the slope.

    The search is centred at the mean of the rows, then twice at that of the information, which keeps digits.
    """
    for _ in range(3):
        line = _bracket_about(line, x, y, weight)
        log_odds = line.middle + line.slope * (x - line.centre)
        line = line.moved_to(_mean(x, weight * expit(log_odds) * expit(-log_odds)))
    return line


def _bracket_about(line: _Line, x: FloatArray, y: FloatArray, weight: FloatArray) -> _Line:
    z = x - line.centre

    def middle_at(slope: float) -> float:
        return _bracket_offset(slope * z, y, weight, _Classes.of(slope * z, y, weight))

    def rise(slope: float) -> float:
        return _sum_residuals(middle_at(slope) + slope * z, y, weight, z)

    slope = _find_root(rise, line.slope, 1 / float(np.abs(z).max()))
    return _Line(line.centre, middle_at(slope), slope)


def _bracket_offset(x: FloatArray, y: FloatArray, weight: FloatArray, classes: _Classes) -> float:
    """The intercept at slope 1; at the ends of its bracket all log-odds are below, or above, the level."""
    level = _level(y, weight)
    lower, upper = level - classes.highest - 1, level - classes.lowest + 1
    return _bisect(lambda a: _sum_residuals(a + x, y, weight), lower, upper)


def _find_root(rise: Callable[[float], float], start: float, step: float) -> float:
    """Find the root of a decreasing function; the bracket is doubled until its ends differ in sign."""
    end, step = start, step if rise(start) > 0 else -step
    for _ in range(_MOST_DOUBLINGS):
        start, end = end, end + step
        if rise(end) * step <= 0:
            return _bisect(rise, start, end)
        step *= 2
    return np.nan


def _bisect(rise: Callable[[float], float], start: float, end: float) -> float:
    """A root between two ends, as exact as floating point allows."""
    return float(brentq(rise, start, end, xtol=1e-15, rtol=4 * float(np.finfo(float).eps), maxiter=10_000))


def _mean(values: FloatArray, weight: FloatArray) -> float:
    return float((weight * values).sum() / weight.sum())
