"""Isotonic regression as a list of blocks that merge.

Pooling is associative over contiguous lists: `pool(a + b)` equals `pool(pool(a) + pool(b))`. With
integer counts this is exact to the last bit, because means are compared exactly, by cross-multiplying
counts. So the same function serves an array, a stream and the partitions of a cluster.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.optimize import isotonic_regression

from scorereport._utils.arrays import CountArray, FloatArray, bits_equal, read_only
from scorereport._utils.representation import short_repr
from scorereport._utils.rounding import RELATIVE
from scorereport.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorereport._utils.checks import CheckedCases

#: Above this total, products of two counts may exceed int64.
_PRODUCTS_FIT = int(np.sqrt(np.iinfo(np.int64).max))

_LARGEST_INT32 = np.iinfo(np.int32).max

#: Neighbours are merged again if the last pass left less than this share of the parts.
_SLOW = 0.9

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

    __repr__ = short_repr

    def __post_init__(self) -> None:
        for field in fields(self):
            object.__setattr__(self, field.name, read_only(getattr(self, field.name)))

    def __len__(self) -> int:
        return len(self.n)

    def __add__(self, other: Blocks) -> Blocks:
        """Join two lists; all of the left one must be below all of the right one."""
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
        """Forecast and mean at both ends of each block, which define the curve."""
        x, mean = np.column_stack([self.x_min, self.x_max]).ravel(), np.repeat(self.mean, 2)
        keep = np.append(True, x[1:] > x[:-1])
        return x[keep], mean[keep]

    def equals(self, other: Blocks) -> bool:
        """Whether both lists are the same to the last bit."""
        return all(bits_equal(getattr(self, f.name), getattr(other, f.name)) for f in fields(self))


def distinct_forecasts(cases: CheckedCases, *, binary: bool) -> Blocks:
    """Return one block for each distinct forecast of cases in canonical order."""
    y, x = cases.y_true, cases.y_prob
    if not binary or cases.weight is not None:
        return _sum_cases(cases, np.flatnonzero(x[1:] != x[:-1]) + 1, binary=binary)
    is_first = np.append(True, x[1:] != x[:-1])
    if is_first.all():  # one array for both ends, and one number for all counts
        return Blocks(x_min=x, x_max=x, n=np.broadcast_to(1, len(x)), events=(y != 0).astype(np.int64))
    start = np.flatnonzero(is_first)
    events = np.add.reduceat(y != 0, start, dtype=np.int64)
    value = x[start]
    return Blocks(x_min=value, x_max=value, n=np.diff(start, append=len(x)), events=events)


def pool_cases(cases: CheckedCases, *, binary: bool) -> Blocks:
    """Compute the isotonic regression of cases in canonical order.

    Outcomes that do not rise from one case to the next are in the same block, so cutting only where they
    rise gives a list several times shorter than the data, without splitting ties.
    """
    y, x = cases.y_true, cases.y_prob
    if binary and cases.weight is None:
        return pool_outcomes(y, x)
    return pool(_sum_cases(cases, np.flatnonzero(y[1:] > y[:-1]) + 1, binary=binary))


def pool_outcomes(y: NDArray[Any], x: FloatArray) -> Blocks:
    """Compute the isotonic regression of outcomes 0 and 1, of any type, in canonical order."""
    sums = sums_of_outcomes(y)
    sums = sums.at(isotonic_edges(sums))
    n, events = (differences(total).astype(np.int64) for total in sums)
    return Blocks(x_min=x[sums.n[:-1]], x_max=x[sums.n[1:] - 1], n=n, events=events)


def pool(blocks: Blocks) -> Blocks:
    """Compute the isotonic regression of blocks: the pooled blocks, whose means rise strictly.

    With integer counts the arithmetic is exact.

    >>> singles = Blocks(x_min=np.array([.1, .2, .3]), x_max=np.array([.1, .2, .3]),
    ...                  n=np.array([1, 1, 2]), events=np.array([1, 0, 2]))
    >>> pool(singles).mean
    array([0.5, 1. ])
    """
    if len(blocks) < 2:
        return blocks
    if blocks.n.dtype.kind == "f":
        return _pool_fractions(blocks)
    edges = isotonic_edges(Sums(sum_up(blocks.n), sum_up(blocks.events)))
    return blocks if len(edges) > len(blocks) else merge_between(blocks, edges[1:-1])


class Sums(NamedTuple):
    """Cumulative whole numbers of cases and events before each part of a list, and at its end."""

    n: NDArray[Any]
    events: NDArray[Any]

    def at(self, edges: NDArray[np.intp]) -> Sums:
        """The sums at some edges; everything between two edges becomes one part."""
        return Sums(self.n[edges], self.events[edges])

    @property
    def parts(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Cases and events of each part, in a type that can hold their products, if need be `object`."""
        n, events = differences(self.n), differences(self.events)
        if n.dtype == np.int32 and int(n.max()) * int(events.max()) > _LARGEST_INT32:
            return n.astype(np.int64), events.astype(np.int64)
        if self.n[-1] > _PRODUCTS_FIT:
            return n.astype(object), events.astype(object)
        return n, events


