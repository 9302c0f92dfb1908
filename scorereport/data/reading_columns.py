"""Columns of a source with raw values, as pandas columns, whatever the source is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scorereport.data.column_names import check_columns
from scorereport.data.csv_files import read_csv
from scorereport.data.database_tables import (
    columns_of,
    explain_read_errors,
    open_duckdb_table,
    open_sql,
    read_duckdb_table,
    read_sql_table,
    sql_columns,
)
from scorereport.data.parquet_files import read_parquet, read_parquet_files
from scorereport.data.size_limits import check_memory, check_relation
from scorereport.data.sources import locate_source
from scorereport.errors import DataError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from scorereport.data.sources import SourceLocation


def read_columns(
    source: Any, numbers: Sequence[str], labels: Sequence[str], table: str | None = None
) -> pd.DataFrame:
    """Read the named columns of a frame, file, folder or table; in CSV files labels stay text."""
    columns = [*numbers, *labels]
    place = locate_source(source, table)
    if place.kind == "CSV":
        frame = read_csv(place.files[0], numbers, labels)
    elif place.kind == "Parquet":
        frame = read_parquet(place.files[0], columns)
    elif place.kind == "frame":
        frame = as_pandas(source)
        check_columns(columns, list(frame.columns), place.name)
    elif place.kind == "folder":
        frame = read_parquet_files(place, columns)
    else:
        frame = _read_table(source, table or "", place, columns)
    if frame.empty:
        raise DataError(f"{place.name} holds no rows.")
    return frame[columns].reset_index(drop=True)


def _read_table(source: Any, table: str, place: SourceLocation, columns: list[str]) -> pd.DataFrame:
    """Columns of a table of a database."""
    if place.kind == "sql":
        with open_sql(str(source)) as engine:
            check_columns(columns, sql_columns(engine, table, place.name), place.name)
            return read_sql_table(engine, table, columns)
    path = place.files[0]
    with open_duckdb_table(path, table, place.name) as (connection, relation):
        with explain_read_errors(place.name, "a table"):
            there = list(columns_of(connection, relation))
        check_columns(columns, there, place.name)
        with explain_read_errors(place.name, "a table"):
            text_bytes = check_relation(connection, relation, columns)
            ((rows,),) = connection.execute(f"SELECT count(*) FROM {relation}").fetchall()
        check_memory(place.name, rows, len(columns), text_bytes)
    return read_duckdb_table(path, table, place.name, columns)


def as_pandas(source: Any) -> pd.DataFrame:
    """A frame of any kind as that of pandas, its columns named by text."""
    import pandas as pd

    frame = source.to_pandas() if hasattr(source, "to_pandas") else source  # polars, pyarrow
    if not isinstance(frame, pd.DataFrame):
        raise UsageError(f"Predictions must be a DataFrame or a file; got {type(source).__name__}.")
    return frame.set_axis([str(column) for column in frame.columns], axis="columns")
