"""Real servers in processes of their own, with a clock that the test sets and audits that it controls."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from server_tools import at

from scorereport.audit.server.health import HEALTH_FILE, read_health

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

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


class Serving:
    """A server in a process of its own, with a clock that the test sets and audits that it controls."""

    def __init__(self, tmp_path: Path, now: str, mother: subprocess.Popen[str] | None = None) -> None:
        self.folder, self.side = tmp_path / "audits", tmp_path / "side"
        self.folder.mkdir(parents=True, exist_ok=True)
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
        wait_for((self.folder / HEALTH_FILE).exists)
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
