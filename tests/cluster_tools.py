"""Bias-reduced covariances by their definition, with dense matrices, and samples in clusters."""

from __future__ import annotations

import numpy as np
from scipy.linalg import sqrtm
from scipy.special import expit, ndtr

from scorereport.reliability.clusters import WORKING_CORRELATION


def dense_cr2(columns, weight, residual, cluster, contrasts):
    """Covariance of a weighted fit and degrees of freedom of contrasts, from hat matrix and residuals.

    `weight` is the working weight, `residual` that of the response. Rows of a cluster correlate a little in
    the model that the degrees of freedom are for: by a random multiple of the column that is 1 in all rows.
    """
    n = len(weight)
    root = np.sqrt(weight)
    x, e = root[:, None] * columns, root * residual
    inverse = np.linalg.inv(x.T @ x)
    left = np.eye(n) - x @ inverse @ x.T
    members = [np.flatnonzero(cluster == c) for c in np.unique(cluster)]
    adjusted = [np.linalg.inv(sqrtm(left[np.ix_(m, m)]).real) @ x[m] @ inverse for m in members]
    moved = np.array([a.T @ e[m] for a, m in zip(adjusted, members, strict=True)])
    case = (weight**2).sum() / weight.sum()
    model = np.eye(n) + WORKING_CORRELATION / case * np.outer(root, root) * (cluster[:, None] == cluster)
    contrasts = np.atleast_2d(contrasts)

    def products(first, second):
        one, other = (
            np.array([left[:, m] @ a @ c for a, m in zip(adjusted, members, strict=True)])
            for c in (first, second)
        )
        return one @ model @ other.T

    expected = np.array([[np.trace(products(a, b)) for b in contrasts] for a in contrasts])
    value, vector = np.linalg.eigh(expected)
    standard = (vector / np.sqrt(value)).T @ contrasts
    variance = sum(
        (products(a, a) * products(b, b) + products(a, b) * products(b, a)).sum()
        for a in standard
        for b in standard
    )
    return moved.T @ moved, len(value) * (len(value) + 1) / variance


def draw_in_clusters(rng, sizes, together=0.13):
    """Calibrated forecasts: slope 1, intercept 0; half of the variance of log-odds lies between clusters."""
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    x, latent = (
        np.sqrt(share) * rng.standard_normal(len(sizes))[cluster]
        + np.sqrt(1 - share) * rng.standard_normal(len(cluster))
        for share in (0.5, together)
    )
    p = expit(x - 1)
    return (ndtr(latent) < p).astype(float), p, cluster
