"""Simulation of outcomes under a hypothesis, for resampled bands and tests.

Draws need no sort by forecast: the forecasts are in order already, so events are counted at each of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from scorereport._utils.arrays import CountArray, FloatArray, IntArray
from scorereport._utils.machine import MOST_ROWS_TOGETHER, call_in_order
from scorereport._utils.progress import report_progress
from scorereport.reliability.blocks import Blocks
from scorereport.reliability.draws import EventChances, Redraws, draw_places
from scorereport.reliability.outcome_weights import OutcomeWeights, weigh_outcomes
from scorereport.reliability.sampling import random_stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from scorereport._utils.checks import CheckedCases

_T = TypeVar("_T")

#: With more cases per distinct forecast than this, counts are drawn rather than cases.
MANY_TIES = 8
#: A difference of sums that is smaller than this, relative to the sums, is a rounding error.
_ROUNDING = 1e-12
#: Random numbers of a chunk of samples: few enough for the cache of a processor.
_CHUNK = 1 << 16
#: The most samples of a chunk: whole chunks are drawn, even if fewer samples are wanted.
_MOST_SAMPLES = 250


@dataclass(frozen=True, kw_only=True, eq=False)
class Simulation(ABC):
    """Distinct forecasts, or cells of them, with the probability of an event at each under a hypothesis."""

    distinct: Blocks
    probability: FloatArray

    @property
    def keeps_counts(self) -> bool:
        """Whether each distinct forecast keeps its weight in draws: if weights do not depend on outcomes."""
        return True

    @property
    def counts(self) -> CountArray:
        """How many cases, or rows with sampling weights, each entry has."""
        return self.distinct.n

    @property
    def numbers(self) -> int:
        """How many random numbers a sample takes, about."""
        return len(self.distinct)

    @property
    def samples_of_a_chunk(self) -> int:
        """How many samples are drawn at a time."""
        return min(max(_CHUNK // self.numbers, 1), _MOST_SAMPLES)

    @abstractmethod
    def redraw_outcomes(self, rng: np.random.Generator, samples: int = 1) -> Redraws:
        """Keep the forecasts and draw outcomes."""

    @abstractmethod
    def redraw_cases(self, rng: np.random.Generator, samples: int = 1) -> Redraws:
        """Draw cases with replacement, as many as there were, and their outcomes."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CaseSimulation(Simulation):
    """Few ties: one random number for each case."""

    @property
    def numbers(self) -> int:
        """One for each case, or row."""
        return self._n

    @property
    def _has_ties(self) -> bool:
        return len(self.distinct) < self._n

    @cached_property
    def _n(self) -> int:
        return int(self.distinct.n.sum())

    @cached_property
    def _forecast(self) -> NDArray[np.intp]:
        """The distinct forecast of each case."""
        return np.repeat(np.arange(len(self.distinct)), self.distinct.n.astype(np.int64))

    @cached_property
    def _first_cases(self) -> NDArray[np.intp]:
        """The first case of each distinct forecast."""
        n = self.distinct.n.astype(np.intp)
        return np.cumsum(n) - n

    @cached_property
    def _chances(self) -> EventChances:
        return EventChances.of(self.probability[self._forecast] if self._has_ties else self.probability)

    def redraw_outcomes(self, rng: np.random.Generator, samples: int = 1) -> Redraws:
        """Keep the forecasts and draw outcomes."""
        happens = self._chances.draw_all(rng, samples)
        if not self._has_ties:
            return Redraws(None, happens)
        return Redraws(self.distinct.n, np.add.reduceat(happens, self._first_cases, axis=1, dtype=np.int32))

    def redraw_cases(self, rng: np.random.Generator, samples: int = 1) -> Redraws:
        """Draw cases and outcomes, and count both outcomes of each forecast."""
        case = draw_places(rng, self._n, samples * self._n)
        is_event = self._chances.draw(rng, case)
        kind = self._forecast.take(case) if self._has_ties else case
        kind *= 2
        kind += is_event
        size = 2 * len(self.distinct)
        kind.reshape(samples, self._n)[:] += size * np.arange(samples)[:, None]
        others, events = np.moveaxis(
            np.bincount(kind, minlength=samples * size).reshape(samples, -1, 2), 2, 0
        )
        return Redraws(others + events, events)


