"""Parquet files: columns of one of them, or of all that lie below a folder or match a pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport.connections import connect_duckdb
from scorereport.databases import columns_of, read_relation, reading, scannable
from scorereport.sources.column_names import check_columns
from scorereport.sources.file_kinds import unreadable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd

    from scorereport.sources.places import Place


def read_parquet(path: Path, columns: list[str]) -> pd.DataFrame:
    """Columns of a file as a frame."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        check_columns(columns, pq.read_schema(path).names, path.name)
        return pq.read_table(path, columns=columns).to_pandas(ignore_metadata=True)
    except (pa.ArrowInvalid, OSError) as error:
        raise unreadable(path, "Parquet", error) from error


def read_parquet_files(place: Place, columns: Sequence[str]) -> pd.DataFrame:
    """Columns of several files as one frame."""
    check_parquet_files(place, columns)
    with reading(place.name, "Parquet"):
        return read_relation(place.scan, place.files, columns)


def check_parquet_files(place: Place, columns: Sequence[str]) -> dict[str, str]:
    """The columns of a folder of Parquet files with their types, as DuckDB names them."""
    with reading(place.name, "Parquet"), connect_duckdb(files=scannable(place.files)) as connection:
        there = columns_of(connection, place.scan)
    check_columns(columns, list(there), place.name)
    return there
