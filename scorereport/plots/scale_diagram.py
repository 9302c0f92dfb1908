"""Model against source probability, a panel for each model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.formatting import format_percent, join_words
from scorereport.plots.canvas import POINTS_PER_MM
from scorereport.plots.describing import format_probability, join_sentences
from scorereport.plots.panel_grid import square_panels
from scorereport.plots.scale_drawing import (
    MEAN_MARKERS,
    ScalePanel,
    choose_scale_window,
    set_scale_axes,
    share_in_window,
)
from scorereport.plots.style import HEADING, INK, MUTED, PAPER, SMALL, lighten, model_style, report_style
from scorereport.plots.text import wrap
from scorereport.plots.zoom import UNIT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from scorereport.inference.scale_results import ScaledModel
    from scorereport.plots.canvas import Canvas


def plot_scale(models: Sequence[ScaledModel], *, first: int = 0) -> Figure:
    """Draw model against source probability of all classes together: bins, marks and their line.

    `first` is the place of the first model among all, which sets its colour.
    """
    with report_style():
        grid = square_panels([model.model for model in models])
        overall = [(model.scale[0], model.scale[1]) for model in models]
        window = choose_scale_window([result for pair in overall for result in pair])
        largest = max(float(np.max(result.contribution)) for pair in overall for result in pair)
        canvas = grid.canvas()
        for place, results in enumerate(overall):
            axes = grid.panel(canvas, place)
            set_scale_axes(
                axes,
                window,
                x_label="Source probability" if grid.is_lowest(place) else "",
                y_label="Model probability" if grid.is_leftmost(place) else "",
            )
            if not grid.is_leftmost(place):
                axes.set_yticklabels([])
            ScalePanel(
                axes, grid.width * POINTS_PER_MM, results, model_style(first + place), window, largest
            ).draw()
        if grid.has_spare:
            _write_guide(canvas, grid.corner(len(models)), grid.width)
        return canvas.figure


_GUIDE = (
    ("bubble", "Bin with equal numbers of pairs of case and class; its area is its share of what came"),
    ("outline", "CORP block: a step of the isotonic fit; area as before"),
    ("accuracy", "Accuracy, the geometric mean, between robustness below and decisiveness above"),
    ("diagonal", "Model and source agree"),
)


def _write_guide(canvas: Canvas, corner: tuple[float, float], side: float) -> None:
    """Say what is what, in the place of a panel that is not needed."""
    left, top = corner
    canvas.write(left + 4, top + 4, "How to read", va="bottom", size=HEADING, color=MUTED)
    y = top + 8.0
    for kind, text in _GUIDE:
        lines = wrap(text, (side - 17) * POINTS_PER_MM, lines=4)
        _draw_sample(canvas, left + 8, y + 1.6, kind)
        canvas.write(left + 16, y, "\n".join(lines), size=SMALL, color=MUTED)
        y += 3.5 * len(lines) + 4.0


def _draw_sample(canvas: Canvas, x: float, y: float, kind: str) -> None:
    look = model_style(0)
    if kind == "diagonal":
        canvas.line((x - 4, y + 1.5), (x + 4, y - 1.5), color=MUTED, linewidth=0.6)
    elif kind == "accuracy":
        canvas.line((x - 4, y + 1.5), (x + 4, y - 1.5), color=INK, linewidth=1.1)
        for (marker, size), shift in zip(MEAN_MARKERS.values(), (-4.0, 0.0, 4.0), strict=True):
            at = (x + shift, y - shift * 1.5 / 4)
            canvas.line(
                at, at, linestyle="none", marker=marker, markersize=size, color=INK, mec=PAPER, mew=0.6
            )
    else:
        fill = lighten(look.colour, 0.35) if kind == "bubble" else "none"
        edge = 0.0 if kind == "bubble" else 0.7
        style: dict[str, Any] = {"mfc": fill, "mec": look.colour, "mew": edge, "linestyle": "none"}
        canvas.line((x, y), (x, y), marker="o", markersize=9, **style)


def describe_scale(models: Sequence[ScaledModel]) -> str:
    """Accuracy of model and source, and what the angle says, in words."""
    opening = (
        f"Model probability against source probability of {join_words([m.model for m in models])}, in "
        "equal-count bins and CORP blocks, with decisiveness, accuracy and robustness; on the diagonal both "
        "agree."
    )
    return join_sentences([opening, describe_window(models), *(_describe(model) for model in models)])


def describe_window(models: Sequence[ScaledModel]) -> str:
    """What part of the unit interval is shown, if not all of it."""
    overall = [result for model in models for result in model.scale[:2]]
    window = choose_scale_window(overall)
    if window == UNIT:
        return ""
    hidden = 1 - min(share_in_window(result, window) for result in overall)
    rest = f", which leaves out bins with at most {format_percent(hidden)} of what came" if hidden > 0 else ""
    return f"The axes end at {format_probability(window[1])}{rest}."


def _describe(model: ScaledModel) -> str:
    cut, fitted = model.scale[:2]
    marks = [
        f"{name} {format_probability(mark.model.value)} against {format_probability(mark.source.value)}"
        for name, mark in zip(("decisiveness", "accuracy", "robustness"), cut.marks, strict=True)
    ]
    source = format_probability(fitted.accuracy.source.value)
    return (
        f"{model.model}: {join_words(marks)} in equal-count bins; accuracy of the source {source} in CORP "
        f"blocks. {cut.sentence}"
    )
