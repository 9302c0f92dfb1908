"""The summary of a report as texts, for terminals, notifications and the records of audits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Titles of the lists of the summary, by the names of their fields.
TITLES = {"findings": "Findings", "actions": "What to do", "missing": "What is missing"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryTexts:
    """Sentences of the summary: verdict, fitness for use, findings, actions, what is missing, its basis."""

    verdict: str
    fitness: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    basis: tuple[str, ...] = ()

    def list_blocks(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield the names and sentences of the lists of the summary, without empty ones."""
        return ((name, getattr(self, name)) for name in TITLES if getattr(self, name))
