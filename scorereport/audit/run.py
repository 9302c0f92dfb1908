"""Run of an audit: read, evaluate, certify, judge, render, record; a failed run is recorded too."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
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
from scorereport._utils.processes import signals_deferred
from scorereport.audit.after_run import (
    begin_record,
    complete_earlier_run,
    complete_record,
    complete_run,
    finalize_files,
    notify_by_plan,
)
from scorereport.audit.audit_report import RenderedReport, render_audit_report
from scorereport.audit.channels.delivery import open_pending_notification
from scorereport.audit.integrity import update_chain_head
from scorereport.audit.plan import Plan, read_plan
from scorereport.audit.report_folder import find_report_files, open_report_folder
from scorereport.audit.rows.loaded_rows import LoadedRows, load_rows
from scorereport.configuration.audit_rules import check_portable_name
from scorereport.configuration.periods import Period, check_not_ahead, find_period, is_ahead, read_as_of
from scorereport.errors import ExitCode, ScoreReportError, UsageError
from scorereport.history.audit_record import Record
from scorereport.history.chain_head import check_chain_head
from scorereport.history.record_rows import AlreadyRecorded
from scorereport.history.store import History, open_history

if TYPE_CHECKING:
    from collections.abc import Iterator

    from filelock import BaseFileLock

    from scorereport.audit.rows.source_reference import SourceReference
    from scorereport.history.trend.drift_records import Snapshot


#: How long a run waits for another of the same audit, in seconds.
DEFAULT_WAIT_SECONDS = 3600.0


@contextmanager
def hold_audit_lock(plan: Plan, *, wait: float = DEFAULT_WAIT_SECONDS) -> Iterator[None]:
    """Keep all others from running this audit inside the block; wait for them first.

    The system lets go of the lock of a process that dies, so none is ever left behind.
    """
    lock = _acquire_lock(plan, wait)
    try:
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
            f"Another run of the audit {plan.name} did not end within {wait:g} seconds; its lock is {path}."
        ) from error
    except OSError as error:
        raise UsageError(f"The folder {plan.folder} cannot be written: {error.strerror}.") from error
    return lock


@dataclass(frozen=True, kw_only=True, eq=False)
class RunResult:
    """The record of an audit, and whether this run made it or found it.

    `failure` has the traceback of an error that nobody foresaw; `problems` are those of what came after.
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
    again: bool = False,
    wait: float = DEFAULT_WAIT_SECONDS,
    command: str = "",
) -> RunResult:
    """Run the audit that a configuration asks for, once for each period and its data.

    Parameters
    ----------
    path : the configuration, a TOML file; see docs/audits.md
    as_of : the day, or the moment, that the period is counted from; now unless given
    again : make a new record even where there is one of the same period, data and configuration
    wait : seconds to wait for another run of the same audit
    command : what the record says of how it was started
    """
    plan = read_plan(path)
    check_portable_name(plan.name, "audit.name")
    for place in {None, plan.configuration.work.get("temporary_folder")}:
        remove_abandoned(
            place
        )  # rows of a run that was killed must not lie about until one needs a folder again
    moment = check_not_ahead(read_as_of(as_of, plan.zone), plan.zone)
    run = AuditRun(
        plan=plan, moment=moment, period=find_period(plan.audit.window.period, moment), command=command
    )
    try:
        with hold_audit_lock(plan, wait=wait), open_history(plan.database_url, head=plan.head) as history:
            check_chain_head(history)
            _check_name_case(plan, history)
            unnoted = update_chain_head(plan, history)
            earlier = complete_earlier_run(plan, history)
            outcome = run.perform(history, again=again)
            alarms = (*unnoted, *history.problems)
            later = complete_run(plan, history, outcome.record, alarms) if outcome.is_new else []
            alarms = (*unnoted, *history.problems)  # what follows appends records as well
    except Exception as error:
        shown = run.tell_unrecorded(error)
        if shown is error:
            raise
        raise shown from error
    return replace(outcome, problems=tuple(map(plan.redactor.redact, (*alarms, *earlier, *later))))


