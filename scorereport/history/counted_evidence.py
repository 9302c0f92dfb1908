"""Evidence of the records that count: the last valid one of each period, no day twice."""

from __future__ import annotations

from bisect import bisect
from typing import TYPE_CHECKING

from scorereport.history.trend.counted_days import pad_time
from scorereport.history.trend.evidence_chain import EvidenceStep, build_trend_evidence
from scorereport.history.valid_records import list_counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scorereport.history.audit_record import Record
    from scorereport.history.trend.evidence_records import TrendEvidence


def list_steps(records: Iterable[Record], since: str = "") -> list[EvidenceStep]:
    """List the evidence of the records that count, in the order of time.

    Of two records whose counted days overlap, the earlier one in the chain counts. Audits whose counted days
    begin before `since` do not count.
    """
    chosen: list[EvidenceStep] = []
    first = pad_time(since)
    for record in sorted(list_counted(records), key=lambda record: record.id):
        if record.evidence is None:
            continue
        step = make_step(record)
        place = bisect(chosen, step.days, key=lambda other: other.days)
        beside = chosen[max(place - 1, 0) : place + 1]
        if step.days[0] >= first and not any(_have_days_in_common(step, other) for other in beside):
            chosen.insert(place, step)
    return chosen


def _have_days_in_common(one: EvidenceStep, other: EvidenceStep) -> bool:
    return max(one.days[0], other.days[0]) < min(one.days[1], other.days[1])


def make_step(record: Record) -> EvidenceStep:
    """Return the evidence of a record as a step of the chain."""
    if record.evidence is None:
        raise ValueError(f"record {record.id} has no evidence")
    return EvidenceStep(period=record.period.label, sha256=record.sha256, evidence=record.evidence)


def find_trend_evidence(records: Sequence[Record]) -> TrendEvidence | None:
    """Return the evidence over time of the records of one audit that count now; None if there is none."""
    counted = [record.evidence for record in list_counted(records) if record.evidence is not None]
    return build_trend_evidence(list_steps(records, counted[-1].since)) if counted else None
