"""Tests whether a sample and earlier samples come from the same process, and the groups that they compare.

False alarms must be rare over many audits, so each test uses the far tail of its statistic. With few events
the usual tests fail there: a sample with hardly any events has a standard error that is too small, and one
with many events a chi-square that is too large. Each test therefore takes the smaller of two statistics that
agree in large samples.

References
----------
Newcombe (1998), Stat. Med. 17, 873-890, doi:10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I
"""

from __future__ import annotations

from dataclasses import dataclass
from math import copysign, hypot, inf, isinf, nan, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import chdtrc, fdtrc, xlogy

from scorereport.inference.mean_errors import ErrorDistribution

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport._utils.arrays import FloatArray, IntArray


#: Groups of a binary outcome: event and non-event.
_TWO_GROUPS = 2
#: Groups of forecasts that a test compares, unless forecasts are too few or too similar.
_GROUP_COUNT = 10
#: Smallest number of rows that a group is to have in the smaller sample.
_MIN_GROUP_COUNT = 5.0


class MeanEstimate(NamedTuple):
    """Mean of a sample with its error and size; `value` and `other` use the two estimates of the overfit."""

    value: float
    other: float
    standard_error: float
    size: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """Difference between a sample and earlier ones, with interval and test; NaN for what is not known."""

    value: float = nan
    reference: float = nan
    difference: float = nan
    lower: float = nan
    upper: float = nan
    statistic: float = nan
    p_value: float = nan


def find_error_distribution(now: int | None, before: Sequence[int | None]) -> ErrorDistribution:
    """Return the distribution of the error of a difference.

    It is normal for independent rows; with clusters it is t with one degree of freedom less than clusters in
    the sample that has fewer of them.
    """
    counts = [n for n in (now, sum(n or 0 for n in before) if any(before) else None) if n is not None]
    return ErrorDistribution(max(min(counts) - 1, 1) if counts else inf)


def limit_error_distribution(distribution: ErrorDistribution, fewest: Sequence[float]) -> ErrorDistribution:
    """Limit the degrees of freedom to a quarter of the events in the sample that has fewer of them.

    The quarter comes from simulation: with 40 to 100 events in each sample, the miscalibration of a rare
    event over its standard error is that far from normal.
    """
    return ErrorDistribution(min(distribution.degrees_of_freedom, max(min(fewest) / 4, 1.0)))


def spread_of_overfit(overfit: float, events: float) -> float:
    """Return the standard deviation of the overfit of isotonic regression.

    Standard errors of means over rows do not contain it. The overfit varies like the mean of chi-squares with
    one degree of freedom, one for each parameter of the fit. The fit has about 2.5 times the cube root of the
    events as blocks, and one and a half parameters in each block.
    """
    parameters = 1.5 * 2.5 * events ** (1 / 3)
    return overfit * sqrt(2 / parameters)


def compare_means(
    now: MeanEstimate, before: Sequence[MeanEstimate], distribution: ErrorDistribution, *, level: float
) -> Contrast:
    """Compare a mean with those of earlier samples, pooled by their sizes as if they were one sample.

    Sizes are the weights, not estimated errors: samples with few events by chance have small errors and would
    count too much. With an overfit correction, the difference lies between two ends, one for each estimate of
    the overfit, and the test uses the end nearer to 0, or 0 if the ends have different signs.
    """
    pooled = _pool(before)
    error = _larger_error(now, pooled, before)
    differences = list_differences(now, before)
    distance = max(min(differences), 0.0) + min(max(differences), 0.0)
    reach = distribution.critical_value(level) * error
    return Contrast(
        value=now.value,
        reference=pooled.value,
        difference=differences[0],
        lower=min(differences) - reach,
        upper=max(differences) + reach,
        statistic=distance / error if error > 0 else nan,
        p_value=distribution.p_value(distance / error) if error > 0 else nan,
    )


def list_differences(now: MeanEstimate, before: Sequence[MeanEstimate]) -> tuple[float, float]:
    """Return the differences of a mean from the pooled mean, by each of the two estimates of the overfit."""
    pooled = _pool(before)
    return now.value - pooled.value, now.other - pooled.other


def _pool(samples: Sequence[MeanEstimate]) -> MeanEstimate:
    size = sum(sample.size for sample in samples)
    return MeanEstimate(
        value=sum(sample.size * sample.value for sample in samples) / size,
        other=sum(sample.size * sample.other for sample in samples) / size,
        standard_error=sqrt(sum((sample.size * sample.standard_error) ** 2 for sample in samples)) / size,
        size=size,
    )


