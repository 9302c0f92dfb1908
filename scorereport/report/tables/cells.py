"""Cells of tables, and how tables are set by their length."""

from __future__ import annotations

#: Up to this many rows a table stays on one page.
_ROWS_OF_A_SHORT_TABLE = 8


def length_class(rows: int) -> str:
    """How a table of so many rows is set: a short one stays on one page."""
    return "short" if rows <= _ROWS_OF_A_SHORT_TABLE else "long"


def table_cell(text: str, kind: str = "text", detail: str = "") -> dict[str, str]:
    """A cell with its text, what decides how it is set, and a detail beside the text."""
    return {"text": text, "kind": kind, "detail": detail, "tone": "", "mark": ""}
