"""ROC curves with their concave hulls, and cumulative accuracy profiles, of all models in one panel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.formatting import format_number, join_words
from scorereport.plots.canvas import POINTS_PER_MM, Canvas, set_axis, write_placeholder
from scorereport.plots.geometry import UNIT, simplify, window_ticks
from scorereport.plots.label_placement import CurveLabel, SizedAxes, label_curves
from scorereport.plots.plotted_models import find_models, prevalence_of
from scorereport.plots.public_figures import open_panel, public_plot
from scorereport.plots.style import MUTED, SMALL, lighten, line_styles, report_style
from scorereport.plots.text import (
    drop_zero,
    find_score,
    join_sentences,
    score_interval_text,
    shorten_text,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from scorereport._utils.arrays import FloatArray
    from scorereport.plots.plotted_models import PlottedModel
    from scorereport.plots.style import LineStyles
    from scorereport.results.model_records import ModelResult

_SIDE, _LEFT, _TOP, _RIGHT, _BELOW = 103.0, 13.0, 2.0, 3.0, 12.5
#: On a page: side of a panel and gap between panels; width of the key, its step, and most names.
_SIDE_ON_PAGE, _GAP_ON_PAGE, _KEY_WIDTH, _KEY_STEP, _MOST_IN_KEY = 46.0, 14.0, 26.0, 3.6, 5
_DIAGONAL = (np.array(UNIT), np.array(UNIT))
_ONE_CLASS = "A ROC curve requires events and non-events; these data have only one of them."
_NO_PROFILE = "A cumulative accuracy profile requires events and non-events."


@public_plot
def roc(
    source: Any,
    y_prob: Any = None,
    *,
    sample_weight: ArrayLike | None = None,
    ax: Axes | None = None,
    labels: bool = True,
    **keywords: Any,
) -> Axes:
    """Draw ROC curves with thin lines for their concave hulls, and return the Axes.

    {parameters}

    >>> ax = roc([0, 1, 0, 1], [0.1, 0.6, 0.4, 0.3])
    >>> ax.get_xlabel()
    'False positive rate'
    """
    models = find_models(source, y_prob, sample_weight)
    lines = line_styles(len(models), keywords, labels=labels)
    with open_panel(ax, _open_square, lines.chosen, is_square=True) as panel:
        _draw_roc(panel, models, lines)
    return panel.axes


def plot_roc(models: Sequence[ModelResult]) -> Figure:
    """Draw the ROC curves of all models with their hulls, and their cumulative accuracy profiles."""
    with report_style():
        width = _LEFT + 2 * _SIDE_ON_PAGE + _GAP_ON_PAGE + _RIGHT
        canvas = Canvas.of(width, _TOP + _SIDE_ON_PAGE + _BELOW)
        lefts, lines = (_LEFT, _LEFT + _SIDE_ON_PAGE + _GAP_ON_PAGE), line_styles(len(models), labels=False)
        panels = [SizedAxes.of(canvas.panel(x, _TOP, _SIDE_ON_PAGE, _SIDE_ON_PAGE)) for x in lefts]
        _draw_roc(panels[0], models, lines)
        _draw_cap(panels[1], models, lines)
        if _has_both_classes(models):
            _write_key(canvas, lefts[1], models, line_styles(len(models)))
        return canvas.figure


def _write_key(canvas: Canvas, left: float, models: Sequence[PlottedModel], lines: LineStyles) -> None:
    """Write the name of each model, with a sample of its curve, below the profiles; of many, the first."""
    shown = models[:_MOST_IN_KEY] if len(models) > _MOST_IN_KEY + 1 else models
    more = len(models) - len(shown)
    names = [model.model for model in shown] + ([f"{more} more: see the table"] if more else [])
    start = left + _SIDE_ON_PAGE - _KEY_WIDTH
    for place, name in enumerate(names):
        y = _TOP + _SIDE_ON_PAGE - 2.0 - (len(names) - 1 - place) * _KEY_STEP
        if place < len(shown):
            canvas.line((start, y), (start + 5.0, y), **lines.of(place))
        text = shorten_text(name, (_KEY_WIDTH - 6.5) * POINTS_PER_MM)
        canvas.write(start + 6.5, y, text, va="center_baseline", size=SMALL)


def _open_square() -> SizedAxes:
    canvas = Canvas.of(_LEFT + _SIDE + _RIGHT, _TOP + _SIDE + _BELOW)
    return SizedAxes.of(canvas.panel(_LEFT, _TOP, _SIDE, _SIDE))


def _draw_roc(panel: SizedAxes, models: Sequence[PlottedModel], lines: LineStyles) -> None:
    axes = _set_unit_axes(panel, "False positive rate", "True positive rate")
    if not _has_both_classes(models):
        write_placeholder(axes, _ONE_CLASS)
        return
    axes.plot(*_DIAGONAL, color=MUTED, linewidth=0.6)
    for place, model in reversed(list(enumerate(models))):
        look, curves = lines.looks[place], model.curves
        hull = simplify(curves.roc_hull.fpr, curves.roc_hull.tpr, panel.scale)
        axes.plot(*hull, color=lighten(look.colour, 0.5), linewidth=0.5, zorder=3)
        curve = simplify(curves.roc.fpr, curves.roc.tpr, panel.scale)
        axes.plot(*curve, **{"zorder": 4, "label": model.model, **lines.of(place)})
    texts = [f"AUC {drop_zero(_area(model))}" for model in models]
    labels = _labels(models, lines, texts)
    label_curves(panel, [(m.curves.roc.fpr, m.curves.roc.tpr) for m in models], labels, [_DIAGONAL])


def _set_unit_axes(panel: SizedAxes, across: str, up: str) -> Axes:
    axes = panel.axes
    set_axis(axes, "x", UNIT, list(window_ticks(UNIT)), across)
    set_axis(axes, "y", UNIT, list(window_ticks(UNIT)), up)
    return axes


def _labels(models: Sequence[PlottedModel], lines: LineStyles, remarks: Sequence[str]) -> list[CurveLabel]:
    if not lines.labels:
        return []
    return [
        CurveLabel(name=model.model, look=look, remark=remark)
        for model, look, remark in zip(models, lines.looks, remarks, strict=True)
    ]


@public_plot
def cap(
    source: Any,
    y_prob: Any = None,
    *,
    sample_weight: ArrayLike | None = None,
    ax: Axes | None = None,
    labels: bool = True,
    **keywords: Any,
) -> Axes:
    """Draw cumulative accuracy profiles: the share of events among the cases with the highest forecasts.

    The grey line is that of a perfect ranking, the diagonal that of a random one. The accuracy ratio, which
    equals the Gini coefficient 2 AUC - 1, is the area above the diagonal as a share of that of the perfect
    ranking. Returns the Axes.

    {parameters}
    """
    models = find_models(source, y_prob, sample_weight)
    lines = line_styles(len(models), keywords, labels=labels)
    with open_panel(ax, _open_square, lines.chosen, is_square=True) as panel:
        _draw_cap(panel, models, lines)
    return panel.axes


def _draw_cap(panel: SizedAxes, models: Sequence[PlottedModel], lines: LineStyles) -> None:
    axes = _set_unit_axes(panel, "Share of cases, highest forecasts first", "Share of events")
    if not _has_both_classes(models):
        write_placeholder(axes, _NO_PROFILE)
        return
    perfect = np.array([0.0, prevalence_of(models[0]), 1.0]), np.array([0.0, 1.0, 1.0])
    for line in (_DIAGONAL, perfect):
        axes.plot(*line, color=MUTED, linewidth=0.6)
    profiles = [_profile(model) for model in models]
    for place, model in reversed(list(enumerate(models))):
        curve = simplify(*profiles[place], panel.scale)
        axes.plot(*curve, **{"zorder": 4, "label": model.model, **lines.of(place)})
    ratios = [f"AR {_ratio(m)}" for m in models]
    label_curves(panel, profiles, _labels(models, lines, ratios), [_DIAGONAL, perfect])


def _profile(model: PlottedModel) -> tuple[FloatArray, FloatArray]:
    """Return the share of cases and the share of events above each forecast."""
    curve, share = model.curves.roc, prevalence_of(model)
    return share * curve.tpr + (1 - share) * curve.fpr, curve.tpr


def _ratio(model: PlottedModel) -> str:
    """Format the accuracy ratio of a model."""
    return drop_zero(format_number(2 * model.curves.roc.auc - 1, 3))


def _area(model: PlottedModel) -> str:
    return format_number(model.curves.roc.auc, 3)


def _has_both_classes(models: Sequence[PlottedModel]) -> bool:
    return all(np.isfinite(model.curves.roc.auc) for model in models)


def describe_roc(models: Sequence[ModelResult]) -> str:
    """Describe the areas under the curves."""
    names = join_words([model.model for model in models])
    opening = (
        f"ROC curves of {names}: true positive rate against false positive rate, with concave hulls; and "
        "cumulative accuracy profiles: share of events against share of cases, highest forecasts first."
    )
    if not _has_both_classes(models):
        return join_sentences([opening, _ONE_CLASS])
    areas = [
        f"{model.model} {_area(model)}{score_interval_text(find_score(model.scores, 'roc_auc'), 3)}"
        for model in sorted(models, key=lambda model: -model.curves.roc.auc)
    ]
    ratios = [
        f"{model.model} {format_number(2 * model.curves.roc.auc - 1, 3)}"
        for model in sorted(models, key=lambda model: -model.curves.roc.auc)
    ]
    return join_sentences(
        [
            opening,
            f"Area under the ROC curve, where 0.5 is chance and 1 is perfect: {join_words(areas)}.",
            f"Accuracy ratio, where 0 is chance and 1 is perfect: {join_words(ratios)}.",
        ]
    )
