"""The choice of sections: profile, sections left out and checklists, from a configuration or from options."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scorereport._utils.formatting import join_words
from scorereport._utils.rules import list_items, show_value
from scorereport.configuration.checklist_names import ENDING, list_checklist_names
from scorereport.configuration.configuration_tables import FIXED_SECTIONS, Profile
from scorereport.configuration.messages import suggest
from scorereport.errors import UsageError
from scorereport.results.registered_functions import list_section_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scorereport.configuration.configuration_tables import ReportTable


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionChoice:
    """A profile, sections to leave out, and checklists; one that is None is that of the configuration."""

    profile: str | None = None
    omit: tuple[str, ...] | None = None
    checklists: tuple[str, ...] | None = None

    def replace_in(self, table: ReportTable) -> ReportTable:
        """Return the table `[report]` of a configuration with this choice."""
        return replace(
            table,
            profile=table.profile if self.profile is None else self.profile,
            omit=table.omit if self.omit is None else self.omit,
            checklists=table.checklists if self.checklists is None else self.checklists,
        )


def check_section_choice(
    profile: object, omit: object, prefix: str = "", *, checklists: object = None
) -> SectionChoice:
    """Return a choice that was given as options or arguments; refuse unknown names.

    The prefix stands before `profile` and `omit` in messages, such as `--` for options; the option of one
    checklist is named in the singular.

    >>> check_section_choice("full", ["time"])
    SectionChoice(profile='full', omit=('time',), checklists=None)
    """
    if profile is not None and not isinstance(profile, str):
        raise UsageError(f"`{prefix}profile` must be text; got {show_value(profile)}.")
    sections = _check_names(omit, f"{prefix}omit", "sections")
    key = f"{prefix}checklist{'' if prefix else 's'}"
    lists = _check_names(checklists, key, "checklists")
    for problem in (
        *find_broken_choice(Profile.STANDARD if profile is None else profile, sections or (), prefix),
        *find_unknown_checklists(lists or (), key),
    ):
        raise UsageError(problem)
    return SectionChoice(profile=profile, omit=sections, checklists=lists)


def _check_names(given: object, key: str, noun: str) -> tuple[str, ...] | None:
    """Return names that were given as a list or as one text; None if there are none."""
    if given is None:
        return None
    names = [given] if isinstance(given, str) else list_items(given)
    if names is None or not all(isinstance(name, str) for name in names):
        raise UsageError(f"`{key}` must be a list of names of {noun}; got {show_value(given)}.")
    return tuple(names)


def find_unknown_checklists(names: Iterable[str], key: str) -> Iterator[str]:
    """A sentence for each name that is neither a checklist of the package nor a file."""
    known = list_checklist_names()
    for name in names:
        if not name.endswith(ENDING) and name not in known:
            yield f"`{key}` names a list that is not known: {name!r}; " + (
                suggest(name, known) or f"lists are {', '.join(known)}, or {ENDING} files."
            )


def find_broken_choice(profile: str, omit: Iterable[str], prefix: str) -> Iterator[str]:
    """A sentence for a profile that does not exist, and for each section that cannot be left out."""
    profiles = [each.value for each in Profile]
    if profile not in profiles:
        known = suggest(profile, profiles) or f"profiles are {join_words(map(_quote, profiles))}."
        yield f"`{prefix}profile` names an unknown profile: {profile!r}; {known}"
    for name in omit:
        if name in FIXED_SECTIONS:
            yield f"`{prefix}omit` cannot leave out {name!r}: every report has it."
        elif name not in (sections := list_section_names()):
            yield f"`{prefix}omit` names an unknown section: {name!r}; " + (
                suggest(name, sections) or f"sections are {', '.join(map(_quote, sections))}."
            )


def _quote(name: str) -> str:
    return f'"{name}"'


def describe_options(recorded: ReportTable, shown: ReportTable) -> str:
    """Return the options that turn the recorded choice into the shown one; empty if they are the same.

    >>> from scorereport.configuration.configuration_tables import ReportTable
    >>> describe_options(ReportTable(), ReportTable(profile="full", omit=("time", "scale")))
    ' --profile full --omit time --omit scale'
    >>> describe_options(ReportTable(), ReportTable(checklists=("tripod-ai",)))
    ' --checklist tripod-ai'
    """
    profile = f" --profile {shown.profile}" if shown.profile != recorded.profile else ""
    has_others = shown.checklists != recorded.checklists
    omitted = (*shown.omit, "checklist") if has_others and not shown.checklists else shown.omit
    omit = _repeat("--omit", omitted) if omitted != recorded.omit else ""
    return profile + omit + (_repeat("--checklist", shown.checklists or ()) if has_others else "")


def _repeat(option: str, names: Iterable[str]) -> str:
    return "".join(f" {option} {name}" for name in names)
