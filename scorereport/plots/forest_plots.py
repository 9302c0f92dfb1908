"""Forest plot of a measure by group, and time series of a measure by period."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from scorereport._utils.formatting import common_decimals, format_count, format_number, join_words
from scorereport.errors import UsageError
from scorereport.plots.canvas import (
    POINTS_PER_MM,
    WIDTH,
    Canvas,
    draw_key,
    key_height,
    set_axis,
    write_placeholder,
)
from scorereport.plots.geometry import even_ticks
from scorereport.plots.label_placement import CurveLabel, SizedAxes, label_curves
from scorereport.plots.style import MUTED, PAPER, RULE, SMALL, ModelStyle, model_style, report_style
from scorereport.plots.text import join_sentences, text_width, wrap
from scorereport.scores.registry import REGISTRY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from scorereport._utils.arrays import FloatArray
    from scorereport.results.model_records import GroupResult, ModelScores


#: Measures that a figure of groups can show, with the label of its axis.
PLOTTED_MEASURES = {
    "brier": REGISTRY["brier"].label,
    "roc_auc": "Area under the ROC curve (AUC)",
    "brier_miscalibration": "Miscalibration (MCB) of the Brier score",
    "multiclass_brier": REGISTRY["multiclass_brier"].label,
    "rps": REGISTRY["rps"].label,
}
_MISCALIBRATION = "brier_miscalibration"
#: Label of the overfit-corrected miscalibration, short enough for a vertical axis.
_CORRECTED = "Overfit-corrected MCB of the Brier score"


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureValue:
    """A measure of one model in one group; NaN for unknown bounds."""

    model: str
    value: float
    lower: float = np.nan
    upper: float = np.nan


def measure_label(measure: str, groups: Sequence[GroupResult]) -> str:
    """Return the label of a measure; refuse an unknown one with a list of the known ones."""
    if measure not in PLOTTED_MEASURES:
        names = join_words([f"{name!r}" for name in PLOTTED_MEASURES])
        raise UsageError(f"`measure` must be one of {names}; got {measure!r}.")
    is_corrected = any(scores.components for group in groups for scores in group.models)
    return _CORRECTED if is_corrected and measure == _MISCALIBRATION else PLOTTED_MEASURES[measure]


def model_names(groups: Sequence[GroupResult]) -> list[str]:
    """Return the names of all models of the groups, in their order."""
    return list(dict.fromkeys(scores.model for group in groups for scores in group.models))


def read_values(group: GroupResult, measure: str) -> dict[str, MeasureValue]:
    """Return the measure of every model in a group; empty if the group was not scored."""
    read = _miscalibration if measure == _MISCALIBRATION else _score
    return {scores.model: read(scores, measure) for scores in group.models}


def _score(scores: ModelScores, measure: str) -> MeasureValue:
    score = next(score for score in scores.scores if score.name == measure)
    if score.interval is None:
        return MeasureValue(model=scores.model, value=score.value)
    return MeasureValue(
        model=scores.model, value=score.value, lower=score.interval.lower, upper=score.interval.upper
    )


def _miscalibration(scores: ModelScores, _measure: str) -> MeasureValue:
    """Return the overfit-corrected MCB with its interval; the raw one if there is no correction."""
    part = next(part for part in scores.decompositions if part.name == "brier")
    for estimate in scores.components:
        if (estimate.measure, estimate.component) == ("brier", "miscalibration"):
            return MeasureValue(
                model=scores.model, value=estimate.corrected, lower=estimate.lower, upper=estimate.upper
            )
    return MeasureValue(model=scores.model, value=part.miscalibration)


def value_limits(rows: Sequence[dict[str, MeasureValue]], measure: str) -> tuple[float, float]:
    """Return the ends of an axis for the values and their intervals, except extremely wide ones."""
    values = [value for row in rows for value in row.values()]
    points = np.array([v.value for v in values if np.isfinite(v.value)])
    if len(points) == 0:
        return 0.0, 1.0
    lower, upper = (
        np.array([bound for bound in bounds if np.isfinite(bound)])
        for bounds in ([v.lower for v in values], [v.upper for v in values])
    )
    low, high = (_end(points, bounds, side) for bounds, side in ((lower, -1), (upper, 1)))
    margin = 0.06 * (high - low) or 0.05
    ends = max(float(low - margin), 0.0), float(high + margin)
    return (ends[0], min(ends[1], 1.0)) if measure == "roc_auc" else ends


def _end(points: FloatArray, bounds: FloatArray, side: int) -> float:
    """Return one end of an axis: the outermost bound or, if that is far out, the 90 % quantile of bounds."""
    outermost = float((side * points).max())
    if len(bounds) == 0:
        return side * outermost
    most, outermost_bound = (float(np.quantile(side * bounds, share)) for share in (0.9, 1.0))
    middle = float(np.median(side * points))
    is_far = outermost_bound - middle > 2 * (max(most, outermost) - middle)
    return side * max(outermost, most if is_far else outermost_bound)


_HIGHEST, _LABELS, _COUNTS = 215.0, 46.0, 14.0
_HEADS, _AXIS = 6.0, 13.0
#: Most groups not scored that a description names; further ones are counted.
_MOST_LISTED = 5
_LEFT, _TOP, _PANEL_WIDTH, _PANEL_HEIGHT = 15.0, 2.0, 142.0, 66.0


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
    label = measure_label(measure, groups)
    with report_style():
        names = model_names(groups)
        top = key_height(names, WIDTH) + 2.0 + _HEADS
        rows = _lay_out(groups, names, measure, _HIGHEST - top - _AXIS)
        canvas = Canvas.of(WIDTH, top + rows.total + _AXIS)
        draw_key(canvas, names, WIDTH)
        left = _LABELS + _COUNTS + 4.0
        axes = canvas.panel(left, top, WIDTH - left - 3.0, rows.total, apart=2)
        limits = value_limits(rows.values, measure)
        set_axis(axes, "x", limits, list(even_ticks(*limits)), label)
        axes.set_ylim(len(groups) - 0.5, -0.5)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        _draw_rows(axes, rows, limits)
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


def _draw_rows(axes: Axes, rows: _Rows, limits: tuple[float, float]) -> None:
    step = min(0.8 / len(rows.models), 2.8 / rows.height) if rows.models else 0.0
    size = float(np.clip(step * rows.height * POINTS_PER_MM * 0.75, 2.6, 4.5))
    for place, values in enumerate(rows.values):
        if not values:
            axes.text(limits[0], place, " not scored", va="center", size=SMALL, color=MUTED)
    for place, name in enumerate(rows.models):
        y = np.arange(len(rows.values), dtype=np.float64) + (place - (len(rows.models) - 1) / 2) * step
        found = [_numbers(values.get(name)) for values in rows.values]
        _draw_model(axes, np.array(found), y, model_style(place), size)


def _numbers(value: MeasureValue | None) -> tuple[float, float, float]:
    return (np.nan, np.nan, np.nan) if value is None else (value.value, value.lower, value.upper)


def _draw_model(axes: Axes, found: FloatArray, y: FloatArray, look: ModelStyle, size: float) -> None:
    """Draw points and intervals of one model; an arrow where an interval extends beyond the axis."""
    first, last = axes.get_xlim()
    point, lower, upper = found.T
    axes.hlines(y, np.maximum(lower, first), np.minimum(upper, last), color=look.colour, linewidth=0.7)
    style: dict[str, Any] = {"linestyle": "none", "color": look.colour, "clip_on": False}
    for end, is_cut, marker in ((first, lower < first, "<"), (last, upper > last, ">")):
        axes.plot(np.full(is_cut.sum(), end), y[is_cut], marker=marker, markersize=2.5, mew=0, **style)
    axes.plot(
        point,
        y,
        marker=look.marker,
        markersize=size,
        mec=PAPER,
        mew=0.3 if size > 4 else 0,
        zorder=4,
        **style,
    )


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


def plot_windows(windows: Sequence[GroupResult], measure: str) -> Figure:
    """Draw a measure of all models over the periods, in their order, with intervals."""
    label = measure_label(measure, windows)
    with report_style():
        names = model_names(windows)
        values = [read_values(window, measure) for window in windows]
        limits = value_limits(values, measure)
        canvas = Canvas.of(WIDTH, _TOP + _PANEL_HEIGHT + 12.5)
        axes = canvas.panel(_LEFT, _TOP, _PANEL_WIDTH, _PANEL_HEIGHT)
        set_axis(axes, "y", limits, list(even_ticks(*limits)), label)
        axes.set_xlim(-0.5, len(windows) - 0.5)
        _write_periods(axes, windows)
        if not names:
            write_placeholder(axes, "No period has enough rows to be scored.")
            return canvas.figure
        panel = SizedAxes(axes, _PANEL_WIDTH * POINTS_PER_MM, _PANEL_HEIGHT * POINTS_PER_MM)
        series = [_series([row.get(name) for row in values], n, len(names)) for n, name in enumerate(names)]
        for place, (x, y, lower, upper) in enumerate(series):
            _draw_series(axes, x, y, (lower, upper), model_style(place))
        whiskers = [
            (np.repeat(x[k], 2), np.array([lower[k], upper[k]]))
            for x, _, lower, upper in series
            for k in range(len(x))
        ]
        labels = [CurveLabel(name, model_style(place)) for place, name in enumerate(names)]
        label_curves(panel, [(x, y) for x, y, _, _ in series], labels, whiskers)
        return canvas.figure


def _write_periods(axes: Axes, windows: Sequence[GroupResult]) -> None:
    """Label the axis with as many periods as fit side by side."""
    widest = max(text_width(window.label) for window in windows) + 6
    every = max(int(np.ceil(widest * len(windows) / (_PANEL_WIDTH * POINTS_PER_MM))), 1)
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
    axes: Axes, x: FloatArray, y: FloatArray, bounds: tuple[FloatArray, FloatArray], look: ModelStyle
) -> None:
    axes.vlines(x, *bounds, color=look.colour, linewidth=0.7, zorder=2)
    axes.plot(x, y, zorder=3, **look.line(1.0))
    axes.plot(x, y, linestyle="none", marker=look.marker, markersize=4, color=look.colour, mec=PAPER, mew=0.4)


def describe_groups(groups: Sequence[GroupResult], measure: str) -> str:
    """Describe the lowest and highest value of each model over the groups, and groups not scored."""
    columns = join_words(list(dict.fromkeys(group.column for group in groups)))
    return _describe(
        groups, measure, f"{measure_label(measure, groups)} in {len(groups)} groups by {columns}", "Groups"
    )


def describe_windows(windows: Sequence[GroupResult], measure: str) -> str:
    """Describe the lowest and highest value of each model over the periods."""
    opening = f"{measure_label(measure, windows)} over {len(windows)} periods"
    ends = f"from {windows[0].label} to {windows[-1].label}"
    return _describe(windows, measure, f"{opening} {ends}", "Periods")


def _describe(groups: Sequence[GroupResult], measure: str, opening: str, noun: str) -> str:
    rows = [(group.label, read_values(group, measure)) for group in groups]
    texts = []
    for name in model_names(groups):
        found = [(row[name].value, label) for label, row in rows if name in row]
        known = sorted(pair for pair in found if np.isfinite(pair[0]))
        if known:
            (low, where_low), (high, where_high) = known[0], known[-1]
            decimals = 3 if measure == "roc_auc" else common_decimals([low, high])
            texts.append(
                f"{name} from {format_number(low, decimals)} ({where_low}) to "
                f"{format_number(high, decimals)} ({where_high})"
            )
    unscored = [label for label, row in rows if not row]
    return join_sentences(
        [
            f"{opening}.",
            f"{'; '.join(texts)}." if texts else "",
            _not_scored(unscored, noun),
        ]
    )


def _not_scored(labels: Sequence[str], noun: str) -> str:
    if not labels:
        return ""
    more = len(labels) - _MOST_LISTED
    named = [*labels[:_MOST_LISTED], *([f"{format_count(more)} more"] if more > 0 else [])]
    return f"{noun} not scored: {join_words(named)}."
