"""Outcomes drawn under a hypothesis and fitted again: the engine of resampled bands and tests.

No draw is ever sorted by forecast: the forecasts are in order already, so that positions among
them can be drawn, with the outcome in the lowest bit of an integer where ties need an order too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from scorereport.arrays import CountArray, FloatArray, IntArray
from scorereport.reliability.blocks import (
    Blocks,
    Sums,
    isotonic_edges,
    isotonic_starts,
    lasts_of,
    starts_of,
    sum_between,
    sums_of_outcomes,
)

if TYPE_CHECKING:
    from scorereport.checks import Cases

_Bits = TypeVar("_Bits", bound=np.unsignedinteger[Any])

#: With more cases per distinct forecast than this, counts are drawn rather than cases.
_MANY_TIES = 8
#: Distinct forecasts that are drawn together: 2^15, as a bit of 16 is for the outcome.
_BITS = 15
#: With more runs of equal outcomes than this, pooling in whole numbers beats scipy's.
_LONG = 20_000
_LARGEST_INT32 = np.iinfo(np.int32).max
#: A difference of sums this much smaller than they are is rounding.
_ROUNDING = 1e-12


class Redraw(NamedTuple):
    """A sample drawn under the hypothesis: entries in canonical order, with their number of cases.

    `position` tells which distinct forecast each entry belongs to, None that there is one entry for
    each; `n` is None if each entry is one case.
    """

    position: NDArray[np.integer] | None
    n: CountArray | None
    events: NDArray[Any]

    def fit(self) -> Refit:
        """Isotonic regression of the entries."""
        return self._fit_cases() if self.n is None else self._fit_counts(self.n)

    def _fit_cases(self) -> Refit:
        sums = sums_of_outcomes(self.events)
        edges, events = sums.at(isotonic_edges(sums) if len(sums.n) > _LONG else _edges_in_floats(sums))
        return Refit(start=edges[:-1], last=edges[1:] - 1, n=np.diff(edges), events=np.diff(events))

    def _fit_counts(self, counts: CountArray) -> Refit:
        """Entries are summed up to where event rates may rise: non-events before, events after."""
        cuts = np.flatnonzero((self.events[1:] > 0) & (self.events[:-1] < counts[:-1])) + 1
        start, n, events = starts_of(cuts), sum_between(counts, cuts), sum_between(self.events, cuts)
        block = isotonic_starts(n, events)
        return Refit(
            start=start[block],
            last=lasts_of(start[block[1:]], len(self.events)),
            n=np.add.reduceat(n, block),
            events=np.add.reduceat(events, block),
        )


def _edges_in_floats(sums: Sums) -> NDArray[np.intp]:
    """Edges of blocks by scipy alone: neighbours of equal means, which it may leave apart, harm no curve."""
    n = np.diff(sums.n)
    return np.append(isotonic_starts(n, np.diff(sums.events)), len(n))


class Refit(NamedTuple):
    """The blocks of a redrawn sample: their first and last entry, cases and events."""

    start: NDArray[np.integer]
    last: NDArray[np.integer]
    n: NDArray[Any]
    events: NDArray[Any]

    @property
    def mean(self) -> FloatArray:
        """Recalibrated probability of each block."""
        return self.events / self.n

    def at_entries(self, entries: NDArray[np.intp]) -> FloatArray:
        """The fit at some entries."""
        return self.mean[np.searchsorted(self.start, entries, side="right") - 1]

    def at(self, points: FloatArray, x: FloatArray, position: NDArray[np.integer] | None) -> FloatArray:
        """The fit at forecasts: straight between blocks, NaN beyond the forecasts drawn."""
        edges = np.empty(2 * len(self.start), dtype=np.intp)
        edges[0::2], edges[1::2] = self.start, self.last
        corners = x[edges if position is None else position[edges]]
        return np.interp(points, corners, np.repeat(self.mean, 2), left=np.nan, right=np.nan)


@dataclass(frozen=True, kw_only=True, eq=False)
class Simulation(ABC):
    """Distinct forecasts with the probability that a hypothesis gives to an event at each."""

    distinct: Blocks
    probability: FloatArray

    @abstractmethod
    def redraw_outcomes(self, rng: np.random.Generator) -> Redraw:
        """Keep the forecasts and draw outcomes: one entry for each distinct forecast."""

    @abstractmethod
    def redraw_cases(self, rng: np.random.Generator) -> Redraw:
        """Draw cases with replacement, as many as there were, and their outcomes."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _CaseSimulation(Simulation):
    """Few ties: one random number for each case."""

    @property
    def _has_ties(self) -> bool:
        return len(self.distinct) < self._n

    @cached_property
    def _probability_of_case(self) -> FloatArray:
        if not self._has_ties:
            return self.probability
        return np.repeat(self.probability, self.distinct.n.astype(np.int64))

    @cached_property
    def _n(self) -> int:
        return int(self.distinct.n.sum())

    @cached_property
    def _chances(self) -> _Chances:
        return _Chances.of(self._probability_of_case)

    def redraw_outcomes(self, rng: np.random.Generator) -> Redraw:
        happens = self._chances.draw(rng)
        if not self._has_ties:
            return Redraw(None, None, happens)
        return Redraw(None, self._ties.n, self._ties.count(happens))

    @cached_property
    def _ties(self) -> _Ties:
        return _Ties.of(self.distinct.n)

    def redraw_cases(self, rng: np.random.Generator) -> Redraw:
        """Draw how many cases each piece gets, and then, piece by piece, which."""
        position, happens = np.empty(self._n, dtype=np.uint32), np.empty(self._n, dtype=np.bool_)
        end = 0
        for piece, size in zip(self._pieces, rng.multinomial(self._n, self._shares).tolist(), strict=True):
            start, end = end, end + size
            key = piece.draw(rng, size)
            np.equal(key & 1, 0, out=happens[start:end])
            key >>= 1
            np.add(key, piece.first, out=position[start:end], dtype=np.uint32)
        return Redraw(position, None, happens)

    @cached_property
    def _pieces(self) -> list[_Piece]:
        firsts = range(0, len(self.distinct), 2**_BITS)
        return [_Piece.of(first, self.distinct.n, self.probability) for first in firsts]

    @cached_property
    def _shares(self) -> FloatArray:
        return np.array([piece.cases for piece in self._pieces]) / self._n


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Ties:
    """Which cases are the first with their forecast, and where the cases of each shared forecast lie."""

    n: NDArray[Any]
    is_first: NDArray[np.bool_]
    shared: NDArray[np.intp]
    edges: NDArray[np.intp]

    @classmethod
    def of(cls, n: CountArray) -> _Ties:
        """The ties of so many cases with each forecast."""
        start, shared = np.cumsum(n) - n, np.flatnonzero(n > 1)
        is_first = np.zeros(int(n.sum()), dtype=np.bool_)
        is_first[start] = True
        edges = np.column_stack([start[shared], start[shared] + n[shared]]).ravel()
        edges = edges[edges < len(is_first)].astype(np.intp)
        small = n.astype(np.int32) if len(is_first) <= _LARGEST_INT32 else n  # each draw sums it up
        return cls(n=small, is_first=is_first, shared=shared, edges=edges)

    def count(self, happens: NDArray[np.bool_]) -> NDArray[np.int32]:
        """Number of events with each forecast."""
        events = happens[self.is_first].astype(np.int32)
        events[self.shared] = np.add.reduceat(happens, self.edges, dtype=np.int32)[::2]
        return events


