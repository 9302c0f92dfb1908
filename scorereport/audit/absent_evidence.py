"""Records without evidence: a run leaves it out only for a reason that its results document states."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport.audit.record_rules import read_local_time
from scorereport.configuration.period_labels import find_label_start
from scorereport.errors import UsageError
from scorereport.history.evidence_plan import plan_evidence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from scorereport.configuration.audit_tables import AuditTable
    from scorereport.history.audit_record import Record
    from scorereport.history.trend.drift_records import Trend


def check_absence(
    record: Record, trend: Trend, table: AuditTable, list_earlier: Callable[[], Sequence[Record]]
) -> Iterator[str]:
    """Check that a record with results has evidence, if its configuration asks for it and days are left.

    The records before it, of its audit, are listed only if it has no evidence. Only records of this version
    can be checked: others may have followed other rules.
    """
    if record.evidence is not None or table.comparison.method != "evidence":
        return
    from scorereport.audit.rows.counted_rows import is_reason

    try:
        days = _find_days(record, table, list_earlier())
    except (UsageError, ValueError):  # the configuration or a time cannot be read, which others report
        return
    if days is not None and not any(map(is_reason, trend.notes)):
        yield (
            "has no evidence, though its configuration asks for it, days of its period count in no earlier "
            "audit, and its results document gives no reason"
        )


def _find_days(record: Record, table: AuditTable, earlier: Sequence[Record]) -> tuple[str | None, str] | None:
    """Return the days that the rules left to a run: those with final outcomes that did not count yet."""
    from scorereport.audit.rows.mature_rows import find_maturity

    comparison, mature_after = table.comparison, table.outcomes.mature_after
    maturity = find_maturity(mature_after, read_local_time(record.as_of, table.time_zone))
    final = record.period if maturity is None else maturity.find_final_part(record.period)
    if final is None:
        return None
    since = find_label_start(comparison.since, name="audit.comparison.since") if comparison.since else ""
    return plan_evidence(earlier, record.period, since, final_end=final.end).days
