"""Confusion matrices as heat maps: the predicted class against the observed class."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from scorereport._utils.checks import check_inside
from scorereport._utils.formatting import format_level, format_number, format_percent, join_words
from scorereport.errors import UsageError
from scorereport.plots.canvas import POINTS_PER_MM, Canvas
from scorereport.plots.confusion_grid import (
    KEY_HEIGHT,
    LABEL_STEP,
    MOST_NUMBERED,
    ONE_ON_PAGE,
    SEVERAL_ON_PAGE,
    ConfusionGrid,
    are_level,
    choose_grid,
    choose_page_grid,
    shorten_labels,
)
from scorereport.plots.plotted_models import FittedModel, find_models, is_class_model, is_evaluation
from scorereport.plots.public_figures import draw_figure, open_axes
from scorereport.plots.style import (
    HEADING,
    HEAVY,
    INK,
    MUTED,
    PAPER,
    QUIET,
    SMALL,
    lighten,
    model_style,
    report_style,
)
from scorereport.plots.text import join_sentences, text_width

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray

    from scorereport._utils.arrays import FloatArray
    from scorereport.data.predictions import ClassPredictions
    from scorereport.plots.plotted_models import PlottedModel
    from scorereport.results.class_records import ClassModelResult

#: Number of shades that the eye can distinguish.
_SHADES = 25
#: Least share of a dark cell, whose number is light.
_DARK = 0.78
#: Shares whose shades are in the key, if cells have no numbers.
_NAMED = (0.01, 0.1, 0.25, 0.5, 1.0)
#: Width of a cell in which a number has the usual size.
_WIDE_CELL, _SMALLEST = 5.4, 6.5


def confusion(
    source: Any,
    y_prob: Any = None,
    *,
    threshold: float = 0.5,
    classes: Sequence[object] | None = None,
    sample_weight: ArrayLike | None = None,
    ax: Axes | None = None,
) -> Axes | Figure:
    """Draw confusion matrices: for each observed class, the shares of the predicted classes in percent.

    Without `ax`, a new figure has a panel for each model and is returned, or the Axes of one model. With
    `ax`, one model is drawn into these Axes, which are returned.

    Parameters
    ----------
    source
        An `Evaluation`, or a record of one of its models of K classes; a fit of `corp`; or outcomes with
        `y_prob`.
    y_prob, sample_weight
        As in `reliability`; with `classes`, each model has a column for each class.
    classes
        With outcomes: the labels of K classes.
    threshold
        Of binary forecasts: an event is predicted where the forecast is not below it.
    ax
        The Axes to draw into, for one model.
    """
    tables, labels = (
        _find_tables(source, y_prob, sample_weight, threshold)
        if classes is None
        else _count_classes(source, y_prob, sample_weight, classes)
    )
    if ax is None:
        figure = draw_figure(lambda: _draw_figure(tables, labels, choose_grid(list(tables), labels)))
        return figure.axes[0] if len(tables) == 1 else figure
    if len(tables) > 1:
        raise UsageError(f"One Axes shows one model; got {len(tables)}. Pass one of `class_models`.")
    (counts,) = tables.values()
    with open_axes(ax) as panel:
        ax.set_aspect("equal")
        _draw_table(ax, counts)
        grid = choose_grid(list(tables), labels)
        _label_axes(ax, replace(grid, side=min(panel.width, panel.height) / POINTS_PER_MM), 0, labels)
    return ax


def _find_tables(
    source: Any, y_prob: Any, sample_weight: ArrayLike | None, threshold: float
) -> tuple[dict[str, FloatArray], tuple[str, ...]]:
    """Return the confusion table of each model, and the names of the classes."""
    if is_evaluation(source) and source.data.classes is not None:
        found = {m.model: np.array(m.confusion.counts) for m in source.class_models}
        return found, source.data.classes.labels
    if is_class_model(source):
        counts = np.array(source.confusion.counts)
        return {source.model: counts}, tuple(str(place) for place in range(len(counts)))
    check_inside(threshold, "threshold", 0, 1, closed="both")
    if is_evaluation(source) and source.predictions is not None:
        rows = source.predictions
        source, y_prob, sample_weight = rows.outcome, rows.forecasts, rows.weight
    models = find_models(source, y_prob, sample_weight)
    return {model.model: _count_decisions(model, threshold) for model in models}, ("0", "1")


def _count_classes(
    y_true: Any, y_prob: Any, sample_weight: ArrayLike | None, classes: Sequence[object]
) -> tuple[dict[str, FloatArray], tuple[str, ...]]:
    """Return cases by observed and by predicted class, the first of those with the highest probability."""
    from scorereport.data.reader import read_predictions

    read = read_predictions(y_true, forecasts=y_prob, classes=classes, weight=sample_weight)
    rows = cast("ClassPredictions", read)
    n = len(rows.classes)
    tables = {}
    for model, table in rows.forecasts.items():
        cells = n * rows.outcome + table.argmax(axis=1)
        tables[model] = np.bincount(cells, rows.weight, minlength=n * n).reshape(n, n).astype(np.float64)
    return tables, rows.classes


def _count_decisions(model: PlottedModel, threshold: float) -> FloatArray:
    """Return cases by outcome and by whether the forecast is at least the threshold."""
    if not isinstance(model, FittedModel):
        raise UsageError(
            "The confusion matrix at a threshold needs the rows, which are not in memory: pass a fit of "
            "`corp`, or outcomes with `y_prob`. `evaluation.thresholds` has rates at a few thresholds."
        )
    distinct = model.fit.distinct
    is_predicted = distinct.x_min >= threshold
    events, others = distinct.events, distinct.n - distinct.events
    return np.array(
        [[part[~is_predicted].sum(), part[is_predicted].sum()] for part in (others, events)], dtype=np.float64
    )


def plot_confusion(models: Sequence[ClassModelResult], labels: Sequence[str]) -> Figure:
    """Draw, for each observed class, the shares of the predicted classes of each model."""
    tables = {model.model: np.array(model.confusion.counts) for model in models}
    side = ONE_ON_PAGE if len(tables) == 1 else SEVERAL_ON_PAGE
    is_numbered = not are_level(labels, side)
    shown = (
        [f"{label}  {place}" for place, label in enumerate(shorten_labels(labels), 1)]
        if is_numbered
        else labels
    )
    with report_style():
        return _draw_figure(
            tables, shown, choose_page_grid(list(tables), shown, side), is_numbered=is_numbered
        )


def _draw_figure(
    tables: Mapping[str, FloatArray], labels: Sequence[str], grid: ConfusionGrid, *, is_numbered: bool = False
) -> Figure:
    canvas = grid.canvas()
    for place, counts in enumerate(tables.values()):
        left, top = grid.corner(place)
        heading = "\n".join(grid.headings[place])
        canvas.write(left, top - 1.5, heading, va="bottom", size=HEADING, weight=HEAVY)
        axes = canvas.panel(left, top, grid.side, grid.side, apart=0)
        _draw_table(axes, counts, grid.side / len(labels))
        _label_axes(axes, grid, place, labels, is_numbered=is_numbered)
    if grid.has_key:
        _draw_key(canvas, grid)
    return canvas.figure


def _draw_table(axes: Axes, counts: FloatArray, cell: float = _WIDE_CELL) -> None:
    """Draw cells in shades of their share of the row, and a line through rows of classes never observed.

    `cell` is their width in millimetres.
    """
    share, is_observed = _shares(counts)
    size = len(share)
    axes.set_xlim(-0.5, size - 0.5)
    axes.set_ylim(size - 0.5, -0.5)
    for spine in axes.spines.values():
        spine.set_visible(False)
    _fill_cells(axes, share)
    axes.hlines(np.flatnonzero(~is_observed), -0.5, size - 0.5, color=QUIET, linewidth=0.8)
    edges = np.array([-0.5, size - 0.5])
    for x, y in (
        (edges, edges[[0, 0]]),
        (edges, edges[[1, 1]]),
        (edges[[0, 0]], edges),
        (edges[[1, 1]], edges),
    ):
        axes.plot(x, y, color=QUIET, linewidth=0.6, clip_on=False, zorder=3)
    _mark_diagonal(axes, size)
    if size <= MOST_NUMBERED:
        _write_numbers(axes, share, counts, SMALL if cell >= _WIDE_CELL else _SMALLEST)


def _shares(counts: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return each cell as a share of its row (0 for classes never observed), and which were observed."""
    total = counts.sum(axis=1, keepdims=True)
    return np.divide(counts, total, out=np.zeros_like(counts), where=total > 0), total[:, 0] > 0


