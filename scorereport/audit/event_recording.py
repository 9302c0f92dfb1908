"""Recording of events that are not runs: an annulment, a seal, an approval, a change of keys."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from scorereport.audit.begun_record import begin_record
from scorereport.audit.integrity import update_chain_head
from scorereport.audit.run import check_name_case, hold_audit_lock
from scorereport.audit.signed_history import open_signed_history
from scorereport.errors import ExitCode
from scorereport.history.audit_record import AuditStatus
from scorereport.history.chain_head import check_chain_head

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from scorereport.audit.plan import Plan
    from scorereport.configuration.periods import Period
    from scorereport.history.audit_record import Record
    from scorereport.history.store import History


@contextmanager
def open_for_event(
    plan: Plan, *, wait: float, create: bool = True, is_new_key: bool = False
) -> Iterator[History]:
    """Open the history of an audit as a run does: no other process runs it, and the chain head is current.

    The problems of the history are among its `problems`. With `is_new_key`, the key of the plan may be one
    that the history does not know.
    """
    with (
        hold_audit_lock(plan, wait=wait),
        open_signed_history(plan, create=create, is_new_key=is_new_key) as history,
    ):
        check_chain_head(history)
        check_name_case(plan, history)
        history.problems += update_chain_head(plan, history)
        yield history


def begin_event(
    plan: Plan,
    kind: Literal["annulment", "seal", "approval", "key"],
    period: Period,
    moment: datetime,
    *,
    started: str,
    command: str,
    reason: str = "",
) -> Record:
    """Return the record of an event, without its contents."""
    plan.create_marker()
    return replace(
        begin_record(plan, period, moment, started=started, command=command),
        kind=kind,
        status=AuditStatus.DONE,
        exit_code=ExitCode.DONE,
        reason=reason,
    )
