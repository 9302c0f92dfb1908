"""Placeholder until the branch of outcomes is merged."""

from __future__ import annotations

from collections.abc import Sequence

from scorereport.configuration.periods import Period


def find_uncounted(
    period: Period, counted: Sequence[tuple[str | None, str]]
) -> tuple[str | None, str] | None:
    start, end = period.start, period.end
    for s, e in sorted(counted, key=lambda x: x[0] or ""):
        if (start or "") < e and (s or "") < end:
            start = e
    return (start, end) if (start or "") < end else None
