"""Sessions of databases: every connection of SQLAlchemy, SQLite and DuckDB is opened here.

Sessions of sources can do nothing but read the tables named. The database itself refuses what is not allowed:
no SQL text is searched for forbidden statements. Only a history is opened for writing.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus

from scorereport._utils.documentation import DocumentationPage, cite_page
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from duckdb import DuckDBPyConnection
    from sqlalchemy import URL, Connection, Engine

#: Seconds to wait for a server to answer, and for a locked SQLite file to become free.
TIMEOUT_SECONDS = 15
SQLITE, POSTGRESQL = "sqlite+pysqlite", "postgresql+psycopg"
#: The driver of an address that names none; for SQLAlchemy before 2.1, `postgresql` alone means psycopg2.
DRIVERS = {"sqlite": SQLITE, "postgresql": POSTGRESQL, "postgres": POSTGRESQL}
#: Options of an address whose names contain one of these words are secret.
_SECRET_WORDS = ("pass", "secret", "token", "key")
#: Why a role of PostgreSQL is refused, as the end of a sentence.
ROLE_REFUSED = (
    "its role is a superuser or may use files and programs of the server, which a session that only reads "
    f"cannot prevent; connect as a role that may only select ({cite_page(DocumentationPage.AUDITS)})."
)
#: DuckDB loads no extensions and uses neither variables of Python nor secrets of the user.
_DUCKDB = {
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}
#: The last settings: after them only the named files can be opened, and no setting can be changed.
_DUCKDB_CLOSED = {"enable_external_access": "false", "lock_configuration": "true"}
#: What SQLite may do to run a query; a transaction can only read because the file is opened read-only.
_SQLITE_ACTIONS = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_RECURSIVE,
    sqlite3.SQLITE_TRANSACTION,
}
#: Pragmas that describe tables, or that SQLAlchemy and full-text tables read; none of them can be set.
_SQLITE_PRAGMAS = {"data_version", "database_list", "table_info", "table_list", "table_xinfo"}
_SQLITE_FORBIDDEN = {"edit", "fts3_tokenizer", "load_extension", "readfile", "writefile"}
_ROLE = """
    SELECT EXISTS (
        SELECT FROM pg_catalog.pg_roles AS role
        WHERE (role.rolsuper OR role.rolname IN
               ('pg_execute_server_program', 'pg_read_server_files', 'pg_write_server_files'))
          AND pg_catalog.pg_has_role(session_user, role.oid, 'MEMBER'))
