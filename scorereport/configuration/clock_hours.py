"""Hours of a local clock: which are over at a moment, also in the nights in which clocks change.

An hour that the clock shows twice is one hour, and is over when it has been shown for the second time; an
hour that the clock skips is part of the hour before it. So each local time is in exactly one hour.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import tzinfo

HOUR = timedelta(hours=1)
_TICK = timedelta(microseconds=1)


def find_over(end: datetime, zone: tzinfo) -> datetime:
    """Return the first moment, in UTC, at which all local times before `end`, a time without zone, are over.

    >>> from zoneinfo import ZoneInfo
    >>> find_over(datetime(2026, 10, 25, 3), ZoneInfo("Europe/Berlin")).isoformat()
    '2026-10-25T02:00:00+00:00'
    """
    return (end - _TICK).replace(tzinfo=zone, fold=1).astimezone(UTC) + _TICK


def find_last_hour_end(moment: datetime) -> datetime:
    """Return the local time, without zone, at which the last hour ended that is over at a moment."""
    zone = moment.tzinfo or UTC
    end = moment.replace(minute=0, second=0, microsecond=0, tzinfo=None, fold=0)
    while find_over(end, zone) > moment.astimezone(UTC):
        end -= HOUR
    return end


def find_hour_before(end: datetime, zone: tzinfo) -> datetime:
    """Return the start of the last hour before a local time that the clock shows."""
    start = end - HOUR
    while not _is_shown(start, zone):
        start -= HOUR
    return start


def find_hour_after(start: datetime, zone: tzinfo) -> datetime:
    """Return the start of the next hour that the clock shows."""
    after = start + HOUR
    while not _is_shown(after, zone):
        after += HOUR
    return after


def _is_shown(hour: datetime, zone: tzinfo) -> bool:
    """Whether the clock shows the beginning or the end of an hour; clocks skip at most whole hours."""
    edges = (hour, hour + HOUR - _TICK)
    return any(
        edge.replace(tzinfo=zone).astimezone(UTC).astimezone(zone).replace(tzinfo=None) == edge
        for edge in edges
    )
