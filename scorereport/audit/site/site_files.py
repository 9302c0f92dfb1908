"""Which files of reports the site can offer, and copies of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from scorereport._utils.scorereport_files import write_bytes
from scorereport.audit.site.names import safe_file_name
from scorereport.history.audit_record import Record, RecordedFile
from scorereport.history.filed_reports import STAGING_FOLDER, hash_if_readable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from scorereport.audit.site.audit_runs import AuditRuns

#: Where files wait until their record is written, beside their place: after a crash they may be there still.


class FileState(StrEnum):
    """Whether a file that a record names can be had, in the words of the pages."""

    THERE = "there"
    NOT_KEPT = "not kept"  # it was removed in due time, by a record of its own
    MISSING = "missing"
    CHANGED = "changed"  # what lies in its place is not what was recorded


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportCopy:
    """A file of a report and its place in the site; there is a source if it has to be copied still."""

    file: RecordedFile
    target: str
    state: FileState
    source: Path | None = None

    @property
    def kind(self) -> str:
        """Which form of the report it is, by its ending."""
        return PurePosixPath(self.file.name).suffix.removeprefix(".").lower() or "file"


def plan_copies(
    audits: Iterable[AuditRuns], folder: Path, find_folder: Callable[[Record], Path]
) -> dict[int, tuple[ReportCopy, ...]]:
    """The files of each record by its id: what the site has, what it has to copy, and what is not to be had.

    A copy that the site has, with the size and the hash of the record, serves even if its source is gone.
    """
    return {number: copies for audit in audits for number, copies in _plan_audit(audit, folder, find_folder)}


def _plan_audit(
    audit: AuditRuns, folder: Path, find_folder: Callable[[Record], Path]
) -> Iterator[tuple[int, tuple[ReportCopy, ...]]]:
    """Newest first: if a later run took the place of a file, the earlier one is the changed one."""
    taken: dict[str, str] = {}
    for run in sorted(audit.runs, key=lambda run: run.record.id, reverse=True):
        copies = []
        for file in run.record.files:
            target = f"reports/{audit.key}/{safe_file_name(file.name.removeprefix(f'{audit.name}/'))}"
            if taken.setdefault(target, file.sha256) != file.sha256:
                copies.append(ReportCopy(file=file, target=target, state=FileState.CHANGED))
            elif (file.name, file.sha256) in audit.removed:
                copies.append(ReportCopy(file=file, target=target, state=FileState.NOT_KEPT))
            elif _is_recorded(folder / target, file):
                copies.append(ReportCopy(file=file, target=target, state=FileState.THERE))
            else:
                state, source = _find_source(file, find_folder(run.record))
                copies.append(ReportCopy(file=file, target=target, state=state, source=source))
        yield run.record.id, tuple(copies)


def _find_source(file: RecordedFile, folder: Path) -> tuple[FileState, Path | None]:
    """Where the file lies: in its place, or waiting beside it; never outside of the folder of reports."""
    place = folder / file.name
    found = [
        path for path in (place, place.parent / STAGING_FOLDER / place.name) if _is_below_folder(path, folder)
    ]
    for path in found:
        if _is_recorded(path, file):
            return FileState.THERE, path
    return (FileState.CHANGED if found else FileState.MISSING), None


def _is_below_folder(path: Path, folder: Path) -> bool:
    return path.is_file() and path.resolve().is_relative_to(folder.resolve())


def _is_recorded(path: Path, file: RecordedFile) -> bool:
    """Whether a file has the size and the hash that were recorded."""
    if not path.is_file() or path.stat().st_size != file.size:
        return False
    return hash_if_readable(path) == file.sha256


def write_copies(copies: Mapping[int, Iterable[ReportCopy]], folder: Path) -> list[Path]:
    """Copy what the site does not have yet, each file whole."""
    written = []
    for copy in (copy for of_record in copies.values() for copy in of_record):
        if copy.source is not None:
            target = folder / copy.target
            target.parent.mkdir(parents=True, exist_ok=True)
            written.append(write_bytes(target, copy.source.read_bytes(), public=True))
    return written
