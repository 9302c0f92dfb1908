"""Facts about the history that all pages state, and the machine-readable numbers in `audits.json`.

Numbers are rounded to six significant digits; the records of the history have all digits. Numbers that are
not finite are null.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import format_counted, format_time
from scorereport.audit.audit_status import NOT_RUN
from scorereport.audit.site.audit_runs import get_snapshot
from scorereport.audit.site.limit_events import list_limit_events
from scorereport.audit.site.measure_series import collect_runs
from scorereport.audit.site.site_files import FileState
from scorereport.history.verification_findings import Verification
from scorereport.plots.trend_picture import BOUNDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from scorereport.audit.site.audit_runs import RecordedRun
    from scorereport.audit.site.site_files import ReportCopy
    from scorereport.audit.site.status_board import BoardEntry
    from scorereport.history.trend.evidence_records import ConfidenceSequence, EvidenceSeries, TrendEvidence
    from scorereport.plots.trend_picture import MeasuredValue, MeasureSeries


DATA_VERSION = 1
#: The largest number of findings that are listed; the rest is counted.
_MOST_FINDINGS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteFacts:
    """Facts for all pages of a site: its title, when it was written, and the state of the history."""

    title: str
    time: str
    records: int
    last_id: int
    last_sha256: str
    verification: Verification | None

    @property
    def is_intact(self) -> bool | None:
        """Whether the history is as it was written; None if it was not verified."""
        return None if self.verification is None else not self.verification.findings


def list_site_facts(facts: SiteFacts) -> list[dict[str, str]]:
    """Return when the site was written and from which history, as a list of labels and texts."""
    last = f"number {facts.last_id}, SHA-256 {facts.last_sha256}" if facts.records else "none"
    found = [
        {"label": "This page was written", "text": format_time(facts.time)},
        {"label": "Last record", "text": last},
    ]
    return [*found, {"label": "History", "text": describe_history(facts)}]


def describe_history(facts: SiteFacts) -> str:
    """Describe in a sentence whether the history is intact."""
    verification = facts.verification
    if verification is None:
        return f"Chain of {format_counted(facts.records, 'record')}; not verified for this page."
    records, files = (
        format_counted(verification.records, "record"),
        format_counted(verification.files, "file"),
    )
    checked, time = f"{records} and {files}", format_time(facts.time)
    if verification.findings:
        found = format_counted(len(verification.findings), "finding")
        return f"Not intact: {found} in a chain of {checked} on {time}."
    return f"Chain of {checked} verified on {time}."


def list_findings(facts: SiteFacts) -> list[str]:
    """List findings, warnings and notes of the verification; a long list of findings is cut, with a note."""
    if facts.verification is None:
        return []
    sentences = [finding.sentence for finding in facts.verification.findings]
    more = len(sentences) - _MOST_FINDINGS
    rest = (
        [f"And {format_counted(more, 'more finding')}; `scorereport audit verify` lists all."]
        if more > 0
        else []
    )
    return [*sentences[:_MOST_FINDINGS], *rest, *facts.verification.warnings, *facts.verification.notes]


def render_data(
    facts: SiteFacts, entries: Sequence[BoardEntry], copies: Mapping[int, Sequence[ReportCopy]]
) -> str:
    """Return all audits as one JSON document; a series has a number for each run listed in `measured`."""
    document = {
        "version": DATA_VERSION,
        "title": facts.title,
        "made": facts.time,
        "records": facts.records,
        "last_record": {"id": facts.last_id, "sha256": facts.last_sha256},
        "history": {"text": describe_history(facts), "is_intact": facts.is_intact},
        "audits": [_describe_entry(entry, copies) for entry in entries],
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def _describe_entry(entry: BoardEntry, copies: Mapping[int, Sequence[ReportCopy]]) -> dict[str, Any]:
    measured, state = entry.audit.measured, entry.audit.state
    return {
        "audit": entry.audit.name,
        "page": entry.audit.address,
        "status": NOT_RUN if entry.audit.is_missing else entry.newest.record.status,
        "due": None if state is None or state.period is None else state.period.label,
        "is_in_breach": entry.is_in_breach,
        "numbers_are_old": entry.is_old,
        "main_score": get_snapshot(measured[-1]).main_score if measured else None,
        "measured": [run.record.id for run in measured],
        "series": [_describe_series(one) for one in collect_runs(measured)],
        "runs": [_describe_run(run, copies[run.record.id]) for run in entry.audit.runs],
        "limits": list_limit_events(entry.audit),
        "annulments": [_describe_annulment(run) for run in entry.audit.annulments],
        "evidence": _describe_evidence(entry.audit.evidence),
    }


def _describe_annulment(run: RecordedRun) -> dict[str, Any]:
    record = run.record
    return {
        "id": record.id,
        "sha256": run.sha256,
        "annuls": record.annuls,
        "reason": record.reason,
        "finished": record.finished,
    }


def _describe_evidence(evidence: TrendEvidence | None) -> dict[str, Any] | None:
    """Describe evidence as natural logarithms, confidence sequences, and the standings of models."""
    if evidence is None:
        return None
    return {
        "alpha": evidence.alpha,
        "looks": evidence.looks,
        "tolerance": evidence.tolerance,
        "is_alarming": evidence.is_alarming,
        "series": [_describe_evidence_series(one) for one in evidence.series],
        "sequences": [_describe_sequence(one) for one in evidence.sequences],
        "measure": evidence.measure,
        "standings": [
            {"model": one.model, "log_evidence": _round(one.log_evidence), "left": one.left or None}
            for one in evidence.standings
        ],
        "notes": list(evidence.notes),
    }


def _describe_evidence_series(series: EvidenceSeries) -> dict[str, Any]:
    return {
        "model": series.model,
        "other": series.other or None,
        "hypothesis": series.hypothesis,
        "measure": series.measure or None,
        "bound": _round(series.bound),
        "is_upper": series.is_upper,
        "alarm_at": _round(series.alarm_at),
        "is_alarm": series.is_alarm,
        "sentence": series.sentence,
        "period": [point.period for point in series.points],
        "log_product": [_round(point.log_product) for point in series.points],
        "log_detector": [_round(point.log_detector) for point in series.points],
    }


def _describe_sequence(sequence: ConfidenceSequence) -> dict[str, Any]:
    return {
        "model": sequence.model,
        "measure": sequence.measure,
        "level": sequence.level,
        "period": [point.period for point in sequence.points],
        "estimate": [_round(point.estimate) for point in sequence.points],
        "lower": [_round(point.lower) for point in sequence.points],
        "upper": [_round(point.upper) for point in sequence.points],
    }


def _describe_series(series: MeasureSeries) -> dict[str, Any]:
    newest = next((reading.judgement for reading in reversed(series.known) if reading.judgement), None)
    return {
        "measure": series.measure,
        "model": series.model,
        "label": series.label,
        "limits": None if newest is None else {name: getattr(newest, name) for name, _, _ in BOUNDS},
        "value": _column(series.readings, "value"),
        "lower": _column(series.readings, "lower"),
        "upper": _column(series.readings, "upper"),
    }


def _column(readings: Iterable[MeasuredValue | None], name: str) -> list[float | None]:
    return [None if reading is None else _round(getattr(reading, name)) for reading in readings]


def _round(value: float) -> float | None:
    return float(f"{value:.6g}") if math.isfinite(value) else None


def _describe_run(run: RecordedRun, copies: Sequence[ReportCopy]) -> dict[str, Any]:
    record = run.record
    described: dict[str, Any] = {
        "id": record.id,
        "sha256": run.sha256,
        "period": [record.period.label, record.period.start, record.period.end],
        "finished": record.finished,
        "status": record.status,
        "rows": record.rows,
        "files": {copy.target: copy.state for copy in copies if copy.state is FileState.THERE},
    }
    absent = {copy.file.name: copy.state for copy in copies if copy.state is not FileState.THERE}
    drifted = [[drift.model, drift.measure] for drift in record.drifts if drift.has_drifted]
    annulled = None if run.annulment is None else run.annulment.id
    optional = {
        "reason": record.reason,
        "certificate": record.current_certificate,
        "absent": absent,
        "drifted": drifted,
        "is_ahead": run.is_ahead,
        "annulled_by": annulled,
    }
    described["files"] = list(described["files"])
    return described | {name: value for name, value in optional.items() if value}
