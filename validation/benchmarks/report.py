"""Reports: time outside against time inside WeasyPrint, growth with the rows, and memory."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np

import scorereport as sr
from scorereport.report.provenance import trace_provenance
from scorereport.report.report_output import render_report
from scorereport.report.report_record import build_report
from validation.benchmarks.measure import Comparison, Skipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.report.report_record import Report

MODELS = (0.7, 1.0, 1.4)
SMALL, LARGE = 100_000, 1_000_000
RESAMPLES = 100
GIGABYTE = 1e9
#: A separate process evaluates the large sample and writes its report; it prints its peak memory.
LIFE = """
from validation.benchmarks.report import LARGE, draw_report
from scorereport.report.report_output import render_report
render_report(draw_report(LARGE), {".pdf", ".html", ".json"})
held = [line for line in open("/proc/self/status") if line.startswith("VmHWM")]
print(int(held[0].split()[1]) * 1024)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Seconds of a report inside and outside WeasyPrint."""

    inside: float
    outside: float


def compare_reports() -> Iterator[Comparison | Skipped]:
    """Compare time outside and inside WeasyPrint, its growth with the rows, and the memory."""
    small, large = (time_report(draw_report(n)) for n in (SMALL, LARGE))
    name = f"report of {len(MODELS)} models at {SMALL:,} rows, outside / inside WeasyPrint"
    yield Comparison(
        name=name, ours=small.outside, other=small.inside, ratio=small.outside / small.inside, limit=1
    )
    ours, other = large.inside + large.outside, small.inside + small.outside
    name = f"rendering of {LARGE:,} rows / of {SMALL:,}, the engine apart"
    yield Comparison(name=name, ours=ours, other=other, ratio=ours / other, limit=1.25)
    yield measure_memory()


def draw_report(n: int) -> Report:
    """Evaluate three models on n random rows, and build their report."""
    rng = np.random.default_rng(2021)
    x = rng.random(n)
    forecasts = {f"model {power}": x**power for power in MODELS}
    predictions = sr.Predictions(outcome=(rng.random(n) < x).astype(np.float64), forecasts=forecasts)
    return build_report(
        sr.evaluate(predictions, resamples=RESAMPLES, cost_interval=(0.1, 0.4)), trace_provenance()
    )


def time_report(report: Report, repeats: int = 3) -> Split:
    """Return the shortest of some runs, after a first one that loads all modules."""
    render = partial(render_report, report, {".pdf"})
    render()
    runs = []
    for _ in range(repeats):
        with _watch_weasyprint() as inside:
            start = time.perf_counter()
            render()
            total = time.perf_counter() - start
        runs.append(Split(inside=sum(inside), outside=total - sum(inside)))
    return min(runs, key=lambda split: split.inside + split.outside)


@contextmanager
def _watch_weasyprint() -> Iterator[list[float]]:
    """Collect the seconds spent in WeasyPrint, from HTML to pages and from pages to a file."""
    from weasyprint import HTML, Document

    spent: list[float] = []

    def timed(method: Any) -> Any:
        def run(*arguments: Any, **options: Any) -> Any:
            start = time.perf_counter()
            try:
                return method(*arguments, **options)
            finally:
                spent.append(time.perf_counter() - start)

        return run

    with (
        patch.object(HTML, "render", timed(HTML.render)),
        patch.object(HTML, "__init__", timed(HTML.__init__)),
        patch.object(Document, "write_pdf", timed(Document.write_pdf)),
    ):
        yield spent


def measure_memory() -> Comparison | Skipped:
    """Measure the peak memory of a process that evaluates the large sample and writes all report formats."""
    name = f"memory of a process with a report of {LARGE:,} rows / 1 GB"
    if not Path("/proc/self/status").exists():
        return Skipped(name=name, reason="there is no /proc, which states the memory of a process")
    done = subprocess.run([sys.executable, "-c", LIFE], capture_output=True, text=True, check=True)
    held = int(done.stdout)
    return Comparison(name=name, ours=held, other=GIGABYTE, ratio=held / GIGABYTE, limit=1, unit="bytes")
