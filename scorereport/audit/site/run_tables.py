"""Tables of all runs of an audit, one for each year if there are many."""

from __future__ import annotations

from datetime import timedelta
from itertools import groupby
from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import format_count, format_counted, format_time
from scorereport.audit.site.audit_runs import get_snapshot
from scorereport.audit.site.entry_texts import (
    describe_copies,
    run_badge,
    run_certificate_badge,
    status_key,
)
from scorereport.audit.site.measure_series import choose_site_format, describe_direction

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scorereport.audit.site.audit_runs import AuditRuns, RecordedRun
    from scorereport.audit.site.site_files import ReportCopy
    from scorereport.plots.trend_picture import MeasureSeries

#: How many characters are shown of a hash.
_HASH_LENGTH = 8
_ZONE = "UTC"
#: Up to this many runs are in one table.
_MOST_TOGETHER = 120
#: The note on a run that earlier versions accepted.
_FUTURE_PERIOD = "The period was in the future when this audit ran, so it does not count."
_REPLACED = "A later run of the period replaces this one."
_MADE_GOOD = "Another run of the period has results."


def describe_tables(
    audit: AuditRuns, series: Sequence[MeasureSeries], copies: Mapping[int, Sequence[ReportCopy]]
) -> dict[str, Any]:
    """Describe the tables of all runs, the newest first, with the main score of each model."""
    main = get_snapshot(audit.measured[-1]).main_score if audit.measured else ""
    scores = [one for one in series if one.measure == main and one.model]
    writer = choose_site_format(main, [reading for one in scores for reading in one.known])
    places = {run.record.id: place for place, run in enumerate(audit.measured)}
    current = {*places, *(run.record.id for run in audit.failed)}
    rows = []
    for run in reversed(audit.runs):
        place = places.get(run.record.id)
        readings = [None if place is None else one.readings[place] for one in scores]
        values = ["" if reading is None else writer.number(reading.value) for reading in readings]
        rows.append(_describe_run(run, values, copies[run.record.id], is_current=run.record.id in current))
    return {
        "zone": _take_zone(rows),
        "score": ", ".join(filter(None, (scores[0].label, describe_direction(main)))) if scores else "",
        "models": [one.model for one in scores],
        "count": format_counted(len(rows), "run"),
        "years": _group_by_year(rows),
        "rows": rows,
        "has_certificates": any(row["certificate"] for row in rows),
    }


def _group_by_year(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Group many runs by the year in which their periods end; a few are one group without a title."""
    if len(rows) <= _MOST_TOGETHER:
        return [{"title": "", "rows": rows}]
    grouped = [(year, list(own)) for year, own in groupby(rows, key=lambda row: row["year"])]
    return [
        {"title": f"{year}: {format_counted(len(own), 'run')}", "year": year, "rows": own}
        for year, own in grouped
    ]


def _take_zone(rows: Sequence[dict[str, Any]]) -> str:
    """Remove the zone from all times if they share one, and return it for the column header."""
    zones = {row["ran"].rpartition(" ")[2] for row in rows}
    if zones != {_ZONE}:
        return ""
    for row in rows:
        row["ran"] = row["ran"].removesuffix(f" {_ZONE}")
    return _ZONE


def _describe_run(
    run: RecordedRun, scores: Sequence[str], copies: Sequence[ReportCopy], *, is_current: bool
) -> dict[str, Any]:
    """Describe a run; the current run of a period is the one that its status follows."""
    record = run.record
    drifted = dict.fromkeys(drift.label for drift in record.drifts if drift.has_drifted)
    badge = run_badge(run)
    return {
        "id": record.id,
        "year": (record.period.day_after - timedelta(days=1)).year,
        "period": run.period,
        "attempt": record.attempt,
        "ran": format_time(record.finished),
        "key": status_key(run),
        "status": badge,
        "certificate": run_certificate_badge(run),
        "needs_attention": is_current and badge["tone"] in ("bad", "open"),
        "reason": _explain_run(run, is_current=is_current),
        "rows": format_count(record.rows) if run.has_numbers else "",
        "is_current": is_current,
        "scores": scores,
        "drift": ", ".join(drifted) or ("none" if record.drifts else ""),
        "reports": describe_copies(copies, above=1),
        "hash": run.sha256[:_HASH_LENGTH],
    }


def _explain_run(run: RecordedRun, *, is_current: bool) -> str:
    """Explain why a run failed or does not count; empty if there is nothing to explain."""
    return " ".join(filter(None, (run.record.reason, "" if is_current else _explain_past(run))))


def _explain_past(run: RecordedRun) -> str:
    """Explain why the status of a period does not follow a run."""
    if run.annulment is not None:
        return f"Annulled by record {run.annulment.id}: {run.annulment.reason}"
    if run.is_ahead:
        return _FUTURE_PERIOD
    return _REPLACED if run.has_numbers else _MADE_GOOD
