"""Trend charts: where everything in them stands, in numbers; a template draws it.

A chart has one lane for each model, all with the same scale. Across, a chart is 10,000 units wide and is
stretched by the page.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from scorereport.audit.site.chart_axes import (
    WIDTH,
    DayTick,
    NumberScale,
    list_day_ticks,
    scale_of_days,
    scale_of_numbers,
)
from scorereport.audit.site.chart_lanes import NAME_HEIGHT, UNITS, Drawing, Lane, make_lane
from scorereport.audit.site.framing import choose_scale, describe_outside
from scorereport.audit.site.measure_series import writer_of
from scorereport.audit.site.paths import draw_dots, join_lines

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from scorereport.audit.site.measure_series import Series

#: Pixels of a lane's plot by how many lanes there are, and of the space below it.
_LANE_HEIGHTS = {1: 220, 2: 160, 3: 130}
_MANY_LANES_HEIGHT, _GAP = 110, 8
#: Up to so many audits each has its dot and its whisker; more of them are a line and a band.
FEW = 45


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One audit across all lanes: its dots, and the room in which it can be pointed at."""

    place: int
    left: int
    width: int
    dots: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A measure over time. Columns are of the runs with numbers, failures those of the others, in order."""

    measure: str
    label: str
    height: int
    lanes: tuple[Lane, ...]
    columns: tuple[Column, ...]
    failures: tuple[int, ...]
    days: tuple[DayTick, ...]
    is_dense: bool
    notes: tuple[str, ...]

    @property
    def pixels(self) -> float:
        """The height of the chart on the screen."""
        return self.height / UNITS


@dataclass(frozen=True, slots=True, kw_only=True)
class Sparkline:
    """A small line without axes: its path, and its last point."""

    line: str
    dot: str


def make_charts(
    series: Sequence[Series], days: Sequence[date], failed_days: Sequence[date]
) -> tuple[Chart, ...]:
    """A chart for each measure, with the days of the runs that have numbers and of those that failed."""
    charts = groupby(series, key=lambda one: one.measure)
    return tuple(_make_chart(list(of_measure), days, failed_days) for _, of_measure in charts)


def make_sparkline(series: Series, days: Sequence[date], height: int = 240) -> Sparkline:
    """The line of one series; numbers that are not finite are left out, as gaps."""
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


def _make_chart(series: Sequence[Series], days: Sequence[date], failed_days: Sequence[date]) -> Chart:
    plot = _LANE_HEIGHTS.get(len(series), _MANY_LANES_HEIGHT) * UNITS
    step = (NAME_HEIGHT + _GAP) * UNITS + plot
    readings = [reading for one in series for reading in one.known]
    scale = choose_scale(readings, plot)
    writer = writer_of(series[0].measure, readings)
    drawing = Drawing(scale=scale, writer=writer, is_dense=len(days) > FEW)
    time = scale_of_days([*days, *failed_days])
    places = [time.place(day) for day in days]
    tops = [place * step + NAME_HEIGHT * UNITS for place in range(len(series))]
    return Chart(
        measure=series[0].measure,
        label=series[0].label,
        height=step * len(series),
        lanes=tuple(make_lane(one, places, top, drawing) for one, top in zip(series, tops, strict=True)),
        columns=_make_columns(series, places, tops, scale),
        failures=tuple(time.place(day) for day in failed_days),
        days=list_day_ticks([*days, *failed_days], time),
        is_dense=drawing.is_dense,
        notes=tuple(describe_outside(readings, scale)),
    )


def _make_columns(
    series: Sequence[Series], places: Sequence[int], tops: Sequence[int], scale: NumberScale
) -> tuple[Column, ...]:
    edges = _find_edges(places)
    return tuple(
        Column(
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


def _find_edges(places: Sequence[int]) -> list[tuple[int, int]]:
    """For each place the middle to its neighbours; the first and the last reach to the edges."""
    distinct = sorted(set(places))
    middles = [0, *((a + b) // 2 for a, b in pairwise(distinct)), WIDTH]
    edges = dict(zip(distinct, pairwise(middles), strict=True))
    return [edges[place] for place in places]
