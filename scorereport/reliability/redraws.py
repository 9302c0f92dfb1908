"""A sample drawn under a hypothesis, and its isotonic regression."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

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

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorereport._utils.arrays import CountArray, FloatArray

#: With more runs of equal outcomes than this, pooling in whole numbers beats scipy's.
_LONG = 20_000


class Redraw(NamedTuple):
    """A sample drawn under the hypothesis: entries in canonical order, with their number of cases.

    `position` tells which distinct forecast each entry belongs to, None that there is one entry for
    each; `n` is None if each entry is one case.
    """

    position: NDArray[np.integer] | None
    n: CountArray | None
    events: NDArray[Any]

    def fit(self) -> Refit:
        """Isotonic regression of the entries."""
        return self._fit_cases() if self.n is None else self._fit_counts(self.n)

    def _fit_cases(self) -> Refit:
        edges, events = runs_of_outcomes(self.events)
        edges, events = _pool_many(edges, events) if len(events) > _LONG else _pool_few(edges, events)
        return Refit(start=edges[:-1], last=edges[1:] - 1, n=differences(edges), events=events)

    def _fit_counts(self, counts: CountArray) -> Refit:
        """Entries are summed up to where event rates may rise: non-events before, events after."""
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
    """Edges of blocks and events of each, from those of runs of outcomes."""
    sums = Sums(edges, sum_up(events))
    edges, before = sums.at(isotonic_edges(sums))
    return edges, differences(before)


def _pool_few(edges: NDArray[Any], events: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The same in floating point: some neighbours of equal means stay apart, which harms no curve."""
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
        """The fit at forecasts: straight between blocks, NaN beyond the forecasts drawn."""
        edges = np.empty(2 * len(self.start), dtype=np.intp)
        edges[0::2], edges[1::2] = self.start, self.last
        corners = x[edges if position is None else position[edges]]
        return np.interp(points, corners, np.repeat(self.mean, 2), left=np.nan, right=np.nan)
