"""Rules for the values of a configuration beyond their type, alone and together."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from scorereport._utils.checks import WEIGHT_KINDS, check_inside, check_option, check_whole, shortest
from scorereport.configuration.audit_rules import find_broken_audit
from scorereport.configuration.configuration_tables import ENGINES, FIXED_SECTIONS, SECTION_NAMES
from scorereport.configuration.limit_rules import find_broken_limits
from scorereport.configuration.messages import find_failure, join_key, quote_value, suggest
from scorereport.data.columns import label_text
from scorereport.data.predictions import FEWEST_CLASSES
from scorereport.errors import UsageError
from scorereport.evaluation.setting_checks import check_memory_limit
from scorereport.evaluation.subgroups import WINDOWS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from scorereport.configuration.configuration_tables import (
        ChecklistTable,
        EvaluationTable,
        Tables,
    )


#: Keys that are for models of several classes, and keys that are for binary models with the way out.
_OF_CLASSES = ("ordered", "normalize", "cost_matrix", "retention_fractions")
_OF_EVENTS = {
    "cost_interval": "set `evaluation.cost_matrix` instead",
    "thresholds": "remove the key, or `evaluation.classes`",
}


def find_broken_classes(table: EvaluationTable) -> Iterator[str]:
    """A sentence for each key of `[evaluation]` that does not fit its classes, or the absence of classes."""
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
    """Check that there are at least two labels, each once."""
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
    """Check the cost matrix: a row for each observed class, a number for each decision."""
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
            "`evaluation.retention_fractions` must be two or more increasing numbers in [0, 1), "
            f"the first of them 0; got [{shown}]."
        )


def find_broken_rules(tables: Tables) -> Iterator[str]:
    """A sentence for each invalid value."""
    yield from _check_omitted(tables.report.omit)
    yield from _check_evaluation(tables.evaluation)
    yield from find_broken_limits(tables.limits)
    yield from _check_checklist(tables.checklist)
    yield from find_broken_audit(tables.audit)
    for role in ("author", "reviewer", "approver"):
        person = getattr(tables.people, role)
        if person is not None and not person.name.strip():
            yield f"`people.{role}` must have a name; got an empty one. Leave the key out if it is not known."


def _check_omitted(names: tuple[str, ...]) -> Iterator[str]:
    for name in names:
        if name in FIXED_SECTIONS:
            yield f"`report.omit` cannot leave out {name!r}: every report has it."
        elif name not in SECTION_NAMES:
            known = ", ".join(f'"{section}"' for section in SECTION_NAMES)
            yield f"`report.omit` names an unknown section: {name!r}; " + (
                suggest(name, SECTION_NAMES) or f"sections are {known}."
            )


def _check_evaluation(table: EvaluationTable) -> Iterator[str]:
    if table.cost_interval is not None:
        yield from _check_costs(table.cost_interval)
    if table.thresholds is not None:
        yield from _check_thresholds(table.thresholds)
    checks: dict[str, Callable[[Any, str], object]] = {
        "window": lambda value, name: check_option(value, name, WINDOWS),
        "level": lambda value, name: check_inside(value, name, 0, 1, closed="neither"),
        "band_level": lambda value, name: check_inside(value, name, 0, 1, closed="neither"),
        "resamples": lambda value, name: check_whole(value, name, 0),
        "seed": lambda value, name: check_whole(value, name, 0),
        "smallest_group": lambda value, name: check_whole(value, name, 1),
        "missing": lambda value, name: check_option(value, name, ("refuse", "drop")),
        "weight_kind": lambda value, name: check_option(value, name, WEIGHT_KINDS),
        "scale_bins": lambda value, name: check_whole(value, name, 1),
        "scale_limit": lambda value, name: check_inside(value, name, 0, 0.5, closed="left"),
        "engine": lambda value, name: check_option(value, name, ENGINES),
        "memory_limit": _check_memory,
    }
    for name, check in checks.items():
        value = getattr(table, name)
        if value is not None:
            yield from find_failure(check, value, f"evaluation.{name}")
    yield from find_broken_classes(table)


def _check_memory(limit: str, name: str) -> None:
    try:
        check_memory_limit(limit)
    except UsageError as error:
        raise UsageError(str(error).replace("`memory_limit`", f"`{name}`")) from error


def _check_costs(interval: tuple[float, float]) -> Iterator[str]:
    lower, upper = interval
    if not 0 < lower < upper < 1:
        yield (
            "`evaluation.cost_interval` must be two numbers inside (0, 1), the smaller one first; got "
            f"[{shortest(lower)}, {shortest(upper)}]."
        )


def _check_thresholds(thresholds: tuple[float, ...]) -> Iterator[str]:
    are_inside = all(0 < threshold < 1 for threshold in thresholds)
    if not thresholds or not are_inside or any(a >= b for a, b in pairwise(thresholds)):
        shown = ", ".join(map(shortest, thresholds))
        yield f"`evaluation.thresholds` must be one or more increasing numbers inside (0, 1); got [{shown}]."


def _check_checklist(table: ChecklistTable) -> Iterator[str]:
    for name in table.names:
        if name not in table.lists:
            yield f"`checklist.names` has a heading for {name!r}, which is not in `checklist.lists`."
    for item, reason in table.not_applicable.items():
        name, colon, number = item.rpartition(":")
        if not (colon and number and name in table.lists):
            yield (
                f"`checklist.not_applicable` must name a list of `checklist.lists` and an item, such as "
                f'"model-risk:3"; got {item!r}.'
            )
        if not reason.strip():
            yield f"`checklist.not_applicable` must give a reason for {item!r}; got an empty text."
