"""Findings of a verification: each difference from what was recorded, described in a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class FindingKind(StrEnum):
    """What happened to the subject of a finding."""

    CHANGED = "changed"
    MISSING = "missing"
    INSERTED = "inserted"
    REORDERED = "reordered"
    CUT_OFF = "cut off"
    UNREADABLE = "unreadable"
    UNKNOWN = "unknown"  # it belongs to no record
    CONTRADICTORY = "contradictory"  # a record that no run can have written
    FORGED = "forged"  # a record that no trusted key has signed
    UNAPPROVED = "unapproved"  # a run with limits that no second person has approved
    DATABASE = "database"  # the database itself, not the rows in it


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegrityFinding:
    """Something that is not as it was recorded: what happened, to what, and a sentence about it."""

    kind: FindingKind
    subject: str
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """What was found when a record, or a document of records, was compared with the rules of runs."""

    findings: tuple[IntegrityFinding, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """Numbers of checked records and files, hash of the last record, and all findings.

    `warnings` are for a person to follow up: records that the chain head file lacks. `notes` state what could
    not be checked, and what is unusual. Neither means that anything was changed.
    """

    records: int
    files: int
    head: str
    findings: tuple[IntegrityFinding, ...]
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
