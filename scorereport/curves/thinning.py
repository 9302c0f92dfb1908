"""Fewer points for documents and drawings: every point kept is exact, and no large step is lost."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.arrays import read_only
from scorereport.curves.murphy import all_knots

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray
    from scorereport.curves.fitted import IsotonicFit, RocCurve
    from scorereport.reliability.blocks import Blocks


def choose_knots(fit: IsotonicFit, points: int, kinks: FloatArray | None = None) -> FloatArray:
    """All knots of a Murphy or regret curve if there are few, else even ones and those of the largest jumps.

    Kinks of the components of a Murphy curve, which are few, are knots in any case.
    """
    beside = np.empty(0) if kinks is None else kinks
    if len(fit.distinct) + len(beside) + 2 <= 2 * points:
        every = all_knots(fit, beside)
        if len(every) <= points:
            return every
    jumps = fit.distinct.x_min[largest_jumps(fit.distinct, jumps_kept(points))]
    return np.unique(np.concatenate([even_knots(points), jumps, beside]))


def even_knots(points: int) -> FloatArray:
    """Half of the points, evenly spread."""
    return np.linspace(0, 1, points // 2 + 1)


def jumps_kept(points: int) -> int:
    """Half of the points, for the largest jumps."""
    return points - points // 2


def largest_jumps(distinct: Blocks, number: int) -> NDArray[np.intp]:
    """Which forecasts make the Murphy curve jump most, ascending; of equal jumps those at lower forecasts.

    It jumps by 2 |events - x cases| over the number of all cases at a forecast of x.
    """
    jump = np.abs(distinct.events - distinct.x_min * distinct.n)
    if len(jump) <= number:
        return np.arange(len(jump))
    least = np.partition(jump, -number)[-number]
    candidates = np.flatnonzero(jump >= least)
    order = np.argsort(-jump[candidates], kind="stable")[:number]
    return np.sort(candidates[order])


def thin_roc(curve: RocCurve, points: int) -> RocCurve:
    """An ROC curve on about `points` of its corners, evenly along it; both ends of long edges stay."""
    if len(curve.threshold) <= points:
        return curve
    along = np.nan_to_num(curve.fpr) + np.nan_to_num(curve.tpr)  # one class absent: along the other
    after = np.searchsorted(along, even_heights(along[-1], points))
    keep = np.unique(np.concatenate([np.maximum(after - 1, 0), after, [len(along) - 1]]))
    return replace(
        curve,
        threshold=read_only(curve.threshold[keep]),
        fpr=read_only(curve.fpr[keep]),
        tpr=read_only(curve.tpr[keep]),
    )


def even_heights(top: float, points: int) -> FloatArray:
    """Sums of both rates, evenly spread from 0 to their largest."""
    return np.linspace(0, top, points // 2)
