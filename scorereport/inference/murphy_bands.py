"""Differences of elementary scores at chosen costs: rows are counted by where their forecasts lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from scorereport._utils.arrays import FloatArray
from scorereport.inference.large_panels import row_chunks

if TYPE_CHECKING:
    from scorereport._utils.arrays import IntArray
    from scorereport.inference.panel import ForecastPanel


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MurphyCells:
    """Where the lower and the upper forecast of a row lie among the costs, for rows where that differs.

    The even cells are the gaps between costs, the odd ones the costs themselves. Rows are counted apart
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
        """The cells of each row on which the models differ."""
        first, second = (_cell(p, theta) for p in panel.forecasts.values())
        rows = np.flatnonzero(first != second)
        return cls._where_different(theta, rows, first[rows], second[rows], panel.outcome[rows] == 1)

    @classmethod
    def count_rows(cls, panel: ForecastPanel, theta: FloatArray) -> tuple[MurphyCells, IntArray]:
        """The cells of one row of each kind, and how many rows of it there are; last, of all that agree."""
        size, n = 2 * len(theta) + 1, len(panel.outcome)
        counts = np.zeros(2 * size**2, dtype=np.int64)
        for part in row_chunks(n):
            first, second = (_cell(p[part], theta) for p in panel.forecasts.values())
            kind = (first * size + second) * 2 + (panel.outcome[part] == 1)
            counts += np.bincount(kind, minlength=len(counts))
        pair, happened = np.divmod(np.flatnonzero(counts), 2)
        first, second = np.divmod(pair, size)
        differ = np.flatnonzero(first != second)
        n_of_kind = counts[np.flatnonzero(counts)[differ]]
        rows = np.arange(len(differ))
        cells = cls._where_different(theta, rows, first[differ], second[differ], happened[differ] == 1)
        return cells, np.append(n_of_kind, n - n_of_kind.sum())

    @classmethod
    def _where_different(
        cls,
        theta: FloatArray,
        rows: NDArray[np.intp],
        first: NDArray[np.intp],
        second: NDArray[np.intp],
        happened: NDArray[np.bool_],
    ) -> MurphyCells:
        table = (2 * (first > second) + happened) * (2 * len(theta) + 1)
        lower, upper = np.minimum(first, second), np.maximum(first, second)
        return cls(theta=theta, rows=rows, lower=table + lower, upper=table + upper)

    def count(self, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Weight of the lower and of the upper forecasts: by who is above, outcome and cell."""
        moved, shape = weight[self.rows], (2, 2, self.size)
        lower, upper = (
            np.bincount(cell, moved, 4 * self.size).astype(np.float64, copy=False).reshape(shape)
            for cell in (self.lower, self.upper)
        )
        return lower, upper


def _cell(forecast: FloatArray, theta: FloatArray) -> NDArray[np.intp]:
    return np.searchsorted(theta, forecast, side="left") + np.searchsorted(theta, forecast, side="right")


def average_differences(cells: MurphyCells, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and mean square of the differences of elementary scores at each cost, for any row weights.

    One pass over the rows and no sort; whole weights are counted without rounding.
    """
    lower, upper = cells.count(weight)
    total = weight.sum()
    return _sum_of_differences(cells.theta, lower, upper) / total, _sum_of_squares(
        cells.theta, lower, upper
    ) / total


def _sum_of_differences(t: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Sum of the differences: missed events below a cost, false alarms above it, and ties with it."""
    second_above, first_above = upper - lower
    others, events = first_above - second_above
    # both models have as many non-events: what the first has more of above a cost, it lacks up to it
    missed, quiet = np.cumsum(events)[:-1:2], np.cumsum(others)[1::2]
    return 2 * ((1 - t) * missed - t * quiet) + 2 * t * (1 - t) * (events + others)[1::2]


def _sum_of_squares(t: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Sum of squares: rows whose forecasts lie on both sides of a cost, and those with one forecast at it."""
    lower, upper = lower.sum(axis=0), upper.sum(axis=0)
    across = np.cumsum(lower, axis=1)[:, :-1:2] - np.cumsum(upper, axis=1)[:, 1::2]
    false_alarm, missed, tie = 2 * t, 2 * (1 - t), 2 * t * (1 - t)
    across_costs = across[0] * false_alarm**2 + across[1] * missed**2
    below_tie = upper[0, 1::2] * tie**2 + upper[1, 1::2] * (missed - tie) ** 2
    above_tie = lower[0, 1::2] * (false_alarm - tie) ** 2 + lower[1, 1::2] * tie**2
    return across_costs + below_tie + above_tie
