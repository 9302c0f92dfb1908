"""Rows of a database for an audit: of a query or a table, all at once or in batches."""

from __future__ import annotations

from decimal import Decimal
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.checks import LONGEST_TEXT
from scorereport.audit.databases.database_connection import (
    DATABASE_KEY,
    connect_read_only,
    read_database_address,
)
from scorereport.audit.databases.query import bind_period
from scorereport.audit.databases.table_query import TableName, select_period_rows, select_time_range
from scorereport.data.column_rules import label_text
from scorereport.data.columns import read_number, text_length
from scorereport.data.roles import check_columns
from scorereport.data.size_limits import refuse_long_text
from scorereport.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path
    from zoneinfo import ZoneInfo

    import pandas as pd
    import pyarrow as pa
    from numpy.typing import NDArray
    from sqlalchemy import URL, Connection, CursorResult, Executable, Row

    from scorereport.configuration.audit_tables import SourceTable
    from scorereport.configuration.periods import Period


#: How many rows are in memory at a time.
_BATCH_ROWS = 50_000


def fetch_rows(
    connection: Connection, statement: Executable, columns: Sequence[str], where: str
) -> pd.DataFrame:
    """Fetch columns of all rows, with their types."""
    with connection.execute(statement) as result:
        places = _find_indices(result, columns, where)
        return _build_frame(result.fetchall(), places)


def fetch_batches(
    connection: Connection, statement: Executable, columns: Sequence[str], where: str, size: int
) -> Iterator[pd.DataFrame]:
    """Fetch columns in batches of `size` rows; the server sends no more in advance."""
    with connection.execute(statement, execution_options={"yield_per": size}) as result:
        places = _find_indices(result, columns, where)
        for rows in result.partitions(size):
            yield _build_frame(rows, places)


def _find_indices(result: CursorResult[Any], columns: Sequence[str], where: str) -> dict[str, int]:
    names = list(map(str, result.keys()))
    check_columns(columns, names, where)
    return {name: names.index(name) for name in columns}


def _build_frame(rows: Sequence[Row[Any]], places: dict[str, int]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame({name: infer_column([row[at] for row in rows]) for name, at in places.items()})


def infer_column(values: list[Any]) -> pd.Series[Any]:
    """Return a column of the type that its values have; decimal numbers become floating point.

    A column with missing values keeps its objects: its whole numbers would become floating point, too.
    """
    import pandas as pd

    items = [float(value) if isinstance(value, Decimal) else value for value in values]
    column = pd.Series(items, dtype=object)
    return column if None in items else column.infer_objects()


def sort_by_content(frame: pd.DataFrame, last: Collection[str] = ()) -> pd.DataFrame:
    """Sort rows by their contents alone: a database guarantees no order. Columns in `last` come last."""
    if frame.empty:
        return frame
    names = sorted(frame.columns, key=lambda name: (name in last, name), reverse=True)
    keys = [_rank_values(frame[name]) for name in names]
    return frame.iloc[np.lexsort(keys)].reset_index(drop=True)


def _rank_values(column: pd.Series[Any]) -> NDArray[Any]:
    """Return sort keys for a column: numbers as they are, others by their rank as texts."""
    if column.dtype.kind in "biuf":
        return column.to_numpy()
    return column.map(label_text, na_action="ignore").factorize(sort=True)[0]


class SourceDatabase:
    """A database with the table or query to read; `table` is None for a query."""

    def __init__(self, url: URL, zone: ZoneInfo, source: SourceTable) -> None:
        self._url, self.zone, self._query, self._seconds = url, zone, source.query, source.seconds
        self.table = TableName(source.table, source.schema) if source.table else None

    @property
    def kind(self) -> str:
        """The kind of database: sqlite or postgresql."""
        return self._url.get_backend_name()

    @property
    def source(self) -> str:
        """The name of the source in records and messages."""
        return f"table {self.table} on {self.kind}" if self.table else f"query on {self.kind}"

    def read_rows(
        self, columns: Sequence[str], column: str, period: Period, more: Sequence[str] = ()
    ) -> pd.DataFrame:
        """Read columns of the query or the table; of a table only the rows of the period, by `column`.

        Rows are in the order of the `columns`, and where these are equal in that of `more` columns.
        """
        names = [*columns, *more]
        with self._connect() as connection:
            statement = self._build_statement(connection, names, column, period)
            return sort_by_content(fetch_rows(connection, statement, names, f"The {self.source}"), more)

    def read_batches(
        self, columns: Sequence[str], column: str, period: Period, rows: int
    ) -> Iterator[pd.DataFrame]:
        """Read the same rows in batches of `rows`, in the order of the database."""
        with self._connect() as connection:
            statement = self._build_statement(connection, columns, column, period)
            yield from fetch_batches(connection, statement, columns, f"The {self.source}", rows)

    def _build_statement(
        self, connection: Connection, columns: Sequence[str], column: str, period: Period
    ) -> Executable:
        if self.table:
            return select_period_rows(connection, self.table, columns, column, period)
        return bind_period(self._query, period, self.kind)

    def read_edges(self, table: TableName, column: str) -> pd.Series[Any]:
        """Read the first and the last time of a table."""
        with self._connect() as connection:
            frame = fetch_rows(connection, select_time_range(table, column), ["first", "last"], self.source)
        return infer_column([*frame["first"], *frame["last"]])

    def _connect(self) -> AbstractContextManager[Connection]:
        return connect_read_only(self._url, self.zone, self.source, self._seconds)


def find_source_database(
    source: SourceTable, *, folder: Path, zone: ZoneInfo, expand: Callable[[str, str], str]
) -> SourceDatabase:
    """Return the database that `audit.source.database` names; SQLite files are relative to the folder."""
    url = read_database_address(expand(source.database, DATABASE_KEY), folder)
    return SourceDatabase(url, zone, source)


def read_batches(
    database: SourceDatabase, numbers: Sequence[str], labels: Sequence[str], column: str, period: Period
) -> Iterator[pa.Table]:
    """Read columns of a query, or of a table's rows around the period: numbers, and labels as texts.

    So all batches have the same types, whatever their values are.
    """
    import pyarrow as pa

    before = 0
    for frame in database.read_batches([*numbers, *labels], column, period, _BATCH_ROWS):
        found = {  # from pandas, NaN is null: statistics of Parquet files say nothing of NaN
            name: pa.array([_as_number(v, name) for v in frame[name]], pa.float64(), from_pandas=True)
            for name in numbers
        }
        texts = {name: pa.array(_as_texts(frame[name], name, before), pa.string()) for name in labels}
        before += len(frame)
        yield pa.table({**found, **texts})


def _as_number(value: Any, name: str) -> float:
    number = read_number(value)
    if number is None:
        raise DataError(f"`{name}` must be numeric; got {value!r}.")
    return number


def _as_texts(values: Iterable[Any], name: str, before: int) -> Iterator[str | None]:
    """Convert labels to texts, missing ones to None; `before` is how many rows were read before these."""
    for place, value in enumerate(values):
        if (length := text_length(value)) > LONGEST_TEXT:
            refuse_long_text(name, length, before + place)
        is_missing = value is None or (isinstance(value, float) and isnan(value))
        yield None if is_missing else label_text(value)
