"""Event log of a server or a run: one line of JSON for each event, without secrets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from threading import Lock
from typing import IO, TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable


class SecretRedactor(Protocol):
    """An object that removes secrets from a text."""

    def redact(self, text: str) -> str:
        """Return the text without secrets."""
        ...


class CombinedRedactor:
    """Removes the secrets of several audits, which share one log."""

    def __init__(self) -> None:
        self._all: list[SecretRedactor] = []

    def add(self, redactor: SecretRedactor) -> None:
        """Remove the secrets of one more audit, from now on: its last run may outlive its configuration."""
        if redactor not in self._all:
            self._all.append(redactor)

    def redact(self, text: str) -> str:
        """Return the text without the secrets of any audit."""
        for redactor in self._all:
            text = redactor.redact(text)
        return text


class EventLog:
    """Writes one line for each event, from any thread; a full disk or a closed stream raises no error.

    A line is `{"time": "2026-11-15T06:30:00.000Z", "event": "audit.finished", ...}` in ASCII: line breaks and
    characters beyond ASCII are escaped, so that every reader takes a line for one event.
    """

    def __init__(
        self,
        stream: IO[str],
        redactor: SecretRedactor | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._stream, self._redactor, self._clock = stream, redactor, clock
        self._lock = Lock()

    def write(self, event: str, **fields: Any) -> None:
        """Write an event; secrets in its fields are removed first."""
        line = json.dumps(
            {"time": format_event_time(self._clock()), "event": event, **self._redact(fields)}, default=str
        )
        with self._lock:
            try:
                self._stream.write(line + "\n")
                self._stream.flush()
            except (OSError, ValueError):  # there is no other place to report the problem
                return

    def _redact(self, value: Any) -> Any:
        """Remove the secrets before JSON escapes characters in them."""
        if isinstance(value, Mapping):
            return {str(key): self._redact(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._redact(item) for item in value]
        if value is None or isinstance(value, (bool, int, float)):
            return value
        return str(value) if self._redactor is None else self._redactor.redact(str(value))


def format_event_time(moment: datetime) -> str:
    """Format a moment in UTC, to the millisecond.

    >>> format_event_time(datetime(2026, 11, 15, 6, 30, tzinfo=UTC))
    '2026-11-15T06:30:00.000Z'
    """
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
