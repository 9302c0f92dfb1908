"""Real servers: audits on their schedules until a signal."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import pytest

from scorereport.audit.integrity import verify_audit_history
from scorereport.audit.plan import read_plan
from scorereport.audit.server.announcements import Notifier
from scorereport.audit.server.audit_process import AuditProcess, identify_process
from scorereport.audit.server.audit_server import AuditServer, ServerSettings
from scorereport.audit.server.health import (
    HEALTH_FILE,
    read_health,
)
from scorereport.audit.server.orphan_process import Orphan, find_orphans
from scorereport.audit.server.startup import LOCK_NAME, serve_audits
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

from audit_tools import BRIEF, make_scored, write_audit
from server_tools import add_record, at, write_configuration
from serving_tools import COMMAND, Serving, is_running, serving, wait_for

# --- real servers ---


@pytest.fixture(scope="module")
def mother() -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process


def test_a_server_runs_what_is_due_once_and_stops(tmp_path: Path) -> None:
    with serving(tmp_path, "2026-10-25 01:59:58") as server:
        path = write_configuration(server.folder)
        server.start()
        wait_for(lambda: server.find("audit.scheduled", next_run="2026-10-25T03:00:00+01:00"))
        server.set_clock("2026-10-25 02:00:00")
        wait_for(lambda: server.find("audit.finished"))
        server.set_clock("2026-10-25 01:30:00")
        server.let_polls_pass()
        server.set_clock("2026-10-25 02:30:00")
        server.let_polls_pass()
        assert server.calls == [[str(path), "--as-of", "2026-10-25T03:00:00+01:00"]]
        health = read_health(server.folder)
        assert health.is_alive(at("2026-10-25 02:30"))
        assert health.audits[0].next_run == "2026-10-26T03:00:00+01:00"
        with pytest.raises(
            UsageError, match=r"Another `scorereport audit serve` already runs on .*; stop it first"
        ):
            serve_audits(server.folder)
        assert server.stop() == 0
        assert read_health(server.folder).state == "stopped"
        assert [event["event"] for event in server.events] == [
            "serve.started",
            "configuration.added",
            "audit.scheduled",
            "audit.started",
            "audit.finished",
            "audit.scheduled",
            "clock.put_back",
            "serve.stopping",
            "serve.stopped",
        ]


@pytest.mark.sweep
def test_a_signal_waits_for_the_audit_that_runs_and_starts_no_other(
    tmp_path: Path, mother: subprocess.Popen[str]
) -> None:
    with serving(tmp_path, "2026-11-02 01:59:59", mother) as server:
        (server.side / "hold").touch()
        write_configuration(server.folder, "first")
        write_configuration(server.folder, "second")
        server.start(workers=1)
        wait_for(lambda: len(server.find("audit.scheduled")) == 2)
        server.set_clock("2026-11-02 02:00:00")
        wait_for(lambda: server.calls)
        wait_for(lambda: server.waiting == 1)
        (running,) = [audit.name for audit in read_health(server.folder).audits if audit.running]
        assert server.process is not None
        server.process.send_signal(signal.SIGTERM)
        wait_for(lambda: server.find("serve.stopping", running=[running], waiting=1))
        assert read_health(server.folder).state == "stopping"
        (server.side / "hold").unlink()
        assert server.process.wait(60) == 0
        assert [(event["audit"], event["exit_code"]) for event in server.find("audit.finished")] == [
            (running, 0)
        ]
        assert len(server.calls) == 1


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("grace", "signals", "is_stubborn", "exit_code"),
    [(0.1, 1, False, -15), (60, 2, True, -9)],
    ids=["the grace is over", "a second signal, and an audit that will not end"],
)
def test_audits_that_do_not_end_are_ended(
    tmp_path: Path,
    mother: subprocess.Popen[str],
    grace: float,
    signals: int,
    is_stubborn: bool,
    exit_code: int,
) -> None:
    with serving(tmp_path, "2026-11-02 01:59:59", mother) as server:
        (server.side / "hold").touch()
        if is_stubborn:
            (server.side / "stubborn").touch()
        write_configuration(server.folder)
        process = server.start(grace_seconds=grace)
        wait_for(lambda: server.find("audit.scheduled"))
        server.set_clock("2026-11-02 02:00:00")
        wait_for(lambda: server.calls)
        for _ in range(signals):
            process.send_signal(signal.SIGINT)
            wait_for(lambda: server.find("serve.stopping"))
        assert process.wait(60) == 0
        assert server.find("audit.finished", exit_code=exit_code)
        assert not is_running(server.find("audit.started")[0]["pid"])
        assert read_health(server.folder).state == "stopped"


@pytest.mark.sweep
def test_an_audit_that_hangs_is_ended(tmp_path: Path, mother: subprocess.Popen[str]) -> None:
    with serving(tmp_path, "2026-11-02 01:59:59", mother) as server:
        (server.side / "hold").touch()
        write_configuration(server.folder)
        server.start(longest_seconds=0.2)
        wait_for(lambda: server.find("audit.scheduled"))
        server.set_clock("2026-11-02 02:00:00")
        wait_for(lambda: server.find("audit.finished", exit_code=-signal.SIGTERM))
        assert len(server.find("audit.overdue")) == 1
        assert not is_running(server.find("audit.started")[0]["pid"])
        assert server.stop() == 0


def test_configurations_are_picked_up_while_it_runs(tmp_path: Path, mother: subprocess.Popen[str]) -> None:
    with serving(tmp_path, "2026-11-02 00:00:00", mother) as server:
        path = write_configuration(server.folder, "first")
        server.start()
        write_configuration(server.folder, "second", cron="0 5 * * *")
        wait_for(lambda: server.find("audit.scheduled", audit="second"))
        path.write_text("[audit")
        wait_for(lambda: server.find("configuration.refused", audit="first"))
        assert server.find("configuration.refused")[0]["kept"].startswith(
            "The schedule of the previous version stays in force"
        )
        wait_for(lambda: [entry.config for entry in read_health(server.folder).refused] == ["first.toml"])
        server.set_clock("2026-11-02 02:00:00")
        wait_for(lambda: server.find("audit.finished", audit="first"))
        write_configuration(server.folder, "first", cron="0 6 * * *")
        wait_for(lambda: server.find("audit.scheduled", audit="first", next_run="2026-11-02T06:00:00+01:00"))
        path.unlink()
        wait_for(lambda: server.find("configuration.removed", audit="first"))
        server.set_clock("2026-11-02 05:00:00")
        wait_for(lambda: server.find("audit.caught_up", audit="second"))
        wait_for(lambda: server.find("audit.finished", audit="second"))
        assert server.stop() == 0
        assert server.days == ["2026-11-02T03:00:00+01:00", "2026-11-02T05:00:00+01:00"]


def test_missed_nights_are_caught_up_once_even_if_the_server_is_killed(
    tmp_path: Path, mother: subprocess.Popen[str]
) -> None:
    with serving(tmp_path, "2026-11-04 12:00", mother) as server:
        add_record(write_configuration(server.folder, policy="all"), "2026-11-01T03:00:00+01:00")
        server.start()
        wait_for(lambda: len(server.find("audit.finished")) == 3)
        assert server.find("audit.caught_up")[0]["count"] == 3
        server.let_polls_pass(1)
        server.stop(signal.SIGKILL)
        assert server.days == [f"2026-11-0{day}T03:00:00+01:00" for day in (2, 3, 4)]
        assert read_health(server.folder).state == "running"
        server.start()
        server.set_clock("2026-11-05 02:00")
        wait_for(lambda: server.find("audit.finished", as_of="2026-11-05T03:00:00+01:00"))
        assert server.stop() == 0
        assert len(server.calls) == 4


def test_an_audit_that_dies_stops_no_other_and_reveals_no_secret(
    tmp_path: Path, mother: subprocess.Popen[str]
) -> None:
    with serving(tmp_path, "2026-11-02 01:59:59", mother) as server:
        (server.side / "last_words").write_text("cannot reach https://hooks.example/s3cr3t-path\n")
        (server.side / "die").touch()
        path = write_configuration(server.folder)
        path.write_text(
            path.read_text() + '[audit.notify]\non = ["pass"]\n[audit.notify.webhook]\nurl = "${HOOK}"\n'
        )
        server.start(environ={"HOOK": "https://hooks.example/s3cr3t-path"})
        wait_for(lambda: server.find("audit.scheduled"))
        server.set_clock("2026-11-02 02:00:00")
        wait_for(lambda: server.find("audit.finished", exit_code=-9, status="killed by signal 9"))
        (server.side / "die").unlink()
        server.set_clock("2026-11-03 02:00:00")
        wait_for(lambda: server.find("audit.finished", exit_code=0))
        assert server.stop() == 0
        assert "s3cr3t" not in server.log.read_text() + (server.folder / HEALTH_FILE).read_text()
        assert server.find("audit.finished")[0]["last_line"] == "cannot reach ***"


AS_OF = "2026-11-02T03:00:00+01:00"


def find_pid(server: Serving) -> int | None:
    """The process of the first audit, by the health file; None before it has one."""
    path = server.folder / HEALTH_FILE
    audits = read_health(server.folder).audits if path.exists() else ()
    return audits[0].pid if audits else None


def start_and_kill(server: Serving) -> int:
    """Start a server, let it begin an audit that does not end, and kill it; return the id of the audit."""
    (server.side / "hold").touch()
    server.start()
    wait_for(lambda: server.find("audit.scheduled"))
    server.set_clock("2026-11-02 02:00:00")
    wait_for(lambda: server.calls)
    wait_for(lambda: find_pid(server))
    server.stop(signal.SIGKILL)
    (started,) = server.find("audit.started")
    assert is_running(started["pid"])
    return int(started["pid"])


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("kills", [1, 2])
def test_an_audit_that_outlives_a_killed_server_is_waited_for(
    tmp_path: Path, mother: subprocess.Popen[str], kills: int
) -> None:
    with serving(tmp_path, "2026-11-02 01:59:59", mother) as server:
        path = write_configuration(server.folder)
        add_record(path, "2026-11-01T03:00:00+01:00")
        pid = start_and_kill(server)
        for number in range(kills):
            server.start()
            wait_for(lambda number=number: len(server.find("audit.orphan", pid=pid, as_of=AS_OF)) > number)
            server.let_polls_pass()
            if number + 1 < kills:
                server.stop(signal.SIGKILL)
        (health,) = read_health(server.folder).audits
        assert (health.running, health.pid, health.waiting) == (AS_OF, pid, 0)
        add_record(path, AS_OF)
        (server.side / "hold").unlink()
        wait_for(lambda: server.find("audit.finished", exit_code=0, status="done", as_of=AS_OF))
        server.let_polls_pass()
        assert len(server.calls) == 1
        (health,) = read_health(server.folder).audits
        assert (health.running, health.pid, health.last_as_of) == (None, None, AS_OF)
        server.set_clock("2026-11-03 02:00:00")
        wait_for(lambda: server.find("audit.finished", as_of="2026-11-03T03:00:00+01:00"))
        assert server.stop() == 0
        assert len(server.calls) == 2


@pytest.mark.sweep
def test_an_orphan_without_a_record_is_run_again_and_one_that_hangs_is_ended(
    tmp_path: Path, mother: subprocess.Popen[str]
) -> None:
    with serving(tmp_path, "2026-11-02 01:59:59", mother) as server:
        write_configuration(server.folder)
        pid = start_and_kill(server)
        server.start(longest_seconds=0.5, retry_seconds=[0.01])
        wait_for(lambda: server.find("audit.orphan", pid=pid))
        wait_for(lambda: server.find("audit.overdue"))
        wait_for(lambda: server.find("audit.finished", exit_code=None, status="ended without a record"))
        assert not identify_process(pid)
        (server.side / "hold").unlink()
        wait_for(lambda: server.find("audit.finished", exit_code=0))
        assert server.days == [AS_OF, AS_OF]
        assert server.stop() == 0


def test_another_process_with_the_same_id_is_not_an_orphan(tmp_path: Path) -> None:
    process = AuditProcess(["sleep", "60"], lambda _: None)
    try:
        orphan = Orphan(
            moment=at("2026-11-02 02:00"),
            pid=process.pid,
            identity=process.identity,
            failures=0,
            started=None,
        )
        assert orphan.is_alive
        assert 0 <= orphan.seconds < 60
        assert not replace(orphan, identity=f"{orphan.identity}0").is_alive
        assert not replace(orphan, identity="").is_alive
    finally:
        process.kill()
    wait_for(lambda: not orphan.is_alive)
    assert find_orphans(tmp_path) == {}


@pytest.mark.sweep
def test_a_real_audit_that_outlives_a_killed_server_makes_one_record(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "scorereport", "audit", "run", "--once"]
    with serving(tmp_path, "2020-02-03 02:59:59") as server:
        make_scored("2020-01-01", 31, rows=10).to_csv(server.folder / "scores.csv", index=False)
        config = write_audit(server.folder, schedule={"cron": "0 3 3 * *"}, report=BRIEF)
        server.start(start_command=command)
        wait_for(lambda: server.find("audit.scheduled"))
        server.set_clock("2020-02-03 03:00:00")
        wait_for(lambda: find_pid(server))
        pid = find_pid(server)
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)  # it must not end before the next server looks for it
        server.stop(signal.SIGKILL)
        server.start(start_command=command)
        wait_for(lambda: server.find("audit.orphan"))
        os.kill(pid, signal.SIGCONT)
        wait_for(lambda: server.find("audit.finished", exit_code=0, status="done"), 300)
        server.let_polls_pass()
        assert server.stop() == 0
        assert len(server.find("audit.started")) == 1
        found = verify_audit_history(read_plan(config))
        assert (found.records, found.findings, found.warnings) == (1, (), ())


def notified_to(path: Path, inbox: Path) -> Path:
    """The configuration with a command that puts notifications into a file, a line each."""
    command = json.dumps(["sh", "-c", f"cat >> {inbox}; echo >> {inbox}"])
    path.write_text(path.read_text() + f"[audit.notify]\ncommand = {command}\n")
    return path


def read_inbox(inbox: Path) -> list[dict[str, Any]]:
    lines = inbox.read_text().splitlines() if inbox.exists() else []
    return [json.loads(line) for line in lines]


RUN_EVENTS = ("audit.started", "audit.finished")


def test_an_audit_that_dies_is_tried_again_until_it_is_given_up_and_people_are_notified(
    tmp_path: Path, mother: subprocess.Popen[str]
) -> None:
    with serving(tmp_path, "2026-11-02 01:59:59", mother) as server:
        (server.side / "die").touch()
        (server.side / "last_words").write_text("no \x1b[2J memory\n")
        notified_to(write_configuration(server.folder), server.side / "inbox")
        server.start(retry_seconds=[0.01, 0.05, 0.1])
        wait_for(lambda: server.find("audit.scheduled"))
        server.set_clock("2026-11-02 02:00:00")
        wait_for(lambda: server.find("audit.notified"))
        server.let_polls_pass()
        assert server.days == ["2026-11-02T03:00:00+01:00"] * 4
        assert [event["in_seconds"] for event in server.find("audit.retry")] == [0.01, 0.05, 0.1]
        runs = [event["event"] for event in server.events if event["event"] in RUN_EVENTS]
        assert runs == ["audit.started", "audit.finished"] * 4  # never two at a time
        reason = (
            "The audit of 2026-11-02T03:00:00+01:00 did not happen. Given up after 4 attempts; the last one "
            "ended with: killed by signal 9. Its last line: no \x1b[2J memory"
        )
        assert server.find("audit.absent", reason=reason)
        assert [event["problems"] for event in server.find("audit.notified")] == [[]]
        (outcome,) = read_inbox(server.side / "inbox")
        assert (outcome["status"], outcome["exit_code"], outcome["record"]) == ("failed", 70, None)
        assert outcome["reason"] == reason
        (health,) = read_health(server.folder).audits
        assert (health.missed, health.waiting) == ("2026-11-02T03:00:00+01:00", 0)
        (server.side / "die").unlink()
        server.set_clock("2026-11-03 02:00:00")
        wait_for(lambda: server.find("audit.finished", exit_code=0))
        assert server.stop() == 0
        assert len(read_inbox(server.side / "inbox")) == 1


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize(("code", "attempts"), [(0, 1), (1, 1), (4, 1), (5, 1), (2, 2), (70, 2)])
def test_only_a_run_without_a_result_is_tried_again(
    tmp_path: Path, mother: subprocess.Popen[str], code: int, attempts: int
) -> None:
    with serving(tmp_path, "2026-11-02 01:59:59", mother) as server:
        (server.side / "exit_code").write_text(str(code))
        write_configuration(server.folder)
        server.start(retry_seconds=[0.01])
        wait_for(lambda: server.find("audit.scheduled"))
        server.set_clock("2026-11-02 02:00:00")
        wait_for(lambda: len(server.find("audit.finished")) == attempts)
        server.let_polls_pass()
        assert len(server.calls) == attempts
        assert bool(server.find("audit.absent")) is (attempts > 1)
        assert server.stop() == 0


def test_people_are_notified_of_an_audit_that_hangs_even_if_the_history_is_down(
    tmp_path: Path, mother: subprocess.Popen[str]
) -> None:
    with serving(tmp_path, "2026-11-02 01:59:59", mother) as server:
        (server.side / "hold").touch()
        path = notified_to(write_configuration(server.folder), server.side / "inbox")
        database = server.folder / "audits" / "history.db"
        database.parent.mkdir()
        database.write_text("This is no database, however long one looks at it. " * 50)
        server.start(notify_seconds=0.2)
        wait_for(lambda: server.find("history.unreadable", audit=path.stem))
        server.set_clock("2026-11-02 02:00:00")
        wait_for(lambda: server.find("audit.notified", problems=[]))
        server.let_polls_pass()
        (outcome,) = read_inbox(server.side / "inbox")
        assert outcome["reason"] == (
            "The audit of 2026-11-02T03:00:00+01:00 did not happen. There is no result after 0 s."
        )
        (server.side / "hold").unlink()
        wait_for(lambda: server.find("audit.finished", exit_code=0))
        assert server.stop() == 0
        assert len(read_inbox(server.side / "inbox")) == 1


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize(("policy", "missed"), [("latest", 2), ("none", 3), ("all", 0)])
def test_people_are_notified_of_runs_that_no_server_started(
    tmp_path: Path, mother: subprocess.Popen[str], policy: str, missed: int
) -> None:
    with serving(tmp_path, "2026-11-04 12:00", mother) as server:
        path = notified_to(write_configuration(server.folder, policy=policy), server.side / "inbox")
        add_record(path, "2026-11-01T03:00:00+01:00")
        server.start()
        wait_for(lambda: len(server.find("audit.finished")) == 3 - missed)
        wait_for(lambda: len(server.find("audit.notified")) == bool(missed))
        assert server.stop() == 0
        reasons = [outcome["reason"] for outcome in read_inbox(server.side / "inbox")]
        since = "since 2026-11-02T03:00:00+01:00"
        assert reasons == [
            f"The audit of 2026-11-0{1 + missed}T03:00:00+01:00 did not happen. No server started {missed} "
            f'runs of the schedule {since}, and `audit.schedule.catch_up = "{policy}"` leaves them out.'
        ] * bool(missed)


def test_a_server_goes_on_from_now_when_the_clock_is_put_back(
    tmp_path: Path, mother: subprocess.Popen[str]
) -> None:
    with serving(tmp_path, "2026-11-02 09:59:59", mother) as server:
        write_configuration(server.folder, cron="0 * * * *")
        server.start()
        wait_for(lambda: server.find("audit.scheduled"))
        server.set_clock("2026-11-04 10:00:00")
        wait_for(lambda: server.find("audit.finished", as_of="2026-11-04T11:00:00+01:00"))
        server.set_clock("2026-11-02 10:30:00")
        wait_for(lambda: server.find("clock.put_back", now="2026-11-02T10:30:00.000Z"))
        server.let_polls_pass()
        server.set_clock("2026-11-02 11:00:00")
        wait_for(lambda: server.find("audit.finished", as_of="2026-11-02T12:00:00+01:00"))
        assert server.stop() == 0
        assert server.days == ["2026-11-04T11:00:00+01:00", "2026-11-02T12:00:00+01:00"]


def test_a_history_that_never_answers_does_not_keep_an_audit_from_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered = threading.Event()
    monkeypatch.setattr(
        "scorereport.audit.server.audit_server.read_recorded_times", lambda _plan: answered.wait(60)
    )
    monkeypatch.setattr("scorereport.audit.server.audit_server._HISTORY_RETRY_SECONDS", 0.0)
    write_configuration(tmp_path)
    options = ServerSettings(
        folder=tmp_path,
        poll_seconds=5,
        grace_seconds=0,
        longest_seconds=60,
        workers=1,
        start_command=("true",),
    )
    log = io.StringIO()
    server = AuditServer(options, log, lambda: at("2026-11-02 01:00"))
    server._update_configurations()
    server._read_histories()
    scheduled = server._audits["churn"]
    assert scheduled.position is None
    wait_for(lambda: [server._read_histories(), scheduled.position][1] is not None)
    answered.set()
    assert '"reason": "The history does not answer."' in log.getvalue()


def test_a_notification_that_fails_is_an_event_and_stops_nothing(tmp_path: Path) -> None:
    notified: SimpleQueue[tuple[str, list[str]]] = SimpleQueue()
    notifier = Notifier(lambda plan, _reason, problems: notified.put((plan.name, problems)))
    plan = read_plan(notified_to(write_configuration(tmp_path), tmp_path / "no" / "folder"))
    notifier.send(plan, at("2026-11-02 02:00"), "It did not happen.")
    notifier.wait(60)
    name, (problem,) = notified.get(timeout=60)
    assert name == "churn"
    assert problem.startswith("`audit.notify.command`: the command ended with exit code ")
    broken = replace(plan, configuration=None)  # type: ignore[arg-type]
    notifier.send(broken, at("2026-11-02 02:00"), "It did not happen.")
    assert notified.get(timeout=60)[1][0].startswith("AttributeError: ")


def test_no_more_audits_run_at_a_time_than_workers(tmp_path: Path, mother: subprocess.Popen[str]) -> None:
    with serving(tmp_path, "2026-11-02 01:59:59", mother) as server:
        (server.side / "hold").touch()
        for name in "abcd":
            write_configuration(server.folder, name)
        server.start(workers=2)
        wait_for(lambda: len(server.find("audit.scheduled")) == 4)
        server.set_clock("2026-11-02 02:00:00")
        wait_for(lambda: server.waiting == 2)
        (server.side / "hold").unlink()
        wait_for(lambda: len(server.find("audit.finished")) == 4)
        assert server.stop() == 0
        at_once, most = 0, 0
        for event in server.events:
            at_once += {"audit.started": 1, "audit.finished": -1}.get(event["event"], 0)
            most = max(most, at_once)
        assert most == 2


def test_a_server_lives_with_a_history_and_a_health_file_that_it_cannot_use(
    tmp_path: Path, mother: subprocess.Popen[str]
) -> None:
    with serving(tmp_path, "2026-11-02 01:59:59", mother) as server:
        path = write_configuration(server.folder)
        database = server.folder / "audits" / "history.db"
        database.parent.mkdir()
        database.write_text("This is no database, however long one looks at it. " * 50)
        (server.folder / f"{HEALTH_FILE}.new").mkdir()
        server.start(start_command=[str(tmp_path / "nowhere")])
        wait_for(lambda: server.find("history.unreadable", audit=path.stem))
        server.set_clock("2026-11-02 02:00:00")
        wait_for(lambda: server.find("audit.finished", exit_code=None, status="not started"))
        assert server.stop() == 0
        assert len(server.find("health.unwritable")) == len(server.find("history.unreadable")) == 1


def test_invalid_settings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"`audit serve` needs a folder of configurations; .* is not a folder\."
    ):
        serve_audits(tmp_path / "nowhere")
    with pytest.raises(UsageError, match=r"`poll_seconds` must be a number above 0; got 0\."):
        serve_audits(tmp_path, poll_seconds=0)
    with pytest.raises(UsageError, match=r"`grace_seconds` must be a number of at least 0; got nan\."):
        serve_audits(tmp_path, grace_seconds=float("nan"))
    with pytest.raises(UsageError, match=r"`retry_seconds` must be a number of at least 0; got -1\."):
        serve_audits(tmp_path, retry_seconds=[-1])
    with pytest.raises(UsageError, match=r"`notify_seconds` must be a number above 0; got 0\."):
        serve_audits(tmp_path, notify_seconds=0)
    with pytest.raises(UsageError, match=r"`workers` must be a whole number of at least 1; got 0\."):
        serve_audits(tmp_path, workers=0)
    (tmp_path / LOCK_NAME).mkdir()
    with pytest.raises(UsageError, match=r"cannot write its lock and its health file into .*: "):
        serve_audits(tmp_path)
