"""Axes of trend charts: scales for days and numbers, their ticks, and what lies outside the chart."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date, datetime
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_counted, join_words
from scorereport.plots.geometry import date_ticks, even_ticks, place_day, time_ticks
from scorereport.plots.trend_picture import choose_day_ends, choose_format, choose_number_ends

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scorereport.history.trend.evidence_records import SequencePoint
    from scorereport.plots.trend_picture import MeasuredValue


#: The width of every chart in its own units; the page scales it to the available width.
CHART_WIDTH = 10_000
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
#: The largest number of days that are labelled on a wide screen, and on a phone.
_MOST_DAYS, _MOST_ON_PHONES = 9, 4
#: An interval wider than the median width by more than this factor may be cut at the edge.
_WIDE_FACTOR = 4
#: A limit is left outside of the chart if it would leave less than this share of it to the data.
_LEAST_SHARE = 0.2
#: Most decimals of a number on the axis.
_MOST_DECIMALS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class DayTick:
    """A day on the time axis: its place from 0 to 1, its text, and the year where a new one begins.

    A tick that is not `main` is not shown on a phone.
    """

    place: float
    text: str
    year: str
    main: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeScale:
    """Days from left to right."""

    first: float
    last: float

    def place(self, day: date) -> int:
        """Return the place of a day, in units of the chart."""
        return round(CHART_WIDTH * self.share(day))

    def share(self, day: date) -> float:
        """Return the place of a day, from 0 to 1."""
        return (place_day(day) - self.first) / (self.last - self.first)


def scale_of_days(days: Iterable[date]) -> TimeScale:
    """Return a scale for the days, with a small margin at both ends; a single day is in the middle."""
    first, last = choose_day_ends([place_day(day) for day in days])
    return TimeScale(first=first, last=last)


def list_day_ticks(days: Sequence[date], scale: TimeScale) -> tuple[DayTick, ...]:
    """List ticks at round days, months or years, few enough to be read; a single day is its own tick."""
    chosen = _choose_days([place_day(day) for day in days])
    by_month = len(chosen) > 1 and all(day.day == 1 and not isinstance(day, datetime) for day in chosen)
    keep = math.ceil(len(chosen) / _MOST_ON_PHONES)
    years = [None, *(day.year for day in chosen)]
    new_year = next((place for place, (a, b) in enumerate(pairwise(chosen), 1) if a.year != b.year), 0)
    return tuple(
        DayTick(
            place=scale.share(day),
            text=_MONTHS[day.month - 1] if by_month else _name_day(day),
            year="" if before == day.year else str(day.year),
            main=(place - new_year) % keep == 0,
        )
        for place, (day, before) in enumerate(zip(chosen, years, strict=False))
    )


def _choose_days(places: Sequence[float]) -> Sequence[date]:
    """Choose round hours if there are less than two days, else round days, months or years."""
    if hours := time_ticks(min(places), max(places), _MOST_DAYS):
        return hours
    ordinals, _ = date_ticks(int(min(places)), int(max(places)), _MOST_DAYS)
    return [date.fromordinal(ordinal) for ordinal in ordinals]


def _name_day(day: date) -> str:
    name = f"{day.day} {_MONTHS[day.month - 1]}"
    return f"{name} {day:%H:%M}" if isinstance(day, datetime) and day.hour else name


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberScale:
    """Numbers from bottom to top, in a box of this height."""

    low: float
    high: float
    height: int

    def place(self, value: float) -> int:
        """Return the distance of a number from the top; numbers outside are placed at the edge."""
        inside = min(max(value, self.low), self.high)
        return round(self.height * (self.high - inside) / (self.high - self.low))

    def holds(self, value: float) -> bool:
        """Whether a number is inside."""
        return self.low <= value <= self.high

    def ticks(self, most: int) -> list[float]:
        """Return round numbers inside the scale: at least two, and otherwise about `most`."""
        ticks: list[float] = even_ticks(self.low, self.high, most).tolist()
        return ticks


def count_decimals(numbers: Sequence[float]) -> int:
    """Return how many decimals round numbers need.

    >>> count_decimals([0.15, 0.2]), count_decimals([10.0, 20.0])
    (2, 0)
    """
    slack = 1e-9 * max(map(abs, numbers), default=0.0)
    enough = (n for n in range(_MOST_DECIMALS) if all(abs(x - round(x, n)) <= slack for x in numbers))
    return next(enough, _MOST_DECIMALS)


def scale_of_numbers(values: Sequence[float], height: int) -> NumberScale:
    """Return a scale for numbers without limits."""
    low, high = choose_number_ends(values)
    return NumberScale(low=low, high=high, height=height)


def choose_number_scale(
    readings: Sequence[MeasuredValue], height: int, nearby: Sequence[float] = ()
) -> NumberScale:
    """Choose a scale for all numbers, for intervals unless far wider than others, and for limits nearby.

    Other numbers are treated like limits.
    """
    values = [reading.value for reading in readings if math.isfinite(reading.value)]
    low, high = choose_number_ends(
        [*values, *_usual_ends(readings)], sorted({*_all_limits(readings), *nearby}), share=_LEAST_SHARE
    )
    return NumberScale(low=low, high=high, height=height)


def describe_outside(
    measure: str,
    readings: Sequence[MeasuredValue],
    scale: NumberScale,
    sequence: Iterable[SequencePoint | None] = (),
) -> Iterator[str]:
    """Describe what the chart does not show in full."""
    format_of = choose_format(measure, ())
    infinite = sum(math.isinf(reading.value) for reading in readings)
    if infinite:
        yield f"{format_counted(infinite, 'infinite number')} drawn at the edge."
    cut = sum(
        reading.has_interval and not (scale.holds(reading.lower) and scale.holds(reading.upper))
        for reading in readings
    )
    if cut:
        yield f"{format_counted(cut, 'interval')} far wider than the others, cut at the edge."
    wide = sum(
        not (scale.holds(point.lower) and scale.holds(point.upper)) for point in sequence if point is not None
    )
    if wide:
        points = format_counted(wide, "point")
        yield f"The confidence sequence is wider than the chart at {points}, and cut at the edge."
    outside = sorted(limit for limit in _all_limits(readings) if not scale.holds(limit))
    if outside:
        listed = join_words(map(format_of.limit, outside))
        yield f"Beyond the edge, far from all numbers: {'limits' if len(outside) > 1 else 'limit'} {listed}."


def _usual_ends(readings: Sequence[MeasuredValue]) -> Iterator[float]:
    drawn = [reading for reading in readings if reading.has_interval and math.isfinite(reading.value)]
    usual = median([reading.upper - reading.lower for reading in drawn]) if drawn else 0.0
    for reading in drawn:
        if reading.upper - reading.lower <= _WIDE_FACTOR * usual:
            yield from (reading.lower, reading.upper)


def _all_limits(readings: Iterable[MeasuredValue]) -> set[float]:
    limits = {limit for reading in readings for limit, _, _ in reading.limits}
    return {limit for limit in limits if math.isfinite(limit)}
