"""What the section on earlier audits says about evidence: sentences, figure and numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import (
    format_alarm_line,
    format_count,
    format_counted,
    format_evidence,
    format_level,
    format_plain,
)
from scorereport.history.trend.evidence_sentences import describe_standings, label_measure
from scorereport.plots.evidence_plot import (
    MOST_MARKS,
    count_left_out,
    describe_evidence,
    has_evidence_figure,
    plot_evidence,
)
from scorereport.plots.trend_plot import MOST_FILLED, list_sequences, name_models
from scorereport.report.section_parts import figure_part
from scorereport.report.tables.evidence_tables import order_series

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.history.trend.drift_records import Trend
    from scorereport.history.trend.evidence_records import EvidenceSeries, TrendEvidence
    from scorereport.report.section_parts import Part

#: Most sentences on hypotheses of a kind, apart from alarms; the table states the others.
_MOST_SENTENCES = 4


def explain_sequences(trend: Trend) -> str:
    """Return a sentence of a caption on the confidence sequences of the trend figure; empty without any."""
    sequences = list_sequences(trend)
    if not sequences:
        return ""
    models = {sequence.model for sequence in sequences}
    what = "Band with a line" if len(models) <= MOST_FILLED else "Pale lines"
    return (
        f" {what}: mean of all audits so far, with an interval that holds at all audits at once (confidence "
        f"sequence, {format_level(sequences[0].level)})."
    )


def draw_evidence(trend: Trend, evidence: TrendEvidence) -> Part | None:
    """Return the figure of evidence; None if there is one audit only."""
    if not has_evidence_figure(evidence):
        return None
    models, left_out = name_models(trend), count_left_out(evidence)
    counted = format_counted(left_out, "more line")
    rest = f" {counted}, with less evidence, {'is' if left_out == 1 else 'are'} left out." * (left_out > 0)
    audits = max(len(series.points) for series in evidence.series)
    circles = "circles: audits at or above it" if audits <= MOST_MARKS else "circles: the first alarm"
    last = f" The last {audits} of {format_counted(evidence.counted_audits, 'audit')} are shown."
    recent = last * (audits < evidence.counted_audits)
    outside = " Evidence outside an axis is drawn at its end." * _is_cut(evidence)
    return figure_part(
        plot_evidence,
        describe_evidence(evidence, models),
        evidence,
        models,
        caption="Evidence for a change at some audit so far, after each audit, on a logarithmic scale. "
        f"Dashed: the alarm line; {circles}.{recent}{outside}{rest}",
    )


def _is_cut(evidence: TrendEvidence) -> bool:
    """Whether evidence is below 1 to 10 or above a million to 1, where the axis may end."""
    detectors = [point.log_detector for series in evidence.series for point in series.points]
    return min(detectors) < -2.302 or max(detectors) > 13.815


def describe_trend_evidence(evidence: TrendEvidence) -> dict[str, Any]:
    """Return the values that the template shows of evidence."""
    series = [one for one in order_series(evidence) if one.hypothesis != "difference"]
    of_calibration = [one for one in series if one.hypothesis in ("calibration", "baseline")]
    of_limits = [one for one in series if one.hypothesis == "limit"]
    audits = evidence.counted_audits
    return {
        "is_calibration_alarming": any(one.is_alarm for one in of_calibration),
        "is_limit_alarming": any(one.is_alarm for one in of_limits),
        "calibration": _choose_sentences(of_calibration),
        "limits": _choose_sentences(of_limits),
        "standings": describe_standings(
            evidence.standings, label_measure(evidence.measure), evidence.alpha, audits
        ),
        "has_standings": len(evidence.standings) > 1,
        "alpha": format_level(evidence.alpha),
        "false_alarms": format_plain(evidence.alpha),
        "looks": format_count(evidence.looks),
        "mean_audits": format_count(round(evidence.looks / evidence.alpha)),
        "leaves_at": format_alarm_line(1 / evidence.alpha),
        "notes": list(evidence.notes),
    }


def _choose_sentences(series: Sequence[EvidenceSeries]) -> list[str]:
    """Return the sentences on the gravest series, all alarms among them, and count the others."""
    most = max(_MOST_SENTENCES, sum(one.is_alarm for one in series))
    shown, rest = series[:most], series[most:]
    texts = [one.sentence for one in shown]
    if rest:
        strongest = format_evidence(max(one.points[-1].log_detector for one in rest))
        at_most = strongest if strongest == format_evidence(0) else f"at most {strongest}"
        texts.append(f"Evidence against the other {format_count(len(rest))}: {at_most}; no alarm.")
    return texts
