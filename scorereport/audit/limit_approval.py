"""Approval of limits: a record, signed by a second person, without which a run may be refused."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scorereport._utils.clock import read_clock
from scorereport.audit.begun_record import check_reason
from scorereport.audit.event_recording import begin_event, open_for_event
from scorereport.audit.plan import read_plan
from scorereport.audit.run import DEFAULT_WAIT_SECONDS
from scorereport.audit.run_limits import describe_unreadable, open_limit_chain
from scorereport.configuration.audit_rules import check_portable_name
from scorereport.configuration.limit_changes import ConfiguredLimits, list_limits
from scorereport.configuration.periods import find_period
from scorereport.history.audit_record import LimitApproval, Record
from scorereport.history.limit_chain import approves, find_key
from scorereport.history.store import open_history

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from scorereport.configuration.limit_changes import LimitChange
    from scorereport.history.limit_chain import LimitChain


@dataclass(frozen=True, kw_only=True, eq=False)
class ApprovalResult:
    """The record of an approval, whether this call wrote it, the approved limits, and problems as sentences.

    `before` is the last run, or the last approval by the same key, with which the limits are compared; None
    if there is neither.
    """

    record: Record
    is_new: bool
    limits: ConfiguredLimits
    before: Record | None
    problems: tuple[str, ...] = ()

    def describe(self) -> Iterator[str]:
        """Yield the approved limits, their changes and the record, a line each."""
        record = self.record
        before, changes = (self.before, record.limit_changes) if self.is_new else (record, ())
        yield from _describe_limits(record.audit, self.limits, before, changes)
        existing = "" if self.is_new else " already (nothing was added)"
        yield f"Record {record.id} approves these limits{existing}, signed by the key {find_key(record)}."
        yield f"SHA-256 of the record: {record.sha256}"


def _describe_limits(
    audit: str, limits: ConfiguredLimits, before: Record | None, changes: Sequence[LimitChange]
) -> Iterator[str]:
    """Yield limits and their changes since a record, a line each."""
    yield f"Limits of the audit {audit}:"
    yield from (f"  {key}: {value.text}" for key, value in limits.values.items())
    if before is None:
        yield "No run has used limits before."
        return
    changed, end = ("Changed", ":") if changes else ("Nothing has changed", ".")
    yield f"{changed} since record {before.id}{end}"
    yield from (f"  {change.clause}" for change in changes)


def preview_limits(path: str | Path) -> Iterator[str]:
    """Yield the limits of a configuration, and what has changed since the last run, a line each."""
    plan = read_plan(path)
    limits = list_limits(plan.configuration)
    if plan.history_file is not None and not plan.history_file.exists():
        yield from _describe_limits(plan.name, limits, None, ())
        return
    with open_history(plan.database_url, head=plan.chain_head, create=False) as history:
        chain = open_limit_chain(plan, history, history.records(plan.name))
        before = chain.find_known("", is_own=True)
        changes = chain.find_changes(limits, before)
    yield from _describe_limits(plan.name, limits, before, changes)


def approve_limits(
    path: str | Path, *, reason: str, wait: float = DEFAULT_WAIT_SECONDS, command: str = ""
) -> ApprovalResult:
    """Approve the limits of a configuration: append a record that says so, signed by the key of the caller.

    An approval counts for runs that another key signs, until other limits are approved or it is annulled. If
    the last approval is of the same limits and by the same key, it is returned, and nothing is appended.

    Parameters
    ----------
    path : the configuration of the audit, a TOML file
    reason : why these limits are right
    wait : seconds to wait for a run of the same audit
    command : the command line, for the record
    """
    plan = read_plan(path)
    check_portable_name(plan.name, "audit.name")
    text = check_reason(plan.redactor.redact(reason), "these limits are approved")
    started = read_clock()
    with open_for_event(plan, wait=wait) as history:
        records = history.records(plan.name)
        chain, limits = open_limit_chain(plan, history, records), list_limits(plan.configuration)
        key = "" if history.key is None else history.key.fingerprint
        before, existing = chain.find_known(key, is_own=True), _find_existing(chain, limits, key)
        period = find_period(plan.audit.window.period, plan.now)
        begun = begin_event(plan, "approval", period, plan.now, started=started, command=command, reason=text)
        approval = replace(
            begun,
            approval=LimitApproval(limits_sha256=limits.sha256),
            limit_changes=chain.find_changes(limits, before),
        )
        appended = existing or history.append(approval, plan.documents)
        problems = [*history.problems, *_find_doubts(chain, records, appended, before)]
    return ApprovalResult(
        record=appended,
        is_new=existing is None,
        limits=limits,
        before=before,
        problems=tuple(map(plan.redactor.redact, problems)),
    )


def _find_existing(chain: LimitChain, limits: ConfiguredLimits, key: str) -> Record | None:
    """Return the last valid approval if it is of the same limits and by the key of this call."""
    last = chain.approved
    return last if last is not None and approves(last, limits.sha256) and find_key(last) == key else None


def _find_doubts(
    chain: LimitChain, records: Sequence[Record], approval: Record, before: Record | None
) -> Iterator[str]:
    """Say early what may be wrong with an approval: the person who approves also runs the audit."""
    if before is not None and (problem := describe_unreadable(before, chain.read(before))):
        yield problem
    last = next((record for record in reversed(records) if record.kind == "audit"), None)
    if last is not None and find_key(last) == find_key(approval):
        yield (
            f"The key of this approval has also signed the last run, record {last.id}. The approval does not "
            "count for runs that this key signs: a person with another key must approve the limits, or run "
            "the audit."
        )
