"""What the values of a configuration must keep to beyond their kind."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from scorereport._utils.checks import WEIGHT_KINDS, check_inside, check_option, check_whole, shortest
from scorereport.configuration.audit_rules import find_broken_audit
from scorereport.configuration.class_rules import find_broken_classes
from scorereport.configuration.configuration_tables import ENGINES, FIXED_SECTIONS, SECTION_NAMES
from scorereport.configuration.measure_limits import MEASURES
from scorereport.configuration.messages import find_failure, suggest
from scorereport.errors import UsageError
from scorereport.evaluation.limits import check_memory_limit
from scorereport.evaluation.subgroups import WINDOWS
from scorereport.scores import Direction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scorereport.configuration.configuration_tables import (
        ChecklistTable,
        EvaluationTable,
        LimitsTable,
        OneSidedLimit,
        Tables,
        TwoSidedLimit,
    )


def find_broken_rules(tables: Tables) -> Iterator[str]:
    """All values that make no sense, one sentence for each."""
    yield from _check_omitted(tables.report.omit)
    yield from _check_evaluation(tables.evaluation)
    yield from _check_limits(tables.limits)
    yield from _check_checklist(tables.checklist)
    yield from find_broken_audit(tables.audit)
    for role in ("author", "reviewer", "approver"):
        person = getattr(tables.people, role)
        if person is not None and not person.name.strip():
            yield f"`people.{role}` must have a name; got an empty one. Leave the key out if nobody is known."


def _check_omitted(names: tuple[str, ...]) -> Iterator[str]:
    for name in names:
        if name in FIXED_SECTIONS:
            yield f"`report.omit` cannot leave out {name!r}: every report has it."
        elif name not in SECTION_NAMES:
            known = ", ".join(f'"{section}"' for section in SECTION_NAMES)
            yield f"`report.omit` names no section: {name!r}; " + (
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
        yield f"`evaluation.thresholds` must be one or more growing numbers inside (0, 1); got [{shown}]."


def _check_limits(limits: LimitsTable) -> Iterator[str]:
    for name, one in limits.one_sided.items():
        yield from _check_range(name, {"warn": one.warn, "fail": one.fail})
        yield from _check_order(name, one)
    for name, two in limits.two_sided.items():
        keys = {key: getattr(two, key) for key in ("min", "max", "warn_min", "warn_max")}
        yield from _check_range(name, keys)
        yield from _check_orders(name, two)


def _check_range(name: str, keys: dict[str, float | None]) -> Iterator[str]:
    """At least one number, each where the measure can lie: catches percent and mistaken measures."""
    measure = MEASURES[name]
    if all(value is None for value in keys.values()):
        yield f"`limits.{name}` must have one of {', '.join(f'`{key}`' for key in keys)}; got an empty table."
    for key, value in keys.items():
        if value is not None and not measure.lower <= value <= measure.upper:
            span = f"in [{measure.lower:g}, {measure.upper:g}]"
            span = f"at {measure.upper:g} or below" if measure.lower == -float("inf") else span
            span = f"at {measure.lower:g} or above" if measure.upper == float("inf") else span
            yield f"`limits.{name}.{key}` must lie {span}, where this measure lies; got {shortest(value)}."


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
    """From the smallest to the largest: min, warn_min, warn_max, max; there is room in the middle."""
    keys = ("min", "warn_min", "warn_max", "max")
    given = [(key, getattr(limit, key)) for key in keys if getattr(limit, key) is not None]
    for (a, low), (b, high) in pairwise(given):
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
