"""Assembly of a report: its sections, with numbers of sections, tables and figures."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import format_counted, format_time, join_words
from scorereport.configuration.configuration_tables import FIXED_SECTIONS, Profile
from scorereport.report.repeated_numbers import leave_out_repeats
from scorereport.report.section_parts import draw_parts, label_facts
from scorereport.report.sections import list_sections
from scorereport.report.sections.summary_section import describe_overall_verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from scorereport.configuration import Person
    from scorereport.history.trend.drift_records import Trend
    from scorereport.report.report_record import Report
    from scorereport.report.section_declaration import Section
    from scorereport.report.section_parts import SectionContent

#: Most names that fit into a title.
_MODELS_IN_A_TITLE = 3
#: Longest name that fits into a title.
_LONGEST_NAME_IN_A_TITLE = 40
#: The beginning of the titles of annexes.
_ANNEX = "Annex: "


def describe_report(report: Report, *, templates_sha256: str = "") -> dict[str, Any]:
    """Return the context of the templates of a report, with its figures drawn."""
    context = plan_report(report, templates_sha256=templates_sha256)
    draw_parts(list_parts(context))
    return context


def plan_report(report: Report, *, templates_sha256: str = "") -> dict[str, Any]:
    """Return the context of the templates of a report, with figures that are not drawn yet."""
    included = [section for section in list_sections() if _is_included(section, report)]
    values: dict[str, Any] = {"templates_sha256": templates_sha256, "present": [], "further": {}}
    absent = _list_absent(report, values)
    omitted = report.configuration.report.omit
    values["further"] = {s.name: _name_section(s) for s in absent if s.name not in omitted}
    sections = _number_sections(_describe_sections(included, report, values))
    has_more = _leave_out_parts(included, sections, report)
    leave_out_repeats(sections, report.evaluation.kind)
    labels = _number_parts(sections)
    _place_findings(sections, report.configuration.report.profile)
    return {
        "title": name_report(report),
        "created": report.provenance.time,
        "cover": _describe_cover(report),
        "verdict": describe_overall_verdict(report),
        "extent": _describe_extent(report, absent, has_more=has_more),
        "contents": [{name: section[name] for name in ("id", "number", "title")} for section in sections],
        "sections": sections,
        "labels": labels,
        "running": _describe_running(report),
    }


def list_parts(context: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the tables and figures of all sections in a context."""
    return [part for section in context["sections"] for part in section["parts"].values()]


def _is_included(section: Section, report: Report) -> bool:
    """Whether the profile of a report has a section that is not omitted."""
    table = report.configuration.report
    return section.name not in table.omit and Profile(table.profile).contains(section.profile)


def _describe(section: Section, report: Report, values: Mapping[str, Any]) -> SectionContent | None:
    """Describe a section; None if the models have no such section, or if it has no content."""
    kind = report.evaluation.kind
    needed = {name: values[name] for name in section.needs}
    return section.find_describer(kind)(report, **needed) if kind in section.kinds else None


def _describe_sections(
    included: Iterable[Section], report: Report, values: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """Yield the sections that have content, for their templates, without numbers."""
    for section in included:
        described = _describe(section, report, values)
        if described is not None:
            values["present"].append(section.name)
            yield {
                **described.content,
                "name": section.name,
                "id": section.name,
                "title": section.title,
                "parts": dict(described.parts),
                "at_end": described.at_end,
                "template": section.find_template(report.evaluation.kind),
            }


def _leave_out_parts(included: Iterable[Section], sections: Sequence[dict[str, Any]], report: Report) -> bool:
    """Leave out the parts that only the full report has; return whether there were any."""
    if report.configuration.report.profile == Profile.FULL:
        return False
    patterns = {section.name: section.full_parts for section in included if section.full_parts}
    has_more = False
    for section in sections:
        left_out = [k for k in section["parts"] if re.fullmatch(patterns.get(section["name"], ""), k)]
        section["parts"] = {k: part for k, part in section["parts"].items() if k not in left_out}
        has_more |= bool(left_out)
    return has_more


def _number_sections(sections: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**section, "number": str(number)} for number, section in enumerate(sections, start=1)]


