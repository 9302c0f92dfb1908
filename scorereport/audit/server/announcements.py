"""The events of audits in a server, as lines of its log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport.audit.server.due_times import MOST_CAUGHT_UP

if TYPE_CHECKING:
    from datetime import datetime

    from scorereport.audit.server.audit_process import Ending
    from scorereport.audit.server.configuration_folder import Change
    from scorereport.audit.server.due_times import Decision
    from scorereport.audit.server.event_log import EventLog
    from scorereport.audit.server.scheduled_audit import Duty

_KEPT = "The schedule of the version before goes on, but runs fail until the file is right."
_LIMITED = f"No more than the last {MOST_CAUGHT_UP} are caught up."
_CUT = "Still older ones are not counted."


def announce_change(log: EventLog, change: Change) -> None:
    """A configuration came, changed, went or cannot be used."""
    fields = {"config": change.path.name}
    if change.plan is not None:
        fields["audit"] = change.plan.name
    if change.reason:
        fields["reason"] = change.reason
    if change.kind == "refused" and change.plan is not None:
        fields["kept"] = _KEPT
    log.write(f"configuration.{change.kind}", **fields)


def announce_next(log: EventLog, duty: Duty, now: datetime) -> None:
    """When an audit runs next."""
    next_run = duty.render_local(duty.find_next(now))
    log.write("audit.scheduled", audit=duty.plan.name, next_run=next_run)


def announce_decision(log: EventLog, duty: Duty, decision: Decision) -> None:
    """What is caught up, and what is left out."""
    if decision.late:
        log.write("audit.caught_up", **_describe_times(duty, decision.late))
    notes = [_LIMITED] * (duty.plan.audit.schedule.catch_up == "all") + [_CUT] * decision.is_cut
    announce_missed(log, duty, decision.left_out, note=" ".join(notes))


def announce_missed(log: EventLog, duty: Duty, times: tuple[datetime, ...], note: str = "") -> None:
    """Times of the schedule that are not run."""
    if times:
        log.write("audit.missed", **_describe_times(duty, times), **({"note": note} if note else {}))


def announce_start(log: EventLog, duty: Duty, pid: int) -> None:
    """A process has been started."""
    log.write(
        "audit.started",
        audit=duty.plan.name,
        config=duty.plan.path.name,
        as_of=duty.last.last_as_of,
        pid=pid,
    )


def announce_progress(log: EventLog, duty: Duty, progress: str) -> None:
    """How far a process is that takes its time."""
    log.write("audit.progress", audit=duty.plan.name, as_of=duty.last.last_as_of, progress=progress)


def announce_end(log: EventLog, duty: Duty, ending: Ending) -> None:
    """A process has ended, or could not be started."""
    log.write(
        "audit.finished",
        audit=duty.plan.name,
        as_of=duty.last.last_as_of,
        exit_code=ending.exit_code,
        status=ending.status,
        seconds=round(ending.seconds, 3),
        last_line=ending.last_line,
    )


def announce_retry(log: EventLog, duty: Duty, moment: datetime, seconds: float) -> None:
    """A run that came to no result is tried again."""
    log.write(
        "audit.retry",
        audit=duty.plan.name,
        as_of=duty.render_local(moment),
        failures=duty.failures,
        in_seconds=round(seconds, 3),
    )


def announce_absence(log: EventLog, duty: Duty, moment: datetime, reason: str) -> None:
    """A run of the schedule did not happen, or not in time."""
    log.write("audit.absent", audit=duty.plan.name, as_of=duty.render_local(moment), reason=reason)


def announce_notification(log: EventLog, audit: str, reason: str, problems: list[str]) -> None:
    """People were notified of a run that did not happen, or could not be."""
    log.write("audit.notified", audit=audit, reason=reason, problems=problems)


def _describe_times(duty: Duty, times: tuple[datetime, ...]) -> dict[str, str | int]:
    return {
        "audit": duty.plan.name,
        "policy": duty.plan.audit.schedule.catch_up,
        "count": len(times),
        "first": duty.render_local(times[0]),
        "last": duty.render_local(times[-1]),
    }
