"""Chain head: a file beside the database that states the last record and its hash, to detect lost records."""

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

#: Seconds to wait for others who append and write the file.
_LOCK_SECONDS = 60
_LINE = re.compile(r"([1-9][0-9]{0,17}) ([0-9a-f]{64})\n?")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainHead:
    """The last record of a chain: its place and its hash."""

    id: int
    sha256: str


def read_chain_head(path: Path) -> ChainHead | None:
    """What the file says; None if there is none. A file that says something else is a ValueError."""
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
    """Keep others from writing the file inside the block, which is given "", or the reason if that failed.

    A record is appended and noted in the file inside one block, so that nobody takes it for one that was
    never noted. The system releases the lock of a process that dies.
    """
    from filelock import FileLock

    if path is None:
        yield ""
        return
    lock = FileLock(path.with_name(f".{path.name}.lock"), mode=0o600)
    try:
        lock.acquire(timeout=_LOCK_SECONDS)
    except OSError as error:  # a folder that cannot be written, or a time that has run out
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
    """Write the file, unless it is further already; return why that was not done, or "".

    A file that remembers a record which the history does not have is the proof that records were cut off or
    rewritten, which nobody may overwrite. `list_missed` gives the records after one, and before the new one,
    that should have been noted here: the file does not pass over them. The record itself is safe in any case.
    """
    try:
        old = read_chain_head(path)
        if old is not None and (old.id >= head.id or find_hash(old.id) != old.sha256):
            return ""
        if missed := sorted(list_missed(0 if old is None else old.id)):
            return (
                f"The file {path} was not written, for it lacks record {missed[0]}, which was appended by no "
                "run that ended; the next run verifies it."
            )
        write_text(path, f"{head.id} {head.sha256}\n")
    except (OSError, ValueError) as error:
        return describe_unwritten_head(
            path, (error.strerror if isinstance(error, OSError) else "") or str(error)
        )
    return ""


def describe_unwritten_head(path: Path, reason: str) -> str:
    """What is said of a file that could not be written."""
    return f"The file {path}, which remembers the last record, could not be written: {reason}."


class HistoryWithHead(Protocol):
    """A history that knows the file that remembers its end, if there is one."""

    name: str
    head: Path | None

    def find_hash(self, number: int) -> str | None:
        """The hash of the record with this number; None if there is none."""

    def last(self) -> ChainHead | None:
        """The last record; None if there is none."""


def check_chain_head(history: HistoryWithHead) -> None:
    """Refuse a history that does not have the record which its file `head` remembers.

    Whoever went on with it would bury what is left of the old one. A file that cannot be read is for
    `verify_history` to name.
    """
    try:
        remembered = None if history.head is None else read_chain_head(history.head)
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
