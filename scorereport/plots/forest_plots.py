"""Forest plot: a measure of all models in each group, with intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from scorereport._utils.formatting import format_count, join_words
from scorereport.errors import UsageError
from scorereport.plots.canvas import (
    POINTS_PER_MM,
    WIDTH,
    Canvas,
    divide_rows,
    draw_key,
    key_height,
    set_axis,
)
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
from scorereport.plots.plotted_models import is_evaluation
from scorereport.plots.public_figures import draw_figure, open_axes
from scorereport.plots.style import MUTED, PAPER, RULE, SMALL, ModelStyle, line_styles, report_style
from scorereport.plots.text import wrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from scorereport._utils.arrays import FloatArray
    from scorereport.plots.style import LineStyles
    from scorereport.results.model_records import GroupResult


_HIGHEST, _LABELS, _COUNTS = 215.0, 46.0, 14.0
_HEADS, _AXIS = 6.0, 13.0


class _Rows(NamedTuple):
    """Rows of groups: models, values, labels, and the height of a row in millimetres."""

    groups: Sequence[GroupResult]
    models: list[str]
    values: list[dict[str, MeasureValue]]
    labels: list[list[str]]
    height: float

    @property
    def total(self) -> float:
        return self.height * len(self.groups)


def plot_groups(groups: Sequence[GroupResult], measure: str) -> Figure:
    """Draw a measure of all models in each group, with intervals; one row for each group."""
    with report_style():
        return _draw_forest(groups, measure, line_styles(len(model_names(groups))), on_page=True)


def _draw_forest(
    groups: Sequence[GroupResult], measure: str, styles: LineStyles, *, on_page: bool = False
) -> Figure:
    label, names = measure_label(measure, groups), model_names(groups)
    top = key_height(names, WIDTH) + 2.0 + _HEADS
    rows = _lay_out(groups, names, measure, _HIGHEST - top - _AXIS)
    canvas = Canvas.of(WIDTH, top + rows.total + _AXIS)
    draw_key(canvas, names, WIDTH, styles.looks)
    left = _LABELS + _COUNTS + 4.0
    axes = canvas.panel(left, top, WIDTH - left - 3.0, rows.total, apart=2)
    limits = value_limits(rows.values, measure)
    set_axis(axes, "x", limits, list(even_ticks(*limits)), label)
    if on_page and divide_rows(canvas, top, rows.height, len(groups)):
        axes.tick_params(axis="x", labeltop=True)  # the scale is seen on the first and on the last page
    axes.set_ylim(len(groups) - 0.5, -0.5)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    _draw_rows(axes, rows, limits, styles)
    _write_rows(canvas, rows, top)
    return canvas.figure


def _lay_out(groups: Sequence[GroupResult], models: list[str], measure: str, room: float) -> _Rows:
    """Return rows as high as their models and labels require, within the room on the page."""
    most = room / len(groups)
    labels = [wrap(_name(group, groups), _LABELS * POINTS_PER_MM, lines=3) for group in groups]
    required = max(2.6 * len(models) + 1.6, 3.4 * max(map(len, labels)) + 1.6, 5.0)
    height = min(required, most)
    fitting = max(int((height - 0.4) / 3.2), 1)
    return _Rows(
        groups=groups,
        models=models,
        values=[read_values(group, measure) for group in groups],
        labels=[wrap(_name(group, groups), _LABELS * POINTS_PER_MM, lines=fitting) for group in groups],
        height=height,
    )


def _name(group: GroupResult, groups: Sequence[GroupResult]) -> str:
    is_one_column = len({other.column for other in groups}) == 1
    return group.label if is_one_column else f"{group.column}: {group.label}"


def _draw_rows(axes: Axes, rows: _Rows, limits: tuple[float, float], styles: LineStyles) -> None:
    step = min(0.8 / len(rows.models), 2.8 / rows.height) if rows.models else 0.0
    size = float(np.clip(step * rows.height * POINTS_PER_MM * 0.75, 2.6, 4.5))
    for place, values in enumerate(rows.values):
        if not values:
            axes.text(limits[0], place, " not scored", va="center", size=SMALL, color=MUTED)
    for place, name in enumerate(rows.models):
        y = np.arange(len(rows.values), dtype=np.float64) + (place - (len(rows.models) - 1) / 2) * step
        found = [_numbers(values.get(name)) for values in rows.values]
        points = {"markersize": size, "label": name, **styles.keywords}
        _draw_model(axes, np.array(found), y, styles.looks[place], points)


def _numbers(value: MeasureValue | None) -> tuple[float, float, float]:
    return (np.nan, np.nan, np.nan) if value is None else (value.value, value.lower, value.upper)


def _draw_model(
    axes: Axes, found: FloatArray, y: FloatArray, look: ModelStyle, points: dict[str, Any]
) -> None:
    """Draw points and intervals of one model; an arrow where an interval extends beyond the axis."""
    first, last = axes.get_xlim()
    point, lower, upper = found.T
    axes.hlines(y, np.maximum(lower, first), np.minimum(upper, last), color=look.colour, linewidth=0.7)
    style: dict[str, Any] = {"linestyle": "none", "color": look.colour, "clip_on": False}
    for end, is_cut, marker in ((first, lower < first, "<"), (last, upper > last, ">")):
        if is_cut.any():  # an empty line that is not clipped would count in the layout of a figure
            axes.plot(np.full(is_cut.sum(), end), y[is_cut], marker=marker, markersize=2.5, mew=0, **style)
    edge = 0.3 if points["markersize"] > 4 else 0
    own = {"marker": look.marker, "markeredgecolor": PAPER, "markeredgewidth": edge, "zorder": 4}
    axes.plot(point, y, **{**style, **own, **points})


def _write_rows(canvas: Canvas, rows: _Rows, top: float) -> None:
    """Write the label and the number of cases of each group to the left of its row."""
    right = _LABELS + _COUNTS
    columns = dict.fromkeys(group.column for group in rows.groups)
    head = wrap(", ".join(columns), _LABELS * POINTS_PER_MM, lines=1)[0]
    style = {"va": "center", "size": SMALL, "color": MUTED}
    canvas.write(0.0, top - 3.0, head, **style)
    canvas.write(right, top - 3.0, "n", ha="right", **style)
    for place in range(len(rows.groups) + 1):
        y = top + place * rows.height
        canvas.line((0.0, y), (WIDTH, y), color=RULE, linewidth=0.6, zorder=0)
    for place, (group, lines) in enumerate(zip(rows.groups, rows.labels, strict=True)):
        y = top + (place + 0.5) * rows.height
        canvas.write(0.0, y, "\n".join(lines), va="center", size=SMALL)
        canvas.write(right, y, format_count(group.sample.rows), ha="right", **style)


def groups(
    source: Any,
    *,
    measure: str | None = None,
    column: str | None = None,
    ax: Axes | None = None,
    **keywords: Any,
) -> Axes:
    """Draw a forest plot: a measure of all models in each group, with intervals; return the Axes.

    Parameters
    ----------
    source
        An `Evaluation` with groups, or its records `evaluation.groups`.
    measure
        "brier", "roc_auc" or "brier_miscalibration"; "multiclass_brier" or "rps" for K classes. The main
        score of the evaluation unless given.
    column
        The column whose groups are drawn; all columns unless given.
    ax
        The Axes to draw into, which keep their style; without it, a new figure in the style of the report.
    keywords
        Keywords of Matplotlib for the points, such as `color` (for all models, or a list) or `markersize`.
    """
    found = _find_groups(source, column)
    measure = measure or main_measure(found)
    measure_label(measure, found)
    styles = line_styles(len(model_names(found)), keywords)
    if ax is None:
        return draw_figure(lambda: _draw_forest(found, measure, styles), styles.chosen).axes[0]
    with open_axes(ax, styles.chosen) as panel:
        names, values = model_names(found), [read_values(group, measure) for group in found]
        rows = _Rows(found, names, values, [], panel.height / POINTS_PER_MM / len(found))
        limits = value_limits(values, measure)
        set_axis(ax, "x", limits, list(even_ticks(*limits)), measure_label(measure, found))
        ax.set_ylim(len(found) - 0.5, -0.5)
        texts = [f"{_name(group, found)} ({format_count(group.sample.rows)})" for group in found]
        ax.set_yticks(range(len(found)), [wrap(text, _LABELS * POINTS_PER_MM, lines=1)[0] for text in texts])
        _draw_rows(ax, rows, limits, styles)
        if len(names) > 1:
            ax.legend(frameon=False)
    return ax


def _find_groups(source: Any, column: str | None) -> tuple[GroupResult, ...]:
    found = source.groups if is_evaluation(source) else tuple(source)
    if not found:
        raise UsageError("The evaluation has no groups: name their columns by `groups` in `evaluate`.")
    columns = list(dict.fromkeys(group.column for group in found))
    if column is not None and column not in columns:
        raise UsageError(f"`column` must be one of {join_words(columns)}; got {column!r}.")
    return tuple(group for group in found if column in (None, group.column))


def describe_groups(groups: Sequence[GroupResult], measure: str) -> str:
    """Describe the lowest and highest value of each model over the groups, and groups not scored."""
    columns = join_words(list(dict.fromkeys(group.column for group in groups)))
    return summarize_values(
        groups, measure, f"{measure_label(measure, groups)} in {len(groups)} groups by {columns}", "Groups"
    )
