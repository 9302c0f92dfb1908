"""Limits on the size of a source: lengths of texts and lines, and the size of compressed data.

A small file may expand to a table that no machine can hold: a label of a megabyte repeated by a dictionary,
a number repeated by run lengths, lines repeated by gzip. Such files are refused before they are expanded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from scorereport._utils import machine
from scorereport._utils.checks import LONGEST_TEXT
from scorereport._utils.formatting import format_gigabytes
from scorereport._utils.row_places import InvalidRowsError, RowsRefused
from scorereport.data.database_tables import columns_of, quote_name
from scorereport.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from duckdb import DuckDBPyConnection

    #: Runs an SQL query and returns its rows, at most one.
    Query = Callable[[str], list[tuple[Any, ...]]]

#: Bytes that the header of a CSV file may have; pyarrow refuses rows that are longer.
LONGEST_LINE = 1 << 20
#: Bytes up to which every file may expand.
_FREE = 1 << 30
#: Beyond that, a packed file of CSV or of R and a Parquet file may expand to this many times their size.
_PACKED, _PACKED_PARQUET = 250, 10_000
#: A workbook is parsed by Python, in many times its size.
_FREE_WORKBOOK, _PACKED_WORKBOOK = 1 << 27, 50
#: Bytes of a cell, and the fewest copies of a column that are in memory while it is read.
_CELL, _COPIES = 8, 2
#: The most bytes of a character.
_WIDEST = 4
_NESTED = ("STRUCT", "MAP", "UNION", "LIST", "VARIANT")


def refuse_long_text(name: str, length: int, row: int) -> NoReturn:
    """Refuse a text that is longer than a label may be."""
    before = (
        f"`{name}` must hold texts of at most {LONGEST_TEXT:,} characters; got one of {length:,} characters"
    )
    raise InvalidRowsError.of(RowsRefused(before=before, rows=[row], count=1, after="."))


def check_unpacked(name: str, packed: int, expanded: int, instead: str = "unpack it first") -> None:
    """Refuse a packed file if the bytes unpacked so far are out of proportion to its size."""
    if expanded > max(_FREE, _PACKED * packed):
        raise DataError(
            f"{name} must not expand to more than {_PACKED} times its {packed:,} bytes; "
            f"got more than {format_gigabytes(expanded)}. If the file is right, {instead}."
        )


def check_workbook(name: str, packed: int, expanded: int) -> None:
    """Refuse a workbook, which is a zip archive, if its parts expand out of proportion to its size."""
    if expanded > max(_FREE_WORKBOOK, _PACKED_WORKBOOK * packed):
        raise DataError(
            f"{name} must not expand to more than {_PACKED_WORKBOOK} times its {packed:,} bytes; "
            f"got {format_gigabytes(expanded)}. If the file is right, save it as .csv."
        )


def check_parquet_size(name: str, packed: int, rows: int, columns: int, uncompressed: int) -> None:
    """Refuse a Parquet file that would expand out of proportion, according to its own footer."""
    expanded = max(rows * columns * _CELL, uncompressed)
    if expanded > max(_FREE, _PACKED_PARQUET * packed):
        raise DataError(
            f"{name} must not expand to more than {_PACKED_PARQUET:,} times its {packed:,} bytes; "
            f"got {rows:,} rows, which take {format_gigabytes(expanded)}. "
            "Where equal rows repeat, write each of them once and pass their number as `weight`."
        )


def check_memory(name: str, rows: int, columns: int, text_bytes: int = 0) -> None:
    """Refuse rows that do not fit into the memory of this machine even if nothing else is in it."""
    needed, there = (rows * columns * _CELL + text_bytes) * _COPIES, machine.physical_memory()
    if needed > there:
        raise DataError(
            f"{name} must fit into memory, of which there are {format_gigabytes(there)}; got {rows:,} rows, "
            f"which take at least {format_gigabytes(needed)}. "
            'Pass engine="duckdb" (--engine duckdb) to evaluate them on disk.'
        )


def check_relation(connection: DuckDBPyConnection, relation: str, columns: Sequence[str]) -> int:
    """Apply `check_texts` to columns of a connection, which SQL names by their own names."""
    types = columns_of(connection, relation)
    named = {name: quote_name(name) for name in columns}
    return check_texts(lambda sql: connection.execute(sql).fetchall(), relation, named, types)


def check_texts(query: Query, relation: str, columns: Mapping[str, str], types: Mapping[str, str]) -> int:
    """Refuse long texts, and lists, in columns that DuckDB can scan; return the bytes of all texts.

    DuckDB looks up the lengths in a dictionary without repeating its texts, so this takes little memory.

    Parameters
    ----------
    query : runs a query and returns its rows
    relation : what to select from
    columns, types : how SQL writes each column, and the type that DuckDB gives it
    """
    texts = {}
    for name, column in columns.items():
        kind = types[name]
        if kind.endswith("]") or kind.startswith(_NESTED):
            raise DataError(f"`{name}` must hold plain values; got a column of {kind}.")
        if kind in ("VARCHAR", "JSON", "BLOB") or kind.startswith("ENUM"):
            texts[name] = _Text(column=column, is_binary=kind == "BLOB")
    if not texts:
        return 0
    sums = ", ".join(f"max({text.bytes}), sum({text.bytes})" for text in texts.values())
    (found,) = query(f"SELECT {sums} FROM {relation}")
    for (name, text), longest in zip(texts.items(), found[::2], strict=True):
        places = query(text.find_long(relation)) if (longest or 0) > LONGEST_TEXT else []
        for row, length in places:
            refuse_long_text(name, int(length), int(row))
    return sum(int(total or 0) for total in found[1::2])


class _Text(NamedTuple):
    """A column of texts, or of bytes, in SQL."""

    column: str
    is_binary: bool

    @property
    def bytes(self) -> str:
        """SQL for the bytes of a text, which DuckDB stores."""
        return f"octet_length({self.column})" if self.is_binary else f"strlen({self.column}::VARCHAR)"

    def find_long(self, relation: str) -> str:
        """A query for the first text that is too long; characters are counted only if bytes do not decide."""
        characters = "size" if self.is_binary else "length(text::VARCHAR)"
        return (
            f"SELECT row, {characters} FROM (SELECT row_number() OVER () - 1 AS row, {self.bytes} AS size, "
            f"{self.column} AS text FROM {relation}) WHERE size > {_WIDEST * LONGEST_TEXT} "
            f"OR (size > {LONGEST_TEXT} AND {characters} > {LONGEST_TEXT}) LIMIT 1"
        )
