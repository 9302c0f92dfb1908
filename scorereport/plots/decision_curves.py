"""Plots of decisions: regret against cost, and net benefit against threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.formatting import format_number, join_words
from scorereport._utils.list_rules import COST_INTERVAL
from scorereport.plots.canvas import fill_outline, set_axis
from scorereport.plots.cost_curves import (
    draw_curves,
    name_curves,
    open_beside_caption,
    open_wide,
    shorten_names,
)
from scorereport.plots.geometry import UNIT, choose_window, even_ticks, knotted_line, simplify, window_ticks
from scorereport.plots.label_placement import CurveLabel, SizedAxes
from scorereport.plots.plotted_models import find_models, is_evaluation
from scorereport.plots.public_figures import open_panel, public_plot
from scorereport.plots.style import MUTED, ModelStyle, line_styles, report_style
from scorereport.plots.text import format_probability, join_sentences

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from scorereport._utils.arrays import FloatArray
    from scorereport.curves.decision import DecisionCurve
    from scorereport.inference.decision_differences import DecisionDifference
    from scorereport.plots.plotted_models import PlottedModel
    from scorereport.plots.style import LineStyles
    from scorereport.results.model_records import ModelResult

    Interval = tuple[float, float] | None
    Line = tuple[FloatArray, FloatArray]

_SHADE = "#eef1f4"
#: Opacity of bands, low enough for those of several models to overlap.
_VEIL = 0.13
_TREAT_ALL = ModelStyle(colour=MUTED, tint=_SHADE, dashes=(4, 2), marker="o")
_TREAT_NONE = ModelStyle(colour=MUTED, tint=_SHADE, dashes=(), marker="o")
_POLICIES = (
    CurveLabel("treat all", _TREAT_ALL, colour=MUTED),
    CurveLabel("treat none", _TREAT_NONE, colour=MUTED),
)


@public_plot
def regret(
    source: Any,
    y_prob: Any = None,
    *,
    sample_weight: ArrayLike | None = None,
    cost_interval: Interval = None,
    ax: Axes | None = None,
    labels: bool = True,
    **keywords: Any,
) -> Axes:
    """Draw the mean regret of each model, and of the prevalence forecast, at every cost; return the Axes.

    The costs of `cost_interval` are shaded; of an evaluation, those of its settings.

    {parameters}
    """
    models = find_models(source, y_prob, sample_weight)
    lines = line_styles(len(models), keywords, labels=labels)
    interval = _find_interval(source, cost_interval)
    with open_panel(ax, open_wide, lines.chosen) as panel:
        _draw_regret(panel, models, interval, lines)
    return panel.axes


@public_plot
def decision_curve(
    source: Any,
    y_prob: Any = None,
    *,
    sample_weight: ArrayLike | None = None,
    cost_interval: Interval = None,
    ax: Axes | None = None,
    labels: bool = True,
    **keywords: Any,
) -> Axes:
    """Draw decision curves: the net benefit of each model, of treating all and none; return the Axes.

    The thresholds of `cost_interval` are shaded; of an evaluation, those of its settings. Light areas are
    simultaneous bands of the net benefit of the models of an evaluation.

    {parameters}
    """
    models = find_models(source, y_prob, sample_weight)
    lines = line_styles(len(models), keywords, labels=labels)
    interval = _find_interval(source, cost_interval)
    bands = find_whole_bands(models, source.comparisons.decisions if is_evaluation(source) else None)
    with open_panel(ax, open_wide, lines.chosen) as panel:
        _draw_decision(panel, models, interval, lines, bands)
    return panel.axes


def _find_interval(source: Any, given: Any) -> Interval:
    if given is None:
        return source.settings.cost_interval if is_evaluation(source) else None
    lower, upper = COST_INTERVAL.check(given, "cost_interval")
    return lower, upper


def plot_regret(models: Sequence[ModelResult], cost_interval: Interval) -> Figure:
    """Draw the mean regret of each model, and of the prevalence forecast, at every cost."""
    with report_style():
        panel = open_beside_caption()
        _draw_regret(panel, shorten_names(models), cost_interval, line_styles(len(models)))
        return panel.figure


def plot_decision(
    models: Sequence[ModelResult],
    cost_interval: Interval,
    decisions: Sequence[DecisionDifference] | None = None,
) -> Figure:
    """Draw the net benefit of each model, of treating all and of treating none.

    Bands are those that hold for whole curves, if decisions were compared, else those at each threshold.
    """
    with report_style():
        panel, bands = open_beside_caption(), find_whole_bands(models, decisions)
        _draw_decision(panel, shorten_names(models), cost_interval, line_styles(len(models)), bands)
        return panel.figure


def find_whole_bands(
    models: Sequence[PlottedModel],
    decisions: Sequence[DecisionDifference] | None,
    policy: str = "treat none",
) -> list[DecisionDifference | None]:
    """For each model, the simultaneous band of its difference from a policy; None if there is none."""
    found = {d.first: d for d in decisions or () if d.against == policy and not d.note}
    return [found.get(model.model) for model in models]


def _draw_regret(
    panel: SizedAxes, models: Sequence[PlottedModel], interval: Interval, styles: LineStyles
) -> None:
    reference = knotted_line(models[0].curves.murphy.uncertainty)
    lines = [knotted_line(model.curves.regret) for model in models]
    lines.append((reference[0], reference[1] / 2))
    top = 1.06 * max(float(y.max()) for _, y in lines) or 1.0
    window = _costs(models, interval)
    set_axis(panel.axes, "x", window, list(window_ticks(window)), "Cost ratio")
    set_axis(panel.axes, "y", (0.0, top), list(even_ticks(0.0, top)), "Mean regret")
    shade_interval(panel.axes, interval)
    draw_curves(panel, lines, name_curves(models, styles), styles)


def _draw_decision(
    panel: SizedAxes,
    models: Sequence[PlottedModel],
    interval: Interval,
    styles: LineStyles,
    bands: Sequence[DecisionDifference | None],
) -> None:
    axes = panel.axes
    lower, upper = window = threshold_window(models, interval)
    lines = [_net_benefit(model.curves.decision) for model in models]
    first = models[0].curves.decision
    policies = [(first.threshold, first.treat_all), (first.threshold, first.treat_none)]
    bottom, top = _heights([*lines, *policies], lower, upper)
    ticks = window_ticks(window) if interval is None else even_ticks(lower, upper, 6)
    set_axis(axes, "x", (lower, upper), list(ticks), "Decision threshold")
    set_axis(axes, "y", (bottom, top), list(even_ticks(bottom, top)), "Net benefit")
    for model, whole, look in zip(models, bands, styles.looks, strict=True):
        if whole is None:
            _draw_band(panel, model.curves.decision, look)
        else:
            fill_band(panel, whole.threshold, (whole.simultaneous_lower, whole.simultaneous_upper), look)
    shade_interval(axes, interval)
    labels = [*name_curves(models, styles)[:-1], *_POLICIES]
    draw_curves(panel, [*lines, *policies], labels, styles)


def _draw_band(panel: SizedAxes, curve: DecisionCurve, look: ModelStyle) -> None:
    """Draw the intervals of net benefit as a light area."""
    band = curve.band
    if band is None or band.note:
        return
    lower, upper = (
        np.column_stack(both).ravel()
        for both in ((band.lower, band.lower_beyond), (band.upper, band.upper_beyond))
    )
    fill_band(panel, np.repeat(curve.threshold, 2), (lower, upper), look)


def fill_band(
    panel: SizedAxes, x: FloatArray, bounds: tuple[FloatArray, FloatArray], look: ModelStyle
) -> None:
    """Fill the area between two lines; it may be drawn over those of other models."""
    bottom, top = panel.axes.get_ylim()
    scale = (panel.width, panel.height / (top - bottom))
    (x_lower, lower), (x_upper, upper) = (
        simplify(x, np.clip(y, 2 * bottom - top, 2 * top - bottom), scale) for y in bounds
    )
    places = np.append(x_lower, x_upper[::-1]), np.append(lower, upper[::-1])
    fill_outline(panel.axes, *places, color=look.colour, alpha=_VEIL, linewidth=0, zorder=1)


def shade_interval(axes: Axes, interval: Interval) -> None:
    """Shade the relevant costs, if they are known."""
    if interval is not None:
        axes.axvspan(*interval, color=_SHADE, linewidth=0, zorder=0)


def _net_benefit(curve: DecisionCurve) -> Line:
    """Return net benefit at each threshold and just beyond it, as one line."""
    return np.repeat(curve.threshold, 2), np.column_stack([curve.net_benefit, curve.beyond]).ravel()


def threshold_window(models: Sequence[PlottedModel], interval: Interval) -> tuple[float, float]:
    """Return the interval widened by a quarter on both sides or, without one, the window of the forecasts."""
    if interval is None:
        return choose_window(models)
    margin = (interval[1] - interval[0]) / 4
    return max(interval[0] - margin, 0.0), min(interval[1] + margin, 1.0)


def _costs(models: Sequence[PlottedModel], interval: Interval) -> tuple[float, float]:
    """Return the window of the forecasts, or all costs if the interval lies outside it."""
    window = choose_window(models)
    is_there = interval is None or window[0] <= interval[0] < interval[1] <= window[1]
    return window if is_there else UNIT


def _heights(lines: Sequence[Line], lower: float, upper: float) -> tuple[float, float]:
    """Return the vertical range: from the lowest model, but not far below zero, to the highest line."""
    *models, _, _ = lines
    highest = max(_extreme(line, lower, upper, np.max) for line in lines)
    lowest = min(0.0, *(_extreme(line, lower, upper, np.min) for line in models))
    reach = highest if highest > 0 else max(-lowest, 0.1)
    return max(lowest, -reach / 4) - 0.06 * reach, highest + 0.06 * reach


def _extreme(line: Line, lower: float, upper: float, choose: Callable[[FloatArray], float]) -> float:
    x, y = line
    ends = np.interp([lower, min(upper, float(x[-1]))], x, y)
    return float(choose(np.append(y[(x >= lower) & (x <= upper)], ends)))


def describe_regret(models: Sequence[ModelResult], cost_interval: Interval) -> str:
    """Describe the regret of the models in the middle of the relevant costs."""
    cost = middle_of(cost_interval)
    values = [f"{m.model} {format_number(float(m.curves.regret.at(cost)[0]), 4)}" for m in models]
    reference = float(models[0].curves.murphy.uncertainty.at(cost)[0]) / 2
    return join_sentences(
        [
            f"Regret curves of {join_words([model.model for model in models])}: mean regret against the cost "
            f"ratio; lower is better.{_shaded(cost_interval)}",
            f"At cost {format_probability(cost)}: {join_words(values)}, prevalence forecast "
            f"{format_number(reference, 4)}.",
        ]
    )


def describe_decision(models: Sequence[ModelResult], cost_interval: Interval) -> str:
    """Describe the net benefit of the models in the middle of the relevant thresholds."""
    threshold = middle_of(cost_interval)
    values = [
        f"{m.model} {format_number(_value(m.curves.decision, m.curves.decision.net_benefit, threshold), 4)}"
        for m in models
    ]
    curve = models[0].curves.decision
    treat_all = format_number(_value(curve, curve.treat_all, threshold), 4)
    return join_sentences(
        [
            f"Decision curves of {join_words([model.model for model in models])}: net benefit against the "
            f"decision threshold; higher is better.{_shaded(cost_interval)}",
            f"At threshold {format_probability(threshold)}: {join_words(values)}, treating all {treat_all}, "
            "none 0.",
        ]
    )


def _value(curve: DecisionCurve, values: FloatArray, threshold: float) -> float:
    return float(np.interp(threshold, curve.threshold, values))


def middle_of(interval: Interval) -> float:
    """Return the middle of an interval of costs; without one, 0.5."""
    return 0.5 if interval is None else (interval[0] + interval[1]) / 2


def _shaded(interval: Interval) -> str:
    if interval is None:
        return ""
    return (
        f" The relevant costs, {format_probability(interval[0])} to {format_probability(interval[1])}, "
        "are shaded."
    )
