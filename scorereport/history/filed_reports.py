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

#: Hidden folder, beside their final place, in which files wait until the record that names them is written.
STAGING_FOLDER = ".staging"


@dataclass(frozen=True, slots=True, kw_only=True)
class FiledReport:
    """A file that a record names, and the report folder that its name is relative to."""

    record: Record
    file: RecordedFile
    folder: Path

    @property
    def path(self) -> Path:
        """Where the file belongs."""
        return self.folder / self.file.name

    @property
    def staged(self) -> Path:
        """Where the file is if the run was killed before it moved the file to its place."""
        return self.path.with_name(STAGING_FOLDER) / self.path.name


def list_filed_reports(
    records: Sequence[Record], find_folder: Callable[[Record], Path]
) -> tuple[FiledReport, ...]:
    """List all files that records name, oldest first."""
    return tuple(
        FiledReport(record=record, file=file, folder=find_folder(record))
        for record in records
        for file in record.files
    )


def find_filed_path(filing: FiledReport) -> Path | None:
    """Return the path at which the file is as recorded: its place, or still staged; None if neither.

    A staged file does not count if another file is in its place. The place is read last, because a run may
    move the staged file there at this moment.
    """
    is_staged = hash_if_readable(filing.staged) == filing.file.sha256
    if is_staged and not os.path.lexists(filing.path):
        return filing.staged
    return filing.path if hash_if_readable(filing.path) == filing.file.sha256 else None


def hash_if_readable(path: Path) -> str | None:
    """Return the SHA-256 of a file; None if it does not exist or cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def check_files(
    filings: Sequence[FiledReport],
    removals: Sequence[Removal],
    look: Callable[[Record, Path], None] = lambda *_: None,
    *,
    compared: Collection[tuple[Path, str]] = (),
) -> Iterator[IntegrityFinding]:
    """Find files that are missing or changed; those with a justified removal may be missing.

    `look` is called with the record and the path of each file that is as recorded. `compared` are files that
    were compared with documents, with the hashes of those: they are not read again.
    """
    removed = _find_removed(removals)
    for filing in filings:
        is_known = (filing.path, filing.file.sha256) in compared
        place = filing.path if is_known else find_filed_path(filing) if is_below(filing.file.name) else None
        if place is not None:
            look(filing.record, place)
        else:
            yield from _describe_filed_report(filing, may_be_missing=_filing_key(filing) in removed)


def describe_leftovers(filings: Sequence[FiledReport], removals: Sequence[Removal]) -> Iterator[str]:
    """Describe files that still exist though a record states their removal and no later one filed them."""
    removed = _find_removed(removals)
    last = {(filing.path, filing.file.sha256): filing for filing in filings}
    for filing in last.values():
        number = removed.get(_filing_key(filing))
        place = find_filed_path(filing) if number is not None and is_below(filing.file.name) else None
        if place is not None:
            yield (
                f"The file {place} still exists, though record {number} states that it was removed: the run "
                "was killed or could not remove it, or somebody has put the file back."
            )


def _find_removed(removals: Sequence[Removal]) -> dict[tuple[int, str], int]:
    return {(removal.filed_by, removal.name): removal.removed_by for removal in removals}


def _filing_key(filing: FiledReport) -> tuple[int, str]:
    return filing.record.id, filing.file.name


def _describe_filed_report(filing: FiledReport, *, may_be_missing: bool) -> Iterator[IntegrityFinding]:
    name, number = filing.file.name, filing.record.id
    if not is_below(name):
        sentence = f"Record {number} names the file {name}, which is not below the report folder."
        yield IntegrityFinding(kind=FindingKind.CHANGED, subject=f"file {name}", sentence=sentence)
    elif os.path.lexists(filing.path):
        sentence = f"The file {filing.path} of record {number} was changed, or cannot be read."
        yield IntegrityFinding(kind=FindingKind.CHANGED, subject=f"file {name}", sentence=sentence)
    elif not may_be_missing:
        sentence = f"The file {filing.path} of record {number} is missing."
        yield IntegrityFinding(kind=FindingKind.MISSING, subject=f"file {name}", sentence=sentence)


def is_below(name: str) -> bool:
    """Whether a relative name stays below the folder that it is joined to."""
    path = PurePosixPath(name)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts and "\0" not in name


def find_unrecorded_files(
    folders: Collection[tuple[Path, str]], known: Collection[Path]
) -> list[tuple[Path, str]]:
    """Find files below the folders of audits that are not `known`, with their names; skip hidden files."""
    found = sorted((folder, path) for folder, audit in set(folders) for path in _list_files(folder / audit))
    return [(path, path.relative_to(folder).as_posix()) for folder, path in found if path not in known]


def describe_unrecorded_file(path: Path, name: str) -> IntegrityFinding:
    """Return the finding for a file that no record names."""
    sentence = f"The file {path} belongs to no record."
    return IntegrityFinding(kind=FindingKind.UNKNOWN, subject=f"file {name}", sentence=sentence)


def _list_files(top: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(top):
        links = [name for name in folders if Path(place, name).is_symlink()]
        folders[:] = [name for name in folders if not name.startswith(".") and name not in links]
        yield from (Path(place, name) for name in [*names, *links] if not name.startswith("."))
