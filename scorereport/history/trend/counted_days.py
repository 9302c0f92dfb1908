"""Days that count as evidence: rows of overlapping periods are counted once, by the first audit with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scorereport.configuration.periods import Period

_LENGTH_OF_DATES = len("2026-11-18")


def find_uncounted(
    period: Period, counted: Sequence[tuple[str | None, str]]
) -> tuple[str | None, str] | None:
    """Return the last part of a period, without gaps, that no counted interval covers.

    Intervals go from a start up to, but not including, an end; without a start they reach back to any day.
    Both are dates or times in ISO format, such as 2026-11-18 and 2026-11-18T06:00, whose order as texts is
    that of time. A part of a period without a start has none unless an interval ends before it. The result
    is None if nothing is left.

    >>> from scorereport.configuration.periods import Period
    >>> november = Period(label="2026-11", start="2026-11-01", end="2026-12-01")
    >>> find_uncounted(november, [("2026-10-20", "2026-11-20")])
    ('2026-11-20', '2026-12-01')
    >>> find_uncounted(november, [("2026-11-05", "2026-11-10"), ("2026-11-20", "2026-12-20")])
    ('2026-11-10', '2026-11-20')
    """
    return find_last_gap(period, sorted(counted, key=lambda part: pad_time(part[1]), reverse=True))


def find_last_gap(period: Period, counted: Iterable[tuple[str | None, str]]) -> tuple[str | None, str] | None:
    """Do the same as `find_uncounted` with intervals that are in order, the last one first.

    Only as many of them are read as are needed.
    """
    end = period.end
    for start, until in counted:
        if start is not None and pad_time(start) >= pad_time(until):
            continue
        if pad_time(until) < pad_time(end):
            is_later = period.start is None or pad_time(period.start) < pad_time(until)
            return until if is_later else period.start, end
        if start is None:
            return None
        end = min(start, end, key=pad_time)
        if period.start is not None and pad_time(end) <= pad_time(period.start):
            return None
    return period.start, end


def pad_time(text: str | None) -> str:
    """Return a date, or a time to the minute, as a time to the second: such texts sort by time.

    None, or an empty text, is before all times.
    """
    return text + "T00:00:00"[max(len(text) - _LENGTH_OF_DATES, 0) :] if text else ""
