"""Refusals in the words of reading.py and columns.py, from the few rows that a query finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from scorereport._utils.checks import ROWS_SOUGHT, describe_places
from scorereport.errors import DataError
from scorereport.evaluation.engines.duck.column_conversion import Bad

if TYPE_CHECKING:
    from scorereport.evaluation.engines.duck.duck_tables import Rows
    from scorereport.evaluation.engines.duck.workspace import Workspace


def refuse(rows: Rows, bad: Bad, rule: str, way_out: str = "") -> NoReturn:
    """Refuse some rows, in one sentence."""
    places = describe_places(bad.first, bad.rows, bad.count, rows.count)
    raise DataError(f"{rule}; got {places}.{way_out}")


def find_bad(workspace: Workspace, rows: Rows, condition: str, value: str) -> Bad:
    """The rows that fulfil a condition, with the value of the first."""
    count = workspace.row(f"SELECT count(*) AS n FROM {rows.relation} WHERE {condition}")["n"]
    found = workspace.table(
        f"SELECT {rows.number} AS number, {value} AS value FROM {rows.relation} WHERE {condition} "
        f"ORDER BY number LIMIT {ROWS_SOUGHT}"
    )
    first = found.column("value").slice(0, 1).to_pandas().iloc[0]
    return Bad(first=first, rows=found.column("number").to_pylist(), count=count)
