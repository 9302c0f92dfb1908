"""Tables of the probability scale: the three means, their angles, and each class separately."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.formatting import (
    NOT_DEFINED,
    common_decimals,
    format_count,
    format_interval,
    format_number,
    join_words,
)
from scorereport.inference.scale_results import CORP, EQUAL_COUNT, MARKS
from scorereport.report.tables.table import Table, interval_text, section_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scorereport.inference.estimates import Estimate
    from scorereport.inference.scale_results import ScaledModel, ScaleMark, ScaleResult

#: Most classes in a table that is easy to read.
_MOST_CLASSES = 12
#: Most classes left out that are named; further ones are counted.
_MOST_NAMED = 12


def scale_table(models: Sequence[ScaledModel], level: str) -> Table:
    """Table of decisiveness, accuracy and robustness of all classes together: model, source, divergence."""
    decimals = _decimals(
        e for m in models for r in m.scale[:2] for mark in r.marks for e in _parts_of_mean(mark)
    )
    rows = []
    for model in models:
        cut, fitted = model.scale[:2]
        for name in MARKS:
            first, second = getattr(cut, name), getattr(fitted, name)
            estimates = (*_parts_of_mean(first), second.source, second.divergence)
            rows.append((model.model, name, *(t for e in estimates for t in _texts(e, decimals))))
    heads = ("model prob.", "source", "divergence", "source, CORP", "divergence, CORP")
    return Table(
        caption="Probability scale, all classes together. Model: mean of the probabilities given to the "
        f"observed outcomes; source: mean of their observed frequencies, in {_count_bins(models)} or in CORP "
        f"blocks; divergence: model divided by source, 1 is best. Higher means are better"
        f"{_with_intervals(models, level)}",
        heads=("model", "mean", *(part for head in heads for part in (head, "interval"))),
        rows=tuple(rows),
        n_labels=2,
        section=len(MARKS) if len(models) > 1 else 0,
    )


def angle_table(models: Sequence[ScaledModel], level: str) -> Table:
    """Table of the angle of the line through the three means, its usual range, and the verdict."""
    rows = [
        (model.model, result.bins, *_angle_texts(result)) for model in models for result in model.scale[:2]
    ]
    has_draws = any(np.isfinite(m.scale[0].angle_lower) or m.scale[1].verdict for m in models)
    drawn = (
        ", unless this disappears when classes are rescaled to their shares (class bias) or its decisiveness "
        f"points in the other direction (contradictory); if correct: range of {level} of samples whose "
        "outcomes were drawn from the model's own probabilities. Intervals of the angle have a confidence "
        f"level of {level}"
        if has_draws
        else ""
    )
    return Table(
        caption="Angle of the line from robustness to decisiveness, in degrees: above its usual value, the "
        f"model is over-confident, below it under-confident{drawn}",
        heads=("model", "bins", "verdict", "angle", "interval", "if correct"),
        rows=tuple(rows),
        n_labels=3,
        section=2 if len(models) > 1 else 0,
    )


def class_scale_table(models: Sequence[ScaledModel], level: str) -> Table | None:
    """Table of the means of each class, the most frequent ones if there are many; None without classes."""
    labels = list(dict.fromkeys(result.target for result in models[0].scale if result.target))
    if not labels:
        return None
    shown, left_out = _choose_classes(models[0], labels)
    rows = [_class_row(model, label) for label in shown for model in models]
    heads = ("decisiveness", "accuracy", "robustness", "source", "divergence", "divergence, CORP")
    return Table(
        caption="Probability scale of each class: means of the probabilities given to it in its own cases, "
        f"with source and divergence of the accuracy{_with_intervals(models, level)}{left_out}",
        heads=("class", "model", "cases", *(part for head in heads for part in (head, "interval"))),
        rows=tuple(rows),
        n_labels=2,
        section=section_size(models),
    )


def _choose_classes(model: ScaledModel, labels: Sequence[str]) -> tuple[list[str], str]:
    """Return the classes that are shown, in their order, and a sentence on those left out."""
    if len(labels) <= _MOST_CLASSES:
        return list(labels), ""
    cases = [float(_find_result(model, label, EQUAL_COUNT).events.sum()) for label in labels]
    kept = set(np.argsort(-np.array(cases), kind="stable")[:_MOST_CLASSES].tolist())
    shown = [label for place, label in enumerate(labels) if place in kept]
    others = [label for place, label in enumerate(labels) if place not in kept]
    more = len(others) - _MOST_NAMED
    named = [*others[:_MOST_NAMED], *([f"{format_count(more)} more"] if more > 0 else [])]
    return shown, f". Not shown, because they are less frequent: {join_words(named)}"


def _class_row(model: ScaledModel, label: str) -> tuple[str, ...]:
    cut, fitted = _find_result(model, label, EQUAL_COUNT), _find_result(model, label, CORP)
    estimates = (
        *(mark.model for mark in cut.marks),
        cut.accuracy.source,
        cut.accuracy.divergence,
        fitted.accuracy.divergence,
    )
    texts = (text for estimate in estimates for text in _texts(estimate, 3))
    return label, model.model, format_count(float(fitted.events.sum())), *texts


def _find_result(model: ScaledModel, label: str, bins: str) -> ScaleResult:
    return next(result for result in model.scale if (result.target, result.bins) == (label, bins))


def _angle_texts(result: ScaleResult) -> tuple[str, ...]:
    interval = format_interval(result.angle_lower, result.angle_upper, 0)
    usual = format_interval(result.calibrated_lower, result.calibrated_upper, 0)
    return result.verdict or NOT_DEFINED, format_number(result.angle, 0), interval, usual or NOT_DEFINED


def _parts_of_mean(mark: ScaleMark) -> tuple[Estimate, Estimate, Estimate]:
    return mark.model, mark.source, mark.divergence


def _texts(estimate: Estimate, decimals: int) -> tuple[str, str]:
    return format_number(estimate.value, decimals), interval_text(estimate, decimals)


def _decimals(estimates: Iterable[Estimate]) -> int:
    return min(max(common_decimals(e.value for e in estimates) - 1, 3), 4)


def _count_bins(models: Sequence[ScaledModel]) -> str:
    return f"{models[0].scale[0].n_bins} bins with equal numbers of pairs of case and class"


def _with_intervals(models: Sequence[ScaledModel], level: str) -> str:
    estimate = models[0].scale[0].decisiveness.model
    return f", with {level} intervals" if np.isfinite(estimate.lower) else ""
