"""A whole evaluation in a separate process, which prints its processor seconds and those of a sort.

`python -m validation.benchmarks.whole_work ENGINE SOURCE FEW [ROLE]`: FEW is a small file of the same
columns. It is evaluated first, so that no import is measured. ROLE is weight or cluster, and the name of the
column that has it, or classes. In memory, the seconds of results that other engines leave out are printed as
well.
"""

from __future__ import annotations

import json
import resource
import sys
import threading
import time
from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.parquet as pq

import scorereport as sr
from scorereport.evaluation import (
    binary_comparisons,
    binary_evaluation,
    model_calibration,
    model_scores,
    subgroups,
)
from scorereport.inference import binned_errors
from validation.benchmarks.measure import most_held
from validation.benchmarks.samples import CLASS_MODELS, CLASSES, MODELS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scorereport._utils.arrays import FloatArray

#: The shortest time that is measured: shorter sorts are repeated until they take as long.
_SHORTEST = 0.05
_TURNS = 5
#: The role that stands for ordered classes.
CLASS_ROLE = "classes"
#: The functions that compute what engines leave out, with the modules that call them.
IN_MEMORY_ONLY = {
    "smooth calibration errors": (model_calibration, "smooth_errors"),
    "the flexible calibration curve": (model_calibration, "fit_flexible"),
    "the interval of the ECE": (binned_errors, "_bound_error"),
    "recalibration": (binary_evaluation, "_recalibrate"),
    "parts of miscalibration": (binary_evaluation, "split_fit"),
    "Murphy differences": (binary_comparisons, "compare_costs"),
    "comparisons of net benefit": (binary_comparisons, "compare_decisions"),
    "calibration by group": (subgroups, "_test_calibration"),
}
#: The overfit by draws; engines have it in closed form.
_OVERFIT_BY_DRAWS = (model_scores, "estimate_overfit")


def processor_seconds() -> float:
    """Return the processor seconds of this process, with all its threads, and of its ended children."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def time_sort(forecasts: FloatArray) -> float:
    """Return the processor seconds of a stable `np.sort`, the shortest of a few turns.

    Where a processor has wide vector instructions, only the sort that is not stable uses them.
    """
    start = time.process_time()
    np.sort(forecasts, kind="stable")
    repeats = max(1, round(_SHORTEST / max(time.process_time() - start, 1e-6)))
    taken = []
    for _ in range(_TURNS):
        start = time.process_time()
        for _ in range(repeats):
            np.sort(forecasts, kind="stable")
        taken.append((time.process_time() - start) / repeats)
    return min(taken)


def evaluate(source: str, engine: str, roles: Sequence[str]) -> None:
    """Evaluate three models, or two models of ordered classes, with the default settings."""
    if CLASS_ROLE in roles:
        labels = range(CLASSES)
        sr.evaluate(source, outcome="outcome", forecasts=CLASS_MODELS, classes=labels, ordered=True)
        return
    columns: dict[str, Any] = {role: role for role in roles}
    sr.evaluate(source, outcome="outcome", forecasts=MODELS, engine=engine, **columns)


def count_seconds(function: Callable[..., Any], seconds: list[float]) -> Callable[..., Any]:
    """A function that adds the processor seconds of each call to a list.

    A call on the main thread may start threads, and nothing else runs beside it. A call on one of several
    threads makes its own calls on this thread, if there are no more processors than such calls.
    """

    @wraps(function)
    def counted(*args: Any, **options: Any) -> Any:
        is_alone = threading.current_thread() is threading.main_thread()
        read = time.process_time if is_alone else time.thread_time
        started = read()
        try:
            return function(*args, **options)
        finally:
            seconds.append(read() - started)

    return counted


def main() -> None:
    """Sort and evaluate, and print the time of both and the memory."""
    engine, source, few, *roles = sys.argv[1:]
    evaluate(few, engine, roles)
    in_memory_only: list[float] = []
    for module, name in (*IN_MEMORY_ONLY.values(), _OVERFIT_BY_DRAWS):
        setattr(module, name, count_seconds(getattr(module, name), in_memory_only))
    started, clock = processor_seconds(), time.perf_counter()
    evaluate(source, engine, roles)
    taken = {"seconds": processor_seconds() - started, "clock": time.perf_counter() - clock}
    held = most_held()  # before the column is read for the sort
    column = CLASS_MODELS["a"][0] if CLASS_ROLE in roles else MODELS[0]
    sort = time_sort(pq.read_table(source, columns=[column])[column].to_numpy())
    print(json.dumps(taken | {"held": held, "sort": sort, "in_memory_only": sum(in_memory_only)}))


if __name__ == "__main__":
    main()
