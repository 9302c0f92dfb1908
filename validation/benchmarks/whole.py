"""The whole: evaluations, reports and audits as users run them, in processor seconds and against a sort."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pyarrow.csv
import pyarrow.parquet as pq

from validation.benchmarks.apart import require_success, run_work
from validation.benchmarks.large import fit_exponent
from validation.benchmarks.measure import Comparison, Measured, Skipped
from validation.benchmarks.samples import (
    CLASS_MODELS,
    CLASSES,
    MODELS,
    data_folder,
    largest_size,
    why_not,
    write_classes,
    write_designs,
    write_models,
)
from validation.benchmarks.whole_work import CLASS_ROLE, processor_seconds, time_sort

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from validation.benchmarks.apart import Run

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
#: Goals in processor seconds: of `evaluate` by the number of rows, of a report, and of an audit run.
GOALS = {10_000: 1.5, 100_000: 4.0, 1_000_000: 15.0}
REPORT_GOAL, AUDIT_GOAL = 8.0, 6.0
#: Goals in seconds of the command `report` on few rows, by its format.
START_GOALS = {".html": 3.0, ".pdf": 8.0}
START_ROWS, REPORT_ROWS, COMPARED_ROWS = 1_000, 10_000, 1_000_000
#: Processor seconds of a stable `np.sort` by the number of rows, on the machine for which the goals are set.
SORTS = {1_000: 3.3e-5, 10_000: 7.9e-4, 100_000: 1.05e-2, 1_000_000: 0.109}
#: How much a ratio may exceed its goal: both times vary by some percent.
ALLOWANCE = 1.25
EXPONENT, MEMORY = 1.05, 1.5e9
#: Designs by the column that they need, and how many times as long as independent rows they may take.
DESIGN_ROWS = 100_000
DESIGNS = {"weight": ("with sampling weights", 4), "cluster": ("in clusters of 20", 8)}
#: How many times as long as three binary models two models of ordered classes may take, by number of rows.
CLASS_LIMITS = {10_000: 5, 100_000: 10}
#: Repetitions up to a number of rows; larger work is long enough to be measured once.
_TURNS = {10_000: 3, 100_000: 2}
_TIME_LIMIT = 7200.0
AUDIT = """[evaluation]
outcome = "outcome"
forecasts = ["{model}"]

[audit]
name = "whole"
certify = "{certify}"

[audit.source]
file = "rows.csv"

