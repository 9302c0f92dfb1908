"""Periods by their labels: the moment as of which an audit covers a period, and all periods between two."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Protocol

from scorereport._utils.clock import read_clock
from scorereport.configuration.clock_hours import find_hour_after, find_over
from scorereport.configuration.periods import Period, begin_unit, check_window_text, check_year, find_period
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from zoneinfo import ZoneInfo

#: An example of the label of a calendar period, and its form.
_EXAMPLES = {
    "hour": ("2026-06-01T05", re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}")),
    "day": ("2026-06-01", re.compile(r"\d{4}-\d{2}-\d{2}")),
    "week": ("2026-W23", re.compile(r"\d{4}-W\d{2}")),
    "month": ("2026-06", re.compile(r"\d{4}-\d{2}")),
    "quarter": ("2026-Q2", re.compile(r"\d{4}-Q[1-4]")),
    "year": ("2026", re.compile(r"\d{4}")),
}
#: A number of days after which the next unit has begun, and the one after it has not.
_STEPS = {"day": 1, "week": 7, "month": 31, "quarter": 92, "year": 366}
_NOON = time(12)


class RunTimes(Protocol):
    """The method of a schedule that this module needs."""

    def times_between(self, after: datetime, until: datetime) -> Sequence[datetime]:
        """Return all times after one moment up to and including another, oldest first."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledPeriod:
    """A period of a window, and the moment as of which the window means it: the first if it is over then."""

    period: Period
    as_of: datetime


def find_labelled(window: str, label: str, zone: ZoneInfo, *, must_be_over: bool = True) -> LabelledPeriod:
    """Find the period with a label; refuse one that is not a period of the window, or not over.

    A rolling window is also named by its last day or hour. Without `must_be_over`, the period may lie ahead.

    >>> from zoneinfo import ZoneInfo
    >>> found = find_labelled("previous calendar month", "2026-06", ZoneInfo("Europe/Berlin"))
    >>> found.as_of.isoformat(), found.period.start
    ('2026-07-01T00:00:00+02:00', '2026-06-01')
    """
    plain, text = check_window_text(window), label.strip().upper()
    try:
        as_of = _find_as_of(plain, text, zone)
        period = find_period(plain, check_year(as_of))
    except (ValueError, OverflowError) as error:
        raise UsageError(f"{_describe_expected(plain)}; got {label!r}.") from error
    if text not in (period.label, _name_last(period.label)):
        raise UsageError(
            f"{_describe_expected(plain)}; got {label!r}, which is none. The period that ends there is "
            f"{period.label}."
        )
    if must_be_over:
        _check_over(period, as_of, zone, is_open=plain == "all")
    return LabelledPeriod(period=period, as_of=as_of)


def list_labelled(
    window: str, first: str, last: str, zone: ZoneInfo, schedule: RunTimes | None
) -> list[LabelledPeriod]:
    """List the periods from one label to another, in order; those of a rolling window by the schedule.

    Calendar periods follow each other. A rolling window has a period for each moment, so the times of the
    schedule choose them, one for each label.
    """
    plain = check_window_text(window)
    start, end = find_labelled(plain, first, zone), find_labelled(plain, last, zone)
    if end.as_of < start.as_of:
        raise UsageError(f"`from` must not come after `to`; got {first!r} and {last!r}.")
    if plain.startswith("previous calendar"):
        return list(_list_consecutive(plain, start.period, end.period, zone))
    if schedule is None:
        raise UsageError(
            f"The periods of `{plain}` between two labels are those of the times of the schedule, and the "
            "configuration has no `audit.schedule.cron`. To fix: add a schedule, or run each period with "
            "--period."
        )
    return _list_scheduled(plain, start, end, schedule)


def find_label_start(label: str, *, name: str) -> str:
    """Return the first day, or hour, of the period with a label, whatever its window; `name` is the key.

    >>> find_label_start("2026-Q2", name="audit.comparison.since"), find_label_start("2026-06-05", name="x")
    ('2026-04-01', '2026-06-05')
    """
    text = label.strip().upper().partition("--")[0]
    for unit, (_, form) in _EXAMPLES.items():
        if form.fullmatch(text):
            try:
                is_hour = unit == "hour"
                return (
                    f"{datetime.fromisoformat(text):%Y-%m-%dT%H:%M}"
                    if is_hour
                    else str(_begin_label(unit, text))
                )
            except ValueError:
                break
    raise UsageError(f"`{name}` must be a day or the label of a period, such as 2026-06; got {label!r}.")


