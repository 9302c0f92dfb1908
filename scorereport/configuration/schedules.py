"""The schedule of audits: a cron expression in a time zone, across changes of daylight saving time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from itertools import islice, takewhile
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, available_timezones

from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cronsim import CronSim

_FIELDS = "minute, hour, day of month, month and day of week"
#: The largest number of runs in a year that is counted.
MOST_RUNS = 10_000
_YEAR = timedelta(days=365)


@dataclass(frozen=True, slots=True)
class Schedule:
    """A cron expression of five fields, and the time zone of its times.

    It follows the cron of Debian: a time that clocks skip in spring runs right after the change, a time that
    they show twice in autumn runs once, and if the minute or the hour begins with `*`, runs follow real time.
    If neither day of month nor day of week begins with `*`, a day that matches either one counts.
    """

    cron: str
    time_zone: str

    def next_after(self, moment: datetime) -> datetime:
        """The first run after a moment, in the time zone of the schedule."""
        for run in self._runs(moment):
            return run
        raise UsageError(f"The schedule `{self.cron}` names a day that does not exist.")

    def times_between(self, after: datetime, until: datetime) -> list[datetime]:
        """All runs after one moment, up to and including another, oldest first."""
        return list(takewhile(lambda run: _is_by(run, until), self._runs(after)))

    def count_in_year(self, as_of: datetime) -> int:
        """The number of runs in the year after a moment: at least 1, and at most 10,000 are counted."""
        runs = takewhile(lambda run: _is_by(run, as_of + _YEAR), self._runs(as_of))
        return max(1, sum(1 for _ in islice(runs, MOST_RUNS)))

    def describe(self) -> str:
        """The schedule in words.

        >>> Schedule("30 6 31 * *", "Europe/Berlin").describe()
        'At 06:30 on the 31st day of every month (Europe/Berlin)'
        """
        text = re.sub(r"\b([0-9]+)th\b", _set_ordinal, _simulate(self.cron, datetime.now(UTC)).explain())
        return f"{text} ({self.time_zone})"

    def _runs(self, after: datetime) -> Iterator[datetime]:
        if after.tzinfo is None:
            raise UsageError(f"A moment must have a time zone; got {after.isoformat()} without.")
        zone = ZoneInfo(self.time_zone)
        for run in _simulate(self.cron, after.astimezone(zone)):
            # cronsim ignores which of two equal local times it starts from, and may return one that is over;
            # if clocks skip midnight, it returns a local time that does not exist.
            moment = run.astimezone(UTC)
            if moment > after:
                yield moment.astimezone(zone)


def check_schedule(cron: str, zone: str, *, name: str = "audit.schedule.cron") -> Schedule:
    """Check a cron expression and a time zone, and return their schedule; it must have a run at some time.

    `name` is the key of the expression, for messages.
    """
    from cronsim import CronSimError

    schedule = Schedule(" ".join(cron.split()), check_zone(zone).key)
    if len(schedule.cron.split()) != 5:
        raise UsageError(
            f"`{name}` must have five fields ({_FIELDS}), such as `30 6 * * MON-FRI`; got {cron!r}."
        )
    try:
        schedule.next_after(datetime(2000, 1, 1, tzinfo=UTC))
    except UsageError:
        raise UsageError(f"`{name}` names a day that does not exist; got {cron!r}.") from None
    except CronSimError as error:
        field = str(error).removeprefix("Bad ").replace("-", " ")
        raise UsageError(
            f"`{name}` must be a cron expression such as `30 6 * * MON-FRI` ({_FIELDS}); got {cron!r}, "
            f"where the {field} is wrong."
        ) from error
    return schedule


def check_zone(zone: str, *, name: str = "audit.time_zone") -> ZoneInfo:
    """Check the name of a time zone, such as Europe/Berlin, and return the zone."""
    try:
        return ZoneInfo(zone)
    except (LookupError, ValueError, OSError) as error:
        is_offset = re.search(r"[0-9]", zone)  # zones such as Etc/GMT+5 have the opposite sign
        near = [] if is_offset else get_close_matches(zone, available_timezones(), n=1)
        raise UsageError(
            f"`{name}` must be the name of a time zone such as `UTC` or `Europe/Berlin`; got {zone!r}."
            f"{f' Did you mean `{near[0]}`?' if near else ''}"
        ) from error


def _simulate(cron: str, start: datetime) -> CronSim:
    from cronsim import CronSim

    return CronSim(cron, start)


def _is_by(run: datetime, until: datetime) -> bool:
    """Whether a run is not after a moment; Python compares local times if the zones are the same."""
    return run.astimezone(UTC) <= until.astimezone(UTC)


def _set_ordinal(match: re.Match[str]) -> str:
    number = int(match[1])
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
