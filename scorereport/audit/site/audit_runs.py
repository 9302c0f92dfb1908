"""Runs of each audit in order, those that count, annulments, and safe file names for their pages."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import quote

from scorereport.audit.audit_status import AuditState
from scorereport.configuration.periods import is_ahead
from scorereport.history.audit_record import AuditStatus, Record
from scorereport.history.trend.evidence_records import TrendEvidence
from scorereport.history.valid_records import find_annulled, list_counted, list_valid

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import date, datetime

    from scorereport.history.trend.drift_records import Snapshot

    #: Return the evidence, and the state, of the records of one audit.
    FindEvidence = Callable[[Sequence[Record]], TrendEvidence | None]
    FindState = Callable[[Sequence[Record]], AuditState]


#: Names that are kept: short, without `..`, and without capitals, which some systems do not distinguish.
_PLAIN = re.compile(r"(?!.*\.\.)[a-z0-9](?:[a-z0-9._-]{0,58}[a-z0-9])?")
#: The end of changed names; a name with this end is never kept.
_CHANGED = re.compile(r"-[0-9a-f]{10}$")
#: Names that some systems reserve for devices, with any ending.
_DEVICE_NAMES = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?")
#: The path of the feed of all audits, relative to the top of the site.
SITE_FEED = "feed.xml"
_ENDINGS = (".html", ".pdf", ".json")


def safe_name(name: str) -> str:
    """Return a safe name for a file or a folder: equal for equal names, different for different names.

    >>> safe_name("credit-risk"), safe_name("../Crédit")
    ('credit-risk', 'cr-dit-28631bf00e')
    """
    if _PLAIN.fullmatch(name) and not _CHANGED.search(name) and not _DEVICE_NAMES.fullmatch(name):
        return name
    kept = re.sub("[^a-z0-9]+", "-", name.lower())[:40].strip("-") or "audit"
    digest = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()
    return f"{kept}-{digest[:10]}"


def safe_file_name(name: str) -> str:
    """Return a safe name for a file; its ending is kept if it is that of a report.

    >>> safe_file_name("2026-10.pdf"), safe_file_name("a/b.exe")
    ('2026-10.pdf', 'a-b-exe-c865741344')
    """
    ending = PurePosixPath(name).suffix
    return f"{safe_name(name.removesuffix(ending))}{ending}" if ending in _ENDINGS else safe_name(name)


def link_to_file(path: str, *, above: int = 0) -> str:
    """Return the link to a file of the site from a page that is `above` folders below its top."""
    return "../" * above + quote(path)


def find_page_address(audit: str) -> str:
    """Return the path of an audit's page, relative to the top of the site."""
    return f"audits/{safe_name(audit)}.html"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRun:
    """One run of an audit: its record and the hash of the record, and the record that annuls it, if any.

    An annulled run is listed with the reason of its annulment; its status and its numbers do not count.
    """

    record: Record
    sha256: str
    annulment: Record | None = None

    @property
    def is_annulled(self) -> bool:
        """Whether a later record annuls the run."""
        return self.annulment is not None

    @property
    def has_numbers(self) -> bool:
        """Whether the run has results."""
        return self.record.snapshot is not None and self.record.status is not AuditStatus.FAILED

    @property
    def is_ahead(self) -> bool:
        """Whether its period was in the future when it ran, as earlier versions allowed."""
        return is_ahead(self.record.as_of, self.record.started)

    @property
    def period(self) -> str:
        """The name of the period for readers, for several days with `to` between the first and the last."""
        return self.record.period.label.replace("--", " to ")

    @property
    def day(self) -> date:
        """The day of the run on the time axis, or the time if its period has hours: the middle of it."""
        return self.record.period.middle


