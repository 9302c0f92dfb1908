"""Plot of miscalibration and discrimination by class or threshold, for models of K classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from scorereport._utils.formatting import common_decimals, format_number, join_words
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
from scorereport.plots.class_reliability import label_view
from scorereport.plots.geometry import even_ticks
from scorereport.plots.style import PAPER, QUIET, RULE, SMALL, model_style, report_style
from scorereport.plots.text import find_decomposition, join_sentences, text_width, wrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from scorereport._utils.arrays import FloatArray
    from scorereport.results.class_records import ClassModelResult, ViewFamily, ViewResult

#: All lengths are in millimetres.
_HIGHEST, _WIDEST_LABEL, _AXIS, _GAP = 208.0, 40.0, 13.0, 8.0
#: Least distance between labels; where rows are closer, some labels are left out.
_LABEL_STEP = 3.3
_HEADS = {"miscalibration": "Miscalibration (MCB)", "discrimination": "Discrimination (DSC)"}
_CORRECTED_HEADS = {"miscalibration": "Corrected MCB", "discrimination": "Corrected DSC"}


class _Rows(NamedTuple):
    """Rows of views: the views of each model, the labels, and the height of a row."""

    families: list[ViewFamily]
    labels: list[list[str]]
    height: float

    @property
    def total(self) -> float:
        return self.height * len(self.labels)

    @property
    def label_width(self) -> float:
        """Return the width of the widest label in millimetres."""
        return max(text_width(line) for lines in self.labels for line in lines) / POINTS_PER_MM


def plot_view_components(models: Sequence[ClassModelResult], kind: str) -> Figure:
    """Draw MCB and DSC of all models side by side, a row for each class or threshold."""
    families = _families(models, kind)
    with report_style():
        names = [model.model for model in models]
        top = key_height(names, WIDTH) + 3.0
        rows = _lay_out(families, _HIGHEST - top - _AXIS)
        canvas = Canvas.of(WIDTH, top + rows.total + _AXIS)
        draw_key(canvas, names, WIDTH, [model_style(place) for place in range(len(names))])
        left = rows.label_width + 3.0
        width = (WIDTH - left - _GAP - 3.0) / 2
        _write_labels(canvas, rows, top)
        is_divided = divide_rows(canvas, top, rows.height, len(rows.labels))
        for place, component in enumerate(_HEADS):
            axes = canvas.panel(left + place * (width + _GAP), top, width, rows.total, apart=2)
            _draw_component(axes, rows, component)
            axes.tick_params(axis="x", labeltop=is_divided)  # the scale is seen on the first and last page
        return canvas.figure


def _families(models: Sequence[ClassModelResult], kind: str) -> list[ViewFamily]:
    found = [model.family(kind) for model in models]
    if None in found:
        raise UsageError(f"`kind` must be one that the models were evaluated by; got {kind!r}.")
    return [family for family in found if family is not None]


def _lay_out(families: list[ViewFamily], room: float) -> _Rows:
    """Return rows as high as their models and labels require, within the room on the page."""
    names = [label_view(view, families[0].kind) for view in families[0].views]
    most = room / len(names)
    labels = [wrap(name, _WIDEST_LABEL * POINTS_PER_MM, lines=2) for name in names]
    height = min(max(2.4 * len(families) + 1.4, _LABEL_STEP * max(map(len, labels)) + 1.4, 5.0), most)
    lines = max(int(height / _LABEL_STEP), 1)
    return _Rows(
        families, [wrap(name, _WIDEST_LABEL * POINTS_PER_MM, lines=min(lines, 2)) for name in names], height
    )


def _write_labels(canvas: Canvas, rows: _Rows, top: float) -> None:
    """Write the names of the views to the left of their rows, and draw hairlines between rows."""
    every = int(np.ceil(_LABEL_STEP / rows.height - 1e-9))
    for place, lines in enumerate(rows.labels):
        y = top + (place + 0.5) * rows.height
        if place % every == 0:
            canvas.write(0.0, y, "\n".join(lines), va="center", size=SMALL)
    for place in range(0, len(rows.labels) + 1, every):
        y = top + place * rows.height
        canvas.line((0.0, y), (WIDTH, y), color=RULE, linewidth=0.6, zorder=0)


def _draw_component(axes: Axes, rows: _Rows, component: str) -> None:
    found = [np.array([_numbers(view, component) for view in family.views]) for family in rows.families]
    limits = _limits(found)
    is_corrected = any(np.isfinite(numbers[:, 1:]).any() for numbers in found)
    head = _CORRECTED_HEADS[component] if is_corrected else _HEADS[component]
    set_axis(axes, "x", limits, list(even_ticks(*limits)), head)
    axes.set_ylim(len(rows.labels) - 0.5, -0.5)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.axvline(0.0, color=QUIET, linewidth=0.8, zorder=1)
    step = min(0.8 / len(found), 2.6 / rows.height)
    size = float(np.clip(step * rows.height * POINTS_PER_MM * 0.75, 2.4, 4.5))
    for place, numbers in enumerate(found):
        y = np.arange(len(numbers), dtype=np.float64) + (place - (len(found) - 1) / 2) * step
        _draw_model(axes, numbers, y, place, size)


def _numbers(view: ViewResult, component: str) -> tuple[float, float, float]:
    """Return the overfit-corrected component with its interval; else the raw one, without an interval."""
    known = view.scores.component("brier", component)
    if known is None:
        return float(getattr(find_decomposition(view.scores), component)), np.nan, np.nan
    return known.corrected, known.lower, known.upper


def _limits(found: Sequence[FloatArray]) -> tuple[float, float]:
    """Return the ends of an axis from 0, or below, with all values and all but extremely wide intervals."""
    values, _, bounds = np.concatenate(found).T
    bounds = bounds[np.isfinite(bounds)]
    far = min(float(bounds.max()), 2.5 * float(np.median(bounds))) if len(bounds) else 0.0
    first, last = min(float(values.min()), 0.0), max(float(values.max()), far) or 0.01
    return first - 0.04 * (last - first) * (first < 0), last + 0.06 * (last - first)


def _draw_model(axes: Axes, numbers: FloatArray, y: FloatArray, place: int, size: float) -> None:
    """Draw points and intervals of one model; an arrow where an interval extends beyond the axis."""
    look, (first, last) = model_style(place), axes.get_xlim()
    point, lower, upper = numbers.T
    axes.hlines(y, np.maximum(lower, first), np.minimum(upper, last), color=look.colour, linewidth=0.7)
    style: dict[str, Any] = {"linestyle": "none", "color": look.colour, "clip_on": False}
    is_cut = upper > last
    axes.plot(np.full(is_cut.sum(), last), y[is_cut], marker=">", markersize=2.5, mew=0, **style)
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


def describe_view_components(models: Sequence[ClassModelResult], kind: str) -> str:
    """Describe the range of MCB and DSC of each model, and where their extremes are."""
    families = _families(models, kind)
    each = "class" if kind == "class" else "threshold between classes"
    return join_sentences(
        [
            f"Miscalibration and discrimination of {join_words([model.model for model in models])} at each "
            f"{each}.",
            *(_describe(model.model, family) for model, family in zip(models, families, strict=True)),
        ]
    )


def _describe(model: str, family: ViewFamily) -> str:
    return f"{model}: {join_words(_describe_range(family, component) for component in _HEADS)}."


def _describe_range(family: ViewFamily, component: str) -> str:
    """Describe the smallest and the largest value of a component, and where they are."""
    values = [_numbers(view, component)[0] for view in family.views]
    decimals = common_decimals(values)
    lowest, highest = (
        f"{format_number(value, decimals)} ({label_view(family.views[values.index(value)], family.kind)})"
        for value in (min(values), max(values))
    )
    return f"{component} runs from {lowest} to {highest}" if len(values) > 1 else f"{component} is {lowest}"
