"""Rows of a database as tables of numbers and texts, so many at a time."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

from scorereport._utils.checks import LONGEST_TEXT
from scorereport.data.columns import label_text, read_number, text_length
from scorereport.data.size_limits import refuse_long_text
from scorereport.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa

    from scorereport.audit.databases.database_rows import SourceDatabase
    from scorereport.configuration.periods import Period

#: Rows that are in memory at a time.
_BATCH_ROWS = 50_000


def read_batches(
    database: SourceDatabase, numbers: Sequence[str], labels: Sequence[str], column: str, period: Period
) -> Iterator[pa.Table]:
    """Columns of a query, or of a table's rows around the period: numbers, and labels as texts.

    So all lots have the same types, whatever values each of them has.
    """
    import pyarrow as pa

    before = 0
    for frame in database.read_lots([*numbers, *labels], column, period, _BATCH_ROWS):
        found = {name: pa.array([_as_number(v, name) for v in frame[name]], pa.float64()) for name in numbers}
        texts = {name: pa.array(_as_texts(frame[name], name, before), pa.string()) for name in labels}
        before += len(frame)
        yield pa.table({**found, **texts})


def _as_number(value: Any, name: str) -> float:
    number = read_number(value)
    if number is None:
        raise DataError(f"`{name}` must be numeric; got {value!r}.")
    return number


def _as_texts(values: Iterable[Any], name: str, before: int) -> Iterator[str | None]:
    """Labels as text, None for missing; `before` is how many rows were read before these."""
    for place, value in enumerate(values):
        if (length := text_length(value)) > LONGEST_TEXT:
            refuse_long_text(name, length, before + place)
        is_missing = value is None or (isinstance(value, float) and isnan(value))
        yield None if is_missing else label_text(value)
