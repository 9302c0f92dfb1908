"""The file `head`: the last record and its hash, beside the database, to see records that were cut off."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from scorereport.errors import UsageError
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

    with (
        suppress(OSError, ValueError),
        FileLock(path.with_name(f".{path.name}.lock"), timeout=10, mode=0o600),
    ):
        old = read_head(path)
        if old is None or (old.id < head.id and find_hash(old.id) == old.sha256):
            write_text(path, f"{head.id} {head.sha256}\n")


class HeadedHistory(Protocol):
    """A history that knows the file that remembers its end, if there is one."""

    name: str
    head: Path | None

    def find_hash(self, number: int) -> str | None:
        """The hash of the record with this number; None if there is none."""

    def last(self) -> Head | None:
        """The last record; None if there is none."""


def check_head(history: HeadedHistory) -> None:
    """Refuse a history that does not have the record which its file `head` remembers.

    Whoever went on with it would bury what is left of the old one. A file that cannot be read is for
    `verify_history` to name.
    """
    try:
        remembered = None if history.head is None else read_head(history.head)
    except (OSError, ValueError):
        return
    if remembered is None:
        return
    found = history.find_hash(remembered.id)
    if found == remembered.sha256:
        return
    last = history.last()
    if found is not None:
        instead = f"it has another one there, with the hash {found}"
    else:
        instead = "it has no records" if last is None else f"it ends with record {last.id}"
    raise UsageError(
        f"The history {history.name} is not the one that the file {history.head} remembers, whose record "
        f"{remembered.id} has the hash {remembered.sha256}: {instead}. Records were removed or written anew; "
        "nothing was recorded. Restore the database from a copy. If the history was begun anew on purpose, "
        f"put away the reports of the old one and remove the file {history.head}."
    )
