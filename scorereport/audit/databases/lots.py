"""Rows of a database as tables of numbers and texts, so many at a time."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

from scorereport.columns import label_text, read_number
from scorereport.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from scorereport.audit.databases.database import Database
    from scorereport.periods import Period

#: Rows that are in memory at a time.
_LOT = 50_000


def read_tables(
    database: Database, numbers: Sequence[str], labels: Sequence[str], column: str, period: Period
) -> Iterator[pa.Table]:
    """Columns of a query, or of a table's rows around the period: numbers, and labels as texts.

    So all lots have the same types, whatever values each of them has.
    """
    import pyarrow as pa

    for frame in database.read_lots([*numbers, *labels], column, period, _LOT):
        found = {name: pa.array([_as_number(v, name) for v in frame[name]], pa.float64()) for name in numbers}
        texts = {name: pa.array(map(_as_text, frame[name]), pa.string()) for name in labels}
        yield pa.table({**found, **texts})


def _as_number(value: Any, name: str) -> float:
    number = read_number(value)
    if number is None:
        raise DataError(f"`{name}` must be numeric; got {value!r}.")
    return number


def _as_text(value: Any) -> str | None:
    is_missing = value is None or (isinstance(value, float) and isnan(value))
    return None if is_missing else label_text(value)
