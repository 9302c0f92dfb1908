"""The curvature of a score, by numerical differentiation, and the overfit weight that follows from it.

The overfit weight of a score S at p is p(1 - p) c(p)/2, where the curvature c is the derivative of
S(p, 0) - S(p, 1). Slopes are one-sided differences with eleven steps, each half of the one before and all in
proportion to the distance from 0 or 1, extrapolated to a step of 0 (Richardson). A slope counts only if the
extrapolations from two neighbouring steps agree. At a kink, as at the ends of an interval of costs, the
smaller side counts; at 0 and 1 the weight is the limit.

A function that is not in the registry is examined on a grid first. It must be finite, must not jump, and must
be proper: the expected score of a forecast x, p S(x, 1) + (1 - p) S(x, 0), must have slope 0 at x = p and
must not be curved downwards there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from scorereport._utils.arrays import FloatArray
from scorereport._utils.formatting import format_plain

Loss = Callable[[FloatArray, FloatArray], FloatArray]

#: Steps, as shares of the distance from the nearer end.
_STEPS = 2.0 ** -np.arange(3, 14)
#: Largest relative difference of two extrapolations, and of the slope of an expected score from 0.
_AGREEMENT = 1e-5
_SLOPE_OF_PROPER = 1e-4
#: Differences below this share of the largest weight, or of the range of the score, are rounding.
_ROUNDING = 1e-9
_LEAST_JUMP = 1e-5
#: Log-odds of the grid, and number of times that a cell is halved in search of a jump. The cells are narrow,
#: so that a score without a jump changes alike in both halves.
_GRID = np.linspace(-13.8, 13.8, 1025)
_HALVINGS = 40
#: Slopes are examined at the centre of each group of this many cells.
_CELLS_OF_A_SLOPE = 8
#: Distances from 0 and 1 from which the limit there is extrapolated, twice.
_NEAR_THE_ENDS = 2.0 ** -np.array([20, 24, 28, 32])


def derive_overfit_weight(loss: Loss, p: FloatArray) -> FloatArray:
    """Return the overfit weight of a loss at probabilities, found numerically; NaN where it cannot be found.

    >>> derive_overfit_weight(lambda y, p: (p - y) ** 2, np.array([0.0, 0.3, 1.0])).round(9)
    array([0.  , 0.21, 0.  ])
    """
    weight = np.empty(len(p))
    is_inside = (p > 0) & (p < 1)
    if is_inside.any():
        weight[is_inside] = _weights_inside(loss, p[is_inside])
    for end in (0.0, 1.0):
        if (p == end).any():
            weight[p == end] = _limit(_weights_inside(loss, np.abs(end - _NEAR_THE_ENDS)))
    return weight


def find_curvature_problem(loss: Loss) -> str:
    """Describe why a loss has no overfit weight, as the start of a sentence; empty if it has one.

    >>> find_curvature_problem(lambda y, p: abs(p - y))
    'The score is not proper (near a probability of 0.473)'
    """
    with np.errstate(all="ignore"):
        edges = 1 / (1 + np.exp(-_GRID))
        scores = _both_scores(loss, edges)
        if not np.isfinite(scores).all():
            where = edges[~np.isfinite(scores).all(axis=0)][0]
            return f"The score is not finite (at a forecast of {format_plain(where, 3)})"
        jump = _find_jump(loss, edges, scores)
        if jump is not None:
            return f"The score is not smooth (it jumps at a forecast of {format_plain(jump, 3)})"
        return _find_impropriety(loss, edges)


def _weights_inside(loss: Loss, p: FloatArray) -> FloatArray:
    """The overfit weight between 0 and 1: the smaller of both sides; NaN if neither is known."""
    with np.errstate(all="ignore"):
        x, scores = _scores_around(loss, p)
        slopes, errors = _extrapolate(x, scores[0] - scores[1])
    weights, errors = p * (1 - p) / 2 * slopes, p * (1 - p) / 2 * errors
    allowed = _AGREEMENT * np.abs(weights) + _ROUNDING * _scale(scores)
    known = np.where(errors <= allowed, np.maximum(weights, 0.0), np.inf).min(axis=0, initial=np.inf)
    return np.where(np.isinf(known), np.nan, known)


def _scores_around(loss: Loss, p: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Forecasts at p and at all steps below and above it (side, step, p), with both scores of each."""
    reach = np.minimum(p, 1 - p) * np.append(0.0, _STEPS)[:, None]
    x = np.stack([p - reach, p + reach])
    return x, _both_scores(loss, x.ravel()).reshape(2, *x.shape)


