"""Rows as they are stored, whatever has become of them: read so that damage is seen and not fallen over."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import LargeBinary, cast, func, select

from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Column, ColumnElement, Connection, Row, Table

    from scorereport.history.store import History


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRows:
    """Rows by the names of columns, keys of rows that cannot be read, and what the database says of it.

    If no row can be read, there is no saying which there are, and no keys are given.
    """

    rows: tuple[dict[str, Any], ...]
    unreadable: tuple[Any, ...] = ()
    trouble: str = ""


def run_query(history: History, connection: Connection, query: Any) -> list[Row[Any]]:
    """All rows of an answer; a refusal is a UsageError, after which the transaction still works."""
    from scorereport.history.database import translate_errors

    # SQLite goes on after a refusal, and cannot go back to a point in a damaged file.
    point = nullcontext() if history.file is not None else connection.begin_nested()
    with translate_errors(history.address), point:
        return list(connection.execute(query))


def read_stored_rows(
    history: History, connection: Connection, table: Table, keys: Iterable[Any] = ()
) -> StoredRows:
    """All rows; one by one if that fails, also those with the keys given."""
    key = table.primary_key.columns[0]
    # In no order: for one, SQLite would read the copies in an index, which may be as they were.
    query = select(*_as_stored(table, connection))
    try:
        return StoredRows(rows=tuple(_decode(row, table) for row in run_query(history, connection, query)))
    except UsageError as error:
        rows, unreadable = _read_rows_singly(
            history, connection, table, {*keys, *_find_keys(history, connection, key)}
        )
        return StoredRows(rows=rows, unreadable=unreadable if rows else (), trouble=str(error))


def _read_rows_singly(
    history: History, connection: Connection, table: Table, keys: Iterable[Any]
) -> tuple[tuple[dict[str, Any], ...], tuple[Any, ...]]:
    rows, unreadable = [], []
    for value in sorted(keys, key=str):
        query = select(*_as_stored(table, connection)).where(table.primary_key.columns[0] == value)
        try:
            rows += [_decode(row, table) for row in run_query(history, connection, query)]
        except UsageError:
            unreadable.append(value)
    return tuple(rows), tuple(unreadable)


def _find_keys(history: History, connection: Connection, key: Column[Any]) -> list[Any]:
    """Keys that an index still knows of."""
    try:
        return [row[0] for row in run_query(history, connection, select(key))]
    except UsageError:
        return []


def _as_stored(table: Table, connection: Connection) -> list[ColumnElement[Any]]:
    """SQLite keeps a type with every value, and text that may be none; a server checks both itself."""
    if connection.dialect.name != "sqlite":
        return list(table.columns)
    bare = [cast(column, LargeBinary).label(column.name) for column in table.columns]
    return [*bare, *(func.typeof(column).label(f"type of {column.name}") for column in table.columns)]


def _decode(row: Row[Any], table: Table) -> dict[str, Any]:
    found = dict(row._mapping)
    return {name: _decode_value(found[name], found.get(f"type of {name}")) for name in table.c.keys()}  # noqa: SIM118


def _decode_value(value: Any, kind: str | None) -> Any:
    """Text as text, be it damaged, and integers as integers: a value of another type equals none expected."""
    if kind == "text":
        return value.decode(errors="surrogateescape")
    return int(value) if kind == "integer" else value
