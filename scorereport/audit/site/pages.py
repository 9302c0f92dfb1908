"""Template contexts of the pages: texts, links and chart coordinates."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import format_count, format_counted, format_level
from scorereport.audit.site.audit_runs import SITE_FEED, AuditRuns, RecordedRun, get_snapshot
from scorereport.audit.site.entry_texts import (
    CERTIFICATE_KEYS,
    SAMPLE_NAME,
    STATUS_KEYS,
    describe_copies,
    describe_entry,
    describe_series,
    run_badge,
    status_badge,
)
from scorereport.audit.site.evidence_charts import align_sequences
from scorereport.audit.site.evidence_texts import describe_audit_evidence, explain_sequences
from scorereport.audit.site.limit_events import describe_limit_events
from scorereport.audit.site.measure_series import (
    choose_site_format,
    collect_runs,
    describe_direction,
    describe_measure,
)
from scorereport.audit.site.run_tables import describe_tables
from scorereport.audit.site.site_data import list_findings, list_site_facts
from scorereport.audit.site.status_board import BoardEntry, build_board
from scorereport.audit.site.trend_charts import build_charts, frame_days
from scorereport.history.audit_record import AuditStatus
from scorereport.history.trend.evidence_records import SequencePoint

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import date

    from scorereport._utils.formatting import MeasureFormat
    from scorereport.audit.site.site_data import SiteFacts
    from scorereport.audit.site.site_files import ReportCopy
    from scorereport.audit.site.trend_charts import ChartColumn, Sequences, TrendChart
    from scorereport.plots.trend_picture import MeasuredValue, MeasureSeries

#: How many characters are shown of a name or a reason in a tooltip.
_TOOLTIP_NAME, _TOOLTIP_REASON = 36, 160
#: Up to this many audits the tables of models are open at first, and names are listed without letters.
_MOST_OPEN, _MOST_WITHOUT_LETTERS = 12, 24


# ---- The board ----


def describe_index(
    facts: SiteFacts, entries: Sequence[BoardEntry], copies: Mapping[int, Sequence[ReportCopy]]
) -> dict[str, Any]:
    """Describe the status board of all audits."""
    described = [describe_entry(entry, copies) for entry in entries]
    return {
        "title": facts.title,
        "created": facts.time,
        "feed": {"href": SITE_FEED, "title": facts.title},
        "verdict": _describe_board(entries, facts),
        "facts": list_site_facts(facts),
        "is_intact": facts.is_intact,
        "findings": list_findings(facts),
        "entries": described,
        "is_long": len(described) > _MOST_OPEN,
        "filters": _list_filters_of(described),
        "letters": group_by_letter(described),
        "models": _index_models(described),
    }


def _describe_board(entries: Sequence[BoardEntry], facts: SiteFacts) -> dict[str, Any]:
    """Describe how many audits there are, and how many of them need attention."""
    breached = sum(entry.is_in_breach for entry in entries)
    failed = sum(entry.has_failed for entry in entries)
    uncertified = sum(entry.newest.record.status is AuditStatus.UNCERTIFIED for entry in entries)
    alarming = sum(bool(entry.audit.evidence and entry.audit.evidence.is_alarming) for entry in entries)
    missing = sum(entry.audit.is_missing for entry in entries)
    unclear = sum(
        not entry.audit.is_missing and run_badge(entry.newest)["tone"] == "open" for entry in entries
    )
    problems = (
        (facts.is_intact is False, "The history is not intact: see below."),
        (failed, f"The last run of {format_counted(failed, 'audit')} failed; the numbers shown are older."),
        (uncertified, f"The numbers of R differ in {format_counted(uncertified, 'audit')}."),
        (missing, f"{format_counted(missing, 'audit')} due and not run; the numbers shown are older."),
        (alarming, f"Evidence raised an alarm in {format_counted(alarming, 'audit')}."),
        (unclear, f"{format_counted(unclear, 'audit')} with a warning or an inconclusive verdict."),
    )
    is_bad = breached or any(found for found, _ in problems[:3])
    is_open = any(found for found, _ in problems)
    tone, mark = ("bad", "✗") if is_bad else ("open", "!") if is_open else ("good", "✓")
    return {
        "label": "",
        "tone": tone,
        "mark": mark,
        "sentence": f"{format_counted(len(entries), 'audit')}, {breached or 'none'} in breach of a limit",
        "details": [text for found, text in problems if found],
    }


def _list_filters_of(described: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    items = [(one["key"], one["status"], one["needs_attention"]) for one in described]
    return list_filters(items, [one["certificate"] for one in described if one["certificate"]])


def list_filters(
    items: Sequence[tuple[str, Mapping[str, str], bool]], certificates: Sequence[Mapping[str, str]] = ()
) -> list[dict[str, Any]]:
    """List the filters of a list: all, those that need attention, and each status and certificate in it.

    Items have a key, a badge, and whether they need attention; `certificates` are badges. There is none by
    status or certificate if one is shared.
    """
    statuses = {key: badge["text"] for key, badge, _ in items}
    verdicts = {badge["key"]: f"R certificate {badge['text']}" for badge in certificates}
    shown = _count_choices(STATUS_KEYS, statuses, [key for key, _, _ in items])
    shown += _count_choices(CERTIFICATE_KEYS, verdicts, [badge["key"] for badge in certificates], prefix="r-")
    if not shown:
        return []
    urgent = sum(is_urgent for _, _, is_urgent in items)
    first = [("all", "all", len(items)), ("attention", "needs attention", urgent)]
    return [{"key": key, "text": text, "count": format_count(n)} for key, text, n in (*first, *shown)]


def _count_choices(
    order: Sequence[str], texts: Mapping[str, str], keys: Sequence[str], *, prefix: str = ""
) -> list[tuple[str, str, int]]:
    """Return key, text and number of items of each choice that occurs, in a given order; none if one only."""
    if len(texts) < 2:
        return []
    return [(f"{prefix}{key}", texts[key], keys.count(key)) for key in order if key in texts]


def group_by_letter(entries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Group audits by the first letter of their names, in order of name; a few audits are one group."""
    ordered = sorted(entries, key=lambda entry: (entry["name"].casefold(), entry["name"]))
    if len(ordered) <= _MOST_WITHOUT_LETTERS:
        return [{"letter": "", "entries": ordered}] if ordered else []
    grouped = groupby(ordered, key=lambda entry: entry["name"][:1].upper())
    return [{"letter": letter, "entries": list(group)} for letter, group in grouped]


