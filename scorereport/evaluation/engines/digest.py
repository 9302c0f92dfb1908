"""The digest of the sorted rows of a model: exact, small, and additive over neighbouring chunks."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.arrays import CountArray, FloatArray
from scorereport.curves.thinning import largest_jumps
from scorereport.reliability.blocks import Blocks, pool

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Counts by block and bucket: where there are more than this, buckets are merged.
_MOST_COUNTS = 4_000_000
_FEWER_BUCKETS = (100, 25, 5)
#: Sums over rows that every digest has; those of its measures follow.
SUMS = ("n", "events", "forecast", "spiegelhalter", "surprises", "events_win", "non_events_win")
#: Sums of finite scores for the observed outcome and for the other outcome, and the weights of their cases.
SCORED_AS = ("is", "is_weight", "other", "other_weight")
#: Kinds of cases that are summed apart: forecasts below, at and above 1/2, each as non-events and events.
CASE_KINDS = tuple((side, outcome) for side in (-1, 0, 1) for outcome in (0, 1))


@dataclass(frozen=True, kw_only=True, eq=False)
class Knots:
    """Exact counts at chosen forecasts: cases and events below and at each, sum of forecasts below."""

    x: FloatArray
    n_below: CountArray
    events_below: CountArray
    forecast_below: FloatArray
    n_at: CountArray
    events_at: CountArray

    def __len__(self) -> int:
        return len(self.x)

    def __add__(self, other: Knots) -> Knots:
        return Knots(
            **{f.name: np.concatenate([getattr(self, f.name), getattr(other, f.name)]) for f in fields(self)}
        )

    def above(self, forecast: float) -> Knots:
        """The same knots, where forecasts with this sum lie below all of them."""
        return replace(self, forecast_below=self.forecast_below + forecast)

    def select(self, places: NDArray[np.intp]) -> Knots:
        """Some of the knots."""
        return Knots(**{f.name: getattr(self, f.name)[places] for f in fields(self)})

    def largest_jumps(self, number: int) -> Knots:
        """The knots with the largest jumps of the Murphy curve."""
        at = Blocks(x_min=self.x, x_max=self.x, n=self.n_at, events=self.events_at)
        return self.select(largest_jumps(at, number))


@dataclass(frozen=True, kw_only=True, eq=False)
class Digest:
    """The isotonic fit of a chunk of rows, and all sums and counts that an evaluation takes from it.

    `block_counts` has the cases and the events of each block and bucket, `bucket_sums` a row for each bucket
    and a column for each of `SUMS`, then one for each measure. `kind_sums` has an array for each measure,
    with a row for each of `CASE_KINDS` and a column for each of `SCORED_AS`; it is empty with one bucket, and
    NaN where there are enough independent cases of every kind, so that intervals do not need it. `pairs` is
    twice the number of pairs of an event and a non-event in the right order; a tie is half a pair. `distinct`
    has all distinct forecasts if they are few. `steps` are the knots that the plan chooses by value, rank or
    rate, and both ends of every chunk, so that counts at any chosen value can be read from the next knot.
    """

    blocks: Blocks
    block_counts: CountArray
    bucket_sums: FloatArray
    infinite: FloatArray
    variances: FloatArray
    murphy: FloatArray
    pairs: int | float
    n_distinct: int
    smallest_gap: float
    distinct: Blocks | None
    steps: Knots
    jumps: Knots
    most_jumps: int
    most_distinct: int
    kind_sums: FloatArray

    @property
    def x_min(self) -> float:
        """The lowest forecast."""
        return float(self.blocks.x_min[0])

    @property
    def x_max(self) -> float:
        """The highest forecast."""
        return float(self.blocks.x_max[-1])

    @property
    def forecast(self) -> float:
        """The sum of all forecasts."""
        return float(self.sums[SUMS.index("forecast")])

    @cached_property
    def sums(self) -> FloatArray:
        """Sums over all rows."""
        return self.bucket_sums.sum(axis=0)

    def __add__(self, other: Digest) -> Digest:
        """The digest of both chunks together; all forecasts of the left one must lie below the right one."""
        joined = self.blocks + other.blocks
        blocks = pool(joined)
        return Digest(
            blocks=blocks,
            block_counts=limit_buckets(_merge_counts(joined, blocks, self.block_counts, other.block_counts)),
            bucket_sums=self.bucket_sums + other.bucket_sums,
            infinite=self.infinite + other.infinite,
            variances=self.variances + other.variances,
            murphy=self.murphy + other.murphy,
            pairs=self.pairs + other.pairs,
            n_distinct=self.n_distinct + other.n_distinct,
            smallest_gap=min(self.smallest_gap, other.smallest_gap, other.x_min - self.x_max),
            distinct=_join_few(self.distinct, other.distinct, self.most_distinct),
            steps=self.steps + other.steps.above(self.forecast),
            jumps=(self.jumps + other.jumps.above(self.forecast)).largest_jumps(self.most_jumps),
            most_jumps=self.most_jumps,
            most_distinct=self.most_distinct,
            kind_sums=self.kind_sums + other.kind_sums,
        )


def _merge_counts(joined: Blocks, blocks: Blocks, left: CountArray, right: CountArray) -> NDArray[Any]:
    """Counts by bucket of the pooled blocks, from the counts of the blocks before pooling."""
    buckets = min(left.shape[1], right.shape[1])
    counts = np.concatenate([fold_buckets(left, buckets), fold_buckets(right, buckets)])
    return np.add.reduceat(counts, np.searchsorted(joined.x_min, blocks.x_min), axis=0)


def limit_buckets(counts: NDArray[Any]) -> NDArray[Any]:
    """Counts by block and bucket, in fewer buckets where many blocks would need too much memory."""
    blocks, buckets, _ = counts.shape
    fewer = [b for b in _FEWER_BUCKETS if b < buckets and buckets % b == 0]
    while fewer and blocks * buckets > _MOST_COUNTS:
        buckets = fewer.pop(0)
    return fold_buckets(counts, buckets)


def fold_buckets(counts: NDArray[Any], buckets: int) -> NDArray[Any]:
    """The same counts in fewer buckets: buckets whose numbers have the same remainder are merged."""
    *before, now, columns = counts.shape
    if now == buckets:
        return counts
    return np.asarray(counts.reshape(*before, now // buckets, buckets, columns).sum(axis=-3))


def _join_few(left: Blocks | None, right: Blocks | None, most: int) -> Blocks | None:
    if left is None or right is None or len(left) + len(right) > most:
        return None
    return left + right
