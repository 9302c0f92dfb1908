"""SQL expressions for cleaned columns: numbers, missing values, labels, buckets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport.data.database_tables import quote_text
from scorereport.evaluation.engines.protocol import BUCKETS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scorereport.evaluation.engines.duck.duck_tables import ScannableRows

#: All characters that Python's `str.strip` removes.
_SPACES = "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B)))
_SPACES += "\u2028\u2029\u202f\u205f\u3000"
_FLOATS = ("FLOAT", "DOUBLE")


def number(rows: ScannableRows, name: str) -> str:
    """A column of numbers as float64, which holds float32 exactly."""
    column = rows.columns[name]
    return column if rows.types[name] == "DOUBLE" else f"CAST({column} AS DOUBLE)"


def time(rows: ScannableRows, name: str) -> str:
    """A column of times in UTC, to the microsecond."""
    column, kind = rows.columns[name], rows.types[name]
    if kind == "TIMESTAMP":
        return column
    return f"make_timestamp(epoch_us({column}))" if "ZONE" in kind else f"CAST({column} AS TIMESTAMP)"


def is_missing_number(rows: ScannableRows, name: str) -> str:
    """Whether a number is missing.

    DuckDB 2.0 takes `isnan` of a column of a Parquet file as false if the statistics of the file have bounds,
    although these leave out NaN.
    """
    column, kind = rows.columns[name], rows.types[name]
    is_nan = f"(NOT isfinite({column}) AND NOT isinf({column}))"
    return f"({column} IS NULL OR {is_nan})" if kind in _FLOATS else f"{column} IS NULL"


def is_missing_label(rows: ScannableRows, name: str) -> str:
    """Whether a label is missing or empty."""
    if rows.types[name] != "VARCHAR":
        return is_missing_number(rows, name)
    column = rows.columns[name]
    return f"({column} IS NULL OR trim({column}, {quote_text(_SPACES)}) = '')"


def is_one_of(rows: ScannableRows, name: str, values: Iterable[Any]) -> str:
    """Whether a column holds one of some values."""
    listed = ", ".join(map(literal, values))
    return f"{rows.columns[name]} IN ({listed})" if listed else "false"


def literal(value: Any) -> str:
    """A value as an SQL literal."""
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, str):
        return quote_text(plain)
    return f"'{plain!r}'::DOUBLE" if isinstance(plain, float) else str(plain)


def label(rows: ScannableRows, name: str) -> str:
    """A label as `label_text` writes it; for fractional numbers, some text that is distinct for each."""
    column, kind = rows.columns[name], rows.types[name]
    if kind in _FLOATS:
        is_whole = f"{column} = trunc({column}) AND abs({column}) < 1e15"
        return f"CASE WHEN {is_whole} THEN {column}::BIGINT::VARCHAR ELSE {column}::VARCHAR END"
    if kind != "VARCHAR":
        return f"CAST({column} AS VARCHAR)"
    text = f"trim({column}, {quote_text(_SPACES)})"
    return f"regexp_replace({text}, '^([+-]?[0-9]+)\\.0+$', '\\1')"


def bucket_of_row(row: str) -> str:
    """Assign rows to buckets by a hash of their number: pseudo-random, but the same every time."""
    return f"((({_mix(row)}) * {BUCKETS}) >> 32)"


def _mix(row: str) -> str:
    """Two rounds of multiplying and folding, in 32 bits so that products fit into 64 bits."""
    mask = 0xFFFFFFFF
    low = f"xor({row}::UBIGINT & {mask}, {row}::UBIGINT >> 32)"
    once = f"(({low} * 2654435761) & {mask})"
    folded = f"xor({once}, {once} >> 15)"
    twice = f"(({folded} * 2246822519) & {mask})"
    return f"xor({twice}, {twice} >> 13)"


def bucket_of_cluster(rows: ScannableRows, name: str) -> str:
    """Assign clusters to buckets by a hash of their label."""
    return f"(md5_number_lower({label(rows, name)}) % {BUCKETS})"


def where(conditions: Iterable[str]) -> str:
    """A WHERE clause of conditions that must all hold; empty without conditions."""
    joined = " AND ".join(conditions)
    return f" WHERE {joined}" if joined else ""
