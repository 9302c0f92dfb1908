"""Connections to a database that can only read."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from scorereport.audit.databases import settings
from scorereport.audit.databases.failures import explain
from scorereport.audit.databases.time_limits import TimeLimit
from scorereport.errors import DataError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from zoneinfo import ZoneInfo

    from sqlalchemy import URL, Connection, Engine


@contextmanager
def connect(url: URL, zone: ZoneInfo, source: str, seconds: int) -> Iterator[Connection]:
    """A connection that can only read, and not for ever; what goes wrong is told without secrets."""
    from sqlalchemy.exc import SQLAlchemyError

    engine, limit = _create_engine(url), TimeLimit(seconds)
    try:
        with engine.connect() as connection:
            _forbid_writing(connection, zone)
            limit.impose(connection)
            try:
                yield connection
            finally:
                connection.rollback()
    except (SQLAlchemyError, sqlite3.Error) as error:
        # Without the cause, which may name the address.
        raise DataError(explain(error, source, url.get_backend_name(), limit)) from None
    finally:
        engine.dispose()


def _create_engine(url: URL) -> Engine:
    """Connections that are opened once, and do not show what is sent in messages."""
    from sqlalchemy import NullPool, create_engine

    if url.get_backend_name() == "sqlite":
        address = f"{Path(url.database or '').as_uri()}?mode=ro"
        return create_engine(
            "sqlite://",
            creator=lambda: sqlite3.connect(
                address, uri=True, timeout=settings.PATIENCE, isolation_level=None
            ),
            poolclass=NullPool,
            hide_parameters=True,
        )
    try:
        return create_engine(
            url,
            connect_args={"connect_timeout": settings.PATIENCE, "application_name": "scorereport"},
            poolclass=NullPool,
            hide_parameters=True,
        )
    except ModuleNotFoundError:
        raise UsageError(
            "PostgreSQL needs the package psycopg: pip install 'scorereport[postgres]'."
        ) from None


def _forbid_writing(connection: Connection, zone: ZoneInfo) -> None:
    """All that follows is one transaction that reads, with the days of the zone."""
    from sqlalchemy import text

    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("PRAGMA query_only = ON")
        connection.exec_driver_sql("BEGIN")
        return
    connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"))
    # For transactions after this one, should a query manage to end it.
    connection.execute(text("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY"))
    connection.execute(text("SELECT set_config('TimeZone', :zone, false)"), {"zone": zone.key})
