"""Layout of the summary on one page of paper: as many findings as fit, from the lines of its texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport.report.summary_page import FEWEST_FINDINGS, MOST_FINDINGS, summarize_report
from scorereport.report.tables.column_widths import count_lines

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scorereport.report.report_record import Report
    from scorereport.report.section_parts import Part
    from scorereport.report.summary_page import SummaryPage

#: Height of the text on a page, and of what does not depend on the texts: headings, margins, diagrams.
_PAGE, _FIXED = 252.0, 91.0
_PAGE_WIDTH = 166.0
#: Width of texts in millimetres and size of their type in points, as in paper.css.
_VERDICT, _FITNESS = (135.0, 12.0), (138.0, 9.0)
_FINDING, _ACTION, _BASIS = (162.0, 8.5), (76.0, 8.5), (150.0, 8.0)
_POINT, _LEADING = 25.4 / 72, 1.35
#: Space after a finding, and after another sentence.
_AFTER_FINDING, _AFTER = 0.9, 0.8
#: Height of the heads and of a row of the matrix, and the size of its type.
_MATRIX, _ROW, _CELL_SIZE = 16.0, 5.2, 8.0
#: A reference after a finding, which takes part of a line.
_REFERENCE = " Section 00, page 00"


def fit_summary(report: Report, matrix: Part | None) -> SummaryPage:
    """Summarize a report with as many findings as fit on the page, but no fewer than the fewest."""
    for most in range(MOST_FINDINGS, FEWEST_FINDINGS, -1):
        page = summarize_report(report, most)
        if _FIXED + _matrix_height(matrix) + _text_height(page) <= _PAGE:
            return page
    return summarize_report(report, FEWEST_FINDINGS)


def _matrix_height(matrix: Part | None) -> float:
    if matrix is None:
        return 0.0
    widths = [
        _PAGE_WIDTH * float(head.get("width", "20%").removesuffix("%")) / 100 for head in matrix["heads"]
    ]
    rows = [row["cells"] for body in matrix["bodies"] for row in body["rows"]]
    lines = [
        max(
            count_lines(f"{cell['text']} {cell['detail']}", width, _CELL_SIZE)
            for cell, width in zip(cells, widths, strict=True)
        )
        for cells in rows
    ]
    notes = sum(bool(body["note"]) for body in matrix["bodies"])
    return _MATRIX + notes * _ROW + sum(_ROW + (n - 1) * _CELL_SIZE * _POINT * _LEADING for n in lines)


def _text_height(page: SummaryPage) -> float:
    beside = max(_height(texts, *_ACTION, _AFTER) for texts in (page.actions, page.missing))
    findings = _height(
        (f"{finding.text}{_REFERENCE}" for finding in page.findings), *_FINDING, _AFTER_FINDING
    )
    banner = _height([f"{page.mark} {page.verdict}"], *_VERDICT, 0.0, is_bold=True)
    banner += _height(page.fitness, *_FITNESS, 0.0)
    return findings + beside + banner + _height([" ".join(page.basis)], *_BASIS, _AFTER)


def _height(texts: Iterable[str], width: float, size: float, after: float, *, is_bold: bool = False) -> float:
    """Return the height of paragraphs in millimetres."""
    lines = (count_lines(text, width, size, bold=is_bold) for text in texts)
    return sum(n * size * _POINT * _LEADING + after for n in lines)
