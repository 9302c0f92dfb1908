"""Texts of a digest: all audits of a day, the worst first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_counted, join_words
from scorereport.audit.site.status_board import SEVERITY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.channels.notification import Outcome


def sort_outcomes(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Sort outcomes from worst to best, then by the names of their audits and their periods."""
    return sorted(outcomes, key=lambda each: (_rank(each["status"]), each["audit"], each["period"]["label"]))


def _rank(status: str) -> int:
    order = list(map(str, SEVERITY))
    return order.index(status) if status in order else 0


def name_digest(outcomes: Sequence[Outcome], days: Sequence[str]) -> str:
    """Return the subject of a digest: its days, and how many audits have which status, the worst first."""
    statuses = [outcome["status"] for outcome in outcomes]
    counts = [f"{statuses.count(status)} {status}" for status in sorted(set(statuses), key=_rank)]
    return f"Audits of {format_days(days)}: {', '.join(counts)}"


def format_days(days: Sequence[str]) -> str:
    """Format the days of a digest.

    >>> format_days(["2026-11-15"]), format_days(["2026-11-13", "2026-11-15"])
    ('2026-11-15', '2026-11-13 to 2026-11-15')
    """
    return days[0] if len(set(days)) == 1 else f"{min(days)} to {max(days)}"


def describe_digest(outcomes: Sequence[Outcome], days: Sequence[str]) -> str:
    """Return the message on all audits of a day, the worst first: status, findings and report of each."""
    runs = format_counted(len(outcomes), "audit run")
    names = join_words(sorted({outcome["audit"] for outcome in outcomes}))
    head = f"{runs} of {format_days(days)}: {names}."
    return "\n\n".join([head, *map(_describe_entry, outcomes)]) + "\n"


def _describe_entry(outcome: Outcome) -> str:
    status, verdict = outcome["status"], "" if outcome["summary"] is None else outcome["summary"]["verdict"]
    is_stated = verdict.lower().startswith(status)
    result = verdict if is_stated else " - ".join(filter(None, (status, verdict)))
    lines = [f"{outcome['audit']} {outcome['period']['label']}: {result}"]
    lines += [f"- {finding}" for finding in outcome["findings"]]
    lines += [f"R certificate: {outcome['certificate']}"] if "certificate" in outcome else []
    lines += [f"Report: {outcome['link']}"] if outcome["link"] else []
    record = outcome["record"]
    lines += [f"Record {record['id']}, SHA-256 {record['sha256']}"] if record is not None else []
    return "\n".join(lines)
