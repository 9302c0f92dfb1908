"""Record of an audit: everything that the history keeps of it, as one document."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from scorereport._utils import json_documents
from scorereport.configuration.limit_verdicts import Judgement
from scorereport.configuration.periods import Period
from scorereport.history.trend.drift_records import Drift, Snapshot

RECORD_VERSION: Literal[1] = 1
#: What the first record has in place of the hash of the one before.
CHAIN_START = "0" * 64


class AuditStatus(StrEnum):
    """What an audit came to; those but the last three are verdicts on limits."""

    PASS = "pass"
    WARN = "warn"
    INCONCLUSIVE = "inconclusive"
    FAIL = "fail"
    DONE = "done"  # there are no limits to judge by
    UNCERTIFIED = "certificate failed"
    FAILED = "failed"  # the run itself, for the reason that the record gives


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedFile:
    """A file of a report: its name below the folder of reports, its hash and its size."""

    name: str
    sha256: str
    size: int


class _AsWritten:
    """Records that were read remember their text: later versions of us may write it otherwise."""

    __slots__ = ("_text",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record(_AsWritten):
    """An audit, or the removal of files that were kept long enough, as it stands in the history.

    `id` is the place in the chain, from 1, and `previous` the hash of the record before. `attempt` counts the
    records of the same audit and period, from 1. `folder` is where the files lie, as
    seen from the history, or, where a server has it, from the folder of the audit whose mark is `home`.
    Hashes of what there is none of are empty. `documents` are the hashes of what the history keeps with it,
    filled in when it is appended. Nothing in a record is secret.
    """

    version: Literal[1] = RECORD_VERSION
    id: int = 0
    previous: str = CHAIN_START
    kind: Literal["audit", "retention"] = "audit"
    audit: str
    period: Period
    attempt: int = 1
    as_of: str
    status: AuditStatus
    exit_code: int
    reason: str = ""
    started: str
    finished: str
    source: str = ""
    rows: int = 0
    data_sha256: str = ""
    source_sha256: str = ""
    configuration: str = ""
    configuration_sha256: str = ""
    templates_sha256: str = ""
    results_sha256: str = ""
    certificate: str = ""
    folder: str = ""
    home: str = ""
    files: tuple[RecordedFile, ...] = ()
    removed: tuple[RecordedFile, ...] = ()
    judgements: tuple[Judgement, ...] = ()
    snapshot: Snapshot | None = None
    drifts: tuple[Drift, ...] = ()
    command: str = ""
    machine: str = ""
    software: dict[str, str] = field(default_factory=dict)
    documents: tuple[str, ...] = ()

    def to_json(self) -> str:
        """The record as one line of text, as it was written: what its hash is taken of."""
        return getattr(self, "_text", None) or json_documents.dump(self)

    @property
    def sha256(self) -> str:
        """SHA-256 of the record as text."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()


def read_audit_record(text: str | bytes, name: str) -> Record:
    """Read a record back from its text, which it keeps."""
    record = json_documents.load(Record, text, name)
    object.__setattr__(record, "_text", text if isinstance(text, str) else text.decode())
    return record
