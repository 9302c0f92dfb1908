"""Overviews of headline results: what a result is and its main numbers, as text and as HTML for notebooks.

A class defines `_describe`, which returns an `Overview`, and takes its displays from it:
`__repr__ = overview_repr` and `_repr_html_ = overview_html`. Nothing here needs templates, so that results of
every layer can have a display.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING, Protocol

from scorereport._utils.formatting import format_fixed, visible
from scorereport._utils.representation import LINES, WIDTH, represent

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Most characters of a cell, and most lines of a title and of a fact, as text.
_WIDEST_CELL, _TITLE_LINES, _FACT_LINES = 24, 2, 3
#: Most rows of a table in a notebook, and most characters of a cell and of a caption.
_MOST_ROWS, _LONGEST_CELL, _LONGEST_CAPTION = 60, 400, 120
#: Colours are those of the notebook, light or dark; a line has one that is visible on both.
_LINE = "border-bottom: 1px solid rgba(128, 128, 128, .6)"
_TABLE = "border-collapse: collapse; font-variant-numeric: tabular-nums; margin: .3em 0 .6em"
_CAPTION = (
    "caption-side: top; text-align: left; font-weight: 600; color: inherit; padding: .2em 0; "
    "white-space: nowrap"  # a caption is often wider than its table
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """What a result is (`title`), facts with their labels, a table with a row for each part, and notes."""

    title: str
    facts: tuple[tuple[str, str], ...] = ()
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()


class _Described(Protocol):
    def _describe(self) -> Overview: ...


class _Bounded(Protocol):
    @property
    def lower(self) -> float: ...

    @property
    def upper(self) -> float: ...


def overview_repr(result: _Described) -> str:
    """Represent a result by its overview, as text of a few short lines."""
    return represent(lambda known: render_text(known._describe()), result)


def overview_html(result: _Described) -> str:
    """Display a result in notebooks by its overview, as a small table."""
    return render_tables(result._describe())


def show_bounds(interval: _Bounded | None, decimals: int) -> str:
    """Show the bounds of an interval in brackets, in Python's notation; empty without an interval."""
    if interval is None:
        return ""
    return f"[{format_fixed(interval.lower, decimals)}, {format_fixed(interval.upper, decimals)}]"


# ---- Text ----


def render_text(overview: Overview) -> str:
    """Render an overview as text of at most 15 lines with 80 characters."""
    head = wrap(visible(overview.title), WIDTH, max_lines=_TITLE_LINES, placeholder=" ...")
    notes = [line for note in overview.notes for line in wrap(visible(note), WIDTH - 2)]
    facts = _align_facts(overview.facts)
    rows = _align_rows(overview, LINES - len(head) - len(facts) - len(notes))
    return "\n".join([*head, *(f"  {line}" for line in (*facts, *rows, *notes))][:LINES])


def _align_facts(facts: Sequence[tuple[str, str]]) -> list[str]:
    width = max((len(label) for label, _ in facts), default=0)
    lines = []
    for label, value in facts:
        room = WIDTH - width - 4
        first, *others = wrap(visible(value), room, max_lines=_FACT_LINES, placeholder=" ...") or [""]
        lines += [f"{label:<{width}}  {first}", *(f"{'':<{width}}  {line}" for line in others)]
    return lines


def _align_rows(overview: Overview, most: int) -> list[str]:
    """The table, aligned; rows and columns for which there is no room are left out, rows are counted."""
    if not overview.rows:
        return []
    shown = overview.rows if len(overview.rows) < most else overview.rows[: max(most - 2, 1)]
    cells = [[_cut(visible(cell), _WIDEST_CELL) for cell in row] for row in (overview.columns, *shown)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    while sum(widths) + 2 * len(widths) > WIDTH:
        widths.pop()
    lines = [
        "  ".join(
            f"{cell:>{width}}" if place else f"{cell:<{width}}"
            for place, (cell, width) in enumerate(zip(row, widths, strict=False))
        ).rstrip()
        for row in cells
    ]
    left = len(overview.rows) - len(shown)
    return [*lines, f"... and {left} more"] if left else lines


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


# ---- HTML ----


def render_tables(overview: Overview) -> str:
    """Render an overview as a fragment of HTML: small tables with a caption and headers, texts escaped."""
    parts = []
    if overview.facts or not overview.rows:
        rows = "".join(_html_row(fact, "left") for fact in overview.facts)
        parts.append(_html_table(overview.title, "", rows))
    if overview.rows:
        head = "".join(
            _html_head(name, "right" if place else "left") for place, name in enumerate(overview.columns)
        )
        rows = "".join(_html_row(row, "right") for row in overview.rows[:_MOST_ROWS])
        head = f"<thead><tr>{head}</tr></thead>"
        parts.append(_html_table(overview.title, head, rows, is_second=bool(parts)))
    left = len(overview.rows) - _MOST_ROWS
    notes = [*([f"{left} more rows are not shown."] if left > 0 else []), *overview.notes]
    parts += [f"<p>{_html_text(note)}</p>" for note in notes]
    return f'<div class="scorereport-overview">{"".join(parts)}</div>'


def _html_text(text: str, longest: int = _LONGEST_CELL) -> str:
    return escape(_cut(visible(text), longest))


def _html_table(title: str, head: str, rows: str, *, is_second: bool = False) -> str:
    text = _html_text(title, _LONGEST_CAPTION)
    caption = f'<caption style="{_CAPTION}">{text}</caption>'
    if is_second:  # its title stands above the first
        return f'<table aria-label="{text}" style="{_TABLE}">{head}<tbody>{rows}</tbody></table>'
    return f'<table style="{_TABLE}">{caption}{head}<tbody>{rows}</tbody></table>'


def _html_head(name: str, align: str) -> str:
    return f'<th scope="col" style="text-align: {align}; {_LINE}">{_html_text(name)}</th>'


def _html_row(cells: Sequence[str], align: str) -> str:
    label, *values = map(_html_text, cells)
    head = f'<th scope="row" style="text-align: left; font-weight: 400; padding-right: 1em">{label}</th>'
    others = "".join(f'<td style="text-align: {align}">{value}</td>' for value in values)
    return f"<tr>{head}{others}</tr>"
