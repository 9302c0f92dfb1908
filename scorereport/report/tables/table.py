"""Tables as text: labels, decimals, and their layout in a document."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import common_decimals, format_interval, format_number, format_percent
from scorereport.report.tables.column_widths import set_widths
from scorereport.scores.registry import REGISTRY, Direction, Propriety, get_score

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.inference.estimates import Estimate
    from scorereport.results.model_records import ScoreValue


#: Most decimals beyond the usual ones.
_MORE_DECIMALS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A caption, column heads and rows of text; the first `n_labels` columns are labels, the rest numbers.

    `section` is the number of rows that belong together; 0 if all do. A dense table has the smallest type.
    """

    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    n_labels: int = 1
    section: int = 0
    is_dense: bool = False


def section_size(models: Sequence[object]) -> int:
    """Return how many rows belong together: one for each model, if there are several; else 0."""
    return len(models) if len(models) > 1 else 0


def interval_text(estimate: Estimate | None, decimals: int) -> str:
    """Format the interval of an estimate; empty if there is none."""
    return "" if estimate is None else format_interval(estimate.lower, estimate.upper, decimals)


def area_text(area: ScoreValue) -> str:
    """An AUC with its interval, with as many decimals as distinguish the ends."""
    interval = area.interval
    if interval is None:
        return format_number(area.value, 3)
    decimals = distinct_decimals(interval.lower, interval.upper, 3)
    bounds = format_interval(interval.lower, interval.upper, decimals)
    return f"{format_number(area.value, decimals)} {bounds}".rstrip()


def skill_text(score: ScoreValue, kind: str) -> str:
    """A skill with its interval, and the constant forecast with which it compares models of a kind."""
    constant = "the prevalence" if kind == "binary" else "the class frequencies"
    bounds = percent_interval_text(score.skill_interval)
    interval = f", interval {bounds} %" if bounds else ""
    return f"compared with always forecasting {constant}, is {format_percent(score.skill)}{interval}"


def percent_interval_text(estimate: Estimate | None) -> str:
    """Format the interval of a share in percent; empty if there is none."""
    if estimate is None:
        return ""
    lower, upper = 100 * estimate.lower, 100 * estimate.upper
    return format_interval(lower, upper, distinct_decimals(lower, upper, 1))


def distinct_decimals(lower: float, upper: float, decimals: int) -> int:
    """Return `decimals`, or a few more if both ends of a narrow interval would look the same.

    >>> [distinct_decimals(*ends, 1) for ends in ((49.97, 50.03), (49.9, 50.1), (50.0, 50.0))]
    [2, 1, 1]
    """
    more = range(decimals, decimals + _MORE_DECIMALS)
    return next((n for n in more if format_number(lower, n) != format_number(upper, n)), decimals)


def score_label(name: str) -> str:
    """Return the label of a score; an improper score is always marked as not proper."""
    if name not in REGISTRY:
        return name
    entry = REGISTRY[name]
    return f"{entry.label} (not proper)" if entry.propriety is Propriety.IMPROPER else entry.label


def score_heading(name: str) -> str:
    """Return the label of a score, with an arrow if higher is better."""
    score = get_score(name)
    return f"{score.label} ↑" if score.direction is Direction.HIGHER else score.label


def format_columns(numbers: Sequence[Sequence[float]]) -> list[tuple[str, ...]]:
    """Format numbers with the same number of decimals in each column."""
    decimals = [common_decimals(column) for column in zip(*numbers, strict=True)]
    return [tuple(format_number(v, d) for v, d in zip(row, decimals, strict=True)) for row in numbers]


#: Up to this many rows, and lines in them, a table stays on one page: it takes less than a third of the page.
_ROWS_OF_A_SHORT_TABLE, _LINES_OF_A_SHORT_TABLE = 8, 14


def length_class(rows: int, lines: int = 0) -> str:
    """Return the CSS class of a table by its numbers of rows and lines: a short one stays on one page."""
    is_short = rows <= _ROWS_OF_A_SHORT_TABLE and lines <= _LINES_OF_A_SHORT_TABLE
    return "short" if is_short else "long"


