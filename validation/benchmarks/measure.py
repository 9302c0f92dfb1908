"""Timing by turns, and what a benchmark has to say."""

from __future__ import annotations

import time
import tracemalloc
from dataclasses import dataclass
from pathlib import Path
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
    rows: int = 0  # how many rows the time was for, if that is of interest

    @property
    def is_met(self) -> bool:
        """Whether the ratio keeps its limit."""
        return self.ratio >= self.limit if self.at_least else self.ratio <= self.limit

    @property
    def nanoseconds(self) -> float | None:
        """Time of a row, where the number of rows is known."""
        return time_of_row(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A comparison that this machine cannot make, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A number without a limit, for the reader."""

    name: str
    ours: float
    unit: str = "s"
    rows: int = 0

    @property
    def nanoseconds(self) -> float | None:
        """Time of a row, where the number of rows is known."""
        return time_of_row(self)


Result = Comparison | Skipped | Told


def time_of_row(result: Comparison | Told) -> float | None:
    """Nanoseconds of each row, where a time is of a known number of rows."""
    return 1e9 * result.ours / result.rows if result.rows and result.unit == "s" else None


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


def most_held() -> int:
    """Bytes that this process held at its worst, its program and libraries included."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return 1024 * int(line.split()[1])
