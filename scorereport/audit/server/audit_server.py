"""Audit server: starts due runs, and records how they end.

One thread makes all decisions. The others (the scheduler, those that wait for processes, those that read a
history) only put tasks into its queue; so no state is shared, and a signal is a task like any other.
"""

from __future__ import annotations

import math
import os
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Literal

from scorereport._utils.exits import describe_error
from scorereport._utils.formatting import format_counted, format_duration, format_plain
from scorereport.audit.server import announcements
from scorereport.audit.server.announcements import Notifier, wants_failure_notifications
from scorereport.audit.server.audit_process import AuditProcess, ProcessEnd
from scorereport.audit.server.configuration_folder import ConfigurationFolder
from scorereport.audit.server.digest_sender import DigestSender
from scorereport.audit.server.due_times import PUNCTUAL_WITHIN, ScheduleAlarms
from scorereport.audit.server.event_log import CombinedRedactor, EventLog, format_event_time
from scorereport.audit.server.health import (
    AuditHealth,
    Health,
    RefusedConfiguration,
    read_completed_times,
    read_recorded_times,
    write_health,
)
from scorereport.audit.server.orphan_process import OrphanProcess, find_orphans
from scorereport.audit.server.scheduled_audit import ScheduledAudit

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from typing import IO

    from scorereport.audit.plan import Plan
    from scorereport.audit.server.configuration_folder import ConfigurationChange

#: How many seconds audits may take to end after SIGTERM before they are killed.
_ENDING_SECONDS = 10.0
#: The same after a second signal to stop.
_HURRIED_SECONDS = 1.0
#: How many seconds to wait for audits that were killed.
_KILLED_SECONDS = 5.0
#: After how many seconds to read a history again that could not be read.
_HISTORY_RETRY_SECONDS = 60.0
#: After how many seconds a run without a result is tried again, for each attempt; then it is given up.
RETRY_SECONDS = (60.0, 300.0, 1500.0)
#: After this many seconds without a result people are notified, whatever the cause.
NOTIFY_SECONDS = 7200.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """Settings of a server: seconds between polls, time limits for audits, audits at a time."""

    folder: Path
    poll_seconds: float
    grace_seconds: float
    longest_seconds: float
    workers: int
    start_command: tuple[str, ...]
    retry_seconds: tuple[float, ...] = RETRY_SECONDS
    notify_seconds: float = NOTIFY_SECONDS

    @property
    def punctual(self) -> timedelta:
        """How late a run may start and still be punctual; never less than two polls."""
        return max(PUNCTUAL_WITHIN, timedelta(seconds=2 * self.poll_seconds))


