"""Changes of limits and approvals of an audit, as its page and the data of the site list them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import format_time
from scorereport.history.limit_chain import find_key
from scorereport.history.valid_records import find_annulled

if TYPE_CHECKING:
    from scorereport.audit.site.audit_runs import AuditRuns
    from scorereport.history.audit_record import Record

#: How many characters are shown of the fingerprint of a key.
_KEY_LENGTH = 12


def describe_limit_events(audit: AuditRuns) -> list[dict[str, Any]]:
    """Describe each run with changed limits and each approval, the newest first."""
    annulled = find_annulled(audit.records)
    return [
        {
            "id": record.id,
            "ran": format_time(record.finished),
            "event": _describe_event(record, annulled.get(record.id)),
            "changes": [change.clause for change in record.limit_changes],
        }
        for record in reversed(audit.records)
        if record.approval is not None or record.limit_changes
    ]


def _describe_event(record: Record, annulment: Record | None) -> str:
    end = "" if annulment is None else f" Annulled by record {annulment.id}: {annulment.reason}"
    if record.approval is None:
        return f"Run of {record.period.label} with changed limits.{end}"
    key = find_key(record)[:_KEY_LENGTH]
    return f"Limits approved, signed by the key {key}…: {record.reason.removesuffix('.')}.{end}"


def list_limit_events(audit: AuditRuns) -> list[dict[str, Any]]:
    """List the same records for the data of the site, the oldest first."""
    return [
        {
            "id": record.id,
            "kind": record.kind,
            "finished": record.finished,
            "changes": [
                {"key": one.key, "before": one.before, "after": one.after, "effect": one.effect}
                for one in record.limit_changes
            ],
            **({"reason": record.reason, "signed_by": find_key(record)} if record.approval else {}),
        }
        for record in audit.records
        if record.approval is not None or record.limit_changes
    ]
