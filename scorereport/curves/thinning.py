"""Fewer points for documents and drawings: every point kept is exact, and no large step is lost."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from scorereport.arrays import read_only

if TYPE_CHECKING:
    from scorereport.arrays import FloatArray
    from scorereport.curves.murphy import MurphyCurve, MurphyCurves, RegretCurve
    from scorereport.curves.roc import RocCurve


def choose_knots(curve: MurphyCurve | RegretCurve, points: int) -> FloatArray:
    """All knots if there are few, else half of the points evenly spread and half at the largest jumps."""
    if len(curve.theta) <= points:
        return curve.theta
    jump = np.abs(curve.right - curve.left)
    largest = np.argpartition(jump, -points // 2)[-points // 2 :]
    return np.unique(np.append(np.linspace(0, 1, points // 2 + 1), curve.theta[largest]))


def thin_regret(curve: RegretCurve, points: int) -> RegretCurve:
    """A regret curve on at most about `points` knots."""
    theta, left, right = curve.limits(choose_knots(curve, points))
    return replace(curve, theta=read_only(theta), left=read_only(left), right=read_only(right))


def thin_murphy(curves: MurphyCurves, points: int, kinks: FloatArray) -> MurphyCurves:
    """Murphy curves on few common knots: at the jumps of the score and at the kinks of its components.

    Those stand where recalibrated forecasts and the mean outcome lie; they are few.
    """
    theta = np.union1d(choose_knots(curves.score, points), kinks)

    def thin(curve: MurphyCurve) -> MurphyCurve:
        _, left, right = curve.limits(theta)
        return replace(curve, theta=read_only(theta), left=read_only(left), right=read_only(right))

    return replace(
        curves,
        score=thin(curves.score),
        miscalibration=thin(curves.miscalibration),
        discrimination=thin(curves.discrimination),
        uncertainty=thin(curves.uncertainty),
    )


def thin_roc(curve: RocCurve, points: int) -> RocCurve:
    """An ROC curve on about `points` of its corners, evenly along it; both ends of long edges stay."""
    if len(curve.threshold) <= points:
        return curve
    along = np.nan_to_num(curve.fpr) + np.nan_to_num(curve.tpr)  # one class absent: along the other
    after = np.searchsorted(along, np.linspace(0, along[-1], points // 2))
    keep = np.unique(np.concatenate([np.maximum(after - 1, 0), after, [len(along) - 1]]))
    return replace(
        curve,
        threshold=read_only(curve.threshold[keep]),
        fpr=read_only(curve.fpr[keep]),
        tpr=read_only(curve.tpr[keep]),
    )
