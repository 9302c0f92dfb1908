"""Cells of neighbouring forecasts of rows that belong to clusters, in which samples are drawn.

As of single rows, a row takes the random number of its cluster with probability √ρ, else one of its own. All
rows of a cell have the same probability p of an event. Given the numbers of the clusters, those of its rows
whose cluster has a number below p are events with probability √ρ + (1 - √ρ) p, and the others with
probability (1 - √ρ) p. So the events of a cell are the sum of two binomial counts.

In every sample, the rows whose cluster has a number below p are counted. Tables have a row for each cluster
and a column for each of several samples, so that one row of numbers is copied for each row of the data.
Numbers are replaced by ranks among the probabilities of cells, which are shorter.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.arrays import IntArray
from scorereport.reliability.draws import Redraws, draw_bits, draw_places
from scorereport.reliability.marked_rows import MarkedRows, choose_samples
from scorereport.reliability.simulation import Simulation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


#: The largest number of 32 bits, which no probability exceeds.
_NEVER = np.uint32(2**32 - 1)
#: Ranks are looked up by the first bits of a number; other bits decide only where probabilities are close.
_OTHER_BITS = np.uint32(18)
#: A cluster that is drawn more often than this is counted by its rows: there are few.
_COUNTED_TOGETHER = 3
#: Rows, over all samples of a chunk.
_ROWS_OF_CHUNK = 1 << 21


@dataclass(frozen=True, kw_only=True, eq=False)
class ClusteredCellSimulation(Simulation):
    """Cells of rows; `cluster` is that of each row, in the order of their forecasts."""

    cluster: IntArray
    correlation: float

    @property
    def numbers(self) -> int:
        """One for each cluster, and two for each cell."""
        return self._clusters + 2 * len(self.distinct)

    @property
    def samples_of_a_chunk(self) -> int:
        """How many samples are drawn at a time."""
        return choose_samples(len(self.cluster), _ROWS_OF_CHUNK)

    def redraw_outcomes(self, rng: np.random.Generator, samples: int = 1) -> Redraws:
        """Keep the forecasts and draw outcomes."""
        n = self.distinct.n.astype(np.int64)
        if self.correlation > 0:
            number = self._draw_ranks(rng, self._clusters * samples).reshape(self._clusters, samples)
            below = self._ranked.count([number])
        else:
            below = np.zeros((samples, len(n)), dtype=np.int64)
        return Redraws(n, self._draw_events(rng, n, below))

    def redraw_cases(self, rng: np.random.Generator, samples: int = 1) -> Redraws:
        """Draw clusters with replacement, and the outcomes of their rows."""
        place = draw_places(rng, self._clusters, samples * self._clusters).reshape(samples, -1)
        place *= samples
        place += np.arange(samples)[:, None]
        times = np.bincount(place.ravel(), minlength=place.size).reshape(-1, samples).astype(np.int32)
        n = np.ascontiguousarray((self._rows_of_clusters @ times).T, dtype=np.int64)
        below = self._count_drawn(rng, times) if self.correlation > 0 else np.zeros_like(n)
        return Redraws(n, self._draw_events(rng, n, below))

    def _count_drawn(self, rng: np.random.Generator, times: NDArray[np.int32]) -> IntArray:
        """How many rows of each cell have a cluster with a number below their probability, in each sample.

        A cluster that is drawn k times becomes k clusters, each with a number of its own.
        """
        copies = []
        for copy in range(1, _COUNTED_TOGETHER + 1):
            drawn = np.flatnonzero(times >= copy)
            number = np.full(times.size, len(self._limits), dtype=self._rank_type)
            number[drawn] = self._draw_ranks(rng, len(drawn))
            copies.append(number.reshape(times.shape))
        below = self._ranked.count(copies)
        cluster, sample = np.nonzero(times > _COUNTED_TOGETHER)
        further = times[cluster, sample] - _COUNTED_TOGETHER
        cluster, sample = np.repeat(cluster, further), np.repeat(sample, further)
        return below + self._ranked.count_single(
            cluster, sample, self._draw_ranks(rng, len(cluster)), times.shape[1]
        )

    def _draw_events(self, rng: np.random.Generator, n: IntArray, below: IntArray) -> NDArray[np.int64]:
        """Draw the events of each cell: among rows whose cluster has a number below p, and among others.

        Numbers have 32 bits. At probabilities of 0 and 1 they do not count.
        """
        p, share = self.probability, self.correlation**0.5
        alone = np.where(p == 1, 1.0, (1 - share) * p)
        events = rng.binomial(n - below, alone)
        if self.correlation > 0:
            events += rng.binomial(below, np.where(p == 0, 0.0, np.minimum(alone + share, 1.0)))
        return events

    def _draw_ranks(self, rng: np.random.Generator, size: int) -> NDArray[Any]:
        """How many probabilities of cells a random number reaches, of 32 bits."""
        number = draw_bits(rng, size, np.uint32)
        first_bits = number >> _OTHER_BITS
        least, most = self._ranks_by_bits
        rank = least.take(first_bits)
        open_places = np.flatnonzero(most.take(first_bits) > rank)
        rank[open_places] = np.searchsorted(self._limits, number[open_places], side="right")
        return rank

    @cached_property
    def _ranks_by_bits(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The lowest and the highest rank of the numbers with the same first bits."""
        lowest = np.arange(2 ** (32 - int(_OTHER_BITS)), dtype=np.uint32) << _OTHER_BITS
        highest = lowest + np.uint32(2 ** int(_OTHER_BITS) - 1)
        least, most = (np.searchsorted(self._limits, ends, side="right") for ends in (lowest, highest))
        return least.astype(self._rank_type), most.astype(self._rank_type)

    @cached_property
    def _clusters(self) -> int:
        return int(self.cluster.max()) + 1

    @cached_property
    def _limits_of_cells(self) -> NDArray[np.uint32]:
        """The probabilities of cells in units of 2^-32."""
        return np.minimum(np.rint(np.ldexp(self.probability, 32)), _NEVER).astype(np.uint32)

    @cached_property
    def _limits(self) -> NDArray[np.uint32]:
        """Those that differ, in order."""
        return np.unique(self._limits_of_cells)

    @property
    def _rank_type(self) -> np.dtype[Any]:
        return np.min_scalar_type(len(self._limits))

    @cached_property
    def _ranked(self) -> _RankedRows:
        rank = np.searchsorted(self._limits, self._limits_of_cells).astype(self._rank_type)
        return _RankedRows(self.cluster, self.distinct.n.astype(np.intp), rank)

    @cached_property
    def _rows_of_clusters(self) -> Any:
        """How many rows of each cell each cluster has."""
        from scipy.sparse import csr_array  # most evaluations do without

        ends = np.append(0, np.cumsum(self.distinct.n.astype(np.intp)))
        ones = np.ones(len(self.cluster), dtype=np.int32)
        return csr_array((ones, self.cluster, ends), shape=(len(self.distinct), self._clusters))


