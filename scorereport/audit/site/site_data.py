"""The numbers of the pages for machines: `audits.json`.

Numbers have six figures; the records of the history have all. What is not finite is null.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from scorereport.audit.site.audit_runs import get_snapshot
from scorereport.audit.site.facts import describe_history
from scorereport.audit.site.measure_series import BOUNDS, collect_series
from scorereport.audit.site.site_files import FileState

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from scorereport.audit.site.audit_runs import RecordedRun
    from scorereport.audit.site.facts import SiteFacts
    from scorereport.audit.site.measure_series import MeasuredValue, MeasureSeries
    from scorereport.audit.site.site_files import ReportCopy
    from scorereport.audit.site.status_board import BoardEntry

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
