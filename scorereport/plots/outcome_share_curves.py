"""Brier score and miscalibration of each model by the share of events among missing outcomes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.formatting import common_decimals, format_number, format_percent
from scorereport.inference.missing_outcomes import DECOMPOSED, MISCALIBRATION
from scorereport.plots.canvas import POINTS_PER_MM, set_axis, wide_panels
from scorereport.plots.geometry import even_ticks, simplify
from scorereport.plots.label_placement import CurveLabel, SizedAxes, label_curves
from scorereport.plots.style import MUTED, MUTED_STYLE, QUIET, model_style, report_style
from scorereport.plots.text import join_sentences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.missing_outcomes import MissingOutcomes, ModelBounds
    from scorereport.plots.canvas import PanelGrid
    from scorereport.plots.label_placement import Line

_NAMES = ("Brier score", "MCB of the Brier score")


def plot_outcome_shares(missing: MissingOutcomes, *, rate: float, limits: Sequence[float] = ()) -> Figure:
    """Draw the Brier score and its MCB against the share of events; limits are those of the Brier score."""
    with report_style():
        grid = wide_panels(_NAMES)
        canvas = grid.canvas()
        for place, curves in enumerate(_list_curves(missing.models)):
            lines = [*curves, *(_level(limit) for limit in limits if place == 0)]
            axes = grid.panel(canvas, place)
            _set_axes(axes, lines, missing.kind)
            _draw(axes, grid, lines, [model.model for model in missing.models], rate)
        return canvas.figure


def _list_curves(models: Sequence[ModelBounds]) -> tuple[list[Line], list[Line]]:
    """The curves of both panels: a line for the score, and the computed points for MCB."""
    means = [model.find(DECOMPOSED) for model in models]
    ends = np.array([0.0, 1.0])
    scores = [(ends, np.array([m.no_events, m.all_events])) for m in means if m is not None]
    return scores, [(model.shares, model.miscalibration) for model in models]


def _level(limit: float) -> Line:
    return np.array([0.0, 1.0]), np.array([limit, limit])


def _set_axes(axes: Axes, lines: Sequence[Line], kind: str) -> None:
    values: FloatArray = np.concatenate([y for _, y in lines])
    low, high = float(values.min()), float(values.max())
    room = max(0.12 * (high - low), 1e-3 * max(high, 1e-3))
    limits = max(low - room, 0.0), high + room
    set_axis(axes, "y", limits, list(even_ticks(*limits)), "")
    ticks = np.linspace(0.0, 1.0, 6)
    axes.set_xlim((0.0, 1.0))
    axes.set_xticks(ticks, [format_number(100 * tick, 0) for tick in ticks])
    axes.set_xlabel(f"Events among the {kind} outcomes (%)")


def _draw(axes: Axes, grid: PanelGrid, lines: Sequence[Line], names: Sequence[str], rate: float) -> None:
    panel = SizedAxes(axes, grid.width * POINTS_PER_MM, grid.height * POINTS_PER_MM)
    axes.axvline(rate, color=QUIET, linewidth=0.6, zorder=1)
    labels = []
    for place, line in enumerate(lines):
        look = model_style(place) if place < len(names) else MUTED_STYLE
        axes.plot(*simplify(*line, panel.scale), zorder=3, **look.line())
        is_model = place < len(names)
        labels.append(CurveLabel(names[place], look) if is_model else CurveLabel("limit", look, colour=MUTED))
    rule = (np.full(2, rate), np.array(axes.get_ylim()))
    label_curves(panel, lines, labels, [rule])


def describe_outcome_shares(missing: MissingOutcomes, rate: float) -> str:
    """Describe the ends of the curves of each model."""
    opening = (
        f"Brier score and miscalibration (MCB) against the share of events among the {missing.kind} "
        f"outcomes, from none to all; a vertical line marks the observed rate, {format_percent(rate)}."
    )
    return join_sentences([opening, *(_describe(model) for model in missing.models)])


def _describe(model: ModelBounds) -> str:
    texts = []
    for name, number in zip(_NAMES, ("mean", MISCALIBRATION), strict=True):
        bounds = model.find(DECOMPOSED, number)
        if bounds is not None:
            ends = (bounds.no_events, bounds.all_events)
            first, last = (format_number(end, common_decimals(ends)) for end in ends)
            texts.append(f"{name} from {first} to {last}")
    return f"{model.model}: {', '.join(texts)}."
