"""Annulment of a record: a further record that takes it out of status, trend and evidence, with a reason."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scorereport._utils.clock import read_clock
from scorereport.audit.annulment_rules import ANNULLABLE
from scorereport.audit.begun_record import check_reason
from scorereport.audit.event_recording import begin_event, open_for_event
from scorereport.audit.plan import Plan, read_plan
from scorereport.audit.run import DEFAULT_WAIT_SECONDS
from scorereport.errors import UsageError
from scorereport.history.audit_record import Record
from scorereport.history.record_rows import AlreadyRecorded
from scorereport.history.valid_records import find_annulled

if TYPE_CHECKING:
    from pathlib import Path

    from scorereport.history.store import History


@dataclass(frozen=True, kw_only=True, eq=False)
class AnnulmentResult:
    """The record of an annulment, the record that it annuls, and sentences about problems."""

    record: Record
    annulled: Record
    problems: tuple[str, ...] = ()


def annul_record(
    path: str | Path,
    number: int,
    *,
    reason: str,
    wait: float = DEFAULT_WAIT_SECONDS,
    command: str = "",
) -> AnnulmentResult:
    """Annul a record of an audit: append a record that says so, and why.

    The record and its report files stay. Status, trend, site and evidence no longer use it, and the next run
    of its period appends a new record. If it seals a baseline, the next run seals the configured one again.
    If it seals forecasts, these count as not sealed, until `audit seal` seals them again.
    If it approves limits, runs with these limits need another approval.

    Parameters
    ----------
    path : the configuration of the audit, a TOML file
    number : the number of the record, of a run, a baseline, a seal or an approval of this audit, and not
        annulled yet
    reason : why it is annulled
    wait : seconds to wait for a run of the same audit
    command : the command line, for the record
    """
    plan = read_plan(path)
    text = check_reason(plan.redactor.redact(reason), "the record is annulled")
    started = read_clock()
    with open_for_event(plan, wait=wait, create=False) as history:
        annulled = _check_number(history, plan, number)
        begun = begin_event(
            plan, "annulment", annulled.period, plan.now, started=started, command=command, reason=text
        )
        appended = _append(history, plan, replace(begun, annuls=number))
    return AnnulmentResult(
        record=appended, annulled=annulled, problems=tuple(map(plan.redactor.redact, history.problems))
    )


def _check_number(history: History, plan: Plan, number: int) -> Record:
    """Return the record with this number; refuse one that cannot be annulled."""
    record = history.get(number)
    if record.audit != plan.name:
        raise UsageError(
            f"Record {number} is of the audit {record.audit}, not of {plan.name}. To fix: name the "
            "configuration of that audit."
        )
    if record.kind not in ANNULLABLE:
        raise UsageError(
            f"Only records of runs, baselines, seals and approvals can be annulled; record {number} is of "
            f"kind {record.kind}. To fix: run the audit again for a period whose record was annulled by "
            "mistake."
        )
    earlier = find_annulled(history.records(plan.name, kind="annulment")).get(number)
    if earlier is not None:
        raise UsageError(f"Record {number} is annulled already, by record {earlier.id}: {earlier.reason}")
    return record


def _append(history: History, plan: Plan, annulment: Record) -> Record:
    """Append an annulment, unless another machine has annulled the record in the meantime."""
    while True:
        attempt = history.next_attempt(plan.name, annulment.period.label, "annulment")
        _check_number(history, plan, annulment.annuls or 0)
        try:
            return history.append(replace(annulment, attempt=attempt), plan.documents)
        except AlreadyRecorded:
            continue
