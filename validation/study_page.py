"""Page docs/guide/validation-run.md, written from the document of a large validation study.

`python -m validation.study_page validation-report.json > docs/guide/validation-run.md`
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from scorereport._utils import json_documents
from scorereport._utils.formatting import format_count
from scorereport.reference.comparison_records import Verdict
from scorereport.reference.reference_documents import Study

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.reference.comparison_records import Comparison
    from scorereport.reference.reference_documents import StudySection

_HEAD = """# A large validation study

This page shows the comparisons with R of one run of `scorereport validate --cases {cases}` with seed {seed}.
It ran on {date} on {machine}. `validation/study_page.py` writes the page from the document of the run. The
[validation study](validation-study.md) explains the cases, and the [glossary](../glossary.md) the terms.

Software: {software}.

"""
_LIVE = ("reliabilitydiag", "base-r")
_COUNTED = re.compile(r"^([\d,]+) cases?(?:\. )?(.*)$", re.S)
_SHAPE = re.compile(r"^([\d,]+) lines? of ([\d,]+) cases?, ([\d,]+) to ([\d,]+) rows(?:\. The worst: (.*))?$")
_OMITTED = ("platform",)


def render_study_page(study: Study) -> str:
    """Render the page as text."""
    software = ", ".join(f"{name} {value}" for name, value in study.software.items() if name not in _OMITTED)
    head = _HEAD.format(
        cases=study.cases,
        seed=study.seed,
        date=study.time[:10],
        machine=study.software.get("platform", "a machine that is not known"),
        software=software,
    )
    sections = [section for section in study.sections if section.key in _LIVE]
    return head + "\n".join(map(_render_section, sections))


def _render_section(section: StudySection) -> str:
    parts = [f"## Compared with {section.title.removesuffix(', live')}\n", f"{section.text}\n"]
    parts += [_count_verdicts(section)]
    parts += ["### Shapes\n", "| shape | cases | rows | agreeing numbers | worst difference | of |"]
    parts += ["|---|---|---|---|---|---|", *_render_shapes(section.comparisons)]
    parts += [
        "\n### Quantities\n",
        "| quantity | cases | worst difference | tolerance |",
        "|---|---|---|---|",
    ]
    parts += [*_render_quantities(section.comparisons)]
    unexpected = [*map(_render_unexpected, section.unexpected)]
    if unexpected:
        parts += ["\n### Unexpected lines\n", "| case | quantity | verdict | difference | reason |"]
        parts += ["|---|---|---|---|---|", *unexpected]
    expected = [*_render_expected(section.comparisons)]
    if expected:
        parts += ["\n### Expected deviations\n", "| quantity | cases | reason |", "|---|---|---|", *expected]
    return "\n".join(parts) + "\n"


def _count_verdicts(section: StudySection) -> str:
    counts = [(verdict, _count_cases(section.comparisons, verdict)) for verdict in Verdict]
    described = "; ".join(f"{format_count(number)} {verdict}" for verdict, number in counts if number)
    unexpected = len(section.unexpected)
    return f"Comparisons, each of one quantity of one case: {described}. Unexpected: {unexpected}.\n"


def _count_cases(lines: Sequence[Comparison], verdict: Verdict) -> int:
    found = (_COUNTED.match(line.reason) for line in lines if line.verdict is verdict and _is_quantity(line))
    return sum(_number(match[1]) for match in found if match)


def _is_quantity(line: Comparison) -> bool:
    return line.subject == "All shapes"


def _number(text: str) -> int:
    return int(text.replace(",", ""))


def _render_shapes(lines: Sequence[Comparison]) -> Iterator[str]:
    for line in lines:
        found = _SHAPE.match(line.reason) if line.subject == "Shapes" else None
        if found:
            agreeing, cases, fewest, most, worst = found.groups()
            rows = fewest if fewest == most else f"{fewest} to {most}"
            cells = (line.quantity, cases, rows, agreeing, _size(line.difference), worst or "")
            yield f"| {' | '.join(cells)} |"


def _render_quantities(lines: Sequence[Comparison]) -> Iterator[str]:
    for line in lines:
        found = _COUNTED.match(line.reason)
        if _is_quantity(line) and line.verdict is Verdict.AGREES and found:
            exact = "exact" if line.tolerance == 0 else _size(line.tolerance)
            yield f"| {line.quantity} | {found[1]} | {_size(line.difference)} | {exact} |"


def _render_expected(lines: Sequence[Comparison]) -> Iterator[str]:
    for line in lines:
        found = _COUNTED.match(line.reason)
        if _is_quantity(line) and line.verdict in (Verdict.EXPECTED, Verdict.NOT_COMPARED) and found:
            yield f"| {line.quantity} | {found[1]} | {found[2]} |"


def _render_unexpected(line: Comparison) -> str:
    cells = (line.subject, line.quantity, str(line.verdict), _size(line.difference), line.reason)
    return f"| {' | '.join(cells)} |"


def _size(number: float | None) -> str:
    return "" if number is None else "0" if number == 0 else f"{number:.1e}"


if __name__ == "__main__":
    path = Path(sys.argv[1])
    print(render_study_page(json_documents.load(Study, path.read_bytes(), str(path))), end="")
