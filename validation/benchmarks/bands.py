"""Resampled bands: against R's reliabilitydiag, the Python package scores and a sort, and in memory."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import numpy as np

import scorereport as sr
from validation.benchmarks.measure import Comparison, Skipped, time_by_turns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport._utils.arrays import FloatArray

N = 100_000
N_SCORES = 10_000
N_ROWS = 1_000_000
RESAMPLES = 100
#: 100 resamples by reliabilitydiag in units of one order + isoreg of base R, of the same data: recorded
#: 2026-11-15 with reliabilitydiag 0.2.1.9000 and R 4.2.2 (23.9 and 0.238 seconds of processor time).
RECORDED_RATIO = 100.0
GIGABYTE = 1e9

#: All resamples in one call: much of its time does not depend on their number.
_R_SCRIPT = """
file <- file(commandArgs(TRUE)[1], "rb")
x <- readBin(file, "double", {n}); y <- readBin(file, "double", {n})
seconds <- function(expression) system.time(expression)[["elapsed"]]
cat(min(replicate(3, seconds({{ o <- order(x, -y); isoreg(y[o]) }}))), "")
if (requireNamespace("reliabilitydiag", quietly = TRUE)) {{
  cat(seconds(reliabilitydiag::reliabilitydiag(x = x, y = y, xtype = "continuous", n.boot = {resamples},
    region.method = "resampling", region.position = "estimate")))
}}
"""

_MEMORY_SCRIPT = """
import re, time
from pathlib import Path
import numpy as np
import scorereport as sr
rng = np.random.default_rng(2021)
x = rng.random({n})
fit = sr.corp(rng.random({n}) < x, x)
start = time.perf_counter()
fit.band("confidence", method="resampling", resamples={resamples})
taken, status = time.perf_counter() - start, Path("/proc/self/status").read_text()
print(taken, re.search(r"VmHWM:\\s+(\\d+) kB", status)[1])
"""


def compare_bands() -> Iterator[Comparison | Skipped]:
    """Compare time and memory of bands of continuous forecasts."""
    yield _against_r()
    yield _against_scores()
    yield from _per_row_and_resample()
    yield from _a_million_rows()


def _draw(n: int) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(2021)
    x = rng.random(n)
    return (rng.random(n) < x).astype(np.float64), x


def _band(y: FloatArray, x: FloatArray) -> object:
    return sr.corp(y, x).band("confidence", method="resampling", resamples=RESAMPLES)


def _against_r() -> Comparison | Skipped:
    name = "R reliabilitydiag / band, 100 resamples of 100,000"
    if shutil.which("Rscript") is None:
        return Skipped(name=name, reason="Rscript is not installed")
    y, x = _draw(N)
    ours, _ = time_by_turns(lambda: _band(y, x), lambda: None, repeats=5)
    sort, *whole = _time_r(y, x)
    if not whole:
        name = f"{name}, by its recorded ratio to order + isoreg"
    seconds = whole[0] if whole else sort * RECORDED_RATIO
    return Comparison(name=name, ours=ours, other=seconds, ratio=seconds / ours, limit=100, at_least=True)


def _time_r(y: FloatArray, x: FloatArray) -> list[float]:
    """Seconds of order + isoreg and, if it is installed, of reliabilitydiag."""
    with tempfile.TemporaryDirectory() as folder:
        data, script = Path(folder, "data.bin"), Path(folder, "bands.R")
        data.write_bytes(x.tobytes() + y.tobytes())
        script.write_text(_R_SCRIPT.format(n=len(x), resamples=RESAMPLES), encoding="utf-8")
        done = subprocess.run(["Rscript", script, data], capture_output=True, text=True, check=True)
    return [float(seconds) for seconds in done.stdout.split()]


def _against_scores() -> Comparison | Skipped:
    name = "scores.processing.isotonic_fit / band, 100 resamples of 10,000"
    if find_spec("scores") is None:
        return Skipped(name=name, reason="the package scores is not installed")
    isotonic_fit = import_module("scores.processing").isotonic_fit
    y, x = _draw(N_SCORES)
    ours, other = time_by_turns(
        lambda: _band(y, x), lambda: isotonic_fit(x, y, bootstraps=RESAMPLES), repeats=7
    )
    return Comparison(name=name, ours=ours, other=other, ratio=other / ours, limit=5, at_least=True)


def _per_row_and_resample() -> Iterator[Comparison | Skipped]:
    """A consistency band of a million rows against a sort of its forecasts, and with a second thread."""
    y, x = _draw(N_ROWS)
    fit = sr.corp(y, x)

    def band(threads: int) -> None:
        with patch.dict(os.environ, SCOREREPORT_THREADS=str(threads)):
            fit.band("consistency", method="resampling", resamples=RESAMPLES)

    one, sort = time_by_turns(partial(band, 1), lambda: np.sort(x), repeats=5)
    ours, other = (1e9 * taken / N_ROWS for taken in (one / RESAMPLES, sort))
    name = "consistency band on one core, time per row and resample / np.sort"
    yield Comparison(name=name, ours=ours, other=other, ratio=ours / other, limit=3, unit="ns")
    name = "consistency band, time per row and resample, two threads / one"
    if (os.cpu_count() or 1) < 2:
        yield Skipped(name=name, reason="the machine has one processor only")
        return
    two, one = time_by_turns(partial(band, 2), partial(band, 1), repeats=5)
    ours, other = (1e9 * taken / RESAMPLES / N_ROWS for taken in (two, one))
    yield Comparison(name=name, ours=ours, other=other, ratio=ours / other, limit=1, unit="ns")


def _a_million_rows() -> Iterator[Comparison | Skipped]:
    """Draw 1,000 resamples in a fresh process: its peak memory, and the time per row."""
    memory = "memory of a process with a band, 1,000 resamples of 1,000,000 / 1 GB"
    row = "band, time per row and resample / np.sort of random uint32"
    if not Path("/proc/self/status").exists():
        for name in (memory, row):
            yield Skipped(name=name, reason="there is no /proc, which states the memory of a process")
        return
    n, resamples = N_ROWS, 1000
    script = _MEMORY_SCRIPT.format(n=n, resamples=resamples)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    seconds, kilobytes = map(float, done.stdout.split())
    held = 1024 * kilobytes
    yield Comparison(name=memory, ours=held, other=GIGABYTE, ratio=held / GIGABYTE, limit=1, unit="bytes")
    keys = np.random.default_rng(1).integers(0, n, n, dtype=np.uint32)
    sort, _ = time_by_turns(lambda: np.sort(keys), lambda: None)
    ours, other = (1e9 * taken / n for taken in (seconds / resamples, sort))
    yield Comparison(name=row, ours=ours, other=other, ratio=ours / other, limit=10, unit="ns")
