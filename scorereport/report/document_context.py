"""Studies and certificates as plain dictionaries of text for templates.

A table has a `caption`, a `look`, `heads` and `bodies`; a body has a `title`, `rows`, and a `note` that
explains them; a row has an `aside` and `cells` of `text`, with a `kind` that determines their layout.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import format_count, format_time
from scorereport.plots.study_figures import describe_study_figure, plot_study_figure
from scorereport.reference.comparison_records import Comparison, Verdict
from scorereport.report.section_parts import (
    draw_parts,
    figure_part,
    join_software,
    label_facts,
    split_paragraphs,
)
from scorereport.report.tables.reference_tables import (
    LISTED_UNEXPECTED,
    expected_table,
    summary_table,
    tables_by_subject,
    unexpected_table,
    view_comparison_table,
)
from scorereport.report.verdict_labels import count_verdicts, describe_certification, describe_study_verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from scorereport.reference.reference_documents import (
        Attempt,
        Certificate,
        Study,
        StudyFigure,
        StudySection,
    )


def describe_study(study: Study) -> dict[str, Any]:
    """Return the context of the validation report."""
    facts = {
        "Date": format_time(study.time),
        "Random cases": f"{format_count(study.cases)}, seed {study.seed}",
        "Software": join_software(study.software),
    }
    sections = [_describe_section(number, section) for number, section in enumerate(study.sections, start=1)]
    _number_tables(sections)
    _number_figures(sections)
    draw_parts(_list_figures(sections))
    return {
        "title": "Validation of scorereport",
        "created": study.time,
        "verdict": describe_study_verdict(study),
        "facts": label_facts(facts),
        "contents": [_describe_entry(section) for section in sections],
        "sections": sections,
    }


def describe_certificate(certificate: Certificate) -> dict[str, Any]:
    """Return the context of a certificate: verdict, facts, comparisons, and references that failed."""
    lines = _name_sources(certificate.comparisons)
    facts = {
        "Compared with": certificate.reference or "nothing",
        "Date": format_time(certificate.time),
        "Software": join_software(certificate.software),
        "Rows": format_count(certificate.rows),
        "SHA-256 of the data": certificate.sha256,
        "SHA-256 of the results": certificate.results_sha256,
    }
    return {
        "verdict": describe_certification(certificate),
        "facts": label_facts(facts),
        "attempts": [_describe_attempt(attempt) for attempt in certificate.attempts],
        "left_out": "; ".join(certificate.left_out),
        "notes": list(certificate.notes),
        "counts": count_verdicts(lines),
        "unexpected": unexpected_table(lines, listed=LISTED_UNEXPECTED),
        "views": view_comparison_table(lines),
        "expected": expected_table([line for line in lines if line.verdict is Verdict.EXPECTED]),
        "summary": summary_table(lines) if lines else None,
    }


def _name_sources(lines: Sequence[Comparison]) -> list[Comparison]:
    """Add the reference to the quantity of each line whose reference is not that of the first line."""
    main = lines[0].source if lines else ""
    return [line if line.source in {"", main} else _name_source(line) for line in lines]


def _name_source(line: Comparison) -> Comparison:
    quantity, colon, part = line.quantity.partition(":")
    return replace(line, quantity=f"{quantity} ({line.source}){colon}{part}")


def _describe_section(number: int, section: StudySection) -> dict[str, Any]:
    tables = tables_by_subject(section.comparisons)
    body = {
        "paragraphs": split_paragraphs(section.text),
        "counts": count_verdicts(section.comparisons),
        "unexpected": unexpected_table(section.comparisons),
        "tables": tables,
        "figures": _place_figures(section.figures, tables),
        "remark": f"{format_count(len(section.unexpected))} unexpected" if section.unexpected else "",
    }
    return _numbered(number, section.title, body)


def _place_figures(figures: Sequence[StudyFigure], tables: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give each table the figures of its subject; return those that have no table of their own."""
    drawn: dict[str, list[dict[str, Any]]] = {}
    for figure in figures:
        caption = f"{figure.subject}, {figure.title}. {figure.caption}"
        part = figure_part(plot_study_figure, describe_study_figure(figure), figure, caption=caption)
        drawn.setdefault(figure.subject, []).append(part)
    for table in tables:
        table["figures"] = drawn.pop(table["caption"], [])
    return [part for parts in drawn.values() for part in parts]


def _number_figures(sections: Sequence[dict[str, Any]]) -> None:
    """Number the figures through the whole document, in reading order."""
    for number, figure in enumerate(_list_figures(sections), start=1):
        figure |= {"id": f"figure-{number}", "name": f"Figure {number}"}


def _list_figures(sections: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the figures of all sections, in reading order."""
    for section in sections:
        for holder in (*section["tables"], section):
            yield from holder["figures"]


def _number_tables(sections: Sequence[dict[str, Any]]) -> None:
    """Number the tables through the whole document, in reading order."""
    tables = (table for section in sections for table in (section["unexpected"], *section["tables"]) if table)
    for number, table in enumerate(tables, start=1):
        table |= {"id": f"table-{number}", "name": f"Table {number}"}


def _numbered(number: int, title: str, body: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": f"section-{number}", "number": str(number), "title": title, **body}


def _describe_entry(section: Mapping[str, Any]) -> dict[str, str]:
    """Return a line of the contents, with a remark on unexpected differences in that section."""
    return {name: section.get(name, "") for name in ("id", "number", "title", "remark")}


def _describe_attempt(attempt: Attempt) -> dict[str, str]:
    """Describe an attempt; a remedy without backticks is a command as a whole."""
    remedy = attempt.remedy
    command = f"`{remedy}`" if remedy and "`" not in remedy else remedy
    return {"reference": attempt.reference, "reason": attempt.reason, "remedy": command}
