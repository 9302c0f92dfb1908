"""Findings on earlier audits: alarms, the strongest evidence, models that left, and population shift."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_counted, join_some
from scorereport.history.trend.drift_sentences import POPULATION_SHIFT
from scorereport.history.trend.evidence_sentences import describe_standings, label_measure
from scorereport.report.finding_records import MODELS, Consequence, Finding
from scorereport.report.tables.evidence_tables import order_series

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.history.trend.drift_records import Drift, Trend
    from scorereport.history.trend.evidence_records import TrendEvidence
    from scorereport.report.report_record import Report

#: Most changed numbers that are named; further ones are counted.
_MOST_NAMED = 3
_ACTION_ON_DRIFT = "Find the cause of the change since earlier audits."
_ACTION_ON_SHIFT = "Check that the models are meant for these cases, which differ from earlier ones."
_ACTIONS_ON_ALARMS = {
    "calibration": f"Find why forecasts of {MODELS} do not agree with outcomes; recalibrate or refit.",
    "baseline": f"Find what has changed for {MODELS} since the baseline; recalibrate or refit.",
    "limit": f"Find why a limit is not met over the audits by {MODELS}, and decide on its use.",
}


def find_changes(report: Report) -> Iterator[Finding]:
    """State what has changed since earlier audits: alarms of evidence, then drift or population shift."""
    trend = report.trend
    if trend is None or "trend" in report.configuration.report.omit:
        return
    if trend.evidence is None:
        yield from _find_drift(trend)
        return
    yield from _find_alarms(trend.evidence)
    yield from _find_standings(trend.evidence)
    yield from _find_shift(trend)


def _find_alarms(evidence: TrendEvidence) -> Iterator[Finding]:
    """State every alarm, or, if there is none, the strongest evidence."""
    series = [one for one in order_series(evidence) if one.hypothesis != "difference"]
    for one in series:
        if one.is_alarm:
            yield Finding(
                text=one.sentence,
                see="evidence",
                consequence=Consequence.ALARM,
                tone="bad",
                model=one.model,
                size=one.points[-1].log_detector,
                action=_ACTIONS_ON_ALARMS[one.hypothesis],
            )
    if series and not evidence.is_alarming:
        audits = format_counted(evidence.counted_audits, "audit")
        text = f"No alarm in {audits}. Strongest evidence: {series[0].sentence}"
        yield Finding(text=text, see="evidence")


def _find_standings(evidence: TrendEvidence) -> Iterator[Finding]:
    """State which models left because another one is better."""
    if not any(standing.left for standing in evidence.standings):
        return
    audits = evidence.counted_audits
    label = label_measure(evidence.measure)
    text = describe_standings(evidence.standings, label, evidence.alpha, audits)
    yield Finding(text=text, see="evidence", consequence=Consequence.POSSIBLE_GAIN)


def _find_shift(trend: Trend) -> Iterator[Finding]:
    shifted = [drift for drift in trend.drifts if drift.has_drifted]
    if shifted:
        named = f"{len(shifted)} of {len(trend.drifts)} shares have changed by more than chance explains: "
        one = shifted[0].sentence.removesuffix(POPULATION_SHIFT)
        text = one if len(shifted) == 1 else f"{named}{_name_drifts(shifted)}."
        yield Finding(
            text=f"Population shift, which is not a fault of the model: {text}",
            see="shift",
            tone="open",
            consequence=Consequence.DRIFT,
            action=_ACTION_ON_SHIFT,
        )


def _find_drift(trend: Trend) -> Iterator[Finding]:
    """State what tests against earlier audits found, in one sentence."""
    drifted = [drift for drift in trend.drifts if drift.has_drifted]
    if not drifted:
        return
    caution = next((drift.caution for drift in drifted if drift.caution), "")
    several = (
        f"{len(drifted)} of {len(trend.drifts)} numbers have changed since earlier audits by more than "
        f"chance explains: {_name_drifts(drifted)}. {caution}"
    )
    yield Finding(
        text=f"Since earlier audits: {drifted[0].sentence}" if len(drifted) == 1 else several.rstrip(),
        see="drift",
        tone="open",
        consequence=Consequence.DRIFT,
        action=_ACTION_ON_DRIFT,
    )


def _name_drifts(drifts: list[Drift]) -> str:
    return join_some([f"{d.label} of {d.model}" if d.model else d.label for d in drifts], _MOST_NAMED)
