"""All checks of records together, while a history is verified: each document is read once."""

from __future__ import annotations

from collections import defaultdict
from itertools import islice
from typing import TYPE_CHECKING

from scorereport.audit.carried import check_attached_results
from scorereport.audit.record_agreement import check_agreement, describe_snapshot
from scorereport.audit.record_rules import check_record_contents, check_record_request
from scorereport.audit.requests import AuditRequest, read_audit_request
from scorereport.audit.sequence import (
    check_attempts,
    check_run_times,
    find_future_periods,
    find_times_backwards,
)
from scorereport.history.chain_check import name_record
from scorereport.history.verification_findings import FindingKind, IntegrityFinding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from scorereport.history.audit_record import Record


class RecordExaminer:
    """Holds records against what a run writes; what no run can have made is a finding."""

    def __init__(self) -> None:
        self._records: Sequence[Record] = ()
        self._by_results: dict[str, list[Record]] = defaultdict(list)
        self._by_configuration: dict[str, list[Record]] = defaultdict(list)
        self._past: dict[str, dict[str, int]] | None = None
        self._requests: dict[tuple[str, str], AuditRequest] = {}
        self.findings: list[IntegrityFinding] = []
        self.notes: list[str] = []

    def start(self, records: Sequence[Record], *, is_complete: bool, now: str) -> None:
        """Look at the records by themselves; `is_complete` if none is missing or changed."""
        self._records = records
        for record in records:
            self._by_results[record.results_sha256].append(record)
            self._by_configuration[record.configuration_sha256].append(record)
            self._blame(record, check_record_contents(record))
        for record, claim in (
            *check_run_times(records, now),
            *(check_attempts(records) if is_complete else ()),
        ):
            self._blame(record, [claim])
        self._compare_times()
        self._past = _index_past(records) if is_complete else None

    def read(self, sha256: str, content: bytes) -> None:
        """Look at a document that is what its name says."""
        for record in self._by_configuration.get(sha256, ()):
            self._blame(record, self._check_configuration(record, content))
        sharing = self._by_results.get(sha256, [])
        for record in sharing[1:]:  # each run names the record before it in its document
            self._blame(record, [f"has the results document of record {sharing[0].id}"])
        for record in sharing:
            known = None if self._past is None else self._list_past(record)
            found = check_agreement(record, content, known)
            self._blame(record, found.wrong)
            self.notes += [f"Record {record.id} {claim}." for claim in found.unconfirmed]

    def look(self, record: Record, path: Path) -> None:
        """Look at a file that is what its record says; all documents were read before."""
        request = self._requests.get((record.configuration_sha256, record.configuration))
        self._blame(record, check_attached_results(record, path, request))

    def _check_configuration(self, record: Record, content: bytes) -> Iterator[str]:
        key = (record.configuration_sha256, record.configuration)
        if key not in self._requests:
            try:
                self._requests[key] = read_audit_request(content, record.configuration)
            except (ValueError, RecursionError) as error:
                yield f"names a configuration that cannot be read: {error}"
                return
        yield from check_record_request(record, self._requests[key])

    def _list_past(self, record: Record) -> set[str]:
        past = (self._past or {}).get(record.audit, {})
        return {text for text, number in past.items() if number < record.id}

    def _compare_times(self) -> None:
        for before, record in find_times_backwards(self._records, by_one_clock=True):
            claim = f"ended at {record.finished}, before record {before.id}, which ended at {before.finished}"
            self._blame(record, [f"{claim}: the clock was set, or one of them was not made at that time"])
        for before, record in islice(find_times_backwards(self._records, by_one_clock=False), 1):
            self.notes.append(
                f"Record {record.id} ended at {record.finished}, before record {before.id} of another "
                f"machine, which ended at {before.finished}: their clocks differ."
            )
        for record in find_future_periods(self._records):
            self.notes.append(
                f"Record {record.id} is of the period {record.period.label}, which lay in the future when it "
                "was made, as earlier versions accepted; its status does not count on the site."
            )

    def _blame(self, record: Record, claims: Iterator[str] | Sequence[str]) -> None:
        for claim in claims:
            end = "" if claim.endswith(".") else "."
            self.findings.append(
                IntegrityFinding(
                    kind=FindingKind.CONTRADICTORY,
                    subject=name_record(record.id),
                    sentence=f"Record {record.id} {claim}{end}",
                )
            )


def _index_past(records: Sequence[Record]) -> dict[str, dict[str, int]]:
    """The snapshots of each audit as later documents show them, with the first record that has them."""
    past: dict[str, dict[str, int]] = defaultdict(dict)
    for record in records:
        if record.snapshot is not None:
            past[record.audit].setdefault(describe_snapshot(record.snapshot), record.id)
    return past
