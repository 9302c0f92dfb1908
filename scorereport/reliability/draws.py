"""Samples drawn under a hypothesis, many at a time, and their isotonic fits.

A chunk of samples is one table with a row for each sample: small enough for the cache of a processor, large
enough that the calls of numpy and scipy cost little. All samples of a chunk are fitted in one call.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from scorereport._utils.arrays import CountArray, FloatArray
from scorereport.errors import InternalError
from scorereport.reliability.blocks import Sums, differences, edges_in_floats, isotonic_edges, sum_up

_Bits = TypeVar("_Bits", bound=np.unsignedinteger[Any])

#: With more parts than this in one sample, pooling in whole numbers is faster than scipy.
_LONG = 20_000
#: The fits of one sample lie in [0, 1]: shifted by this much for each sample before, samples stay apart.
_APART = 2.0
#: Means of neighbouring blocks may fall by rounding errors of their shifts.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class EventChances:
    """Probabilities of events, and how many of the 2^16 patterns of 16 bits are certainly events."""

    probability: FloatArray
    sure: NDArray[np.uint16]

    @classmethod
    def of(cls, probability: FloatArray) -> EventChances:
        """Make the chances of these probabilities; one pattern is always undecided, as 2^16 takes 17 bits."""
        scaled = np.ldexp(probability, 16)
        return cls(probability, np.minimum(scaled, 2**16 - 1, out=scaled).astype(np.uint16))

    def draw(self, rng: np.random.Generator, places: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Draw an outcome at each of these places."""
        return self._decide(rng, self.sure.take(places), places)

    def draw_all(self, rng: np.random.Generator, draws: int) -> NDArray[np.bool_]:
        """Draw an outcome with each probability, a row for each draw."""
        sure = np.broadcast_to(self.sure, (draws, len(self.sure)))
        return self._decide(rng, sure, None)

    def _decide(
        self, rng: np.random.Generator, sure: NDArray[np.uint16], places: NDArray[np.intp] | None
    ) -> NDArray[np.bool_]:
        """Compare 16 random bits and, where these do not decide, one more random number: this is exact."""
        bits = draw_bits(rng, sure.size, np.uint16).reshape(sure.shape)
        happens = bits < sure
        undecided = np.flatnonzero(bits == sure)
        if len(undecided):
            at = undecided % len(self.sure) if places is None else places[undecided]
            chance = np.ldexp(self.probability[at], 16) - self.sure[at]
            happens.reshape(-1)[undecided] = rng.random(len(undecided)) < chance
        return happens


