"""`make bench`: run all benchmarks, print their ratios, write them for machines."""

from __future__ import annotations

import json
import platform
import sys
from dataclasses import asdict
from itertools import chain
from pathlib import Path

from scorereport.files import write_text
from validation.benchmarks.audits import compare_audits
from validation.benchmarks.bands import compare_bands
from validation.benchmarks.certificate import compare_certificate
from validation.benchmarks.classes import compare_classes
from validation.benchmarks.engine import compare_engine
from validation.benchmarks.measure import Comparison
from validation.benchmarks.report import compare_reports
from validation.benchmarks.start import compare_start

RESULTS = Path(__file__).parent / "results" / "latest.json"


def main() -> int:
    """Run, print and write; the exit code is 1 if a limit is broken."""
    results = []
    benchmarks = (
        compare_engine,
        compare_start,
        compare_bands,
        compare_classes,
        compare_audits,
        compare_certificate,
        compare_reports,
    )
    for result in chain.from_iterable(compare() for compare in benchmarks):
        results.append(result)
        if isinstance(result, Comparison):
            sign, verdict = "≥" if result.at_least else "≤", "met" if result.is_met else "BROKEN"
            print(
                f"{result.name:72} {result.ratio:8.2f}   limit {sign} {result.limit:<4g} {verdict}"
                f"   ({result.ours:.3g} {result.unit})",
                flush=True,
            )
        else:
            print(f"{result.name:72} skipped: {result.reason}", flush=True)
    records = [
        {"kind": type(r).__name__, **asdict(r)} | ({"is_met": r.is_met} if isinstance(r, Comparison) else {})
        for r in results
    ]
    RESULTS.parent.mkdir(exist_ok=True)
    machine = {"python": platform.python_version(), "machine": platform.machine()}
    write_text(RESULTS, json.dumps({"machine": machine, "results": records}, indent=2) + "\n")
    return int(any(isinstance(r, Comparison) and not r.is_met for r in results))


if __name__ == "__main__":
    sys.exit(main())
