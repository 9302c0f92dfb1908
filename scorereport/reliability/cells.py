"""Cells of neighbouring forecasts, in which samples of many cases are drawn.

The blocks of an isotonic fit hold many cases, but those at both ends may be single cases. Cells are therefore
single forecasts at the ends and grow towards the middle. They depend on the forecasts alone and never split a
tie. Fitted curves hardly change: at 20,000 and at 100,000 cases, their spread at any forecast is within 3 %
of that of fits to single cases. The mean score of a fit does change, by some percent of its overfit: where it
is compared, both sides must be computed in cells. The overfit itself is drawn in much smaller cells, and
extrapolated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, pdtr

from scorereport._utils.arrays import read_only
from scorereport.reliability.blocks import Blocks, merge_between
from scorereport.reliability.draws import Redraws, draw_bits
from scorereport.reliability.simulation import Simulation

if TYPE_CHECKING:
    from collections.abc import Callable

    from scorereport._utils.arrays import CountArray, FloatArray

#: Counts of a smaller variance are drawn from their distribution, others by their first three moments.
_LEAST_VARIANCE = 4.0
#: Counts of a smaller mean are rare; probabilities below this, times 2^16, are neglected in their tails.
_RARE = 0.5
_NEGLIGIBLE = 1e-3


class CellSize(NamedTuple):
    """How large cells are.

    A cell holds at most one of `parts` of all cases, and one of `growth` parts of those between it and the
    nearer end.
    """

    parts: int = 512
    growth: int = 50


USUAL_SIZE = CellSize()


def make_cells(distinct: Blocks, size: CellSize = USUAL_SIZE) -> Blocks:
    """Merge distinct forecasts into cells; few forecasts stay as they are."""
    return merge_between(distinct, find_cells(distinct.n, size)[1:])


def find_cells(counts: CountArray, size: CellSize) -> NDArray[np.intp]:
    """Return the first distinct forecast, or the first of smaller cells, of each cell.

    `counts` are the cases of each, or its rows with sampling weights.
    """
    before = np.cumsum(counts) - counts
    # cells are few: forecasts are not searched
    first = np.unique(np.searchsorted(before, cell_starts(int(counts.sum()), size)))
    return first[first < len(before)]


@lru_cache(maxsize=64)
def cell_starts(total: int, size: CellSize = USUAL_SIZE) -> NDArray[np.int64]:
    """Return the number of cases before each cell, from both ends to the middle; in whole numbers, so exact.

    >>> cell_starts(6)
    array([0, 1, 2, 4, 5])
    """
    largest, start = max(total // size.parts, 1), 0
    starts = []
    while start < (total + 1) // 2:
        starts.append(start)
        start += max(1, min(largest, start // size.growth))
    from_left = np.array(starts, dtype=np.int64)
    return read_only(np.union1d(from_left, total - from_left[1:]))


def average_in_cells(cells: Blocks, distinct: Blocks, values: FloatArray) -> FloatArray:
    """Return the mean over the cases of each cell of a value of each distinct forecast."""
    first = np.searchsorted(distinct.x_min, cells.x_min)
    mean: FloatArray = np.add.reduceat(values * distinct.n, first) / cells.n
    return np.clip(mean, 0.0, 1.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class CellSimulation(Simulation):
    """Cells of cases: counts of events, drawn by their first three moments where these are enough.

    Numbers of cases redrawn are independent from cell to cell: their sum varies, which does not change the
    distribution of a curve noticeably.
    """

    def redraw_outcomes(self, rng: np.random.Generator, samples: int = 1) -> Redraws:
        """Keep the forecasts and draw outcomes."""
        return Redraws(self.distinct.n, self._outcomes.draw(rng, samples))

    def redraw_cases(self, rng: np.random.Generator, samples: int = 1) -> Redraws:
        """Draw events and non-events, each as many as there are in the mean."""
        events, others = (counts.draw(rng, samples) for counts in self._cases)
        return Redraws(events + others, events)

    @cached_property
    def _outcomes(self) -> Counts:
        return _binomial_counts(self.distinct.n, self.probability)

    @cached_property
    def _cases(self) -> tuple[Counts, Counts]:
        n, p = self.distinct.n, self.probability
        return poisson_counts(n * p), poisson_counts(n * (1 - p))


class BentNormal(NamedTuple):
    """Normal numbers z, bent to a skewness by Cornish and Fisher: `constant` + `slope` z + `bend` z²."""

    constant: FloatArray
    slope: FloatArray
    bend: FloatArray

    @classmethod
    def of(cls, mean: FloatArray, variance: FloatArray, third: FloatArray) -> BentNormal:
        """Make the numbers with these means, variances and third central moments."""
        deviation = np.sqrt(variance)
        skew = third / deviation**3 / 6
        slope = deviation / np.sqrt(1 + 2 * skew**2)
        bend = skew * slope
        return cls(mean - bend, slope, bend)

    def draw(self, rng: np.random.Generator, samples: int) -> FloatArray:
        """Draw the numbers, a row for each sample."""
        z = rng.standard_normal((samples, len(self.slope)))
        numbers = self.bend * z
        numbers += self.slope
        numbers *= z
        numbers += self.constant
        return numbers


class _ManyCounts(NamedTuple):
    """Large counts, of normal numbers that are bent and rounded, from 0 to `most`.

    Rounding adds a twelfth to the variance (Sheppard), which is subtracted first.
    """

    places: NDArray[np.intp]
    numbers: BentNormal
    most: FloatArray

    @classmethod
    def of(
        cls,
        places: NDArray[np.intp],
        mean: FloatArray,
        variance: FloatArray,
        third: FloatArray,
        most: FloatArray,
    ) -> _ManyCounts:
        """Make the counts at some places, from the first three moments and the largest value of all."""
        numbers = BentNormal.of(mean[places], variance[places] - 1 / 12, third[places])
        return cls(places, numbers, most[places])

    def draw(self, rng: np.random.Generator, samples: int) -> FloatArray:
        """Draw the counts, a row for each sample."""
        counts = self.numbers.draw(rng, samples)
        np.rint(counts, out=counts)
        return np.clip(counts, 0.0, self.most, out=counts)


class _FewCounts(NamedTuple):
    """Small counts: how many values of the distribution function, times 2^16, a random number exceeds."""

    places: NDArray[np.intp]
    steps: FloatArray  # a row for each count from 0, a column for each place

    def draw(self, rng: np.random.Generator, samples: int) -> NDArray[np.uint8]:
        """Draw the counts, a row for each sample.

        Of 16 bits, steps are rounded at random: this makes the mean of each count exact.
        """
        rounded = np.floor(self.steps + rng.random(len(self.places))) - 1
        limits = np.clip(rounded, 0, 2**16 - 1).astype(np.uint16)
        bits = draw_bits(rng, samples * len(self.places), np.uint16).reshape(samples, -1)
        counts = np.zeros(bits.shape, dtype=np.uint8)
        for limit in limits:
            counts += bits > limit
        return counts


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Independent counts, small and large; those of `mirrored` cells are counted from the most down.

    Parts are drawn side by side, and then put into the `order` of the cells in one step.
    """

    parts: Sequence[_FewCounts | _ManyCounts]
    order: NDArray[np.intp]
    mirrored: NDArray[np.bool_] | None = None
    most: NDArray[np.int64] | None = None

    @classmethod
    def of(
        cls,
        parts: Sequence[_FewCounts | _ManyCounts],
        mirrored: NDArray[np.bool_] | None = None,
        most: NDArray[np.int64] | None = None,
    ) -> Counts:
        """Make counts of parts that together have every cell once."""
        return cls(parts, np.argsort(np.concatenate([part.places for part in parts])), mirrored, most)

    def draw(self, rng: np.random.Generator, samples: int) -> NDArray[np.int64]:
        """Draw the counts, a row for each sample."""
        drawn, start = np.empty((samples, len(self.order)), dtype=np.int64), 0
        for part in self.parts:
            end = start + len(part.places)
            drawn[:, start:end] = part.draw(rng, samples)
            start = end
        counts = drawn.take(self.order, axis=1)
        if self.mirrored is not None and self.most is not None:
            np.subtract(self.most, counts, out=counts, where=self.mirrored)
        return counts


