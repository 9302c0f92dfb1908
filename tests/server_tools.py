"""Clocks, plans and servers that several test files share."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from scorereport.audit.plan import read_plan
from scorereport.configuration.periods import Period
from scorereport.history.audit_record import AuditStatus, Record
from scorereport.history.store import open_history

if TYPE_CHECKING:
    from pathlib import Path

BERLIN = "Europe/Berlin"


def at(text: str) -> datetime:
    """A moment in UTC, such as `2026-10-25 03:00`."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def write_configuration(
    folder: Path, name: str = "churn", cron: str = "0 3 * * *", policy: str = "latest", more: str = ""
) -> Path:
    path = folder / f"{name}.toml"
    path.write_text(
        f"""
[evaluation]
outcome = "y"
forecasts = ["p"]
[audit]
time_zone = "{BERLIN}"
{more}
[audit.source]
file = "rows.csv"
[audit.schedule]
cron = "{cron}"
catch_up = "{policy}"
"""
    )
    return path


def add_record(path: Path, as_of: str) -> None:
    plan = read_plan(path)
    period = Period(label=as_of[:10], start=None, end=as_of[:10])
    record = Record(
        audit=plan.name,
        period=period,
        as_of=as_of,
        status=AuditStatus.DONE,
        exit_code=0,
        started=as_of,
        finished=as_of,
    )
    with open_history(plan.database_url, head=plan.chain_head) as history:
        history.append(replace(record, attempt=0))
