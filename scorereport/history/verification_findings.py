"""Findings of a verification: each difference from what was recorded, with a sentence that names it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class FindingKind(StrEnum):
    """What has happened to something."""

    CHANGED = "changed"
    MISSING = "missing"
    INSERTED = "inserted"
    REORDERED = "reordered"
    CUT_OFF = "cut off"
    UNREADABLE = "unreadable"
    UNKNOWN = "unknown"  # it belongs to no record
    CONTRADICTORY = "contradictory"  # a record that no run can have made
    DATABASE = "database"  # the database itself, rather than what stands in it


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegrityFinding:
    """Something that is not as it was recorded: what has happened, to what, and a sentence that says it."""

    kind: FindingKind
    subject: str
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """How many records and files were looked at, the hash of the last record, and all that was found.

    `warnings` say what a person has to look at: records that the file `head` should remember and does not.
    `notes` say what could not be looked at, and what is worth a look. Neither says that anything was changed.
    """

    records: int
    files: int
    head: str
    findings: tuple[IntegrityFinding, ...]
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
