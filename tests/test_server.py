"""Real servers: audits on their schedules until a signal."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import pytest

from scorereport.audit.plan import read_plan
from scorereport.audit.server.announcements import Notifier
from scorereport.audit.server.audit_server import AuditServer, ServerSettings
from scorereport.audit.server.health import (
    HEALTH_FILE,
    read_health,
)
from scorereport.audit.server.startup import LOCK_NAME, serve_audits
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

from server_tools import add_record, at, write_configuration

# --- real servers ---

#: Serves with the options in its argument; without one, it stays and forks a server for each line it reads,
#: because loading all modules takes longer than most tests.
SERVER = """
import json, os, sys, traceback
from datetime import datetime
from pathlib import Path
import apscheduler.schedulers.background, cronsim, filelock, scorereport.history.store, sqlalchemy
from scorereport.audit.server.startup import serve_audits

def serve_as(clock, log=None, environ={}, **options):
    os.environ.update(environ)
    return serve_audits(clock=lambda: datetime.fromisoformat(Path(clock).read_text()), **options)

def fork(options):
    if (pid := os.fork()) != 0:
        return pid
    os.dup2(os.open(options["log"], os.O_WRONLY | os.O_APPEND), 2)
    try:
        os._exit(serve_as(**options))
    except BaseException:
        traceback.print_exc()
        os._exit(99)

def reap(pid):
    found, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if found else None

if len(sys.argv) > 1:
    sys.exit(serve_as(**json.loads(sys.argv[1])))
for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps(reap(asked) if isinstance(asked, int) else fork(asked)), flush=True)
"""


COMMAND = [sys.executable, "-W", "error", "-c", SERVER]


#: Writes down its arguments, and does what the files beside it request.
AUDIT = """
import os, signal, sys, time
here = os.path.dirname(__file__)
if os.path.exists(here + "/stubborn"):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
with open(here + "/calls", "a") as file:
    file.write(" ".join(sys.argv[1:]) + "\\n")
while os.path.exists(here + "/hold"):
    time.sleep(0.01)
if os.path.exists(here + "/exit_code"):
    sys.exit(int(open(here + "/exit_code").read()))
if os.path.exists(here + "/last_words"):
    sys.stderr.write(open(here + "/last_words").read())
if os.path.exists(here + "/die"):
    os.kill(os.getpid(), 9)
"""


class Forked:
    """A server that was forked off, with the methods of a Popen that are needed here."""

    def __init__(self, mother: subprocess.Popen[str], options: dict[str, Any]) -> None:
        self._mother = mother
        self._code: int | None = None
        self.pid = self._ask(options)

    def _ask(self, question: Any) -> Any:
        assert self._mother.stdin is not None
        assert self._mother.stdout is not None
        self._mother.stdin.write(json.dumps(question) + "\n")
        self._mother.stdin.flush()
        return json.loads(self._mother.stdout.readline())

    def poll(self) -> int | None:
        self._code = self._ask(self.pid) if self._code is None else self._code
        return self._code

    def wait(self, timeout: float) -> int:
        wait_for(lambda: self.poll() is not None, timeout)
        assert self._code is not None
        return self._code

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)


@pytest.fixture(scope="module")
def mother() -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process


class Serving:
    """A server in a process of its own, with a clock that the test sets and audits that it controls."""

    def __init__(self, tmp_path: Path, now: str, mother: subprocess.Popen[str] | None = None) -> None:
        self.folder, self.side = tmp_path / "audits", tmp_path / "side"
        self.folder.mkdir(exist_ok=True)
        self.side.mkdir(exist_ok=True)
        (self.side / "audit.py").write_text(AUDIT)
        self.log = self.side / "log"
        self._mother = mother
        self.process: subprocess.Popen[bytes] | Forked | None = None
        self.set_clock(now)

    def set_clock(self, now: str) -> None:
        fresh = self.side / "clock.new"
        fresh.write_text(at(now).isoformat())
        fresh.replace(self.side / "clock")

    def start(self, **options: Any) -> subprocess.Popen[bytes] | Forked:
        given = {
            "folder": str(self.folder),
            "clock": str(self.side / "clock"),
            "poll_seconds": 0.05,
            "start_command": [sys.executable, "-S", str(self.side / "audit.py")],
            **options,
        }
        already = len(self.find("serve.started"))
        with self.log.open("ab") as log:
            if self._mother is None:
                self.process = subprocess.Popen([*COMMAND, json.dumps(given)], stderr=log)
            else:
                self.process = Forked(self._mother, {"log": str(self.log), **given})
        wait_for(lambda: len(self.find("serve.started")) > already)
        return self.process

    @property
    def events(self) -> list[dict[str, Any]]:
        """All events so far; a line that is not JSON fails the test."""
        lines = self.log.read_text().splitlines(keepends=True) if self.log.exists() else []
        return [json.loads(line) for line in lines if line.endswith("\n")]

    def find(self, event: str, **fields: Any) -> list[dict[str, Any]]:
        wanted = {"event": event, **fields}
        return [found for found in self.events if wanted.items() <= found.items()]

    @property
    def calls(self) -> list[list[str]]:
        path = self.side / "calls"
        return [line.split() for line in path.read_text().splitlines()] if path.exists() else []

    @property
    def days(self) -> list[str]:
        return [call[2] for call in self.calls]

    @property
    def waiting(self) -> int:
        """How many runs wait; none before the server has written its health file."""
        is_there = (self.folder / HEALTH_FILE).exists()
        return sum(audit.waiting for audit in read_health(self.folder).audits) if is_there else 0

    def let_polls_pass(self, number: int = 3) -> None:
        for _ in range(number):
            before = (self.folder / HEALTH_FILE).stat().st_ino, (self.folder / HEALTH_FILE).stat().st_mtime_ns
            wait_for(lambda: before != ((s := (self.folder / HEALTH_FILE).stat()).st_ino, s.st_mtime_ns))  # noqa: B023

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        assert self.process is not None
        self.process.send_signal(number)
        return self.process.wait(60)


def wait_for(condition: Callable[[], object], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "This took too long."
        time.sleep(0.01)


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@contextmanager
def serving(tmp_path: Path, now: str, mother: subprocess.Popen[str] | None = None) -> Iterator[Serving]:
    server = Serving(tmp_path, now, mother)
    try:
        yield server
    finally:
        (server.side / "hold").unlink(missing_ok=True)
        if server.process is not None and server.process.poll() is None:
            server.stop(signal.SIGKILL)


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
