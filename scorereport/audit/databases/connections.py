"""Connections to the database of an audit, each of one transaction that only reads, with a time limit."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING

from scorereport.audit.databases import settings
from scorereport.audit.databases.database_connection import describe_refusal, explain_database_error
from scorereport.audit.databases.time_limits import TimeLimit
from scorereport.data.database_sessions import ROLE_REFUSED, create_reader, may_leave_session
from scorereport.errors import DataError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from zoneinfo import ZoneInfo

    from sqlalchemy import URL, Connection, Engine


@contextmanager
def connect_read_only(url: URL, zone: ZoneInfo, source: str, seconds: int) -> Iterator[Connection]:
    """A connection that can only read, and not for ever; what goes wrong is told without secrets."""
    from sqlalchemy.exc import SQLAlchemyError

    engine, limit = _create_engine(url), TimeLimit(seconds)
    try:
        with engine.connect() as connection:
            _begin_read_only(connection, zone)
            if may_leave_session(connection):
                raise DataError(describe_refusal(source, ROLE_REFUSED))
            limit.impose(connection)
            try:
                # PostgreSQL gets each statement from here on as DECLARE CURSOR FOR it, by a protocol of one
                # statement: it accepts nothing but a single SELECT.
                yield connection.execution_options(stream_results=True)
            finally:
                connection.rollback()
    except (SQLAlchemyError, sqlite3.Error) as error:
        # Without the cause, which may name the address.
        raise DataError(explain_database_error(error, source, url.get_backend_name(), limit)) from None
    finally:
        engine.dispose()


def _create_engine(url: URL) -> Engine:
    try:
        return create_reader(url, settings.TIMEOUT_SECONDS)
    except ModuleNotFoundError:
        raise UsageError(
            "PostgreSQL needs the package psycopg: pip install 'scorereport[postgres]'."
        ) from None


def _begin_read_only(connection: Connection, zone: ZoneInfo) -> None:
    """All that follows is one transaction, with the days of the zone."""
    from sqlalchemy import text

    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("BEGIN")
        return
    # For transactions after this one, should a query manage to end it.
    connection.execute(text("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY"))
    # The first query of the transaction: from now on it cannot be made one that writes.
    connection.execute(text("SELECT set_config('TimeZone', :zone, false)"), {"zone": zone.key})
    # Cursors are planned to be read to their end, as queries are.
    connection.execute(text("SELECT set_config('cursor_tuple_fraction', '1', false)"))
