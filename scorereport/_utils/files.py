"""Temporary folders that do not outlive their process, even one that is killed.

Each folder holds a marker file that its process keeps locked. The system releases the lock when the process
dies, however that happens, so the next process that needs a temporary folder finds those that are stale, and
removes them.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import weakref
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scorereport._utils.processes import signals_deferred

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Windows has none: nothing is locked there, and nothing is swept.
_locks: Any = import_module("fcntl") if os.name == "posix" else None

FOLDER_PREFIX = "scorereport-"
MARKER = ".scorereport-owner"
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_FILE = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0)
#: Bits of a mode that let others write.
_OTHERS_WRITE = 0o022

_swept: set[Path] = set()


class TemporaryFolder:
    """A folder of this process, below that of the system unless another is given.

    It is removed when it is closed, when nobody refers to it any more, and at exit; after a kill by the next
    process that makes one in the same place. `lock` may be inherited by a child process that works in it.
    """

    def __init__(self, kind: str = "", below: str | Path | None = None) -> None:
        with signals_deferred():  # a signal must not come between the folder and what removes it
            place = Path(tempfile.gettempdir() if below is None else below)
            if place not in _swept:
                _swept.add(place)
                remove_abandoned(place)
            self.path = Path(tempfile.mkdtemp(prefix=f"{FOLDER_PREFIX}{kind}", dir=place))
            try:
                self.lock = _write_marker(self.path)
            except BaseException:
                shutil.rmtree(self.path, ignore_errors=True)
                raise
            self._finalizer = weakref.finalize(self, _remove, self.path, self.lock, os.getpid())

    def close(self) -> None:
        """Remove the folder with all that is in it; signals wait for it."""
        with signals_deferred():
            self._finalizer()

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.close()


def remove_abandoned(place: str | Path | None = None) -> list[Path]:
    """Remove the folders of processes that are dead; gives those that are gone.

    Only folders that carry our prefix and our marker, that belong to this user and that nobody else may write
    to are touched; links are never followed.
    """
    if _locks is None:
        return []
    where = Path(tempfile.gettempdir() if place is None else place)
    return [folder for folder in _list_folders(where) if _sweep_one(folder)]


def _list_folders(place: Path) -> Iterator[Path]:
    with suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            if entry.name.startswith(FOLDER_PREFIX) and entry.is_dir(follow_symlinks=False):
                yield Path(entry.path)


def _sweep_one(path: Path) -> bool:
    """Remove a folder if its process is dead."""
    with suppress(OSError), _Opened(path, _FOLDER) as folder:
        facts = os.fstat(folder)
        if facts.st_uid != os.geteuid() or facts.st_mode & _OTHERS_WRITE:
            return False
        with _Opened(MARKER, _FILE, within=folder) as marker:
            _locks.flock(marker, _locks.LOCK_EX | _locks.LOCK_NB)  # an OSError if the owner is alive
            _empty(folder)
            path.rmdir()
            return True
    return False


class _Opened:
    """A descriptor that is closed at the end of a block."""

    def __init__(self, path: str | Path, flags: int, within: int | None = None) -> None:
        self._descriptor = os.open(path, flags, dir_fd=within)

    def __enter__(self) -> int:
        return self._descriptor

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)


def _write_marker(folder: Path) -> int | None:
    """Put the marker into a folder; it gets its name once it is locked, so that nobody finds it unlocked."""
    if _locks is None:
        return None
    fresh = folder / f"{MARKER}.new"
    descriptor = os.open(fresh, _FILE | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with suppress(OSError):  # a file system without locks: nobody will take the folder for stale
            _locks.flock(descriptor, _locks.LOCK_EX | _locks.LOCK_NB)
            fresh.rename(folder / MARKER)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _remove(path: Path, lock: int | None, owner: int) -> None:
    """Remove a folder of ours; a process that was forked off leaves it alone."""
    if os.getpid() != owner:
        return
    try:
        if _locks is None:
            shutil.rmtree(path, ignore_errors=True)
            return
        with suppress(OSError):
            with _Opened(path, _FOLDER) as folder:
                _empty(folder)
            path.rmdir()
    finally:
        if lock is not None:
            os.close(lock)


def _empty(folder: int) -> None:
    """Remove all that a folder holds; the marker stays as long as something does, for the next to try."""
    for name in os.listdir(folder):
        if name == MARKER:
            continue
        with suppress(OSError):
            if stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
                shutil.rmtree(name, ignore_errors=True, dir_fd=folder)
            else:
                os.unlink(name, dir_fd=folder)
    if os.listdir(folder) == [MARKER]:
        os.unlink(MARKER, dir_fd=folder)