@dataclass(frozen=True, slots=True, eq=False)
class _Chances:
    """Probabilities of events, and how many of 2^16 patterns of bits are events for sure."""

    probability: FloatArray
    sure: NDArray[np.uint16]

    @classmethod
    def of(cls, probability: FloatArray) -> _Chances:
        """What is sure of each probability; a pattern is always left open, as 2^16 takes 17 bits."""
        scaled = np.ldexp(probability, 16)
        return cls(probability, np.minimum(scaled, 2**16 - 1, out=scaled).astype(np.uint16))

    def draw(self, rng: np.random.Generator, at: NDArray[np.uint16] | None = None) -> NDArray[np.bool_]:
        """Draw an outcome with each probability, or with those at some places.

        It takes 16 random bits and, where these leave it open, a random number more: the law is exact.
        """
        sure = self.sure if at is None else self.sure.take(at)
        bits = _draw_bits(rng, len(sure), np.uint16)
        happens, is_open = bits < sure, bits == sure
        if is_open.any():
            (places,) = is_open.nonzero()
            chance = np.ldexp(self.probability[places if at is None else at[places]], 16)
            happens[places] = rng.random(len(places)) < chance - sure[places]
        return happens


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Piece:
    """Neighbouring distinct forecasts, few enough for forecast and outcome to fit into 16 bits."""

    first: int  # distinct forecast
    cases: int
    forecast: NDArray[np.uint16] | None  # of each case, counted from the first; None where no cases tie
    chances: _Chances

    @classmethod
    def of(cls, first: int, n: CountArray, probability: FloatArray) -> _Piece:
        """The piece that begins with a distinct forecast."""
        part = slice(first, first + 2**_BITS)
        times = n[part].astype(np.int64)
        places, cases = np.arange(len(times), dtype=np.uint16), int(times.sum())
        return cls(
            first=first,
            cases=cases,
            forecast=None if cases == len(times) else np.repeat(places, times),
            chances=_Chances.of(probability[part]),
        )

    def draw(self, rng: np.random.Generator, size: int) -> NDArray[np.uint16]:
        """Draw cases and their outcomes: forecasts, with a lowest bit for non-events, in order."""
        forecast = self._draw_forecasts(rng, size)
        key = forecast << np.uint16(1)
        key |= ~self.chances.draw(rng, forecast)
        key.sort(kind="stable")  # of 16 bits: by radix, on any processor
        return key

    def _draw_forecasts(self, rng: np.random.Generator, size: int) -> NDArray[np.uint16]:
        """Draw forecasts by 15 random bits, or of another number by 32: no case's chance is off by 2^-32."""
        if self.forecast is None and self.cases == 2**_BITS:
            return _draw_bits(rng, size, np.uint16) >> np.uint16(16 - _BITS)
        case = _draw_bits(rng, size, np.uint32) * np.uint64(self.cases)
        case >>= 32
        return case.astype(np.uint16) if self.forecast is None else self.forecast.take(case.view(np.int64))


