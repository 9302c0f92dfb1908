"""Read-only connections to the database of an audit: address, time limit, and errors without secrets."""

from __future__ import annotations

import re
import sqlite3
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import format_counted
from scorereport.data.database_sessions import (
    DRIVERS,
    ROLE_REFUSED,
    TIMEOUT_SECONDS,
    create_reader,
    may_leave_session,
)
from scorereport.errors import DataError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from zoneinfo import ZoneInfo

    from sqlalchemy import URL, Connection, Engine


#: SQLite checks the clock after this many of its steps, many times in a second.
_STEPS_BETWEEN_CHECKS = 100_000
#: The longest time limit of PostgreSQL in milliseconds: 24 days.
_MAX_MILLISECONDS = 2**31 - 1
DATABASE_KEY = "audit.source.database"
TIME_LIMIT_KEY = "audit.source.seconds"
_WRITES = "the query tries to write, and an audit only reads."
_DOES_MORE = "the query, or a view it reads, does more than read tables of the file, and an audit only reads."
_NO_SERVER = f"no server answers at the address of `{DATABASE_KEY}`."
_UNKNOWN_HOST = f"the host that `{DATABASE_KEY}` names is not known."
_CANCELLED = f"the query was cancelled on the server before the time limit of `{TIME_LIMIT_KEY}`."
_ENDED = "the server ended the connection; run the audit again."
#: Messages of SQLite about a query, which name nothing but parts of it.
_SQLITE_QUERY = re.compile(
    r'(no such (table|column|function|collation sequence): .*|near ".*": syntax error'
    r"|ambiguous column name: .*|unrecognized token: .*|incomplete input|misuse of .*|wrong number of arg.*)",
    re.DOTALL,
)
#: Parts of messages of SQLite, and the sentences that replace them.
_SQLITE = {
    "readonly database": _WRITES,
    "not authorized": _DOES_MORE,
    "prohibited": _DOES_MORE,
    "unsafe use": _DOES_MORE,
    "database is locked": (
        f"another program kept the file locked for {TIMEOUT_SECONDS} s; run the audit again later."
    ),
    "not a database": f"the file that `{DATABASE_KEY}` names is not an SQLite file.",
    "unable to open": "the file cannot be opened; check the permissions of the file and of its folder.",
    "malformed": "the file is damaged.",
    "decode to UTF-8": "a text in it is not UTF-8.",
}
#: Parts of messages of PostgreSQL, and the sentences that replace them.
_POSTGRESQL = {
    "password authentication failed": f"the server refuses the user or the password of `{DATABASE_KEY}`.",
    "no password supplied": f"the server requires a password, and `{DATABASE_KEY}` has none.",
    "Connection refused": _NO_SERVER,
    "No such file or directory": _NO_SERVER,
    "timeout": f"no server answered within {TIMEOUT_SECONDS} seconds at the address of `{DATABASE_KEY}`.",
    "resolve host": _UNKNOWN_HOST,
    "translate host name": _UNKNOWN_HOST,
    "does not exist": f"the server has no database or no user of the name in `{DATABASE_KEY}`.",
    "server closed the connection": _ENDED,
    "connection is lost": _ENDED,
    "too large": "it holds a time that is infinite or after the year 9999.",
    "too small": "it holds a time before the year 1.",
}


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """A time limit in seconds, which starts when it is created."""

    seconds: int
    start: float = field(default_factory=monotonic)

    @property
    def is_over(self) -> bool:
        """Whether the time has passed."""
        return monotonic() - self.start >= self.seconds

    def impose(self, connection: Connection) -> None:
        """Set the time limit of the database; a shorter limit of the server itself stays in force."""
        from sqlalchemy import text

        if connection.dialect.name == "sqlite":
            driver: Any = connection.connection.driver_connection
            driver.set_progress_handler(lambda: self.is_over, _STEPS_BETWEEN_CHECKS)
            return
        known = text("SELECT setting FROM pg_settings WHERE name = 'statement_timeout'")
        shortest = min(
            1000 * self.seconds, int(connection.scalar(known) or 0) or _MAX_MILLISECONDS, _MAX_MILLISECONDS
        )
        limit = text("SELECT set_config('statement_timeout', :limit, true)")
        connection.execute(limit, {"limit": str(shortest)})


def explain_database_error(error: Exception, source: str, kind: str, limit: TimeLimit) -> str:
    """Describe an error of a database in a sentence that reveals neither its address nor any data."""
    cause = getattr(error, "orig", None) or error
    if limit.is_over and _is_cancelled(cause):
        seconds = format_counted(limit.seconds, "second")
        reason = f"it took longer than {seconds}, the limit that `{TIME_LIMIT_KEY}` sets."
    else:
        reason = _explain_sqlite(cause) if kind == "sqlite" else _explain_postgresql(cause)
    return describe_refusal(source, reason)


