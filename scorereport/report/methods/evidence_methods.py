"""Methods of the comparison with earlier audits: evidence, its alarm line, and confidence sequences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_alarm_line, format_level, format_plain
from scorereport.report.methods.method_entries import method_entry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.history.trend.evidence_records import TrendEvidence
    from scorereport.report.methods.method_entries import MethodEntry
    from scorereport.report.report_record import Report


def list_evidence_methods(report: Report) -> Iterator[MethodEntry]:
    """Yield the methods of evidence that an audit used; nothing for other reports and for tests."""
    if report.trend is None or report.trend.evidence is None or "trend" in report.configuration.report.omit:
        return
    evidence = report.trend.evidence
    kinds = {series.hypothesis for series in evidence.series}
    if "calibration" in kinds:
        yield method_entry("evidence", f"Here δ = {format_plain(evidence.tolerance)}.")
    if "baseline" in kinds:
        yield method_entry("baseline evidence")
    if "limit" in kinds:
        yield method_entry("limit evidence")
    if kinds - {"difference"}:
        yield method_entry("detector", _state_line(evidence))
    if len(evidence.standings) > 1:
        yield method_entry("model set", f"Here α = {format_plain(evidence.alpha)}.")
    if evidence.sequences:
        level = format_level(evidence.sequences[0].level)
        yield method_entry("confidence sequence", f"Here 1 − α = {level}.")


def _state_line(evidence: TrendEvidence) -> str:
    lines = dict.fromkeys(format_alarm_line(series.alarm_at) for series in evidence.series)
    given = f"Here α = {format_plain(evidence.alpha)}, L = {evidence.looks}"
    return f"{given}, and A is {' or '.join(lines)}."
