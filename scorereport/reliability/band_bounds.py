"""Bands from curves drawn under the hypothesis: pointwise by quantiles, simultaneous by a split.

References
----------
Dimitriadis, Gneiting, Jordan (2021), PNAS 118, doi:10.1073/pnas.2016191118
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.checks import shortest
from scorereport._utils.machine import repeat
from scorereport.errors import UsageError
from scorereport.reliability.sampling import random_stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray
    from scorereport.reliability.simulation import Simulation

#: Quantiles that give a simultaneous band its shape, and the least share of its usual width.
_SHAPE_QUANTILES = (0.005, 0.995)
_NARROWEST = 0.25


def pointwise_bounds(
    simulation: Simulation, points: FloatArray, level: float, resamples: int, seed: int
) -> tuple[FloatArray, FloatArray]:
    """Quantiles of the curves of redrawn cases."""
    curves = redraw_curves(simulation, points, resamples, seed)
    curves.sort(axis=0)  # NaN last
    return _quantile(curves, (1 - level) / 2), _quantile(curves, (1 + level) / 2)


def redraw_curves(simulation: Simulation, points: FloatArray, resamples: int, seed: int) -> FloatArray:
    """Curves of redrawn cases, a row each; NaN where a curve has no say, beyond the forecasts it drew."""
    x = simulation.distinct.x_min

    def curve(number: int) -> FloatArray:
        drawn = simulation.redraw_cases(random_stream(seed, number))
        return drawn.fit().at(points, x, drawn.position)

    return _draw_curves(curve, simulation, resamples)


def fewest_resamples(level: float) -> int:
    """Draws that a simultaneous band needs: half of them must have a quantile of that level.

    >>> fewest_resamples(0.9), fewest_resamples(0.95)
    (18, 38)
    """
    return 2 * max(ceil(round(level / (1 - level), 9)), 1)


def simultaneous_bounds(
    simulation: Simulation, entries: NDArray[np.intp], level: float, resamples: int, seed: int
) -> tuple[FloatArray, FloatArray]:
    """A band that a whole curve of redrawn outcomes stays in, at the entries, with probability `level`.

    Half of the curves give the shape, the other half the factor by which it must be widened. Given
    the forecasts, a calibrated curve is exchangeable with those of the second half: the level is exact,
    not asymptotic.
    """
    if resamples < fewest_resamples(level):
        raise UsageError(
            f"`resamples` must be at least {fewest_resamples(level)} for a simultaneous band of level "
            f"{shortest(level)}; got {resamples}."
        )
    half = resamples // 2

    def curve(number: int) -> FloatArray:
        return simulation.redraw_outcomes(random_stream(seed, number)).fit().at_entries(entries)

    curves = _draw_curves(curve, simulation, resamples)
    middle, below, above = _shape(curves[:half])
    excess = np.maximum((curves[half:] - middle) / above, (middle - curves[half:]) / below).max(axis=1)
    factor = np.sort(excess)[ceil(round(level * (resamples - half + 1), 9)) - 1]
    return np.clip(middle - factor * below, 0, 1), np.clip(middle + factor * above, 0, 1)


def _draw_curves(curve: Callable[[int], FloatArray], simulation: Simulation, resamples: int) -> FloatArray:
    rows = len(simulation.distinct)
    return np.array(list(repeat(curve, resamples, rows=rows, what="drawing curves")))


def _shape(curves: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Median curve and its distance to extreme ones, nowhere much narrower than usual."""
    curves = np.sort(curves, axis=0)
    middle = _quantile(curves, 0.5)
    low, high = (_quantile(curves, level) for level in _SHAPE_QUANTILES)
    below, above = middle - low, high - middle
    width = np.maximum(below, above)
    usual = np.median(width) or width.max() or 1.0  # where curves do not vary at all, any floor will do
    return middle, np.maximum(below, _NARROWEST * usual), np.maximum(above, _NARROWEST * usual)


def _quantile(curves: FloatArray, level: float) -> FloatArray:
    """Type-7 quantiles down sorted columns whose NaN, at the end, are left out."""
    known = len(curves) - np.isnan(curves).sum(axis=0)
    place = np.maximum(known - 1, 0) * level
    below = np.floor(place).astype(np.intp)
    above = np.minimum(below + 1, np.maximum(known - 1, 0))
    columns = np.arange(curves.shape[1])
    low, high = curves[below, columns], curves[above, columns]
    return low + (place - below) * (high - low)
