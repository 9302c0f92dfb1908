"""Logistic regression of an outcome on the log-odds of its forecast: kernels for fits and resamples.

They agree with statsmodels' GLM, and are our own for two reasons: a bootstrap calls them thousands of
times from a start next to the answer, and their sums are numpy's own, which do not change in the last
bits with the number of threads, as those of BLAS do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit

from scorereport.inference.resampling import stretches

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from scorereport.arrays import FloatArray

#: Newton's method stops after a step so small; as steps shrink quadratically, it was the last that counts.
_LAST_STEP = 1e-8
#: Separated data make it climb for ever: it gives up after so many steps.
_MOST_STEPS = 60
#: Slopes beyond this count as infinite.
_FAR = 1e12
#: A likelihood has not fallen unless by more than this, relative to its size.
_ROUNDING = 1e-10
#: The range of log-odds below which they count as equal, relative to their size.
_EQUAL = 1e-12


@np.errstate(all="ignore")
def fit_line(
    logit_p: FloatArray, y: FloatArray, weight: FloatArray, start: tuple[float, float] = (0.0, 1.0)
) -> tuple[float, float]:
    """Intercept and slope of the joint fit, quickest from a start near it; NaN where there is none.

    >>> a, b = fit_line(np.array([-2.0, -1, 1, 3]), np.array([0.0, 1, 0, 1]), np.ones(4))
    >>> round(a, 4), round(b, 4)
    (-0.0976, 0.4447)
    """
    centre = _mean(logit_p, weight)
    spread = float(np.sqrt(_mean((logit_p - centre) ** 2, weight)))
    if not spread > _EQUAL * np.abs(logit_p).max():
        return np.nan, np.nan
    level = float(logit(_mean(y, weight)))

    def columns_of(rows: slice) -> FloatArray:
        x = logit_p[rows]
        return np.stack([np.ones_like(x), (x - centre) / spread])

    for near in ((start[0] + start[1] * centre, start[1] * spread), (level, 0.0)):
        middle, slope = _climb(columns_of, None, y, weight, near)
        if np.isfinite(middle) or np.isinf(level):
            break
    return float(middle - slope / spread * centre), float(slope / spread)


@np.errstate(all="ignore")
def fit_offset(logit_p: FloatArray, y: FloatArray, weight: FloatArray, start: float = 0.0) -> float:
    """Intercept with the slope held at 1, quickest from a start near it; NaN where there is none.

    >>> round(fit_offset(np.array([-2.0, -1, 1, 2]), np.array([0.0, 1, 1, 1]), np.ones(4)), 4)
    1.6879
    """
    level = float(logit(_mean(y, weight)))
    lower, upper = level - logit_p.max() - 1, level - logit_p.min() + 1
    if not np.isfinite([lower, upper]).all():
        return np.nan
    (intercept,) = _climb(_ones_of, logit_p, y, weight, (start,))
    if np.isfinite(intercept):
        return float(intercept)

    def excess(a: float) -> float:
        return float((weight * (expit(a + logit_p) - y)).sum())

    return float(brentq(excess, lower, upper, maxiter=1000))


def fit_slope(x: FloatArray, y: FloatArray, weight: FloatArray, intercept: float, start: float) -> float:
    """Slope with the intercept held: where the likelihood, which rises before and falls after, is flat."""

    def rise(slope: float) -> float:
        return float((weight * x * (y - expit(intercept + slope * x))).sum())

    step = 1.0 if rise(start) > 0 else -1.0
    end = start + step
    while rise(end) * step > 0 and abs(step) < _FAR:
        step *= 2
        end = start + step
    return float(brentq(rise, start, end)) if rise(end) * step <= 0 else np.nan


@np.errstate(all="ignore")
def line_influence(logit_p: FloatArray, y: FloatArray, weight: FloatArray) -> FloatArray:
    """Influence of each row on the slope, the intercept and the intercept at slope 1: three rows of n.

    An estimate moves by the weighted mean of its influence, so its error is `Units.standard_error`.
    """
    a, b = fit_line(logit_p, y, weight)
    columns = np.stack([np.ones_like(logit_p), logit_p])
    at_one = fit_offset(logit_p, y, weight)
    intercept, slope = influence(columns, a + b * logit_p, y, weight)
    (intercept_at_one,) = influence(columns[:1], at_one + logit_p, y, weight)
    return np.stack([slope, intercept, intercept_at_one])


def influence(columns: FloatArray, log_odds: FloatArray, y: FloatArray, weight: FloatArray) -> FloatArray:
    """How much each row moves each coefficient of a fit."""
    inverse = invert(information(columns, log_odds, weight))
    moved = weight.sum() * columns * (y - expit(log_odds))
    return np.array([combine(row, moved) for row in inverse])


def information(columns: FloatArray, log_odds: FloatArray, weight: FloatArray) -> FloatArray:
    """Fisher information of the coefficients, whose inverse is their covariance."""
    parts = stretches(len(log_odds))
    return np.sum([_information(columns[:, p], expit(log_odds[p]), weight[p]) for p in parts], axis=0)


def _information(columns: FloatArray, mean: FloatArray, weight: FloatArray) -> FloatArray:
    return gram(columns, weight * mean * (1 - mean))


def gram(columns: FloatArray, weight: FloatArray) -> FloatArray:
    """Weighted sums of products of every two columns."""
    return np.array([[(one * other * weight).sum() for other in columns] for one in columns])


def combine(coefficients: ArrayLike, columns: FloatArray) -> FloatArray:
    """Columns times their coefficients, summed."""
    terms = [value * column for value, column in zip(np.asarray(coefficients), columns, strict=True)]
    return np.asarray(sum(terms))


def invert(matrix: FloatArray) -> FloatArray:
    """The inverse of a small matrix, NaN if it has none."""
    try:
        return np.linalg.inv(matrix).astype(np.float64, copy=False)
    except np.linalg.LinAlgError:
        return np.full_like(matrix, np.nan)


@np.errstate(all="ignore")
def log_likelihood(log_odds: FloatArray, y: FloatArray, weight: FloatArray) -> float:
    """Logarithm of the probability of what happened."""
    parts = stretches(len(y))
    return -float(sum((weight[p] * np.logaddexp(0, (1 - 2 * y[p]) * log_odds[p])).sum() for p in parts))


@np.errstate(all="ignore")
def _climb(
    columns_of: Callable[[slice], FloatArray],
    offset: FloatArray | None,
    y: FloatArray,
    weight: FloatArray,
    start: ArrayLike,
) -> FloatArray:
    """Maximise the logistic likelihood by Newton's method; a step that lowers it is halved."""
    at = np.array(start, dtype=np.float64)
    step, before = np.zeros(len(at)), -np.inf
    for _ in range(_MOST_STEPS):
        found = [
            _derive(columns_of(p), None if offset is None else offset[p], y[p], weight[p], at)
            for p in stretches(len(y))
        ]
        likelihood, slopes, curvature = (sum(part) for part in zip(*found, strict=True))
        if likelihood < before - _ROUNDING * abs(before):
            step = step / 2
            at = at - step
            continue
        step, before = _solve(curvature, slopes), likelihood
        at = at + step
        if (np.abs(step) <= _LAST_STEP * (1 + np.abs(at))).all():
            return at
    return np.full(len(at), np.nan)


def _derive(
    columns: FloatArray, offset: FloatArray | None, y: FloatArray, weight: FloatArray, at: FloatArray
) -> tuple[float, FloatArray, FloatArray]:
    """The likelihood of some rows, how it rises, and how it bends."""
    sign, log_odds = 2 * y - 1, combine(at, columns)
    probability = expit(sign * (log_odds if offset is None else log_odds + offset))  # of what happened
    likelihood = float((weight * np.log(probability)).sum())
    slopes = (columns * (weight * sign * (1 - probability))).sum(axis=1)
    return likelihood, slopes, gram(columns, weight * probability * (1 - probability))


def _ones_of(rows: slice) -> FloatArray:
    return np.ones((1, rows.stop - rows.start))


def _solve(matrix: FloatArray, right: FloatArray) -> FloatArray:
    try:
        return np.linalg.solve(matrix, right).astype(np.float64, copy=False)
    except np.linalg.LinAlgError:
        return np.full(right.shape, np.nan)


def _mean(values: FloatArray, weight: FloatArray) -> float:
    return float((weight * values).sum() / weight.sum())
