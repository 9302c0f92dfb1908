"""Files of the site: copies of reports, and the manifest of files that may be overwritten or removed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from scorereport._utils.files import write_bytes, write_text
from scorereport.audit.site.audit_runs import safe_file_name
from scorereport.errors import UsageError
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


MANIFEST_FILE = ".scorereport-site"
_MANIFEST_VERSION = 1


def read_manifest(folder: Path) -> frozenset[str]:
    """The files that an earlier site has in a folder; a folder of anything else is refused."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"The site needs a folder; {folder} is a file.")
    if not (folder / MANIFEST_FILE).is_file():
        _check_empty(folder)
        return frozenset()
    return frozenset(name for name in _parse_manifest(folder / MANIFEST_FILE) if _is_inside(folder, name))


def _check_empty(folder: Path) -> None:
    if folder.is_dir() and any(folder.iterdir()):
        raise UsageError(
            f"The folder {folder} holds files, and is no site that scorereport wrote; name another one."
        )


def _parse_manifest(path: Path) -> list[str]:
    try:
        document = json.loads(path.read_bytes())
        names = document["files"]
        if document["version"] == _MANIFEST_VERSION and all(isinstance(name, str) for name in names):
            return list(names)
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise UsageError(
        f"{path} is no list of files of this scorereport; move the folder away, or name another one."
    )


def _is_inside(folder: Path, name: str) -> bool:
    """Whether a name of the list is one of a file below the folder, also after all links are followed."""
    parts = PurePosixPath(name).parts
    plain = bool(parts) and ".." not in parts and not name.startswith("/") and "\\" not in name
    return plain and (folder / name).parent.resolve().is_relative_to(folder.resolve())


def check_no_foreign_files(folder: Path, names: Iterable[str], own: frozenset[str]) -> None:
    """Refuse to write over what somebody else has put into the folder."""
    for name in names:
        path = folder / name
        if not _is_inside(folder, name):
            raise UsageError(
                f"{path.parent} leads out of the folder {folder}; move it away, or name another one."
            )
        if name not in own and (path.is_symlink() or path.exists()):
            raise UsageError(f"{path} was not written by scorereport; move it away, or name another folder.")


def write_manifest(folder: Path, names: Iterable[str]) -> Path:
    """Write down which files are of the site."""
    document = {"software": "scorereport", "version": _MANIFEST_VERSION, "files": sorted(set(names))}
    return write_text(
        folder / MANIFEST_FILE, json.dumps(document, ensure_ascii=False, indent=0) + "\n", public=True
    )


def remove_site_files(folder: Path, names: Iterable[str]) -> None:
    """Remove files of an earlier site, and folders that are empty then."""
    for name in sorted(names):
        path = folder / name
        path.unlink(missing_ok=True)
        for parent in (folder / above for above in PurePosixPath(name).parents if above.parts):
            if parent.is_dir() and not any(parent.iterdir()):
                parent.rmdir()
