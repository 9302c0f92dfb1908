"""Changes of limits between two configurations."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitChange:
    """A limit that differs from the one before: its key in `[limits]`, and both values as text.

    A value is empty if there was no such limit, or is none any more.
    """

    key: str
    before: str
    after: str