def table_cell(text: str, kind: str = "text", detail: str = "") -> dict[str, str]:
    """Return a cell with its text, its kind, which determines its layout, and a detail beside the text."""
    is_wide = kind in ("head", "text") and has_long_word(f"{text} {detail}")
    wrap = "long-word" if is_wide else ""
    return {"text": text, "kind": kind, "detail": detail, "tone": "", "mark": "", "wrap": wrap}


def has_long_word(text: str) -> bool:
    """Whether a word may be wider than a column of labels on paper, so that it has to be broken.

    >>> has_long_word("mean of a forecast"), has_long_word("gradient_boosting_2026")
    (False, True)
    """
    return any(len(word) > _LETTERS_OF_A_SHORT_WORD for word in text.split())


#: Words of up to this many letters fit into the least width of labels on paper, 17.5 mm.
_LETTERS_OF_A_SHORT_WORD = 9
#: Letters of a label on one line, roughly.
_LETTERS_OF_A_LINE = 30
#: CSS class of a table by its least number of columns.
_DENSITIES = {10: "dense", 8: "tight", 0: ""}
#: Up to this many columns, including those of intervals, an interval has room beside its number.
_COLUMNS_OF_A_ROOMY_TABLE = 7
#: Longer labels need that room themselves.
_LONGEST_LABEL_OF_A_ROOMY_TABLE = 40


#: Traffic lights of rating grades as verdicts.
_GRADE_VERDICTS = {
    "green": {"kind": "verdict", "tone": "good", "mark": "✓"},
    "yellow": {"kind": "verdict", "tone": "open", "mark": "!"},
    "red": {"kind": "verdict", "tone": "bad", "mark": "✗"},
}


def describe_table(table: Table) -> dict[str, Any]:
    """Return a table for templates, with each interval under its number instead of in its own column."""
    kept = [place for place, head in enumerate(table.heads) if head != "interval"]
    size = table.section or len(table.rows)
    parts = [table.rows[start : start + size] for start in range(0, len(table.rows), size)]
    look = next(look for columns, look in _DENSITIES.items() if len(kept) >= columns)
    look = "dense" if table.is_dense else "roomy" if _has_room(table) else look
    described = {
        "caption": table.caption,
        "detail": "",
        "look": f"evaluation {look} {length_class(len(table.rows), _count_lines(table, look))}",
        "heads": [table_cell(table.heads[place], _kind(table, place)) for place in kept],
        "bodies": [
            {
                "title": "",
                "rows": _mute_repeated([_describe_row(table, row, kept) for row in part]),
                "note": "",
            }
            for part in parts
        ],
    }
    return set_widths(described)


def _count_lines(table: Table, look: str) -> int:
    """Return the lines of all rows, roughly: intervals are under numbers, and long labels are broken."""
    has_intervals = "interval" in table.heads and look != "roomy"
    longest = [max(map(len, row[: table.n_labels]), default=0) for row in table.rows]
    return sum(max(1 + has_intervals, -(-label // _LETTERS_OF_A_LINE)) for label in longest)


def _has_room(table: Table) -> bool:
    labels = (label for row in table.rows for label in row[: table.n_labels])
    few_columns = len(table.heads) <= _COLUMNS_OF_A_ROOMY_TABLE
    return few_columns and max(map(len, labels), default=0) <= _LONGEST_LABEL_OF_A_ROOMY_TABLE


def _describe_row(table: Table, row: Sequence[str], kept: Sequence[int]) -> dict[str, Any]:
    cells = []
    for place in kept:
        detail = row[place + 1] if _has_interval(table, place) else ""
        cell = table_cell(row[place], "head" if place == 0 else _kind(table, place), detail)
        cells.append(cell | _GRADE_VERDICTS.get(row[place], {}) if table.heads[place] == "light" else cell)
    return {"cells": cells, "aside": ""}


def _mute_repeated(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Mute labels that repeat the one above; they are kept because a page may begin with any row."""
    labels = [row["cells"][0] for row in rows]
    for above, label in pairwise(labels):
        label["tone"] = "again" if label["text"] == above["text"] else ""
    return rows


def _kind(table: Table, place: int) -> str:
    if place < table.n_labels:
        return "text"
    return "number ranged" if _has_interval(table, place) else "number"


def _has_interval(table: Table, place: int) -> bool:
    return table.heads[place + 1 : place + 2] == ("interval",)
