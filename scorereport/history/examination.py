"""Examination of records and documents, each by itself, by this process and copies of it."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Protocol

from scorereport._utils.shared_work import sharing_work
from scorereport.history.filed_reports import is_below
from scorereport.history.stored_documents import DocumentReader, StoredDocument
from scorereport.history.verification_findings import Examined

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from scorereport.history.audit_record import Record
    from scorereport.history.filed_reports import FiledReport
    from scorereport.history.verification_findings import IntegrityFinding

#: Bytes of compressed documents that are worth a process: to read them takes about 0.3 s.
_BYTES_WORTH_A_PROCESS = 4 << 20


class Examiner(Protocol):
    """Checks the contents of records against the rules by which runs write them; see `RecordExaminer`."""

    findings: list[IntegrityFinding]
    notes: list[str]

    def start(self, records: Sequence[Record], *, is_complete: bool, now: str) -> None:
        """Check the order of records whose texts are intact; `is_complete` if none is missing or changed."""

    def examine(self, place: int) -> Examined:
        """Check one of the records by itself."""

    def read(self, sha256: str, content: bytes) -> Examined:
        """Check a document against the records that name it."""

    def complete(self) -> None:
        """Check what needs all records and documents, once they were read."""

    def look(self, record: Record, path: Path) -> None:
        """Check a file of a record."""


class Examination:
    """All stored documents and intact records, which are examined independently of each other.

    `records` are all that can be read, `filings` the files that may have the content of a document.
    """

    def __init__(
        self,
        rows: Sequence[Mapping[str, Any]],
        records: Sequence[Record],
        filings: Iterable[FiledReport],
        examiner: Examiner | None,
    ) -> None:
        self._rows = rows
        self._examiner = examiner
        self._reader = DocumentReader(
            results={record.results_sha256 for record in records},
            requested={record.configuration_sha256 for record in records if record.removed},
            files=_index_files(filings),
            read=None if examiner is None else examiner.read,
        )
        # The examiner keeps what it reads from configurations, so that this process must read them.
        own = {record.configuration_sha256 for record in records} | {""}
        shared = self._reader.results - own
        self._shared = [number for number, row in enumerate(rows) if row["sha256"] in shared]

    def examine(self, records: int) -> list[StoredDocument]:
        """Read all documents and let the examiner check them, and this many records, which it has.

        What the examiner finds is added to its findings, in the order of records and documents.
        """
        shared = set(self._shared)
        found = {n: self._reader.read_row(row) for n, row in enumerate(self._rows) if n not in shared}
        with sharing_work(self._call, len(self._shared) + records, worth=self._count_processes()) as work:
            results = work.collect()
        read = [result for result in results if isinstance(result, StoredDocument)]
        found |= dict(zip(self._shared, read, strict=True))
        documents = [found[number] for number in range(len(self._rows))]
        self._add_findings(result for result in results if isinstance(result, Examined))
        self._add_findings(document.examined for document in documents)
        if self._examiner is not None:
            self._examiner.complete()
        return documents

    def _call(self, number: int) -> StoredDocument | Examined:
        """Read one of the shared documents, which are first because they take longer, or check a record."""
        if number < len(self._shared) or self._examiner is None:
            return self._reader.read_row(self._rows[self._shared[number]])
        return self._examiner.examine(number - len(self._shared))

    def _count_processes(self) -> float:
        contents = [self._rows[number]["content"] for number in self._shared]
        size = sum(len(content) for content in contents if isinstance(content, bytes))
        return size / _BYTES_WORTH_A_PROCESS

    def _add_findings(self, examined: Iterable[Examined]) -> None:
        if self._examiner is not None:
            for one in examined:
                self._examiner.findings += one.findings
                self._examiner.notes += one.notes


def _index_files(filings: Iterable[FiledReport]) -> dict[str, list[Path]]:
    """Return the files below report folders by the hash that they should have."""
    files: dict[str, list[Path]] = defaultdict(list)
    for filing in filings:
        if is_below(filing.file.name):
            files[filing.file.sha256].append(filing.path)
    return files
