"""Batches of raw columns converted to clean ones, and the values that cannot be converted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.checks import LONGEST_TEXT
from scorereport._utils.mistakes import hint_at_dates, hint_at_numbers
from scorereport._utils.row_places import ROWS_TO_FIND
from scorereport.data.column_rules import label_text
from scorereport.data.columns import read_number, refuse_nested, text_length
from scorereport.data.csv_files import MISSING_WORDS, use_points
from scorereport.data.pandas_columns import read_dates
from scorereport.data.size_limits import refuse_long_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import pandas as pd
    import pyarrow as pa

    from scorereport.data.roles import Roles

#: Raw values of outcomes that are kept for messages.
_MOST_SHOWN = 1000


@dataclass(slots=True, kw_only=True)
class InvalidValues:
    """Values that break a rule: the first value, the first rows, how many there are, and a hint."""

    first: object
    rows: list[int] = field(default_factory=list)
    count: int = 0
    hint: str = ""

    def add(self, rows: Iterable[int], values: Sequence[object], hint_at: Callable[..., str]) -> None:
        """Add invalid values of later rows."""
        self.rows = [*self.rows, *rows][:ROWS_TO_FIND]
        self.count += len(values)
        self.hint = self.hint or hint_at(values)


class Converter:
    """Converts batches of raw columns to clean ones, in the order of rows."""

    def __init__(self, roles: Roles, decimal: str = ".") -> None:
        self._roles = roles
        self._decimal = decimal
        self.rows = 0
        self.bad: dict[str, InvalidValues] = {}
        self.shown: dict[str, object] = {}
        self._zeros: dict[str, str] = {}

    def convert(self, batch: Mapping[str, Any]) -> pa.Table:
        """Convert a batch of Arrow arrays or lists to columns c0, c1, ... in the order of checks."""
        import pyarrow as pa

        columns = [self._convert_column(name, batch[name]) for name in columns_in_order(self._roles)]
        self.rows += len(columns[0])
        return pa.table(columns, names=[f"c{place}" for place in range(len(columns))])

    def _convert_column(self, name: str, values: Any) -> pa.Array:
        if name in self._roles.numbers:
            return self._numbers(name, values)
        if name == self._roles.time:
            return self._dates(name, values)
        return self._labels(name, values)

    def _numbers(self, name: str, values: Any) -> pa.Array:
        import pyarrow as pa

        if self._decimal == ",":
            values = use_points(values, name, before=self.rows)
        quick = _quick_numbers(values)
        if quick is not None:
            return quick
        items = _items(values)
        numbers = [read_number(item) for item in items]
        self._remember(name, items, [number is None for number in numbers], hint_at_numbers)
        return pa.array(numbers, type=pa.float64(), from_pandas=True)

    def _dates(self, name: str, values: Any) -> pa.Array:
        import pyarrow as pa

        column = _series(values)
        dates, is_bad = read_dates(column)
        self._remember(name, column.tolist(), is_bad.tolist(), hint_at_dates)
        return pa.array(dates, type=pa.timestamp("us"))

    def _labels(self, name: str, values: Any) -> pa.Array:
        import pyarrow as pa

        codes, raw = _distinct(values, name)
        self._check_lengths(name, codes, raw)
        texts = [self._label_text(name, value) for value in raw]
        if name == self._roles.outcome and len(self.shown) < _MOST_SHOWN:
            self.shown = dict(zip(texts, raw, strict=True)) | self.shown
        return pa.array(texts, type=pa.string()).take(pa.array(codes, mask=codes < 0))

    def _check_lengths(self, name: str, codes: np.ndarray[Any, Any], raw: Sequence[object]) -> None:
        for place, value in enumerate(raw):
            if text_length(value) > LONGEST_TEXT:
                row = self.rows + int((codes == place).argmax())
                refuse_long_text(name, text_length(value), row)

    def _label_text(self, name: str, value: object) -> str:
        """A label as text; 0 and -0 are the same number, so they are one label: the text of the first."""
        text = label_text(value)
        is_zero = isinstance(value, (float, np.floating)) and value == 0
        return self._zeros.setdefault(name, text) if is_zero else text

    def _remember(
        self, name: str, items: Sequence[object], is_bad: Sequence[bool], hint_at: Callable[..., str]
    ) -> None:
        places = np.flatnonzero(is_bad).tolist()
        if places:
            found = [items[place] for place in places]
            bad = self.bad.setdefault(name, InvalidValues(first=found[0]))
            bad.add([place + self.rows for place in places[:ROWS_TO_FIND]], found, hint_at)


def columns_in_order(roles: Roles) -> list[str]:
    """All columns, in the order in which they are checked."""
    return [roles.outcome, *roles.numbers, *roles.texts, *([] if roles.time is None else [roles.time])]


def _quick_numbers(values: Any) -> pa.Array | None:
    """Numbers as float64 if Arrow can convert all of them, with its parser of CSV files; else None."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        array = values if isinstance(values, pa.Array) else pa.array(values, from_pandas=True)
        kind = array.type
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            text = pc.utf8_trim_whitespace(array)
            missing = pa.array(MISSING_WORDS, type=kind)
            return pc.if_else(pc.is_in(text, missing), pa.scalar(None, kind), text).cast(pa.float64())
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
            return array.cast(pa.float64(), safe=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return None
    return array.cast(pa.float64()) if pa.types.is_null(kind) else None


def _series(values: Any) -> pd.Series[Any]:
    import pandas as pd
    import pyarrow as pa

    return values.to_pandas() if isinstance(values, pa.Array) else pd.Series(values, dtype=object)


def _items(values: Any) -> list[Any]:
    column = _series(values)
    return column.astype(object).where(column.notna(), None).tolist()


def _distinct(values: Any, name: str) -> tuple[np.ndarray[Any, Any], list[Any]]:
    try:
        codes, raw = _series(values).factorize()
    except TypeError:
        refuse_nested(name, _items(values))
    return codes, list(raw)
