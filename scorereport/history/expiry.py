"""Expiry of report files: the rule by which files are removed, and a check that removals followed it.

Otherwise whoever may add a record could explain with it that a report is gone.
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
from scorereport.history.verification_findings import FindingKind, IntegrityFinding

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from scorereport.history.audit_record import Record, RecordedFile
    from scorereport.history.chain_check import ChainLink


_DAY_SECONDS = 86_400
#: For a whole number in TOML.
_TOO_LARGE = 2**63


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiryTerms:
    """What `[audit.retention]` says: files go after so many `days`, never if None; the latest ones stay.

    `keep` is how many audits keep theirs in any case.
    """

    days: int | None
    keep: int

    def allow(self, record: Record, *, later: int, now: str) -> bool:
        """Whether the files of a record may go, after which so many records filed files up to now."""
        if self.days is None or later < self.keep:
            return False
        age = datetime.fromisoformat(now) - datetime.fromisoformat(record.finished)
        return age.total_seconds() > self.days * _DAY_SECONDS


def find_expired(records: Sequence[Record], terms: ExpiryTerms, now: str) -> tuple[RecordedFile, ...]:
    """Files that are to be gone by now; `records` are all of one audit, oldest first."""
    filed = [record for record in records if record.files]
    return tuple(
        file
        for place, record in enumerate(filed, start=1)
        if terms.allow(record, later=len(filed) - place, now=now)
        for file in record.files
    )


def read_expiry_terms(configuration: bytes) -> ExpiryTerms:
    """What a configuration, a TOML text, says; a ValueError if it says nothing that can be read.

    Only these numbers are looked at, for the rest may be of a version with other rules.
    """
    from scorereport.configuration.audit_tables import ExpiryTable

    try:
        table: Any = tomllib.loads(configuration.decode("utf-8-sig"))
    except RecursionError:
        raise ValueError("its lists are nested too deeply") from None
    for name in ("audit", "retention"):
        table = table.get(name, {})
        if not isinstance(table, dict):
            raise ValueError(f"`{name}` is no table")
    days, keep = table.get("days"), table.get("keep", ExpiryTable().keep)
    if not all(
        type(number) is int and 0 < number < _TOO_LARGE for number in (1 if days is None else days, keep)
    ):
        raise ValueError("`audit.retention` has no whole numbers")
    return ExpiryTerms(days=days, keep=keep)


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """A file that was rightly removed: the record that filed it, and the one that says it was removed."""

    name: str
    filed_by: int
    removed_by: int


def check_removals(
    links: Sequence[ChainLink], configurations: Mapping[str, bytes], now: str
) -> tuple[list[Removal], list[IntegrityFinding]]:
    """The removals that are right, and what is wrong with others.

    `configurations` are documents of the history, by their hashes, that are as they were filed. Nothing was
    due later than `now`.
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
    sentence = f"Record {record.id} says that {claim}."
    return IntegrityFinding(kind=FindingKind.CHANGED, subject=name_record(record.id), sentence=sentence)


class _UnjustifiedError(Exception):
    """A removal does not follow from the history; why, as the end of a sentence."""


class _FolderFilings:
    """The records of an audit that filed files in one place, in their order, and where each file is from."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.places: dict[RecordedFile, list[int]] = defaultdict(list)

    def add(self, record: Record) -> None:
        for file in record.files:
            self.places[file].append(len(self.records))
        self.records.append(record)


class _ReliableRecords:
    """The records that can be relied upon, what they filed, and how many others there are among them."""

    def __init__(self, links: Sequence[ChainLink]) -> None:
        self.records = [link.record for link in links if link.record is not None and link.is_intact]
        self._ids = [record.id for record in self.records]
        self._shelves: dict[tuple[str, str], _FolderFilings] = {}
        self._runs: dict[tuple[str, str], int] = {}
        for record in self.records:
            if record.kind == "audit":
                self._runs.setdefault((record.audit, record.configuration_sha256), record.id)

    def find_shelf(self, removal: Record) -> _FolderFilings:
        """What was filed by the same audit, in the place that the removal was made in."""
        key = (removal.audit, removal.home)
        if key not in self._shelves:
            self._shelves[key] = _FolderFilings()
            for record in self.records:
                if record.files and record.audit == removal.audit and record.home in ("", removal.home):
                    self._shelves[key].add(record)
        return self._shelves[key]

    def has_run(self, removal: Record) -> bool:
        """Whether the audit had been run with the configuration of a removal."""
        first = self._runs.get((removal.audit, removal.configuration_sha256))
        return (first is not None and first < removal.id) or self.count_unknown(0, removal.id) > 0

    def count_unknown(self, low: int, high: int) -> int:
        """How many records between two are missing or not to be relied upon; each of them is named."""
        return high - low - 1 - (bisect_left(self._ids, high) - bisect_right(self._ids, low))


def _find_terms(
    record: Record, configurations: Mapping[str, bytes], past: _ReliableRecords
) -> ExpiryTerms | None:
    """The rule by which files were removed; None if its document was changed or lost, which is named."""
    key = record.configuration_sha256
    if record.kind != "retention":
        raise _UnjustifiedError("and is the record of an audit, which removes none")
    if key not in configurations and key in record.documents:
        return None
    if key not in configurations:
        raise _UnjustifiedError("by a configuration that the history does not have")
    if not past.has_run(record):
        raise _UnjustifiedError(
            f"by a configuration with which the audit {record.audit} had never been run before"
        )
    try:
        return read_expiry_terms(configurations[key])
    except (ValueError, RecursionError):
        raise _UnjustifiedError("by a configuration that cannot be read") from None


def _justify_removal(
    removal: Record, file: RecordedFile, terms: ExpiryTerms | None, past: _ReliableRecords, now: str
) -> Iterator[Removal]:
    """The removal of a file from each record that filed it; what is in doubt is taken for right."""
    shelf = past.find_shelf(removal)
    end = bisect_left(shelf.records, removal.id, key=lambda record: record.id)
    places = [place for place in shelf.places.get(file, ()) if place < end]
    if not places and not past.count_unknown(0, removal.id):
        raise _UnjustifiedError(f"which no record of the audit {removal.audit} before it has filed")
    filings = [
        (record, end - 1 - place + past.count_unknown(record.id, removal.id))
        for place in places
        for record in [shelf.records[place]]
    ]
    if filings and terms is not None:
        _check_due(removal, filings, terms, now)
    for record, _ in filings:
        yield Removal(name=file.name, filed_by=record.id, removed_by=removal.id)


def _check_due(removal: Record, filings: Sequence[tuple[Record, int]], terms: ExpiryTerms, now: str) -> None:
    """Refuse a removal that was not due for any of the records, given with how many came later."""
    try:
        moment = min(removal.started, now, key=datetime.fromisoformat)
        is_due = any(terms.allow(record, later=later, now=moment) for record, later in filings)
    except (ValueError, TypeError):
        raise _UnjustifiedError("and the times of records do not tell whether that was due") from None
    if is_due:
        return
    if terms.days is None:
        raise _UnjustifiedError("which was not due: its configuration removes none")
    raise _UnjustifiedError(
        f"which was not due: its configuration keeps files for {format_counted(terms.days, 'day')}, and in any case "
        f"those of the latest {format_counted(terms.keep, 'audit')}"
    )
