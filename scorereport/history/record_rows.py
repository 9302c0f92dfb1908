"""Rows of a history: records and documents as they are inserted, found, and confirmed by their hashes.

Who builds upon a record that was changed passes the change on; and a database may be told to lose a row, or
to write another one, and to say nothing.
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

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection, Row


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordSummary:
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


def read_body(number: int, body: str) -> Record:
    """The record whose text this is."""
    return read_audit_record(body, f"Record {number} of the history")


def list_summaries(connection: Connection, last: int | None) -> tuple[RecordSummary, ...]:
    """What the columns say of all records, or of the last ones, oldest first."""
    rows = list_record_rows(connection, [field.name for field in fields(RecordSummary)], last)
    return tuple(RecordSummary(**row._mapping) for row in rows)


def list_record_rows(
    connection: Connection, columns: Sequence[str], last: int | None = None, **equal: str | None
) -> list[Row[Any]]:
    """Columns of the rows that are as asked for, oldest first; `last` of them at most."""
    from sqlalchemy import select

    from scorereport.history.database_schema import AUDITS

    query = select(*(AUDITS.c[name] for name in columns)).order_by(AUDITS.c.id.desc()).limit(last)
    for name, value in equal.items():
        if value is not None:
            query = query.where(AUDITS.c[name] == value)
    return list(reversed(connection.execute(query).all()))


def list_home_records(connection: Connection, home: str, after: int) -> list[int]:
    """The numbers of the records of a home after one, in order; those whose text cannot be read count."""
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
    """One column of the record with this number; None if there is none."""
    from sqlalchemy import select

    from scorereport.history.database_schema import AUDITS

    return connection.execute(select(AUDITS.c[column]).where(AUDITS.c.id == number)).scalar()


def find_names(connection: Connection) -> tuple[str, ...]:
    """The names of all audits, in order."""
    from sqlalchemy import select

    from scorereport.history.database_schema import AUDITS

    return tuple(sorted(connection.execute(select(AUDITS.c.audit).distinct()).scalars()))


def find_last(connection: Connection) -> ChainHead:
    """The place and the hash of the last record; of the beginning, at 0, if there is none."""
    from sqlalchemy import select

    from scorereport.history.database_schema import AUDITS

    query = select(AUDITS.c.id, AUDITS.c.sha256).order_by(AUDITS.c.id.desc()).limit(1)
    row = connection.execute(query).first()
    return ChainHead(id=0, sha256=CHAIN_START) if row is None else ChainHead(id=row.id, sha256=row.sha256)


def next_attempt(connection: Connection, audit: str, period: str, kind: str) -> int:
    """The number that the next record of this audit and period will have."""
    from sqlalchemy import func, select

    from scorereport.history.database_schema import AUDITS

    query = select(func.max(AUDITS.c.attempt)).where(
        AUDITS.c.audit == audit, AUDITS.c.period == period, AUDITS.c.kind == kind
    )
    return (connection.execute(query).scalar() or 0) + 1


class AlreadyRecorded(ScoreReportError):  # noqa: N818 - it is news rather than an error
    """Somebody else has recorded this attempt of the same audit and period in the meantime."""


def place_record(connection: Connection, draft: Record, documents: tuple[str, ...]) -> Record:
    """The draft as the next record of the chain, with the values that it will be read back with.

    A draft without a time of its end ends now, while nobody else can append: so these times never run
    backwards by one clock, however many runs append at once.
    """
    expected = next_attempt(connection, draft.audit, draft.period.label, draft.kind)
    if draft.attempt not in (0, expected):
        raise AlreadyRecorded(
            f"Attempt {draft.attempt} of the audit {draft.audit} for {draft.period.label} cannot be "
            f"recorded: the next one is attempt {expected}."
        )
    last = find_last(connection)
    placed = replace(
        draft,
        id=last.id + 1,
        previous=last.sha256,
        attempt=expected,
        finished=draft.finished or read_clock(),
        documents=tuple(sorted({*draft.documents, *documents})),
    )
    return read_body(placed.id, placed.to_json())


def insert_record(connection: Connection, record: Record) -> None:
    """Write a record that has its place."""
    from sqlalchemy import insert

    from scorereport.history.database_schema import AUDITS

    connection.execute(
        insert(AUDITS).values(**describe_columns(record), sha256=record.sha256, body=record.to_json())
    )


def check_document_hashes(documents: Mapping[str, bytes]) -> dict[str, bytes]:
    """The documents in the order of their names, if these are their hashes."""
    for name, content in documents.items():
        if hashlib.sha256(content).hexdigest() != name:
            raise UsageError(f"`documents` must be named by the SHA-256 of their content; {name!r} is not.")
    return dict(sorted(documents.items()))


def insert_documents(connection: Connection, contents: Mapping[str, bytes]) -> None:
    """File documents, unless they are filed already."""
    from sqlalchemy import insert, select

    from scorereport.history.database_schema import DOCUMENTS

    for name, content in contents.items():
        if connection.execute(select(DOCUMENTS.c.sha256).where(DOCUMENTS.c.sha256 == name)).first():
            continue
        packed = zlib.compress(content)
        checksum = hashlib.sha256(packed).hexdigest()
        connection.execute(insert(DOCUMENTS).values(sha256=name, checksum=checksum, content=packed))


def find_packed_document(connection: Connection, sha256: str) -> bytes | None:
    """The compressed bytes of a document; None if there is none."""
    from sqlalchemy import select

    from scorereport.history.database_schema import DOCUMENTS

    return connection.execute(select(DOCUMENTS.c.content).where(DOCUMENTS.c.sha256 == sha256)).scalar()


def unpack_document(packed: bytes) -> bytes | None:
    """The content of compressed bytes; None if they are damaged or not all of one piece."""
    engine = zlib.decompressobj()
    try:
        content = engine.decompress(packed) + engine.flush()
    except zlib.error:
        return None
    return content if engine.eof and not engine.unused_data else None


#: What has to be asked for so that a record can be held against it.
CONFIRMED_COLUMNS = (*(field.name for field in fields(RecordSummary)), "body")


def read_confirmed(row: Row[Any], name: str) -> Record:
    """The record of a row with `COLUMNS`, if it is the one that was filed in the history of this name."""
    number, body = row.id, row.body
    if isinstance(body, str) and _hash_text(body) == row.sha256:
        record = read_body(number, body)
        if all(row._mapping[column] == value for column, value in describe_columns(record).items()):
            return record
    raise DataError(
        f"Record {number} of the history {name} is not what was filed; `scorereport audit verify` tells what "
        "was changed."
    )


def find_confirmed(connection: Connection, number: int, name: str) -> Record | None:
    """The record with this number, as `read_confirmed` gives it; None if there is none."""
    from sqlalchemy import select

    from scorereport.history.database_schema import AUDITS

    row = connection.execute(select(AUDITS).where(AUDITS.c.id == number)).first()
    return None if row is None else read_confirmed(row, name)


def _hash_text(body: str) -> str:
    return hashlib.sha256(body.encode(errors="surrogateescape")).hexdigest()


def check_written(connection: Connection, record: Record, contents: Mapping[str, bytes], name: str) -> None:
    """Refuse to go on if the database has not kept a new record and new documents as they were given."""
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
            f"The history {name} has not kept {lost[0]} as it was given, so nothing was recorded: a rule, a "
            "trigger or a policy of the database is in the way. `scorereport audit verify` names it."
        )
