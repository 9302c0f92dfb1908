"""A report put together: which sections there are, and the numbers of sections, tables and figures."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import counted, format_time, join_words
from scorereport._utils.progress import steps
from scorereport.report.section_parts import make_facts
from scorereport.report.sections.calibration_section import describe_calibration
from scorereport.report.sections.certificate import describe_certificate_section
from scorereport.report.sections.checklist import describe_checklists
from scorereport.report.sections.checkpoint_section import describe_checkpoints_section
from scorereport.report.sections.class_calibration import describe_class_calibration
from scorereport.report.sections.closing_sections import (
    describe_limitations,
    describe_provenance,
    describe_sign_off,
)
from scorereport.report.sections.comparison import describe_comparison
from scorereport.report.sections.data import describe_data_section
from scorereport.report.sections.data_section import describe_class_data
from scorereport.report.sections.decision_section import describe_decision_section
from scorereport.report.sections.decomposition import describe_decomposition
from scorereport.report.sections.decomposition_section import describe_class_decomposition
from scorereport.report.sections.discrimination import describe_discrimination
from scorereport.report.sections.discrimination_section import describe_class_discrimination
from scorereport.report.sections.group_section import describe_groups_section, describe_time_section
from scorereport.report.sections.methods_section import describe_methods
from scorereport.report.sections.model import describe_model_section
from scorereport.report.sections.performance import describe_performance
from scorereport.report.sections.performance_section import describe_class_performance
from scorereport.report.sections.recalibration import describe_recalibration
from scorereport.report.sections.retention_section import describe_retention_section
from scorereport.report.sections.scale_section import describe_scale_section
from scorereport.report.sections.summary_section import describe_light, describe_summary
from scorereport.report.sections.trend_section import describe_trend_section

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from scorereport.configuration import Person
    from scorereport.history.trend.drift_records import Trend
    from scorereport.report.report_record import Report
    from scorereport.report.section_parts import Section

#: More names than these would not fit into a title.
_MODELS_IN_A_TITLE = 3
#: A name with more letters would not fit into a title either.
_LETTERS_IN_A_TITLE = 40
#: Places that every report has, beside the sections.
_FIXED = {
    "section_cover": {"text": "Cover", "id": "cover"},
    "section_contents": {"text": "Contents", "id": "contents"},
}
#: All sections but the last, which must know which others there are, in reading order.
_DESCRIBERS: dict[str, Callable[[Report], Section | None]] = {
    "summary": describe_summary,
    "model": describe_model_section,
    "data": describe_data_section,
    "methods": describe_methods,
    "performance": describe_performance,
    "calibration": describe_calibration,
    "discrimination": describe_discrimination,
    "decomposition": describe_decomposition,
    "decision": describe_decision_section,
    "retention": describe_retention_section,
    "scale": describe_scale_section,
    "comparison": describe_comparison,
    "groups": describe_groups_section,
    "time": describe_time_section,
    "trend": describe_trend_section,
    "recalibration": describe_recalibration,
    "checkpoints": describe_checkpoints_section,
    "certificate": describe_certificate_section,
    "limitations": describe_limitations,
    "provenance": describe_provenance,
    "sign-off": describe_sign_off,
}


def _describe_nothing(_report: Report) -> None:
    """A section that models of K classes do not have."""


#: Sections that are others for models of K classes.
_OF_CLASSES: dict[str, Callable[[Report], Section | None]] = {
    "data": describe_class_data,
    "performance": describe_class_performance,
    "calibration": describe_class_calibration,
    "discrimination": describe_class_discrimination,
    "decomposition": describe_class_decomposition,
    "decision": _describe_nothing,
    "recalibration": _describe_nothing,
}


def describe_report(report: Report, *, templates_sha256: str = "") -> dict[str, Any]:
    """All that the templates of a report place."""
    sections = _number_sections(list(_describe_sections(report, templates_sha256)))
    labels = _number_parts(sections)
    return {
        "title": name_report(report),
        "created": report.provenance.time,
        "cover": _describe_cover(report),
        "verdict": describe_light(report),
        "contents": [{name: section[name] for name in ("id", "number", "title")} for section in sections],
        "sections": sections,
        "labels": labels,
        "running": _describe_running(report),
    }


def _describe_sections(report: Report, templates_sha256: str) -> Iterator[Section]:
    """Sections that have content and are wanted."""
    omitted = report.configuration.report.omit
    describers = _DESCRIBERS | ({} if report.evaluation.kind == "binary" else _OF_CLASSES)
    describers |= {"provenance": partial(describe_provenance, templates_sha256=templates_sha256)}
    wanted = [describe for name, describe in describers.items() if name not in omitted]
    present = []
    for describe in steps(wanted, len(wanted), "drawing"):
        if (section := describe(report)) is not None:
            present.append(section.name)
            yield section
    if "checklist" not in omitted:
        annex = describe_checklists(report, present)
        if annex is not None:
            yield annex


def _number_sections(sections: Sequence[Section]) -> list[dict[str, Any]]:
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
    """Number tables and figures through the whole report; return how to refer to them and to sections."""
    labels = _FIXED | {
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
    """The title of the configuration, or one made of the names of the models; of an audit with its period."""
    title = report.configuration.report.title or _name_models(report)
    return title if report.trend is None else f"{title}, {report.trend.period.label}"


def _name_models(report: Report) -> str:
    names = [result.model for result in report.evaluation.results]
    if len(names) > _MODELS_IN_A_TITLE or max(map(len, names)) > _LETTERS_IN_A_TITLE:
        return f"Evaluation of {counted(len(names), 'model')}"
    return f"Evaluation of {join_words(names)}"


def _describe_cover(report: Report) -> dict[str, Any]:
    """What identifies the document, and who answers for it."""
    told, model, people = report.configuration.report, report.configuration.model, report.configuration.people
    facts = {
        "Report": told.number,
        "Version": told.version,
        "Date": format_time(report.provenance.time),
        "Model": ", version ".join(filter(None, (model.name, model.version))),
        "Outcome": report.configuration.data.outcome or report.evaluation.data.outcome,
        **_describe_audit(report.trend),
        "Period": report.configuration.data.period or _describe_period(report.trend),
        "Prepared by": _name(people.author),
        "Reviewed by": _name(people.reviewer),
        "Approved by": _name(people.approver),
        "Confidentiality": told.confidentiality,
    }
    return {"organisation": told.organisation, "subtitle": told.subtitle, "facts": make_facts(facts)}


def _describe_audit(trend: Trend | None) -> dict[str, str]:
    return {} if trend is None else {"Audit": trend.audit, "As of": trend.as_of}


def _describe_period(trend: Trend | None) -> str:
    """The days of an audit, in the time zone in which they begin."""
    if trend is None:
        return ""
    return f"{trend.period.describe()}{f' ({trend.time_zone})' if trend.time_zone else ''}"


def _name(person: Person | None) -> str:
    if person is None:
        return ""
    return ", ".join(filter(None, (person.name, person.role, person.organisation)))


def _describe_running(report: Report) -> str:
    """What the head of every page says beside the title."""
    told = report.configuration.report
    period = "" if report.trend is None else f"{report.trend.audit} {report.trend.period.label}".strip()
    parts = (told.number, f"version {told.version}" if told.version else "", told.confidentiality, period)
    return ", ".join(filter(None, parts)) or format_time(report.provenance.time)[:10]
