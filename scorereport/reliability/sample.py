"""A fitted sample: its cases, their isotonic fit and how they were drawn; bands and tests start here."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from scorereport.arrays import CountArray, FloatArray, IntArray
from scorereport.checks import Cases
from scorereport.reliability.blocks import Blocks
from scorereport.reliability.simulation import cluster_correlation, make_simulation
from scorereport.sampling import Units

if TYPE_CHECKING:
    from scorereport.reliability.simulation import Simulation


@dataclass(frozen=True, kw_only=True, eq=False)
class Sample:
    """Cases in canonical order, by distinct forecast and by block; `cluster` numbers theirs from 0."""

    cases: Cases
    distinct: Blocks
    blocks: Blocks
    cluster: IntArray | None = None
    counted: bool | None = None

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.cases.y_true)

    @cached_property
    def units(self) -> Units:
        """The rows as independent draws."""
        weight = self.cases.weight
        return Units(rows=self.rows, weight=weight, cluster=self.cluster, counted=self.counted)

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
    def _written_out(self) -> tuple[Cases, IntArray | None]:
        """Cases; repeated rows in clusters are written out, as each has an outcome of its own."""
        y, x, weight = self.cases
        if self.cluster is None or weight is None or not self.units.are_repeated_rows:
            return self.cases, self.cluster
        times = weight.astype(np.int64)
        return Cases(y.repeat(times), x.repeat(times), None), self.cluster.repeat(times)

    @cached_property
    def squares(self) -> CountArray:
        """Sum of squared weights at each distinct forecast; of counts, and without weights, their number."""
        if self.units.are_repeated_rows:
            return self.distinct.n
        place = np.searchsorted(self.distinct.x_min, self.cases.y_prob)
        return np.bincount(place, weights=self.units.row_weight**2).astype(np.float64)

    def simulation(self, probability: FloatArray) -> Simulation:
        """Outcomes to be drawn with this probability of an event at each distinct forecast."""
        cases, cluster = self._written_out
        by_count = cluster is None and self.units.are_repeated_rows
        return make_simulation(
            cases, self.distinct, probability, cluster, self.correlation, by_count=by_count
        )
