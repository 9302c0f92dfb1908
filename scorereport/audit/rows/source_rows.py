"""Columns that an audit needs, read from a file or a database, all rows at once or in batches."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from scorereport.data import source_kind
from scorereport.data.database_sessions import connect_duckdb
from scorereport.data.database_tables import explain_read_errors, scannable, select_batches
from scorereport.data.parquet_files import check_footers, check_parquet_files
from scorereport.data.reader import read_columns
from scorereport.data.size_limits import check_relation
from scorereport.data.sources import describe_source, hash_file, locate_source, rows_named
from scorereport.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    import pandas as pd
    import pyarrow as pa

    from scorereport.audit.databases.database_rows import SourceDatabase
    from scorereport.configuration.audit_tables import WindowTable
    from scorereport.configuration.periods import Period
    from scorereport.data.csv_format import CsvFormat
    from scorereport.data.roles import Roles
    from scorereport.data.source_kind import RawBatches, SourceLocation


class SourceRows(NamedTuple):
    """Columns as they were read, and their source.

    `order` describes the order of the rows, `find_times` returns times of the source, of any day.
    `counts_others` states whether rows of other days were read as well; `name_rows` names rows that are
    refused as people find them in the source, if it is a file.
    """

    frame: pd.DataFrame
    source: str
    order: str
    find_times: Callable[[], pd.Series[Any]]
    sha256: str = ""
    counts_others: bool = True
    name_rows: Callable[[], AbstractContextManager[None]] = nullcontext


def read_source_file(
    path: Path,
    table: str,
    window: WindowTable,
    roles: Roles,
    csv_format: CsvFormat | None = None,
    more: Sequence[str] = (),
) -> SourceRows:
    """Read a file, a folder of files, or a table of a database in a file, with `more` columns of labels."""
    labels = list_label_columns(roles, window.column, more)
    name_rows = partial(rows_named, path, table or None, csv_format)
    with hash_while_unchanged(path) as sha256, name_rows():
        frame = read_columns(path, roles.numbers, labels, table or None, csv_format).to_pandas()
    return SourceRows(
        frame=frame,
        source=describe_source(path, table or None),
        order="in the order of the file",
        find_times=lambda: frame[window.column],
        sha256=sha256,
        name_rows=name_rows,
    )


@contextmanager
def hash_while_unchanged(path: Path, known: str = "") -> Iterator[str]:
    """Yield the hash of a file or a folder; raise an error if it changes while it is read in the block.

    If the hash is `known` already, a change since then is an error as well.
    """
    try:
        path.stat()
        before = known or hash_file(path)
        yield before
        after = hash_file(path)
    except OSError as error:
        raise DataError(f"{path.name} cannot be read: {error.strerror or type(error).__name__}.") from error
    if before != after:
        raise DataError(
            f"{path.name} changed while it was read. Write it under another name, such as "
            f"{path.name}.tmp, and rename it once it is complete."
        )


def read_source_database(
    database: SourceDatabase, window: WindowTable, period: Period, roles: Roles, more: Sequence[str] = ()
) -> SourceRows:
    """Read the query or the table of a database, with `more` columns, which do not change the order."""
    columns = [*roles.numbers, *list_label_columns(roles, window.column)]
    table = database.table
    frame = database.read_rows(columns, window.column, period, [name for name in more if name not in columns])
    if frame.empty and not (window.column and period.start):
        raise DataError(f"The {database.source} gave no rows.")
    return SourceRows(
        frame=frame,
        source=database.source,
        order="sorted by all columns",
        find_times=lambda: database.read_edges(table, window.column) if table else frame[window.column],
        counts_others=table is None,
    )


def list_label_columns(roles: Roles, column: str, more: Sequence[str] = ()) -> list[str]:
    """List the columns that are not numeric, with that of the window and `more`, each once."""
    extra = [name for name in (column, *more) if name and name not in (*roles.numbers, *roles.labels)]
    return [*roles.labels, *dict.fromkeys(extra)]


@contextmanager
def open_batches(
    path: Path, table: str, columns: Sequence[str], csv_format: CsvFormat | None = None
) -> Iterator[Iterator[pa.Table]]:
    """Yield batches of the rows in their order, with values as they are stored; those of CSV are texts."""
    place = locate_source(path, table or None, csv_format)
    if place.kind.is_scanned:
        with _scan_batches(place, columns) as batches:
            yield map(_make_table, batches)
    else:
        with place.kind.open_batches(place, columns, {}) as batches:
            yield map(_make_table, batches)


@contextmanager
def _scan_batches(place: SourceLocation, columns: Sequence[str]) -> Iterator[RawBatches]:
    check_parquet_files(place, columns)
    check_footers(place.files, columns, place.name)
    with (
        explain_read_errors(place.name, "Parquet"),
        connect_duckdb(files=scannable(place.files)) as connection,
    ):
        check_relation(connection, place.scan, columns)
        rows = source_kind.ROWS_PER_BATCH
        yield select_batches(connection, place.scan, columns, rows, name=place.name, what="Parquet")


def _make_table(batch: Mapping[str, Any]) -> pa.Table:
    import pyarrow as pa

    return pa.table(dict(batch))
