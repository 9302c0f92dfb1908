"""The fields of a schedule: minutes, hours, days, months and weekdays."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from scorereport._utils.clock import timestamp

if TYPE_CHECKING:
    from cronsim import CronSim

    from scorereport.configuration.schedules import Schedule


def parse_schedule_fields(schedule: Schedule) -> CronSim:
    """The fields, as sets of numbers."""
    from cronsim import CronSim

    return CronSim(schedule.cron, datetime.fromisoformat(timestamp()))
