"""Trend charts and sparklines as coordinates, which a template draws.

A chart has one lane for each model, all with the same scale. It is 10,000 units wide, and the page scales it
to the available width.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from scorereport.audit.site.chart_axes import (
    CHART_WIDTH,
    DayTick,
    NumberScale,
    choose_number_scale,
    describe_outside,
    list_day_ticks,
    scale_of_days,
    scale_of_numbers,
)
from scorereport.audit.site.chart_lanes import (
    NAME_HEIGHT,
    UNITS_PER_PIXEL,
    Lane,
    LaneSettings,
    build_lane,
    draw_dots,
    join_lines,
)
from scorereport.audit.site.measure_series import choose_site_format

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from scorereport.plots.trend_picture import MeasureSeries

#: Height of a lane's plot in pixels by the number of lanes, and of the space below it.
_LANE_HEIGHTS = {1: 220, 2: 160, 3: 130}
_MANY_LANES_HEIGHT, _GAP = 110, 8
#: Up to this many audits each have a dot and a whisker; more audits are drawn as a line and a band.
MAX_DOTS = 45


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartColumn:
    """One audit across all lanes: its dots, and the area that reacts to the pointer."""

    place: int
    left: int
    width: int
    dots: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendChart:
    """A measure over time. Columns are of the runs with results, failures of the others, in order."""

    measure: str
    label: str
    height: int
    lanes: tuple[Lane, ...]
    columns: tuple[ChartColumn, ...]
    failures: tuple[int, ...]
    days: tuple[DayTick, ...]
    is_dense: bool
    notes: tuple[str, ...]

    @property
    def pixels(self) -> float:
        """The height of the chart on the screen."""
        return self.height / UNITS_PER_PIXEL


@dataclass(frozen=True, slots=True, kw_only=True)
class Sparkline:
    """A small line without axes: its path and its last point."""

    line: str
    dot: str


def build_charts(
    series: Sequence[MeasureSeries], days: Sequence[date], failed_days: Sequence[date]
) -> tuple[TrendChart, ...]:
    """Build a chart for each measure, with the days of the runs with results and of those that failed."""
    charts = groupby(series, key=lambda one: one.measure)
    return tuple(_build_chart(list(of_measure), days, failed_days) for _, of_measure in charts)


def build_sparkline(series: MeasureSeries, days: Sequence[date], height: int = 240) -> Sparkline:
    """Build the line of one series; numbers that are not finite become gaps."""
    finite = [reading.value for reading in series.known if math.isfinite(reading.value)]
    scale, time = scale_of_numbers(finite, height), scale_of_days(days)
    points = [
        None
        if reading is None or not math.isfinite(reading.value)
        else (time.place(day), scale.place(reading.value))
        for day, reading in zip(days, series.readings, strict=True)
    ]
    known = [point for point in points if point is not None]
    return Sparkline(
        line=join_lines(points), dot=draw_dots([known[-1]] if known and points[-1] is not None else [])
    )


def _build_chart(
    series: Sequence[MeasureSeries], days: Sequence[date], failed_days: Sequence[date]
) -> TrendChart:
    plot = _LANE_HEIGHTS.get(len(series), _MANY_LANES_HEIGHT) * UNITS_PER_PIXEL
    step = (NAME_HEIGHT + _GAP) * UNITS_PER_PIXEL + plot
    measure, readings = series[0].measure, [reading for one in series for reading in one.known]
    scale = choose_number_scale(readings, plot)
    writer = choose_site_format(measure, readings)
    drawing = LaneSettings(scale=scale, writer=writer, is_dense=len(days) > MAX_DOTS)
    time = scale_of_days([*days, *failed_days])
    places = [time.place(day) for day in days]
    tops = [place * step + NAME_HEIGHT * UNITS_PER_PIXEL for place in range(len(series))]
    return TrendChart(
        measure=measure,
        label=series[0].label,
        height=step * len(series),
        lanes=tuple(build_lane(one, places, top, drawing) for one, top in zip(series, tops, strict=True)),
        columns=_build_columns(series, places, tops, scale),
        failures=tuple(time.place(day) for day in failed_days),
        days=list_day_ticks([*days, *failed_days], time),
        is_dense=drawing.is_dense,
        notes=tuple(describe_outside(measure, readings, scale)),
    )


def _build_columns(
    series: Sequence[MeasureSeries], places: Sequence[int], tops: Sequence[int], scale: NumberScale
) -> tuple[ChartColumn, ...]:
    edges = _find_column_edges(places)
    return tuple(
        ChartColumn(
            place=x,
            left=left,
            width=right - left,
            dots=draw_dots(
                (x, top + scale.place(reading.value))
                for one, top in zip(series, tops, strict=True)
                if (reading := one.readings[index]) is not None and not math.isnan(reading.value)
            ),
        )
        for index, (x, (left, right)) in enumerate(zip(places, edges, strict=True))
    )


def _find_column_edges(places: Sequence[int]) -> list[tuple[int, int]]:
    """Return, for each place, the midpoints to its neighbours; the first and the last reach the edges."""
    distinct = sorted(set(places))
    middles = [0, *((a + b) // 2 for a, b in pairwise(distinct)), CHART_WIDTH]
    edges = dict(zip(distinct, pairwise(middles), strict=True))
    return [edges[place] for place in places]
