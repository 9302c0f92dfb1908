"""The part of a period that no counted interval covers, against a count of every hour."""

from __future__ import annotations

from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from scorereport.configuration.periods import Period
from scorereport.history.trend.counted_days import find_uncounted

BEGINNING = datetime(2026, 11, 18)
#: Hours before the first that a text may name stand for "any day before".
FIRST, LAST = -5, 60


def name_hour(hour, *, as_date):
    time = BEGINNING + timedelta(hours=hour)
    return time.strftime("%Y-%m-%d") if as_date and time.hour == 0 else time.strftime("%Y-%m-%dT%H:%M")


@st.composite
def draw_interval(draw, *, may_be_empty=True):
    start = draw(st.none() | st.integers(0, LAST - 1))
    end = draw(st.integers((0 if start is None else start) + (not may_be_empty), LAST))
    as_date = draw(st.booleans())
    texts = (None if start is None else name_hour(start, as_date=as_date), name_hour(end, as_date=as_date))
    return (start, end), texts


def list_hours(interval):
    start, end = interval
    return set(range(FIRST if start is None else start, end))


@given(draw_interval(may_be_empty=False), st.lists(draw_interval(), max_size=6))
def test_the_last_part_without_gaps_is_found(period, counted):
    (hours, (start, end)) = period
    left = list_hours(hours) - set().union(*(list_hours(interval) for interval, _ in counted))
    found = find_uncounted(Period(label="x", start=start, end=end), [texts for _, texts in counted])
    if not left:
        assert found is None
        return
    first = last = max(left)
    while first - 1 in left:
        first -= 1
    begins, stops = found
    is_open = first == FIRST
    assert is_open is (begins is None)
    assert is_open or datetime.fromisoformat(begins) == BEGINNING + timedelta(hours=first)
    assert datetime.fromisoformat(stops) == BEGINNING + timedelta(hours=last + 1)


@given(st.lists(st.integers(0, 40), min_size=1, max_size=25), st.integers(1, 9))
def test_every_day_of_rolling_windows_is_counted_once(days, length):
    """Whatever the order of runs, no day is counted twice; in order of time, none is left out."""
    for order in (days, sorted(days)):
        counted = []
        for day in order:
            texts = [name_hour(24 * each, as_date=True) for each in (day, day + length)]
            part = find_uncounted(Period(label="x", start=texts[0], end=texts[1]), counted)
            if part is not None:
                counted.append(part)
        covered = [
            day
            for begins, stops in counted
            for day in range(
                (datetime.fromisoformat(begins) - BEGINNING).days,
                (datetime.fromisoformat(stops) - BEGINNING).days,
            )
        ]
        assert len(covered) == len(set(covered))
    assert set(covered) == {each for day in days for each in range(day, day + length)}
