"""The work of the large benchmarks, in separate processes.

`python -m validation.benchmarks.large_work WORK FILE`
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

import scorereport as sr
from scorereport.evaluation.engines.digest import SUMS
from scorereport.evaluation.engines.duck.duck_engine import open_duckdb
from scorereport.evaluation.engines.protocol import DigestPlan
from scorereport.inference.losses import resolve_measure
from scorereport.reliability.decomposition import decompose_mean
from validation.benchmarks.measure import most_held

if TYPE_CHECKING:
    from collections.abc import Callable

    from scorereport.evaluation.engines.digest import Digest

MEMORY_LIMIT = "1GB"
THREADS = 2
#: Modules that are imported before the clock starts.
IMPORTED = ("duckdb", "pandas", "pyarrow.parquet")
#: Rows of a batch that DuckDB returns.
BATCH = 1_000_000


def decompose(source: str) -> dict[str, Any]:
    """The exact Brier decomposition by the DuckDB engine, all checks of the rows included."""
    digest = _digest(source)
    score, n = resolve_measure("brier", {}).score, digest.blocks.n.sum()
    parts = decompose_mean(
        "brier",
        score,
        float(digest.sums[len(SUMS)] / n),
        digest.blocks,
        infinite_cases=0,
        higher_is_better=False,
    )
    return {
        "parts": [parts.miscalibration, parts.discrimination, parts.uncertainty],
        "blocks": len(digest.blocks),
    }


def sort(source: str) -> dict[str, Any]:
    """DuckDB's own sort of the same columns under the same limits; the rows are discarded."""
    import duckdb

    with tempfile.TemporaryDirectory() as folder:
        limits: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": MEMORY_LIMIT,
            "threads": THREADS,
            "temp_directory": folder,
        }
        with duckdb.connect(config=limits) as connection:
            result = connection.sql(f"SELECT forecast, outcome FROM '{source}' ORDER BY forecast")
            rows = sum(len(batch) for batch in result.to_arrow_reader(BATCH))
    return {"rows": rows}


def evaluate(source: str) -> dict[str, Any]:
    """A whole evaluation of one model, with intervals, bands and tests."""
    found = sr.evaluate(
        source, outcome="outcome", forecasts=["forecast"], engine="duckdb", memory_limit=MEMORY_LIMIT
    )
    return {"brier": float(found.scores["brier"].iloc[0])}


def check(source: str) -> dict[str, Any]:
    """Raise unless the blocks of the engine equal those of the fit in memory, to the last bit."""
    import pyarrow.parquet as pq

    digest, table = _digest(source), pq.read_table(source)
    fit = sr.corp(table["outcome"].to_numpy().astype(np.float64), table["forecast"].to_numpy())
    for name in ("x_min", "x_max", "n", "events"):
        if not np.array_equal(getattr(digest.blocks, name), getattr(fit.blocks, name)):
            raise AssertionError(f"`{name}` of the blocks differs between DuckDB and memory.")
    return {"blocks": len(fit.blocks)}


def _digest(source: str) -> Digest:
    with open_duckdb(source, outcome="outcome", forecasts=["forecast"], memory_limit=MEMORY_LIMIT) as engine:
        survey = engine.survey
        plan = DigestPlan(
            total=survey.total, events=survey.events, measures=(("brier", ()),), buckets=1, most_distinct=0
        )
        return engine.digest("forecast", plan)


WORK: dict[str, Callable[[str], dict[str, Any]]] = {
    "decompose": decompose,
    "sort": sort,
    "evaluate": evaluate,
    "check": check,
}


def main() -> None:
    """Do the named work, and print its time and memory."""
    work, source = sys.argv[1:]
    os.environ["SCOREREPORT_THREADS"] = str(THREADS)
    for module in IMPORTED:
        import_module(module)
    start = time.perf_counter()
    output = WORK[work](source)
    taken = time.perf_counter() - start
    print(json.dumps(output | {"seconds": taken, "held": most_held()}))


if __name__ == "__main__":
    main()
