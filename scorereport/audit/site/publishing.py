"""The web pages of a history: its records, whether they are intact, and where their files lie."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.clock import timestamp
from scorereport.audit.inspecting import verify_audit_history
from scorereport.audit.site.publication import write_site

if TYPE_CHECKING:
    from pathlib import Path

    from scorereport.audit.plan import Plan
    from scorereport.history.store import History


def publish_site(plan: Plan, history: History, folder: Path) -> Path:
    """Write the pages of all audits of a history into a folder, and return the first of them."""
    write_site(
        history.records(),
        folder,
        find_folder=lambda record: plan.resolve(record.folder),
        title=plan.configuration.report.organisation or "Model audits",
        time=timestamp(),
        verification=verify_audit_history(plan),
    )
    return folder / "index.html"
