"""Texts of notifications: the message of one audit, and that of all audits of a day."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_counted, join_words
from scorereport.results.summary_texts import TITLES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.channels.notification import Outcome, OutcomeSummary

#: Statuses of audits from worst to best: the order of a digest.
SEVERITY = ("failed", "fail", "certificate failed", "warn", "inconclusive", "done", "pass")


def describe_outcome(outcome: Outcome) -> str:
    """Return the message on one audit: its verdict, its findings, where its report is, then the rest."""
    return "\n\n".join(_list_paragraphs(outcome)) + "\n"


def _list_paragraphs(outcome: Outcome) -> Iterator[str]:
    label = outcome["period"]["label"]
    yield f"The audit {outcome['audit']} of the period {label} has the status: {outcome['status']}."
    if outcome["reason"]:
        yield outcome["reason"]
    yield from outcome.get("alarms", ())
    summary = outcome["summary"]
    if summary is not None:
        yield "\n".join([summary["verdict"], *summary["fitness"]])
    yield from _list_findings(outcome)
    if outcome["link"]:
        yield f"Report: {outcome['link']}"
    if summary is not None:
        yield from _list_rest(summary)
    if outcome["files"]:
        yield "\n".join(["Files:", *outcome["files"]])
    if outcome["record"] is None:
        yield "There is no record of this run."
    else:
        yield f"Record {outcome['record']['id']}, SHA-256 {outcome['record']['sha256']}."


def _list_findings(outcome: Outcome) -> Iterator[str]:
    """Yield the most important findings as one list; state how many there are besides."""
    findings = outcome["findings"]
    if not findings:
        return
    summary = outcome["summary"]
    found = [*outcome["judgements"], *outcome["drifts"]] if summary is None else summary["findings"]
    more = len(found) - len(findings)
    rest = [f"{format_counted(more, 'more finding')} in the report."] if more > 0 else []
    yield "\n".join([f"{TITLES['findings']}:", *(f"- {finding}" for finding in findings), *rest])


def _list_rest(summary: OutcomeSummary) -> Iterator[str]:
    for name, sentences in (("actions", summary["actions"]), ("missing", summary["missing"])):
        if sentences:
            yield "\n".join([f"{TITLES[name]}:", *(f"- {sentence}" for sentence in sentences)])
    yield " ".join(summary["basis"])


def sort_outcomes(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Sort outcomes from worst to best, then by the names of their audits and their periods."""
    return sorted(outcomes, key=lambda each: (_rank(each["status"]), each["audit"], each["period"]["label"]))


def _rank(status: str) -> int:
    return SEVERITY.index(status) if status in SEVERITY else 0


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
    audits = format_counted(len(outcomes), "audit")
    names = join_words(sorted({outcome["audit"] for outcome in outcomes}))
    head = f"{audits} of {format_days(days)}: {names}."
    return "\n\n".join([head, *map(_describe_entry, outcomes)]) + "\n"


def _describe_entry(outcome: Outcome) -> str:
    verdict = "" if outcome["summary"] is None else f" - {outcome['summary']['verdict']}"
    lines = [f"{outcome['audit']} {outcome['period']['label']}: {outcome['status']}{verdict}"]
    lines += [f"- {finding}" for finding in outcome["findings"]]
    lines += [f"Report: {outcome['link']}"] if outcome["link"] else []
    return "\n".join(lines)
