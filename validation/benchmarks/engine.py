"""Fit and Brier decomposition of a million continuous forecasts."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from sklearn.isotonic import IsotonicRegression

import scorereport as sr
from validation.benchmarks.measure import Comparison, Skipped, peak_memory, time_by_turns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport._utils.arrays import FloatArray

N = 1_000_000

_R_SCRIPT = """
file <- file(commandArgs(TRUE)[1], "rb")
x <- readBin(file, "double", {n}); y <- readBin(file, "double", {n})
once <- function() system.time({{ o <- order(x, -y); isoreg(y[o]) }})[["elapsed"]]
cat(min(replicate(3, once())))
"""


def compare_engine() -> Iterator[Comparison | Skipped]:
    """Compare the engine with the sort that it needs, with scikit-learn and with R."""
    rng = np.random.default_rng(2021)
    x = rng.random(N)
    y = (rng.random(N) < x).astype(np.float64)

    def fit_and_decompose() -> object:
        return sr.corp(y, x).decompose("brier")

    ours, sort = time_by_turns(fit_and_decompose, lambda: np.sort(x), repeats=40)
    yield Comparison(
        name="fit + Brier decomposition / np.sort", ours=ours, other=sort, ratio=ours / sort, limit=4
    )
    memory, size = peak_memory(fit_and_decompose), x.nbytes + y.nbytes
    yield Comparison(
        name="peak memory / input", ours=memory, other=size, ratio=memory / size, limit=10, unit="bytes"
    )
    ours, peer = time_by_turns(fit_and_decompose, lambda: IsotonicRegression().fit(x, y), repeats=3)
    yield Comparison(
        name="scikit-learn IsotonicRegression.fit / fit + Brier decomposition",
        ours=ours,
        other=peer,
        ratio=peer / ours,
        limit=4,
        at_least=True,
    )
    yield _against_r(x, y, ours)


def _against_r(x: FloatArray, y: FloatArray, ours: float) -> Comparison | Skipped:
    name = "R order + isoreg / fit + Brier decomposition"
    if shutil.which("Rscript") is None:
        return Skipped(name=name, reason="Rscript is not installed")
    with tempfile.TemporaryDirectory() as folder:
        data, script = Path(folder, "data.bin"), Path(folder, "isoreg.R")
        data.write_bytes(x.tobytes() + y.tobytes())
        script.write_text(_R_SCRIPT.format(n=len(x)), encoding="utf-8")
        done = subprocess.run(["Rscript", script, data], capture_output=True, text=True, check=True)
    seconds = float(done.stdout)
    return Comparison(name=name, ours=ours, other=seconds, ratio=seconds / ours, limit=20, at_least=True)
