"""Lanes of a trend chart, one for each model: lines, bands, limits and labels, as SVG paths.

A vertical unit is a tenth of a pixel; texts are placed in pixels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from scorereport._utils.formatting import MeasureFormat, format_number
from scorereport.audit.site.chart_axes import CHART_WIDTH, NumberScale, count_decimals
from scorereport.plots.trend_picture import BOUNDS, find_range, spread_labels

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scorereport.history.trend.evidence_records import SequencePoint
    from scorereport.plots.trend_picture import MeasureSeries

    #: The place of each run in a lane; None where the run has no number.
    Points = Sequence[tuple[int, int] | None]


UNITS_PER_PIXEL = 10
#: Height in pixels of the line above a lane, with the name of its model.
NAME_HEIGHT = 26
#: The distance in pixels of the labels on the right of a lane.
_LABEL_HEIGHT = 15
#: The axis has at most about one number per this many pixels.
TICK_HEIGHT = 32


def join_lines(points: Iterable[tuple[int, int] | None]) -> str:
    """Return the path of a line through points, with a gap for None.

    >>> join_lines([(0, 5), (10, 2), None, (30, 4)])
    'M0 5l10-3M30 4'
    """
    segments = groupby(points, key=lambda point: point is not None)
    return "".join(
        _draw_line([point for point in segment if point is not None])
        for is_there, segment in segments
        if is_there
    )


def draw_band(segment: Sequence[tuple[int, int, int]]) -> str:
    """Return the path of a band: along the upper ends, and back along the lower ones."""
    there = [(x, upper) for x, upper, _ in segment]
    back = [(x, lower) for x, _, lower in reversed(segment)]
    return f"{_draw_line([*there, *back])}z"


def draw_dots(points: Iterable[tuple[int, int]]) -> str:
    """Return points as lines of length zero: with round ends they stay dots however the chart is scaled."""
    return "".join(f"M{x} {y}h0" for x, y in points)


def _draw_line(points: Sequence[tuple[int, int]]) -> str:
    steps = "".join(_step(x2 - x1, y2 - y1) for (x1, y1), (x2, y2) in pairwise(points))
    return f"M{points[0][0]} {points[0][1]}{'l' if steps else ''}{steps.lstrip()}"


def _step(x: int, y: int) -> str:
    """Format one step of a path; a minus sign separates numbers, so it needs no space."""
    return f"{'' if x < 0 else ' '}{x}{'' if y < 0 else ' '}{y}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneLabel:
    """A text beside a lane: its distance from the top of the chart in pixels, its kind, and the text.

    `more`, before the text, and `unit`, after it, may be left out if there is little space.
    """

    place: float
    kind: str
    text: str
    more: str = ""
    unit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """The drawing of one model: paths, and the texts beside them; `top` and `bottom` are of its plot.

    `sequence` is the band of the confidence sequence, and `mean` the line of the mean of all audits so far.
    """

    model: str
    name_place: float
    top: int
    bottom: int
    grid: str
    band: str
    whiskers: str
    line: str
    limits: tuple[tuple[str, str], ...]
    ticks: tuple[LaneLabel, ...]
    labels: tuple[LaneLabel, ...]
    points: Points
    sequence: str = ""
    mean: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneSettings:
    """What all lanes of a chart share."""

    scale: NumberScale
    writer: MeasureFormat
    is_dense: bool


def build_lane(
    series: MeasureSeries,
    places: Sequence[int],
    top: int,
    drawing: LaneSettings,
    sequence: Sequence[SequencePoint | None] = (),
) -> Lane:
    """Build a lane whose plot begins at `top`; `places` are those of the runs, from left to right."""
    scale = drawing.scale
    ticks = _list_ticks(series.measure, scale)
    points = [
        None if reading is None or math.isnan(reading.value) else (place, top + scale.place(reading.value))
        for place, reading in zip(places, series.readings, strict=True)
    ]
    segments = _interval_segments(series, places, top, scale)
    banded = [segment for segment in segments if drawing.is_dense and len(segment) > 1]
    alone = [segment for segment in segments if not (drawing.is_dense and len(segment) > 1)]
    known = [(place, point) for place, point in zip(places, sequence, strict=False) if point is not None]
    return Lane(
        model=series.model,
        name_place=top / UNITS_PER_PIXEL - NAME_HEIGHT,
        top=top,
        bottom=top + scale.height,
        grid=draw_grid(ticks, top, scale),
        band="".join(draw_band(segment) for segment in banded),
        whiskers="".join(f"M{x} {upper}V{lower}" for segment in alone for x, upper, lower in segment),
        line=join_lines(points),
        limits=tuple(_draw_limits(series, places, top, scale)),
        ticks=_label_ticks(ticks, top, drawing),
        labels=_label_values(series, top, drawing),
        points=points,
        sequence=_draw_sequence(known, top, scale),
        mean=join_lines((x, top + scale.place(point.estimate)) for x, point in known),
    )


def draw_grid(ticks: Iterable[float], top: int, scale: NumberScale) -> str:
    """Return a horizontal line for each tick."""
    return "".join(f"M0 {top + scale.place(tick)}h{CHART_WIDTH}" for tick in ticks)


def _draw_sequence(known: Sequence[tuple[int, SequencePoint]], top: int, scale: NumberScale) -> str:
    """Return the band of a confidence sequence; a single audit has none."""
    ends = [(x, top + scale.place(point.upper), top + scale.place(point.lower)) for x, point in known]
    return draw_band(ends) if len(ends) > 1 else ""


def _list_ticks(measure: str, scale: NumberScale) -> list[float]:
    """Return round numbers in the range of the measure."""
    low, high = find_range(measure)
    ticks = scale.ticks(scale.height // (TICK_HEIGHT * UNITS_PER_PIXEL))
    return [tick for tick in ticks if low <= tick <= high]


def _label_ticks(ticks: Sequence[float], top: int, drawing: LaneSettings) -> tuple[LaneLabel, ...]:
    factor, unit = (100, " %") if drawing.writer.is_share else (1, "")
    shown = [factor * tick for tick in ticks]
    decimals = count_decimals(shown)
    return tuple(
        LaneLabel(
            place=(top + drawing.scale.place(tick)) / UNITS_PER_PIXEL,
            kind="tick",
            text=f"{format_number(number, decimals)}{unit}",
        )
        for tick, number in zip(ticks, shown, strict=True)
    )


def _label_values(series: MeasureSeries, top: int, drawing: LaneSettings) -> tuple[LaneLabel, ...]:
    """Label the newest number and its limits, moved apart where they would overlap."""
    newest = series.readings[-1]
    if newest is None:
        return ()
    wanted = [("newest", newest.value, drawing.writer.number(newest.value), "")]
    wanted += [
        (kind, limit, drawing.writer.limit(limit), side)
        for limit, kind, side in newest.limits
        if drawing.scale.holds(limit)
    ]
    drawn = [label for label in wanted if not math.isnan(label[1])]
    drawn.sort(key=lambda label: -label[1])
    places = place_labels([value for _, value, _, _ in drawn], top, drawing.scale)
    return tuple(
        LaneLabel(place=place, kind=kind, text=text, more=side)
        for place, (kind, _, text, side) in zip(places, drawn, strict=True)
    )


def place_labels(values: Sequence[float], top: int, scale: NumberScale) -> list[float]:
    """Return places of labels in pixels, as close as possible to their numbers, without overlap."""
    wanted = [scale.place(value) / UNITS_PER_PIXEL for value in values]
    spread = spread_labels(wanted, scale.height / UNITS_PER_PIXEL, _LABEL_HEIGHT)
    return [top / UNITS_PER_PIXEL + place for place in spread]


def _interval_segments(
    series: MeasureSeries, places: Sequence[int], top: int, scale: NumberScale
) -> list[list[tuple[int, int, int]]]:
    """Return place, upper end and lower end of consecutive runs that have an interval."""
    segments: list[list[tuple[int, int, int]]] = [[]]
    for x, reading in zip(places, series.readings, strict=True):
        if reading is not None and reading.has_interval:
            segments[-1].append((x, top + scale.place(reading.upper), top + scale.place(reading.lower)))
        elif segments[-1]:
            segments.append([])
    return [segment for segment in segments if segment]


def _draw_limits(
    series: MeasureSeries, places: Sequence[int], top: int, scale: NumberScale
) -> Iterator[tuple[str, str]]:
    """Draw a line for each limit as it was in each audit; it has a step where the limit was changed."""
    for name, kind, _ in BOUNDS:
        judged = [
            None if reading is None or reading.judgement is None else getattr(reading.judgement, name)
            for reading in series.readings
        ]
        inside = [limit if limit is not None and scale.holds(limit) else None for limit in judged]
        path = "".join(_draw_steps(places, inside, top, scale))
        if path:
            yield kind, path


def _draw_steps(
    places: Sequence[int], limits: Sequence[float | None], top: int, scale: NumberScale
) -> Iterator[str]:
    """Draw horizontal lines between changes, from the left edge to the right."""
    starts = [0] + [place for place, (a, b) in enumerate(pairwise(limits), 1) if a != b]
    ends = [*starts[1:], len(limits)]
    for start, end in zip(starts, ends, strict=True):
        limit = limits[start]
        if limit is not None:
            left = places[start] if start else 0
            right = places[end] if end < len(limits) else CHART_WIDTH
            yield f"M{left} {top + scale.place(limit)}H{right}"
