"""Rows of a history: records and documents are inserted, found, and confirmed by their hashes.

A record is confirmed when it is read, because results that build on a changed record would carry the change
on. A row is confirmed when it is written, because a trigger or a rule of the database may drop it or write
another one without an error.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from scorereport._utils.clock import read_clock
from scorereport.errors import DataError, ScoreReportError, UsageError
from scorereport.history.audit_record import CHAIN_START, Record, read_audit_record
from scorereport.history.chain_head import ChainHead
from scorereport.history.record_signature import sign_record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection, Row

    from scorereport.history.signing_keys import SigningKey


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordSummary:
    """The columns of a record, without its body; `period` is the label, `sha256` the stored hash."""

    id: int
    audit: str
    period: str
    kind: str
    attempt: int
    status: str
    finished: str
    previous: str
    sha256: str


#: Bytes of a document that are compressed to find whether it can be, and the ratio from which it is not.
_SAMPLE_BYTES, _DENSE = 1 << 16, 0.98
#: Columns that `read_confirmed` needs.
CONFIRMED_COLUMNS = (*(field.name for field in fields(RecordSummary)), "body")


def describe_columns(record: Record) -> dict[str, Any]:
    """Return the values of a record that are stored in columns beside the body, to find records by."""
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


def read_body(number: int, body: str) -> Record:
    """Read a record from its text."""
    return read_audit_record(body, f"Record {number} of the history")


def list_summaries(connection: Connection, last: int | None) -> tuple[RecordSummary, ...]:
    """List the columns of all records, or of the `last` ones, oldest first."""
    rows = list_record_rows(connection, [field.name for field in fields(RecordSummary)], last)
    return tuple(RecordSummary(**row._mapping) for row in rows)


def list_record_rows(
    connection: Connection, columns: Sequence[str], last: int | None = None, **equal: str | None
) -> list[Row[Any]]:
    """List columns of the records whose columns `equal` the given values, oldest first; up to `last`."""
    from sqlalchemy import select

    from scorereport.history.database_schema import AUDITS

    query = select(*(AUDITS.c[name] for name in columns)).order_by(AUDITS.c.id.desc()).limit(last)
    for name, value in equal.items():
        if value is not None:
            query = query.where(AUDITS.c[name] == value)
    return list(reversed(connection.execute(query).all()))


def list_home_records(connection: Connection, home: str, after: int) -> list[int]:
    """List the numbers of records of a home `after` a number, in order; unreadable records are included."""
    from sqlalchemy import select

    from scorereport.history.database_schema import AUDITS

    query = select(AUDITS.c.id, AUDITS.c.body).where(AUDITS.c.id > after).order_by(AUDITS.c.id)
    return [row.id for row in connection.execute(query) if _find_home(row.body) in (home, None)]


def _find_home(body: str) -> str | None:
    try:
        return str(json.loads(body).get("home", ""))
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None


def find_column_value(connection: Connection, number: int, column: str) -> str | None:
    """Return one column of the record with this number; None if there is no such record."""
    from sqlalchemy import select

    from scorereport.history.database_schema import AUDITS

    return connection.execute(select(AUDITS.c[column]).where(AUDITS.c.id == number)).scalar()


def find_names(connection: Connection) -> tuple[str, ...]:
    """Return the names of all audits, sorted."""
    from sqlalchemy import select

    from scorereport.history.database_schema import AUDITS

    return tuple(sorted(connection.execute(select(AUDITS.c.audit).distinct()).scalars()))


def find_last(connection: Connection) -> ChainHead:
    """Return the number and the hash of the last record; 0 and the start of the chain if there is none."""
    from sqlalchemy import select

    from scorereport.history.database_schema import AUDITS

    query = select(AUDITS.c.id, AUDITS.c.sha256).order_by(AUDITS.c.id.desc()).limit(1)
    row = connection.execute(query).first()
    return ChainHead(id=0, sha256=CHAIN_START) if row is None else ChainHead(id=row.id, sha256=row.sha256)


def next_attempt(connection: Connection, audit: str, period: str, kind: str) -> int:
    """Return the attempt number that the next record of this audit and period will have."""
    from sqlalchemy import func, select

    from scorereport.history.database_schema import AUDITS

    query = select(func.max(AUDITS.c.attempt)).where(
        AUDITS.c.audit == audit, AUDITS.c.period == period, AUDITS.c.kind == kind
    )
    return (connection.execute(query).scalar() or 0) + 1


class AlreadyRecorded(ScoreReportError):  # noqa: N818 - the state of the history, not an error
    """Another run has recorded this attempt of the same audit and period in the meantime."""


def place_record(
    connection: Connection, record: Record, documents: tuple[str, ...], key: SigningKey | None = None
) -> Record:
    """Return the record with its place at the end of the chain, signed, exactly as it will be read back.

    If `finished` is empty, it is set to the present time. No other process can append at this moment, so the
    times of one clock never run backwards, even if several runs append at once.
    """
    expected = next_attempt(connection, record.audit, record.period.label, record.kind)
    if record.attempt not in (0, expected):
        raise AlreadyRecorded(
            f"Attempt {record.attempt} of the audit {record.audit} for {record.period.label} cannot be "
            f"recorded: the next one is attempt {expected}."
        )
    last = find_last(connection)
    placed = replace(
        record,
        id=last.id + 1,
        previous=last.sha256,
        attempt=expected,
        finished=record.finished or read_clock(),
        documents=tuple(sorted({*record.documents, *documents})),
    )
    signed = placed if key is None else sign_record(placed, key)
    return read_body(signed.id, signed.to_json())


def insert_record(connection: Connection, record: Record) -> None:
    """Insert a record that has its place in the chain."""
    from sqlalchemy import insert

    from scorereport.history.database_schema import AUDITS

    connection.execute(
        insert(AUDITS).values(**describe_columns(record), sha256=record.sha256, body=record.to_json())
    )


def check_document_hashes(documents: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the documents sorted by name; refuse a name that is not the SHA-256 of the content."""
    for name, content in documents.items():
        if hashlib.sha256(content).hexdigest() != name:
            raise UsageError(f"`documents` must be named by the SHA-256 of their content; {name!r} is not.")
    return dict(sorted(documents.items()))


