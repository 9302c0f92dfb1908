"""Sealed forecasts for tests: scored loans with keys, an audit of them, and hashes computed independently."""

from __future__ import annotations

import hashlib
import struct
from typing import TYPE_CHECKING, Any

from audit_tools import BRIEF, make_scored, write_audit

from scorereport._utils.clock import fixed_time
from scorereport.audit.forecast_sealing import seal_forecasts
from scorereport.audit.integrity import verify_audit_history
from scorereport.audit.plan import read_plan
from scorereport.audit.run import run_audit
from scorereport.history.store import open_history

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd

    from scorereport.history.audit_record import Record

BEFORE, AFTER = "2026-10-31T06:00:00+00:00", "2026-12-15T06:00:00+00:00"
LABEL = "2026-11"


def make_loans(days: int = 91, *, rows: int = 4) -> pd.DataFrame:
    """Scored loans from 2026-09-01 on, with the number of each and outcomes."""
    frame = make_scored("2026-09-01", days, rows=rows)
    return frame.assign(loan=[f"L{number:05}" for number in range(len(frame))])


def write_sealed_audit(place: Path, **audit: Any) -> Path:
    """An audit of the file scores.csv in a folder, whose rows are identified by their loan."""
    return write_audit(place, **{"report": BRIEF, "seal": {"key": ["loan"]}} | audit)


def write_rows(place: Path, frame: pd.DataFrame, *, outcomes: bool = True) -> None:
    """Write the source, with outcomes or without the column."""
    (frame if outcomes else frame.drop(columns="y")).to_csv(place / "scores.csv", index=False)


def seal(config: Path, period: str = LABEL, at: str = BEFORE):
    with fixed_time(at):
        return seal_forecasts(config, period=period)


def run(config: Path, period: str = LABEL, at: str = AFTER, **options: Any) -> Record:
    with fixed_time(at):
        return run_audit(config, period=period, **options).record


def find_claims(config: Path, at: str = AFTER) -> list[str]:
    """The findings of `verify`."""
    with fixed_time(at):
        return [finding.sentence for finding in verify_audit_history(read_plan(config)).findings]


def read_records(config: Path) -> tuple[Record, ...]:
    plan = read_plan(config)
    with open_history(plan.database_url, head=plan.chain_head, create=False) as history:
        return history.records()


def list_november(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[frame["day"].str.startswith("2026-11")]


def count(record: Record) -> tuple[int, ...]:
    """Sealed, unchanged, changed, missing and late rows of an audit."""
    check = record.seal_check
    return (check.sealed, check.unchanged, check.changed, check.missing, check.late)


def pack(text: str) -> bytes:
    return struct.pack(">I", len(text.encode())) + text.encode()


def hash_row(audit: str, period: str, keys: Sequence[str], forecasts: Sequence[float]) -> tuple[bytes, bytes]:
    """The digest of a key and the hash of a row, by the description in docs/audits.md."""
    salt = hashlib.sha256(pack(audit) + pack(period)).digest()
    texts = b"".join(map(pack, keys))
    numbers = struct.pack(f">{len(forecasts)}d", *forecasts)
    return hashlib.sha256(salt + texts).digest()[:8], hashlib.sha256(b"\0" + salt + texts + numbers).digest()


def merkle_root(leaves: Sequence[bytes]) -> bytes:
    """The root as RFC 6962, section 2.1, defines it: of hashes of leaves, divided recursively."""
    if len(leaves) == 1:
        return leaves[0]
    at = 1
    while at * 2 < len(leaves):
        at *= 2
    return hashlib.sha256(b"\1" + merkle_root(leaves[:at]) + merkle_root(leaves[at:])).digest()


def find_expected_root(rows: Sequence[tuple[str, float]], period: str = LABEL, audit: str = "loans") -> str:
    """The root over rows of one key and one forecast."""
    hashed = sorted(hash_row(audit, period, [key], [forecast]) for key, forecast in rows)
    return merkle_root([leaf for _, leaf in hashed]).hex()
