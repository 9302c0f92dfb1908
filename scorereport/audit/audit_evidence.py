"""Evidence of a run: hypotheses of its configuration, factors of its counted rows, and all audits so far."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from scorereport.history.evidence_plan import EvidenceTerms, compute_evidence
from scorereport.history.trend.baselines import list_bands
from scorereport.history.trend.evidence_chain import EvidenceStep, build_trend_evidence
from scorereport.history.trend.evidence_factors import Hypotheses
from scorereport.history.trend.evidence_rows import count_rows, list_score_limits

if TYPE_CHECKING:
    from scorereport.audit.plan import Plan
    from scorereport.configuration.periods import Period
    from scorereport.data.predictions import ClassPredictions, Predictions
    from scorereport.history.audit_record import Record
    from scorereport.history.evidence_plan import EvidencePlan
    from scorereport.history.trend.evidence_factors import Bounds
    from scorereport.history.trend.evidence_records import AuditEvidence, TrendEvidence
    from scorereport.results.evaluation import Evaluation


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
    return compute_evidence(
        count_rows(evaluation, predictions, limits),
        Hypotheses(tolerance=table.tolerance, limits=limits, bands=_find_bands(baseline, table.alpha)),
        planned,
        EvidenceTerms(
            alpha=table.alpha,
            looks=looks,
            level=evaluation.settings.level,
            baseline="" if baseline is None else baseline.sha256,
        ),
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
