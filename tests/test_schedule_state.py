"""What is due, the state of an audit, events, health, configurations and processes."""

from __future__ import annotations

import io
import json
import os
import sys
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scorereport._utils.redaction import Redactor
from scorereport.audit.plan import read_plan
from scorereport.audit.server import due_times
from scorereport.audit.server.audit_process import AuditProcess, ProcessEnd
from scorereport.audit.server.configuration_folder import ConfigurationFolder, find_stable_changes
from scorereport.audit.server.due_times import (
    MAX_CAUGHT_UP,
    SchedulePosition,
    apply_policy,
    decide_runs,
    find_next_run,
    start_position,
)
from scorereport.audit.server.event_log import CombinedRedactor, EventLog
from scorereport.audit.server.health import (
    HEALTH_FILE,
    AuditHealth,
    Health,
    read_completed_times,
    read_health,
    read_recorded_times,
    write_health,
)
from scorereport.audit.server.scheduled_audit import ScheduledAudit
from scorereport.audit.server.startup import serve_audits
from scorereport.configuration.schedules import Schedule
from scorereport.errors import DataError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

from server_tools import BERLIN, add_record, at, write_configuration

NIGHTLY = Schedule("0 3 * * *", "UTC")


def simulate(
    schedule: Schedule,
    moments: Iterable[datetime],
    policy: str = "latest",
    position: SchedulePosition | None = None,
) -> list[datetime]:
    """The times that run if the schedule is checked at these moments."""
    ran: list[datetime] = []
    for moment in moments:
        decision = decide_runs(schedule, policy, position or start_position(schedule, moment, []), moment)
        position = decision.position
        ran.extend(decision.run)
    return ran


