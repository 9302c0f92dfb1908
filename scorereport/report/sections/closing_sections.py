"""The closing sections: certificate, conclusion, limitations, provenance, sign-off."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import format_time
from scorereport.report.document_context import describe_certificate
from scorereport.report.seal_content import describe_seal_state
from scorereport.report.section_declaration import Profile, Section
from scorereport.report.section_parts import SectionContent, join_software, label_facts, split_paragraphs
from scorereport.report.tables.overview import has_draws

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scorereport.history.trend.drift_records import Trend
    from scorereport.reference.reference_documents import Certificate
    from scorereport.report.provenance import Provenance, Revision
    from scorereport.report.report_record import Report
    from scorereport.results.evaluation import Evaluation


#: How an engine sorted the rows.
_ENGINES = {"duckdb": "DuckDB, rows sorted on disk", "spark": "Spark, rows sorted on a cluster"}
#: Whether files differed from the commit, if it was determined.
_STATES = {
    True: "with uncommitted changes",
    False: "without changes",
    None: "and it could not be determined whether files differ from it",
}
#: What the shortest report states about its origin; results.json has the rest.
_SHORT_FACTS = (
    *("Time", "SHA-256 of the columns used", "SHA-256 of the results", "SHA-256 of results.json"),
    *("SHA-256 of the configuration", "Audit", "History before it"),
)
_ROLES = {"Prepared by": "author", "Reviewed by": "reviewer", "Approved by": "approver"}


def describe_conclusion_section(report: Report) -> SectionContent | None:
    """Describe the conclusion of the author, and changes since the last report; None without both."""
    texts, author = report.configuration.texts, report.configuration.people.author
    if not (texts.conclusion or texts.changes):
        return None
    return SectionContent(
        content={
            "author": "" if author is None else author.name,
            "conclusion": split_paragraphs(texts.conclusion),
            "changes": split_paragraphs(texts.changes),
        },
    )


def _is_short(report: Report) -> bool:
    """Whether a report has only what fits on three pages."""
    return report.configuration.report.profile == Profile.SUMMARY


def describe_limitations_section(report: Report) -> SectionContent:
    """Describe the author's limitations, the notes of the evaluation, and what the certificate leaves out."""
    texts, certificate = report.configuration.texts, report.certificate
    left_out = () if certificate is None or _is_short(report) else certificate.left_out
    return SectionContent(
        content={
            "limitations": split_paragraphs(texts.limitations),
            "notes": list(report.evaluation.notes),
            "left_out": "; ".join(left_out),
        },
    )


def describe_provenance_section(report: Report, templates_sha256: str = "") -> SectionContent:
    """Describe the origin of numbers and pages, so that others can reproduce them."""
    evaluation = report.evaluation
    facts = {
        **_describe_run(report.provenance, templates_sha256),
        **_describe_origin(report.origin),
        "Certificate computed": "" if report.certificate is None else format_time(report.certificate.time),
        "Data": evaluation.data.source,
        "SHA-256 of the file": evaluation.data.file_sha256,
        "SHA-256 of the columns used": evaluation.data.sha256,
        "SHA-256 of the results": report.results_sha256 or evaluation.sha256,
        "SHA-256 of results.json": hashlib.sha256(report.to_json().encode()).hexdigest(),
        "Configuration": report.configuration_source.name,
        "SHA-256 of the configuration": report.configuration.sha256,
        "Options that override it": ", ".join(f"`{name}`" for name in report.overridden),
        "SHA-256 of the templates": templates_sha256,
        **_describe_engine(evaluation),
        "Computed with": join_software(evaluation.software),
        "Rendered with": join_software(report.provenance.software),
        "Machine": report.provenance.machine,
        **_describe_audit(report.trend),
        "Sealed forecasts": describe_seal_state(report),
    }
    return SectionContent(
        content={
            "facts": label_facts(_shorten(facts) if _is_short(report) else facts),
            "is_short": _is_short(report),
            "is_spark": evaluation.settings.engine == "spark",
            "section_options": report.section_options,
        },
    )


def _shorten(facts: Mapping[str, str]) -> dict[str, str]:
    return {label: facts[label] for label in _SHORT_FACTS if label in facts}


def _describe_engine(evaluation: Evaluation) -> dict[str, str]:
    """Return how an engine sorted the rows, and the seed of what was drawn at random."""
    settings = evaluation.settings
    if settings.engine == "memory":
        return {"Seed": str(settings.seed)}
    if has_draws(evaluation):
        return {"Engine": _ENGINES[settings.engine], "Seed": str(settings.seed)}
    return {"Engine": f"{_ENGINES[settings.engine]}; nothing is drawn at random"}