class _RankedRows:
    """Rows in cells, each with the rank of its probability, which the number of its cluster may be below.

    A number is below a probability if its rank, the count of probabilities that it reaches, is at most the
    rank of that probability.
    """

    def __init__(self, cluster: IntArray, n: NDArray[np.intp], rank: NDArray[Any]) -> None:
        self._cluster = cluster
        self._cell = np.repeat(np.arange(len(n)), n)
        self._rank = rank[self._cell]
        self._cells = len(n)
        self._counted = MarkedRows(n)

    def count(self, numbers: Sequence[NDArray[Any]]) -> IntArray:
        """Count the rows of each cell that are below, a row for each sample, over several tables.

        A table has the rank of the number of each cluster in each sample.
        """

        def mark(rows: slice, turn: int, are_below: NDArray[np.bool_]) -> None:
            # faster: no place is checked
            number = numbers[turn].take(self._cluster[rows], axis=0, mode="clip")
            np.less_equal(number, self._rank[rows, None], out=are_below)

        return self._counted.count(numbers[0].shape[1], mark, len(numbers))

    def count_single(
        self, cluster: NDArray[np.intp], sample: NDArray[np.intp], number: NDArray[Any], samples: int
    ) -> IntArray:
        """Count the same for single clusters in single samples, by their rows."""
        n, first, by_cluster = self._members
        size = n[cluster]
        before = np.cumsum(size) - size
        rows = by_cluster[np.arange(size.sum()) + np.repeat(first[cluster] - before, size)]
        is_below = np.repeat(number, size) <= self._rank[rows]
        place = np.repeat(sample, size)[is_below] * self._cells + self._cell[rows[is_below]]
        return np.bincount(place, minlength=self._cells * samples).reshape(samples, self._cells)

    @cached_property
    def _members(self) -> tuple[IntArray, IntArray, NDArray[np.intp]]:
        """The number of rows of each cluster, the place of its first row, and rows by cluster."""
        n = np.bincount(self._cluster)
        return n, np.cumsum(n) - n, np.argsort(self._cluster, kind="stable")