@dataclass(frozen=True, kw_only=True)
class AuditRuns:
    """All runs of an audit, the oldest period first; `key` is its name as a file.

    `measured` are the runs that count: the last valid one with results of each period. `failed` are the last
    failed runs of periods that have no results; a failed run that was made good is listed in `runs` only, as
    are annulled runs and those on a future period. `records` are those of all kinds, in the order of the
    chain.
    """

    name: str
    key: str
    records: tuple[Record, ...]
    runs: tuple[RecordedRun, ...]
    measured: tuple[RecordedRun, ...]
    failed: tuple[RecordedRun, ...]
    annulments: tuple[RecordedRun, ...]
    removed: frozenset[tuple[str, str]]
    evidence: TrendEvidence | None = None
    state: AuditState | None = None

    @cached_property
    def latest(self) -> RecordedRun:
        """The run that the state follows: of the period that is due or, if there is none, of the newest."""
        due = None if self.state is None or self.state.record is None else self.state.record.id
        newest = max((*self.measured, *self.failed), key=_sort_run, default=self.runs[-1])
        return next((run for run in self.runs if run.record.id == due), newest)

    @property
    def is_missing(self) -> bool:
        """Whether a period is due that has no valid record."""
        return self.state is not None and self.state.period is not None and self.state.record is None

    @property
    def address(self) -> str:
        """The path of the audit's page, relative to the top of the site."""
        return find_page_address(self.name)

    @property
    def feed(self) -> str:
        """The path of the audit's feed, relative to the top of the site."""
        return f"audits/{self.feed_beside}"

    @property
    def feed_beside(self) -> str:
        """The name of the audit's feed, which lies beside its page."""
        return f"{self.key}.xml"


def get_snapshot(run: RecordedRun) -> Snapshot:
    """Return the snapshot of a run with results."""
    if run.record.snapshot is None:
        raise ValueError(f"Record {run.record.id} has no numbers.")
    return run.record.snapshot


def group_runs(
    records: Sequence[Record], find_evidence: FindEvidence | None = None, find_state: FindState | None = None
) -> tuple[AuditRuns, ...]:
    """Group the records of a history by audit, in order of name; removals of files belong to their audit."""
    by_audit: dict[str, list[RecordedRun]] = {}
    for record, sha256 in zip(records, hash_records(records), strict=True):
        by_audit.setdefault(record.audit, []).append(RecordedRun(record=record, sha256=sha256))
    audits = [_collect_runs(name, runs) for name, runs in sorted(by_audit.items())]
    return tuple(
        replace(
            audit,
            evidence=None if find_evidence is None else find_evidence(audit.records),
            state=None if find_state is None else find_state(audit.records),
        )
        for audit in audits
        if audit.runs
    )


def hash_records(records: Sequence[Record]) -> list[str]:
    """Return the hash of each record as stated in the next one; computed for the last, and before a gap.

    `verify` checks the stated hashes; that takes longer than writing all pages.
    """
    after: list[Record | None] = [*records[1:], None]
    return [
        record.sha256 if then is None or then.id != record.id + 1 else then.previous
        for record, then in zip(records, after, strict=False)
    ]


def _collect_runs(name: str, found: Sequence[RecordedRun]) -> AuditRuns:
    records = [run.record for run in found]
    annulled = find_annulled(records)
    runs = [
        replace(run, annulment=annulled.get(run.record.id)) for run in found if run.record.kind == "audit"
    ]
    runs.sort(key=_sort_run)
    counted = {record.id for record in list_counted(records)}
    measured = tuple(run for run in runs if run.record.id in counted)
    return AuditRuns(
        name=name,
        key=safe_name(name),
        records=tuple(records),
        runs=tuple(runs),
        measured=measured,
        failed=_find_failed(runs, records, {run.record.period.label for run in measured}),
        annulments=tuple(run for run in found if run.record.kind == "annulment"),
        removed=frozenset((file.name, file.sha256) for run in found for file in run.record.removed),
    )


def _find_failed(
    runs: Sequence[RecordedRun], records: Sequence[Record], measured: set[str]
) -> tuple[RecordedRun, ...]:
    """Find the last valid run of each period that has no results."""
    valid = {record.id for record in list_valid(records)}
    last = {run.record.period.label: run for run in runs if run.record.id in valid}
    return tuple(run for label, run in last.items() if label not in measured)


def _sort_run(run: RecordedRun) -> tuple[tuple[datetime, datetime], int]:
    """Sort by period, then in the order of the chain."""
    return run.record.period.order, run.record.id
