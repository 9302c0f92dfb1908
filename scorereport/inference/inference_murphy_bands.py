"""How wide the band of a difference of Murphy curves is: pointwise, and at all costs together (sup-t).

References
----------
Montiel Olea, Plagborg-Møller (2019), J. Appl. Econom. 34, doi:10.1002/jae.2656
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from scorereport._utils.arrays import FloatArray, IntArray
from scorereport._utils.machine import repeat
from scorereport.inference.murphy_bands import MurphyCells, average_differences
from scorereport.inference.murphy_limits import ROUNDING
from scorereport.reliability.sampling import SamplingUnits, random_stream

if TYPE_CHECKING:
    from scorereport.inference.panel import ForecastPanel


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RowSample:
    """Rows in their cells, with their weights."""

    cells: MurphyCells
    units: SamplingUnits

    @classmethod
    def of(cls, panel: ForecastPanel, theta: FloatArray) -> RowSample:
        """The rows of a panel at these costs."""
        return cls(cells=MurphyCells.of(panel, theta), units=panel.units)

    @property
    def weight(self) -> FloatArray:
        """The weight of each row."""
        return self.units.row_weight

    def draw(self, rng: np.random.Generator) -> FloatArray:
        """Weights in a resample."""
        return self.units.draw(rng)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CountedSample:
    """Many rows, alike but for their cells: how many of each kind a resample has is all that counts."""

    cells: MurphyCells
    counts: IntArray

    @classmethod
    def of(cls, panel: ForecastPanel, theta: FloatArray) -> CountedSample:
        """The rows of a panel at these costs, by kind."""
        cells, counts = MurphyCells.count_rows(panel, theta)
        return cls(cells=cells, counts=counts)

    @property
    def weight(self) -> FloatArray:
        """The number of rows of each kind."""
        return self.counts.astype(np.float64)

    def draw(self, rng: np.random.Generator) -> FloatArray:
        """Numbers in a resample, by their multinomial law."""
        n = int(self.counts.sum())
        return rng.multinomial(n, self.counts / n).astype(np.float64)


def half_widths(
    sample: RowSample | CountedSample, panel: ForecastPanel, level: float, resamples: int, seed: int
) -> tuple[FloatArray, FloatArray]:
    """Pointwise and simultaneous half widths of the band."""
    cells, theta = sample.cells, sample.cells.theta
    if panel.units.size <= 1:
        return np.full(len(theta), np.nan), np.full(len(theta), np.nan)

    def draw(number: int) -> tuple[FloatArray, FloatArray]:
        return average_differences(cells, sample.draw(random_stream(seed, number)))

    drawn = repeat(draw, resamples, rows=len(panel.outcome), what="drawing Murphy curves")
    mean, square = np.moveaxis(np.array(list(drawn)), 1, 0)
    measured, measured_square = average_differences(cells, sample.weight)
    spread, row = mean.std(axis=0, ddof=1), _worth_of_one_row(panel, theta)
    variance = np.maximum(measured_square - measured**2, ROUNDING)
    own_spread = np.hypot(spread * np.sqrt(np.maximum(square - mean**2, 0) / variance), row)
    away = np.abs(mean - measured)
    ratio = np.divide(away, own_spread, out=np.zeros_like(away), where=own_spread > ROUNDING)
    return _critical_values(ratio, level, np.hypot(spread, row))


def _critical_values(ratio: FloatArray, level: float, spread: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Quantiles at each cost, and of the largest ratio over all costs, times the spread."""
    least = float(ndtri((1 + level) / 2))
    pointwise = np.maximum(np.quantile(ratio, level, axis=0), least)
    return pointwise * spread, max(float(np.quantile(ratio.max(axis=1), level)), least) * spread


def _worth_of_one_row(panel: ForecastPanel, theta: FloatArray) -> FloatArray:
    """By how much the difference can move if the models disagree on one more row.

    Nothing moves at costs of 0 and 1, nor between models that agree on everything.
    """
    rows = panel.units.total if panel.units.are_repeated_rows else panel.units.rows
    worth = np.where((theta == 0) | (theta == 1), 0.0, 2 * np.maximum(theta, 1 - theta) / rows)
    first, second = panel.forecasts.values()
    return worth * (not np.array_equal(first, second))
