"""Health file of a server, and the scheduled times that were completed before the server started.

A server writes the file at every look at its folder, and whenever an audit starts or ends. A file that says
`running` or `stopping` and was last written longer ago than three looks (`updated`, `poll_seconds`) tells of
a server that is dead.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from scorereport._utils import json_documents
from scorereport._utils.files import only_owner
from scorereport.errors import ScoreReportError, UsageError

if TYPE_CHECKING:
    from scorereport.audit.plan import Plan


HEALTH_FILE = ".scorereport-health.json"
#: So many looks at the folder may go by in silence.
_MAX_SILENT_POLLS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditHealth:
    """An audit: its next run, the one that is under way, and how the last one ended.

    `settled` is the time of the schedule up to which all is done, whether or not it made a new record;
    `failures` counts attempts at the present one that came to no result; `missed` is the last time of the
    schedule that did not happen, of which people were notified.
    """

    name: str
    config: str
    next_run: str | None = None
    waiting: int = 0
    running: str | None = None
    last_as_of: str | None = None
    last_started: str | None = None
    last_finished: str | None = None
    last_exit_code: int | None = None
    last_status: str = ""
    last_error: str = ""
    settled: str | None = None
    failures: int = 0
    missed: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedConfiguration:
    """A configuration that cannot be used as it is."""

    config: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """A server and all its audits; times are in UTC."""

    version: Literal[1] = 1
    state: Literal["running", "stopping", "stopped"]
    pid: int
    started: str
    updated: str
    poll_seconds: float
    audits: tuple[AuditHealth, ...] = ()
    refused: tuple[RefusedConfiguration, ...] = ()

    def is_alive(self, now: datetime | None = None) -> bool:
        """Whether the server was heard of within three looks at its folder, and has not stopped."""
        silence = (now or datetime.now(UTC)) - datetime.fromisoformat(self.updated)
        return self.state != "stopped" and silence <= timedelta(seconds=_MAX_SILENT_POLLS * self.poll_seconds)


def write_health(folder: Path, health: Health) -> Path:
    """Write the file whole or not at all; it need not outlive the machine, so nobody waits for the disk."""
    path = Path(folder) / HEALTH_FILE
    fresh = path.with_name(f"{HEALTH_FILE}.new")  # there is one server for a folder, so nobody else writes it
    with open(fresh, "w", encoding="utf-8", opener=only_owner) as file:
        file.write(json_documents.dump(health))
    return fresh.replace(path)


def read_health(folder: str | Path) -> Health:
    """Read what the server of a folder said last."""
    path = Path(folder) / HEALTH_FILE
    try:
        text = path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"There is no health file {path}: no `scorereport audit serve` has run on this folder."
        ) from error
    return json_documents.load(Health, text, str(path))


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
