"""The address of a database, of a kind that is known to be read without being written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport.audit.databases.settings import DATABASE_KEY
from scorereport.errors import DataError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import URL

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
