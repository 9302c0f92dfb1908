"""MCB-DSC plot: discrimination against miscalibration, with lines of equal score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from scorereport._utils.formatting import common_decimals, format_number, join_words
from scorereport.plots.canvas import POINTS_PER_MM, WIDTH, Canvas, set_axis
from scorereport.plots.geometry import even_ticks
from scorereport.plots.label_placement import CurveLabel, SizedAxes, label_curves
from scorereport.plots.plotted_models import find_models
from scorereport.plots.public_figures import open_panel, public_plot
from scorereport.plots.style import (
    INK,
    MUTED,
    MUTED_STYLE,
    PAPER,
    QUIET,
    SMALL,
    lighten,
    line_styles,
    report_style,
)
from scorereport.plots.text import (
    drop_zero,
    find_decomposition,
    format_short,
    join_sentences,
    shorten_text,
    wrap,
)
from scorereport.scores.registry import REGISTRY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.estimates import ComponentEstimate
    from scorereport.plots.plotted_models import PlottedModel
    from scorereport.plots.style import LineStyles, ModelStyle
    from scorereport.reliability.decomposition import Decomposition
    from scorereport.results.model_records import ModelResult

_LEFT, _TOP, _RIGHT, _BELOW = 16.0, 6.0, 12.0, 13.0
#: Width of a figure and height of its panel; on a page, they leave room for a caption beside the figure.
_SIZE, _SIZE_ON_PAGE = (WIDTH, 82.0), (120.0, 54.0)
_NOTE_LINE = 3.8
#: Longest name on a page, in points.
_LONGEST_NAME = 45.0 * POINTS_PER_MM


class _Point(NamedTuple):
    """One model in the plot."""

    model: str
    look: ModelStyle
    part: Decomposition
    intervals: tuple[ComponentEstimate, ...]

    @property
    def place(self) -> tuple[float, float]:
        return self.part.miscalibration, self.part.discrimination

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """Return the intervals of MCB and DSC; NaN where there is none."""
        found = {estimate.component: (estimate.lower, estimate.upper) for estimate in self.intervals}
        return [found.get(name, (np.nan, np.nan)) for name in ("miscalibration", "discrimination")]


@public_plot
def components(
    source: Any,
    y_prob: Any = None,
    *,
    score: str = "brier",
    sample_weight: ArrayLike | None = None,
    ax: Axes | None = None,
    labels: bool = True,
    **keywords: Any,
) -> Axes:
    """Draw discrimination (DSC) against miscalibration (MCB) of a score; return the Axes.

    Better models lie further up and to the left; the score is constant along the grey lines. Models of an
    evaluation have their intervals. `keywords` are those of the points, such as `markersize`.

    {parameters}
    """
    models = find_models(source, y_prob, sample_weight)
    styles = line_styles(len(models), keywords, labels=labels)
    points = _points(models, score, styles)
    with open_panel(ax, _open_panel, styles.chosen) as panel:
        _draw_points(panel, points, styles)
    return panel.axes


def plot_components(models: Sequence[ModelResult], score: str = "brier") -> Figure:
    """Draw discrimination against miscalibration; better models lie further up and to the left."""
    styles = line_styles(len(models))
    points = _points(models, score, styles)
    with report_style():
        notes = _lines_on_infinite(points)
        panel, canvas = _open_canvas(_SIZE_ON_PAGE, len(notes))
        short = [point._replace(model=shorten_text(point.model, _LONGEST_NAME)) for point in points]
        _draw_points(panel, short, styles)
        for line, text in enumerate(notes):
            top = canvas.height - (len(notes) - line) * _NOTE_LINE
            canvas.write(_LEFT, top, text, size=SMALL, color=MUTED)
        return canvas.figure


def _open_canvas(size: tuple[float, float], notes: int = 0) -> tuple[SizedAxes, Canvas]:
    """Open a panel that leaves room for the lines of notes below it."""
    width, height = size[0], size[1] - _NOTE_LINE * notes
    canvas = Canvas.of(width, _TOP + size[1] + _BELOW)
    return SizedAxes.of(canvas.panel(_LEFT, _TOP, width - _LEFT - _RIGHT, height, apart=4)), canvas


def _open_panel() -> SizedAxes:
    return _open_canvas(_SIZE)[0]


def _draw_points(panel: SizedAxes, points: Sequence[_Point], styles: LineStyles) -> None:
    axes = panel.axes
    finite = [point for point in points if np.isfinite(point.place).all()]
    limits = _limits(finite)
    for which, limit, label in zip(
        "xy", limits, ("Miscalibration (MCB)", "Discrimination (DSC)"), strict=True
    ):
        set_axis(axes, which, (0.0, limit), list(even_ticks(0.0, limit)), label)
    _draw_equal_scores(axes, points[0].part, limits)
    for point in finite:
        _draw_point(axes, point, styles.keywords)
    origin: dict[str, Any] = {"marker": "o", "markersize": 4.5, "mec": INK, "mew": 0.8, "linestyle": "none"}
    axes.plot(0, 0, color=PAPER, clip_on=False, zorder=6, **origin)
    if styles.labels:
        _write_names(panel, finite)


def _points(models: Sequence[PlottedModel], score: str, styles: LineStyles) -> list[_Point]:
    return [
        _Point(
            model=model.model,
            look=look,
            part=find_decomposition(model.scores, score),
            intervals=tuple(c for c in model.scores.components if c.measure == score),
        )
        for model, look in zip(models, styles.looks, strict=True)
    ]


def _limits(points: Sequence[_Point]) -> tuple[float, float]:
    """Return the ends of both axes, for all points and their intervals, except extremely wide ones."""
    limits = []
    for axis in (0, 1):
        values = [point.place[axis] for point in points]
        upper = [point.bounds[axis][1] for point in points if np.isfinite(point.bounds[axis][1])]
        largest = max(values, default=0.0)
        limits.append(1.12 * max(largest, min(max(upper, default=0.0), 2.5 * largest)))
    smallest = 0.02 * max(limits)
    x, y = (limit if limit > smallest else smallest or 1.0 for limit in limits)
    return x, y


def _draw_equal_scores(axes: Axes, part: Decomposition, limits: tuple[float, float]) -> None:
    """Draw lines on which MCB - DSC, and so the score, is constant, labelled where they leave the panel."""
    sign = -1 if part.higher_is_better else 1
    lower, upper = sorted(part.uncertainty + sign * gain for gain in (limits[0], -limits[1]))
    scores = even_ticks(lower if part.higher_is_better else max(lower, 0.0), upper, 8)
    decimals = max(len(format_short(float(score)).partition(".")[2]) for score in scores)
    name = _label(part.name)
    for score in scores:
        gain = sign * (part.uncertainty - float(score))  # DSC - MCB
        start, end = (max(-gain, 0.0), max(gain, 0.0)), _panel_exit(gain, limits)
        if end[0] - start[0] < 0.02 * limits[0]:
            continue
        axes.plot(*zip(start, end, strict=True), color=QUIET, linewidth=0.6, zorder=1)
        text = drop_zero(format_number(float(score), decimals)) if score else "0"
        at_top = end[1] >= limits[1] * (1 - 1e-9)
        offset, ha, va = ((0, 3), "center", "bottom") if at_top else ((3, 0), "left", "center")
        if name and not at_top:  # the margin has no room for the name
            offset, ha, va = (0, 2), "right", "bottom"
        style: dict[str, Any] = {"size": 7.5, "color": MUTED, "annotation_clip": False}
        label = f"{name} {text}".strip()
        axes.annotate(label, end, offset, textcoords="offset points", ha=ha, va=va, **style)
        name = ""


def _panel_exit(gain: float, limits: tuple[float, float]) -> tuple[float, float]:
    """Return where the line DSC = MCB + gain leaves the panel."""
    x = min(limits[0], limits[1] - gain)
    return x, x + gain


def _draw_point(axes: Axes, point: _Point, keywords: dict[str, Any]) -> None:
    for line in _cross(point):
        x, y = (np.append(ends, middle) for ends, middle in zip(line, point.place, strict=True))
        axes.plot(x[1:], y[1:], color=lighten(point.look.colour, 0.6), linewidth=0.5, linestyle=(0, (0.8, 2)))
        axes.plot(*line, color=lighten(point.look.colour, 0.6), linewidth=0.8, zorder=3)
    style: dict[str, Any] = {
        "marker": point.look.marker,
        "markersize": 5.5,
        "color": point.look.colour,
        "markeredgecolor": PAPER,
        "markeredgewidth": 0.5,
        "linestyle": "none",
        "label": point.model,
        "zorder": 5,
    }
    axes.plot(*point.place, clip_on=False, **{**style, **keywords})


def _write_names(panel: SizedAxes, points: Sequence[_Point]) -> None:
    """Write names beside their points, away from all points and intervals."""
    places = [(np.array([p.place[0]]), np.array([p.place[1]])) for p in points]
    crosses = [line for point in points for line in _cross(point)]
    origin = (np.zeros(1), np.zeros(1))
    labels = [CurveLabel(p.model, p.look, has_line=False) for p in points]
    labels.append(CurveLabel("prevalence forecast", MUTED_STYLE, colour=MUTED, has_line=False))
    label_curves(panel, [*places, origin], labels, crosses)


def _cross(point: _Point) -> list[tuple[FloatArray, FloatArray]]:
    """Return the intervals of a point as lines through it."""
    (x, y), (of_mcb, of_dsc) = point.place, point.bounds
    return [(np.array(of_mcb), np.full(2, y)), (np.full(2, x), np.array(of_dsc))]


def _lines_on_infinite(points: Sequence[_Point]) -> list[str]:
    text = _on_infinite(points)
    return wrap(text, (_SIZE_ON_PAGE[0] - _LEFT) * POINTS_PER_MM, lines=4) if text else []


def _on_infinite(points: Sequence[_Point]) -> str:
    infinite = [point.model for point in points if not np.isfinite(point.place).all()]
    return f"Not shown, because the score is infinite: {join_words(infinite)}." if infinite else ""


def describe_components(models: Sequence[ModelResult], score: str = "brier") -> str:
    """Describe miscalibration, discrimination and score of each model."""
    points = _points(models, score, line_styles(len(models)))
    finite = [point for point in points if np.isfinite(point.place).all()]
    label = _label(score)
    decimals = common_decimals(value for point in finite for value in point.place)
    texts = [
        f"{p.model} MCB {format_number(p.place[0], decimals)}, DSC {format_number(p.place[1], decimals)}, "
        f"score {format_number(p.part.score, decimals)}"
        for p in finite
    ]
    uncertainty = format_number(points[0].part.uncertainty, decimals)
    return join_sentences(
        [
            f"Discrimination against miscalibration of {join_words([p.model for p in points])} for the "
            f"{label}, with lines of equal score; the prevalence forecast is at the origin, with score "
            f"{uncertainty}.",
            f"{'; '.join(texts)}." if texts else "",
            _on_infinite(points),
        ]
    )


def _label(score: str) -> str:
    return REGISTRY[score].label if score in REGISTRY else score
