"""The choice of sections: a profile and the sections left out, from a configuration, options or arguments."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scorereport._utils.formatting import join_words
from scorereport._utils.rules import list_items, show_value
from scorereport.configuration.configuration_tables import FIXED_SECTIONS, Profile
from scorereport.configuration.messages import suggest
from scorereport.errors import UsageError
from scorereport.results.registered_functions import list_section_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scorereport.configuration.configuration_tables import ReportTable


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionChoice:
    """A profile and sections to leave out; where one of them is None, that of the configuration holds."""

    profile: str | None = None
    omit: tuple[str, ...] | None = None

    def replace_in(self, table: ReportTable) -> ReportTable:
        """Return the table `[report]` of a configuration with this choice."""
        return replace(
            table,
            profile=table.profile if self.profile is None else self.profile,
            omit=table.omit if self.omit is None else self.omit,
        )


def check_section_choice(profile: object, omit: object, prefix: str = "") -> SectionChoice:
    """Return a choice that was given as options or arguments; refuse unknown names.

    The prefix stands before `profile` and `omit` in messages, such as `--` for options.

    >>> check_section_choice("full", ["time"])
    SectionChoice(profile='full', omit=('time',))
    """
    if profile is not None and not isinstance(profile, str):
        raise UsageError(f"`{prefix}profile` must be text; got {show_value(profile)}.")
    names = [omit] if isinstance(omit, str) else list_items(omit)
    if omit is not None and (names is None or not all(isinstance(name, str) for name in names)):
        raise UsageError(f"`{prefix}omit` must be a list of names of sections; got {show_value(omit)}.")
    for problem in find_broken_choice(Profile.STANDARD if profile is None else profile, names or (), prefix):
        raise UsageError(problem)
    return SectionChoice(profile=profile, omit=None if names is None else tuple(names))


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
    """
    profile = f" --profile {shown.profile}" if shown.profile != recorded.profile else ""
    omit = "".join(f" --omit {name}" for name in shown.omit) if shown.omit != recorded.omit else ""
    return profile + omit
