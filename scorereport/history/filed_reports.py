"""Report files that records name: where they are, and whether they match what was recorded."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from scorereport.history.audit_record import Record, RecordedFile
from scorereport.history.verification_findings import FindingKind, IntegrityFinding

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from scorereport.history.expiry import Removal

#: Where files wait, beside their place, until the record that names them is written.
#: The hidden folder in which files wait for their record.
STAGING_FOLDER = ".staging"


@dataclass(frozen=True, slots=True, kw_only=True)
class FiledReport:
    """A file that a record names, and the folder below which it lies."""

    record: Record
    file: RecordedFile
    folder: Path

    @property
    def path(self) -> Path:
        """Where the file belongs."""
        return self.folder / self.file.name

    @property
    def staged(self) -> Path:
        """Where it lies if the run was killed before it came to its place."""
        return self.path.with_name(STAGING_FOLDER) / self.path.name


def list_filed_reports(
    records: Sequence[Record], find_folder: Callable[[Record], Path]
) -> tuple[FiledReport, ...]:
    """All files that records name, oldest first."""
    return tuple(
        FiledReport(record=record, file=file, folder=find_folder(record))
        for record in records
        for file in record.files
    )


def find_filed_path(filing: FiledReport) -> Path | None:
    """Where the file lies as it was recorded: in its place, or staged still; None if it does not.

    What is staged counts for nothing where another file has taken the place. The place is looked at again
    at the end, for a run may bring the file there at this moment.
    """
    is_staged = hash_if_readable(filing.staged) == filing.file.sha256
    if is_staged and not os.path.lexists(filing.path):
        return filing.staged
    return filing.path if hash_if_readable(filing.path) == filing.file.sha256 else None


def hash_if_readable(path: Path) -> str | None:
    """The SHA-256 of a file; None if there is none or it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def check_files(
    filings: Sequence[FiledReport],
    removals: Sequence[Removal],
    look: Callable[[Record, Path], None] = lambda *_: None,
) -> Iterator[IntegrityFinding]:
    """Files that are missing or changed; those that were rightly removed may be missing.

    `look` is given each file that is as it was recorded, with its record.
    """
    removed = _find_removed(removals)
    for filing in filings:
        place = find_filed_path(filing) if is_below(filing.file.name) else None
        if place is not None:
            look(filing.record, place)
        else:
            yield from _describe_filed_report(filing, may_be_missing=_filing_key(filing) in removed)


def describe_leftovers(filings: Sequence[FiledReport], removals: Sequence[Removal]) -> Iterator[str]:
    """Files that are there still though a record says that they were removed, and none filed them again."""
    removed = _find_removed(removals)
    last = {(filing.path, filing.file.sha256): filing for filing in filings}
    for filing in last.values():
        number = removed.get(_filing_key(filing))
        place = find_filed_path(filing) if number is not None and is_below(filing.file.name) else None
        if place is not None:
            yield (
                f"The file {place} is there still, though record {number} says that it was removed: the run "
                "was killed, or could not do it, or somebody has put the file back."
            )


def _find_removed(removals: Sequence[Removal]) -> dict[tuple[int, str], int]:
    return {(removal.filed_by, removal.name): removal.removed_by for removal in removals}


def _filing_key(filing: FiledReport) -> tuple[int, str]:
    return filing.record.id, filing.file.name


def _describe_filed_report(filing: FiledReport, *, may_be_missing: bool) -> Iterator[IntegrityFinding]:
    name, number = filing.file.name, filing.record.id
    if not is_below(name):
        sentence = f"Record {number} names the file {name}, which is not below the folder of reports."
        yield IntegrityFinding(kind=FindingKind.CHANGED, subject=f"file {name}", sentence=sentence)
    elif os.path.lexists(filing.path):
        sentence = f"The file {filing.path} of record {number} was changed, or cannot be read."
        yield IntegrityFinding(kind=FindingKind.CHANGED, subject=f"file {name}", sentence=sentence)
    elif not may_be_missing:
        sentence = f"The file {filing.path} of record {number} is missing."
        yield IntegrityFinding(kind=FindingKind.MISSING, subject=f"file {name}", sentence=sentence)


def is_below(name: str) -> bool:
    """Whether a name stays below the folder that it is put into."""
    path = PurePosixPath(name)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts and "\0" not in name


def find_unrecorded_files(
    folders: Collection[tuple[Path, str]], known: Collection[Path]
) -> list[tuple[Path, str]]:
    """Files below the folders of audits that are not known, with their names; hidden ones do not count."""
    found = sorted((folder, path) for folder, audit in set(folders) for path in _list_files(folder / audit))
    return [(path, path.relative_to(folder).as_posix()) for folder, path in found if path not in known]


def describe_unrecorded_file(path: Path, name: str) -> IntegrityFinding:
    """What is said of a file that nobody has recorded."""
    sentence = f"The file {path} belongs to no record."
    return IntegrityFinding(kind=FindingKind.UNKNOWN, subject=f"file {name}", sentence=sentence)


def _list_files(top: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(top):
        links = [name for name in folders if Path(place, name).is_symlink()]
        folders[:] = [name for name in folders if not name.startswith(".") and name not in links]
        yield from (Path(place, name) for name in [*names, *links] if not name.startswith("."))
