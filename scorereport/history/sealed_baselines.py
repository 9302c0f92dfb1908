"""Sealed baselines in the history: which record is in force, and which audits a new one consists of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport.history.trend.baselines import build_baseline, name_baseline, share_days
from scorereport.history.valid_records import find_annulled, list_counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scorereport.configuration.audit_tables import BaselineTable
    from scorereport.history.audit_record import Record
    from scorereport.history.trend.evidence_records import SealedBaseline


def find_baseline(records: Iterable[Record], table: BaselineTable) -> Record | None:
    """Return the record that seals the configured baseline of an audit; None if there is none yet.

    `records` are those of one audit, in the order of the chain. Of several, the last one that is not annulled
    is in force.
    """
    return find_sealed(records, name_baseline(table))


def find_sealed(records: Iterable[Record], source: str) -> Record | None:
    """Return the last valid record that seals the baseline with this definition."""
    records = tuple(records)
    annulled = find_annulled(records)
    found = [r for r in records if r.baseline is not None and r.id not in annulled]
    return next((r for r in reversed(found) if r.baseline is not None and r.baseline.source == source), None)


def choose_baseline_audits(records: Iterable[Record], table: BaselineTable) -> list[Record]:
    """Choose the audits of a baseline: those of the period, or the first ones that share no day.

    The result is empty if there are not enough of them yet.
    """
    counted = list_counted(records)
    if table.period:
        return [record for record in counted if record.period.label == table.period]
    chosen: list[Record] = []
    for record in counted:
        if len(chosen) < (table.audits or 0) and not any(
            share_days(record.period, other.period) for other in chosen
        ):
            chosen.append(record)
    return chosen if len(chosen) == table.audits else []


def build_from_audits(source: str, audits: Sequence[Record], *, level: float) -> SealedBaseline:
    """Build a baseline from the records of audits, which must have snapshots."""
    return build_baseline(
        source,
        [audit.snapshot for audit in audits if audit.snapshot is not None],
        [() if audit.evidence is None else audit.evidence.digests for audit in audits],
        level=level,
        records=[audit.sha256 for audit in audits],
    )
