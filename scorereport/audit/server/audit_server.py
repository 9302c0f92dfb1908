"""Audit server: starts due runs, and records how they end.

One thread decides everything. Others (the clock, those that wait for processes, those that ask a history)
only post what is to be done into its letter box; so no state is shared, and a signal is a letter like any
other.
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
from scorereport._utils.formatting import format_counted, format_duration
from scorereport.audit.server import announcements
from scorereport.audit.server.announcements import Notifier, wants_failure_notifications
from scorereport.audit.server.audit_process import AuditProcess, ProcessEnd
from scorereport.audit.server.configuration_folder import ConfigurationFolder
from scorereport.audit.server.due_times import PUNCTUAL_WITHIN, ScheduleAlarms
from scorereport.audit.server.event_log import CombinedRedactor, EventLog, format_event_time
from scorereport.audit.server.health import (
    Health,
    RefusedConfiguration,
    read_completed_times,
    read_recorded_times,
    write_health,
)
from scorereport.audit.server.scheduled_audit import ScheduledAudit

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from typing import IO

    from scorereport.audit.plan import Plan
    from scorereport.audit.server.configuration_folder import ConfigurationChange

#: How long audits that were asked to end may take, in seconds, before they are killed.
_ENDING_SECONDS = 10.0
#: The same if somebody asked twice.
_HURRIED_SECONDS = 1.0
_KILLED_SECONDS = 5.0
#: After so many seconds a history that could not be read is asked again.
_ASK_AGAIN_SECONDS = 60.0
#: A run that comes to no result is tried again after these many seconds, and then given up.
RETRY_SECONDS = (60.0, 300.0, 1500.0)
#: After this many seconds without a result people are notified, whatever the cause.
NOTIFY_SECONDS = 7200.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """How a server works: seconds between looks, for audits to run and to end, audits at a time."""

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
        """Who is no later than this is in time; nobody can be expected to be faster than two looks."""
        return max(PUNCTUAL_WITHIN, timedelta(seconds=2 * self.poll_seconds))


class AuditServer:
    """The audits of a folder, and the letter box of what is to be done about them."""

    def __init__(self, settings: ServerSettings, log: IO[str], clock: Callable[[], datetime]) -> None:
        self._settings, self._clock = settings, clock
        self._letters: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._redactors = CombinedRedactor()
        self._log = EventLog(log, self._redactors, clock)
        self._roster = ConfigurationFolder(settings.folder)
        self._alarms = ScheduleAlarms(partial(self._letters.put, lambda: None))
        self._duties: dict[str, ScheduledAudit] = {}
        self._children: dict[str, AuditProcess] = {}
        self._notifier = Notifier(self._hear_notified)
        self._ask_after: dict[str, float] = {}
        self._asked: dict[str, float] = {}
        self._seen = clock()
        self._complaints: dict[str, str] = {}
        self._settled = read_completed_times(settings.folder)
        self._state: Literal["running", "stopping", "stopped"] = "running"
        self._signals = 0
        self._started = format_event_time(clock())
        self._next_poll = monotonic()

    def ask_to_stop(self) -> None:
        """Let no audit start any more, and end; asked twice, end at once. A signal may call this."""
        self._letters.put(self._count_signal)

    def run(self) -> None:
        """Work until somebody asks to stop, then wait for the audits that run."""
        self._log.write("serve.started", folder=self._settings.folder, pid=os.getpid())
        self._alarms.start()
        try:
            while not self._signals:
                self._turn()
                self._dispatch()
        except BaseException as error:
            for child in self._children.values():  # an audit must not go on without its server
                child.kill()
            self._log.write("serve.failed", reason=f"{type(error).__name__}: {error}")
            raise
        finally:
            self._stop()

    def _count_signal(self) -> None:
        self._signals += 1

    def _turn(self) -> None:
        """Read one letter, or wait for one until the next look at the folder."""
        with suppress(Empty):
            self._letters.get(timeout=max(0.0, self._next_poll - monotonic()))()
        if monotonic() >= self._next_poll:
            self._poll()

    def _poll(self) -> None:
        self._next_poll = monotonic() + self._settings.poll_seconds
        if self._state == "running":
            self._update_configurations()
            self._ask_histories()
            self._alarms.refresh()
            self._end_overdue()
        self._write_health()

    def _update_configurations(self) -> None:
        try:
            changes = self._roster.update()
        except OSError as error:
            self._complain("folder.unreadable", str(error))
            return
        self._complaints.pop("folder.unreadable", None)
        for change in changes:
            self._apply(change)

    def _apply(self, change: ConfigurationChange) -> None:
        if change.plan is not None:
            self._redactors.add(change.plan.redactor)
        announcements.log_change(self._log, change)
        if change.plan is not None and change.kind in ("added", "changed"):
            self._take_up(change.plan)
        elif change.plan is not None and change.kind == "removed":
            self._duties[change.plan.name].retire()
            self._alarms.drop(change.plan.name)

    def _take_up(self, plan: Plan) -> None:
        duty = self._duties.get(plan.name)
        if duty is None:
            duty = ScheduledAudit.of(plan, self._clock(), self._settled.get(plan.name))
            self._duties[plan.name] = duty
        else:
            announcements.log_missed(self._log, duty, duty.change(plan))
        self._alarms.set(plan.name, duty.schedule)
        announcements.log_next_run(self._log, duty, self._clock())

    def _ask_histories(self) -> None:
        for name, duty in self._duties.items():
            is_due = monotonic() >= self._ask_after.get(name, 0.0)
            is_silent = monotonic() - self._asked.get(name, math.inf) > _ASK_AGAIN_SECONDS
            if is_silent and duty.position is None:
                self._complain("history.unreadable", "It gives no answer.", audit=name)
                duty.go_without_history()
            if duty.is_listed and not duty.is_recalled and is_due:
                self._ask_after[name], self._asked[name] = math.inf, monotonic()
                # A database may take minutes to answer, and must not keep the others waiting.
                Thread(target=self._ask_history, args=(duty,), daemon=True, name=f"history {name}").start()

    def _ask_history(self, duty: ScheduledAudit) -> None:
        """In a thread of its own: what it finds, or why it cannot, goes into the letter box."""
        try:
            recorded = read_recorded_times(duty.plan)
        except Exception as error:  # a driver of a database may raise anything
            self._letters.put(partial(self._miss_history, duty, describe_error(error)))
        else:
            self._letters.put(partial(duty.recall, recorded))

    def _miss_history(self, duty: ScheduledAudit, reason: str) -> None:
        self._ask_after[duty.plan.name] = monotonic() + _ASK_AGAIN_SECONDS
        self._complain("history.unreadable", reason, audit=duty.plan.name)
        duty.go_without_history()

    def _dispatch(self) -> None:
        """Decide what is due, and start what there is room for: who has run longest ago comes first."""
        if self._signals:
            return
        now = self._clock()
        self._watch_clock(now)
        for duty in self._duties.values():
            decision = duty.look(now, self._settings.punctual)
            if decision is not None:
                announcements.log_decision(self._log, duty, decision)
                self._miss_left_out(duty, decision.left_out)
            self._check_owed(duty)
        ready = [duty for duty in self._duties.values() if duty.is_ready(monotonic())]
        ready.sort(key=lambda duty: duty.last.last_started or "")
        for duty in ready[: max(0, self._settings.workers - len(self._children))]:
            self._start(duty)

    def _watch_clock(self, now: datetime) -> None:
        """Begin again from now if the clock was put back: what was planned by a wrong clock lies ahead."""
        before, self._seen = self._seen, now
        if before - now <= self._settings.punctual:
            return
        self._log.write("clock.put_back", before=format_event_time(before), now=format_event_time(now))
        for name, duty in self._duties.items():
            duty.go_back(now)
            if duty.is_listed:
                self._alarms.set(name, duty.schedule)

    def _check_owed(self, duty: ScheduledAudit) -> None:
        """Notify people of a run that was given up for a later one, and of one that is owed for too long."""
        superseded = duty.drop_superseded()
        if superseded is not None:
            self._miss(
                duty, superseded, f"It ended with: {duty.last.last_status}. A later run is due by now."
            )
        seconds = self._settings.notify_seconds
        late = duty.find_late(monotonic(), seconds)
        if late is not None:
            self._notify(duty, late, f"There is no result after {format_duration(seconds)}.")

    def _miss_left_out(self, duty: ScheduledAudit, times: tuple[datetime, ...]) -> None:
        """Notify people of times that the policy leaves out because no server was there to run them."""
        missed = duty.find_unattended(times)
        if missed:
            policy = duty.plan.audit.schedule.catch_up
            since = (
                f"{format_counted(len(missed), 'run')} of the schedule since {duty.render_local(missed[0])}"
            )
            why = f'No server started {since}, and `audit.schedule.catch_up = "{policy}"` leaves them out.'
            self._miss(duty, missed[-1], why)

    def _miss(self, duty: ScheduledAudit, moment: datetime, why: str) -> None:
        """Give up a time of the schedule; people are notified once."""
        if duty.miss(moment):
            self._notify(duty, moment, why)

    def _notify(self, duty: ScheduledAudit, moment: datetime, why: str) -> None:
        reason = f"The audit of {duty.render_local(moment)} did not happen. {why}"
        announcements.log_absence(self._log, duty, moment, reason)
        if wants_failure_notifications(duty.plan):
            self._notifier.send(duty.plan, moment, reason)

    def _hear_notified(self, plan: Plan, reason: str, problems: list[str]) -> None:
        """In the thread that sent a notification."""
        self._letters.put(partial(announcements.log_notification, self._log, plan.name, reason, problems))

    def _start(self, duty: ScheduledAudit) -> None:
        as_of = duty.render_local(duty.start(self._clock()))
        command = [*self._settings.start_command, str(duty.plan.path), "--as-of", as_of]
        try:
            child = AuditProcess(
                command,
                lambda ending: self._letters.put(partial(self._hear_end, duty, ending)),
                lambda line: self._letters.put(partial(announcements.log_progress, self._log, duty, line)),
            )
        except OSError as error:
            self._hear_end(duty, ProcessEnd(exit_code=None, seconds=0.0, last_line=str(error)))
            return
        self._children[duty.plan.name] = child
        announcements.log_start(self._log, duty, child.pid)
        self._write_health()

    def _end_overdue(self) -> None:
        """End audits that hang: the next run of their model, and those of others, wait for them."""
        for name, child in self._children.items():
            overdue = child.seconds - self._settings.longest_seconds
            if overdue > _ENDING_SECONDS:
                child.kill()
            elif overdue > 0:
                reason = f"process {child.pid} ran for more than {self._settings.longest_seconds:g} seconds"
                self._complain("audit.overdue", reason, audit=name)
                child.ask_to_end()

    def _hear_end(self, duty: ScheduledAudit, ending: ProcessEnd) -> None:
        self._children.pop(duty.plan.name, None)
        ending = replace(ending, last_line=self._redactors.redact(ending.last_line))
        moment = duty.running
        duty.finish(self._clock(), ending)
        announcements.log_end(self._log, duty, ending)
        if moment is not None and not ending.is_settled and duty.is_listed and self._state == "running":
            self._try_again(duty, moment, ending)
        if duty.is_listed and self._state == "running":
            announcements.log_next_run(self._log, duty, self._clock())
        self._write_health()

    def _try_again(self, duty: ScheduledAudit, moment: datetime, ending: ProcessEnd) -> None:
        """Plan another attempt at a run that came to no result, or give it up and notify people."""
        delays = self._settings.retry_seconds
        if duty.failures <= len(delays):
            seconds = delays[duty.failures - 1]
            duty.try_again(moment, monotonic() + seconds)
            announcements.log_retry(self._log, duty, moment, seconds)
            return
        attempts, duty.failures = format_counted(duty.failures, "attempt"), 0
        last = f" Its last line: {ending.last_line}" if ending.last_line else ""
        self._miss(
            duty, moment, f"Given up after {attempts}; the last one ended with: {ending.status}.{last}"
        )

    def _stop(self) -> None:
        """Wait for the audits that run, ask them to end, kill them."""
        self._state = "stopping"
        self._alarms.stop()
        waiting = sum(len(duty.waiting) for duty in self._duties.values())
        self._write_health()
        self._log.write("serve.stopping", running=sorted(self._children), waiting=waiting)
        self._wait(self._settings.grace_seconds)
        for child in self._children.values():
            child.ask_to_end()
        self._wait(_HURRIED_SECONDS if self._signals > 1 else _ENDING_SECONDS)
        for child in self._children.values():
            child.kill()
        self._wait(_KILLED_SECONDS)
        self._notifier.wait(_HURRIED_SECONDS if self._signals > 1 else _ENDING_SECONDS)
        while not self._letters.empty():
            self._letters.get()()
        self._state = "stopped"
        self._write_health()
        self._log.write("serve.stopped")

    def _wait(self, seconds: float) -> None:
        """Wait for the audits that run, so long at most, or until one more signal comes."""
        end, signals = monotonic() + seconds, self._signals
        while self._children and monotonic() < end and self._signals == signals:
            self._next_poll = min(self._next_poll, end)
            self._turn()

    def _write_health(self) -> None:
        now = self._clock()
        duties = [duty for duty in self._duties.values() if duty.is_listed or duty.running]
        health = Health(
            state=self._state,
            pid=os.getpid(),
            started=self._started,
            updated=format_event_time(now),
            poll_seconds=self._settings.poll_seconds,
            audits=tuple(duty.describe_health(now) for duty in duties),
            refused=tuple(
                RefusedConfiguration(config=path.name, reason=self._redactors.redact(reason))
                for path, reason in self._roster.refused.items()
            ),
        )
        try:
            write_health(self._settings.folder, health)
        except OSError as error:
            self._complain("health.unwritable", str(error))
        else:
            self._complaints.pop("health.unwritable", None)

    def _complain(self, event: str, reason: str, **fields: str) -> None:
        """Tell of a problem once, and not at every look."""
        key = " ".join((event, *fields.values()))
        if self._complaints.get(key) != reason:
            self._complaints[key] = reason
            self._log.write(event, reason=reason, **fields)
