"""SHA-256 of the file or files that a source is."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scorereport.data.sources import locate_source

if TYPE_CHECKING:
    from threading import Event

#: Bytes that are hashed at a time.
_CHUNK = 1 << 20


def hash_file(source: Any, table: str | None = None, *, is_over: Event | None = None) -> str:
    """SHA-256 of a file, as `sha256sum` prints it; empty for what is none.

    Of several files it is that of the lines that `sha256sum` prints for them, with their paths below the
    folder, or below the part of a pattern without wildcards, in ascending order. Once `is_over` is set
    nobody waits for the result, and the rest is not read.
    """
    if not isinstance(source, (str, Path)):
        return ""
    if Path(source).is_file():
        return _hash(Path(source), is_over)
    place = locate_source(source, table)
    lines = (f"{_hash(file, is_over)}  {file.relative_to(place.folder).as_posix()}\n" for file in place.files)
    return hashlib.sha256("".join(lines).encode()).hexdigest() if place.files else ""


def _hash(path: Path, is_over: Event | None) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while (chunk := file.read(_CHUNK)) and not (is_over and is_over.is_set()):
            digest.update(chunk)
    return digest.hexdigest()
