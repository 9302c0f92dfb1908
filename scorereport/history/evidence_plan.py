"""Plan of the evidence of a run, fixed before its outcomes are read: the days that count, and the bets."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scorereport.history.counted_evidence import EvidenceLedger
from scorereport.history.trend.counted_days import find_last_gap, pad_time
from scorereport.history.trend.evidence_chain import (
    EvidenceStep,
    add_to_chain,
    choose_fitted,
    list_before,
)
from scorereport.history.trend.evidence_parts import add_up_evidence
from scorereport.history.trend.evidence_records import AuditEvidence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.configuration.periods import Period
    from scorereport.history.audit_record import Record
    from scorereport.history.trend.evidence_factors import Hypotheses
    from scorereport.history.trend.evidence_parts import CountedParts


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidencePlan:
    """What is fixed before the outcomes of a run are read: the counted days, and the audits of the bets.

    `before` are the counted audits before these days, `fitted` those that bets are fitted on. `days` is None
    if all days of the period count in other audits; `note` then gives the reason.
    """

    days: tuple[str | None, str] | None
    before: tuple[EvidenceStep, ...] = ()
    fitted: tuple[EvidenceStep, ...] = ()
    since: str = ""
    note: str = ""


def plan_evidence(
    records: Sequence[Record], period: Period, since: str = "", *, final_end: str | None = None
) -> EvidencePlan:
    """Find the days of a period that count, and the audits before them; `records` are those of the audit.

    Only days before `final_end`, if it is given, have final outcomes. A run again of a period has the first
    day and the bets of its first run, so that the same rows give the same evidence and nobody can choose
    among bets by their outcomes. If that day counts in another audit by now, because the first run was
    annulled, both are found anew.
    """
    return plan_from_ledger(EvidenceLedger(records), period, since, final_end=final_end)


def plan_from_ledger(
    ledger: EvidenceLedger, period: Period, since: str = "", *, final_end: str | None = None
) -> EvidencePlan:
    """Do the same as `plan_evidence` with the records of a ledger."""
    others = ledger.list_others(period.label, since)
    final = period if final_end is None else replace(period, end=min(period.end, final_end, key=pad_time))
    again = _repeat_plan(ledger, final, others, since)
    if again is not None:
        return again
    days = _find_uncounted(final, others)
    if days is None or pad_time(days[0]) < pad_time(since):
        return EvidencePlan(days=None, since=since, note=_explain_uncounted(period, since if days else ""))
    return EvidencePlan(
        days=days,
        before=tuple(list_before(others, days[0])),
        fitted=tuple(choose_fitted(others, days[0])),
        since=since,
    )


def _find_uncounted(period: Period, others: Sequence[EvidenceStep]) -> tuple[str | None, str] | None:
    """Return the last part of a period that is in no step; steps after the period are not looked at."""
    count = bisect_left(others, pad_time(period.end), key=lambda step: step.days[0])
    nearest_first = (others[place] for place in range(count - 1, -1, -1))
    return find_last_gap(period, ((step.evidence.start, step.evidence.end) for step in nearest_first))


def _repeat_plan(
    ledger: EvidenceLedger, period: Period, others: Sequence[EvidenceStep], since: str
) -> EvidencePlan | None:
    """Return the plan of the first run of a period, up to the next day that counts elsewhere.

    None if there was no run, or if its first day counts elsewhere or is before the start.
    """
    record = ledger.find_first(period.label)
    first = None if record is None else record.evidence
    fitted = None if first is None else ledger.find_steps(first.fitted_on)
    if first is None or fitted is None:
        return None
    start = pad_time(first.start)
    place = bisect_right(others, start, key=lambda step: step.days[0])
    if start < pad_time(since) or any(start < step.days[1] for step in others[max(place - 1, 0) : place]):
        return None
    end = min([period.end, *(step.evidence.start or "" for step in others[place : place + 1])], key=pad_time)
    if pad_time(end) <= start:
        return None
    return EvidencePlan(
        days=(first.start, end), before=tuple(list_before(others, first.start)), fitted=fitted, since=since
    )


def _explain_uncounted(period: Period, since: str) -> str:
    if since:
        return (
            f"The period {period.label} begins before {since}, from which evidence counts "
            "(`audit.comparison.since`)."
        )
    return f"All days of {period.label} count in other audits already; no row gives evidence twice."


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceTerms:
    """How rare false alarms are, the level of confidence sequences, and the hash of the sealed baseline."""

    alpha: float
    looks: int
    level: float
    baseline: str = ""


def compute_evidence(
    rows: CountedParts, hypotheses: Hypotheses, planned: EvidencePlan, terms: EvidenceTerms
) -> AuditEvidence | None:
    """Compute the evidence of the counted rows of a run as it was planned; None if no day counts."""
    if planned.days is None:
        return None
    sums = add_up_evidence(rows, hypotheses, [step.evidence for step in planned.fitted])
    start, end = planned.days
    return AuditEvidence(
        start=start,
        end=end,
        alpha=terms.alpha,
        looks=terms.looks,
        level=terms.level,
        since=planned.since,
        fitted_on=tuple(step.sha256 for step in planned.fitted),
        baseline=terms.baseline,
        digests=sums.digests,
        moments=sums.moments,
        evidence=add_to_chain(
            sums.factors, planned.before, alpha=terms.alpha, looks=terms.looks, baseline=terms.baseline
        ),
    )
