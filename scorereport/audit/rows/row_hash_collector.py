"""Collector of the hashes of rows: it is given the rows of a period in parts, as they were read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from scorereport._utils.formatting import conjugate, format_count, format_counted, join_some, join_words
from scorereport.data.column_rules import label_text
from scorereport.data.columns import bounded_numbers, read_number
from scorereport.data.csv_files import MISSING_WORDS
from scorereport.data.raw_tables import wrap_column
from scorereport.errors import DataError
from scorereport.history.row_hashes import (
    RowHashes,
    build_salt,
    find_order,
    find_repeats,
    hash_rows,
    pack_texts,
    sort_hashes,
)

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from scorereport._utils.arrays import FloatArray
    from scorereport.data.raw_tables import RawColumn

#: The most rows of one seal: their hashes are a document of 400 MB.
MOST_ROWS = 10_000_000
#: Most keys that a message names.
_MOST_NAMED = 3
#: Columns of a part of the rows, as frames of pandas have them.
_Columns = Mapping[str, "pd.Series[Any]"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HashedColumns:
    """What is hashed of the rows of an audit in a period: the key columns, and the columns of forecasts.

    `zone` is the time zone of the audit, in which keys that are times with a zone are written.
    """

    audit: str
    period: str
    keys: tuple[str, ...]
    forecasts: tuple[str, ...]
    zone: ZoneInfo

    @property
    def names(self) -> list[str]:
        """All columns."""
        return [*self.keys, *self.forecasts]


@dataclass(slots=True)
class RowHashCollector:
    """Hashes rows at an audit.

    Forecasts that cannot be read count as missing, because the evaluation refuses them. Rows without a key
    have the key of an empty text.
    """

    columns: HashedColumns
    _parts: list[NDArray[np.void]] = field(default_factory=list, repr=False)

    def add(self, rows: _Columns) -> None:
        """Hash rows, given by their columns."""
        keys = _join_keys([_list_texts(rows[name], self.columns.zone) for name in self.columns.keys])
        forecasts = [_read_leniently(_wrap(rows[name]), name) for name in self.columns.forecasts]
        self._parts.append(_hash(self.columns, keys, forecasts))

    def add_table(self, rows: pa.Table) -> None:
        """Hash rows of a table of Arrow, which may have other columns."""
        self.add({name: rows.column(name).to_pandas() for name in self.columns.names})

    def finish(self) -> RowHashes:
        """Return the hashes of all rows."""
        return sort_hashes(self._parts)


@dataclass(slots=True)
class SealCollector:
    """Hashes rows to be sealed.

    Rows without a key, with the key of another row, or with a forecast out of range are refused. If there is
    a column of outcomes, `outcome`, it also notes which rows have one. Forecasts that are rescaled to a sum
    of 1 may be larger than 1: they are not bounded.
    """

    columns: HashedColumns
    outcome: str = ""
    is_bounded: bool = True
    _parts: list[NDArray[np.void]] = field(default_factory=list, repr=False)
    _texts: list[tuple[bytes, NDArray[np.int64]]] = field(default_factory=list, repr=False)
    _known: list[NDArray[np.bool_]] = field(default_factory=list, repr=False)
    _count: int = 0

    def add(self, rows: _Columns) -> None:
        """Hash rows, given by their columns."""
        texts = [_list_texts(rows[name], self.columns.zone) for name in self.columns.keys]
        self._count += len(texts[0])
        if self._count > MOST_ROWS:
            raise DataError(
                f"A period with more than {format_count(MOST_ROWS)} rows cannot be sealed. To fix: choose a "
                "shorter `audit.window.period`."
            )
        for name, of_column in zip(self.columns.keys, texts, strict=True):
            _refuse_missing(name, of_column)
        upper, names = 1.0 if self.is_bounded else np.inf, self.columns.forecasts
        forecasts = [bounded_numbers(_wrap(rows[name]), name, upper=upper) for name in names]
        keys = _join_keys(texts)
        self._parts.append(_hash(self.columns, keys, forecasts))
        self._texts.append((b"".join(keys), np.cumsum([0, *map(len, keys)])))
        if self.outcome:
            self._known.append(has_values(rows[self.outcome]))

    def finish(self) -> tuple[RowHashes, NDArray[np.bool_] | None]:
        """Return the hashes of all rows, and which of these rows have an outcome; refuse repeated keys.

        There must be rows.
        """
        rows = np.concatenate(self._parts)
        order = find_order(rows)
        is_repeated = find_repeats(rows["key"].astype(np.uint64)[order])
        if is_repeated.any():
            self._refuse_repeated(order[is_repeated])
        return sort_hashes([rows]), np.concatenate(self._known)[order] if self.outcome else None

    def _refuse_repeated(self, places: NDArray[np.intp]) -> None:
        named = dict.fromkeys(self._name_key(int(place)) for place in np.sort(places))
        columns = join_words([f"`{name}`" for name in self.columns.keys])
        raise DataError(
            f"{columns} must identify each row of {self.columns.period}, but "
            f"{format_counted(len(places), 'row')} {conjugate(len(places), 'repeat')} the key of another "
            f"one: {join_some(list(named), _MOST_NAMED)}. To fix: name in `audit.seal.key` all columns that "
            "together identify a row, or remove the repeated rows."
        )

    def _name_key(self, place: int) -> str:
        """Return the texts of the key of a row."""
        for content, ends in self._texts:
            if place < len(ends) - 1:
                return " / ".join(_unpack_texts(content[ends[place] : ends[place + 1]]))
            place -= len(ends) - 1
        return ""


def _hash(columns: HashedColumns, keys: Sequence[bytes], forecasts: Sequence[FloatArray]) -> NDArray[np.void]:
    return hash_rows(build_salt(columns.audit, columns.period), keys, np.column_stack(forecasts))


def _unpack_texts(packed: bytes) -> list[str]:
    texts = []
    while packed:
        end = 4 + int.from_bytes(packed[:4], "big")
        texts.append(packed[4:end].decode(errors="replace"))
        packed = packed[end:]
    return texts


def _join_keys(texts: Sequence[Sequence[str]]) -> list[bytes]:
    """Return the packed key of each row; `texts` are those of each column."""
    packed = [pack_texts(of_column) for of_column in texts]
    return packed[0] if len(packed) == 1 else list(map(b"".join, zip(*packed, strict=True)))


def _list_texts(column: pd.Series[Any], zone: ZoneInfo) -> list[str]:
    """Return the values of a key column as trimmed texts, "" for missing ones; 1.0 becomes 1."""
    if column.dtype.kind in "iu":
        return list(map(str, column.tolist()))
    if column.dtype.kind == "M" and column.dt.tz is not None:  # readers differ in the zone that they choose
        column = column.dt.tz_convert(zone)
    values = column.astype(object).where(column.notna(), "").tolist()
    return [
        value.strip() if type(value) is str and "." not in value else label_text(value) for value in values
    ]


def _refuse_missing(name: str, texts: Sequence[str]) -> None:
    if missing := sum(not text for text in texts):
        raise DataError(
            f"`{name}`, a column of `audit.seal.key`, must not be missing in rows that are sealed; it is in "
            f"{format_counted(missing, 'row')}."
        )


def _wrap(column: pd.Series[Any]) -> RawColumn:
    """Wrap a column of numbers; texts that are all numbers, as those of CSV files, are parsed at once."""
    import pyarrow as pa

    if column.dtype.kind not in "biuf":
        with suppress(pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
            texts = pa.array(column, pa.string(), from_pandas=True)
            return wrap_column(texts.cast(pa.float64()))
    return wrap_column(column)


def _read_leniently(column: RawColumn, name: str) -> FloatArray:
    plain = column.numbers(name)
    if plain is not None:
        return plain
    numbers = (read_number(item) for item in column.items())
    return np.array([np.nan if number is None else number for number in numbers], dtype=np.float64)


def has_values(column: pd.Series[Any]) -> NDArray[np.bool_]:
    """Return which values are there, by the words for missing ones."""
    codes, values = column.factorize()
    return np.array([*(label_text(value) not in MISSING_WORDS for value in values), False])[codes]
