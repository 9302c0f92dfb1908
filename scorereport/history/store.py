"""The history as a store: records are appended one after the other and read back."""

from __future__ import annotations

import hashlib
import os
import time
import zlib
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from scorereport.errors import DataError, ScoreReportError, UsageError
from scorereport.history.connecting import (
    PATIENCE,
    connect,
    describe_url,
    find_file,
    may_write,
    plain_errors,
    read_url,
    reading,
    writing,
)
from scorereport.history.heads import Head, advance_head
from scorereport.history.records import BEGINNING, Record, read_record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from sqlalchemy import URL, Connection, Engine, Select

_AUDIT = "audit"


class AlreadyRecorded(ScoreReportError):  # noqa: N818 - it is news rather than an error
    """Somebody else has recorded this attempt of the same audit and period in the meantime."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What the columns say of a record, without its body; `period` is the label, `sha256` the stored hash."""

    id: int
    audit: str
    period: str
    kind: str
    attempt: int
    status: str
    finished: str
    previous: str
    sha256: str


def open_history(url: str, *, head: Path | None = None, create: bool = True) -> History:
    """Open a history, made or brought to the version of today if needed; to be closed, or used by `with`.

    `head` is a file that is told the last record. Without `create` a history must be there.
    """
    history = History(read_url(url), head)
    try:
        _prepare(history, create=create)
    except BaseException:
        history.close()
        raise
    return history


def open_unchecked(url: str, *, head: Path | None = None) -> History:
    """Open a history as it is, without looking at it, so that `verify_history` can say what is wrong."""
    history = History(read_url(url), head)
    _check_present(history)
    return history


