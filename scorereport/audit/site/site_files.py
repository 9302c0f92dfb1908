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


MANIFEST_FILE = ".scorereport-site"
_MANIFEST_VERSION = 1


class FileState(StrEnum):
    """Whether a file that a record names is available, as the pages show it."""

    THERE = "there"
    NOT_KEPT = "not kept"  # it expired, and its removal is recorded
    MISSING = "missing"
    CHANGED = "changed"  # the file in its place is not the recorded one


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportCopy:
    """A file of a report and its path in the site; `source` is set if it is still to be copied."""

    file: RecordedFile
    target: str
    state: FileState
    source: Path | None = None

    @property
    def kind(self) -> str:
        """The format of the file, by its ending."""
        return PurePosixPath(self.file.name).suffix.removeprefix(".").lower() or "file"


def plan_copies(
    audits: Iterable[AuditRuns], folder: Path, find_folder: Callable[[Record], Path]
) -> dict[int, tuple[ReportCopy, ...]]:
    """Return the files of each record by its id: those the site has, those to copy, and those not available.

    A copy in the site with the recorded size and hash is used even if its source is gone.
    """
    return {number: copies for audit in audits for number, copies in _plan_audit(audit, folder, find_folder)}


def _plan_audit(
    audit: AuditRuns, folder: Path, find_folder: Callable[[Record], Path]
) -> Iterator[tuple[int, tuple[ReportCopy, ...]]]:
    """Plan the copies of an audit, newest first: of two files with one name, the earlier is `changed`."""
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
    """Find a file in its place or staged beside it, after a crash; never outside of the folder of reports."""
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
    """Copy the files that the site does not have yet, each atomically."""
    written = []
    for copy in (copy for of_record in copies.values() for copy in of_record):
        if copy.source is not None:
            target = folder / copy.target
            target.parent.mkdir(parents=True, exist_ok=True)
            written.append(write_bytes(target, copy.source.read_bytes(), public=True))
    return written


def read_manifest(folder: Path) -> frozenset[str]:
    """Read the names of the files of an earlier site; refuse a folder that holds other files."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"The site needs a folder; {folder} is a file.")
    if not (folder / MANIFEST_FILE).is_file():
        _check_empty(folder)
        return frozenset()
    return frozenset(name for name in _parse_manifest(folder / MANIFEST_FILE) if _is_inside(folder, name))


def _check_empty(folder: Path) -> None:
    if folder.is_dir() and any(folder.iterdir()):
        raise UsageError(
            f"The folder {folder} holds files, and is not a site of scorereport; name another folder."
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
        f"{path} is not a manifest of this version of scorereport; move the folder away, or name another one."
    )


def _is_inside(folder: Path, name: str) -> bool:
    """Whether a name of the manifest is a path inside the folder, also after links are resolved."""
    parts = PurePosixPath(name).parts
    plain = bool(parts) and ".." not in parts and not name.startswith("/") and "\\" not in name
    return plain and (folder / name).parent.resolve().is_relative_to(folder.resolve())


def check_no_foreign_files(folder: Path, names: Iterable[str], own: frozenset[str]) -> None:
    """Refuse to overwrite files that are not of the site."""
    for name in names:
        path = folder / name
        if not _is_inside(folder, name):
            raise UsageError(
                f"{path.parent} leads out of the folder {folder}; move it away, or name another one."
            )
        if name not in own and (path.is_symlink() or path.exists()):
            raise UsageError(f"{path} was not written by scorereport; move it away, or name another folder.")


def write_manifest(folder: Path, names: Iterable[str]) -> Path:
    """Write the manifest: the names of all files of the site."""
    document = {"software": "scorereport", "version": _MANIFEST_VERSION, "files": sorted(set(names))}
    return write_text(
        folder / MANIFEST_FILE, json.dumps(document, ensure_ascii=False, indent=0) + "\n", public=True
    )


def remove_site_files(folder: Path, names: Iterable[str]) -> None:
    """Remove files of an earlier site, and folders that become empty."""
    for name in sorted(names):
        path = folder / name
        path.unlink(missing_ok=True)
        for parent in (folder / above for above in PurePosixPath(name).parents if above.parts):
            if parent.is_dir() and not any(parent.iterdir()):
                parent.rmdir()
