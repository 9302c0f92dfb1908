"""The annex: which item of which checklist is answered where."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scorereport.report.checklists import fill_checklist
from scorereport.report.section_parts import SectionContent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.report.checklists import Checklist, ChecklistLine
    from scorereport.report.report_record import Report


def describe_checklists_section(report: Report, present: Sequence[str]) -> SectionContent | None:
    """All checklists of the report, each item with the sections that answer it; None if there are none."""
    if not report.checklists:
        return None
    names, evidence = report.configuration.checklist.names, _find_evidence(report)
    checklists = report.checklists
    if report.evaluation.kind != "binary":
        checklists = tuple(map(_move_decisions, checklists))
    return SectionContent(
        name="checklist",
        title="Annex: checklists",
        content={
            "lists": [
                {
                    "title": names.get(checklist.name, checklist.title),
                    "source": checklist.source,
                    "lines": [
                        _describe_line(_explain(line, report.evaluation.settings.engine))
                        for line in fill_checklist(checklist, report.configuration, present, evidence)
                    ],
                }
                for checklist in checklists
            ]
        },
    )


def _explain(line: ChecklistLine, engine: str) -> ChecklistLine:
    """Say why there is no recalibration, if it could not be tried."""
    if engine == "memory" or "recalibration" not in line.missing_sections:
        return line
    return replace(line, reason=f"{line.reason}; it can be tried only on rows in memory")


def _move_decisions(checklist: Checklist) -> Checklist:
    """Of K classes the worth of decisions, their cost, stands in the section on performance."""
    items = [
        replace(item, sections=tuple("performance" if name == "decision" else name for name in item.sections))
        for item in checklist.items
    ]
    return replace(checklist, items=tuple(items))


def _find_evidence(report: Report) -> list[str]:
    """What the sections really have to offer."""
    certificate = report.certificate
    has_intervals = report.evaluation.settings.resamples > 0
    is_verified = certificate is not None and certificate.verdict != "not certified"
    return ["intervals"] * has_intervals + ["verification"] * is_verified


def _describe_line(line: ChecklistLine) -> dict[str, Any]:
    return {
        "number": line.number,
        "text": line.text,
        "status": line.status,
        "sections": list(line.sections),
        "reason": line.reason,
    }
