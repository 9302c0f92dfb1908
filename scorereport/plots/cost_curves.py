"""Curves of all models over costs or thresholds in one panel, each with its label beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from scorereport.plots.canvas import POINTS_PER_MM, WIDTH, Canvas
from scorereport.plots.geometry import simplify
from scorereport.plots.label_placement import CurveLabel, SizedAxes, label_curves
from scorereport.plots.style import MUTED, MUTED_STYLE
from scorereport.plots.text import shorten_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport._utils.arrays import FloatArray
    from scorereport.plots.plotted_models import PlottedModel
    from scorereport.plots.style import LineStyles
    from scorereport.results.model_records import ModelResult

    Line = tuple[FloatArray, FloatArray]

_LEFT, _TOP, _RIGHT, _HEIGHT = 14.0, 2.0, 3.0, 76.0
#: Size of a figure beside its caption, and height of its panel.
_WIDTH_ON_PAGE, _HEIGHT_ON_PAGE = 120.0, 56.0
#: Longest name in such a figure, in points.
_LONGEST_NAME = 40.0 * POINTS_PER_MM


def open_wide() -> SizedAxes:
    """Open a panel as wide as a page."""
    return _open(WIDTH, _HEIGHT)


def open_beside_caption() -> SizedAxes:
    """Open a panel that leaves room for a caption beside it on a page."""
    return _open(_WIDTH_ON_PAGE, _HEIGHT_ON_PAGE)


def shorten_names(models: Sequence[ModelResult]) -> list[ModelResult]:
    """Return models with names short enough to be labels in a panel beside its caption."""
    return [replace(model, model=shorten_text(model.model, _LONGEST_NAME)) for model in models]


def _open(width: float, height: float) -> SizedAxes:
    canvas = Canvas.of(width, _TOP + height + 12.5)
    return SizedAxes.of(canvas.panel(_LEFT, _TOP, width - _LEFT - _RIGHT, height))


def name_curves(models: Sequence[PlottedModel], styles: LineStyles) -> list[CurveLabel]:
    """Return the labels of the curves of all models and, last, of the prevalence forecast."""
    of_models = [CurveLabel(model.model, look) for model, look in zip(models, styles.looks, strict=True)]
    return [*of_models, CurveLabel("prevalence forecast", MUTED_STYLE, colour=MUTED)]


def draw_curves(
    panel: SizedAxes, lines: Sequence[Line], labels: Sequence[CurveLabel], styles: LineStyles
) -> None:
    """Draw the curves of the models, then those of references, and write their labels."""
    bottom, top = panel.axes.get_ylim()
    near = [(x, np.clip(y, 2 * bottom - top, 2 * top - bottom)) for x, y in lines]
    for place, (line, label) in reversed(list(enumerate(zip(near, labels, strict=True)))):
        is_model = place < len(styles.looks)
        style = styles.of(place) if is_model else label.look.line()
        panel.axes.plot(*simplify(*line, panel.scale), **{"label": label.name, **style})
    label_curves(panel, near, labels if styles.labels else ())
