"""Evidence of a run: hypotheses of its configuration, factors of its counted rows, and all audits so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scorereport.audit.rows.counted_rows import open_counted_rows
from scorereport.history.evidence_plan import EvidencePlan, EvidenceTerms, compute_evidence, plan_evidence
from scorereport.history.trend.baselines import list_bands
from scorereport.history.trend.evidence_chain import EvidenceStep, build_trend_evidence
from scorereport.history.trend.evidence_factors import Hypotheses
from scorereport.history.trend.evidence_records import AuditEvidence, TrendEvidence
from scorereport.history.trend.evidence_rows import count_rows, list_score_limits

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scorereport.audit.plan import Plan
    from scorereport.audit.rows.loaded_rows import LoadedRows
    from scorereport.audit.rows.source_reference import SourceReference
    from scorereport.configuration.periods import Period
    from scorereport.history.audit_record import Record
    from scorereport.inference.baseline_bands import BaselineBand
    from scorereport.inference.panel import PanelRows
    from scorereport.results.evaluation import Evaluation


#: The number of audits whose evidence a report shows: documents of daily audits must not grow for ever.
MOST_SHOWN = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEvidence:
    """The evidence of a run for its record, that of all audits so far for its report, and notes on both."""

    evidence: AuditEvidence | None = None
    shown: TrendEvidence | None = None
    notes: tuple[str, ...] = ()


def find_run_evidence(
    plan: Plan,
    rows: LoadedRows | SourceReference,
    evaluation: Evaluation,
    period: Period,
    records: Sequence[Record],
    baseline: Record | None,
    *,
    looks: int,
) -> RunEvidence:
    """Compute the evidence of the days of a run that count; nothing if the configuration asks for tests.

    Parameters
    ----------
    plan, rows, evaluation, period : of the run
    records : the records of the audit so far
    baseline : the record of the sealed baseline, if there is one
    looks : the number of audits in which false alarms are rare
    """
    if plan.audit.comparison.method != "evidence":
        return RunEvidence()
    planned = _plan_run(plan, rows, period, records)
    if planned.days is None:
        return RunEvidence(shown=_show(planned.before), notes=(planned.note,))
    with open_counted_rows(rows, period, *planned.days) as counted:
        if counted.reason:
            return RunEvidence(shown=_show(planned.before), notes=(counted.reason,))
        evidence = _compute(plan, evaluation, counted.panels, planned, baseline, looks)
    if evidence is None:
        return RunEvidence(shown=_show(planned.before))
    last = EvidenceStep(period=period.label, sha256="", evidence=evidence)
    return RunEvidence(evidence=evidence, shown=_show([*planned.before, last]))


def _show(steps: Sequence[EvidenceStep]) -> TrendEvidence | None:
    return build_trend_evidence(steps, most=MOST_SHOWN)


def _plan_run(
    plan: Plan, rows: LoadedRows | SourceReference, period: Period, records: Sequence[Record]
) -> EvidencePlan:
    """Find the days of a run that count: those with final outcomes."""
    final = period if rows.maturity is None else rows.maturity.find_final_part(period)
    if final is None:
        return EvidencePlan(days=None, note=f"No outcome of {period.label} is final yet.")
    return plan_evidence(records, period, plan.since, final_end=final.end)


def _compute(
    plan: Plan,
    evaluation: Evaluation,
    panels: Iterable[PanelRows],
    planned: EvidencePlan,
    baseline: Record | None,
    looks: int,
) -> AuditEvidence | None:
    table = plan.audit.comparison
    models = tuple(model.model for model in evaluation.results)
    limits = list_score_limits(plan.configuration.limits, models)
    return compute_evidence(
        count_rows(evaluation, panels, limits),
        Hypotheses(tolerance=table.tolerance, limits=limits, bands=_find_bands(baseline, table.alpha)),
        planned,
        EvidenceTerms(
            alpha=table.alpha,
            looks=looks,
            level=evaluation.settings.level,
            baseline="" if baseline is None else baseline.sha256,
        ),
    )


def _find_bands(baseline: Record | None, alpha: float) -> dict[tuple[str, str], BaselineBand]:
    if baseline is None or baseline.baseline is None:
        return {}
    return list_bands(baseline.baseline, alpha)
