"""Refusals in the words of reading.py and columns.py, from the few rows that a query finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from scorereport._utils.checks import ROWS_TO_FIND, describe_places
from scorereport.errors import DataError
from scorereport.evaluation.engines.duck.column_conversion import InvalidValues

if TYPE_CHECKING:
    from scorereport.evaluation.engines.duck.duck_tables import ScannableRows
    from scorereport.evaluation.engines.duck.workspace import Workspace


def refuse_invalid_rows(rows: ScannableRows, bad: InvalidValues, rule: str, way_out: str = "") -> NoReturn:
    """Refuse some rows, in one sentence."""
    places = describe_places(bad.first, bad.rows, bad.count, rows.count)
    raise DataError(f"{rule}; got {places}.{way_out}")


def find_invalid_rows(workspace: Workspace, rows: ScannableRows, condition: str, value: str) -> InvalidValues:
    """The rows that fulfil a condition, with the value of the first."""
    count = workspace.row(f"SELECT count(*) AS n FROM {rows.relation} WHERE {condition}")["n"]
    found = workspace.table(
        f"SELECT {rows.number} AS number, {value} AS value FROM {rows.relation} WHERE {condition} "
        f"ORDER BY number LIMIT {ROWS_TO_FIND}"
    )
    first = found.column("value").slice(0, 1).to_pandas().iloc[0]
    return InvalidValues(first=first, rows=found.column("number").to_pylist(), count=count)
