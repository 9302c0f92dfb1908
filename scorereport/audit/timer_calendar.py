"""Calendar expressions of systemd for a schedule: its minutes, hours, days, months and weekdays."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import product
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from scorereport._utils.clock import timestamp
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from cronsim import CronSim

    from scorereport.configuration.schedules import Schedule


EVERY_WEEKDAY = frozenset(range(7))
EVERY_DAY = frozenset(range(1, 32))
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
#: For this many years ahead, runs at local times that clocks skip are listed one by one.
_YEARS_AHEAD = 10
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarDays:
    """Days that are one of these weekdays (Monday is 0) and have one of these numbers in their month.

    With `from_end`, the numbers count from the end of the month, 1 for its last day.
    """

    weekdays: frozenset[int] = EVERY_WEEKDAY
    numbers: frozenset[int] = EVERY_DAY
    from_end: bool = False


def find_days(fields: CronSim, schedule: Schedule) -> list[CalendarDays]:
    """Return the days of a schedule; if day of month and day of week are both set, either matches."""
    by_number, by_weekday = list(_read_numbers(fields)), list(_read_weekdays(fields))
    if not fields.day_and:
        return [*by_number, *by_weekday]
    both = [_intersect(*pair, schedule) for pair in product(by_number, by_weekday)]
    return [days for days in both if days.weekdays and days.numbers]


def _read_numbers(fields: CronSim) -> Iterator[CalendarDays]:
    plain = frozenset(fields.days) & EVERY_DAY
    if plain:
        yield CalendarDays(numbers=plain)
    if fields.LAST in fields.days:
        yield CalendarDays(numbers=frozenset({1}), from_end=True)
    if fields.LAST_WEEKDAY in fields.days:
        yield CalendarDays(weekdays=frozenset(range(5)), numbers=frozenset({1}), from_end=True)
        yield CalendarDays(weekdays=frozenset({4}), numbers=frozenset({2, 3}), from_end=True)


def _read_weekdays(fields: CronSim) -> Iterator[CalendarDays]:
    plain = frozenset((item - 1) % 7 for item in fields.weekdays if isinstance(item, int))
    if plain:
        yield CalendarDays(weekdays=plain)
    for item in sorted(item for item in fields.weekdays if isinstance(item, tuple)):
        weekday, place = frozenset({(item[0] - 1) % 7}), item[1]
        if place == fields.LAST:
            yield CalendarDays(weekdays=weekday, numbers=frozenset(range(1, 8)), from_end=True)
        else:
            week = frozenset(range(7 * place - 6, 7 * place + 1))
            yield CalendarDays(weekdays=weekday, numbers=week & EVERY_DAY)


def _intersect(one: CalendarDays, other: CalendarDays, schedule: Schedule) -> CalendarDays:
    """Return the days that match both; numbers from the start and the end of a month cannot be mixed."""
    weekdays = one.weekdays & other.weekdays
    for days, rest in ((one, other), (other, one)):
        if not days.from_end and days.numbers == EVERY_DAY:
            return CalendarDays(weekdays=weekdays, numbers=rest.numbers, from_end=rest.from_end)
    if one.from_end != other.from_end:
        raise UsageError(
            f"systemd cannot express `{schedule.cron}`: it counts days from the start or from the end of a "
            "month, not both; use `scorereport audit serve`, or a simpler schedule."
        )
    return CalendarDays(weekdays=weekdays, numbers=one.numbers & other.numbers, from_end=one.from_end)


def parse_schedule_fields(schedule: Schedule) -> CronSim:
    """Return the fields of a schedule as sets of numbers."""
    from cronsim import CronSim

    return CronSim(schedule.cron, datetime.fromisoformat(timestamp()))


def render_calendar(schedule: Schedule) -> list[str]:
    """Return a schedule as `OnCalendar` expressions of systemd, as many as it needs.

    >>> from scorereport.configuration.schedules import Schedule
    >>> render_calendar(Schedule("30 6 1 * MON", "Europe/Berlin"))
    ['*-*-01 06:30:00 Europe/Berlin', 'Mon *-*-* 06:30:00 Europe/Berlin']
    """
    fields = parse_schedule_fields(schedule)
    months = _format_numbers(fields.months, range(1, 13))
    hours, minutes = _format_numbers(fields.hours, range(24)), _format_numbers(fields.minutes, range(60))
    return [
        f"{_format_days(days, months)} {hours}:{minutes}:00 {schedule.time_zone}"
        for days in find_days(fields, schedule)
    ]


def _format_days(days: CalendarDays, months: str) -> str:
    weekdays = ",".join(_WEEKDAYS[day] for day in sorted(days.weekdays))
    numbers = ",".join(f"{number:02}" for number in sorted(days.numbers))
    if not days.from_end and days.numbers == EVERY_DAY:
        numbers = "*"
    date = f"*-{months}{'~' if days.from_end else '-'}{numbers}"
    return date if days.weekdays == EVERY_WEEKDAY else f"{weekdays} {date}"


def _format_numbers(numbers: Collection[int], every: range) -> str:
    return "*" if set(numbers) == set(every) else ",".join(f"{number:02}" for number in sorted(numbers))


def find_shifted_runs(schedule: Schedule) -> list[datetime]:
    """Find runs of the next years that start late because clocks skip their local time."""
    fields, zone = parse_schedule_fields(schedule), ZoneInfo(schedule.time_zone)
    today = datetime.fromisoformat(timestamp()).astimezone(zone).replace(hour=12, minute=0, second=0)
    noons = [today + count * _DAY for count in range(_YEARS_AHEAD * 366)]
    return [
        run
        for noon in noons
        if (noon + _DAY).utcoffset() != noon.utcoffset()
        for run in schedule.times_between(noon, noon + _DAY)
        if run.hour not in fields.hours or run.minute not in fields.minutes
    ]
