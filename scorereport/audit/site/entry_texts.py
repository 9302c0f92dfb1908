"""Texts, badges and links for an audit and its models, as the board and the audit page show them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import format_count, format_counted, format_time
from scorereport.audit.audit_status import NOT_RUN
from scorereport.audit.site.audit_runs import link_to_file
from scorereport.audit.site.evidence_texts import describe_board_evidence
from scorereport.audit.site.measure_series import choose_site_format, describe_direction
from scorereport.audit.site.site_files import FileState
from scorereport.audit.site.status_board import SEVERITY
from scorereport.audit.site.trend_charts import build_sparkline
from scorereport.configuration.limit_verdicts import LimitVerdict
from scorereport.history.audit_record import AuditStatus
from scorereport.history.seal_sentences import describe_seal_check
from scorereport.report.verdict_labels import VERDICT_LABELS, certificate_badge

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scorereport.audit.site.audit_runs import RecordedRun
    from scorereport.audit.site.site_files import ReportCopy
    from scorereport.audit.site.status_board import BoardEntry, BoardRow
    from scorereport.plots.trend_picture import MeasureSeries


_STATUSES = {
    AuditStatus.DONE: ("plain", "●", "no limits"),
    AuditStatus.UNCERTIFIED: ("bad", "✗", "certificate failed"),
    AuditStatus.FAILED: ("bad", "✗", "run failed"),
}
_SENTENCES = {
    AuditStatus.PASS: "Pass: all limits are met.",
    AuditStatus.WARN: (
        "Warn: a number is close to its limit or has drifted, evidence raised an alarm, or forecasts are not "
        "those that were sealed."
    ),
    AuditStatus.INCONCLUSIVE: (
        "Inconclusive: the data are consistent with a limit being met and with it being breached."
    ),
    AuditStatus.FAIL: "Fail: a limit is breached.",
    AuditStatus.DONE: "Done: no limits are set.",
    AuditStatus.UNCERTIFIED: "Certificate failed: the numbers of R differ.",
    AuditStatus.FAILED: "The last run failed.",
}
#: Statuses as words of style sheets, from worst to best: pages are filtered by them.
NOT_RUN_KEY, _ANNULLED_KEY = "not-run", "annulled"
STATUS_KEYS = (*(status.value.replace(" ", "-") for status in SEVERITY), NOT_RUN_KEY, _ANNULLED_KEY)
#: Verdicts of certificates as words of style sheets, those of their tones.
CERTIFICATE_KEYS = ("good", "confirmed", "unchecked", "bad")
#: The badge of a run that an annulment took out.
_ANNULLED = {"tone": "plain", "mark": "○", "text": "annulled"}
#: The badge of an audit whose period is due and has no record.
_NOT_RUN = {"tone": "open", "mark": "!", "text": NOT_RUN}
_UNJUDGED = {"tone": "plain", "mark": "●", "text": "no limits"}
#: The name of the sample on the pages; it is not a model.
SAMPLE_NAME = "all rows"
_FORMATS = ("html", "pdf", "json")


def status_badge(status: AuditStatus) -> dict[str, str]:
    """Return the badge of an audit's status: its tone, mark and text."""
    look = _STATUSES[status] if status in _STATUSES else VERDICT_LABELS[LimitVerdict(status.value)]
    return dict(zip(("tone", "mark", "text"), look, strict=True))


def run_badge(run: RecordedRun) -> dict[str, str]:
    """Return the badge of a run: that of its status, unless it is annulled."""
    return status_badge(run.record.status) if run.annulment is None else _ANNULLED


def entry_badge(entry: BoardEntry) -> dict[str, str]:
    """Return the badge of an audit: that of the period that is due."""
    return _NOT_RUN if entry.audit.is_missing else run_badge(entry.newest)


def status_sentence(status: AuditStatus) -> str:
    """Return the status of an audit as a sentence."""
    return _SENTENCES[status]


def run_certificate_badge(run: RecordedRun) -> dict[str, str] | None:
    """Return the badge of the R certificate of a run, with a word of style sheets; None without one."""
    verdict = run.record.current_certificate
    if not verdict:
        return None
    badge = certificate_badge(verdict)
    return badge | {"key": badge["tone"]}


def verdict_badge(verdict: LimitVerdict | None) -> dict[str, str]:
    """Return the badge of a model's verdict; None if no number of the model was judged."""
    if verdict is None:
        return _UNJUDGED
    return dict(zip(("tone", "mark", "text"), VERDICT_LABELS[verdict], strict=True))


def verdict_count_badges(counts: Mapping[LimitVerdict, int]) -> list[dict[str, Any]]:
    """Return a badge with the number of limits for each verdict that occurs."""
    return [verdict_badge(verdict) | {"count": format_count(n)} for verdict, n in counts.items() if n]


def needs_attention(entry: BoardEntry) -> bool:
    """Whether an audit needs a look: by its status, by a breached limit, or by the evidence."""
    evidence = entry.audit.evidence
    is_alarming = evidence is not None and evidence.is_alarming
    return is_alarming or entry.is_in_breach or entry_badge(entry)["tone"] in ("bad", "open")


