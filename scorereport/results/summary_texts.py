"""The summary of a report as texts, for terminals, notifications and the records of audits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

FINDINGS_TITLE = "Findings"


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
        """Yield the titles and sentences of the lists of the summary, without empty ones."""
        blocks = {
            FINDINGS_TITLE: self.findings,
            "What to do": self.actions,
            "What is missing": self.missing,
        }
        return ((title, sentences) for title, sentences in blocks.items() if sentences)