"""


def connect_duckdb(
    path: Path | str = ":memory:",
    *,
    files: Iterable[str] = (),
    read_only: bool = False,
    settings: Mapping[str, str | int] | None = None,
) -> DuckDBPyConnection:
    """Open a DuckDB connection that can open its own database, temporary files, and these files only.

    Parameters
    ----------
    path : the database
    files : files outside the database that may be scanned, as SQL names them
    read_only : whether the database must not be changed
    settings : further settings, such as a limit of memory
    """
    import duckdb

    connection = duckdb.connect(path, read_only=read_only, config={**(settings or {}), **_DUCKDB})
    try:
        # Neither these files nor a folder for temporary files can be named once access is closed. Opening a
        # database evaluates nothing that is stored in it.
        connection.execute("SET allowed_paths = $files", {"files": list(files)})
        for name, value in _DUCKDB_CLOSED.items():
            connection.execute(f"SET {name} = {value}")
    except BaseException:
        connection.close()
        raise
    return connection


class UnreachableError(UsageError):
    """A history that cannot be read, though nothing is known to be wrong with it."""


def name_driver(url: URL) -> URL:
    """Return an address with the driver that we use, if it names none."""
    return url.set(drivername=DRIVERS.get(url.drivername, url.drivername))


def hide_login(text: str, url: URL) -> str:
    """Replace the password of an address, and options that are secret, by ***, however short they are."""
    hidden = [value for key, value in url.query.items() if any(word in key for word in _SECRET_WORDS)]
    for secret in map(str, filter(None, [url.password, *hidden])):
        forms = {secret, quote(secret, safe=""), quote_plus(secret)}
        for form in sorted(forms, key=len, reverse=True):  # a form may begin with another one
            text = text.replace(form, "***")
    return text


def create_reader(url: URL, timeout: float = TIMEOUT_SECONDS) -> Engine:
    """Create an engine for reading; sessions of SQLite and PostgreSQL cannot write.

    Sessions of other databases are ordinary ones that never commit. A SQLite file must exist; none is created
    here.
    """
    from sqlalchemy import QueuePool, create_engine

    url = name_driver(url)
    if url.drivername == SQLITE:
        creator = partial(_connect_sqlite, Path(url.database or ""), timeout)
        return create_engine("sqlite://", creator=creator, poolclass=QueuePool, hide_parameters=True)
    if url.get_backend_name() != "postgresql":
        return create_engine(url, hide_parameters=True)
    return create_engine(
        url,
        connect_args=_name_session(url, timeout),
        execution_options={"isolation_level": "REPEATABLE READ", "postgresql_readonly": True},
        hide_parameters=True,
    )


def _name_session(url: URL, timeout: float) -> dict[str, Any]:
    """Connection arguments for drivers built on libpq."""
    if url.get_driver_name() not in ("psycopg", "psycopg2"):
        return {}
    arguments = {"connect_timeout": timeout, "application_name": "scorereport"}
    return {name: value for name, value in arguments.items() if name not in url.query}


def _connect_sqlite(file: Path, timeout: float) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{file.resolve().as_uri()}?mode=ro",
        uri=True,
        timeout=timeout,
        isolation_level=None,
        check_same_thread=False,
    )
    # Views and tables of the file may use only functions that have no side effects.
    for setting in ("query_only = ON", "trusted_schema = OFF"):
        connection.execute(f"PRAGMA {setting}")
    if sys.version_info >= (3, 12):
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)
    connection.set_authorizer(_authorize)
    return connection


def _authorize(action: int, first: str | None, second: str | None, *_: str | None) -> int:
    """Whether a statement may do this; SQLite calls it once, before the statement runs."""
    if action == sqlite3.SQLITE_FUNCTION:
        is_allowed = (second or "").lower() not in _SQLITE_FORBIDDEN
    elif action == sqlite3.SQLITE_PRAGMA:
        # SQLAlchemy reads the isolation level when it connects.
        is_allowed = first in _SQLITE_PRAGMAS or (first == "read_uncommitted" and second is None)
    else:
        is_allowed = action in _SQLITE_ACTIONS
    return sqlite3.SQLITE_OK if is_allowed else sqlite3.SQLITE_DENY


def may_leave_session(connection: Connection) -> bool:
    """Whether the role of a PostgreSQL session, or a role it may assume, can act outside transactions.

    A superuser can read and write files of the server and run programs by functions that a SELECT may call.
    """
    if connection.dialect.name != "postgresql":
        return False
    return bool(connection.exec_driver_sql(_ROLE).scalar_one())


def create_writer(url: URL, *, timeout: float) -> Engine:
    """Create the engine of a history, without connecting yet; it cannot write where the user may not.

    Transactions of SQLite begin as `BEGIN IMMEDIATE` with the execution option `writes`; `timeout` is the
    number of seconds that they wait for another writer.
    """
    from sqlalchemy import create_engine, event

    if url.get_backend_name() != "sqlite":
        return create_engine(
            url,
            isolation_level="READ COMMITTED",  # a writer that waited for the lock must see what was committed
            connect_args={"connect_timeout": TIMEOUT_SECONDS},
            pool_pre_ping=True,
        )
    file = Path(url.database or "")
    if file.is_file() and not may_write(file):
        engine = create_engine("sqlite://", creator=partial(_connect_history_reader, file, timeout))
    else:
        engine = create_engine(url, connect_args={"timeout": timeout})
    event.listen(engine, "connect", _set_up_connection)
    event.listen(engine, "begin", _begin_transaction)
    return engine


def create_scratch() -> Engine:
    """Create the engine of an empty SQLite database in memory."""
    from sqlalchemy import create_engine

    return create_engine("sqlite://")


def may_write(file: Path) -> bool:
    """Whether this user may write to a SQLite database, which requires write access to its folder too."""
    return os.access(file, os.W_OK) and os.access(file.parent, os.W_OK)


def _connect_history_reader(file: Path, timeout: float) -> sqlite3.Connection:
    """Connect without write access, for example as an auditor or on a read-only disk.

    Changes that are still in the write-ahead log can be read only if the index of the log exists. A log
    without an index can be read by a writer only, because the index has to be created. Without a log the
    database file is complete.
    """
    log, index = (file.with_name(f"{file.name}{end}") for end in ("-wal", "-shm"))
    has_log = log.is_file() and log.stat().st_size > 0
    if has_log and not index.is_file():
        raise UnreachableError(
            f"The history {file} has a log, {log.name}, that only a user with write access to the folder can "
            "read. To fix: open the history once as such a user, or copy both files to a folder of your own."
        )
    how = "mode=ro" if has_log else "mode=ro&immutable=1"
    return sqlite3.connect(
        f"{file.resolve().as_uri()}?{how}", uri=True, timeout=timeout, check_same_thread=False
    )


def _set_up_connection(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # `_begin_transaction` begins transactions, not the driver
    connection.execute("PRAGMA synchronous = FULL")


def _begin_transaction(connection: Connection) -> None:
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
