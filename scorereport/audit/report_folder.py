"""Report folder of an audit: files are staged first and put in place once the history has their record.

A run may be killed at any moment. The next run moves a staged file into its final place if a record names it,
and deletes it otherwise; so a file under its final name is complete and recorded.
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
    """The folder of an audit's files, within the folder of reports."""

    reports: Path
    audit: str

    @property
    def folder(self) -> Path:
        """The folder of recorded files."""
        return self.reports / self.audit

    @property
    def staging(self) -> Path:
        """The folder of files whose record is not appended yet."""
        return self.folder / STAGING_FOLDER

    def find(self, file: RecordedFile) -> Path:
        """Return the final path of a file that a record names."""
        return self.reports / file.name

    def holds(self, file: RecordedFile) -> bool:
        """Whether a file belongs to this audit by its name; a forged record may name any file."""
        audit, _, name = file.name.partition("/")
        return audit == self.audit and name not in ("", ".", "..") and Path(name).name == name

    def stage(self, contents: Mapping[str, bytes]) -> tuple[RecordedFile, ...]:
        """Write files, given by name, into the staging folder: all of them, or none."""
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

    def finalize(self, recorded: Iterable[RecordedFile]) -> None:
        """Move staged files that a record names into their final place, and delete all others.

        A different file in that place is not overwritten; `verify` reports it. All other files are moved
        before the error is raised.
        """
        hashes = {self.find(file).name: file.sha256 for file in filter(self.holds, recorded)}
        problems = []
        for staged in filter(Path.is_file, sorted(self.staging.iterdir())):
            try:
                self._finalize_one(staged, hashes.get(staged.name, ""))
            except (UsageError, OSError) as error:
                problems.append(str(error))
        with suppress(OSError):  # not empty: what is left was not staged by a run
            self.staging.rmdir()
        if problems:
            raise UsageError(" ".join(problems))

    def _finalize_one(self, staged: Path, sha256: str) -> None:
        target = self.folder / staged.name
        if hash_file(staged) != sha256:
            staged.unlink()
        elif target.exists() and hash_file(target) != sha256:
            raise UsageError(
                f"Another file is in the place of the report {target}; the report stays in {staged}."
            )
        else:
            staged.replace(target)

    def remove(self, files: Iterable[RecordedFile]) -> None:
        """Delete files of this audit that still have the recorded hash."""
        for file in filter(self.holds, files):
            path = self.find(file)
            if path.is_file() and hash_file(path) == file.sha256:
                path.unlink()

    def discard(self, files: Iterable[RecordedFile]) -> None:
        """Delete staged files, because another run has appended the record."""
        for file in files:
            (self.staging / self.find(file).name).unlink(missing_ok=True)


def open_report_folder(plan: Plan, folder: str | None = None) -> ReportFolder:
    """Return the report folder of an audit, in the folder of reports that the plan or a record names."""
    reports = plan.resolve(plan.reports_folder if folder is None else folder)
    return ReportFolder(reports=reports, audit=plan.name)


def find_report_files(plan: Plan, record: Record) -> tuple[Path, ...]:
    """Return the paths of the files of a record."""
    return tuple(plan.resolve(record.folder) / file.name for file in record.files)
