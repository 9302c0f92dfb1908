"""Fewer points of curves for documents and figures: every point kept is exact, and large steps are kept."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.arrays import read_only
from scorereport.curves.murphy import all_knots

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray
    from scorereport.curves.fit_or_arrays import IsotonicFit
    from scorereport.curves.fitted import RocCurve
    from scorereport.reliability.blocks import Blocks


def choose_knots(fit: IsotonicFit, points: int, kinks: FloatArray | None = None) -> FloatArray:
    """Return all knots of a Murphy or regret curve if few, else evenly spaced ones and the largest jumps.

    Kinks of the components of a Murphy curve, which are few, are always knots.
    """
    beside = np.empty(0) if kinks is None else kinks
    if len(fit.distinct) + len(beside) + 2 <= 2 * points:
        every = all_knots(fit, beside)
        if len(every) <= points:
            return every
    jumps = fit.distinct.x_min[largest_jumps(fit.distinct, jumps_kept(points))]
    return np.unique(np.concatenate([even_knots(points), jumps, beside]))


def even_knots(points: int) -> FloatArray:
    """Return half of the points, evenly spaced on [0, 1]."""
    return np.linspace(0, 1, points // 2 + 1)


def jumps_kept(points: int) -> int:
    """Return the number of points that is left for the largest jumps: half of them."""
    return points - points // 2


def largest_jumps(distinct: Blocks, number: int) -> NDArray[np.intp]:
    """Return the forecasts at which the Murphy curve jumps most, ascending; for ties the lower forecasts.

    At a forecast x it jumps by 2 |events - x cases| divided by the number of all cases.
    """
    jump = np.abs(distinct.events - distinct.x_min * distinct.n)
    if len(jump) <= number:
        return np.arange(len(jump))
    least = np.partition(jump, -number)[-number]
    candidates = np.flatnonzero(jump >= least)
    order = np.argsort(-jump[candidates], kind="stable")[:number]
    return np.sort(candidates[order])


def thin_roc(curve: RocCurve, points: int) -> RocCurve:
    """Return an ROC curve at about `points` of its corners, evenly along it; ends of long edges are kept."""
    if len(curve.threshold) <= points:
        return curve
    rates = [rate for rate in (curve.fpr, curve.tpr) if not np.isnan(rate[-1])]  # without an absent class
    along = np.add(*rates) if len(rates) == 2 else rates[0]
    after = np.searchsorted(along, even_heights(along[-1], points))
    keep = np.unique(np.concatenate([np.maximum(after - 1, 0), after, [len(along) - 1]]))
    return replace(
        curve,
        threshold=read_only(curve.threshold[keep]),
        fpr=read_only(curve.fpr[keep]),
        tpr=read_only(curve.tpr[keep]),
    )


def even_heights(top: float, points: int) -> FloatArray:
    """Return sums of both rates, evenly spaced from 0 to the largest."""
    return np.linspace(0, top, points // 2)