def _larger_error(now: MeanEstimate, pooled: MeanEstimate, before: Sequence[MeanEstimate]) -> float:
    """Return the larger standard error of a difference: from two variances, or from one in common.

    Without a change, both samples have the same variance.
    """
    separate = hypot(now.standard_error, pooled.standard_error)
    spread = sum((sample.size * sample.standard_error) ** 2 for sample in (now, *before))
    common = sqrt(spread / (now.size + pooled.size) * (1 / now.size + 1 / pooled.size))
    return max(separate, common)


def homogeneity_test(
    now: FloatArray, before: FloatArray, distribution: ErrorDistribution
) -> tuple[float, float]:
    """Return the chi-square of homogeneity of two rows of counts and its p-value; NaN with only one group.

    It is the smaller of Pearson's statistic and the likelihood ratio. With clusters, the p-value is that of
    an F distribution.
    """
    counts = np.array([now, before])[:, now + before > 0]
    df = counts.shape[1] - 1
    if df == 0:
        return nan, nan
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    pearson = float(((counts - expected) ** 2 / expected).sum())
    ratio = 2 * float(xlogy(counts, counts / expected).sum())
    statistic = max(min(pearson, ratio), 0.0)
    return statistic, tail_probability(statistic, df, distribution)


def tail_probability(statistic: float, df: int, distribution: ErrorDistribution) -> float:
    """Return the p-value of a chi-square statistic; with clusters, from an F distribution."""
    if isinf(distribution.degrees_of_freedom):
        return float(chdtrc(df, statistic))
    return float(fdtrc(df, distribution.degrees_of_freedom, statistic / df))


def compare_shares(
    now: FloatArray, before: FloatArray, distribution: ErrorDistribution, *, level: float
) -> list[Contrast]:
    """Compare the share of each group in two rows of counts, with Newcombe's intervals and one joint test.

    With two groups, the statistic is the root of chi-square with the sign of the difference.
    """
    statistic, p_value = homogeneity_test(now, before, distribution)
    shares = zip((now / now.sum()).tolist(), (before / before.sum()).tolist(), strict=True)
    sizes, z = (float(now.sum()), float(before.sum())), distribution.critical_value(level)
    return [
        Contrast(
            value=share,
            reference=old,
            difference=share - old,
            lower=lower,
            upper=upper,
            statistic=copysign(sqrt(statistic), share - old) if len(now) == _TWO_GROUPS else statistic,
            p_value=p_value,
        )
        for share, old in shares
        for lower, upper in [_newcombe((share, old), sizes, z)]
    ]


def _newcombe(shares: tuple[float, float], sizes: tuple[float, float], z: float) -> tuple[float, float]:
    """Return Newcombe's interval of the difference of two shares, from Wilson's interval of each."""
    (a, b), ((low, high), (old_low, old_high)) = shares, map(_wilson, shares, sizes, (z, z))
    return a - b - hypot(a - low, old_high - b), a - b + hypot(high - a, b - old_low)


def _wilson(share: float, size: float, z: float) -> tuple[float, float]:
    middle = (share + z * z / (2 * size)) / (1 + z * z / size)
    reach = z * sqrt(share * (1 - share) / size + (z / (2 * size)) ** 2) / (1 + z * z / size)
    return max(middle - reach, 0.0), min(middle + reach, 1.0)


def stability_index_interval(
    index: float, statistic: float, df: int, distribution: ErrorDistribution, level: float
) -> tuple[float, float]:
    """Return an interval for the stability index without the part that chance adds to it.

    The index is nearly proportional to chi-square. The root of chi-square has a standard deviation of about 1
    around the root of its true part plus the part due to chance, which is at least df - 1.
    """
    if not statistic > 0:
        return 0.0, nan
    z = distribution.critical_value(level)
    lower, upper = max(sqrt(statistic) - z, 0.0) ** 2, (sqrt(statistic) + z) ** 2
    scale = index / statistic
    return scale * max(lower - (df - 1), 0.0), scale * max(upper - (df - 1), 0.0)


def group_bins(counts: FloatArray, smaller: float) -> IntArray:
    """Return the group of each bin: neighbouring bins form groups of about a tenth of all rows.

    `counts` are those of both samples together, `smaller` is the size of the smaller sample, in which each
    group is to have five rows or more.
    """
    share = counts / counts.sum()
    tenth = np.minimum((_GROUP_COUNT * (np.cumsum(share) - share / 2)).astype(np.int64), _GROUP_COUNT - 1)
    expected = smaller * np.bincount(tenth, weights=share, minlength=_GROUP_COUNT)
    group, filled = np.zeros(_GROUP_COUNT, dtype=np.int64), 0.0
    for place in range(1, _GROUP_COUNT):
        filled += float(expected[place - 1])
        is_full = filled >= _MIN_GROUP_COUNT and expected[place:].sum() >= _MIN_GROUP_COUNT
        group[place] = group[place - 1] + is_full
        filled = 0.0 if is_full else filled
    return group[tenth]
