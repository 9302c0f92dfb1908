"""How long files of reports are kept: the rule that removals follow, and that `verify` holds them against."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.history.audit_record import Record, RecordedFile

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
