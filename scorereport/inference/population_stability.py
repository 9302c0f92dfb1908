"""The population stability index (PSI): how much forecasts differ from those of a reference sample.

Forecasts are counted in ten bins that hold equal shares of the reference; equal forecasts stay together, so
there may be fewer. The index is Σ (a - b) log(a/b) over the bins, with shares a of the sample and b of the
reference; a count of 0 is taken as 1/2. Chance adds about (k - 1)(1/n + 1/m) to it, for k bins and samples of
n and m rows, which the interval subtracts. The error comes from the delta method for two multinomial samples.

References
----------
Kullback, Leibler (1951), Ann. Math. Stat. 22, doi:10.1214/aoms/1177729694
Yurdakul, Naranjo (2020), J. Risk Model Valid. 14, 89-100
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.arrays import FloatArray, read_only
from scorereport._utils.representation import short_repr
from scorereport._utils.rounding import find_reached
from scorereport.inference.estimates import Estimate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorereport.inference.mean_errors import ErrorDistribution

#: Bins of equal count of the reference.
BINS = 10
#: What a count of 0 is taken as.
_EMPTY = 0.5
_METHOD = "delta method for two multinomial samples, less the part that chance adds"
_TARGET = "The interval is for the index without the part that chance adds to it; the value may lie outside."


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stability:
    """Forecasts of a model in the sample and in a reference sample, by bin, and the stability index.

    A bin has the forecasts above the preceding end of a bin and up to its own; `ends` are those of all bins
    but the last. `reference_size` is the effective number of rows of the reference; `source` and
    `source_sha256` are its name and, if it is a file, its hash.
    """

    model: str
    index: Estimate
    ends: FloatArray
    reference: FloatArray
    sample: FloatArray
    reference_size: float
    source: str = ""
    source_sha256: str = ""

    __repr__ = short_repr


def stability_index(now: FloatArray, before: FloatArray) -> float:
    """Return the population stability index Σ (a - b) log(a/b) of two rows of counts; 0 counts as 1/2.

    >>> round(stability_index(np.array([10.0, 30.0]), np.array([20.0, 20.0])), 4)
    0.2747
    """
    a, b = _fill_shares(now), _fill_shares(before)
    return float(((a - b) * np.log(a / b)).sum())


def find_bin_ends(reference: FloatArray, weight: FloatArray) -> FloatArray:
    """Return the ends of the bins of a reference but for the last: forecasts that complete a tenth each."""
    order = np.argsort(reference, kind="stable")
    ordered = reference[order]
    ends = np.unique(ordered[find_reached(np.cumsum(weight[order]), np.arange(1, BINS) / BINS)])
    return ends[ends < ordered[-1]]


def count_in_bins(forecasts: FloatArray, weight: FloatArray, ends: FloatArray) -> FloatArray:
    """Return the weight of the forecasts in each bin; a forecast at an end belongs to the bin before it."""
    place: NDArray[np.int64] = np.searchsorted(ends, forecasts, side="left")
    return np.bincount(place, weights=weight, minlength=len(ends) + 1).astype(np.float64)


def compare_bins(
    model: str,
    *,
    ends: FloatArray,
    sample: FloatArray,
    reference: FloatArray,
    sizes: tuple[float, float],
    distribution: ErrorDistribution,
    level: float,
) -> Stability:
    """Compare the weights in the bins of two samples.

    `sizes` are the effective numbers of rows of sample and reference, `distribution` that of the error.
    """
    shares = [weights / weights.sum() for weights in (sample, reference)]
    now, before = (size * share for size, share in zip(sizes, shares, strict=True))
    return Stability(
        model=model,
        index=_estimate_index(now, before, distribution, level),
        ends=read_only(ends),
        reference=read_only(shares[1]),
        sample=read_only(shares[0]),
        reference_size=sizes[1],
    )


def _estimate_index(
    now: FloatArray, before: FloatArray, distribution: ErrorDistribution, level: float
) -> Estimate:
    value, sizes = stability_index(now, before), (float(now.sum()), float(before.sum()))
    error = _standard_error(now, before)
    chance = (len(now) - 1) * sum(1 / size for size in sizes)
    reach = distribution.critical_value(level) * error
    is_single = len(now) == 1
    return Estimate(
        measure="psi",
        value=value,
        standard_error=error,
        lower=math.nan if is_single else max(value - chance - reach, 0.0),
        upper=math.nan if is_single else max(value - chance, 0.0) + reach,
        level=level,
        method=_METHOD,
        n=sizes[0],
        note="All forecasts of the reference are equal: there is one bin." if is_single else _TARGET,
    )


def _standard_error(now: FloatArray, before: FloatArray) -> float:
    """Return the standard error by the delta method: the variance of the slopes over both samples."""
    a, b = _fill_shares(now), _fill_shares(before)
    log_ratio = np.log(a / b)
    slopes = ((a, log_ratio + 1 - b / a, now), (b, 1 - log_ratio - a / b, before))
    variance = sum(
        (float((share * slope**2).sum()) - float((share * slope).sum()) ** 2) / float(counts.sum())
        for share, slope, counts in slopes
    )
    return math.sqrt(max(variance, 0.0))


def _fill_shares(counts: FloatArray) -> FloatArray:
    filled = np.where(counts > 0, counts, _EMPTY)
    return np.asarray(filled / filled.sum())
