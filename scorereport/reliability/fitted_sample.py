"""A fitted sample: its cases, their isotonic fit and how they were drawn; bands and tests start here."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.arrays import CountArray, FloatArray, IntArray
from scorereport._utils.checks import CheckedCases
from scorereport.reliability.blocks import Blocks
from scorereport.reliability.outcome_weights import weigh_outcomes
from scorereport.reliability.sampling import SamplingUnits
from scorereport.reliability.simulation import cluster_correlation, make_simulation

if TYPE_CHECKING:
    from scorereport.reliability.simulation import Simulation


@dataclass(frozen=True, kw_only=True, eq=False)
class FittedSample:
    """Cases in canonical order, by distinct forecast and by block; `cluster` numbers theirs from 0."""

    cases: CheckedCases
    distinct: Blocks
    blocks: Blocks
    cluster: IntArray | None = None
    weight_kind: str = "sampling"

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
        """What an event and a non-event weigh: 1 for repeated rows."""
        is_event, weight = self.cases.y_true == 1, self.units.row_weight
        sums = (float(weight[chosen].sum()) for chosen in (is_event, ~is_event))
        event, other = (total / n if n else 1.0 for total, n in zip(sums, self.counts, strict=True))
        return event, other

    def cep(self, x: FloatArray) -> FloatArray:
        """Recalibrated probability at forecasts: along the curve, flat beyond its ends."""
        return np.interp(x, *self.blocks.corners)

    @cached_property
    def correlation(self) -> float:
        """How much outcomes of a cluster depend on each other, given their forecasts."""
        cases, cluster = self._written_out
        if cluster is None:
            return 0.0
        probability = self.cep(cases.y_prob)
        return cluster_correlation(cases.y_true - probability, probability, cluster)

    @cached_property
    def _written_out(self) -> tuple[CheckedCases, IntArray | None]:
        """Cases; repeated rows in clusters are written out, as each has an outcome of its own."""
        y, x, weight = self.cases
        if self.cluster is None or weight is None or not self.units.are_repeated_rows:
            return self.cases, self.cluster
        times = weight.astype(np.int64)
        return CheckedCases(y.repeat(times), x.repeat(times), None), self.cluster.repeat(times)

    @cached_property
    def squares(self) -> CountArray:
        """Sum of squared weights at each distinct forecast; of repeated rows, their number.

        Where weights go with outcomes, it is the sum that gives a calibrated forecast its variance.
        """
        if self.units.are_repeated_rows:
            return self.distinct.n
        place = np.searchsorted(self.distinct.x_min, self.cases.y_prob)
        squares = weigh_outcomes(self.cases).squares
        return np.bincount(place, weights=squares).astype(np.float64)

    def simulation(self, probability: FloatArray) -> Simulation:
        """Outcomes to be drawn with this probability of an event at each distinct forecast."""
        cases, cluster = self._written_out
        by_count = cluster is None and self.units.are_repeated_rows
        return make_simulation(
            cases, self.distinct, probability, cluster, self.correlation, by_count=by_count
        )
