"""Isotonic regression as a list of blocks that merge.

Pooling is associative over contiguous lists: `pool(a + b)` equals `pool(pool(a) + pool(b))`. With
integer counts it does so to the last bit, because means are compared exactly, by cross-multiplying
counts. So the same function serves an array, a stream and the partitions of a cluster.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import isotonic_regression

from scorereport.arrays import CountArray, FloatArray, bits_equal, read_only
from scorereport.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorereport.checks import Cases

#: Above this total, products of two counts may leave int64.
_PRODUCTS_FIT = int(np.sqrt(np.iinfo(np.int64).max))

#: Below this total, floats hold every sum of whole weights.
_FLOATS_ARE_EXACT = 2**53


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Blocks:
    """Ranges of forecasts, ascending and disjoint, with the number of cases and of events in each.

    With case weights `n` and `events` are sums of weights; for real outcomes `events` is their sum.
    """

    x_min: FloatArray
    x_max: FloatArray
    n: CountArray
    events: CountArray

    def __post_init__(self) -> None:
        for field in fields(self):
            object.__setattr__(self, field.name, read_only(getattr(self, field.name)))

    def __len__(self) -> int:
        return len(self.n)

    def __add__(self, other: Blocks) -> Blocks:
        """Join two lists; all of the left one must lie below all of the right one."""
        if len(self) and len(other) and not self.x_max[-1] < other.x_min[0]:
            raise DataError(
                f"Blocks must be joined in ascending order without overlap; "
                f"got {self.x_max[-1]} before {other.x_min[0]}."
            )
        return Blocks(
            x_min=np.concatenate([self.x_min, other.x_min]),
            x_max=np.concatenate([self.x_max, other.x_max]),
            n=np.concatenate([self.n, other.n]),
            events=np.concatenate([self.events, other.events]),
        )

    @property
    def mean(self) -> FloatArray:
        """Mean outcome of each block: the conditional event probability (CEP)."""
        return self.events / self.n

    @property
    def corners(self) -> tuple[FloatArray, FloatArray]:
        """Forecast and mean at both ends of each block: the curve that joins them."""
        x, mean = np.column_stack([self.x_min, self.x_max]).ravel(), np.repeat(self.mean, 2)
        keep = np.append(True, x[1:] > x[:-1])
        return x[keep], mean[keep]

    def equals(self, other: Blocks) -> bool:
        """Whether both lists are the same to the last bit."""
        return all(bits_equal(getattr(self, f.name), getattr(other, f.name)) for f in fields(self))


def distinct_forecasts(cases: Cases, *, binary: bool) -> Blocks:
    """One block for each distinct forecast of cases in canonical order."""
    x = cases.y_prob
    return _sum_cases(cases, np.flatnonzero(x[1:] != x[:-1]) + 1, binary=binary)


def pool_cases(cases: Cases, *, binary: bool) -> Blocks:
    """Isotonic regression of cases in canonical order.

    Outcomes that do not rise from one case to the next end up in one block, so cutting where they
    rise gives a list several times shorter than the data, without splitting ties.
    """
    y = cases.y_true
    if binary and cases.weight is None:
        return pool(_runs_of_events_and_non_events(y, cases.y_prob))
    return pool(_sum_cases(cases, np.flatnonzero(y[1:] > y[:-1]) + 1, binary=binary))


def pool(blocks: Blocks) -> Blocks:
    """Isotonic regression of blocks: the fewest blocks whose means rise strictly.

    scipy finds them in floating point. Where counts are integers its answer is verified in exact
    arithmetic, and in the rare case that means closer than a rounding error misled it, found again
    in exact arithmetic.

    >>> singles = Blocks(x_min=np.array([.1, .2, .3]), x_max=np.array([.1, .2, .3]),
    ...                  n=np.array([1, 1, 2]), events=np.array([1, 0, 2]))
    >>> pool(singles).mean
    array([0.5, 1. ])
    """
    runs = _merge_what_does_not_rise(blocks) if len(blocks) > 1 else blocks
    if len(runs) < 2:
        return runs
    pooled = _merge_what_does_not_rise(merge_between(runs, isotonic_starts(runs.n, runs.events)[1:]))
    if pooled.n.dtype.kind == "f" or _is_isotonic_fit(runs, pooled):
        return pooled
    return _pool_exactly(runs)


def isotonic_starts(n: CountArray, events: CountArray) -> NDArray[np.intp]:
    """Where the blocks of an isotonic regression of event rates start, found by scipy in floating point."""
    return isotonic_regression(events / n, weights=n).blocks[:-1]


def runs_of_outcomes(y: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Events then non-events, over and over: where each such run starts, its non-events start, it ends."""
    changes = np.flatnonzero(y[1:] != y[:-1])
    first, last = 1 if y[0] else 2, 2 if y[-1] else 1  # the first run may have no events, the last only them
    edges = np.zeros(first + len(changes) + last, dtype=np.intp)
    np.add(changes, 1, out=edges[first:-last])
    edges[-last:] = len(y)
    return edges[0:-1:2], edges[1::2], edges[2::2]


