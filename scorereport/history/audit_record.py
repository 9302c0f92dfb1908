"""Record of an audit: everything that the history stores about it, as one document."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import ClassVar, Literal

from scorereport._utils import json_documents
from scorereport.configuration.limit_changes import LimitChange
from scorereport.configuration.limit_verdicts import Judgement
from scorereport.configuration.periods import Period
from scorereport.history.trend.drift_records import Drift, Snapshot
from scorereport.history.trend.evidence_records import AuditEvidence, SealedBaseline
from scorereport.history.trend.seal_records import ForecastSeal, SealCheck
from scorereport.reference.certificate_verdicts import read_basis, read_recorded_verdict
from scorereport.results.summary_texts import SummaryTexts

RECORD_VERSION: Literal[1] = 1
#: Stands in the first record in place of the hash of the record before.
CHAIN_START = "0" * 64


class AuditStatus(StrEnum):
    """Status of an audit; all but the last three are verdicts on limits."""

    PASS = "pass"
    WARN = "warn"
    INCONCLUSIVE = "inconclusive"
    FAIL = "fail"
    DONE = "done"  # no limits are set
    UNCERTIFIED = "certificate failed"
    FAILED = "failed"  # the run itself failed, for the reason in the record


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedFile:
    """A file of a report: its name relative to the report folder, its hash and its size."""

    name: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordSignature:
    """The signature of a record: the public key and the value, both in base64.

    The key is a SubjectPublicKeyInfo (DER). The value signs the text of the record without its signature.
    """

    public_key: str
    value: str

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the public key; "" if the key is not base64."""
        try:
            return hashlib.sha256(base64.b64decode(self.public_key, validate=True)).hexdigest()
        except ValueError:
            return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyChange:
    """A key that may sign from now on, and the key that it replaces, if any, by their fingerprints."""

    fingerprint: str
    replaces: str = ""

    def describe(self) -> str:
        """Describe the change as part of a sentence."""
        return f"the key {self.fingerprint}{f' in place of {self.replaces}' if self.replaces else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitApproval:
    """The approval of limits by a second person: the hash of the approved limits."""

    limits_sha256: str


class _AsWritten:
    """Keeps the text that a record was read from, and its hash once it is known.

    Later versions may serialise the record differently.
    """

    __slots__ = ("_sha256", "_text")


@dataclass(frozen=True, slots=True, kw_only=True)
class Record(_AsWritten):
    """An audit, or another event of its history: `kind` states which.

    Other events are the removal of expired files, an annulment, a sealed baseline, sealed forecasts, an
    approval of limits, and a change of keys.

    `id` is the position in the chain, from 1, and `previous` the hash of the record before. `attempt` counts
    the records of the same audit and period, from 1. `folder` is the report folder, relative to the history,
    or, if the history is on a server, relative to the folder of the audit whose marker is `home`. A hash is
    empty if there is nothing to hash. `documents` are the hashes of the documents that the history stores
    with the record, filled in when it is appended. `summary` is that of the report; records of version 0.1
    and failed runs have none. `annuls` is the number of the record that an annulment takes out.
    `limit_changes` are the limits that differ from those of the audit before. Nothing in a record is secret.
    """

    version: Literal[1] = RECORD_VERSION
    id: int = 0
    previous: str = CHAIN_START
    kind: Literal["audit", "retention", "annulment", "baseline", "seal", "approval", "key"] = "audit"
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
    summary: SummaryTexts | None = None
    evidence: AuditEvidence | None = None
    annuls: int | None = None
    baseline: SealedBaseline | None = None
    seal: ForecastSeal | None = None
    seal_check: SealCheck | None = None
    limit_changes: tuple[LimitChange, ...] = ()
    approval: LimitApproval | None = None
    key: KeyChange | None = None
    signature: RecordSignature | None = None  # last, because the text before it is signed

    OPTIONAL: ClassVar = (
        *("summary", "evidence", "annuls", "baseline", "seal", "seal_check", "limit_changes", "approval"),
        *("key", "signature"),
    )

    @property
    def current_certificate(self) -> str:
        """The verdict of its certificate in the words of this version; empty without a certificate."""
        basis = () if self.summary is None else self.summary.basis
        return read_recorded_verdict(self.certificate, basis) if self.certificate else ""

    @property
    def current_summary(self) -> SummaryTexts | None:
        """The summary of its report, with the verdict of the certificate in the words of this version."""
        if self.summary is None:
            return None
        return replace(self.summary, basis=tuple(map(read_basis, self.summary.basis)))

    def to_json(self) -> str:
        """Return the record as one line of text, as it was written; its hash is the hash of this text."""
        return getattr(self, "_text", None) or json_documents.dump(self)

    @property
    def sha256(self) -> str:
        """SHA-256 of the record as text."""
        known: str | None = getattr(self, "_sha256", None)
        if known is None:
            known = hashlib.sha256(self.to_json().encode()).hexdigest()
            object.__setattr__(self, "_sha256", known)
        return known


def read_audit_record(text: str | bytes, name: str) -> Record:
    """Read a record from its text; `to_json` returns the same text again."""
    record = json_documents.load(Record, text, name)
    object.__setattr__(record, "_text", text if isinstance(text, str) else text.decode())
    return record
