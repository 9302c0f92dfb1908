"""Check of signatures: whether each record was signed by a key that is trusted and was not replaced."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from scorereport.history.audit_record import RecordSignature
from scorereport.history.record_signature import has_valid_signature

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scorereport.history.audit_record import KeyChange, Record


@dataclass(slots=True)
class SignatureCheck:
    """Checks records in the order of the chain; `unsigned` counts those before the first signed one.

    `listed_in` names a file that lists keys only after one has signed a record; "" if there is none.
    """

    trusted: Collection[str]
    listed_in: str = ""
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
        if self._lost_signatures:
            claim = (
                f"is not signed, and no record before it is, though the file {self.listed_in} names keys, "
            )
            claim += "which it does only after one has signed a record: signatures were removed"
            yield records[-1], claim

    @property
    def _lost_signatures(self) -> bool:
        return bool(self.listed_in and self.unsigned and not self._first)

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

    def describe_unsigned(self) -> str:
        """Describe the records before the first signed one; "" if there are none."""
        if not self.unsigned or self._lost_signatures:
            return ""
        if not self._first:
            return "No record is signed: an earlier version wrote them."
        which = "Record 1 is" if self.unsigned == 1 else f"Records 1 to {self.unsigned} are"
        first = f"Record {self._first}, the first signed one, contains the hash of the last of them"
        return f"{which} not signed: an earlier version wrote them. {first}."


def find_authentic(records: Iterable[Record], trusted: Collection[str]) -> set[int]:
    """Return the numbers of the records that a trusted key has signed; those of keys must be among them."""
    ordered = sorted(records, key=lambda record: record.id)
    refused = {record.id for record, _ in SignatureCheck(trusted).check(ordered)}
    return {record.id for record in ordered if record.signature is not None and record.id not in refused}


def list_key_changes(records: Iterable[Record], trusted: Collection[str]) -> list[tuple[Record, KeyChange]]:
    """List the changes of keys that a trusted key has signed, with their records: others may be forged."""
    return [
        (record, record.key)
        for record in records
        if record.key is not None
        and record.signature is not None
        and record.signature.fingerprint in trusted
        and has_valid_signature(record)
    ]


def find_replaced(records: Iterable[Record], trusted: Collection[str]) -> dict[str, int]:
    """Return the fingerprints of keys that were replaced, with the number of the record that did so."""
    found: dict[str, int] = {}
    for record, change in list_key_changes(records, trusted):
        if change.replaces:
            found.setdefault(change.replaces, record.id)
    return found


def find_unadded(records: Iterable[Record]) -> dict[str, int]:
    """Return the keys, the first one excepted, that no record added, with the first record each signed."""
    ordered = list(records)
    added = {record.key.fingerprint for record in ordered if record.key is not None}
    first: dict[str, int] = {}
    for record in ordered:
        if record.signature is not None:
            first.setdefault(record.signature.fingerprint, record.id)
    return {key: number for key, number in list(first.items())[1:] if key not in added}


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyUse:
    """How many records a key has signed, and the first and the last of them."""

    fingerprint: str
    records: int = 0
    first: int = 0
    last: int = 0


def find_key_uses(bodies: Iterable[str]) -> list[KeyUse]:
    """Find the keys that have signed records, in the order of their first record; signatures are not checked.

    `bodies` are the texts of all records, in order. Only the signature is read: a history may be long.
    """
    found: dict[str, KeyUse] = {}
    for number, fingerprint in filter(None, map(_read_signer, bodies)):
        use = found.get(fingerprint, KeyUse(fingerprint=fingerprint))
        first = use.first or number
        found[fingerprint] = replace(use, records=use.records + 1, first=first, last=number)
    return list(found.values())


def _read_signer(body: str) -> tuple[int, str] | None:
    """Read the number of a record and the fingerprint of its key; None if it is unsigned or damaged."""
    try:
        stored = json.loads(body)
        found = stored["signature"]
        signature = RecordSignature(public_key=found["public_key"], value=found["value"])
        return int(stored["id"]), signature.fingerprint
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
