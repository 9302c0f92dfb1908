"""The file of finished cases, from which a study that was ended continues.

The first line states the settings: a file with others is replaced. Each other line is the summary of a batch
of cases. A line that was not written to its end is dropped.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from filelock import FileLock, Timeout

from scorereport._utils import json_documents
from scorereport._utils.version import package_version
from scorereport.errors import UsageError
from scorereport.study.case_summary import CaseSummary

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: The version of the format of the file.
_FORMAT = 1
_PACKAGE = Path(__file__).parents[1]
_STEM, _ENDING, _LOCK = "validation-cases", ".partial", ".lock"


def describe_run(kind: str, seed: int, software: Mapping[str, str]) -> dict[str, Any]:
    """The settings that the results of a case depend on: another run with the same can continue this one."""
    return {
        "format": _FORMAT,
        "scorereport": package_version(),
        "code": _digest_code(),
        "reference": kind,
        "seed": seed,
        "software": dict(software),
    }


def _digest_code() -> str:
    """A digest of the code of this package: a changed engine must be compared again."""
    digest = hashlib.sha256()
    for path in sorted([*_PACKAGE.rglob("*.py"), *_PACKAGE.rglob("*.R")]):
        digest.update(f"{path.relative_to(_PACKAGE).as_posix()}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


class CaseRecords:
    """Batches of finished cases in a file of a folder; use it in a `with` block, at whose end it stays.

    Without a folder nothing is kept.
    """

    def __init__(self, folder: Path | None, kind: str, settings: Mapping[str, Any]) -> None:
        self._path = None if folder is None else folder / f"{_STEM}.{kind}{_ENDING}"
        self._settings = json.dumps(settings, sort_keys=True)
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._lock(self._path)
            self._open(self._path)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def read(self) -> Iterator[tuple[str, CaseSummary]]:
        """The batches that were finished before: name and summary."""
        if self._path is None:
            return
        with self._path.open(encoding="utf-8") as file:
            next(file, "")
            for line in file:
                name, _, summary = line.partition(" ")
                yield name, json_documents.load(CaseSummary, summary, str(self._path))

    def add(self, name: str, summary: CaseSummary) -> None:
        """Write a finished batch; it is on the disk when this returns."""
        if self._path is None:
            return
        self._file.write(f"{name} {json_documents.dump(summary)}".encode())
        self._file.flush()
        os.fsync(self._file.fileno())

    def _lock(self, path: Path) -> None:
        """Refuse a second run that writes to the same file."""
        lock = FileLock(path.with_suffix(_LOCK), timeout=0)
        try:
            self._stack.enter_context(lock)
        except Timeout:
            raise UsageError(
                f"Another validation study writes to {path.parent} at present; choose another folder."
            ) from None

    def _open(self, path: Path) -> None:
        """Open the file after its last complete line; a file of other settings becomes empty."""
        held = path.read_bytes() if path.exists() else b""
        complete = held[: held.rfind(b"\n") + 1]
        if complete.partition(b"\n")[0].decode(errors="replace") != self._settings:
            complete = f"{self._settings}\n".encode()
            path.write_bytes(complete)
        self._file = self._stack.enter_context(path.open("r+b"))
        self._file.truncate(len(complete))
        self._file.seek(0, os.SEEK_END)


def remove_case_records(folder: Path) -> None:
    """Remove the files of a study that is complete and written."""
    for path in folder.glob(f"{_STEM}.*"):
        if path.suffix in (_ENDING, _LOCK):
            path.unlink(missing_ok=True)
