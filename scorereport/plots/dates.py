"""A time axis: days as numbers, and round dates to write below it."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Steps in days and in months, each with the number of characters of a date that such ticks need.
_DAY_STEPS = (1, 2, 7, 14)
_MONTH_STEPS = (1, 2, 3, 6, 12, 24, 60, 120)
_WHOLE, _TO_THE_MONTH, _TO_THE_YEAR = 10, 7, 4
_YEAR = 12


def date_ticks(first: int, last: int, most: int) -> tuple[list[int], list[str]]:
    """Round dates between two days, which are ordinals, at most so many: places and texts.

    >>> date_ticks(date(2026, 1, 1).toordinal(), date(2026, 12, 1).toordinal(), 5)[1]
    ['2026-01', '2026-04', '2026-07', '2026-10']
    """
    for step in _DAY_STEPS:
        if (last - first) // step < most:
            places = list(range(last, first - 1, -step))[::-1]
            return places, [date.fromordinal(place).isoformat()[:_WHOLE] for place in places]
    for step in _MONTH_STEPS:
        places = list(_month_starts(first, last, step))
        if len(places) <= most:
            break
    letters = _TO_THE_YEAR if step % _YEAR == 0 else _TO_THE_MONTH
    return places, [date.fromordinal(place).isoformat()[:letters] for place in places]


def _month_starts(first: int, last: int, step: int) -> Iterator[int]:
    """First days of every so many months, counted from a January."""
    start = date.fromordinal(first)
    month = step * -(-(_YEAR * start.year + start.month - 1) // step)
    while month < _YEAR * date.max.year:
        day = date(month // _YEAR, month % _YEAR + 1, 1).toordinal()
        if day > last:
            return
        if day >= first:
            yield day
        month += step
