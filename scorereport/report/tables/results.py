"""Tables of an evaluation as a document shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scorereport.report.tables.cells import length_class, table_cell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.report.tables.table import Table

#: How closely a table is set, by the number of columns from which on it is.
_DENSITIES = {10: "dense", 8: "tight", 0: ""}
#: Up to this many columns, those of intervals included, an interval has room beside its number.
_COLUMNS_OF_A_ROOMY_TABLE = 7
#: Labels with more letters need that room themselves.
_LETTERS_OF_A_ROOMY_TABLE = 40


#: The lights of rating grades as verdicts.
_GRADE_VERDICTS = {
    "green": {"kind": "verdict", "tone": "good", "mark": "✓"},
    "yellow": {"kind": "verdict", "tone": "open", "mark": "!"},
    "red": {"kind": "verdict", "tone": "bad", "mark": "✗"},
}


def describe_table(table: Table) -> dict[str, Any]:
    """A table of an evaluation, with each interval under its number instead of in a column of its own."""
    kept = [place for place, head in enumerate(table.heads) if head != "interval"]
    size = table.section or len(table.rows)
    parts = [table.rows[start : start + size] for start in range(0, len(table.rows), size)]
    look = next(look for columns, look in _DENSITIES.items() if len(kept) >= columns)
    look = "roomy" if _has_room(table) else look
    return {
        "caption": table.caption,
        "detail": "",
        "look": f"evaluation {look} {length_class(len(table.rows))}",
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


def _has_room(table: Table) -> bool:
    labels = (label for row in table.rows for label in row[: table.n_labels])
    few_columns = len(table.heads) <= _COLUMNS_OF_A_ROOMY_TABLE
    return few_columns and max(map(len, labels), default=0) <= _LETTERS_OF_A_ROOMY_TABLE


def _describe_row(table: Table, row: Sequence[str], kept: Sequence[int]) -> dict[str, Any]:
    cells = []
    for place in kept:
        detail = row[place + 1] if _has_interval(table, place) else ""
        cell = table_cell(row[place], "head" if place == 0 else _kind(table, place), detail)
        cells.append(cell | _GRADE_VERDICTS.get(row[place], {}) if table.heads[place] == "light" else cell)
    return {"cells": cells, "aside": ""}


def _mute_repeated(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Let labels step back that repeat the one above; a page may begin with any of them."""
    labels = [row["cells"][0] for row in rows]
    for label in labels[1:]:
        label["tone"] = "again" if label["text"] == labels[0]["text"] else ""
    return rows


def _kind(table: Table, place: int) -> str:
    if place < table.n_labels:
        return "text"
    return "number ranged" if _has_interval(table, place) else "number"


def _has_interval(table: Table, place: int) -> bool:
    return table.heads[place + 1 : place + 2] == ("interval",)
