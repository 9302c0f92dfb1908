"""Tables of evidence: of a trend in the report, and of a record on the terminal."""

from __future__ import annotations

from math import isnan, nan
from typing import TYPE_CHECKING, NamedTuple

from scorereport._utils.formatting import format_alarm_line, format_count, format_evidence, shortest
from scorereport.history.trend.evidence_sentences import format_bound, label_measure
from scorereport.report.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scorereport.history.audit_record import Record
    from scorereport.history.trend.drift_records import Trend
    from scorereport.history.trend.evidence_records import Evidence, EvidenceSeries, TrendEvidence

_HEADS = ("model", "against", "this audit", "since the first", "for a change", "alarm line", "verdict")
#: Most rows of the table in a report; the results document has all of them.
_MOST_ROWS = 30


class _EvidenceRow(NamedTuple):
    """Evidence against one hypothesis, as logarithms."""

    found: EvidenceSeries | Evidence
    factor: float
    product: float
    detector: float


def evidence_table(trend: Trend) -> Table | None:
    """Table of the evidence of an audit and of all so far, alarms first; None if there is none."""
    if trend.evidence is None or not trend.evidence.series:
        return None
    series = order_series(trend.evidence)
    shown = [_read_series(one, trend.period.label) for one in series[:_MOST_ROWS]]
    rest = f" The {_MOST_ROWS} of {format_count(len(series))} hypotheses with the most evidence."
    return Table(
        caption="Evidence of this audit, of all audits since the first one, and for a change at some audit, "
        f"which raises an alarm at the alarm line.{rest if len(series) > _MOST_ROWS else ''}",
        heads=_HEADS,
        rows=tuple(_write_row(row) for row in shown),
        n_labels=2,
    )


def record_evidence_table(record: Record) -> Table | None:
    """Table of the evidence in a record; None if it has none."""
    if record.evidence is None or not record.evidence.evidence:
        return None
    return Table(
        caption="Evidence: of this audit, of all audits since the first one, and for a change at some audit",
        heads=_HEADS,
        rows=tuple(
            _write_row(_EvidenceRow(one, one.log_factor, one.log_product, one.log_detector))
            for one in order_evidence(record.evidence.evidence)
        ),
        n_labels=2,
    )


def order_evidence(found: Iterable[Evidence]) -> list[Evidence]:
    """Return the evidence of a record, alarms first, then the strongest; differences of models last."""
    return sorted(found, key=lambda one: _rank(one, one.log_detector))


def order_series(evidence: TrendEvidence) -> list[EvidenceSeries]:
    """Return the series with the gravest first: alarms, then by evidence; differences of models last."""
    known = [series for series in evidence.series if series.points]
    return sorted(known, key=lambda series: _rank(series, series.points[-1].log_detector))


def _rank(found: EvidenceSeries | Evidence, detector: float) -> tuple[bool, bool, float]:
    """Return what evidence is sorted by; no order depends on the last bit."""
    return found.hypothesis == "difference", not found.is_alarm, -round(detector, 9)


def _read_series(series: EvidenceSeries, period: str) -> _EvidenceRow:
    """Return the evidence of a series; that of this audit is what its product gained."""
    last, before = series.points[-1], series.points[-2:-1]
    gained = last.log_product - sum(point.log_product for point in before)
    return _EvidenceRow(series, gained if last.period == period else nan, last.log_product, last.log_detector)


def _write_row(row: _EvidenceRow) -> tuple[str, ...]:
    found = row.found
    odds = ("" if isnan(row.factor) else format_evidence(row.factor), format_evidence(row.product))
    if found.hypothesis == "difference":
        return found.model, name_shortly(found), *odds, "", "", ""
    verdict = "alarm" if found.is_alarm else "no alarm"
    alarm = format_alarm_line(found.alarm_at)
    return found.model, name_shortly(found), *odds, format_evidence(row.detector), alarm, verdict


def name_shortly(found: EvidenceSeries | Evidence) -> str:
    """Name a hypothesis in a few words, for a cell of a table."""
    if found.hypothesis == "calibration":
        return f"calibration ± {shortest(found.bound)}" if found.bound > 0 else "exact calibration"
    if found.hypothesis == "baseline":
        return "baseline"
    label = label_measure(found.measure)
    if found.hypothesis == "difference":
        return f"{label} no higher than that of {found.other}"
    return f"{label} {'≤' if found.is_upper else '≥'} {format_bound(found.measure, found.bound)}"
