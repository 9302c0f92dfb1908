"""The database that the rows of an audit are read from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scorereport.audit.databases.addresses import read_database_address
from scorereport.audit.databases.connections import connect_read_only
from scorereport.audit.databases.fetching import fetch_batches, fetch_rows, infer_column, sort_by_content
from scorereport.audit.databases.query import bind_period
from scorereport.audit.databases.settings import DATABASE_KEY
from scorereport.audit.databases.table_query import TableName
from scorereport.audit.databases.tables import select_period_rows, select_time_range

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path
    from zoneinfo import ZoneInfo

    import pandas as pd
    from sqlalchemy import URL, Connection, Executable

    from scorereport.configuration.audit_tables import SourceTable
    from scorereport.configuration.periods import Period


class SourceDatabase:
    """A database and what is read of it; `table` is None if it is a query."""

    def __init__(self, url: URL, zone: ZoneInfo, source: SourceTable) -> None:
        self._url, self.zone, self._query, self._seconds = url, zone, source.query, source.seconds
        self.table = TableName(source.table, source.schema) if source.table else None

    @property
    def kind(self) -> str:
        """The kind of database: sqlite or postgresql."""
        return self._url.get_backend_name()

    @property
    def source(self) -> str:
        """What is read, for records and messages."""
        return f"table {self.table} on {self.kind}" if self.table else f"query on {self.kind}"

    def read_rows(self, columns: Sequence[str], column: str, period: Period) -> pd.DataFrame:
        """Read columns of the query; of a table only the rows of the period, by its column of dates."""
        with self._connect() as connection:
            statement = self._ask(connection, columns, column, period)
            return sort_by_content(fetch_rows(connection, statement, columns, f"The {self.source}"))

    def read_lots(
        self, columns: Sequence[str], column: str, period: Period, rows: int
    ) -> Iterator[pd.DataFrame]:
        """Read the same, so many rows at a time, in the order in which the database gives them."""
        with self._connect() as connection:
            statement = self._ask(connection, columns, column, period)
            yield from fetch_batches(connection, statement, columns, f"The {self.source}", rows)

    def _ask(self, connection: Connection, columns: Sequence[str], column: str, period: Period) -> Executable:
        if self.table:
            return select_period_rows(connection, self.table, columns, column, period)
        return bind_period(self._query, period, self.kind)

    def read_edges(self, table: TableName, column: str) -> pd.Series[Any]:
        """The first and the last time of a table."""
        with self._connect() as connection:
            frame = fetch_rows(connection, select_time_range(table, column), ["first", "last"], self.source)
        return infer_column([*frame["first"], *frame["last"]])

    def _connect(self) -> AbstractContextManager[Connection]:
        return connect_read_only(self._url, self.zone, self.source, self._seconds)


def find_source_database(
    source: SourceTable, *, folder: Path, zone: ZoneInfo, expand: Callable[[str, str], str]
) -> SourceDatabase:
    """The database that `audit.source.database` names; SQLite files are relative to the folder."""
    url = read_database_address(expand(source.database, DATABASE_KEY), folder)
    return SourceDatabase(url, zone, source)