def draw_bits(rng: np.random.Generator, size: int, dtype: type[_Bits]) -> NDArray[_Bits]:
    """Random bits as unsigned numbers, faster than by the generator's methods."""
    words = -(-size * np.dtype(dtype).itemsize // 8)
    return rng.bit_generator.random_raw(words).view(dtype)[:size]


def draw_places(rng: np.random.Generator, places: int, size: int) -> NDArray[np.intp]:
    """Draw places with replacement by 32 bits each: no probability is off by 2^-32."""
    place = draw_bits(rng, size, np.uint32) * np.uint64(places)
    place >>= 32
    return place.view(np.int64).astype(np.intp, copy=False)


class Redraws(NamedTuple):
    """Samples drawn under the hypothesis: events at each entry in canonical order, a row for each sample.

    `n` are the cases of each entry: None if each entry is one case, a row if they are the same in all
    samples, or a table, with 0 where an entry was not drawn.
    """

    n: CountArray | None
    events: NDArray[Any]

    def select(self, samples: slice) -> Redraws:
        """Return some of the samples."""
        n = self.n if self.n is None or self.n.ndim == 1 else self.n[samples]
        return Redraws(n, self.events[samples])

    def join(self, starts: NDArray[np.intp]) -> Redraws:
        """Join neighbouring entries between these starts."""
        n = np.ones(self.events.shape[1], dtype=np.int64) if self.n is None else self.n
        return Redraws(np.add.reduceat(n, starts, axis=-1), np.add.reduceat(self.events, starts, axis=1))

    def fit(self) -> Refits:
        """Compute the isotonic regression of each sample."""
        parts = _cut_runs(self.events) if self.n is None else _cut_counts(self.n, self.events)
        samples, entries = self.events.shape
        # running totals of weights are rounded: a block of events alone could have a mean beyond 1
        is_long = samples == 1 and len(parts.n) > _LONG and parts.n.dtype.kind != "f"
        blocks = _pool_long(parts) if is_long else _pool(parts)
        return Refits(
            samples=samples,
            entries=entries,
            first=blocks.first,
            last=blocks.last,
            n=blocks.n,
            events=blocks.events,
        ).checked()


class _Parts(NamedTuple):
    """Parts of samples between places where event rates may rise.

    `first` and `last` are entries, counted on from one sample to the next; `sample` is that of each part.
    """

    first: NDArray[np.intp]
    last: NDArray[np.intp]
    n: NDArray[Any]
    events: NDArray[Any]
    sample: NDArray[np.intp]


class _FittedBlocks(NamedTuple):
    first: NDArray[np.intp]
    last: NDArray[np.intp]
    n: NDArray[Any]
    events: NDArray[Any]


def _cut_runs(happens: NDArray[np.bool_]) -> _Parts:
    """Cut where outcomes rise: each part is a run of events, then one of non-events."""
    samples, entries = happens.shape
    padded = np.zeros(happens.size + 1, dtype=np.bool_)
    flat = padded[:-1]
    flat[:] = happens.reshape(-1)
    starts = np.arange(samples) * entries
    is_rise, is_fall = flat.copy(), flat.copy()
    np.greater(flat[1:], flat[:-1], out=is_rise[1:])
    np.greater(flat, padded[1:], out=is_fall)
    is_rise[starts] = flat[starts]
    is_fall[starts + entries - 1] = flat[starts + entries - 1]
    rises, falls = np.flatnonzero(is_rise), np.flatnonzero(is_fall)
    is_rise[starts] = True  # non-events at the start of a sample are a part of their own
    first = np.flatnonzero(is_rise)
    events = np.zeros(len(first), dtype=np.int64)
    events[flat[first]] = falls - rises + 1
    last = _ends_of(first, flat.size)
    return _Parts(first, last, last - first + 1, events, first // entries)


def _cut_counts(n: CountArray, events: NDArray[Any]) -> _Parts:
    """Cut entries where event rates rise, without those that have no cases."""
    samples, entries = events.shape
    if n.ndim == 1:
        flat, cases = None, np.tile(n, samples)
        happened = events.reshape(-1)
        sample_starts = np.arange(1, samples) * entries
    else:
        flat = np.flatnonzero(n.reshape(-1) > 0)
        cases, happened = n.reshape(-1)[flat], events.reshape(-1)[flat]
        sample_starts = np.searchsorted(flat, np.arange(1, samples) * entries)
    rate = happened / cases
    is_start = np.empty(len(rate), dtype=np.bool_)
    is_start[0] = True
    np.greater(rate[1:], rate[:-1], out=is_start[1:])
    is_start[sample_starts] = True
    start = np.flatnonzero(is_start)
    end = _ends_of(start, len(cases))
    first, last = (start, end) if flat is None else (flat[start], flat[end])
    return _Parts(
        first, last, _sum_parts(cases, start, end), _sum_parts(happened, start, end), first // entries
    )


def _sum_parts(values: NDArray[Any], start: NDArray[np.intp], end: NDArray[np.intp]) -> NDArray[Any]:
    """Sums of the values of each part; those of whole numbers from running totals, in half the time."""
    if values.dtype.kind == "f":
        return np.add.reduceat(values, start)
    upto = np.cumsum(values, dtype=np.int64)[end]
    sums = upto.copy()
    sums[1:] -= upto[:-1]
    return sums


def _ends_of(first: NDArray[np.intp], size: int) -> NDArray[np.intp]:
    last = np.empty_like(first)
    last[:-1], last[-1] = first[1:] - 1, size - 1
    return last


def _pool(parts: _Parts) -> _FittedBlocks:
    """Pool the parts of all samples at once; neighbours of equal means may stay apart, on one curve.

    The event rates of each sample are shifted so that they lie above those of the sample before: no block
    reaches from one sample into the next.
    """
    edges = edges_in_floats(parts.n, parts.events, shift=_APART * parts.sample.astype(np.float64))
    starts = edges[:-1]
    return _FittedBlocks(
        parts.first[starts],
        parts.last[edges[1:] - 1],
        np.add.reduceat(parts.n, starts),
        np.add.reduceat(parts.events, starts),
    )


def _pool_long(parts: _Parts) -> _FittedBlocks:
    """Pool the parts of one sample in whole numbers."""
    sums = Sums(sum_up(parts.n), sum_up(parts.events))
    edges = isotonic_edges(sums)
    n, events = (differences(total) for total in sums.at(edges))
    return _FittedBlocks(parts.first[edges[:-1]], parts.last[edges[1:] - 1], n, events)


@dataclass(frozen=True, kw_only=True, eq=False)
class Refits:
    """The blocks of redrawn samples: their first and last entry, cases and events.

    Entries are counted on from one sample to the next: entry e of sample s is number `entries` s + e.
    """

    samples: int
    entries: int
    first: NDArray[np.intp]
    last: NDArray[np.intp]
    n: NDArray[Any]
    events: NDArray[Any]

    @cached_property
    def mean(self) -> FloatArray:
        """Recalibrated probability of each block."""
        return self.events / self.n

    @cached_property
    def start(self) -> NDArray[np.intp]:
        """The first block of each sample."""
        return np.searchsorted(self.first, self._offset)

    @property
    def _offset(self) -> NDArray[np.intp]:
        return np.arange(self.samples) * self.entries

    def sum_samples(self, values: FloatArray) -> FloatArray:
        """Sum one value for each block over the blocks of each sample."""
        return np.add.reduceat(values, self.start)

    def at_entries(self, entries: NDArray[np.intp]) -> FloatArray:
        """The fits at some entries, a row for each sample; each entry must have cases in all samples."""
        size = np.diff(self.first, append=self.samples * self.entries)
        return np.repeat(self.mean, size).reshape(self.samples, self.entries).take(entries, axis=1)

    def at(self, points: FloatArray, x_min: FloatArray, x_max: FloatArray) -> FloatArray:
        """The fits at forecasts, a row for each sample: linear between blocks, NaN beyond those drawn.

        `x_min` and `x_max` are the smallest and the largest forecast of each entry.
        """
        x, mean = np.empty(2 * len(self.n)), np.repeat(self.mean, 2)
        x[0::2], x[1::2] = x_min[self.first % self.entries], x_max[self.last % self.entries]
        ends = [*(2 * self.start).tolist(), len(x)]
        curves = np.empty((self.samples, len(points)))
        for curve, start, end in zip(curves, ends[:-1], ends[1:], strict=True):
            curve[:] = np.interp(points, x[start:end], mean[start:end], left=np.nan, right=np.nan)
        return curves

    @cached_property
    def sample(self) -> NDArray[np.intp]:
        """The sample of each block."""
        return self.first // self.entries

    def checked(self) -> Refits:
        """Return these fits after a check that each sample has blocks of its own whose means do not fall."""
        is_same = self.sample[1:] == self.sample[:-1]
        falls = is_same & (differences(self.mean) < -_ROUNDING)
        if falls.any() or (self.last // self.entries != self.sample).any():
            raise InternalError("The isotonic fits of drawn samples are not in order.")
        return self
