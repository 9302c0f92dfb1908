"""Settings of the audits of a history, by the configurations of their last runs, and the states they give."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from scorereport.audit.audit_status import find_audit_state
from scorereport.configuration.audit_tables import AuditTable
from scorereport.configuration.periods import check_window_text
from scorereport.configuration.schedules import Schedule, check_zone
from scorereport.errors import ScoreReportError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scorereport.audit.audit_status import AuditState
    from scorereport.history.audit_record import Record
    from scorereport.history.store import History


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSettings:
    """What the state of an audit depends on; None where it is not known."""

    time_zone: str = AuditTable().time_zone
    window: str | None = None
    schedule: Schedule | None = None


def read_audit_settings(history: History, record: Record) -> AuditSettings:
    """Read the settings of the configuration of a run; none if it cannot be read."""
    if not record.configuration_sha256:
        return AuditSettings()
    try:
        return parse_audit_settings(history.document(record.configuration_sha256))
    except (ScoreReportError, ValueError, LookupError, TypeError):
        return AuditSettings()


def parse_audit_settings(content: bytes) -> AuditSettings:
    """Parse the settings of a configuration in TOML; raise an error if they are not valid."""
    audit = _find_table(tomllib.loads(content.decode("utf-8-sig")), "audit")
    zone = str(audit.get("time_zone", AuditTable().time_zone))
    cron = str(_find_table(audit, "schedule").get("cron", ""))
    check_zone(zone)
    return AuditSettings(
        time_zone=zone,
        window=check_window_text(str(_find_table(audit, "window").get("period", AuditTable().window.period))),
        schedule=Schedule(cron=cron, time_zone=zone) if cron else None,
    )


def _find_table(table: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = table.get(name, {})
    if not isinstance(found, dict):
        raise ValueError(f"`{name}` is not a table")
    return found


def find_site_state(
    records: Sequence[Record], time: str, settings: AuditSettings | None = None
) -> AuditState:
    """Find the state of an audit at the time at which the site is written."""
    known = settings or AuditSettings()
    now = datetime.fromisoformat(time)
    zoned = (now if now.tzinfo is not None else now.replace(tzinfo=UTC)).astimezone(
        check_zone(known.time_zone)
    )
    return find_audit_state(records, schedule=known.schedule, window=known.window, now=zoned)
