"""A record added as the last one of the chain."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from scorereport._utils.clock import read_clock
from scorereport.errors import ScoreReportError
from scorereport.history.record_rows import describe_columns, find_last, next_attempt, read_body

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from scorereport.history.audit_record import Record


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
