"""Template contexts of the pages: texts, links and chart coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import format_count, format_counted, format_level, format_time
from scorereport.audit.site.audit_runs import AuditRuns, RecordedRun, get_snapshot
from scorereport.audit.site.entry_texts import (
    SAMPLE_NAME,
    describe_copies,
    describe_entry,
    describe_series,
    status_badge,
)
from scorereport.audit.site.measure_series import (
    choose_site_format,
    collect_runs,
    describe_direction,
    describe_measure,
)
from scorereport.audit.site.site_data import list_findings, list_site_facts
from scorereport.audit.site.status_board import BoardEntry, build_board
from scorereport.audit.site.trend_charts import build_charts
from scorereport.history.audit_record import AuditStatus

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from scorereport.audit.site.site_data import SiteFacts
    from scorereport.audit.site.site_files import ReportCopy
    from scorereport.audit.site.trend_charts import TrendChart
    from scorereport.plots.trend_picture import MeasureSeries

#: How many characters are shown of a hash, and of a name or a reason in a tooltip.
_HASH_LENGTH, _TOOLTIP_NAME, _TOOLTIP_REASON = 8, 36, 160
_ZONE = "UTC"
#: The note on a run that earlier versions accepted.
_FUTURE_PERIOD = "The period was in the future when this audit ran, so it does not count."


# ---- The board ----


def describe_index(
    facts: SiteFacts, entries: Sequence[BoardEntry], copies: Mapping[int, Sequence[ReportCopy]]
) -> dict[str, Any]:
    """Describe the status board of all audits."""
    return {
        "title": facts.title,
        "created": facts.time,
        "verdict": _describe_board(entries, facts),
        "facts": list_site_facts(facts),
        "is_intact": facts.is_intact,
        "findings": list_findings(facts),
        "entries": [describe_entry(entry, copies) for entry in entries],
    }


def _describe_board(entries: Sequence[BoardEntry], facts: SiteFacts) -> dict[str, Any]:
    """Describe how many audits there are, and how many of them need attention."""
    breached = sum(entry.is_in_breach for entry in entries)
    failed = sum(entry.has_failed for entry in entries)
    uncertified = sum(entry.newest.record.status is AuditStatus.UNCERTIFIED for entry in entries)
    unclear = sum(status_badge(entry.newest.record.status)["tone"] == "open" for entry in entries)
    problems = (
        (facts.is_intact is False, "The history is not intact: see below."),
        (failed, f"The last run of {format_counted(failed, 'audit')} failed; the numbers shown are older."),
        (uncertified, f"The numbers of R differ in {format_counted(uncertified, 'audit')}."),
        (unclear, f"{format_counted(unclear, 'audit')} with a warning or an inconclusive verdict."),
    )
    is_bad = breached or any(found for found, _ in problems[:3])
    tone, mark = ("bad", "✗") if is_bad else ("open", "!") if unclear else ("good", "✓")
    return {
        "label": "",
        "tone": tone,
        "mark": mark,
        "sentence": f"{format_counted(len(entries), 'audit')}, {breached or 'none'} in breach of a limit",
        "details": [text for found, text in problems if found],
    }


# ---- The page of an audit ----


def describe_audit(
    facts: SiteFacts, audit: AuditRuns, copies: Mapping[int, Sequence[ReportCopy]]
) -> dict[str, Any]:
    """Describe the page of one audit: its status, its trend charts, and the table of all its runs."""
    series = collect_runs(audit.measured)
    days, failed_days = [run.day for run in audit.measured], [run.day for run in audit.failed]
    charts = [
        _describe_chart(place, chart, [one for one in series if one.measure == chart.measure], audit, copies)
        for place, chart in enumerate(build_charts(series, days, failed_days), 1)
    ]
    (entry,) = build_board([audit])
    return {
        "title": audit.name,
        "site": facts.title,
        "created": facts.time,
        "entry": describe_entry(entry, copies, above=1),
        "charts": charts,
        "level": format_level(get_snapshot(audit.measured[-1]).level) if audit.measured else "",
        "failures": len(audit.failed),
        "table": _describe_table(audit, series, copies),
        "contents": [
            *(
                {"id": chart["id"], "number": str(chart["number"]), "title": chart["label"]}
                for chart in charts
            ),
            {"id": "runs", "number": str(len(charts) + 1), "title": "All audits"},
        ],
    }


def _describe_chart(
    number: int,
    chart: TrendChart,
    series: Sequence[MeasureSeries],
    audit: AuditRuns,
    copies: Mapping[int, Sequence[ReportCopy]],
) -> dict[str, Any]:
    """Describe a chart with the text and the link of each of its points."""
    tooltips = _write_tooltips(series, audit.measured)
    return {
        "id": f"chart-{number}",
        "number": number,
        "label": _capitalise(chart.label),
        "caption": " ".join(_list_captions(chart, series)),
        "drawing": chart,
        "names": [one.model or SAMPLE_NAME for one in series],
        "description": " ".join(describe_series(one) for one in series),
        "points": [
            {"column": column, "title": title, "href": _link_of(run, copies)}
            for column, title, run in zip(chart.columns, tooltips, audit.measured, strict=True)
        ],
        "failures": [
            {"place": place, "title": _describe_failed_run(run), "href": f"#r{run.record.id}"}
            for place, run in zip(chart.failures, audit.failed, strict=True)
        ],
    }


def _list_captions(chart: TrendChart, series: Sequence[MeasureSeries]) -> Iterator[str]:
    """Explain the measure, the direction in which it is better, and what the chart does not show in full."""
    if meaning := describe_measure(chart.measure):
        yield meaning
    if direction := describe_direction(chart.measure):
        yield f"{_capitalise(direction)}."
    if any(reading.is_corrected for one in series for reading in one.known):
        yield "The numbers are overfit-corrected; tooltips also give the raw numbers."
    yield from chart.notes


def _capitalise(text: str) -> str:
    return text[:1].upper() + text[1:]


def _link_of(run: RecordedRun, copies: Mapping[int, Sequence[ReportCopy]]) -> str:
    """Return the link to the web page of a report, else to another format, else to the row of the run."""
    reports = describe_copies(copies[run.record.id], above=1)
    return next((report["href"] for report in reports if report["href"]), f"#r{run.record.id}")


def _write_tooltips(series: Sequence[MeasureSeries], runs: Sequence[RecordedRun]) -> list[str]:
    """Write a tooltip for each run: its period and status, then a line with the number of each model."""
    writer = choose_site_format(series[0].measure, [reading for one in series for reading in one.known])
    names = [_shorten(one.model, _TOOLTIP_NAME) if one.model else SAMPLE_NAME for one in series]
    tooltips = []
    for place, run in enumerate(runs):
        lines = [f"{run.period}: {status_badge(run.record.status)['text']}"]
        for name, one in zip(names, series, strict=True):
            reading = one.readings[place]
            if reading is not None:
                interval = writer.interval(reading.lower, reading.upper)
                raw = f" (raw {writer.number(reading.raw)})" if reading.is_corrected else ""
                lines.append(f"{name} {writer.number(reading.value)} {interval}{raw}".rstrip())
        tooltips.append("\n".join(lines))
    return tooltips


def _describe_failed_run(run: RecordedRun) -> str:
    return f"{run.period}: run failed. {_shorten(run.record.reason, _TOOLTIP_REASON)}".rstrip()


def _shorten(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"


def _describe_table(
    audit: AuditRuns, series: Sequence[MeasureSeries], copies: Mapping[int, Sequence[ReportCopy]]
) -> dict[str, Any]:
    """Describe the table of all runs, the newest first, with the main score of each model."""
    main = get_snapshot(audit.measured[-1]).main_score if audit.measured else ""
    scores = [one for one in series if one.measure == main and one.model]
    writer = choose_site_format(main, [reading for one in scores for reading in one.known])
    places = {run.record.id: place for place, run in enumerate(audit.measured)}
    rows = []
    for run in reversed(audit.runs):
        place = places.get(run.record.id)
        readings = [None if place is None else one.readings[place] for one in scores]
        values = ["" if reading is None else writer.number(reading.value) for reading in readings]
        rows.append(_describe_run(run, values, copies[run.record.id]))
    zone = _take_zone(rows)
    return {
        "zone": zone,
        "score": ", ".join(filter(None, (scores[0].label, describe_direction(main)))) if scores else "",
        "models": [one.model for one in scores],
        "rows": rows,
    }


def _take_zone(rows: Sequence[dict[str, Any]]) -> str:
    """Remove the zone from all times if they share one, and return it for the column header."""
    zones = {row["ran"].rpartition(" ")[2] for row in rows}
    if zones != {_ZONE}:
        return ""
    for row in rows:
        row["ran"] = row["ran"].removesuffix(f" {_ZONE}")
    return _ZONE


def _list_reasons(run: RecordedRun) -> Iterator[str]:
    """List why a run failed, or why it does not count."""
    if run.record.reason:
        yield run.record.reason
    if run.annulment is not None:
        yield f"Annulled by record {run.annulment.id}: {run.annulment.reason}"
    if run.is_ahead:
        yield _FUTURE_PERIOD


def _describe_run(run: RecordedRun, scores: Sequence[str], copies: Sequence[ReportCopy]) -> dict[str, Any]:
    record = run.record
    drifted = dict.fromkeys(drift.label for drift in record.drifts if drift.has_drifted)
    return {
        "id": record.id,
        "period": run.period,
        "attempt": record.attempt,
        "ran": format_time(record.finished),
        "status": status_badge(record.status),
        "reason": " ".join(_list_reasons(run)),
        "rows": format_count(record.rows) if run.has_numbers else "",
        "scores": scores,
        "drift": ", ".join(drifted) or ("none" if record.drifts else ""),
        "reports": describe_copies(copies, above=1),
        "hash": run.sha256[:_HASH_LENGTH],
    }
