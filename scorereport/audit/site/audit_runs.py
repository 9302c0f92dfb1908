"""The records of a history, put in order: which audits there are, and which runs each of them had."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from scorereport.audit.site.names import safe_name
from scorereport.configuration.periods import is_ahead
from scorereport.history.audit_record import AuditStatus, Record

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from scorereport.history.trend.drift_records import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRun:
    """One run of an audit: its record, and the hash of that."""

    record: Record
    sha256: str

    @property
    def has_numbers(self) -> bool:
        """Whether the run came to numbers at all."""
        return self.record.snapshot is not None and self.record.status is not AuditStatus.FAILED

    @property
    def is_ahead(self) -> bool:
        """Whether its period lay in the future when it ran, which earlier versions accepted."""
        return is_ahead(self.record.as_of, self.record.started)

    @property
    def period(self) -> str:
        """The name of the period, as a reader would write it: of several days, from the first to the last."""
        return self.record.period.label.replace("--", " to ")

    @property
    def day(self) -> date:
        """Where the run stands on the time axis: the middle of its period."""
        return self.record.period.middle


@dataclass(frozen=True, kw_only=True)
class AuditRuns:
    """All runs of an audit, those of the oldest period first; `key` is its name as a file.

    Runs on a period of the future are listed, but neither their status nor their numbers count.
    """

    name: str
    key: str
    runs: tuple[RecordedRun, ...]
    removed: frozenset[tuple[str, str]]

    @property
    def latest(self) -> RecordedRun:
        """The run of the newest period, and of several, the last."""
        return (self._counted or self.runs)[-1]

    @cached_property
    def measured(self) -> tuple[RecordedRun, ...]:
        """The runs that came to numbers."""
        return tuple(run for run in self._counted if run.has_numbers)

    @cached_property
    def failed(self) -> tuple[RecordedRun, ...]:
        """The runs that came to none."""
        return tuple(run for run in self._counted if not run.has_numbers)

    @cached_property
    def _counted(self) -> tuple[RecordedRun, ...]:
        return tuple(run for run in self.runs if not run.is_ahead)

    @property
    def address(self) -> str:
        """The page of the audit, from the top of the site."""
        return f"audits/{self.key}.html"


def get_snapshot(run: RecordedRun) -> Snapshot:
    """The numbers of a run that has some."""
    if run.record.snapshot is None:
        raise ValueError(f"Record {run.record.id} has no numbers.")
    return run.record.snapshot


def group_runs(records: Sequence[Record]) -> tuple[AuditRuns, ...]:
    """The audits of a history by name; removals of files belong to the audit whose files they were."""
    by_audit: dict[str, list[RecordedRun]] = {}
    for record, sha256 in zip(records, hash_records(records), strict=True):
        by_audit.setdefault(record.audit, []).append(RecordedRun(record=record, sha256=sha256))
    audits = (_collect_runs(name, runs) for name, runs in sorted(by_audit.items()))
    return tuple(audit for audit in audits if audit.runs)


def hash_records(records: Sequence[Record]) -> list[str]:
    """The hash of each record as the one after it names it; that of the last, or before a gap, is computed.

    Whether the names are right is for `verify` to say, which takes longer than all pages together.
    """
    after: list[Record | None] = [*records[1:], None]
    return [
        record.sha256 if then is None or then.id != record.id + 1 else then.previous
        for record, then in zip(records, after, strict=False)
    ]


def _collect_runs(name: str, runs: Sequence[RecordedRun]) -> AuditRuns:
    audits = [run for run in runs if run.record.kind == "audit"]
    return AuditRuns(
        name=name,
        key=safe_name(name),
        runs=tuple(sorted(audits, key=lambda run: (run.record.period.end, run.record.id))),
        removed=frozenset((file.name, file.sha256) for run in runs for file in run.record.removed),
    )
