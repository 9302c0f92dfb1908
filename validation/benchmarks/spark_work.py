"""The stages of the Spark engine in a separate process, timed in a second run: the first warms Java up.

`python -m validation.benchmarks.spark_work FILE`
"""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport.evaluation.engines.protocol import DigestPlan
from scorereport.evaluation.engines.spark.spark_engine import open_spark
from scorereport.evaluation.engines.spark.spark_session import connect_spark
from validation.benchmarks.measure import most_held
from validation.benchmarks.samples import MODELS
from validation.benchmarks.watched import Watched

if TYPE_CHECKING:
    from collections.abc import Callable

    from scorereport.evaluation.engines.protocol import Batch, Sums
    from scorereport.evaluation.engines.spark.spark_engine import SparkEngine

_SUBMIT = "--driver-memory 2g --conf spark.log.level=OFF pyspark-shell"
#: Number of parts of the sample: more than there are cores, as in a large job.
_PARTS = 4

Taken = dict[str, float]


def run_stages(source: str, watched: Watched) -> dict[str, Taken]:
    """Measure the time of each stage, by the clock and of processors."""
    taken: dict[str, Taken] = {}

    def timed(stage: str, work: Callable[[], Any]) -> Any:
        before, start = watched.spent(), time.perf_counter()
        result = work()
        clock, after = time.perf_counter() - start, watched.spent()
        taken[stage] = {"by the clock": clock} | {who: after[who] - before[who] for who in before}
        return result

    with timed("survey", lambda: open_spark(source, outcome="outcome", forecasts=MODELS)) as engine:
        engine.rows_per_part = -(-engine.survey.rows // _PARTS)
        plan = make_plan(engine)
        timed("digest", lambda: engine.digest(MODELS[0], plan))
        timed("scan", lambda: engine.reduce(count_events, "counting events"))
    return taken


def make_plan(engine: SparkEngine) -> DigestPlan:
    """Return a digest plan with about as many counted forecasts as that of an evaluation."""
    survey = engine.survey
    return DigestPlan(
        total=survey.total,
        events=survey.events,
        measures=(("brier", ()), ("log_loss", ())),
        edges=np.linspace(0, 1, 1001),
        ranks=np.linspace(0, survey.total - 1, 16_384).round(),
        jumps=1000,
    )


def count_events(batch: Batch) -> Sums:
    """Return the number of events, the smallest sum to collect."""
    return (np.array([batch.y.sum()]),)


def main() -> None:
    """Start Spark, run all stages twice, and print the times of the second run."""
    (source,) = sys.argv[1:]
    os.environ |= {"PYSPARK_SUBMIT_ARGS": _SUBMIT, "SPARK_LOCAL_IP": "127.0.0.1"}
    start = time.perf_counter()
    with ExitStack() as stack:
        stack.callback(connect_spark(source, None).close)  # both runs use this session, and leave it open
        watched = Watched(find_java())
        with watched.watching():
            run_stages(source, watched)
            stages = run_stages(source, watched)
    seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "held": most_held(), "stages": stages, "most": watched.most_held}))


def find_java() -> int:
    """Return the process ID of the Java process that pyspark started."""
    from pyspark import SparkContext

    gateway: Any = SparkContext._gateway
    return int(gateway.proc.pid)


if __name__ == "__main__":
    main()
