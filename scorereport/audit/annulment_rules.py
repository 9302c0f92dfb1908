"""Rules of annulments: what a record of kind "annulment" holds, and which records it may annul.

`audit annul` refuses what breaks them, and `verify` finds annulments that no command can have written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport.audit.event_rules import check_event

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.history.audit_record import Record

#: Kinds of records that can be annulled.
ANNULLABLE = ("audit", "baseline", "seal", "approval")


def check_annulment(record: Record) -> Iterator[str]:
    """Check an annulment by itself; yield what is wrong as ends of sentences about it."""
    yield from check_event(record)
    if record.annuls is None:
        yield "is an annulment, but names no record that it annuls"


def check_annulled(records: Sequence[Record], *, is_complete: bool) -> Iterator[tuple[Record, str]]:
    """Find annulments of records that they cannot annul; `is_complete` if no record is missing or changed."""
    by_id = {record.id: record for record in records}
    first: dict[int, Record] = {}
    for record in records:
        if record.kind != "annulment" or record.annuls is None:
            continue
        earlier = first.setdefault(record.annuls, record)
        if earlier is not record:
            yield record, f"annuls record {record.annuls}, which record {earlier.id} has annulled already"
        elif claim := find_objection(record, by_id.get(record.annuls), is_complete=is_complete):
            yield record, claim


def find_objection(annulment: Record, annulled: Record | None, *, is_complete: bool = True) -> str:
    """Return why an annulment cannot annul a record, as the end of a sentence about it; "" if it can."""
    number = annulment.annuls
    if annulled is None:
        return f"annuls record {number}, which does not exist" if is_complete else ""
    if annulled.id >= annulment.id:
        return f"annuls record {number}, which is not an earlier record"
    if annulled.audit != annulment.audit:
        return f"annuls record {number}, which is of another audit, {annulled.audit}"
    if annulled.kind not in ANNULLABLE:
        return f"annuls record {number}, which is of kind {annulled.kind}: such records cannot be annulled"
    if annulled.period != annulment.period:
        return f"annuls record {number}, which is of another period, {annulled.period.label}"
    return ""
