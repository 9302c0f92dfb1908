"""Likelihood of a logistic regression, its information, and the influence of rows on its coefficients."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from scorereport._utils.arrays import row_chunks
from scorereport.reliability.clusters import ClusterSums, sum_over_clusters

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from scorereport._utils.arrays import FloatArray
    from scorereport.reliability.sampling import SamplingUnits


def influence(columns: FloatArray, log_odds: FloatArray, y: FloatArray, weight: FloatArray) -> FloatArray:
    """Return the influence of each row on each coefficient of a fit."""
    inverse = invert(information(columns, log_odds, weight))
    moved = weight.sum() * columns * (y - expit(log_odds))
    return np.array([combine(row, moved) for row in inverse])


def sum_over_draws(
    columns: FloatArray, log_odds: FloatArray, y: FloatArray, units: SamplingUnits
) -> ClusterSums:
    """Sum information and score over each cluster, or row, at a fit; the first column must be all ones."""
    mean, weight = expit(log_odds), units.row_weight
    spread = mean * (1 - mean)
    rows = weight * spread
    informations, score = sum_over_clusters(columns, rows, weight * (y - mean), units.cluster)
    of_case = spread if units.are_repeated_rows else rows
    return ClusterSums(
        information=informations,
        score=score,
        common=np.eye(len(columns))[0],
        case=float((rows * of_case).sum() / rows.sum()),
    )


def information(columns: FloatArray, log_odds: FloatArray, weight: FloatArray) -> FloatArray:
    """Fisher information of the coefficients, whose inverse is their covariance."""
    parts = row_chunks(len(log_odds))
    return np.sum([_information(columns[:, p], expit(log_odds[p]), weight[p]) for p in parts], axis=0)


def _information(columns: FloatArray, mean: FloatArray, weight: FloatArray) -> FloatArray:
    return gram(columns, weight * mean * (1 - mean))


def gram(columns: FloatArray, weight: FloatArray) -> FloatArray:
    """Weighted sums of products of every two columns."""
    sums = np.empty((len(columns), len(columns)))
    for i, one in enumerate(columns):
        for j, other in enumerate(columns[: i + 1]):
            sums[i, j] = sums[j, i] = (one * other * weight).sum()
    return sums


def combine(coefficients: ArrayLike, columns: FloatArray) -> FloatArray:
    """Return the sum of the columns times their coefficients."""
    terms = [value * column for value, column in zip(np.asarray(coefficients), columns, strict=True)]
    return np.asarray(sum(terms))


def invert(matrix: FloatArray) -> FloatArray:
    """Return the inverse of a small matrix, NaN if it has none."""
    try:
        return np.linalg.inv(matrix).astype(np.float64, copy=False)
    except np.linalg.LinAlgError:
        return np.full_like(matrix, np.nan)


@np.errstate(all="ignore")
def log_likelihood(log_odds: FloatArray, y: FloatArray, weight: FloatArray) -> float:
    """Return the logarithm of the probability of the observed outcomes."""
    parts = row_chunks(len(y))
    return -float(sum((weight[p] * _softplus((1 - 2 * y[p]) * log_odds[p])).sum() for p in parts))


def _softplus(x: FloatArray) -> FloatArray:
    """log(1 + exp(x)), without overflow, in half the time of `np.logaddexp`."""
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))
