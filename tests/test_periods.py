"""Windows become periods of whole days, and moments are those of a time zone, also where clocks skip some."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorereport._utils.clock import fixed_time
from scorereport.configuration.periods import (
    Period,
    check_not_ahead,
    check_window_text,
    find_period,
    is_ahead,
    read_as_of,
)
from scorereport.errors import UsageError

BERLIN = ZoneInfo("Europe/Berlin")
WINDOWS = (
    "last 1 day",
    "last 30 days",
    "last 2 weeks",
    "last 3 months",
    *(f"previous calendar {unit}" for unit in ("day", "week", "month", "quarter", "year")),
)
DAYS = st.dates(date(1950, 1, 1), date(2100, 12, 31))


def noon(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("window", "as_of", "start", "end", "label"),
    [
        ("last 30 days", "2026-11-15", "2026-10-16", "2026-11-15", "2026-10-16--2026-11-14"),
        ("last 1 day", "2026-11-15", "2026-11-14", "2026-11-15", "2026-11-14"),
        ("last 2 weeks", "2026-11-15", "2026-11-01", "2026-11-15", "2026-11-01--2026-11-14"),
        ("last 1 month", "2026-11-15", "2026-10-15", "2026-11-15", "2026-10-15--2026-11-14"),
        ("last 1 month", "2026-03-31", "2026-02-28", "2026-03-31", "2026-02-28--2026-03-30"),
        ("last 1 month", "2028-03-31", "2028-02-29", "2028-03-31", "2028-02-29--2028-03-30"),
        ("last 12 months", "2028-02-29", "2027-02-28", "2028-02-29", "2027-02-28--2028-02-28"),
        ("last 3 months", "2026-01-15", "2025-10-15", "2026-01-15", "2025-10-15--2026-01-14"),
        ("previous calendar day", "2026-03-01", "2026-02-28", "2026-03-01", "2026-02-28"),
        ("previous calendar week", "2026-11-15", "2026-11-02", "2026-11-09", "2026-W45"),
        ("previous calendar week", "2026-11-16", "2026-11-09", "2026-11-16", "2026-W46"),
        ("previous calendar week", "2027-01-05", "2026-12-28", "2027-01-04", "2026-W53"),
        ("previous calendar week", "2026-01-07", "2025-12-29", "2026-01-05", "2026-W01"),
        ("previous calendar month", "2026-11-15", "2026-10-01", "2026-11-01", "2026-10"),
        ("previous calendar month", "2026-03-31", "2026-02-01", "2026-03-01", "2026-02"),
        ("previous calendar month", "2026-01-01", "2025-12-01", "2026-01-01", "2025-12"),
        ("previous calendar quarter", "2026-11-15", "2026-07-01", "2026-10-01", "2026-Q3"),
        ("previous calendar quarter", "2026-01-01", "2025-10-01", "2026-01-01", "2025-Q4"),
        ("previous calendar quarter", "2026-06-30", "2026-01-01", "2026-04-01", "2026-Q1"),
        ("previous calendar quarter", "2026-07-01", "2026-04-01", "2026-07-01", "2026-Q2"),
        ("previous calendar year", "2026-11-15", "2025-01-01", "2026-01-01", "2025"),
        ("all", "2026-11-15", None, "2026-11-16", "2026-11-15"),
    ],
)
def test_a_window_means_these_days(window: str, as_of: str, start: str | None, end: str, label: str) -> None:
    period = find_period(window, noon(date.fromisoformat(as_of)))
    assert period == Period(label=label, start=start, end=end)


def test_the_labels_of_the_documentation_are_those_of_periods() -> None:
    text = (Path(__file__).parents[1] / "docs" / "audits.md").read_text(encoding="utf-8")
    table = re.findall(r'^\| "([^"]+)"[^|]*\|[^|]*\| `([^`]+)` \|$', text, re.MULTILINE)
    assert [window for window, _ in table][-2:] == ["last 30 days", "all"]
    assert len(table) == 9
    for window, label in table:
        assert find_period(window, datetime(2026, 11, 15, 6, tzinfo=UTC)).label == label


def test_the_day_is_that_of_the_zone_of_the_moment() -> None:
    moment = datetime(2026, 10, 31, 23, 30, tzinfo=UTC)
    assert find_period("previous calendar month", moment).label == "2026-09"
    assert find_period("previous calendar month", moment.astimezone(BERLIN)).label == "2026-10"


@given(day=DAYS, window=st.sampled_from(WINDOWS))
def test_periods_are_over_and_have_days(day: date, window: str) -> None:
    period = find_period(window, noon(day))
    assert period.first_day is not None
    assert period.first_day < period.day_after <= day


@given(day=DAYS, unit=st.sampled_from(["day", "week", "month", "quarter", "year"]))
def test_calendar_periods_follow_each_other_without_gap_or_overlap(day: date, unit: str) -> None:
    period = find_period(f"previous calendar {unit}", noon(day))
    following = find_period(f"previous calendar {unit}", noon(period.day_after))
    earlier = find_period(f"previous calendar {unit}", noon(period.first_day or day))
    assert following == period
    assert earlier.end == period.start
    assert earlier.label < period.label


@given(day=DAYS, count=st.integers(1, 400))
def test_last_days_are_as_many_as_asked_for(day: date, count: int) -> None:
    period = find_period(f"last {count} days", noon(day))
    assert period.day_after - (period.first_day or day) == timedelta(days=count)


@pytest.mark.parametrize(
    ("start", "end", "middle"),
    [
        ("2026-01-01", "2026-02-01", "2026-01-16"),
        ("2026-02-01", "2026-03-01", "2026-02-14"),
        ("2026-11-14", "2026-11-15", "2026-11-14"),
        ("2026-11-13", "2026-11-15", "2026-11-13"),
        ("2026-01-01", "2027-01-01", "2026-07-02"),
        (None, "2026-11-16", "2026-11-15"),
    ],
)
def test_the_middle_is_a_day_of_the_period(start: str | None, end: str, middle: str) -> None:
    assert Period(label="", start=start, end=end).middle == date.fromisoformat(middle)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("last 30 days", "last 30 days"),
        ("  Last   1  days ", "last 1 day"),
        ("last 2 week", "last 2 weeks"),
        ("last 007 days", "last 7 days"),
        ("previous calendar months", "previous calendar month"),
        ("PREVIOUS\tcalendar\nquarter", "previous calendar quarter"),
        (" All", "all"),
    ],
)
def test_a_window_is_written_in_one_way(text: str, expected: str) -> None:
    assert check_window_text(text) == expected


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("lst 30 days", r" Did you mean `last 30 days`\?"),
        ("last 30 dys", r" Did you mean `last 30 days`\?"),
        ("last -3 weeks", r" Did you mean `last 3 weeks`\?"),
        ("last 1.5 months", r" Did you mean `last 1 months`\?"),
        ("previous month", r" Did you mean `previous calendar month`\?"),
        ("quarter", r" Did you mean `previous calendar quarter`\?"),
        ("al", r" Did you mean `all`\?"),
        ("", ""),
        ("?", ""),
    ],
)
def test_an_unknown_window_is_refused_with_those_there_are(text: str, hint: str) -> None:
    with pytest.raises(
        UsageError,
        match=r"^A period must be one of `last N hours`, `last N days`, `last N weeks`, `last N months`, "
        r"`previous calendar hour`, `previous calendar day`, `previous calendar week`, "
        r"`previous calendar month`, "
        r"`previous calendar quarter`, `previous calendar year` or `all`, where N is a whole number "
        rf"from 1; got .*\.{hint}$",
    ):
        check_window_text(text)


@pytest.mark.parametrize("text", ["last 0 days", "last 36526 days", "last 999999999 weeks"])
def test_a_count_has_limits(text: str) -> None:
    with pytest.raises(
        UsageError, match=r"^A period `last N (day|week)s` needs a whole number N from 1 to \d+"
    ):
        check_window_text(text)


def test_a_moment_needs_a_zone() -> None:
    with pytest.raises(UsageError, match="must be a time with a time zone; got 2026-11-15T00:00:00 without"):
        find_period("all", datetime(2026, 11, 15))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-15", "2026-11-15T12:00:00+01:00"),
        (" 2026-07-15 ", "2026-07-15T12:00:00+02:00"),
        ("2026-11-15T06:30", "2026-11-15T06:30:00+01:00"),
        ("2026-11-15 06:30:07", "2026-11-15T06:30:07+01:00"),
        ("2026-11-15T23:30:00Z", "2026-11-16T00:30:00+01:00"),
        ("2026-11-15T23:30:00-05:00", "2026-11-16T05:30:00+01:00"),
        ("2026-10-25T02:30", "2026-10-25T02:30:00+02:00"),
        ("2026-03-29T02:30", "2026-03-29T03:30:00+02:00"),
    ],
)
def test_the_moment_of_an_audit(text: str, expected: str) -> None:
    assert read_as_of(text, BERLIN).isoformat() == expected


def test_without_a_moment_it_is_now(monkeypatch: pytest.MonkeyPatch) -> None:
    with fixed_time("2026-11-15T23:30:00+00:00"):
        assert read_as_of(None, BERLIN).isoformat() == "2026-11-16T00:30:00+01:00"
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")  # the time of reports, not of audits
    assert read_as_of(None, BERLIN).year > 2001


@pytest.mark.parametrize("text", ["2026-11-17", "2026-11-17T00:00", "2026-11-16T23:30+00:00", "2030-01-01"])
def test_a_day_that_has_not_begun_is_refused(text: str) -> None:
    day = read_as_of(text, BERLIN).date()
    with (
        fixed_time("2026-11-16T06:00:00+00:00"),
        pytest.raises(
            UsageError,
            match=rf"^`as_of` must not lie in the future; got {day}, and it is 2026-11-16 now in "
            r"Europe/Berlin\.$",
        ),
    ):
        check_not_ahead(read_as_of(text, BERLIN), BERLIN)


@pytest.mark.parametrize(
    ("now", "text"), [("2026-11-16T06:00", "2026-11-16"), ("2026-11-15T23:30", "2026-11-16")]
)
def test_the_present_day_is_not_refused_though_its_noon_is_ahead(now: str, text: str) -> None:
    moment = read_as_of(text, BERLIN)
    with fixed_time(f"{now}:00+00:00"):
        assert check_not_ahead(moment, BERLIN) == moment


@pytest.mark.parametrize(
    ("as_of", "started", "expected"),
    [
        ("2026-11-17T00:30:00+01:00", "2026-11-16T23:30:00+00:00", False),
        ("2026-11-17T00:30:00+01:00", "2026-11-16T22:30:00+00:00", True),
        ("2026-11-16", "2026-11-16T00:00:00", False),
        ("2026-11-17", "2026-11-16T23:59:59", True),
        ("tomorrow", "2026-11-16T23:59:59", False),
    ],
)
def test_a_run_is_ahead_if_its_day_had_not_begun_when_it_started(
    as_of: str, started: str, expected: bool
) -> None:
    assert is_ahead(as_of, started) is expected


@pytest.mark.parametrize(
    "text", ["yesterday", "", "2026-02-29", "2026-13-01", "0001-01-01", "9999-12-31", "1899-12-31T12:00"]
)
def test_a_moment_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(
        UsageError,
        match=r"^`as_of` must be a date such as 2026-11-15 or a time such as 2026-11-15T06:30, from the year "
        rf"1900 to 2999, that exists in the time zone Europe/Berlin; got '{text}'\.$",
    ):
        read_as_of(text, BERLIN)


def test_a_month_in_place_of_a_day_is_refused_with_the_option_to_use() -> None:
    with pytest.raises(UsageError) as error:
        read_as_of("2026-12", BERLIN)
    assert str(error.value).endswith("got '2026-12'. To audit this period: `--period 2026-12`.")


@pytest.mark.parametrize("label", ["2026", "2026-W23", "2026-q2", "2026-05-01--2026-05-30"])
def test_labels_of_other_periods_are_no_days(label: str) -> None:
    with pytest.raises(UsageError, match=f"To audit this period: `--period {label}`"):
        read_as_of(label, BERLIN)


def test_a_day_that_never_was_is_refused() -> None:
    with pytest.raises(UsageError, match=r"that exists in the time zone Pacific/Apia; got '2011-12-30'\.$"):
        read_as_of("2011-12-30", ZoneInfo("Pacific/Apia"))