def _draw_bits(rng: np.random.Generator, size: int, dtype: type[_Bits]) -> NDArray[_Bits]:
    """Random bits as unsigned numbers, without the generator's detour by single numbers."""
    words = -(-size * np.dtype(dtype).itemsize // 8)
    return rng.bit_generator.random_raw(words).view(dtype)[:size]


@dataclass(frozen=True, kw_only=True, eq=False)
class _CountSimulation(Simulation):
    """Many ties: one binomial count for each distinct forecast."""

    def redraw_outcomes(self, rng: np.random.Generator) -> Redraw:
        n = self.distinct.n.astype(np.int64)
        return Redraw(None, n, rng.binomial(n, self.probability))

    def redraw_cases(self, rng: np.random.Generator) -> Redraw:
        total = int(self.distinct.n.sum())
        n = rng.multinomial(total, self.distinct.n / total)
        drawn = np.flatnonzero(n)
        return Redraw(drawn, n[drawn], rng.binomial(n[drawn], self.probability[drawn]))


@dataclass(frozen=True, kw_only=True, eq=False)
class _RowSimulation(Simulation):
    """Rows that carry fractional weights, or that belong to clusters.

    Rows of a cluster depend on each other: with probability √ρ a row takes the random number of its
    cluster instead of its own, so that two rows have the covariance ρ (min(p, q) - p q) and each row
    keeps its probability.
    """

    forecast: IntArray  # which distinct forecast each row has
    weight: FloatArray
    cluster: IntArray | None
    correlation: float

    def redraw_outcomes(self, rng: np.random.Generator) -> Redraw:
        rows = np.arange(len(self.forecast))
        n, events = self._count(rows, self._outcomes(rng, rows, self.cluster))
        return Redraw(None, n, events)

    def redraw_cases(self, rng: np.random.Generator) -> Redraw:
        rows, cluster = self._redraw_rows(rng)
        n, events = self._count(rows, self._outcomes(rng, rows, cluster))
        drawn = np.flatnonzero(n)
        return Redraw(drawn, n[drawn], events[drawn])

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
        return chance < self.probability[self.forecast[rows]]

    def _count(self, rows: IntArray, happens: NDArray[np.bool_]) -> tuple[NDArray[Any], NDArray[Any]]:
        forecast, weight, size = self.forecast[rows], self.weight[rows], len(self.distinct)
        n = np.bincount(forecast, weights=weight, minlength=size)
        # the same order of summation: where all happen, n and events are equal to the last bit
        return n, np.bincount(forecast, weights=np.where(happens, weight, 0.0), minlength=size)


def make_simulation(
    cases: Cases,
    distinct: Blocks,
    probability: FloatArray,
    cluster: IntArray | None,
    correlation: float = 0.0,
    *,
    by_count: bool,
) -> Simulation:
    """The simulation that fits the sample: by case, by count, or by row where rows are not alike."""
    if by_count:
        many_ties = distinct.n.sum() > _MANY_TIES * len(distinct)
        kind = _CountSimulation if many_ties else _CaseSimulation
        return kind(distinct=distinct, probability=probability)
    return _RowSimulation(
        distinct=distinct,
        probability=probability,
        forecast=np.searchsorted(distinct.x_min, cases.y_prob).astype(np.int64),
        weight=np.ones(len(cases.y_prob)) if cases.weight is None else cases.weight,
        cluster=cluster,
        correlation=correlation,
    )


def cluster_correlation(residual: FloatArray, probability: FloatArray, cluster: IntArray) -> float:
    """The ρ that gives pairs of rows of a cluster the covariance their residuals have; at least 0.

    Sums over all pairs of Σ r s over Σ (min(p, q) - p q), without visiting the pairs: of k ascending
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
