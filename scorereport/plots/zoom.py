"""The part of the unit interval that a diagram of probabilities shows, and its ticks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport._utils.arrays import FloatArray
    from scorereport.results.model_records import ModelResult

    Window = tuple[float, float]

UNIT = (0.0, 1.0)
#: Widths of windows at the lower or the upper end of the unit interval.
_WIDTHS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
#: A window holds at least this share of the cases of each model, with their part of the curve.
_SHARE = 0.99


def choose_window(models: Sequence[ModelResult]) -> Window:
    """The unit interval, or a round part of it at 0 or at 1 where nearly all forecasts and events lie."""
    for width in _WIDTHS:
        for window in ((0.0, width), (1 - width, 1.0)):
            if all(share_inside(model, window) >= _SHARE for model in models):
                return window
    return UNIT


def share_inside(model: ModelResult, window: Window) -> float:
    """The share of cases whose forecast and recalibrated forecast lie in a window."""
    histogram, curve = model.curves.histogram, model.curves.reliability
    cep = np.interp(histogram.upper, curve.forecast, curve.cep)
    inside = (histogram.lower >= window[0]) & (histogram.upper <= window[1])
    inside &= (cep >= window[0]) & (cep <= window[1])
    return float(histogram.n[inside].sum() / histogram.n.sum())


def window_ticks(window: Window) -> FloatArray:
    """Quarters of the unit interval and of windows like 0.02, fifths of others."""
    width = window[1] - window[0]
    has_quarters = window == UNIT or f"{width:.6f}".strip("0.").startswith("2")
    return np.round(np.linspace(*window, 5 if has_quarters else 6), 6)


def even_ticks(lower: float, upper: float, most: int = 5) -> FloatArray:
    """Round numbers between two ends."""
    from matplotlib.ticker import MaxNLocator

    ticks = np.asarray(MaxNLocator(nbins=most, steps=[1, 2, 2.5, 5, 10]).tick_values(lower, upper))
    slack = 1e-9 * (upper - lower)
    inside = (ticks >= lower - slack) & (ticks <= upper + slack)
    return ticks[inside]