@dataclass(frozen=True, kw_only=True, eq=False)
class _CountSimulation(Simulation):
    """Many ties: one binomial count for each distinct forecast."""

    def redraw_outcomes(self, rng: np.random.Generator, samples: int = 1) -> Redraws:
        """Keep the forecasts and draw outcomes."""
        n = self.distinct.n.astype(np.int64)
        return Redraws(n, rng.binomial(n, self.probability, (samples, len(n))))

    def redraw_cases(self, rng: np.random.Generator, samples: int = 1) -> Redraws:
        """Draw cases with replacement, and their outcomes."""
        total = int(self.distinct.n.sum())
        n = rng.multinomial(total, self.distinct.n / total, samples)
        return Redraws(n, rng.binomial(n, self.probability))


@dataclass(frozen=True, kw_only=True, eq=False)
class _RowSimulation(Simulation):
    """Rows that carry sampling weights, or that belong to clusters.

    A row with a sampling weight has the probability of an event of a sampled row under the
    hypothesis, and the weight that belongs to the outcome drawn. Rows of a cluster depend on each other:
    with probability √ρ a row takes the random number of its cluster instead of its own, so that two rows
    have the covariance ρ (min(p, q) - p q) and each row keeps its probability.
    """

    forecast: IntArray  # which distinct forecast each row has
    weights: OutcomeWeights | None
    cluster: IntArray | None
    correlation: float

    @property
    def keeps_counts(self) -> bool:
        """Whether the weights of rows do not depend on outcomes."""
        return self.weights is None or self.weights.are_fixed

    @property
    def numbers(self) -> int:
        """One for each case, or row."""
        return len(self.forecast)

    def redraw_outcomes(self, rng: np.random.Generator, samples: int = 1) -> Redraws:
        """Keep the forecasts and draw outcomes."""
        rows = np.arange(len(self.forecast))
        if self.weights is None or len(self.distinct) < len(rows):
            drawn = [self._count(rows, self._outcomes(rng, rows, self.cluster)) for _ in range(samples)]
            return _stack(drawn)
        # without ties every row is a forecast of its own
        happens = np.array([self._outcomes(rng, rows, self.cluster) for _ in range(samples)])
        n = self.weights.of_event if self.weights.are_fixed else self.weights.draw(rows, happens)
        return Redraws(n, np.where(happens, self.weights.of_event, 0.0))

    def redraw_cases(self, rng: np.random.Generator, samples: int = 1) -> Redraws:
        """Draw cases with replacement, and their outcomes."""
        return _stack([self._redraw_sample(rng) for _ in range(samples)])

    def _redraw_sample(self, rng: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any]]:
        rows, cluster = self._redraw_rows(rng)
        return self._count(rows, self._outcomes(rng, rows, cluster))

    def _redraw_rows(self, rng: np.random.Generator) -> tuple[IntArray, IntArray | None]:
        """Rows drawn, or the rows of clusters drawn; a cluster drawn twice becomes two clusters."""
        if self.cluster is None:
            return rng.integers(0, len(self.forecast), len(self.forecast)), None
        size, by_cluster = self._members
        drawn = rng.integers(0, len(size), len(size))
        first = (np.cumsum(size) - size)[drawn]
        copy = np.repeat(np.arange(len(drawn)), size[drawn])
        place = np.arange(len(copy)) - np.repeat(np.cumsum(size[drawn]) - size[drawn], size[drawn])
        return by_cluster[first[copy] + place], copy

    @cached_property
    def _members(self) -> tuple[IntArray, IntArray]:
        return np.bincount(self.cluster), np.argsort(self.cluster, kind="stable")  # type: ignore[arg-type]

    def _outcomes(
        self, rng: np.random.Generator, rows: IntArray, cluster: IntArray | None
    ) -> NDArray[np.bool_]:
        chance = rng.random(len(rows))
        if cluster is not None and self.correlation > 0:
            shared = rng.random(int(cluster.max()) + 1)[cluster]
            chance = np.where(rng.random(len(rows)) < np.sqrt(self.correlation), shared, chance)
        return chance < self._probability_of_rows[rows]

    @cached_property
    def _probability_of_rows(self) -> FloatArray:
        probability = self.probability[self.forecast]
        return probability if self.weights is None else self.weights.share_of_events(probability)

    def _count(self, rows: IntArray, happens: NDArray[np.bool_]) -> tuple[NDArray[Any], NDArray[Any]]:
        forecast, size = self.forecast[rows], len(self.distinct)
        weight = np.ones(len(rows)) if self.weights is None else self.weights.draw(rows, happens)
        n = np.bincount(forecast, weights=weight, minlength=size)
        # the same order of summation: if all are events, n and events are equal to the last bit
        return n, np.bincount(forecast, weights=np.where(happens, weight, 0.0), minlength=size)


