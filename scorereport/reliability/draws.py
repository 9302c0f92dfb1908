"""Random outcomes and cases drawn under a hypothesis, and their isotonic fits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from scorereport._utils.arrays import CountArray, FloatArray
from scorereport.reliability.blocks import (
    Sums,
    differences,
    edges_in_floats,
    isotonic_edges,
    lasts_of,
    runs_of_outcomes,
    starts_of,
    sum_between,
    sum_up,
)

_Bits = TypeVar("_Bits", bound=np.unsignedinteger[Any])

#: Bits for the distinct forecasts of a piece: one of 16 bits is for the outcome.
_BITS = 15
_LARGEST_INT32 = np.iinfo(np.int32).max
#: With more runs of equal outcomes than this, pooling in whole numbers is faster than scipy.
_LONG = 20_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ForecastTies:
    """Which cases are the first with their forecast, and the positions of the cases of shared forecasts."""

    n: NDArray[Any]
    is_first: NDArray[np.bool_]
    shared: NDArray[np.intp]
    edges: NDArray[np.intp]

    @classmethod
    def of(cls, n: CountArray) -> ForecastTies:
        """Make the ties from the number of cases with each forecast."""
        start, shared = np.cumsum(n) - n, np.flatnonzero(n > 1)
        is_first = np.zeros(int(n.sum()), dtype=np.bool_)
        is_first[start] = True
        edges = np.column_stack([start[shared], start[shared] + n[shared]]).ravel()
        edges = edges[edges < len(is_first)].astype(np.intp)
        small = n.astype(np.int32) if len(is_first) <= _LARGEST_INT32 else n  # it is summed in each draw
        return cls(n=small, is_first=is_first, shared=shared, edges=edges)

    def count(self, happens: NDArray[np.bool_]) -> NDArray[np.int32]:
        """The number of events with each forecast."""
        events = happens[self.is_first].astype(np.int32)
        events[self.shared] = np.add.reduceat(happens, self.edges, dtype=np.int32)[::2]
        return events

    def forecasts_of(self, cases: NDArray[np.intp]) -> NDArray[np.intp]:
        """The distinct forecasts of some cases, given by position."""
        first = self.edges[::2]
        before = np.searchsorted(first, cases, side="right") - 1
        shared = self.shared[before]
        beyond = np.maximum(cases - first[before] - self.n[shared] + 1, 0)
        return np.where(before < 0, cases, shared + beyond)


@dataclass(frozen=True, slots=True, eq=False)
class EventChances:
    """Probabilities of events, and how many of the 2^16 patterns of 16 bits are certainly events.

    With ties, probabilities are those of distinct forecasts, while `sure` has a number for each case.
    """

    probability: FloatArray
    sure: NDArray[np.uint16]
    ties: ForecastTies | None = None

    @classmethod
    def of(cls, probability: FloatArray) -> EventChances:
        """Make the chances of these probabilities; one pattern is always undecided, as 2^16 takes 17 bits."""
        scaled = np.ldexp(probability, 16)
        return cls(probability, np.minimum(scaled, 2**16 - 1, out=scaled).astype(np.uint16))

    def spread(self, ties: ForecastTies) -> EventChances:
        """Extend the chances of distinct forecasts to all cases."""
        return EventChances(self.probability, np.repeat(self.sure, ties.n), ties)

    def draw(self, rng: np.random.Generator, at: NDArray[np.uint16] | None = None) -> NDArray[np.bool_]:
        """Draw an outcome with each probability, or with those at some positions.

        It takes 16 random bits and, where these do not decide, one more random number: the distribution is
        exact.
        """
        sure = self.sure if at is None else self.sure.take(at)
        bits = _draw_bits(rng, len(sure), np.uint16)
        happens = bits < sure
        (places,) = (bits == sure).nonzero()  # where the bits do not decide
        if len(places):
            chance = np.ldexp(self._probability_at(places if at is None else at[places]), 16)
            happens[places] = rng.random(len(places)) < chance - sure[places]
        return happens

    def _probability_at(self, places: NDArray[Any]) -> FloatArray:
        return self.probability[places if self.ties is None else self.ties.forecasts_of(places)]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ForecastPiece:
    """Neighbouring distinct forecasts, few enough that forecast and outcome fit into 16 bits."""

    first: int  # distinct forecast
    cases: int
    forecast: NDArray[np.uint16] | None  # of each case, relative to the first; None if there are no ties
    chances: EventChances

    @classmethod
    def of(cls, first: int, n: CountArray, probability: FloatArray) -> ForecastPiece:
        """Make the piece that begins with a distinct forecast."""
        part = slice(first, first + 2**_BITS)
        times = n[part].astype(np.int64)
        places, cases = np.arange(len(times), dtype=np.uint16), int(times.sum())
        return cls(
            first=first,
            cases=cases,
            forecast=None if cases == len(times) else np.repeat(places, times),
            chances=EventChances.of(probability[part]),
        )

    def draw(self, rng: np.random.Generator, size: int) -> NDArray[np.uint16]:
        """Draw cases and their outcomes: forecasts, with a lowest bit for non-events, in order."""
        forecast = self._draw_forecasts(rng, size)
        key = forecast << np.uint16(1)
        key |= ~self.chances.draw(rng, forecast)
        key.sort(kind="stable")  # for 16 bits a radix sort, on any processor
        return key

    def _draw_forecasts(self, rng: np.random.Generator, size: int) -> NDArray[np.uint16]:
        """Draw forecasts by 15 bits, or by 32 if cases are not 2^15: no probability is off by 2^-32."""
        if self.forecast is None and self.cases == 2**_BITS:
            return _draw_bits(rng, size, np.uint16) >> np.uint16(16 - _BITS)
        case = _draw_bits(rng, size, np.uint32) * np.uint64(self.cases)
        case >>= 32
        return case.astype(np.uint16) if self.forecast is None else self.forecast.take(case.view(np.int64))


def cut_into_pieces(n: CountArray, probability: FloatArray) -> list[ForecastPiece]:
    """Cut all distinct forecasts, with their numbers of cases and probabilities, into pieces."""
    return [ForecastPiece.of(first, n, probability) for first in range(0, len(n), 2**_BITS)]


def _draw_bits(rng: np.random.Generator, size: int, dtype: type[_Bits]) -> NDArray[_Bits]:
    """Random bits as unsigned numbers, faster than by the generator's methods."""
    words = -(-size * np.dtype(dtype).itemsize // 8)
    return rng.bit_generator.random_raw(words).view(dtype)[:size]


class Redraw(NamedTuple):
    """A sample drawn under the hypothesis: entries in canonical order, with their number of cases.

    `position` is the distinct forecast of each entry, None if there is one entry for each distinct forecast;
    `n` is None if each entry is one case.
    """

    position: NDArray[np.integer] | None
    n: CountArray | None
    events: NDArray[Any]

    def fit(self) -> Refit:
        """Compute the isotonic regression of the entries."""
        return self._fit_cases() if self.n is None else self._fit_counts(self.n)

    def _fit_cases(self) -> Refit:
        edges, events = runs_of_outcomes(self.events)
        edges, events = _pool_many(edges, events) if len(events) > _LONG else _pool_few(edges, events)
        return Refit(start=edges[:-1], last=edges[1:] - 1, n=differences(edges), events=events)

    def _fit_counts(self, counts: CountArray) -> Refit:
        """Fit entries that are first summed between cuts where event rates may rise."""
        cuts = np.flatnonzero((self.events[1:] > 0) & (self.events[:-1] < counts[:-1])) + 1
        start, n, events = starts_of(cuts), sum_between(counts, cuts), sum_between(self.events, cuts)
        block = edges_in_floats(n, events)[:-1]
        return Refit(
            start=start[block],
            last=lasts_of(start[block[1:]], len(self.events)),
            n=np.add.reduceat(n, block),
            events=np.add.reduceat(events, block),
        )


def _pool_many(edges: NDArray[Any], events: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Edges of blocks and events of each, from those of runs of outcomes, in whole numbers."""
    sums = Sums(edges, sum_up(events))
    edges, before = sums.at(isotonic_edges(sums))
    return edges, differences(before)


def _pool_few(edges: NDArray[Any], events: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The same in floating point; neighbours of equal means may stay separate, which changes no curve."""
    blocks = edges_in_floats(differences(edges), events)
    return edges[blocks], np.add.reduceat(events, blocks[:-1])


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
        """The fit at forecasts: linear between blocks, NaN beyond the forecasts drawn."""
        edges = np.empty(2 * len(self.start), dtype=np.intp)
        edges[0::2], edges[1::2] = self.start, self.last
        corners = x[edges if position is None else position[edges]]
        return np.interp(points, corners, np.repeat(self.mean, 2), left=np.nan, right=np.nan)