def _check_name_case(plan: Plan, history: History) -> None:
    """Refuse a new audit whose name differs from another one of the history in case only."""
    names = history.names()
    alike = [name for name in names if name.casefold() == plan.name.casefold()]
    if alike and plan.name not in names:
        raise UsageError(
            f"`audit.name` must differ from {alike[0]!r}, an audit of the same history, by more than upper "
            f"and lower case, which some systems do not tell apart; got {plan.name!r}."
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class AuditRun:
    """One audit of one period, while nobody else runs it."""

    plan: Plan
    moment: datetime
    period: Period
    command: str = ""
    started: str = field(default_factory=read_clock)

    def perform(self, history: History, *, again: bool) -> RunResult:
        """The record of the period: that which is there, or a new one; a failure makes a record as well."""
        try:
            return self._work(history, again=again)
        except Exception as error:  # whatever goes wrong is part of the history
            release_frames(error)  # where memory ran out, rows must go before anything is written
            return self._fail(history, error)

    def _work(self, history: History, *, again: bool) -> RunResult:
        self.plan.make_mark()
        gathered = self._gather()
        try:
            return self._answer_or_file(history, gathered, again=again)
        finally:
            gathered.close()

    def _answer_or_file(
        self, history: History, gathered: LoadedRows | SourceReference, *, again: bool
    ) -> RunResult:
        attempt = history.next_attempt(self.plan.name, self.period.label)
        known = None if again else self._find_known(history, gathered)
        if known is not None:
            return self._answer(known, is_new=False)
        made = self._make(history, gathered)
        with signals_deferred():  # a record and its files belong together
            outcome = self._file(history, gathered, made, attempt, again=again)
            with suppress(ScoreReportError, OSError):  # it is tried once more, and told, in what follows
                finalize_files(self.plan, history)
        return outcome

    def tell_unrecorded(self, error: Exception) -> ScoreReportError:
        """Take the secrets out of an error that no record will tell of, and tell people of it."""
        release_frames(error)
        shown = redact_error(error, self.plan.redactor.redact)
        with suppress(Exception):  # the way of telling people may be what failed
            draft = replace(self._draft(), reason=str(shown), exit_code=shown.exit_code)
            notify_by_plan(self.plan, draft)
        return shown

    def _gather(self) -> LoadedRows | SourceReference:
        plan = self.plan
        return load_rows(
            plan.audit.source,
            plan.audit.window,
            self.period,
            plan.configuration.evaluation.columns,
            folder=plan.path.parent,
            zone=plan.zone,
            expand=plan.expand,
            work=plan.configuration.work,
        )

    def _make(self, history: History, gathered: LoadedRows | SourceReference) -> RenderedReport:
        return render_audit_report(
            self.plan,
            gathered,
            self.period,
            self._find_past(history),
            as_of=self.moment,
            last=history.last(),
            time=self.started,
            command=self.command,
        )

    def _file(
        self,
        history: History,
        gathered: LoadedRows | SourceReference,
        made: RenderedReport,
        attempt: int,
        *,
        again: bool,
    ) -> RunResult:
        """Stage the files and add the record; somebody on another machine may have been faster."""
        shelf = open_report_folder(self.plan)
        name = self.period.label if attempt == 1 else f"{self.period.label}.{attempt}"
        files = shelf.stage({f"{name}{ending}": content for ending, content in made.forms.items()})
        draft = complete_record(replace(self._draft(), attempt=attempt), gathered, made, files)
        open_pending_notification(self.plan).write(draft)
        try:
            record = history.append(draft, {draft.results_sha256: made.results, **self._keep_text()})
        except AlreadyRecorded:
            shelf.discard(files)
            open_pending_notification(self.plan).forget()
            known = None if again else self._find_known(history, gathered)
            if known is not None:
                return self._answer(known, is_new=False)
            attempt = history.next_attempt(self.plan.name, self.period.label)
            return self._file(history, gathered, made, attempt, again=again)
        return self._answer(record, is_new=True)

    def _fail(self, history: History, error: Exception) -> RunResult:
        """The record of a run that failed; its reason is told without secrets."""
        hide = self.plan.redactor.redact
        reason = hide(describe_error(error))
        draft = replace(self._draft(), reason=reason, exit_code=find_error_code(error))
        with suppress(OSError, ScoreReportError):  # a full disk must not hide what went wrong
            open_pending_notification(self.plan).write(
                replace(draft, attempt=history.next_attempt(self.plan.name, self.period.label))
            )
        try:
            record = history.append(draft, self._keep_text())
        except ScoreReportError as second:
            unrecorded = UsageError(f"{reason} This failure could not be recorded: {second}")
            if not is_expected(error):
                unrecorded.exit_code = ExitCode.INTERNAL
            raise unrecorded from error
        shown = "" if is_expected(error) else hide(format_traceback(error))
        return RunResult(record=record, is_new=True, failure=shown)

    def _draft(self) -> Record:
        return begin_record(self.plan, self.period, self.moment, started=self.started, command=self.command)

    def _keep_text(self) -> dict[str, bytes]:
        """The configuration, as a document of the history."""
        configuration = self.plan.configuration
        return {configuration.sha256: configuration.text.encode()}

    def _answer(self, record: Record, *, is_new: bool) -> RunResult:
        return RunResult(record=record, is_new=is_new, files=find_report_files(self.plan, record))

    def _find_known(self, history: History, gathered: LoadedRows | SourceReference) -> Record | None:
        """The last record of the period, if it is of the same data and configuration.

        A failure has no data: after it there is a new record, so that the history does not end with it.
        """
        last = history.find(self.plan.name, self.period.label)
        if last is None or last.configuration_sha256 != self.plan.configuration.sha256:
            return None
        known, now = last.data_sha256, gathered.data_sha256
        if not now:  # rows that were not read yet are the same if their file is
            known, now = last.source_sha256, gathered.source_sha256
        return last if now and known == now else None

    def _find_past(self, history: History) -> list[Snapshot]:
        """Snapshots of periods that ended before this one does; the last of each period."""
        by_period = {
            record.period.label: record.snapshot
            for record in history.records(self.plan.name)
            if record.snapshot is not None
            and record.period.end < self.period.end
            and not is_ahead(record.as_of, record.started)
        }
        return list(by_period.values())
