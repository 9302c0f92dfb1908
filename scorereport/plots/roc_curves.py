"""ROC curves of all models in one panel, with their hulls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.formatting import format_number, join_words
from scorereport.plots.canvas import POINTS, Canvas, set_axis, write_instead
from scorereport.plots.describing import interval_text, score_of, sentences
from scorereport.plots.geometry import simplify
from scorereport.plots.label_placement import Label, Panel, label_curves
from scorereport.plots.style import MUTED, look_of, mix, styled
from scorereport.plots.text import drop_zero
from scorereport.plots.zoom import UNIT, window_ticks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from scorereport.results.model_records import ModelResult

_SIDE, _LEFT, _TOP, _RIGHT = 103.0, 13.0, 2.0, 3.0
_DIAGONAL = (np.array(UNIT), np.array(UNIT))
_ONE_CLASS = "A curve needs events and non-events; here is one class only."


def plot_roc(models: Sequence[ModelResult]) -> Figure:
    """Draw the ROC curves of all models and, thin, their concave hulls."""
    with styled():
        canvas = Canvas.of(_LEFT + _SIDE + _RIGHT, _TOP + _SIDE + 12.5)
        axes = canvas.panel(_LEFT, _TOP, _SIDE, _SIDE)
        set_axis(axes, "x", UNIT, list(window_ticks(UNIT)), "False positive rate")
        set_axis(axes, "y", UNIT, list(window_ticks(UNIT)), "True positive rate")
        if not _has_both_classes(models):
            write_instead(axes, _ONE_CLASS)
            return canvas.figure
        axes.plot(*_DIAGONAL, color=MUTED, linewidth=0.6)
        panel = Panel(axes, _SIDE * POINTS, _SIDE * POINTS)
        for place, model in reversed(list(enumerate(models))):
            look, curves = look_of(place), model.curves
            hull = simplify(curves.roc_hull.fpr, curves.roc_hull.tpr, panel.scale)
            axes.plot(*hull, color=mix(look.colour, 0.5), linewidth=0.5, zorder=3)
            axes.plot(*simplify(curves.roc.fpr, curves.roc.tpr, panel.scale), zorder=4, **look.line())
        lines = [(model.curves.roc.fpr, model.curves.roc.tpr) for model in models]
        label_curves(panel, lines, _labels(models), [_DIAGONAL])
        return canvas.figure


def _labels(models: Sequence[ModelResult]) -> list[Label]:
    return [
        Label(name=model.model, look=look_of(place), remark=f"AUC {drop_zero(_area(model))}")
        for place, model in enumerate(models)
    ]


def _area(model: ModelResult) -> str:
    return format_number(model.curves.roc.auc, 3)


def _has_both_classes(models: Sequence[ModelResult]) -> bool:
    return all(np.isfinite(model.curves.roc.auc) for model in models)


def describe_roc(models: Sequence[ModelResult]) -> str:
    """The areas under the curves in words."""
    names = join_words([model.model for model in models])
    opening = f"ROC curves of {names}: true positive rate against false positive rate, with hulls."
    if not _has_both_classes(models):
        return sentences([opening, _ONE_CLASS])
    areas = [
        f"{model.model} {_area(model)}{interval_text(score_of(model.scores, 'roc_auc'), 3)}"
        for model in sorted(models, key=lambda model: -model.curves.roc.auc)
    ]
    return sentences([opening, f"Area under the curve, 0.5 for guessing and 1 at best: {join_words(areas)}."])
