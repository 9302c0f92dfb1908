"""Chunks of sorted rows: cut without splitting ties, joined, and tabulated by distinct forecast.

In most chunks no two rows have the same forecast; then there are no ties to sum over.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.checks import CheckedCases
from scorereport.evaluation.engines.digest import Knots
from scorereport.evaluation.engines.protocol import BUCKETS, Chunk
from scorereport.reliability.blocks import Blocks, pool, pool_cases, sum_between

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray
    from scorereport.evaluation.engines.protocol import CountsBelow, DigestPlan


#: Rows of a chunk: enough for numpy to be quick, few enough for the processor's caches.
ROWS_PER_CHUNK = 1 << 19
#: Sums of products below this are exact in 64 bits.
_FITS = 2.0**62


class DistinctRows(ABC):
    """Rows of a chunk by distinct forecast; `x` holds the distinct forecasts."""

    def __init__(self, chunk: Chunk, before: CountsBelow, x: FloatArray) -> None:
        self.chunk, self.before, self.x = chunk, before, x
        self.y = chunk.y.astype(np.float64)

    @cached_property
    def weight(self) -> NDArray[Any]:
        """The weight of each row."""
        return _weight_of(self.chunk)

    @property
    @abstractmethod
    def n(self) -> NDArray[Any]:
        """Cases at each distinct forecast."""

    @property
    @abstractmethod
    def events(self) -> NDArray[Any]:
        """Events at each distinct forecast."""

    @property
    @abstractmethod
    def n_below(self) -> NDArray[Any]:
        """Cases below each distinct forecast."""

    @cached_property
    def events_below(self) -> NDArray[Any]:
        """Events below each distinct forecast."""
        return np.asarray(np.cumsum(self.events) - self.events + self.before.events)

    @cached_property
    def distinct(self) -> Blocks:
        """A block for each distinct forecast."""
        return Blocks(x_min=self.x, x_max=self.x, n=self.n, events=self.events)

    @abstractmethod
    def pool(self) -> Blocks:
        """The isotonic fit."""

    @abstractmethod
    def spread(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values per row, from values per distinct forecast."""

    @abstractmethod
    def total(self, chosen: NDArray[np.bool_]) -> float:
        """The weight of the chosen rows."""

    @abstractmethod
    def sum(self, values: FloatArray) -> float:
        """Weighted sum of a value per row."""

    def weigh(self, values: FloatArray) -> FloatArray:
        """A value per row times its weight."""
        weight = self.chunk.weight
        return values if weight is None else values * weight

    @abstractmethod
    def count_pairs(self) -> int | float:
        """Twice the number of pairs of an event here and a lower non-event anywhere; a tie is half a pair.

        The number is exact if weights are counts.
        """

    @abstractmethod
    def sum_murphy(self, prevalence: float) -> FloatArray:
        """Sums of Murphy's reliability and resolution over distinct forecasts."""

    def sum_variances(self) -> FloatArray:
        """Variances under calibration of Σ (y - x) and of Σ (1 - 2x)(y - x), if weights are counts."""
        variance = self.x * (1 - self.x)
        weighted = variance * self.n
        return np.array([weighted.sum(), (weighted * (1 - 4 * variance)).sum()])

    def height(self, place: int, plan: DigestPlan) -> float:
        """The sum of false and true positive rate at a forecast: its distance along the ROC curve."""
        non_events = plan.total - plan.events
        below = self.n_below[place] - self.events_below[place]
        false = (non_events - below) / non_events if non_events else 0.0
        true = (plan.events - self.events_below[place]) / plan.events if plan.events else 0.0
        return float(false + true)

    def knots_at(self, places: NDArray[np.intp]) -> Knots:
        """Knots at some of the distinct forecasts; their sums of forecasts cover this chunk only."""
        return Knots(
            x=self.x[places],
            n_below=self.n_below[places],
            events_below=self.events_below[places],
            forecast_below=self._forecast_below(places),
            n_at=self.n[places],
            events_at=self.events[places],
        )

    def _forecast_below(self, places: NDArray[np.intp]) -> FloatArray:
        if len(places) == 0:
            return np.empty(0)
        starts = places if places[0] == 0 else np.append(0, places)
        between = np.add.reduceat(self.x * self.n, starts)
        below = np.cumsum(between) - between
        return np.asarray(below[-len(places) :], dtype=np.float64)


