"""Samples that the tests of comparisons share."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np
import statsmodels.api as sm

from scorereport._utils.arrays import bits_equal

TOLERANCE = 1e-10


def draw(n, seed=1, digits=2):
    """Outcomes, two forecasts with ties, weights, clusters and times."""
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.05, 0.95, n)
    y = (rng.uniform(size=n) < p).astype(float)
    other = np.clip(p + rng.normal(0, 0.15, n), 0.02, 0.98)
    return {
        "y": y,
        "p": p.round(digits),
        "q": other.round(digits),
        "weight": rng.integers(1, 5, n),
        "cluster": rng.integers(0, max(n // 6, 2), n),
        "time": rng.permutation(n),
    }


DATA = draw(157)


Y, P, Q = DATA["y"], DATA["p"], DATA["q"]


def same_bits(left, right):
    """Whether all numbers of two results are equal, NaN included."""
    return all(
        bits_equal(np.asarray(a), np.asarray(b)) for a, b in zip(astuple(left), astuple(right), strict=True)
    )


def robust(values, **options):
    """The mean and its error by statsmodels, with its t distribution over clusters or times."""
    fit = sm.OLS(values, np.ones(len(values))).fit(use_t=True, **options)
    return fit.params[0], fit.bse[0], fit.tvalues[0], fit.pvalues[0], *fit.conf_int()[0]


def as_tuple(d):
    return d.value, d.standard_error, d.statistic, d.p_value, d.lower, d.upper


def repeated(w):
    return {name: values.repeat(w) for name, values in DATA.items()}
