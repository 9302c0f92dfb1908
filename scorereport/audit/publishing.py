"""The web pages of a history: its records, whether they are intact, and where their files lie."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport.clock import timestamp
from scorereport.history.verifying import verify_history
from scorereport.site.writing import write_site

if TYPE_CHECKING:
    from pathlib import Path

    from scorereport.audit.planning import Plan
    from scorereport.history.records import Record
    from scorereport.history.store import History


def publish_site(plan: Plan, history: History, folder: Path) -> Path:
    """Write the pages of all audits of a history into a folder, and return the first of them."""

    def find_folder(record: Record) -> Path:
        return plan.resolve(record.folder)

    write_site(
        history.records(),
        folder,
        find_folder=find_folder,
        title=plan.configuration.report.organisation or "Model audits",
        time=timestamp(),
        verification=verify_history(history, find_folder=find_folder),
    )
    return folder / "index.html"