def _fill_cells(axes: Axes, share: FloatArray) -> None:
    """Draw one path for each shade, so that a file with many classes stays small."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    is_numbered = len(share) <= MOST_NUMBERED
    depth = np.ceil((share if is_numbered else _depth(share)) * _SHADES).astype(int)
    square = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)]) * (0.48 if is_numbered else 0.5)
    for level in range(1, _SHADES + 1):
        cells = [Path(square + cell[::-1], closed=True) for cell in np.argwhere(depth == level)]
        if cells:
            path, colour = Path.make_compound_path(*cells), lighten(model_style(0).colour, level / _SHADES)
            axes.add_patch(PathPatch(path, facecolor=colour, linewidth=0, zorder=1))


def _depth(share: FloatArray) -> FloatArray:
    """Return how dark cells without numbers are: with many classes, small shares must be visible."""
    return np.sqrt(share)


def _draw_key(canvas: Canvas, grid: ConfusionGrid) -> None:
    """Draw the shades of a few shares under the panels."""
    x, y = grid.left, grid.bottom + KEY_HEIGHT / 2
    style: dict[str, Any] = {"va": "center_baseline", "size": SMALL, "color": MUTED}
    canvas.write(x, y, "Share of the row:", **style)
    x += text_width("Share of the row:") / POINTS_PER_MM + 3.0
    for share, depth in zip(_NAMED, _depth(np.array(_NAMED)).tolist(), strict=True):
        colour = lighten(model_style(0).colour, depth)
        canvas.line((x, y), (x + 4.0, y), color=colour, linewidth=3.0 * POINTS_PER_MM)
        canvas.write(x + 5.5, y, format_level(share), **style)
        x += 18.0


def _mark_diagonal(axes: Axes, size: int) -> None:
    """Draw squares around the diagonal cells, or a line through them if they are too small."""
    if size > MOST_NUMBERED:
        axes.plot((-0.5, size - 0.5), (-0.5, size - 0.5), color=MUTED, linewidth=0.3, zorder=2)
        return
    corner = np.array([-0.48, 0.48, 0.48, -0.48, -0.48])
    for place in range(size):
        axes.plot(place + corner, place + corner[[0, 0, 1, 2, 0]], color=INK, linewidth=0.6, zorder=4)


def _write_numbers(axes: Axes, share: FloatArray, counts: FloatArray, size: float) -> None:
    """Write the percentage of the row in each cell that has cases."""
    for y, x in np.argwhere(counts > 0):
        text = format_number(100 * float(share[y, x]), 0)
        colour = PAPER if share[y, x] >= _DARK else INK
        axes.text(x, y, text, ha="center", va="center_baseline", size=size, color=colour, zorder=5)


def _label_axes(
    axes: Axes, grid: ConfusionGrid, place: int, labels: Sequence[str], *, is_numbered: bool = False
) -> None:
    """Write the classes beside the rows, and beneath the columns, there as numbers if `is_numbered`."""
    texts = list(labels) if grid.on_page else shorten_labels(labels)
    every = max(int(np.ceil(LABEL_STEP * len(labels) / grid.side)), 1)
    ticks = list(range(0, len(labels), every))
    shown = [texts[tick] for tick in ticks]
    style: dict[str, Any] = {"length": 0.0 if every == 1 else 2.0, "pad": 2.0}
    axes.tick_params(axis="both", **style)
    axes.set_yticks(ticks, shown if place % grid.columns == 0 else [])
    rotation = 0 if is_numbered or are_level(labels, grid.side) else 90
    below = [str(tick + 1) for tick in ticks] if is_numbered else shown
    axes.set_xticks(ticks, below if grid.is_lowest(place) else [], rotation=rotation)
    if place % grid.columns == 0:
        axes.set_ylabel("Observed class")
    if grid.is_lowest(place):
        axes.set_xlabel("Predicted class")


def describe_confusion(models: Sequence[ClassModelResult], labels: Sequence[str]) -> str:
    """Describe how often each model is right, for which class most and least, and the most frequent error."""
    return join_sentences(
        [
            f"Confusion matrices of {join_words([model.model for model in models])}: the {len(labels)} "
            "observed classes in rows, the predicted classes in columns; the darker a cell, the larger its "
            "share of the row.",
            *(_describe(model, labels) for model in models),
        ]
    )


def _describe(model: ClassModelResult, labels: Sequence[str]) -> str:
    counts = np.array(model.confusion.counts)
    share, is_observed = _shares(counts)
    observed = np.flatnonzero(is_observed).tolist()
    found = {labels[place]: float(share[place, place]) for place in observed}
    often, seldom = (choose(found, key=lambda label: found[label]) for choose in (max, min))
    right = format_percent(float(np.trace(counts) / counts.sum()))
    ends = (
        f", most often for observed {often} ({format_percent(found[often])}), least often for observed "
        f"{seldom} ({format_percent(found[seldom])})"
    )
    differing = ends if found[often] > found[seldom] else ""
    return f"{model.model} is right in {right} of cases{differing}{_describe_mistake(counts, labels)}."


def _describe_mistake(counts: FloatArray, labels: Sequence[str]) -> str:
    wrong = np.where(np.eye(len(counts), dtype=bool), 0.0, counts)
    if not wrong.any():
        return ""
    row, column = divmod(int(wrong.argmax()), len(counts))
    share = format_percent(float(wrong[row, column] / counts.sum()))
    return (
        f"; the most frequent error is predicted {labels[column]}, observed {labels[row]} ({share} of cases)"
    )
