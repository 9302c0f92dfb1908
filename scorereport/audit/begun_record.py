"""Record of a run as far as it is known when the run begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import one_line
from scorereport.errors import ExitCode, UsageError
from scorereport.history.audit_record import AuditStatus, Record
from scorereport.report.provenance import list_software, name_machine

if TYPE_CHECKING:
    from datetime import datetime

    from scorereport.audit.plan import Plan
    from scorereport.configuration.periods import Period


_LONGEST_REASON = 2_000


def check_reason(reason: str, what: str) -> str:
    """Return the reason for `what` happens in one line; refuse one that is empty or very long."""
    text = one_line(reason).strip()
    if not text:
        raise UsageError(f"`reason` must say why {what}; got nothing.")
    if len(text) > _LONGEST_REASON:
        raise UsageError(
            f"`reason` must have at most {_LONGEST_REASON} characters; got {len(text)}. To fix: name a "
            "document that says more."
        )
    return text


def begin_record(plan: Plan, period: Period, moment: datetime, *, started: str, command: str) -> Record:
    """Return the record of a run as far as it is known at the start: a failure without a reason yet."""
    return Record(
        audit=plan.name,
        period=period,
        attempt=0,  # the history sets the next free number
        as_of=moment.isoformat(timespec="seconds"),
        status=AuditStatus.FAILED,
        exit_code=ExitCode.USAGE,
        started=started,
        finished="",  # the history sets it when the record is appended
        configuration=plan.configuration.name,
        configuration_sha256=plan.configuration.sha256,
        folder=plan.reports_folder,
        home=plan.marker,
        command=plan.redactor.redact(command),
        machine=name_machine(),
        software=list_software(),
    )
