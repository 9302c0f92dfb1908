"""The columns that an audit needs, read from a file or a database, of all rows that it gives."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from scorereport.data.hashing import hash_file
from scorereport.data.reading_columns import read_columns
from scorereport.data.sources import describe_source
from scorereport.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import pandas as pd

    from scorereport.audit.databases.database_rows import SourceDatabase
    from scorereport.configuration.audit_tables import WindowTable
    from scorereport.configuration.periods import Period
    from scorereport.data.roles import Roles


class SourceRows(NamedTuple):
    """Columns as they came, and where from.

    `order` says in which order the rows are, `find_times` finds times that the source has, of any day.
    `counts_others` tells whether rows of other days were read as well.
    """

    frame: pd.DataFrame
    source: str
    order: str
    find_times: Callable[[], pd.Series[Any]]
    sha256: str = ""
    counts_others: bool = True


def read_source_file(path: Path, table: str, window: WindowTable, roles: Roles) -> SourceRows:
    """Read a file, a folder of files, or a table of a database in a file."""
    labels = list_label_columns(roles, window.column)
    with hash_while_unchanged(path) as sha256:
        frame = read_columns(path, roles.numbers, labels, table or None)
    return SourceRows(
        frame=frame,
        source=describe_source(path, table or None),
        order="in the order of the file",
        find_times=lambda: frame[window.column],
        sha256=sha256,
    )


@contextmanager
def hash_while_unchanged(path: Path, known: str = "") -> Iterator[str]:
    """The hash of a file, or of a folder of files, that nobody writes while it is read in the block.

    Where the hash is `known` from an earlier look, nobody wrote since then either.
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
    database: SourceDatabase, window: WindowTable, period: Period, roles: Roles
) -> SourceRows:
    """Read the query or the table of a database."""
    columns = [*roles.numbers, *list_label_columns(roles, window.column)]
    table, frame = database.table, database.read_rows(columns, window.column, period)
    if frame.empty and not (window.column and period.start):
        raise DataError(f"The {database.source} gave no rows.")
    return SourceRows(
        frame=frame,
        source=database.source,
        order="sorted by all columns",
        find_times=lambda: database.read_edges(table, window.column) if table else frame[window.column],
        counts_others=table is None,
    )


def list_label_columns(roles: Roles, column: str) -> list[str]:
    """The columns that are no numbers, with that of the window unless it plays a part anyway."""
    beside = [column] if column and column not in (*roles.numbers, *roles.labels) else []
    return [*roles.labels, *beside]