def every(minutes: int, start: str, end: str) -> list[datetime]:
    step, first = timedelta(minutes=minutes), at(start)
    return [first + index * step for index in range((at(end) - first) // step + 1)]


# --- what is due ---


def test_a_run_by_hand_does_not_make_up_for_those_that_were_missed():
    by_hand = at("2026-11-04 09:17")
    position = start_position(NIGHTLY, at("2026-11-04 12:00"), [at("2026-11-01 03:00"), by_hand])
    ran = decide_runs(NIGHTLY, "all", position, at("2026-11-04 12:00")).run
    assert ran == tuple(at(f"2026-11-0{day} 03:00") for day in (2, 3, 4))
    alone = start_position(NIGHTLY, at("2026-11-04 12:00"), [by_hand])
    assert decide_runs(NIGHTLY, "all", alone, at("2026-11-04 12:00")).run == ()


@pytest.mark.parametrize(
    ("policy", "run", "left_out"),
    [("latest", [4], [2, 3]), ("all", [2, 3, 4], []), ("none", [], [2, 3, 4])],
)
def test_missed_nights_are_caught_up_by_the_policy(policy: str, run: list[int], left_out: list[int]) -> None:
    position = start_position(NIGHTLY, at("2026-11-04 12:00"), [at("2026-11-01 03:00")])
    decision = decide_runs(NIGHTLY, policy, position, at("2026-11-04 12:00"))
    assert [moment.day for moment in decision.run] == run
    assert [moment.day for moment in decision.left_out] == left_out
    assert decision.late == decision.run
    assert decide_runs(NIGHTLY, policy, decision.position, at("2026-11-04 12:01")).run == ()


@pytest.mark.parametrize("policy", ["latest", "all", "none"])
def test_a_time_within_a_minute_is_not_missed(policy: str) -> None:
    position = start_position(NIGHTLY, at("2026-11-02 02:59"), [at("2026-11-01 03:00")])
    decision = decide_runs(NIGHTLY, policy, position, at("2026-11-02 03:00:59"))
    assert decision.run == (at("2026-11-02 03:00"),)
    assert decision.late == ()


def test_without_a_record_nothing_is_caught_up() -> None:
    position = start_position(NIGHTLY, at("2026-11-04 12:00"), [])
    assert decide_runs(NIGHTLY, "all", position, at("2026-11-04 12:00")).run == ()
    assert find_next_run(NIGHTLY, position, at("2026-11-04 12:00")) == at("2026-11-05 03:00")


def test_a_restart_at_the_time_of_the_schedule_runs_it_once() -> None:
    now, before = at("2026-11-02 03:00"), at("2026-11-01 03:00")
    assert simulate(NIGHTLY, [now, now], position=start_position(NIGHTLY, now, [before])) == [now]
    assert simulate(NIGHTLY, [now, now], position=start_position(NIGHTLY, now, [before, now])) == []


def test_a_record_of_the_past_made_by_hand_sets_nothing_back() -> None:
    position = start_position(
        NIGHTLY, at("2026-11-04 12:00"), [at("2026-11-04 03:00"), at("2020-01-01 12:00")]
    )
    assert decide_runs(NIGHTLY, "all", position, at("2026-11-04 12:00")).run == ()


def test_a_record_of_the_future_blocks_nothing_but_its_own_time() -> None:
    position = start_position(
        NIGHTLY, at("2026-11-04 12:00"), [at("2026-11-03 03:00"), at("2026-11-06 03:00")]
    )
    moments = every(60, "2026-11-04 12:00", "2026-11-07 12:00")
    assert [moment.day for moment in simulate(NIGHTLY, moments, "all", position)] == [4, 5, 7]
    assert find_next_run(NIGHTLY, position, at("2026-11-05 12:00")) == at("2026-11-07 03:00")


def test_more_than_a_year_of_missed_nights_is_cut() -> None:
    position = start_position(NIGHTLY, at("2026-11-04 12:00"), [at("2020-01-01 03:00")])
    decision = decide_runs(NIGHTLY, "all", position, at("2026-11-04 12:00"))
    assert len(decision.run) == MAX_CAUGHT_UP
    assert decision.run[-1] == at("2026-11-04 03:00")
    assert decision.is_cut
    assert decision.left_out[-1] == decision.run[0] - timedelta(days=1)


def test_a_clock_that_starts_in_1970_does_not_catch_up_fifty_years() -> None:
    position = start_position(NIGHTLY, at("1970-01-01 00:00"), [at("2026-11-02 03:00")])
    first = decide_runs(NIGHTLY, "all", position, at("1970-01-01 00:01"))
    assert decide_runs(NIGHTLY, "all", first.position, at("2026-11-04 12:00")).run == (
        at("2026-11-03 03:00"),
        at("2026-11-04 03:00"),
    )


@pytest.mark.parametrize(
    ("cron", "start", "end", "expected"),
    [
        pytest.param("30 2 * * *", "2026-03-28 12:00", "2026-03-29 12:00", ["01:00"], id="skipped in spring"),
        pytest.param("30 2 * * *", "2026-10-24 12:00", "2026-10-25 12:00", ["00:30"], id="twice in autumn"),
        pytest.param("0 3 * * *", "2026-03-28 12:00", "2026-03-29 12:00", ["01:00"], id="right after"),
    ],
)
def test_a_nightly_audit_runs_once_in_the_nights_in_which_clocks_change(
    cron: str, start: str, end: str, expected: list[str]
) -> None:
    schedule = Schedule(cron, BERLIN)
    assert [f"{moment:%H:%M}" for moment in simulate(schedule, every(5, start, end))] == expected
    asleep = simulate(schedule, [at(end), at(end)], "all", start_position(schedule, at(start), [at(start)]))
    assert [f"{moment:%H:%M}" for moment in asleep] == expected


@pytest.mark.parametrize(("day", "hours"), [("2026-03-29", 23), ("2026-10-25", 25), ("2026-11-15", 24)])
def test_an_hourly_audit_follows_real_time_when_clocks_change(day: str, hours: int) -> None:
    midnight = datetime.fromisoformat(day).replace(tzinfo=read_zone(BERLIN)).astimezone(UTC)
    moments = [midnight + timedelta(minutes=7 * step) for step in range(hours * 60 // 7 + 1)]
    ran = simulate(Schedule("30 * * * *", BERLIN), moments, "all")
    assert len(ran) == len(set(ran)) == hours


def test_a_clock_that_is_put_back_runs_nothing_twice() -> None:
    before = every(1, "2026-11-04 02:50", "2026-11-04 03:05")
    after = every(1, "2026-11-04 02:05", "2026-11-04 04:00")
    assert simulate(NIGHTLY, [*before, *after]) == [at("2026-11-04 03:00")]


def test_a_clock_that_was_wrong_by_years_does_not_stop_the_audits() -> None:
    wrong = every(60, "2030-01-01 00:00", "2030-01-01 06:00")
    right = every(60, "2026-11-04 00:00", "2026-11-06 00:00")
    ran = simulate(NIGHTLY, [*wrong, *right])
    assert ran == [at("2030-01-01 03:00"), at("2026-11-04 03:00"), at("2026-11-05 03:00")]


@pytest.mark.parametrize("policy", ["latest", "none"])
def test_a_clock_that_jumps_forward_and_back_does_not_stop_the_audits(policy: str) -> None:
    hourly = Schedule("0 * * * *", "UTC")
    before = every(10, "2026-11-04 09:50", "2026-11-04 10:10")
    wrong = every(10, "2026-11-06 12:10", "2026-11-06 12:30")  # for half an hour
    after = every(10, "2026-11-04 10:40", "2026-11-04 14:10")
    ran = simulate(hourly, [*before, *wrong, *after], policy)
    by_mistake = [at("2026-11-06 12:00")] if policy == "latest" else []
    assert ran == [
        at("2026-11-04 10:00"),
        *by_mistake,
        *(at(f"2026-11-04 {hour}:00") for hour in (11, 12, 13, 14)),
    ]


@settings(max_examples=60, deadline=None)
@given(
    steps=st.lists(st.integers(-500, 900), max_size=40),
    policy=st.sampled_from(["latest", "all", "none"]),
    cron=st.sampled_from(["30 2 * * *", "*/20 * * * *", "0 1-4 * * *"]),
)
def test_no_time_is_ever_run_twice_wherever_the_clock_jumps(steps: list[int], policy: str, cron: str) -> None:
    now, moments = at("2026-10-24 22:00"), []
    for minutes in steps:
        now += timedelta(minutes=minutes)
        moments.append(now)
    ran = simulate(Schedule(cron, BERLIN), moments, policy)
    assert len(ran) == len(set(ran))


@settings(max_examples=30, deadline=None)
@given(steps=st.lists(st.integers(0, 2_000), min_size=1, max_size=20))
def test_with_all_nothing_is_ever_lost_while_time_goes_forward(steps: list[int]) -> None:
    schedule, start = Schedule("30 2 * * *", BERLIN), at("2026-10-20 12:00")
    moments = [start + timedelta(minutes=sum(steps[: index + 1])) for index in range(len(steps))]
    ran = simulate(schedule, moments, "all", start_position(schedule, start, []))
    assert ran == [moment.astimezone(UTC) for moment in schedule.times_between(start, moments[-1])]


def test_what_waits_is_cut_when_the_policy_changes() -> None:
    waiting = [at("2026-11-02 03:00"), at("2026-11-03 03:00")]
    assert apply_policy(waiting, "all") == tuple(waiting)
    assert apply_policy(waiting, "latest") == (waiting[1],)
    assert apply_policy(waiting, "none") == ()


# --- the state of an audit ---


def read_zone(name: str) -> Any:
    from zoneinfo import ZoneInfo

    return ZoneInfo(name)


def make_scheduled_audit(tmp_path: Path, now: str, **options: str) -> ScheduledAudit:
    return ScheduledAudit.of(read_plan(write_configuration(tmp_path, **options)), at(now))


LATE = timedelta(seconds=60)


def test_while_a_run_is_under_way_times_add_up_and_are_decided_afterwards(tmp_path: Path) -> None:
    scheduled = make_scheduled_audit(tmp_path, "2026-11-01 12:00", policy="all")
    scheduled.resume([at("2026-11-01 02:00")])
    scheduled.decide(at("2026-11-02 02:00"), LATE)
    assert scheduled.start(at("2026-11-02 02:00")) == at("2026-11-02 02:00")
    assert scheduled.decide(at("2026-11-04 12:00"), LATE) is None
    scheduled.finish(at("2026-11-04 12:00"), ProcessEnd(exit_code=0, seconds=1.0))
    scheduled.decide(at("2026-11-04 12:00"), LATE)
    assert [moment.day for moment in scheduled.waiting] == [3, 4]


def test_a_history_that_answers_late_starts_nothing_twice(tmp_path: Path) -> None:
    scheduled = make_scheduled_audit(tmp_path, "2026-11-03 12:00", policy="all")
    assert scheduled.decide(at("2026-11-03 12:00"), LATE) is None
    scheduled.start_without_history()
    scheduled.decide(at("2026-11-04 02:00"), LATE)
    scheduled.start(at("2026-11-04 02:00"))
    scheduled.finish(at("2026-11-04 02:01"), ProcessEnd(exit_code=-9, seconds=60.0))
    scheduled.resume([at("2026-11-01 02:00")])
    decision = scheduled.decide(at("2026-11-04 12:00"), LATE)
    assert decision is not None
    assert decision.run == ()


def test_a_file_that_goes_and_comes_back_starts_nothing_twice(tmp_path: Path) -> None:
    scheduled = make_scheduled_audit(tmp_path, "2026-11-03 12:00")
    scheduled.resume([])
    scheduled.decide(at("2026-11-04 02:00"), LATE)
    scheduled.start(at("2026-11-04 02:00"))
    scheduled.retire()
    scheduled.finish(at("2026-11-04 02:00:10"), ProcessEnd(exit_code=-9, seconds=10.0))
    assert scheduled.decide(at("2026-11-04 02:00:20"), LATE) is None
    assert scheduled.change(scheduled.plan) == ()
    decision = scheduled.decide(at("2026-11-04 02:00:30"), LATE)
    assert decision is not None
    assert decision.run == ()


@pytest.mark.parametrize(
    ("code", "has_result"),
    [
        (0, True),
        (1, True),
        (3, True),
        (4, True),
        (5, True),
        (2, False),
        (70, False),
        (-9, False),
        (None, False),
    ],
)
def test_a_run_without_a_result_may_be_caught_up_by_the_next_server(
    tmp_path: Path, code: int | None, has_result: bool
) -> None:
    scheduled = make_scheduled_audit(tmp_path, "2026-11-03 12:00")
    scheduled.resume([at("2026-11-03 02:00")])
    scheduled.decide(at("2026-11-04 02:00"), LATE)
    scheduled.start(at("2026-11-04 02:00"))
    scheduled.finish(at("2026-11-04 02:01"), ProcessEnd(exit_code=code, seconds=60.0, last_line="why"))
    assert scheduled.describe_health(at("2026-11-04 02:01")) == AuditHealth(
        name="churn",
        config="churn.toml",
        next_run="2026-11-05T03:00:00+01:00",
        last_as_of="2026-11-04T03:00:00+01:00",
        last_started="2026-11-04T02:00:00.000Z",
        last_finished="2026-11-04T02:01:00.000Z",
        last_exit_code=code,
        last_status=ProcessEnd(exit_code=code, seconds=0).status,
        last_error="" if code == 0 else "why",
        settled="2026-11-04T02:00:00.000Z" if has_result else None,
        failures=0 if has_result else 1,
    )


def test_what_waits_by_a_wrong_clock_is_forgotten_when_it_is_put_back(tmp_path: Path) -> None:
    scheduled = make_scheduled_audit(tmp_path, "2026-11-01 12:00", policy="all")
    scheduled.resume([at("2026-11-01 02:00")])
    scheduled.decide(at("2026-11-11 12:00"), LATE)
    assert scheduled.start(at("2026-11-11 12:00")).day == 2
    scheduled.finish(at("2026-11-11 12:00"), ProcessEnd(exit_code=0, seconds=1.0))
    scheduled.set_clock_back(at("2026-11-03 12:00"))
    assert [moment.day for moment in scheduled.waiting] == [3]
    assert scheduled.find_next(at("2026-11-03 12:00")) == at("2026-11-04 02:00")
    scheduled.start(at("2026-11-03 12:00"))
    scheduled.finish(at("2026-11-03 12:00"), ProcessEnd(exit_code=0, seconds=1.0))
    scheduled.decide(at("2026-11-04 02:00"), LATE)
    assert [moment.day for moment in scheduled.waiting] == [4]


def test_what_is_tried_again_by_a_wrong_clock_has_its_own_time_still(tmp_path: Path) -> None:
    scheduled = make_scheduled_audit(tmp_path, "2026-11-01 12:00")
    scheduled.resume([at("2026-11-01 02:00")])
    scheduled.decide(at("2026-11-05 02:00"), LATE)
    wrong = scheduled.start(at("2026-11-05 02:00"))
    scheduled.finish(at("2026-11-05 02:00"), ProcessEnd(exit_code=-9, seconds=1.0))
    scheduled.schedule_retry(wrong, 0.0)
    scheduled.set_clock_back(at("2026-11-04 02:00"))
    assert (scheduled.retry, scheduled.failures, scheduled.next_due) == (None, 0, None)
    scheduled.decide(at("2026-11-05 02:00"), LATE)
    assert scheduled.next_due == wrong


def start_and_fail(scheduled: ScheduledAudit, now: str) -> datetime:
    scheduled.decide(at(now), LATE)
    moment = scheduled.start(at(now))
    scheduled.finish(at(now), ProcessEnd(exit_code=-9, seconds=1.0))
    scheduled.schedule_retry(moment, 10.0)
    return moment


def test_a_run_that_is_tried_again_waits_for_its_time(tmp_path: Path) -> None:
    scheduled = make_scheduled_audit(tmp_path, "2026-11-01 12:00")
    scheduled.resume([at("2026-11-01 02:00")])
    moment = start_and_fail(scheduled, "2026-11-02 02:00")
    assert [scheduled.is_ready(9.0), scheduled.is_ready(10.0)] == [False, True]
    assert scheduled.describe_health(at("2026-11-02 02:01")).waiting == 1
    assert scheduled.drop_superseded() is None
    assert scheduled.start(at("2026-11-02 02:01")) == moment
    assert not scheduled.is_ready(99.0)  # there is one run at a time
    scheduled.finish(at("2026-11-02 02:02"), ProcessEnd(exit_code=1, seconds=1.0))
    assert (scheduled.failures, scheduled.next_due) == (0, None)


@pytest.mark.parametrize(("policy", "is_given_up"), [("latest", True), ("none", True), ("all", False)])
def test_a_later_run_replaces_one_that_is_tried_again(tmp_path: Path, policy: str, is_given_up: bool) -> None:
    scheduled = make_scheduled_audit(tmp_path, "2026-11-01 12:00", policy=policy)
    scheduled.resume([at("2026-11-01 02:00")])
    moment = start_and_fail(scheduled, "2026-11-02 02:00")
    scheduled.decide(at("2026-11-03 02:00"), LATE)
    assert scheduled.drop_superseded() == (moment if is_given_up else None)
    assert scheduled.is_ready(0.0) is is_given_up
    assert scheduled.start(at("2026-11-03 02:00")).day == (3 if is_given_up else 2)


def test_a_changed_configuration_is_tried_at_once_and_one_that_is_gone_not_at_all(tmp_path: Path) -> None:
    scheduled = make_scheduled_audit(tmp_path, "2026-11-01 12:00")
    scheduled.resume([at("2026-11-01 02:00")])
    start_and_fail(scheduled, "2026-11-02 02:00")
    scheduled.change(scheduled.plan)
    assert scheduled.is_ready(0.0)
    scheduled.retire()
    assert not scheduled.is_ready(99.0)


def test_people_are_notified_once_of_a_run_that_is_overdue_for_too_long(tmp_path: Path) -> None:
    scheduled = make_scheduled_audit(tmp_path, "2026-11-01 12:00")
    scheduled.resume([at("2026-11-01 02:00")])
    assert scheduled.find_late(0.0, 5.0) is None
    scheduled.decide(at("2026-11-02 02:00"), LATE)
    assert [scheduled.find_late(tick, 5.0) for tick in (100.0, 105.0)] == [None, None]
    assert scheduled.find_late(106.0, 5.0) == at("2026-11-02 02:00")
    scheduled.start(at("2026-11-02 02:00"))
    assert scheduled.find_late(999.0, 5.0) is None
    assert not scheduled.note_missed(at("2026-11-02 02:00"))
    assert scheduled.last.missed == "2026-11-02T03:00:00+01:00"
    scheduled.finish(at("2026-11-02 02:30"), ProcessEnd(exit_code=0, seconds=1.0))
    scheduled.decide(at("2026-11-03 02:00"), LATE)
    assert scheduled.find_late(1000.0, 5.0) is None
    assert scheduled.find_late(1006.0, 5.0) == at("2026-11-03 02:00")


# --- events and health ---


def test_an_event_is_one_line_without_secrets() -> None:
    stream, redactors = io.StringIO(), CombinedRedactor()
    redactors.add(Redactor(("gehéim\nnis",)))
    log = EventLog(stream, redactors, lambda: at("2026-11-15 06:30"))
    log.write(
        "audit.finished", last_line="two\nlines: gehéim\nnis", path=Path("a"), parts=[1, {"x": "gehéim\nnis"}]
    )
    assert stream.getvalue().count("\n") == 1
    assert stream.getvalue().isascii()
    assert json.loads(stream.getvalue()) == {
        "time": "2026-11-15T06:30:00.000Z",
        "event": "audit.finished",
        "last_line": "two\nlines: ***",
        "path": "a",
        "parts": [1, {"x": "***"}],
    }


def test_events_of_many_threads_stay_lines() -> None:
    stream = io.StringIO()
    log = EventLog(stream)

    def write_many() -> None:
        for number in range(50):
            log.write("e", number=number)

    threads = [threading.Thread(target=write_many) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len([json.loads(line) for line in stream.getvalue().splitlines()]) == 400


def test_a_full_disk_or_a_closed_stream_stops_nothing() -> None:
    closed = io.StringIO()
    closed.close()
    with pytest.raises(ValueError, match="closed file"):
        closed.write("{}")
    EventLog(closed).write("serve.started")  # and nothing is raised
    raw = os.open("/dev/full", os.O_WRONLY)
    with pytest.raises(OSError, match="No space left"):
        os.write(raw, b"{}")
    full = os.fdopen(raw, "w")
    EventLog(full).write("serve.started")
    os.dup2(os.open(os.devnull, os.O_WRONLY), raw)
    full.close()


HEALTH = Health(
    state="running",
    pid=7,
    started="2026-11-15T06:00:00.000Z",
    updated="2026-11-15T06:30:00.000Z",
    poll_seconds=5.0,
    audits=(AuditHealth(name="churn", config="churn.toml", settled="2026-11-15T05:00:00.000Z"),),
)


def test_health_is_read_back_and_grows_old(tmp_path: Path) -> None:
    write_health(tmp_path, HEALTH)
    assert read_health(tmp_path) == HEALTH
    assert [path.name for path in tmp_path.iterdir()] == [HEALTH_FILE]
    assert HEALTH.is_alive(at("2026-11-15 06:30:15"))
    assert not HEALTH.is_alive(at("2026-11-15 06:30:16"))
    assert not replace(HEALTH, state="stopped").is_alive(at("2026-11-15 06:30"))
    assert read_completed_times(tmp_path) == {"churn": at("2026-11-15 05:00")}


def test_a_health_file_that_is_absent_or_broken_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no `scorereport audit serve` has run on this folder"):
        read_health(tmp_path)
    assert read_completed_times(tmp_path) == {}
    (tmp_path / HEALTH_FILE).write_text('{"version": 1, "sta')
    with pytest.raises(DataError, match="is not a valid health document"):
        read_health(tmp_path)
    assert read_completed_times(tmp_path) == {}


# --- the configurations of a folder ---


def describe_changes(configurations: ConfigurationFolder) -> list[str]:
    return [f"{change.kind} {change.path.name}" for change in configurations.update()]


def test_a_change_counts_once_it_has_settled() -> None:
    a = Path("a")
    assert find_stable_changes({a: "1"}, {a: "1"}, {a: "2"}) == []
    assert find_stable_changes({a: "1"}, {a: "2"}, {a: "2"}) == [a]
    assert find_stable_changes({a: "1"}, {}, {}) == [a]
    assert find_stable_changes({a: "1"}, {a: "1"}, {}) == []


def test_the_folder_is_followed(tmp_path: Path) -> None:
    path = write_configuration(tmp_path)
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "x"\n')
    (tmp_path / ".hidden.toml").write_text("half [")
    (tmp_path / "folder.toml").mkdir()
    configurations = ConfigurationFolder(tmp_path)
    assert describe_changes(configurations) == ["added churn.toml", "passed_over pyproject.toml"]
    path.touch()
    assert describe_changes(configurations) == []
    path.write_text("")  # an editor has only just begun to save
    assert describe_changes(configurations) == []
    write_configuration(tmp_path, cron="0 4 * * *")
    assert describe_changes(configurations) == []
    assert describe_changes(configurations) == ["changed churn.toml"]
    path.rename(tmp_path / "renamed.toml")
    assert describe_changes(configurations) == []
    assert describe_changes(configurations) == ["removed churn.toml", "added renamed.toml"]
    (tmp_path / "renamed.toml").write_text("[model]\n")
    assert [describe_changes(configurations), describe_changes(configurations)] == [
        [],
        ["removed renamed.toml", "passed_over renamed.toml"],
    ]


def test_a_broken_configuration_is_reported_once_and_keeps_its_plan(tmp_path: Path) -> None:
    path = write_configuration(tmp_path)
    configurations = ConfigurationFolder(tmp_path)
    configurations.update()
    path.write_text("half [")
    assert configurations.update() == []
    (refused,) = configurations.update()
    assert refused.kind == "refused"
    assert refused.plan is not None
    assert refused.plan.name == "churn"
    assert refused.reason.startswith("churn.toml is not a TOML file: ")
    assert configurations.update() == []
    assert configurations.refused == {path: refused.reason}
    write_configuration(tmp_path, cron="61 * * * *")
    configurations.update()
    (refused,) = configurations.update()
    assert "`audit.schedule.cron` must be a cron expression" in refused.reason
    write_configuration(tmp_path)
    configurations.update()
    assert describe_changes(configurations) == ["changed churn.toml"]
    assert configurations.refused == {}


def test_two_configurations_of_one_name_are_kept_apart(tmp_path: Path) -> None:
    first = write_configuration(tmp_path, "a", more='name = "same"')
    write_configuration(tmp_path, "b", more='name = "same"')
    configurations = ConfigurationFolder(tmp_path)
    added, refused = configurations.update()
    assert (added.kind, refused.kind) == ("added", "refused")
    assert refused.reason == (
        "`audit.name` must differ between the configurations of a folder; got 'same', which is that of "
        "a.toml. Without `audit.name`, the name of the file is used."
    )
    first.unlink()
    configurations.update()
    assert describe_changes(configurations) == ["removed a.toml", "added b.toml"]


def test_recorded_times_are_read_from_the_history(tmp_path: Path) -> None:
    path = write_configuration(tmp_path)
    assert read_recorded_times(read_plan(path)) == frozenset()
    add_record(path, "2026-11-01T03:00:00+01:00")
    add_record(path, "2026-11-02T03:00:00+01:00")
    assert read_recorded_times(read_plan(path)) == {at("2026-11-01 02:00"), at("2026-11-02 02:00")}


# --- alarms and processes ---


class Soon:
    """A schedule with a time every twentieth of a second, without end."""

    def next_after(self, moment: datetime) -> datetime:
        return moment + timedelta(seconds=0.05)

    def times_between(self, after: datetime, until: datetime) -> Sequence[datetime]:
        raise NotImplementedError


def test_alarms_ring_until_they_are_dropped() -> None:
    rung = threading.Semaphore(0)
    clock = due_times.ScheduleAlarms(rung.release)
    clock.start()
    clock.set("churn", Soon())
    clock.set("churn", Soon())
    assert all(rung.acquire(timeout=5) for _ in range(3))
    clock.drop("churn")
    clock.drop("churn")
    clock.refresh()
    clock.stop()


def test_an_alarm_follows_the_schedule_and_not_the_last_alarm_alone() -> None:
    trigger = due_times.ScheduleTrigger(Schedule("0 3 * * 0", BERLIN))  # Sundays, as cron counts them
    assert trigger.get_next_fire_time(None, at("2026-11-11 12:00")) == at("2026-11-15 02:00")
    assert trigger.get_next_fire_time(at("2026-11-15 02:00"), at("2026-11-14 02:00")) == at(
        "2026-11-22 02:00"
    )


def test_without_apscheduler_the_way_out_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "apscheduler.executors.debug", None)
    with pytest.raises(UsageError, match=r'pip install "scorereport\[serve\]"'):
        serve_audits(tmp_path)


def run_child(code: str) -> ProcessEnd:
    endings: SimpleQueue[ProcessEnd] = SimpleQueue()
    child = AuditProcess([sys.executable, "-S", "-c", code], endings.put)
    try:
        return endings.get(timeout=60)
    finally:
        child.kill()  # and with it what it has left behind


def test_the_last_line_of_a_process_is_kept() -> None:
    ending = run_child("import sys; sys.stderr.write('first\\nlast one \\n\\n'); sys.exit(4)")
    assert (ending.exit_code, ending.status, ending.last_line) == (4, "data refused", "last one")


def test_a_process_that_is_killed_or_leaves_another_behind_has_ended() -> None:
    ending = run_child(
        "import os, subprocess, sys\n"
        "subprocess.Popen([sys.executable, '-S', '-c', 'import time; time.sleep(90)'])\n"
        "os.kill(os.getpid(), 9)"
    )
    assert ending.status == "killed by signal 9"
    assert not ending.has_result
    assert ending.seconds < 45