def describe_entry(
    entry: BoardEntry, copies: Mapping[int, Sequence[ReportCopy]], *, above: int = 0
) -> dict[str, Any]:
    """Describe an audit for a page that is `above` folders below the top of the site."""
    shown = entry.measured or entry.newest
    main = next((row.series for row in entry.rows if row.series is not None and row.model), None)
    models = [_describe_row(entry, row) for row in entry.rows]
    return {
        "id": f"audit-{entry.audit.key}",
        "name": entry.audit.name,
        "href": link_to_file(entry.audit.address, above=above),
        "feed": link_to_file(entry.audit.feed, above=above),
        "key": NOT_RUN_KEY if entry.audit.is_missing else status_key(entry.newest),
        "needs_attention": needs_attention(entry),
        "status": entry_badge(entry),
        "sentence": _describe_status(entry),
        "note": _describe_note(entry),
        "failure": _describe_failure(entry.newest) if entry.has_failed else None,
        "is_old": entry.is_old,
        "has_numbers": entry.measured is not None,
        "numbers_status": run_badge(shown),
        "certificate": run_certificate_badge(shown),
        "period": shown.period,
        "age": _describe_age(entry),
        "ran": format_time(shown.record.finished),
        "rows": format_counted(shown.record.rows, "row"),
        "score": "" if main is None else main.label,
        "direction": "" if main is None else describe_direction(main.measure),
        "evidence": describe_board_evidence(entry.audit.evidence),
        "seal": "" if (check := shown.record.seal_check) is None else describe_seal_check(check),
        "annulled": _describe_annulled(entry),
        "reports": describe_copies(copies[shown.record.id], above=above),
        "models": models,
        "count": format_counted(sum(not row["is_sample"] for row in models), "model"),
        "main": next((row for row in models if not row["is_sample"]), None),
    }


def status_key(run: RecordedRun) -> str:
    """Return the status of a run as a word of style sheets, by which pages are filtered."""
    return _ANNULLED_KEY if run.annulment is not None else STATUS_KEYS[SEVERITY.index(run.record.status)]


def _describe_age(entry: BoardEntry) -> str:
    """Describe how long ago the run of the due period was recorded; empty if it is not known."""
    state = entry.audit.state
    return f"{state.age} ago" if state is not None and state.record is not None and not entry.is_old else ""


def _describe_status(entry: BoardEntry) -> str:
    """Describe the state of an audit in a sentence."""
    state = entry.audit.state
    if state is not None and state.period is not None and entry.audit.is_missing:
        return f"Not run: the audit of {state.period.label} is due for {state.age}."
    if entry.newest.annulment is not None:
        return "All audits are annulled."
    return status_sentence(entry.newest.record.status)


def _describe_note(entry: BoardEntry) -> str:
    """Describe a due period without a record, or a later run that failed; empty if there is neither."""
    state = entry.audit.state
    if entry.audit.is_missing:
        return _describe_status(entry)
    return state.note if state is not None and entry.newest.has_numbers else ""


def _describe_annulled(entry: BoardEntry) -> str:
    """Describe how many records are annulled; empty if none are."""
    count = sum(run.annulment is not None for run in entry.audit.runs)
    return f"{format_counted(count, 'annulled record')}" if count else ""


def _describe_failure(run: RecordedRun) -> dict[str, str]:
    return {
        "ran": format_time(run.record.finished),
        "period": run.period,
        "reason": run.record.reason or "No reason was recorded.",
    }


def _describe_row(entry: BoardEntry, row: BoardRow) -> dict[str, Any]:
    return {
        "model": row.model or SAMPLE_NAME,
        "is_sample": not row.model,
        "verdict": verdict_badge(row.verdict),
        "limits": verdict_count_badges(row.counts),
        "drift": _describe_drift(row),
        **_describe_score(entry, row),
    }


def _describe_drift(row: BoardRow) -> dict[str, str]:
    if row.drifted is None:
        return {"tone": "", "text": "not tested"}
    return {"tone": "open", "text": ", ".join(row.drifted)} if row.drifted else {"tone": "", "text": "none"}


def _describe_score(entry: BoardEntry, row: BoardRow) -> dict[str, Any]:
    """Describe the number of a row, its change, and its sparkline; empty if the model has none."""
    if row.series is None or row.reading is None:
        return {"value": "", "interval": "", "label": "", "change": "", "way": "", "spark": None}
    writer = choose_site_format(row.series.measure, row.series.known)
    way = {True: "better", False: "worse", None: ""}[row.is_better]
    days = [run.day for run in entry.audit.measured]
    return {
        "value": writer.number(row.reading.value),
        "interval": writer.interval(row.reading.lower, row.reading.upper),
        "label": row.series.label,
        "change": "" if math.isnan(row.change) else writer.change(row.change),
        "way": way,
        "spark": {"drawing": build_sparkline(row.series, days), "title": describe_series(row.series)},
    }


def describe_series(series: MeasureSeries) -> str:
    """Describe a series in a sentence, for readers who cannot see its line."""
    known = series.known
    writer = choose_site_format(series.measure, known)
    values = [reading.value for reading in known if not math.isnan(reading.value)]
    if not values:
        return f"{series.label} of {series.model or SAMPLE_NAME}: never defined."
    last, least, most = map(writer.number, (values[-1], min(values), max(values)))
    return (
        f"{series.label} of {series.model or SAMPLE_NAME} in {format_counted(len(values), 'audit')}: "
        f"{last} last, between {least} and {most}."
    )


def describe_copies(copies: Sequence[ReportCopy], above: int) -> list[dict[str, str]]:
    """Return links to the files of a report, or why one is absent; web page, PDF and data in this order."""
    ordered = sorted(
        copies, key=lambda copy: (_FORMATS.index(copy.kind) if copy.kind in _FORMATS else 9, copy.target)
    )
    return [
        {
            "form": copy.kind.upper(),
            "href": link_to_file(copy.target, above=above) if copy.state is FileState.THERE else "",
            "note": "" if copy.state is FileState.THERE else copy.state.value,
        }
        for copy in ordered
    ]
