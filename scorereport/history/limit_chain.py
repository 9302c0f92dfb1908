"""Limits along the records of an audit: those that were used, those that were approved, and what changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport.configuration.limit_changes import find_limit_changes
from scorereport.configuration.periods import is_ahead

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from scorereport.configuration.limit_changes import ConfiguredLimits, LimitChange
    from scorereport.history.audit_record import Record

NOT_APPROVED = "no record approves them"


class LimitChain:
    """The records of one audit as far as its limits are concerned; they are added in the order of the chain.

    `read` returns the limits of the configuration that a record names. `is_authentic` says whether an
    approval was signed by a key that is trusted: others do not count.
    """

    def __init__(
        self, read: Callable[[Record], ConfiguredLimits], is_authentic: Callable[[Record], bool]
    ) -> None:
        self.read = read
        self._is_authentic = is_authentic
        self._used: list[Record] = []
        self._approvals: list[Record] = []
        self._annulled: dict[int, int] = {}

    def add(self, record: Record) -> None:
        """Add the next record of the audit, of any kind."""
        if record.kind == "annulment" and record.annuls is not None:
            self._annulled.setdefault(record.annuls, record.id)
        elif record.kind == "approval" and record.approval is not None and self._is_authentic(record):
            self._approvals.append(record)
        elif is_run_with_limits(record):
            self._used.append(record)

    def extend(self, records: Iterable[Record]) -> LimitChain:
        """Add several records."""
        for record in records:
            self.add(record)
        return self

    @property
    def used(self) -> Record | None:
        """The last run that counts, whatever its period."""
        return next(self._list_valid(self._used), None)

    def find_known(self, key: str, *, is_own: bool) -> Record | None:
        """Find the last record with limits that the owner of a key knows: of a run, or of an approval.

        Runs count though annulled. Of approvals, those that the key signed count if `is_own`, so that the
        approval of one person cannot hide a change from another one; otherwise those of other keys.
        """
        approvals = [one for one in self._list_valid(self._approvals) if (find_key(one) == key) is is_own]
        return max([*self._used[-1:], *approvals[:1]], key=lambda record: record.id, default=None)

    @property
    def approved(self) -> Record | None:
        """The last valid approval."""
        return next(self._list_valid(self._approvals), None)

    def find_changes(self, limits: ConfiguredLimits, before: Record | None) -> tuple[LimitChange, ...]:
        """Find how limits differ from those of a record; nothing differs if there is none."""
        return () if before is None else find_limit_changes(self.read(before), limits)

    def needs_approval(self, limits: ConfiguredLimits) -> bool:
        """Whether a run with these limits needs an approval: they ask for it, or those in force do.

        In force are the limits of the last run, annulled or not, and those that were approved after it. So a
        single person can neither turn the approval off, nor annul a run for this purpose.
        """
        last = self._used[-1] if self._used else None
        later = [one for one in self._list_valid(self._approvals) if last is None or one.id > last.id]
        in_force = [*later, *([] if last is None else [last])]
        return limits.needs_approval or any(self.read(record).needs_approval for record in in_force)

    def find_approval(self, sha256: str, key: str) -> tuple[Record | None, str]:
        """Find the approval of limits for a run that `key` signs; without one, a clause that says why.

        It is the last valid approval that another key has signed: earlier ones approve limits that were
        replaced.
        """
        of_others = [one for one in self._list_valid(self._approvals) if find_key(one) != key]
        if of_others and approves(of_others[0], sha256):
            return of_others[0], ""
        return None, self._explain_missing(sha256, key, of_others)

    def _explain_missing(self, sha256: str, key: str, of_others: list[Record]) -> str:
        for record in reversed([one for one in self._approvals if approves(one, sha256)]):
            if record.id in self._annulled:
                return f"record {record.id} approved them, but record {self._annulled[record.id]} annuls it"
            if find_key(record) == key:
                return f"record {record.id} approves them, but the key of the run has signed it"
            return (
                f"record {record.id} approved them, but record {of_others[0].id} has approved other limits "
                "since"
            )
        return NOT_APPROVED

    def _list_valid(self, records: list[Record]) -> Iterator[Record]:
        """List the records that are not annulled, the last first."""
        return (record for record in reversed(records) if record.id not in self._annulled)


def is_run_with_limits(record: Record) -> bool:
    """Whether a record is of a run with results, whose limits count."""
    is_run = record.kind == "audit" and record.snapshot is not None
    return is_run and not is_ahead(record.as_of, record.started)


def approves(record: Record, sha256: str) -> bool:
    """Whether a record approves the limits with this hash."""
    return record.approval is not None and record.approval.limits_sha256 == sha256


def find_key(record: Record) -> str:
    """Return the fingerprint of the key that signed a record; "" if it is not signed."""
    return "" if record.signature is None else record.signature.fingerprint
