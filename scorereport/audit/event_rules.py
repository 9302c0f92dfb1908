"""Rules of records that are not of runs: which fields each kind may fill, and which it must fill."""

from __future__ import annotations

from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class _EventRule:
    """What a record of a kind is, the fields that it must fill, and those that it may fill."""

    what: str
    required: tuple[str, ...]
    optional: tuple[str, ...] = ()


_RULES = {"key": _EventRule("a change of keys", ("key", "reason"))}


def check_event(record: Record) -> Iterator[str]:
    """Check a record that is not of a run by itself; yield what is wrong as ends of sentences about it."""
    rule = _RULES[record.kind]
    if lacking := [name for name in rule.required if not getattr(record, name)]:
        yield f"is of {rule.what}, but lacks {', '.join(lacking)}"
    allowed = (*rule.required, *rule.optional)
    if found := [name for name in _CONTENTS if name not in allowed and getattr(record, name)]:
        yield f"is of {rule.what}, but has {', '.join(found)}"
    if (record.status, record.exit_code) != (AuditStatus.DONE, 0):
        yield (
            f"is of {rule.what}, but its status is {record.status} with exit code {record.exit_code}, not "
            "done with 0"
        )
