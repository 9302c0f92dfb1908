"""Charts of evidence over time on a logarithmic scale, with the alarm line: a lane for each hypothesis."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from scorereport._utils.formatting import MOST_EVIDENCE, format_alarm_line, format_evidence
from scorereport.audit.site.chart_axes import CHART_WIDTH, NumberScale
from scorereport.audit.site.chart_lanes import (
    NAME_HEIGHT,
    TICK_HEIGHT,
    UNITS_PER_PIXEL,
    Lane,
    LaneLabel,
    draw_grid,
    join_lines,
    place_labels,
)
from scorereport.audit.site.trend_charts import TrendChart, build_columns, lay_out_lanes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scorereport.audit.site.trend_charts import Sequences, TimeFrame
    from scorereport.history.trend.evidence_records import EvidencePoint, EvidenceSeries, TrendEvidence

#: Room above the highest line and below 1 to 1, in powers of ten.
_MARGIN = 0.18
#: Short names of powers of 1,000 at the axis.
_THOUSANDS = ("", " k", " M", " G")
#: The unit of all evidence, which is left out where there is little room.
_UNIT = " to 1"


def find_shown(series: EvidenceSeries, point: EvidencePoint) -> float:
    """Return the logarithm of the evidence that is shown: the detector's, or the product of a difference."""
    return point.log_product if series.hypothesis == "difference" else point.log_detector


def align_sequences(evidence: TrendEvidence | None, periods: Sequence[str]) -> Sequences:
    """Return the confidence sequences by measure and model, with a point or None for each of the periods."""
    if evidence is None:
        return {}
    by_period = {
        (one.measure, one.model): {point.period: point for point in one.points} for one in evidence.sequences
    }
    return {key: [points.get(period) for period in periods] for key, points in by_period.items()}


def build_evidence_chart(
    label: str, series: Sequence[EvidenceSeries], periods: Sequence[str], frame: TimeFrame
) -> TrendChart:
    """Build a chart with a lane for each series; `periods` are those of the runs with results."""
    layout = lay_out_lanes(len(series))
    scale = _choose_scale(series, layout.plot)
    lanes = tuple(
        _build_lane(one, periods, frame.places, top, scale)
        for one, top in zip(series, layout.tops, strict=True)
    )
    return TrendChart(
        measure="",
        label=label,
        height=layout.height,
        lanes=lanes,
        columns=build_columns(lanes, frame.places),
        failures=frame.failures,
        days=frame.days,
        is_dense=frame.is_dense,
        notes=tuple(_list_notes(series, scale)),
    )


def _choose_scale(series: Sequence[EvidenceSeries], height: int) -> NumberScale:
    """Choose a scale in powers of ten, from 1 to 1 up to the alarm line and the highest evidence.

    Evidence that texts do not tell apart is drawn at the upper edge.
    """
    shown = [find_shown(one, point) / math.log(10) for one in series for point in one.points]
    highest = min(max((power for power in shown if not math.isnan(power)), default=0.0), _most_power())
    lines = [math.log10(one.alarm_at) for one in series if _has_line(one)]
    return NumberScale(low=-_MARGIN, high=max([highest, *lines, 1.0]) + _MARGIN, height=height)


def _most_power() -> float:
    return math.log10(MOST_EVIDENCE)


def _has_line(series: EvidenceSeries) -> bool:
    return math.isfinite(series.alarm_at) and series.alarm_at > 1


def _build_lane(
    series: EvidenceSeries, periods: Sequence[str], places: Sequence[int], top: int, scale: NumberScale
) -> Lane:
    powers = {point.period: find_shown(series, point) / math.log(10) for point in series.points}
    points = [
        (place, top + scale.place(powers[period]))
        if period in powers and not math.isnan(powers[period])
        else None
        for place, period in zip(places, periods, strict=True)
    ]
    ticks = _list_powers(scale)
    line = f"M0 {top + scale.place(math.log10(series.alarm_at))}h{CHART_WIDTH}" if _has_line(series) else ""
    return Lane(
        model=series.model,
        name_place=top / UNITS_PER_PIXEL - NAME_HEIGHT,
        top=top,
        bottom=top + scale.height,
        grid=draw_grid(ticks, top, scale),
        band="",
        whiskers="",
        line=join_lines(point for point in points if point is not None),
        limits=(("alarm", line),) if line else (),
        ticks=tuple(
            LaneLabel(
                place=(top + scale.place(power)) / UNITS_PER_PIXEL, kind="tick", text=name_power(int(power))
            )
            for power in ticks
        ),
        labels=_label_lane(series, powers, top, scale),
        points=points,
    )


def _list_powers(scale: NumberScale) -> list[float]:
    """List powers of ten, few enough to be read."""
    highest = math.floor(scale.high)
    step = max(1, math.ceil(highest * TICK_HEIGHT * UNITS_PER_PIXEL / scale.height))
    return [float(power) for power in range(0, highest + 1, step)]


def name_power(power: int) -> str:
    """Name a power of ten in at most five characters.

    >>> [name_power(power) for power in (0, 2, 4, 6)]
    ['1', '100', '10 k', '1 M']
    """
    thousands = min(power // 3, len(_THOUSANDS) - 1)
    return f"{10 ** (power - 3 * thousands)}{_THOUSANDS[thousands]}"


def _label_lane(
    series: EvidenceSeries, powers: Mapping[str, float], top: int, scale: NumberScale
) -> tuple[LaneLabel, ...]:
    """Label the newest evidence and the alarm line, moved apart where they would overlap."""
    labels = []
    if series.points:
        newest = series.points[-1]
        kind = "newest alarming" if series.is_alarm else "newest"
        labels.append((kind, powers[newest.period], _shorten(find_shown(series, newest))))
    if _has_line(series):
        labels.append(("alarm", math.log10(series.alarm_at), f"alarm {format_alarm_line(series.alarm_at)}"))
    shown = [(kind, 0.0 if math.isnan(power) else power, text) for kind, power, text in labels]
    shown.sort(key=lambda label: -label[1])
    places = place_labels([power for _, power, _ in shown], top, scale)
    return tuple(
        LaneLabel(place=place, kind=kind, text=text.removesuffix(_UNIT), unit=_UNIT * text.endswith(_UNIT))
        for place, (kind, _, text) in zip(places, shown, strict=True)
    )


def _shorten(log_evidence: float) -> str:
    """Return evidence in few characters."""
    return format_evidence(log_evidence).replace("more than ", "> ").replace("no evidence", "none")


def _list_notes(series: Sequence[EvidenceSeries], scale: NumberScale) -> list[str]:
    """Describe what the chart does not show in full."""
    shown = [find_shown(one, point) / math.log(10) for one in series for point in one.points]
    above = any(power > scale.high for power in shown)
    below = any(power < 0 for power in shown)
    notes = []
    if below:
        notes.append("Evidence below 1 to 1 is no evidence, and drawn at the lower edge.")
    if above:
        notes.append(f"Evidence above {format_alarm_line(MOST_EVIDENCE)} is drawn at the upper edge.")
    return notes
