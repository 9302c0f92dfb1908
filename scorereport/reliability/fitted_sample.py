"""A fitted sample: its cases in canonical order, their isotonic fit and their sampling units.

All later steps use the canonical order, so results do not depend on the order of rows, to the last bit.
In this order no outcome rises within a tie, so cutting where outcomes rise never splits a tie: ties need no
pooling of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.arrays import CACHED_ROWS, CountArray, FloatArray, IntArray, read_only
from scorereport._utils.checks import CheckedCases
from scorereport._utils.representation import short_repr
from scorereport.reliability.blocks import Blocks, merge_between
from scorereport.reliability.cells import USUAL_SIZE, CellSimulation, CellSize, average_in_cells, find_cells
from scorereport.reliability.clustered_cells import ClusteredCellSimulation
from scorereport.reliability.outcome_weights import weigh_outcomes
from scorereport.reliability.sampling import SamplingUnits
from scorereport.reliability.simulation import cluster_correlation, make_simulation
from scorereport.reliability.weighted_cells import WeightedCellSimulation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from scorereport.reliability.outcome_weights import OutcomeWeights
    from scorereport.reliability.simulation import Simulation

#: The bit pattern of the smallest normal float, which has full precision.
_LEAST_NORMAL = np.array(np.finfo(np.float64).smallest_normal).view(np.int64)


@dataclass(frozen=True, kw_only=True, eq=False)
class FittedSample:
    """Cases in canonical order, by distinct forecast and by block; `cluster` numbers clusters from 0."""

    cases: CheckedCases
    distinct: Blocks
    blocks: Blocks
    cluster: IntArray | None = None
    weight_kind: str = "sampling"

    __repr__ = short_repr

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.cases.y_true)

    @cached_property
    def units(self) -> SamplingUnits:
        """The rows as independent draws."""
        weight = self.cases.weight
        return SamplingUnits(
            rows=self.rows, weight=weight, cluster=self.cluster, weight_kind=self.weight_kind
        )

    @property
    def counts(self) -> tuple[float, float]:
        """Events and non-events, as numbers of cases."""
        is_event = self.cases.y_true == 1
        return self.units.count(is_event), self.units.count(~is_event)

    @property
    def case_weights(self) -> tuple[float, float]:
        """The weight of an event and of a non-event: 1 for repeated rows."""
        is_event, weight = self.cases.y_true == 1, self.units.row_weight
        sums = (float(weight[chosen].sum()) for chosen in (is_event, ~is_event))
        event, other = (total / n if n else 1.0 for total, n in zip(sums, self.counts, strict=True))
        return event, other

    def cep(self, x: FloatArray) -> FloatArray:
        """Recalibrated probability at forecasts: interpolated, constant beyond the ends of the curve."""
        return np.interp(x, *self.blocks.corners)

    @cached_property
    def correlation(self) -> float:
        """The correlation of outcomes of a cluster, given their forecasts."""
        cases, cluster = self._written_out
        if cluster is None:
            return 0.0
        probability = self.cep(cases.y_prob)
        return cluster_correlation(cases.y_true - probability, probability, cluster)

    @cached_property
    def _written_out(self) -> tuple[CheckedCases, IntArray | None]:
        """The cases; repeated rows in clusters are written out, as each repetition has its own outcome."""
        y, x, weight = self.cases
        if self.cluster is None or weight is None or not self.units.are_repeated_rows:
            return self.cases, self.cluster
        times = weight.astype(np.int64)
        return CheckedCases(y.repeat(times), x.repeat(times), None), self.cluster.repeat(times)

    @cached_property
    def squares(self) -> CountArray:
        """Sum of squared weights at each distinct forecast; for repeated rows, their number.

        Where weights depend on outcomes, it is the sum under which a calibrated forecast has its variance.
        """
        if self.units.are_repeated_rows:
            return self.distinct.n
        place = np.searchsorted(self.distinct.x_min, self.cases.y_prob)
        squares = self._outcome_weights.squares
        return np.bincount(place, weights=squares).astype(np.float64)

    def simulation(
        self,
        forecast: FloatArray,
        *,
        most_cases: float = np.inf,
        size: CellSize = USUAL_SIZE,
        move: Callable[[FloatArray], FloatArray] | None = None,
    ) -> Simulation:
        """Make the simulation of outcomes with this probability of an event at each distinct forecast.

        More cases, or rows, than `most_cases` are simulated in cells of neighbouring forecasts, with the mean
        probability of each cell. If `move` is given, it returns the probability of such a mean.
        """
        if self._many > most_cases:
            starts = self._cell_starts(size)
            cells = merge_between(self.distinct, starts[1:])
            if len(cells) < len(self.distinct):
                mean = average_in_cells(cells, self.distinct, forecast)
                return self._simulate_cells(cells, mean if move is None else move(mean))
        probability = forecast if move is None else move(forecast)
        cases, cluster = self._written_out
        by_count = cluster is None and self.units.are_repeated_rows
        return make_simulation(
            cases, self.distinct, probability, cluster, self.correlation, by_count=by_count
        )

    @property
    def _many(self) -> float:
        """The number of cases, or of rows with sampling weights; 0 where no cells are made."""
        if self.units.are_repeated_rows:
            return self.units.total
        return self.rows if self.cluster is None else 0

    def _cell_starts(self, size: CellSize) -> NDArray[np.intp]:
        """The first distinct forecast of each cell; all rows of a cell have one ratio of weights."""
        if self.units.are_repeated_rows:
            return find_cells(self.distinct.n, size)
        first = self._first_rows
        ratio = self._outcome_weights.ratio[first]
        changes = np.flatnonzero(ratio[1:] != ratio[:-1]) + 1
        return np.union1d(find_cells(np.diff(first, append=self.rows), size), changes)

    def _simulate_cells(self, cells: Blocks, probability: FloatArray) -> Simulation:
        if not self.units.are_repeated_rows:
            first = np.searchsorted(self.cases.y_prob, cells.x_min)
            return WeightedCellSimulation(
                distinct=cells,
                probability=probability,
                rows=np.diff(first, append=self.rows),
                weights=self._outcome_weights,
            )
        cluster = self._written_out[1]
        if cluster is None:
            return CellSimulation(distinct=cells, probability=probability)
        return ClusteredCellSimulation(
            distinct=cells, probability=probability, cluster=cluster, correlation=self.correlation
        )

    @cached_property
    def _outcome_weights(self) -> OutcomeWeights:
        return weigh_outcomes(self.cases)

    @property
    def _first_rows(self) -> NDArray[np.intp]:
        """The first row of each distinct forecast."""
        return np.searchsorted(self.cases.y_prob, self.distinct.x_min)


def order_clustered(cases: CheckedCases, cluster: IntArray) -> tuple[CheckedCases, IntArray]:
    """Put cases and the numbers of their clusters in canonical order, without cases of weight 0."""
    y, p, weight = cases
    order = np.lexsort((np.ones(len(y)) if weight is None else weight, cluster, -y, p))
    if weight is not None:
        order = order[weight[order] > 0]
    ordered = _frozen(y[order], p[order] + 0.0, None if weight is None else weight[order])
    return ordered, read_only(np.unique(cluster[order], return_inverse=True)[1])


def order_cases(cases: CheckedCases, *, binary: bool) -> CheckedCases:
    """Put cases in canonical order, without cases of weight 0."""
    y, p, weight = cases
    if binary and weight is None:
        return _order_binary(y, p)
    p = p + 0.0  # turns -0 into 0
    if weight is None:
        order = np.lexsort((-y, p))
        return _frozen(y[order], p[order])
    return _order_weighted(y, p, weight, binary=binary)


def _order_binary(y: FloatArray, p: FloatArray) -> CheckedCases:
    """Sort forecast and outcome as one number, about five times faster than argsort and indexing.

    The bit patterns of non-negative floats are ordered like the floats. Their sign bit is not needed: it is
    shifted out (which also makes -0 the same as 0), and the lowest bit holds the inverted outcome.
    """
    key = _make_keys(y, p)
    _sort_keys(key)
    outcome = np.empty(len(y))
    for part in _parts(len(p)):
        outcome[part] = (key[part] & 1) == 0
        key[part] >>= 1
    return _frozen(outcome, key.view(np.float64))


def _make_keys(y: FloatArray, p: FloatArray) -> NDArray[np.int64]:
    key = np.empty(len(p), dtype=np.int64)
    for part in _parts(len(p)):
        np.left_shift(p[part].view(np.int64), 1, out=key[part])
        key[part] |= y[part] == 0
    return key


def _sort_keys(key: NDArray[np.int64]) -> None:
    """Sort integers that are bit patterns of floats as floats, which is faster by a third.

    The smallest are subnormal: a library may have set the processor to treat these as zeros, so they
    are sorted again. Nothing is sorted twice: forecasts of a panel are often in order already.
    """
    if all((key[1:][part] >= key[:-1][part]).all() for part in _parts(len(key) - 1)):
        return
    key.view(np.float64).sort()
    key[: np.searchsorted(key, _LEAST_NORMAL)].sort()


def _parts(n: int) -> Iterator[slice]:
    """Slices of an array that stay in the cache of a processor from one step to the next."""
    return (slice(start, start + CACHED_ROWS) for start in range(0, n, CACHED_ROWS))


def _order_weighted(y: FloatArray, p: FloatArray, weight: FloatArray, *, binary: bool) -> CheckedCases:
    counts = weight > 0
    y, p, weight = y[counts], p[counts], weight[counts]
    # by weight as well: sums of fractions depend on their order
    order = _argsort_binary(y, p, weight) if binary else np.lexsort((weight, -y, p))
    return _frozen(y[order], p[order], weight[order])


def _argsort_binary(y: FloatArray, p: FloatArray, weight: FloatArray) -> NDArray[np.intp]:
    """The order by forecast, outcome and weight; by weight only those with the same forecast and outcome."""
    key = _make_keys(y, p)
    order = np.argsort(key)
    ordered = key[order]
    is_same = ordered[1:] == ordered[:-1]
    alike = np.flatnonzero(np.append(is_same, False) | np.append(False, is_same))
    rows = order[alike]
    order[alike] = rows[np.lexsort((weight[rows], key[rows]))]
    return order


def _frozen(y: FloatArray, p: FloatArray, weight: FloatArray | None = None) -> CheckedCases:
    return CheckedCases(read_only(y), read_only(p), None if weight is None else read_only(weight))
