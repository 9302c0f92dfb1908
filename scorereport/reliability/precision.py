"""How many samples are drawn where their number is not given: as many as the precision needs."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from scorereport._utils.arrays import FloatArray

#: Monte-Carlo errors are at most this share of the width of an interval.
PRECISION = 0.02
#: Fewest samples (both bounds of a normal 90 % interval take 1,030), samples added until the precision is
#: reached, and most samples.
_FIRST, _MORE, MOST_RESAMPLES = 1000, 250, 10_000

#: Precision is judged again at this share of the samples that it seems to take.
_WORTH_ASKING = 0.7

#: Fewest samples that are expected beyond a quantile: with fewer, samples do not show its error.
_FEWEST_BEYOND = 5


def list_batches(first: int = _FIRST, more: int = _MORE, most: int = MOST_RESAMPLES) -> list[range]:
    """Return the numbers of the samples of each batch.

    >>> list_batches(4, 2, 8)
    [range(0, 4), range(4, 6), range(6, 8)]
    """
    return [range(0, first), *(range(*ends) for ends in pairwise(range(first, most + 1, more)))]


def reach_tail(samples: int, tail: float) -> bool:
    """Whether samples are enough to show a quantile that this share of them lies beyond.

    >>> reach_tail(750, 0.05), reach_tail(750, 0.005)
    (True, False)
    """
    return samples * tail >= _FEWEST_BEYOND


def is_precise(errors: FloatArray, widths: FloatArray) -> bool:
    """Whether Monte-Carlo errors are small against the widths of intervals, on average.

    Intervals at neighbouring points of a curve are computed from the same samples: their errors are averaged,
    as each of them is known roughly only.
    """
    return float(np.nanmean(errors)) <= PRECISION * float(np.nanmean(widths))


def foresee_samples(samples: int, errors: FloatArray, widths: FloatArray) -> float:
    """Return how many samples there must be, at least, before it is worth asking again whether they do.

    Errors fall with the square root of the samples, but are known roughly only.

    >>> foresee_samples(1000, np.array([0.04]), np.array([1.0]))
    2800.0
    """
    width = float(np.nanmean(widths))
    return (
        _WORTH_ASKING * samples * (float(np.nanmean(errors)) / (PRECISION * width)) ** 2 if width > 0 else 0.0
    )


def sorted_quantiles(columns: FloatArray, shares: ArrayLike) -> FloatArray:
    """Return type-7 quantiles of sorted columns, without the NaN at their ends: a row for each share.

    >>> sorted_quantiles(np.array([[1.0, 1.0], [2.0, 5.0], [4.0, np.nan]]), [0.25, 0.5])
    array([[1.5, 2. ],
           [2. , 3. ]])
    """
    last = np.maximum(len(columns) - np.isnan(columns).sum(axis=0) - 1, 0)
    place = np.multiply.outer(shares, last)
    below = np.floor(place).astype(np.intp)
    column = np.arange(columns.shape[1])
    low, high = columns[below, column], columns[np.minimum(below + 1, last), column]
    return np.asarray(low + (place - below) * (high - low))
