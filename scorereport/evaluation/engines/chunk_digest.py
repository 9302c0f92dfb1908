"""The digest of a chunk of sorted rows; every engine uses the same function."""

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


def digest_chunk(chunk: Chunk, plan: DigestPlan, before: CountsBelow) -> Digest:
    """Compute the digest of a chunk: everything that an evaluation needs to know about its rows.

    `before` counts the cases and events that lie below the chunk.
    """
    rows = tabulate_rows(chunk, before)
    blocks, pairs = rows.pool(), rows.count_pairs()
    losses = [score(rows.y, chunk.x) for score in _scores(plan)]
    by_bucket = plan.buckets > 1
    return Digest(
        blocks=blocks,
        block_counts=_count_blocks(rows, blocks, plan) if by_bucket else _count_all(blocks),
        bucket_sums=_sum_by_bucket(rows, losses, plan) if by_bucket else _sum_all(rows, losses, pairs, plan),
        infinite=np.array([rows.total(np.isinf(loss)) for loss in losses]),
        variances=rows.sum_variances(),
        murphy=rows.sum_murphy(plan.prevalence),
        pairs=pairs,
        n_distinct=len(rows.x),
        smallest_gap=float(np.diff(rows.x).min(initial=np.inf)),
        distinct=rows.distinct if len(rows.x) <= plan.most_distinct else None,
        steps=_find_steps(rows, plan),
        jumps=_find_jumps(rows, plan.jumps),
        most_jumps=plan.jumps,
        most_distinct=plan.most_distinct,
        kind_sums=_sum_by_kind(rows, losses, plan) if by_bucket else np.zeros((len(losses), 0, 0)),
    )


def _scores(plan: DigestPlan) -> list[Callable[[FloatArray, FloatArray], FloatArray]]:
    return [resolve_measure(name, dict(options)).score for name, options in plan.measures]


# Counts and sums


def _bucket_of(chunk: Chunk, buckets: int) -> NDArray[np.uint16]:
    return chunk.bucket if buckets == BUCKETS else chunk.bucket % np.uint16(buckets)


def _count_blocks(rows: DistinctRows, blocks: Blocks, plan: DigestPlan) -> NDArray[Any]:
    """Cases and events of each block and bucket."""
    chunk, buckets = rows.chunk, plan.buckets
    ends = np.searchsorted(chunk.x, blocks.x_max, side="right")
    block = np.repeat(np.arange(len(blocks)), np.diff(ends, prepend=0))
    cell = (2 * block + chunk.y) * buckets + _bucket_of(chunk, buckets)
    size, weight = 2 * buckets * len(blocks), chunk.weight
    by_outcome = np.bincount(cell, weights=weight, minlength=size).reshape(len(blocks), 2, buckets)
    counts = by_outcome if weight is None else by_outcome.astype(weight.dtype)
    return limit_buckets(np.stack([counts.sum(axis=1), counts[:, 1]], axis=-1))


def _count_all(blocks: Blocks) -> NDArray[Any]:
    """Cases and events of each block, in one bucket."""
    return np.stack([blocks.n, blocks.events], axis=-1)[:, None]


def _sum_by_bucket(rows: DistinctRows, losses: list[FloatArray], plan: DigestPlan) -> FloatArray:
    """Sums over the rows of each bucket: a column for each of `SUMS`, then one for each loss."""
    x, y, weight = rows.chunk.x, rows.y, rows.chunk.weight
    bucket = _bucket_of(rows.chunk, plan.buckets)
    columns = [y, x, (1 - 2 * x) * (y - x), _find_surprises(rows), *_wins(rows, plan), *losses]
    terms = columns if weight is None else [values * weight for values in columns]
    sums = [np.bincount(bucket, weights=values, minlength=plan.buckets) for values in (weight, *terms)]
    return np.column_stack(sums).astype(np.float64)


def _sum_all(rows: DistinctRows, losses: list[FloatArray], pairs: float, plan: DigestPlan) -> FloatArray:
    """Sums over all rows as one bucket; `pairs` gives the wins of events and of non-events."""
    x, y = rows.chunk.x, rows.y
    events, others = plan.events or np.nan, plan.total - plan.events or np.nan
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
    """1 for each row whose outcome and forecast lie on different sides of 1/2, else 0."""
    x = rows.chunk.x
    return ((x != 0.5) & ((x > 0.5) != rows.chunk.y)).astype(np.float64)


