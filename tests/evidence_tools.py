"""Evidence of many audits without their rows, for tests of sentences, figures, tables and pages."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from math import log, nan

import numpy as np

from scorereport.history.trend.evidence_records import (
    ConfidenceSequence,
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
            lower=max(mean - 0.15 / (place + 1) ** 0.5, 0.0),
            upper=mean + 0.15 / (place + 1) ** 0.5,
        )
        for place, mean in enumerate(means)
    )
    return ConfidenceSequence(model=model, measure=measure, level=level, points=points)


def draw_factors(audits, drift, seed=1):
    return (np.random.default_rng(seed).normal(drift, 0.6, audits)).tolist()


def make_evidence(audits=14, models=("logit", "boost", "forest"), **changes):
    """Evidence after some months: the first model has raised an alarm on calibration, the last one left."""
    drifts = [0.8, *(-0.4 for _ in models[1:])]
    calibration = [make_series(m, draw_factors(audits, d, k)) for k, (m, d) in enumerate(zip(models, drifts))]
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
