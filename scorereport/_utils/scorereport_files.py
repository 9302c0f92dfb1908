"""Writing files whole or not at all, several of them together or none, and only for their owner.

What is written holds data of people, so only its owner may read it, from the first moment on, unless it is to
be published. A file that takes the place of another keeps the permissions that somebody gave that one.
"""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, BinaryIO

from scorereport._utils.processes import check_not_stopped, signals_deferred

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


_FOR_OWNER, _FOR_ALL = 0o600, 0o666  # the latter as far as the umask of the process allows
_FOLDER_FOR_OWNER = 0o700
_PERMISSIONS, _OF_GROUP = 0o777, 0o070


def write_text(path: str | Path, text: str, *, public: bool = False) -> Path:
    """Write text in UTF-8, with the ends of lines it has."""
    return write_bytes(path, text.encode(), public=public)


def write_bytes(path: str | Path, content: bytes, *, public: bool = False) -> Path:
    """Write beside the target first and rename: nobody ever sees half a file."""
    return write_together({Path(path): content}, public=public)[0]


def write_together(contents: Mapping[Path, bytes], *, public: bool = False) -> list[Path]:
    """Write all files beside their targets first, and rename them once the last of them is complete.

    Those that are `public` are for everybody to whom the umask of the process leaves them.
    """
    check_not_stopped()
    waiting = {target: _name_beside(target) for target in contents}  # known before they are there
    try:
        for target, content in contents.items():
            with open_beside(waiting[target], target, public=public) as file:
                _fill(file, content)
        with signals_deferred():
            return [waiting[target].replace(target) for target in contents]
    finally:
        with signals_deferred():
            for temporary in waiting.values():
                temporary.unlink(missing_ok=True)


def _fill(file: BinaryIO, content: bytes) -> None:
    file.write(content)
    file.flush()
    os.fsync(file.fileno())


@contextmanager
def open_beside(temporary: Path, target: Path, *, public: bool = False) -> Iterator[BinaryIO]:
    """A new file that is to take the place of another, with the permissions of that one if it is there."""
    mode = _FOR_ALL if public else _FOR_OWNER
    with open(temporary, "xb", opener=lambda path, flags: os.open(path, flags, mode)) as file:
        with suppress(OSError, AttributeError):  # there is none, or the system has no such permissions
            old = target.lstat()
            if stat.S_ISREG(old.st_mode):
                os.fchmod(file.fileno(), _keep_permissions(file.fileno(), old))
        yield file


def _keep_permissions(new: int, old: os.stat_result) -> int:
    """The permissions of a file, for the same group; without those of the group if it cannot be the same."""
    kept = stat.S_IMODE(old.st_mode) & _PERMISSIONS
    if os.fstat(new).st_gid != old.st_gid:
        try:
            os.fchown(new, -1, old.st_gid)
        except OSError:
            return kept & ~_OF_GROUP
    return kept


def only_owner(path: str, flags: int) -> int:
    """An opener, for `open`, of files that only their owner may read; one that is there stays as it is."""
    return os.open(path, flags, _FOR_OWNER)


def make_folder(path: Path) -> None:
    """Make a folder, with those above it that are missing: only their owner may look into new ones."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=_FOLDER_FOR_OWNER, exist_ok=True)
    path.mkdir(mode=_FOLDER_FOR_OWNER, exist_ok=True)  # refuses what is there and no folder


def _name_beside(target: Path) -> Path:
    return target.with_name(f".{target.name}.{token_hex(4)}")