def _describe_run(trace: Provenance, templates_sha256: str) -> dict[str, str]:
    return {
        "Time": format_time(trace.time),
        "Command": f"`{trace.command}`" if trace.command else "",
        "First rendered with": _earlier_templates(trace, templates_sha256),
        "Commit": "" if trace.revision is None else _describe_revision(trace.revision),
    }


def _describe_origin(origin: Provenance | None) -> dict[str, str]:
    """Describe the first report of results that were reported before, under another configuration."""
    if origin is None:
        return {}
    return {
        "Results first reported": f"{format_time(origin.time)}, under another configuration",
        "First reported by": f"`{origin.command}`" if origin.command else "",
    }


def _earlier_templates(trace: Provenance, templates_sha256: str) -> str:
    is_same = trace.templates_sha256 in ("", templates_sha256)
    return "" if is_same else f"other templates, SHA-256 {trace.templates_sha256}"


def _describe_audit(trend: Trend | None) -> dict[str, str]:
    """Describe the audit, and the hash of the record before it, which reveals later changes to it."""
    if trend is None:
        return {}
    before = f"record {trend.last_id}, SHA-256 {trend.last_sha256}" if trend.last_id else "no records"
    return {
        "Audit": trend.audit,
        "As of": trend.as_of,
        "Hours of the audit" if trend.period.is_hourly else "Days of the audit": trend.period.describe(),
        "Time zone": trend.time_zone,
        "History before it": before,
    }


def _describe_revision(revision: Revision) -> str:
    return f"{revision.commit}, {_STATES[revision.is_changed]}"


def describe_sign_off_section(report: Report) -> SectionContent:
    """Describe the places for three names, dates and signatures."""
    people = report.configuration.people
    rows: list[dict[str, Any]] = []
    for label, role in _ROLES.items():
        person = getattr(people, role)
        known = [] if person is None else [person.name, person.role, person.organisation]
        name, *details = known or [""]
        rows.append({"label": label, "name": name, "details": ", ".join(filter(None, details))})
    return SectionContent(content={"rows": rows})


_BY_VIEWS = (
    "The comparison covers binary views: each class against the rest and, if classes are ordered, the "
    "classes up to each threshold; together these views make up the scores of all classes."
)


def describe_certificate_section(report: Report) -> SectionContent | None:
    """Describe the certificate: differences in full, agreement in a summary; None without a certificate."""
    if report.certificate is None:
        return None
    described = describe_certificate(report.certificate)
    tables = [described.pop(name) for name in ("unexpected", "views", "expected", "summary")]
    parts = {
        f"certificate_{place}": {"kind": "table", **table}
        for place, table in enumerate(filter(None, tables), start=1)
    }
    return SectionContent(
        parts=parts,
        content={
            "certificate": described,
            "keys": list(parts),
            "introduction": _introduce(
                report.certificate, has_classes=report.evaluation.data.classes is not None
            ),
        },
    )


def _introduce(certificate: Certificate, *, has_classes: bool) -> str:
    """State what the certificate covers."""
    if certificate.current_verdict == "not checked":
        return (
            "No other software has recomputed the numbers of this report on these data; this section gives "
            "the reason."
        )
    what = "scores, components, bins and bands"
    if not has_classes:
        what += ", calibration, intervals, tests, decisions and comparisons"
    text = (
        f"Other software has recomputed {what} of this report on the same data; quantities that it has not "
        "recomputed are listed below."
    )
    return f"{text} {_BY_VIEWS}" if has_classes else text


CERTIFICATE = Section(
    name="certificate",
    title="R certificate",
    order=180,
    describe=describe_certificate_section,
)


CONCLUSION = Section(
    name="conclusion",
    title="Conclusion of the author",
    order=185,
    describe=describe_conclusion_section,
    profile=Profile.SUMMARY,
)


LIMITATIONS = Section(
    name="limitations",
    title="Limitations and interpretation",
    order=190,
    describe=describe_limitations_section,
    profile=Profile.SUMMARY,
)


PROVENANCE = Section(
    name="provenance",
    title="Provenance",
    order=200,
    describe=describe_provenance_section,
    profile=Profile.SUMMARY,
    needs=("templates_sha256",),
)


SIGN_OFF = Section(
    name="sign-off",
    title="Sign-off",
    order=210,
    describe=describe_sign_off_section,
    profile=Profile.SUMMARY,
)
