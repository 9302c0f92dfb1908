"""Documents as the database stores them: decompressed, hashed and examined, each once."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scorereport.history.chain_head import ChainHead
from scorereport.history.record_rows import unpack_document
from scorereport.history.verification_findings import Examined

_HASH_FIELD = b'"last_sha256"'
#: The end of a report that this software wrote. A string cannot match, because its quotes are escaped.
_ANCHOR = re.compile(rb'"last_id":([0-9]{1,18}),"last_sha256":"([0-9a-f]*)"\}\}\n?\Z')
_MAX_ANCHOR_LENGTH = 150


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDocument:
    """A document as it is stored: `key` is the hash it is stored under, `sha256` that of its content.

    `sha256` is None if the document cannot be decompressed. `content` is set for requested documents only,
    and `anchor` for results documents only. `copies` are the files that have the same content, and `examined`
    is what was found when an intact document was compared with the records that name it.
    """

    key: Any
    sha256: str | None
    is_intact: bool
    content: bytes | None = None
    anchor: ChainHead | None = None
    copies: tuple[Path, ...] = ()
    examined: Examined = field(default_factory=Examined)


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentReader:
    """Reads stored rows: which documents are results, which contents are kept, and files to compare.

    `read` is called with the hash and the content of each intact document. `files` are those that should have
    the content with a hash.
    """

    results: Set[str]
    requested: Collection[str]
    files: Mapping[str, Sequence[Path]] = field(default_factory=dict)
    read: Callable[[str, bytes], Examined] | None = None

    def read_row(self, row: Mapping[str, Any]) -> StoredDocument:
        """Decompress, hash and examine a stored document."""
        content = unpack_document(row["content"]) if isinstance(row["content"], bytes) else None
        if content is None:
            return StoredDocument(key=row["sha256"], sha256=None, is_intact=False)
        sha256 = hashlib.sha256(content).hexdigest()
        is_intact = row["sha256"] == sha256 and _is_packed_alike(row)
        return StoredDocument(
            key=row["sha256"],
            sha256=sha256,
            is_intact=is_intact,
            content=content if sha256 in self.requested else None,
            anchor=find_anchor(content) if sha256 in self.results else None,
            copies=tuple(path for path in self.files.get(sha256, ()) if _has_content(path, content)),
            examined=self.read(sha256, content) if self.read is not None and is_intact else Examined(),
        )


def _is_packed_alike(row: Mapping[str, Any]) -> bool:
    return hashlib.sha256(row["content"]).hexdigest() == row["checksum"]


def _has_content(path: Path, content: bytes) -> bool:
    """Whether a file has exactly this content: to compare takes much less time than to hash."""
    try:
        return path.stat().st_size == len(content) and path.read_bytes() == content
    except OSError:
        return False


def find_anchor(results: bytes) -> ChainHead | None:
    """Return the record that a results document names as the last before its own; None if it names none.

    It is at the end of the document, where it is found without parsing what may be megabytes.
    """
    end = _ANCHOR.search(results[-_MAX_ANCHOR_LENGTH:])
    if end is not None:
        number, sha256 = int(end[1]), end[2].decode()
    else:
        number, sha256 = _read_trend(results) if _HASH_FIELD in results else (0, "")
    return ChainHead(id=number, sha256=sha256) if number or sha256 else None


def _read_trend(results: bytes) -> tuple[int, str]:
    """Read the anchor by parsing the document; (0, "") if this software did not write it."""
    try:
        trend = json.loads(results)["trend"]
        return int(trend["last_id"]), str(trend["last_sha256"])
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError):
        return 0, ""