def _index_models(entries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """List the models in order of name, each with its audits; none if there is one audit only."""
    audits: dict[str, list[dict[str, Any]]] = {}
    for entry in sorted(entries, key=lambda entry: (entry["name"].casefold(), entry["name"])):
        for row in entry["models"]:
            if not row["is_sample"]:
                audits.setdefault(row["model"], []).append(entry)
    ordered = sorted(audits.items(), key=lambda item: (item[0].casefold(), item[0]))
    return [{"model": model, "entries": own} for model, own in ordered] if len(entries) > 1 else []


# ---- The page of an audit ----


def describe_audit(
    facts: SiteFacts, audit: AuditRuns, copies: Mapping[int, Sequence[ReportCopy]]
) -> dict[str, Any]:
    """Describe the page of one audit: its status, evidence, trend charts, and the tables of all its runs."""
    series = collect_runs(audit.measured)
    charts = _describe_charts(series, audit, copies)
    evidence = _describe_evidence(audit, copies)
    (entry,) = build_board([audit])
    tables, limit_events = describe_tables(audit, series, copies), describe_limit_events(audit)
    return {
        "title": audit.name,
        "site": facts.title,
        "created": facts.time,
        "feed": {"href": audit.feed_beside, "title": f"{audit.name} · {facts.title}"},
        "entry": describe_entry(entry, copies, above=1),
        "evidence": evidence,
        "charts": charts,
        "level": format_level(get_snapshot(audit.measured[-1]).level) if audit.measured else "",
        "sequences": explain_sequences(audit.evidence),
        "failures": len(audit.failed),
        "limit_events": limit_events,
        "table": tables,
        "filters": _list_filters_of(tables["rows"]),
        "contents": _list_contents(evidence, charts, has_limit_events=bool(limit_events)),
    }


def _list_contents(
    evidence: dict[str, Any] | None, charts: Sequence[dict[str, Any]], *, has_limit_events: bool
) -> list[dict[str, str]]:
    named = [("evidence", "Evidence")] if evidence is not None else []
    named += [(chart["id"], chart["label"]) for chart in charts]
    named += [("limits", "Changes of limits")] if has_limit_events else []
    return [
        {"id": name, "number": str(number), "title": title}
        for number, (name, title) in enumerate([*named, ("runs", "All audits")], 1)
    ]


def _describe_charts(
    series: Sequence[MeasureSeries], audit: AuditRuns, copies: Mapping[int, Sequence[ReportCopy]]
) -> list[dict[str, Any]]:
    sequences = align_sequences(audit.evidence, [run.record.period.label for run in audit.measured])
    drawn = build_charts(series, *_list_days(audit), sequences)
    return [
        _describe_chart(
            number, chart, [one for one in series if one.measure == chart.measure], audit, copies, sequences
        )
        for number, chart in enumerate(drawn, 1)
    ]


def _list_days(audit: AuditRuns) -> tuple[list[date], list[date]]:
    return [run.day for run in audit.measured], [run.day for run in audit.failed]


def _describe_evidence(audit: AuditRuns, copies: Mapping[int, Sequence[ReportCopy]]) -> dict[str, Any] | None:
    """Describe the section on evidence; None if the audit has none."""
    if audit.evidence is None or not audit.measured:
        return None
    periods = [run.record.period.label for run in audit.measured]
    described = describe_audit_evidence(audit.evidence, periods, frame_days(*_list_days(audit)))
    for chart in described["charts"] if described else ():
        for part in filter(None, (chart, chart["more"])):
            part.update(_link_columns(part["drawing"], part.pop("tooltips"), audit, copies))
    return described


def _describe_chart(
    number: int,
    chart: TrendChart,
    series: Sequence[MeasureSeries],
    audit: AuditRuns,
    copies: Mapping[int, Sequence[ReportCopy]],
    sequences: Sequences,
) -> dict[str, Any]:
    """Describe a chart with the text and the link of each of its points."""
    return {
        "id": f"chart-{number}",
        "label": _capitalise(chart.label),
        "caption": " ".join(_list_captions(chart, series)),
        "drawing": chart,
        "names": [one.model or SAMPLE_NAME for one in series],
        "description": " ".join(describe_series(one) for one in series),
        "has_sequence": any(lane.sequence for lane in chart.lanes),
        **_link_columns(chart, _write_tooltips(chart, series, sequences), audit, copies),
    }


def _link_columns(
    chart: TrendChart,
    tooltips: Sequence[Sequence[str]],
    audit: AuditRuns,
    copies: Mapping[int, Sequence[ReportCopy]],
) -> dict[str, Any]:
    """Return the points of a chart with their tooltips and links, and those of the failed runs."""
    runs = audit.measured
    return {
        "points": [
            {
                "column": column,
                "title": "\n".join([_describe_column(column, runs), *lines]),
                "href": _link_of(runs[column.index], copies),
            }
            for column, lines in zip(chart.columns, tooltips, strict=True)
        ],
        "failures": [
            {"place": place, "title": _describe_failed_run(run), "href": f"#r{run.record.id}"}
            for place, run in zip(chart.failures, audit.failed, strict=True)
        ],
    }


def _describe_column(column: ChartColumn, runs: Sequence[RecordedRun]) -> str:
    """Describe the audit of a column, and how many audits share the column."""
    run = runs[column.index]
    shared = f" (last of {column.count} audits here)" if column.count > 1 else ""
    return f"{run.period}{shared}: {status_badge(run.record.status)['text']}"


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


def _write_tooltips(
    chart: TrendChart, series: Sequence[MeasureSeries], sequences: Sequences
) -> list[list[str]]:
    """Write the lines of the tooltip of each column: the number of each model."""
    writer = choose_site_format(series[0].measure, [reading for one in series for reading in one.known])
    named = [
        (
            _shorten(one.model, _TOOLTIP_NAME) if one.model else SAMPLE_NAME,
            one.readings,
            sequences.get((one.measure, one.model)),
        )
        for one in series
    ]
    return [
        [
            f"{name} {_write_reading(reading, writer)}{_write_mean(sequence and sequence[index], writer)}"
            for name, readings, sequence in named
            if (reading := readings[index]) is not None
        ]
        for index in (column.index for column in chart.columns)
    ]


def _write_reading(reading: MeasuredValue, writer: MeasureFormat) -> str:
    interval = writer.interval(reading.lower, reading.upper)
    raw = f" (raw {writer.number(reading.raw)})" if reading.is_corrected else ""
    return f"{writer.number(reading.value)} {interval}{raw}".rstrip()


def _write_mean(point: SequencePoint | Sequence[object] | None, writer: MeasureFormat) -> str:
    if not isinstance(point, SequencePoint):
        return ""
    return f"; so far {writer.number(point.estimate)} {writer.interval(point.lower, point.upper)}"


def _describe_failed_run(run: RecordedRun) -> str:
    return f"{run.period}: run failed. {_shorten(run.record.reason, _TOOLTIP_REASON)}".rstrip()


def _shorten(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"
