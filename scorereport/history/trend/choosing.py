"""Which earlier audits the present one is compared with, and which are shown beside it."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.history.trend.drift_records import Snapshot


def list_earlier(current: Snapshot, past: Sequence[Snapshot]) -> list[Snapshot]:
    """Audits whose period ends before that of the present one, oldest first; the last of each period."""
    latest: dict[str, Snapshot] = {}
    for snapshot in sorted(past, key=lambda snapshot: snapshot.time):
        if snapshot.period.day_after < current.period.day_after:
            latest[snapshot.period.label] = snapshot
    return sorted(latest.values(), key=lambda snapshot: (snapshot.period.end, snapshot.period.start or ""))


def choose_reference(current: Snapshot, earlier: Sequence[Snapshot], audits: int) -> list[Snapshot]:
    """So many audits back from the present one that no two have days in common, oldest first.

    Rows that two audits share would make them look alike. The latest that ends at or before the start of the
    present one is taken, then the latest that ends at or before the start of that one, and so on.
    """
    chosen: list[Snapshot] = []
    start = current.period.first_day
    for snapshot in sorted(earlier, key=lambda s: (s.period.end, s.period.start or "", s.time), reverse=True):
        if start is None or len(chosen) == audits:
            break
        if snapshot.period.day_after <= start:
            chosen.append(snapshot)
            start = snapshot.period.first_day
    return chosen[::-1]


def has_standard_errors(snapshot: Snapshot) -> bool:
    """Whether anything of an audit can be tested: without resamples there are no standard errors."""
    return any(isfinite(number.standard_error) for number in snapshot.numbers)


def select_shown(current: Snapshot, earlier: Sequence[Snapshot], audits: int) -> tuple[Snapshot, ...]:
    """The last audits and the present one, which alone keeps the distribution of its forecasts."""
    return (*(replace(snapshot, distributions=()) for snapshot in earlier[-audits:]), current)
