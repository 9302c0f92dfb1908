"""The file `head`: the last record and its hash, beside the database, to see records that were cut off."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scorereport.files import write_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_LINE = re.compile(r"([1-9][0-9]{0,17}) ([0-9a-f]{64})\n?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The last record of a chain: its place and its hash."""

    id: int
    sha256: str


def read_head(path: Path) -> Head | None:
    """What the file says; None if there is none. A file that says something else is a ValueError."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    match = _LINE.fullmatch(content.decode("ascii", errors="replace"))
    if match is None:
        raise ValueError("it must be one line with a number and a SHA-256")
    return Head(id=int(match[1]), sha256=match[2])


def advance_head(path: Path, head: Head, find_hash: Callable[[int], str | None]) -> None:
    """Write the file, unless it is further already or remembers a record that the history does not have.

    Then it is the proof that records were cut off or rewritten, which nobody may overwrite. A file that
    cannot be written is left: the record itself is safe, and the next one writes it.
    """
    from filelock import FileLock

    with suppress(OSError, ValueError), FileLock(path.with_name(f".{path.name}.lock"), timeout=10):
        old = read_head(path)
        if old is None or (old.id < head.id and find_hash(old.id) == old.sha256):
            write_text(path, f"{head.id} {head.sha256}\n")
