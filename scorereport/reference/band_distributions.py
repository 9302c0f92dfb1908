"""Tests of whether the bounds of resampled bands have the same distribution, by ranks.

A bound of the reference is a type-7 quantile of its own draws: it lies between two of their order statistics,
and among independent draws of the same distribution the rank of an order statistic is beta-binomial.
"""

from __future__ import annotations

import warnings
from functools import cache
from math import floor
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import bdtr, betaln

from scorereport.reliability.sampling import random_stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray, IntArray

#: Means of the same few cases, and lines between them, that differ by less than this are equal.
_ROUNDING = 1e-12
#: The number of standard errors by which the share of curves outside a band may miss its expectation, far
#: beyond chance; and the number of bands of redrawn curves from which both are estimated.
_ERRORS, _REPEATS = 7.0, 200


@cache
def likely_ranks(drawn: int, size: int, level: float, error: float) -> tuple[int, int]:
    """The range of ranks that a type-7 quantile of `size` values has among `drawn` other values.

    The rank lies in the range except with probability 2 `error`. The quantile lies between order statistics k
    and k + 1, k = 1 + floor((size - 1) level). Among independent values of the same distribution, the number
    below the k-th order statistic is beta-binomial with parameters k and size - k + 1; with ties there are
    only more values not above and fewer below.
    """
    k = 1 + floor((size - 1) * level)
    below = _rank_distribution(drawn, k, size)
    above = _rank_distribution(drawn, min(k + 1, size), size)
    return int(np.searchsorted(below, error)), int(np.searchsorted(above, 1 - error))


def _rank_distribution(drawn: int, k: int, size: int) -> FloatArray:
    """The beta-binomial distribution function at 0 to `drawn`; scipy.stats would take long to import."""
    rank = np.arange(drawn + 1)
    log_share = betaln(rank + k, drawn - rank + size - k + 1) - betaln(k, size - k + 1)
    log_ways = -np.log(drawn + 1) - betaln(drawn - rank + 1, rank + 1)
    return np.cumsum(np.exp(log_ways + log_share))


def is_likely_quantile(
    values: FloatArray, quantile: float, level: float, sizes: tuple[int, int], error: float
) -> bool:
    """Whether a quantile of other draws is likely among these values; `sizes` bound the number of draws."""
    if len(values) == 0 or np.isnan(quantile):
        return sizes[0] == 0  # only then may one side have no draws
    allowed = [likely_ranks(len(values), max(size, 1), level, error) for size in sizes]
    fewest, most = min(low for low, _ in allowed), max(high for _, high in allowed)
    return bool(
        (values <= quantile + _ROUNDING).sum() >= fewest and (values < quantile - _ROUNDING).sum() <= most
    )


def likely_sizes(points: FloatArray, y_prob: FloatArray, draws: int) -> list[tuple[int, int]]:
    """Bounds of the number of curves that reach each point: all drawn forecasts may lie on one side of it."""
    ordered, n = np.sort(y_prob), len(y_prob)
    below = np.searchsorted(ordered, points, side="left") / n
    above = 1 - np.searchsorted(ordered, points, side="right") / n
    reached = 1 - below**n - above**n
    fewest, most = (_counts(q, draws, reached) for q in (1e-9, 1 - 1e-9))
    return list(zip(fewest.tolist(), most.tolist(), strict=True))


def _counts(q: float, draws: int, reached: FloatArray) -> IntArray:
    """The quantiles of binomial counts: the least numbers whose distribution function is at least q."""
    chances, places = np.unique(np.clip(reached, 0, 1), return_inverse=True)
    reaches = bdtr(np.arange(draws + 1.0), draws, chances[:, np.newaxis]) >= q
    return np.argmax(reaches, axis=1)[places]


def count_unlikely(
    curves: FloatArray,
    bounds: tuple[FloatArray, FloatArray],
    level: float,
    sizes: list[tuple[int, int]],
    error: float,
) -> int:
    """The number of bounds of a band that do not fit the curves, a row each; `error` is for all together."""
    each = error / (4 * max(len(sizes), 1))
    sides = zip(bounds, ((1 - level) / 2, (1 + level) / 2), strict=True)
    columns = [column[~np.isnan(column)] for column in curves.T]
    return sum(
        not is_likely_quantile(values, bound, side_level, size, each)
        for side, side_level in sides
        for values, bound, size in zip(columns, side, sizes, strict=True)
    )


def is_likely_band(
    curves: FloatArray, bounds: tuple[FloatArray, FloatArray], level: float, draws: int, seed: int
) -> bool:
    """Whether a band of `draws` other curves excludes as large a share of these curves as expected.

    All points together distinguish levels and widths that no single bound can. The expected share and its
    variation are estimated from bands of curves that are resampled from these.
    """
    known = ~np.isnan(curves).all(axis=0)
    curves, bounds = curves[:, known], (bounds[0][known], bounds[1][known])
    expected, error = _expected_share(curves, level, draws, seed)
    return abs(_share_outside(curves, bounds) - expected) <= _ERRORS * error + _ROUNDING


def _expected_share(curves: FloatArray, level: float, draws: int, seed: int) -> tuple[float, float]:
    """Mean and standard deviation of the share of curves outside bands of `draws` resampled curves."""
    rng = random_stream(seed, draws)
    shares = [
        _share_outside(curves, band_of(curves[rng.integers(0, len(curves), draws)], level))
        for _ in range(_REPEATS)
    ]
    return float(np.mean(shares)), float(np.std(shares))


def band_of(curves: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Quantiles of curves, a row each, by numpy; NaN where no curve has a value."""
    levels, is_gappy = [(1 - level) / 2, (1 + level) / 2], np.isnan(curves).any(axis=0)
    bounds = np.empty((2, curves.shape[1]))
    bounds[:, ~is_gappy] = np.quantile(curves[:, ~is_gappy], levels, axis=0)  # much faster than nanquantile
    if is_gappy.any():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # for points that no curve reaches
            bounds[:, is_gappy] = np.nanquantile(curves[:, is_gappy], levels, axis=0)
    return bounds[0], bounds[1]


def _share_outside(curves: FloatArray, bounds: tuple[FloatArray, FloatArray]) -> float:
    """Mean share of curves below and above a band; a curve on a bound counts half."""
    lower, upper = bounds
    with np.errstate(invalid="ignore"):  # R's NA is a signalling NaN
        beyond = _count(curves < lower - _ROUNDING) + _count(curves > upper + _ROUNDING)
        on = _count(np.abs(curves - lower) <= _ROUNDING) + _count(np.abs(curves - upper) <= _ROUNDING)
    return (beyond + on / 2) / max(_count(~np.isnan(curves)), 1)


def _count(holds: NDArray[np.bool_]) -> int:
    return int(np.count_nonzero(holds))
