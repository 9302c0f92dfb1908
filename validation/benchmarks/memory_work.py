"""A report as a user writes it, in a separate process that prints its peak memory.

`python -m validation.benchmarks.memory_work SOURCE REPORT RESAMPLES`
"""

from __future__ import annotations

import json
import sys
import time

import scorereport as sr
from validation.benchmarks.measure import most_held
from validation.benchmarks.samples import MODELS


def main() -> None:
    """Evaluate in memory, write the report, and print time and memory."""
    source, report, resamples = sys.argv[1:]
    start = time.perf_counter()
    evaluation = sr.evaluate(
        source, outcome="outcome", forecasts=MODELS, resamples=int(resamples), engine="memory"
    )
    sr.write_report(evaluation, report)
    print(json.dumps({"seconds": time.perf_counter() - start, "held": most_held()}))


if __name__ == "__main__":
    main()
