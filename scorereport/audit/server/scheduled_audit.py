"""State of a scheduled audit in the server: waiting, running and last runs, without processes or files."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from scorereport.audit.plan import Plan
from scorereport.audit.server.due_times import (
    CatchUpDecision,
    SchedulePosition,
    apply_policy,
    decide_runs,
    find_next_run,
    start_position,
)
from scorereport.audit.server.event_log import format_event_time
from scorereport.audit.server.health import AuditHealth
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scorereport.audit.server.audit_process import ProcessEnd
    from scorereport.audit.server.orphan_process import Orphan
    from scorereport.configuration.schedules import Schedule


@dataclass(slots=True, kw_only=True, eq=False)
class ScheduledAudit:
    """An audit that runs on a schedule, one run at a time.

    It has no position, and decides about no times, until its history was read. It outlives its configuration,
    so that a file that is removed and restored starts nothing twice. A run without a result is tried again
    (`retry`) once the monotonic clock has reached `retry_after`.
    """

    plan: Plan
    since: datetime
    completed: datetime | None = None
    position: SchedulePosition | None = None
    waiting: deque[datetime] = field(default_factory=deque)
    running: datetime | None = None
    is_listed: bool = True
    has_history: bool = False
    retry: datetime | None = None
    retry_after: float = 0.0
    failures: int = 0
    last_run: tuple[datetime, datetime] | None = None
    last: AuditHealth
    _due: datetime | None = None
    _due_since: float = 0.0
    _is_notified: bool = False

    @classmethod
    def of(cls, plan: Plan, now: datetime, completed: datetime | None = None) -> ScheduledAudit:
        """Return the initial state of a plan; `completed` is its last scheduled time with a result."""
        last = AuditHealth(name=plan.name, config=plan.path.name, settled=_format_optional_time(completed))
        return cls(plan=plan, since=now, completed=completed, last=last)

    @property
    def schedule(self) -> Schedule:
        """The schedule of the audit."""
        if self.plan.schedule is None:
            raise UsageError(f"`audit.schedule.cron` is missing in {self.plan.path.name}.")
        return self.plan.schedule

    def change(self, plan: Plan) -> tuple[datetime, ...]:
        """Use another version of the configuration; return waiting times that its policy drops."""
        kept = apply_policy(tuple(self.waiting), plan.audit.schedule.catch_up)
        dropped = tuple(moment for moment in self.waiting if moment not in kept)
        self.plan, self.waiting, self.is_listed = plan, deque(kept), True
        self.retry_after = 0.0  # the change may fix the failure
        self.last = replace(self.last, config=plan.path.name)
        return dropped

    def retire(self) -> None:
        """Start no more runs, because the configuration was removed; a present run goes on."""
        self.waiting.clear()
        self.retry = None
        self.is_listed = False

    def resume(self, recorded: Iterable[datetime]) -> None:
        """Continue after the times that the history has, and those run before the history could be read."""
        own = (self.completed, self.running)  # the latter of an earlier server, before the history is read
        done = {*recorded, *(moment for moment in own if moment is not None)}
        start = start_position(self.schedule, self.since, done)
        ran = frozenset() if self.position is None else self.position.decided
        self.position = replace(start, decided=start.decided | ran)
        self.has_history = True

    def start_without_history(self) -> None:
        """Start now, because the history cannot be read; the server tries to read it again."""
        if self.position is None:
            self.position = start_position(self.schedule, self.since, [])

    def decide(self, now: datetime, punctual: timedelta) -> CatchUpDecision | None:
        """Decide about the times since the last check, unless a run is in progress or waits."""
        if self.position is None or self.running or self.waiting or not self.is_listed:
            return None
        decision = decide_runs(self.schedule, self.plan.audit.schedule.catch_up, self.position, now, punctual)
        self.position = decision.position
        self.waiting.extend(decision.run)
        return decision

    @property
    def next_due(self) -> datetime | None:
        """The scheduled time that is run now or is to be run first."""
        return self.running or self.retry or (self.waiting[0] if self.waiting else None)

    def is_ready(self, tick: float) -> bool:
        """Whether a run may start at this moment of the monotonic clock."""
        if self.running is not None:
            return False
        return bool(self.waiting) if self.retry is None else tick >= self.retry_after

    def start(self, now: datetime) -> datetime:
        """Start the run that is to be tried again, or else the first waiting one; return its time."""
        if self.retry is None:
            self.running, self.failures = self.waiting.popleft(), 0
        else:
            self.running, self.retry = self.retry, None
        self.last_run = now, now
        self.last = replace(
            self.last, last_as_of=self.format_local(self.running), last_started=_format_optional_time(now)
        )
        return self.running

    def adopt(self, orphan: Orphan, now: datetime) -> None:
        """Take over a run that an earlier server started."""
        self.running, self.failures, self.last_run = orphan.moment, orphan.failures, (now, now)
        as_of = self.format_local(orphan.moment)
        self.last = replace(self.last, last_as_of=as_of, last_started=orphan.started)

    def schedule_retry(self, moment: datetime, tick: float) -> None:
        """Run a scheduled time again, not before this moment of the monotonic clock."""
        self.retry, self.retry_after = moment, tick

    def drop_superseded(self) -> datetime | None:
        """Give up a retry if a later run waits, unless the policy is to run all times; return its time."""
        if self.retry is None or not self.waiting or self.plan.audit.schedule.catch_up == "all":
            return None
        moment, self.retry, self.failures = self.retry, None, 0
        return moment

    def find_late(self, tick: float, seconds: float) -> datetime | None:
        """Return the time that has been due for longer than `seconds`, if people were not notified yet."""
        if self.next_due != self._due:
            self._due, self._due_since, self._is_notified = self.next_due, tick, False
        if self._due is None or tick - self._due_since <= seconds:
            return None
        return self._due if self.note_missed(self._due) else None

    def note_missed(self, moment: datetime) -> bool:
        """Note that a scheduled time has no result; return whether people are to be notified of it."""
        is_due = moment == self._due
        is_new = not (is_due and self._is_notified)
        self._is_notified = self._is_notified or is_due
        self.last = replace(self.last, missed=self.format_local(moment))
        return is_new

    def find_unattended(self, times: Iterable[datetime]) -> list[datetime]:
        """Return the times outside of the last run; during a run, the server does not decide about times."""
        start, end = self.last_run or (None, None)
        return [time for time in times if start is None or end is None or not start <= time <= end]

    def set_clock_back(self, now: datetime) -> None:
        """Drop times in the future after the clock was put back; they are decided again when they are due."""
        ahead = {time for time in (*self.waiting, self.retry) if time is not None and time > now}
        self.waiting = deque(time for time in self.waiting if time not in ahead)
        if self.retry in ahead:
            self.retry, self.failures = None, 0
        if self.position is not None:
            checked = min(self.position.checked, now.astimezone(UTC))
            self.position = SchedulePosition(checked=checked, decided=self.position.decided - ahead)
        if self.completed is not None and self.completed > now:
            self.completed = None

    def finish(self, now: datetime, ending: ProcessEnd) -> None:
        """Record how the run ended."""
        if ending.has_result and self.running is not None:
            self.completed = max(self.completed or self.running, self.running)
        self.failures = 0 if ending.has_result else self.failures + 1
        self.running = None
        self.last_run = (now if self.last_run is None else self.last_run[0]), now
        self.last = replace(
            self.last,
            last_finished=_format_optional_time(now),
            last_exit_code=ending.exit_code,
            last_status=ending.status,
            last_error="" if ending.exit_code == 0 else ending.last_line,
            settled=_format_optional_time(self.completed),
        )

    def find_next(self, now: datetime) -> datetime:
        """Return the next time of the schedule."""
        return find_next_run(self.schedule, self.position or SchedulePosition(checked=now), now)

    def describe_health(self, now: datetime) -> AuditHealth:
        """Return the state of the audit for the health file."""
        return replace(
            self.last,
            next_run=self.format_local(self.find_next(now)),
            waiting=len(self.waiting) + (self.retry is not None),
            failures=self.failures,
            running=None if self.running is None else self.format_local(self.running),
        )

    def format_local(self, moment: datetime) -> str:
        """Format a moment in the time zone of the audit, with the offset to UTC."""
        return moment.astimezone(self.plan.zone).isoformat(timespec="seconds")


def _format_optional_time(moment: datetime | None) -> str | None:
    return None if moment is None else format_event_time(moment.astimezone(UTC))
