"""What all pages of a site know of its history."""

from __future__ import annotations

from dataclasses import dataclass

from scorereport._utils.formatting import format_counted, format_time
from scorereport.history.verification_findings import Verification

#: So many findings are named; more of them are counted.
_MOST_FINDINGS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteFacts:
    """What all pages of a site know: its title, when it was made, and the state of the history."""

    title: str
    time: str
    records: int
    last_id: int
    last_sha256: str
    verification: Verification | None

    @property
    def is_intact(self) -> bool | None:
        """Whether the history is as it was written; None if nobody looked."""
        return None if self.verification is None else not self.verification.findings


def list_site_facts(facts: SiteFacts) -> list[dict[str, str]]:
    """When the site was made, and of which history, as lines of a list."""
    last = f"number {facts.last_id}, SHA-256 {facts.last_sha256}" if facts.records else "none"
    found = [
        {"label": "This page was made", "text": format_time(facts.time)},
        {"label": "Last record", "text": last},
    ]
    return [*found, {"label": "History", "text": describe_history(facts)}]


def describe_history(facts: SiteFacts) -> str:
    """Whether the records are those that were written, in a sentence."""
    if facts.verification is None:
        return f"Chain of {format_counted(facts.records, 'record')}; nobody has verified it for this page."
    found = len(facts.verification.findings)
    checked = f"{format_counted(facts.verification.records, 'record')} and {format_counted(facts.verification.files, 'file')}"
    if found:
        return f"Not intact: {format_counted(found, 'finding')} in a chain of {checked} on {format_time(facts.time)}."
    return f"Chain of {checked} verified on {format_time(facts.time)}."


def list_findings(facts: SiteFacts) -> list[str]:
    """What is not as it was recorded, and what could not be looked at; long lists are cut, and say so."""
    if facts.verification is None:
        return []
    told = [finding.sentence for finding in facts.verification.findings]
    more = len(told) - _MOST_FINDINGS
    rest = (
        [f"And {format_counted(more, 'more finding')}; `scorereport audit verify` lists all."]
        if more > 0
        else []
    )
    return [*told[:_MOST_FINDINGS], *rest, *facts.verification.warnings, *facts.verification.notes]
