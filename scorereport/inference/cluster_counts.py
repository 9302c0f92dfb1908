"""Counts of cells in resamples of clusters, from the counts of each cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport.inference.resampled_weights import draw_times

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray
    from scorereport.reliability.sampling import SamplingUnits


class ClusterCounts:
    """Weights of cells by cluster: those of a resample are sums over its clusters.

    In each of several tables a row adds to one cell, so the matrices of cells and clusters are sparse.
    """

    def __init__(
        self, units: SamplingUnits, rows: NDArray[np.intp], tables: Sequence[NDArray[np.intp]], cells: int
    ) -> None:
        """Sum the weights of some rows of each cluster; `tables` has the cells of these rows."""
        from scipy.sparse import csr_array  # most evaluations do without

        cluster = units.cluster[rows]  # type: ignore[index]  # there are clusters
        weight, shape = units.row_weight[rows], (cells, int(units.size))
        self._units = units
        self._matrices = [csr_array((weight, (cell, cluster)), shape=shape) for cell in tables]

    def draw(self, resamples: int, rng: np.random.Generator) -> tuple[list[FloatArray], FloatArray]:
        """Weights of cells in resamples, a column for each, and the total weight of each."""
        times = draw_times(self._units, resamples, rng)
        of_clusters = np.ascontiguousarray(times.T)
        sums = [np.asarray(matrix @ of_clusters) for matrix in self._matrices]
        return sums, np.einsum("bi,i->b", times, self._units.cluster_weight)
