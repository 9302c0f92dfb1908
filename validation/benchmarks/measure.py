"""Timing in turns, and the results of benchmarks."""

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
    """A comparison of two measurements: `ratio` must stay below, or above, `limit`."""

    name: str
    ours: float
    other: float
    ratio: float
    limit: float
    at_least: bool = False
    unit: str = "s"
    rows: int = 0  # number of rows, if the time per row is of interest

    @property
    def is_met(self) -> bool:
        """Whether the ratio meets its limit."""
        return self.ratio >= self.limit if self.at_least else self.ratio <= self.limit

    @property
    def nanoseconds(self) -> float | None:
        """Time per row, where the number of rows is known."""
        return time_of_row(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A comparison that this machine cannot run, with the reason."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A measured number without a limit."""

    name: str
    ours: float
    unit: str = "s"
    rows: int = 0

    @property
    def nanoseconds(self) -> float | None:
        """Time per row, where the number of rows is known."""
        return time_of_row(self)


Result = Comparison | Skipped | Measured


def time_of_row(result: Comparison | Measured) -> float | None:
    """Return the nanoseconds per row, if the result is a time and the number of rows is known."""
    return 1e9 * result.ours / result.rows if result.rows and result.unit == "s" else None


def time_by_turns(
    first: Callable[[], object], second: Callable[[], object], repeats: int = 7
) -> tuple[float, float]:
    """Return the shortest time of each, measured in turns so that both run under the same load."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        for action, taken in zip((first, second), times, strict=True):
            start = time.perf_counter()
            action()
            taken.append(time.perf_counter() - start)
    return min(times[0]), min(times[1])


def peak_memory(action: Callable[[], object]) -> int:
    """Return the peak memory of an action in bytes, beyond what was allocated before."""
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def most_held() -> int:
    """Return the peak memory of this process in bytes, including its program and libraries."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return 1024 * int(line.split()[1])