def _runs_of_events_and_non_events(y: FloatArray, x: FloatArray) -> Blocks:
    """Blocks that begin where outcomes rise."""
    start, first_non_event, end = runs_of_outcomes(y)
    return Blocks(x_min=x[start], x_max=x[end - 1], n=end - start, events=first_non_event - start)


def _sum_cases(cases: Cases, cuts: NDArray[np.intp], *, binary: bool) -> Blocks:
    """Sum ordered cases between cuts; in integers if outcomes are binary and weights are whole."""
    y, x, weight = cases
    count: CountArray = np.ones(len(y)) if weight is None else weight
    events: CountArray = count * y
    if binary and count.sum() < _FLOATS_ARE_EXACT and np.array_equal(count, np.floor(count)):
        count, events = count.astype(np.int64), events.astype(np.int64)
    return Blocks(
        x_min=x[starts_of(cuts)],
        x_max=x[lasts_of(cuts, len(x))],
        n=sum_between(count, cuts),
        events=sum_between(events, cuts),
    )


def sum_between(values: CountArray, cuts: NDArray[np.intp]) -> CountArray:
    """Sums of the values from cut to cut."""
    if values.dtype.kind == "f":
        return np.add.reduceat(values, starts_of(cuts))
    running = np.cumsum(values)  # exact for integers, and faster than reduceat
    sums: NDArray[Any] = running[lasts_of(cuts, len(values))]
    sums[1:] -= sums[:-1].copy()
    return sums


def starts_of(cuts: NDArray[np.intp]) -> NDArray[np.intp]:
    """Where the parts between cuts start."""
    starts = np.zeros(len(cuts) + 1, dtype=np.intp)
    starts[1:] = cuts
    return starts


def lasts_of(cuts: NDArray[np.intp], n: int) -> NDArray[np.intp]:
    """The last place of each part between cuts, of n places."""
    lasts = np.full(len(cuts) + 1, n - 1, dtype=np.intp)
    np.subtract(cuts, 1, out=lasts[:-1])
    return lasts


def merge_between(blocks: Blocks, cuts: NDArray[np.intp]) -> Blocks:
    """Merge all blocks between cuts; a cut is the index of the block that starts anew."""
    return Blocks(
        x_min=blocks.x_min[starts_of(cuts)],
        x_max=blocks.x_max[lasts_of(cuts, len(blocks))],
        n=sum_between(blocks.n, cuts),
        events=sum_between(blocks.events, cuts),
    )


def _merge_what_does_not_rise(blocks: Blocks) -> Blocks:
    """Merge neighbours whose means fall or stay equal: isotonic regression would do so anyway."""
    n, events = _for_products(blocks)
    rises = events[:-1] * n[1:] < events[1:] * n[:-1]
    return blocks if rises.all() else merge_between(blocks, np.flatnonzero(rises) + 1)


def _is_isotonic_fit(runs: Blocks, pooled: Blocks) -> bool:
    """Whether `pooled` is exactly the isotonic regression of `runs`.

    It is if block means rise strictly and no leading part of a block has a mean below the block's.
    """
    n, events = _for_products(pooled)
    if not (events[:-1] * n[1:] < events[1:] * n[:-1]).all():
        return False
    last_run = np.searchsorted(runs.x_max, pooled.x_max)
    block = np.repeat(np.arange(len(pooled)), np.diff(last_run, prepend=-1))
    run_n, run_events = _for_products(runs)
    before_n, before_events = np.cumsum(n) - n, np.cumsum(events) - events
    part_n, part_events = np.cumsum(run_n) - before_n[block], np.cumsum(run_events) - before_events[block]
    return bool((part_events * n[block] >= events[block] * part_n).all())


def _pool_exactly(runs: Blocks) -> Blocks:
    """Pool adjacent violators one by one in Python integers."""
    stack: list[tuple[int, int, int]] = []  # first run, cases, events
    for start, (n, events) in enumerate(zip(runs.n.tolist(), runs.events.tolist(), strict=True)):
        block = (start, n, events)
        while stack and stack[-1][2] * block[1] >= block[2] * stack[-1][1]:
            first, n_before, events_before = stack.pop()
            block = (first, n_before + block[1], events_before + block[2])
        stack.append(block)
    return merge_between(runs, np.array([start for start, _, _ in stack[1:]], dtype=np.intp))


def _for_products(blocks: Blocks) -> tuple[NDArray[Any], NDArray[Any]]:
    """Counts whose pairwise products cannot overflow.

    Python integers where int64 is too small; fractions on a common scale, by a power of two.
    """
    n, events = blocks.n, blocks.events
    if n.dtype.kind == "i":
        return (n, events) if n.sum() <= _PRODUCTS_FIT else (n.astype(object), events.astype(object))
    _, exponent = np.frexp(n.max())
    return np.ldexp(n, -exponent), np.ldexp(events, -exponent)
