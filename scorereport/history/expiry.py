"""Expiry of report files: the rule by which files are removed, and a check that removals followed it.

Without the check, anyone who may add a record could use one to justify that a report is gone.
"""

from __future__ import annotations

import tomllib
from bisect import bisect_left, bisect_right
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import format_counted
from scorereport.history.chain_check import name_record
from scorereport.history.valid_records import find_annulled
from scorereport.history.verification_findings import FindingKind, IntegrityFinding

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from scorereport.history.audit_record import Record, RecordedFile
    from scorereport.history.chain_check import ChainLink


_DAY_SECONDS = 86_400
#: Whole numbers in TOML are smaller than this.
_TOML_INTEGER_LIMIT = 2**63


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiryTerms:
    """Settings of `[audit.retention]`: files are removed after `days`, or never if None.

    The latest `keep` audits keep their files in any case.
    """

    days: int | None
    keep: int

    def allow(self, record: Record, *, later: int, now: str) -> bool:
        """Whether the files of a record may be removed; `later` records filed files after it up to now."""
        if self.days is None or later < self.keep:
            return False
        age = datetime.fromisoformat(now) - datetime.fromisoformat(record.finished)
        return age.total_seconds() > self.days * _DAY_SECONDS


def find_expired(records: Sequence[Record], terms: ExpiryTerms, now: str) -> tuple[RecordedFile, ...]:
    """Return the files that have expired by now; `records` are all of one audit, oldest first.

    Annulled runs are not among the latest audits, which keep their files in any case.
    """
    filed, annulled = [record for record in records if record.files], find_annulled(records)
    later = sum(record.id not in annulled for record in filed)
    found: list[RecordedFile] = []
    for record in filed:
        later -= record.id not in annulled
        if terms.allow(record, later=later, now=now):
            found += record.files
    return tuple(found)


def read_expiry_terms(configuration: bytes) -> ExpiryTerms:
    """Read `[audit.retention]` from a TOML configuration; raise ValueError if it cannot be read.

    The rest is not checked, because it may be written for a version with other rules.
    """
    from scorereport.configuration.audit_tables import ExpiryTable

    try:
        table: Any = tomllib.loads(configuration.decode("utf-8-sig"))
    except RecursionError:
        raise ValueError("its lists are nested too deeply") from None
    for name in ("audit", "retention"):
        table = table.get(name, {})
        if not isinstance(table, dict):
            raise ValueError(f"`{name}` is not a table")
    days, keep = table.get("days"), table.get("keep", ExpiryTable().keep)
    if not all(
        type(number) is int and 0 < number < _TOML_INTEGER_LIMIT
        for number in (1 if days is None else days, keep)
    ):
        raise ValueError("`audit.retention` has values that are not positive whole numbers")
    return ExpiryTerms(days=days, keep=keep)


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """A justified removal of a file: the record that filed it, and the record of its removal."""

    name: str
    filed_by: int
    removed_by: int


def check_removals(
    links: Sequence[ChainLink], configurations: Mapping[str, bytes], now: str
) -> tuple[list[Removal], list[IntegrityFinding]]:
    """Return the justified removals, and a finding for each of the others.

    `configurations` are intact documents of the history by their hashes. A file that expires after `now`
    cannot have been removed with justification.
    """
    past = _ReliableRecords(links)
    removals: list[Removal] = []
    findings: list[IntegrityFinding] = []
    for record in past.records:
        if not record.removed:
            continue
        try:
            terms = _find_terms(record, configurations, past)
        except _UnjustifiedError as error:
            findings.append(_describe_removal(record, f"files were removed, {error}"))
            continue
        for file in record.removed:
            try:
                removals += _justify_removal(record, file, terms, past, now)
            except _UnjustifiedError as error:
                findings.append(_describe_removal(record, f"the file {file.name} was removed, {error}"))
    return removals, findings


def _describe_removal(record: Record, claim: str) -> IntegrityFinding:
    sentence = f"Record {record.id} states that {claim}."
    return IntegrityFinding(kind=FindingKind.CHANGED, subject=name_record(record.id), sentence=sentence)


class _UnjustifiedError(Exception):
    """A removal that the history does not justify; the message is the end of a sentence."""


