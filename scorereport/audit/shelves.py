"""Where the files of an audit lie: below its folder of reports, or one that a record names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport.audit.report_folder import ReportFolder

if TYPE_CHECKING:
    from pathlib import Path

    from scorereport.audit.plan import Plan
    from scorereport.history.audit_record import Record


def open_report_folder(plan: Plan, folder: str | None = None) -> ReportFolder:
    """The shelf of an audit, in the folder of reports of now unless a record names another."""
    reports = plan.resolve(plan.reports_folder if folder is None else folder)
    return ReportFolder(reports=reports, audit=plan.name)


def find_report_files(plan: Plan, record: Record) -> tuple[Path, ...]:
    """Where the files of a record lie."""
    return tuple(plan.resolve(record.folder) / file.name for file in record.files)