def sums_of_outcomes(y: NDArray[Any]) -> Sums:
    """Return sums at the edges of runs of outcomes, each of events and then of non-events."""
    edges, events = runs_of_outcomes(y)
    return Sums(edges, sum_up(events))


def runs_of_outcomes(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the edges of runs of outcomes, each of events and then of non-events, and the events of each."""
    changes = np.flatnonzero(y[1:] != y[:-1])
    first, last = 1 if y[0] else 2, 2 if y[-1] else 1  # the first run may have no events, the last only them
    edges = np.zeros(first + len(changes) + last, dtype=np.int32 if len(y) <= _LARGEST_INT32 else np.int64)
    np.add(changes, 1, out=edges[first:-last], casting="same_kind")
    edges[-last:] = len(y)
    starts = edges[0::2].copy()
    return starts, np.subtract(edges[1::2], starts[:-1])


def isotonic_edges(sums: Sums) -> NDArray[np.intp]:
    """Return which of the sums are at edges of blocks of the isotonic regression, both ends included.

    Neighbours whose means do not rise belong to the same block. They are merged, all at once, in passes until
    all means rise: most data take ten passes, each of half the length. If a list shrinks slowly, scipy takes
    over.
    """
    edges = np.arange(len(sums.n))
    while len(rising := _edges_of_rises(sums)) < len(sums.n):
        shrinks = len(rising) < _SLOW * len(sums.n)
        edges, sums = edges[rising], sums.at(rising)
        if not shrinks:
            return edges[_edges_by_scipy(sums)]
    return edges


def edges_in_floats(n: CountArray, events: CountArray, shift: FloatArray | float = 0.0) -> NDArray[np.intp]:
    """Return the edges of blocks of an isotonic regression of event rates, by scipy in floating point.

    Rates are shifted first: a shift that rises by more than 1 keeps what is on both sides of it apart.
    """
    return isotonic_regression(events / n + shift, weights=n).blocks


def _edges_of_rises(sums: Sums) -> NDArray[np.intp]:
    """The first sum, those between parts whose means rise, and the last."""
    n, events = sums.parts
    rises = np.flatnonzero(events[:-1] * n[1:] < events[1:] * n[:-1])
    edges = np.zeros(len(rises) + 2, dtype=np.intp)
    np.add(rises, 1, out=edges[1:-1])
    edges[-1] = len(n)
    return edges


def _edges_by_scipy(sums: Sums) -> NDArray[np.intp]:
    """The edges of blocks that scipy finds in floating point, verified in exact arithmetic.

    In the rare case that they are wrong, as means differ by less than a rounding error, they are found one by
    one.
    """
    n, events = (differences(total).astype(np.float64) for total in sums)
    edges = edges_in_floats(n, events)
    edges = edges[_edges_of_rises(sums.at(edges))]
    return edges if _are_isotonic(sums, edges) else _edges_one_by_one(sums)


def _are_isotonic(sums: Sums, edges: NDArray[np.intp]) -> bool:
    """Whether these are exactly the edges of the blocks of an isotonic regression.

    They are if block means rise strictly and no leading part of a block has a mean below the block's.
    """
    blocks = sums.at(edges)
    if len(_edges_of_rises(blocks)) < len(edges):
        return False
    block = np.repeat(np.arange(len(edges) - 1), differences(edges))
    n, events = blocks.parts
    part_n, part_events = (
        (total[1:] - start[block]).astype(n.dtype) for total, start in zip(sums, blocks, strict=True)
    )
    return bool((part_events * n[block] >= events[block] * part_n).all())


def _edges_one_by_one(sums: Sums) -> NDArray[np.intp]:
    """Pool adjacent violators one by one in Python integers."""
    stack: list[tuple[int, int, int]] = []  # first part, cases, events
    for start, (n, events) in enumerate(zip(*(differences(total).tolist() for total in sums), strict=True)):
        block = (start, n, events)
        while stack and stack[-1][2] * block[1] >= block[2] * stack[-1][1]:
            first, n_before, events_before = stack.pop()
            block = (first, n_before + block[1], events_before + block[2])
        stack.append(block)
    return np.array([start for start, _, _ in stack] + [len(sums.n) - 1], dtype=np.intp)


def _pool_fractions(blocks: Blocks) -> Blocks:
    """Isotonic regression of blocks with fractional counts, in floating point."""
    runs = _merge_non_rising(blocks)
    if len(runs) < 2:
        return runs
    return _merge_non_rising(merge_between(runs, edges_in_floats(runs.n, runs.events)[1:-1]))


def _sum_cases(cases: CheckedCases, cuts: NDArray[np.intp], *, binary: bool) -> Blocks:
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
    """Return the sums of the values between cuts."""
    if values.dtype.kind == "f":
        return np.add.reduceat(values, starts_of(cuts))
    running = np.cumsum(values, dtype=values.dtype)  # exact for integers, and faster than reduceat
    sums: NDArray[Any] = running[lasts_of(cuts, len(values))]
    sums[1:] -= sums[:-1].copy()
    return sums


def sums_before(counts: CountArray, places: NDArray[np.intp]) -> CountArray:
    """Return the sum of the counts before each place; of few places no running totals of all counts are made.

    >>> sums_before(np.array([1, 2, 4]), np.array([3, 0, 2, 2]))
    array([7, 0, 3, 3])
    """
    edges = np.unique(np.append(0, places))
    inside = edges[edges < len(counts)]
    between = np.add.reduceat(counts, inside) if len(inside) else counts
    found: CountArray = sum_up(between)[np.searchsorted(edges, places)]
    return found


def outcomes_before(
    n: CountArray, events: CountArray, places: NDArray[np.intp]
) -> tuple[CountArray, CountArray]:
    """Return the events and the non-events before each place, and at last those of all cases."""
    ends = np.append(places, len(n))
    before = sums_before(events, ends)
    if n.dtype.kind == "f":  # a difference of sums would differ from 0 by rounding where nothing is left
        return before, sums_before(n - events, ends)
    return before, sums_before(n, ends) - before


def differences(values: NDArray[Any]) -> NDArray[Any]:
    """Return differences of neighbours like `np.diff`, in a third of the time where values are few."""
    return values[1:] - values[:-1]


def starts_of(cuts: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the start of each part between cuts."""
    starts = np.zeros(len(cuts) + 1, dtype=np.intp)
    starts[1:] = cuts
    return starts


def lasts_of(cuts: NDArray[np.intp], n: int) -> NDArray[np.intp]:
    """Return the last position of each part between cuts, among n positions."""
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


def _merge_non_rising(blocks: Blocks) -> Blocks:
    """Merge neighbours whose means fall or, up to rounding, are equal, as isotonic regression does."""
    _, exponent = np.frexp(blocks.n.max())  # scaled so that products neither overflow nor vanish
    n, events = np.ldexp(blocks.n, -exponent), np.ldexp(blocks.events, -exponent)
    rises = events[:-1] * n[1:] < events[1:] * n[:-1] * (1 - RELATIVE)
    return blocks if rises.all() else merge_between(blocks, np.flatnonzero(rises) + 1)


def sum_up(counts: NDArray[Any]) -> NDArray[Any]:
    """Return zero and the running totals."""
    sums = np.zeros(len(counts) + 1, dtype=counts.dtype)
    np.cumsum(counts, out=sums[1:])
    return sums
