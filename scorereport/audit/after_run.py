"""Record of a run and the steps after it: files are put in place, expired files removed, people notified.

No failure of these steps undoes the record; the steps return their problems as sentences.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from scorereport._utils.clock import read_clock
from scorereport.audit.begun_record import begin_record
from scorereport.audit.delivery import open_pending_notification, send_notifications
from scorereport.audit.digests import add_to_digests, is_delayed, send_digests
from scorereport.audit.outcomes import summarize_outcome
from scorereport.audit.record_rules import find_exit_code
from scorereport.audit.report_folder import find_report_files, open_report_folder
from scorereport.errors import ScoreReportError
from scorereport.history.audit_record import AuditStatus, Record
from scorereport.history.expiry import ExpiryTerms, find_expired
from scorereport.report.summary_page import summarize_report

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scorereport.audit.audit_report import RenderedReport
    from scorereport.audit.plan import Plan
    from scorereport.audit.rows.loaded_rows import LoadedRows
    from scorereport.audit.rows.source_reference import SourceReference
    from scorereport.history.audit_record import RecordedFile
    from scorereport.history.store import History


#: For this many seconds, later runs retry a notification that reached no channel.
_RETRY_SECONDS = 2 * 86_400.0


def complete_record(
    record: Record,
    rows: LoadedRows | SourceReference,
    rendered: RenderedReport,
    files: tuple[RecordedFile, ...],
) -> Record:
    """Add the results of a run, its report and its files to its record."""
    certificate, trend = rendered.report.certificate, rendered.report.trend
    limits = rendered.report.limit_provenance
    return replace(
        record,
        status=rendered.status,
        exit_code=find_exit_code(rendered.status),
        source=rows.source,
        rows=rendered.report.evaluation.data.row_flow.kept,
        data_sha256=rendered.report.evaluation.data.sha256,
        source_sha256=rows.source_sha256,
        templates_sha256=rendered.report.provenance.templates_sha256,
        results_sha256=hashlib.sha256(rendered.results).hexdigest(),
        certificate="" if certificate is None else certificate.verdict,
        files=files,
        judgements=rendered.report.judgements,
        snapshot=rendered.snapshot,
        drifts=() if trend is None else trend.drifts,
        summary=summarize_report(rendered.report).to_texts(),
        evidence=rendered.evidence,
        seal_check=rows.seal_check,
        limit_changes=() if limits is None else limits.changes,
    )


def complete_run(plan: Plan, history: History, record: Record, alarms: Sequence[str] = ()) -> list[str]:
    """Do the steps after a new record; return their problems. `alarms` are sent whatever the status."""
    return [
        *_attempt_step(
            "The files of the report could not be put in place", lambda: finalize_files(plan, history)
        ),
        *_attempt_step(
            "Expired files could not be removed",
            lambda: remove_expired_files(plan, history),
        ),
        *_attempt_step("Earlier runs could not be checked", lambda: _find_same_names(plan, history, record)),
        *_notify(plan, record, alarms),
    ]


def complete_earlier_run(plan: Plan, history: History) -> list[str]:
    """Do the remaining steps of earlier runs: move files, notify people, send digests of earlier days."""
    return [
        *_attempt_step(
            "The files of an earlier run could not be put in place", lambda: finalize_files(plan, history)
        ),
        *_attempt_step(
            "No notification of an earlier run could be sent", lambda: _notify_pending(plan, history)
        ),
        *_attempt_step(
            "The digest of an earlier day could not be sent",
            lambda: send_digests(plan, plan.now.date()).problems,
        ),
    ]


def _notify_pending(plan: Plan, history: History) -> list[str]:
    """Send the pending notification; if its record was never appended, remove it."""
    noted = open_pending_notification(plan).read()
    if noted is None:
        return []
    period, attempt = noted
    records = history.records(plan.name, kind="audit", period=period)
    unnotified = [record for record in records if record.attempt == attempt]
    if not unnotified:
        open_pending_notification(plan).remove()
    return [problem for record in unnotified for problem in _notify(plan, record)]


def finalize_files(plan: Plan, history: History) -> None:
    """Move staged files of recorded runs into their final place."""
    folder = open_report_folder(plan)
    if folder.staging.is_dir():
        folder.finalize(file for record in history.records(plan.name) for file in record.files)


def remove_expired_files(plan: Plan, history: History) -> None:
    """Remove expired files; the removal is recorded first."""
    records = [record for record in history.records(plan.name) if record.home in ("", plan.marker)]
    now, table = read_clock(), plan.audit.retention
    due = find_expired(records, ExpiryTerms(days=table.days, keep=table.keep), now)
    gone = {file for record in records for file in record.removed}
    expired = tuple(file for file in due if file not in gone)
    if expired:
        begun = begin_record(plan, records[-1].period, plan.now, started=now, command="")
        removal = replace(begun, kind="retention", status=AuditStatus.DONE, exit_code=0, removed=expired)
        history.append(removal, plan.documents)
    folders = {file: record.folder for record in records for file in record.files}
    for file in due:  # never the files that a record lists as removed: the record may be forged
        open_report_folder(plan, folders[file]).remove([file])


def _find_same_names(plan: Plan, history: History, record: Record) -> list[str]:
    """Return a warning if the last run of an audit with this name had another configuration."""
    others = history.records(plan.name, kind="audit", last=2)
    names = {other.configuration for other in others if other.id < record.id}
    return [
        f"The last run of the audit {record.audit} used the configuration {name}, this run uses "
        f"{record.configuration}. If these are two audits, give each its own `audit.name`."
        for name in names - {record.configuration, ""}
    ]


def _notify(plan: Plan, record: Record, alarms: Sequence[str] = ()) -> list[str]:
    """Notify people of a record; the pending notification is removed once a channel worked.

    If no channel worked, the runs of the next two days try again, and then no more: the channel may never
    work.
    """
    problems = notify_by_plan(plan, record, alarms)
    failed = {problem.partition(":")[0] for problem in problems}  # each begins with the key of its channel
    pending = open_pending_notification(plan)
    if len(failed) < len(plan.audit.notify.channels) or not problems or pending.age > _RETRY_SECONDS:
        pending.remove()
    return problems


def notify_by_plan(plan: Plan, record: Record, alarms: Sequence[str] = ()) -> list[str]:
    """Send the notifications of a record that the configuration asks for, or add it to the daily digest.

    Return the problems. If the digest cannot be written, the notifications are sent at once.
    """
    table = plan.audit.notify
    if str(record.status) in table.on and is_delayed(table, record, alarms):
        with suppress(OSError):
            files = find_report_files(plan, record)
            add_to_digests(plan, summarize_outcome(record, files=files, site=table.site))
            return []
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
    """Return the problems that an action returns, or the error that it raises as one."""
    try:
        return action() or []
    except (ScoreReportError, OSError) as error:
        return [f"{what}: {error}"]
