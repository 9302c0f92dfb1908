"""Database of a history, SQLite or PostgreSQL: connections and transactions, one writer at a time."""

from __future__ import annotations

from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from scorereport.data.database_sessions import POSTGRESQL, SQLITE, create_writer, hide_login, name_driver
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType
    from typing import Self

    from sqlalchemy import URL, Connection, Engine


#: Seconds to wait for another process that writes.
LOCK_SECONDS = 60
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
        # Not chained to its cause: the traceback would show the address, with its password.
        raise UsageError(f"The history {describe_url(address)} cannot be used: {reason}{end}") from None


@contextmanager
def read_transaction(engine: Engine) -> Iterator[Connection]:
    """Begin a transaction that reads one state of the database and changes nothing."""
    level = {} if engine.dialect.name == "sqlite" else {"isolation_level": "REPEATABLE READ"}
    with engine.connect().execution_options(**level) as connection, connection.begin() as transaction:
        yield connection
        transaction.rollback()  # nothing is to be committed, and a damaged file refuses a commit


@contextmanager
def write_transaction(engine: Engine) -> Iterator[Connection]:
    """Begin a transaction that is the only writer, in this process and all others."""
    from sqlalchemy import func, select

    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        if engine.dialect.name != "sqlite":
            connection.execute(select(func.set_config("lock_timeout", f"{LOCK_SECONDS}s", True)))
            connection.execute(select(func.pg_advisory_xact_lock(LOCK_KEY)))
        yield connection


class HistoryDatabase:
    """Database of a history: `name` is for display, `file` is None if it is on a server."""

    def __init__(self, address: URL) -> None:
        self.address = address
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
        with translate_errors(self.address), read_transaction(self.engine) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Begin a transaction that is the only writer."""
        with translate_errors(self.address), write_transaction(self.engine) as connection:
            yield connection
