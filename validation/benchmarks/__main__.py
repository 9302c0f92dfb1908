"""`make bench`: run all benchmarks, or some by name; print ratios, write them as JSON and as a page."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from validation.benchmarks.audits import compare_audits
from validation.benchmarks.bands import compare_bands
from validation.benchmarks.certificate import compare_certificate
from validation.benchmarks.classes import compare_classes
from validation.benchmarks.engine import compare_engine
from validation.benchmarks.histories import compare_histories
from validation.benchmarks.large import compare_large
from validation.benchmarks.measure import Comparison, Result, Skipped
from validation.benchmarks.memory import compare_memory
from validation.benchmarks.page import render_peers, write_page
from validation.benchmarks.peers import compare_diagrams, compare_peers, read_cells
from validation.benchmarks.record import merge_results
from validation.benchmarks.report import compare_reports
from validation.benchmarks.samples import VARIABLE, data_folder, is_rehearsal
from validation.benchmarks.spark import measure_spark
from validation.benchmarks.start import compare_start
from validation.benchmarks.whole import compare_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

Benchmark = Callable[[], Iterator[Result]]
NAMES = (
    "engine",
    "start",
    "bands",
    "classes",
    "audits",
    "histories",
    "certificate",
    "report",
    "memory",
    "whole",
    "large",
    "spark",
    "diagrams",
    "peers",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print and write; return exit code 1 if a limit is broken."""
    options = _parse(arguments)
    with data_folder(options.data) as folder:
        are_met = [_run(name, folder) for name in options.names or NAMES]
    if not is_rehearsal():
        write_page()
    return int(not all(are_met))


def _run(name: str, folder: Path) -> bool:
    """Run one benchmark, and return whether all its limits are met."""
    results = []
    for result in _benchmarks(folder)[name]():
        print(describe_result(result), flush=True)
        results.append(result)
    merge_results(name, results)
    if name == "peers" and not is_rehearsal():
        print(render_peers(read_cells()))
    return all(result.is_met for result in results if isinstance(result, Comparison))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m validation.benchmarks",
        description=f"{__doc__} The environment variable {VARIABLE} sets the largest number of rows, "
        "for a quick trial; the page is then not written.",
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"benchmarks to run: {', '.join(NAMES)}; all unless given"
    )
    parser.add_argument(
        "--data", type=Path, metavar="FOLDER", help="where large samples are kept between runs"
    )
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.names) - set(NAMES))
    if unknown:
        parser.error(f"there is no benchmark {unknown[0]!r}; there are {', '.join(NAMES)}")
    return options


def _benchmarks(folder: Path) -> dict[str, Benchmark]:
    return {
        "engine": compare_engine,
        "start": partial(compare_start, folder),
        "bands": compare_bands,
        "classes": compare_classes,
        "audits": compare_audits,
        "histories": compare_histories,
        "certificate": compare_certificate,
        "report": compare_reports,
        "memory": partial(compare_memory, folder),
        "whole": partial(compare_whole, folder),
        "large": partial(compare_large, folder),
        "spark": partial(measure_spark, folder),
        "diagrams": partial(compare_diagrams, folder),
        "peers": partial(compare_peers, folder),
    }


def describe_result(result: Result) -> str:
    """Return a line for the terminal."""
    if isinstance(result, Skipped):
        return f"{result.name:72} skipped: {result.reason}"
    per_row = "" if result.nanoseconds is None else f", {result.nanoseconds:.3g} ns a row"
    taken = f"({result.ours:.3g} {result.unit}{per_row})"
    if not isinstance(result, Comparison):
        return f"{result.name:72} {'':8}   {taken}"
    sign, verdict = "≥" if result.at_least else "≤", "met" if result.is_met else "BROKEN"
    return f"{result.name:72} {result.ratio:8.2f}   limit {sign} {result.limit:<4g} {verdict}   {taken}"


if __name__ == "__main__":
    sys.exit(main())
