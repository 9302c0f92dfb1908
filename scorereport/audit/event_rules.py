"""Rules of records of events, which are not of runs: which fields each kind may fill, and its status."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport.history.audit_record import AuditStatus

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.history.audit_record import Record

#: The fields that records of some kind fill, and others leave empty.
_CONTENTS = (
    *("rows", "source", "data_sha256", "source_sha256", "results_sha256", "templates_sha256", "certificate"),
    *("files", "removed", "judgements", "snapshot", "drifts", "summary", "evidence", "reason"),
    *("annuls", "baseline", "seal", "seal_check", "limit_changes", "approval", "key"),
)
#: What a record of each kind does, and the fields that it may fill.
_EVENTS = {
    "retention": ("is of a removal of files", ("removed",)),
    "annulment": ("is an annulment", ("annuls", "reason")),
    "baseline": ("is of a baseline", ("baseline", "source", "source_sha256")),
    "seal": ("seals forecasts", ("seal", "source", "source_sha256")),
    "approval": ("is an approval", ("approval", "limit_changes", "reason")),
    "key": ("is of a change of keys", ("key", "reason")),
}


#: The fields that only records of events fill.
_OF_EVENTS = ("removed", "annuls", "baseline", "seal", "approval", "key")


def check_no_event(record: Record) -> Iterator[str]:
    """Check that the record of a run has nothing that only other records have."""
    if found := [name for name in _OF_EVENTS if getattr(record, name)]:
        yield f"is of a run, but has {', '.join(found)}"


def check_event(record: Record) -> Iterator[str]:
    """Check the fields and the status of a record that is not of a run; yield ends of sentences about it."""
    what, allowed = _EVENTS[record.kind]
    if found := [name for name in _CONTENTS if name not in allowed and getattr(record, name)]:
        yield f"{what}, but has {', '.join(found)}"
    if "reason" in allowed and not record.reason.strip():
        yield f"{what}, but gives no reason"
    if (record.status, record.exit_code) != (AuditStatus.DONE, 0):
        yield (
            f"{what}, but its status is {record.status} with exit code {record.exit_code}, not done with 0"
        )
