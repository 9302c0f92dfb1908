"""Texts, badges and links for an audit and its models, as the board and the audit page show them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import format_count, format_counted, format_time
from scorereport.audit.site.audit_runs import link_to_file
from scorereport.audit.site.measure_series import choose_site_format, describe_direction
from scorereport.audit.site.site_files import FileState
from scorereport.audit.site.trend_charts import build_sparkline
from scorereport.configuration.limit_verdicts import LimitVerdict
from scorereport.history.audit_record import AuditStatus
from scorereport.report.verdict_labels import VERDICT_LABELS

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
    AuditStatus.WARN: "Warn: a number is close to its limit, or has drifted.",
    AuditStatus.INCONCLUSIVE: (
        "Inconclusive: the data are consistent with a limit being met and with it being breached."
    ),
    AuditStatus.FAIL: "Fail: a limit is breached.",
    AuditStatus.DONE: "Done: no limits are set.",
    AuditStatus.UNCERTIFIED: "Certificate failed: the numbers of R differ.",
    AuditStatus.FAILED: "The last run failed.",
}
_UNJUDGED = {"tone": "plain", "mark": "●", "text": "no limits"}
#: The name of the sample on the pages; it is not a model.
SAMPLE_NAME = "all rows"
_FORMATS = ("html", "pdf", "json")


def status_badge(status: AuditStatus) -> dict[str, str]:
    """Return the badge of an audit's status: its tone, mark and text."""
    look = _STATUSES[status] if status in _STATUSES else VERDICT_LABELS[LimitVerdict(status.value)]
    return dict(zip(("tone", "mark", "text"), look, strict=True))


def status_sentence(status: AuditStatus) -> str:
    """Return the status of an audit as a sentence."""
    return _SENTENCES[status]


def verdict_badge(verdict: LimitVerdict | None) -> dict[str, str]:
    """Return the badge of a model's verdict; None if no number of the model was judged."""
    if verdict is None:
        return _UNJUDGED
    return dict(zip(("tone", "mark", "text"), VERDICT_LABELS[verdict], strict=True))


def verdict_count_badges(counts: Mapping[LimitVerdict, int]) -> list[dict[str, Any]]:
    """Return a badge with the number of limits for each verdict that occurs."""
    return [verdict_badge(verdict) | {"count": format_count(n)} for verdict, n in counts.items() if n]


def describe_entry(
    entry: BoardEntry, copies: Mapping[int, Sequence[ReportCopy]], *, above: int = 0
) -> dict[str, Any]:
    """Describe an audit for a page that is `above` folders below the top of the site."""
    shown = entry.measured or entry.newest
    main = next((row.series for row in entry.rows if row.series is not None and row.model), None)
    return {
        "id": f"audit-{entry.audit.key}",
        "name": entry.audit.name,
        "href": link_to_file(entry.audit.address, above=above),
        "status": status_badge(entry.newest.record.status),
        "sentence": status_sentence(entry.newest.record.status),
        "failure": _describe_failure(entry.newest) if entry.has_failed else None,
        "is_old": entry.is_old,
        "has_numbers": entry.measured is not None,
        "numbers_status": status_badge(shown.record.status),
        "period": shown.period,
        "ran": format_time(shown.record.finished),
        "rows": format_counted(shown.record.rows, "row"),
        "score": "" if main is None else main.label,
        "direction": "" if main is None else describe_direction(main.measure),
        "reports": describe_copies(copies[shown.record.id], above=above),
        "models": [_describe_row(entry, row) for row in entry.rows],
    }


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
