"""Health file of a server, and the scheduled times that were completed before the server started.

A server writes the file whenever it polls its folder, and whenever an audit starts or ends. If the state is
`running` or `stopping` and the file is older (`updated`) than three polls (`poll_seconds`), the server is
dead.
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
    from scorereport.history.audit_record import Record


HEALTH_FILE = ".scorereport-health.json"
#: A server that is alive writes its file at least once in this many polls.
_MAX_SILENT_POLLS = 3
#: How many records to read. The last one is not enough: somebody may have run the audit of an earlier day.
_MAX_RECORDS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditHealth:
    """State of an audit: its next run, the present run, and how the last one ended.

    `settled` is the latest scheduled time with a result, whether or not the run wrote a new record;
    `failures` counts attempts at the present time that gave no result; `missed` is the last scheduled time
    that did not happen and of which people were notified. `pid` and `process`, its start, identify the
    process of the present run.
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
    pid: int | None = None
    process: str = ""


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
        """Whether the server has not stopped, and wrote the file within the last three polls."""
        silence = (now or datetime.now(UTC)) - datetime.fromisoformat(self.updated)
        return self.state != "stopped" and silence <= timedelta(seconds=_MAX_SILENT_POLLS * self.poll_seconds)


def write_health(folder: Path, health: Health) -> Path:
    """Write the file atomically, without a sync to disk: after a crash of the machine it is not needed."""
    path = Path(folder) / HEALTH_FILE
    fresh = path.with_name(f"{HEALTH_FILE}.new")  # no other process writes it: a folder has one server
    with open(fresh, "w", encoding="utf-8", opener=only_owner) as file:
        file.write(json_documents.dump(health))
    return fresh.replace(path)


def read_health(folder: str | Path) -> Health:
    """Read the health file of a folder."""
    path = Path(folder) / HEALTH_FILE
    try:
        text = path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"There is no health file {path}: no `scorereport audit serve` has run on this folder."
        ) from error
    return json_documents.load(Health, text, str(path))


def read_recorded_runs(plan: Plan) -> tuple[Record, ...]:
    """Read the last valid records of runs of an audit, oldest first; empty if there is no history yet."""
    from scorereport.history.database import find_database_file, read_url
    from scorereport.history.store import open_history
    from scorereport.history.valid_records import list_valid

    file = find_database_file(read_url(plan.database_url))
    if file is not None and not file.exists():
        return ()
    with open_history(plan.database_url, head=plan.chain_head, create=False) as history:
        return tuple(list_valid(history.records(audit=plan.name, last=_MAX_RECORDS)))


def read_recorded_times(plan: Plan) -> frozenset[datetime]:
    """Read the `as_of` moments of the last valid records of an audit."""
    return frozenset(datetime.fromisoformat(record.as_of) for record in read_recorded_runs(plan))


def read_completed_times(folder: Path) -> dict[str, datetime]:
    """Read the last completed time of each audit from the health file; empty if the file cannot be read.

    The history alone is not enough: a run that finds its period in the history writes no new record.
    """
    with suppress(ScoreReportError):
        audits = read_health(folder).audits
        with suppress(ValueError):
            return {audit.name: datetime.fromisoformat(audit.settled) for audit in audits if audit.settled}
    return {}
