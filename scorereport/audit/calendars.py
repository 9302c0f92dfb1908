"""When an audit runs, in the words of systemd."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from scorereport._utils.clock import timestamp
from scorereport.audit.fields import parse_schedule_fields
from scorereport.audit.timer_calendar import EVERY_DAY, EVERY_WEEKDAY, CalendarDays, find_days

if TYPE_CHECKING:
    from collections.abc import Collection

    from scorereport.configuration.schedules import Schedule

_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
#: For so many years to come, runs at times that clocks skip are named one by one.
_YEARS_AHEAD = 10
_DAY = timedelta(days=1)


def render_calendar(schedule: Schedule) -> list[str]:
    """The schedule in the words of systemd: as many expressions for `OnCalendar` as it takes.

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
    """Runs of the years to come that are later than they should be, because clocks skip their time."""
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
