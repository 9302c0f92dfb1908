"""Files that were kept long enough, by the configuration of an audit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport.history.retention import Terms, find_due

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.configuration.audit_tables import RetentionTable
    from scorereport.history.records import FiledFile, Record


def find_expired(records: Sequence[Record], table: RetentionTable, now: str) -> tuple[FiledFile, ...]:
    """The files of an audit that are older than the table asks for; the latest audits keep theirs.

    `records` are all of one audit, oldest first; files that were removed before are not named again.
    """
    return find_due(records, Terms(days=table.days, keep=table.keep), now)
