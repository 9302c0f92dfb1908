"""The annex of checklists: where the report answers each item, and what is missing."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scorereport._utils.documentation import DocumentationPage, cite_page
from scorereport._utils.formatting import format_counted, join_words
from scorereport.report.checklists import ItemStatus, fill_checklist
from scorereport.report.section_declaration import Profile, Section
from scorereport.report.section_parts import SectionContent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scorereport.report.checklists import Checklist, ChecklistLine
    from scorereport.report.report_record import Report


def describe_checklists_section(
    report: Report, present: Sequence[str], further: Mapping[str, str]
) -> SectionContent | None:
    """Describe all checklists, each item with the sections that answer it; None if there are none.

    `further` has the titles of sections that only the full report has, by name.
    """
    checklists = report.shown_checklists
    if not checklists:
        return None
    if report.evaluation.kind != "binary":
        checklists = tuple(map(_move_decisions, checklists))
    return SectionContent(
        content={
            "glossary": cite_page(DocumentationPage.GLOSSARY),
            "lists": [_describe_checklist(report, checklist, present, further) for checklist in checklists],
        },
    )


def _describe_checklist(
    report: Report, checklist: Checklist, present: Sequence[str], further: Mapping[str, str]
) -> dict[str, Any]:
    configuration, engine = report.configuration, report.evaluation.settings.engine
    filled = fill_checklist(checklist, configuration, present, _find_evidence(report), further)
    return {
        "title": configuration.checklist.names.get(checklist.name, checklist.title),
        "source": checklist.source,
        "counts": _count_items(filled),
        "lines": [_describe_line(_explain(line, engine), further) for line in filled],
    }


def _count_items(lines: Sequence[ChecklistLine]) -> str:
    """Count the items of each status that occurs."""
    counts = Counter(line.status for line in lines)
    parts = [f"{counts[status]} {status}" for status in ItemStatus if counts[status]]
    return f"{format_counted(len(lines), 'item')}: {join_words(parts)}."


def _explain(line: ChecklistLine, engine: str) -> ChecklistLine:
    """Add the reason why there is no recalibration, if the engine could not try it."""
    if engine == "memory" or "recalibration" not in line.missing_sections:
        return line
    return replace(line, reason=f"{line.reason}; recalibration can be tried only on rows in memory")


def _move_decisions(checklist: Checklist) -> Checklist:
    """Refer decisions to the section on performance, which has their costs with K classes."""
    items = [
        replace(item, sections=tuple("performance" if name == "decision" else name for name in item.sections))
        for item in checklist.items
    ]
    return replace(checklist, items=tuple(items))


def _find_evidence(report: Report) -> list[str]:
    """Return the kinds of evidence that the report contains."""
    certificate, models = report.certificate, report.evaluation.models
    found = {
        "intervals": report.evaluation.settings.infers,
        "verification": certificate is not None and certificate.current_verdict != "not checked",
        "grades": any(model.calibration is not None and model.calibration.grades for model in models),
    }
    return [name for name, is_found in found.items() if is_found]


def _describe_line(line: ChecklistLine, further: Mapping[str, str]) -> dict[str, Any]:
    titles = [further[name] for name in line.further_sections]
    return {
        "number": line.number,
        "text": line.text,
        "status": line.status,
        "sections": list(line.sections),
        "reason": line.reason,
        "further": f"{ItemStatus.IN_FULL_REPORT}: {join_words(titles)}" if titles else "",
    }


CHECKLIST = Section(
    name="checklist",
    title="Annex: checklists",
    order=220,
    describe=describe_checklists_section,
    profile=Profile.SUMMARY,
    needs=("present", "further"),
)
