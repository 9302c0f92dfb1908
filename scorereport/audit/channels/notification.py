"""Values of the configuration that may be secret."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field

from scorereport._utils.redaction import find_variables


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
