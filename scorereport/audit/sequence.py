"""Whether records follow each other as runs make them: attempts are counted, and time does not run backwards.

The end of a run is read from the clock while nobody else can append, so that these times are in order by one
clock. Clocks of several machines, and one that is set, may differ a little.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from scorereport.configuration.periods import is_ahead

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.history.audit_record import Record

#: By how much clocks may differ. Runs of earlier versions read the time before they waited for each other.
CLOCK_SKEW = timedelta(minutes=5)


def check_attempts(records: Sequence[Record]) -> Iterator[tuple[Record, str]]:
    """Records whose attempt is not the next of their audit and period; all records must be there."""
    counts: dict[tuple[str, str, str], int] = defaultdict(int)
    for record in records:
        key = (record.audit, record.period.label, record.kind)
        if record.attempt != counts[key] + 1:
            yield record, f"is attempt {record.attempt} of its period, and the next one is {counts[key] + 1}"
        counts[key] = max(counts[key], record.attempt)


def check_run_times(records: Sequence[Record], now: str) -> Iterator[tuple[Record, str]]:
    """Records whose times cannot be: unreadable, ended before the start, or in the future of now."""
    latest = datetime.fromisoformat(now) + CLOCK_SKEW
    for record in records:
        times = read_run_times(record)
        if times is None:
            yield record, f"has times that cannot be read, {record.started!a:.40} and {record.finished!a:.40}"
            continue
        started, finished = times
        if started > finished + CLOCK_SKEW:
            yield record, f"ended at {record.finished}, before it started at {record.started}"
        if finished > latest:
            yield record, f"ended at {record.finished}, and it is {now} now"


def find_times_backwards(records: Sequence[Record], *, by_one_clock: bool) -> Iterator[tuple[Record, Record]]:
    """Records that ended before an earlier record did, each with that one.

    By one clock a record is compared with the last one that was made in the same folder on a machine of the
    same kind, else with the one right before it if that was made elsewhere.
    """
    last: dict[tuple[str, str], tuple[Record, datetime]] = {}
    previous: tuple[Record, datetime] | None = None
    for record in records:
        times, clock = read_run_times(record), (record.home, record.machine)
        if times is None:
            continue
        is_other = previous is not None and clock != (previous[0].home, previous[0].machine)
        before = last.get(clock) if by_one_clock else previous if is_other else None
        if before is not None and times[1] < before[1] - CLOCK_SKEW:
            yield before[0], record
        last[clock] = previous = (record, times[1])


def find_future_periods(records: Sequence[Record]) -> Iterator[Record]:
    """Records of a period that lay in the future when they were made, which earlier versions accepted."""
    return (record for record in records if record.kind == "audit" and is_ahead(record.as_of, record.started))


def read_run_times(record: Record) -> tuple[datetime, datetime] | None:
    """When a run started and ended; None if that cannot be read."""
    try:
        started, finished = map(datetime.fromisoformat, (record.started, record.finished))
    except ValueError:
        return None
    return None if started.tzinfo is None or finished.tzinfo is None else (started, finished)
