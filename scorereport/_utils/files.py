"""Files and folders: atomic writing, temporary folders, and files that ship with the package.

Temporary folders: each holds a marker file that its process keeps locked. The system releases the lock when
the process ends, for whatever reason, so the next process that needs a temporary folder can find and remove
abandoned ones.

Written files may hold personal data, so from the start only their owner may read them, unless they are
public. A file that replaces another keeps the permissions of that file.

Files of the package are at the top of the repository; in a wheel they are inside the package.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import weakref
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, BinaryIO

from scorereport._utils.processes import check_not_stopped, signals_deferred

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: Windows has no fcntl: nothing is locked there, and no folders are removed as abandoned.
_locks: Any = import_module("fcntl") if os.name == "posix" else None

FOLDER_PREFIX = "scorereport-"
MARKER = ".scorereport-owner"
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_FILE = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0)
#: Bits of a mode that let others write.
_OTHERS_WRITE = 0o022

_swept: set[Path] = set()


def find_temporary_folder() -> Path:
    """Return the folder of the system for temporary files.

    Python tests it with a file when it is asked for first, which a signal would leave there.
    """
    with signals_deferred():
        return Path(tempfile.gettempdir())


class TemporaryFolder:
    """A temporary folder of this process, below that of the system unless `below` is given.

    It is removed when it is closed, when it is no longer referenced, and at exit; after a kill by the next
    process that makes one in the same place. `lock` may be inherited by a child process that works in it.
    """

    def __init__(self, kind: str = "", below: str | Path | None = None) -> None:
        # A signal must not arrive between making the folder and registering its removal.
        with signals_deferred():
            place = find_temporary_folder() if below is None else Path(below)
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
        """Remove the folder with its contents; signals are deferred."""
        with signals_deferred():
            self._finalizer()

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.close()


def remove_abandoned(place: str | Path | None = None) -> list[Path]:
    """Remove the folders of processes that have ended; return those removed.

    Only folders with our prefix and marker, which belong to this user and are not writeable by others, are
    touched; links are never followed.
    """
    if _locks is None:
        return []
    where = find_temporary_folder() if place is None else Path(place)
    return [folder for folder in _list_folders(where) if _sweep_one(folder)]


def _list_folders(place: Path) -> Iterator[Path]:
    with suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            if entry.name.startswith(FOLDER_PREFIX) and entry.is_dir(follow_symlinks=False):
                yield Path(entry.path)


def _sweep_one(path: Path) -> bool:
    """Remove a folder if its process has ended."""
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
    """Put the marker into a folder; it is locked before it gets its name, so no process finds it unlocked."""
    if _locks is None:
        return None
    fresh = folder / f"{MARKER}.new"
    descriptor = os.open(fresh, _FILE | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        # On a file system without locks there is no marker, and the folder never counts as abandoned.
        with suppress(OSError):
            _locks.flock(descriptor, _locks.LOCK_EX | _locks.LOCK_NB)
            fresh.rename(folder / MARKER)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _remove(path: Path, lock: int | None, owner: int) -> None:
    """Remove a folder of this process; a forked process does nothing."""
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
    """Remove the contents of a folder; the marker stays while anything else remains, for a later attempt."""
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


_FOR_OWNER, _FOR_ALL = 0o600, 0o666  # the latter as far as the umask of the process allows
_FOLDER_FOR_OWNER = 0o700
_PERMISSIONS, _OF_GROUP = 0o777, 0o070


def write_text(path: str | Path, text: str, *, public: bool = False) -> Path:
    """Write text in UTF-8, with its line ends unchanged."""
    return write_bytes(path, text.encode(), public=public)


def write_bytes(path: str | Path, content: bytes, *, public: bool = False) -> Path:
    """Write a temporary file beside the target and rename it, so that a partial file is never visible."""
    return write_together({Path(path): content}, public=public)[0]


def write_together(contents: Mapping[Path, bytes], *, public: bool = False) -> list[Path]:
    """Write all files beside their targets, and rename them once all are complete.

    `public` files are readable by everyone whom the umask of the process allows.
    """
    check_not_stopped()
    waiting = {
        target: _name_beside(target) for target in contents
    }  # named before they exist, for the clean-up
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
    """Open a new file that is to replace another, with the permissions of that file if it exists."""
    mode = _FOR_ALL if public else _FOR_OWNER
    with open(temporary, "xb", opener=lambda path, flags: os.open(path, flags, mode)) as file:
        with suppress(OSError, AttributeError):  # it does not exist, or the system has no such permissions
            old = target.lstat()
            if stat.S_ISREG(old.st_mode):
                os.fchmod(file.fileno(), _keep_permissions(file.fileno(), old))
        yield file


def _keep_permissions(new: int, old: os.stat_result) -> int:
    """The permissions of the old file, with the same group; without group permissions if that fails."""
    kept = stat.S_IMODE(old.st_mode) & _PERMISSIONS
    if os.fstat(new).st_gid != old.st_gid:
        try:
            os.fchown(new, -1, old.st_gid)
        except OSError:
            return kept & ~_OF_GROUP
    return kept


def only_owner(path: str, flags: int) -> int:
    """Open a file, as opener for `open`, so that only its owner may read it; an existing one is unchanged."""
    return os.open(path, flags, _FOR_OWNER)


def make_folder(path: Path) -> None:
    """Make a folder and missing parents; only their owner may read new ones."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=_FOLDER_FOR_OWNER, exist_ok=True)
    path.mkdir(mode=_FOLDER_FOR_OWNER, exist_ok=True)  # an error if the path exists and is not a folder


def _name_beside(target: Path) -> Path:
    return target.with_name(f".{target.name}.{token_hex(4)}")


_PACKAGE = Path(__file__).resolve().parents[1]
#: Folders by name in the package, and their paths in the repository.
_HOMES = {
    "docs": "docs",
    "documentation": "build/site",
    "recorded": "validation/recorded",
    "templates": "templates",
}


def find_package_folder(name: str) -> Path:
    """Return the folder of that name: in the package if it was installed, else in the repository."""
    inside = _PACKAGE / name
    return inside if inside.is_dir() else _PACKAGE.parent / _HOMES[name]
