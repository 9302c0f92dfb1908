"""Rules for the values of a configuration beyond their type, alone and together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport.configuration.audit_rules import find_broken_audit
from scorereport.configuration.limit_rules import find_broken_limits
from scorereport.configuration.section_choice import find_broken_choice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.configuration.configuration_tables import (
        ChecklistTable,
        DataTable,
        EvaluationTable,
        Tables,
    )


def find_broken_rules(tables: Tables) -> Iterator[str]:
    """A sentence for each invalid value."""
    yield from find_broken_choice(tables.report.profile, tables.report.omit, "report.")
    yield from find_broken_limits(tables.limits)
    yield from _check_checklists(tables.report.checklists, tables.checklist)
    yield from find_broken_audit(tables.audit)
    for role in ("author", "reviewer", "approver"):
        person = getattr(tables.people, role)
        if person is not None and not person.name.strip():
            yield f"`people.{role}` must have a name; got an empty one. Leave the key out if it is not known."


def find_two_references(data: DataTable, evaluation: EvaluationTable) -> Iterator[str]:
    """A sentence if the two keys of a reference sample name different files."""
    other = evaluation.given.get("reference")
    if data.reference and other is not None and other != data.reference:
        yield (
            f"`data.reference` is {data.reference!r} and `evaluation.reference` is {other!r}: there is one "
            "reference sample. Name it in `data.reference` only."
        )


def _check_checklists(given: tuple[str, ...] | None, table: ChecklistTable) -> Iterator[str]:
    if None not in (given, table.lists) and given != table.lists:
        yield (
            "`report.checklists` and `checklist.lists` name different lists. To fix: name all lists in "
            "`report.checklists`."
        )
    chosen = table.choose(given)
    for name in table.names:
        if name not in chosen:
            yield f"`checklist.names` has a heading for {name!r}, which is not in `report.checklists`."
    for item, reason in table.not_applicable.items():
        name, colon, number = item.rpartition(":")
        if not (colon and number and name in chosen):
            yield (
                f"`checklist.not_applicable` must name a list of `report.checklists` and an item, such as "
                f'"model-risk:3"; got {item!r}.'
            )
        if not reason.strip():
            yield f"`checklist.not_applicable` must give a reason for {item!r}; got an empty text."
