"""Axes of trend charts: scales for days and numbers, their ticks, and what lies outside the chart."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_counted, format_value, join_words
from scorereport.audit.site.measure_series import BOUNDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scorereport.audit.site.measure_series import MeasuredValue


#: The width of every chart in its own units; the page scales it to the available width.
CHART_WIDTH = 10_000
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
#: Steps of a time axis in days, months or years, from fine to coarse.
_DAY_STEPS, _MONTH_STEPS, _YEAR_STEPS = (1, 2, 7, 14), (1, 2, 3, 6), (1, 2, 5, 10, 20, 50)
#: The largest number of days that are labelled on a wide screen, and on a phone.
_MOST_DAYS, _MOST_ON_PHONES = 9, 4
#: An interval wider than the median width by more than this factor may be cut at the edge.
_WIDE_FACTOR = 4
#: A limit is left outside of the chart if it would leave less than this share of it to the data.
_SMALLEST_SHARE = 0.2


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
        return (day.toordinal() - self.first) / (self.last - self.first)


def scale_of_days(days: Iterable[date]) -> TimeScale:
    """Return a scale for the days, with a small margin at both ends; a single day is in the middle."""
    ordinals = [day.toordinal() for day in days]
    first, last = min(ordinals), max(ordinals)
    space = max((last - first) * 0.015, 0.35) if last > first else 15
    return TimeScale(first=first - space, last=last + space)


def list_day_ticks(days: Sequence[date], scale: TimeScale) -> tuple[DayTick, ...]:
    """List ticks at round days, months or years, few enough to be read; a single day is its own tick."""
    first, last = min(days), max(days)
    chosen = _choose_days(first, last) if last > first else [first]
    by_month = len(chosen) > 1 and all(day.day == 1 for day in chosen)
    keep = math.ceil(len(chosen) / _MOST_ON_PHONES)
    years = [None, *(day.year for day in chosen)]
    new_year = next((place for place, (a, b) in enumerate(pairwise(chosen), 1) if a.year != b.year), 0)
    return tuple(
        DayTick(
            place=scale.share(day),
            text=_MONTHS[day.month - 1] if by_month else f"{day.day} {_MONTHS[day.month - 1]}",
            year="" if before == day.year else str(day.year),
            main=(place - new_year) % keep == 0,
        )
        for place, (day, before) in enumerate(zip(chosen, years, strict=False))
    )


def _choose_days(first: date, last: date) -> list[date]:
    candidates = (_list_days(first, last), _list_months(first, last), _list_years(first, last))
    for days in (days for kind in candidates for days in kind):
        if len(days) <= _MOST_DAYS:
            return days if len(days) > 1 else [first, last]
    return [first, last]


def _list_days(first: date, last: date) -> Iterator[list[date]]:
    """List days in steps, from fine to coarse; with steps of weeks they are Mondays."""
    for step in _DAY_STEPS:
        start = first.toordinal() + (-first.weekday() % 7 if step >= 7 else 0)
        yield [date.fromordinal(day) for day in range(start, last.toordinal() + 1, step)]


def _list_months(first: date, last: date) -> Iterator[list[date]]:
    begin, end = first.year * 12 + first.month - 1, last.year * 12 + last.month - 1
    for step in _MONTH_STEPS:
        months = range(-(-begin // step) * step, end + 1, step)
        days = (date(month // 12, month % 12 + 1, 1) for month in months)
        yield [day for day in days if first <= day <= last]


def _list_years(first: date, last: date) -> Iterator[list[date]]:
    for step in _YEAR_STEPS:
        years = range(-(-first.year // step) * step, last.year + 1, step)
        yield [day for day in (date(year, 1, 1) for year in years) if first <= day <= last]


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

    def ticks(self, most: int) -> Ticks:
        """Return round numbers inside the scale: at least two, and otherwise about `most`."""
        rough = (self.high - self.low) / most
        steps = [step for step in _round_steps(rough) if self._list(step)[1:]]
        step = min((step for step in steps if step >= rough * (1 - 1e-9)), default=steps[-1])
        return Ticks(step=step, values=self._list(step))

    def _list(self, step: float) -> tuple[float, ...]:
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return tuple(place * step for place in range(first, last + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticks:
    """Numbers on an axis, and the step between them."""

    step: float
    values: tuple[float, ...]

    def decimals(self, factor: float = 1.0) -> int:
        """Return how many decimals the numbers need when multiplied by `factor`."""
        step = self.step * factor
        enough = (decimals for decimals in range(9) if abs(step - round(step, decimals)) < step * 1e-6)
        return next(enough, 9)


def scale_of_numbers(values: Sequence[float], height: int) -> NumberScale:
    """Return a scale for the numbers, with a margin above and below; it is never empty."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    span = high - low or abs(high) * 0.2 or 1.0
    middle = (low + high) / 2
    half = max(high - low, span) * 0.56
    return NumberScale(low=middle - half, high=middle + half, height=height)


def _round_steps(near: float) -> list[float]:
    """Return 1, 2, 2.5 and 5 times powers of ten around a number, from small to large."""
    unit = 10.0 ** math.floor(math.log10(near))
    return [factor * power * unit for power in (0.1, 1, 10) for factor in (1, 2, 2.5, 5)]


def choose_number_scale(readings: Sequence[MeasuredValue], height: int) -> NumberScale:
    """Choose a scale for all numbers, for intervals unless far wider than others, and for limits nearby."""
    values = [reading.value for reading in readings if math.isfinite(reading.value)]
    ends = [*values, *_usual_ends(readings)]
    span = max(ends) - min(ends) if ends else 0.0
    for limit in sorted(_all_limits(readings), key=lambda limit: abs(limit - median(values or [0.0]))):
        reach = max([*ends, limit]) - min([*ends, limit])
        if not span or span >= _SMALLEST_SHARE * reach:
            ends.append(limit)
    return scale_of_numbers(ends, height)


def describe_outside(readings: Sequence[MeasuredValue], scale: NumberScale) -> Iterator[str]:
    """Describe what the chart does not show in full."""
    infinite = sum(math.isinf(reading.value) for reading in readings)
    if infinite:
        yield f"{format_counted(infinite, 'infinite number')} drawn at the edge."
    cut = sum(
        reading.has_interval and not (scale.holds(reading.lower) and scale.holds(reading.upper))
        for reading in readings
    )
    if cut:
        yield f"{format_counted(cut, 'interval')} far wider than the others, cut at the edge."
    outside = sorted(limit for limit in _all_limits(readings) if not scale.holds(limit))
    if outside:
        listed = join_words(format_value(limit) for limit in outside)
        yield f"Beyond the edge, far from all numbers: {'limits' if len(outside) > 1 else 'limit'} {listed}."


def _usual_ends(readings: Sequence[MeasuredValue]) -> Iterator[float]:
    drawn = [reading for reading in readings if reading.has_interval and math.isfinite(reading.value)]
    usual = median([reading.upper - reading.lower for reading in drawn]) if drawn else 0.0
    for reading in drawn:
        if reading.upper - reading.lower <= _WIDE_FACTOR * usual:
            yield from (reading.lower, reading.upper)


def _all_limits(readings: Iterable[MeasuredValue]) -> set[float]:
    judgements = [reading.judgement for reading in readings if reading.judgement is not None]
    limits = {getattr(judgement, name) for judgement in judgements for name, _, _ in BOUNDS}
    return {limit for limit in limits if limit is not None and math.isfinite(limit)}
