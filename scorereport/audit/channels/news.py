"""What there is to tell of an audit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """What there is to tell, and the files that may go with it."""

    outcome: dict[str, Any]
    files: Sequence[Path]

    @property
    def body(self) -> bytes:
        """The outcome as JSON."""
        return json.dumps(self.outcome, ensure_ascii=False).encode("utf-8", "replace")
