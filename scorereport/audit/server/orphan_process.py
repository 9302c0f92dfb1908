"""Audit processes that outlive a server that was killed: the next server finds, watches and ends them.

A process is identified by its id and its start, because ids are used again. Systems without /proc do not
state the start; there the lock of the audit makes the next run wait for the orphan.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from threading import Thread
from typing import TYPE_CHECKING

from scorereport._utils.exits import describe_error
from scorereport.audit.server.audit_process import ProcessEnd, identify_process
from scorereport.audit.server.health import AuditHealth, read_health, read_recorded_runs
from scorereport.errors import ScoreReportError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from scorereport.audit.plan import Plan

#: Seconds between two looks at a process that is not a child of this one.
_PAUSE_SECONDS = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Orphan:
    """A process of an earlier server, and the scheduled time that it runs."""

    moment: datetime
    pid: int
    identity: str
    failures: int
    started: str | None

    @property
    def is_alive(self) -> bool:
        """Whether the process still runs."""
        return bool(self.identity) and identify_process(self.pid) == self.identity

    @property
    def seconds(self) -> float:
        """How long the process has run."""
        ticks = int(self.identity.split()[-1])
        return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")


def find_orphans(folder: Path) -> dict[str, Orphan]:
    """Return the processes that the health file names as running, by audit; they may have ended since."""
    with suppress(ScoreReportError, ValueError):
        found = {audit.name: _read_orphan(audit) for audit in read_health(folder).audits}
        return {name: orphan for name, orphan in found.items() if orphan is not None}
    return {}


def _read_orphan(audit: AuditHealth) -> Orphan | None:
    if audit.running is None or audit.pid is None or not audit.process:
        return None
    return Orphan(
        moment=datetime.fromisoformat(audit.running),
        pid=audit.pid,
        identity=audit.process,
        failures=audit.failures,
        started=audit.last_started,
    )


class OrphanProcess:
    """A process that is not a child of this one; when it ends, `on_end` is called in another thread."""

    def __init__(self, orphan: Orphan, plan: Plan, on_end: Callable[[ProcessEnd], None]) -> None:
        self._orphan, self._plan, self._on_end = orphan, plan, on_end
        Thread(target=self._wait, daemon=True, name=f"orphan {orphan.pid}").start()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._orphan.pid

    @property
    def identity(self) -> str:
        """The start of the process."""
        return self._orphan.identity

    @property
    def seconds(self) -> float:
        """How long the process has run."""
        return self._orphan.seconds

    def terminate(self) -> None:
        """Send SIGTERM to the process and to all processes that it started."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL to the process and to all processes that it started."""
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            if self._orphan.is_alive:
                os.killpg(self.pid, number)

    def _wait(self) -> None:
        while self._orphan.is_alive:
            time.sleep(_PAUSE_SECONDS)
        seconds = self.seconds
        try:
            ending = find_run_end(self._plan, self._orphan.moment, seconds)
        except Exception as error:  # a driver of a database may raise anything
            ending = ProcessEnd(
                exit_code=None, seconds=seconds, last_line=describe_error(error), note="result not known"
            )
        self._on_end(ending)


def find_run_end(plan: Plan, moment: datetime, seconds: float) -> ProcessEnd:
    """Return how the run of a scheduled time ended, by its last record: nobody has its exit code."""
    runs = [record for record in read_recorded_runs(plan) if datetime.fromisoformat(record.as_of) == moment]
    if not runs:
        return ProcessEnd(exit_code=None, seconds=seconds, note="ended without a record")
    return ProcessEnd(exit_code=runs[-1].exit_code, seconds=seconds, last_line=runs[-1].reason)
