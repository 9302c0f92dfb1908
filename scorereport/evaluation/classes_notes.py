"""What a reader of an evaluation of K classes must be told beside its numbers, in plain sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.checks import SUM_TOLERANCE, name_some
from scorereport._utils.formatting import format_count, format_counted
from scorereport.scores.multiclass import true_class_probability

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.data.scorereport_predictions import ClassPredictions, RescaledRows


def describe_classes_and_models(predictions: ClassPredictions) -> Iterator[str]:
    """Notes on classes that never came, rows that were rescaled, ties and forecasts that were refuted."""
    yield from _describe_absent(predictions)
    for rescaled in predictions.rescaled:
        yield _describe_rescaled(rescaled, len(predictions))
    counts = slice(None) if predictions.weight is None else np.flatnonzero(predictions.weight)
    rows = np.arange(len(predictions)) if predictions.rows is None else predictions.rows
    outcome = predictions.outcome[counts]
    for name, forecast in predictions.forecasts.items():
        table = forecast[counts]
        is_refuted = true_class_probability(outcome, table) == 0
        if is_refuted.any():
            yield _describe_refuted(name, rows[counts][is_refuted].tolist())
        tied = int(((table == table.max(axis=1, keepdims=True)).sum(axis=1) > 1).sum())
        if tied:
            yield (
                f"{name}: in {format_counted(tied, 'case')} several classes are equally likely and no other is "
                "likelier; the first of them counts as the one decided for."
            )


def _describe_rescaled(rescaled: RescaledRows, rows: int) -> str:
    told = f"{rescaled.model}: the probabilities of each row were divided by their sum, as asked for; "
    if not rescaled.rows:
        return f"{told}all of them summed to 1 within {SUM_TOLERANCE:g} before."
    return (
        f"{told}{format_count(rescaled.rows)} of {format_counted(rows, 'row')} did not sum to 1 within "
        f"{SUM_TOLERANCE:g}, the furthest to {rescaled.furthest_sum:.10g}."
    )


def _describe_absent(predictions: ClassPredictions) -> Iterator[str]:
    came = np.bincount(predictions.outcome, weights=predictions.weight, minlength=len(predictions.classes))
    absent = [label for label, weight in zip(predictions.classes, came, strict=True) if weight == 0]
    if len(absent) == len(predictions.classes) - 1:
        yield "All cases are of one class: skill is not defined."
    elif absent:
        never = "This class never came" if len(absent) == 1 else f"{len(absent)} classes never came"
        them = "it" if len(absent) == 1 else "them"
        yield f"{never} ({name_some(absent)}); forecasts of {them} are scored."


def _describe_refuted(model: str, rows: list[int]) -> str:
    cases = "1 case" if len(rows) == 1 else f"{len(rows)} cases"
    return (
        f"{model}: the log score is infinite, because in {cases} a class came that was called impossible "
        f"({'row' if len(rows) == 1 else 'rows'} {name_some(rows)})."
    )
