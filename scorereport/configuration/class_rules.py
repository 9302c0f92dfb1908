"""What the keys of models of several classes must keep to, each alone and together."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

from scorereport._utils.checks import shortest
from scorereport.configuration.messages import join_key, quote_value
from scorereport.data.columns import label_text
from scorereport.data.scorereport_predictions import FEWEST_CLASSES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.configuration.configuration_tables import EvaluationTable

#: Keys that say nothing of binary models, and those that say nothing of others.
_OF_CLASSES = ("ordered", "normalize", "cost_matrix", "retention_fractions")
_OF_EVENTS = {
    "cost_interval": "set `evaluation.cost_matrix` instead",
    "thresholds": "remove the key, or `evaluation.classes`",
}


def find_broken_classes(table: EvaluationTable) -> Iterator[str]:
    """Keys of `[evaluation]` that do not go with its classes, or with having none; a sentence for each."""
    if table.classes is None:
        yield from _find_without_classes(table)
        return
    yield from _check_labels(table.classes)
    for key, way_out in _OF_EVENTS.items():
        if getattr(table, key) is not None:
            yield f"`evaluation.{key}` is for binary models, not for classes: {way_out}."
    yield from _check_columns(table)
    if table.cost_matrix is not None:
        yield from _check_cost_matrix(table.cost_matrix, len(table.classes))
    if table.retention_fractions is not None:
        yield from _check_fractions(table.retention_fractions)


def _find_without_classes(table: EvaluationTable) -> Iterator[str]:
    for key in _OF_CLASSES:
        if getattr(table, key) not in (None, False):
            yield (
                f"`evaluation.{key}` is for models of several classes: "
                "name these in `evaluation.classes`, or remove the key."
            )
    if any(table.forecasts.values()):
        yield (
            "`evaluation.forecasts` names the columns of classes: name these in `evaluation.classes`, or "
            'list one column for each model, such as ["logit", "boost"].'
        )


def _check_labels(classes: Sequence[str]) -> Iterator[str]:
    """At least two labels as the data may have them, each once."""
    labels = [label_text(label) for label in classes]
    if len(labels) < FEWEST_CLASSES:
        yield f"`evaluation.classes` must be a list of at least two labels; got {quote_value(list(classes))}."
    if "" in labels:
        yield "`evaluation.classes` must be labels that are not empty; got an empty text."
    for label, times in Counter(labels).items():
        if label and times > 1:
            yield f"`evaluation.classes` must differ; got {label!r} {times} times."


def _check_columns(table: EvaluationTable) -> Iterator[str]:
    n_classes = len(table.classes or ())
    for model, columns in table.forecasts.items():
        if columns and len(columns) != n_classes:
            yield (
                f"`{join_key(('evaluation', 'forecasts', model))}` must name a column for each of the "
                f"{n_classes} classes of `evaluation.classes`; got {len(columns)}."
            )


def _check_cost_matrix(costs: Sequence[Sequence[float]], n_classes: int) -> Iterator[str]:
    """A row for each class that came, with a number for each that was decided for."""
    lengths = [len(row) for row in costs]
    if lengths != [n_classes] * n_classes:
        got = f"{len(costs)} of {', '.join(map(str, sorted(set(lengths))))}" if costs else "none"
        yield (
            f"`evaluation.cost_matrix` must have {n_classes} rows of {n_classes} numbers, one for each class "
            f"of `evaluation.classes`; got {got}."
        )
    lowest = min((number for row in costs for number in row), default=0)
    if lowest < 0:
        yield f"`evaluation.cost_matrix` must hold numbers that are not negative; got {shortest(lowest)}."


def _check_fractions(fractions: Sequence[float]) -> Iterator[str]:
    rise = all(a < b for a, b in pairwise(fractions))
    if len(fractions) < 2 or fractions[0] != 0 or fractions[-1] >= 1 or not rise:
        shown = ", ".join(map(shortest, fractions))
        yield (
            "`evaluation.retention_fractions` must be two or more growing numbers in [0, 1), "
            f"the first of them 0; got [{shown}]."
        )
