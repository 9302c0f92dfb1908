"""Facts about the history that all pages state, and the numbers for machines in `audits.json`.

Numbers have six figures; the records of the history have all. What is not finite is null.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import format_counted, format_time
from scorereport.audit.site.audit_runs import get_snapshot
from scorereport.audit.site.measure_series import BOUNDS, collect_series
from scorereport.audit.site.site_files import FileState
from scorereport.history.verification_findings import Verification

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from scorereport.audit.site.audit_runs import RecordedRun
    from scorereport.audit.site.measure_series import MeasuredValue, MeasureSeries
    from scorereport.audit.site.site_files import ReportCopy
    from scorereport.audit.site.status_board import BoardEntry


#: So many findings are named; more of them are counted.
_MOST_FINDINGS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteFacts:
    """What all pages of a site know: its title, when it was made, and the state of the history."""

    title: str
    time: str
    records: int
    last_id: int
    last_sha256: str
    verification: Verification | None

    @property
    def is_intact(self) -> bool | None:
        """Whether the history is as it was written; None if nobody looked."""
        return None if self.verification is None else not self.verification.findings


def list_site_facts(facts: SiteFacts) -> list[dict[str, str]]:
    """When the site was made, and of which history, as lines of a list."""
    last = f"number {facts.last_id}, SHA-256 {facts.last_sha256}" if facts.records else "none"
    found = [
        {"label": "This page was made", "text": format_time(facts.time)},
        {"label": "Last record", "text": last},
    ]
    return [*found, {"label": "History", "text": describe_history(facts)}]


def describe_history(facts: SiteFacts) -> str:
    """Whether the records are those that were written, in a sentence."""
    if facts.verification is None:
        return f"Chain of {format_counted(facts.records, 'record')}; nobody has verified it for this page."
    found = len(facts.verification.findings)
    checked = f"{format_counted(facts.verification.records, 'record')} and {format_counted(facts.verification.files, 'file')}"
    if found:
        return f"Not intact: {format_counted(found, 'finding')} in a chain of {checked} on {format_time(facts.time)}."
    return f"Chain of {checked} verified on {format_time(facts.time)}."


def list_findings(facts: SiteFacts) -> list[str]:
    """What is not as it was recorded, and what could not be looked at; long lists are cut, and say so."""
    if facts.verification is None:
        return []
    told = [finding.sentence for finding in facts.verification.findings]
    more = len(told) - _MOST_FINDINGS
    rest = (
        [f"And {format_counted(more, 'more finding')}; `scorereport audit verify` lists all."]
        if more > 0
        else []
    )
    return [*told[:_MOST_FINDINGS], *rest, *facts.verification.warnings, *facts.verification.notes]


DATA_VERSION = 1


def render_data(
    facts: SiteFacts, entries: Sequence[BoardEntry], copies: Mapping[int, Sequence[ReportCopy]]
) -> str:
    """All audits as one document; `series` have a number for each of those `runs` that is `measured`."""
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
    measured = entry.audit.measured
    return {
        "audit": entry.audit.name,
        "page": entry.audit.address,
        "status": entry.newest.record.status,
        "is_in_breach": entry.is_in_breach,
        "numbers_are_old": entry.is_old,
        "main_score": get_snapshot(measured[-1]).main_score if measured else None,
        "measured": [run.record.id for run in measured],
        "series": [_describe_series(one) for one in collect_series(measured)],
        "runs": [_describe_run(run, copies[run.record.id]) for run in entry.audit.runs],
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
    optional = {"reason": record.reason, "absent": absent, "drifted": drifted}
    described["files"] = list(described["files"])
    return described | {name: value for name, value in optional.items() if value}