class AuditServer:
    """The audits of a folder, and the queue of tasks about them."""

    def __init__(self, settings: ServerSettings, log: IO[str], clock: Callable[[], datetime]) -> None:
        self._settings, self._clock = settings, clock
        self._tasks: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._redactors = CombinedRedactor()
        self._log = EventLog(log, self._redactors, clock)
        self._configurations = ConfigurationFolder(settings.folder)
        self._alarms = ScheduleAlarms(partial(self._tasks.put, lambda: None))
        self._audits: dict[str, ScheduledAudit] = {}
        self._processes: dict[str, AuditProcess | OrphanProcess] = {}
        self._orphans = find_orphans(settings.folder)
        self._notifier = Notifier(self._post_notified)
        self._digests = DigestSender(
            lambda plan, sent: self._tasks.put(partial(announcements.log_digest, self._log, plan.name, sent))
        )
        self._read_after: dict[str, float] = {}
        self._reading_since: dict[str, float] = {}
        self._last_time = clock()
        self._problems: dict[str, str] = {}
        self._completed = read_completed_times(settings.folder)
        self._state: Literal["running", "stopping", "stopped"] = "running"
        self._signals = 0
        self._started = format_event_time(clock())
        self._next_poll = monotonic()

    def request_stop(self) -> None:
        """Stop the server: start no more audits, and wait for those that run.

        A second call ends them at once. A signal handler may call this.
        """
        self._tasks.put(self._count_signal)

    def run(self) -> None:
        """Run audits until a stop is requested, then wait for the audits that run."""
        self._log.write("serve.started", folder=self._settings.folder, pid=os.getpid())
        self._alarms.start()
        try:
            while not self._signals:
                self._run_next_task()
                self._dispatch()
        except BaseException as error:
            for process in self._processes.values():  # an audit must not go on without its server
                process.kill()
            self._log.write("serve.failed", reason=f"{type(error).__name__}: {error}")
            raise
        finally:
            self._stop()

    def _count_signal(self) -> None:
        self._signals += 1

    def _run_next_task(self) -> None:
        """Run the next task, or wait for one until the next poll; poll if it is time."""
        with suppress(Empty):
            self._tasks.get(timeout=max(0.0, self._next_poll - monotonic()))()
        if monotonic() >= self._next_poll:
            self._poll()

    def _poll(self) -> None:
        self._next_poll = monotonic() + self._settings.poll_seconds
        if self._state == "running":
            self._update_configurations()
            self._read_histories()
            self._alarms.refresh()
            self._end_overdue()
            plans = [audit.plan for audit in self._audits.values() if audit.is_listed]
            self._digests.send_due(plans, self._clock())
        self._write_health()

    def _update_configurations(self) -> None:
        try:
            changes = self._configurations.update()
        except OSError as error:
            self._log_problem("folder.unreadable", str(error))
            return
        self._problems.pop("folder.unreadable", None)
        for change in changes:
            self._apply(change)

    def _apply(self, change: ConfigurationChange) -> None:
        if change.plan is not None:
            self._redactors.add(change.plan.redactor)
        announcements.log_change(self._log, change)
        if change.plan is not None and change.kind in ("added", "changed"):
            self._schedule(change.plan)
        elif change.plan is not None and change.kind == "removed":
            self._audits[change.plan.name].retire()
            self._alarms.drop(change.plan.name)

    def _schedule(self, plan: Plan) -> None:
        audit = self._audits.get(plan.name)
        if audit is None:
            audit = ScheduledAudit.of(plan, self._clock(), self._completed.get(plan.name))
            self._audits[plan.name] = audit
            self._adopt_orphan(audit)
        else:
            announcements.log_missed(self._log, audit, audit.change(plan))
        self._alarms.set(plan.name, audit.schedule)
        announcements.log_next_run(self._log, audit, self._clock())

    def _adopt_orphan(self, audit: ScheduledAudit) -> None:
        """Wait for a process of an earlier server that was killed, instead of starting a second run."""
        orphan = self._orphans.pop(audit.plan.name, None)
        if orphan is None or not orphan.is_alive:
            return
        audit.adopt(orphan, self._clock())
        announcements.log_orphan(self._log, audit, orphan.pid, orphan.seconds)
        self._processes[audit.plan.name] = OrphanProcess(
            orphan, audit.plan, lambda ending: self._tasks.put(partial(self._handle_end, audit, ending))
        )

    def _read_histories(self) -> None:
        for name, audit in self._audits.items():
            is_due = monotonic() >= self._read_after.get(name, 0.0)
            is_silent = monotonic() - self._reading_since.get(name, math.inf) > _HISTORY_RETRY_SECONDS
            if is_silent and audit.position is None:
                self._log_problem("history.unreadable", "The history does not answer.", audit=name)
                audit.start_without_history()
            if audit.is_listed and not audit.has_history and is_due:
                self._read_after[name], self._reading_since[name] = math.inf, monotonic()
                # A database may take minutes to answer, and the other audits must not wait for it.
                Thread(target=self._read_history, args=(audit,), daemon=True, name=f"history {name}").start()

    def _read_history(self, audit: ScheduledAudit) -> None:
        """Read a history in a thread of its own; the result, or the error, becomes a task."""
        try:
            recorded = read_recorded_times(audit.plan)
        except Exception as error:  # a driver of a database may raise anything
            self._tasks.put(partial(self._handle_unreadable_history, audit, describe_error(error)))
        else:
            self._tasks.put(partial(audit.resume, recorded))

    def _handle_unreadable_history(self, audit: ScheduledAudit, reason: str) -> None:
        self._read_after[audit.plan.name] = monotonic() + _HISTORY_RETRY_SECONDS
        self._log_problem("history.unreadable", reason, audit=audit.plan.name)
        audit.start_without_history()

    def _dispatch(self) -> None:
        """Decide which runs are due, and start as many as workers are free: least recently started first."""
        if self._signals:
            return
        now = self._clock()
        self._watch_clock(now)
        for audit in self._audits.values():
            decision = audit.decide(now, self._settings.punctual)
            if decision is not None:
                announcements.log_decision(self._log, audit, decision)
                self._miss_left_out(audit, decision.left_out)
            self._check_late(audit)
        ready = [audit for audit in self._audits.values() if audit.is_ready(monotonic())]
        ready.sort(key=lambda audit: audit.last.last_started or "")
        for audit in ready[: max(0, self._settings.workers - len(self._processes))]:
            self._start(audit)

    def _watch_clock(self, now: datetime) -> None:
        """Plan again from now if the clock was put back: times planned by a wrong clock lie in the future."""
        before, self._last_time = self._last_time, now
        if before - now <= self._settings.punctual:
            return
        self._log.write("clock.put_back", before=format_event_time(before), now=format_event_time(now))
        for name, audit in self._audits.items():
            audit.set_clock_back(now)
            if audit.is_listed:
                self._alarms.set(name, audit.schedule)

    def _check_late(self, audit: ScheduledAudit) -> None:
        """Notify people of a run that was given up for a later one, and of one that is due for too long."""
        superseded = audit.drop_superseded()
        if superseded is not None:
            self._miss(
                audit, superseded, f"It ended with: {audit.last.last_status}. A later run is due by now."
            )
        seconds = self._settings.notify_seconds
        late = audit.find_late(monotonic(), seconds)
        if late is not None:
            self._notify(audit, late, f"There is no result after {format_duration(seconds)}.")

    def _miss_left_out(self, audit: ScheduledAudit, times: tuple[datetime, ...]) -> None:
        """Notify people of missed times that the policy leaves out, because no server was running then."""
        missed = audit.find_unattended(times)
        if missed:
            policy = audit.plan.audit.schedule.catch_up
            since = (
                f"{format_counted(len(missed), 'run')} of the schedule since {audit.format_local(missed[0])}"
            )
            why = f'No server started {since}, and `audit.schedule.catch_up = "{policy}"` leaves them out.'
            self._miss(audit, missed[-1], why)

    def _miss(self, audit: ScheduledAudit, moment: datetime, why: str) -> None:
        """Give up a scheduled time; people are notified once."""
        if audit.note_missed(moment):
            self._notify(audit, moment, why)

    def _notify(self, audit: ScheduledAudit, moment: datetime, why: str) -> None:
        reason = f"The audit of {audit.format_local(moment)} did not happen. {why}"
        announcements.log_absence(self._log, audit, moment, reason)
        if wants_failure_notifications(audit.plan):
            self._notifier.send(audit.plan, moment, reason)

    def _post_notified(self, plan: Plan, reason: str, problems: list[str]) -> None:
        """Put the log entry of a notification into the queue; called in the thread that sent it."""
        self._tasks.put(partial(announcements.log_notification, self._log, plan.name, reason, problems))

    def _start(self, audit: ScheduledAudit) -> None:
        as_of = audit.format_local(audit.start(self._clock()))
        command = [*self._settings.start_command, str(audit.plan.path), "--as-of", as_of]
        try:
            process = AuditProcess(
                command,
                lambda ending: self._tasks.put(partial(self._handle_end, audit, ending)),
                lambda line: self._tasks.put(partial(announcements.log_progress, self._log, audit, line)),
            )
        except OSError as error:
            self._handle_end(audit, ProcessEnd(exit_code=None, seconds=0.0, last_line=str(error)))
            return
        self._processes[audit.plan.name] = process
        announcements.log_start(self._log, audit, process.pid)
        self._write_health()

    def _end_overdue(self) -> None:
        """End audits that run for too long: their own next run, and other audits, wait for them."""
        for name, process in self._processes.items():
            overdue = process.seconds - self._settings.longest_seconds
            if overdue > _ENDING_SECONDS:
                process.kill()
            elif overdue > 0:
                seconds = format_plain(self._settings.longest_seconds)
                reason = f"process {process.pid} ran for more than {seconds} seconds"
                self._log_problem("audit.overdue", reason, audit=name)
                process.terminate()

    def _handle_end(self, audit: ScheduledAudit, ending: ProcessEnd) -> None:
        self._processes.pop(audit.plan.name, None)
        ending = replace(ending, last_line=self._redactors.redact(ending.last_line))
        moment = audit.running
        audit.finish(self._clock(), ending)
        announcements.log_end(self._log, audit, ending)
        if moment is not None and not ending.has_result and audit.is_listed and self._state == "running":
            self._retry(audit, moment, ending)
        if audit.is_listed and self._state == "running":
            announcements.log_next_run(self._log, audit, self._clock())
        self._write_health()

    def _retry(self, audit: ScheduledAudit, moment: datetime, ending: ProcessEnd) -> None:
        """Plan another attempt at a run without a result, or give it up and notify people."""
        delays = self._settings.retry_seconds
        if audit.failures <= len(delays):
            seconds = delays[audit.failures - 1]
            audit.schedule_retry(moment, monotonic() + seconds)
            announcements.log_retry(self._log, audit, moment, seconds)
            return
        attempts, audit.failures = format_counted(audit.failures, "attempt"), 0
        last = f" Its last line: {ending.last_line}" if ending.last_line else ""
        self._miss(
            audit, moment, f"Given up after {attempts}; the last one ended with: {ending.status}.{last}"
        )

    def _stop(self) -> None:
        """Wait for the audits that run, then terminate them, then kill them."""
        self._state = "stopping"
        self._alarms.stop()
        waiting = sum(len(audit.waiting) for audit in self._audits.values())
        self._write_health()
        self._log.write("serve.stopping", running=sorted(self._processes), waiting=waiting)
        self._wait(self._settings.grace_seconds)
        for process in self._processes.values():
            process.terminate()
        self._wait(_HURRIED_SECONDS if self._signals > 1 else _ENDING_SECONDS)
        for process in self._processes.values():
            process.kill()
        self._wait(_KILLED_SECONDS)
        self._notifier.wait(_HURRIED_SECONDS if self._signals > 1 else _ENDING_SECONDS)
        while not self._tasks.empty():
            self._tasks.get()()
        self._state = "stopped"
        self._write_health()
        self._log.write("serve.stopped")

    def _wait(self, seconds: float) -> None:
        """Wait for the audits that run, for at most this many seconds or until the next signal."""
        end, signals = monotonic() + seconds, self._signals
        while self._processes and monotonic() < end and self._signals == signals:
            self._next_poll = min(self._next_poll, end)
            self._run_next_task()

    def _write_health(self) -> None:
        now = self._clock()
        audits = [audit for audit in self._audits.values() if audit.is_listed or audit.running]
        health = Health(
            state=self._state,
            pid=os.getpid(),
            started=self._started,
            updated=format_event_time(now),
            poll_seconds=self._settings.poll_seconds,
            audits=tuple(self._describe_audit(audit, now) for audit in audits),
            refused=tuple(
                RefusedConfiguration(config=path.name, reason=self._redactors.redact(reason))
                for path, reason in self._configurations.refused.items()
            ),
        )
        try:
            write_health(self._settings.folder, health)
        except OSError as error:
            self._log_problem("health.unwritable", str(error))
        else:
            self._problems.pop("health.unwritable", None)

    def _describe_audit(self, audit: ScheduledAudit, now: datetime) -> AuditHealth:
        health, process = audit.describe_health(now), self._processes.get(audit.plan.name)
        return health if process is None else replace(health, pid=process.pid, process=process.identity)

    def _log_problem(self, event: str, reason: str, **fields: str) -> None:
        """Log a problem once, not at every poll."""
        key = " ".join((event, *fields.values()))
        if self._problems.get(key) != reason:
            self._problems[key] = reason
            self._log.write(event, reason=reason, **fields)
