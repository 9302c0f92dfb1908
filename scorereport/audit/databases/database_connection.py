"""Read-only connections to the database of an audit: address, time limit, and errors without secrets."""

from __future__ import annotations

import re
import sqlite3
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import format_counted
from scorereport.data.database_sessions import ROLE_REFUSED, TIMEOUT_SECONDS, create_reader, may_leave_session
from scorereport.errors import DataError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from zoneinfo import ZoneInfo

    from sqlalchemy import URL, Connection, Engine


#: SQLite looks at the clock after so many of its steps, many times in a second.
_STEPS_BETWEEN_CHECKS = 100_000
#: The longest time in milliseconds that PostgreSQL knows: 24 days.
_MAX_MILLISECONDS = 2**31 - 1


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """So many seconds, from now on."""

    seconds: int
    start: float = field(default_factory=monotonic)

    @property
    def is_over(self) -> bool:
        """Whether the time has passed."""
        return monotonic() - self.start >= self.seconds

    def impose(self, connection: Connection) -> None:
        """Let the database end what takes longer; a limit of the server itself stays if it is shorter."""
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


DATABASE_KEY = "audit.source.database"
TIME_LIMIT_KEY = "audit.source.seconds"


_WRITES = "the query tries to write, and an audit only reads."
_DOES_MORE = "the query, or a view it reads, does more than read tables of the file, and an audit only reads."
_NO_SERVER = f"no server answers at the address of `{DATABASE_KEY}`."
_UNKNOWN_HOST = f"the host that `{DATABASE_KEY}` names is not known."
_CANCELLED = f"the server, or somebody there, ended the query earlier than `{TIME_LIMIT_KEY}` asks for."
_ENDED = "the server ended the connection; run the audit again."
#: What SQLite says of a query, which names nothing but parts of it.
_SQLITE_QUERY = re.compile(
    r'(no such (table|column|function|collation sequence): .*|near ".*": syntax error'
    r"|ambiguous column name: .*|unrecognized token: .*|incomplete input|misuse of .*|wrong number of arg.*)",
    re.DOTALL,
)
_SQLITE = {
    "readonly database": _WRITES,
    "not authorized": _DOES_MORE,
    "prohibited": _DOES_MORE,
    "unsafe use": _DOES_MORE,
    "database is locked": f"another program kept the file locked for {TIMEOUT_SECONDS} s; run the audit later.",
    "not a database": f"the file that `{DATABASE_KEY}` names is none of SQLite.",
    "unable to open": "the file cannot be opened; look at the permissions of the file and of its folder.",
    "malformed": "the file is damaged.",
    "decode to UTF-8": "a text in it is not UTF-8.",
}
_POSTGRESQL = {
    "password authentication failed": f"the server refuses the user or the password of `{DATABASE_KEY}`.",
    "no password supplied": f"the server asks for a password, and `{DATABASE_KEY}` has none.",
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


def explain_database_error(error: Exception, source: str, kind: str, limit: TimeLimit) -> str:
    """What a database says, in a sentence that gives away neither its address nor any data."""
    cause = getattr(error, "orig", None) or error
    if limit.is_over and _is_cancelled(cause):
        reason = f"it took longer than {format_counted(limit.seconds, 'second')}, the limit that `{TIME_LIMIT_KEY}` sets."
    else:
        reason = _explain_sqlite(cause) if kind == "sqlite" else _explain_postgresql(cause)
    return describe_refusal(source, reason)


def describe_refusal(source: str, reason: str) -> str:
    """The sentence that a source cannot be read for a reason."""
    return f"The {source} cannot be read: {reason}"


def _is_cancelled(cause: BaseException) -> bool:
    return getattr(cause, "sqlstate", "") == "57014" or str(cause) == "interrupted"


def _explain_sqlite(cause: BaseException) -> str:
    said = str(cause)
    if getattr(cause, "sqlite_errorname", "").startswith("SQLITE_READONLY_"):
        return "SQLite needs to write beside the file, which is in WAL mode, and may not write in its folder."
    if _SQLITE_QUERY.fullmatch(said):
        return f"{' '.join(said.split())}."
    known = next((told for part, told in _SQLITE.items() if part in said), None)
    return known or f"SQLite failed ({type(cause).__name__})."


def _explain_postgresql(cause: BaseException) -> str:
    state: str = getattr(cause, "sqlstate", None) or ""
    if state == "25006" or (state == "0A000" and "DECLARE CURSOR" in str(cause)):
        return _WRITES
    if state == "08P01":
        return "it has a parameter such as $1, and may have no others than :start and :end."
    if _is_cancelled(cause):
        return _CANCELLED
    if state.startswith("57P"):
        return _ENDED
    if state.startswith("42"):  # errors of the query, which name its words, and rights that are lacking
        return f"{' '.join(str(cause.diag.message_primary).split())}."  # type: ignore[attr-defined]
    known = next((told for part, told in _POSTGRESQL.items() if not state and part in str(cause)), None)
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(cause).__name__).lower()
    return known or f"PostgreSQL failed ({words})."


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
        return create_reader(url, TIMEOUT_SECONDS)
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


#: What talks to each kind of database.
_DRIVERS = {
    "sqlite": "sqlite+pysqlite",
    "postgresql": "postgresql+psycopg",
    "postgres": "postgresql+psycopg",
}


def read_database_address(text: str, folder: Path) -> URL:
    """The address that a text is; files of SQLite are relative to the folder."""
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
            f"postgresql://${{USER}}:${{PASSWORD}}@host/database; what came cannot be read as one."
        ) from None
    if url.get_backend_name() not in _DRIVERS:
        raise UsageError(
            f"`{DATABASE_KEY}` must begin with sqlite: or postgresql:, the databases that are known."
        )
    return url.set(drivername=_DRIVERS[url.get_backend_name()])


def _find_sqlite_file(url: URL, folder: Path) -> Path:
    if not url.database or url.database == ":memory:" or url.database.startswith("file:"):
        raise UsageError(f"`{DATABASE_KEY}` must name a file of SQLite, such as sqlite:///scores.db.")
    path = folder / url.database
    if not path.is_file():
        raise DataError(
            f"`{DATABASE_KEY}` names a file of SQLite that is not there; "
            f"a relative one is looked for in {folder.resolve()}."
        )
    return path.resolve()
