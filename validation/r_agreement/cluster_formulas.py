"""Errors over clusters in plain arithmetic with matrices of all rows: CR2 with either root, and sandwich."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from validation.r_agreement.formulas import LineResult, columns_of, converged_line, glm_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport._utils.arrays import FloatArray, IntArray

#: Eigenvalues below this share of the largest are 0.
_ZERO = 1e-12


class RobustErrors(NamedTuple):
    """Standard errors of intercept and slope, and their degrees of freedom."""

    errors: FloatArray
    freedom: FloatArray


def sandwich_errors(
    y: FloatArray, p: FloatArray, cluster: FloatArray, weight: FloatArray | None = None
) -> FloatArray:
    """Errors of R's sandwich for a glm, without a factor: its weights are those before the last step."""
    line = glm_line(y, p, weight=weight)
    scores = columns_of(p) * (line.weight * (y - line.fitted) / (line.fitted * (1 - line.fitted)))[:, None]
    sums = np.stack([scores[held].sum(axis=0) for held in _clusters(cluster)])
    return np.sqrt(np.diag(line.inverse @ (sums.T @ sums) @ line.inverse))


def cr2_of_club_sandwich(y: FloatArray, p: FloatArray, cluster: FloatArray) -> RobustErrors:
    """CR2 as in clubSandwich for a glm: the root is that of the rows' residuals, with independent rows.

    The residuals are those of the outcome; their working variance is that of the fit, and the covariance on
    both sides that of glm.
    """
    line = glm_line(y, p)
    spread = line.fitted * (1 - line.fitted)
    columns = columns_of(p) * spread[:, None]
    inverse = np.linalg.inv(columns.T @ (columns / spread[:, None]))
    parts = []
    for held in _clusters(cluster):
        outer = np.sqrt(spread[held])
        left = np.diag(spread[held]) - columns[held] @ inverse @ columns[held].T
        adjust = outer[:, None] * _inverse_root(outer[:, None] * left * outer) * outer
        parts.append((held, (columns[held] / spread[held][:, None]).T @ adjust))
    moved = np.stack([line.inverse @ (part @ (y - line.fitted)[held]) for held, part in parts])
    left_over = np.eye(len(y)) - columns @ inverse @ (columns / spread[:, None]).T
    linear = np.stack([inverse @ part @ left_over[held] for held, part in parts])
    return RobustErrors(np.sqrt((moved**2).sum(axis=0)), _satterthwaite(linear, np.diag(spread)))


def cr2_of_scores(y: FloatArray, p: FloatArray, cluster: FloatArray, correlation: float) -> RobustErrors:
    """CR2 of the engine: the root is that of the clusters' scores; its freedom allows for correlated rows."""
    line = converged_line(y, p)
    columns, spread = columns_of(p), line.weight
    parts = _score_parts(columns, line, cluster)
    moved = np.stack([part @ (y - line.fitted)[held] for held, part in parts])
    left_over = np.eye(len(y)) - (spread[:, None] * columns) @ line.inverse @ columns.T
    linear = np.stack([part @ left_over[held] for held, part in parts])
    together = correlation / ((spread**2).sum() / spread.sum())
    working = np.diag(spread)
    for held in _clusters(cluster):
        working[np.ix_(held, held)] += together * np.outer(spread[held], spread[held])
    return RobustErrors(np.sqrt((moved**2).sum(axis=0)), _satterthwaite(linear, working))


def cr2_of_weighted_rows(y: FloatArray, p: FloatArray, weight: FloatArray) -> FloatArray:
    """CR2 errors of the engine over rows that were drawn once and weighted."""
    line = converged_line(y, p, weight=weight)
    parts = _score_parts(columns_of(p), line, np.arange(len(y), dtype=np.float64))
    moved = np.stack([part @ (weight * (y - line.fitted))[held] for held, part in parts])
    return np.sqrt((moved**2).sum(axis=0))


def _score_parts(
    columns: FloatArray, line: LineResult, cluster: FloatArray
) -> list[tuple[IntArray, FloatArray]]:
    """For each cluster its rows, and the matrix that takes their residuals to the coefficients."""
    value, vector = np.linalg.eigh(line.inverse)
    root = (vector * np.sqrt(value)) @ vector.T
    parts = []
    for held in _clusters(cluster):
        information = columns[held].T @ (line.weight[held][:, None] * columns[held])
        adjust = _inverse_root(np.eye(2) - root @ information @ root)
        parts.append((held, root @ adjust @ root @ columns[held].T))
    return parts


def freedom_of_mean(cluster: FloatArray, correlation: float) -> float:
    """Satterthwaite's degrees of freedom of a mean over clusters, with rows of this correlation."""
    n = len(cluster)
    working, parts = np.eye(n), []
    for held in _clusters(cluster):
        working[np.ix_(held, held)] += correlation
        share = len(held) / n
        taken = np.full(n, -share)
        taken[held] += 1
        parts.append(taken / np.sqrt(1 - share))
    return float(_satterthwaite(np.stack(parts)[:, None, :], working)[0])


def _clusters(cluster: FloatArray) -> Iterator[IntArray]:
    """The rows of each cluster."""
    return (np.flatnonzero(cluster == one) for one in np.unique(cluster))


def _inverse_root(matrix: FloatArray) -> FloatArray:
    """The symmetric inverse root, 0 in directions without variance."""
    value, vector = np.linalg.eigh(matrix)
    is_positive = value > _ZERO * value.max()
    return (vector * np.where(is_positive, np.where(is_positive, value, 1.0) ** -0.5, 0.0)) @ vector.T


def _satterthwaite(linear: FloatArray, working: FloatArray) -> FloatArray:
    """For each coefficient, from what each cluster adds to it as a combination of the rows' outcomes."""
    found = []
    for k in range(linear.shape[1]):
        covariance = linear[:, k] @ working @ linear[:, k].T
        found.append(np.trace(covariance) ** 2 / (covariance**2).sum())
    return np.array(found)
