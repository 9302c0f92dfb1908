"""Plot of the net reduction in interventions against the threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.formatting import format_number, join_words
from scorereport.plots.canvas import set_axis
from scorereport.plots.cost_curves import draw_curves, name_curves, open_beside_caption, shorten_names
from scorereport.plots.decision_curves import (
    fill_band,
    find_whole_bands,
    middle_of,
    shade_interval,
    threshold_window,
)
from scorereport.plots.geometry import even_ticks, window_ticks
from scorereport.plots.label_placement import CurveLabel
from scorereport.plots.style import MUTED, ModelStyle, line_styles, report_style
from scorereport.plots.text import format_probability, join_sentences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from scorereport._utils.arrays import FloatArray
    from scorereport.curves.decision import DecisionCurve
    from scorereport.inference.decision_differences import DecisionDifference
    from scorereport.plots.label_placement import SizedAxes
    from scorereport.plots.style import LineStyles
    from scorereport.results.model_records import ModelResult

    Interval = tuple[float, float] | None
    Line = tuple[FloatArray, FloatArray]

#: The largest reduction that an axis need show if models avoid none, in cases of 100.
_LEAST_REACH = 5.0
_TREAT_ALL = CurveLabel(
    "treat all", ModelStyle(colour=MUTED, tint=MUTED, dashes=(4, 2), marker="o"), colour=MUTED
)


def plot_interventions(
    models: Sequence[ModelResult],
    cost_interval: Interval,
    decisions: Sequence[DecisionDifference] | None = None,
) -> Figure:
    """Draw the net reduction in interventions of each model, with bands if decisions were compared."""
    with report_style():
        panel, styles = open_beside_caption(), line_styles(len(models))
        shown = shorten_names(models)
        window = threshold_window(shown, cost_interval)
        bands = find_whole_bands(models, decisions, "treat all")
        lines = [_avoided(model, window, band) for model, band in zip(shown, bands, strict=True)]
        _set_axes(panel, lines, window, has_interval=cost_interval is not None)
        for band, look in zip(bands, styles.looks, strict=True):
            if band is not None:
                _fill(panel, band, look)
        shade_interval(panel.axes, cost_interval)
        _draw_lines(panel, lines, window, [*name_curves(shown, styles)[:-1], _TREAT_ALL], styles)
        return panel.figure


def _draw_lines(
    panel: SizedAxes,
    lines: list[Line],
    window: tuple[float, float],
    labels: Sequence[CurveLabel],
    styles: LineStyles,
) -> None:
    nothing = np.array(window), np.zeros(2)
    draw_curves(panel, [*lines, nothing], labels, styles)


def _avoided(model: ModelResult, window: tuple[float, float], band: DecisionDifference | None) -> Line:
    """The reduction at each threshold of a window and just beyond it, as one line.

    A curve has the forecasts as thresholds. If none of them lies in the window, as with forecasts of 0 and 1
    only, the line has the thresholds at which decisions were compared, or those of the table.
    """
    from scorereport.curves.decision import interventions_avoided

    curve = model.curves.decision
    t, inside = curve.threshold, (curve.threshold > 0) & (curve.threshold <= window[1])
    inside &= t >= window[0] - (t[1] - t[0] if len(t) > 1 else 0.0)
    if inside.any():
        beyond = interventions_avoided(curve.beyond - curve.treat_all, t)
        both = np.column_stack([curve.interventions_avoided, beyond])[inside]
        return np.repeat(t[inside], 2), both.ravel()
    if band is not None:
        return band.threshold, interventions_avoided(band.difference, band.threshold)
    known = [(row.threshold, row.interventions_avoided) for row in model.thresholds]
    at, avoided = np.array([(t, y) for t, y in known if y is not None] or [(window[0], 0.0)]).T
    return at, avoided


def _set_axes(
    panel: SizedAxes, lines: Sequence[Line], window: tuple[float, float], *, has_interval: bool
) -> None:
    inside = np.concatenate([y[(x >= window[0]) & (x <= window[1])] for x, y in lines])
    top = max(float(inside.max(initial=0.0)), _LEAST_REACH)
    bottom = max(min(float(inside.min(initial=0.0)), 0.0), -top / 2) - 0.06 * top
    ticks = even_ticks(*window, 6) if has_interval else window_ticks(window)
    set_axis(panel.axes, "x", window, list(ticks), "Decision threshold")
    ticks = even_ticks(bottom, 1.06 * top)
    set_axis(panel.axes, "y", (bottom, 1.06 * top), list(ticks), "Interventions avoided per 100 cases")


def _fill(panel: SizedAxes, band: DecisionDifference, look: ModelStyle) -> None:
    from scorereport.curves.decision import interventions_avoided

    bounds = (band.simultaneous_lower, band.simultaneous_upper)
    lower, upper = (interventions_avoided(bound, band.threshold) for bound in bounds)
    fill_band(panel, band.threshold, (lower, upper), look)


def describe_interventions(models: Sequence[ModelResult], cost_interval: Interval) -> str:
    """Describe the net reduction in interventions in the middle of the relevant thresholds."""
    threshold = middle_of(cost_interval)
    values = [f"{m.model} {_format_at(m.curves.decision, threshold)}" for m in models]
    return join_sentences(
        [
            f"Net reduction in interventions of {join_words([model.model for model in models])} per 100 "
            "cases, compared with treating all, against the decision threshold; higher is better.",
            f"At threshold {format_probability(threshold)}: {join_words(values)}.",
        ]
    )


def _format_at(curve: DecisionCurve, threshold: float) -> str:
    """The reduction at a threshold; not defined for forecasts that are only 0 and 1, which have no other."""
    is_known = curve.threshold > 0
    known = curve.threshold[is_known], curve.interventions_avoided[is_known]
    return format_number(float(np.interp(threshold, *known)) if is_known.any() else np.nan, 1)
