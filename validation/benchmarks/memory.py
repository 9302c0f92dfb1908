"""Memory: a whole report of three models on ten million rows, read from Parquet and held in memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from validation.benchmarks.measure import Comparison, Skipped

if TYPE_CHECKING:
    from collections.abc import Iterator

MODELS = 3
ROWS, STEP = 10_000_000, 1_000_000
#: Memory does not depend on how many there are; a thousand take half an hour.
RESAMPLES = 20
LIMIT = 2e9
#: A process of its own evaluates the file and writes the report; it prints the most it ever held.
LIFE = """
import sys
import scorereport as sr
source, target, models, resamples = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
forecasts = [f"m{number}" for number in range(models)]
evaluation = sr.evaluate(source, outcome="y", forecasts=forecasts, resamples=resamples, engine="memory")
sr.write_report(evaluation, target)
held = [line for line in open("/proc/self/status") if line.startswith("VmHWM")]
print(int(held[0].split()[1]) * 1024)
"""


def compare_memory() -> Iterator[Comparison | Skipped]:
    """The most that a process held which made the whole report."""
    name = f"memory of a report of {MODELS} models at {ROWS:,} rows, {RESAMPLES} resamples / 2 GB"
    if not Path("/proc/self/status").exists():
        yield Skipped(name=name, reason="there is no /proc to ask for the memory held")
        return
    with TemporaryDirectory() as folder:
        source, target = Path(folder, "rows.parquet"), Path(folder, "report.pdf")
        write_rows(source)
        held = measure_life(source, target)
    yield Comparison(name=name, ours=held, other=LIMIT, ratio=held / LIMIT, limit=1, unit="bytes")


def measure_life(source: Path, target: Path) -> int:
    """Bytes that the process held at most."""
    command = [sys.executable, "-c", LIFE, str(source), str(target), str(MODELS), str(RESAMPLES)]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def write_rows(path: Path) -> None:
    """Outcomes and the forecasts of some models, the first of them calibrated, a part at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(7)
    names = [f"m{number}" for number in range(MODELS)]
    schema = pa.schema([("y", pa.uint8()), *((name, pa.float64()) for name in names)])
    with pq.ParquetWriter(path, schema) as writer:
        for _ in range(ROWS // STEP):
            x = rng.random(STEP)
            columns = {"y": (rng.random(STEP) < x).astype(np.uint8), "m0": x}
            for number, name in enumerate(names[1:], start=1):
                off = x ** (1 + number / 10) + rng.normal(0, 0.02, STEP)
                columns[name] = np.clip(off, 1e-6, 1 - 1e-6)
            writer.write_table(pa.table(columns, schema=schema))
