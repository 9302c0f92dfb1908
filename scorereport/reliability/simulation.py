"""Simulation of outcomes under a hypothesis, for resampled bands and tests.

Draws need no sort by forecast: the forecasts are in order already, so positions among them are drawn, with
the outcome in the lowest bit of an integer where ties must be ordered too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.arrays import FloatArray, IntArray
from scorereport.reliability.blocks import Blocks
from scorereport.reliability.draws import EventChances, ForecastPiece, ForecastTies, Redraw, cut_into_pieces
from scorereport.reliability.outcome_weights import OutcomeWeights, weigh_outcomes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorereport._utils.checks import CheckedCases

#: With more cases per distinct forecast than this, counts are drawn rather than cases.
_MANY_TIES = 8
#: A difference of sums that is smaller than this, relative to the sums, is a rounding error.
_ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class Simulation(ABC):
    """Distinct forecasts with the probability of an event at each under a hypothesis."""

    distinct: Blocks
    probability: FloatArray

    @property
    def keeps_counts(self) -> bool:
        """Whether each distinct forecast keeps its weight in draws: if weights do not depend on outcomes."""
        return True

    @abstractmethod
    def redraw_outcomes(self, rng: np.random.Generator) -> Redraw:
        """Keep the forecasts and draw outcomes, with one entry for each distinct forecast."""

    @abstractmethod
    def redraw_cases(self, rng: np.random.Generator) -> Redraw:
        """Draw cases with replacement, as many as there were, and their outcomes."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _CaseSimulation(Simulation):
    """Few ties: one random number for each case."""

    @property
    def _has_ties(self) -> bool:
        return len(self.distinct) < self._n

    @cached_property
    def _n(self) -> int:
        return int(self.distinct.n.sum())

    @cached_property
    def _chances(self) -> EventChances:
        chances = EventChances.of(self.probability)
        return chances.spread(self._ties) if self._has_ties else chances

    def redraw_outcomes(self, rng: np.random.Generator) -> Redraw:
        happens = self._chances.draw(rng)
        if not self._has_ties:
            return Redraw(None, None, happens)
        return Redraw(None, self._ties.n, self._ties.count(happens))

    @cached_property
    def _ties(self) -> ForecastTies:
        return ForecastTies.of(self.distinct.n)

    def redraw_cases(self, rng: np.random.Generator) -> Redraw:
        """Draw the number of cases of each piece, then the cases of each piece."""
        if len(self._pieces) == 1:
            key = self._pieces[0].draw(rng, self._n)
            return Redraw(key >> np.uint16(1), None, (key & np.uint16(1)) == 0)
        position, happens = np.empty(self._n, dtype=np.uint32), np.empty(self._n, dtype=np.bool_)
        end = 0
        for piece, size in zip(self._pieces, rng.multinomial(self._n, self._shares).tolist(), strict=True):
            start, end = end, end + size
            key = piece.draw(rng, size)
            np.equal(key & 1, 0, out=happens[start:end])
            key >>= 1
            np.add(key, piece.first, out=position[start:end], dtype=np.uint32)
        return Redraw(position, None, happens)

    @cached_property
    def _pieces(self) -> list[ForecastPiece]:
        return cut_into_pieces(self.distinct.n, self.probability)

    @cached_property
    def _shares(self) -> FloatArray:
        return np.array([piece.cases for piece in self._pieces]) / self._n


@dataclass(frozen=True, kw_only=True, eq=False)
class _CountSimulation(Simulation):
    """Many ties: one binomial count for each distinct forecast."""

    def redraw_outcomes(self, rng: np.random.Generator) -> Redraw:
        n = self.distinct.n.astype(np.int64)
        return Redraw(None, n, rng.binomial(n, self.probability))

    def redraw_cases(self, rng: np.random.Generator) -> Redraw:
        total = int(self.distinct.n.sum())
        n = rng.multinomial(total, self.distinct.n / total)
        drawn = np.flatnonzero(n)
        return Redraw(drawn, n[drawn], rng.binomial(n[drawn], self.probability[drawn]))


