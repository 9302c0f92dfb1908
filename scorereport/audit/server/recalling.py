"""What is done already of an audit: by its records, and by what the last server left behind."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING

from scorereport.audit.server.health import read_health
from scorereport.errors import ScoreReportError

if TYPE_CHECKING:
    from pathlib import Path

    from scorereport.audit.plan import Plan

#: The last record alone would not do: it may be that of a day long past, which somebody asked for.
_MAX_RECORDS = 50


def read_recorded_times(plan: Plan) -> frozenset[datetime]:
    """The moments that the last records of an audit are seen from; none if there is no history yet."""
    from scorereport.history.database import find_database_file, read_url
    from scorereport.history.store import open_history

    file = find_database_file(read_url(plan.database_url))
    if file is not None and not file.exists():
        return frozenset()
    with open_history(plan.database_url, head=plan.head, create=False) as history:
        records = history.records(audit=plan.name, kind="audit", last=_MAX_RECORDS)
    return frozenset(datetime.fromisoformat(record.as_of) for record in records)


def read_completed_times(folder: Path) -> dict[str, datetime]:
    """Up to when each audit was done, as the last server of the folder says; a broken file says nothing.

    A run that finds its period in the history makes no new record, so the history alone cannot tell.
    """
    with suppress(ScoreReportError):
        audits = read_health(folder).audits
        with suppress(ValueError):
            return {audit.name: datetime.fromisoformat(audit.settled) for audit in audits if audit.settled}
    return {}
