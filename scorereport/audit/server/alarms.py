"""Alarms at the times of schedules: the one place that knows APScheduler.

Its own cron trigger is not used: it counts the days of the week from Monday as 0 where cron has Sunday, and
it has its own mind about the nights in which clocks change.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from scorereport.audit.server.due_times import ScheduleTimes


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
