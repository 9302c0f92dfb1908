"""Files and folders: atomic writing, temporary folders, and files that ship with the package.

Each folder holds a marker file that its process keeps locked. The system releases the lock when the process
dies, however that happens, so the next process that needs a temporary folder finds those that are stale, and
removes them.

What is written holds data of people, so only its owner may read it, from the first moment on, unless it is to
be published. A file that takes the place of another keeps the permissions that somebody gave that one.

They stand at the top of the repository; a wheel carries them inside the package.
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


_PACKAGE = Path(__file__).resolve().parents[1]
#: Name in the package, and place in the repository.
_HOMES = {"templates": "templates", "recorded": "validation/recorded"}


def find_package_folder(name: str) -> Path:
    """The folder of that name: in the package if it was installed, else in the repository."""
    inside = _PACKAGE / name
    return inside if inside.is_dir() else _PACKAGE.parent / _HOMES[name]
