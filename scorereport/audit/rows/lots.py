"""Columns of a file, a folder of files or a table of a database in a file, so many rows at a time."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from scorereport.data.column_names import check_columns
from scorereport.data.csv_files import stream_csv
from scorereport.data.database_sessions import connect_duckdb
from scorereport.data.database_tables import (
    columns_of,
    explain_read_errors,
    open_duckdb_table,
    quote_name,
    scannable,
)
from scorereport.data.parquet_files import check_footers, check_parquet_files
from scorereport.data.size_limits import check_relation
from scorereport.data.sources import locate_source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa
    from duckdb import DuckDBPyConnection

#: Rows that are in memory at a time.
BATCH_ROWS = 1 << 17


@contextmanager
def open_batches(path: Path, table: str, columns: Sequence[str]) -> Iterator[Iterator[pa.Table]]:
    """The rows in their order, with raw values as they are stored; of CSV files they are texts."""
    place = locate_source(path, table or None)
    if place.kind == "CSV":
        yield _read_csv(path, columns)
    elif place.kind == "duckdb":
        with open_duckdb_table(path, table, place.name) as (connection, relation):
            with explain_read_errors(place.name, "a table"):
                there = list(columns_of(connection, relation))
            check_columns(columns, there, place.name)
            with explain_read_errors(place.name, "a table"):
                check_relation(connection, relation, columns)
                yield _select_batches(connection, relation, columns)
    else:
        check_parquet_files(place, columns)
        check_footers(place.files, columns, place.name)
        with (
            explain_read_errors(place.name, "Parquet"),
            connect_duckdb(files=scannable(place.files)) as connection,
        ):
            check_relation(connection, place.scan, columns)
            yield _select_batches(connection, place.scan, columns)


def _read_csv(path: Path, columns: Sequence[str]) -> Iterator[pa.Table]:
    import pyarrow as pa

    for batch in stream_csv(path, list(columns)):
        yield pa.Table.from_batches([batch])


def _select_batches(
    connection: DuckDBPyConnection, relation: str, columns: Sequence[str]
) -> Iterator[pa.Table]:
    import pyarrow as pa

    names = ", ".join(map(quote_name, columns))
    reader = connection.sql(f"SELECT {names} FROM {relation}").to_arrow_reader(BATCH_ROWS)
    for batch in reader:
        yield pa.Table.from_batches([batch])
