"""The time in documents: the current time, or a fixed one for reproducible files."""

from __future__ import annotations

import os
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

_fixed: ContextVar[str | None] = ContextVar("fixed", default=None)


@contextmanager
def fixed_time(time: str | None) -> Iterator[None]:
    """Use this time as the current time inside the block; None changes nothing.

    >>> with fixed_time("2026-11-15T00:00:00+00:00"):
    ...     timestamp()
    '2026-11-15T00:00:00+00:00'
    """
    token = _fixed.set(_fixed.get() if time is None else time)
    try:
        yield
    finally:
        _fixed.reset(token)


def read_clock() -> str:
    """Return the current time in UTC, to the second, by the clock of the machine or by `fixed_time`.

    Audits use this function: no environment variable can backdate a record.
    """
    fixed = _fixed.get()
    return datetime.now(UTC).isoformat(timespec="seconds") if fixed is None else fixed


def timestamp() -> str:
    """Return the current time in UTC, to the second, or that of `fixed_time`, or of SOURCE_DATE_EPOCH."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch is None or _fixed.get() is not None:
        return read_clock()
    try:
        return datetime.fromtimestamp(int(epoch), UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError) as error:
        raise UsageError(f"SOURCE_DATE_EPOCH must be seconds since 1970; got {epoch!r}.") from error


def read_time(text: str) -> str:
    """Convert a date, with or without a time, to a time to the second; without a zone it is UTC.

    >>> read_time("2026-11-15"), read_time("2026-11-15T07:30:12+01:00")
    ('2026-11-15T00:00:00+00:00', '2026-11-15T06:30:12+00:00')
    """
    try:
        time = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise UsageError(f"`date` must be a date such as 2026-11-15; got {text!r}.") from error
    aware = time if time.tzinfo is not None else time.replace(tzinfo=UTC)
    return aware.astimezone(UTC).isoformat(timespec="seconds")
