"""Verification of a history: its chain of records, documents, report files and database."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from scorereport._utils.clock import read_clock
from scorereport.data.database_sessions import UnreachableError
from scorereport.errors import ScoreReportError, UsageError
from scorereport.history.audit_record import CHAIN_START
from scorereport.history.chain_check import ChainLink, check_chain, read_chain_link
from scorereport.history.chain_head import read_chain_head
from scorereport.history.document_check import check_anchors
from scorereport.history.expiry import Removal, check_removals
from scorereport.history.filed_reports import (
    FiledReport,
    check_files,
    describe_leftovers,
    describe_unrecorded_file,
    find_unrecorded_files,
    is_below,
    list_filed_reports,
)
from scorereport.history.verification_findings import FindingKind, IntegrityFinding, Verification

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlalchemy import Connection

    from scorereport.history.audit_record import Record
    from scorereport.history.chain_head import ChainHead
    from scorereport.history.database_check import StoredRows
    from scorereport.history.examination import Examiner
    from scorereport.history.store import History
    from scorereport.history.stored_documents import StoredDocument

#: Up to this many records are read one by one if the database is damaged.
_MAX_SINGLE_READS = 100_000
_KEPT_HASH = re.compile(r"[0-9a-f]{12,64}")


def verify_history(
    history: History,
    *,
    find_folder: Callable[[Record], Path],
    heads: Sequence[str] = (),
    is_here: Callable[[Record], bool] = lambda _: True,
    examiner: Examiner | None = None,
) -> Verification:
    """Find everything in a history that is not as it was recorded.

    Parameters
    ----------
    history
        Best opened by `open_unchecked`, which does not refuse a damaged database.
    find_folder
        Returns the report folder of a record: the names of its files are relative to it.
    heads
        Hashes of records that were kept outside, or at least their first twelve characters.
    is_here
        Returns whether the files of a record are on this machine, and not on another one that shares the
        history. The chain, which is one for all audits, is always checked.
    examiner
        Compares records with their documents and files. Without it, the contents are not compared.
    """

    def list_filings(links: Sequence[ChainLink]) -> tuple[FiledReport, ...]:
        return list_filed_reports(_list_intact(links, is_here), find_folder)

    kept = _check_kept(heads)
    head, findings = _read_head(history)
    stored = _StoredState()
    try:
        with history.reading() as connection:
            stored = _check_stored(history, connection, head, kept, examiner, list_filings)
    except UnreachableError:
        raise
    except UsageError as error:
        if history.file is None:  # a server that does not respond is not a sign of tampering
            raise
        findings.append(_describe_unreadable(history, str(error)))
    links = stored.links
    reports = _check_reports(history, stored, find_folder, is_here, examiner)
    contradictions = [] if examiner is None else examiner.findings
    lag = _find_head_lag(history, links, head, is_here)
    missing, notes = ([], []) if head or findings else _describe_missing_head(history, len(links))
    return Verification(
        records=len(links),
        files=reports.count,
        head=links[-1].sha256 if links else CHAIN_START,
        findings=tuple(
            dict.fromkeys([*findings, *missing, *stored.findings, *contradictions, *reports.findings])
        ),
        notes=(*notes, *lag.notes, *reports.notes, *([] if examiner is None else examiner.notes)),
        warnings=lag.warnings,
    )


@dataclass(frozen=True, kw_only=True)
class _StoredState:
    """Contents of the database: its records, the files they name, the justified removals, and all findings.

    `compared` are files that have the content of a document, with the hash of it.
    """

    links: Sequence[ChainLink] = ()
    filings: Sequence[FiledReport] = ()
    removals: Sequence[Removal] = ()
    compared: Collection[tuple[Path, str]] = ()
    findings: Sequence[IntegrityFinding] = ()


@dataclass(frozen=True, kw_only=True)
class _ReportCheck:
    """Check of the report files: the number of files that records name, findings and notes."""

    count: int
    findings: Sequence[IntegrityFinding]
    notes: Sequence[str]


def _check_kept(heads: Sequence[str]) -> tuple[str, ...]:
    kept = tuple(head.strip().lower() for head in heads)
    for head, lowered in zip(heads, kept, strict=True):
        if not _KEPT_HASH.fullmatch(lowered):
            raise UsageError(
                f"`head` must be the hash of a record, 12 to 64 characters 0-9 and a-f; got {head!r}."
            )
    return kept


def _read_head(history: History) -> tuple[ChainHead | None, list[IntegrityFinding]]:
    """Read the chain head file; return the chain head and findings about the file."""
    if history.head is None:
        return None, []
    try:
        return read_chain_head(history.head), []
    except (ValueError, OSError) as error:
        sentence = f"The chain head file {history.head} cannot be read: {error}."
        subject = f"file {history.head.name}"
        return None, [IntegrityFinding(kind=FindingKind.CHANGED, subject=subject, sentence=sentence)]


def _describe_missing_head(history: History, records: int) -> tuple[list[IntegrityFinding], list[str]]:
    """Return a finding or a note that the chain head file is missing.

    A history in a file has the chain head file beside it, unless a run was killed right after the first
    record. For a history on a server, a machine has the file only once it has run an audit.
    """
    if history.head is None:
        return [], []
    effect = "without it, records cut off at the end cannot be detected"
    if history.file is None or records < 2:
        return [], [f"There is no chain head file {history.head}; {effect}."]
    sentence = f"The chain head file {history.head}, which names the last record, is missing; {effect}."
    return [
        IntegrityFinding(kind=FindingKind.MISSING, subject=f"file {history.head.name}", sentence=sentence)
    ], []


@dataclass(frozen=True, kw_only=True)
class _HeadLag:
    """Notes and warnings on records that the chain head file lacks."""

    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def _find_head_lag(
    history: History, links: Sequence[ChainLink], head: ChainHead | None, is_here: Callable[[Record], bool]
) -> _HeadLag:
    """Describe records after the one in the chain head file, which names only records of this machine.

    The file is read a second time, because a run may have been about to write it.
    """
    if head is None:
        return _HeadLag()
    again = _read_head(history)[0] or head
    later = [link for link in links if link.id > max(head.id, again.id)]
    if not later:
        return _HeadLag()
    lag = f"The chain head file names record {head.id}, but the history ends with record {later[-1].id}"
    if any(link.record is None or is_here(link.record) for link in later):
        reason = "a run was killed before it wrote the file, or could not write it, or records were inserted"
        return _HeadLag(warnings=(f"{lag}: {reason}. The next run verifies the later records.",))
    return _HeadLag(notes=(f"{lag}: others write to the history as well.",))


def _describe_unreadable(history: History, sentence: str) -> IntegrityFinding:
    return IntegrityFinding(kind=FindingKind.UNREADABLE, subject=history.name, sentence=sentence)


def _check_stored(
    history: History,
    connection: Connection,
    head: ChainHead | None,
    kept: Collection[str],
    examiner: Examiner | None,
    list_filings: Callable[[Sequence[ChainLink]], tuple[FiledReport, ...]],
) -> _StoredState:
    """Read and check records, documents and the database itself, in one state of the database."""
    from scorereport.history.database_check import check_database, read_stored_rows
    from scorereport.history.database_schema import AUDITS, DOCUMENTS

    expected = range(1, min(head.id, _MAX_SINGLE_READS) + 1) if head is not None else ()
    audits = read_stored_rows(history, connection, AUDITS, expected)
    links = sorted((read_chain_link(row) for row in audits.rows), key=lambda link: link.id)
    keys = {key for link in links if link.record is not None for key in link.record.documents}
    rows = read_stored_rows(history, connection, DOCUMENTS, keys)
    chain_findings = check_chain(links, head=head, kept=kept, unreadable=audits.unreadable)
    filings = list_filings(links)
    documents = _examine(links, rows, filings, examiner)
    known = {finding.subject for finding in chain_findings}
    removals, document_findings = _check_contents(links, documents, rows.unreadable, known)
    return _StoredState(
        links=links,
        filings=filings,
        removals=removals,
        compared={(path, str(one.sha256)) for one in documents for path in one.copies},
        findings=[
            *_describe_read_errors(history, audits, rows),
            *chain_findings,
            *document_findings,
            *check_database(history, connection),
        ],
    )


def _examine(
    links: Sequence[ChainLink],
    rows: StoredRows,
    filings: Sequence[FiledReport],
    examiner: Examiner | None,
) -> list[StoredDocument]:
    """Read all documents; let the examiner check them and all intact records, in order."""
    from scorereport.history.examination import Examination

    intact = [] if examiner is None else _list_intact(links)
    if examiner is not None:
        is_complete = [record.id for record in intact] == list(range(1, len(links) + 1))
        examiner.start(intact, is_complete=is_complete, now=_read_latest_clock())
    records = [link.record for link in links if link.record is not None]
    return Examination(rows.rows, records, filings, examiner).examine(len(intact))


def _list_intact(
    links: Sequence[ChainLink], is_chosen: Callable[[Record], bool] = lambda _: True
) -> list[Record]:
    return [
        link.record for link in links if link.record is not None and link.is_intact and is_chosen(link.record)
    ]


def _check_contents(
    links: Sequence[ChainLink],
    documents: Sequence[StoredDocument],
    unreadable: Collection[str],
    known: Collection[str],
) -> tuple[Sequence[Removal], list[IntegrityFinding]]:
    """Check the stored documents; return the removals that they justify, and all findings."""
    from scorereport.history.document_check import check_documents

    intact = [document for document in documents if document.is_intact]
    anchors = {document.key: document.anchor for document in intact if document.anchor is not None}
    texts = {document.key: document.content for document in intact if document.content is not None}
    removals, wrong = check_removals(links, texts, _read_latest_clock())
    return removals, [
        *check_anchors(links, anchors, known),
        *check_documents(documents, links, unreadable),
        *wrong,
    ]


def _read_latest_clock() -> str:
    """Return the present time, or the time set for reproducible output if that is later."""
    return max(read_clock(), datetime.now(UTC).isoformat(), key=datetime.fromisoformat)


def _describe_read_errors(history: History, *tables: StoredRows) -> Iterator[IntegrityFinding]:
    for error in dict.fromkeys(table.error for table in tables if table.error):
        yield _describe_unreadable(history, error)


def _check_reports(
    history: History,
    stored: _StoredState,
    find_folder: Callable[[Record], Path],
    is_here: Callable[[Record], bool],
    examiner: Examiner | None,
) -> _ReportCheck:
    """Compare the report files with intact records."""
    links, filings = stored.links, stored.filings
    records = _list_intact(links, is_here)
    folders = {(find_folder(record), record.audit) for record in records if _has_folder(record)}
    unrecorded = find_unrecorded_files(folders, {filing.path for filing in filings})
    mentioned = _find_mentioned(history, links) if unrecorded else ""
    unknown = [
        describe_unrecorded_file(path, name)
        for path, name in unrecorded
        if json.dumps(name, ensure_ascii=False) not in mentioned
    ]
    return _ReportCheck(
        count=len(filings),
        findings=[
            *check_files(
                filings,
                stored.removals,
                *([examiner.look] if examiner else []),
                compared=stored.compared,
            ),
            *unknown,
        ],
        notes=list(describe_leftovers(filings, stored.removals)),
    )


def _has_folder(record: Record) -> bool:
    return is_below(record.audit) and bool(record.files or record.folder)


def _find_mentioned(history: History, links: Sequence[ChainLink]) -> str:
    """Return the texts of records that may name more files: changed ones, and those written since."""
    changed = [
        link.body.decode(errors="replace") for link in links if not link.is_intact or link.record is None
    ]
    last = max((link.id for link in links), default=0)
    try:
        since = [history.get(row.id).to_json() for row in history.summaries() if row.id > last]
    except ScoreReportError:  # damaged, which other findings report
        since = []
    return "\n".join([*changed, *since])