class History:
    """Records of audits, each bound to the one before by its hash; they are added, never changed."""

    def __init__(self, address: URL, head: Path | None = None) -> None:
        self.address = address
        self.head = head
        self.name = describe_url(address)
        self.file = find_file(address)
        self.engine: Engine = connect(address)

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
        """A transaction that sees one state of the history."""
        with plain_errors(self.address), reading(self.engine) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that nobody else writes beside."""
        with plain_errors(self.address), writing(self.engine) as connection:
            yield connection

    def append(self, draft: Record, documents: Mapping[str, bytes] | None = None) -> Record:
        """Add a record as the last one, with the documents it names by their SHA-256, all or nothing.

        It is given its `id`, `previous` and `documents`, and its `attempt` if that is 0. An attempt that is
        taken raises `AlreadyRecorded`. Returned is the record as it will be read back.
        """
        contents = _check_documents(documents or {})
        with self.writing() as connection:
            record = _place(connection, draft, tuple(contents))
            _insert_documents(connection, contents)
            _insert_record(connection, record)
        if self.head is not None:
            advance_head(self.head, Head(id=record.id, sha256=record.sha256), self._find_hash)
        return record

    def _find_hash(self, number: int) -> str | None:
        from sqlalchemy import select

        from scorereport.history.schema import AUDITS

        with self.reading() as connection:
            return connection.execute(select(AUDITS.c.sha256).where(AUDITS.c.id == number)).scalar()

    def next_attempt(self, audit: str, period: str, kind: str = _AUDIT) -> int:
        """The number that the next record of this audit and period will have."""
        with self.reading() as connection:
            return _next_attempt(connection, audit, period, kind)

    def records(
        self,
        audit: str | None = None,
        last: int | None = None,
        kind: str | None = None,
        period: str | None = None,
    ) -> tuple[Record, ...]:
        """The records asked for, oldest first; `last` of them at most."""
        from scorereport.history.schema import AUDITS

        query = _choose([AUDITS.c.id, AUDITS.c.body], last, audit=audit, kind=kind, period=period)
        with self.reading() as connection:
            rows = connection.execute(query).all()
        return tuple(_read(row.id, row.body) for row in reversed(rows))

    def bodies(self, audit: str | None = None) -> tuple[str, ...]:
        """The texts of records as they are stored, oldest first: what their hashes are taken of."""
        from scorereport.history.schema import AUDITS

        with self.reading() as connection:
            rows = connection.execute(_choose([AUDITS.c.body], None, audit=audit)).all()
        return tuple(row.body for row in reversed(rows))

    def summaries(
        self,
        audit: str | None = None,
        last: int | None = None,
        kind: str | None = None,
        period: str | None = None,
    ) -> tuple[Summary, ...]:
        """The same as `records`, from the columns alone: much faster, for tables and lists."""
        from scorereport.history.schema import AUDITS

        columns = [column for column in AUDITS.columns if column.name != "body"]
        with self.reading() as connection:
            query = _choose(columns, last, audit=audit, kind=kind, period=period)
            rows = connection.execute(query).mappings().all()
        return tuple(Summary(**row) for row in reversed(rows))

    def get(self, number: int) -> Record:
        """The record with this number."""
        from sqlalchemy import select

        from scorereport.history.schema import AUDITS

        with self.reading() as connection:
            body = connection.execute(select(AUDITS.c.body).where(AUDITS.c.id == number)).scalar()
            last = _find_last(connection)
        if body is None:
            has = f"its records are 1 to {last.id}" if last.id else "it has no records yet"
            raise UsageError(f"There is no record {number} in the history {self.name}; {has}.")
        return _read(number, body)

    def find(self, audit: str, period: str) -> Record | None:
        """The newest record of an audit on this period; None if there is none."""
        found = self.records(audit, last=1, kind=_AUDIT, period=period)
        return found[0] if found else None

    def names(self) -> tuple[str, ...]:
        """The names of all audits, in order."""
        from sqlalchemy import select

        from scorereport.history.schema import AUDITS

        with self.reading() as connection:
            return tuple(sorted(connection.execute(select(AUDITS.c.audit).distinct()).scalars()))

    def last(self) -> Head | None:
        """The place and the hash of the last record; None if there is none."""
        with self.reading() as connection:
            last = _find_last(connection)
        return last if last.id else None

    def document(self, sha256: str) -> bytes:
        """The document with this SHA-256."""
        from sqlalchemy import select

        from scorereport.history.schema import DOCUMENTS

        with self.reading() as connection:
            query = select(DOCUMENTS.c.content).where(DOCUMENTS.c.sha256 == sha256)
            packed = connection.execute(query).scalar()
        if packed is None:
            raise UsageError(f"There is no document {sha256} in the history {self.name}.")
        content = unpack(packed)
        if content is None or hashlib.sha256(content).hexdigest() != sha256:
            raise DataError(
                f"The document {sha256} of the history {self.name} is not what was filed; "
                "`scorereport audit verify` tells what else was changed."
            )
        return content


def unpack(packed: bytes) -> bytes | None:
    """The content of compressed bytes; None if they are damaged or not all of one piece."""
    engine = zlib.decompressobj()
    try:
        content = engine.decompress(packed) + engine.flush()
    except zlib.error:
        return None
    return content if engine.eof and not engine.unused_data else None


def _prepare(history: History, *, create: bool) -> None:
    """Refuse what is no history before anything is written; then make it one of today, under the lock."""
    from scorereport.history.schema import CURRENT, migrate, read_version

    if create:
        _make_folder(history)
    else:
        _check_present(history)
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


def _check_readable_version(history: History, version: int, *, create: bool) -> None:
    """Refuse what somebody who may only read cannot do."""
    from scorereport.history.schema import CURRENT

    if create:
        raise UsageError(f"The history {history.name} cannot be written: you may only read it.")
    if version < CURRENT:
        raise UsageError(
            f"The history {history.name} has version {version}; this scorereport reads version {CURRENT}: "
            "somebody who may write to it has to open it first."
        )


def _make_folder(history: History) -> None:
    if history.file is None:
        return
    try:
        history.file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"The folder of the history {history.name} cannot be made: {error.strerror}."
        ) from error


def _check_present(history: History) -> None:
    if history.file is not None and not history.file.is_file():
        raise UsageError(f"There is no history {history.name}; `scorereport audit run` begins one.")
    if history.file is not None and not os.access(history.file, os.R_OK):
        raise UsageError(f"The history {history.name} cannot be read: you may not.")


def _use_write_ahead_log(history: History) -> None:
    """Let others read while one writes; SQLite itself does not wait for those who ask for it just then."""
    if history.file is None:
        return
    end = time.monotonic() + PATIENCE
    while (mode := _ask_for_log(history)) == "locked" and time.monotonic() < end:
        time.sleep(0.05)
    if mode != "wal":
        raise UsageError(
            f"The history {history.name} cannot be kept there: SQLite could not set it to write ahead into a "
            f"log, it is {mode}. Several processes at once need that. Use a local disk, or PostgreSQL."
        )


def _ask_for_log(history: History) -> str:
    connection = None
    try:
        with plain_errors(history.address):
            connection = history.engine.raw_connection()
            return str(connection.cursor().execute("PRAGMA journal_mode = WAL").fetchone()[0])
    except UsageError as error:
        if "locked" in str(error):
            return "locked"
        raise
    finally:
        if connection is not None:
            connection.close()


def _check_documents(documents: Mapping[str, bytes]) -> dict[str, bytes]:
    for name, content in documents.items():
        if hashlib.sha256(content).hexdigest() != name:
            raise UsageError(f"`documents` must be named by the SHA-256 of their content; {name!r} is not.")
    return dict(sorted(documents.items()))


def _place(connection: Connection, draft: Record, documents: tuple[str, ...]) -> Record:
    """The draft as the next record of the chain, with the values that it will be read back with."""
    expected = _next_attempt(connection, draft.audit, draft.period.label, draft.kind)
    if draft.attempt not in (0, expected):
        raise AlreadyRecorded(
            f"Attempt {draft.attempt} of the audit {draft.audit} for {draft.period.label} cannot be "
            f"recorded: the next one is attempt {expected}."
        )
    last = _find_last(connection)
    placed = replace(
        draft,
        id=last.id + 1,
        previous=last.sha256,
        attempt=expected,
        documents=tuple(sorted({*draft.documents, *documents})),
    )
    return _read(placed.id, placed.to_json())


def _find_last(connection: Connection) -> Head:
    from sqlalchemy import select

    from scorereport.history.schema import AUDITS

    query = select(AUDITS.c.id, AUDITS.c.sha256).order_by(AUDITS.c.id.desc()).limit(1)
    row = connection.execute(query).first()
    return Head(id=0, sha256=BEGINNING) if row is None else Head(id=row.id, sha256=row.sha256)


def _next_attempt(connection: Connection, audit: str, period: str, kind: str) -> int:
    from sqlalchemy import func, select

    from scorereport.history.schema import AUDITS

    query = select(func.max(AUDITS.c.attempt)).where(
        AUDITS.c.audit == audit, AUDITS.c.period == period, AUDITS.c.kind == kind
    )
    return (connection.execute(query).scalar() or 0) + 1


def _insert_documents(connection: Connection, contents: Mapping[str, bytes]) -> None:
    from sqlalchemy import insert, select

    from scorereport.history.schema import DOCUMENTS

    for name, content in contents.items():
        if connection.execute(select(DOCUMENTS.c.sha256).where(DOCUMENTS.c.sha256 == name)).first():
            continue
        packed = zlib.compress(content)
        checksum = hashlib.sha256(packed).hexdigest()
        connection.execute(insert(DOCUMENTS).values(sha256=name, checksum=checksum, content=packed))


def _insert_record(connection: Connection, record: Record) -> None:
    from sqlalchemy import insert

    from scorereport.history.schema import AUDITS

    connection.execute(
        insert(AUDITS).values(**describe_columns(record), sha256=record.sha256, body=record.to_json())
    )


def describe_columns(record: Record) -> dict[str, Any]:
    """What stands in columns beside the body, to find records by."""
    return {
        "id": record.id,
        "audit": record.audit,
        "period": record.period.label,
        "kind": record.kind,
        "attempt": record.attempt,
        "status": record.status.value,
        "finished": record.finished,
        "previous": record.previous,
    }


def _choose(columns: list[Any], last: int | None, **equal: str | None) -> Select[Any]:
    """Rows that are as asked for, the newest first."""
    from sqlalchemy import select

    from scorereport.history.schema import AUDITS

    query = select(*columns).order_by(AUDITS.c.id.desc()).limit(last)
    for name, value in equal.items():
        if value is not None:
            query = query.where(AUDITS.c[name] == value)
    return query


def _read(number: int, body: str) -> Record:
    return read_record(body, f"Record {number} of the history")
