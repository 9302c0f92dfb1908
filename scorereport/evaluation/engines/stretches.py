"""A sorted stream of rows, cut so that no tie is split and no piece outgrows memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport.evaluation.engines.protocol import BUCKETS, Chunk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

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
