"""Store of audit records: open or create a history, append records and read them back."""

from __future__ import annotations

import hashlib
import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from scorereport._utils.files import make_folder, only_owner
from scorereport.data.database_sessions import UnreachableError, may_write
from scorereport.errors import DataError, UsageError
from scorereport.history.chain_head import (
    ChainHead,
    advance_chain_head,
    describe_unwritten_head,
    hold_chain_head,
    read_chain_head,
)
from scorereport.history.database import (
    LOCK_SECONDS,
    RECOVERY_SECONDS,
    DeniedError,
    HistoryDatabase,
    read_url,
    translate_errors,
)
from scorereport.history.record_rows import (
    CONFIRMED_COLUMNS,
    check_document_hashes,
    check_written,
    find_column_value,
    find_confirmed,
    find_last,
    find_names,
    find_packed_document,
    insert_documents,
    insert_record,
    list_home_records,
    list_record_rows,
    list_summaries,
    next_attempt,
    place_record,
    read_confirmed,
    unpack_document,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from sqlalchemy import URL, Connection

    from scorereport.history.audit_record import Record
    from scorereport.history.record_rows import RecordSummary
    from scorereport.history.signing_keys import SigningKey


def prepare_database(history: HistoryDatabase, *, create: bool) -> None:
    """Refuse a database that is not a history before anything is written; then migrate it under the lock."""
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
        try:
            with history.writing() as connection:
                migrate(connection, history.name)
        except DeniedError as error:
            raise UsageError(_describe_denied_migration(version, error)) from None


def _describe_denied_migration(version: int, error: DeniedError) -> str:
    """State who can create or migrate the tables of a history on a server."""
    from scorereport.history.database_roles import ROLE_SCRIPT
    from scorereport.history.database_schema import CURRENT

    state = f"has tables of version {version}, not {CURRENT}" if version else "has no tables of a history yet"
    return (
        f"{error} The database {state}, and this role has no right to create them. To fix: let an "
        f"administrator of the database run {ROLE_SCRIPT}."
    )


def _check_readable_version(history: HistoryDatabase, version: int, *, create: bool) -> None:
    """Refuse what requires write access: creating or migrating a history."""
    from scorereport.history.database_schema import CURRENT

    if create:
        raise UsageError(f"The history {history.name} cannot be written: you have read access only.")
    if version < CURRENT:
        raise UsageError(
            f"The history {history.name} has version {version}; this scorereport reads version {CURRENT}. "
            "To fix: open it once as a user with write access."
        )


def _make_database_folder(history: HistoryDatabase) -> None:
    if history.file is None:
        return
    try:
        make_folder(history.file.parent)
    except OSError as error:
        raise UsageError(
            f"The folder of the history {history.name} cannot be created: {error.strerror}."
        ) from error
    # SQLite would create a file that others may read; its logs get the permissions of the file. If the file
    # cannot be created here, SQLite reports the reason later.
    with suppress(OSError):
        os.close(only_owner(str(history.file), os.O_CREAT | os.O_EXCL | os.O_WRONLY))


def check_database_present(history: HistoryDatabase) -> None:
    """Refuse a history whose file does not exist or may not be read."""
    if history.file is not None and not history.file.is_file():
        raise UsageError(f"There is no history {history.name}; `scorereport audit run` creates one.")
    if history.file is not None and not os.access(history.file, os.R_OK):
        raise UsageError(f"The history {history.name} cannot be read: permission denied.")


def _use_write_ahead_log(history: HistoryDatabase) -> None:
    """Set SQLite to a write-ahead log, so that others can read while one process writes.

    SQLite does not wait for the lock when several processes set the mode at once; this function does.
    """
    if history.file is None:
        return
    end = time.monotonic() + LOCK_SECONDS
    while (mode := _set_log_mode(history)) == "locked" and time.monotonic() < end:
        time.sleep(0.05)
    if mode != "wal":
        raise UsageError(
            f"The history {history.name} cannot be stored there: SQLite could not enable its write-ahead "
            f"log, which several processes at once need; the mode is {mode}. To fix: use a local disk, or "
            "PostgreSQL."
        )


def _set_log_mode(history: HistoryDatabase) -> str:
    """Ask SQLite for a write-ahead log; return the resulting mode, or "locked"."""
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


def open_history(url: str | URL, *, head: Path | None = None, create: bool = True) -> History:
    """Open a history, and create or migrate it if needed; close it, or use it in a `with` statement.

    `head` is the chain head file, to which the last record is written. Without `create` the history must
    exist.
    """
    history = History(read_url(url), head)
    try:
        prepare_database(history, create=create)
    except BaseException:
        history.close()
        raise
    history.patience = RECOVERY_SECONDS  # it was reachable a moment ago
    return history


def open_unchecked(url: str | URL, *, head: Path | None = None) -> History:
    """Open a history without checking or migrating it, so that `verify_history` can report what is wrong."""
    history = History(read_url(url), head)
    check_database_present(history)
    return history


class History(HistoryDatabase):
    """Append-only chain of audit records, each linked to the one before by its hash.

    Records are signed by `key`, if there is one. `after_append` is called with each new record, and returns
    problems.
    `problems` are sentences on what went wrong besides the records: a chain head file that could not be
    written.
    """

    def __init__(self, address: URL, head: Path | None = None) -> None:
        super().__init__(address)
        self.head = head
        self.key: SigningKey | None = None
        self.after_append: Callable[[Record], list[str]] = lambda _: []
        self.problems: list[str] = []

    def append(self, record: Record, documents: Mapping[str, bytes] | None = None) -> Record:
        """Append a record with its documents, keyed by their SHA-256, completely or not at all.

        Sets `id`, `previous` and `documents`, `attempt` if it is 0, and `finished` if it is empty. Raises
        `AlreadyRecorded` if another record has the attempt number. Returns the record as it will be read
        back.
        """
        contents = check_document_hashes(documents or {})
        with hold_chain_head(self.head) as lock_error:
            placed = self._store(record, contents)
            self._advance_head(placed, lock_error)
        self._add_problems(self.after_append(placed))
        return placed

    def _store(self, record: Record, contents: Mapping[str, bytes]) -> Record:
        """Store a record and its documents once, even if the connection to a server is lost meanwhile.

        The server may have stored the record although it did not confirm it, so each further attempt first
        searches for the record of those before.
        """
        end = time.monotonic() + self.patience
        attempts: list[Record] = []
        while True:
            try:
                with self.writing() as connection:
                    for placed in attempts:
                        if find_column_value(connection, placed.id, "sha256") == placed.sha256:
                            return placed
                    attempts.append(place_record(connection, record, tuple(contents), self.key))
                    self._insert(connection, attempts[-1], contents)
                return attempts[-1]
            except UnreachableError:
                if time.monotonic() >= end:
                    raise

    def _insert(self, connection: Connection, placed: Record, contents: Mapping[str, bytes]) -> None:
        new = {key: contents[key] for key in contents if find_packed_document(connection, key) is None}
        insert_documents(connection, new)
        insert_record(connection, placed)
        check_written(connection, placed, new, self.name)

    def _advance_head(self, record: Record, lock_error: str = "", *, is_verified: bool = False) -> None:
        """Write a record to the chain head file; if that fails, the reason is one of the `problems`."""
        if self.head is None:
            return

        def list_missed(number: int) -> list[int]:
            found = [] if is_verified else self._list_of_home(record.home, number)
            return [one for one in found if one < record.id]

        if lock_error:
            problem = describe_unwritten_head(self.head, lock_error)
        else:
            head = ChainHead(id=record.id, sha256=record.sha256)
            problem = advance_chain_head(self.head, head, self.find_hash, list_missed)
        self._add_problems(filter(None, [problem]))

    def _add_problems(self, problems: Iterable[str]) -> None:
        self.problems = list(dict.fromkeys([*self.problems, *problems]))

    def note(self, record: Record) -> None:
        """Write a verified record to the chain head file, though the file lacks records before it."""
        with hold_chain_head(self.head) as lock_error:
            self._advance_head(record, lock_error, is_verified=True)

    def find_unnoted(self, home: str) -> list[int]:
        """Return the numbers of the records of a home that the chain head file lacks, in order.

        A file that cannot be read is left to `verify_history`.
        """
        if not self._find_after_head(home):
            return []
        with hold_chain_head(self.head):  # another process may have been about to write the file
            return self._find_after_head(home)

    def _find_after_head(self, home: str) -> list[int]:
        try:
            noted = None if self.head is None else read_chain_head(self.head)
        except (OSError, ValueError):
            return []
        return [] if self.head is None else self._list_of_home(home, 0 if noted is None else noted.id)

    def _list_of_home(self, home: str, after: int) -> list[int]:
        with self.reading() as connection:
            return list_home_records(connection, home, after)

    def find_hash(self, number: int) -> str | None:
        """Return the hash of the record with this number; None if there is no such record."""
        with self.reading() as connection:
            return find_column_value(connection, number, "sha256")

    def next_attempt(self, audit: str, period: str, kind: str = "audit") -> int:
        """Return the attempt number that the next record of this audit and period will have."""
        with self.reading() as connection:
            return next_attempt(connection, audit, period, kind)

    def records(
        self,
        audit: str | None = None,
        last: int | None = None,
        kind: str | None = None,
        period: str | None = None,
    ) -> tuple[Record, ...]:
        """Return the records that match, oldest first, up to `last` of them; refuse a changed record."""
        with self.reading() as connection:
            rows = list_record_rows(
                connection, CONFIRMED_COLUMNS, last, audit=audit, kind=kind, period=period
            )
        return tuple(read_confirmed(row, self.name) for row in rows)

    def summaries(self, last: int | None = None) -> tuple[RecordSummary, ...]:
        """Return the columns of all records, or of the `last` ones: much faster than `records`."""
        with self.reading() as connection:
            return list_summaries(connection, last)

    def bodies(self, audit: str | None = None) -> tuple[str, ...]:
        """Return the texts of records as they are stored, oldest first; hashes are those of these texts."""
        with self.reading() as connection:
            return tuple(row.body for row in list_record_rows(connection, ["body"], audit=audit))

    def get(self, number: int) -> Record:
        """Return the record with this number; refuse a changed record."""
        with self.reading() as connection:
            record = find_confirmed(connection, number, self.name)
            last = find_last(connection)
        if record is None:
            numbers = f"its records are 1 to {last.id}" if last.id else "it has no records yet"
            raise UsageError(f"There is no record {number} in the history {self.name}; {numbers}.")
        return record

    def find(self, audit: str, period: str) -> Record | None:
        """Return the newest record of an audit on this period; None if there is none."""
        found = self.records(audit, last=1, kind="audit", period=period)
        return found[0] if found else None

    def names(self) -> tuple[str, ...]:
        """Return the names of all audits, sorted."""
        with self.reading() as connection:
            return find_names(connection)

    def last(self) -> ChainHead | None:
        """Return the number and the hash of the last record; None if there is none."""
        with self.reading() as connection:
            last = find_last(connection)
        return last if last.id else None

    def document(self, sha256: str) -> bytes:
        """Return the document with this SHA-256."""
        with self.reading() as connection:
            packed = find_packed_document(connection, sha256)
        if packed is None:
            raise UsageError(f"There is no document {sha256} in the history {self.name}.")
        content = unpack_document(packed)
        if content is None or hashlib.sha256(content).hexdigest() != sha256:
            raise DataError(
                f"The document {sha256} of the history {self.name} is not as it was recorded; "
                "`scorereport audit verify` shows what else was changed."
            )
        return content
