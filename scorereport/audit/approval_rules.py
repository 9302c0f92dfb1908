"""Rules of approvals and of changes of limits; what no run and no command can have written is a finding."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from scorereport.audit.event_rules import check_event
from scorereport.configuration.limit_changes import describe_changes
from scorereport.history.limit_chain import LimitChain, find_key, is_run_with_limits

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from scorereport.configuration.limit_changes import ConfiguredLimits, LimitChange
    from scorereport.history.audit_record import Record

#: Most changes that a finding names.
_MOST_NAMED = 20


def check_approval_contents(record: Record) -> Iterator[str]:
    """Check an approval by itself; yield what is wrong as ends of sentences about it."""
    yield from check_event(record)
    if record.approval is None:
        yield "is an approval, but names no limits"


class LimitCheck:
    """Checks the limits of all records of a history, in the order of the chain.

    `limits` are those of the configurations, by the hash of these; `authentic` are the numbers of records
    that a trusted key has signed; `is_by_rules` says whether this version wrote a record. `unapproved` are
    ends of sentences on records that lack an approval, `wrong` on other faults; `notes` are what this version
    cannot confirm.
    """

    def __init__(
        self,
        limits: dict[str, ConfiguredLimits],
        authentic: Collection[int],
        is_by_rules: Callable[[Record], bool],
    ) -> None:
        self._limits = limits
        self._is_by_rules = is_by_rules
        self._chains: dict[str, LimitChain] = defaultdict(
            lambda: LimitChain(
                lambda record: limits[record.configuration_sha256], lambda record: record.id in authentic
            )
        )
        self.unapproved: list[tuple[Record, str]] = []
        self.wrong: list[tuple[Record, str]] = []
        self.notes: list[str] = []

    def check(self, records: Sequence[Record]) -> None:
        """Check all records; a configuration that is missing is a finding of its own."""
        for record in records:
            if record.configuration_sha256 not in self._limits:
                continue
            chain = self._chains[record.audit]
            if is_run_with_limits(record):
                self._check_run(record, chain)
            elif record.kind == "approval":
                self._check_approval(record, chain)
            chain.add(record)

    def _check_run(self, record: Record, chain: LimitChain) -> None:
        limits = self._limits[record.configuration_sha256]
        self._check_changes(record, chain, chain.used)
        if not chain.needs_approval(limits):
            return
        if limits.problem:
            self.notes.append(
                f"Record {record.id} has limits that need an approval, which this version cannot confirm."
            )
            return
        approval, reason = chain.find_approval(limits.sha256, find_key(record))
        if approval is None:
            changes = describe_changes(chain.find_changes(limits, chain.used), _MOST_NAMED)
            named = f" Changed: {changes}." if changes else ""
            claim = f"was run with limits that no second person has approved: {reason}.{named}"
            self.unapproved.append((record, claim))

    def _check_approval(self, record: Record, chain: LimitChain) -> None:
        limits = self._limits[record.configuration_sha256]
        approval = record.approval
        if approval is not None and not limits.problem and approval.limits_sha256 != limits.sha256:
            self.wrong.append((record, "approves other limits than those of its configuration"))
        self._check_changes(record, chain, chain.find_known(find_key(record), is_own=True))

    def _check_changes(self, record: Record, chain: LimitChain, before: Record | None) -> None:
        """Check that the recorded changes of limits are those between the two configurations."""
        limits = self._limits[record.configuration_sha256]
        expected = chain.find_changes(limits, before)
        if record.limit_changes == expected or (record.signature is None and not record.limit_changes):
            return  # unsigned records are of versions that did not record changes
        of = "without an audit before" if before is None else f"since record {before.id}"
        claim = (
            f"states {_name_changes(record.limit_changes)}, but {of} its configuration has "
            f"{_name_changes(expected)}"
        )
        if self._is_by_rules(record):
            self.wrong.append((record, claim))
        else:
            self.notes.append(f"Record {record.id} {claim}, by the rules of this version.")


def _name_changes(changes: Sequence[LimitChange]) -> str:
    named = describe_changes(changes, _MOST_NAMED)
    return f"the changes of limits {named}" if named else "no change of limits"
