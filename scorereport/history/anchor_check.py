"""Check of anchors: attestations and time stamps that are kept outside, compared with the history.

An attestation by a trusted key proves that its record existed. If the history lacks it, database, reports and
chain head were restored to an older copy, or rewritten.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from scorereport.history.attestations import (
    ATTESTATION_ENDING,
    Attestation,
    find_differences,
    name_anchor,
    read_attestation,
)
from scorereport.history.audit_record import Record
from scorereport.history.time_stamps import STAMP_ENDING, StampCheck, StampError, TimeStamp, read_stamped_hash
from scorereport.history.verification_findings import FindingKind, IntegrityFinding

if TYPE_CHECKING:
    from collections.abc import Iterator


ANCHOR_ENDINGS = (ATTESTATION_ENDING, STAMP_ENDING)
#: The most bytes of an anchor.
_MAX_BYTES = 1 << 22
_NAME = re.compile(r"([1-9][0-9]{0,17})-([0-9a-f]{12})")
#: A stamp that is made later than this after its record is unusual.
_LATE = timedelta(days=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchoredHistory:
    """What anchors are compared with: the intact records, and the keys and times that are accepted.

    `find_hash` returns the hash that the database has for a number. `replaced` are fingerprints of keys, with
    the number of the record that replaced each. `stamps` is None if stamps cannot be checked.
    """

    records: Sequence[Record]
    find_hash: Callable[[int], str | None]
    trusted: Collection[str]
    replaced: Mapping[str, int]
    stamps: StampCheck | None
    skew: timedelta
    now: datetime


@dataclass(slots=True)
class AnchorCheck:
    """Checks anchors one by one; `attested` and `stamped` are the records that valid anchors confirm."""

    history: AnchoredHistory
    findings: list[IntegrityFinding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unchecked: int = 0
    attested: set[int] = field(default_factory=set)
    stamped: dict[int, TimeStamp] = field(default_factory=dict)
    _records: dict[int, Record] = field(default_factory=dict)
    _known: dict[str, tuple[int, str]] = field(default_factory=dict)
    _lost: dict[int, tuple[Path, Attestation]] = field(default_factory=dict)
    _rewritten: dict[int, tuple[Path, Attestation]] = field(default_factory=dict)
    _lost_stamps: dict[str, TimeStamp] = field(default_factory=dict)

    def check(self, files: Sequence[Path]) -> None:
        """Check all attestations, then all stamps; then name records that are missing or were rewritten."""
        self._records = {record.id: record for record in self.history.records}
        for path in files:
            if path.name.endswith(ATTESTATION_ENDING):
                self._check_attestation(path)
        for each in self._list_known():
            self._known |= {name_anchor(*each): each, each[1]: each}
        for path in files:
            if path.name.endswith(STAMP_ENDING):
                self._check_stamp(path)
            elif not path.name.endswith(ANCHOR_ENDINGS):
                self.notes.append(f"The file {path} is not an anchor; it was not checked.")
        self.findings += [*self._describe_lost(), *self._describe_rewritten()]

    def _add(self, kind: FindingKind, path: Path, claim: str) -> None:
        self.findings.append(
            IntegrityFinding(kind=kind, subject=f"anchor {path.name}", sentence=f"The anchor {path} {claim}.")
        )

    def _read(self, path: Path) -> bytes | None:
        try:
            return read_anchor(path)
        except ValueError as error:
            self._add(FindingKind.UNREADABLE, path, str(error))
            return None

    def _check_attestation(self, path: Path) -> None:
        content = self._read(path)
        if content is None:
            return
        try:
            found = read_attestation(content)
        except ValueError as error:
            self._add(FindingKind.CHANGED, path, f"was changed, or a run did not write it: {error}")
            return
        if claim := find_untrusted(found, self.history.trusted, self.history.replaced):
            self._add(FindingKind.FORGED, path, claim)
            return
        self._compare(path, found)

    def _compare(self, path: Path, found: Attestation) -> None:
        record = self._records.get(found.record)
        stored = self.history.find_hash(found.record) if record is None else record.sha256
        if stored is None:
            self._lost[found.record] = (path, found)
        elif stored != found.sha256:
            self._rewritten[found.record] = (path, found)
        elif record is not None:
            claims = list(find_differences(found, record))
            for claim in claims:
                self._add(FindingKind.CONTRADICTORY, path, claim)
            if not claims:
                self.attested.add(record.id)

    def _check_stamp(self, path: Path) -> None:
        content = self._read(path)
        if content is None:
            return
        if self.history.stamps is None:
            self.unchecked += 1
            return
        try:
            number, sha256 = self._find_stamped(path, content)
            stamp = self.history.stamps.check(content, sha256)
        except StampError as error:
            self._add(FindingKind.FORGED, path, str(error))
            return
        record = self._records.get(number)
        if record is None or record.sha256 != sha256:
            self._lost_stamps[sha256] = stamp
        else:
            self._compare_time(path, record, stamp)

    def _find_stamped(self, path: Path, content: bytes) -> tuple[int, str]:
        """Return the record that a stamp is of: by its name, or by its hash if its name is another one."""
        name = path.name.removesuffix(STAMP_ENDING)
        key = name if _NAME.fullmatch(name) else read_stamped_hash(content)
        if key not in self._known:
            raise StampError("is of a record that neither the history nor an attestation has")
        return self._known[key]

    def _list_known(self) -> Iterator[tuple[int, str]]:
        """List the records of the history, and those that only attestations have, with their hashes."""
        yield from ((record.id, record.sha256) for record in self._records.values())
        for _, found in (*self._lost.values(), *self._rewritten.values()):
            yield found.record, found.sha256

    def _compare_time(self, path: Path, record: Record, stamp: TimeStamp) -> None:
        ended = _read_time(record.finished)
        if ended is not None and stamp.time < ended - self.history.skew:
            self._add(
                FindingKind.CONTRADICTORY,
                path,
                f"was made {stamp.describe()}, before record {record.id} ended at {record.finished}",
            )
            return
        if stamp.time > self.history.now + self.history.skew:
            self._add(FindingKind.CONTRADICTORY, path, f"was made {stamp.describe()}, which is in the future")
            return
        self.stamped[record.id] = stamp
        if ended is not None and stamp.time > ended + _LATE:
            self.notes.append(
                f"Record {record.id}, which ended at {record.finished}, was time-stamped only at "
                f"{stamp.describe()}."
            )

    def _describe_lost(self) -> Iterator[IntegrityFinding]:
        """Name the last record that the history lost, and how many it lost."""
        if not self._lost:
            return
        number = max(self._lost)
        path, found = self._lost[number]
        last = max(self._records, default=0)
        ending = f"the history ends with record {last}" if last else "the history has no records"
        count = number - last
        missing = "one record is missing" if count == 1 else f"{count} records are missing"
        yield IntegrityFinding(
            kind=FindingKind.CUT_OFF,
            subject=f"anchor {path.name}",
            sentence=(
                f"Record {number}, {self._describe_anchored(path, found)}, is missing: {ending}, so that "
                f"{missing}. The database was restored to an older copy, or records were removed."
            ),
        )

    def _describe_rewritten(self) -> Iterator[IntegrityFinding]:
        """Name the first record that the history has with another hash."""
        if not self._rewritten:
            return
        number = min(self._rewritten)
        path, found = self._rewritten[number]
        more = f" The same holds for {len(self._rewritten) - 1} more." if len(self._rewritten) > 1 else ""
        yield IntegrityFinding(
            kind=FindingKind.CHANGED,
            subject=f"anchor {path.name}",
            sentence=(
                f"Record {number}, {self._describe_anchored(path, found)}, has another SHA-256 in the "
                f"history, {self.history.find_hash(number)}: the history was rewritten, or restored to an "
                f"older copy and continued.{more}"
            ),
        )

    def _describe_anchored(self, path: Path, found: Attestation) -> str:
        stamp = self._lost_stamps.get(found.sha256)
        stamped = f", time-stamped {stamp.describe()}" if stamp is not None else ""
        return (
            f"{found.audit} {found.period}, which ended at {found.finished} and is attested by {path} with "
            f"SHA-256 {found.sha256}{stamped}"
        )


def read_anchor(path: Path) -> bytes:
    """Read a file of the folder of anchors, which others may have put there; a ValueError says why not."""
    if not path.is_file():  # a pipe would block
        raise ValueError("cannot be read: it is not a file")
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror or error}") from error
    if len(content) > _MAX_BYTES:
        raise ValueError(f"has more than {_MAX_BYTES} bytes: a run did not write it")
    return content


def find_untrusted(found: Attestation, trusted: Collection[str], replaced: Mapping[str, int]) -> str:
    """Return why the signature of an attestation is not accepted, as the end of a sentence; "" if it is."""
    if not found.is_signed:
        return "has a signature that is not valid: it was forged, or changed after it was signed"
    if found.fingerprint not in trusted:
        return f"is signed by the key {found.fingerprint}, which is not trusted here"
    if replaced.get(found.fingerprint, found.record) < found.record:
        number = replaced[found.fingerprint]
        return f"is signed by the key {found.fingerprint}, which record {number} has replaced"
    return ""


def _read_time(text: str) -> datetime | None:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)
