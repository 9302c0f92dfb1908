"""Record of a run and the steps after it: files are put in place, expired files removed, people notified.

None of it undoes the record; what goes wrong comes back as sentences.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from scorereport._utils.clock import read_clock
from scorereport.audit.channels.delivery import open_pending_notification, send_notifications
from scorereport.audit.record_rules import find_exit_code
from scorereport.audit.report_folder import find_report_files, open_report_folder
from scorereport.errors import ExitCode, ScoreReportError
from scorereport.history.audit_record import AuditStatus, Record
from scorereport.history.expiry import ExpiryTerms, find_expired
from scorereport.report.provenance import trace_provenance

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from scorereport.audit.audit_report import RenderedReport
    from scorereport.audit.plan import Plan
    from scorereport.audit.rows.loaded_rows import LoadedRows
    from scorereport.audit.rows.source_reference import SourceReference
    from scorereport.configuration.periods import Period
    from scorereport.history.audit_record import RecordedFile
    from scorereport.history.store import History


def begin_record(plan: Plan, period: Period, moment: datetime, *, started: str, command: str) -> Record:
    """What is known of any run from its beginning; as it stands, a failure whose reason is not known yet."""
    provenance = trace_provenance(command=command)
    return Record(
        audit=plan.name,
        period=period,
        attempt=0,  # the next that is free
        as_of=moment.isoformat(timespec="seconds"),
        status=AuditStatus.FAILED,
        exit_code=ExitCode.USAGE,
        started=started,
        finished="",  # when it is appended
        configuration=plan.configuration.name,
        configuration_sha256=plan.configuration.sha256,
        folder=plan.reports_folder,
        home=plan.mark,
        command=plan.redactor.redact(command),
        machine=provenance.machine,
        software=provenance.software,
    )


def complete_record(
    draft: Record,
    gathered: LoadedRows | SourceReference,
    made: RenderedReport,
    files: tuple[RecordedFile, ...],
) -> Record:
    """The record of an audit whose report is made."""
    certificate, trend = made.report.certificate, made.report.trend
    return replace(
        draft,
        status=made.status,
        exit_code=find_exit_code(made.status),
        source=gathered.source,
        rows=made.report.evaluation.data.row_flow.kept,
        data_sha256=made.report.evaluation.data.sha256,
        source_sha256=gathered.source_sha256,
        templates_sha256=made.report.provenance.templates_sha256,
        results_sha256=hashlib.sha256(made.results).hexdigest(),
        certificate="" if certificate is None else certificate.verdict,
        files=files,
        judgements=made.report.judgements,
        snapshot=made.snapshot,
        drifts=() if trend is None else trend.drifts,
    )


#: For so many seconds it is tried again to tell people whom nothing has reached.
_RETRY_SECONDS = 2 * 86_400.0


def complete_run(plan: Plan, history: History, record: Record, alarms: Sequence[str] = ()) -> list[str]:
    """All that follows a new record; gives what went wrong. People are notified of `alarms` in any case."""
    return [
        *_attempt_step(
            "The files of the report could not be put into their place", lambda: finalize_files(plan, history)
        ),
        *_attempt_step(
            "Files that were kept long enough could not be removed",
            lambda: remove_expired_files(plan, history),
        ),
        *_attempt_step(
            "Earlier runs could not be looked at", lambda: _find_same_names(plan, history, record)
        ),
        *_notify(plan, record, alarms),
    ]


def complete_earlier_run(plan: Plan, history: History) -> list[str]:
    """Finish what an earlier run, which was killed, has left undone: files to be moved, people to be told."""
    return [
        *_attempt_step("Files of an earlier run are in the way", lambda: finalize_files(plan, history)),
        *_attempt_step("Nobody could be told of an earlier run", lambda: _notify_pending(plan, history)),
    ]


def _notify_pending(plan: Plan, history: History) -> list[str]:
    """Tell people of the record that they were not told of; it may never have been made."""
    noted = open_pending_notification(plan).read()
    if noted is None:
        return []
    period, attempt = noted
    records = history.records(plan.name, kind="audit", period=period)
    untold = [record for record in records if record.attempt == attempt]
    if not untold:
        open_pending_notification(plan).forget()
    return [problem for record in untold for problem in _notify(plan, record)]


def finalize_files(plan: Plan, history: History) -> None:
    """Move files that wait for it into their place."""
    shelf = open_report_folder(plan)
    if shelf.staging.is_dir():
        shelf.settle(file for record in history.records(plan.name) for file in record.files)


def remove_expired_files(plan: Plan, history: History) -> None:
    """Remove files that were kept long enough; the history says so before they go."""
    records = [record for record in history.records(plan.name) if record.home in ("", plan.mark)]
    now, table = read_clock(), plan.audit.retention
    due = find_expired(records, ExpiryTerms(days=table.days, keep=table.keep), now)
    gone = {file for record in records for file in record.removed}
    expired = tuple(file for file in due if file not in gone)
    if expired:
        draft = begin_record(plan, records[-1].period, plan.now, started=now, command="")
        removal = replace(draft, kind="retention", status=AuditStatus.DONE, exit_code=0, removed=expired)
        text = plan.configuration.text.encode()
        history.append(removal, {plan.configuration.sha256: text})
    folders = {file: record.folder for record in records for file in record.files}
    for file in due:  # not what any record says was removed: that may be forged
        open_report_folder(plan, folders[file]).remove([file])


def _find_same_names(plan: Plan, history: History, record: Record) -> list[str]:
    """A word of warning where another configuration has made records of an audit of this name."""
    others = history.records(plan.name, kind="audit", last=2)
    names = {other.configuration for other in others if other.id < record.id}
    return [
        f"The audit {record.audit} was last run by {name}, and now by {record.configuration}: if these are "
        "two audits, give each its own `audit.name`."
        for name in names - {record.configuration, ""}
    ]


def _notify(plan: Plan, record: Record, alarms: Sequence[str] = ()) -> list[str]:
    """Tell people of a record, at least once: the reminder goes when a way of telling them worked.

    Where none did, the runs of the next two days try again; a way that never works must not tell for ever.
    """
    notify = plan.audit.notify
    problems = notify_by_plan(plan, record, alarms)
    ways = sum(map(bool, (notify.command, notify.webhook, notify.email)))
    failed = {problem.partition(":")[0] for problem in problems}  # each begins with the key of its way
    reminder = open_pending_notification(plan)
    if len(failed) < ways or not problems or reminder.age > _RETRY_SECONDS:
        reminder.forget()
    return problems


def notify_by_plan(plan: Plan, record: Record, alarms: Sequence[str] = ()) -> list[str]:
    """Tell those whom the configuration names of a record; gives what went wrong."""
    return send_notifications(
        plan.audit.notify,
        record,
        files=find_report_files(plan, record),
        redactor=plan.redactor,
        expand=plan.expand,
        folder=plan.path.parent,
        alarms=alarms,
    )


def _attempt_step(what: str, action: Callable[[], list[str] | None]) -> list[str]:
    """What an action has to say, or why it could not be done."""
    try:
        return action() or []
    except (ScoreReportError, OSError) as error:
        return [f"{what}: {error}"]
