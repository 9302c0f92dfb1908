"""Evidence of many audits without their rows, for tests of sentences, figures, tables and pages."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from math import log, nan

import numpy as np
from history_tools import make_draft

from scorereport.configuration.periods import Period
from scorereport.history.trend.drift_records import Number, Snapshot, Trend
from scorereport.history.trend.evidence_records import (
    AuditEvidence,
    ConfidenceSequence,
    Evidence,
    EvidencePoint,
    EvidenceSeries,
    ModelStanding,
    SequencePoint,
    TrendEvidence,
)
from scorereport.history.trend.evidence_sentences import describe_evidence

ALPHA, LOOKS, TOLERANCE = 0.05, 12, 0.1


def name_month(place):
    return f"{2025 + place // 12}-{place % 12 + 1:02}"


def name_day(place):
    return str(date(2025, 1, 1) + timedelta(days=place))


def fold(factors):
    """Products and detectors of factors, as logarithms."""
    product, detector, found = 0.0, -np.inf, []
    for factor in factors:
        product += factor
        detector = factor + float(np.logaddexp(0.0, detector))
        found.append((product, detector))
    return found


def make_series(model, factors, *, name=name_month, first=0, alarm_at=480.0, **more):
    """Series of evidence of log factors; `more` are fields of the series."""
    folded = fold(factors)
    fields = {"hypothesis": "calibration", "measure": "", "other": "", "bound": TOLERANCE, "is_upper": True}
    fields |= more
    is_alarm = fields["hypothesis"] != "difference" and folded[-1][1] >= log(alarm_at)
    sentence = describe_evidence(
        **fields,
        model=model,
        label="",
        log_product=folded[-1][0],
        log_detector=folded[-1][1],
        alarm_at=alarm_at,
        audits=len(factors),
        tolerance=TOLERANCE,
        is_alarm=is_alarm,
    )
    points = tuple(
        EvidencePoint(period=name(first + place), log_product=product, log_detector=detector)
        for place, (product, detector) in enumerate(folded)
    )
    return EvidenceSeries(
        **fields, model=model, alarm_at=alarm_at, points=points, is_alarm=is_alarm, sentence=sentence
    )


def make_sequence(model, measure, means, *, name=name_month, level=0.95):
    points = tuple(
        SequencePoint(
            period=name(place),
            estimate=mean,
            lower=max(mean - 0.05 / (place + 1) ** 0.5, 0.0),
            upper=mean + 0.05 / (place + 1) ** 0.5,
        )
        for place, mean in enumerate(means)
    )
    return ConfidenceSequence(model=model, measure=measure, level=level, points=points)


def draw_factors(audits, drift, seed=1):
    return (np.random.default_rng(seed).normal(drift, 0.6, audits)).tolist()


def make_evidence(audits=14, models=("logit", "boost", "forest"), **changes):
    """Evidence after some months: the first model has raised an alarm on calibration, the last one left."""
    calibration = [make_series(m, draw_factors(audits, -0.4 if k else 0.8, k)) for k, m in enumerate(models)]
    baseline = [
        make_series(m, draw_factors(audits, -0.1, 50 + k), hypothesis="baseline", bound=nan)
        for k, m in enumerate(models)
    ]
    limits = [
        make_series(m, draw_factors(audits, 0.1, 90 + k), hypothesis="limit", measure="brier", bound=0.2)
        for k, m in enumerate(models)
    ]
    differences = (
        [
            make_series(
                models[-1],
                draw_factors(audits, 0.3, 7),
                hypothesis="difference",
                other=models[0],
                measure="brier",
                bound=nan,
            ),
        ]
        if len(models) > 1
        else []
    )
    sequences = [make_sequence(m, "brier", [0.16 + 0.01 * k] * audits) for k, m in enumerate(models)]
    standings = [ModelStanding(model=m, log_evidence=-0.5) for m in models]
    if len(models) > 2:
        standings[-1] = ModelStanding(model=models[-1], log_evidence=log(31), left=name_month(audits - 1))
    given = TrendEvidence(
        series=(*calibration, *baseline, *limits, *differences),
        sequences=tuple(sequences),
        standings=tuple(standings),
        measure="brier",
        tolerance=TOLERANCE,
        alpha=ALPHA,
        looks=LOOKS,
    )
    return replace(given, **changes)


def make_trend(audits=8, **changes):
    """Trend of monthly audits of three models, with evidence."""
    snapshots = tuple(_make_snapshot(place) for place in range(audits))
    given = Trend(snapshots=snapshots, evidence=make_evidence(audits), audit="claims", as_of="2025-09-01")
    return replace(given, **changes)


def _make_snapshot(place):
    start, end = (date(2025 + n // 12, n % 12 + 1, 1) for n in (place, place + 1))
    numbers = tuple(
        Number(
            model=model,
            measure="brier",
            label="Brier score",
            value=value,
            corrected=value,
            lower=value - 0.01,
            upper=value + 0.01,
            standard_error=0.005,
        )
        for model, value in zip(("logit", "boost", "forest"), (0.16, 0.17, 0.18), strict=True)
    )
    return Snapshot(
        period=Period(label=name_month(place), start=str(start), end=str(end)),
        time=f"{end}T06:00:00+00:00",
        rows=600,
        size=600.0,
        level=0.95,
        main_score="brier",
        numbers=numbers,
    )


def make_record(**changes):
    """Record of the eighth audit, with an alarm on calibration, none on a limit, and a difference."""
    evidence = tuple(
        _make_evidence(**fields)
        for fields in (
            {"hypothesis": "limit", "measure": "brier", "bound": 0.2, "log_detector": log(35)},
            {"hypothesis": "calibration", "bound": 0.1, "log_detector": log(3200), "is_alarm": True},
            {"hypothesis": "difference", "other": "boost", "measure": "brier", "log_detector": nan},
        )
    )
    period = Period(label=name_month(7), start="2025-08-01", end="2025-09-01")
    given = make_draft(period=period)
    added = AuditEvidence(
        start=period.start, end=period.end, alpha=ALPHA, looks=LOOKS, level=0.95, evidence=evidence
    )
    return replace(given, id=8, evidence=added, **changes)


def _make_evidence(**fields):
    given = {"model": "logit", "bets": (), "log_factor": 0.5, "log_product": 2.0, "alarm_at": 480.0}
    return Evidence(**given | {"audits": 8, "is_alarm": False} | fields)
