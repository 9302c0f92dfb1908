"""Rules for the values of a configuration beyond their type, alone and together."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from scorereport._utils.checks import WEIGHT_KINDS, check_inside, check_option, check_whole, shortest
from scorereport.configuration.audit_rules import find_broken_audit
from scorereport.configuration.configuration_tables import ENGINES, FIXED_SECTIONS
from scorereport.configuration.measure_limits import MEASURES
from scorereport.configuration.messages import find_failure, join_key, quote_value, suggest
from scorereport.data.columns import label_text
from scorereport.data.predictions import FEWEST_CLASSES
from scorereport.errors import UsageError
from scorereport.evaluation.setting_checks import check_memory_limit
from scorereport.evaluation.subgroups import WINDOWS
from scorereport.results.section_names import list_section_names
from scorereport.scores import Direction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from scorereport.configuration.configuration_tables import (
        ChecklistTable,
        EvaluationTable,
        LimitsTable,
        OneSidedLimit,
        Tables,
        TwoSidedLimit,
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
    yield from _check_limits(tables.limits)
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
        elif name not in (sections := list_section_names()):
            known = ", ".join(f'"{section}"' for section in sections)
            yield f"`report.omit` names an unknown section: {name!r}; " + (
                suggest(name, sections) or f"sections are {known}."
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


def _check_limits(limits: LimitsTable) -> Iterator[str]:
    for name, one in limits.one_sided.items():
        yield from _check_range(name, {"warn": one.warn, "fail": one.fail})
        yield from _check_order(name, one)
    for name, two in limits.two_sided.items():
        keys = {key: getattr(two, key) for key in ("min", "max", "warn_min", "warn_max")}
        yield from _check_range(name, keys)
        yield from _check_orders(name, two)


def _check_range(name: str, keys: dict[str, float | None]) -> Iterator[str]:
    """Check that there is a number, and that each is in the range of the measure.

    This finds limits in percent, and limits that are meant for another measure.
    """
    measure = MEASURES[name]
    if all(value is None for value in keys.values()):
        yield f"`limits.{name}` must have one of {', '.join(f'`{key}`' for key in keys)}; got an empty table."
    for key, value in keys.items():
        if value is not None and not measure.lower <= value <= measure.upper:
            span = f"in [{measure.lower:g}, {measure.upper:g}]"
            span = f"at {measure.upper:g} or below" if measure.lower == -float("inf") else span
            span = f"at {measure.lower:g} or above" if measure.upper == float("inf") else span
            yield f"`limits.{name}.{key}` must lie {span}, the range of this measure; got {shortest(value)}."


def _check_order(name: str, limit: OneSidedLimit) -> Iterator[str]:
    if limit.warn is None or limit.fail is None:
        return
    higher = MEASURES[name].direction is Direction.HIGHER
    side, better = ("below", "higher") if higher else ("above", "lower")
    if limit.warn < limit.fail if higher else limit.warn > limit.fail:
        yield (
            f"`limits.{name}.warn` must not be {side} `limits.{name}.fail`, because {better} is better; "
            f"got {shortest(limit.warn)} and {shortest(limit.fail)}."
        )


def _check_orders(name: str, limit: TwoSidedLimit) -> Iterator[str]:
    """Check the order min ≤ warn_min < warn_max ≤ max."""
    keys = ("min", "warn_min", "warn_max", "max")
    limits = [(key, getattr(limit, key)) for key in keys if getattr(limit, key) is not None]
    for (a, low), (b, high) in pairwise(limits):
        same_side = {a, b} in ({"min", "warn_min"}, {"max", "warn_max"})
        if low > high or (low == high and not same_side):
            must = "must not be above" if same_side else "must be below"
            yield f"`limits.{name}.{a}` {must} `limits.{name}.{b}`; got {shortest(low)} and {shortest(high)}."


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
