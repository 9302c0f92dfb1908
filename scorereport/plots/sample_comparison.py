"""Plot of a sample against a reference sample: shares of forecasts by bin, and both reliability curves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.formatting import format_percent, join_words
from scorereport.plots.canvas import POINTS_PER_MM, WIDTH, Canvas, set_axis
from scorereport.plots.geometry import choose_window, even_ticks, simplify, window_ticks
from scorereport.plots.style import HEADING, HEAVY, INK, MUTED, QUIET, SMALL, model_style, report_style
from scorereport.plots.text import format_short, join_sentences, wrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from scorereport.inference.population_stability import Stability
    from scorereport.plots.geometry import Window
    from scorereport.plots.style import ModelStyle
    from scorereport.results.model_records import ModelResult
    from scorereport.results.reference_records import ReferenceComparison

_LEFT, _RIGHT, _GAP, _TOP = 14.0, 3.0, 20.0, 1.0
_HEIGHT, _LINE, _UNDER_HEADING, _UNDER_PANEL = 40.0, 4.0, 2.5, 13.0
_BAR = 0.38
#: Most labels below the bars.
_MOST_LABELS = 10


def plot_sample_comparison(
    models: Sequence[ModelResult], stability: Sequence[Stability], comparison: ReferenceComparison
) -> Figure:
    """Draw a row for each model: shares of forecasts in both samples and, with outcomes, both curves."""
    has_curves = comparison.models[0].curve is not None
    side = _HEIGHT if has_curves else 0.0
    width = WIDTH - _LEFT - _RIGHT - (side + _GAP if has_curves else 0.0)
    window = choose_window(models)
    with report_style():
        headings = [
            wrap(one.model, width * POINTS_PER_MM, lines=2, size=HEADING, weight=HEAVY) for one in stability
        ]
        heights = [_LINE * len(lines) + _UNDER_HEADING + _HEIGHT + _UNDER_PANEL for lines in headings]
        canvas = Canvas.of(WIDTH, _TOP + sum(heights))
        tops = [_TOP + sum(heights[:row]) for row in range(len(heights))]
        canvas.divide(tops)
        for place, (one, lines, above) in enumerate(zip(stability, headings, tops, strict=True)):
            top = above + _LINE * len(lines) + _UNDER_HEADING
            look = model_style(place)
            text = "\n".join(lines)
            canvas.write(_LEFT, top - _UNDER_HEADING, text, va="bottom", size=HEADING, weight=HEAVY)
            _draw_shares(canvas.panel(_LEFT, top, width, _HEIGHT), one, look)
            if has_curves:
                axes = canvas.panel(_LEFT + width + _GAP, top, side, side)
                _draw_curves(axes, models[place], comparison, look, window, side)
        return canvas.figure


def _draw_shares(axes: Axes, stability: Stability, look: ModelStyle) -> None:
    """Draw the bars of both samples for each bin, with the ends of the bins below."""
    place = np.arange(len(stability.sample))
    axes.bar(place - _BAR / 2, stability.reference, _BAR, color=QUIET, linewidth=0)
    axes.bar(place + _BAR / 2, stability.sample, _BAR, color=look.colour, linewidth=0)
    top = 1.25 * float(max(stability.sample.max(), stability.reference.max()))
    set_axis(axes, "y", (0.0, top), list(even_ticks(0.0, top)), "Share of cases")
    axes.set_xlim(-0.6, len(place) - 0.4)
    step = -(-len(stability.ends) // _MOST_LABELS) or 1
    ends = stability.ends[::step]
    axes.set_xticks(np.arange(len(stability.ends))[::step] + 0.5, [format_short(end, 3) for end in ends])
    axes.set_xlabel("Forecast probability, by bins of the reference")
    axes.text(0.0, 1.0, "reference", transform=axes.transAxes, va="top", size=SMALL, color=MUTED)
    axes.text(0.16, 1.0, "this sample", transform=axes.transAxes, va="top", size=SMALL, color=look.colour)


def _draw_curves(
    axes: Axes,
    model: ModelResult,
    comparison: ReferenceComparison,
    look: ModelStyle,
    window: Window,
    side: float,
) -> None:
    """Draw the reliability curve of the reference, that of the sample, and the diagonal."""
    set_axis(axes, "x", window, list(window_ticks(window)), "Forecast probability")
    set_axis(axes, "y", window, list(window_ticks(window)), "Event rate")
    axes.plot(window, window, color=MUTED, linewidth=0.6)
    scale = side * POINTS_PER_MM / (window[1] - window[0])
    old, new = comparison.find(model.model).curve, model.curves.reliability
    if old is not None:
        axes.plot(*simplify(old.forecast, old.cep, (scale, scale)), color=QUIET, linewidth=1.8, zorder=2)
    axes.plot(*simplify(new.forecast, new.cep, (scale, scale)), color=look.colour, linewidth=1.2, zorder=3)
    axes.tick_params(colors=INK)


def describe_sample_comparison(stability: Sequence[Stability], comparison: ReferenceComparison) -> str:
    """Describe the bins whose shares differ most, and the curves."""
    opening = (
        f"Shares of the forecasts of {join_words([one.model for one in stability])} in bins of the reference "
        "sample, there and in this sample"
        + (", and the reliability curves of both samples." if comparison.has_outcomes else ".")
    )
    return join_sentences([opening, *map(_describe_largest, stability)])


def _describe_largest(stability: Stability) -> str:
    place = int(np.argmax(np.round(np.abs(stability.sample - stability.reference), 12)))
    before, now = float(stability.reference[place]), float(stability.sample[place])
    return (
        f"{stability.model}: the largest change is in bin {place + 1} of {len(stability.sample)}, from "
        f"{format_percent(before)} to {format_percent(now)}."
    )