def _binomial_counts(n: CountArray, probability: FloatArray) -> Counts:
    """Counts of events among n cases; events more likely than not are drawn as non-events."""
    is_likely = probability > 0.5
    p = np.where(is_likely, 1 - probability, probability)
    most, whole = n.astype(np.float64), n.astype(np.int64)
    variance = most * p * (1 - p)
    places = np.flatnonzero(variance >= _LEAST_VARIANCE)
    many = _ManyCounts.of(places, most * p, variance, variance * (1 - 2 * p), most)
    few = _tabulate(
        most * p,
        variance < _LEAST_VARIANCE,
        lambda k, at: np.where(k < whole[at], bdtr(np.minimum(k, whole[at]), whole[at], p[at]), 1.0),
    )
    return Counts.of([*few, many], is_likely, whole)


def poisson_counts(mean: FloatArray) -> Counts:
    """Make independent Poisson counts, with small means exact, and others by their first three moments."""
    places = np.flatnonzero(mean >= _LEAST_VARIANCE)
    many = _ManyCounts.of(places, mean, mean, mean, np.full(len(mean), np.inf))
    return Counts.of([*_tabulate(mean, mean < _LEAST_VARIANCE, lambda k, at: pdtr(k, mean[at])), many])


def _tabulate(
    mean: FloatArray, chosen: NDArray[np.bool_], distribution: Callable[[int, NDArray[np.intp]], FloatArray]
) -> list[_FewCounts]:
    """Tabulate distribution functions: those of rare counts apart, which take few steps."""
    groups = [np.flatnonzero(chosen & (mean < _RARE)), np.flatnonzero(chosen & (mean >= _RARE))]
    return [_FewCounts(places, _list_steps(places, distribution)) for places in groups if len(places)]


def _list_steps(
    places: NDArray[np.intp], distribution: Callable[[int, NDArray[np.intp]], FloatArray]
) -> FloatArray:
    steps: list[FloatArray] = []
    while not steps or (steps[-1] < 2**16 - _NEGLIGIBLE).any():
        steps.append(2**16 * distribution(len(steps), places))
    return np.array(steps)