[audit.signing]
key = "key.pem"
[audit.output]
formats = ["pdf"]
"""

Found = Comparison | Measured | Skipped


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """Processor seconds of a command with all its children, and seconds by the clock."""

    processor: float
    clock: float


def compare_whole(folder: Path | None = None) -> Iterator[Found]:
    """Compare whole evaluations, reports and audits with a sort and with their goals."""
    reason = why_not(folder)
    if reason:
        yield Skipped(name="whole evaluations", reason=reason)
        return
    with data_folder(folder) as place:
        sizes = [n for n in SIZES if n <= largest_size() // 10]
        runs = {n: _evaluate(place, n) for n in sizes}
        yield from (_against_sort(n, run) for n, run in runs.items())
        yield from _compare_engines(place, runs)
        yield from _compare_designs(place, runs)
        yield from _compare_classes(place, runs)
        yield _compare_growth(runs)
        yield _compare_memory(runs)
        yield from _compare_reports(place)
        yield from _compare_audits(place)
        yield from _compare_start(place)


def find_limit(n: int, goal: float) -> float:
    """The limit on the ratio to a sort of n forecasts that corresponds to a goal in processor seconds.

    >>> find_limit(10_000, 1.5)
    2400.0
    """
    return float(f"{ALLOWANCE * goal / SORTS[n]:.2g}")


# ---- Evaluations ----


def _evaluate(place: Path, n: int, engine: str = "memory") -> Run:
    """The fastest of a few evaluations, each in a fresh process."""
    source, few = write_models(place, n), write_models(place, START_ROWS)
    runs = [
        require_success(run_work("whole_work", engine, source, few, seconds=_TIME_LIMIT))
        for _ in range(_TURNS.get(n, 1))
    ]
    return min(runs, key=lambda run: run.seconds)


def _against_sort(n: int, run: Run) -> Comparison | Measured:
    name = f"evaluate, {len(MODELS)} models, {n:,} rows"
    if n not in GOALS:
        return Measured(name=f"{name}, processor time", ours=run.seconds, rows=n)
    sort = run.output["sort"]
    return Comparison(
        name=f"{name}, processor time / np.sort (goal: {GOALS[n]:g} s)",
        ours=run.seconds,
        other=sort,
        ratio=run.seconds / sort,
        limit=find_limit(n, GOALS[n]),
        rows=n,
    )


def _compare_engines(place: Path, runs: dict[int, Run]) -> Iterator[Comparison | Measured]:
    """Processor time in memory against that of the DuckDB engine, on the same file."""
    n = min(COMPARED_ROWS, max(runs))
    duckdb, in_memory = _evaluate(place, n, "duckdb"), runs[n]
    name = f"evaluate, {len(MODELS)} models, {n:,} rows"
    shared = in_memory.seconds - in_memory.output["in_memory_only"]
    for what, seconds in (("processor time", in_memory.seconds), ("time of what both give", shared)):
        yield Comparison(
            name=f"{name}, {what} in memory / with DuckDB",
            ours=seconds,
            other=duckdb.seconds,
            ratio=seconds / duckdb.seconds,
            limit=1,
            rows=n,
        )
    yield Measured(
        name=f"{name}, processor time with DuckDB",
        ours=duckdb.seconds,
        rows=n,
    )


def _compare_designs(place: Path, runs: dict[int, Run]) -> Iterator[Comparison]:
    """Processor time of rows with weights, or in clusters, against that of as many independent rows."""
    n = min(DESIGN_ROWS, max(runs))
    sources = [write_designs(place, rows) for rows in (n, START_ROWS)]
    for role, (what, limit) in DESIGNS.items():
        name = f"{len(MODELS)} models, {n:,} rows, processor time {what} / of independent rows"
        yield _against_usual(name, n, sources, role, runs[n], limit)


def _compare_classes(place: Path, runs: dict[int, Run]) -> Iterator[Comparison]:
    """Processor time of two models of ordered classes against that of three binary models."""
    for n, limit in CLASS_LIMITS.items():
        if n in runs:
            sources = [write_classes(place, rows) for rows in (n, START_ROWS)]
            what = f"{len(CLASS_MODELS)} models of {CLASSES} ordered classes, {n:,} rows"
            name = f"{what}, processor time / of {len(MODELS)} binary models"
            yield _against_usual(name, n, sources, CLASS_ROLE, runs[n], limit)


def _against_usual(
    name: str, n: int, sources: Sequence[Path], role: str, usual: Run, limit: float
) -> Comparison:
    """Processor time of an evaluation with a role against that of the usual one."""
    run = require_success(run_work("whole_work", "memory", *sources, role, seconds=_TIME_LIMIT))
    return Comparison(
        name=f"evaluate, {name}",
        ours=run.seconds,
        other=usual.seconds,
        ratio=run.seconds / usual.seconds,
        limit=limit,
        rows=n,
    )


def _compare_growth(runs: dict[int, Run]) -> Comparison | Skipped:
    if len(runs) == 1:
        return Skipped(name="fitted exponent of rows of evaluate", reason="there is one size only")
    exponent = fit_exponent(list(runs), [run.seconds for run in runs.values()])
    return Comparison(
        name=f"fitted exponent of rows of evaluate, {min(runs):,} to {max(runs):,}",
        ours=exponent,
        other=1.0,
        ratio=exponent,
        limit=EXPONENT,
        unit="power of n",
    )


def _compare_memory(runs: dict[int, Run]) -> Comparison:
    n = max(runs)
    return Comparison(
        name=f"memory of evaluate, {len(MODELS)} models, {n:,} rows / 1.5 GB",
        ours=runs[n].held,
        other=MEMORY,
        ratio=runs[n].held / MEMORY,
        limit=1,
        unit="bytes",
    )


# ---- Commands, imports included ----


def spend(command: Sequence[str | Path], *, folder: Path, turns: int = 2) -> Spent:
    """Run a command a few times; the shortest processor time and the shortest time by the clock count.

    Compiled modules are kept, as on the machines of users: PYTHONDONTWRITEBYTECODE would compile all of them
    in every run.
    """
    program = [sys.executable, "-m", "scorereport", *map(str, command)]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    found = []
    for _ in range(turns):
        started, clock = processor_seconds(), time.perf_counter()
        subprocess.run(program, check=True, cwd=folder, capture_output=True, env=environment)
        found.append((processor_seconds() - started, time.perf_counter() - clock))
    processor, clock = map(min, zip(*found, strict=True))
    return Spent(processor=processor, clock=clock)


def _report(source: Path, *outputs: str) -> list[str | Path]:
    forecasts = [word for model in MODELS for word in ("--forecast", model)]
    wanted = [word for output in outputs for word in ("-o", output)]
    return ["report", source, "--outcome", "outcome", *forecasts, "--quiet", *wanted]


def _compare_command(name: str, n: int, spent: Spent, goal: float, place: Path) -> Comparison:
    column = pq.read_table(write_models(place, n), columns=[MODELS[0]])[MODELS[0]]
    sort = time_sort(column.to_numpy())
    return Comparison(
        name=f"{name}, processor time / np.sort (goal: {goal:g} s)",
        ours=spent.processor,
        other=sort,
        ratio=spent.processor / sort,
        limit=find_limit(n, goal),
    )


def _compare_reports(place: Path) -> Iterator[Found]:
    """The command `report` of all formats."""
    n = REPORT_ROWS
    name = f"report of {len(MODELS)} models, {n:,} rows, as PDF, HTML and JSON"
    with TemporaryDirectory() as target:
        command = _report(write_models(place, n).absolute(), "r.pdf", "r.html", "r.json")
        spent = spend(command, folder=Path(target))
    yield _compare_command(name, n, spent, REPORT_GOAL, place)
    yield Measured(name=f"{name}, by the clock", ours=spent.clock)


def _compare_audits(place: Path) -> Iterator[Found]:
    """The command `audit run` of one model as PDF, without and with R."""
    n = REPORT_ROWS
    name = f"audit run of one model, {n:,} rows, as PDF"
    for certify, what in (("off", "without R"), ("optional", "with the certificate of R")):
        with TemporaryDirectory() as target:
            rows = pq.read_table(write_models(place, n), columns=["outcome", MODELS[0]])
            pyarrow.csv.write_csv(rows, Path(target, "rows.csv"))
            Path(target, "audit.toml").write_text(AUDIT.format(model=MODELS[0], certify=certify))
            spent = spend(["audit", "run", "audit.toml", "--again"], folder=Path(target))
        if certify == "off":
            yield _compare_command(f"{name}, {what}", n, spent, AUDIT_GOAL, place)
        else:
            yield Measured(name=f"{name}, {what}, processor time", ours=spent.processor)
        yield Measured(name=f"{name}, {what}, by the clock", ours=spent.clock)


def _compare_start(place: Path) -> Iterator[Found]:
    """The command `report` on few rows, by the clock; other load only lengthens the clock."""
    source = write_models(place, START_ROWS).absolute()
    for ending, goal in START_GOALS.items():
        with TemporaryDirectory() as target:
            spent = spend(_report(source, f"r{ending}"), folder=Path(target), turns=3)
        name = f"report of {len(MODELS)} models, {START_ROWS:,} rows, as {ending[1:].upper()}"
        shortest = min(spent.clock, spent.processor)
        yield Comparison(
            name=f"{name}, by the clock / {goal:g} s",
            ours=shortest,
            other=goal,
            ratio=shortest / goal,
            limit=1,
        )
        yield Measured(name=f"{name}, processor time", ours=spent.processor)
