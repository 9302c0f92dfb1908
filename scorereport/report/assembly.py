"""Assembly of a report: its sections, with numbers of sections, tables and figures."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import format_counted, format_time, join_words
from scorereport._utils.progress import steps
from scorereport.report.section_parts import label_facts
from scorereport.report.sections.calibration_section import (
    describe_calibration_section,
    describe_class_calibration_section,
)
from scorereport.report.sections.checkpoint_section import describe_checkpoints_section
from scorereport.report.sections.closing_sections import (
    describe_certificate_section,
    describe_checklists_section,
    describe_limitations_section,
    describe_provenance_section,
    describe_sign_off_section,
)
from scorereport.report.sections.data_section import (
    describe_class_data_section,
    describe_data_section,
    describe_model_section,
)
from scorereport.report.sections.decision_section import (
    describe_decision_section,
    describe_recalibration_section,
)
from scorereport.report.sections.decomposition_section import (
    describe_class_decomposition_section,
    describe_decomposition_section,
)
from scorereport.report.sections.discrimination_section import (
    describe_class_discrimination_section,
    describe_discrimination_section,
)
from scorereport.report.sections.group_section import describe_groups_section, describe_time_section
from scorereport.report.sections.methods_section import describe_methods_section
from scorereport.report.sections.performance_section import (
    describe_class_performance_section,
    describe_comparison_section,
    describe_performance_section,
)
from scorereport.report.sections.retention_section import describe_retention_section
from scorereport.report.sections.scale_section import describe_scale_section
from scorereport.report.sections.summary_section import describe_overall_verdict, describe_summary_section
from scorereport.report.sections.trend_section import describe_trend_section

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from scorereport.configuration import Person
    from scorereport.history.trend.drift_records import Trend
    from scorereport.report.report_record import Report
    from scorereport.report.section_parts import SectionContent

#: Most names that fit into a title.
_MODELS_IN_A_TITLE = 3
#: Longest name that fits into a title.
_LONGEST_NAME_IN_A_TITLE = 40
#: Places that every report has in addition to sections.
_FIXED_PLACES = {
    "section_cover": {"text": "Cover", "id": "cover"},
    "section_contents": {"text": "Contents", "id": "contents"},
}
#: All sections in reading order, except the checklists, which depend on the other sections.
_DESCRIBERS: dict[str, Callable[[Report], SectionContent | None]] = {
    "summary": describe_summary_section,
    "model": describe_model_section,
    "data": describe_data_section,
    "methods": describe_methods_section,
    "performance": describe_performance_section,
    "calibration": describe_calibration_section,
    "discrimination": describe_discrimination_section,
    "decomposition": describe_decomposition_section,
    "decision": describe_decision_section,
    "retention": describe_retention_section,
    "scale": describe_scale_section,
    "comparison": describe_comparison_section,
    "groups": describe_groups_section,
    "time": describe_time_section,
    "trend": describe_trend_section,
    "recalibration": describe_recalibration_section,
    "checkpoints": describe_checkpoints_section,
    "certificate": describe_certificate_section,
    "limitations": describe_limitations_section,
    "provenance": describe_provenance_section,
    "sign-off": describe_sign_off_section,
}


def _describe_nothing(_report: Report) -> None:
    """Return None, for sections that models of K classes do not have."""


#: Sections that differ for models of K classes.
_CLASS_DESCRIBERS: dict[str, Callable[[Report], SectionContent | None]] = {
    "data": describe_class_data_section,
    "performance": describe_class_performance_section,
    "calibration": describe_class_calibration_section,
    "discrimination": describe_class_discrimination_section,
    "decomposition": describe_class_decomposition_section,
    "decision": _describe_nothing,
    "recalibration": _describe_nothing,
}


def describe_report(report: Report, *, templates_sha256: str = "") -> dict[str, Any]:
    """Return the context of the templates of a report."""
    sections = _number_sections(list(_describe_sections(report, templates_sha256)))
    labels = _number_parts(sections)
    return {
        "title": name_report(report),
        "created": report.provenance.time,
        "cover": _describe_cover(report),
        "verdict": describe_overall_verdict(report),
        "contents": [{name: section[name] for name in ("id", "number", "title")} for section in sections],
        "sections": sections,
        "labels": labels,
        "running": _describe_running(report),
    }


def _describe_sections(report: Report, templates_sha256: str) -> Iterator[SectionContent]:
    """Yield the sections that have content and are not omitted."""
    omitted = report.configuration.report.omit
    describers = _DESCRIBERS | ({} if report.evaluation.kind == "binary" else _CLASS_DESCRIBERS)
    describers |= {"provenance": partial(describe_provenance_section, templates_sha256=templates_sha256)}
    included = [describe for name, describe in describers.items() if name not in omitted]
    present = []
    for describe in steps(included, len(included), "drawing"):
        if (section := describe(report)) is not None:
            present.append(section.name)
            yield section
    if "checklist" not in omitted:
        annex = describe_checklists_section(report, present)
        if annex is not None:
            yield annex


def _number_sections(sections: Sequence[SectionContent]) -> list[dict[str, Any]]:
    return [
        {
            **section.content,
            "name": section.name,
            "id": section.name,
            "number": str(number),
            "title": section.title,
            "parts": dict(section.parts),
            "template": section.template or f"sections/{section.name}.html",
        }
        for number, section in enumerate(sections, start=1)
    ]


def _number_parts(sections: Sequence[dict[str, Any]]) -> dict[str, dict[str, str]]:
    """Number tables and figures through the report; return labels for references to parts and sections."""
    labels = _FIXED_PLACES | {
        f"section_{s['name']}": {"text": f"Section {s['number']}", "id": s["id"]} for s in sections
    }
    counts = {"table": 0, "figure": 0}
    for section in sections:
        for key, part in section["parts"].items():
            kind = part["kind"]
            counts[kind] += 1
            part |= {"id": f"{kind}-{counts[kind]}", "name": f"{kind.capitalize()} {counts[kind]}"}
            labels[key] = {"text": part["name"], "id": part["id"]}
    return labels


def name_report(report: Report) -> str:
    """Return the configured title, or one from the names of the models; for an audit with its period."""
    title = report.configuration.report.title or _name_models(report)
    return title if report.trend is None else f"{title}, {report.trend.period.label}"


def _name_models(report: Report) -> str:
    names = [result.model for result in report.evaluation.results]
    if len(names) > _MODELS_IN_A_TITLE or max(map(len, names)) > _LONGEST_NAME_IN_A_TITLE:
        return f"Evaluation of {format_counted(len(names), 'model')}"
    return f"Evaluation of {join_words(names)}"


def _describe_cover(report: Report) -> dict[str, Any]:
    """Return the facts of the cover: identification of the document, and people responsible."""
    configuration = report.configuration
    stated, model, people = configuration.report, configuration.model, configuration.people
    facts = {
        "Report": stated.number,
        "Version": stated.version,
        "Date": format_time(report.provenance.time),
        "Model": ", version ".join(filter(None, (model.name, model.version))),
        "Outcome": report.configuration.data.outcome or report.evaluation.data.outcome,
        **_describe_audit(report.trend),
        "Period": report.configuration.data.period or _describe_period(report.trend),
        "Prepared by": _name(people.author),
        "Reviewed by": _name(people.reviewer),
        "Approved by": _name(people.approver),
        "Confidentiality": stated.confidentiality,
    }
    return {"organisation": stated.organisation, "subtitle": stated.subtitle, "facts": label_facts(facts)}


def _describe_audit(trend: Trend | None) -> dict[str, str]:
    return {} if trend is None else {"Audit": trend.audit, "As of": trend.as_of}


def _describe_period(trend: Trend | None) -> str:
    """Return the days of an audit with their time zone; empty outside audits."""
    if trend is None:
        return ""
    return f"{trend.period.describe()}{f' ({trend.time_zone})' if trend.time_zone else ''}"


def _name(person: Person | None) -> str:
    if person is None:
        return ""
    return ", ".join(filter(None, (person.name, person.role, person.organisation)))


def _describe_running(report: Report) -> str:
    """Return the text beside the title at the head of every page."""
    stated = report.configuration.report
    period = "" if report.trend is None else f"{report.trend.audit} {report.trend.period.label}".strip()
    parts = (
        stated.number,
        f"version {stated.version}" if stated.version else "",
        stated.confidentiality,
        period,
    )
    return ", ".join(filter(None, parts)) or format_time(report.provenance.time)[:10]
