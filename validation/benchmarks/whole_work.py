"""A whole evaluation in a separate process, which prints its processor seconds and those of a sort.

`python -m validation.benchmarks.whole_work ENGINE SOURCE FEW`: FEW is a small file of the same columns. It is
evaluated first, so that no import is measured.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.parquet as pq

import scorereport as sr
from validation.benchmarks.measure import most_held
from validation.benchmarks.samples import MODELS

if TYPE_CHECKING:
    from scorereport._utils.arrays import FloatArray

#: The shortest time that is measured: shorter sorts are repeated until they take as long.
_SHORTEST = 0.05
_TURNS = 5


def processor_seconds() -> float:
    """Return the processor seconds of this process, with all its threads, and of its ended children."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def time_sort(forecasts: FloatArray) -> float:
    """Return the processor seconds of `np.sort`, the shortest of a few turns."""
    start = time.process_time()
    np.sort(forecasts)
    repeats = max(1, round(_SHORTEST / max(time.process_time() - start, 1e-6)))
    taken = []
    for _ in range(_TURNS):
        start = time.process_time()
        for _ in range(repeats):
            np.sort(forecasts)
        taken.append((time.process_time() - start) / repeats)
    return min(taken)


def evaluate(source: str, engine: str) -> None:
    """Evaluate three models with the default settings."""
    sr.evaluate(source, outcome="outcome", forecasts=MODELS, engine=engine)


def main() -> None:
    """Sort and evaluate, and print the time of both and the memory."""
    engine, source, few = sys.argv[1:]
    evaluate(few, engine)
    started, clock = processor_seconds(), time.perf_counter()
    evaluate(source, engine)
    taken = {"seconds": processor_seconds() - started, "clock": time.perf_counter() - clock}
    held = most_held()  # before the column is read for the sort
    sort = time_sort(pq.read_table(source, columns=[MODELS[0]])[MODELS[0]].to_numpy())
    print(json.dumps(taken | {"held": held, "sort": sort}))


if __name__ == "__main__":
    main()
