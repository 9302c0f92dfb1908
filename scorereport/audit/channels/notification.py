"""Notification of an audit: its content, its secrets, its time limits, and descriptions of errors."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scorereport._utils.formatting import one_line
from scorereport._utils.redaction import find_variables
from scorereport.errors import DataError, UsageError


@dataclass(frozen=True, slots=True)
class SecretReader:
    """Reads values of the configuration, and remembers which of them are secret."""

    expand: Callable[[str, str], str]
    secrets: list[str] = field(default_factory=list, repr=False)

    def read(self, text: str, key: str) -> str:
        """A value, of which the environment variables in it are secret."""
        value = self.expand(text, key)
        self.secrets.extend(os.environ.get(name, "") for name in find_variables(text))
        return value

    def read_secret(self, text: str, key: str) -> str:
        """A value that is secret as a whole, without blanks around it."""
        value = self.read(text, key).strip()
        self.secrets.append(value)
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """What there is to tell, and the files that may go with it."""

    outcome: dict[str, Any]
    files: Sequence[Path]

    @property
    def body(self) -> bytes:
        """The outcome as JSON."""
        return json.dumps(self.outcome, ensure_ascii=False).encode("utf-8", "replace")


def describe_channel_error(error: BaseException) -> str:
    """An error on one line; those of our own need no name."""
    said = one_line(str(error))
    if isinstance(error, UsageError | DataError):
        return said
    if isinstance(error, UnicodeError):  # which quotes what it stumbles over
        return "a name, an address or a password has letters that cannot be sent."
    return f"{type(error).__name__}: {said}" if said else f"{type(error).__name__}."


#: That a command may take, that a server may be silent, and that any way of telling may take in all.
COMMAND_LIMIT = 60.0
SILENCE_LIMIT = 10.0
TOTAL_LIMIT = 90.0
#: Between the tries to reach a webhook.
RETRY_PAUSES = (1.0, 4.0)
