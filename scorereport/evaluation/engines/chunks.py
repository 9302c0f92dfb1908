"""Chunks of sorted rows: cut without splitting ties, joined, and tabulated by distinct forecast.

Of most stretches every row is a forecast of its own; then nothing has to be summed over ties.
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


#: Sums of products below this are exact in 64 bits.
_FITS = 2.0**62


class DistinctRows(ABC):
    """Rows of a stretch by distinct forecast; `x` holds these."""

    def __init__(self, stretch: Chunk, before: CountsBelow, x: FloatArray) -> None:
        self.stretch, self.before, self.x = stretch, before, x
        self.y = stretch.y.astype(np.float64)

    @cached_property
    def weight(self) -> NDArray[Any]:
        """The weight of each row."""
        given = self.stretch.weight
        return np.ones(len(self.stretch), dtype=np.int64) if given is None else given

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
        """A value of each distinct forecast for each of its rows."""

    @abstractmethod
    def total(self, chosen: NDArray[np.bool_]) -> float:
        """The weight of the chosen rows."""

    @abstractmethod
    def sum(self, values: FloatArray) -> float:
        """Weighted sum of a value per row."""

    def weigh(self, values: FloatArray) -> FloatArray:
        """A value per row times its weight."""
        given = self.stretch.weight
        return values if given is None else values * given

    @abstractmethod
    def count_pairs(self) -> int | float:
        """Twice the pairs of an event here and a lower non-event anywhere, ties half; exact for counts."""

    @abstractmethod
    def sum_murphy(self, prevalence: float) -> FloatArray:
        """Sums of Murphy's reliability and resolution over distinct forecasts."""

    def sum_variances(self) -> FloatArray:
        """Variances under calibration of Σ (y - x) and of Σ (1 - 2x)(y - x), if weights are counts."""
        variance = self.x * (1 - self.x)
        weighted = variance * self.n
        return np.array([weighted.sum(), (weighted * (1 - 4 * variance)).sum()])

    def height(self, place: int, marks: DigestPlan) -> float:
        """Rates of false and true positives at a forecast, added: how far along the ROC curve it is."""
        non_events = marks.total - marks.events
        below = self.n_below[place] - self.events_below[place]
        false = (non_events - below) / non_events if non_events else 0.0
        true = (marks.events - self.events_below[place]) / marks.events if marks.events else 0.0
        return float(false + true)

    def knots_at(self, places: NDArray[np.intp]) -> Knots:
        """Knots at some of the distinct forecasts; sums of forecasts are of this stretch only."""
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
    """Rows with ties or weights, summed up by distinct forecast."""

    def __init__(self, stretch: Chunk, before: CountsBelow, cuts: NDArray[np.intp]) -> None:
        super().__init__(stretch, before, stretch.x[np.append(0, cuts)])
        self.cuts = cuts

    @cached_property
    def n(self) -> NDArray[Any]:
        """Cases at each distinct forecast."""
        return sum_between(self.weight, self.cuts)

    @cached_property
    def events(self) -> NDArray[Any]:
        """Events at each distinct forecast."""
        return sum_between(self.weight * self.stretch.y, self.cuts)

    @cached_property
    def n_below(self) -> NDArray[Any]:
        """Cases below each distinct forecast."""
        return np.asarray(np.cumsum(self.n) - self.n + self.before.n)

    def pool(self) -> Blocks:
        """The isotonic fit."""
        return pool(self.distinct)

    def spread(self, values: NDArray[Any]) -> NDArray[Any]:
        """A value of each distinct forecast for each of its rows."""
        return np.repeat(values, np.diff(self.cuts, prepend=0, append=len(self.stretch)))

    def total(self, chosen: NDArray[np.bool_]) -> float:
        """The weight of the chosen rows."""
        return float(self.weight[chosen].sum()) if chosen.any() else 0.0

    def sum(self, values: FloatArray) -> float:
        """Weighted sum of a value per row."""
        return float((values * self.weight).sum())

    def count_pairs(self) -> int | float:
        """Twice the pairs of an event here and a lower non-event anywhere, ties half; exact for counts."""
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
    """Rows without ties and weights: each is a forecast of its own."""

    def __init__(self, stretch: Chunk, before: CountsBelow) -> None:
        super().__init__(stretch, before, stretch.x)

    @property
    def n(self) -> NDArray[Any]:
        """One for each forecast."""
        return self.weight

    @cached_property
    def events(self) -> NDArray[Any]:
        """Whether there was an event."""
        return self.stretch.y.astype(np.int64)

    def pool(self) -> Blocks:
        """The isotonic fit; the rows are in canonical order."""
        return pool_cases(CheckedCases(self.y, self.x, None), binary=True)

    @cached_property
    def n_below(self) -> NDArray[Any]:
        """Cases below each forecast."""
        return np.arange(self.before.n, self.before.n + len(self.x))

    def spread(self, values: NDArray[Any]) -> NDArray[Any]:
        """A value of each forecast for its row."""
        return values

    def total(self, chosen: NDArray[np.bool_]) -> float:
        """The number of the chosen rows."""
        return float(np.count_nonzero(chosen))

    def sum(self, values: FloatArray) -> float:
        """Sum of a value per row."""
        return float(values.sum())

    def count_pairs(self) -> int:
        """Twice the pairs of an event here and a lower non-event anywhere."""
        places = np.flatnonzero(self.stretch.y)
        events = len(places)
        here = int(places.sum()) - events * (events - 1) // 2  # of n rows below an event, those without one
        return 2 * (here + events * int(self.before.n - self.before.events))

    def sum_murphy(self, prevalence: float) -> FloatArray:
        """Each rate is an outcome."""
        events, off = float(self.y.sum()), self.y - self.x
        resolution = events * (1 - prevalence) ** 2 + (len(self.x) - events) * prevalence**2
        return np.array([(off**2).sum(), resolution])


