"""Due times of schedules: which times to run now, and the alarms that wake the server at the next ones.

All moments are in UTC. Python compares moments of one zone by what the wall clock shows, which would take the
two half past two of an autumn night for one.

Its own cron trigger is not used: it counts the days of the week from Monday as 0 where cron has Sunday, and
it has its own mind about the nights in which clocks change.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Protocol

from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


#: No more missed audits than this are caught up: more than a year of daily ones.
MAX_CAUGHT_UP = 400
#: Who looks so much later than a time of the schedule is still in time.
PUNCTUAL_WITHIN = timedelta(seconds=60)
#: How many times are remembered as decided, in case the clock is put back.
_MAX_REMEMBERED = 1_000


class ScheduleTimes(Protocol):
    """A schedule, as far as it matters here."""

    def next_after(self, moment: datetime) -> datetime:
        """The first time after a moment."""
        ...

    def times_between(self, after: datetime, until: datetime) -> Sequence[datetime]:
        """All times after one moment up to and including another, oldest first."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulePosition:
    """How far an audit has come: the moment of the last look, and times that were run or are to be run.

    Times that were left out are not remembered: if the clock was wrong, they may still be ahead.
    """

    looked: datetime
    decided: frozenset[datetime] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class CatchUpDecision:
    """What to do about the times since the last look, all of them oldest first.

    `late` are those to be run that were missed; `left_out` those that the policy lets go. `is_cut` says that
    there were still older ones than these, which nobody counted.
    """

    position: SchedulePosition
    run: tuple[datetime, ...] = ()
    late: tuple[datetime, ...] = ()
    left_out: tuple[datetime, ...] = ()
    is_cut: bool = False


def start_position(schedule: ScheduleTimes, now: datetime, done: Iterable[datetime]) -> SchedulePosition:
    """Where an audit stands of which these times are done; at this moment if there are none.

    What somebody ran by hand, at a time that is not of the schedule, does not make up for times that were
    missed before it; it only sets a beginning where there is no other. Times that lie ahead are of a clock
    that was put back, or of an audit of the future; they set no beginning, and are not run again.
    """
    moments = {moment.astimezone(UTC) for moment in done}
    decided = frozenset(moment for moment in moments if _is_scheduled(schedule, moment))
    past = [moment for moment in decided if moment <= now] or [m for m in moments if m <= now]
    return SchedulePosition(looked=max(past, default=now), decided=decided)


def _is_scheduled(schedule: ScheduleTimes, moment: datetime) -> bool:
    return moment in _to_utc(schedule.times_between(moment - timedelta(seconds=1), moment))


def decide_runs(
    schedule: ScheduleTimes,
    policy: str,
    position: SchedulePosition,
    now: datetime,
    punctual: timedelta = PUNCTUAL_WITHIN,
) -> CatchUpDecision:
    """What to run of the times up to now, by the policy `latest`, `all` or `none` for those that were missed.

    A time is missed if more than `punctual` has passed since. No time is run twice, wherever the clock jumps:
    if it is put back, the next time after the new now that was not run yet is the next to be run.
    """
    now = now.astimezone(UTC)
    start = max([min(position.looked, now), *(moment for moment in position.decided if moment <= now)])
    times, is_cut = _find_last_times(schedule, start, now)
    run = _choose_times(times, policy, now - punctual)
    return CatchUpDecision(
        position=SchedulePosition(looked=now, decided=_remember(position.decided, run)),
        run=run,
        late=tuple(moment for moment in run if moment < now - punctual),
        left_out=times[: len(times) - len(run)],
        is_cut=is_cut,
    )


def find_next_run(schedule: ScheduleTimes, position: SchedulePosition, now: datetime) -> datetime:
    """The next time that will be run."""
    moment = schedule.next_after(now).astimezone(UTC)
    while moment in position.decided:
        moment = schedule.next_after(moment).astimezone(UTC)
    return moment


def apply_policy(waiting: Sequence[datetime], policy: str) -> tuple[datetime, ...]:
    """What still waits once the policy is another one."""
    return tuple({"all": waiting, "latest": waiting[-1:], "none": ()}[policy])


def _choose_times(times: tuple[datetime, ...], policy: str, punctual_since: datetime) -> tuple[datetime, ...]:
    if policy == "all":
        return times[-MAX_CAUGHT_UP:]
    is_missed = bool(times) and times[-1] < punctual_since
    return () if policy == "none" and is_missed else times[-1:]


def _find_last_times(
    schedule: ScheduleTimes, start: datetime, end: datetime
) -> tuple[tuple[datetime, ...], bool]:
    """Times from the end backwards until there are enough of them: years of minutes need not be counted."""
    span = timedelta(days=1)
    while span < end - start:
        times = schedule.times_between(end - span, end)
        if len(times) > MAX_CAUGHT_UP:
            return _to_utc(times), True
        span *= 4
    return _to_utc(schedule.times_between(start, end)), False


def _to_utc(times: Iterable[datetime]) -> tuple[datetime, ...]:
    return tuple(moment.astimezone(UTC) for moment in times)


def _remember(decided: frozenset[datetime], times: Iterable[datetime]) -> frozenset[datetime]:
    together = decided.union(times)
    if len(together) <= _MAX_REMEMBERED:
        return together
    return frozenset(sorted(together)[-_MAX_REMEMBERED:])


class ScheduleTrigger:
    """Tells APScheduler the next time of a schedule; which times to run is decided elsewhere."""

    def __init__(self, schedule: ScheduleTimes) -> None:
        self._schedule = schedule

    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime:
        """The first time after now, and after that of the last alarm."""
        moments = [moment.astimezone(UTC) for moment in (previous_fire_time, now) if moment is not None]
        return self._schedule.next_after(max(moments)).astimezone(UTC)


class ScheduleAlarms:
    """One job for each audit, which does no more than wake the server up."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._scheduler = _make_scheduler()

    def start(self) -> None:
        """Begin to watch the clock."""
        self._scheduler.start()

    def set(self, name: str, schedule: ScheduleTimes) -> None:
        """Wake the server at the times of a schedule, which replaces that which the audit had."""
        self._scheduler.add_job(
            self._wake,
            ScheduleTrigger(schedule),
            id=name,
            replace_existing=True,
            max_instances=1,
            coalesce=True,
            misfire_grace_time=None,
        )

    def drop(self, name: str) -> None:
        """No alarms for this audit any more."""
        if self._scheduler.get_job(name) is not None:
            self._scheduler.remove_job(name)

    def refresh(self) -> None:
        """Look at the clock anew: it may have been set, or the machine may have slept."""
        self._scheduler.wakeup()

    def stop(self) -> None:
        """No alarms at all any more."""
        self._scheduler.shutdown(wait=False)


def _make_scheduler() -> Any:
    try:
        from apscheduler.executors.debug import DebugExecutor
        from apscheduler.schedulers.background import BackgroundScheduler
        from apscheduler.triggers.base import BaseTrigger
    except ImportError as error:
        raise UsageError(
            "`audit serve` needs APScheduler, which is not installed: "
            'pip install "scorereport[serve]". Without it, `audit units` prints a timer for systemd or cron.'
        ) from error
    BaseTrigger.register(ScheduleTrigger)
    log = logging.getLogger("apscheduler")
    log.addHandler(logging.NullHandler())  # standard error is for events, one line of JSON each
    log.propagate = False
    # To wake up is the work of a moment, so it needs no thread beside that of the clock.
    return BackgroundScheduler(timezone=UTC, executors={"default": DebugExecutor()})
