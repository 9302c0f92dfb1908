"""Report folder of an audit: files are staged first and put in place once the history has their record.

A run may be killed at any moment. Whatever it has staged is moved by the next run if a record names it,
and deleted if none does; so a file under its final name is whole and recorded.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from scorereport._utils.files import make_folder, write_together
from scorereport.data.sources import hash_file
from scorereport.errors import UsageError
from scorereport.history.audit_record import RecordedFile
from scorereport.history.filed_reports import STAGING_FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from scorereport.audit.plan import Plan
    from scorereport.history.audit_record import Record


@dataclass(frozen=True, kw_only=True)
class ReportFolder:
    """The place of an audit's files, in a folder of reports."""

    reports: Path
    audit: str

    @property
    def folder(self) -> Path:
        """Where they lie."""
        return self.reports / self.audit

    @property
    def staging(self) -> Path:
        """Where they wait for their record."""
        return self.folder / STAGING_FOLDER

    def find(self, file: RecordedFile) -> Path:
        """The path of a file that a record names."""
        return self.reports / file.name

    def holds(self, file: RecordedFile) -> bool:
        """Whether the name is one of a file of this audit; a record that was tampered with may name any."""
        audit, _, name = file.name.partition("/")
        return audit == self.audit and name not in ("", ".", "..") and Path(name).name == name

    def stage(self, contents: Mapping[str, bytes]) -> tuple[RecordedFile, ...]:
        """Write files, by their names, beside their place; none of them if one cannot be written."""
        try:
            make_folder(self.staging)
            write_together({self.staging / name: content for name, content in contents.items()})
        except OSError as error:
            raise UsageError(f"The folder {self.folder} cannot be written: {error.strerror}.") from error
        return tuple(
            RecordedFile(
                name=f"{self.audit}/{name}", sha256=hashlib.sha256(content).hexdigest(), size=len(content)
            )
            for name, content in contents.items()
        )

    def settle(self, recorded: Iterable[RecordedFile]) -> None:
        """Move staged files that a record names into their place, and delete all others.

        A place that another file has taken is left to it, which `verify` names; nothing is written over.
        All others are moved before that is told.
        """
        hashes = {self.find(file).name: file.sha256 for file in filter(self.holds, recorded)}
        problems = []
        for staged in filter(Path.is_file, sorted(self.staging.iterdir())):
            try:
                self._settle_one(staged, hashes.get(staged.name, ""))
            except (UsageError, OSError) as error:
                problems.append(str(error))
        with suppress(OSError):  # whatever is left in it is not ours
            self.staging.rmdir()
        if problems:
            raise UsageError(" ".join(problems))

    def _settle_one(self, staged: Path, sha256: str) -> None:
        target = self.folder / staged.name
        if hash_file(staged) != sha256:
            staged.unlink()
        elif target.exists() and hash_file(target) != sha256:
            raise UsageError(
                f"The place of the report {target} is taken by another file; it waits in {staged}."
            )
        else:
            staged.replace(target)

    def remove(self, files: Iterable[RecordedFile]) -> None:
        """Delete files of this audit that are there still and are what was filed."""
        for file in filter(self.holds, files):
            path = self.find(file)
            if path.is_file() and hash_file(path) == file.sha256:
                path.unlink()

    def discard(self, files: Iterable[RecordedFile]) -> None:
        """Give up what is staged: somebody else has made the record."""
        for file in files:
            (self.staging / self.find(file).name).unlink(missing_ok=True)


def open_report_folder(plan: Plan, folder: str | None = None) -> ReportFolder:
    """The shelf of an audit, in the folder of reports of now unless a record names another."""
    reports = plan.resolve(plan.reports_folder if folder is None else folder)
    return ReportFolder(reports=reports, audit=plan.name)


def find_report_files(plan: Plan, record: Record) -> tuple[Path, ...]:
    """Where the files of a record lie."""
    return tuple(plan.resolve(record.folder) / file.name for file in record.files)