def _number_parts(sections: Sequence[dict[str, Any]]) -> dict[str, dict[str, str]]:
    """Number tables and figures through the report; return labels for references to parts and sections."""
    labels = {f"section_{name}": {"text": name.capitalize(), "id": name} for name in FIXED_SECTIONS}
    labels |= {f"section_{s['name']}": {"text": f"Section {s['number']}", "id": s["id"]} for s in sections}
    counts = {"table": 0, "figure": 0}
    for section in sections:
        for key, part in section["parts"].items():
            kind = part["kind"]
            counts[kind] += 1
            part |= {"id": f"{kind}-{counts[kind]}", "name": f"{kind.capitalize()} {counts[kind]}"}
            labels[key] = {"text": part["name"], "id": part["id"]}
    return labels


def _place_findings(sections: Sequence[dict[str, Any]], profile: str) -> None:
    """Give each section the findings that have no room in the summary and refer to it or to its parts.

    The section on calibration states its verdicts itself. The section on limitations states findings on what
    the report leaves out; the shortest report only counts them.
    """
    stated = {decision.sentence for section in sections for decision in section.get("verdicts", ())}
    others = [finding for section in sections for finding in section.get("other_findings", ())]
    others = [finding for finding in others if finding.text not in stated]
    for section in sections:
        own = {*section["parts"], f"section_{section['name']}"}
        section["findings_here"] = [finding for finding in others if finding.see in own]
    placed = [finding for section in sections for finding in section["findings_here"]]
    for section in sections:
        if section["name"] == "limitations":
            further = [finding for finding in others if finding not in placed]
            section["further"] = format_counted(len(further), "more finding") if further else ""
            section["further_findings"] = [] if profile == Profile.SUMMARY else further


def _list_absent(report: Report, values: Mapping[str, Any]) -> list[Section]:
    """Return the sections with content that the profile does not have, or that are omitted."""
    return [
        section
        for section in list_sections()
        if not _is_included(section, report) and _describe(section, report, values) is not None
    ]


def _describe_extent(report: Report, absent: Sequence[Section], *, has_more: bool) -> list[str]:
    """State the profile of the report, which sections the full report adds, and which are omitted."""
    table = report.configuration.report
    omitted = [section for section in absent if section.name in table.omit]
    others = [section for section in absent if section not in omitted]
    sentences = [f"This is the {table.profile} report."]
    if others:
        figures = "; it also has more figures" if has_more else ""
        sentences[0] += f" The full report adds {_join_titles(others)}{figures}."
        sentences.append("`scorereport report --from results.json --profile full` renders it.")
    if omitted:
        sentences.append(f"Left out on request: {_join_titles(omitted)}.")
    return sentences


def _join_titles(sections: Iterable[Section]) -> str:
    """Join the titles of sections for a sentence, with the annexes last."""
    titles = [section.title for section in sections]
    annexes = [title.removeprefix(_ANNEX) for title in titles if title.startswith(_ANNEX)]
    named = [_lower_first(title) for title in titles if not title.startswith(_ANNEX)]
    noun = "the annex" if len(annexes) == 1 else "the annexes"
    if not (named and annexes):
        return join_words(named) if named else f"{noun} on {join_words(annexes)}"
    return f"{', '.join(named)}, and {noun} on {join_words(annexes)}"


def _name_section(section: Section) -> str:
    """Return the title of a section; that of an annex states that it is one."""
    title = section.title
    return f"annex on {title.removeprefix(_ANNEX)}" if title.startswith(_ANNEX) else title


def _lower_first(title: str) -> str:
    """Return a title as part of a sentence; "R certificate" keeps its capital."""
    return title[0].lower() + title[1:] if title[1].islower() else title


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
