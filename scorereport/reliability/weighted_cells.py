"""Cells of neighbouring forecasts of rows with sampling weights, in which samples are drawn.

All rows of a cell have the same probability of an event, and the same ratio of the weights of both outcomes.
The weight of the events of a cell is a sum over its rows. Of many rows it is drawn by its first three
moments; of few, the outcome of each row is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorereport._utils.arrays import CountArray, FloatArray
from scorereport.reliability.cells import BentNormal
from scorereport.reliability.draws import EventChances, Redraws
from scorereport.reliability.outcome_weights import OutcomeWeights
from scorereport.reliability.simulation import Simulation

if TYPE_CHECKING:
    from collections.abc import Callable

#: Sums are drawn by their moments if these make them as symmetric as a count of this variance.
_LEAST_VARIANCE = 4.0
#: A sum that differs by less from 0, or from the sum of all rows of a cell, is equal to it.
_ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class WeightedCellSimulation(Simulation):
    """Cells of independent rows with sampling weights; `counts` are the rows of each cell.

    Numbers of rows redrawn are independent from cell to cell, as in cells of cases.
    """

    rows: CountArray
    weights: OutcomeWeights

    @property
    def counts(self) -> CountArray:
        """The rows of each cell."""
        return self.rows

    @property
    def keeps_counts(self) -> bool:
        """Whether the weights of rows do not depend on outcomes."""
        return self.weights.are_fixed

    @property
    def numbers(self) -> int:
        """One for each cell, and those of the rows of small cells."""
        return len(self.distinct) + self._outcomes.small.numbers

    def redraw_outcomes(self, rng: np.random.Generator, samples: int = 1) -> Redraws:
        """Keep the forecasts and draw outcomes."""
        if self.keeps_counts:
            return Redraws(self.distinct.n, _snap(self._outcomes.draw(rng, samples), self.distinct.n))
        most = self._of_events.total
        events = _snap(self._outcomes.draw(rng, samples), most)
        return Redraws(events + (most - events) / self._ratio, events)

    def redraw_cases(self, rng: np.random.Generator, samples: int = 1) -> Redraws:
        """Draw events and non-events, of as many rows as there are in the mean."""
        events, others = (sums.draw(rng, samples) for sums in self._cases)
        return Redraws(events + others, events)

    @cached_property
    def _first(self) -> NDArray[np.intp]:
        """The first row of each cell."""
        rows = self.rows.astype(np.intp)
        return np.cumsum(rows) - rows

    @cached_property
    def _ratio(self) -> FloatArray:
        """The weight of an event over that of a non-event, in each cell."""
        return self.weights.ratio[self._first]

    @cached_property
    def _chance(self) -> FloatArray:
        """The probability of an event in a sampled row of each cell."""
        p, ratio = self.probability, self._ratio
        return np.where(ratio == 1, p, p / (p + (1 - p) * ratio))

    @cached_property
    def _of_events(self) -> _CellWeights:
        return _CellWeights.of(self.weights.of_event, self.rows, self._first)

    @cached_property
    def _outcomes(self) -> _Sums:
        return _Sums.of_outcomes(self._of_events, self._chance)

    @cached_property
    def _cases(self) -> tuple[_Sums, _Sums]:
        others = _CellWeights.of(self.weights.of_other, self.rows, self._first)
        return _Sums.of_redrawn(self._of_events, self._chance), _Sums.of_redrawn(others, 1 - self._chance)


def _snap(sums: FloatArray, most: CountArray) -> FloatArray:
    """Sums as 0, or as the sum of all rows of a cell, where only rounding errors make a difference."""
    sums[sums <= _ROUNDING * most] = 0.0
    return np.where(sums >= most * (1 - _ROUNDING), most, sums)


class _CellWeights(NamedTuple):
    """Weights of ordered rows with one outcome, the rows of each cell, and sums of powers over them."""

    weight: FloatArray
    rows: CountArray
    first: NDArray[np.intp]
    total: FloatArray
    square: FloatArray
    cube: FloatArray

    @classmethod
    def of(cls, weight: FloatArray, rows: CountArray, first: NDArray[np.intp]) -> _CellWeights:
        """Sum the weights of the rows of each cell, and their squares and cubes."""
        total, square, cube = (np.add.reduceat(weight**power, first) for power in (1.0, 2.0, 3.0))
        return cls(weight, rows, first, total, square, cube)


class _DrawnOutcomes(NamedTuple):
    """Cells of few events, or of events whose weights differ much: the outcome of each row is drawn."""

    places: NDArray[np.intp]
    chances: EventChances
    weight: FloatArray
    first: NDArray[np.intp]

    @classmethod
    def of(cls, places: NDArray[np.intp], weights: _CellWeights, chance: FloatArray) -> _DrawnOutcomes:
        """The rows of the cells at these places, which are events with these probabilities."""
        size = weights.rows[places].astype(np.intp)
        first = np.cumsum(size) - size
        rows = np.arange(size.sum()) + np.repeat(weights.first[places] - first, size)
        chances = EventChances.of(np.repeat(chance[places], size))
        return cls(places, chances, weights.weight[rows], first)

    @property
    def numbers(self) -> int:
        """How many random numbers a sample takes: 16 bits for each row."""
        return len(self.weight) // 4

    def draw(self, rng: np.random.Generator, samples: int) -> FloatArray:
        """Draw outcomes and sum the weights of events, a row of the table for each sample."""
        of_events = np.where(self.chances.draw_all(rng, samples), self.weight, 0.0)
        return np.add.reduceat(of_events, self.first, axis=1)


class _DrawnRows(NamedTuple):
    """Such cells, of which rows are redrawn: `expected` is the mean number of rows of each."""

    places: NDArray[np.intp]
    expected: FloatArray
    weights: _CellWeights

    @classmethod
    def of(cls, places: NDArray[np.intp], weights: _CellWeights, chance: FloatArray) -> _DrawnRows:
        """The rows of the cells at these places, each of which is drawn this often in the mean."""
        return cls(places, chance[places] * weights.rows[places], weights)

    @property
    def numbers(self) -> int:
        """How many random numbers a sample takes in the mean."""
        return int(self.expected.sum())

    def draw(self, rng: np.random.Generator, samples: int) -> FloatArray:
        """Draw rows and sum their weights, a row of the table for each sample."""
        times = rng.poisson(self.expected, (samples, len(self.places)))
        where = np.repeat(np.arange(times.size), times.ravel())
        cell = self.places[where % max(len(self.places), 1)]
        row = self.weights.first[cell] + (rng.random(len(cell)) * self.weights.rows[cell]).astype(np.intp)
        sums = np.bincount(where, self.weights.weight[row], times.size)
        return sums.astype(np.float64, copy=False).reshape(times.shape)


@dataclass(frozen=True, slots=True, eq=False)
class _Sums:
    """Independent sums of weights, of small and of large cells, and the `order` that these are put into."""

    small: _DrawnOutcomes | _DrawnRows
    large: BentNormal
    most: FloatArray
    order: NDArray[np.intp]

    @classmethod
    def of_outcomes(cls, weights: _CellWeights, chance: FloatArray) -> _Sums:
        """The sums over rows that are events with these probabilities."""
        spread = chance * (1 - chance)
        return cls._of(weights, chance, spread, 1 - 2 * chance, _DrawnOutcomes.of, weights.total)

    @classmethod
    def of_redrawn(cls, weights: _CellWeights, chance: FloatArray) -> _Sums:
        """The sums over rows that are redrawn this often in the mean."""
        without_end = np.full(len(chance), np.inf)
        return cls._of(weights, chance, chance, np.ones(len(chance)), _DrawnRows.of, without_end)

    @classmethod
    def _of(
        cls,
        weights: _CellWeights,
        mean: FloatArray,
        spread: FloatArray,
        skew: FloatArray,
        draw_few: Callable[[NDArray[np.intp], _CellWeights, FloatArray], _DrawnOutcomes | _DrawnRows],
        most: FloatArray,
    ) -> _Sums:
        """`mean`, `spread` and `spread` times `skew` are the first three moments of one row of weight 1."""
        variance, third = weights.square * spread, weights.cube * spread
        is_large = (variance > 0) & (variance >= np.cbrt(_LEAST_VARIANCE) * np.cbrt(third) ** 2)
        small, large = np.flatnonzero(~is_large), np.flatnonzero(is_large)
        return cls(
            draw_few(small, weights, mean),
            BentNormal.of((weights.total * mean)[large], variance[large], (third * skew)[large]),
            most[large],
            np.argsort(np.concatenate([small, large])),
        )

    def draw(self, rng: np.random.Generator, samples: int) -> FloatArray:
        """Draw the sums, a row for each sample."""
        large = np.clip(self.large.draw(rng, samples), 0.0, self.most)
        return np.concatenate([self.small.draw(rng, samples), large], axis=1).take(self.order, axis=1)
