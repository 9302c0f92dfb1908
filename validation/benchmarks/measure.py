"""Timing by turns, and what a benchmark has to say."""

from __future__ import annotations

import time
import tracemalloc
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One thing against another: `ratio` must stay below or above `limit`."""

    name: str
    ours: float
    other: float
    ratio: float
    limit: float
    at_least: bool = False
    unit: str = "s"

    @property
    def is_met(self) -> bool:
        """Whether the ratio keeps its limit."""
        return self.ratio >= self.limit if self.at_least else self.ratio <= self.limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A comparison that this machine cannot make, and why."""

    name: str
    reason: str


def time_by_turns(
    first: Callable[[], object], second: Callable[[], object], repeats: int = 7
) -> tuple[float, float]:
    """Shortest time of each, taken by turns so that both meet the same weather."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        for action, taken in zip((first, second), times, strict=True):
            start = time.perf_counter()
            action()
            taken.append(time.perf_counter() - start)
    return min(times[0]), min(times[1])


def peak_memory(action: Callable[[], object]) -> int:
    """Bytes that an action holds at its worst, beyond what was there before."""
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
