"""Outcome of an audit for notifications: its subject, its main findings, and where its report is."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

from scorereport._utils import json_documents
from scorereport._utils.formatting import format_evidence, format_plain, format_value, one_line
from scorereport.audit.site.audit_runs import find_page_address
from scorereport.channels.notification import FORMATS
from scorereport.channels.notification_texts import describe_outcome
from scorereport.history.audit_record import AuditStatus

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from scorereport.channels.notification import Outcome, OutcomeHead, OutcomeSummary
    from scorereport.configuration.limit_verdicts import Judgement
    from scorereport.history.audit_record import Record
    from scorereport.history.trend.evidence_records import Evidence

#: How many findings a notification has.
_MAX_FINDINGS = 3
#: The longest finding in a subject; mail programs show about this many characters.
_SUBJECT_FINDING = 80


def summarize_outcome(
    record: Record, *, files: Sequence[Path], alarms: Sequence[str] = (), site: str = ""
) -> Outcome:
    """Return the outcome of an audit, with a sentence for each limit not met and each drift.

    `site` is the address of the web site of the audits, for the link; without it, the link is a path.
    """
    period = record.period
    outcome: Outcome = {
        "subject": name_outcome(record, alarms),
        "text": "",
        "audit": record.audit,
        "period": {"label": period.label, "start": period.start, "end": period.end},
        "as_of": record.as_of,
        "status": str(record.status),
        "exit_code": int(record.exit_code),
        "reason": record.reason,
        "findings": list_findings(record)[:_MAX_FINDINGS],
        "link": find_link(record, files, site),
        "summary": cast("OutcomeSummary | None", json_documents.encode(record.current_summary)),
        "judgements": _list_open_limits(record),
        "drifts": _list_drifts(record),
        "record": {"id": record.id, "sha256": record.sha256} if record.id else None,
        "head": _find_head(record),
        "files": [str(file) for file in files],
    }
    if record.kind != "audit":
        outcome["event"] = record.kind
    if record.certificate:
        outcome["certificate"] = record.current_certificate
    if alarms:
        outcome["alarms"] = list(alarms)
    if record.limit_changes:
        outcome["limit_changes"] = [change.clause for change in record.limit_changes]
    outcome["text"] = describe_outcome(outcome)
    return outcome


def _find_head(record: Record) -> OutcomeHead | None:
    if not record.id:
        return None
    key = "" if record.signature is None else record.signature.fingerprint
    return {"id": record.id, "sha256": record.sha256, "key": key}


def list_findings(record: Record) -> list[str]:
    """List the findings of the summary, the most important first; without one, limits not met and drifts."""
    if record.summary is not None:
        return list(record.summary.findings)
    return [*_list_open_limits(record), *_list_drifts(record)]


def _list_open_limits(record: Record) -> list[str]:
    return [each.sentence for each in record.judgements if str(each.verdict) != "pass"]


def _list_drifts(record: Record) -> list[str]:
    return [drift.sentence for drift in record.drifts if drift.has_drifted]


def find_link(record: Record, files: Sequence[Path], site: str) -> str:
    """Return the address of the audit's page on the site, or the path of its report; empty without either."""
    if site:
        row = f"#r{record.id}" if record.id else ""
        return f"{site.rstrip('/')}/{find_page_address(record.audit)}{row}"
    by_format = {file.suffix.removeprefix("."): file for file in files}
    return next((str(by_format[form]) for form in FORMATS if form in by_format), "")


def name_outcome(record: Record, alarms: Sequence[str] = ()) -> str:
    """Return the outcome in one line: audit, period, status, and the most important finding."""
    if record.kind == "key":
        return one_line(f"{record.audit}: a key was added that can sign records")
    head = f"{record.audit} {record.period.label}: {record.status}"
    finding = "the history needs attention" if alarms else name_finding(record)
    if record.limit_changes:
        finding = "; ".join(filter(None, ("limits changed", finding)))
    return one_line(f"{head} - {finding}" if finding else head)


def name_finding(record: Record) -> str:
    """Return the most important finding of a record, as a clause; empty if there is none."""
    if record.status is AuditStatus.FAILED:
        return shorten(record.reason)
    if record.status is AuditStatus.UNCERTIFIED:
        return "the R certificate failed"
    evidence = () if record.evidence is None else record.evidence.evidence
    alarms = sorted((each for each in evidence if each.is_alarm), key=lambda each: -each.log_detector)
    if alarms and record.status is not AuditStatus.FAIL:
        return _name_alarm(alarms[0])
    open_limits = [each for each in record.judgements if str(each.verdict) == str(record.status)]
    return _name_limits(open_limits) or shorten(next(iter(list_findings(record)), ""))


def _name_limits(judgements: Sequence[Judgement]) -> str:
    """Return the first number that gave the audit its status, its limit, and how many more there are."""
    named = [each for each in judgements if math.isfinite(each.value)]
    if not named:
        return ""
    first = named[0]
    limit = f", limit {format_plain(bound)}" if (bound := _find_limit(first)) is not None else ""
    where = ", ".join(filter(None, (first.model, first.group)))
    more = f" and {len(judgements) - 1} more" if len(judgements) > 1 else ""
    return f"{first.label} {format_value(first.value)}{limit}{f' ({where})' if where else ''}{more}"


def _find_limit(judgement: Judgement) -> float | None:
    """Return the limit that a number is held against: the nearest of those of its verdict."""
    is_warning = str(judgement.verdict) == "warn"
    limits = (
        (judgement.warn_lower, judgement.warn_upper)
        if is_warning
        else (judgement.fail_lower, judgement.fail_upper)
    )
    known = [limit for limit in limits if limit is not None]
    return min(known, key=lambda limit: abs(limit - judgement.value), default=None)


def _name_alarm(alarm: Evidence) -> str:
    against = {
        "calibration": "calibration",
        "baseline": "the calibration curve of the baseline",
        "limit": f"the limit on {alarm.measure}",
        "difference": f"being as good as {alarm.other}",
    }[alarm.hypothesis]
    return f"evidence {format_evidence(alarm.log_detector)} against {against} ({alarm.model})"


def shorten(sentence: str) -> str:
    """Return the first clause of a sentence, without its full stop, at most as long as a subject may be.

    >>> shorten("The file is empty. To fix: write rows.")
    'The file is empty'
    """
    clause = one_line(sentence).split(". ")[0].split("; ")[0].removesuffix(".")
    if len(clause) <= _SUBJECT_FINDING:
        return clause
    return f"{clause[:_SUBJECT_FINDING].rpartition(' ')[0] or clause[:_SUBJECT_FINDING]} …"
