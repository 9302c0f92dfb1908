"""Statements that read a table of a database, or of it the days of a period."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from scorereport.audit.databases.table_query import quote_identifier
from scorereport.data.column_names import check_columns
from scorereport.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from sqlalchemy import ColumnElement, Connection, Executable
    from sqlalchemy.types import TypeEngine

    from scorereport.audit.databases.table_query import TableName
    from scorereport.configuration.periods import Period

#: Dates in texts may be those of other time zones: so many days around the window are read as well.
_MARGIN = timedelta(days=2)


def select_period_rows(
    connection: Connection, table: TableName, columns: Sequence[str], column: str, period: Period
) -> Executable:
    """Select columns of a table, and of its rows those of the period and those without a time."""
    import sqlalchemy as sa

    types = table.find_types(connection)
    check_columns(columns, list(types), f"The table {table}")
    selected: list[ColumnElement[Any]] = [sa.column(quote_identifier(name)) for name in columns]
    statement = sa.select(*selected).select_from(table.clause)
    if not column or period.first_day is None:
        return statement
    days = (period.first_day, period.day_after)
    return statement.where(_is_in_window(*days, column, types[column], connection.dialect.name))


def select_time_range(table: TableName, column: str) -> Executable:
    """Select the `first` and the `last` time of a table."""
    import sqlalchemy as sa

    time: ColumnElement[Any] = sa.column(quote_identifier(column))
    edges = sa.select(sa.func.min(time).label("first"), sa.func.max(time).label("last"))
    return edges.select_from(table.clause)


def _is_in_window(
    first: date, after: date, column: str, kind: TypeEngine[Any], dialect: str
) -> ColumnElement[bool]:
    """Whether a time lies in the window or is missing; days are bound, never written into the statement."""
    import sqlalchemy as sa

    time: ColumnElement[Any] = sa.column(quote_identifier(column))
    is_missing = time.is_(None)
    bounds: list[ColumnElement[Any]]
    if dialect == "sqlite" or isinstance(kind, sa.String):
        texts = ((first - _MARGIN).isoformat(), (after + _MARGIN).isoformat())
        bounds = [sa.bindparam(None, text, sa.String()) for text in texts]
        time = time if dialect == "sqlite" else time.collate("C")
    elif isinstance(kind, (sa.Date, sa.DateTime)):
        bounds = [sa.bindparam(None, day, sa.Date()) for day in (first, after)]
    else:
        raise DataError(f"`{column}` must hold dates; the type of the column is {kind}.")
    return sa.or_(is_missing, sa.and_(time >= bounds[0], time < bounds[1]))
