"""Rows that are what they should be: those that are read, and those that were just written.

Who builds upon a record that was changed passes the change on; and a database may be told to lose a row, or
to write another one, and to say nothing.
"""

from __future__ import annotations

import hashlib
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from scorereport.errors import DataError, UsageError
from scorereport.history.documents import unpack_document
from scorereport.history.record_rows import RecordSummary, describe_columns, read_body

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection, Row

    from scorereport.history.audit_record import Record

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
