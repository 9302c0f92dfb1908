"""Rules for the values of a configuration beyond their type, alone and together."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from scorereport._utils.formatting import shortest
from scorereport.configuration.audit_rules import find_broken_audit
from scorereport.configuration.configuration_tables import FIXED_SECTIONS
from scorereport.configuration.measure_limits import MEASURES
from scorereport.configuration.messages import suggest
from scorereport.results.section_names import list_section_names
from scorereport.scores import Direction

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.configuration.configuration_tables import (
        ChecklistTable,
        LimitsTable,
        OneSidedLimit,
        Tables,
        TwoSidedLimit,
    )


def find_broken_rules(tables: Tables) -> Iterator[str]:
    """A sentence for each invalid value."""
    yield from _check_omitted(tables.report.omit)
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
