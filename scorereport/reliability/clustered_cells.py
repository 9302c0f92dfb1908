"""Cells of neighbouring forecasts of rows that belong to clusters, in which samples are drawn.

As of single rows, a row takes the random number of its cluster with probability √ρ, else one of its own. All
rows of a cell have the same probability p of an event. Given the numbers of the clusters, those of its rows
whose cluster has a number below p are events with probability √ρ + (1 - √ρ) p, and the others with
probability (1 - √ρ) p. So the events of a cell are the sum of two binomial counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from scorereport._utils.arrays import IntArray
from scorereport.reliability.draws import Redraws, draw_bits
from scorereport.reliability.simulation import Simulation

if TYPE_CHECKING:
    from numpy.typing import NDArray


_Number = TypeVar("_Number", bound=np.generic)
#: The largest number of 32 bits, which no probability exceeds.
_NEVER = np.uint32(2**32 - 1)


@dataclass(frozen=True, kw_only=True, eq=False)
class ClusteredCellSimulation(Simulation):
    """Cells of rows; `cluster` is that of each row, in the order of their forecasts."""

    cluster: IntArray
    correlation: float

    @property
    def numbers(self) -> int:
        """One for each cluster, and two for each cell."""
        return self._clusters + 2 * len(self.distinct)

    def redraw_outcomes(self, rng: np.random.Generator, samples: int = 1) -> Redraws:
        """Keep the forecasts and draw outcomes."""
        n = self.distinct.n.astype(np.int64)
        below = np.zeros((samples, len(n)), dtype=np.int64)
        if self.correlation > 0:
            for of_sample in below:
                of_sample[:] = self._sum(self._are_below(self._draw_numbers(rng)))
        return Redraws(n, self._draw_events(rng, n, below))

    def redraw_cases(self, rng: np.random.Generator, samples: int = 1) -> Redraws:
        """Draw clusters with replacement, and the outcomes of their rows."""
        drawn = [self._redraw_sample(rng) for _ in range(samples)]
        n, below = (np.array(part) for part in zip(*drawn, strict=True))
        return Redraws(n, self._draw_events(rng, n, below))

    def _redraw_sample(self, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
        """The rows of each cell, and how many of them have a cluster with a number below its probability.

        A cluster that is drawn k times becomes k clusters, each with a number of its own. Few are drawn more
        than twice: of these alone the rows are picked out.
        """
        clusters = self._clusters
        times = np.bincount(rng.integers(0, clusters, clusters), minlength=clusters)
        of_rows = self._spread(times.astype(np.int16))
        n = self._sum(of_rows)
        if self.correlation == 0:
            return n, np.zeros_like(n)
        below = np.zeros(len(of_rows), dtype=np.int16)
        for copy in (1, 2):
            below += self._are_below(np.where(times >= copy, self._draw_numbers(rng), _NEVER))
        rows = np.flatnonzero(of_rows > 2)
        for copy in range(3, int(times.max()) + 1):
            rows = rows[of_rows[rows] >= copy]
            below[rows] += self._draw_numbers(rng)[self.cluster[rows]] < self._limit_of_rows[rows]
        return n, self._sum(below)

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

    def _draw_numbers(self, rng: np.random.Generator) -> NDArray[np.uint32]:
        """A random number for each cluster, in units of 2^-32."""
        return draw_bits(rng, self._clusters, np.uint32)

    def _are_below(self, number: NDArray[np.uint32]) -> NDArray[np.bool_]:
        """Whether the number of the cluster of each row is below the probability of the row."""
        return self._spread(number) < self._limit_of_rows

    def _spread(self, of_clusters: NDArray[_Number]) -> NDArray[_Number]:
        """The value of the cluster of each row."""
        return of_clusters.take(self.cluster, mode="clip")  # faster: no place is checked

    def _sum(self, of_rows: NDArray[np.generic]) -> IntArray:
        """Sums over the rows of each cell."""
        return np.add.reduceat(of_rows, self._first_rows, dtype=np.int64)

    @cached_property
    def _clusters(self) -> int:
        return int(self.cluster.max()) + 1

    @cached_property
    def _first_rows(self) -> NDArray[np.intp]:
        """The first row of each cell."""
        n = self.distinct.n.astype(np.intp)
        return np.cumsum(n) - n

    @cached_property
    def _limit_of_rows(self) -> NDArray[np.uint32]:
        """The probability of each row in units of 2^-32."""
        limit = np.minimum(np.rint(np.ldexp(self.probability, 32)), _NEVER).astype(np.uint32)
        return np.repeat(limit, self.distinct.n.astype(np.intp))
