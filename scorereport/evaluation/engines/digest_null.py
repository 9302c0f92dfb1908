"""What a calibrated forecast would give: samples drawn in the cells of a digest, as in memory.

Cells of neighbouring forecasts depend on ranks alone. A digest has exact counts and sums at these ranks, so
that its cells are those of the rows in memory, and so are the samples that are drawn in them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport.evaluation.engines.digest_plan import point_ranks
from scorereport.inference.calibration_null import simulate_null
from scorereport.reliability.band_bounds import choose_resamples
from scorereport.reliability.bands import MOST_CASES, choose_points
from scorereport.reliability.cells import CellSimulation, average_in_cells, make_cells
from scorereport.reliability.simulation import simulate_counts

if TYPE_CHECKING:
    from scorereport._utils.arrays import FloatArray
    from scorereport.evaluation.engines.scored_digests import ScoredDigest
    from scorereport.inference.calibration_null import CalibrationNull
    from scorereport.reliability.blocks import Blocks
    from scorereport.reliability.simulation import Simulation
    from scorereport.results.settings import EvaluationSettings


def draw_digest_null(model: ScoredDigest, settings: EvaluationSettings) -> CalibrationNull | None:
    """Draw outcomes from the forecasts, as in memory; None for dependent cases, which need the rows."""
    if not model.units.are_independent:
        return None
    distinct = model.fit.mean_cells
    return simulate_null(
        _simulate(distinct),
        distinct,
        model.measures,
        [model.decompose(at).miscalibration for at in range(len(model.measures))],
        resamples=choose_resamples(settings.resamples, settings.band_level),
        seed=settings.seed,
        points=_choose_points(model, distinct, settings.curve_points),
    )


def _choose_points(model: ScoredDigest, distinct: Blocks, points: int) -> FloatArray:
    """About `points` forecasts; if they are many, those at the ranks in the plan of the digest."""
    if model.fit.is_complete:
        return choose_points(distinct, points)
    upto = np.cumsum(distinct.n)
    return np.unique(distinct.x_min[np.searchsorted(upto, point_ranks(int(upto[-1]), points), side="right")])


def _simulate(distinct: Blocks) -> Simulation:
    """The simulation of outcomes that are drawn from the forecasts, in cells if there are many cases."""
    if distinct.n.sum() > MOST_CASES:
        cells = make_cells(distinct)
        if len(cells) < len(distinct):
            probability = average_in_cells(cells, distinct, distinct.x_min)
            return CellSimulation(distinct=cells, probability=probability)
    return simulate_counts(distinct, distinct.x_min)
