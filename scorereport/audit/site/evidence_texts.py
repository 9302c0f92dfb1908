"""Texts on evidence: one line for the board, and the section of an audit's page with its charts."""

from __future__ import annotations

import math
from itertools import groupby
from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import (
    format_alarm_line,
    format_count,
    format_counted,
    format_evidence,
    format_level,
)
from scorereport.audit.site.evidence_charts import build_evidence_chart, find_shown
from scorereport.history.trend.evidence_sentences import (
    describe_standings,
    format_bound,
    label_measure,
    name_hypothesis,
    say_evidence,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.audit.site.trend_charts import TimeFrame, TrendChart
    from scorereport.history.trend.evidence_records import EvidenceSeries, Hypothesis, TrendEvidence

#: Titles of the charts, in their order; differences of models have a table instead.
_TITLES: dict[Hypothesis, str] = {
    "calibration": "Evidence against calibration",
    "baseline": "Evidence against the calibration of the baseline",
    "limit": "Evidence against limits",
}
#: What evidence speaks against, in one line.
_SHORT: dict[Hypothesis, str] = {"calibration": "calibration", "baseline": "the baseline"}
#: The largest number of lanes in a chart; the others are in a second one that is closed at first.
_MOST_LANES = 8


def list_alarms(evidence: TrendEvidence | None) -> list[EvidenceSeries]:
    """List what can raise an alarm, closest to its alarm line first; differences of models raise none."""
    if evidence is None:
        return []
    watched = [one for one in evidence.series if one.hypothesis != "difference" and one.points]
    return sorted(watched, key=lambda one: _newest(one) - math.log(one.alarm_at), reverse=True)


def _newest(series: EvidenceSeries) -> float:
    """Return the newest evidence as a logarithm; evidence that is not defined is none."""
    shown = find_shown(series, series.points[-1]) if series.points else math.nan
    return 0.0 if math.isnan(shown) else shown


def describe_board_evidence(evidence: TrendEvidence | None) -> dict[str, str] | None:
    """Describe the evidence that is closest to its alarm line; None if there is no evidence to show."""
    watched = list_alarms(evidence)
    if not watched:
        return None
    first = watched[0]
    odds, line = format_evidence(_newest(first)), format_alarm_line(first.alarm_at)
    if odds == format_evidence(0.0):
        return {"tone": "", "text": f"{odds} against any of {format_count(len(watched))}; alarm at {line}"}
    against = f"{odds} against {_name_short(first)} of {first.model}"
    more = sum(one.is_alarm for one in watched) - 1
    others = f", and {format_counted(more, 'more alarm')}" if more > 0 else ""
    return {"tone": "open" if first.is_alarm else "", "text": f"{against}; alarm at {line}{others}"}


def _name_short(series: EvidenceSeries) -> str:
    return _SHORT.get(series.hypothesis) or f"the limit on {label_measure(series.measure)}"


def describe_audit_evidence(
    evidence: TrendEvidence | None, periods: Sequence[str], frame: TimeFrame
) -> dict[str, Any] | None:
    """Describe the section on evidence; charts have a lane for each model, most evidence first if many."""
    if evidence is None or not evidence.series:
        return None
    alarms, others = _list_sentences(evidence)
    return {
        "alarms": alarms,
        "sentences": others,
        "notes": list(evidence.notes),
        "explained": _explain(evidence),
        "charts": [
            _describe_chart(title, hypothesis, own, periods, frame)
            for hypothesis, title in _TITLES.items()
            if (own := [one for one in evidence.series if one.hypothesis == hypothesis])
        ],
        "standings": _describe_standings(evidence),
    }


def _list_sentences(evidence: TrendEvidence) -> tuple[list[str], list[str]]:
    """List the sentences on alarms, and on what raised none."""
    watched = list_alarms(evidence)
    return (
        [one.sentence for one in watched if one.is_alarm],
        [one.sentence for one in watched if not one.is_alarm],
    )


def _explain(evidence: TrendEvidence) -> str:
    rare = format_count(round(evidence.looks / evidence.alpha))
    return (
        "Evidence of 35 to 1 means that bets against the hypothesis, each placed before an audit, have "
        "multiplied their stake by 35. If all hypotheses are true, the mean number of audits to the first "
        f"alarm is at least {rare}, however often these pages are read. The evidence for a change at each "
        "audit so far is added up, so that a change is found soon."
    )


def _describe_chart(
    title: str,
    hypothesis: Hypothesis,
    series: Sequence[EvidenceSeries],
    periods: Sequence[str],
    frame: TimeFrame,
) -> dict[str, Any]:
    ordered = sorted(series, key=_newest, reverse=True) if len(series) > _MOST_LANES else list(series)
    first, more = ordered[:_MOST_LANES], ordered[_MOST_LANES:]
    name = f"evidence-{hypothesis}"
    return {
        "title": title,
        "against": _name_all(series),
        "more": _describe_lanes(f"{name}-more", f"{title}: {len(more)} more", more, periods, frame)
        if more
        else None,
        **_describe_lanes(name, title, first, periods, frame),
    }


def _describe_lanes(
    name: str, title: str, series: Sequence[EvidenceSeries], periods: Sequence[str], frame: TimeFrame
) -> dict[str, Any]:
    drawing = build_evidence_chart(title, series, periods, frame)
    return {
        "id": name,
        "label": title,
        "drawing": drawing,
        "caption": " ".join(drawing.notes),
        "names": [_name_lane(one) for one in series],
        "description": " ".join(one.sentence for one in series),
        "tooltips": _write_tooltips(series, periods, drawing),
    }


def _name_all(series: Sequence[EvidenceSeries]) -> str:
    """Name the hypothesis if all series share it; limits are named at their lanes."""
    named = {
        name_hypothesis(
            one.hypothesis, measure=one.measure, bound=one.bound, is_upper=one.is_upper, tolerance=one.bound
        )
        for one in series
    }
    return f"Hypothesis: {named.pop()}." if len(named) == 1 else ""


def _name_lane(series: EvidenceSeries) -> str:
    if series.hypothesis != "limit":
        return series.model
    side = "at most" if series.is_upper else "at least"
    bound = format_bound(series.measure, series.bound)
    return f"{series.model}: {label_measure(series.measure)} {side} {bound}"


def _write_tooltips(
    series: Sequence[EvidenceSeries], periods: Sequence[str], drawing: TrendChart
) -> list[list[str]]:
    """Write the lines of the tooltip of each column: the evidence of each lane."""
    known = [
        (_name_lane(one), {point.period: find_shown(one, point) for point in one.points}) for one in series
    ]
    return [
        [
            f"{name}: {say_evidence(values[period])}"
            for name, values in known
            if (period := periods[column.index]) in values
        ]
        for column in drawing.columns
    ]


def _describe_standings(evidence: TrendEvidence) -> dict[str, Any] | None:
    """Describe which models may still be the best; None if fewer than two models are compared."""
    pairs = [one for one in evidence.series if one.hypothesis == "difference"]
    audits = max((len(one.points) for one in pairs or evidence.series), default=0)
    sentence = describe_standings(evidence.standings, label_measure(evidence.measure), evidence.alpha, audits)
    if not sentence:
        return None
    ordered = sorted(evidence.standings, key=lambda one: (one.left != "", one.log_evidence))
    return {
        "sentence": sentence,
        "rows": [
            {
                "model": one.model,
                "evidence": format_evidence(one.log_evidence),
                "state": {"tone": "open", "mark": "!", "text": f"left in {one.left}"}
                if one.left
                else {"tone": "good", "mark": "✓", "text": "remains"},
            }
            for one in ordered
        ],
        "pairs": [one.sentence for one in pairs],
    }


def explain_sequences(evidence: TrendEvidence | None) -> str:
    """Explain the pale bands of trend charts; empty if there are none."""
    levels = sorted({one.level for one in evidence.sequences}) if evidence is not None else []
    if not levels:
        return ""
    level = " and ".join(format_level(level) for level, _ in groupby(levels))
    return (
        f"The pale band is the {level} confidence sequence of the mean of all audits so far, and the thin "
        "line that mean: it contains the true mean at all audits at once with this probability, however "
        "often it is looked at. Intervals hold for a single audit."
    )
