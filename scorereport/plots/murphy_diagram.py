"""Murphy diagrams of all models, and of the differences between them."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.formatting import format_level, format_number, join_words
from scorereport.errors import UsageError
from scorereport.plots.canvas import POINTS_PER_MM, WIDTH, Canvas, fill_outline, set_axis
from scorereport.plots.cost_curves import (
    draw_curves,
    name_curves,
    open_beside_caption,
    open_wide,
    shorten_names,
)
from scorereport.plots.geometry import UNIT, choose_window, even_ticks, knotted_line, simplify, window_ticks
from scorereport.plots.label_placement import SizedAxes
from scorereport.plots.plotted_models import find_models, is_evaluation, name_forecasts
from scorereport.plots.public_figures import draw_figure, open_axes, open_panel, public_plot
from scorereport.plots.style import HEAVY, INK, MUTED, SIZE, lighten, line_styles, report_style
from scorereport.plots.text import format_probability, join_sentences, shorten_text, wrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from scorereport.curves.murphy import MurphyCurve
    from scorereport.inference.dominance import MurphyDifference
    from scorereport.plots.plotted_models import PlottedModel
    from scorereport.plots.style import LineStyles
    from scorereport.results.model_records import ModelResult

_SMALL_LEFT, _RIGHT, _GAP, _SMALL_HEIGHT, _HEADING = 15.0, 3.0, 11.0, 38.0, 9.0
_ROW, _AXIS_LABEL = _HEADING + _SMALL_HEIGHT + 7.0, 5.0
_MOST_PANELS = 6


@public_plot
def murphy(
    source: Any,
    y_prob: Any = None,
    *,
    sample_weight: ArrayLike | None = None,
    ax: Axes | None = None,
    labels: bool = True,
    **keywords: Any,
) -> Axes:
    """Draw Murphy diagrams: the mean elementary score at every cost ratio; return the Axes.

    A lower curve is better. The dotted line is that of the prevalence forecast.

    {parameters}
    """
    models = find_models(source, y_prob, sample_weight)
    lines = line_styles(len(models), keywords, labels=labels)
    with open_panel(ax, open_wide, lines.chosen) as panel:
        _draw_murphy(panel, models, lines)
    return panel.axes


def plot_murphy(models: Sequence[ModelResult]) -> Figure:
    """Draw the mean elementary score of each model, and of the prevalence forecast, at every cost."""
    with report_style():
        panel = open_beside_caption()
        _draw_murphy(panel, shorten_names(models), line_styles(len(models)))
        return panel.figure


def _draw_murphy(panel: SizedAxes, models: Sequence[PlottedModel], styles: LineStyles) -> None:
    axes, reference = panel.axes, models[0].curves.murphy.uncertainty
    lines = [knotted_line(curve) for curve in (*(m.curves.murphy.score for m in models), reference)]
    top = 1.06 * max(float(y.max()) for _, y in lines) or 1.0
    window = choose_window(models)
    set_axis(axes, "x", window, list(window_ticks(window)), "Cost ratio θ")
    set_axis(axes, "y", (0.0, top), list(even_ticks(0.0, top)), "Mean elementary score")
    draw_curves(panel, lines, name_curves(models, styles), styles)


def describe_murphy(models: Sequence[ModelResult]) -> str:
    """Describe the highest values of the curves, and where models are worse than the prevalence forecast."""
    reference = models[0].curves.murphy.uncertainty
    peaks = [f"{model.model} {_peak(model.curves.murphy.score)}" for model in models]
    return join_sentences(
        [
            f"Murphy diagram of {join_words([model.model for model in models])}: mean elementary score "
            "against the cost ratio θ; lower is better.",
            f"Highest values: {join_words(peaks)}; prevalence forecast {_peak(reference)}.",
            _where_worse(models),
        ]
    )


def _peak(curve: MurphyCurve) -> str:
    theta, limits = curve.theta, np.maximum(curve.left, curve.right)
    highest = int(limits.argmax())
    return f"{format_number(float(limits[highest]), 3)} at θ {format_probability(float(theta[highest]))}"


def _where_worse(models: Sequence[ModelResult]) -> str:
    """Describe at which costs a model is worse than the prevalence forecast."""
    grid = np.linspace(0.01, 0.99, 99)
    found = []
    for model in models:
        curves = model.curves.murphy
        worse = grid[curves.score.at(grid) > curves.uncertainty.at(grid) + 1e-12]
        if len(worse):
            found.append(
                f"{model.model} between {format_probability(float(worse[0]))} and "
                f"{format_probability(float(worse[-1]))}"
            )
    return f"Worse than the prevalence forecast at some costs: {join_words(found)}." if found else ""


def murphy_difference(
    source: Any,
    y_prob: Any = None,
    *,
    sample_weight: ArrayLike | None = None,
    pair: tuple[str, str] | None = None,
    ax: Axes | None = None,
    **keywords: Any,
) -> Axes | Figure:
    """Draw the differences of Murphy curves between models, with pointwise and simultaneous bands.

    Without `ax`, a new figure has a panel for each of up to six pairs and is returned. With `ax`, one pair is
    drawn into these Axes, which are returned.

    Parameters
    ----------
    source
        An `Evaluation` of several models, its records `evaluation.comparisons.murphy`, or outcomes 0 and 1.
    y_prob
        With outcomes: a mapping or a frame of the probabilities of two or more models.
    sample_weight
        With outcomes: the weights of the cases.
    pair
        The names of both models of one pair, in any order; all pairs unless given.
    ax
        The Axes to draw into, for one pair.
    keywords
        Keywords of Matplotlib for the line, such as `color` or `linewidth`.
    """
    found = source if y_prob is None else _compare_arrays(source, y_prob, sample_weight)
    differences = _find_differences(found, pair)
    style = line_styles(1, keywords)
    if ax is None:
        figure = draw_figure(lambda: _draw_pairs(differences, style), style.chosen)
        return figure.axes[0] if len(differences) == 1 else figure
    if len(differences) > 1:
        raise UsageError(f"One Axes shows one pair; got {len(differences)}. Name it by `pair`.")
    with open_axes(ax, style.chosen) as panel:
        reach = _reach(differences)
        set_axis(ax, "x", UNIT, list(window_ticks(UNIT)), "Cost ratio θ")
        set_axis(ax, "y", (-reach, reach), list(even_ticks(-reach, reach, 4)), "Difference")
        _draw_difference(panel, differences[0], style)
    return ax


def _compare_arrays(
    y_true: ArrayLike, y_prob: Any, sample_weight: ArrayLike | None
) -> list[MurphyDifference]:
    """Compare all pairs of models, with as many draws as in an evaluation."""
    from scorereport.inference.dominance import murphy_difference as compare

    forecasts = name_forecasts(y_prob)
    if len(forecasts) < 2:
        raise UsageError("`y_prob` must be a mapping of names to the probabilities of two or more models.")
    return [
        compare(y_true, p, q, names=(a, b), resamples=None, sample_weight=sample_weight)
        for (a, p), (b, q) in combinations(forecasts.items(), 2)
    ]


def _find_differences(source: Any, pair: Sequence[str] | None) -> Sequence[MurphyDifference]:
    found = source.comparisons.murphy if is_evaluation(source) else tuple(source)
    if not found:
        raise UsageError(
            "There are no Murphy differences: they need two or more binary models in memory, and resamples."
        )
    if pair is None:
        return found
    of_pair = [one for one in found if {one.first, one.second} == set(pair)]
    if not of_pair:
        known = join_words([f"({one.first!r}, {one.second!r})" for one in found])
        raise UsageError(f"`pair` must be one of {known}; got {tuple(pair)!r}.")
    return of_pair


def plot_murphy_differences(differences: Sequence[MurphyDifference]) -> Figure:
    """Draw the Murphy differences of up to six pairs of models with their bands."""
    with report_style():
        return _draw_pairs(differences, line_styles(1), on_page=True)


def _draw_pairs(
    differences: Sequence[MurphyDifference], style: LineStyles, *, on_page: bool = False
) -> Figure:
    """Draw a panel for each pair; pages may divide the figure between its rows, each with its own axis."""
    shown = differences[:_MOST_PANELS]
    columns = min(len(shown), 2)
    width = (WIDTH - _SMALL_LEFT - _RIGHT - (columns - 1) * _GAP) / columns
    rows = -(-len(shown) // columns)
    height = _ROW + (_AXIS_LABEL if on_page else 0.0)
    canvas = Canvas.of(WIDTH, rows * height + (0.0 if on_page else _AXIS_LABEL))
    canvas.divide([row * height for row in range(rows)])
    reach = _reach(shown)
    for place, difference in enumerate(shown):
        row, column = divmod(place, columns)
        left, top = _SMALL_LEFT + column * (width + _GAP), row * height + _HEADING
        axes = canvas.panel(left, top, width, _SMALL_HEIGHT)
        is_lowest = on_page or place + columns >= len(shown)
        set_axis(axes, "x", UNIT, list(window_ticks(UNIT)), "Cost ratio θ" if is_lowest else "")
        ticks = list(even_ticks(-reach, reach, 4))
        set_axis(axes, "y", (-reach, reach), ticks, "" if column else "Difference")
        if column:
            axes.set_yticklabels([])
        _draw_difference(
            SizedAxes(axes, width * POINTS_PER_MM, _SMALL_HEIGHT * POINTS_PER_MM), difference, style
        )
        canvas.write(left, top - 1.5, _pair(difference, width), va="bottom", size=SIZE, weight=HEAVY)
    return canvas.figure


def _pair(difference: MurphyDifference, width: float) -> str:
    """Return both names, shortened to fit on two lines."""
    names = [
        shorten_text(name, width * POINTS_PER_MM - 26, size=SIZE, weight=HEAVY)
        for name in (difference.first, difference.second)
    ]
    return "\n".join(wrap(" − ".join(names), width * POINTS_PER_MM, lines=2, size=SIZE, weight=HEAVY))


def _reach(differences: Sequence[MurphyDifference]) -> float:
    bounds = [
        np.abs(np.concatenate([d.difference, d.simultaneous_lower, d.simultaneous_upper]))
        for d in differences
    ]
    largest = float(np.nanmax(np.concatenate(bounds)))
    return 1.3 * largest or 1.0


def _draw_difference(panel: SizedAxes, difference: MurphyDifference, style: LineStyles) -> None:
    axes, scale = panel.axes, panel.scale
    theta, look = difference.theta, style.looks[0]
    for lower, upper, colour in (
        (difference.simultaneous_lower, difference.simultaneous_upper, lighten(look.colour, 0.13)),
        (difference.lower, difference.upper, lighten(look.colour, 0.3)),
    ):
        if np.isfinite(lower).all():
            x, y = simplify(np.append(theta, theta[::-1]), np.append(lower, upper[::-1]), scale)
            fill_outline(axes, x, y, color=colour, linewidth=0)
    axes.plot(UNIT, (0, 0), color=INK, linewidth=0.5)
    axes.plot(*simplify(theta, difference.difference, scale), **style.of(0, 1.2))
    place, ha = (0.01, "left") if _has_room_left(difference) else (0.99, "right")
    for name, height, side in ((difference.second, 0.97, "top"), (difference.first, 0.03, "bottom")):
        text = f"{shorten_text(name, 0.6 * panel.width, size=7.5)} better"
        axes.text(place, height, text, transform=axes.transAxes, ha=ha, va=side, size=7.5, color=MUTED)


def _has_room_left(difference: MurphyDifference) -> bool:
    """Whether the left half of a panel has more room for text than the right half."""
    size, left = np.abs(difference.difference), difference.theta < 0.5
    return float(size[left].max()) <= float(size[~left].max())


def describe_murphy_differences(differences: Sequence[MurphyDifference]) -> str:
    """Describe the differences and their bands, with one sentence for each pair shown."""
    shown = differences[:_MOST_PANELS]
    pairs = join_words([f"{d.first} minus {d.second}" for d in shown])
    opening = (
        f"Differences of mean elementary scores against the cost ratio θ, {pairs}, with pointwise and "
        f"simultaneous {format_level(shown[0].level)} bands; below zero, the first model is better."
    )
    alone = [f"Each band holds for its own pair, not for all {len(differences)} pairs at once."]
    several = alone if len(differences) > 1 else []
    return join_sentences([opening, *several, *(difference.sentence for difference in shown)])
