"""Limits of a run: what differs from those of the audit before, and the approval that a run may need."""

from __future__ import annotations

import shlex
from functools import cache
from typing import TYPE_CHECKING

from scorereport.audit.signed_history import list_trusted
from scorereport.configuration.limit_changes import (
    ApprovedBy,
    ConfiguredLimits,
    LimitProvenance,
    describe_changes,
    list_limits,
    read_limits,
)
from scorereport.errors import UsageError
from scorereport.history.limit_chain import NOT_APPROVED, LimitChain, find_key
from scorereport.history.signature_check import find_authentic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.audit.plan import Plan
    from scorereport.history.audit_record import Record
    from scorereport.history.store import History

#: Most changes that an error names.
_MOST_NAMED = 20
_NEEDED = "The limits need the approval of a second person"


def trace_limits(plan: Plan, history: History, records: Sequence[Record]) -> LimitProvenance | None:
    """Compare the limits of a run with those of the audit before; refuse limits that need an approval.

    `records` are those of the audit. The result is None if there is nothing to state.
    """
    chain = open_limit_chain(plan, history, records)
    limits, before = list_limits(plan.configuration), chain.used
    provenance = LimitProvenance(
        changes=chain.find_changes(limits, before),
        record=0 if before is None else before.id,
        since="" if before is None else before.period.label,
        note="" if before is None else describe_unreadable(before, chain.read(before)),
        approval=_find_approval(plan, history, chain, limits),
    )
    return provenance if provenance.changes or provenance.note or provenance.approval else None


def _find_approval(
    plan: Plan, history: History, chain: LimitChain, limits: ConfiguredLimits
) -> ApprovedBy | None:
    """Return the approval of the limits of a run; None if it needs none. A missing one is an error."""
    if not chain.needs_approval(limits):
        return None
    key = _name_key(history)
    approval, reason = chain.find_approval(limits.sha256, key)
    if approval is None:
        changes = _name_changes(chain, limits, chain.find_known(key, is_own=False))
        raise UsageError(_describe_missing_approval(plan, f"{reason}.{changes}"))
    return ApprovedBy(
        record=approval.id, time=approval.finished, reason=approval.reason, key=find_key(approval)
    )


def _name_key(history: History) -> str:
    return "" if history.key is None else history.key.fingerprint


def _name_changes(chain: LimitChain, limits: ConfiguredLimits, before: Record | None) -> str:
    changes = describe_changes(chain.find_changes(limits, before), _MOST_NAMED)
    return f" Changed since record {before.id}: {changes}." if before is not None and changes else ""


def _describe_missing_approval(plan: Plan, reason: str) -> str:
    command = f'scorereport audit approve {shlex.quote(str(plan.path))} --reason "..."'
    return (
        "The limits of this audit need the approval of a second person (`audit.approve_limits`), and "
        f"{reason} To fix: a person with another key reads the limits and runs `{command}`; then run the "
        "audit again."
    )


def describe_missing_approval(plan: Plan, history: History, records: Sequence[Record]) -> str:
    """State that the limits of the configuration still need an approval; "" if they do not."""
    chain, limits = open_limit_chain(plan, history, records), list_limits(plan.configuration)
    if not chain.needs_approval(limits):
        return ""
    approval, reason = chain.find_approval(limits.sha256, _name_last_key(records))
    return "" if approval is not None else f"{_NEEDED}: {reason}"


def describe_new_limits(plan: Plan) -> str:
    """State that limits need an approval, for an audit without a history; "" if they do not."""
    return f"{_NEEDED}: {NOT_APPROVED}" if list_limits(plan.configuration).needs_approval else ""


def _name_last_key(records: Sequence[Record]) -> str:
    """Return the key of the last run, which will probably sign the next one."""
    return next((find_key(record) for record in reversed(records) if record.kind == "audit"), "")


def open_limit_chain(plan: Plan, history: History, records: Sequence[Record]) -> LimitChain:
    """Return the limits along the records of an audit; configurations are read from its history."""

    @cache
    def read(sha256: str, name: str) -> ConfiguredLimits:
        return read_limits(history.document(sha256), name)

    approvals = [record for record in records if record.kind == "approval"]
    authentic = find_authentic([*history.records(kind="key"), *approvals], list_trusted(plan))
    return LimitChain(
        lambda record: read(record.configuration_sha256, record.configuration),
        lambda record: record.id in authentic,
    ).extend(records)


def describe_unreadable(record: Record, limits: ConfiguredLimits) -> str:
    """Say that the limits of a record cannot be compared, and why; "" if they can."""
    if not limits.problem:
        return ""
    return f"The limits of record {record.id} cannot be compared: this version cannot read them."
