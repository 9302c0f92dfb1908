"""What documents say: records as plain dictionaries of text, which templates only have to place.

A table has a `caption`, a `look`, `heads` and `bodies`; a body has a `title`, `rows`, and a `note` that
explains them; a row has an `aside` and `cells` of `text`, with a `kind` that decides how they are set.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from scorereport.comparison import UNEXPECTED, Comparison, Verdict
from scorereport.formatting import (
    counted,
    format_count,
    format_difference,
    format_time,
    format_value,
)
from scorereport.tables import describe_bands, describe_data, describe_uncertainty, evaluation_tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from scorereport.evaluation import Evaluation
    from scorereport.findings import Section, Study
    from scorereport.reference.certificate import Attempt, Certificate
    from scorereport.tables import Table

#: How a verdict is shown beside its word, so that no one needs colours to read it: a tone, and a sign.
_LOOKS = {
    Verdict.AGREES: ("good", "✓"),
    Verdict.EXPECTED: ("plain", "≈"),
    Verdict.DIFFERS: ("bad", "✗"),
    Verdict.NOT_COMPARED: ("open", "○"),
    Verdict.REPRODUCED: ("good", "✓"),
    Verdict.INCONSISTENT: ("open", "!"),
    Verdict.NOT_REPRODUCIBLE: ("open", "?"),
    Verdict.CONFIRMED: ("good", "✓"),
    Verdict.REFUTED: ("bad", "✗"),
    Verdict.PASSED: ("good", "✓"),
    Verdict.FAILED: ("bad", "✗"),
    Verdict.ABSENT: ("open", "○"),
}
_CERTIFICATE_LOOKS = {"certified": ("good", "✓"), "failed": ("bad", "✗"), "not certified": ("open", "○")}
#: Verdicts on something that nobody looked at.
_OPEN = frozenset({Verdict.NOT_COMPARED, Verdict.ABSENT})
#: From how many lines for each subject on it stands above them, and from how many it has its own table.
_LINES_OF_A_BODY, _LINES_OF_A_TABLE = 2, 8
#: More names than these would not fit into a title.
_MODELS_IN_A_TITLE = 3
#: Up to this many rows a table stays on one page.
_ROWS_OF_A_SHORT_TABLE = 8
#: Up to this many characters a reason stands beside the quantity; longer ones have a row of their own.
_SHORT_REASON = 24
#: More characters than these do not fit into a column of numbers; they stand under their row.
_WIDTH_OF_NUMBERS = 24
_BELOW = "see below"
#: From this many columns on a table needs smaller type.
_COLUMNS_OF_A_DENSE_TABLE = 10


# ---- Documents ----


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
        "verdict": _describe_outcome(study),
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
        "verdict": _summarize(described),
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
        "verdict": _describe_certification(certificate),
        "facts": _describe_facts(facts),
        "attempts": [_describe_attempt(attempt) for attempt in certificate.attempts],
        "left_out": "; ".join(certificate.left_out),
        "counts": _count_verdicts(lines),
        "unexpected": _unexpected_table(lines),
        "expected": _expected_table([line for line in lines if line.verdict is Verdict.EXPECTED]),
        "tables": _tables_by_subject(lines),
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
        "counts": _count_verdicts(section.comparisons),
        "unexpected": _unexpected_table(section.comparisons),
        "tables": _tables_by_subject(section.comparisons),
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
        "Results": {"tables": [_describe_table(table) for table in evaluation_tables(evaluation)]},
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


# ---- Verdicts ----


def _describe_outcome(study: Study) -> dict[str, Any]:
    """What a study comes to; what was not compared does not count as compared, and R must have been."""
    lines = [line for section in study.sections for line in section.comparisons]
    missing = [section.title for section in study.sections if _is_absent(section)]
    unexpected = sum(line.is_unexpected for line in lines)
    missed = sum(line.verdict in _OPEN for line in lines)
    made = len(lines) - missed
    if unexpected:
        look = "bad", "✗", f"Failed: {counted(unexpected, 'unexpected difference')}, listed below"
    elif made and missing:
        look = "open", "○", f"Passed in part, without {' and '.join(missing)}"
    elif made:
        look = "good", "✓", f"Passed: nothing unexpected in {counted(made, 'line')} of comparisons"
    else:
        look = "open", "○", "Not validated: nothing was compared"
    return {
        "label": "",
        "tone": look[0],
        "mark": look[1],
        "sentence": look[2],
        "details": [f"{counted(missed, 'line')} could not be compared: see the tables."] if missed else [],
        "counts": _count_verdicts(lines),
    }


def _is_absent(section: Section) -> bool:
    """Whether nothing of a section could be compared."""
    return bool(section.comparisons) and all(line.verdict in _OPEN for line in section.comparisons)


def _describe_certification(certificate: Certificate) -> dict[str, Any]:
    """The verdict, never without its word, loud in the first sentence and explained in the others."""
    tone, mark = _CERTIFICATE_LOOKS[certificate.verdict]
    told = certificate.sentence
    if not told.lower().startswith(certificate.verdict):
        told = f"{certificate.verdict.capitalize()}: {told}"
    first, stop, others = told.partition(". ")
    return {
        "label": "",
        "tone": tone,
        "mark": mark,
        "sentence": f"{first}{stop.strip()}",
        "details": [others] if others else [],
    }


def _summarize(certificate: Mapping[str, Any] | None) -> dict[str, Any]:
    """The verdict of a certificate as the first thing a report says; also if there is none."""
    none = {
        "tone": "open",
        "mark": "○",
        "sentence": "Not certified: no other implementation was asked for these numbers.",
        "details": [],
    }
    return {**(none if certificate is None else certificate["verdict"]), "label": "Certificate"}


def _describe_verdict(verdict: Verdict) -> dict[str, str]:
    tone, mark = _LOOKS[verdict]
    return {"tone": tone, "mark": mark, "text": verdict.value}


def _count_verdicts(lines: Iterable[Comparison]) -> list[dict[str, str]]:
    """How many lines have each verdict that occurs, in a fixed order."""
    counts = Counter(line.verdict for line in lines)
    return [
        _describe_verdict(verdict) | {"count": format_count(counts[verdict])}
        for verdict in Verdict
        if counts[verdict]
    ]


# ---- Tables of comparisons ----


def _unexpected_table(lines: Sequence[Comparison]) -> dict[str, Any] | None:
    found = [line for line in lines if line.verdict in UNEXPECTED]
    if not found:
        return None
    caption = f"Unexpected: {format_count(len(found))} of {counted(len(lines), 'comparison')}"
    return _comparison_table(caption, found, look="loud")


def _expected_table(lines: Sequence[Comparison]) -> dict[str, Any] | None:
    """Known deviations of all subjects, those of one reason together."""
    if not lines:
        return None
    reasons = list(dict.fromkeys(line.reason for line in lines))
    together = sorted(lines, key=lambda line: reasons.index(line.reason))
    return _comparison_table("Expected deviations and their reasons", together)


def _tables_by_subject(lines: Sequence[Comparison]) -> list[dict[str, Any]]:
    """A table for each subject, or one for all if they have few lines each."""
    subjects: dict[str, list[Comparison]] = {}
    for line in lines:
        subjects.setdefault(line.subject, []).append(line)
    together = [line for of_subject in subjects.values() for line in of_subject]
    if len(lines) < _LINES_OF_A_BODY * len(subjects):
        return [_comparison_table("All comparisons", together)]
    if len(lines) < _LINES_OF_A_TABLE * len(subjects) and len(subjects) > 1:
        return [_comparison_table("All comparisons", together, subjects="above")]
    return [
        _comparison_table(subject, of_subject, subjects="caption") for subject, of_subject in subjects.items()
    ]


def _comparison_table(
    caption: str, lines: Sequence[Comparison], *, subjects: str = "column", look: str = ""
) -> dict[str, Any]:
    """Lines as a table, with `subjects` in a "column", "above" their lines, or one in the "caption".

    Columns in which nothing would stand are left out.
    """
    has_gaps = any(line.difference is not None or line.tolerance is not None for line in lines)
    values = "number" if any(map(_has_numbers, lines)) else "text"
    heads = [_cell("subject")] if subjects == "column" else []
    heads += [_cell("quantity")]
    heads += [_cell("engine", values), _cell("reference", values)] if any(map(_has_values, lines)) else []
    heads += [_cell("difference", "gap"), _cell("tolerance", "gap")] if has_gaps else []
    kinds = {head["text"]: head["kind"] for head in heads}
    return {
        "caption": caption,
        "detail": _describe_counts(lines) if subjects == "caption" else "",
        "look": f"comparison {look} {_length(len(lines))}",
        "heads": [*heads, _cell("verdict", "verdict")],
        "bodies": list(_comparison_bodies(lines, kinds, has_titles=subjects == "above")),
    }


def _comparison_bodies(
    lines: Sequence[Comparison], kinds: Mapping[str, str], *, has_titles: bool
) -> Iterator[dict[str, Any]]:
    """Lines in a row that have the same verdict for the same reason, which is said once."""
    title = ""
    for _, run in groupby(lines, key=lambda line: (line.subject if has_titles else "", *_explain(line))):
        same = list(run)
        subject, reason = same[0].subject, _explain(same[0])[1]
        yield {
            "title": subject if has_titles and subject != title else "",
            "rows": [_comparison_row(line, kinds) for line in same],
            "note": f"{counted(len(same), 'line')}: {reason}" if reason and len(same) > 1 else reason,
        }
        title = subject


def _has_values(line: Comparison) -> bool:
    return line.engine is not None or line.reference is not None


def _has_numbers(line: Comparison) -> bool:
    return any(not isinstance(value, str | None) for value in (line.engine, line.reference))


def _explain(line: Comparison) -> tuple[Verdict, str]:
    return line.verdict, "" if _is_short(line.reason) else line.reason


def _comparison_row(line: Comparison, kinds: Mapping[str, str]) -> dict[str, Any]:
    """The cells of those columns that there are; a short reason stands beside the quantity."""
    values = {"engine": line.engine, "reference": line.reference}
    wide = {name: value for name, value in values.items() if _is_wide(value, kinds.get(name, ""))}
    cells = {
        "subject": _cell(line.subject),
        "quantity": _cell(line.quantity, detail=line.reason if _is_short(line.reason) else ""),
        **{
            name: _value_cell(_BELOW if name in wide else values[name], kinds.get(name, ""))
            for name in values
        },
        "difference": _gap_cell(line.difference),
        "tolerance": _gap_cell(line.tolerance),
    }
    first, *others = (cells[name] for name in kinds)
    verdict = _cell("", "verdict") | _describe_verdict(line.verdict)
    return {
        "cells": [first | {"kind": "head"}, *others, verdict],
        "aside": "; ".join(f"{name}: {value}" for name, value in wide.items()),
    }


def _is_wide(value: float | str | None, kind: str) -> bool:
    return kind == "number" and isinstance(value, str) and len(value) > _WIDTH_OF_NUMBERS


def _is_short(reason: str) -> bool:
    return len(reason) <= _SHORT_REASON


def _describe_counts(lines: Iterable[Comparison]) -> str:
    return " · ".join(f"{item['text']}: {item['count']}" for item in _count_verdicts(lines))


def _value_cell(value: float | str | None, kind: str) -> dict[str, str]:
    """A number, or words, which may be wrapped also in a column of numbers."""
    if isinstance(value, str):
        return _cell(value, "words" if kind == "number" else kind)
    return _cell("–" if value is None else format_value(value), kind)


def _gap_cell(value: float | None) -> dict[str, str]:
    return _cell("–" if value is None else format_difference(value), "gap")


# ---- Tables of an evaluation ----


def _describe_table(table: Table) -> dict[str, Any]:
    """A table of an evaluation, with each interval under its number instead of in a column of its own."""
    kept = [place for place, head in enumerate(table.heads) if head != "interval"]
    size = table.section or len(table.rows)
    parts = [table.rows[start : start + size] for start in range(0, len(table.rows), size)]
    dense = "dense" if len(kept) >= _COLUMNS_OF_A_DENSE_TABLE else ""
    return {
        "caption": table.caption,
        "detail": "",
        "look": f"evaluation {dense} {_length(len(table.rows))}",
        "heads": [_cell(table.heads[place], _kind(table, place)) for place in kept],
        "bodies": [
            {
                "title": "",
                "rows": _mute_repeated([_describe_row(table, row, kept) for row in part]),
                "note": "",
            }
            for part in parts
        ],
    }


def _describe_row(table: Table, row: Sequence[str], kept: Sequence[int]) -> dict[str, Any]:
    cells = []
    for place in kept:
        is_interval = table.heads[place + 1 : place + 2] == ("interval",)
        detail = row[place + 1] if is_interval else ""
        cells.append(_cell(row[place], "head" if place == 0 else _kind(table, place), detail))
    return {"cells": cells, "aside": ""}


def _mute_repeated(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Let labels step back that repeat the one above; a page may begin with any of them."""
    labels = [row["cells"][0] for row in rows]
    for label in labels[1:]:
        label["tone"] = "again" if label["text"] == labels[0]["text"] else ""
    return rows


def _kind(table: Table, place: int) -> str:
    return "text" if place < table.n_labels else "number"


def _length(rows: int) -> str:
    return "short" if rows <= _ROWS_OF_A_SHORT_TABLE else "long"


def _cell(text: str, kind: str = "text", detail: str = "") -> dict[str, str]:
    return {"text": text, "kind": kind, "detail": detail, "tone": "", "mark": ""}
