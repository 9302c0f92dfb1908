"""Tests of whether two samples come from the same distribution: chi-square over bins, Kolmogorov-Smirnov.

With sampling weights the sizes are Kish's numbers of rows, and with clusters the effective numbers of
clusters, which is safe.

References
----------
Koehler, Larntz (1980), J. Am. Stat. Assoc. 75, doi:10.1080/01621459.1980.10477473, on small expected counts
Pearson (1900), Philos. Mag. 50, doi:10.1080/14786440009463897
Smirnov (1948), Ann. Math. Stat. 19, doi:10.1214/aoms/1177730256
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import chdtrc, kolmogorov

from scorereport._utils.formatting import format_plain
from scorereport.inference.estimates import HypothesisTest

if TYPE_CHECKING:
    from scorereport._utils.arrays import FloatArray

#: Expected counts below this make the distribution of chi-square approximate.
FEWEST_EXPECTED = 5.0
_PEARSON = "Pearson (1900), doi:10.1080/14786440009463897"
_SMIRNOV = "Smirnov (1948), doi:10.1214/aoms/1177730256"


def shares_test(
    what: str, sample: FloatArray, reference: FloatArray, sizes: tuple[float, float]
) -> HypothesisTest:
    """Test by Pearson's chi-square whether two samples have the same shares; `sizes` are effective numbers.

    >>> found = shares_test("bins", np.array([0.25, 0.75]), np.array([0.5, 0.5]), (40, 40))
    >>> round(found.statistic, 4), round(found.p_value, 4)
    (5.3333, 0.0209)
    """
    counts = np.array([size * share for size, share in zip(sizes, (sample, reference), strict=True)])
    counts = counts[:, counts.sum(axis=0) > 0]
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    df = counts.shape[1] - 1
    statistic = float(((counts - expected) ** 2 / expected).sum()) if df else math.nan
    return HypothesisTest(
        name=f"equal shares of {what}",
        statistic=statistic,
        p_value=float(chdtrc(df, statistic)) if df and _are_enough(expected) else math.nan,
        null_hypothesis=f"sample and reference have the same shares of {what}",
        method="Pearson's chi-square test of homogeneity",
        reference=_PEARSON,
        n=float(counts.sum()),
        degrees_of_freedom=df,
        note=_describe_counts(df, expected),
    )


def _are_enough(expected: FloatArray) -> bool:
    """Whether the smaller sample has at least one case for each share on average."""
    return float(expected.sum(axis=1).min()) >= expected.shape[1]


def _describe_counts(df: int, expected: FloatArray) -> str:
    if not df:
        return "There is one share only: there is nothing to test."
    if not _are_enough(expected):
        return "Expected counts are too small for a test."
    if float(expected.min()) >= FEWEST_EXPECTED:
        return ""
    return f"An expected count is below {format_plain(FEWEST_EXPECTED)}: the p-value is approximate."


def distribution_test(
    sample: tuple[FloatArray, FloatArray],
    reference: tuple[FloatArray, FloatArray],
    sizes: tuple[float, float],
) -> HypothesisTest:
    """Test by Kolmogorov and Smirnov's statistic whether two samples of forecasts have the same distribution.

    `sample` and `reference` are forecasts and weights. The p-value is asymptotic; with equal forecasts it is
    too large, which is safe.
    """
    statistic = largest_distance(sample, reference)
    effective = math.prod(sizes) / sum(sizes)
    return HypothesisTest(
        name="equal distribution of forecasts",
        statistic=statistic,
        p_value=float(kolmogorov(math.sqrt(effective) * statistic)),
        null_hypothesis="sample and reference have the same distribution of forecasts",
        method="two-sample Kolmogorov-Smirnov test, asymptotic",
        reference=_SMIRNOV,
        n=sum(sizes),
    )


def largest_distance(
    sample: tuple[FloatArray, FloatArray], reference: tuple[FloatArray, FloatArray]
) -> float:
    """Return the largest distance of two distribution functions of weighted values.

    >>> largest_distance((np.array([0.1, 0.2]), np.ones(2)), (np.array([0.2, 0.3]), np.ones(2)))
    0.5
    """
    values = np.concatenate([sample[0], reference[0]])
    steps = np.concatenate([sample[1] / float(sample[1].sum()), -reference[1] / float(reference[1].sum())])
    order = np.argsort(values, kind="stable")
    ordered, heights = values[order], np.cumsum(steps[order])
    is_last = np.append(ordered[1:] > ordered[:-1], True)
    return float(min(np.abs(heights[is_last]).max(), 1.0))
