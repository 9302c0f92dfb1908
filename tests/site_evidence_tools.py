"""Evidence of audits that were never run, and annulments of their records."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from math import inf, log
from typing import TYPE_CHECKING

from scorereport.history.audit_record import AuditStatus, Record
from scorereport.history.trend.evidence_records import (
    ConfidenceSequence,
    EvidencePoint,
    EvidenceSeries,
    ModelStanding,
    SequencePoint,
    TrendEvidence,
)
from scorereport.history.trend.evidence_sentences import describe_evidence, label_measure
from scorereport.history.valid_records import list_counted

if TYPE_CHECKING:
    from collections.abc import Sequence

ALARM_AT = 240.0


def annul(record: Record, reason: str = "The extract was wrong.") -> Record:
    """An annulment of a record, not chained yet."""
    return replace(
        record,
        kind="annulment",
        annuls=record.id,
        reason=reason,
        status=AuditStatus.DONE,
        finished="2026-11-14T09:00:00+00:00",
        files=(),
        judgements=(),
        snapshot=None,
        drifts=(),
        summary=None,
        evidence=None,
    )


def make_evidence(records: Sequence[Record], *, limits: int = 1) -> TrendEvidence | None:
    """Evidence against all hypotheses about the models of the records; that against the last model grows."""
    counted = list_counted(records)
    if not counted:
        return None
    rng = random.Random(counted[0].audit)
    models = list(dict.fromkeys(n.model for r in counted for n in r.snapshot.numbers if n.model))
    periods = [record.period.label for record in counted]
    kinds = [("calibration", "", 0.1), ("baseline", "", math.nan)]
    kinds += [("limit", "brier", 0.21 + 0.01 * place) for place in range(limits)]
    series = [
        _draw_series(rng, model, kind, measure, bound, periods, growth=0.4 if model == models[-1] else -0.02)
        for kind, measure, bound in kinds
        for model in models
    ]
    pairs = [
        _draw_series(rng, model, "difference", "brier", math.nan, periods, growth=-0.1, other=other)
        for model in models
        for other in models
        if model != other
    ]
    return TrendEvidence(
        series=(*series, *pairs),
        sequences=tuple(_draw_sequence(model, counted) for model in models),
        standings=tuple(
            ModelStanding(
                model=model,
                log_evidence=log(31) if model == models[-1] else 0.3,
                left=periods[len(periods) // 2] if model == models[-1] and len(models) > 1 else "",
            )
            for model in models
        ),
        measure="brier",
        tolerance=0.1,
        notes=("The period 2026-02 has no evidence: it was audited with an engine.",),
    )


def _draw_series(rng, model, kind, measure, bound, periods, *, growth, other=""):
    product, detector, points = 0.0, -inf, []
    for period in periods:
        factor = rng.gauss(growth, 0.3)
        product += factor
        detector = factor + math.log1p(math.exp(detector))
        points.append(EvidencePoint(period=period, log_product=product, log_detector=detector))
    is_alarm = kind != "difference" and detector >= log(ALARM_AT)
    return EvidenceSeries(
        model=model,
        other=other,
        hypothesis=kind,
        measure=measure,
        bound=bound,
        alarm_at=20.0 if kind == "difference" else ALARM_AT,
        points=tuple(points),
        is_alarm=is_alarm,
        sentence=describe_evidence(
            model=model,
            other=other,
            hypothesis=kind,
            measure=measure,
            label=label_measure(measure),
            bound=bound,
            is_upper=True,
            log_detector=detector,
            log_product=product,
            alarm_at=ALARM_AT,
            audits=len(points),
            tolerance=0.1,
            is_alarm=is_alarm,
        ),
    )


def _draw_sequence(model, counted):
    """The running mean of the Brier score, with intervals that shrink."""
    values = [
        next((n.value for n in r.snapshot.numbers if (n.model, n.measure) == (model, "brier")), math.nan)
        for r in counted
    ]
    points, total, count = [], 0.0, 0
    for record, value in zip(counted, values, strict=True):
        if not math.isnan(value):
            total, count = total + value, count + 1
            mean, half = total / count, 0.03 / math.sqrt(count)
            points.append(
                SequencePoint(period=record.period.label, estimate=mean, lower=mean - half, upper=mean + half)
            )
    return ConfidenceSequence(model=model, measure="brier", level=0.95, points=tuple(points))
