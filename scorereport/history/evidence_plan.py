"""Plan of the evidence of a run, fixed before its outcomes are read: the days that count, and the bets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scorereport.history.counted_evidence import list_steps, make_step
from scorereport.history.trend.counted_days import find_uncounted, pad_time
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
    others = [step for step in list_steps(records, since) if step.period != period.label]
    final = period if final_end is None else replace(period, end=min(period.end, final_end, key=pad_time))
    again = _repeat_plan(records, final, others, since)
    if again is not None:
        return again
    days = find_uncounted(final, [(step.evidence.start, step.evidence.end) for step in others])
    if days is None or pad_time(days[0]) < pad_time(since):
        return EvidencePlan(days=None, since=since, note=_explain_uncounted(period, since if days else ""))
    return EvidencePlan(
        days=days,
        before=tuple(list_before(others, days[0])),
        fitted=tuple(choose_fitted(others, days[0])),
        since=since,
    )


def _repeat_plan(
    records: Sequence[Record], period: Period, others: Sequence[EvidenceStep], since: str
) -> EvidencePlan | None:
    """Return the plan of the first run of a period, up to the next day that counts elsewhere.

    None if there was no run, or if its first day counts elsewhere or is before the start.
    """
    first = next(
        (r.evidence for r in records if r.period.label == period.label and r.evidence is not None), None
    )
    fitted = None if first is None else _find_fitted(records, first)
    if first is None or fitted is None:
        return None
    start = "" if first.start is None else pad_time(first.start)
    if start < (pad_time(since) if since else "") or any(
        d[0] <= start < d[1] for d in (s.days for s in others)
    ):
        return None
    later = [step.evidence.start for step in others if step.evidence.start and step.days[0] > start]
    end = min([period.end, *later], key=pad_time)
    if pad_time(end) <= start:
        return None
    return EvidencePlan(
        days=(first.start, end), before=tuple(list_before(others, first.start)), fitted=fitted, since=since
    )


def _find_fitted(records: Sequence[Record], first: AuditEvidence) -> tuple[EvidenceStep, ...] | None:
    """Return the audits that the first run of a period was fitted on; None if one is missing."""
    known = {r.sha256: r for r in records if r.evidence is not None}
    found = [known.get(sha256) for sha256 in first.fitted_on]
    return None if None in found else tuple(make_step(r) for r in found if r is not None)


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
