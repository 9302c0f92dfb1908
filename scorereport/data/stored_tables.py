"""Tables of databases as sources: DuckDB files, and databases at an SQLAlchemy address."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from scorereport.data import source_kind
from scorereport.data.database_tables import (
    columns_of,
    count_duckdb_rows,
    count_sql_rows,
    explain_read_errors,
    open_duckdb_table,
    open_sql,
    read_duckdb_table,
    read_sql_table,
    select_batches,
    sql_columns,
    stream_sql,
)
from scorereport.data.roles import check_columns
from scorereport.data.size_limits import check_memory, check_relation
from scorereport.data.source_kind import SourceKind
from scorereport.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd
    import pyarrow as pa

    from scorereport.data.source_kind import RawBatches, SourceLocation

_TABLE = "a table"


@contextmanager
def _open_checked(
    place: SourceLocation, columns: Sequence[str], settings: Mapping[str, str | int] | None = None
) -> Iterator[tuple[Any, str, int]]:
    """The connection, the table as SQL names it, and the bytes of the texts in these columns."""
    with open_duckdb_table(place.files[0], place.table, place.name, settings) as (connection, relation):
        with explain_read_errors(place.name, _TABLE):
            there = list(columns_of(connection, relation))
        check_columns(columns, there, place.name)
        with explain_read_errors(place.name, _TABLE):
            text_bytes = check_relation(connection, relation, columns)
        yield connection, relation, text_bytes


def _read_duckdb(place: SourceLocation, numbers: Sequence[str], labels: Sequence[str]) -> pa.Table:
    columns = [*numbers, *labels]
    with _open_checked(place, columns) as (connection, relation, text_bytes):
        with explain_read_errors(place.name, _TABLE):
            ((rows,),) = connection.execute(f"SELECT count(*) FROM {relation}").fetchall()
        check_memory(place.name, rows, len(columns), text_bytes)
    return read_duckdb_table(place.files[0], place.table, place.name, columns)


@contextmanager
def _stream_duckdb(
    place: SourceLocation, columns: Sequence[str], settings: Mapping[str, str | int]
) -> Iterator[RawBatches]:
    with _open_checked(place, columns, settings) as (connection, relation, _):
        rows = source_kind.ROWS_PER_BATCH
        yield select_batches(connection, relation, columns, rows, name=place.name, what=_TABLE)


def _count_duckdb(place: SourceLocation) -> int:
    try:
        return count_duckdb_rows(place.files[0], place.table, place.name)
    except DataError:
        return 0  # the reader reports why it cannot be read


def _list_duckdb(place: SourceLocation) -> list[str]:
    with open_duckdb_table(place.files[0], place.table, place.name) as (connection, relation):
        return list(columns_of(connection, relation))


def _read_sql(place: SourceLocation, numbers: Sequence[str], labels: Sequence[str]) -> pd.DataFrame:
    columns = [*numbers, *labels]
    with open_sql(str(place.source)) as engine:
        check_columns(columns, sql_columns(engine, place.table, place.name), place.name)
        return read_sql_table(engine, place.table, columns)


@contextmanager
def _stream_sql(
    place: SourceLocation, columns: Sequence[str], _: Mapping[str, str | int]
) -> Iterator[RawBatches]:
    with open_sql(str(place.source)) as engine:
        check_columns(columns, sql_columns(engine, place.table, place.name), place.name)
        yield stream_sql(engine, place.table, columns)


def _count_sql(place: SourceLocation) -> int:
    try:
        return count_sql_rows(str(place.source), place.table)
    except DataError:
        return 0  # the reader reports why it cannot be read


def _list_sql(place: SourceLocation) -> list[str]:
    with open_sql(str(place.source)) as engine:
        return sql_columns(engine, place.table, place.name)


DUCKDB = SourceKind(
    name="a DuckDB database",
    endings=(".duckdb", ".ddb"),
    takes_table=True,
    read=_read_duckdb,
    open_batches=_stream_duckdb,
    count_rows=_count_duckdb,
    list_columns=_list_duckdb,
)
SQL = SourceKind(
    name="a database",
    takes_table=True,
    read=_read_sql,
    open_batches=_stream_sql,
    count_rows=_count_sql,
    list_columns=_list_sql,
)