class SummedRows(DistinctRows):
    """Rows with ties or weights, summed by distinct forecast."""

    def __init__(self, chunk: Chunk, before: CountsBelow, cuts: NDArray[np.intp]) -> None:
        super().__init__(chunk, before, chunk.x[np.append(0, cuts)])
        self.cuts = cuts

    @cached_property
    def n(self) -> NDArray[Any]:
        """Cases at each distinct forecast."""
        return sum_between(self.weight, self.cuts)

    @cached_property
    def events(self) -> NDArray[Any]:
        """Events at each distinct forecast."""
        return sum_between(self.weight * self.chunk.y, self.cuts)

    @cached_property
    def n_below(self) -> NDArray[Any]:
        """Cases below each distinct forecast."""
        return np.asarray(np.cumsum(self.n) - self.n + self.before.n)

    def pool(self) -> Blocks:
        """The isotonic fit."""
        return pool(self.distinct)

    def spread(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values per row, from values per distinct forecast."""
        return np.repeat(values, np.diff(self.cuts, prepend=0, append=len(self.chunk)))

    def total(self, chosen: NDArray[np.bool_]) -> float:
        """The weight of the chosen rows."""
        return float(self.weight[chosen].sum()) if chosen.any() else 0.0

    def sum(self, values: FloatArray) -> float:
        """Weighted sum of a value per row."""
        return float((values * self.weight).sum())

    def count_pairs(self) -> int | float:
        """Twice the number of pairs of an event here and a lower non-event anywhere; a tie is half a pair."""
        non_events = self.n - self.events
        below = 2 * (self.n_below - self.events_below) + non_events
        if self.n.dtype.kind == "f":
            return float((self.events * below).sum())
        if float(self.events.sum()) * float(below[-1]) < _FITS:
            return int((self.events * below).sum())
        return int((self.events.astype(object) * below.astype(object)).sum())  # beyond 64 bits

    def sum_murphy(self, prevalence: float) -> FloatArray:
        """Sums of Murphy's reliability and resolution over distinct forecasts."""
        rate = self.events / self.n
        return np.array([(self.n * (rate - at) ** 2).sum() for at in (self.x, prevalence)])


class SingleRows(DistinctRows):
    """Rows without ties and weights: each row has a distinct forecast."""

    def __init__(self, chunk: Chunk, before: CountsBelow) -> None:
        super().__init__(chunk, before, chunk.x)

    @property
    def n(self) -> NDArray[Any]:
        """One for each forecast."""
        return self.weight

    @cached_property
    def events(self) -> NDArray[Any]:
        """1 for each event, 0 for each non-event."""
        return self.chunk.y.astype(np.int64)

    def pool(self) -> Blocks:
        """The isotonic fit; the rows are in canonical order."""
        return pool_cases(CheckedCases(self.y, self.x, None), binary=True)

    @cached_property
    def n_below(self) -> NDArray[Any]:
        """Cases below each forecast."""
        return np.arange(self.before.n, self.before.n + len(self.x))

    def spread(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values per row: the values themselves."""
        return values

    def total(self, chosen: NDArray[np.bool_]) -> float:
        """The number of the chosen rows."""
        return float(np.count_nonzero(chosen))

    def sum(self, values: FloatArray) -> float:
        """Sum of a value per row."""
        return float(values.sum())

    def count_pairs(self) -> int:
        """Twice the number of pairs of an event here and a lower non-event anywhere."""
        places = np.flatnonzero(self.chunk.y)
        events = len(places)
        here = int(places.sum()) - events * (events - 1) // 2  # rows below each event that are non-events
        return 2 * (here + events * int(self.before.n - self.before.events))

    def sum_murphy(self, prevalence: float) -> FloatArray:
        """Sums of Murphy's reliability and resolution; each observed rate is an outcome."""
        events, error = float(self.y.sum()), self.y - self.x
        resolution = events * (1 - prevalence) ** 2 + (len(self.x) - events) * prevalence**2
        return np.array([(error**2).sum(), resolution])


def tabulate_rows(chunk: Chunk, before: CountsBelow) -> DistinctRows:
    """Rows by distinct forecast, without sums where there are no ties and no weights."""
    cuts = np.flatnonzero(chunk.x[1:] != chunk.x[:-1]) + 1
    if chunk.weight is None and len(cuts) == len(chunk) - 1:
        return SingleRows(chunk, before)
    return SummedRows(chunk, before, cuts)


def cut_at_ties(chunks: Iterable[Chunk], rows: int = ROWS_PER_CHUNK) -> Iterator[Chunk]:
    """Regroup an ascending stream into chunks of about `rows` rows that never split a tie.

    A tie that is longer than a chunk is summed as it is read: it needs no more memory than a short one.
    """
    waiting: list[Chunk] = []
    length = 0
    for chunk in chunks:
        waiting.append(chunk)
        length += len(chunk)
        if length >= rows:
            body, tie = _split_last_tie(join_chunks(waiting))
            if len(body):
                yield body
            tie = compress_chunk(tie) if len(tie) > 2 * BUCKETS else tie
            waiting, length = [tie], len(tie)
    if length:
        yield join_chunks(waiting)


def _split_last_tie(chunk: Chunk) -> tuple[Chunk, Chunk]:
    """All rows below the last forecast, and the rows at it, which may continue in the next chunk."""
    first = int(np.searchsorted(chunk.x, chunk.x[-1]))
    return chunk.select(slice(first)), chunk.select(slice(first, None))


def join_chunks(chunks: Sequence[Chunk]) -> Chunk:
    """One chunk from several in order; if any has weights, rows of the others get weight 1."""
    if len(chunks) == 1:
        return chunks[0]
    has_weights = any(chunk.weight is not None for chunk in chunks)
    return Chunk(
        x=np.concatenate([s.x for s in chunks]),
        y=np.concatenate([s.y for s in chunks]),
        bucket=np.concatenate([s.bucket for s in chunks]),
        weight=np.concatenate([_weight_of(s) for s in chunks]) if has_weights else None,
    )


def compress_chunk(chunk: Chunk) -> Chunk:
    """Sum the weights of rows that share forecast, outcome and bucket."""
    starts = np.flatnonzero(np.append(True, chunk.x[1:] != chunk.x[:-1]))
    value = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(chunk)))
    key = (value * 2 + chunk.y) * BUCKETS + chunk.bucket
    kept, place = np.unique(key, return_inverse=True)
    weight = _weight_of(chunk)
    total = np.bincount(place, weights=weight, minlength=len(kept))
    return Chunk(
        x=chunk.x[starts][kept // (2 * BUCKETS)],
        y=(kept // BUCKETS % 2).astype(bool),
        bucket=(kept % BUCKETS).astype(np.uint16),
        weight=total.astype(weight.dtype),
    )


def _weight_of(chunk: Chunk) -> NDArray[Any]:
    return np.ones(len(chunk), dtype=np.int64) if chunk.weight is None else chunk.weight
