"""Verification of a history: the chain of its records, its documents, its files and its database."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from scorereport.errors import ScoreReportError, UsageError
from scorereport.history.checking_chain import check_chain, read_link
from scorereport.history.checking_files import (
    check_files,
    describe_stray,
    find_filings,
    find_strays,
    is_below,
)
from scorereport.history.connecting import UnreachableError
from scorereport.history.findings import Finding, FindingKind, Verification
from scorereport.history.heads import read_head
from scorereport.history.records import BEGINNING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from pathlib import Path

    from sqlalchemy import Connection

    from scorereport.history.checking_chain import Link
    from scorereport.history.heads import Head
    from scorereport.history.records import Record
    from scorereport.history.store import History
    from scorereport.history.stored import StoredRows

#: So many records are looked for one by one if the database is damaged.
_MANY = 100_000
_KEPT = re.compile(r"[0-9a-f]{12,64}")

__all__ = ["Finding", "FindingKind", "Verification", "verify_history"]


def verify_history(
    history: History,
    *,
    find_folder: Callable[[Record], Path],
    heads: Sequence[str] = (),
    is_here: Callable[[Record], bool] = lambda _: True,
) -> Verification:
    """Look for anything in a history that is not as it was recorded, and name all of it.

    Parameters
    ----------
    history
        Best opened by `open_unchecked`, which leaves a damaged database to be looked at here.
    find_folder
        Says of a record below which folder the files lie that it names.
    heads
        Hashes of records, or their first twelve letters or more, that somebody kept outside.
    is_here
        Says of a record whether its files are kept here, and not by somebody who shares the history.
        The chain is one for all audits and always looked at.
    """
    kept = _check_kept(heads)
    head, findings, notes = _read_head(history)
    links: list[Link] = []
    try:
        with history.reading() as connection:
            links, in_database = _check_stored(history, connection, head, kept)
            findings += in_database
    except UnreachableError:
        raise
    except UsageError as error:
        if history.file is None:  # a server that does not answer was not tampered with
            raise
        findings.append(_describe_unreadable(history, str(error)))
    count, in_files = _check_reports(history, links, find_folder, is_here)
    return Verification(
        records=len(links),
        files=count,
        head=links[-1].sha256 if links else BEGINNING,
        findings=tuple(dict.fromkeys([*findings, *in_files])),
        notes=(*notes, *_describe_lag(links, head)),
    )


def _check_kept(heads: Sequence[str]) -> tuple[str, ...]:
    kept = tuple(head.strip().lower() for head in heads)
    for given, head in zip(heads, kept, strict=True):
        if not _KEPT.fullmatch(head):
            raise UsageError(
                f"`heads` must be hashes of records, of 12 to 64 letters 0-9 and a-f; got {given!r}."
            )
    return kept


def _read_head(history: History) -> tuple[Head | None, list[Finding], list[str]]:
    """The file `head`, what is wrong with it, and what cannot be seen without it."""
    if history.head is None:
        return None, [], []
    try:
        head = read_head(history.head)
    except (ValueError, OSError) as error:
        sentence = f"The file {history.head} cannot be read: {error}."
        return None, [Finding(kind=FindingKind.CHANGED, subject="file head", sentence=sentence)], []
    note = f"There is no file {history.head}; without it nobody sees whether records at the end were cut off."
    return head, [], [note] if head is None else []


def _describe_lag(links: Sequence[Link], head: Head | None) -> Iterator[str]:
    last = links[-1].id if links else 0
    if head is not None and 0 < head.id < last:
        yield (
            f"The file `head` remembers record {head.id} and the history ends with record {last}: a run was "
            "killed before it wrote the file, or others write into the history as well."
        )


def _describe_unreadable(history: History, sentence: str) -> Finding:
    return Finding(kind=FindingKind.UNREADABLE, subject=history.name, sentence=sentence)


def _check_stored(
    history: History, connection: Connection, head: Head | None, kept: Collection[str]
) -> tuple[list[Link], list[Finding]]:
    """The records as they are stored, and all that is wrong in the database, of one state of it."""
    from scorereport.history.checking_database import check_database
    from scorereport.history.checking_documents import check_documents
    from scorereport.history.schema import AUDITS, DOCUMENTS
    from scorereport.history.stored import read_rows

    expected = range(1, min(head.id, _MANY) + 1) if head is not None else ()
    audits = read_rows(history, connection, AUDITS, expected)
    links = sorted((read_link(row) for row in audits.rows), key=lambda link: link.id)
    keys = {key for link in links if link.record is not None for key in link.record.documents}
    documents = read_rows(history, connection, DOCUMENTS, keys)
    return links, [
        *_describe_trouble(history, audits, documents),
        *check_chain(links, head=head, kept=kept, unreadable=audits.unreadable),
        *check_documents(documents.rows, links, documents.unreadable),
        *check_database(history, connection),
    ]


def _describe_trouble(history: History, *tables: StoredRows) -> Iterator[Finding]:
    for trouble in dict.fromkeys(table.trouble for table in tables if table.trouble):
        yield _describe_unreadable(history, trouble)


def _check_reports(
    history: History,
    links: Sequence[Link],
    find_folder: Callable[[Record], Path],
    is_here: Callable[[Record], bool],
) -> tuple[int, list[Finding]]:
    """How many files the records name, and what is wrong with them; changed records prove nothing."""
    records = [
        link.record for link in links if link.record is not None and link.is_intact and is_here(link.record)
    ]
    filings = find_filings(records, find_folder)
    findings = list(check_files(filings, records, find_folder))
    folders = {(find_folder(record), record.audit) for record in records if _has_folder(record)}
    strays = find_strays(folders, {filing.path for filing in filings})
    mentioned = _find_mentioned(history, links) if strays else ""
    findings += [
        describe_stray(path, name)
        for path, name in strays
        if json.dumps(name, ensure_ascii=False) not in mentioned
    ]
    return len(filings), findings


def _has_folder(record: Record) -> bool:
    return is_below(record.audit) and bool(record.files or record.folder)


def _find_mentioned(history: History, links: Sequence[Link]) -> str:
    """The texts of records that may name more files: of changed ones, and of those written since."""
    changed = [
        link.body.decode(errors="replace") for link in links if not link.is_intact or link.record is None
    ]
    last = max((link.id for link in links), default=0)
    try:
        since = [history.get(row.id).to_json() for row in history.summaries() if row.id > last]
    except ScoreReportError:  # damaged, as other findings say
        since = []
    return "\n".join([*changed, *since])
