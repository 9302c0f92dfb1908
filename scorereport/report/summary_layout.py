"""Layout of the summary on one page of paper: as many findings as fit, from the lines of its texts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from scorereport.report.summary_page import (
    FEWEST_FINDINGS,
    MOST_FINDINGS,
    SummaryPage,
    summarize_report,
)
from scorereport.report.tables.column_widths import count_lines
from scorereport.report.tables.limit_tables import make_limit_matrix

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scorereport.report.report_record import Report
    from scorereport.report.section_parts import Part

#: Height of the text on a page, with some room to spare, and of headings, margins and diagrams.
_PAGE, _FIXED = 250.0, 91.0
_PAGE_WIDTH = 166.0
#: Width of texts in millimetres and size of their type in points, as in paper.css.
_VERDICT, _FITNESS = (135.0, 12.0), (138.0, 9.0)
_FINDING, _ACTION, _BASIS = (162.0, 8.5), (76.0, 8.5), (150.0, 8.0)
_POINT, _LEADING = 25.4 / 72, 1.35
#: Space after a finding, and after another sentence.
_AFTER_FINDING, _AFTER = 0.9, 0.8
#: Height around the matrix and of a row of one line; size of its type, and space beside the text of a cell.
_MATRIX, _ROW, _CELL_SIZE, _CELL_SPACE = 7.0, 5.2, 8.0, 2.0
#: Actions that are never left out.
FEWEST_ACTIONS = 2
#: Numbers of limits that the matrix may show, the best choice first.
_MOST_LIMITS = (8, 6, 4, 2)
#: A reference after a finding, which takes part of a line.
_REFERENCE = " Section 00, page 00"


class FittedSummary(NamedTuple):
    """A summary that fits on a page: its texts, its matrix of limits, and the most limits that this shows."""

    page: SummaryPage
    matrix: Part | None
    most_limits: int


def fit_summary(report: Report) -> FittedSummary:
    """Summarize a report with as many findings and limits as fit on the page.

    Findings are left out first, then limits, and at last, if names are very long, the least urgent actions.
    """
    for choice in _list_choices(report):
        if _FIXED + _matrix_height(choice.matrix) + _text_height(choice.page) <= _PAGE:
            break
    return choice


def _list_choices(report: Report) -> Iterator[FittedSummary]:
    """Yield summaries from the longest to the shortest."""
    whole = summarize_report(report)
    for most_limits in _MOST_LIMITS:
        matrix = make_limit_matrix(report, most_limits)
        for most in range(MOST_FINDINGS, FEWEST_FINDINGS - 1, -1):
            yield FittedSummary(replace(whole, most=most), matrix, most_limits)
    for kept in range(len(whole.actions) - 1, FEWEST_ACTIONS - 1, -1):
        shortest = replace(whole, most=FEWEST_FINDINGS, actions=whole.actions[:kept])
        yield FittedSummary(shortest, matrix, most_limits)


def _matrix_height(matrix: Part | None) -> float:
    if matrix is None:
        return 0.0
    widths = [
        _PAGE_WIDTH * float(head.get("width", "20%").removesuffix("%")) / 100 for head in matrix["heads"]
    ]
    rows = [row["cells"] for body in matrix["bodies"] for row in body["rows"]]
    lines = [_count_row_lines(matrix["heads"], widths, is_bold=True)]
    lines += [_count_row_lines(cells, widths) for cells in rows]
    lines += [1 for body in matrix["bodies"] if body["note"]]
    caption = _height([f"{matrix['caption']} {matrix['detail']}"], _PAGE_WIDTH - 16.0, _CELL_SIZE, 0.0)
    return _MATRIX + caption + sum(_ROW + (n - 1) * _CELL_SIZE * _POINT * _LEADING for n in lines)


def _count_row_lines(cells: Sequence[Part], widths: Sequence[float], *, is_bold: bool = False) -> int:
    """Return the lines of the highest cell of a row."""
    texts = [f"{cell['text']} {cell['detail']}" for cell in cells]
    return max(
        count_lines(text, width - _CELL_SPACE, _CELL_SIZE, bold=is_bold)
        for text, width in zip(texts, widths, strict=True)
    )


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