@dataclass(frozen=True, kw_only=True, eq=False)
class _RowSimulation(Simulation):
    """Rows that carry sampling weights, or that belong to clusters.

    A row with a sampling weight has the probability of an event of a sampled row under the
    hypothesis, and the weight that belongs to the outcome drawn. Rows of a cluster depend on each other:
    with probability √ρ a row takes the random number of its cluster instead of its own, so that two rows
    have the covariance ρ (min(p, q) - p q) and each row keeps its probability.
    """

    forecast: IntArray  # which distinct forecast each row has
    weights: OutcomeWeights | None
    cluster: IntArray | None
    correlation: float

    @property
    def keeps_counts(self) -> bool:
        return self.weights is None or self.weights.are_fixed

    def redraw_outcomes(self, rng: np.random.Generator) -> Redraw:
        rows = np.arange(len(self.forecast))
        n, events = self._count(rows, self._outcomes(rng, rows, self.cluster))
        return Redraw(None, n, events)

    def redraw_cases(self, rng: np.random.Generator) -> Redraw:
        rows, cluster = self._redraw_rows(rng)
        n, events = self._count(rows, self._outcomes(rng, rows, cluster))
        drawn = np.flatnonzero(n)
        return Redraw(drawn, n[drawn], events[drawn])

    def _redraw_rows(self, rng: np.random.Generator) -> tuple[IntArray, IntArray | None]:
        """Rows drawn, or the rows of clusters drawn; a cluster drawn twice becomes two clusters."""
        if self.cluster is None:
            return rng.integers(0, len(self.forecast), len(self.forecast)), None
        size, by_cluster = self._members
        drawn = rng.integers(0, len(size), len(size))
        first = (np.cumsum(size) - size)[drawn]
        copy = np.repeat(np.arange(len(drawn)), size[drawn])
        place = np.arange(len(copy)) - np.repeat(np.cumsum(size[drawn]) - size[drawn], size[drawn])
        return by_cluster[first[copy] + place], copy

    @cached_property
    def _members(self) -> tuple[IntArray, IntArray]:
        return np.bincount(self.cluster), np.argsort(self.cluster, kind="stable")  # type: ignore[arg-type]

    def _outcomes(
        self, rng: np.random.Generator, rows: IntArray, cluster: IntArray | None
    ) -> NDArray[np.bool_]:
        chance = rng.random(len(rows))
        if cluster is not None and self.correlation > 0:
            shared = rng.random(int(cluster.max()) + 1)[cluster]
            chance = np.where(rng.random(len(rows)) < np.sqrt(self.correlation), shared, chance)
        return chance < self._probability_of_rows[rows]

    @cached_property
    def _probability_of_rows(self) -> FloatArray:
        probability = self.probability[self.forecast]
        return probability if self.weights is None else self.weights.share_of_events(probability)

    def _count(self, rows: IntArray, happens: NDArray[np.bool_]) -> tuple[NDArray[Any], NDArray[Any]]:
        forecast, size = self.forecast[rows], len(self.distinct)
        weight = np.ones(len(rows)) if self.weights is None else self.weights.draw(rows, happens)
        n = np.bincount(forecast, weights=weight, minlength=size)
        # the same order of summation: if all are events, n and events are equal to the last bit
        return n, np.bincount(forecast, weights=np.where(happens, weight, 0.0), minlength=size)


def make_simulation(
    cases: CheckedCases,
    distinct: Blocks,
    probability: FloatArray,
    cluster: IntArray | None,
    correlation: float = 0.0,
    *,
    by_count: bool,
) -> Simulation:
    """Make the simulation of a sample: by case, by count, or by row if rows have weights or clusters."""
    if by_count:
        many_ties = distinct.n.sum() > _MANY_TIES * len(distinct)
        kind = _CountSimulation if many_ties else _CaseSimulation
        return kind(distinct=distinct, probability=probability)
    return _RowSimulation(
        distinct=distinct,
        probability=probability,
        forecast=np.searchsorted(distinct.x_min, cases.y_prob).astype(np.int64),
        weights=None if cases.weight is None else weigh_outcomes(cases),
        cluster=cluster,
        correlation=correlation,
    )


def cluster_correlation(residual: FloatArray, probability: FloatArray, cluster: IntArray) -> float:
    """Estimate ρ, which gives pairs of rows of a cluster the covariance of their residuals; at least 0.

    It is Σ r s over Σ (min(p, q) - p q), summed over all pairs without enumerating them: among k ascending
    probabilities the smallest is the minimum of k - 1 pairs, the next of k - 2, and so on.
    """
    order = np.lexsort((probability, cluster))
    p, group = probability[order], cluster[order]
    size = np.bincount(group)
    later = np.cumsum(size)[group] - 1 - np.arange(len(group))
    minima = (p * later).sum()
    products = ((np.bincount(group, weights=p)) ** 2 - np.bincount(group, weights=p**2)).sum() / 2
    covariance = (np.bincount(cluster, weights=residual) ** 2).sum() - (residual**2).sum()
    possible = 2 * (minima - products)
    return float(np.clip(covariance / possible, 0.0, 1.0)) if possible > _ROUNDING * minima else 0.0
