"""Parquet files: read columns of one file, or of all files in a folder or matching a pattern."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from scorereport.data import source_kind
from scorereport.data.database_sessions import connect_duckdb
from scorereport.data.database_tables import (
    columns_of,
    explain_read_errors,
    read_relation,
    scan_parquet,
    scannable,
    select_batches,
)
from scorereport.data.roles import check_columns
from scorereport.data.size_limits import check_memory, check_parquet_size, check_relation, check_texts
from scorereport.data.source_kind import SourceKind, unreadable_file
from scorereport.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    import pyarrow as pa
    import pyarrow.parquet as pq

    from scorereport.data.source_kind import RawBatches, SourceLocation


def read_parquet(path: Path, columns: list[str]) -> pa.Table:
    """Read columns of a file."""
    import pyarrow.parquet as pq

    with explain_parquet_errors(path):
        check_columns(columns, pq.read_schema(path).names, path.name)
        rows = check_footers([path], columns, path.name)
        check_memory(path.name, rows, len(columns), check_parquet_texts(path, columns))
        with pq.ParquetFile(path) as file:  # `read_table` loads pandas
            return file.read(columns=columns)


@contextmanager
def explain_parquet_errors(path: Path) -> Iterator[None]:
    """Raise a `DataError` that states in one sentence why a file cannot be read as Parquet."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowInvalid, OSError) as error:
        raise unreadable_file(path, "Parquet", error) from error


def check_footers(files: Sequence[Path], columns: Sequence[str], name: str) -> int:
    """Return the number of rows by the footers; refuse inconsistent footers and excessive expansion."""
    import pyarrow.parquet as pq

    rows = packed = uncompressed = 0
    for path in files:
        with explain_parquet_errors(path):
            footer = pq.read_metadata(path)
        groups = [footer.row_group(place) for place in range(footer.num_row_groups)]
        if any(group.num_rows < 0 for group in groups) or sum(g.num_rows for g in groups) != footer.num_rows:
            raise DataError(f"{path.name} cannot be read as Parquet: its footer contradicts itself.")
        rows += footer.num_rows
        packed += path.stat().st_size
        uncompressed += sum(_uncompressed(group, columns) for group in groups)
    check_parquet_size(name, packed, rows, len(columns), uncompressed)
    return rows


def _uncompressed(group: pq.RowGroupMetaData, columns: Sequence[str]) -> int:
    """Uncompressed bytes of the pages of some columns."""
    found = (group.column(place) for place in range(group.num_columns))
    return sum(c.total_uncompressed_size for c in found if c.path_in_schema.partition(".")[0] in columns)


def check_parquet_texts(path: Path, columns: Sequence[str]) -> int:
    """Refuse long texts in the columns of a file; return the bytes of all texts.

    Columns of numbers and dates have none: DuckDB, which takes a while to load, need not look. SQL refers to
    the columns by position, because it does not distinguish `A` from `a`.
    """
    import pyarrow.parquet as pq

    with explain_parquet_errors(path):
        schema = pq.read_schema(path)
    names = schema.names
    if all(_is_plain(schema.types[names.index(name)]) for name in columns):
        return 0
    places = {name: f"c{names.index(name)}" for name in columns}
    relation = f"{scan_parquet([path])} AS file({', '.join(f'c{place}' for place in range(len(names)))})"
    with explain_read_errors(path.name, "Parquet"), connect_duckdb(files=scannable([path])) as connection:
        types = columns_of(connection, relation)
        kinds = {name: types[place] for name, place in places.items()}
        return check_texts(lambda sql: connection.execute(sql).fetchall(), relation, places, kinds)


def _is_plain(kind: pa.DataType) -> bool:
    """Whether a column holds numbers, truth values or dates, each of a fixed size."""
    import pyarrow as pa

    checks = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_temporal)
    return any(check(kind) for check in checks)


def read_parquet_files(place: SourceLocation, columns: Sequence[str]) -> pa.Table:
    """Read columns of several files as one table."""
    check_parquet_files(place, columns)
    rows = check_footers(place.files, columns, place.name)
    with explain_read_errors(place.name, "Parquet"):
        with connect_duckdb(files=scannable(place.files)) as connection:
            text_bytes = check_relation(connection, place.scan, columns)
        check_memory(place.name, rows, len(columns), text_bytes)
        return read_relation(place.scan, place.files, columns)


def check_parquet_files(place: SourceLocation, columns: Sequence[str]) -> dict[str, str]:
    """Check that a folder of Parquet files has these columns; return all columns with DuckDB's types."""
    with (
        explain_read_errors(place.name, "Parquet"),
        connect_duckdb(files=scannable(place.files)) as connection,
    ):
        there = columns_of(connection, place.scan)
    check_columns(columns, list(there), place.name)
    return there


def _open_file(
    place: SourceLocation, columns: Sequence[str], _: Mapping[str, str | int]
) -> AbstractContextManager[RawBatches]:
    return nullcontext(_stream_file(place.files[0], columns))


def _stream_file(path: Path, columns: Sequence[str]) -> RawBatches:
    import pyarrow.parquet as pq

    check_parquet_texts(path, columns)
    with explain_parquet_errors(path), pq.ParquetFile(path) as file:
        for batch in file.iter_batches(source_kind.ROWS_PER_BATCH, columns=list(columns)):
            yield {name: batch.column(name) for name in columns}


@contextmanager
def _open_files(
    place: SourceLocation, columns: Sequence[str], settings: Mapping[str, str | int]
) -> Iterator[RawBatches]:
    with connect_duckdb(files=scannable(place.files), settings=settings) as connection:
        with explain_read_errors(place.name, "Parquet"):
            check_relation(connection, place.scan, columns)
        rows = source_kind.ROWS_PER_BATCH
        yield select_batches(connection, place.scan, columns, rows, name=place.name, what="Parquet")


def _count_rows(place: SourceLocation) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return sum(pq.read_metadata(file).num_rows for file in place.files)
    except (pa.ArrowInvalid, OSError):
        return 0  # the reader reports why it cannot be read


def list_parquet_columns(path: Path) -> list[str]:
    """Return the names of the columns of a file."""
    import pyarrow.parquet as pq

    with explain_parquet_errors(path):
        return list(pq.read_schema(path).names)


PARQUET = SourceKind(
    name="Parquet",
    endings=(".parquet",),
    signature=b"PAR1",
    read=lambda place, numbers, labels: read_parquet(place.files[0], [*numbers, *labels]),
    open_batches=_open_file,
    count_rows=_count_rows,
    list_columns=lambda place: list_parquet_columns(place.files[0]),
    is_scanned=True,
    engines=("memory", "duckdb", "spark"),
)
PARQUET_FILES = SourceKind(
    name="Parquet files",
    read=lambda place, numbers, labels: read_parquet_files(place, [*numbers, *labels]),
    open_batches=_open_files,
    count_rows=_count_rows,
    list_columns=lambda place: list(check_parquet_files(place, [])),
    is_scanned=True,
    engines=("memory", "duckdb", "spark"),
)
