"""Panels of the figures of Nelson (2017), drawn from our own simulations."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from scorereport import scores
from scorereport._utils.formatting import format_number
from scorereport.reference.reference_documents import StudyPanel, StudySeries
from scorereport.study.papers.nelson_figures import (
    FIGURE_7,
    GAUSSIAN,
    PERFECT,
    WINDOWS,
    ClassModel,
    ScaleMeans,
    average,
    average_class,
    average_model,
    bin_class,
    posterior,
    trace_roc,
    true_probabilities,
)
from scorereport.study.papers.printed_numbers import half_unit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from scorereport._utils.arrays import FloatArray

    Models = tuple[ClassModel, ClassModel]

_UNIT = (0.0, 1.0)
_CLASSES = ("class 1", "class 2")
_MEANS = ("decisiveness", "accuracy", "robustness")
_SOURCE_AXIS, _MODEL_AXIS = "Source probability", "Model probability"
#: Where densities and probabilities of classes are drawn.
_X_LIMITS, _HIGHEST_DENSITY = (-6.0, 8.0), 0.4
_GRID = np.concatenate(
    [np.linspace(-6, -2, 10, endpoint=False), np.linspace(-2, 4, 61), np.linspace(4, 8, 11)[1:]]
)
#: Exponents of the spectrum, a colour that no class has, and the enlarged part of Fig. 7.
_SPECTRUM = np.linspace(-2, 2, 33)
_NO_CLASS = 3
_CLOSE_SOURCE, _CLOSE_MODEL = (0.605, 0.635), (0.54, 0.57)


def scale_diagram_panel(title: str, models: Models, *, by_class: bool = False) -> StudyPanel:
    """Model against source: bubbles of both classes, optionally their means, and the three marks."""
    means = average_model(models)
    slope, angle = format_number(means.slope, 2), format_number(math.degrees(math.atan(means.slope)), 0)
    divergence = format_number(means.accuracy.divergence, 3)
    return StudyPanel(
        title=title,
        note=f"slope of the marks {slope}, {angle}°; divergence {divergence}",
        x_label=_SOURCE_AXIS,
        y_label=_MODEL_AXIS,
        x_limits=_UNIT,
        y_limits=_UNIT,
        series=(
            _line("", _UNIT, _UNIT),
            *(_bubbles(models, label) for label in (0, 1)),
            *(_class_marks(models, label) for label in (0, 1) if by_class),
            _line("", *_places(means)),
            *(_marks(name, [m.source], [m.model]) for name, m in zip(_MEANS, means, strict=True)),
        ),
    )


def density_panel(models: Models) -> StudyPanel:
    """Densities of both classes, true and assumed by the model."""
    return StudyPanel(
        title="(b) Densities",
        x_label="x",
        y_label="Density",
        x_limits=_X_LIMITS,
        y_limits=(0.0, _HIGHEST_DENSITY),
        series=tuple(_curves_of_classes(models, _density)),
    )


def posterior_panel(models: Models) -> StudyPanel:
    """Probabilities of both classes, true and assumed by the model, with equal scales."""
    boundary = (models[0].mean + models[1].mean) / 2
    return StudyPanel(
        title="(c) Probabilities",
        note=f"the model decides at x = {boundary:g}",
        x_label="x",
        y_label="Probability of the class",
        x_limits=_X_LIMITS,
        y_limits=_UNIT,
        series=tuple(_curves_of_classes(models, posterior)),
    )


def roc_panel(models: Models) -> StudyPanel:
    """The actual ROC curve, and the one that the model predicts."""
    actual, predicted = (trace_roc(models, cases) for cases in (PERFECT, models))
    return StudyPanel(
        title="(d) ROC curves",
        note=f"area {format_number(actual.area, 3)}, predicted {format_number(predicted.area, 3)}",
        x_label="False positive rate",
        y_label="True positive rate",
        x_limits=_UNIT,
        y_limits=_UNIT,
        series=(
            _line("", _UNIT, _UNIT),
            _line("actual ROC", actual.fpr, actual.tpr, colour=_NO_CLASS),
            _line("predicted ROC", predicted.fpr, predicted.tpr, colour=_NO_CLASS),
        ),
    )


def projection_panel() -> StudyPanel:
    """The ratio of model to source as the height at which the ray through both meets a source of 1."""
    mean = average_model(GAUSSIAN).accuracy
    x, y, ratio = mean.source, mean.model, mean.divergence
    of_model, of_source, of_both = (format_number(value, 3) for value in (y, x, ratio))
    return StudyPanel(
        title="Over the whole line",
        note=f"model {of_model}, source {of_source}, divergence {of_both}",
        x_label=_SOURCE_AXIS,
        y_label=_MODEL_AXIS,
        x_limits=_UNIT,
        y_limits=_UNIT,
        series=(
            _line("", _UNIT, _UNIT),
            _line("", (x, x, 0.0), (0.0, y, y)),
            _line("ray through the accuracy", (0.0, 1.0), (0.0, ratio), colour=_NO_CLASS),
            _marks("divergence probability", [1.0], [ratio]),
            _marks("accuracy", [x], [y]),
        ),
    )


def readings_panel() -> StudyPanel:
    """The accuracy by the range of x, beside the printed value; within the frame it rounds to that value."""
    means = {name: average_model(GAUSSIAN, window).accuracy for name, window in WINDOWS.items()}
    y, x, _ = FIGURE_7.values()
    (left, right), (bottom, top) = (
        (float(text) - half_unit(text), float(text) + half_unit(text)) for text in (x, y)
    )
    frame = [left, right, right, left, left], [bottom, bottom, top, top, bottom]
    return StudyPanel(
        title="By the range of x",
        note=f"printed: model {y}, source {x}",
        x_label=_SOURCE_AXIS,
        y_label=_MODEL_AXIS,
        x_limits=_CLOSE_SOURCE,
        y_limits=_CLOSE_MODEL,
        series=(
            _line("printed values to two decimals", *frame, colour=1),
            *(_marks(name.replace("-", "−"), [mean.source], [mean.model]) for name, mean in means.items()),
        ),
    )


def spectrum_panel(title: str, note: str, models: Models) -> StudyPanel:
    """Means of model and source over all exponents, with the three marks on both."""
    classes = [true_probabilities(models, label) for label in (0, 1)]
    model, source = (np.concatenate(part) for part in zip(*classes, strict=True))
    means = [average(model, source, float(m)) for m in _SPECTRUM]
    return StudyPanel(
        title=title,
        note=note,
        x_label="Exponent m",
        y_label="Mean probability",
        x_limits=(float(_SPECTRUM[0]), float(_SPECTRUM[-1])),
        y_limits=_UNIT,
        series=(
            _line("source", _SPECTRUM, [mean.source for mean in means]),
            _line("model", _SPECTRUM, [mean.model for mean in means], colour=_NO_CLASS),
            *(
                _marks(name, [mean.exponent] * 2, [mean.source, mean.model])
                for name, mean in zip(_MEANS, average_model(models), strict=True)
            ),
        ),
    )


def _curves_of_classes(
    models: Models, curve: Callable[[FloatArray, Models, int], FloatArray]
) -> Iterator[StudySeries]:
    for label, name in enumerate(_CLASSES):
        for word, believed in (("source", PERFECT), ("model", models)):
            yield _line(f"{name}, {word}", _GRID, curve(_GRID, believed, label), colour=label)


def _density(x: FloatArray, models: Models, label: int) -> FloatArray:
    mean, variance, coupling = models[label]
    return np.exp(scores.coupled_gaussian_logpdf(x, mean=mean, scale=math.sqrt(variance), kappa=coupling))


def _bubbles(models: Models, label: int) -> StudySeries:
    bins = bin_class(models, label)
    return StudySeries(
        label=f"bins of {_CLASSES[label]}",
        kind="bubbles",
        x=_plain(bins.source),
        y=_plain(bins.model),
        size=_plain(bins.events),
        colour=label,
    )


def _class_marks(models: Models, label: int) -> StudySeries:
    return _marks(f"means of {_CLASSES[label]}", *_places(average_class(models, label)), colour=label)


def _places(means: ScaleMeans) -> tuple[list[float], list[float]]:
    return [mean.source for mean in means], [mean.model for mean in means]


def _line(label: str, x: Iterable[float], y: Iterable[float], *, colour: int | None = None) -> StudySeries:
    return StudySeries(label=label, kind="line", x=_plain(x), y=_plain(y), colour=colour)


def _marks(label: str, x: Iterable[float], y: Iterable[float], *, colour: int | None = None) -> StudySeries:
    return StudySeries(label=label, kind="marks", x=_plain(x), y=_plain(y), colour=colour)


def _plain(values: Iterable[float]) -> tuple[float, ...]:
    """Round to six digits, more than a picture shows, so that machines that round differently agree."""
    return tuple(float(f"{value:.6g}") for value in values)
