"""Areas under the ROC curve of resamples: each order of forecasts is found once."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from scorereport.inference.delong import auc_influence
from scorereport.inference.replicates import make_statistic
from scorereport.scores.ranking import area_under_roc

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.panel import ForecastPanel
    from scorereport.inference.replicates import Statistic


class ResampledAreas:
    """The AUC of each model, from weights in the order of its forecasts."""

    def __init__(self, panel: ForecastPanel) -> None:
        self.panel = panel
        self.orders = [np.argsort(p, kind="stable") for p in panel.forecasts.values()]
        ordered = [p[order] for p, order in zip(panel.forecasts.values(), self.orders, strict=True)]
        self.cuts = [np.flatnonzero(p[1:] != p[:-1]) + 1 for p in ordered]
        self.outcomes = [panel.outcome[order] for order in self.orders]

    def values(self, weight: FloatArray) -> FloatArray:
        """The AUC of each model under these weights."""
        parts = zip(self.orders, self.cuts, self.outcomes, strict=True)
        return np.array([_weighted_auc(weight[order], y, cuts) for order, cuts, y in parts])

    def finish(self, replicates: FloatArray) -> Iterator[Statistic]:
        """A statistic for each model."""
        y, weight = self.panel.outcome, self.panel.weight
        observed = self.values(self.panel.units.row_weight)
        for column, (model, p) in enumerate(self.panel.forecasts.items()):
            values = np.append(observed[column], replicates[:, column])
            yield make_statistic(model, "roc_auc", values, partial(auc_influence, y, p, weight))


def _weighted_auc(weight: FloatArray, outcome: FloatArray, cuts: NDArray[np.intp]) -> float:
    events = np.add.reduceat(weight * outcome, np.append(0, cuts))
    return area_under_roc(events, np.add.reduceat(weight, np.append(0, cuts)) - events)
