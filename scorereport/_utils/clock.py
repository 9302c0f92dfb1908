"""The time that documents state: the current time, or a given one for reproducible files."""

from __future__ import annotations

import os
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

_given: ContextVar[str | None] = ContextVar("given", default=None)


@contextmanager
def fixed_time(time: str | None) -> Iterator[None]:
    """Take this time for now inside the block; None leaves the clock alone.

    >>> with fixed_time("2026-11-15T00:00:00+00:00"):
    ...     timestamp()
    '2026-11-15T00:00:00+00:00'
    """
    token = _given.set(_given.get() if time is None else time)
    try:
        yield
    finally:
        _given.reset(token)


def read_clock() -> str:
    """Now in UTC, to the second, by the clock of the machine; the time of `fixed_time` is taken for now.

    Audits take their times from here: no environment variable can backdate a record.
    """
    given = _given.get()
    return datetime.now(UTC).isoformat(timespec="seconds") if given is None else given


def timestamp() -> str:
    """Now in UTC, to the second; the time of `fixed_time`, or else SOURCE_DATE_EPOCH, is taken for now."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch is None or _given.get() is not None:
        return read_clock()
    try:
        return datetime.fromtimestamp(int(epoch), UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError) as error:
        raise UsageError(f"SOURCE_DATE_EPOCH must be seconds since 1970; got {epoch!r}.") from error


def read_time(text: str) -> str:
    """A date, or a date with a time, as a time to the second; without a zone it is UTC.

    >>> read_time("2026-11-15"), read_time("2026-11-15T07:30:12+01:00")
    ('2026-11-15T00:00:00+00:00', '2026-11-15T06:30:12+00:00')
    """
    try:
        time = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise UsageError(f"`date` must be a date such as 2026-11-15; got {text!r}.") from error
    aware = time if time.tzinfo is not None else time.replace(tzinfo=UTC)
    return aware.astimezone(UTC).isoformat(timespec="seconds")
