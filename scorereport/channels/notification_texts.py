"""Text of the notification of an audit: its verdict and findings first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_counted
from scorereport.results.summary_texts import TITLES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.channels.notification import Outcome, OutcomeSummary


def describe_outcome(outcome: Outcome) -> str:
    """Return the message on one audit: its verdict, its findings, where its report is, then the rest."""
    return "\n\n".join(_list_paragraphs(outcome)) + "\n"


def _list_paragraphs(outcome: Outcome) -> Iterator[str]:
    if "event" not in outcome:
        label = outcome["period"]["label"]
        yield f"The audit {outcome['audit']} of the period {label} has the status: {outcome['status']}."
        yield from filter(None, [outcome["reason"]])
    yield from outcome.get("alarms", ())
    if changes := outcome.get("limit_changes"):
        yield "\n".join(["Limits changed since the audit before:", *(f"- {change}" for change in changes)])
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
    yield describe_head(outcome) or "There is no record of this run."


def describe_head(outcome: Outcome) -> str:
    """State the record and its hash, and how they are checked later; "" if there is no record."""
    record, head = outcome["record"], outcome["head"]
    if record is None:
        return ""
    stated = f"Record {record['id']}, SHA-256 {record['sha256']}"
    if head is None or not head["key"]:
        return f"{stated}."
    return (
        f"{stated}, signed by the key {head['key']}.\n"
        f"To check later that the history has it: scorereport audit verify --head {head['sha256']}"
    )


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
