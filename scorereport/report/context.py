"""What documents say: records as plain dictionaries of text, which templates only have to place.

A table has a `caption`, a `look`, `heads` and `bodies`; a body has a `title`, `rows`, and a `note` that
explains them; a row has an `aside` and `cells` of `text`, with a `kind` that decides how they are set.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scorereport.comparison import Comparison, Verdict
from scorereport.formatting import (
    counted,
    format_count,
    format_time,
)
from scorereport.report.comparisons import expected_table, tables_by_subject, unexpected_table
from scorereport.report.results import describe_table
from scorereport.report.verdicts import (
    count_verdicts,
    describe_certification,
    describe_outcome,
    summarize_certificate,
)
from scorereport.tables import describe_bands, describe_data, describe_uncertainty, evaluation_tables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scorereport.evaluation import Evaluation
    from scorereport.findings import Section, Study
    from scorereport.reference.certificate import Attempt, Certificate

#: More names than these would not fit into a title.
_MODELS_IN_A_TITLE = 3


def describe_study(study: Study) -> dict[str, Any]:
    """The whole validation report."""
    facts = {
        "Date": format_time(study.time),
        "Random cases": f"{format_count(study.cases)}, seed {study.seed}",
        "Software": _describe_software(study.software),
    }
    sections = [_describe_section(number, section) for number, section in enumerate(study.sections, start=1)]
    return {
        "title": "Validation of scorereport",
        "created": study.time,
        "verdict": describe_outcome(study),
        "facts": _describe_facts(facts),
        "contents": [_describe_entry(section) for section in sections],
        "sections": sections,
    }


def describe_report(evaluation: Evaluation, certificate: Certificate | None) -> dict[str, Any]:
    """The whole report of an evaluation."""
    data = evaluation.data
    facts = {
        "Data": data.source,
        "Outcome": f"{data.outcome} = {data.positive}",
        "Models": ", ".join(result.model for result in evaluation.models),
        "Software": _describe_software(evaluation.software),
    }
    sections = [
        _numbered(number, title, body)
        for number, (title, body) in enumerate(_describe_evaluation(evaluation).items(), start=1)
    ]
    described = None if certificate is None else describe_certificate(certificate)
    certification = _numbered(len(sections) + 1, "Certificate", {"certificate": described})
    return {
        "title": _title(evaluation),
        "created": "" if certificate is None else certificate.time,
        "verdict": summarize_certificate(described),
        "facts": _describe_facts(facts),
        "contents": [_describe_entry(section) for section in [*sections, certification]],
        "sections": sections,
        "certification": certification,
    }


def describe_certificate(certificate: Certificate) -> dict[str, Any]:
    """What another implementation says of the numbers, and what kept any of them from being asked."""
    lines = _name_sources(certificate.comparisons)
    facts = {
        "Compared with": certificate.reference or "nothing",
        "Date": format_time(certificate.time),
        "Software": _describe_software(certificate.software),
        "Rows": format_count(certificate.rows),
        "SHA-256 of the data": certificate.sha256,
        "SHA-256 of the results": certificate.results_sha256,
    }
    return {
        "verdict": describe_certification(certificate),
        "facts": _describe_facts(facts),
        "attempts": [_describe_attempt(attempt) for attempt in certificate.attempts],
        "left_out": "; ".join(certificate.left_out),
        "counts": count_verdicts(lines),
        "unexpected": unexpected_table(lines),
        "expected": expected_table([line for line in lines if line.verdict is Verdict.EXPECTED]),
        "tables": tables_by_subject(lines),
    }


def _name_sources(lines: Sequence[Comparison]) -> list[Comparison]:
    """Lines that say beside the quantity who else than the first of them was asked."""
    main = lines[0].source if lines else ""
    return [
        line if line.source in {"", main} else replace(line, quantity=f"{line.quantity} ({line.source})")
        for line in lines
    ]


def _describe_section(number: int, section: Section) -> dict[str, Any]:
    body = {
        "paragraphs": _paragraphs(section.text),
        "counts": count_verdicts(section.comparisons),
        "unexpected": unexpected_table(section.comparisons),
        "tables": tables_by_subject(section.comparisons),
        "remark": f"{format_count(len(section.unexpected))} unexpected" if section.unexpected else "",
    }
    return _numbered(number, section.title, body)


def _describe_evaluation(evaluation: Evaluation) -> dict[str, dict[str, Any]]:
    """The sections of a report before the certificate; without those that would be empty."""
    how = (describe_data(evaluation), describe_uncertainty(evaluation))
    findings = [sentence for model in evaluation.models for sentence in describe_bands(model)]
    findings += [curve.sentence for curve in evaluation.comparisons.murphy]
    sections: dict[str, dict[str, Any]] = {
        "Data and method": {"paragraphs": [text for text in how if text]},
        "Results": {"tables": [describe_table(table) for table in evaluation_tables(evaluation)]},
        "Findings": {"sentences": findings},
        "Notes": {"sentences": list(evaluation.notes)},
    }
    empty: dict[str, Any] = {"paragraphs": [], "tables": [], "sentences": []}
    return {title: empty | body for title, body in sections.items() if any(body.values())}


def _numbered(number: int, title: str, body: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": f"section-{number}", "number": str(number), "title": title, **body}


def _describe_entry(section: Mapping[str, Any]) -> dict[str, str]:
    """A line of the contents, with what nobody should miss in that section."""
    return {name: section.get(name, "") for name in ("id", "number", "title", "remark")}


def _describe_facts(facts: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"label": label, "text": text} for label, text in facts.items() if text]


def _describe_software(software: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in software.items())


def _describe_attempt(attempt: Attempt) -> dict[str, str]:
    """An attempt; a remedy that does not tell commands from words is a command as a whole."""
    remedy = attempt.remedy
    command = f"`{remedy}`" if remedy and "`" not in remedy else remedy
    return {"reference": attempt.reference, "reason": attempt.reason, "remedy": command}


def _paragraphs(text: str) -> list[str]:
    return [part.strip() for part in text.split("\n\n") if part.strip()]


def _title(evaluation: Evaluation) -> str:
    names = [result.model for result in evaluation.models]
    if len(names) > _MODELS_IN_A_TITLE:
        return f"Evaluation of {counted(len(names), 'model')}"
    return f"Evaluation of {' and '.join(filter(None, (', '.join(names[:-1]), names[-1])))}"
