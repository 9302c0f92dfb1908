"""Tables of an evaluation as a document shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scorereport.report.cells import length_class, make_cell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.tables import Table

#: From this many columns on a table needs smaller type.
_COLUMNS_OF_A_DENSE_TABLE = 10


def describe_table(table: Table) -> dict[str, Any]:
    """A table of an evaluation, with each interval under its number instead of in a column of its own."""
    kept = [place for place, head in enumerate(table.heads) if head != "interval"]
    size = table.section or len(table.rows)
    parts = [table.rows[start : start + size] for start in range(0, len(table.rows), size)]
    dense = "dense" if len(kept) >= _COLUMNS_OF_A_DENSE_TABLE else ""
    return {
        "caption": table.caption,
        "detail": "",
        "look": f"evaluation {dense} {length_class(len(table.rows))}",
        "heads": [make_cell(table.heads[place], _kind(table, place)) for place in kept],
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
        cells.append(make_cell(row[place], "head" if place == 0 else _kind(table, place), detail))
    return {"cells": cells, "aside": ""}


def _mute_repeated(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Let labels step back that repeat the one above; a page may begin with any of them."""
    labels = [row["cells"][0] for row in rows]
    for label in labels[1:]:
        label["tone"] = "again" if label["text"] == labels[0]["text"] else ""
    return rows


def _kind(table: Table, place: int) -> str:
    return "text" if place < table.n_labels else "number"