def _both_scores(loss: Loss, x: FloatArray) -> FloatArray:
    """The scores of a non-event and of an event at each forecast."""
    return np.stack([loss(np.full(len(x), outcome), x) for outcome in (0.0, 1.0)])


def _extrapolate(x: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Slopes on each side (side, p), and the difference of the two best extrapolations; NaN if not finite."""
    slopes = (values[:, 1:] - values[:, :1]) / (x[:, 1:] - x[:, :1])
    for order in (1, 2, 3):
        factor = 2.0**order
        slopes = (factor * slopes[:, 1:] - slopes[:, :-1]) / (factor - 1)
    errors = np.abs(np.diff(slopes, axis=1))
    errors = np.where(np.isfinite(errors), errors, np.inf)
    best = errors.argmin(axis=1)[:, None]
    return np.take_along_axis(slopes, best + 1, axis=1)[:, 0], np.take_along_axis(errors, best, axis=1)[:, 0]


def _scale(scores: FloatArray) -> FloatArray:
    """The size of the scores around each probability, which bounds their rounding."""
    finite = np.where(np.isfinite(scores), np.abs(scores), 0.0)
    return finite.max(axis=(0, 1, 2), initial=0.0)


def _limit(weights: FloatArray) -> float:
    """The limit of weights at distances that are a geometric row (Aitken); NaN if two of them disagree."""
    scale = float(np.abs(weights).max())
    first, second = (_extrapolate_row(row, scale) for row in (weights[:-1], weights[1:]))
    return max(second, 0.0) if abs(first - second) <= _AGREEMENT * scale + _ROUNDING else np.nan


def _extrapolate_row(row: FloatArray, scale: float) -> float:
    before, last = np.diff(row)
    bend = last - before
    is_constant = abs(last) <= 10 * _ROUNDING * scale or bend == 0
    return float(row[-1] if is_constant else row[-1] - last**2 / bend)


def _find_jump(loss: Loss, edges: FloatArray, scores: FloatArray) -> float | None:
    """The forecast at which the score jumps most; None if it is continuous.

    Each cell of the grid is halved again and again, and the half in which the score changes more is kept.
    """
    low, high, at_low, at_high = edges[:-1], edges[1:], scores[:, :-1], scores[:, 1:]
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        at_middle = _both_scores(loss, middle)
        is_left = np.abs(at_middle - at_low).max(axis=0) >= np.abs(at_high - at_middle).max(axis=0)
        low, high = np.where(is_left, low, middle), np.where(is_left, middle, high)
        at_low, at_high = np.where(is_left, at_low, at_middle), np.where(is_left, at_middle, at_high)
    jump = np.abs(at_high - at_low).max(axis=0)
    is_jump = bool(jump.max() > _LEAST_JUMP * np.ptp(scores, axis=1).max())
    return float(high[jump.argmax()]) if is_jump else None


def _find_impropriety(loss: Loss, edges: FloatArray) -> str:
    """Describe where the score is not proper, or has no slope; empty if it is proper on the grid."""
    p = edges[_CELLS_OF_A_SLOPE // 2 :: _CELLS_OF_A_SLOPE]
    x, scores = _scores_around(loss, p)
    slopes, errors = zip(*(_extrapolate(x, of_outcome) for of_outcome in scores), strict=True)
    size = (1 - p) * np.abs(slopes[0]) + p * np.abs(slopes[1])
    error = (1 - p) * errors[0] + p * errors[1]
    rounding = _ROUNDING * _scale(scores) / np.minimum(p, 1 - p)
    is_known = error <= _AGREEMENT * size + rounding
    if not is_known.any(axis=0).all():
        return f"The score has no slope (near a forecast of {format_plain(p[~is_known.any(axis=0)][0], 3)})"
    expected = np.abs((1 - p) * slopes[0] + p * slopes[1])
    is_proper = (expected <= _SLOPE_OF_PROPER * size + rounding) & (slopes[0] - slopes[1] >= -rounding)
    wrong = (is_known & ~is_proper).any(axis=0)
    if not wrong.any():
        return ""
    plainest = p[wrong][np.abs(p[wrong] - 0.5).argmin()]
    return f"The score is not proper (near a probability of {format_plain(plainest, 3)})"
