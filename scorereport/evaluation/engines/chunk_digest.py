"""From a chunk of sorted rows to its digest: one function for every engine."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport.curves.thinning import largest_jumps
from scorereport.evaluation.engines.chunks import tabulate_rows
from scorereport.evaluation.engines.digest import CASE_KINDS, SCORED_AS, SUMS, Digest, limit_buckets
from scorereport.evaluation.engines.protocol import BUCKETS
from scorereport.inference.losses import resolve_measure
from scorereport.inference.rare_cases import FEW_CASES

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray
    from scorereport.evaluation.engines.chunks import DistinctRows
    from scorereport.evaluation.engines.digest import Knots
    from scorereport.evaluation.engines.protocol import Chunk, CountsBelow, DigestPlan
    from scorereport.reliability.blocks import Blocks


def digest_chunk(stretch: Chunk, marks: DigestPlan, before: CountsBelow) -> Digest:
    """Everything an evaluation needs of a stretch that has so many cases and events before it."""
    rows = tabulate_rows(stretch, before)
    blocks, pairs = rows.pool(), rows.count_pairs()
    losses = [score(rows.y, stretch.x) for score in _scores(marks)]
    by_bucket = marks.buckets > 1
    return Digest(
        blocks=blocks,
        block_counts=_count_blocks(rows, blocks, marks) if by_bucket else _count_all(blocks),
        bucket_sums=_sum_by_bucket(rows, losses, marks)
        if by_bucket
        else _sum_all(rows, losses, pairs, marks),
        infinite=np.array([rows.total(np.isinf(loss)) for loss in losses]),
        variances=rows.sum_variances(),
        murphy=rows.sum_murphy(marks.prevalence),
        pairs=pairs,
        n_distinct=len(rows.x),
        smallest_gap=float(np.diff(rows.x).min(initial=np.inf)),
        distinct=rows.distinct if len(rows.x) <= marks.most_distinct else None,
        steps=_find_steps(rows, marks),
        jumps=_find_jumps(rows, marks.jumps),
        most_jumps=marks.jumps,
        most_distinct=marks.most_distinct,
        kind_sums=_sum_by_kind(rows, losses, marks) if by_bucket else np.zeros((len(losses), 0, 0)),
    )


def _scores(marks: DigestPlan) -> list[Callable[[FloatArray, FloatArray], FloatArray]]:
    return [resolve_measure(name, dict(options)).score for name, options in marks.measures]


# Counts and sums


def _bucket_of(stretch: Chunk, buckets: int) -> NDArray[np.uint16]:
    return stretch.bucket if buckets == BUCKETS else stretch.bucket % np.uint16(buckets)


def _count_blocks(rows: DistinctRows, blocks: Blocks, marks: DigestPlan) -> NDArray[Any]:
    """Cases and events of each block and bucket."""
    stretch, buckets = rows.stretch, marks.buckets
    ends = np.searchsorted(stretch.x, blocks.x_max, side="right")
    block = np.repeat(np.arange(len(blocks)), np.diff(ends, prepend=0))
    cell = (2 * block + stretch.y) * buckets + _bucket_of(stretch, buckets)
    size, weight = 2 * buckets * len(blocks), stretch.weight
    by_outcome = np.bincount(cell, weights=weight, minlength=size).reshape(len(blocks), 2, buckets)
    counts = by_outcome if weight is None else by_outcome.astype(weight.dtype)
    return limit_buckets(np.stack([counts.sum(axis=1), counts[:, 1]], axis=-1))


def _count_all(blocks: Blocks) -> NDArray[Any]:
    """The same of one bucket."""
    return np.stack([blocks.n, blocks.events], axis=-1)[:, None]


def _sum_by_bucket(rows: DistinctRows, losses: list[FloatArray], marks: DigestPlan) -> FloatArray:
    """Sums over the rows of each bucket, a column for each of `SUMS` and then of the losses."""
    x, y, weight = rows.stretch.x, rows.y, rows.stretch.weight
    bucket = _bucket_of(rows.stretch, marks.buckets)
    columns = [y, x, (1 - 2 * x) * (y - x), _find_surprises(rows), *_wins(rows, marks), *losses]
    terms = columns if weight is None else [values * weight for values in columns]
    sums = [np.bincount(bucket, weights=values, minlength=marks.buckets) for values in (weight, *terms)]
    return np.column_stack(sums).astype(np.float64)


def _sum_all(rows: DistinctRows, losses: list[FloatArray], pairs: float, marks: DigestPlan) -> FloatArray:
    """The same of one bucket; who wins against whom was counted with the pairs."""
    x, y = rows.stretch.x, rows.y
    events, others = marks.events or np.nan, marks.total - marks.events or np.nan
    sums = {
        "n": float(rows.weight.sum()),
        "events": rows.sum(y),
        "forecast": rows.sum(x),
        "spiegelhalter": rows.sum((1 - 2 * x) * (y - x)),
        "surprises": rows.sum(_find_surprises(rows)),
        "events_win": pairs / 2 / others,
        "non_events_win": pairs / 2 / events,
    }
    return np.array([[*(sums[name] for name in SUMS), *(rows.sum(loss) for loss in losses)]])


def _find_surprises(rows: DistinctRows) -> FloatArray:
    """1 for each row whose outcome lies on the other side of 1/2 than its forecast."""
    x = rows.stretch.x
    return ((x != 0.5) & ((x > 0.5) != rows.stretch.y)).astype(np.float64)


def _sum_by_kind(rows: DistinctRows, losses: list[FloatArray], marks: DigestPlan) -> FloatArray:
    """For each measure sums of scores: a row for each of `KINDS`, a column for each of `SCORED_AS`."""
    if marks.independent and _has_enough(rows):
        return np.full((len(losses), len(CASE_KINDS), len(SCORED_AS)), np.nan)
    x, y = rows.stretch.x, rows.y
    ends = np.searchsorted(x, 0.5, side="left"), np.searchsorted(x, 0.5, side="right")
    kind = rows.stretch.y.astype(np.intp)
    kind[ends[0] : ends[1]] += 2
    kind[ends[1] :] += 4
    of_kind = _add_by_kind(kind, rows.stretch.weight)
    sums = np.empty((len(losses), len(CASE_KINDS), len(SCORED_AS)))
    for of_measure, score, loss in zip(sums, _scores(marks), losses, strict=True):
        for at, scores in ((0, loss), (2, score(1 - y, x))):
            finite = np.isfinite(scores)
            if finite.all():
                of_measure[:, at], of_measure[:, at + 1] = _add_by_kind(kind, rows.weigh(scores)), of_kind
                continue
            of_measure[:, at] = _add_by_kind(kind, rows.weigh(np.where(finite, scores, 0.0)))
            of_measure[:, at + 1] = _add_by_kind(kind, rows.weigh(finite.astype(np.float64)))
    return sums


def _has_enough(rows: DistinctRows) -> bool:
    """Whether neither events nor surprises, nor all other cases, are few: then they are not in all rows."""
    shares = rows.stretch.y, _find_surprises(rows)
    return all(FEW_CASES < np.count_nonzero(kind) < len(kind) - FEW_CASES for kind in shares)


def _add_by_kind(kind: NDArray[np.intp], values: NDArray[Any] | None) -> FloatArray:
    return np.bincount(kind, weights=values, minlength=len(CASE_KINDS)).astype(np.float64)


def _wins(rows: DistinctRows, marks: DigestPlan) -> tuple[FloatArray, FloatArray]:
    """For each event the share of non-events below it, for each non-event that of events above, ties half."""
    events, others = marks.events or np.nan, marks.total - marks.events or np.nan
    below = rows.n_below - rows.events_below + (rows.n - rows.events) / 2
    above = marks.events - rows.events_below - rows.events / 2
    by_events, by_others = rows.spread(below) * (1 / others), rows.spread(above) * (1 / events)
    return by_events * rows.y, by_others * (1 - rows.y)


# Marks


def _find_jumps(rows: DistinctRows, number: int) -> Knots:
    places = largest_jumps(rows.distinct, number) if number else np.empty(0, dtype=np.intp)
    return rows.knots_at(places)


def _find_steps(rows: DistinctRows, marks: DigestPlan) -> Knots:
    """The marked forecasts of the stretch, with both its ends."""
    last = len(rows.x) - 1
    ranks, heights = _at_ranks(rows, marks.ranks), _at_heights(rows, marks)
    places = np.concatenate([[0, last], _at_edges(rows, marks.edges), ranks, ranks + 1, heights, heights + 1])
    return rows.knots_at(np.unique(places[(places >= 0) & (places <= last)]).astype(np.intp))


def _at_edges(rows: DistinctRows, edges: FloatArray) -> NDArray[np.intp]:
    """The first forecast that is not below each value, if it is in the stretch."""
    first, last = np.searchsorted(edges, rows.x[[0, -1]])
    return np.searchsorted(rows.x, edges[first : last + 1])


def _at_ranks(rows: DistinctRows, ranks: FloatArray) -> NDArray[np.intp]:
    """The forecasts of the cases with these numbers, if they are in the stretch."""
    first, last = np.searchsorted(ranks, [rows.n_below[0], rows.n_below[-1] + rows.n[-1]])
    return np.searchsorted(rows.n_below, ranks[first:last], side="right") - 1


def _at_heights(rows: DistinctRows, marks: DigestPlan) -> NDArray[np.intp]:
    """The last forecast that is so far along the ROC curve, if it is in the stretch."""
    last = len(rows.x) - 1
    lowest = bisect_left(marks.heights, rows.height(last, marks))
    highest = bisect_right(marks.heights, rows.height(0, marks))
    found = [
        bisect_right(range(last + 1), -height, key=lambda place: -rows.height(place, marks)) - 1
        for height in marks.heights[lowest:highest]
    ]
    return np.array(found, dtype=np.intp)
