"""ROC curves of all models in one panel, with their concave hulls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.formatting import format_number, join_words
from scorereport.plots.canvas import POINTS_PER_MM, Canvas, set_axis, write_placeholder
from scorereport.plots.geometry import UNIT, simplify, window_ticks
from scorereport.plots.label_placement import CurveLabel, SizedAxes, label_curves
from scorereport.plots.style import MUTED, lighten, model_style, report_style
from scorereport.plots.text import drop_zero, find_score, join_sentences, score_interval_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from scorereport.results.model_records import ModelResult

_SIDE, _LEFT, _TOP, _RIGHT = 103.0, 13.0, 2.0, 3.0
_DIAGONAL = (np.array(UNIT), np.array(UNIT))
_ONE_CLASS = "A ROC curve requires events and non-events; these data have only one of them."


def plot_roc(models: Sequence[ModelResult]) -> Figure:
    """Draw the ROC curves of all models, with thin lines for their concave hulls."""
    with report_style():
        canvas = Canvas.of(_LEFT + _SIDE + _RIGHT, _TOP + _SIDE + 12.5)
        axes = canvas.panel(_LEFT, _TOP, _SIDE, _SIDE)
        set_axis(axes, "x", UNIT, list(window_ticks(UNIT)), "False positive rate")
        set_axis(axes, "y", UNIT, list(window_ticks(UNIT)), "True positive rate")
        if not _has_both_classes(models):
            write_placeholder(axes, _ONE_CLASS)
            return canvas.figure
        axes.plot(*_DIAGONAL, color=MUTED, linewidth=0.6)
        panel = SizedAxes(axes, _SIDE * POINTS_PER_MM, _SIDE * POINTS_PER_MM)
        for place, model in reversed(list(enumerate(models))):
            look, curves = model_style(place), model.curves
            hull = simplify(curves.roc_hull.fpr, curves.roc_hull.tpr, panel.scale)
            axes.plot(*hull, color=lighten(look.colour, 0.5), linewidth=0.5, zorder=3)
            axes.plot(*simplify(curves.roc.fpr, curves.roc.tpr, panel.scale), zorder=4, **look.line())
        lines = [(model.curves.roc.fpr, model.curves.roc.tpr) for model in models]
        label_curves(panel, lines, _labels(models), [_DIAGONAL])
        return canvas.figure


def _labels(models: Sequence[ModelResult]) -> list[CurveLabel]:
    return [
        CurveLabel(name=model.model, look=model_style(place), remark=f"AUC {drop_zero(_area(model))}")
        for place, model in enumerate(models)
    ]


def _area(model: ModelResult) -> str:
    return format_number(model.curves.roc.auc, 3)


def _has_both_classes(models: Sequence[ModelResult]) -> bool:
    return all(np.isfinite(model.curves.roc.auc) for model in models)


def describe_roc(models: Sequence[ModelResult]) -> str:
    """Describe the areas under the curves."""
    names = join_words([model.model for model in models])
    opening = f"ROC curves of {names}: true positive rate against false positive rate, with concave hulls."
    if not _has_both_classes(models):
        return join_sentences([opening, _ONE_CLASS])
    areas = [
        f"{model.model} {_area(model)}{score_interval_text(find_score(model.scores, 'roc_auc'), 3)}"
        for model in sorted(models, key=lambda model: -model.curves.roc.auc)
    ]
    return join_sentences(
        [opening, f"Area under the curve, where 0.5 is chance and 1 is perfect: {join_words(areas)}."]
    )
