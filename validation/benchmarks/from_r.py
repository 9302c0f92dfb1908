"""From R: a data frame of a million rows from R to results and back, against the command line on a file."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from scorereport.r_package.package_installation import RPackageError, install_r_package
from validation.benchmarks.measure import Comparison, Skipped
from validation.benchmarks.samples import MODELS, largest_size, write_models
from validation.benchmarks.whole import spend

if TYPE_CHECKING:
    from collections.abc import Iterator

ROWS, LIMIT = 1_000_000, 3.0
_ROOT = Path(__file__).resolve().parents[2]
_TIME_LIMIT = 3600.0
#: Draws the rows, then prints the seconds that an evaluation of them takes; the command line has been found.
_SESSION = """
library(scorereport)
n <- as.numeric(commandArgs(TRUE)[1])
models <- commandArgs(TRUE)[-1]
set.seed(1)
d <- as.data.frame(lapply(setNames(models, models), function(model) runif(n)), optional = TRUE)
d$outcome <- as.numeric(runif(n) < d[[1]])
invisible(sr_command())
started <- proc.time()[["elapsed"]]
evaluation <- sr_evaluate(d, "outcome", models)
stopifnot(nrow(evaluation$scores) == length(models))
cat(proc.time()[["elapsed"]] - started)
"""


def compare_from_r(place: Path) -> Iterator[Comparison | Skipped]:
    """Compare `sr_evaluate` in R with `score` on a Parquet file of as many rows and models."""
    n = min(ROWS, largest_size())
    name = f"sr_evaluate in R, {len(MODELS)} models, {n:,} rows / the command score on a Parquet file"
    with TemporaryDirectory() as folder:
        library = Path(folder, "library")
        try:
            install_r_package(library)
        except RPackageError as error:
            yield Skipped(name=name, reason=str(error))
            return
        ours = min(_evaluate_in_r(n, library, Path(folder)) for _ in range(2))
        forecasts = [word for model in MODELS for word in ("--forecast", model)]
        source = write_models(place, n).absolute()
        command: list[str | Path] = ["score", source, "--outcome", "outcome", *forecasts, "--json", "--quiet"]
        other = spend(command, folder=Path(folder)).clock
    yield Comparison(name=name, ours=ours, other=other, ratio=ours / other, limit=LIMIT, rows=n)


def _evaluate_in_r(n: int, library: Path, folder: Path) -> float:
    """The seconds in a session of R from a data frame to tables."""
    script = folder / "session.R"
    script.write_text(_SESSION, encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"R_LIBS": str(library), "SCOREREPORT_PYTHON": sys.executable, "PYTHONPATH": str(_ROOT)}
    done = subprocess.run(
        [shutil.which("Rscript") or "Rscript", str(script), f"{n:.0f}", *MODELS],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=_TIME_LIMIT,
    )
    return float(done.stdout)
