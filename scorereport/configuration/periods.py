"""Periods of days that an audit covers, and the words by which a configuration names them."""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING

from scorereport._utils.clock import read_clock
from scorereport._utils.suggestions import suggest_name
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

_DAY = timedelta(days=1)
_UNITS = ("day", "week", "month", "quarter", "year")
#: How many of each unit `last N` may ask for: about a hundred years.
_MOST = {"day": 36_525, "week": 5_217, "month": 1_200}
_LAST = re.compile(r"last ([0-9]{1,9}) (day|week|month)s?")
_PREVIOUS = re.compile(rf"previous calendar ({'|'.join(_UNITS)})s?")
_CHOICES = (
    *(f"last N {unit}s" for unit in _MOST),
    *(f"previous calendar {unit}" for unit in _UNITS),
    "all",
)
#: What comes before a unit, and stands for one, where the last calendar period is meant.
_BEFORE = "(?:last|previous|prior|past|preceding)"
_OTHER_WORDS = {
    "day": "daily|yesterday",
    "week": "weekly",
    "month": "monthly",
    "quarter": "quarterly",
    "year": "yearly|annual",
}
_YEARS = range(1900, 3000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """Days from `start` up to, but not including, `end`; all rows there are if there is no start.

    Both are dates such as 2026-10-01, of the time zone of the audit. The label tells periods apart.
    """

    label: str
    start: str | None
    end: str

    @property
    def first_day(self) -> date | None:
        """The first day; None if it goes back to the beginning."""
        return None if self.start is None else date.fromisoformat(self.start)

    def describe(self) -> str:
        """Its first and its last day.

        >>> Period(label="2026-10", start="2026-10-01", end="2026-11-01").describe()
        '2026-10-01 to 2026-10-31'
        """
        last = (self.day_after - timedelta(days=1)).isoformat()
        if self.start is None:
            return f"the days up to {last}"
        return last if self.start == last else f"{self.start} to {last}"

    @property
    def day_after(self) -> date:
        """The day after the last."""
        return date.fromisoformat(self.end)

    @property
    def middle(self) -> date:
        """The day in the middle, of two the first; the last day if it goes back to the beginning.

        >>> Period(label="2026-10", start="2026-10-01", end="2026-11-01").middle.isoformat()
        '2026-10-16'
        """
        last = self.day_after - _DAY
        first = self.first_day or last
        return first + (last - first) // 2


def find_period(window: str, as_of: datetime) -> Period:
    """The days that a window asks for, seen from a moment in the time zone of the audit.

    The day of that moment is not over and so is not part of the period; only `all` takes what there is of it.

    >>> find_period("last 30 days", datetime(2026, 11, 15, 6, 30, tzinfo=UTC)).label
    '2026-10-16--2026-11-14'
    >>> find_period("previous calendar month", datetime(2026, 11, 15, 6, 30, tzinfo=UTC)).label
    '2026-10'
    """
    words = check_window_text(window).split()
    day = _check_moment(as_of).date()
    if words == ["all"]:
        return Period(label=day.isoformat(), start=None, end=(day + _DAY).isoformat())
    if words[0] == "last":
        return _find_last(int(words[1]), words[2].removesuffix("s"), day)
    return _find_previous(words[2], day)


def check_window_text(text: str) -> str:
    """The words of a window, written in one way, or an error that lists those there are.

    >>> check_window_text(" Last  1 days"), check_window_text("previous calendar months")
    ('last 1 day', 'previous calendar month')
    """
    words = " ".join(text.split()).lower()
    if match := _LAST.fullmatch(words):
        return _check_count(int(match[1]), match[2], text)
    if match := _PREVIOUS.fullmatch(words):
        return f"previous calendar {match[1]}"
    if words != "all":
        raise UsageError(
            f"A period must be one of {', '.join(f'`{choice}`' for choice in _CHOICES[:-1])} or `all`, where "
            f"N is a whole number from 1; got {text!r}.{_suggest(words)}"
        )
    return words


def read_as_of(text: str | None, zone: ZoneInfo) -> datetime:
    """The moment an audit is seen from, in its time zone; now if nothing is given.

    A date alone means its noon there. A time without a zone is one of the audit's zone: of two moments at
    which clocks show it the first, and if they skip it, as much later as they were put forward.
    """
    given = read_clock() if text is None else text.strip()
    try:
        return _read_moment(given, zone)
    except (ValueError, OverflowError) as error:
        raise UsageError(
            "`as_of` must be a date such as 2026-11-15 or a time such as 2026-11-15T06:30, from the year "
            f"{_YEARS[0]} to {_YEARS[-1]}, that there was in the time zone {zone.key}; got {given!r}."
        ) from error


def check_not_ahead(as_of: datetime, zone: ZoneInfo) -> datetime:
    """Refuse a moment of a day that has not begun in a time zone: its period is not over."""
    today = datetime.fromisoformat(read_clock()).astimezone(zone).date()
    if as_of.astimezone(zone).date() > today:
        raise UsageError(
            f"`as_of` must not lie in the future; got {as_of.astimezone(zone).date()}, and it is {today} now "
            f"in {zone.key}."
        )
    return as_of


def is_ahead(as_of: str, started: str) -> bool:
    """Whether a run counted its period from a day that had not begun when it started.

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


def _suggest(words: str) -> str:
    """A question after the window that was meant, of the same kind: days up to now, or a calendar period."""
    number = re.search(r"[1-9][0-9]*", words)
    meant = _find_calendar(words) if number is None else _find_rolling(words, int(number[0]))
    return f" Did you mean `{meant}`?" if meant else ""


def _find_calendar(words: str) -> str:
    """Without a number, `last month` is the calendar month; `this month` is not over, and no window."""
    for unit, others in _OTHER_WORDS.items():
        if re.fullmatch(
            rf"(?:(?:the )?{_BEFORE} )?(?:(?:calendar|full|whole) )?(?:{unit}s?|{others})", words
        ):
            return f"previous calendar {unit}"
    return suggest_name(words, [choice for choice in _CHOICES if "N" not in choice])


def _find_rolling(words: str, number: int) -> str:
    """With a number, windows of that many days, weeks or months; of quarters and years their months."""
    sample = re.sub(r"-?[0-9.]+", "n", words)
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


def _months_before(day: date, count: int) -> date:
    """The same day of an earlier month, or the last of that month if it has no such day."""
    year, month = divmod(day.year * 12 + day.month - 1 - count, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _find_previous(unit: str, day: date) -> Period:
    end = _begin_unit(unit, day)
    start = _begin_unit(unit, end - _DAY)
    labels = {
        "day": start.isoformat(),
        "week": "{}-W{:02}".format(*start.isocalendar()),
        "month": f"{start:%Y-%m}",
        "quarter": f"{start.year}-Q{start.month // 3 + 1}",
        "year": str(start.year),
    }
    return Period(label=labels[unit], start=start.isoformat(), end=end.isoformat())


def _begin_unit(unit: str, day: date) -> date:
    """The first day of the calendar day, week (from Monday), month, quarter or year that a day lies in."""
    if unit == "day":
        return day
    if unit == "week":
        return day - day.weekday() * _DAY
    month = {"month": day.month, "quarter": (day.month - 1) // 3 * 3 + 1, "year": 1}[unit]
    return date(day.year, month, 1)


def _show(moment: datetime, zone: ZoneInfo) -> datetime:
    """What clocks on the wall show."""
    return moment.astimezone(zone).replace(tzinfo=None)


def _read_moment(text: str, zone: ZoneInfo) -> datetime:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        moment = datetime.fromisoformat(text)
    else:
        moment = datetime.combine(day, time(12), tzinfo=zone)
        if _show(moment.astimezone(UTC), zone).date() != day:
            raise ValueError("this day was left out")
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=zone)
    local = moment.astimezone(UTC).astimezone(zone)
    if local.year not in _YEARS:
        raise ValueError("a year that nobody audits")
    return local
