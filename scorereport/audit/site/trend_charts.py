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
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import date

    from scorereport.audit.site.chart_lanes import Points
    from scorereport.history.trend.evidence_records import SequencePoint
    from scorereport.plots.trend_picture import MeasureSeries

    Sequences = Mapping[tuple[str, str], Sequence[SequencePoint | None]]

#: Height of a lane's plot in pixels by the number of lanes, and of the space below it.
_LANE_HEIGHTS = {1: 220, 2: 160, 3: 130}
_MANY_LANES_HEIGHT, _GAP = 110, 8
#: The size of a sparkline in its own units, and the largest number of its points.
SPARK_WIDTH, SPARK_HEIGHT, _SPARK_POINTS = 1_000, 100, 60
#: The largest number of columns that react to the pointer: more would be narrower than two pixels.
MAX_COLUMNS = 400
#: Up to this many audits each have a dot and a whisker; more audits are drawn as a line and a band.
MAX_DOTS = 45


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartColumn:
    """One audit across all lanes: its dots, and the area that reacts to the pointer.

    `index` is the place of the audit among the runs with results. If there are too many of them, a column
    stands for `count` neighbouring audits, and shows the last of them.
    """

    index: int
    count: int
    place: int
    left: int
    width: int
    dots: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendChart:
    """A measure or evidence over time. Columns are of the runs with results, failures of the others."""

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
class TimeFrame:
    """What all charts of an audit share: places of runs with results and of failed ones, and day ticks."""

    places: tuple[int, ...]
    failures: tuple[int, ...]
    days: tuple[DayTick, ...]

    @property
    def is_dense(self) -> bool:
        """Whether there are too many runs for a dot each."""
        return len(self.places) > MAX_DOTS


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneLayout:
    """Lanes below each other, in units of the chart: height of a plot, tops of the plots, height of all."""

    plot: int
    tops: tuple[int, ...]
    height: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sparkline:
    """A small line without axes: its path and its last point."""

    line: str
    dot: str


def build_charts(
    series: Sequence[MeasureSeries],
    days: Sequence[date],
    failed_days: Sequence[date],
    sequences: Sequences | None = None,
) -> tuple[TrendChart, ...]:
    """Build a chart for each measure, with the days of the runs with results and of those that failed.

    `sequences` are the confidence sequences by measure and model, with a point or None for each run.
    """
    if not series:
        return ()
    frame = frame_days(days, failed_days)
    charts = groupby(series, key=lambda one: one.measure)
    return tuple(_build_chart(list(of_measure), frame, sequences or {}) for _, of_measure in charts)


def frame_days(days: Sequence[date], failed_days: Sequence[date]) -> TimeFrame:
    """Return what charts of the same audits share: the places of the runs, and the ticks of the time axis."""
    time = scale_of_days([*days, *failed_days])
    return TimeFrame(
        places=tuple(time.place(day) for day in days),
        failures=tuple(time.place(day) for day in failed_days),
        days=list_day_ticks([*days, *failed_days], time),
    )


def build_sparkline(series: MeasureSeries, days: Sequence[date]) -> Sparkline:
    """Build the line of one series; numbers that are not finite become gaps."""
    finite = [reading.value for reading in series.known if math.isfinite(reading.value)]
    scale, time = scale_of_numbers(finite, SPARK_HEIGHT), scale_of_days(days)
    points = [
        None
        if reading is None or not math.isfinite(reading.value)
        else (time.place(day) * SPARK_WIDTH // CHART_WIDTH, scale.place(reading.value))
        for day, reading in zip(days, series.readings, strict=True)
    ]
    last = points[-1] if points else None
    return Sparkline(line=join_lines(thin_points(points)), dot=draw_dots([] if last is None else [last]))


def thin_points(points: Points, most: int = _SPARK_POINTS) -> Points:
    """Return at most about `most` points that look the same: the extremes of each part, and the ends.

    >>> thin_points([(x, 5 * (x == 4)) for x in range(9)], most=4)
    [(0, 0), (4, 5), (5, 0), (8, 0)]
    """
    if len(points) <= most:
        return points
    size = math.ceil(2 * len(points) / most)
    kept = {0, len(points) - 1}
    for start in range(0, len(points), size):
        part = [place for place in range(start, min(start + size, len(points))) if points[place] is not None]
        heights = {place: point[1] for place in part if (point := points[place]) is not None}
        kept |= {min(part, key=heights.__getitem__), max(part, key=heights.__getitem__)} if part else {start}
    return [points[place] for place in sorted(kept)]


def _build_chart(series: Sequence[MeasureSeries], frame: TimeFrame, sequences: Sequences) -> TrendChart:
    layout = lay_out_lanes(len(series))
    measure, readings = series[0].measure, [reading for one in series for reading in one.known]
    own = [sequences.get((measure, one.model), ()) for one in series]
    scale = choose_number_scale(readings, layout.plot, _find_ends(own))
    writer = choose_site_format(measure, readings)
    drawing = LaneSettings(scale=scale, writer=writer, is_dense=frame.is_dense)
    lanes = tuple(
        build_lane(one, frame.places, top, drawing, sequence)
        for one, top, sequence in zip(series, layout.tops, own, strict=True)
    )
    return TrendChart(
        measure=measure,
        label=series[0].label,
        height=layout.height,
        lanes=lanes,
        columns=build_columns(lanes, frame.places),
        failures=frame.failures,
        days=frame.days,
        is_dense=drawing.is_dense,
        notes=tuple(describe_outside(measure, readings, scale, [point for one in own for point in one])),
    )


def _find_ends(sequences: Iterable[Sequence[SequencePoint | None]]) -> list[float]:
    """Find the ends of the newest interval of each confidence sequence, and its mean."""
    newest = [known[-1] for one in sequences if (known := [point for point in one if point is not None])]
    return [end for point in newest for end in (point.lower, point.estimate, point.upper)]


def lay_out_lanes(count: int) -> LaneLayout:
    """Return the places of lanes below each other."""
    plot = _LANE_HEIGHTS.get(count, _MANY_LANES_HEIGHT) * UNITS_PER_PIXEL
    step = (NAME_HEIGHT + _GAP) * UNITS_PER_PIXEL + plot
    tops = tuple(place * step + NAME_HEIGHT * UNITS_PER_PIXEL for place in range(count))
    return LaneLayout(plot=plot, tops=tops, height=step * count)


def build_columns(lanes: Sequence[Lane], places: Sequence[int]) -> tuple[ChartColumn, ...]:
    """Build a column for each run, or for several neighbouring ones if there are too many."""
    size = math.ceil(len(places) / MAX_COLUMNS) or 1
    ends = [*range(size - 1, len(places) - 1, size), len(places) - 1] if places else []
    shown = [places[index] for index in ends]
    starts = [0, *(end + 1 for end in ends[:-1])]
    return tuple(
        ChartColumn(
            index=index,
            count=index - start + 1,
            place=places[index],
            left=left,
            width=right - left,
            dots=draw_dots(point for lane in lanes if (point := lane.points[index]) is not None),
        )
        for start, index, (left, right) in zip(starts, ends, _find_column_edges(shown), strict=True)
    )


def _find_column_edges(places: Sequence[int]) -> list[tuple[int, int]]:
    """Return, for each place, the midpoints to its neighbours; the first and the last reach the edges."""
    distinct = sorted(set(places))
    middles = [0, *((a + b) // 2 for a, b in pairwise(distinct)), CHART_WIDTH]
    edges = dict(zip(distinct, pairwise(middles), strict=True))
    return [edges[place] for place in places]
