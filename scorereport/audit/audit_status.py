"""State of an audit: the status of the last period that is due, with its age.

A run that failed and was repeated with success is history, and so is a failed repetition of a run with
results. Annulled records do not count.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Protocol

from scorereport._utils.formatting import format_counted
from scorereport.configuration.clock_hours import find_over
from scorereport.configuration.periods import Period, check_window_text, find_period
from scorereport.history.audit_record import AuditStatus, Record
from scorereport.history.valid_records import list_counted, list_valid

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scorereport.audit.plan import Plan

#: The status of an audit without a valid record of the period that is due.
NOT_RUN = "not run"
#: How far back scheduled times are searched: a schedule may have one time in four years.
_SEARCHED_DAYS = (0.1, 2, 40, 400, 4 * 366)
#: Units of ages and their seconds, the longest first; an age has at least two of its unit.
_AGES = (("month", 30 * 86_400), ("day", 86_400), ("hour", 3_600), ("minute", 60))


class PastTimes(Protocol):
    """The method of a schedule that this module needs."""

    def times_between(self, after: datetime, until: datetime) -> Sequence[datetime]:
        """Return all times after one moment up to and including another, oldest first."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditState:
    """State of an audit at a moment: the last period that is due, and the valid record of it.

    `due` is since when the period is due, as an ISO time. `record` is the last valid record with results of
    the period, or that of a failed run if it has none, or None. `status` is that of the record, or "not run".
    `age` is the time since the record was written, or since the period is due, in words; `days_late` counts
    the whole days since then if there is no record. `note` is a sentence on a later run that failed, or on
    the last results if the period has none. `approval` is a sentence on limits that still need the approval
    of a second person. `period` is None if nothing was recorded and nothing is due.
    """

    audit: str
    period: Period | None
    due: str
    record: Record | None
    status: str
    age: str
    days_late: int = 0
    note: str = ""
    approval: str = ""

    @property
    def is_good(self) -> bool:
        """Whether the status is pass or done."""
        return self.status in (AuditStatus.PASS, AuditStatus.DONE)

    def describe(self) -> str:
        """The state as one line of text."""
        approval = f". {self.approval}" if self.approval else ""
        if self.period is None:
            return f"{self.audit}: {self.status}{approval}"
        age = f"due for {self.age}" if self.record is None else f"{self.age} ago"
        number = "" if self.record is None else f", record {self.record.id}"
        note = f". {self.note}" if self.note else ""
        return f"{self.audit}: {self.status}, period {self.period.label}{number}, {age}{note}{approval}"


def find_audit_state(
    records: Iterable[Record],
    *,
    schedule: PastTimes | None = None,
    window: str | None = None,
    now: datetime,
    name: str = "",
) -> AuditState:
    """Find the state of an audit from its records, of all kinds, and from its schedule and window if known.

    The period that is due is that of the last time of the schedule that is over; without a schedule, that of
    a calendar window as of now; otherwise the newest one with a valid record. A newer period with results,
    which somebody ran before it was due, counts instead. `now` is in the time zone of the audit.
    """
    known = tuple(records)
    name = name or (known[-1].audit if known else "")
    valid, counted = list_valid(known), list_counted(known)
    due = _find_due(valid, schedule, window, now)
    if counted and (due is None or counted[-1].period.ends > due[0].ends):
        due = counted[-1].period, _read_time(counted[-1].as_of)
    if due is None:
        return AuditState(audit=name, period=None, due="", record=None, status=NOT_RUN, age="")
    period, since = due
    own = [record for record in valid if record.period.label == period.label]
    found = next((r for r in reversed(counted) if r.period.label == period.label), own[-1] if own else None)
    age = now.astimezone(UTC) - (since if found is None else _read_time(found.finished))
    return AuditState(
        audit=name,
        period=period,
        due=since.astimezone(now.tzinfo).isoformat(timespec="seconds"),
        record=found,
        status=NOT_RUN if found is None else str(found.status),
        age=format_age(age),
        days_late=max(0, age.days) if found is None else 0,
        note=_describe_rest(found, own, counted),
    )


def format_age(age: timedelta) -> str:
    """Format an age in words, in one unit.

    >>> format_age(timedelta(days=3, hours=7)), format_age(timedelta(minutes=90)), format_age(timedelta(0))
    ('3 days', '90 minutes', 'less than 2 minutes')
    """
    for unit, seconds in _AGES:
        if age.total_seconds() >= 2 * seconds:
            return format_counted(age.total_seconds() // seconds, unit)
    return "less than 2 minutes"


def read_audit_state(plan: Plan) -> AuditState:
    """Read the state of the audit of a plan from its history; "not run" if there is no history yet."""
    from scorereport.audit.run_limits import describe_missing_approval, describe_new_limits
    from scorereport.history.store import open_history

    records: tuple[Record, ...] = ()
    approval = describe_new_limits(plan)
    if plan.history_file is None or plan.history_file.exists():
        with open_history(plan.database_url, head=plan.chain_head, create=False) as history:
            records = history.records(plan.name)
            approval = describe_missing_approval(plan, history, records)
    state = find_audit_state(
        records, schedule=plan.schedule, window=plan.audit.window.period, now=plan.now, name=plan.name
    )
    return replace(state, approval=approval)


def _find_due(
    valid: Sequence[Record], schedule: PastTimes | None, window: str | None, now: datetime
) -> tuple[Period, datetime] | None:
    """Find the period that is due, and since when; None if that is not known and nothing was recorded."""
    if schedule is not None and window is not None and (time := _find_last_time(schedule, now)):
        return find_period(window, time.astimezone(now.tzinfo)), time.astimezone(UTC)
    if window is not None and check_window_text(window).startswith("previous calendar"):
        period = find_period(window, now)
        return period, find_over(period.ends, now.tzinfo or UTC)
    newest = max(valid, key=lambda record: (record.period.order, record.id), default=None)
    return None if newest is None else (newest.period, _read_time(newest.as_of))


def _find_last_time(schedule: PastTimes, now: datetime) -> datetime | None:
    """Find the last time of a schedule that is over; None if there is none within four years."""
    for days in _SEARCHED_DAYS:
        times = schedule.times_between(now - timedelta(days=days), now)
        if times:
            return times[-1]
    return None


def _describe_rest(found: Record | None, own: Sequence[Record], counted: Sequence[Record]) -> str:
    """Describe what the status leaves out: a later run that failed, or the last results of another period."""
    if found is not None and found.snapshot is not None:
        later = own[-1].id > found.id
        return f"A later run failed: {own[-1].reason}" if later else ""
    if found is not None:
        return found.reason
    if not counted:
        return ""
    last = counted[-1]
    return f"Last results: {last.status}, period {last.period.label}, record {last.id}"


def _read_time(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).astimezone(UTC)