def insert_documents(connection: Connection, contents: Mapping[str, bytes]) -> None:
    """Insert documents that are not stored yet."""
    from sqlalchemy import insert, select

    from scorereport.history.database_schema import DOCUMENTS

    for name, content in contents.items():
        if connection.execute(select(DOCUMENTS.c.sha256).where(DOCUMENTS.c.sha256 == name)).first():
            continue
        packed = _pack(content)
        checksum = hashlib.sha256(packed).hexdigest()
        connection.execute(insert(DOCUMENTS).values(sha256=name, checksum=checksum, content=packed))


def _pack(content: bytes) -> bytes:
    """Compress a document; hashes, which cannot be compressed, are stored as they are."""
    sample = content[:_SAMPLE_BYTES]
    is_dense = len(content) > len(sample) < len(zlib.compress(sample)) / _DENSE
    return zlib.compress(content, 0 if is_dense else -1)


def find_packed_document(connection: Connection, sha256: str) -> bytes | None:
    """Return the compressed bytes of a document; None if it is not stored."""
    from sqlalchemy import select

    from scorereport.history.database_schema import DOCUMENTS

    return connection.execute(select(DOCUMENTS.c.content).where(DOCUMENTS.c.sha256 == sha256)).scalar()


def unpack_document(packed: bytes) -> bytes | None:
    """Decompress a document; None if the bytes are damaged, truncated, or followed by others."""
    decompressor = zlib.decompressobj()
    try:
        content = decompressor.decompress(packed) + decompressor.flush()
    except zlib.error:
        return None
    return content if decompressor.eof and not decompressor.unused_data else None


def read_confirmed(row: Row[Any], name: str) -> Record:
    """Read the record of a row with `CONFIRMED_COLUMNS`; refuse it if text, hash and columns disagree."""
    number, body = row.id, row.body
    if isinstance(body, str) and _hash_text(body) == row.sha256:
        record = read_body(number, body)
        if all(row._mapping[column] == value for column, value in describe_columns(record).items()):
            return record
    raise DataError(
        f"Record {number} of the history {name} is not as it was recorded; `scorereport audit verify` shows "
        "what was changed."
    )


def find_confirmed(connection: Connection, number: int, name: str) -> Record | None:
    """Return the record with this number, confirmed by `read_confirmed`; None if there is no such record."""
    from sqlalchemy import select

    from scorereport.history.database_schema import AUDITS

    row = connection.execute(select(AUDITS).where(AUDITS.c.id == number)).first()
    return None if row is None else read_confirmed(row, name)


def _hash_text(body: str) -> str:
    return hashlib.sha256(body.encode(errors="surrogateescape")).hexdigest()


def check_written(connection: Connection, record: Record, contents: Mapping[str, bytes], name: str) -> None:
    """Raise an error if the database has not stored a record and its new documents as inserted."""
    from sqlalchemy import select

    from scorereport.history.database_schema import AUDITS, DOCUMENTS

    rows = connection.execute(select(AUDITS).where(AUDITS.c.id == record.id)).mappings().all()
    written = {**describe_columns(record), "sha256": record.sha256, "body": record.to_json()}
    lost = [] if [dict(row) for row in rows] == [written] else [f"record {record.id}"]
    for key, content in contents.items():
        query = select(DOCUMENTS.c.content).where(DOCUMENTS.c.sha256 == key)
        if [unpack_document(packed) for packed in connection.execute(query).scalars()] != [content]:
            lost.append(f"the document {key}")
    if lost:
        raise UsageError(
            f"The history {name} did not store {lost[0]} as it was written, so nothing was recorded: a "
            "rule, a trigger or a policy of the database prevents it. `scorereport audit verify` names it."
        )
