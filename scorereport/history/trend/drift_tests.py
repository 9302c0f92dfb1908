"""Tests whether a sample and earlier samples come from the same process, and the bins that they compare.

False alarms are to be rare over many audits, so each test works far out in the tail of its statistic. Where
events are few, usual tests fail there: a sample with hardly any events has too small a standard error, one
with many too large a chi-square. So of two statistics that agree in large samples the smaller one counts.

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


#: Groups of an outcome that happens or not.
_TWO_GROUPS = 2


class MeanEstimate(NamedTuple):
    """A mean of one sample, without overfit by either estimate of it, with its error and size."""

    value: float
    other: float
    standard_error: float
    size: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """How a sample differs from those before it, with interval and test; NaN for what is not known."""

    value: float = nan
    reference: float = nan
    difference: float = nan
    lower: float = nan
    upper: float = nan
    statistic: float = nan
    p_value: float = nan


def find_distribution(now: int | None, before: Sequence[int | None]) -> ErrorDistribution:
    """Normal for independent rows; of t with one degree of freedom less than clusters on the smaller side."""
    counts = [n for n in (now, sum(n or 0 for n in before) if any(before) else None) if n is not None]
    return ErrorDistribution(max(min(counts) - 1, 1) if counts else inf)


def limit_distribution(law: ErrorDistribution, fewest: Sequence[float]) -> ErrorDistribution:
    """The law where a mean rests on few events: of t with a quarter of the events of the smaller side.

    Simulation gave the quarter: with 40 to 100 events a side, the miscalibration of a rare event over its
    error is that far from normal.
    """
    return ErrorDistribution(min(law.degrees_of_freedom, max(min(fewest) / 4, 1.0)))


def spread_of_overfit(overfit: float, events: float) -> float:
    """How much the overfit of isotonic regression varies by chance, which errors of case means leave out.

    It is like the mean of as many chi-squares of one degree of freedom as the fit has parameters, one and a
    half in each block, and of blocks there are about 2.5 times the cube root of the events.
    """
    parameters = 1.5 * 2.5 * events ** (1 / 3)
    return overfit * sqrt(2 / parameters)


def compare_means(
    now: MeanEstimate, before: Sequence[MeanEstimate], law: ErrorDistribution, *, level: float
) -> Contrast:
    """Compare a mean with those of earlier samples, pooled by their sizes as if they were one sample.

    Sizes, not estimated errors, are the weights: samples in which little happened by chance have small errors
    and would count too much. Where overfit was taken off, the difference lies between two ends, one for each
    estimate of it, and what is tested is how far both are from 0.
    """
    pooled = _pool(before)
    error = _larger_error(now, pooled, before)
    differences = list_differences(now, before)
    distance = max(min(differences), 0.0) + min(max(differences), 0.0)
    reach = law.critical_value(level) * error
    return Contrast(
        value=now.value,
        reference=pooled.value,
        difference=differences[0],
        lower=min(differences) - reach,
        upper=max(differences) + reach,
        statistic=distance / error if error > 0 else nan,
        p_value=law.p_value(distance / error) if error > 0 else nan,
    )


def list_differences(now: MeanEstimate, before: Sequence[MeanEstimate]) -> tuple[float, float]:
    """How far a mean is from the pooled one, by either estimate of the overfit."""
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
    """The error of a difference: from the spread of each side, or from one for both, as without change."""
    of_both = hypot(now.standard_error, pooled.standard_error)
    spread = sum((sample.size * sample.standard_error) ** 2 for sample in (now, *before))
    in_common = sqrt(spread / (now.size + pooled.size) * (1 / now.size + 1 / pooled.size))
    return max(of_both, in_common)


def homogeneity_test(now: FloatArray, before: FloatArray, law: ErrorDistribution) -> tuple[float, float]:
    """Chi-square of homogeneity of two rows of counts, and its p-value; NaN if there is one group only.

    It is the smaller one of Pearson's and the likelihood ratio. With clusters it is held to the law of F.
    """
    counts = np.array([now, before])[:, now + before > 0]
    df = counts.shape[1] - 1
    if df == 0:
        return nan, nan
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    pearson = float(((counts - expected) ** 2 / expected).sum())
    ratio = 2 * float(xlogy(counts, counts / expected).sum())
    statistic = max(min(pearson, ratio), 0.0)
    return statistic, tail_probability(statistic, df, law)


def tail_probability(statistic: float, df: int, law: ErrorDistribution) -> float:
    """The p-value of chi-square; with clusters that of F."""
    if isinf(law.degrees_of_freedom):
        return float(chdtrc(df, statistic))
    return float(fdtrc(df, law.degrees_of_freedom, statistic / df))


def compare_shares(
    now: FloatArray, before: FloatArray, law: ErrorDistribution, *, level: float
) -> list[Contrast]:
    """The share of each group in two rows of counts, with Newcombe's intervals and one test of them all.

    Of two groups the statistic is the root of chi-square, with the sign of the difference.
    """
    statistic, p_value = homogeneity_test(now, before, law)
    shares = zip((now / now.sum()).tolist(), (before / before.sum()).tolist(), strict=True)
    sizes, z = (float(now.sum()), float(before.sum())), law.critical_value(level)
    return [
        Contrast(
            value=share,
            reference=old,
            difference=share - old,
            **dict(zip(("lower", "upper"), _newcombe((share, old), sizes, z), strict=True)),
            statistic=copysign(sqrt(statistic), share - old) if len(now) == _TWO_GROUPS else statistic,
            p_value=p_value,
        )
        for share, old in shares
    ]


def _newcombe(shares: tuple[float, float], sizes: tuple[float, float], z: float) -> tuple[float, float]:
    """The interval of the difference of two shares, from Wilson's of each."""
    (a, b), ((low, high), (old_low, old_high)) = shares, map(_wilson, shares, sizes, (z, z))
    return a - b - hypot(a - low, old_high - b), a - b + hypot(high - a, b - old_low)