def tabulate_rows(stretch: Chunk, before: CountsBelow) -> DistinctRows:
    """Rows by distinct forecast, the quick way where there are no ties."""
    cuts = np.flatnonzero(stretch.x[1:] != stretch.x[:-1]) + 1
    if stretch.weight is None and len(cuts) == len(stretch) - 1:
        return SingleRows(stretch, before)
    return SummedRows(stretch, before, cuts)


#: Rows of a stretch: enough for numpy to be quick, few enough for the processor's caches.
ROWS_PER_CHUNK = 1 << 19


def cut_at_ties(stretches: Iterable[Chunk], rows: int = ROWS_PER_CHUNK) -> Iterator[Chunk]:
    """Regroup an ascending stream into stretches of about so many rows that never split a tie.

    A tie that is longer than a stretch is summed up as it comes: it needs no more memory than a short one.
    """
    waiting: list[Chunk] = []
    length = 0
    for stretch in stretches:
        waiting.append(stretch)
        length += len(stretch)
        if length >= rows:
            body, tie = _split_last_tie(join_chunks(waiting))
            if len(body):
                yield body
            tie = compress_chunk(tie) if len(tie) > 2 * BUCKETS else tie
            waiting, length = [tie], len(tie)
    if length:
        yield join_chunks(waiting)


def _split_last_tie(stretch: Chunk) -> tuple[Chunk, Chunk]:
    """All rows below the last forecast, and those at it, which may go on in the next piece."""
    first = int(np.searchsorted(stretch.x, stretch.x[-1]))
    return stretch.select(slice(first)), stretch.select(slice(first, None))


def join_chunks(stretches: Sequence[Chunk]) -> Chunk:
    """One stretch of several in order; where one has weights, all get some."""
    if len(stretches) == 1:
        return stretches[0]
    has_weights = any(stretch.weight is not None for stretch in stretches)
    return Chunk(
        x=np.concatenate([s.x for s in stretches]),
        y=np.concatenate([s.y for s in stretches]),
        bucket=np.concatenate([s.bucket for s in stretches]),
        weight=np.concatenate([_weight_of(s) for s in stretches]) if has_weights else None,
    )


def compress_chunk(stretch: Chunk) -> Chunk:
    """Sum the weights of rows that share forecast, outcome and bucket."""
    starts = np.flatnonzero(np.append(True, stretch.x[1:] != stretch.x[:-1]))
    value = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(stretch)))
    key = (value * 2 + stretch.y) * BUCKETS + stretch.bucket
    kept, place = np.unique(key, return_inverse=True)
    weight = _weight_of(stretch)
    total = np.bincount(place, weights=weight, minlength=len(kept))
    return Chunk(
        x=stretch.x[starts][kept // (2 * BUCKETS)],
        y=(kept // BUCKETS % 2).astype(bool),
        bucket=(kept % BUCKETS).astype(np.uint16),
        weight=total.astype(weight.dtype),
    )


def _weight_of(stretch: Chunk) -> NDArray[Any]:
    return np.ones(len(stretch), dtype=np.int64) if stretch.weight is None else stretch.weight
