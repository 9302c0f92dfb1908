"""Runs of each audit in order, from the records of a history, and safe file names for their pages."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import quote

from scorereport.configuration.periods import is_ahead
from scorereport.history.audit_record import AuditStatus, Record

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from scorereport.history.trend.drift_records import Snapshot


#: What may stay as it is: short, without capitals, which some systems do not tell apart, and nowhere `..`.
_PLAIN = re.compile(r"(?!.*\.\.)[a-z0-9](?:[a-z0-9._-]{0,58}[a-z0-9])?")
#: How changed names end; no name that stays as it is ends so.
_CHANGED = re.compile(r"-[0-9a-f]{10}$")
#: Names that some systems keep for devices, whatever ending follows.
_DEVICE_NAMES = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?")
_ENDINGS = (".html", ".pdf", ".json")


def safe_name(name: str) -> str:
    """A name for a file or a folder: the same one for the same name, another one for any other name.

    >>> safe_name("credit-risk"), safe_name("../Crédit")
    ('credit-risk', 'cr-dit-28631bf00e')
    """
    if _PLAIN.fullmatch(name) and not _CHANGED.search(name) and not _DEVICE_NAMES.fullmatch(name):
        return name
    kept = re.sub("[^a-z0-9]+", "-", name.lower())[:40].strip("-") or "audit"
    digest = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()
    return f"{kept}-{digest[:10]}"


def safe_file_name(name: str) -> str:
    """The same for a file, whose ending stays if it is one of a report.

    >>> safe_file_name("2026-10.pdf"), safe_file_name("a/b.exe")
    ('2026-10.pdf', 'a-b-exe-c865741344')
    """
    ending = PurePosixPath(name).suffix
    return f"{safe_name(name.removesuffix(ending))}{ending}" if ending in _ENDINGS else safe_name(name)


def link_to_file(path: str, *, above: int = 0) -> str:
    """The address of a file of the site, from a page so many folders below its top."""
    return "../" * above + quote(path)


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
