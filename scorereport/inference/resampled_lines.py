"""Calibration lines of resamples: each fit begins at the line of the sample."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logit

from scorereport.inference.logistic import fit_line, fit_offset, line_influence
from scorereport.inference.replicates import make_statistic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.panel import ForecastPanel
    from scorereport.inference.replicates import Statistic

LINE = ("slope", "intercept", "intercept_at_slope_one")


class ResampledLines:
    """Slope and intercepts of the calibration line of each model."""

    def __init__(self, panel: ForecastPanel) -> None:
        self.panel = panel
        with np.errstate(divide="ignore"):
            self.log_odds = [logit(p) for p in panel.forecasts.values()]
        self.starts = [((0.0, 1.0), 0.0)] * len(self.log_odds)
        observed = self.values(panel.units.row_weight)
        self.starts = [((line[1], line[0]), line[2]) for line in observed.reshape(-1, len(LINE)).tolist()]
        self.observed = observed

    def values(self, weight: FloatArray) -> FloatArray:
        """Slope, intercept and intercept at slope 1 of each model under these weights."""
        parts = zip(self.log_odds, self.starts, strict=True)
        return np.concatenate([self._fit(x, weight, *start) for x, start in parts])

    def _fit(self, x: FloatArray, weight: FloatArray, line: tuple[float, float], offset: float) -> FloatArray:
        if not np.isfinite(x).all():
            return np.full(len(LINE), np.nan)
        drawn = weight > 0
        x, y, weight = x[drawn], self.panel.outcome[drawn], weight[drawn]
        intercept, slope = fit_line(x, y, weight, line)
        return np.array([slope, intercept, fit_offset(x, y, weight, offset)])

    def finish(self, replicates: FloatArray) -> Iterator[Statistic]:
        """Three statistics for each model."""
        y, weight = self.panel.outcome, self.panel.units.row_weight
        for column, (model, x) in enumerate(zip(self.panel.forecasts, self.log_odds, strict=True)):
            for place, name in enumerate(LINE):
                at = len(LINE) * column + place
                values = np.append(self.observed[at], replicates[:, at])
                yield make_statistic(model, name, values, partial(_line_influence, place, x, y, weight))


def _line_influence(place: int, x: FloatArray, y: FloatArray, weight: FloatArray) -> FloatArray:
    return line_influence(x, y, weight)[place]
