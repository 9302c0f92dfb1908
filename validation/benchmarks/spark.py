"""Costs per row of the Spark engine by stage: the numbers that docs/spark-plan.md multiplies."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from typing import TYPE_CHECKING

from validation.benchmarks.apart import require_success, run_work
from validation.benchmarks.measure import Measured, Skipped
from validation.benchmarks.samples import data_folder, largest_size, why_not, write_models

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TITLES = {
    "survey": "survey of three models",
    "digest": "a model from file to digest",
    "scan": "one scan of three models for a sum",
}
_TIME_LIMIT = 3600.0


def measure_spark(folder: Path | None = None) -> Iterator[Skipped | Measured]:
    """Measure processor time of Java and Python for each stage, on this machine alone, and their memory."""
    n = largest_size() // 10
    reason = why_not(folder) or _why_no_spark()
    if reason:
        yield Skipped(name=f"Spark, {n:,} rows", reason=reason)
        return
    with data_folder(folder) as place:
        run = require_success(run_work("spark_work", write_models(place, n), seconds=_TIME_LIMIT))
    for stage, taken in run.output["stages"].items():
        for who, seconds in taken.items():
            yield Measured(name=f"{TITLES[stage]}, {n:,} rows, {who}", ours=seconds, rows=n)
    for who, held in run.output["most"].items():
        yield Measured(name=f"memory of {who}", ours=held, unit="bytes")


def _why_no_spark() -> str:
    if find_spec("pyspark") is None:
        return "pyspark is not installed"
    return "" if shutil.which("java") else "Java, which Spark needs, is not installed"
