"""Documents of a history: compressed, and filed under the SHA-256 of their content."""

from __future__ import annotations

import hashlib
import zlib
from typing import TYPE_CHECKING

from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection


def check_document_hashes(documents: Mapping[str, bytes]) -> dict[str, bytes]:
    """The documents in the order of their names, if these are their hashes."""
    for name, content in documents.items():
        if hashlib.sha256(content).hexdigest() != name:
            raise UsageError(f"`documents` must be named by the SHA-256 of their content; {name!r} is not.")
    return dict(sorted(documents.items()))


def insert_documents(connection: Connection, contents: Mapping[str, bytes]) -> None:
    """File documents, unless they are filed already."""
    from sqlalchemy import insert, select

    from scorereport.history.database_schema import DOCUMENTS

    for name, content in contents.items():
        if connection.execute(select(DOCUMENTS.c.sha256).where(DOCUMENTS.c.sha256 == name)).first():
            continue
        packed = zlib.compress(content)
        checksum = hashlib.sha256(packed).hexdigest()
        connection.execute(insert(DOCUMENTS).values(sha256=name, checksum=checksum, content=packed))


def find_packed_document(connection: Connection, sha256: str) -> bytes | None:
    """The compressed bytes of a document; None if there is none."""
    from sqlalchemy import select

    from scorereport.history.database_schema import DOCUMENTS

    return connection.execute(select(DOCUMENTS.c.content).where(DOCUMENTS.c.sha256 == sha256)).scalar()


def unpack_document(packed: bytes) -> bytes | None:
    """The content of compressed bytes; None if they are damaged or not all of one piece."""
    engine = zlib.decompressobj()
    try:
        content = engine.decompress(packed) + engine.flush()
    except zlib.error:
        return None
    return content if engine.eof and not engine.unused_data else None
