"""Simulation: one cell of the study is many runs of the same trial, each with its own random numbers."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, TypeVar
from zlib import crc32

from scorereport._utils.choices import SEED
from scorereport.reliability.sampling import random_stream
from validation.coverage.documented import references
from validation.coverage.record import Row, make_row

if TYPE_CHECKING:
    import numpy as np

_T = TypeVar("_T")

#: A trial draws data and returns, for each method, whether (or at what share of forecasts) it covered.
Trial = Callable[["np.random.Generator"], Mapping[str, float]]

#: The level of every test.
ALPHA = 0.05

_references = cache(references)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How much to simulate: "full" for hours, "quick" for minutes, "rehearsal" for two runs of each trial."""

    mode: str = "quick"
    seed: int = SEED
    least_runs: int = 0

    @property
    def is_full(self) -> bool:
        """Whether all sizes and runs are simulated."""
        return self.mode == "full"

    def runs(self, quick: int, full: int) -> int:
        """Return the number of runs of a cell."""
        return max({"quick": quick, "full": full, "rehearsal": 2}[self.mode], self.least_runs)

    def cells(self, quick: Sequence[_T], full: Sequence[_T]) -> Sequence[_T]:
        """Return the sample sizes, or other cells, to simulate."""
        return {"quick": quick, "full": full, "rehearsal": quick[:1]}[self.mode]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A study at one setting and sample size."""

    study: str
    setting: str
    n: int
    nominal: float

    @property
    def label(self) -> str:
        """The name of the cell, from which its random numbers start."""
        return f"{self.study}: {self.setting}, n = {self.n}"


def simulate(plan: Plan, cell: Cell, trial: Trial, runs: int) -> list[Row]:
    """Run a trial many times and return a row for each method."""
    start = time.perf_counter()
    values: dict[str, list[float]] = {}
    for run in range(runs):
        for method, value in trial(random_stream(plan.seed, crc32(cell.label.encode()), run)).items():
            values.setdefault(method, []).append(float(value))
    print(f"{cell.label}: {runs} runs, {time.perf_counter() - start:.1f} s", file=sys.stderr, flush=True)
    return [
        make_row(
            cell.study,
            cell.setting,
            cell.n,
            method,
            nominal=cell.nominal,
            values=shares,
            reference=_references().get((cell.study, cell.setting, cell.n, method)),
        )
        for method, shares in values.items()
    ]


def draw_seed(rng: np.random.Generator) -> int:
    """Draw a seed for the resampling inside a trial."""
    return int(rng.integers(2**31))


def rejects(p_values: Mapping[str, float]) -> dict[str, float]:
    """Return 1 for each test that rejects, else 0; a test without a p-value does not reject."""
    return {name: float(p <= ALPHA) for name, p in p_values.items()}
