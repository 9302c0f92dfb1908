"""Time series: a measure of all models by period, with intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport.errors import UsageError
from scorereport.plots.canvas import WIDTH, Canvas, set_axis, write_placeholder
from scorereport.plots.geometry import even_ticks
from scorereport.plots.group_measures import (
    MeasureValue,
    main_measure,
    measure_label,
    model_names,
    read_values,
    summarize_values,
    value_limits,
)
from scorereport.plots.label_placement import CurveLabel, SizedAxes, label_curves
from scorereport.plots.plotted_models import is_evaluation
from scorereport.plots.public_figures import draw_figure, open_panel
from scorereport.plots.style import PAPER, ModelStyle, line_styles, report_style
from scorereport.plots.text import text_width, wrap
from scorereport.plots.trend_plot import plot_trend

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from scorereport._utils.arrays import FloatArray
    from scorereport.plots.style import LineStyles
    from scorereport.results.model_records import GroupResult

_LEFT, _TOP, _PANEL_WIDTH, _PANEL_HEIGHT = 15.0, 2.0, 142.0, 66.0
_HEIGHT_ON_PAGE = 48.0


def trend(
    source: Any, *, measure: str | None = None, ax: Axes | None = None, **keywords: Any
) -> Axes | Figure:
    """Draw a measure of all models over time, with intervals; return the Axes.

    Of the trend of an audit, main score, components and prevalence are drawn, and the new figure is returned.

    Parameters
    ----------
    source
        An `Evaluation` with periods (`time` and `window`), a mapping of periods to evaluations, in order, or
        the `Trend` of an audit.
    measure
        As in `groups`.
    ax
        The Axes to draw into, which keep their style; without it, a new figure in the style of the report.
    keywords
        Keywords of Matplotlib for the lines, such as `color` (for all models, or a list) or `linewidth`.
    """
    if _is_trend(source):
        return draw_figure(lambda: plot_trend(source, ()))
    found = _find_windows(source)
    measure = measure or main_measure(found)
    styles = line_styles(len(model_names(found)), keywords)
    with open_panel(ax, _open_wide, styles.chosen) as panel:
        _draw_windows(panel, found, measure, styles)
    return panel.axes


def _is_trend(source: Any) -> bool:
    from scorereport.history.trend.drift_records import Trend

    return isinstance(source, Trend)


def _find_windows(source: Any) -> tuple[GroupResult, ...]:
    if isinstance(source, Mapping):
        from scorereport.results.model_records import GroupResult

        return tuple(
            GroupResult(
                column="",
                label=str(label),
                sample=evaluation.data.sample,
                models=tuple(result.scores for result in evaluation.results),
            )
            for label, evaluation in source.items()
        )
    found = source.windows if is_evaluation(source) else tuple(source)
    if not found:
        raise UsageError("The evaluation has no periods: name a column of dates by `time` in `evaluate`.")
    return found


def plot_windows(windows: Sequence[GroupResult], measure: str) -> Figure:
    """Draw a measure of all models over the periods, in their order, with intervals."""
    with report_style():
        panel = _open_wide(_HEIGHT_ON_PAGE)
        _draw_windows(panel, windows, measure, line_styles(len(model_names(windows))))
        return panel.figure


def _open_wide(height: float = _PANEL_HEIGHT) -> SizedAxes:
    canvas = Canvas.of(WIDTH, _TOP + height + 12.5)
    return SizedAxes.of(canvas.panel(_LEFT, _TOP, _PANEL_WIDTH, height))


def _draw_windows(panel: SizedAxes, windows: Sequence[GroupResult], measure: str, styles: LineStyles) -> None:
    axes, label, names = panel.axes, measure_label(measure, windows), model_names(windows)
    values = [read_values(window, measure) for window in windows]
    limits = value_limits(values, measure)
    set_axis(axes, "y", limits, list(even_ticks(*limits)), label)
    axes.set_xlim(-0.5, len(windows) - 0.5)
    _write_periods(panel, windows)
    if not names:
        write_placeholder(axes, "No period has enough rows to be scored.")
        return
    series = [_series([row.get(name) for row in values], n, len(names)) for n, name in enumerate(names)]
    for place, (x, y, lower, upper) in enumerate(series):
        line = {"label": names[place], **styles.of(place, 1.0)}
        _draw_series(axes, x, y, (lower, upper), styles.looks[place], line)
    whiskers = [
        (np.repeat(x[k], 2), np.array([lower[k], upper[k]]))
        for x, _, lower, upper in series
        for k in range(len(x))
    ]
    labels = [CurveLabel(name, look) for name, look in zip(names, styles.looks, strict=True)]
    label_curves(panel, [(x, y) for x, y, _, _ in series], labels, whiskers)


def _write_periods(panel: SizedAxes, windows: Sequence[GroupResult]) -> None:
    """Label the axis with as many periods as fit side by side."""
    axes = panel.axes
    widest = max(text_width(window.label) for window in windows) + 6
    every = max(int(np.ceil(widest * len(windows) / panel.width)), 1)
    places = list(range(0, len(windows), every))
    axes.set_xticks(places, [wrap(windows[place].label, widest * 2, lines=1)[0] for place in places])
    axes.set_xlabel(windows[0].column)


def _series(values: Sequence[MeasureValue | None], place: int, n: int) -> tuple[FloatArray, ...]:
    """Return positions of the periods, slightly shifted for each model, with values and bounds."""
    x = np.arange(len(values)) + (place - (n - 1) / 2) * min(0.6 / n, 0.12)
    found = (
        np.array([np.nan if value is None else getattr(value, name) for value in values])
        for name in ("value", "lower", "upper")
    )
    return x, *found


def _draw_series(
    axes: Axes,
    x: FloatArray,
    y: FloatArray,
    bounds: tuple[FloatArray, FloatArray],
    look: ModelStyle,
    line: dict[str, Any],
) -> None:
    axes.vlines(x, *bounds, color=look.colour, linewidth=0.7, zorder=2)
    axes.plot(x, y, **{"zorder": 3, **line})
    axes.plot(x, y, linestyle="none", marker=look.marker, markersize=4, color=look.colour, mec=PAPER, mew=0.4)


def describe_windows(windows: Sequence[GroupResult], measure: str) -> str:
    """Describe the lowest and highest value of each model over the periods."""
    opening = f"{measure_label(measure, windows)} over {len(windows)} periods"
    ends = f"from {windows[0].label} to {windows[-1].label}"
    return summarize_values(windows, measure, f"{opening} {ends}", "Periods")
