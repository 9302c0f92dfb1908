"""Whether the files of a report carry the results of their record."""

from __future__ import annotations

import hashlib
import re
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from scorereport.audit.requests import AuditRequest
    from scorereport.history.audit_record import Record

#: Where an attachment of a PDF begins; our PDFs are neither encrypted nor packed otherwise.
_ATTACHMENT = re.compile(rb"/Type\s*/EmbeddedFile\b[^\x00]{0,400}?>>\s*stream\r?\n")
#: How many bytes are unpacked at a time.
_CHUNK_BYTES = 1 << 22


def check_attached_results(record: Record, path: Path, request: AuditRequest | None) -> Iterator[str]:
    """What is wrong with a file that has the hash its record says, as ends of sentences about the record."""
    if not record.results_sha256 or path.suffix not in (".pdf", ".html"):
        return
    try:
        content = path.read_bytes()
    except OSError:  # it was there a moment ago
        return
    if path.suffix == ".pdf" and record.results_sha256 not in _hash_attachments(content):
        yield f"has the file {path.name}, to which other results are attached"
    states_hashes = request is not None and request.states_hashes
    if path.suffix == ".html" and states_hashes and record.results_sha256.encode() not in content:
        yield f"has the file {path.name}, which states the hash of other results"


def _hash_attachments(pdf: bytes) -> Iterator[str]:
    """The SHA-256 of each file inside a PDF."""
    for found in _ATTACHMENT.finditer(pdf):
        engine, digest, rest = zlib.decompressobj(), hashlib.sha256(), pdf[found.end() :]
        try:
            while rest and not engine.eof:  # in pieces, for a small file may hold a very large one
                digest.update(engine.decompress(rest, _CHUNK_BYTES))
                rest = engine.unconsumed_tail
        except zlib.error:
            continue
        yield digest.hexdigest()