def _wilson(share: float, size: float, z: float) -> tuple[float, float]:
    middle = (share + z * z / (2 * size)) / (1 + z * z / size)
    reach = z * sqrt(share * (1 - share) / size + (z / (2 * size)) ** 2) / (1 + z * z / size)
    return max(middle - reach, 0.0), min(middle + reach, 1.0)


def stability_index(now: FloatArray, before: FloatArray) -> float:
    """The population stability index Σ (a - b) log(a/b) of two rows of counts; half a case for none."""
    filled = [np.where(counts > 0, counts, 0.5) for counts in (now, before)]
    a, b = (counts / counts.sum() for counts in filled)
    return float(((a - b) * np.log(a / b)).sum())


def stability_index_interval(
    index: float, statistic: float, df: int, law: ErrorDistribution, level: float
) -> tuple[float, float]:
    """What the index may be without chance, which alone makes it larger than 0.

    The index is nearly in proportion to chi-square, whose root has a spread of 1 around that of what chance
    adds, df - 1 and more, and of the true part.
    """
    if not statistic > 0:
        return 0.0, nan
    z = law.critical_value(level)
    lower, upper = max(sqrt(statistic) - z, 0.0) ** 2, (sqrt(statistic) + z) ** 2
    scale = index / statistic
    return scale * max(lower - (df - 1), 0.0), scale * max(upper - (df - 1), 0.0)


#: Groups that a test compares, unless forecasts are too few or too much alike.
_GROUP_COUNT = 10
#: Fewest cases that a group is to have in the smaller sample.
_MIN_GROUP_COUNT = 5.0


def group_bins(counts: FloatArray, smaller: float) -> IntArray:
    """The group of each bin: neighbours together, about a tenth of all cases in each.

    `counts` are those of both samples together, `smaller` is the size of the smaller one, in which each
    group is to have five cases or more.
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
