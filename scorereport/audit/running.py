"""`audit run`: read, evaluate, certify, judge, render, record; a run that fails is recorded too."""

from __future__ import annotations

import traceback
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from scorereport.audit.drafting import draft_audit, draft_failure
from scorereport.audit.filing import Shelf
from scorereport.audit.gathering import Gathered, gather
from scorereport.audit.locking import PATIENCE, held
from scorereport.audit.making import Made, make_audit_report
from scorereport.audit.planning import Plan, read_plan
from scorereport.audit.retaining import find_expired
from scorereport.audit.telling import tell
from scorereport.clock import timestamp
from scorereport.errors import ExitCode, ScoreReportError, UsageError
from scorereport.history.records import Record, Status
from scorereport.history.store import AlreadyRecorded, History, open_history
from scorereport.periods import Period, find_period, read_as_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.trend.records import Snapshot


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """The record of an audit, and whether this run made it or found it.

    `failure` has the traceback of an error that nobody foresaw; `problems` are those of telling others.
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
    wait: float = PATIENCE,
    command: str = "",
) -> Outcome:
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
    moment = read_as_of(as_of, plan.zone)
    period = find_period(plan.audit.window.period, moment)
    with held(plan, wait=wait), open_history(plan.database_url, head=plan.head) as history:
        run = Run(plan=plan, history=history, moment=moment, period=period, command=command)
        outcome = run.perform(again=again)
        return replace(outcome, problems=tuple(run.follow(outcome)))


@dataclass(frozen=True, kw_only=True, eq=False)
class Run:
    """One audit of one period, while nobody else runs it."""

    plan: Plan
    history: History
    moment: datetime
    period: Period
    command: str = ""
    started: str = field(default_factory=timestamp)

    @property
    def shelf(self) -> Shelf:
        """Where its files go."""
        return Shelf(reports=self.plan.resolve(self.plan.reports_folder), audit=self.plan.name)

    def perform(self, *, again: bool) -> Outcome:
        """The record of the period: that which is there, or a new one; a failure makes a record as well."""
        try:
            self._settle()
            gathered = self._gather()
            known = None if again else self._find_known(gathered)
            if known is not None:
                return self._answer(known, is_new=False)
            return self._answer(self._file(gathered, self._make(gathered)), is_new=True)
        except AlreadyRecorded:  # by another machine, where a history is shared
            return self._answer(self._list_records(of_period=True)[-1], is_new=False)
        except Exception as error:  # whatever goes wrong is part of the history
            return self._fail(error)

    def follow(self, outcome: Outcome) -> list[str]:
        """What comes after a new record: files that expired go, people are told; gives what went wrong."""
        if not outcome.is_new:
            return []
        problems = [*self._find_namesake(outcome.record), *self._retain()]
        return problems + tell(
            self.plan.audit.notify,
            outcome.record,
            files=outcome.files,
            redactor=self.plan.redactor,
            expand=self.plan.expand,
            folder=self.plan.path.parent,
        )

    def _gather(self) -> Gathered:
        plan = self.plan
        return gather(
            plan.audit.source,
            plan.audit.window,
            self.period,
            plan.configuration.evaluation.columns,
            folder=plan.path.parent,
            zone=plan.zone,
            expand=plan.expand,
        )

    def _make(self, gathered: Gathered) -> Made:
        return make_audit_report(
            self.plan,
            gathered.predictions,
            self.period,
            self._find_past(),
            looks=self.plan.count_looks(self.moment),
            last=self.history.last(),
            time=self.started,
            command=self.command,
        )

    def _file(self, gathered: Gathered, made: Made) -> Record:
        """Stage the files, add the record, and put the files into their place."""
        attempt = self.history.next_attempt(self.plan.name, self.period.label)
        name = self.period.label if attempt == 1 else f"{self.period.label}-{attempt}"
        files = self.shelf.stage({f"{name}{ending}": content for ending, content in made.forms.items()})
        draft = draft_audit(replace(self._draft(), attempt=attempt), gathered, made, files)
        record = self.history.append(draft, {draft.results_sha256: made.results, **self._keep_text()})
        self.shelf.settle(record.files)
        return record

    def _fail(self, error: Exception) -> Outcome:
        """The record of a run that failed; its reason is told without secrets."""
        is_foreseen = isinstance(error, (ScoreReportError, OSError))
        hide = self.plan.redactor.redact
        reason = hide(str(error) if is_foreseen else f"{type(error).__name__}: {error}")
        code = error.exit_code if isinstance(error, ScoreReportError) else ExitCode.USAGE
        try:
            record = self.history.append(
                replace(self._draft(), reason=reason, exit_code=code), self._keep_text()
            )
        except ScoreReportError as second:
            raise UsageError(f"{reason} This failure could not be recorded: {hide(str(second))}") from error
        with suppress(ScoreReportError, OSError):
            self._settle()
        told = "" if is_foreseen else hide("".join(traceback.format_exception(error)))
        return Outcome(record=record, is_new=True, failure=told)

    def _draft(self) -> Record:
        return draft_failure(self.plan, self.period, self.moment, started=self.started, command=self.command)

    def _keep_text(self) -> dict[str, bytes]:
        """The configuration, as a document of the history."""
        configuration = self.plan.configuration
        return {configuration.sha256: configuration.text.encode()}

    def _answer(self, record: Record, *, is_new: bool) -> Outcome:
        shelf = Shelf(reports=self.plan.resolve(record.folder), audit=record.audit)
        return Outcome(record=record, is_new=is_new, files=tuple(map(shelf.find, record.files)))

    def _list_records(self, *, of_period: bool = False) -> tuple[Record, ...]:
        """The records of this audit, or those of its runs of the same period."""
        if not of_period:
            return self.history.records(self.plan.name)
        return self.history.records(self.plan.name, kind="audit", period=self.period.label)

    def _find_known(self, gathered: Gathered) -> Record | None:
        """The last record of the same period, data and configuration that did not fail."""
        same = (gathered.predictions.sha256, self.plan.configuration.sha256)
        known = [
            record
            for record in self._list_records(of_period=True)
            if record.status is not Status.FAILED
            and (record.data_sha256, record.configuration_sha256) == same
        ]
        return known[-1] if known else None

    def _find_past(self) -> list[Snapshot]:
        """Snapshots of periods that ended before this one does; the last of each period."""
        by_period = {
            record.period.label: record.snapshot
            for record in self._list_records()
            if record.snapshot is not None and record.period.end < self.period.end
        }
        return list(by_period.values())

    def _find_namesake(self, record: Record) -> Iterator[str]:
        """A word of warning where another configuration has made records of an audit of this name."""
        others = self.history.records(self.plan.name, kind="audit", last=2)
        names = {other.configuration for other in others if other.id < record.id}
        for name in names - {record.configuration}:
            yield (
                f"The audit {record.audit} was last run by {name}, and now by {record.configuration}: if "
                "these are two audits, give each its own `audit.name`."
            )

    def _settle(self) -> None:
        """Finish what an earlier run, which was killed, has left half done."""
        if self.shelf.staging.is_dir():
            self.shelf.settle(file for record in self._list_records() for file in record.files)

    def _retain(self) -> list[str]:
        """Remove files that were kept long enough; the history says so before they go."""
        records = self._list_records()
        expired = find_expired(records, self.plan.audit.retention, self.started)
        removal = replace(self._draft(), kind="retention", status=Status.DONE, exit_code=0, removed=expired)
        try:
            if expired:
                self.history.append(removal, self._keep_text())
            self.shelf.remove([*expired, *(file for record in records for file in record.removed)])
        except (ScoreReportError, OSError) as error:
            return [f"Files that were kept long enough could not be removed: {error}"]
        return []
