"""Differences of Murphy curves at chosen costs, with pointwise and sup-t bands.

References
----------
Montiel Olea, Plagborg-Møller (2019), J. Appl. Econom. 34, doi:10.1002/jae.2656
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtri

from scorereport._utils.arrays import FloatArray, IntArray, row_chunks
from scorereport._utils.machine import repeat
from scorereport.inference.cluster_counts import ClusterCounts
from scorereport.inference.resampled_weights import draw_row_weights, resamples_per_stream
from scorereport.reliability.sampling import SamplingUnits, random_stream

if TYPE_CHECKING:
    from scorereport.inference.panel import ForecastPanel

#: Elementary scores lie in [0, 2]; differences this small are rounding errors.
ROUNDING = 1e-12
#: Key of the random streams of batches.
_KEY = 29


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MurphyCells:
    """The cells of the lower and of the upper forecast of a row among the costs, for rows where they differ.

    The even cells are the gaps between costs, the odd cells the costs themselves. Rows are counted separately
    by outcome and by which model has the upper forecast: four tables of cells, one after the other.
    """

    theta: FloatArray
    rows: NDArray[np.intp]
    lower: NDArray[np.intp]
    upper: NDArray[np.intp]

    @property
    def size(self) -> int:
        """Number of cells in a table."""
        return 2 * len(self.theta) + 1

    @classmethod
    def of(cls, panel: ForecastPanel, theta: FloatArray) -> MurphyCells:
        """Find the cells of each row whose forecasts are in different cells."""
        first, second = (find_cells(p, theta) for p in panel.forecasts.values())
        rows = np.flatnonzero(first != second)
        return cls.where_different(theta, rows, first[rows], second[rows], panel.outcome[rows] == 1)

    @classmethod
    def count_rows(cls, panel: ForecastPanel, theta: FloatArray) -> tuple[MurphyCells, IntArray]:
        """Count rows by kind: return cells and count of each kind; the last count is of rows in one cell."""
        size, n = 2 * len(theta) + 1, len(panel.outcome)
        counts = np.zeros(2 * size**2, dtype=np.int64)
        for part in row_chunks(n):
            first, second = (find_cells(p[part], theta) for p in panel.forecasts.values())
            kind = (first * size + second) * 2 + (panel.outcome[part] == 1)
            counts += np.bincount(kind, minlength=len(counts))
        pair, happened = np.divmod(np.flatnonzero(counts), 2)
        first, second = np.divmod(pair, size)
        differ = np.flatnonzero(first != second)
        n_of_kind = counts[np.flatnonzero(counts)[differ]]
        rows = np.arange(len(differ))
        cells = cls.where_different(theta, rows, first[differ], second[differ], happened[differ] == 1)
        return cells, np.append(n_of_kind, n - n_of_kind.sum())

    @classmethod
    def where_different(
        cls,
        theta: FloatArray,
        rows: NDArray[np.intp],
        first: NDArray[np.intp],
        second: NDArray[np.intp],
        happened: NDArray[np.bool_],
    ) -> MurphyCells:
        """The cells of rows with different cells, from those of both models and the outcome."""
        table = (2 * (first > second) + happened) * (2 * len(theta) + 1)
        lower, upper = np.minimum(first, second), np.maximum(first, second)
        return cls(theta=theta, rows=rows, lower=table + lower, upper=table + upper)

    def count(self, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Weight of the lower and of the upper forecasts: by model with the upper one, outcome and cell."""
        moved, shape = weight[self.rows], (2, 2, self.size)
        lower, upper = (
            np.bincount(cell, moved, 4 * self.size).astype(np.float64, copy=False).reshape(shape)
            for cell in (self.lower, self.upper)
        )
        return lower, upper

    def count_many(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The same for several weightings, a row for each: by model, outcome, weighting and cell."""
        moved, tables = weights[:, self.rows].ravel(), 4 * self.size * np.arange(len(weights))[:, None]
        shape = len(weights), 2, 2, self.size
        lower, upper = (
            np.bincount((tables + cell).ravel(), moved, len(weights) * 4 * self.size)
            .astype(np.float64, copy=False)
            .reshape(shape)
            .transpose(1, 2, 0, 3)
            for cell in (self.lower, self.upper)
        )
        return lower, upper


def find_cells(forecast: FloatArray, theta: FloatArray) -> NDArray[np.intp]:
    """Return the cell of each forecast: odd at a cost, even between two."""
    below = np.searchsorted(theta, forecast)
    return 2 * below + (theta.take(below, mode="clip") == forecast)


def average_differences(cells: MurphyCells, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Compute mean and mean square of the differences of elementary scores at each cost, for row weights.

    It takes one pass over the rows and no sort; whole weights are counted without rounding.
    """
    lower, upper = cells.count(weight)
    total = weight.sum()
    return sum_of_differences(cells.theta, lower, upper) / total, sum_of_squares(
        cells.theta, lower, upper
    ) / total


def sum_of_differences(t: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Sum of the differences: missed events below a cost, false alarms above it, and ties with it."""
    second_above, first_above = upper - lower
    others, events = first_above - second_above
    # both models have the same non-events: an excess of the first above a cost is a lack up to it
    missed, quiet = np.cumsum(events, axis=-1)[..., :-1:2], np.cumsum(others, axis=-1)[..., 1::2]
    return 2 * ((1 - t) * missed - t * quiet) + 2 * t * (1 - t) * (events + others)[..., 1::2]


def sum_of_squares(t: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Sum of squares: rows with forecasts on both sides of a cost, and rows with one forecast at it."""
    lower, upper = lower.sum(axis=0), upper.sum(axis=0)
    across = np.cumsum(lower, axis=-1)[..., :-1:2] - np.cumsum(upper, axis=-1)[..., 1::2]
    false_alarm, missed, tie = 2 * t, 2 * (1 - t), 2 * t * (1 - t)
    across_costs = across[0] * false_alarm**2 + across[1] * missed**2
    below_tie = upper[0, ..., 1::2] * tie**2 + upper[1, ..., 1::2] * (missed - tie) ** 2
    above_tie = lower[0, ..., 1::2] * (false_alarm - tie) ** 2 + lower[1, ..., 1::2] * tie**2
    return across_costs + below_tie + above_tie


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RowSample:
    """Rows with their cells and weights."""

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
    """Many rows that differ only in their cells: a resample is determined by the counts of each kind."""

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
        """Counts in a resample, which have a multinomial distribution."""
        n = int(self.counts.sum())
        return rng.multinomial(n, self.counts / n).astype(np.float64)


def half_widths(
    sample: RowSample | CountedSample,
    panel: ForecastPanel,
    level: float,
    resamples: int,
    seed: int,
    *,
    pairs: int = 1,
) -> tuple[FloatArray, FloatArray]:
    """Compute the pointwise and simultaneous half-widths of the band from resamples, one after the other."""

    def draw(number: int) -> tuple[FloatArray, FloatArray]:
        return average_differences(sample.cells, sample.draw(random_stream(seed, number)))

    drawn = repeat(draw, resamples, rows=len(panel.outcome), what="drawing Murphy curves")
    mean, square = np.moveaxis(np.array(list(drawn)), 1, 0)
    return _measure_widths(sample, panel, level, mean, square, pairs)


def half_widths_in_batches(
    sample: RowSample, panel: ForecastPanel, level: float, resamples: int, seed: int, *, pairs: int = 1
) -> tuple[FloatArray, FloatArray]:
    """Compute the half-widths from resamples that are drawn many at once, which is faster for few units."""
    theta, units, size = sample.cells.theta, panel.units, resamples_per_stream(int(panel.units.size))
    draw_counts = (_rows_of if units.cluster is None else _clusters_of)(sample.cells, units)

    def draw(number: int) -> tuple[FloatArray, FloatArray]:
        lower, upper, total = draw_counts(size, random_stream(seed, number, _KEY))
        differences = sum_of_differences(theta, lower, upper) / total[:, None]
        return differences, sum_of_squares(theta, lower, upper) / total[:, None]

    what, rows = "drawing Murphy curves", len(panel.outcome)
    drawn = repeat(draw, resamples // size, rows=rows, what=what, resamples=resamples)
    mean, square = (np.concatenate(part) for part in zip(*drawn, strict=True))
    return _measure_widths(sample, panel, level, mean, square, pairs)


#: Draws resamples: the tables of `MurphyCells.count_many`, and the total weight of each.
_DrawCounts = Callable[[int, np.random.Generator], tuple[FloatArray, FloatArray, FloatArray]]


def _rows_of(cells: MurphyCells, units: SamplingUnits) -> _DrawCounts:
    def draw(resamples: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, FloatArray]:
        weights = draw_row_weights(units, resamples, rng)
        return *cells.count_many(weights), weights.sum(axis=1)

    return draw


def _clusters_of(cells: MurphyCells, units: SamplingUnits) -> _DrawCounts:
    counts = ClusterCounts(units, cells.rows, (cells.lower, cells.upper), 4 * cells.size)

    def draw(resamples: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, FloatArray]:
        tables, total = counts.draw(resamples, rng)
        shape = 2, 2, cells.size, resamples
        lower, upper = (np.ascontiguousarray(table.reshape(shape).swapaxes(2, 3)) for table in tables)
        return lower, upper, total

    return draw


def _measure_widths(
    sample: RowSample | CountedSample,
    panel: ForecastPanel,
    level: float,
    mean: FloatArray,
    square: FloatArray,
    pairs: int,
) -> tuple[FloatArray, FloatArray]:
    """Half-widths from the mean differences and mean squares of resamples, a row for each."""
    measured, measured_square = average_differences(sample.cells, sample.weight)
    spread, row = mean.std(axis=0, ddof=1), change_by_one_row(panel, sample.cells.theta)
    variance = np.maximum(measured_square - measured**2, ROUNDING)
    own_spread = np.hypot(spread * np.sqrt(np.maximum(square - mean**2, 0) / variance), row)
    away = np.abs(mean - measured)
    ratio = np.divide(away, own_spread, out=np.zeros_like(away), where=own_spread > ROUNDING)
    return _critical_values(ratio, level, np.hypot(spread, row), pairs)


def _critical_values(
    ratio: FloatArray, level: float, spread: FloatArray, pairs: int
) -> tuple[FloatArray, FloatArray]:
    """Quantiles at each cost, and of the largest ratio over all costs, times the spread."""
    least = float(ndtri((1 + level) / 2))
    pointwise = np.maximum(np.quantile(ratio, level, axis=0), least)
    simultaneous = max(float(np.quantile(ratio.max(axis=1), level)), least)
    return pointwise * spread, widen_for_pairs(simultaneous, pairs) * spread


def widen_for_pairs(critical: float, pairs: int) -> float:
    """The critical value at which the largest of several sup-t statistics is at the level (Bonferroni).

    The share of draws beyond a critical value c, known at one c, is extended to larger ones as c² times the
    tail of a normal distribution, the tail of the largest value of a process as rough as Brownian motion;
    that of a smooth process falls faster.

    >>> round(widen_for_pairs(2.8, 1), 3), round(widen_for_pairs(2.8, 3), 3)
    (2.8, 3.218)
    """
    if pairs == 1:
        return critical

    def excess(c: float) -> float:
        return float(log_ndtr(-c) - log_ndtr(-critical) + 2 * np.log(c / critical) + np.log(pairs))

    return float(brentq(excess, critical, critical + 10, xtol=1e-12))


def change_by_one_row(panel: ForecastPanel, theta: FloatArray) -> FloatArray:
    """How much the difference can change if the models disagree on one more row.

    It cannot change at costs of 0 and 1, nor between models with the same forecasts.
    """
    rows = panel.units.total if panel.units.are_repeated_rows else panel.units.rows
    change = np.where((theta == 0) | (theta == 1), 0.0, 2 * np.maximum(theta, 1 - theta) / rows)
    first, second = panel.forecasts.values()
    return change * (not np.array_equal(first, second))
