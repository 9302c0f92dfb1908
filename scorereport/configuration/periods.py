"""Periods of days or hours that an audit covers, and the texts of windows in a configuration."""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING

from scorereport._utils.clock import read_clock
from scorereport._utils.suggestions import suggest_name
from scorereport.configuration.clock_hours import HOUR, find_hour_before, find_last_hour_end
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

_DAY = timedelta(days=1)
#: Units of calendar periods, the shortest first.
UNITS = ("hour", "day", "week", "month", "quarter", "year")
#: The largest N of `last N` for each unit: about a hundred years.
_MOST = {"hour": 876_600, "day": 36_525, "week": 5_217, "month": 1_200}
_LAST = re.compile(rf"last ([0-9]{{1,9}}) ({'|'.join(_MOST)})s?")
_PREVIOUS = re.compile(rf"previous calendar ({'|'.join(UNITS)})s?")
_CHOICES = (
    *(f"last N {unit}s" for unit in _MOST),
    *(f"previous calendar {unit}" for unit in UNITS),
    "all",
)
#: Words before a unit, and other words for a unit, that mean the previous calendar period.
_BEFORE = "(?:last|previous|prior|past|preceding)"
_OTHER_WORDS = {
    "hour": "hourly",
    "day": "daily|yesterday",
    "week": "weekly",
    "month": "monthly",
    "quarter": "quarterly",
    "year": "yearly|annual",
}
#: Labels of periods that are not days, for advice.
_LABEL = re.compile(r"[0-9]{4}(-([0-9]{2}|W[0-9]{2}|Q[1-4]))?|[0-9T-]+--[0-9T-]+", re.IGNORECASE)
_YEARS = range(1900, 3000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """Days or hours from `start` up to, but not including, `end`; without a start, all rows before the end.

    Both are dates such as 2026-10-01, or whole hours such as 2026-10-01T06:00, in the local time of the
    audit's zone. The label identifies the period; it is part of file names.
    """

    label: str
    start: str | None
    end: str

    @property
    def is_hourly(self) -> bool:
        """Whether start and end are hours."""
        return "T" in self.end

    @property
    def begins(self) -> datetime | None:
        """The local time of the start, without a zone; None if the period has no start."""
        return None if self.start is None else datetime.fromisoformat(self.start)

    @property
    def ends(self) -> datetime:
        """The local time of the end, without a zone; it compares dates with hours."""
        return datetime.fromisoformat(self.end)

    @property
    def order(self) -> tuple[datetime, datetime]:
        """The key that sorts periods in time: by their ends, then by their starts."""
        return self.ends, self.begins or datetime.min

    @property
    def first_day(self) -> date | None:
        """The first day; None if the period has no start."""
        return None if self.begins is None else self.begins.date()

    def describe(self) -> str:
        """The first and the last day, or the hours, as text.

        >>> Period(label="2026-10", start="2026-10-01", end="2026-11-01").describe()
        '2026-10-01 to 2026-10-31'
        >>> Period(label="2026-10-01T06", start="2026-10-01T06:00", end="2026-10-01T07:00").describe()
        '2026-10-01 06:00 to 2026-10-01 07:00'
        """
        if self.is_hourly:
            return f"{self.start} to {self.end}".replace("T", " ")
        last = (self.day_after - timedelta(days=1)).isoformat()
        if self.start is None:
            return f"the days up to {last}"
        return last if self.start == last else f"{self.start} to {last}"

    def describe_others(self) -> str:
        """Why rows of other times are dropped, as text."""
        return f"outside of {self.describe()}"

    @property
    def file_bounds(self) -> tuple[str | None, str]:
        """Start and end as parts of file names, which have no colon: 2026-10-01, or 2026-10-01T06."""
        return None if self.start is None else self.start.removesuffix(":00"), self.end.removesuffix(":00")

    @property
    def day_after(self) -> date:
        """The day after the last."""
        return (self.ends + _DAY - timedelta(microseconds=1)).date()

    @property
    def middle(self) -> date:
        """The day in the middle, the first of two, or the middle of hours; the last day without a start.

        >>> Period(label="2026-10", start="2026-10-01", end="2026-11-01").middle.isoformat()
        '2026-10-16'
        """
        if self.begins is not None and self.is_hourly:
            return self.begins + (self.ends - self.begins) / 2
        last = self.day_after - _DAY
        first = self.first_day or last
        return first + (last - first) // 2


def find_period(window: str, as_of: datetime) -> Period:
    """The period of a window as of a moment in the time zone of the audit.

    The day or the hour of that moment is not over, so it is not part of the period; only `all` includes the
    rows of its day.

    >>> find_period("last 30 days", datetime(2026, 11, 15, 6, 30, tzinfo=UTC)).label
    '2026-10-16--2026-11-14'
    >>> find_period("previous calendar month", datetime(2026, 11, 15, 6, 30, tzinfo=UTC)).label
    '2026-10'
    """
    parts = check_window_text(window).split()
    day = _check_moment(as_of).date()
    if parts == ["all"]:
        return Period(label=day.isoformat(), start=None, end=(day + _DAY).isoformat())
    unit, count = parts[2].removesuffix("s"), int(parts[1]) if parts[0] == "last" else 1
    if unit == "hour":
        return _find_hours(count, as_of)
    if parts[0] == "last":
        return _find_last(count, unit, day)
    return _find_previous(unit, day)


def check_window_text(text: str) -> str:
    """The text of a window in its normal form; an error lists the valid forms.

    >>> check_window_text(" Last  1 days"), check_window_text("previous calendar months")
    ('last 1 day', 'previous calendar month')
    """
    plain = " ".join(text.split()).lower()
    if match := _LAST.fullmatch(plain):
        return _check_count(int(match[1]), match[2], text)
    if match := _PREVIOUS.fullmatch(plain):
        return f"previous calendar {match[1]}"
    if plain != "all":
        raise UsageError(
            f"A period must be one of {', '.join(f'`{choice}`' for choice in _CHOICES[:-1])} or `all`, where "
            f"N is a whole number from 1; got {text!r}.{_suggest(plain)}"
        )
    return plain


def read_as_of(text: str | None, zone: ZoneInfo) -> datetime:
    """The moment as of which an audit runs, in its time zone; without a text, now.

    A date alone means its noon in that zone. A time without a zone is in the zone of the audit: if clocks
    show it twice, the first of the two moments; if they skip it, as much later as they are put forward.
    """
    moment = read_clock() if text is None else text.strip()
    try:
        return _read_moment(moment, zone)
    except (ValueError, OverflowError) as error:
        raise UsageError(
            "`as_of` must be a date such as 2026-11-15 or a time such as 2026-11-15T06:30, from the year "
            f"{_YEARS[0]} to {_YEARS[-1]}, that exists in the time zone {zone.key}; got {moment!r}."
            f"{_explain_label(moment)}"
        ) from error


def _explain_label(text: str) -> str:
    """A sentence on a period in place of a day."""
    return f" To audit this period: `--period {text}`." * bool(_LABEL.fullmatch(text))


def check_not_ahead(as_of: datetime, zone: ZoneInfo) -> datetime:
    """Refuse a moment on a day that has not begun in a time zone: its period is not over."""
    today = datetime.fromisoformat(read_clock()).astimezone(zone).date()
    if as_of.astimezone(zone).date() > today:
        raise UsageError(
            f"`as_of` must not lie in the future; got {as_of.astimezone(zone).date()}, and it is {today} now "
            f"in {zone.key}."
        )
    return as_of


def check_hours_over(period: Period, zone: ZoneInfo) -> Period:
    """Refuse a period of hours that is not over; other periods are over once the `as_of` day has begun."""
    now = datetime.fromisoformat(read_clock()).astimezone(zone)
    if period.is_hourly and period.ends > find_last_hour_end(now):
        raise UsageError(
            f"`as_of` must not lie in the future; the period {period.label} is not over, and it is "
            f"{now:%Y-%m-%d %H:%M} now in {zone.key}."
        )
    return period


def is_ahead(as_of: str, started: str) -> bool:
    """Whether the `as_of` day of a run had not begun when the run started.

    Earlier versions accepted such days. Times that cannot be read are not ahead.

    >>> is_ahead("2030-01-01T12:00:00+01:00", "2026-11-16T09:00:00+00:00")
    True
    """
    try:
        moment, start = datetime.fromisoformat(as_of), datetime.fromisoformat(started)
    except ValueError:
        return False
    zone = moment.tzinfo or UTC
    start = start if start.tzinfo is not None else start.replace(tzinfo=UTC)
    return moment.date() > start.astimezone(zone).date()


def _check_count(count: int, unit: str, text: str) -> str:
    if not 1 <= count <= _MOST[unit]:
        raise UsageError(
            f"A period `last N {unit}s` needs a whole number N from 1 to {_MOST[unit]}; got {text!r}."
        )
    return f"last {count} {unit}{'' if count == 1 else 's'}"


def _suggest(text: str) -> str:
    """The question "Did you mean ...?" with a window of the same kind: rolling, or a calendar period."""
    number = re.search(r"[1-9][0-9]*", text)
    meant = _find_calendar(text) if number is None else _find_rolling(text, int(number[0]))
    return f" Did you mean `{meant}`?" if meant else _explain_period(text)


def _explain_period(text: str) -> str:
    """A sentence on a period that is not over, or on a period by its date."""
    if unfinished := re.fullmatch(rf"(?:this|current) (?:calendar )?({'|'.join(UNITS)})", text):
        unit = unfinished[1]
        return f" A period must be over: `previous calendar {unit}` is the last whole {unit}."
    if re.match(r"[0-9]{4}\b", text):
        return " A period is relative to the time of the audit, which --as-of or --period sets."
    return ""


def _find_calendar(text: str) -> str:
    """The window that a text without a number means: `last month` is the previous calendar month.

    `this month` is not over, so it is not a window.
    """
    for unit, others in _OTHER_WORDS.items():
        if re.fullmatch(rf"(?:(?:the )?{_BEFORE} )?(?:(?:calendar|full|whole) )?(?:{unit}s?|{others})", text):
            return f"previous calendar {unit}"
    return suggest_name(text, [choice for choice in _CHOICES if "N" not in choice])


def _find_rolling(text: str, number: int) -> str:
    """The window that a text with a number means; quarters and years are converted to months."""
    sample = re.sub(r"-?[0-9.]+", "n", text)
    rolling = {f"last n {unit}s": (1, unit) for unit in _MOST}
    rolling |= {"last n quarters": (3, "month"), "last n years": (12, "month")}
    meant = suggest_name(sample, rolling)
    if not meant:
        return ""
    times, unit = rolling[meant]
    return f"last {number * times} {unit}s"


def _check_moment(as_of: datetime) -> datetime:
    if as_of.tzinfo is None:
        raise UsageError(f"`as_of` must be a time with a time zone; got {as_of.isoformat()} without.")
    return as_of


def _find_last(count: int, unit: str, day: date) -> Period:
    steps = {"day": 1, "week": 7}
    start = _months_before(day, count) if unit == "month" else day - count * steps[unit] * _DAY
    last = day - _DAY
    label = last.isoformat() if start == last else f"{start}--{last}"
    return Period(label=label, start=start.isoformat(), end=day.isoformat())


def _find_hours(count: int, as_of: datetime) -> Period:
    """The last hours that are over; if the clock skips the first one, the period begins an hour before."""
    zone, end = as_of.tzinfo or UTC, find_last_hour_end(as_of)
    first, last = find_hour_before(end - (count - 1) * HOUR, zone), find_hour_before(end, zone)
    label = f"{first:%Y-%m-%dT%H}" if first == last else f"{first:%Y-%m-%dT%H}--{last:%Y-%m-%dT%H}"
    return Period(
        label=label, start=first.isoformat(timespec="minutes"), end=end.isoformat(timespec="minutes")
    )


def _months_before(day: date, count: int) -> date:
    """The same day of an earlier month, or the last day of that month if it is shorter."""
    year, month = divmod(day.year * 12 + day.month - 1 - count, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _find_previous(unit: str, day: date) -> Period:
    end = begin_unit(unit, day)
    start = begin_unit(unit, end - _DAY)
    labels = {
        "day": start.isoformat(),
        "week": "{}-W{:02}".format(*start.isocalendar()),
        "month": f"{start:%Y-%m}",
        "quarter": f"{start.year}-Q{start.month // 3 + 1}",
        "year": str(start.year),
    }
    return Period(label=labels[unit], start=start.isoformat(), end=end.isoformat())


def begin_unit(unit: str, day: date) -> date:
    """The first day of the calendar day, week (from Monday), month, quarter or year of a day."""
    if unit == "day":
        return day
    if unit == "week":
        return day - day.weekday() * _DAY
    month = {"month": day.month, "quarter": (day.month - 1) // 3 * 3 + 1, "year": 1}[unit]
    return date(day.year, month, 1)


def _show(moment: datetime, zone: ZoneInfo) -> datetime:
    """The local time in a zone, without the zone."""
    return moment.astimezone(zone).replace(tzinfo=None)


def _read_moment(text: str, zone: ZoneInfo) -> datetime:
    if _LABEL.fullmatch(text):  # Python reads 2026-W23 as the Monday of this week
        raise ValueError("this is a period, not a day")
    try:
        day = date.fromisoformat(text)
    except ValueError:
        moment = datetime.fromisoformat(text)
    else:
        moment = datetime.combine(day, time(12), tzinfo=zone)
        if _show(moment.astimezone(UTC), zone).date() != day:
            raise ValueError("this day does not exist in the time zone")
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=zone)
    local = moment.astimezone(UTC).astimezone(zone)
    return check_year(local)


def check_year(moment: datetime) -> datetime:
    """Raise a ValueError for a moment that is too early or too late for an audit."""
    if moment.year not in _YEARS:
        raise ValueError("the year is out of range")
    return moment
