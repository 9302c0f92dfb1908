"""The ROC curve and its concave hull."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.arrays import FloatArray, read_only
from scorereport.scores.ranking import area_under_roc

if TYPE_CHECKING:
    from scorereport.curves.curves_fitted import IsotonicFit
    from scorereport.reliability.blocks import Blocks


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RocCurve:
    """Rates of true and false positives for decisions p >= threshold, thresholds descending.

    The rate of an absent class is NaN, and so is the area then.
    """

    threshold: FloatArray
    fpr: FloatArray
    tpr: FloatArray
    auc: float


def roc_curve(fit: IsotonicFit) -> RocCurve:
    """The ROC curve at every distinct forecast, from (0, 0) at threshold infinity to (1, 1)."""
    return _roc(fit, fit.distinct)


def roc_hull(fit: IsotonicFit) -> RocCurve:
    """The concave hull of the ROC curve: its corners are those of the isotonic fit."""
    return _roc(fit, fit.blocks)


def _roc(fit: IsotonicFit, blocks: Blocks) -> RocCurve:
    fit.require_events("An ROC curve")
    events, non_events = blocks.events.astype(np.float64), (blocks.n - blocks.events).astype(np.float64)
    auc = area_under_roc(events, non_events)  # first, as it takes room
    return RocCurve(
        threshold=read_only(np.append(np.inf, blocks.x_min[::-1])),
        fpr=_rate_from_the_top(non_events),
        tpr=_rate_from_the_top(events),
        auc=auc,
    )


def _rate_from_the_top(weight: FloatArray) -> FloatArray:
    found = np.append(0.0, np.cumsum(weight[::-1]))
    return read_only(found / found[-1] if found[-1] > 0 else np.full(len(found), np.nan))
