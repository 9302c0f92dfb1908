"""Checklists of frameworks: which items a report answers, where, and what is missing.

A checklist is a TOML file: those of the package are in `templates/checklists`, those of users beside the
configuration. An item names the sections that answer it and the keys of the configuration they require;
an item without sections gives the reason why a report on predictions cannot answer it.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from scorereport._utils.formatting import join_words
from scorereport._utils.rules import show_value
from scorereport.configuration import Configuration
from scorereport.configuration.audit_tables import STRICT
from scorereport.configuration.checklist_names import ENDING, find_checklist_folder
from scorereport.configuration.configuration_tables import FIXED_SECTIONS
from scorereport.configuration.limits_table import LimitsTable
from scorereport.configuration.messages import join_key, known_keys, raise_problems, suggest
from scorereport.configuration.section_choice import find_unknown_checklists
from scorereport.configuration.toml_reader import decode_text, find_invalid_values, parse_toml
from scorereport.errors import UsageError
from scorereport.results.registered_functions import list_section_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


#: Evidence that sections may lack, with the reason that is shown.
EVIDENCE = {
    "intervals": "the report has no intervals or tests",
    "verification": "no other implementation has verified the numbers",
    "grades": "the data have no column of rating grades",
}


class ItemStatus(StrEnum):
    """How far a report answers an item."""

    COVERED = "covered"
    INCOMPLETE = "incomplete"
    IN_FULL_REPORT = "in the full report"
    NOT_APPLICABLE = "not applicable"
    NOT_COVERED = "not covered by this report"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChecklistItem:
    """A requirement, the sections and keys that answer it, and the reason if a report cannot.

    An item is complete without the sections in `also`; they are named if the report has them.
    """

    OPTIONAL: ClassVar = ("also",)
    __pydantic_config__: ClassVar = STRICT

    number: str
    text: str
    sections: tuple[str, ...] = ()
    also: tuple[str, ...] | None = None
    needs: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checklist:
    """A checklist with its name in the configuration and the reference of its framework."""

    __pydantic_config__: ClassVar = STRICT

    name: str = ""
    title: str
    source: str
    items: tuple[ChecklistItem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChecklistLine:
    """An item with its status in this report.

    Of the sections that answer it, the report has `sections`, only the full report has `further_sections`,
    and no report of these results has `missing_sections`.
    """

    number: str
    text: str
    status: ItemStatus
    sections: tuple[str, ...] = ()
    further_sections: tuple[str, ...] = ()
    missing_sections: tuple[str, ...] = ()
    missing_keys: tuple[str, ...] = ()
    reason: str = ""


def read_checklists(configuration: Configuration) -> tuple[Checklist, ...]:
    """Return all checklists of a configuration; items that it declares not applicable must exist."""
    lists = tuple(_read_checklist(name, configuration) for name in configuration.chosen_checklists)
    known = {f"{listed.name}:{item.number}" for listed in lists for item in listed.items}
    names = {listed.name for listed in lists}
    exceptions = configuration.checklist.not_applicable
    unknown = [key for key in exceptions if key not in known and key.rpartition(":")[0] in names]
    raise_problems(
        configuration.name,
        [
            f"`checklist.not_applicable` names an item that its list does not have: {key!r}; "
            f"{suggest(key, known) or 'look up its number in the list.'}"
            for key in unknown
        ],
    )
    return lists


def fill_checklist(
    checklist: Checklist,
    configuration: Configuration,
    present_sections: Collection[str],
    evidence: Collection[str] = tuple(EVIDENCE),
    further_sections: Collection[str] = (),
) -> tuple[ChecklistLine, ...]:
    """Return the status of each item in a report with these sections and this evidence.

    Further sections are those that only the full report has.
    """
    content = _ReportContent(
        configuration=configuration,
        sections={*present_sections, *FIXED_SECTIONS},
        further=further_sections,
        evidence=evidence,
    )
    exceptions = configuration.checklist.not_applicable
    return tuple(
        _fill_item(item, content, exceptions.get(f"{checklist.name}:{item.number}", ""))
        for item in checklist.items
    )


def parse_checklist(text: str, name: str) -> Checklist:
    """Parse and check the text of a checklist; `name` is used in messages."""
    from pydantic import TypeAdapter, ValidationError

    raw = parse_toml(text, name)
    problems = list(find_invalid_values(raw))
    if "name" in raw:
        problems.append("`name` is not a known key: the name of a checklist is that of its file.")
    try:
        checklist = TypeAdapter(Checklist).validate_json(json.dumps({**raw, "name": name}))
    except ValidationError as error:
        raise_problems(name, [*problems, *map(_describe_error, error.errors())])
        raise
    raise_problems(name, [*problems, *_find_broken_rules(checklist)])
    return checklist


def read_package_checklist(name: str) -> Checklist:
    """Return a checklist of the package by its name."""
    return _read_file(find_checklist_folder() / f"{name}{ENDING}", name)


def _read_checklist(name: str, configuration: Configuration) -> Checklist:
    key = "checklist.lists" if configuration.report.checklists is None else "report.checklists"
    for problem in find_unknown_checklists([name], key):
        raise UsageError(f"{configuration.name}: {problem}")
    if not name.endswith(ENDING):
        return read_package_checklist(name)
    path = Path(configuration.folder) / name
    try:
        return _read_file(path, name)
    except OSError as error:
        raise UsageError(
            f"{configuration.name}: `{key}` names a file that cannot be read: {str(path)!r} "
            f"({error.strerror})."
        ) from error


def _read_file(path: Path, name: str) -> Checklist:
    return parse_checklist(decode_text(path.read_bytes(), name), name)


def _describe_error(error: Mapping[str, Any]) -> str:
    """Describe an error of pydantic with its place in the checklist; items are counted from 1."""
    path = [str(part + 1) if isinstance(part, int) else part for part in error["loc"]]
    key = join_key(tuple(path))
    if error["type"] == "missing":
        return f"`{key}` is missing."
    if error["type"] == "unexpected_keyword_argument":
        kind = Checklist if len(path) == 1 else ChecklistItem
        known = [field.name for field in fields(kind) if (kind, field.name) != (Checklist, "name")]
        return f"`{key}` is not known; {suggest(path[-1], known) or 'keys are ' + ', '.join(known) + '.'}"
    kinds = {"string_type": "text", "tuple_type": "a list", "dataclass_type": "a table"}
    remedy = " To fix: put it in quotes." if error["type"] == "string_type" else ""
    return f"`{key}` must be {kinds[error['type']]}; got {show_value(error['input'])}.{remedy}"


def _find_broken_rules(checklist: Checklist) -> Iterator[str]:
    if not checklist.items:
        yield "`items` must have at least one item."
    numbers = [item.number for item in checklist.items]
    for place, item in enumerate(checklist.items, start=1):
        key = f"items.{place}"
        if not item.number.strip() or not item.text.strip():
            yield f"`{key}` must have a number and a text."
        if numbers.index(item.number) < place - 1:
            yield f"`{key}.number` must not occur twice; got {item.number!r}."
        if not (item.sections or item.reason):
            yield f"`{key}` must have `sections` that answer it, or a `reason` why none does."
        yield from _find_unknown_names(key, item)


def _find_unknown_names(key: str, item: ChecklistItem) -> Iterator[str]:
    """Yield a sentence for each section, evidence and key that does not exist."""
    sections = (*FIXED_SECTIONS, *list_section_names())
    for name, named in (("sections", item.sections), ("also", item.also or ())):
        for section in named:
            if section not in sections:
                known = suggest(section, sections) or f"sections are {', '.join(sections)}."
                yield f"`{key}.{name}` names a section that does not exist: {section!r}; {known}"
    for name in item.evidence:
        if name not in EVIDENCE:
            yield f"`{key}.evidence` must be one of {join_words(EVIDENCE)}; got {name!r}."
    for need in item.needs:
        if not _is_key(need):
            yield f"`{key}.needs` must name a key of the configuration, such as `model.owner`; got {need!r}."


def _is_key(need: str) -> bool:
    table, _, name = need.partition(".")
    return need == "limits" or (table in known_keys(()) and name in known_keys((table,)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _ReportContent:
    """What a report has that can answer an item."""

    configuration: Configuration
    sections: Collection[str]
    further: Collection[str]
    evidence: Collection[str]


def _fill_item(item: ChecklistItem, content: _ReportContent, exception: str) -> ChecklistLine:
    line = partial(ChecklistLine, number=item.number, text=item.text)
    if exception:
        return line(status=ItemStatus.NOT_APPLICABLE, reason=exception)
    sections = tuple(name for name in item.sections if name in content.sections)
    further = tuple(name for name in item.sections if name in content.further and name not in sections)
    if item.reason and not (sections or further):
        return line(status=ItemStatus.NOT_COVERED, reason=item.reason)
    added = tuple(name for name in item.also or () if name in content.sections)
    line = partial(line, sections=(*sections, *added), further_sections=further)
    missing_sections = tuple(name for name in item.sections if name not in {*sections, *further})
    missing_keys = tuple(need for need in item.needs if not _is_filled(content.configuration.find(need)))
    missing_evidence = [EVIDENCE[name] for name in item.evidence if name not in content.evidence]
    if not (missing_sections or missing_keys or missing_evidence):
        return line(status=ItemStatus.IN_FULL_REPORT if further else ItemStatus.COVERED)
    return line(
        status=ItemStatus.INCOMPLETE,
        missing_sections=missing_sections,
        missing_keys=missing_keys,
        reason="; ".join([*_describe_missing(missing_sections, missing_keys), *missing_evidence]),
    )


def _is_filled(value: object) -> bool:
    if isinstance(value, LimitsTable):
        return bool(value.bounds)
    return bool(value.strip() if isinstance(value, str) else value)


def _describe_missing(sections: tuple[str, ...], keys: tuple[str, ...]) -> list[str]:
    parts = [f"the configuration lacks {join_words([f'`{key}`' for key in keys])}"] if keys else []
    if sections:
        noun = "section" if len(sections) == 1 else "sections"
        parts.append(f"the report has no {noun} {join_words(sections)}")
    return parts
