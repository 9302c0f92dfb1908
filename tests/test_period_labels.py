"""Periods by label, windows of hours in nights in which clocks change, and backfills in order."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorereport._utils.clock import fixed_time
from scorereport.configuration.period_labels import find_labelled, list_labelled
from scorereport.configuration.periods import Period, check_window_text, find_period
from scorereport.configuration.schedules import Schedule
from scorereport.errors import UsageError
from scorereport.plots.geometry import place_day, time_ticks

BERLIN = ZoneInfo("Europe/Berlin")
#: Zones whose clocks change by one hour, by half an hour, by two hours, and at midnight.
ZONES = [
    *("UTC", "Europe/Berlin", "Australia/Lord_Howe", "Antarctica/Troll", "America/Havana"),
    *("Africa/Cairo", "America/St_Johns", "Asia/Kathmandu"),
]
MOMENTS = st.datetimes(datetime(2010, 1, 1), datetime(2026, 11, 1)).map(lambda time: time.replace(tzinfo=UTC))
WINDOWS = [
    *(f"previous calendar {unit}" for unit in ("hour", "day", "week", "month", "quarter", "year")),
    *("last 24 hours", "last 1 hour", "last 30 days", "last 2 weeks", "last 3 months"),
]


@pytest.fixture(autouse=True)
def _november():
    with fixed_time("2026-11-18T08:30:00+00:00"):
        yield


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).astimezone(BERLIN)


@pytest.mark.parametrize(
    ("utc", "label", "start", "end"),
    [
        ("2026-11-18T05:59:59", "2026-11-18T05", "2026-11-18T05:00", "2026-11-18T06:00"),
        ("2026-11-18T06:00", "2026-11-18T06", "2026-11-18T06:00", "2026-11-18T07:00"),
        ("2026-11-17T23:30", "2026-11-17T23", "2026-11-17T23:00", "2026-11-18T00:00"),
        # clocks show 02:00 to 03:00 twice: it is over after the second time
        ("2026-10-25T00:30", "2026-10-25T01", "2026-10-25T01:00", "2026-10-25T02:00"),
        ("2026-10-25T01:30", "2026-10-25T01", "2026-10-25T01:00", "2026-10-25T02:00"),
        ("2026-10-25T02:00", "2026-10-25T02", "2026-10-25T02:00", "2026-10-25T03:00"),
        # clocks skip 02:00 to 03:00: rows with such times are in the hour before
        ("2026-03-29T00:59", "2026-03-29T00", "2026-03-29T00:00", "2026-03-29T01:00"),
        ("2026-03-29T01:00", "2026-03-29T01", "2026-03-29T01:00", "2026-03-29T03:00"),
        ("2026-03-29T02:00", "2026-03-29T03", "2026-03-29T03:00", "2026-03-29T04:00"),
    ],
)
def test_the_previous_hour_is_the_last_that_is_over(utc: str, label: str, start: str, end: str) -> None:
    assert find_period("previous calendar hour", at(utc)) == Period(label=label, start=start, end=end)
    assert find_period("last 1 hour", at(utc)) == Period(label=label, start=start, end=end)


def test_rolling_hours_are_those_of_the_clock() -> None:
    assert find_period("last 24 hours", at("2026-11-18T05:15")) == Period(
        label="2026-11-17T06--2026-11-18T05", start="2026-11-17T06:00", end="2026-11-18T06:00"
    )
    spring = find_period("last 24 hours", at("2026-03-29T04:10"))
    assert spring.label == "2026-03-28T06--2026-03-29T05"
    assert find_period("last 5 hours", at("2026-03-29T05:10")).start == "2026-03-29T01:00"


@given(moment=MOMENTS, zone=st.sampled_from(ZONES))
def test_hours_tile_the_local_time_of_any_zone(moment: datetime, zone: str) -> None:
    """Each local time is in one hour; an hour is over, and the next one begins where it ends."""
    local = moment.astimezone(ZoneInfo(zone))
    now = find_period("previous calendar hour", local)
    later = [find_period("previous calendar hour", local + timedelta(minutes=10 * n)) for n in range(1, 31)]
    chain = list(dict.fromkeys([now, *later]))
    assert [period.end for period in chain[:-1]] == [period.start for period in chain[1:]]
    naive = moment.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    shown = [(moment + timedelta(minutes=n)).astimezone(ZoneInfo(zone)) for n in range(0, 360, 5)]
    assert all(time.replace(tzinfo=None) >= now.ends for time in shown), (naive, now)


@given(moment=MOMENTS, zone=st.sampled_from(ZONES), window=st.sampled_from(WINDOWS))
def test_a_label_means_its_period_from_the_first_moment_at_which_it_is_over(
    moment: datetime, zone: str, window: str
) -> None:
    period = find_period(window, moment.astimezone(ZoneInfo(zone)))
    found = find_labelled(window, period.label, ZoneInfo(zone))
    assert found.period == period
    assert found.as_of.astimezone(UTC) <= moment
    assert find_period(window, found.as_of) == period
    before = (found.as_of.astimezone(UTC) - timedelta(seconds=1)).astimezone(ZoneInfo(zone))
    assert find_period(window, before).ends < period.ends
    last = period.label.rpartition("--")[2]
    assert find_labelled(window, last, ZoneInfo(zone)) == found


@pytest.mark.parametrize(
    ("window", "label", "reason"),
    [
        ("previous calendar month", "2030-01", "The period 2030-01 is not over: it ends at 2030-02-01 00:00"),
        ("previous calendar month", "2026-11", "The period 2026-11 is not over"),
        ("previous calendar hour", "2026-11-18T09", "The period 2026-11-18T09 is not over"),
        ("previous calendar day", "2026-11-18", "The period 2026-11-18 is not over"),
        ("last 30 days", "2026-11-18", "is not over"),
        ("all", "2026-11-19", "The period 2026-11-19 is not over"),
        ("previous calendar month", "2026-W03", "named by its label, such as 2026-06; got '2026-W03'"),
        ("previous calendar month", "2026-13", "such as 2026-06; got '2026-13'"),
        ("previous calendar month", "2026-05-01", "such as 2026-06; got '2026-05-01'"),
        ("previous calendar week", "2026-W54", "such as 2026-W23; got '2026-W54'"),
        ("previous calendar quarter", "2026-Q5", "such as 2026-Q2; got '2026-Q5'"),
        ("previous calendar year", "0001", "such as 2026; got '0001'"),
        ("previous calendar year", "9999", "such as 2026; got '9999'"),
        ("previous calendar hour", "2026-11-18T24", "such as 2026-06-01T05; got '2026-11-18T24'"),
        ("previous calendar hour", "2026-03-29T02", "The period that ends there is 2026-03-29T01"),
        ("last 30 days", "2026-06", "its label or its last day, such as 2026-06-01; got '2026-06'"),
        ("last 30 days", "2026-06-02--2026-06-30", "The period that ends there is 2026-06-01--2026-06-30"),
        ("last 24 hours", "2026-06-01", "its last hour, such as 2026-06-01T05; got '2026-06-01'"),
        ("all", "2026-06", 'A period of "all" is named by the day of the audit'),
        ("all", "", "got ''"),
    ],
)
def test_other_labels_and_periods_that_are_not_over_are_refused(window: str, label: str, reason: str) -> None:
    with pytest.raises(UsageError) as error:
        find_labelled(window, label, BERLIN)
    assert reason in str(error.value)


@pytest.mark.parametrize("utc", ["2026-11-18T08:00:00", "2026-11-18T09:00:00"])
def test_a_period_is_accepted_from_the_second_at_which_it_is_over(utc: str) -> None:
    label = f"2026-11-18T{int(utc[11:13]):02}"  # this hour of Berlin ends at the same hour of UTC
    with fixed_time(f"{utc}+00:00"):
        assert find_labelled("previous calendar hour", label, BERLIN).period.label == label
    early = datetime.fromisoformat(utc) - timedelta(seconds=1)
    with fixed_time(f"{early.isoformat()}+00:00"), pytest.raises(UsageError, match="is not over"):
        find_labelled("previous calendar hour", label, BERLIN)


@pytest.mark.parametrize(
    ("window", "first", "last", "labels"),
    [
        ("previous calendar month", "2025-11", "2026-02", "2025-11 2025-12 2026-01 2026-02"),
        ("previous calendar week", "2026-W52", "2026-W52", "2026-W52"),
        ("previous calendar week", "2025-W51", "2026-W02", "2025-W51 2025-W52 2026-W01 2026-W02"),
        ("previous calendar quarter", "2025-q3", "2026-Q1", "2025-Q3 2025-Q4 2026-Q1"),
        ("previous calendar year", "2023", "2025", "2023 2024 2025"),
        ("previous calendar day", "2024-02-28", "2024-03-01", "2024-02-28 2024-02-29 2024-03-01"),
        ("previous calendar hour", "2026-03-29T00", "2026-03-29T04", "T00 T01 T03 T04"),
        ("previous calendar hour", "2026-10-25T01", "2026-10-25T03", "T01 T02 T03"),
    ],
)
def test_calendar_periods_between_two_labels(window: str, first: str, last: str, labels: str) -> None:
    with fixed_time("2027-06-01T00:00:00+00:00"):
        found = list_labelled(window, first, last, BERLIN, None)
    day = first[:10] if "T" in labels else ""
    assert [one.period.label for one in found] == [f"{day}{label}" for label in labels.split()]
    assert all(find_period(window, one.as_of) == one.period for one in found)


def test_rolling_periods_are_those_of_the_schedule() -> None:
    mondays = Schedule("30 6 * * MON", "Europe/Berlin")
    found = list_labelled("last 30 days", "2026-06-30", "2026-07-19", BERLIN, mondays)
    assert [(one.period.label[-10:], one.as_of.isoformat()) for one in found] == [
        ("2026-07-05", "2026-07-06T06:30:00+02:00"),
        ("2026-07-12", "2026-07-13T06:30:00+02:00"),
        ("2026-07-19", "2026-07-20T06:30:00+02:00"),
    ]
    twice = Schedule("30 6,18 * * *", "Europe/Berlin")  # one period for each label
    days = list_labelled("all", "2026-06-01", "2026-06-03", BERLIN, twice)
    assert [one.as_of.isoformat() for one in days] == [f"2026-06-0{n}T06:30:00+02:00" for n in (1, 2, 3)]


def test_a_backfill_that_has_no_periods_says_why() -> None:
    with pytest.raises(UsageError, match=r"the configuration has no `audit\.schedule\.cron`\. To fix: add"):
        list_labelled("last 30 days", "2026-06-30", "2026-07-14", BERLIN, None)
    with pytest.raises(UsageError, match="The schedule has no time between"):
        list_labelled("last 7 days", "2026-06-10", "2026-06-12", BERLIN, Schedule("0 6 1 1 *", "UTC"))
    with pytest.raises(UsageError, match=r"`from` must not come after `to`; got '2026-07' and '2026-06'"):
        list_labelled("previous calendar month", "2026-07", "2026-06", BERLIN, None)
    with pytest.raises(UsageError, match="The period 2026-11 is not over"):
        list_labelled("previous calendar month", "2026-07", "2026-11", BERLIN, None)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("last hour", "previous calendar hour"),
        ("hourly", "previous calendar hour"),
        ("last 24 hour", None),
        ("lst 6 hours", "last 6 hours"),
        ("this hour", "`previous calendar hour` is the last whole hour"),
    ],
)
def test_windows_of_hours_are_suggested(text: str, meant: str | None) -> None:
    if meant is None:
        assert check_window_text(text) == "last 24 hours"
        return
    with pytest.raises(UsageError) as error:
        check_window_text(text)
    assert meant in str(error.value)


def test_dates_and_hours_compare_in_time() -> None:
    day = Period(label="2026-11-17", start="2026-11-17", end="2026-11-18")
    late = Period(label="2026-11-17T23", start="2026-11-17T23:00", end="2026-11-18T00:00")
    early = Period(label="2026-11-18T00", start="2026-11-18T00:00", end="2026-11-18T01:00")
    everything = Period(label="2026-11-16", start=None, end="2026-11-17")
    assert sorted([early, late, day, everything], key=lambda period: period.order) == [
        *(everything, day, late, early)
    ]
    assert day.ends == late.ends < early.ends
    assert (late.first_day, late.day_after) == (day.first_day, day.day_after)
    assert place_day(early.middle) - place_day(late.middle) == pytest.approx(1 / 24)
    assert place_day(day.middle) == day.middle.toordinal()
    assert early.file_bounds == ("2026-11-18T00", "2026-11-18T01")
    assert day.file_bounds == ("2026-11-17", "2026-11-18")
    assert early.describe() == "2026-11-18 00:00 to 2026-11-18 01:00"


@pytest.mark.parametrize(
    ("first", "last", "most", "ticks"),
    [
        ("2026-11-18T00:30", "2026-11-18T05:30", 6, "18T01 18T02 18T03 18T04 18T05"),
        ("2026-11-17T20:30", "2026-11-18T07:30", 6, "17T22 18T00 18T02 18T04 18T06"),
        ("2026-11-17T00:30", "2026-11-18T23:30", 9, "17T06 17T12 17T18 18T00 18T06 18T12 18T18"),
        ("2026-11-17T00:30", "2026-11-19T00:30", 9, ""),
        ("2026-11-17", "2026-11-17", 9, ""),
    ],
)
def test_the_time_axis_of_hours_has_round_hours(first: str, last: str, most: int, ticks: str) -> None:
    places = [place_day(datetime.fromisoformat(text)) for text in (first, last)]
    assert [f"{hour:%dT%H}" for hour in time_ticks(*places, most)] == ticks.split()


def test_a_single_hour_is_its_own_tick() -> None:
    half_past = datetime(2026, 11, 18, 6, 30)
    assert time_ticks(place_day(half_past), place_day(half_past), 5) == [half_past]
