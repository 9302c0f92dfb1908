"""Statements that read a table: its quoted name, similar names if it is missing, and the days of a period."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

from scorereport._utils.formatting import join_words
from scorereport.data.roles import check_columns
from scorereport.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sqlalchemy import ColumnElement, Connection, Executable, Inspector, TableClause
    from sqlalchemy.types import TypeEngine

    from scorereport.configuration.periods import Period


_MAX_NAMES = 5
#: This many days around the window are read as well: dates in texts may be of other time zones.
_MARGIN = timedelta(days=2)
#: This many hours around a window of hours are read as well: in the night in which clocks are set back, the
#: database would take a local time for one of two moments.
_HOUR_MARGIN = timedelta(hours=3)


class TableName(NamedTuple):
    """The name of a table or a view; without a schema, the database uses its search path."""

    name: str
    schema: str = ""

    def __str__(self) -> str:
        """Return the name for records and messages."""
        return f"{self.schema}.{self.name}" if self.schema else self.name

    @property
    def clause(self) -> TableClause:
        """The table as part of a statement."""
        import sqlalchemy as sa

        return sa.table(
            quote_identifier(self.name), schema=quote_identifier(self.schema) if self.schema else None
        )

    def find_types(self, connection: Connection) -> dict[str, TypeEngine[Any]]:
        """Return the types of the columns; raise an error if the table does not exist."""
        import sqlalchemy as sa
        from sqlalchemy.exc import NoSuchTableError

        inspector = sa.inspect(connection)
        if self.schema:
            _check_schema(self.schema, inspector.get_schema_names())
        try:
            columns = inspector.get_columns(self.clause.name, schema=self.clause.schema)
        except NoSuchTableError:
            raise DataError(_describe_missing_table(self, inspector)) from None
        return {column["name"]: column["type"] for column in columns}


def quote_identifier(name: str) -> str:
    """Return a name that is always quoted in a statement."""
    from sqlalchemy.sql import quoted_name

    return quoted_name(name, quote=True)


def _check_schema(schema: str, known: Iterable[str]) -> None:
    if schema not in known:
        raise DataError(
            f"`audit.source.schema` names {schema!r}, which the database does not have; "
            f"similar schemas: {_list_similar_names(schema, known)}."
        )


def _describe_missing_table(table: TableName, inspector: Inspector) -> str:
    """State that a table does not exist, and which table may be meant."""
    schema = table.clause.schema
    where = f"the schema {table.schema!r}" if schema else "the database"
    sentence = f"`audit.source.table` names {table.name!r}, which {where} does not have"
    meant = next(_list_schema_matches(table, inspector), None)
    if meant:
        return f'{sentence}; set audit.source.schema to "{meant.schema}" and table to "{meant.name}".'
    names = {*inspector.get_table_names(schema), *inspector.get_view_names(schema)}
    return f"{sentence}; similar tables and views: {_list_similar_names(table.name, names)}."


def _list_schema_matches(table: TableName, inspector: Inspector) -> Iterator[TableName]:
    """Find the table of a schema if the name has the form schema.table."""
    schemas = [] if table.schema else inspector.get_schema_names()
    for schema in schemas:
        name = table.name.removeprefix(f"{schema}.")
        if name != table.name and inspector.has_table(
            quote_identifier(name), schema=quote_identifier(schema)
        ):
            yield TableName(name, schema)


def _list_similar_names(name: str, names: Iterable[str]) -> str:
    return join_words(get_close_matches(name, sorted(names), n=_MAX_NAMES, cutoff=0) or ["none"])


def select_period_rows(
    connection: Connection, table: TableName, columns: Sequence[str], column: str, period: Period
) -> Executable:
    """Select columns of a table, in the rows of the period and in those without a time."""
    import sqlalchemy as sa

    types = table.find_types(connection)
    check_columns(columns, list(types), f"The table {table}")
    selected: list[ColumnElement[Any]] = [sa.column(quote_identifier(name)) for name in columns]
    statement = sa.select(*selected).select_from(table.clause)
    if not column or period.first_day is None:
        return statement
    return statement.where(_is_in_window(period, column, types[column], connection.dialect.name))


def select_time_range(table: TableName, column: str) -> Executable:
    """Select the `first` and the `last` time of a table."""
    import sqlalchemy as sa

    time: ColumnElement[Any] = sa.column(quote_identifier(column))
    edges = sa.select(sa.func.min(time).label("first"), sa.func.max(time).label("last"))
    return edges.select_from(table.clause)


def _is_in_window(period: Period, column: str, kind: TypeEngine[Any], dialect: str) -> ColumnElement[bool]:
    """Return the condition that a time is near the window or missing; bounds are bound as parameters."""
    import sqlalchemy as sa

    time: ColumnElement[Any] = sa.column(quote_identifier(column))
    is_missing = time.is_(None)
    bounds: list[ColumnElement[Any]]
    if dialect == "sqlite" or isinstance(kind, sa.String):
        first, after = period.first_day or date.min, period.day_after
        texts = ((first - _MARGIN).isoformat(), (after + _MARGIN).isoformat())
        bounds = [sa.bindparam(None, text, sa.String()) for text in texts]
        time = time if dialect == "sqlite" else time.collate("C")
    elif isinstance(kind, (sa.Date, sa.DateTime)):
        bounds = _bind_bounds(period, is_day=isinstance(kind, sa.Date))
    else:
        raise DataError(f"`{column}` must hold dates; the type of the column is {kind}.")
    return sa.or_(is_missing, sa.and_(time >= bounds[0], time < bounds[1]))


def _bind_bounds(period: Period, *, is_day: bool) -> list[ColumnElement[Any]]:
    """Bind start and end of a period, for a column of dates (`is_day`) or times."""
    import sqlalchemy as sa

    if is_day or not period.is_hourly:
        return [sa.bindparam(None, day, sa.Date()) for day in (period.first_day, period.day_after)]
    times = ((period.begins or datetime.min) - _HOUR_MARGIN, period.ends + _HOUR_MARGIN)
    return [sa.bindparam(None, moment, sa.DateTime()) for moment in times]
