"""Due times of schedules: which times to run now, and the alarms that wake the server at the next ones.

All moments are in UTC. Python compares moments of one zone by their local time, so that the two moments at
half past two of an autumn night would be equal.

The cron trigger of APScheduler is not used: it counts the days of the week from Monday as 0, cron from
Sunday, and it differs from cron in the nights in which clocks change.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Protocol

from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


#: The largest number of missed audits that are caught up: more than a year of daily ones.
MAX_CAUGHT_UP = 400
#: A run that starts up to this much after its scheduled time is punctual.
PUNCTUAL_WITHIN = timedelta(seconds=60)
#: How many decided times are kept, in case the clock is put back.
_MAX_REMEMBERED = 1_000


class ScheduleTimes(Protocol):
    """The methods of a schedule that this module needs."""

    def next_after(self, moment: datetime) -> datetime:
        """Return the first time after a moment."""
        ...

    def times_between(self, after: datetime, until: datetime) -> Sequence[datetime]:
        """Return all times after one moment up to and including another, oldest first."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulePosition:
    """Position of an audit in its schedule: the moment of the last check, and times run or to be run.

    Times that were left out are not kept: if the clock was wrong, they may still be ahead.
    """

    checked: datetime
    decided: frozenset[datetime] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class CatchUpDecision:
    """Which of the scheduled times since the last check to run, all of them oldest first.

    `late` are times to be run that were missed; `left_out` those that the policy leaves out. With `is_cut`,
    there are even older times, which were not counted.
    """

    position: SchedulePosition
    run: tuple[datetime, ...] = ()
    late: tuple[datetime, ...] = ()
    left_out: tuple[datetime, ...] = ()
    is_cut: bool = False


def start_position(schedule: ScheduleTimes, now: datetime, done: Iterable[datetime]) -> SchedulePosition:
    """Return the position of an audit with these completed times; without any, it starts now.

    A run that somebody started by hand, at a moment that is not in the schedule, does not replace scheduled
    times that were missed before it; it only sets the start if there is no other. Completed times in the
    future are due to a clock that was put back, or to an audit of a future period; they do not set the
    start, and are not run again.
    """
    moments = {moment.astimezone(UTC) for moment in done}
    decided = frozenset(moment for moment in moments if _is_scheduled(schedule, moment))
    past = [moment for moment in decided if moment <= now] or [m for m in moments if m <= now]
    return SchedulePosition(checked=max(past, default=now), decided=decided)


def _is_scheduled(schedule: ScheduleTimes, moment: datetime) -> bool:
    return moment in _to_utc(schedule.times_between(moment - timedelta(seconds=1), moment))


def decide_runs(
    schedule: ScheduleTimes,
    policy: str,
    position: SchedulePosition,
    now: datetime,
    punctual: timedelta = PUNCTUAL_WITHIN,
) -> CatchUpDecision:
    """Decide which times up to now to run; the policy for missed times is `latest`, `all` or `none`.

    A time is missed if more than `punctual` has passed since. No time is run twice, even if the clock jumps:
    if it is put back, the next run is the first time after the new present that was not run yet.
    """
    now = now.astimezone(UTC)
    start = max([min(position.checked, now), *(moment for moment in position.decided if moment <= now)])
    times, is_cut = _find_last_times(schedule, start, now)
    run = _choose_times(times, policy, now - punctual)
    return CatchUpDecision(
        position=SchedulePosition(checked=now, decided=_remember(position.decided, run)),
        run=run,
        late=tuple(moment for moment in run if moment < now - punctual),
        left_out=times[: len(times) - len(run)],
        is_cut=is_cut,
    )


def find_next_run(schedule: ScheduleTimes, position: SchedulePosition, now: datetime) -> datetime:
    """Return the next time that will be run."""
    moment = schedule.next_after(now).astimezone(UTC)
    while moment in position.decided:
        moment = schedule.next_after(moment).astimezone(UTC)
    return moment


def apply_policy(waiting: Sequence[datetime], policy: str) -> tuple[datetime, ...]:
    """Return the waiting times that a changed policy keeps."""
    return tuple({"all": waiting, "latest": waiting[-1:], "none": ()}[policy])


def _choose_times(times: tuple[datetime, ...], policy: str, punctual_since: datetime) -> tuple[datetime, ...]:
    if policy == "all":
        return times[-MAX_CAUGHT_UP:]
    is_missed = bool(times) and times[-1] < punctual_since
    return () if policy == "none" and is_missed else times[-1:]


def _find_last_times(
    schedule: ScheduleTimes, start: datetime, end: datetime
) -> tuple[tuple[datetime, ...], bool]:
    """Return the last times, and whether older ones were left out; years of minutes are not all listed."""
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
    """Trigger of APScheduler at the times of a schedule; `decide_runs` decides which of them to run."""

    def __init__(self, schedule: ScheduleTimes) -> None:
        self._schedule = schedule

    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime:
        """Return the first time that is after now and after the previous alarm."""
        moments = [moment.astimezone(UTC) for moment in (previous_fire_time, now) if moment is not None]
        return self._schedule.next_after(max(moments)).astimezone(UTC)


class ScheduleAlarms:
    """Alarms of APScheduler, one job for each audit; a job only wakes the server up."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._scheduler = _make_scheduler()

    def start(self) -> None:
        """Start the alarms."""
        self._scheduler.start()

    def set(self, name: str, schedule: ScheduleTimes) -> None:
        """Wake the server at the times of a schedule, which replaces the earlier one of the audit."""
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
        """Remove the alarms of an audit."""
        if self._scheduler.get_job(name) is not None:
            self._scheduler.remove_job(name)

    def refresh(self) -> None:
        """Read the clock again: it may have been set, or the machine may have slept."""
        self._scheduler.wakeup()

    def stop(self) -> None:
        """Stop all alarms."""
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
    # A job takes no time, so it runs in the thread of the scheduler.
    return BackgroundScheduler(timezone=UTC, executors={"default": DebugExecutor()})
