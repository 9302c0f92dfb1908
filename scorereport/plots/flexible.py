"""Flexible calibration curves: a small panel for each model, with the band around its curve."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.formatting import format_level, format_percent, join_words
from scorereport.plots.canvas import POINTS_PER_MM, set_axis, write_placeholder
from scorereport.plots.describing import format_probability, join_sentences
from scorereport.plots.geometry import simplify
from scorereport.plots.panel_grid import small_panels
from scorereport.plots.style import MUTED, model_style, report_style
from scorereport.plots.zoom import choose_window, window_ticks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from scorereport.inference.flexible_curves import FlexibleCurve
    from scorereport.plots.style import ModelStyle
    from scorereport.plots.zoom import Window
    from scorereport.results.model_records import ModelResult

_VEIL = 0.2
_NO_CURVE = "No curve could be fitted."


def has_flexible(model: ModelResult) -> bool:
    """Whether a model has a flexible curve."""
    return _curve_of(model) is not None


def _curve_of(model: ModelResult) -> FlexibleCurve | None:
    curve = None if model.calibration is None else model.calibration.flexible
    return curve if curve is not None and len(curve.forecast) else None


def plot_flexible(models: Sequence[ModelResult]) -> Figure:
    """Draw the flexible calibration curve of each model with its band, all on the same axes."""
    grid, window = small_panels([model.model for model in models]), choose_window(models)
    with report_style():
        canvas = grid.canvas()
        for place, model in enumerate(models):
            axes, ticks = grid.panel(canvas, place), list(window_ticks(window))
            label = "Forecast probability" if grid.is_lowest(place) else ""
            set_axis(axes, "x", window, ticks, label)
            set_axis(axes, "y", window, ticks, "Event probability" if grid.is_leftmost(place) else "")
            if not grid.is_leftmost(place):
                axes.set_yticklabels([])
            axes.plot(window, window, color=MUTED, linewidth=0.6, clip_on=False)
            _draw(axes, _curve_of(model), model_style(place), window, grid.width * POINTS_PER_MM)
        return canvas.figure


def _draw(axes: Axes, curve: FlexibleCurve | None, look: ModelStyle, window: Window, side: float) -> None:
    if curve is None:
        write_placeholder(axes, _NO_CURVE)
        return
    scale = (side / (window[1] - window[0]),) * 2
    (x, lower), (x_upper, upper) = (
        simplify(curve.forecast, bound, scale) for bound in (curve.lower, curve.upper)
    )
    places = np.append(x, x_upper[::-1]), np.append(lower, upper[::-1])
    axes.fill(*places, color=look.colour, alpha=_VEIL, linewidth=0, zorder=1.5)
    axes.plot(*simplify(curve.forecast, curve.probability, scale), color=look.colour, linewidth=1.3, zorder=4)


def describe_flexible(models: Sequence[ModelResult]) -> str:
    """The curves in words: where they run, and for how many forecasts the diagonal is outside the band."""
    names = join_words([model.model for model in models])
    opening = f"Flexible calibration curves of {names}: event probability against forecast probability."
    return join_sentences(
        [opening, *(f"{model.model}: {_describe_curve(_curve_of(model))}." for model in models)]
    )


def _describe_curve(curve: FlexibleCurve | None) -> str:
    if curve is None:
        return _NO_CURVE[0].lower() + _NO_CURVE[1:-1]
    x = curve.forecast
    outside = float(((x < curve.lower) | (x > curve.upper)).mean())
    where = (
        "inside the band everywhere" if not outside else f"outside it for {format_percent(outside)} of points"
    )
    first, last = curve.probability[[0, -1]]
    return (
        f"from {format_probability(first)} at forecast {format_probability(x[0])} to {format_probability(last)} at {format_probability(x[-1])}, the diagonal lies "
        f"{where} ({format_level(curve.level)})"
    )
