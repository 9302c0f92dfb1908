"""Integrity of the history: records, files and chain head, checked on request and before runs.

An honest one is left by a run that was killed right after it had appended the record, or that could not
write the file. Anyone who can insert rows into the database leaves the same trace, so no run removes it
without looking.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from scorereport._utils.formatting import join_words
from scorereport.audit.channels.delivery import open_pending_notification
from scorereport.audit.record_agreement import check_agreement, describe_snapshot
from scorereport.audit.record_rules import (
    AuditRequest,
    check_attached_results,
    check_attempts,
    check_record_contents,
    check_record_request,
    check_run_times,
    find_future_periods,
    find_times_backwards,
    read_audit_request,
)
from scorereport.errors import UsageError
from scorereport.history.audit_record import CHAIN_START
from scorereport.history.chain_check import name_record
from scorereport.history.store import open_unchecked
from scorereport.history.verification import verify_history
from scorereport.history.verification_findings import FindingKind, IntegrityFinding, Verification

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from scorereport.audit.plan import Plan
    from scorereport.history.audit_record import Record
    from scorereport.history.store import History


class RecordExaminer:
    """Holds records against what a run writes; what no run can have made is a finding."""

    def __init__(self) -> None:
        self._records: Sequence[Record] = ()
        self._by_results: dict[str, list[Record]] = defaultdict(list)
        self._by_configuration: dict[str, list[Record]] = defaultdict(list)
        self._past: dict[str, dict[str, int]] | None = None
        self._requests: dict[tuple[str, str], AuditRequest] = {}
        self.findings: list[IntegrityFinding] = []
        self.notes: list[str] = []

    def start(self, records: Sequence[Record], *, is_complete: bool, now: str) -> None:
        """Look at the records by themselves; `is_complete` if none is missing or changed."""
        self._records = records
        for record in records:
            self._by_results[record.results_sha256].append(record)
            self._by_configuration[record.configuration_sha256].append(record)
            self._blame(record, check_record_contents(record))
        for record, claim in (
            *check_run_times(records, now),
            *(check_attempts(records) if is_complete else ()),
        ):
            self._blame(record, [claim])
        self._compare_times()
        self._past = _index_past(records) if is_complete else None

    def read(self, sha256: str, content: bytes) -> None:
        """Look at a document that is what its name says."""
        for record in self._by_configuration.get(sha256, ()):
            self._blame(record, self._check_configuration(record, content))
        sharing = self._by_results.get(sha256, [])
        for record in sharing[1:]:  # each run names the record before it in its document
            self._blame(record, [f"has the results document of record {sharing[0].id}"])
        for record in sharing:
            known = None if self._past is None else self._list_past(record)
            found = check_agreement(record, content, known)
            self._blame(record, found.wrong)
            self.notes += [f"Record {record.id} {claim}." for claim in found.unconfirmed]

    def look(self, record: Record, path: Path) -> None:
        """Look at a file that is what its record says; all documents were read before."""
        request = self._requests.get((record.configuration_sha256, record.configuration))
        self._blame(record, check_attached_results(record, path, request))

    def _check_configuration(self, record: Record, content: bytes) -> Iterator[str]:
        key = (record.configuration_sha256, record.configuration)
        if key not in self._requests:
            try:
                self._requests[key] = read_audit_request(content, record.configuration)
            except (ValueError, RecursionError) as error:
                yield f"names a configuration that cannot be read: {error}"
                return
        yield from check_record_request(record, self._requests[key])

    def _list_past(self, record: Record) -> set[str]:
        past = (self._past or {}).get(record.audit, {})
        return {text for text, number in past.items() if number < record.id}

    def _compare_times(self) -> None:
        for before, record in find_times_backwards(self._records, by_one_clock=True):
            claim = f"ended at {record.finished}, before record {before.id}, which ended at {before.finished}"
            self._blame(record, [f"{claim}: the clock was set, or one of them was not made at that time"])
        for before, record in islice(find_times_backwards(self._records, by_one_clock=False), 1):
            self.notes.append(
                f"Record {record.id} ended at {record.finished}, before record {before.id} of another "
                f"machine, which ended at {before.finished}: their clocks differ."
            )
        for record in find_future_periods(self._records):
            self.notes.append(
                f"Record {record.id} is of the period {record.period.label}, which lay in the future when it "
                "was made, as earlier versions accepted; its status does not count on the site."
            )

    def _blame(self, record: Record, claims: Iterator[str] | Sequence[str]) -> None:
        for claim in claims:
            end = "" if claim.endswith(".") else "."
            self.findings.append(
                IntegrityFinding(
                    kind=FindingKind.CONTRADICTORY,
                    subject=name_record(record.id),
                    sentence=f"Record {record.id} {claim}{end}",
                )
            )


def _index_past(records: Sequence[Record]) -> dict[str, dict[str, int]]:
    """The snapshots of each audit as later documents show them, with the first record that has them."""
    past: dict[str, dict[str, int]] = defaultdict(dict)
    for record in records:
        if record.snapshot is not None:
            past[record.audit].setdefault(describe_snapshot(record.snapshot), record.id)
    return past


def verify_audit_history(plan: Plan, *, heads: Sequence[str] = ()) -> Verification:
    """Verify the whole history, and all files that are kept here.

    A history on a server may be shared by people who keep their files elsewhere; a note names their audits.
    """
    if plan.history_file is not None and not plan.history_file.exists() and plan.head.exists():
        return _report_missing_history(plan)
    elsewhere: set[str] = set()
    marks: set[str] = set()
    mark = plan.mark
    has_lost_mark = not mark and plan.reports.exists()  # then none of the files is let off

    def is_here(record: Record) -> bool:
        marks.add(record.home)
        here = record.home in ("", mark) or has_lost_mark
        if record.files and not here:
            elsewhere.add(record.audit)
        return here

    with open_unchecked(plan.database_url, head=plan.head) as history:
        found = verify_history(
            history,
            find_folder=lambda record: plan.resolve(record.folder),
            heads=heads,
            is_here=is_here,
            examiner=RecordExaminer(),
        )
    found = replace(found, findings=(*found.findings, *_find_missing_markers(plan, mark, marks)))
    if not elsewhere:
        return found
    note = f"Files of {join_words(sorted(elsewhere))} are kept elsewhere: verify them there."
    return replace(found, notes=(*found.notes, note))


def _find_missing_markers(plan: Plan, mark: str, marks: set[str]) -> Iterator[IntegrityFinding]:
    """Where audits were run with the history of a server, a mark and a head are left; both, or neither."""
    if plan.history_file is not None:
        return
    has_head = plan.head.exists()
    if not mark and has_head:
        sentence = f"The file {plan.home} is gone or empty, though audits were run here."
        yield IntegrityFinding(kind=FindingKind.MISSING, subject=f"file {plan.home}", sentence=sentence)
    if mark and marks and mark not in marks and has_head:
        sentence = f"The file {plan.home} was changed: no record has its mark, though audits were run here."
        yield IntegrityFinding(kind=FindingKind.CHANGED, subject=f"file {plan.home}", sentence=sentence)
    if mark and mark in marks and not has_head:
        sentence = f"The file {plan.head} is missing, though audits were run here: records may be cut off."
        yield IntegrityFinding(kind=FindingKind.MISSING, subject=f"file {plan.head}", sentence=sentence)


def _report_missing_history(plan: Plan) -> Verification:
    """A history that is gone, though a file remembers it."""
    sentence = f"The history {plan.history_file} is gone, and the file {plan.head.name} remembers it."
    finding = IntegrityFinding(kind=FindingKind.UNREADABLE, subject=str(plan.history_file), sentence=sentence)
    return Verification(records=0, files=0, head=CHAIN_START, findings=(finding,))


def update_chain_head(plan: Plan, history: History) -> list[str]:
    """Let the file `head` remember records that it lacks, if they hold; gives what people should look at.

    Of a history on a server, only records that were made here are noted in the file of this folder.
    """
    if plan.history_file is None and not plan.mark:
        return []
    records = [history.get(number) for number in history.find_unnoted(plan.mark)]
    if not records:
        return []
    _check_new_records(plan, history, records)
    history.note(records[-1])
    unexplained = [record for record in records if not _is_explained(plan, record)]
    return [_describe_new_records(plan, unexplained)] if unexplained else []


def _check_new_records(plan: Plan, history: History, records: Sequence[Record]) -> None:
    """Refuse records that do not agree with their documents and files."""
    subjects = {subject for record in records for subject in _list_subjects(record)}
    findings = [finding for finding in verify_audit_history(plan).findings if finding.subject in subjects]
    if findings:
        last = records[-1]
        raise UsageError(
            f"The history {history.name} has records that the file {plan.head} does not remember, and they "
            f"do not hold: {findings[0].sentence} Nothing was recorded. `scorereport audit verify` lists all "
            "findings; restore the database from a copy. To accept the records as they are, write "
            f"`{last.id} {last.sha256}` into the file."
        )


def _list_subjects(record: Record) -> Iterator[str]:
    yield name_record(record.id)
    yield from (f"document {key}" for key in record.documents)
    yield from (f"file {file.name}" for file in record.files)


def _is_explained(plan: Plan, record: Record) -> bool:
    """Whether a run noted, before it appended the record, that people are to be notified of it.

    That note goes when they were, after the file `head` was written. Removals of files are recorded between.
    """
    noted = open_pending_notification(plan, record.audit).read()
    return noted is not None and (
        record.kind == "retention" or noted == (record.period.label, record.attempt)
    )


def _describe_new_records(plan: Plan, records: Sequence[Record]) -> str:
    numbers = ", ".join(str(record.id) for record in records[:5]) + (" and others" if records[5:] else "")
    named = f"Record {numbers} was" if len(records) == 1 else f"Records {numbers} were"
    return (
        f"{named} not noted in the file {plan.head} and appended by no run that is known to have been "
        "killed. Documents and files agree; make sure that somebody ran the audit."
    )