def _stack(drawn: list[tuple[NDArray[Any], NDArray[Any]]]) -> Redraws:
    """One table for the cases and one for the events of several samples."""
    n, events = (np.array(part) for part in zip(*drawn, strict=True))
    return Redraws(n, events)


def draw_chunks(
    simulation: Simulation,
    reduce: Callable[[Redraws], _T],
    numbers: range,
    *,
    seed: int,
    what: str,
    redraw_cases: bool = False,
) -> Iterator[_T]:
    """Draw the samples of these numbers in chunks, and yield what each chunk is reduced to.

    A chunk has its own random numbers, whichever of its samples are wanted: a sample depends on its number
    only, not on how many are drawn, nor on threads.
    """
    size = simulation.samples_of_a_chunk
    draw = simulation.redraw_cases if redraw_cases else simulation.redraw_outcomes
    first = numbers.start // size

    def reduce_chunk(place: int) -> _T:
        start = (first + place) * size
        drawn = draw(random_stream(seed, first + place), size)
        wanted = slice(max(numbers.start - start, 0), min(numbers.stop - start, size))
        return reduce(drawn.select(wanted))

    chunks = -(-numbers.stop // size) - first
    rows = size * simulation.numbers
    done = (
        map(reduce_chunk, range(chunks))  # each takes much memory
        if rows > MOST_ROWS_TOGETHER
        else call_in_order(reduce_chunk, chunks, rows=rows)
    )
    for place, result in enumerate(done, start=1):
        yield result
        report_progress(
            what, min((first + place) * size, numbers.stop) - numbers.start, len(numbers), unit="resamples"
        )


def make_simulation(
    cases: CheckedCases,
    distinct: Blocks,
    probability: FloatArray,
    cluster: IntArray | None,
    correlation: float = 0.0,
    *,
    by_count: bool,
) -> Simulation:
    """Make the simulation of a sample: by case, by count, or by row if rows have weights or clusters."""
    if by_count:
        return simulate_counts(distinct, probability)
    return _RowSimulation(
        distinct=distinct,
        probability=probability,
        forecast=np.searchsorted(distinct.x_min, cases.y_prob).astype(np.int64),
        weights=None if cases.weight is None else weigh_outcomes(cases),
        cluster=cluster,
        correlation=correlation,
    )


def simulate_counts(distinct: Blocks, probability: FloatArray) -> Simulation:
    """Make the simulation of independent cases: by count if forecasts have many ties, else by case."""
    many_ties = distinct.n.sum() > MANY_TIES * len(distinct)
    kind = _CountSimulation if many_ties else CaseSimulation
    return kind(distinct=distinct, probability=probability)


def cluster_correlation(residual: FloatArray, probability: FloatArray, cluster: IntArray) -> float:
    """Estimate ρ, which gives pairs of rows of a cluster the covariance of their residuals; at least 0.

    It is Σ r s over Σ (min(p, q) - p q), summed over all pairs without enumerating them: among k ascending
    probabilities the smallest is the minimum of k - 1 pairs, the next of k - 2, and so on.
    """
    order = np.lexsort((probability, cluster))
    p, group = probability[order], cluster[order]
    size = np.bincount(group)
    later = np.cumsum(size)[group] - 1 - np.arange(len(group))
    minima = (p * later).sum()
    products = ((np.bincount(group, weights=p)) ** 2 - np.bincount(group, weights=p**2)).sum() / 2
    covariance = (np.bincount(cluster, weights=residual) ** 2).sum() - (residual**2).sum()
    possible = 2 * (minima - products)
    return float(np.clip(covariance / possible, 0.0, 1.0)) if possible > _ROUNDING * minima else 0.0