def _sum_by_kind(rows: DistinctRows, losses: list[FloatArray], plan: DigestPlan) -> FloatArray:
    """Sums of scores for each measure: a row for each of `CASE_KINDS`, a column for each of `SCORED_AS`."""
    if plan.independent and _has_enough(rows):
        return np.full((len(losses), len(CASE_KINDS), len(SCORED_AS)), np.nan)
    x, y = rows.chunk.x, rows.y
    ends = np.searchsorted(x, 0.5, side="left"), np.searchsorted(x, 0.5, side="right")
    kind = rows.chunk.y.astype(np.intp)
    kind[ends[0] : ends[1]] += 2
    kind[ends[1] :] += 4
    of_kind = _add_by_kind(kind, rows.chunk.weight)
    sums = np.empty((len(losses), len(CASE_KINDS), len(SCORED_AS)))
    for of_measure, score, loss in zip(sums, _scores(plan), losses, strict=True):
        for at, scores in ((0, loss), (2, score(1 - y, x))):
            finite = np.isfinite(scores)
            if finite.all():
                of_measure[:, at], of_measure[:, at + 1] = _add_by_kind(kind, rows.weigh(scores)), of_kind
                continue
            of_measure[:, at] = _add_by_kind(kind, rows.weigh(np.where(finite, scores, 0.0)))
            of_measure[:, at + 1] = _add_by_kind(kind, rows.weigh(finite.astype(np.float64)))
    return sums


def _has_enough(rows: DistinctRows) -> bool:
    """Whether there are many events and non-events, many surprises and non-surprises.

    If a chunk has enough of each, so have all rows.
    """
    shares = rows.chunk.y, _find_surprises(rows)
    return all(FEW_CASES < np.count_nonzero(kind) < len(kind) - FEW_CASES for kind in shares)


def _add_by_kind(kind: NDArray[np.intp], values: NDArray[Any] | None) -> FloatArray:
    return np.bincount(kind, weights=values, minlength=len(CASE_KINDS)).astype(np.float64)


def _wins(rows: DistinctRows, plan: DigestPlan) -> tuple[FloatArray, FloatArray]:
    """The share of non-events below each event, and of events above each non-event; a tie counts half."""
    events, others = plan.events or np.nan, plan.total - plan.events or np.nan
    below = rows.n_below - rows.events_below + (rows.n - rows.events) / 2
    above = plan.events - rows.events_below - rows.events / 2
    by_events, by_others = rows.spread(below) * (1 / others), rows.spread(above) * (1 / events)
    return by_events * rows.y, by_others * (1 - rows.y)


# Knots


def _find_jumps(rows: DistinctRows, number: int) -> Knots:
    places = largest_jumps(rows.distinct, number) if number else np.empty(0, dtype=np.intp)
    return rows.knots_at(places)


def _find_steps(rows: DistinctRows, plan: DigestPlan) -> Knots:
    """Knots at the forecasts of the plan that lie in the chunk, and at both ends of the chunk."""
    last = len(rows.x) - 1
    ranks, heights = _at_ranks(rows, plan.ranks), _at_heights(rows, plan)
    places = np.concatenate([[0, last], _at_edges(rows, plan.edges), ranks, ranks + 1, heights, heights + 1])
    return rows.knots_at(np.unique(places[(places >= 0) & (places <= last)]).astype(np.intp))


def _at_edges(rows: DistinctRows, edges: FloatArray) -> NDArray[np.intp]:
    """The place of the first forecast that is not below each value, if it is in the chunk."""
    first, last = np.searchsorted(edges, rows.x[[0, -1]])
    return np.searchsorted(rows.x, edges[first : last + 1])


def _at_ranks(rows: DistinctRows, ranks: FloatArray) -> NDArray[np.intp]:
    """The places of the forecasts of the cases with these ranks, if they are in the chunk."""
    first, last = np.searchsorted(ranks, [rows.n_below[0], rows.n_below[-1] + rows.n[-1]])
    return np.searchsorted(rows.n_below, ranks[first:last], side="right") - 1


def _at_heights(rows: DistinctRows, plan: DigestPlan) -> NDArray[np.intp]:
    """The place of the last forecast at each height along the ROC curve, if it is in the chunk."""
    last = len(rows.x) - 1
    lowest = bisect_left(plan.heights, rows.height(last, plan))
    highest = bisect_right(plan.heights, rows.height(0, plan))
    found = [
        bisect_right(range(last + 1), -height, key=lambda place: -rows.height(place, plan)) - 1
        for height in plan.heights[lowest:highest]
    ]
    return np.array(found, dtype=np.intp)
