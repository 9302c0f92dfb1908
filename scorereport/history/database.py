"""Database of a history, SQLite or PostgreSQL: connections and transactions, one writer at a time."""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scorereport.errors import UsageError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from types import TracebackType
    from typing import Self

    from sqlalchemy import URL, Connection, Engine


#: Seconds to wait for another process that writes.
LOCK_SECONDS = 60
#: Key of the PostgreSQL advisory lock that every writer to a history takes.
LOCK_KEY = 7_365_317_233
_SECRET_WORDS = ("pass", "secret", "token", "key")


class UnreachableError(UsageError):
    """A history that cannot be read, though nothing is known to be wrong with it."""


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
    if address.drivername in ("sqlite", "sqlite+pysqlite"):
        return _check_file(address)
    if address.drivername in ("postgresql", "postgres", "postgresql+psycopg"):
        return _check_driver(address.set(drivername="postgresql+psycopg"))
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
        reason = " ".join(message.split("\n[SQL")[0].split()) or type(cause).__name__
        # Not chained to its cause: the traceback would show the address, with its password.
        raise UsageError(
            f"The history {describe_url(address)} cannot be used: {_redact(reason, address)}"
        ) from None


def _redact(reason: str, address: URL) -> str:
    from urllib.parse import quote, quote_plus

    hidden = [value for key, value in address.query.items() if any(word in key for word in _SECRET_WORDS)]
    for secret in map(str, filter(None, [address.password, *hidden])):
        for form in {secret, quote(secret, safe=""), quote_plus(secret)}:
            reason = reason.replace(form, "***")
    return reason if reason.endswith((".", "?", "!")) else f"{reason}."


def may_write(file: Path) -> bool:
    """Whether this user may write to a SQLite database, which requires write access to its folder too."""
    return os.access(file, os.W_OK) and os.access(file.parent, os.W_OK)


def open_history_engine(address: URL) -> Engine:
    """Create the SQLAlchemy engine of a history, without connecting to the database yet."""
    from sqlalchemy import create_engine, event

    file = find_database_file(address)
    if file is None:
        return create_engine(
            address,
            isolation_level="READ COMMITTED",  # a writer that waited for the lock must see what was committed
            connect_args={"connect_timeout": 15},
            pool_pre_ping=True,
        )
    if file.is_file() and not may_write(file):
        engine = create_engine("sqlite://", creator=partial(_connect_reader, file))
    else:
        engine = create_engine(address, connect_args={"timeout": LOCK_SECONDS})
    event.listen(engine, "connect", _set_up_connection)
    event.listen(engine, "begin", _begin_transaction)
    return engine


def _connect_reader(file: Path) -> sqlite3.Connection:
    """Connect without write access, for example as an auditor or on a read-only disk.

    Changes that are still in the write-ahead log can be read only if the index of the log exists. A log
    without an index can be read by a writer only, because the index has to be created. Without a log the
    database file is complete.
    """
    import sqlite3

    log, index = (file.with_name(f"{file.name}{end}") for end in ("-wal", "-shm"))
    has_log = log.is_file() and log.stat().st_size > 0
    if has_log and not index.is_file():
        raise UnreachableError(
            f"The history {file} has a log, {log.name}, that only a user with write access to the folder can "
            "read. To fix: open the history once as such a user, or copy both files to a folder of your own."
        )
    how = "mode=ro" if has_log else "mode=ro&immutable=1"
    return sqlite3.connect(
        f"{file.resolve().as_uri()}?{how}", uri=True, timeout=LOCK_SECONDS, check_same_thread=False
    )


def _set_up_connection(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # `_begin_transaction` begins transactions, not the driver
    connection.execute("PRAGMA synchronous = FULL")


def _begin_transaction(connection: Connection) -> None:
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


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
        self.engine: Engine = open_history_engine(address)

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
