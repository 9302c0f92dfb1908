"""Plot of the distribution of each model's forecasts: events above the axis, non-events below it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.formatting import format_count, format_counted, join_words
from scorereport.plots.canvas import POINTS_PER_MM, WIDTH, Canvas, fill_outline, set_axis
from scorereport.plots.geometry import choose_window, step_outline, window_ticks
from scorereport.plots.plotted_models import find_models, require_one
from scorereport.plots.public_figures import draw_figure, open_axes
from scorereport.plots.style import INK, MUTED, QUIET, ModelStyle, line_styles, report_style
from scorereport.plots.text import format_probability, join_sentences, text_width, wrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from scorereport._utils.arrays import FloatArray
    from scorereport.curves.fitted import Histogram
    from scorereport.plots.plotted_models import PlottedModel
    from scorereport.plots.style import LineStyles
    from scorereport.results.model_records import ModelResult

_LEFT, _RIGHT, _GAP, _HEIGHT = 3.0, 3.0, 9.0, 30.0
_LINE, _UNDER_PANEL, _AXIS_LABEL = 4.0, 8.5, 4.0
#: Panels share their scale unless one peak is more than this many times as high as another.
_COMPARABLE = 2.5
#: Greatest height of bars that leave room for a text above them.
_UNDER_TEXT = 0.75
_OPPOSITE = {"left": "right", "right": "left"}


def distribution(
    source: Any,
    y_prob: Any = None,
    *,
    sample_weight: ArrayLike | None = None,
    ax: Axes | None = None,
    color: Any = None,
) -> Axes | Figure:
    """Draw the distribution of the forecasts, of events above the axis and of non-events below it.

    One model is drawn into `ax`, or into a new figure, and its Axes are returned; several models are drawn
    into the panels of a new figure, which is returned.

    Parameters
    ----------
    source, y_prob, sample_weight
        As in `reliability`.
    ax
        The Axes to draw into, for one model.
    color
        The colour of the events, for all models or one for each.
    """
    models = find_models(source, y_prob, sample_weight)
    styles = line_styles(len(models), {} if color is None else {"color": color})
    if ax is None:
        figure = draw_figure(lambda: _draw_figure(models, styles), styles.chosen)
        return figure.axes[0] if len(models) == 1 else figure
    require_one(models)
    with open_axes(ax, styles.chosen) as panel:
        window = choose_window(models)
        set_axis(ax, "x", window, list(window_ticks(window)), "Forecast probability")
        ax.set_ylim(-1.05, 1.05)
        ax.set_yticks([])
        _draw(ax, models[0].curves.histogram, styles.looks[0], _scales(models)[0], panel.width)
    return ax


def plot_distributions(models: Sequence[ModelResult]) -> Figure:
    """Draw the forecasts of each model, separately for events and non-events, as shares of each."""
    return _draw_figure(models, line_styles(len(models)), on_page=True)


def _draw_figure(models: Sequence[PlottedModel], styles: LineStyles, *, on_page: bool = False) -> Figure:
    """Draw a panel for each model; pages may divide the figure between its rows, each with its own axis."""
    columns = min(len(models), 3 if on_page else 2)
    width = (WIDTH - _LEFT - _RIGHT - (columns - 1) * _GAP) / columns
    window = choose_window(models)
    with report_style():
        headings = [
            wrap(model.model, width * POINTS_PER_MM, lines=3, size=9.0, weight=600) for model in models
        ]
        rows = [
            _LINE * max(map(len, headings[start : start + columns])) + 2.0
            for start in range(0, len(models), columns)
        ]
        row_height = _HEIGHT + _UNDER_PANEL + (_AXIS_LABEL if on_page else 0.0)
        peaks = _scales(models)
        note = "" if len(set(peaks)) == 1 else "Each panel has its own vertical scale."
        below = (0.0 if on_page else _AXIS_LABEL) + (_LINE if note else 0.0)
        canvas = Canvas.of(WIDTH, sum(rows) + len(rows) * row_height + below)
        canvas.divide([sum(rows[:row]) + row * row_height for row in range(len(rows))])
        canvas.write(_LEFT, canvas.height, note, va="bottom", size=8, color=MUTED)
        for place, model in enumerate(models):
            row, column = divmod(place, columns)
            left = _LEFT + column * (width + _GAP)
            top = sum(rows[: row + 1]) + row * row_height
            canvas.write(left, top - 2.0, "\n".join(headings[place]), va="bottom", size=9.0, weight=600)
            axes = canvas.panel(left, top, width, _HEIGHT, apart=2)
            has_label = on_page or place + columns >= len(models)
            label = "Forecast probability" if has_label else ""
            set_axis(axes, "x", window, list(window_ticks(window)), label)
            axes.set_ylim(-1.05, 1.05)
            axes.set_yticks([])
            axes.spines["left"].set_visible(False)
            _draw(axes, model.curves.histogram, styles.looks[place], peaks[place], width * POINTS_PER_MM)
        return canvas.figure


def _shares(histogram: Histogram) -> tuple[FloatArray, FloatArray]:
    """Return the heights of the bars of events and non-events: densities, or shares if bars have no width."""
    events, others = histogram.events, histogram.n - histogram.events
    width = histogram.upper - histogram.lower
    per = width if (width > 0).any() else np.ones_like(width)
    of_events, of_others = (part / max(float(part.sum()), 1e-300) / per for part in (events, others))
    return of_events, of_others


def _scales(models: Sequence[PlottedModel]) -> list[float]:
    """Return the height that fills half a panel, the same for all panels if they are comparable."""
    peaks = [max(float(part.max()) for part in _shares(model.curves.histogram)) for model in models]
    has_bars = {bool((m.curves.histogram.upper > m.curves.histogram.lower).any()) for m in models}
    is_shared = len(has_bars) == 1 and max(peaks) <= _COMPARABLE * min(peaks)
    return [max(peaks)] * len(peaks) if is_shared else peaks


def _draw(axes: Axes, histogram: Histogram, look: ModelStyle, peak: float, points: float) -> None:
    events, others = (part / peak for part in _shares(histogram))
    for height, colour in ((events, look.colour), (-others, QUIET)):
        if (histogram.upper > histogram.lower).any():
            fill_outline(
                axes, *step_outline(histogram.lower, histogram.upper, height), color=colour, linewidth=0
            )
        else:
            width = float(np.clip(0.35 * points / len(height), 0.5, 5.0))
            axes.vlines(histogram.lower, 0, height, color=colour, linewidth=width)
    axes.axhline(0, color=MUTED, linewidth=0.6)
    texts = (
        (0.98, "top", INK, format_counted(histogram.events.sum(), "event")),
        (0.02, "bottom", MUTED, format_counted((histogram.n - histogram.events).sum(), "non-event")),
    )
    side = _emptier_side(histogram, axes.get_xlim())
    for (y, va, colour, text), height in zip(texts, (events, others), strict=True):
        share = text_width(text, 8) / points
        free = [
            ha for ha in (side, _OPPOSITE[side]) if _is_free(histogram, height, axes.get_xlim(), ha, share)
        ]
        ha = free[0] if free else side
        x = 0.0 if ha == "left" else 1.0
        axes.text(x, y, text, transform=axes.transAxes, ha=ha, va=va, size=8, color=colour)


def _is_free(
    histogram: Histogram, height: FloatArray, window: tuple[float, float], ha: str, share: float
) -> bool:
    """Whether no bar reaches a text that takes this share of the panel, from its left or right side."""
    reach = share * (window[1] - window[0])
    is_under = histogram.lower <= window[0] + reach if ha == "left" else histogram.upper >= window[1] - reach
    return float(height[is_under].max(initial=0.0)) <= _UNDER_TEXT


def _emptier_side(histogram: Histogram, window: tuple[float, float]) -> str:
    """Return the side of the panel with fewer cases, where a text hides less."""
    middle = (histogram.lower + histogram.upper) / 2
    is_left = middle < sum(window) / 2
    return "left" if histogram.n[is_left].sum() <= histogram.n[~is_left].sum() else "right"


def describe_distributions(models: Sequence[ModelResult]) -> str:
    """Describe the range and the mean of the forecasts of each model."""
    histogram = models[0].curves.histogram
    opening = (
        f"Distribution of the forecasts of {join_words([model.model for model in models])}, events above and "
        f"non-events below the axis: {format_counted(histogram.events.sum(), 'event')} and "
        f"{format_counted((histogram.n - histogram.events).sum(), 'non-event')}."
    )
    texts = [
        f"{model.model} from {format_probability(model.forecasts.minimum)} to "
        f"{format_probability(model.forecasts.maximum)}, mean {format_probability(model.forecasts.mean)}, "
        f"{format_count(model.forecasts.n_distinct)} distinct"
        for model in models
    ]
    return join_sentences([opening, f"Forecasts: {'; '.join(texts)}."])