def describe_refusal(source: str, reason: str) -> str:
    """Return the sentence that a source cannot be read, with the reason."""
    return f"The {source} cannot be read: {reason}"


def _is_cancelled(cause: BaseException) -> bool:
    return getattr(cause, "sqlstate", "") == "57014" or str(cause) == "interrupted"


def _explain_sqlite(cause: BaseException) -> str:
    message = str(cause)
    if getattr(cause, "sqlite_errorname", "").startswith("SQLITE_READONLY_"):
        return "SQLite needs to write beside the file, which is in WAL mode, and may not write in its folder."
    if _SQLITE_QUERY.fullmatch(message):
        return f"{' '.join(message.split())}."
    known = next((sentence for part, sentence in _SQLITE.items() if part in message), None)
    return known or f"SQLite failed ({type(cause).__name__})."


def _explain_postgresql(cause: BaseException) -> str:
    state: str = getattr(cause, "sqlstate", None) or ""
    if state == "25006" or (state == "0A000" and "DECLARE CURSOR" in str(cause)):
        return _WRITES
    if state == "08P01":
        return "it has a parameter such as $1; the only parameters allowed are :start and :end."
    if _is_cancelled(cause):
        return _CANCELLED
    if state.startswith("57P"):
        return _ENDED
    if state.startswith("42"):  # errors in the query, which name parts of it, and missing privileges
        return f"{' '.join(str(cause.diag.message_primary).split())}."  # type: ignore[attr-defined]
    known = next((text for part, text in _POSTGRESQL.items() if not state and part in str(cause)), None)
    kind = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(cause).__name__).lower()
    return known or f"PostgreSQL failed ({kind})."


@contextmanager
def connect_read_only(url: URL, zone: ZoneInfo, source: str, seconds: int) -> Iterator[Connection]:
    """Open a read-only connection with a time limit; its errors hold no secrets."""
    from sqlalchemy.exc import SQLAlchemyError

    engine, limit = _create_engine(url), TimeLimit(seconds)
    try:
        with engine.connect() as connection:
            _begin_read_only(connection, zone)
            if may_leave_session(connection):
                raise DataError(describe_refusal(source, ROLE_REFUSED))
            limit.impose(connection)
            try:
                # From here on, PostgreSQL receives each statement as DECLARE CURSOR FOR it, in a protocol
                # that allows one statement only: it accepts nothing but a single SELECT.
                yield connection.execution_options(stream_results=True)
            finally:
                connection.rollback()
    except (SQLAlchemyError, sqlite3.Error) as error:
        # Without the cause: it may name the address.
        raise DataError(explain_database_error(error, source, url.get_backend_name(), limit)) from None
    finally:
        engine.dispose()


def _create_engine(url: URL) -> Engine:
    try:
        return create_reader(url, TIMEOUT_SECONDS)
    except ModuleNotFoundError:
        raise UsageError(
            "PostgreSQL needs the package psycopg: pip install 'scorereport[postgres]'."
        ) from None


def _begin_read_only(connection: Connection, zone: ZoneInfo) -> None:
    """Begin a read-only transaction, with the time zone of the audit."""
    from sqlalchemy import text

    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("BEGIN")
        return
    # For later transactions, in case a query manages to end this one.
    connection.execute(text("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY"))
    # The first query of the transaction: from now on it cannot be turned into one that writes.
    connection.execute(text("SELECT set_config('TimeZone', :zone, false)"), {"zone": zone.key})
    # Plan cursors as queries: for all rows, not for the first ones.
    connection.execute(text("SELECT set_config('cursor_tuple_fraction', '1', false)"))


def read_database_address(text: str, folder: Path) -> URL:
    """Parse the address of a database; SQLite files are relative to the folder."""
    url = _read_url(text)
    if url.get_backend_name() == "sqlite":
        return url.set(database=str(_find_sqlite_file(url, folder)), query={})
    return url


def _read_url(text: str) -> URL:
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        url = make_url(text.strip())
    except (ArgumentError, ValueError):
        raise UsageError(
            f"`{DATABASE_KEY}` must be an address such as sqlite:///scores.db or "
            f"postgresql://${{USER}}:${{PASSWORD}}@host/database; this one cannot be read as an address."
        ) from None
    if url.get_backend_name() not in DRIVERS:
        raise UsageError(f"`{DATABASE_KEY}` must begin with sqlite: or postgresql:, the supported databases.")
    return url.set(drivername=DRIVERS[url.get_backend_name()])


def _find_sqlite_file(url: URL, folder: Path) -> Path:
    if not url.database or url.database == ":memory:" or url.database.startswith("file:"):
        raise UsageError(f"`{DATABASE_KEY}` must name an SQLite file, such as sqlite:///scores.db.")
    path = folder / url.database
    if not path.is_file():
        raise DataError(
            f"`{DATABASE_KEY}` names an SQLite file that does not exist; "
            f"relative paths are resolved in {folder.resolve()}."
        )
    return path.resolve()
