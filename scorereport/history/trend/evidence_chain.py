"""Chain of evidence: factors of audits multiplied over periods, and the detector of changes.

The rules: the last valid record of each period counts; a run again of a period replaces its factor; annulled
records do not count; missed periods cost nothing; no day counts twice. Factors are multiplied in the order of
time, whatever the order of the runs. What a record states is what the rules gave when it was written; what
reports and pages show follows from the factors of all records that count now.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field, replace
from math import inf, log
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from scorereport.configuration.measure_limits import MEASURES
from scorereport.history.trend.counted_days import pad_time
from scorereport.history.trend.evidence_factors import find_sums
from scorereport.history.trend.evidence_records import (
    AuditEvidence,
    ConfidenceSequence,
    Evidence,
    EvidenceFactor,
    EvidencePoint,
    EvidenceSeries,
    ModelStanding,
    SequencePoint,
    TrendEvidence,
)
from scorereport.history.trend.evidence_sentences import describe_evidence
from scorereport.inference.calibration_bets import AUDITS_FITTED, update_detector
from scorereport.inference.confidence_sequences import find_confidence_sequence
from scorereport.inference.model_set import adjust_pairs

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

_Point = TypeVar("_Point", EvidencePoint, SequencePoint)


class HypothesisKey(NamedTuple):
    """What identifies a hypothesis; evidence against different ones is not multiplied."""

    model: str
    other: str
    hypothesis: str
    measure: str
    bound: float
    is_upper: bool
    baseline: str


def find_key(factor: EvidenceFactor | EvidenceSeries, baseline: str) -> HypothesisKey:
    """Return the key of a hypothesis; that about a baseline depends on which one."""
    return HypothesisKey(
        model=factor.model,
        other=factor.other,
        hypothesis=factor.hypothesis,
        measure=factor.measure,
        bound=factor.bound,
        is_upper=factor.is_upper,
        baseline=baseline if factor.hypothesis == "baseline" else "",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceStep:
    """The evidence of one counted audit: its period, the hash of its record, and what it contains.

    `days` are start and end of the counted days, as texts that sort by time.
    """

    period: str
    sha256: str
    evidence: AuditEvidence
    days: tuple[str, str] = field(init=False)

    def __post_init__(self) -> None:
        days = pad_time(self.evidence.start), pad_time(self.evidence.end)
        object.__setattr__(self, "days", days)


class FoldedEvidence(NamedTuple):
    """Evidence against one hypothesis after some audits; the numbers are logarithms."""

    product: float = 0.0
    detector: float = -inf
    audits: int = 0

    def add(self, factor: float) -> FoldedEvidence:
        """Return the evidence after one more audit."""
        return FoldedEvidence(
            product=self.product + factor,
            detector=update_detector(self.detector, factor),
            audits=self.audits + 1,
        )


def list_before(steps: Sequence[EvidenceStep], start: str | None) -> list[EvidenceStep]:
    """List the audits whose counted days end at or before a start, of audits in the order of time."""
    return list(steps[: bisect_right(steps, pad_time(start), key=lambda step: step.days[1])])


def choose_fitted(steps: Sequence[EvidenceStep], start: str | None) -> list[EvidenceStep]:
    """Choose the audits that the bets of a new audit are fitted on: the last ones before its counted days."""
    return list_before(steps, start)[-AUDITS_FITTED:]


def fold_steps(
    steps: Iterable[EvidenceStep], start: dict[HypothesisKey, FoldedEvidence] | None = None
) -> dict[HypothesisKey, FoldedEvidence]:
    """Multiply the factors of audits in the order of time, for each hypothesis."""
    folded = dict(start or {})
    for step in steps:
        for factor in step.evidence.evidence:
            key = find_key(factor, step.evidence.baseline)
            folded[key] = folded.get(key, FoldedEvidence()).add(factor.log_factor)
    return folded


def find_alarm_line(factors: Sequence[EvidenceFactor], alpha: float, looks: int) -> dict[str, float]:
    """Return the evidence at which alarms are raised, by hypothesis.

    With m hypotheses the detector of each has the line m · looks / alpha: the mean of the detectors reaches
    looks / alpha no later than any of them reaches its line, so that the mean number of audits to the first
    false alarm is at least looks / alpha. Differences of models are judged by 1 / alpha (see `model_set`).
    """
    tested = sum(factor.hypothesis != "difference" for factor in factors)
    line = max(tested, 1) * looks / alpha
    return {"difference": 1 / alpha, "calibration": line, "baseline": line, "limit": line}


def add_to_chain(
    factors: Sequence[EvidenceFactor],
    before: Sequence[EvidenceStep],
    *,
    alpha: float,
    looks: int,
    baseline: str = "",
) -> tuple[Evidence, ...]:
    """Multiply the factors of an audit with those of the counted audits before it."""
    folded = fold_steps(before)
    lines = find_alarm_line(factors, alpha, looks)
    return tuple(
        complete_factor(factor, folded.get(find_key(factor, baseline), FoldedEvidence()), lines)
        for factor in factors
    )


def complete_factor(factor: EvidenceFactor, before: FoldedEvidence, lines: dict[str, float]) -> Evidence:
    """Return the evidence after a factor; a difference of models raises no alarm by itself."""
    now, line = before.add(factor.log_factor), lines[factor.hypothesis]
    return Evidence(
        model=factor.model,
        other=factor.other,
        hypothesis=factor.hypothesis,
        measure=factor.measure,
        bound=factor.bound,
        is_upper=factor.is_upper,
        bets=factor.bets,
        log_factor=factor.log_factor,
        log_product=now.product,
        log_detector=now.detector,
        alarm_at=line,
        audits=now.audits,
        is_alarm=factor.hypothesis != "difference" and now.detector >= log(line),
    )


def build_trend_evidence(steps: Sequence[EvidenceStep], *, most: int | None = None) -> TrendEvidence | None:
    """Return the evidence over time up to the last of some counted audits; None if there are none.

    With `most`, only the points of this many audits are returned, the last ones.
    """
    if not steps:
        return None
    last = steps[-1].evidence
    shown = steps if most is None else steps[-most:]
    periods = {step.period for step in shown}
    series = (_build_series(steps, evidence) for evidence in last.evidence if not evidence.other)
    return TrendEvidence(
        series=tuple(replace(one, points=_choose_points(one.points, periods)) for one in series),
        sequences=tuple(
            replace(one, points=_choose_points(one.points, periods)) for one in _build_sequences(steps)
        ),
        standings=_find_standings(steps),
        measure=next((e.measure for e in last.evidence if e.hypothesis == "difference"), ""),
        tolerance=next((e.bound for e in last.evidence if e.hypothesis == "calibration"), 0.0),
        alpha=last.alpha,
        looks=last.looks,
        baseline=last.baseline,
        audits=len(steps),
        notes=last.notes,
    )


def _choose_points(points: Sequence[_Point], periods: Collection[str]) -> tuple[_Point, ...]:
    return tuple(point for point in points if point.period in periods)


def _build_series(steps: Sequence[EvidenceStep], evidence: Evidence) -> EvidenceSeries:
    key, now, points = find_key(evidence, steps[-1].evidence.baseline), FoldedEvidence(), []
    for step in steps:
        for factor in step.evidence.evidence:
            if find_key(factor, step.evidence.baseline) == key:
                now = now.add(factor.log_factor)
                points.append(
                    EvidencePoint(period=step.period, log_product=now.product, log_detector=now.detector)
                )
    is_alarm = now.detector >= log(evidence.alarm_at)
    return EvidenceSeries(
        model=evidence.model,
        other=evidence.other,
        hypothesis=evidence.hypothesis,
        measure=evidence.measure,
        bound=evidence.bound,
        is_upper=evidence.is_upper,
        alarm_at=evidence.alarm_at,
        points=tuple(points),
        is_alarm=is_alarm,
        sentence=describe_evidence(
            model=evidence.model,
            other=evidence.other,
            hypothesis=evidence.hypothesis,
            measure=evidence.measure,
            label=MEASURES[evidence.measure].label if evidence.measure in MEASURES else "",
            bound=evidence.bound,
            is_upper=evidence.is_upper,
            log_detector=now.detector,
            log_product=now.product,
            alarm_at=evidence.alarm_at,
            audits=now.audits,
            tolerance=evidence.bound,
            is_alarm=is_alarm,
        ),
    )


def _build_sequences(steps: Sequence[EvidenceStep]) -> list[ConfidenceSequence]:
    """Return the confidence sequence of each score of each model of the last audit."""
    last, found = steps[-1].evidence, []
    for moments in last.moments:
        if moments.other:
            continue
        known = [step for step in steps if find_sums([step.evidence], moments.model, moments.measure)]
        sums = find_sums([step.evidence for step in known], moments.model, moments.measure)
        ends = find_confidence_sequence(sums, last.level)
        points = tuple(
            SequencePoint(
                period=step.period,
                estimate=moments.upper * estimate,
                lower=moments.upper * lower,
                upper=moments.upper * upper,
            )
            for step, (estimate, lower, upper) in zip(known, ends, strict=True)
        )
        found.append(
            ConfidenceSequence(model=moments.model, measure=moments.measure, level=last.level, points=points)
        )
    return found


def _find_standings(steps: Sequence[EvidenceStep]) -> tuple[ModelStanding, ...]:
    """Return which models of the last audit may still be the best, after each audit in turn."""
    pairs = [e for e in steps[-1].evidence.evidence if e.hypothesis == "difference"]
    models = list(dict.fromkeys(evidence.model for evidence in pairs))
    keys = {(e.model, e.other): find_key(e, "") for e in pairs}
    folded: dict[HypothesisKey, FoldedEvidence] = {}
    left: dict[str, ModelStanding] = {}
    adjusted = np.zeros(len(models))
    for step in steps if models else ():
        folded = fold_steps([step], folded)
        matrix = np.zeros((len(models), len(models)))
        for row, one in enumerate(models):
            for column, other in enumerate(models):
                if one != other:
                    matrix[row, column] = folded.get(keys[one, other], FoldedEvidence()).product
        adjusted = adjust_pairs(matrix)
        for model, evidence in zip(models, adjusted, strict=True):
            if evidence >= -log(steps[-1].evidence.alpha):
                standing = ModelStanding(model=model, log_evidence=float(evidence), left=step.period)
                left.setdefault(model, standing)
    return tuple(
        left.get(model) or ModelStanding(model=model, log_evidence=float(evidence))
        for model, evidence in zip(models, adjusted, strict=True)
    )
