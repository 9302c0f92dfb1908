"""A database made ready to hold a history: its folder, its tables and its log."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from scorereport._utils.scorereport_files import make_folder, only_owner
from scorereport.errors import UsageError
from scorereport.history.database import LOCK_SECONDS, may_write, translate_errors

if TYPE_CHECKING:
    from scorereport.history.history_database import HistoryDatabase


def prepare_database(history: HistoryDatabase, *, create: bool) -> None:
    """Refuse what is no history before anything is written; then make it one of today, under the lock."""
    from scorereport.history.database_schema import CURRENT, migrate, read_version

    if create:
        _make_database_folder(history)
    else:
        check_database_present(history)
    with history.reading() as connection:
        version = read_version(connection, history.name)
    if version == 0 and not create:
        raise UsageError(f"There is no history in the database {history.name}.")
    if history.file is not None and history.file.is_file() and not may_write(history.file):
        _check_readable_version(history, version, create=create)
        return
    _use_write_ahead_log(history)
    if version < CURRENT:
        with history.writing() as connection:
            migrate(connection, history.name)


def _check_readable_version(history: HistoryDatabase, version: int, *, create: bool) -> None:
    """Refuse what somebody who may only read cannot do."""
    from scorereport.history.database_schema import CURRENT

    if create:
        raise UsageError(f"The history {history.name} cannot be written: you may only read it.")
    if version < CURRENT:
        raise UsageError(
            f"The history {history.name} has version {version}; this scorereport reads version {CURRENT}: "
            "somebody who may write to it has to open it first."
        )


def _make_database_folder(history: HistoryDatabase) -> None:
    if history.file is None:
        return
    try:
        make_folder(history.file.parent)
    except OSError as error:
        raise UsageError(
            f"The folder of the history {history.name} cannot be made: {error.strerror}."
        ) from error
    # SQLite would make a file that others may read; to its logs it gives the permissions of the file. Where
    # none can be made, it says why.
    with suppress(OSError):
        os.close(only_owner(str(history.file), os.O_CREAT | os.O_EXCL | os.O_WRONLY))


def check_database_present(history: HistoryDatabase) -> None:
    """Refuse a history that is not there or may not be read."""
    if history.file is not None and not history.file.is_file():
        raise UsageError(f"There is no history {history.name}; `scorereport audit run` begins one.")
    if history.file is not None and not os.access(history.file, os.R_OK):
        raise UsageError(f"The history {history.name} cannot be read: you may not.")


def _use_write_ahead_log(history: HistoryDatabase) -> None:
    """Let others read while one writes; SQLite itself does not wait for those who ask for it just then."""
    if history.file is None:
        return
    end = time.monotonic() + LOCK_SECONDS
    while (mode := _ask_for_log(history)) == "locked" and time.monotonic() < end:
        time.sleep(0.05)
    if mode != "wal":
        raise UsageError(
            f"The history {history.name} cannot be kept there: SQLite could not set it to write ahead into a "
            f"log, it is {mode}. Several processes at once need that. Use a local disk, or PostgreSQL."
        )


def _ask_for_log(history: HistoryDatabase) -> str:
    connection = None
    try:
        with translate_errors(history.address):
            connection = history.engine.raw_connection()
            return str(connection.cursor().execute("PRAGMA journal_mode = WAL").fetchone()[0])
    except UsageError as error:
        if "locked" in str(error):
            return "locked"
        raise
    finally:
        if connection is not None:
            connection.close()
