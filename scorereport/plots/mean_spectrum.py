"""Spectrum of the generalised mean: model and source probability at every exponent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.formatting import join_words
from scorereport.plots.canvas import POINTS_PER_MM, set_axis, wide_panels
from scorereport.plots.geometry import even_ticks
from scorereport.plots.label_placement import CurveLabel, SizedAxes, label_curves
from scorereport.plots.style import MUTED, PAPER, QUIET, SMALL, ModelStyle, model_style, report_style
from scorereport.plots.text import format_probability, join_sentences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.scale_results import ScaledModel, ScaleResult
    from scorereport.plots.canvas import PanelGrid
    from scorereport.plots.label_placement import Line

_DASHES = (3.0, 1.6)
#: Height of the names of the three means, in points.
_NAME_HEIGHT = 11.0
_ALIGN = {"robustness": "right", "accuracy": "center", "decisiveness": "center"}


def plot_spectrum(models: Sequence[ScaledModel], *, first: int = 0) -> Figure:
    """Draw the generalised mean of model and source against its exponent, in equal-count bins.

    `first` is the index of the first model among all models, which determines its colour.
    """
    with report_style():
        grid = wide_panels([model.model for model in models])
        results = [model.scale[0] for model in models]
        limits = _limits(results)
        canvas = grid.canvas()
        for place, result in enumerate(results):
            axes = grid.panel(canvas, place)
            _set_axes(axes, grid, place, limits)
            _draw(axes, grid, result, model_style(first + place))
        return canvas.figure


def _set_axes(axes: Axes, grid: PanelGrid, place: int, limits: tuple[float, float]) -> None:
    set_axis(axes, "x", (-2.0, 2.0), (-2, -1, 0, 1, 2), "Exponent m")
    label = "Generalised mean" if grid.is_leftmost(place) else ""
    set_axis(axes, "y", limits, list(even_ticks(*limits)), label)
    if not grid.is_leftmost(place):
        axes.set_yticklabels([])


def _limits(results: Sequence[ScaleResult]) -> tuple[float, float]:
    values = np.concatenate([np.append(r.spectrum_model, r.spectrum_source) for r in results])
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    room = max(high - low, 0.02)
    return max(low - 0.15 * room, 0.0), min(high + 0.25 * room, 1.25)


def _draw(axes: Axes, grid: PanelGrid, result: ScaleResult, look: ModelStyle) -> None:
    m = result.spectrum_exponent
    bottom, top = axes.get_ylim()
    panel = SizedAxes(axes, grid.width * POINTS_PER_MM, grid.height * POINTS_PER_MM)
    dashed = ModelStyle(colour=look.colour, tint=look.tint, dashes=_DASHES, marker=look.marker)
    solid = ModelStyle(colour=look.colour, tint=look.tint, dashes=(), marker=look.marker)
    heads = [_write_mark(axes, panel, name, result, look) for name in _ALIGN]
    axes.plot(m, result.spectrum_source, zorder=3, **dashed.line(1.0))
    axes.plot(m, result.spectrum_model, zorder=3, **solid.line())
    rules: list[tuple[FloatArray, FloatArray]] = [
        (np.full(2, getattr(result, name).exponent), np.array([bottom, top])) for name in _ALIGN
    ]
    lines = [(m, result.spectrum_model), (m, result.spectrum_source)]
    label_curves(panel, lines, [CurveLabel("model", solid), CurveLabel("source", dashed)], [*rules, *heads])


def _write_mark(axes: Axes, panel: SizedAxes, name: str, result: ScaleResult, look: ModelStyle) -> Line:
    """Draw a hairline at the exponent of a mean, with its name; return the line that the name fills."""
    mark, (bottom, top) = getattr(result, name), axes.get_ylim()
    end = top - _NAME_HEIGHT / panel.scale[1]
    axes.vlines(mark.exponent, bottom, end, color=QUIET, linewidth=0.6, zorder=1)
    axes.text(mark.exponent, top, name, ha=_ALIGN[name], va="top", size=SMALL, color=MUTED)
    style: dict[str, Any] = {"marker": "o", "markersize": 4.0, "mec": look.colour, "mew": 0.7}
    for value, fill in ((mark.source.value, PAPER), (mark.model.value, look.colour)):
        axes.plot(mark.exponent, value, mfc=fill, zorder=4, clip_on=False, **style)
    return np.array([-2.0, 2.0]), np.full(2, top - _NAME_HEIGHT / 2 / panel.scale[1])


def describe_spectrum(models: Sequence[ScaledModel]) -> str:
    """Describe the ends of both curves of each model."""
    opening = (
        f"Generalised mean of the probabilities of the observed outcomes, for "
        f"{join_words([m.model for m in models])}, against its exponent from −2, which gives most weight to "
        "the smallest probabilities, to 2; solid: model, dashed: source."
    )
    return join_sentences([opening, *(_describe(model.model, model.scale[0]) for model in models)])


def _describe(name: str, result: ScaleResult) -> str:
    model, source = result.spectrum_model, result.spectrum_source
    return (
        f"{name}: the model rises from {format_probability(model[0])} to {format_probability(model[-1])}, "
        f"the source from {format_probability(source[0])} to {format_probability(source[-1])}."
    )
