"""Lock of an audit in the database of its history, for machines that share a history on a server.

It is an advisory lock of PostgreSQL on a connection of its own. The database releases it when the connection
ends: when the run ends, when its process dies, or when the machine has not answered for about a minute.
"""

from __future__ import annotations

import hashlib
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_plain
from scorereport.data.database_sessions import create_writer
from scorereport.errors import UsageError
from scorereport.history.database import LOCK_SECONDS, describe_url, find_database_file, translate_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlalchemy import URL, Connection

#: Settings of the session: the server asks an idle client whether it is alive, and does not end the session
#: because it is idle. A setting that the server does not have is left out.
_SETTINGS = {
    "tcp_keepalives_idle": "30",
    "tcp_keepalives_interval": "10",
    "tcp_keepalives_count": "3",
    "idle_session_timeout": "0",
    "statement_timeout": "0",
}
#: The error of PostgreSQL for a lock that was not released in time.
_LOCK_NOT_AVAILABLE = "55P03"
#: The longest time limit of PostgreSQL, in milliseconds.
_LONGEST_TIMEOUT = 2**31 - 1


def find_lock_key(audit: str) -> int:
    """Return the key of the advisory lock of an audit: 64 bits of the hash of its name.

    >>> find_lock_key("loans") == find_lock_key("loans"), find_lock_key("loans") == find_lock_key("cards")
    (True, False)
    """
    digest = hashlib.sha256(f"scorereport audit {audit}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


@contextmanager
def hold_database_lock(address: URL, audit: str, *, wait: float, waited: float = 0.0) -> Iterator[None]:
    """Hold the lock of an audit for all machines that share its history; a history in a file has none.

    A run waits for it up to `wait` seconds, of which `waited` are over.

    The database may go away while the lock is held. The lock is lost then, and another machine may begin the
    same audit; the history still takes only one record of the two.
    """
    if find_database_file(address) is not None:
        yield
        return
    engine = create_writer(address, timeout=LOCK_SECONDS)
    with ExitStack() as stack:
        stack.callback(_close, engine.dispose)
        with translate_errors(address):
            connection = engine.connect().execution_options(isolation_level="AUTOCOMMIT")
            stack.callback(_close, connection.close)
            is_held = _acquire(connection, find_lock_key(audit), wait - waited)
        if not is_held:
            raise UsageError(
                f"Another run of the audit {audit}, on this or another machine that shares the history "
                f"{describe_url(address)}, did not end within {format_plain(wait)} seconds."
            )
        yield


def _close(close: Callable[[], None]) -> None:
    """Close a connection or an engine; a connection that is lost cannot be closed, and holds no lock."""
    from sqlalchemy.exc import SQLAlchemyError

    with suppress(SQLAlchemyError):
        close()


def _acquire(connection: Connection, key: int, seconds: float) -> bool:
    """Wait for an advisory lock; return whether the session has it."""
    from sqlalchemy import func, select, text
    from sqlalchemy.exc import OperationalError

    for name, value in _SETTINGS.items():
        known = text("SELECT set_config(name, :value, false) FROM pg_settings WHERE name = :name")
        connection.execute(known, {"name": name, "value": value})
    connection.execute(select(func.set_config("lock_timeout", _format_timeout(seconds), False)))
    try:
        connection.execute(select(func.pg_advisory_lock(key)))
    except OperationalError as error:
        if getattr(error.orig, "sqlstate", None) == _LOCK_NOT_AVAILABLE:
            return False
        raise
    return True


def _format_timeout(seconds: float) -> str:
    """Return a time limit as PostgreSQL takes it; 0 would mean none.

    >>> _format_timeout(0), _format_timeout(2.5), _format_timeout(1e12)
    ('1ms', '2500ms', '2147483647ms')
    """
    return f"{min(max(1, round(1000 * seconds)), _LONGEST_TIMEOUT)}ms"
