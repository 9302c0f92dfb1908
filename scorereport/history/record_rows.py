"""Records as rows of a database: what stands in their columns, and how they are found."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from scorereport.history.audit_record import CHAIN_START, Record, read_audit_record
from scorereport.history.chain_head import ChainHead

if TYPE_CHECKING:
    from collections.abc import Sequence

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
