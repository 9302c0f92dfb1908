"""Events of scheduled audits as lines of the log, and notifications about runs that did not happen."""

from __future__ import annotations

from dataclasses import replace
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING

from scorereport._utils.exits import describe_error
from scorereport.audit.server.due_times import MAX_CAUGHT_UP
from scorereport.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from scorereport.audit.digests import SentDigests
    from scorereport.audit.plan import Plan
    from scorereport.audit.server.audit_process import ProcessEnd
    from scorereport.audit.server.configuration_folder import ConfigurationChange
    from scorereport.audit.server.due_times import CatchUpDecision
    from scorereport.audit.server.event_log import EventLog
    from scorereport.audit.server.scheduled_audit import ScheduledAudit


_KEPT_NOTE = "The schedule of the previous version stays in force, but runs fail until the file is corrected."
_LIMIT_NOTE = f"At most the last {MAX_CAUGHT_UP} are caught up."
_CUT_NOTE = "Even older ones are not counted."


def log_change(log: EventLog, change: ConfigurationChange) -> None:
    """Log that a configuration was added, changed, removed, passed over or refused."""
    fields = {"config": change.path.name}
    if change.plan is not None:
        fields["audit"] = change.plan.name
    if change.reason:
        fields["reason"] = change.reason
    if change.kind == "refused" and change.plan is not None:
        fields["kept"] = _KEPT_NOTE
    log.write(f"configuration.{change.kind}", **fields)


def log_next_run(log: EventLog, audit: ScheduledAudit, now: datetime) -> None:
    """Log when an audit runs next."""
    next_run = audit.format_local(audit.find_next(now))
    log.write("audit.scheduled", audit=audit.plan.name, next_run=next_run)


def log_decision(log: EventLog, audit: ScheduledAudit, decision: CatchUpDecision) -> None:
    """Log which scheduled times are caught up, and which are left out."""
    if decision.late:
        log.write("audit.caught_up", **_describe_times(audit, decision.late))
    notes = [_LIMIT_NOTE] * (audit.plan.audit.schedule.catch_up == "all") + [_CUT_NOTE] * decision.is_cut
    log_missed(log, audit, decision.left_out, note=" ".join(notes))


def log_missed(log: EventLog, audit: ScheduledAudit, times: tuple[datetime, ...], note: str = "") -> None:
    """Log scheduled times that are not run."""
    if times:
        log.write("audit.missed", **_describe_times(audit, times), **({"note": note} if note else {}))


def log_start(log: EventLog, audit: ScheduledAudit, pid: int) -> None:
    """Log that a process has been started."""
    log.write(
        "audit.started",
        audit=audit.plan.name,
        config=audit.plan.path.name,
        as_of=audit.last.last_as_of,
        pid=pid,
    )


def log_orphan(log: EventLog, audit: ScheduledAudit, pid: int, seconds: float) -> None:
    """Log that a process of an earlier server still runs, and that this server waits for it."""
    log.write(
        "audit.orphan",
        audit=audit.plan.name,
        as_of=audit.last.last_as_of,
        pid=pid,
        seconds=round(seconds, 3),
        note="An earlier server started this run and was killed. This server waits for its end.",
    )


def log_progress(log: EventLog, audit: ScheduledAudit, progress: str) -> None:
    """Log the progress of a process."""
    log.write("audit.progress", audit=audit.plan.name, as_of=audit.last.last_as_of, progress=progress)


def log_end(log: EventLog, audit: ScheduledAudit, ending: ProcessEnd) -> None:
    """Log that a process has ended, or could not be started."""
    log.write(
        "audit.finished",
        audit=audit.plan.name,
        as_of=audit.last.last_as_of,
        exit_code=ending.exit_code,
        status=ending.status,
        seconds=round(ending.seconds, 3),
        last_line=ending.last_line,
    )


def log_retry(log: EventLog, audit: ScheduledAudit, moment: datetime, seconds: float) -> None:
    """Log that a run without a result is tried again."""
    log.write(
        "audit.retry",
        audit=audit.plan.name,
        as_of=audit.format_local(moment),
        failures=audit.failures,
        in_seconds=round(seconds, 3),
    )


def log_absence(log: EventLog, audit: ScheduledAudit, moment: datetime, reason: str) -> None:
    """Log that a scheduled run did not happen, or not in time."""
    log.write("audit.absent", audit=audit.plan.name, as_of=audit.format_local(moment), reason=reason)


def log_notification(log: EventLog, audit: str, reason: str, problems: list[str]) -> None:
    """Log that people were notified of a run that did not happen, or that the notification failed."""
    log.write("audit.notified", audit=audit, reason=reason, problems=problems)


def log_digest(log: EventLog, audit: str, sent: SentDigests) -> None:
    """Log how many outcomes were sent as a digest by each channel, and what went wrong."""
    log.write("digest.sent", audit=audit, outcomes=sent.counts, problems=sent.problems)


def _describe_times(audit: ScheduledAudit, times: tuple[datetime, ...]) -> dict[str, str | int]:
    return {
        "audit": audit.plan.name,
        "policy": audit.plan.audit.schedule.catch_up,
        "count": len(times),
        "first": audit.format_local(times[0]),
        "last": audit.format_local(times[-1]),
    }


class Notifier:
    """Sends notifications in threads of their own, because a mail server may take minutes to answer."""

    def __init__(self, report: Callable[[Plan, str, list[str]], None]) -> None:
        self._report = report
        self._threads: list[Thread] = []

    def send(self, plan: Plan, moment: datetime, reason: str) -> None:
        """Notify the people that a configuration names; then report the reason and the problems."""
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        thread = Thread(target=self._send, args=(plan, moment, reason), daemon=True)
        self._threads.append(thread)
        thread.start()

    def wait(self, seconds: float) -> None:
        """Wait for notifications that are being sent, for at most this many seconds."""
        end = monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, end - monotonic()))

    def _send(self, plan: Plan, moment: datetime, reason: str) -> None:
        try:
            problems = notify_missed(plan, moment, reason)
        except Exception as error:  # the server must outlive a notification that fails
            problems = [describe_error(error)]
        self._report(plan, reason, problems)


def wants_failure_notifications(plan: Plan) -> bool:
    """Whether a configuration asks for notifications of failed audits, by any channel."""
    notify = plan.audit.notify
    return "failed" in notify.on and bool(notify.channels)


def notify_missed(plan: Plan, moment: datetime, reason: str) -> list[str]:
    """Notify people of a scheduled run without a result; return the problems, a sentence each."""
    from scorereport._utils.clock import timestamp
    from scorereport.audit.after_run import notify_by_plan
    from scorereport.audit.begun_record import begin_record
    from scorereport.configuration.periods import find_period

    local = moment.astimezone(plan.zone)
    period = find_period(plan.audit.window.period, local)
    record = begin_record(plan, period, local, started=timestamp(), command="")
    redacted = plan.redactor.redact(reason)
    return notify_by_plan(plan, replace(record, reason=redacted, exit_code=ExitCode.INTERNAL))
