"""Evidence of a run: the days of its period that count, its bets, and its place in the chain."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scorereport.history.trend.baselines import list_bands
from scorereport.history.trend.counted_days import find_uncounted
from scorereport.history.trend.evidence_chain import (
    EvidenceStep,
    add_to_chain,
    build_trend_evidence,
    choose_fitted,
    list_before,
    list_steps,
)
from scorereport.history.trend.evidence_factors import (
    Hypotheses,
    digest_outcomes,
    find_factors,
    sum_moments,
)
from scorereport.history.trend.evidence_records import AuditEvidence
from scorereport.history.trend.evidence_rows import count_rows, list_score_limits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.audit.plan import Plan
    from scorereport.configuration.periods import Period
    from scorereport.data.predictions import ClassPredictions, Predictions
    from scorereport.history.audit_record import Record
    from scorereport.history.trend.evidence_factors import Bounds
    from scorereport.history.trend.evidence_records import TrendEvidence
    from scorereport.results.evaluation import Evaluation


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidencePlan:
    """What is fixed before the outcomes of a run are read: the counted days, and the audits of the bets.

    `before` are the counted audits before these days, `fitted` those that bets are fitted on. `days` is None
    if all days of the period count in other audits; `note` then gives the reason.
    """

    days: tuple[str | None, str] | None
    before: tuple[EvidenceStep, ...] = ()
    fitted: tuple[EvidenceStep, ...] = ()
    note: str = ""


def plan_evidence(records: Sequence[Record], period: Period, since: str = "") -> EvidencePlan:
    """Find the days of a period that count, and the audits before them; `records` are those of the audit.

    A run again of a period has the days and the bets of its first run, so that the same rows give the same
    evidence and nobody can choose among bets by their outcomes. If its days count in another audit by now,
    because the first run was annulled, they are found anew.
    """
    others = [step for step in list_steps(records, since) if step.period != period.label]
    first = next(
        (r.evidence for r in records if r.period.label == period.label and r.evidence is not None), None
    )
    if first is not None and _is_free(first, others) and (first.start or "") >= since:
        fitted = _find_fitted(records, first)
        if fitted is not None:
            before = list_before(others, first.start)
            return EvidencePlan(days=(first.start, first.end), before=tuple(before), fitted=fitted)
    days = find_uncounted(period, [(step.evidence.start, step.evidence.end) for step in others])
    if days is None or (days[0] or "") < since:
        return EvidencePlan(days=None, note=_explain_uncounted(period, since if days else ""))
    return EvidencePlan(
        days=days,
        before=tuple(list_before(others, days[0])),
        fitted=tuple(choose_fitted(others, days[0])),
    )


def _is_free(first: AuditEvidence, others: Sequence[EvidenceStep]) -> bool:
    return all(step.days[1] <= (first.start or "") or first.end <= step.days[0] for step in others)


def _find_fitted(records: Sequence[Record], first: AuditEvidence) -> tuple[EvidenceStep, ...] | None:
    """Return the audits that the first run of a period was fitted on; None if one is missing."""
    known = {r.sha256: r for r in records if r.evidence is not None}
    found = [known.get(sha256) for sha256 in first.fitted_on]
    return None if None in found else tuple(make_step(r) for r in found if r is not None)


def make_step(record: Record) -> EvidenceStep:
    """Return the evidence of a record as a step of the chain."""
    if record.evidence is None:
        raise ValueError(f"record {record.id} has no evidence")
    return EvidenceStep(period=record.period.label, sha256=record.sha256, evidence=record.evidence)


def _explain_uncounted(period: Period, since: str) -> str:
    if since:
        return (
            f"The period {period.label} begins before {since}, from which evidence counts "
            "(`audit.comparison.since`)."
        )
    return f"All days of {period.label} count in other audits already; no row gives evidence twice."


def measure_evidence(
    plan: Plan,
    evaluation: Evaluation,
    planned: EvidencePlan,
    *,
    looks: int,
    predictions: Predictions | ClassPredictions | None = None,
    baseline: Record | None = None,
) -> AuditEvidence | None:
    """Compute the evidence of the counted rows of a run, by default all its rows; None if no day counts."""
    predictions = evaluation.predictions if predictions is None else predictions
    if planned.days is None or predictions is None:
        return None
    table = plan.audit.comparison
    limits = list_score_limits(plan.configuration.limits, tuple(predictions.forecasts))
    rows = count_rows(evaluation, predictions, limits)
    hypotheses = Hypotheses(
        tolerance=table.tolerance, limits=limits, bands=_find_bands(baseline, table.alpha)
    )
    factors = find_factors(rows, hypotheses, [step.evidence for step in planned.fitted])
    seal = "" if baseline is None else baseline.sha256
    return AuditEvidence(
        start=planned.days[0],
        end=planned.days[1],
        alpha=table.alpha,
        looks=looks,
        level=evaluation.settings.level,
        fitted_on=tuple(step.sha256 for step in planned.fitted),
        baseline=seal,
        digests=digest_outcomes(rows.panel, rows.labels),
        moments=sum_moments(rows),
        evidence=add_to_chain(factors, planned.before, alpha=table.alpha, looks=looks, baseline=seal),
    )


def _find_bands(baseline: Record | None, alpha: float) -> dict[tuple[str, str], Bounds]:
    if baseline is None or baseline.baseline is None:
        return {}
    return {key: band.bounds for key, band in list_bands(baseline.baseline, alpha).items()}


def show_evidence(
    planned: EvidencePlan, evidence: AuditEvidence | None, period: Period
) -> TrendEvidence | None:
    """Return the evidence over time up to a run, as its report shows it."""
    if evidence is None:
        shown = build_trend_evidence(planned.before)
        return None if shown is None else replace(shown, notes=(*shown.notes, planned.note))
    last = EvidenceStep(period=period.label, sha256="", evidence=evidence)
    return build_trend_evidence([*planned.before, last])
