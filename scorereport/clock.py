"""The time that goes into documents: of now, or given from outside so that bytes repeat."""

from __future__ import annotations

import os
from datetime import UTC, datetime

from scorereport.errors import UsageError


def timestamp() -> str:
    """Now in UTC, to the second; SOURCE_DATE_EPOCH, if set, is taken for now."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given is None:
        return datetime.now(UTC).isoformat(timespec="seconds")
    try:
        return datetime.fromtimestamp(int(given), UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError) as error:
        raise UsageError(f"SOURCE_DATE_EPOCH must be seconds since 1970; got {given!r}.") from error
