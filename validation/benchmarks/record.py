"""Results of benchmarks as JSON: those that ran replace their old results, all others are kept."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scorereport._utils.files import write_text
from validation.benchmarks.machine import describe_machine
from validation.benchmarks.measure import Comparison, Skipped
from validation.benchmarks.samples import is_rehearsal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from validation.benchmarks.measure import Result

FOLDER = Path(__file__).parent / "results"


def results_file() -> Path:
    """Return the path of the results; those of a rehearsal have a separate file."""
    return FOLDER / ("rehearsal.json" if is_rehearsal() else "latest.json")


def merge_results(benchmark: str, results: Sequence[Result], file: Path | None = None) -> None:
    """Write the results of a benchmark in place of its earlier ones."""
    path = file or results_file()
    machine = describe_machine()
    new = [_describe(result) | {"benchmark": benchmark, "date": machine["date"]} for result in results]
    kept = [old for old in read_results(path) if old.get("benchmark", benchmark) != benchmark]
    path.parent.mkdir(exist_ok=True)
    write_text(path, json.dumps({"machine": machine, "results": kept + new}, indent=2) + "\n")


def read_results(file: Path | None = None) -> list[dict[str, Any]]:
    """Read all recorded results."""
    path = file or results_file()
    return json.loads(path.read_text(encoding="utf-8"))["results"] if path.exists() else []


def _describe(result: Result) -> dict[str, Any]:
    record = {"kind": type(result).__name__, **asdict(result)}
    if isinstance(result, Skipped):
        return record
    record["nanoseconds"] = result.nanoseconds
    return record | {"is_met": result.is_met} if isinstance(result, Comparison) else record
