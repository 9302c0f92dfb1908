"""Records that count: the last valid one of each period, without annulled records and failed runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport.configuration.periods import is_ahead

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from scorereport.history.audit_record import Record


def find_annulled(records: Iterable[Record]) -> dict[int, Record]:
    """Return the annulments by the number of the record that they annul; the first of several counts."""
    found: dict[int, Record] = {}
    for record in records:
        if record.kind == "annulment" and record.annuls is not None:
            found.setdefault(record.annuls, record)
    return found


def list_valid(records: Iterable[Record]) -> list[Record]:
    """List the runs that are not annulled, in the order of the chain, failed runs included.

    Runs of a period that was in the future when they started, which earlier versions accepted, do not count.
    """
    records = tuple(records)
    annulled = find_annulled(records)
    return [record for record in records if is_valid(record, annulled)]


def is_valid(record: Record, annulled: Container[int]) -> bool:
    """Whether a record is a run that counts, given the numbers of the annulled ones."""
    return record.kind == "audit" and record.id not in annulled and not is_ahead(record.as_of, record.started)


def list_counted(records: Iterable[Record]) -> list[Record]:
    """List the last valid record with results of each period, by the end of the period.

    Results stay valid if a later run of the same period fails.
    """
    latest = {record.period.label: record for record in list_valid(records) if record.snapshot is not None}
    return sorted(latest.values(), key=lambda record: record.period.order)
