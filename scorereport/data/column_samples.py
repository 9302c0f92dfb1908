"""Samples of a source: its first rows, and a summary of each column, from which roles can be guessed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from math import inf
from typing import TYPE_CHECKING, Any

from scorereport.data.column_rules import label_text
from scorereport.data.csv_files import CSV, MISSING_WORDS
from scorereport.data.sources import locate_source
from scorereport.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd  # noqa: TC004  # the type of a field

#: Rows from which a column is summarized.
SAMPLED_ROWS = 100_000
#: Most distinct values that are kept.
_MOST_LABELS = 50
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d*,\d+\s*")
_ISO_DATE = re.compile(r"\s*\d{4}-\d{2}(-\d{2})?([T ]\d{2}:\d{2}.*)?\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnSummary:
    """A column of a sample: its values as texts if they are few, its range if it holds numbers.

    `labels` are the distinct values in the order of their first appearance, empty if they are many. `lower`
    and `upper` are NaN for a column that holds anything but numbers.
    """

    name: str
    distinct: int
    labels: tuple[str, ...]
    missing: int
    lower: float
    upper: float
    is_number: bool
    is_whole: bool
    is_date: bool
    is_unique: bool

    def lies_within(self, lower: float, upper: float) -> bool:
        """Whether all values are numbers in a range."""
        return self.is_number and lower <= self.lower and self.upper <= upper


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SourceSample:
    """The first rows of a source: their number, their columns, and how decimals of a CSV file are written."""

    name: str
    rows: int
    columns: tuple[ColumnSummary, ...]
    numbers: dict[str, pd.Series[float]]
    decimal: str = "."

    def find(self, name: str) -> ColumnSummary | None:
        """The column of that name; None if there is none."""
        return next((column for column in self.columns if column.name == name), None)


def read_sample(source: str, table: str | None = None) -> SourceSample:
    """Read the first rows of a source, and summarize its columns."""
    import pandas as pd

    place = locate_source(source, table)
    listed = place.kind.list_columns(place)
    names = [name for name in dict.fromkeys(listed) if name and listed.count(name) == 1]
    if not names:
        raise DataError(f"{place.name} has no columns with a name.")
    with place.kind.open_batches(place, names, {}) as batches:
        parts = [pd.DataFrame({n: _as_series(batch[n]) for n in names}) for batch in islice(batches, 1)]
    rows = pd.concat(parts).head(SAMPLED_ROWS) if parts else pd.DataFrame()
    if not len(rows):
        raise DataError(f"{place.name} holds no rows.")
    decimal = "," if place.kind is CSV and _has_commas(rows) else "."
    read = {name: _read_column(rows[name], decimal) for name in names}
    return SourceSample(
        name=place.name,
        rows=len(rows),
        columns=tuple(summarize_column(name, *read[name]) for name in names),
        numbers={name: numbers for name, (_, numbers) in read.items()},
        decimal=decimal,
    )


def _as_series(values: Any) -> pd.Series[Any]:
    import pandas as pd

    plain = values.to_pylist() if hasattr(values, "to_pylist") else values
    return pd.Series(list(plain), dtype=object)


def _has_commas(rows: pd.DataFrame) -> bool:
    """Whether texts look like numbers with decimal commas."""
    first = rows.head(100)
    cells = [value for name in first for value in first[name] if isinstance(value, str)]
    return any(_DECIMAL_COMMA.fullmatch(cell) for cell in cells)


def _read_column(values: pd.Series[Any], decimal: str) -> tuple[pd.Series[Any], pd.Series[float]]:
    """The values of a column with None for missing ones, and the numbers among them."""
    import pandas as pd

    is_missing = values.isna() | values.isin(MISSING_WORDS)
    known = values.mask(is_missing, None)
    texts = known.map(lambda value: value.replace(decimal, ".") if isinstance(value, str) else value)
    is_flag = known.map(lambda value: isinstance(value, bool) or str(value).lower() in ("true", "false"))
    return known, pd.to_numeric(texts.mask(is_flag, None), errors="coerce").astype(float)


def summarize_column(name: str, known: pd.Series[Any], numbers: pd.Series[float]) -> ColumnSummary:
    """Summarize a column from its values and the numbers among them."""
    present = known.dropna()
    texts = [label_text(value) for value in present]
    labels = tuple(dict.fromkeys(texts))
    found = numbers.dropna()
    is_number = len(found) == len(present) > 0
    return ColumnSummary(
        name=name,
        distinct=len(labels),
        labels=labels if len(labels) <= _MOST_LABELS else (),
        missing=int(len(known) - len(present)),
        lower=float(found.min()) if is_number else inf,
        upper=float(found.max()) if is_number else -inf,
        is_number=is_number,
        is_whole=is_number and bool((found % 1 == 0).all()),
        is_date=not is_number and _are_dates(present),
        is_unique=len(labels) == len(texts) > 1,
    )


def _are_dates(values: Sequence[Any] | pd.Series[Any]) -> bool:
    """Whether all values are dates, as objects or in the order of ISO 8601."""
    return len(values) > 0 and all(
        bool(_ISO_DATE.fullmatch(value)) if isinstance(value, str) else hasattr(value, "year")
        for value in values
    )
