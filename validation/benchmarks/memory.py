"""Peak memory of a report of three models on ten million rows, read from Parquet and kept in memory."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from validation.benchmarks.apart import require_success, run_work
from validation.benchmarks.measure import Comparison, Skipped
from validation.benchmarks.samples import MODELS, data_folder, largest_size, why_not, write_models

if TYPE_CHECKING:
    from collections.abc import Iterator

LIMIT = 2e9
#: Memory does not depend on their number, because one is in memory at a time.
RESAMPLES = 20
_TIME_LIMIT = 7200.0


def compare_memory(folder: Path | None = None) -> Iterator[Comparison | Skipped]:
    """Compare the peak memory of a process that writes the whole report with its limit."""
    n = largest_size() // 10
    name = f"memory of a report of {len(MODELS)} models at {n:,} rows, {RESAMPLES} resamples / 2 GB"
    reason = why_not(folder)
    if reason:
        yield Skipped(name=name, reason=reason)
        return
    with data_folder(folder) as place, TemporaryDirectory() as target:
        source, report = write_models(place, n), Path(target, "report.pdf")
        run = require_success(run_work("memory_work", source, report, RESAMPLES, seconds=_TIME_LIMIT))
    yield Comparison(name=name, ours=run.held, other=LIMIT, ratio=run.held / LIMIT, limit=1, unit="bytes")
