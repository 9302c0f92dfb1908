"""The end of a report: limitations, provenance and the block for signatures."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import format_time
from scorereport.report.section_parts import SectionContent, join_software, label_facts, split_paragraphs

if TYPE_CHECKING:
    from scorereport.history.trend.drift_records import Trend
    from scorereport.report.provenance import Provenance
    from scorereport.report.report_record import Report
    from scorereport.report.repository import Revision
    from scorereport.results.model_records import EvaluationSettings

#: How an engine sorted the rows.
_ENGINES = {"duckdb": "DuckDB, rows sorted on disk", "spark": "Spark, rows sorted on a cluster"}
#: Whether files differed from the commit, if it was determined.
_STATES = {
    True: "with uncommitted changes",
    False: "without changes",
    None: "and it could not be determined whether files differ from it",
}
_ROLES = {"Prepared by": "author", "Reviewed by": "reviewer", "Approved by": "approver"}


def describe_limitations_section(report: Report) -> SectionContent:
    """What the author says, what the evaluation noticed, and what nobody else has checked."""
    told, certificate = report.configuration.texts, report.certificate
    return SectionContent(
        name="limitations",
        title="Limitations and interpretation",
        content={
            "limitations": split_paragraphs(told.limitations),
            "notes": list(report.evaluation.notes),
            "left_out": "" if certificate is None else "; ".join(certificate.left_out),
        },
    )


def describe_provenance_section(report: Report, templates_sha256: str = "") -> SectionContent:
    """Where the numbers and the pages come from, so that somebody else can make them again."""
    evaluation = report.evaluation
    facts = {
        **_describe_run(report.provenance, templates_sha256),
        **_describe_origin(report.origin),
        "Certificate made": "" if report.certificate is None else format_time(report.certificate.time),
        "Data": evaluation.data.source,
        "SHA-256 of the file": evaluation.data.file_sha256,
        "SHA-256 of the columns used": evaluation.data.sha256,
        "SHA-256 of the results": evaluation.sha256,
        "SHA-256 of results.json": hashlib.sha256(report.to_json().encode()).hexdigest(),
        "Configuration": report.configuration_source.name,
        "SHA-256 of the configuration": report.configuration.sha256,
        "Options that override it": ", ".join(f"`{name}`" for name in report.overridden),
        "SHA-256 of the templates": templates_sha256,
        **_describe_engine(evaluation.settings),
        "Computed with": join_software(evaluation.software),
        "Rendered with": join_software(report.provenance.software),
        "Machine": report.provenance.machine,
        **_describe_audit(report.trend),
    }
    return SectionContent(
        name="provenance",
        title="Provenance",
        content={"facts": label_facts(facts), "is_spark": evaluation.settings.engine == "spark"},
    )


def _describe_engine(settings: EvaluationSettings) -> dict[str, str]:
    """Where draws start or, if nothing is drawn, who sorted the rows."""
    if settings.engine == "memory":
        return {"Seed": str(settings.seed)}
    return {"Engine": f"{_ENGINES[settings.engine]}; nothing is drawn at random"}


def _describe_run(trace: Provenance, templates_sha256: str) -> dict[str, str]:
    return {
        "Time": format_time(trace.time),
        "Command": f"`{trace.command}`" if trace.command else "",
        "First rendered with": _earlier_templates(trace, templates_sha256),
        "Commit": "" if trace.revision is None else _describe_revision(trace.revision),
    }


def _describe_origin(origin: Provenance | None) -> dict[str, str]:
    """Where results come from that were reported before, under another configuration."""
    if origin is None:
        return {}
    return {
        "Results first reported": f"{format_time(origin.time)}, under another configuration",
        "by the command": f"`{origin.command}`" if origin.command else "",
    }


def _earlier_templates(trace: Provenance, templates_sha256: str) -> str:
    is_same = trace.templates_sha256 in ("", templates_sha256)
    return "" if is_same else f"other templates, SHA-256 {trace.templates_sha256}"


def _describe_audit(trend: Trend | None) -> dict[str, str]:
    """What was audited; and the last record before it, by which one can tell whether it was changed since."""
    if trend is None:
        return {}
    before = f"record {trend.last_id}, SHA-256 {trend.last_sha256}" if trend.last_id else "no records"
    return {
        "Audit": trend.audit,
        "As of": trend.as_of,
        "Days of the audit": trend.period.describe(),
        "Time zone": trend.time_zone,
        "History before it": before,
    }


def _describe_revision(revision: Revision) -> str:
    return f"{revision.commit}, {_STATES[revision.is_changed]}"


def describe_sign_off_section(report: Report) -> SectionContent:
    """Places for three names, dates and signatures."""
    people = report.configuration.people
    rows: list[dict[str, Any]] = []
    for label, role in _ROLES.items():
        person = getattr(people, role)
        known = [] if person is None else [person.name, person.role, person.organisation]
        name, *details = known or [""]
        rows.append({"label": label, "name": name, "details": ", ".join(filter(None, details))})
    return SectionContent(name="sign-off", title="Sign-off", content={"rows": rows})
