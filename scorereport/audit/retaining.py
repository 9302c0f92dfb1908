"""Files that were kept long enough: which they are, and the record of their removal."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.configuration.audit_tables import RetentionTable
    from scorereport.history.records import FiledFile, Record


def find_expired(records: Sequence[Record], table: RetentionTable, now: str) -> tuple[FiledFile, ...]:
    """The files of an audit that are older than the table asks for; the latest audits keep theirs.

    `records` are all of one audit, oldest first; files that were removed before are not named again.
    """
    if table.days is None:
        return ()
    oldest = datetime.fromisoformat(now) - timedelta(days=table.days)
    filed = [record for record in records if record.files]
    gone = {file for record in records for file in record.removed}
    return tuple(
        file
        for record in filed[: -table.keep]
        if datetime.fromisoformat(record.finished) < oldest
        for file in record.files
        if file not in gone
    )
