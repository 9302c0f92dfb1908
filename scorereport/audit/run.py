"""Run of an audit: read, evaluate, certify, judge, render, record; a failed run is recorded too."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from scorereport._utils.clock import read_clock
from scorereport._utils.exits import (
    describe_error,
    find_error_code,
    format_traceback,
    is_expected,
    redact_error,
    release_frames,
)
from scorereport._utils.files import make_folder, remove_abandoned
from scorereport._utils.formatting import format_plain
from scorereport._utils.processes import signals_deferred
from scorereport._utils.progress import report_stage, report_work
from scorereport._utils.work_plan import Stage
from scorereport.audit.after_run import (
    complete_earlier_run,
    complete_record,
    complete_run,
    finalize_files,
    notify_by_plan,
)
from scorereport.audit.anchors import anchor_again
from scorereport.audit.audit_report import RenderedReport, render_audit_report
from scorereport.audit.audit_rows import load_audit_rows
from scorereport.audit.baseline_seal import ensure_baseline
from scorereport.audit.begun_record import begin_record
from scorereport.audit.delivery import open_pending_notification
from scorereport.audit.integrity import update_chain_head
from scorereport.audit.plan import Plan, read_plan
from scorereport.audit.report_folder import find_report_files, open_report_folder
from scorereport.audit.run_limits import trace_limits
from scorereport.audit.signed_history import open_signed_history
from scorereport.configuration.audit_rules import check_portable_name
from scorereport.configuration.period_labels import LabelledPeriod, find_labelled
from scorereport.configuration.periods import (
    Period,
    check_hours_over,
    check_not_ahead,
    find_period,
    read_as_of,
)
from scorereport.errors import ExitCode, ScoreReportError, UsageError
from scorereport.history.audit_lock import hold_database_lock
from scorereport.history.audit_record import AuditStatus, Record
from scorereport.history.chain_head import check_chain_head
from scorereport.history.record_rows import AlreadyRecorded
from scorereport.history.valid_records import list_valid

if TYPE_CHECKING:
    from collections.abc import Iterator

    from filelock import BaseFileLock

    from scorereport.audit.rows.loaded_rows import LoadedRows
    from scorereport.audit.rows.source_reference import SourceReference
    from scorereport.history.store import History


#: How long a run waits for another run of the same audit, in seconds.
DEFAULT_WAIT_SECONDS = 3600.0


@contextmanager
def hold_audit_lock(plan: Plan, *, wait: float = DEFAULT_WAIT_SECONDS) -> Iterator[None]:
    """Hold the lock of an audit, so that no other process runs it inside the block; wait for it first.

    The operating system releases the lock of a process that dies, so no lock is left behind. Machines that
    share a history on a server also share a lock in its database.
    """
    start = monotonic()
    lock = _acquire_lock(plan, wait)
    try:
        with hold_database_lock(plan.database_url, plan.name, wait=wait, waited=monotonic() - start):
            yield
    finally:
        lock.release()


def _acquire_lock(plan: Plan, wait: float) -> BaseFileLock:
    from filelock import FileLock, Timeout

    path = plan.locks / f"{plan.name}.lock"
    lock = FileLock(path, mode=0o600)
    try:
        make_folder(path.parent)
        lock.acquire(timeout=wait)
    except Timeout as error:
        raise UsageError(
            f"Another run of the audit {plan.name} did not end within {format_plain(wait)} seconds; its "
            f"lock is {path}."
        ) from error
    except OSError as error:
        raise UsageError(f"The folder {plan.folder} cannot be written: {error.strerror}.") from error
    return lock


@dataclass(frozen=True, kw_only=True, eq=False)
class RunResult:
    """The record of an audit, and whether this run wrote it (`is_new`) or found it in the history.

    `failure` is the traceback of an unexpected error; `problems` are sentences about the steps after the run.
    """

    record: Record
    is_new: bool
    files: tuple[Path, ...] = ()
    problems: tuple[str, ...] = ()
    failure: str = ""


def run_audit(
    path: str | Path,
    *,
    as_of: str | None = None,
    period: str | None = None,
    again: bool = False,
    once: bool = False,
    wait: float = DEFAULT_WAIT_SECONDS,
    command: str = "",
) -> RunResult:
    """Run the audit that a configuration describes, once for each period and its data.

    Parameters
    ----------
    path : the configuration, a TOML file; see docs/audits.md
    as_of : the day, or the moment, from which the period is counted; by default now
    period : the label of the period to audit, such as "2026-06", instead of `as_of`; it must be over
    again : write a new record even if there is one with the same period, data and configuration
    once : return the record of the same moment `as_of`, if there is one that did not fail, whatever its data
    wait : seconds to wait for another run of the same audit
    command : the command line that started the run, for the record
    """
    plan = read_plan(path)
    moment, chosen = _choose_period(plan, as_of, period)
    final_by = moment if as_of is not None else plan.now
    run = AuditRun(plan=plan, moment=moment, period=chosen, command=command, final_by=final_by, once=once)
    return _perform(run, again=again, wait=wait)


def run_labelled(
    path: str | Path, listed: LabelledPeriod, *, again: bool = False, wait: float, command: str = ""
) -> RunResult:
    """Run the audit of a period that is over, with all outcomes that are final now."""
    plan = read_plan(path)
    run = AuditRun(plan=plan, moment=listed.as_of, period=listed.period, command=command, final_by=plan.now)
    return _perform(run, again=again, wait=wait)


def _perform(run: AuditRun, *, again: bool, wait: float) -> RunResult:
    """Perform a run while no other one of the audit does, with the steps before and after it."""
    plan = run.plan
    check_portable_name(plan.name, "audit.name")
    # Rows that a killed run left behind must not stay until a run happens to need a temporary folder.
    for place in {None, plan.configuration.work.get("temporary_folder")}:
        remove_abandoned(place)
    try:
        with (
            hold_audit_lock(plan, wait=wait),
            open_signed_history(plan) as history,
        ):
            check_chain_head(history)
            check_name_case(plan, history)
            unnoted = update_chain_head(plan, history)
            earlier = complete_earlier_run(plan, history)
            outcome = run.perform(history, again=again)
            if not outcome.is_new:
                history.problems += anchor_again(plan, history)
            alarms = (*unnoted, *history.problems)
            later = complete_run(plan, history, outcome.record, alarms) if outcome.is_new else []
            alarms = (*unnoted, *history.problems)  # again: the steps after a run append records as well
    except Exception as error:
        shown = run.notify_unrecorded(error)
        if shown is error:
            raise
        raise shown from error
    return replace(outcome, problems=tuple(map(plan.redactor.redact, (*alarms, *earlier, *later))))


def _choose_period(plan: Plan, as_of: str | None, label: str | None) -> tuple[datetime, Period]:
    """Return the moment that the period is counted from, and the period; refuse one that is not over."""
    window = plan.audit.window.period
    if label is None:
        moment = check_not_ahead(read_as_of(as_of, plan.zone), plan.zone)
        return moment, check_hours_over(find_period(window, moment), plan.zone)
    if as_of is not None:
        raise UsageError("`as_of` and `period` must not be given together: both choose the period.")
    found = find_labelled(window, label, plan.zone)
    return found.as_of, found.period


def check_name_case(plan: Plan, history: History) -> None:
    """Refuse a new audit whose name differs only in case from another audit of the history."""
    names = history.names()
    alike = [name for name in names if name.casefold() == plan.name.casefold()]
    if alike and plan.name not in names:
        raise UsageError(
            f"`audit.name` must differ from {alike[0]!r}, an audit of the same history, by more than upper "
            f"and lower case, which some systems do not distinguish; got {plan.name!r}."
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class AuditRun:
    """One run of an audit on one period; the caller holds the lock of the audit.

    `final_by` is the moment at which outcomes must be final: by default the one that the period is counted
    from.
    """

    plan: Plan
    moment: datetime
    period: Period
    command: str = ""
    final_by: datetime | None = None
    once: bool = False
    started: str = field(default_factory=read_clock)

    def perform(self, history: History, *, again: bool) -> RunResult:
        """Return the existing record of the period, or evaluate and record it; failures are recorded too."""
        try:
            return self._load_and_record(history, again=again)
        except Exception as error:  # every failure is part of the history
            release_frames(error)  # if memory ran out, the rows must go before anything is written
            return self._record_failure(history, error)

    def _load_and_record(self, history: History, *, again: bool) -> RunResult:
        if (existing := self._find_same_moment(history)) is not None:
            return self._build_result(existing, is_new=False)
        self.plan.create_marker()
        audit = self.plan.audit
        formats = tuple(f".{form}" for form in audit.output.formats)
        report_work(evaluates=True, certifies=audit.certify != "off", formats=formats, is_filed=True)
        report_stage(Stage.READING)
        rows = load_audit_rows(self.plan, history, self.period, self.final_by or self.moment)
        try:
            return self._find_or_record(history, rows, again=again)
        finally:
            rows.close()

    def _find_or_record(
        self, history: History, rows: LoadedRows | SourceReference, *, again: bool
    ) -> RunResult:
        attempt = history.next_attempt(self.plan.name, self.period.label)
        existing = None if again else self._find_existing(history, rows)
        if existing is not None:
            return self._build_result(existing, is_new=False)
        rendered = self._render(history, rows)
        report_stage(Stage.FILING)
        with signals_deferred():  # a record and its files belong together
            outcome = self._record(history, rows, rendered, attempt, again=again)
            with suppress(ScoreReportError, OSError):  # `complete_run` tries again and reports the problem
                finalize_files(self.plan, history)
        return outcome

    def notify_unrecorded(self, error: Exception) -> ScoreReportError:
        """Send notifications of an error that is not recorded; return the error without secrets."""
        release_frames(error)
        shown = redact_error(error, self.plan.redactor.redact)
        with suppress(Exception):  # the notification may fail for the same reason as the run
            record = replace(self._begin_record(), reason=str(shown), exit_code=shown.exit_code)
            notify_by_plan(self.plan, record)
        return shown

    def _render(self, history: History, rows: LoadedRows | SourceReference) -> RenderedReport:
        records = history.records(self.plan.name)
        limits = trace_limits(self.plan, history, records)
        baseline = ensure_baseline(
            self.plan, history, self.period, self.moment, started=self.started, command=self.command
        )
        return render_audit_report(
            self.plan,
            rows,
            self.period,
            records if baseline.record is None else history.records(self.plan.name),  # it may be new
            baseline,
            limits,
            as_of=self.moment,
            last=history.last(),
            time=self.started,
            command=self.command,
        )

    def _record(
        self,
        history: History,
        rows: LoadedRows | SourceReference,
        rendered: RenderedReport,
        attempt: int,
        *,
        again: bool,
    ) -> RunResult:
        """Stage the files and append the record, unless a run on another machine appended one first."""
        folder = open_report_folder(self.plan)
        name = self.period.label if attempt == 1 else f"{self.period.label}.{attempt}"
        files = folder.stage({f"{name}{ending}": content for ending, content in rendered.forms.items()})
        record = complete_record(replace(self._begin_record(), attempt=attempt), rows, rendered, files)
        documents = {record.results_sha256: rendered.results, **self.plan.documents}
        open_pending_notification(self.plan).write(record)
        try:
            appended = history.append(record, documents)
        except AlreadyRecorded:
            folder.discard(files)
            open_pending_notification(self.plan).remove()
            existing = None if again else self._find_existing(history, rows)
            if existing is not None:
                return self._build_result(existing, is_new=False)
            attempt = history.next_attempt(self.plan.name, self.period.label)
            return self._record(history, rows, rendered, attempt, again=again)
        return self._build_result(appended, is_new=True)

    def _record_failure(self, history: History, error: Exception) -> RunResult:
        """Append the record of a failed run; its reason holds no secrets."""
        hide = self.plan.redactor.redact
        reason = hide(describe_error(error))
        failed = replace(self._begin_record(), reason=reason, exit_code=find_error_code(error))
        with suppress(OSError, ScoreReportError):  # a full disk must not hide the reason of the failure
            open_pending_notification(self.plan).write(
                replace(failed, attempt=history.next_attempt(self.plan.name, self.period.label))
            )
        try:
            record = history.append(failed, self.plan.documents)
        except ScoreReportError as second:
            unrecorded = UsageError(f"{reason} This failure could not be recorded: {second}")
            if not is_expected(error):
                unrecorded.exit_code = ExitCode.INTERNAL
            raise unrecorded from error
        shown = "" if is_expected(error) else hide(format_traceback(error))
        return RunResult(record=record, is_new=True, failure=shown)

    def _begin_record(self) -> Record:
        return begin_record(self.plan, self.period, self.moment, started=self.started, command=self.command)

    def _build_result(self, record: Record, *, is_new: bool) -> RunResult:
        return RunResult(record=record, is_new=is_new, files=find_report_files(self.plan, record))

    def _find_existing(self, history: History, rows: LoadedRows | SourceReference) -> Record | None:
        """Return the last valid record of the period if it has the same data and configuration.

        A failed run has no data, so the next run appends a new record and the history does not end with the
        failure. The same file has other data once more of its rows are old enough for a final outcome.
        """
        if (existing := self._find_same_moment(history)) is not None:
            return existing
        valid = list_valid(history.records(self.plan.name, period=self.period.label))
        last = valid[-1] if valid else None
        if last is None or last.configuration_sha256 != self.plan.configuration.sha256:
            return None
        recorded, present = last.data_sha256, rows.data_sha256
        if not present:  # the rows were not read yet; they are the same if their file is
            recorded, present = last.source_sha256, rows.source_sha256
        is_same_age = last.snapshot is not None and last.snapshot.immature == rows.immature
        is_same_seal = last.seal_check == rows.seal_check  # which has rows without an outcome, too
        return last if present and recorded == present and is_same_age and is_same_seal else None

    def _find_same_moment(self, history: History) -> Record | None:
        """Return the valid record of a run at the same moment, if only one is wanted: of another machine."""
        records = list_valid(history.records(self.plan.name)) if self.once else []
        made = [record for record in records if record.status is not AuditStatus.FAILED]
        return next((record for record in made if _is_moment(record.as_of, self.moment)), None)


def _is_moment(as_of: str, moment: datetime) -> bool:
    with suppress(ValueError, TypeError):  # earlier versions wrote other texts
        return datetime.fromisoformat(as_of) == moment
    return False
