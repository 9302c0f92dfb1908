"""How strictly tables are read: what pydantic is told of each."""

from __future__ import annotations

from typing import Any

#: Keys that nobody knows are refused, and values of another kind.
STRICT: dict[str, Any] = {"extra": "forbid", "strict": True}
