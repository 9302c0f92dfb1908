"""Whether the files of reports on disk are those that the records name."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from scorereport.history.findings import Finding, FindingKind
from scorereport.history.records import FiledFile, Record

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

#: Where files wait, beside their place, until the record that names them is written.
STAGING = ".staging"


@dataclass(frozen=True, slots=True, kw_only=True)
class Filing:
    """A file that a record names, and the folder below which it lies."""

    record: Record
    file: FiledFile
    folder: Path

    @property
    def path(self) -> Path:
        """Where the file belongs."""
        return self.folder / self.file.name

    @property
    def staged(self) -> Path:
        """Where it lies if the run was killed before it came to its place."""
        return self.path.with_name(STAGING) / self.path.name


def find_filings(records: Sequence[Record], find_folder: Callable[[Record], Path]) -> tuple[Filing, ...]:
    """All files that records name, oldest first."""
    return tuple(
        Filing(record=record, file=file, folder=find_folder(record))
        for record in records
        for file in record.files
    )


def find_place(filing: Filing) -> Path | None:
    """Where the file lies as it was recorded: in its place, or staged still; None if it does not.

    Its place is looked at again at the end, for a run may bring it there at this moment.
    """
    for path in (filing.path, filing.staged, filing.path):
        if hash_file(path) == filing.file.sha256:
            return path
    return None


def hash_file(path: Path) -> str | None:
    """The SHA-256 of a file; None if there is none or it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def check_files(
    filings: Sequence[Filing], records: Sequence[Record], find_folder: Callable[[Record], Path]
) -> Iterator[Finding]:
    """Files that are missing or changed; those that were removed on purpose later may be missing."""
    removals = {
        (find_folder(record), file.name, file.sha256): record.id
        for record in records
        if record.kind == "retention"
        for file in record.removed
    }
    for filing in filings:
        removed = removals.get((filing.folder, filing.file.name, filing.file.sha256), 0) > filing.record.id
        yield from _check_filing(filing, may_be_missing=removed)


def _check_filing(filing: Filing, *, may_be_missing: bool) -> Iterator[Finding]:
    name, number = filing.file.name, filing.record.id
    if not is_below(name):
        sentence = f"Record {number} names the file {name}, which is not below the folder of reports."
        yield Finding(kind=FindingKind.CHANGED, subject=f"file {name}", sentence=sentence)
    elif find_place(filing) is not None:
        return
    elif os.path.lexists(filing.path):
        sentence = f"The file {filing.path} of record {number} was changed, or cannot be read."
        yield Finding(kind=FindingKind.CHANGED, subject=f"file {name}", sentence=sentence)
    elif not may_be_missing:
        sentence = f"The file {filing.path} of record {number} is missing."
        yield Finding(kind=FindingKind.MISSING, subject=f"file {name}", sentence=sentence)


def is_below(name: str) -> bool:
    """Whether a name stays below the folder that it is put into."""
    path = PurePosixPath(name)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts and "\0" not in name


def find_strays(folders: Collection[tuple[Path, str]], known: Collection[Path]) -> list[tuple[Path, str]]:
    """Files below the folders of audits that are not known, with their names; hidden ones do not count."""
    found = sorted((folder, path) for folder, audit in set(folders) for path in _list_files(folder / audit))
    return [(path, path.relative_to(folder).as_posix()) for folder, path in found if path not in known]


def describe_stray(path: Path, name: str) -> Finding:
    """What is said of a file that nobody has recorded."""
    sentence = f"The file {path} belongs to no record."
    return Finding(kind=FindingKind.UNKNOWN, subject=f"file {name}", sentence=sentence)


def _list_files(top: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(top):
        links = [name for name in folders if Path(place, name).is_symlink()]
        folders[:] = [name for name in folders if not name.startswith(".") and name not in links]
        yield from (Path(place, name) for name in [*names, *links] if not name.startswith("."))