class _FolderFilings:
    """Records of one audit that filed files in one report folder, and the positions of each file.

    `annulled` are the annulments by the numbers of annulled records.
    """

    def __init__(self, annulled: Mapping[int, Record]) -> None:
        self.annulled = annulled
        self.records: list[Record] = []
        self.filed: set[int] = set()
        self.places: dict[RecordedFile, list[int]] = defaultdict(list)

    def add(self, record: Record) -> None:
        for file in record.files:
            self.places[file].append(len(self.records))
        self.records.append(record)
        self.filed.add(record.id)

    def find_end(self, removal: Record) -> int:
        """Return the number of records before a removal."""
        return bisect_left(self.records, removal.id, key=lambda record: record.id)

    def count_later(self, place: int, removal: Record) -> int:
        """Count the records after a position and before a removal that were not annulled by then."""
        first = self.records[place].id
        out = sum(
            number in self.filed and first < number and annulment.id < removal.id
            for number, annulment in self.annulled.items()
        )
        return self.find_end(removal) - 1 - place - out


class _ReliableRecords:
    """Intact records, the files that they filed, and the number of missing or changed records among them."""

    def __init__(self, links: Sequence[ChainLink]) -> None:
        self.records = [link.record for link in links if link.record is not None and link.is_intact]
        self._ids = [record.id for record in self.records]
        self._filings: dict[tuple[str, str], _FolderFilings] = {}
        self._runs: dict[tuple[str, str], int] = {}
        for record in self.records:
            if record.kind == "audit":
                self._runs.setdefault((record.audit, record.configuration_sha256), record.id)

    def find_filings(self, removal: Record) -> _FolderFilings:
        """Return what the same audit filed in the report folder of the removal."""
        key = (removal.audit, removal.home)
        if key not in self._filings:
            own = [r for r in self.records if r.audit == removal.audit and r.home in ("", removal.home)]
            self._filings[key] = _FolderFilings(find_annulled(own))
            for record in own:
                if record.files:
                    self._filings[key].add(record)
        return self._filings[key]

    def has_run(self, removal: Record) -> bool:
        """Whether the audit was run with the configuration of a removal before, or may have been."""
        first = self._runs.get((removal.audit, removal.configuration_sha256))
        return (first is not None and first < removal.id) or self.count_unknown(0, removal.id) > 0

    def count_unknown(self, low: int, high: int) -> int:
        """Count the missing or changed records between two numbers; each has a finding of its own."""
        return high - low - 1 - (bisect_left(self._ids, high) - bisect_right(self._ids, low))


def _find_terms(
    record: Record, configurations: Mapping[str, bytes], past: _ReliableRecords
) -> ExpiryTerms | None:
    """Return the terms of a removal; None if their document was changed or lost, which is another finding."""
    key = record.configuration_sha256
    if record.kind != "retention":
        raise _UnjustifiedError("but it is the record of an audit, and audits remove no files")
    if key not in configurations and key in record.documents:
        return None
    if key not in configurations:
        raise _UnjustifiedError("by a configuration that the history does not have")
    if not past.has_run(record):
        raise _UnjustifiedError(
            f"by a configuration with which the audit {record.audit} was never run before"
        )
    try:
        return read_expiry_terms(configurations[key])
    except (ValueError, RecursionError):
        raise _UnjustifiedError("by a configuration that cannot be read") from None


def _justify_removal(
    removal: Record, file: RecordedFile, terms: ExpiryTerms | None, past: _ReliableRecords, now: str
) -> Iterator[Removal]:
    """Yield the removal of a file for each record that filed it; a doubtful removal counts as justified."""
    filings = past.find_filings(removal)
    places = [place for place in filings.places.get(file, ()) if place < filings.find_end(removal)]
    if not places and not past.count_unknown(0, removal.id):
        raise _UnjustifiedError(f"which no earlier record of the audit {removal.audit} filed")
    counted = [
        (record, filings.count_later(place, removal) + past.count_unknown(record.id, removal.id))
        for place in places
        for record in [filings.records[place]]
    ]
    if counted and terms is not None:
        _check_due(removal, counted, terms, now)
    for record, _ in counted:
        yield Removal(name=file.name, filed_by=record.id, removed_by=removal.id)


def _check_due(removal: Record, counted: Sequence[tuple[Record, int]], terms: ExpiryTerms, now: str) -> None:
    """Refuse a removal that was due for none of the records, each counted with the number of later ones."""
    try:
        moment = min(removal.started, now, key=datetime.fromisoformat)
        is_due = any(terms.allow(record, later=later, now=moment) for record, later in counted)
    except (ValueError, TypeError):
        raise _UnjustifiedError(
            "but the times of the records do not show whether the removal was due"
        ) from None
    if is_due:
        return
    if terms.days is None:
        raise _UnjustifiedError("which was not due: its configuration removes no files")
    days, audits = format_counted(terms.days, "day"), format_counted(terms.keep, "audit")
    raise _UnjustifiedError(
        f"which was not due: its configuration keeps files for {days}, and in any case those of the latest "
        f"{audits}"
    )