def _find_as_of(window: str, label: str, zone: ZoneInfo) -> datetime:
    """Find the first moment at which the period of a label is over; raise a ValueError for another label."""
    if window == "all":  # its periods contain the day of the audit, which is not over
        _match("day", label)
        return datetime.combine(date.fromisoformat(label), _NOON, zone).astimezone(UTC).astimezone(zone)
    unit = window.split()[2]
    if window.startswith("last"):
        unit, label = "hour" if unit.startswith("hour") else "day", _name_last(label)
    _match(unit, label)
    is_hour = unit == "hour"
    start = datetime.fromisoformat(label) if is_hour else datetime.combine(_begin_label(unit, label), time())
    return find_over(_end_next(unit, start, zone), zone).astimezone(zone)


def _match(unit: str, label: str) -> None:
    if not _EXAMPLES[unit][1].fullmatch(label):
        raise ValueError("this is the label of no such period")


def _name_last(label: str) -> str:
    """The last day or hour of the label of a rolling window."""
    return label.rpartition("--")[2]


def _begin_label(unit: str, label: str) -> date:
    if unit == "week":
        return date.fromisoformat(f"{label}-1")
    if unit == "quarter":
        return date(int(label[:4]), 3 * int(label[-1]) - 2, 1)
    return date.fromisoformat(f"{label}{ {'month': '-01', 'year': '-01-01'}.get(unit, '') }")


def _end_unit(unit: str, start: date) -> date:
    return begin_unit(unit, start + timedelta(days=_STEPS[unit]))


def _describe_expected(window: str) -> str:
    """The beginning of a message: which labels the window has."""
    if window == "all":
        return 'A period of "all" is named by the day of the audit, such as 2026-06-01'
    unit = window.split()[2]
    if window.startswith("last"):
        last = "hour" if unit.startswith("hour") else "day"
        return (
            f"A period of `{window}` is named by its label or its last {last}, such as {_EXAMPLES[last][0]}"
        )
    return f"A period of `{window}` is named by its label, such as {_EXAMPLES[unit][0]}"


def _check_over(period: Period, as_of: datetime, zone: ZoneInfo, *, is_open: bool) -> None:
    """Refuse a period that is not over; one of `all` (`is_open`) only if its day has not begun."""
    now = datetime.fromisoformat(read_clock()).astimezone(zone)
    is_over = as_of.date() <= now.date() if is_open else as_of.astimezone(UTC) <= now.astimezone(UTC)
    if not is_over:
        raise UsageError(
            f"The period {period.label} is not over: it ends at {period.ends:%Y-%m-%d %H:%M}, and it is "
            f"{now:%Y-%m-%d %H:%M} now in {zone.key}. Nothing was recorded."
        )


def _list_consecutive(window: str, first: Period, last: Period, zone: ZoneInfo) -> Iterator[LabelledPeriod]:
    unit, end = window.split()[2], first.ends
    while end <= last.ends:
        as_of = find_over(end, zone).astimezone(zone)
        period = find_period(window, as_of)
        if period.ends == end:  # a zone may skip a whole day
            yield LabelledPeriod(period=period, as_of=as_of)
        end = _end_next(unit, end, zone)


def _end_next(unit: str, end: datetime, zone: ZoneInfo) -> datetime:
    """The end of the calendar period that begins at a local time."""
    if unit == "hour":
        return find_hour_after(end, zone)
    return datetime.combine(_end_unit(unit, end.date()), time())


def _list_scheduled(
    window: str, first: LabelledPeriod, last: LabelledPeriod, schedule: RunTimes
) -> list[LabelledPeriod]:
    """One period for each label that a time of the schedule has, at the first of these times."""
    now, margin = datetime.fromisoformat(read_clock()), timedelta(days=2)
    times = schedule.times_between(first.as_of - margin, last.as_of + margin)
    found: dict[str, LabelledPeriod] = {}
    for moment in times:
        period = find_period(window, moment)
        if first.period.ends <= period.ends <= last.period.ends and moment <= now:
            found.setdefault(period.label, LabelledPeriod(period=period, as_of=moment))
    if not found:
        raise UsageError(
            f"The schedule has no time between {first.period.label} and {last.period.label}, so there is no "
            "period to run."
        )
    return list(found.values())
