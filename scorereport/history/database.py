"""Database of a history, SQLite or PostgreSQL: connections and transactions, one writer at a time."""

from __future__ import annotations

import time
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from scorereport.data.database_sessions import (
    POSTGRESQL,
    SQLITE,
    UnreachableError,
    create_writer,
    hide_login,
    name_driver,
)
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType
    from typing import Self

    from sqlalchemy import URL, Connection, Engine


#: Seconds to wait for another process that writes.
LOCK_SECONDS = 60
#: Seconds to wait for a server that was reachable before and may be restarting, and between two attempts.
RECOVERY_SECONDS, _RECOVERY_PAUSE = 60.0, 0.5
#: Errors of PostgreSQL by which a server ends sessions, or refuses new ones, when it stops or starts.
_RESTART_STATES = ("57P01", "57P02", "57P03")
#: The class of errors of connections.
_CONNECTION_STATES = "08"
#: Errors of PostgreSQL for a right that the role does not have, and for a session that only reads.
_DENIED_STATES = ("42501", "25006")
#: Key of the PostgreSQL advisory lock that every writer to a history takes.
LOCK_KEY = 7_365_317_233


def read_url(url: str | URL) -> URL:
    """Parse and check the address of a database; plain `postgresql://` means psycopg 3."""
    from sqlalchemy import make_url
    from sqlalchemy.exc import SQLAlchemyError

    try:
        address = make_url(url)
    except (SQLAlchemyError, ValueError):  # the message would repeat the address with its password
        raise UsageError(
            "The database of a history must be an address such as sqlite:///audits/history.db or "
            "postgresql://user:password@host/database; the given value is not such an address."
        ) from None
    named = name_driver(address)
    if named.drivername == SQLITE:
        return _check_file(address)
    if named.drivername == POSTGRESQL:
        return _check_driver(named)
    raise UsageError(
        f"The database of a history must begin with sqlite:// or postgresql://; got {address.drivername}://."
    )


def _check_file(address: URL) -> URL:
    if address.database in (None, "", ":memory:") or address.query:
        raise UsageError(
            "The address of a SQLite history must name a file and nothing else, such as "
            f"sqlite:///audits/history.db; got {address.render_as_string()}."
        )
    return address


def _check_driver(address: URL) -> URL:
    if find_spec("psycopg") is None:
        raise UsageError(
            'A history in PostgreSQL needs the package psycopg: pip install "scorereport[postgres]".'
        )
    return address


def find_database_file(address: URL) -> Path | None:
    """Return the file of a SQLite database; None for a server."""
    return Path(address.database or "") if address.get_backend_name() == "sqlite" else None


def describe_url(address: URL) -> str:
    """Return the displayed name of a database: its file, or its address without password and options."""
    file = find_database_file(address)
    return (
        str(file) if file is not None else address.set(drivername="postgresql", query={}).render_as_string()
    )


@contextmanager
def translate_errors(address: URL) -> Iterator[None]:
    """Turn an error of the database into a UsageError: one sentence without secrets."""
    import sqlite3

    from sqlalchemy.exc import DBAPIError, SQLAlchemyError

    try:
        yield
    except (
        SQLAlchemyError,
        sqlite3.Error,
        UnicodeDecodeError,
    ) as error:  # the last if SQLite quotes damaged text
        cause = error.orig if isinstance(error, DBAPIError) else error
        message = getattr(getattr(cause, "diag", None), "message_primary", None) or str(cause)
        reason = hide_login(" ".join(message.split("\n[SQL")[0].split()) or type(cause).__name__, address)
        end = "" if reason.endswith((".", "?", "!")) else "."
        kind = UnreachableError if _is_lost(error) else DeniedError if _is_denied(error) else UsageError
        # Not chained to its cause: the traceback would show the address, with its password.
        raise kind(f"The history {describe_url(address)} cannot be used: {reason}{end}") from None


class DeniedError(UsageError):
    """The role of a PostgreSQL session does not have the right to do something."""


def _is_denied(error: Exception) -> bool:
    """Whether the server refuses a statement because the role has no right to run it."""
    return getattr(getattr(error, "orig", None), "sqlstate", "") in _DENIED_STATES


def _is_lost(error: Exception) -> bool:
    """Whether a server cannot be reached, or the connection to it is lost."""
    from sqlalchemy.exc import InterfaceError, OperationalError

    cause = error.orig if isinstance(error, OperationalError | InterfaceError) else None
    state = getattr(cause, "sqlstate", "")  # None if the server did not answer; SQLite has no states
    return state is None or state in _RESTART_STATES or state.startswith(_CONNECTION_STATES)


@contextmanager
def read_transaction(opened: Connection) -> Iterator[Connection]:
    """Begin a transaction that reads one state of the database and changes nothing."""
    level = {} if opened.dialect.name == "sqlite" else {"isolation_level": "REPEATABLE READ"}
    with opened.execution_options(**level) as connection, connection.begin() as transaction:
        yield connection
        transaction.rollback()  # nothing is to be committed, and a damaged file refuses a commit


@contextmanager
def write_transaction(opened: Connection) -> Iterator[Connection]:
    """Begin a transaction that is the only writer, in this process and all others."""
    from sqlalchemy import func, select

    with opened.execution_options(writes=True) as connection, connection.begin():
        if connection.dialect.name != "sqlite":
            connection.execute(select(func.set_config("lock_timeout", f"{LOCK_SECONDS}s", True)))
            connection.execute(select(func.pg_advisory_xact_lock(LOCK_KEY)))
        yield connection


class HistoryDatabase:
    """Database of a history: `name` is for display, `file` is None if it is on a server.

    `patience` is the number of seconds to wait for a server that does not answer.
    """

    def __init__(self, address: URL) -> None:
        self.address = address
        self.patience = 0.0
        self.name = describe_url(address)
        self.file = find_database_file(address)
        self.engine: Engine = create_writer(address, timeout=LOCK_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Begin a transaction that reads one state of the history."""
        with translate_errors(self.address), read_transaction(self._connect()) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Begin a transaction that is the only writer."""
        with translate_errors(self.address), write_transaction(self._connect()) as connection:
            yield connection

    def _connect(self) -> Connection:
        """Connect to the database; wait for a server that may be about to start again."""
        end = time.monotonic() + self.patience
        while True:
            try:
                with translate_errors(self.address):
                    return self.engine.connect()
            except UnreachableError:
                if time.monotonic() >= end:
                    raise
            time.sleep(_RECOVERY_PAUSE)
