"""Chain head: a file beside the database with the last record and its hash, to detect lost records."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from scorereport._utils.files import write_text
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from pathlib import Path

#: Seconds to wait for other processes that append a record and write the file.
_LOCK_SECONDS = 60
_LINE = re.compile(r"([1-9][0-9]{0,17}) ([0-9a-f]{64})\n?")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainHead:
    """The last record of a chain: its number and its hash."""

    id: int
    sha256: str


def read_chain_head(path: Path) -> ChainHead | None:
    """Read the chain head file; None if it does not exist. A malformed file is a ValueError."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    match = _LINE.fullmatch(content.decode("ascii", errors="replace"))
    if match is None:
        raise ValueError("it must be one line with a number and a SHA-256")
    return ChainHead(id=int(match[1]), sha256=match[2])


@contextmanager
def hold_chain_head(path: Path | None) -> Iterator[str]:
    """Lock the chain head file during the block; yield "", or the reason why it cannot be locked.

    A record is appended and written to the file inside one block, so that no other process mistakes it for
    one that is missing from the file. The operating system releases the lock of a process that dies.
    """
    from filelock import FileLock

    if path is None:
        yield ""
        return
    lock = FileLock(path.with_name(f".{path.name}.lock"), mode=0o600)
    try:
        lock.acquire(timeout=_LOCK_SECONDS)
    except OSError as error:  # the folder is not writable, or the time ran out
        yield error.strerror or "another process keeps it locked"
        return
    try:
        yield ""
    finally:
        lock.release()


def advance_chain_head(
    path: Path,
    head: ChainHead,
    find_hash: Callable[[int], str | None],
    list_missed: Callable[[int], Collection[int]] = lambda _: (),
) -> str:
    """Write a newer chain head to the file; return the reason if that fails, otherwise "".

    A file that names a record which the history does not have proves that records were cut off or rewritten:
    it is never overwritten. `list_missed` returns the records after a given one, and before the new one, that
    should have been written to this file: the file does not skip them. The record itself is stored in any
    case.
    """
    try:
        old = read_chain_head(path)
        if old is not None and (old.id >= head.id or find_hash(old.id) != old.sha256):
            return ""
        if missed := sorted(list_missed(0 if old is None else old.id)):
            return (
                f"The chain head file {path} was not written because it lacks record {missed[0]}, which was "
                "not appended by a run that ended; the next run verifies it."
            )
        write_text(path, f"{head.id} {head.sha256}\n")
    except (OSError, ValueError) as error:
        return describe_unwritten_head(
            path, (error.strerror if isinstance(error, OSError) else "") or str(error)
        )
    return ""


def describe_unwritten_head(path: Path, reason: str) -> str:
    """Describe why the chain head file could not be written."""
    return f"The chain head file {path}, which names the last record, could not be written: {reason}."


class HistoryWithHead(Protocol):
    """A history with the path of its chain head file, if it has one."""

    name: str
    head: Path | None

    def find_hash(self, number: int) -> str | None:
        """Return the hash of the record with this number; None if there is none."""

    def last(self) -> ChainHead | None:
        """Return the last record; None if there is none."""


def check_chain_head(history: HistoryWithHead) -> None:
    """Refuse a history that lacks the record named in its chain head file.

    Appending to it would hide that records were removed. A file that cannot be read is left to
    `verify_history`.
    """
    try:
        head = None if history.head is None else read_chain_head(history.head)
    except (OSError, ValueError):
        return
    if head is None:
        return
    found = history.find_hash(head.id)
    if found == head.sha256:
        return
    last = history.last()
    if found is not None:
        instead = f"in the history this record has the hash {found}"
    else:
        instead = "the history has no records" if last is None else f"the history ends with record {last.id}"
    raise UsageError(
        f"The history {history.name} does not match its chain head file {history.head}, whose record "
        f"{head.id} has the hash {head.sha256}: {instead}. Records were removed or rewritten; nothing was "
        "recorded. To fix: restore the database from a copy. If the history was started again on purpose, "
        f"move the reports of the old one to another place and remove the file {history.head}."
    )
