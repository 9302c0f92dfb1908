"""Numbers of resamples by the asked precision, and weights of rows in many resamples at once.

With few rows, drawing one resample takes less time than calling a function.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport.reliability.precision import is_precise, reach_tail, sorted_quantiles

if TYPE_CHECKING:
    from scorereport._utils.arrays import FloatArray
    from scorereport.reliability.sampling import SamplingUnits

#: Resamples are drawn in multiples of this number.
BATCH = 100
#: Number of resamples that share a random stream, by the largest number of units; each divides `BATCH`.
_STREAMS = ((10_000, 100), (100_000, 10), (np.inf, 1))


def resamples_per_stream(units: int) -> int:
    """Return how many resamples of this many units are drawn from one random stream."""
    return next(size for most, size in _STREAMS if units <= most)


def draw_times(units: SamplingUnits, resamples: int, rng: np.random.Generator) -> FloatArray:
    """Draw how often each row, or each cluster, is in each resample: a row for each resample."""
    if units.cluster is None and units.are_repeated_rows and units.weight is not None:
        total = int(units.total)
        return rng.multinomial(total, units.weight / total, resamples).astype(np.float64)
    n = int(units.size)
    times = np.empty((resamples, n))
    for of_resample, drawn in zip(times, rng.integers(0, n, (resamples, n)), strict=True):
        of_resample[:] = np.bincount(drawn, minlength=n)
    return times


def draw_row_weights(units: SamplingUnits, resamples: int, rng: np.random.Generator) -> FloatArray:
    """Draw the weight of each row in each resample."""
    times = draw_times(units, resamples, rng)
    if units.cluster is not None:
        return times[:, units.cluster] * units.row_weight
    return times if units.are_repeated_rows else times * units.row_weight


def is_quantile_precise(values: FloatArray, level: float) -> bool:
    """Whether order statistics around a quantile, half the width of a band, show that it is precise.

    Of a table, the quantile of each column: their errors are averaged.
    """
    if not values.size:
        return True
    reach = np.sqrt(level * (1 - level) / len(values))
    shares = np.clip([level - reach, level, level + reach], 0, 1)
    lower, middle, upper = sorted_quantiles(np.sort(values.reshape(len(values), -1), axis=0), shares)
    return reach_tail(len(values), 1 - level) and is_precise((upper - lower) / 2, 2 * middle)
