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
    from scorereport.configuration.schedules import Schedule


@dataclass(slots=True, kw_only=True, eq=False)
class ScheduledAudit:
    """An audit that runs by a schedule, one run at a time.

    It has no position until its history was asked, and looks at no time before. It outlives its
    configuration, so that a file which goes and comes back starts nothing twice. A run that came to no result
    is tried again (`retry`) once the monotonic clock has reached `retry_after`.
    """

    plan: Plan
    since: datetime
    settled: datetime | None = None
    position: SchedulePosition | None = None
    waiting: deque[datetime] = field(default_factory=deque)
    running: datetime | None = None
    is_listed: bool = True
    is_recalled: bool = False
    retry: datetime | None = None
    retry_after: float = 0.0
    failures: int = 0
    last_run: tuple[datetime, datetime] | None = None
    last: AuditHealth
    _owed: datetime | None = None
    _owed_since: float = 0.0
    _is_notified: bool = False

    @classmethod
    def of(cls, plan: Plan, now: datetime, settled: datetime | None = None) -> ScheduledAudit:
        """The duty of a plan that is new."""
        last = AuditHealth(name=plan.name, config=plan.path.name, settled=_format_optional_time(settled))
        return cls(plan=plan, since=now, settled=settled, last=last)

    @property
    def schedule(self) -> Schedule:
        """When it runs."""
        if self.plan.schedule is None:
            raise UsageError(f"`audit.schedule.cron` is missing in {self.plan.path.name}.")
        return self.plan.schedule

    def change(self, plan: Plan) -> tuple[datetime, ...]:
        """Go by another version of the configuration; gives what waits no longer by its policy."""
        kept = apply_policy(tuple(self.waiting), plan.audit.schedule.catch_up)
        dropped = tuple(moment for moment in self.waiting if moment not in kept)
        self.plan, self.waiting, self.is_listed = plan, deque(kept), True
        self.retry_after = 0.0  # the change may be what a run that failed was waiting for
        self.last = replace(self.last, config=plan.path.name)
        return dropped

    def retire(self) -> None:
        """Run no more, for there is no configuration; a run that is under way goes on."""
        self.waiting.clear()
        self.retry = None
        self.is_listed = False

    def recall(self, recorded: Iterable[datetime]) -> None:
        """Begin where the history ends; if others were run before it could be read, with them."""
        done = {*recorded, *([] if self.settled is None else [self.settled])}
        start = start_position(self.schedule, self.since, done)
        ran = frozenset() if self.position is None else self.position.decided
        self.position = replace(start, decided=start.decided | ran)
        self.is_recalled = True

    def go_without_history(self) -> None:
        """Begin now, for the history cannot be read; it will be asked again."""
        if self.position is None:
            self.position = start_position(self.schedule, self.since, [])

    def look(self, now: datetime, punctual: timedelta) -> CatchUpDecision | None:
        """Decide about the times since the last look, unless a run is under way or waits."""
        if self.position is None or self.running or self.waiting or not self.is_listed:
            return None
        decision = decide_runs(self.schedule, self.plan.audit.schedule.catch_up, self.position, now, punctual)
        self.position = decision.position
        self.waiting.extend(decision.run)
        return decision

    @property
    def head(self) -> datetime | None:
        """The time of the schedule that is to be run before all others."""
        return self.running or self.retry or (self.waiting[0] if self.waiting else None)

    def is_ready(self, tick: float) -> bool:
        """Whether a run may start at this moment of the monotonic clock."""
        if self.running is not None:
            return False
        return bool(self.waiting) if self.retry is None else tick >= self.retry_after

    def start(self, now: datetime) -> datetime:
        """Take the run that is to be tried again, or else the first of those that wait."""
        if self.retry is None:
            self.running, self.failures = self.waiting.popleft(), 0
        else:
            self.running, self.retry = self.retry, None
        self.last_run = now, now
        self.last = replace(
            self.last, last_as_of=self.render_local(self.running), last_started=_format_optional_time(now)
        )
        return self.running

    def try_again(self, moment: datetime, tick: float) -> None:
        """Run a time of the schedule again, not before this moment of the monotonic clock."""
        self.retry, self.retry_after = moment, tick

    def drop_superseded(self) -> datetime | None:
        """Give up what is to be tried again if a later run waits, unless the policy wants all of them."""
        if self.retry is None or not self.waiting or self.plan.audit.schedule.catch_up == "all":
            return None
        moment, self.retry, self.failures = self.retry, None, 0
        return moment

    def find_late(self, tick: float, patience: float) -> datetime | None:
        """The time that has been owed for longer than `patience` seconds, if nobody was notified yet."""
        if self.head != self._owed:
            self._owed, self._owed_since, self._is_notified = self.head, tick, False
        if self._owed is None or tick - self._owed_since <= patience:
            return None
        return self._owed if self.miss(self._owed) else None

    def miss(self, moment: datetime) -> bool:
        """Note that a time of the schedule has no result; whether nobody was notified of it yet."""
        is_owed = moment == self._owed
        is_new = not (is_owed and self._is_notified)
        self._is_notified = self._is_notified or is_owed
        self.last = replace(self.last, missed=self.render_local(moment))
        return is_new

    def find_unattended(self, times: Iterable[datetime]) -> list[datetime]:
        """Those of the times that did not fall into the last run, which kept them from being looked at."""
        start, end = self.last_run or (None, None)
        return [time for time in times if start is None or end is None or not start <= time <= end]

    def go_back(self, now: datetime) -> None:
        """Forget what is ahead after the clock was put back; it is decided again when its time comes."""
        ahead = {time for time in (*self.waiting, self.retry) if time is not None and time > now}
        self.waiting = deque(time for time in self.waiting if time not in ahead)
        if self.retry in ahead:
            self.retry, self.failures = None, 0
        if self.position is not None:
            looked = min(self.position.looked, now.astimezone(UTC))
            self.position = SchedulePosition(looked=looked, decided=self.position.decided - ahead)
        if self.settled is not None and self.settled > now:
            self.settled = None

    def finish(self, now: datetime, ending: ProcessEnd) -> None:
        """Keep how the run ended."""
        if ending.is_settled and self.running is not None:
            self.settled = max(self.settled or self.running, self.running)
        self.failures = 0 if ending.is_settled else self.failures + 1
        self.running = None
        self.last_run = (now if self.last_run is None else self.last_run[0]), now
        self.last = replace(
            self.last,
            last_finished=_format_optional_time(now),
            last_exit_code=ending.exit_code,
            last_status=ending.status,
            last_error="" if ending.exit_code == 0 else ending.last_line,
            settled=_format_optional_time(self.settled),
        )

    def find_next(self, now: datetime) -> datetime:
        """The next time by the schedule."""
        return find_next_run(self.schedule, self.position or SchedulePosition(looked=now), now)

    def describe_health(self, now: datetime) -> AuditHealth:
        """The audit, for the health file."""
        return replace(
            self.last,
            next_run=self.render_local(self.find_next(now)),
            waiting=len(self.waiting) + (self.retry is not None),
            failures=self.failures,
            running=None if self.running is None else self.render_local(self.running),
        )

    def render_local(self, moment: datetime) -> str:
        """A moment as the audit is told of it: in its time zone, with the distance to UTC."""
        return moment.astimezone(self.plan.zone).isoformat(timespec="seconds")


def _format_optional_time(moment: datetime | None) -> str | None:
    return None if moment is None else format_event_time(moment.astimezone(UTC))
