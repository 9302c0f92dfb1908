"""Data larger than memory: time, growth and memory of the DuckDB engine against DuckDB's own sort."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from validation.benchmarks.apart import require_success, run_work
from validation.benchmarks.measure import Comparison, Measured, Skipped
from validation.benchmarks.samples import data_folder, largest_size, why_not, write_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from validation.benchmarks.apart import Run

#: Repetitions at the largest size, at a tenth and at a hundredth of it.
TURNS = (2, 3, 5)
GIGABYTES = 2e9
#: Rows per second of a whole evaluation; far fewer would mean that some work is done row by row.
FEWEST_ROWS = 100_000
_TIME_LIMIT = 1800.0


def compare_large(folder: Path | None = None) -> Iterator[Comparison | Skipped | Measured]:
    """Time, memory and growth of the exact decomposition of up to 100 million rows, and of an evaluation."""
    reason = why_not(folder)
    if reason:
        yield Skipped(name=f"exact decomposition of {largest_size():,} rows by DuckDB", reason=reason)
        return
    with data_folder(folder) as place:
        sizes = [largest_size() // share for share in (1, 10, 100)]
        files = [write_rows(place, n) for n in sizes]
        require_success(run_work("large_work", "check", files[-1], seconds=_TIME_LIMIT))
        runs = [_by_turns(file, turns) for file, turns in zip(files, TURNS, strict=True)]
        yield from _compare_largest(sizes[0], *runs[0])
        yield from _compare_growth(sizes, runs)
        yield _rate_evaluation(sizes[1], files[1])


def _by_turns(file: Path, turns: int) -> tuple[Run, Run]:
    """The fastest decomposition and the fastest sort, each in a fresh process."""
    pairs = [
        tuple(
            require_success(run_work("large_work", work, file, seconds=_TIME_LIMIT))
            for work in ("decompose", "sort")
        )
        for _ in range(turns)
    ]
    ours, other = (min(runs, key=lambda run: run.seconds) for runs in zip(*pairs, strict=True))
    return ours, other


def _compare_largest(n: int, ours: Run, other: Run) -> Iterator[Comparison]:
    yield Comparison(
        name=f"exact decomposition of {n:,} rows from Parquet / DuckDB's ORDER BY",
        ours=ours.seconds,
        other=other.seconds,
        ratio=ours.seconds / other.seconds,
        limit=1.6,
        rows=n,
    )
    yield Comparison(
        name=f"memory of its process, {n:,} rows with a limit of 1 GB / 2 GB",
        ours=ours.held,
        other=GIGABYTES,
        ratio=ours.held / GIGABYTES,
        limit=1,
        unit="bytes",
    )


def _compare_growth(sizes: Sequence[int], runs: Sequence[tuple[Run, Run]]) -> Iterator[Comparison | Measured]:
    """Times of each size, and the slope of a straight line through their logarithms."""
    for n, (ours, other) in zip(sizes, runs, strict=True):
        if n < sizes[0]:
            yield Measured(name=f"exact decomposition of {n:,} rows", ours=ours.seconds, rows=n)
        yield Measured(name=f"DuckDB's ORDER BY of {n:,} rows", ours=other.seconds, rows=n)
    exponents = [fit_exponent(sizes, [pair[side].seconds for pair in runs]) for side in (0, 1)]
    ideal = fit_exponent(sizes, [n * np.log(n) for n in sizes])
    yield Comparison(
        name=f"fitted exponent of rows, {sizes[-1]:,} to {sizes[0]:,}",
        ours=exponents[0],
        other=ideal,
        ratio=exponents[0],
        limit=1.2,
        unit="power of n",
    )
    yield Measured(name="fitted exponent of rows of DuckDB's ORDER BY", ours=exponents[1], unit="power of n")
    yield Measured(name="exponent of n log n, fitted at the same sizes", ours=ideal, unit="power of n")


def fit_exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """The slope of the least-squares line of log time on log rows.

    >>> fit_exponent([10, 100, 1000], [2.0, 200.0, 20_000.0])
    2.0
    """
    return round(float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0]), 4)


def _rate_evaluation(n: int, file: Path) -> Comparison:
    """Rows per second of `evaluate(engine="duckdb")` with intervals, bands and tests."""
    run = require_success(run_work("large_work", "evaluate", file, seconds=_TIME_LIMIT))
    rate = n / run.seconds
    return Comparison(
        name=f"evaluate(engine='duckdb') of {n:,} rows, rows per second / {FEWEST_ROWS:,}",
        ours=rate,
        other=FEWEST_ROWS,
        ratio=rate / FEWEST_ROWS,
        limit=1,
        at_least=True,
        unit="rows/s",
    )
