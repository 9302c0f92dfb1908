"""Other packages on the same rows: seconds and memory of each, and at which size each fails."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import asdict, dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from scorereport._utils.files import write_text
from validation.benchmarks.apart import Failure, run_apart, run_work
from validation.benchmarks.machine import describe_machine
from validation.benchmarks.measure import Comparison, Skipped
from validation.benchmarks.samples import (
    data_folder,
    is_rehearsal,
    largest_size,
    why_not,
    write_arrays,
    write_model_arrays,
    write_rows,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from validation.benchmarks.apart import Run

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "results" / "peers.json"
SIZES = (10_000, 100_000, 1_000_000, 10_000_000, 100_000_000)
#: Larger sizes of bands would take minutes: each resample costs about as much as a fit.
LARGEST_BAND = 10_000_000
#: Rows at which packages are compared with this one.
COMPARED = 1_000_000
SECONDS, MEMORY = 120.0, 8_000_000_000
OURS, DUCKDB, R_PACKAGE = "scorereport", "scorereport (DuckDB)", "reliabilitydiag"
PEERS = {
    "decompose": (OURS, DUCKDB, R_PACKAGE, "scikit-learn", "model-diagnostics", "scores"),
    "band": (OURS, R_PACKAGE, "scores"),
}
#: Packages that draw reliability diagrams, or give their numbers, and the sizes at which they do.
DIAGRAM = "diagram"
DIAGRAM_PEERS = (OURS, R_PACKAGE, "model-diagnostics", "scikit-learn", "scores")
DIAGRAM_SIZES = (10_000, 100_000)
TITLES = {
    "decompose": "fit + Brier decomposition",
    "band": "fit + Brier decomposition + resampled band",
    DIAGRAM: "reliability diagrams of three models",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A package at a size: seconds, bytes, and MCB, DSC and UNC; or how it failed, with its error message.

    Failures are "time", "memory", "error", "absent", and "larger" for sizes above one that failed.
    """

    work: str
    package: str
    version: str
    rows: int
    seconds: float | None = None
    held: int | None = None
    parts: tuple[float, ...] = ()
    failure: str = ""
    reason: str = ""


def compare_peers(folder: Path | None = None) -> Iterator[Comparison | Skipped]:
    """Measure all packages, write the results as JSON, and compare each with this one at a million rows."""
    reason = why_not(folder)
    if reason:
        yield Skipped(name="other packages", reason=reason)
        return
    cells = measure_peers(folder)
    if not is_rehearsal():
        write_cells(cells)
    yield from _against_ours(cells)


