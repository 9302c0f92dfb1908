"""Integrity of the history: records, files and chain head, checked on request and before runs.

A run that is killed right after it appended its record, or that cannot write the chain head file, leaves a
record that the file does not note. Anyone who can insert rows into the database leaves the same trace, so
the next run checks such records before it notes them.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from scorereport._utils.formatting import join_words
from scorereport.audit.anchor_verification import has_anchors, verify_anchors
from scorereport.audit.annulment_rules import check_annulled
from scorereport.audit.approval_rules import LimitCheck
from scorereport.audit.baseline_rules import check_baselines
from scorereport.audit.delivery import open_pending_notification
from scorereport.audit.evidence_agreement import EvidenceCheck
from scorereport.audit.record_agreement import (
    EarlierRecords,
    check_agreement,
    describe_snapshot,
    wrote_record,
)
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
from scorereport.audit.seal_rules import check_sealed_rows, check_seals
from scorereport.audit.signed_history import list_trusted
from scorereport.configuration.limit_changes import read_limits
from scorereport.errors import UsageError
from scorereport.history.audit_record import CHAIN_START
from scorereport.history.chain_check import name_record
from scorereport.history.database_roles import describe_roles
from scorereport.history.signature_check import (
    SignatureCheck,
    find_authentic,
    find_unadded,
    list_key_changes,
)
from scorereport.history.store import open_unchecked
from scorereport.history.verification import verify_history
from scorereport.history.verification_findings import Examined, FindingKind, IntegrityFinding, Verification

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from scorereport.audit.evidence_agreement import ExpectedEvidence
    from scorereport.audit.plan import Plan
    from scorereport.configuration.limit_changes import ConfiguredLimits
    from scorereport.history.audit_record import Record
    from scorereport.history.store import History


class RecordExaminer:
    """Compares records with what a run writes; what no run can have written is a finding.

    `trusted` are the fingerprints of keys that may sign, `listed_in` is the file that lists them, or "".
    """

    def __init__(self, trusted: Collection[str] = (), *, listed_in: str = "") -> None:
        self._trusted, self._listed_in = trusted, listed_in
        self._records: Sequence[Record] = ()
        self._expected: Sequence[ExpectedEvidence | None] = ()
        self._by_audit: dict[str, list[Record]] = defaultdict(list)
        self._by_results: dict[str, list[Record]] = defaultdict(list)
        self._by_configuration: dict[str, list[Record]] = defaultdict(list)
        self._by_hashes: dict[str, list[Record]] = defaultdict(list)
        self._past: dict[str, dict[bytes, int]] | None = None
        self._requests: dict[tuple[str, str], AuditRequest] = {}
        self._limits: dict[str, ConfiguredLimits] = {}
        self._is_complete = False
        self.findings: list[IntegrityFinding] = []
        self.notes: list[str] = []

    @property
    def records(self) -> Sequence[Record]:
        """The intact records."""
        return self._records

    def start(self, records: Sequence[Record], *, is_complete: bool, now: str) -> None:
        """Check the order of the records; `is_complete` if none is missing or changed."""
        self._records, self._is_complete = records, is_complete
        for record in records:
            self._by_audit[record.audit].append(record)
            self._by_results[record.results_sha256].append(record)
            self._by_configuration[record.configuration_sha256].append(record)
            if record.seal is not None:
                self._by_hashes[record.seal.hashes_sha256].append(record)
        for record, claim in (
            *check_run_times(records, now),
            *(check_attempts(records) if is_complete else ()),
            *check_annulled(records, is_complete=is_complete),
            *(check_baselines(records) if is_complete else ()),
            *(check_seals(records) if is_complete else ()),
        ):
            self.findings += _describe_claims(record, [claim])
        self._check_signatures()
        self._compare_times()
        check = EvidenceCheck()
        self._expected = [check.find_expected(record) if is_complete else None for record in records]
        self._past = _index_past(records) if is_complete else None

    def examine(self, place: int) -> Examined:
        """Check a record by itself, and its evidence.

        Evidence that another version wrote by other rules is a note.
        """
        record, expected = self._records[place], self._expected[place]
        found = _describe_claims(record, check_record_contents(record))
        claims = [] if expected is None else list(expected.check())
        if wrote_record(record):
            return Examined(findings=(*found, *_describe_claims(record, claims)))
        notes = (f"Record {record.id} {claim}, by the rules of this version." for claim in claims)
        return Examined(findings=tuple(found), notes=tuple(notes))

    def read(self, sha256: str, content: bytes) -> Examined:
        """Check a document, whose hash was verified, against the records that name it."""
        findings, notes = [], []
        if configured := self._by_configuration.get(sha256):
            self._limits[sha256] = read_limits(content, configured[0].configuration)
        for record in self._by_configuration.get(sha256, ()):
            findings += _describe_claims(record, self._check_configuration(record, content))
        for record in self._by_hashes.get(sha256, ()):
            findings += _describe_claims(record, check_sealed_rows(record, content))
        sharing = self._by_results.get(sha256, [])
        for record in sharing[1:]:  # documents of two runs differ: each names the record before its own
            findings += _describe_claims(record, [f"has the results document of record {sharing[0].id}"])
        for record in sharing:
            found = check_agreement(record, content, self._find_earlier(record))
            findings += _describe_claims(record, found.wrong)
            notes += [f"Record {record.id} {claim}." for claim in found.unconfirmed]
        return Examined(findings=tuple(findings), notes=tuple(notes))

    def complete(self) -> None:
        """Check what needs all records and configurations: changes of limits and their approvals."""
        if not self._is_complete:
            return
        signed = [record for record in self._records if record.kind in ("approval", "key")]
        check = LimitCheck(self._limits, find_authentic(signed, self._trusted), wrote_record)
        check.check(self._records)
        for record, claim in check.unapproved:
            self.findings += _describe_claims(record, [claim], FindingKind.UNAPPROVED)
        for record, claim in check.wrong:
            self.findings += _describe_claims(record, [claim])
        self.notes += check.notes

    def look(self, record: Record, path: Path) -> None:
        """Check a file, whose hash was verified, against its record; all documents were read before."""
        request = self._requests.get((record.configuration_sha256, record.configuration))
        self.findings += _describe_claims(record, check_attached_results(record, path, request))

    def _check_configuration(self, record: Record, content: bytes) -> Iterator[str]:
        key = (record.configuration_sha256, record.configuration)
        if key not in self._requests:
            try:
                self._requests[key] = read_audit_request(content, record.configuration)
            except (ValueError, RecursionError) as error:
                yield f"names a configuration that cannot be read: {error}"
                return
        yield from check_record_request(record, self._requests[key])

    def _find_earlier(self, record: Record) -> EarlierRecords | None:
        """Return the records of the audit before one of them; None if records are missing."""
        if self._past is None:
            return None
        of_audit = self._by_audit[record.audit]
        return EarlierRecords(number=record.id, records=of_audit, described=self._past[record.audit])

    def _check_signatures(self) -> None:
        check = SignatureCheck(self._trusted, self._listed_in)
        for record, claim in check.check(self._records):
            self.findings += _describe_claims(record, [claim], FindingKind.FORGED)
        self.notes += filter(None, [check.describe_unsigned()])
        for record, change in list_key_changes(self._records, self._trusted):
            self.notes.append(
                f"Record {record.id} added {change.describe()}: {record.reason.removesuffix('.')}."
            )
        if self._listed_in:
            self.notes += (
                f"The key {key} has signed records since record {number}, and no record added it: find out "
                "who trusted it."
                for key, number in find_unadded(self._records).items()
                if key in self._trusted
            )

    def _compare_times(self) -> None:
        for before, record in find_times_backwards(self._records, by_one_clock=True):
            claim = f"ended at {record.finished}, before record {before.id}, which ended at {before.finished}"
            claim += ": the clock was set, or one of the times is wrong"
            self.findings += _describe_claims(record, [claim])
        for before, record in islice(find_times_backwards(self._records, by_one_clock=False), 1):
            self.notes.append(
                f"Record {record.id} ended at {record.finished}, before record {before.id} of another "
                f"machine, which ended at {before.finished}: their clocks differ."
            )
        for record in find_future_periods(self._records):
            self.notes.append(
                f"Record {record.id} is of the period {record.period.label}, which was in the future when it "
                "was written; earlier versions accepted this. Its status does not count on the site."
            )


def _describe_claims(
    record: Record, claims: Iterable[str], kind: FindingKind = FindingKind.CONTRADICTORY
) -> list[IntegrityFinding]:
    return [
        IntegrityFinding(
            kind=kind,
            subject=name_record(record.id),
            sentence=f"Record {record.id} {claim}{'' if claim.endswith('.') else '.'}",
        )
        for claim in claims
    ]


def _index_past(records: Sequence[Record]) -> dict[str, dict[bytes, int]]:
    """Return, for each audit, its snapshots as later documents show them, with the id of the first record."""
    past: dict[str, dict[bytes, int]] = defaultdict(dict)
    for record in records:
        if record.snapshot is not None:
            past[record.audit].setdefault(describe_snapshot(record.snapshot), record.id)
    return past


def verify_audit_history(
    plan: Plan, *, heads: Sequence[str] = (), anchors: Sequence[Path] = ()
) -> Verification:
    """Verify the whole history, all files of this folder, its anchors, and `anchors` kept elsewhere.

    A history on a server may be shared by others who keep their files elsewhere; a note names their audits.
    """
    is_missing = plan.history_file is not None and not plan.history_file.exists()
    if is_missing and (plan.chain_head.exists() or anchors or has_anchors(plan)):
        found = _report_missing_history(plan)
        return _add_anchors(found, verify_anchors(plan, (), lambda _: None, anchors))
    elsewhere: set[str] = set()
    markers: set[str] = set()
    marker = plan.marker
    has_lost_marker = not marker and plan.reports.exists()  # then the files of all records are checked

    def is_here(record: Record) -> bool:
        markers.add(record.home)
        here = record.home in ("", marker) or has_lost_marker
        if record.files and not here:
            elsewhere.add(record.audit)
        return here

    listed_in = str(plan.trusted_keys) if plan.trusted_keys.exists() else ""
    examiner = RecordExaminer(list_trusted(plan), listed_in=listed_in)
    with open_unchecked(plan.database_url, head=plan.chain_head) as history:
        found = verify_history(
            history,
            find_folder=lambda record: plan.resolve(record.folder),
            heads=heads,
            is_here=is_here,
            examiner=examiner,
        )
        found = _add_anchors(found, verify_anchors(plan, examiner.records, history.find_hash, anchors))
        roles = tuple(describe_roles(history))
    findings = (*found.findings, *_find_missing_markers(plan, marker, markers))
    warnings = (*found.warnings, *_describe_unsigned(plan, examiner.records))
    found = replace(found, findings=findings, warnings=warnings, notes=(*found.notes, *roles))
    if not elsewhere:
        return found
    note = f"Files of {join_words(sorted(elsewhere))} are kept elsewhere: verify them there."
    return replace(found, notes=(*found.notes, note))


def _add_anchors(found: Verification, anchors: Verification | None) -> Verification:
    if anchors is None:
        return found
    return replace(
        found,
        findings=(*found.findings, *anchors.findings),
        warnings=(*found.warnings, *anchors.warnings),
        notes=(*found.notes, *anchors.notes),
    )


def _find_missing_markers(plan: Plan, marker: str, markers: set[str]) -> Iterator[IntegrityFinding]:
    """Find missing or changed files beside a history on a server: marker and chain head exist together."""
    if plan.history_file is not None:
        return
    has_head = plan.chain_head.exists()
    if not marker and has_head:
        sentence = f"The file {plan.home} is missing or empty, though audits were run here."
        yield IntegrityFinding(kind=FindingKind.MISSING, subject=f"file {plan.home}", sentence=sentence)
    if marker and markers and marker not in markers and has_head:
        sentence = (
            f"The file {plan.home} was changed: no record has this marker, though audits were run here."
        )
        yield IntegrityFinding(kind=FindingKind.CHANGED, subject=f"file {plan.home}", sentence=sentence)
    if marker and marker in markers and not has_head:
        sentence = (
            f"The file {plan.chain_head} is missing, though audits were run here: records may be missing at "
            "the end."
        )
        yield IntegrityFinding(kind=FindingKind.MISSING, subject=f"file {plan.chain_head}", sentence=sentence)


def _describe_unsigned(plan: Plan, records: Sequence[Record]) -> Iterator[str]:
    """Warn of a history without signatures though the configuration lists the keys that sign it."""
    if plan.audit.signing.trusted and records and all(record.signature is None for record in records):
        yield (
            "No record is signed, though `audit.signing.trusted` lists the keys that sign: an earlier "
            "version wrote all records, or signatures were removed."
        )


def _report_missing_history(plan: Plan) -> Verification:
    """Return the finding that the history file is missing though its chain head file exists."""
    trace = (
        f"the file {plan.chain_head.name} exists" if plan.chain_head.exists() else "there are anchors of it"
    )
    sentence = f"The history {plan.history_file} is missing, though {trace}."
    finding = IntegrityFinding(kind=FindingKind.UNREADABLE, subject=str(plan.history_file), sentence=sentence)
    return Verification(records=0, files=0, head=CHAIN_START, findings=(finding,))


def update_chain_head(plan: Plan, history: History) -> list[str]:
    """Note records in the chain head file that it lacks, if they are valid; return sentences to look at.

    With a history on a server, the file of this folder notes only records of runs in this folder.
    """
    if plan.history_file is None and not plan.marker:
        return []
    records = [history.get(number) for number in history.find_unnoted(plan.marker)]
    if not records:
        return []
    _check_new_records(plan, history, records)
    history.note(records[-1])
    unexplained = [record for record in records if not _is_explained(plan, record)]
    return [_describe_new_records(plan, unexplained)] if unexplained else []


def _check_new_records(plan: Plan, history: History, records: Sequence[Record]) -> None:
    """Raise an error if records do not agree with their documents and files."""
    subjects = {subject for record in records for subject in _list_subjects(record)}
    findings = [finding for finding in verify_audit_history(plan).findings if finding.subject in subjects]
    if findings:
        last = records[-1]
        raise UsageError(
            f"The history {history.name} has records that are not noted in the file {plan.chain_head}, and "
            f"they are not valid: {findings[0].sentence} Nothing was recorded. `scorereport audit verify` "
            "lists all findings; restore the database from a copy. To accept the records as they are, write "
            f"`{last.id} {last.sha256}` into the file.{_describe_copied_folder(plan)}"
        )


def _describe_copied_folder(plan: Plan) -> str:
    """Name the other reason for such records of a history on a server: a folder that was copied."""
    if plan.history_file is not None:
        return ""
    return (
        f" If another machine works with a copy of this folder, both have the marker {plan.home}: on the "
        f"other machine, remove the copies of this file, of {plan.chain_head.name} and of the reports."
    )


def _list_subjects(record: Record) -> Iterator[str]:
    yield name_record(record.id)
    yield from (f"document {key}" for key in record.documents)
    yield from (f"file {file.name}" for file in record.files)


def _is_explained(plan: Plan, record: Record) -> bool:
    """Whether a command that was killed explains a record, whose signature was verified.

    A run writes a pending notification before it appends its record, and removes it after it wrote the chain
    head file and sent the notification. Other commands notify nobody: the signature suffices.
    """
    if record.kind != "audit" and record.signature is not None:
        return True
    noted = open_pending_notification(plan, record.audit).read()
    return noted is not None and (
        record.kind == "retention" or noted == (record.period.label, record.attempt)
    )


def _describe_new_records(plan: Plan, records: Sequence[Record]) -> str:
    numbers = ", ".join(str(record.id) for record in records[:5]) + (" and others" if records[5:] else "")
    named = f"Record {numbers} was" if len(records) == 1 else f"Records {numbers} were"
    return (
        f"{named} not noted in the file {plan.chain_head}, and no run is known to have been killed after it "
        "appended a record. Documents and files agree; make sure that somebody ran the audit."
    )
