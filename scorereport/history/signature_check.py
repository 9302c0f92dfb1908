"""Check of signatures: whether each record was signed by a key that is trusted and was not replaced."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scorereport.history.record_signature import has_valid_signature

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scorereport.history.audit_record import Record


@dataclass(slots=True)
class SignatureCheck:
    """Checks records in the order of the chain; `unsigned` counts those before the first signed one."""

    trusted: Collection[str]
    unsigned: int = 0
    _first: int = 0
    _replaced: dict[str, int] = field(default_factory=dict)

    def check(self, records: Sequence[Record]) -> Iterator[tuple[Record, str]]:
        """Yield each record that the holder of a trusted key did not write, and what is wrong with it."""
        for record in records:
            if claim := self._find_claim(record):
                yield record, claim
            elif record.key is not None and record.key.replaces:
                self._replaced.setdefault(record.key.replaces, record.id)

    def _find_claim(self, record: Record) -> str:
        if record.signature is None:
            if not self._first:
                self.unsigned += 1
                return ""
            return (
                f"is not signed, though records are signed since record {self._first}: a run did not write it"
            )
        self._first = self._first or record.id
        fingerprint = record.signature.fingerprint
        if not has_valid_signature(record):
            return "has a signature that is not valid: it was forged, or changed after it was signed"
        if fingerprint not in self.trusted:
            return (
                f"is signed by the key {fingerprint}, which is not trusted here. If this key is known to "
                f"you, run `scorereport audit keys trust {fingerprint}`"
            )
        if fingerprint in self._replaced:
            number = self._replaced[fingerprint]
            return f"is signed by the key {fingerprint}, which record {number} has replaced"
        return ""


def find_authentic(records: Iterable[Record], trusted: Collection[str]) -> set[int]:
    """Return the numbers of the records that a trusted key has signed; those of keys must be among them."""
    ordered = sorted(records, key=lambda record: record.id)
    refused = {record.id for record, _ in SignatureCheck(trusted).check(ordered)}
    return {record.id for record in ordered if record.signature is not None and record.id not in refused}


def describe_unsigned(count: int) -> str:
    """Describe records before the first signed one; "" if there are none."""
    if not count:
        return ""
    which = "Record 1 is" if count == 1 else f"Records 1 to {count} are"
    return (
        f"{which} not signed: a version that does not sign wrote them. The first signed record confirms them."
    )