def compare_diagrams(folder: Path | None = None) -> Iterator[Comparison | Skipped]:
    """Measure the packages that draw reliability diagrams, and compare each with this one."""
    reason = why_not(folder)
    if reason:
        yield Skipped(name="reliability diagrams of other packages", reason=reason)
        return
    sizes = [n for n in DIAGRAM_SIZES if n <= largest_size() // 10]
    with data_folder(folder) as place:
        cells = [cell for package in DIAGRAM_PEERS for cell in climb(DIAGRAM, package, place, sizes)]
    if not is_rehearsal():
        write_cells(cells)
    # Only this package gives the same; a package that does less may take less.
    yield from _against_ours([cell for cell in cells if cell.package in (OURS, R_PACKAGE)])


def measure_peers(folder: Path | None = None) -> list[Cell]:
    """Measure every package with every kind of work at every size."""
    sizes = [n for n in SIZES if n <= largest_size()]
    cells: list[Cell] = []
    with data_folder(folder) as place:
        for work, packages in PEERS.items():
            fitting = [n for n in sizes if work != "band" or n <= LARGEST_BAND]
            for package in packages:
                cells += climb(work, package, place, fitting)
    return cells


def climb(work: str, package: str, folder: Path, sizes: Sequence[int]) -> Iterator[Cell]:
    """Measure a package in ascending order of size; after a failure larger sizes are not tried."""
    known = find_version(package)
    failure = Failure(kind="absent", reason="It is not installed.") if known is None else None
    for n in sizes:
        run = failure or _run(work, package, folder, n)
        yield _fill(run, work=work, package=package, version=known or "", rows=n)
        if isinstance(run, Failure) and run.kind != "absent":
            failure = Failure(kind="larger", reason=f"Not tried: it failed at fewer rows ({run.kind}).")


def _fill(run: Run | Failure, *, work: str, package: str, version: str, rows: int) -> Cell:
    cell = Cell(work=work, package=package, version=version, rows=rows)
    if isinstance(run, Failure):
        return replace(cell, failure=run.kind, reason=run.reason)
    return replace(cell, seconds=run.seconds, held=run.held, parts=tuple(run.output["parts"]))


def _run(work: str, package: str, folder: Path, n: int) -> Run | Failure:
    """Run one package at one size; the DuckDB engine reads a Parquet file, the others arrays in memory."""
    if work == DIAGRAM:
        return _draw(package, n, *write_model_arrays(folder, n))
    if package == DUCKDB:
        return run_work("large_work", "decompose", write_rows(folder, n), seconds=SECONDS, memory=MEMORY)
    inputs = (n, *write_arrays(folder, largest_size()))
    if package == R_PACKAGE:
        command: list[str | Path] = ["Rscript", FOLDER / "peer_work.R", work, *map(str, inputs)]
        return run_apart(command, seconds=SECONDS, memory=MEMORY)
    return run_work("peer_work", package, work, *inputs, seconds=SECONDS, memory=MEMORY)


def _draw(package: str, n: int, *files: Path) -> Run | Failure:
    if package == R_PACKAGE:
        command: list[str | Path] = ["Rscript", FOLDER / "diagram_work.R", str(n), *files]
        return run_apart(command, seconds=SECONDS, memory=MEMORY)
    return run_work("diagram_work", package, n, *files, seconds=SECONDS, memory=MEMORY)


def find_version(package: str) -> str | None:
    """Return the installed version; None if there is none."""
    if package == R_PACKAGE:
        return _find_r_version()
    try:
        return version(OURS if package == DUCKDB else package)
    except PackageNotFoundError:
        return None


def _find_r_version() -> str | None:
    if shutil.which("Rscript") is None:
        return None
    ask = f'cat(as.character(packageVersion("{R_PACKAGE}")))'
    done = subprocess.run(["Rscript", "-e", ask], capture_output=True, text=True, check=False)
    return done.stdout.strip() or None


def _against_ours(cells: Sequence[Cell]) -> Iterator[Comparison | Skipped]:
    n = max((cell.rows for cell in cells if cell.rows <= COMPARED), default=0)
    ours = {cell.work: cell.seconds for cell in cells if cell.package == OURS and cell.rows == n}
    for cell in cells:
        base = ours[cell.work] if cell.rows == n else None
        if base is None or cell.package in (OURS, DUCKDB):
            continue
        name = f"{cell.package} / scorereport, {TITLES[cell.work]}, {n:,} rows"
        if cell.seconds is None:
            yield Skipped(name=name, reason=cell.reason)
        else:
            ratio = cell.seconds / base
            yield Comparison(
                name=name, ours=base, other=cell.seconds, ratio=ratio, limit=1, at_least=True, rows=n
            )


def write_cells(cells: Sequence[Cell]) -> None:
    """Write the results as JSON; those of other kinds of work are kept."""
    works = {cell.work for cell in cells}
    cells = [*(cell for cell in read_cells() if cell.work not in works), *cells]
    record = {
        "machine": describe_machine(),
        "limits": {"seconds": SECONDS, "memory": MEMORY},
        "cells": [asdict(cell) for cell in cells],
    }
    RESULTS.parent.mkdir(exist_ok=True)
    write_text(RESULTS, json.dumps(record, indent=2) + "\n")


def read_cells() -> list[Cell]:
    """Read the results that were written last; empty if there are none."""
    if not RESULTS.exists():
        return []
    record = json.loads(RESULTS.read_text(encoding="utf-8"))
    return [Cell(**cell | {"parts": tuple(cell["parts"])}) for cell in record["cells"]]
