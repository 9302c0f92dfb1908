"""Texts of the page docs/performance.md."""

from __future__ import annotations

HEAD = """# Performance

How fast scorereport is, how much memory it uses, and the sizes at which other packages fail. All numbers come
from `make bench`, which writes this page; the [glossary](glossary.md) defines terms such as
[engine](glossary.md#engine), [block](glossary.md#block) and [decomposition](glossary.md#decomposition).

{machine}.

Times on one machine do not transfer to another, so every limit is on a **ratio**: two things are timed in
turns in the same run, and the shortest time of each counts. A ratio in bold breaks its limit. “Per row” is
the time divided by the number of rows, in nanoseconds (ns, 1e-9 seconds). Memory is the peak memory of a
fresh process, including Python and all libraries.
"""

TEXTS = {
    "large": (
        "Larger than memory",
        """Rows are forecasts drawn uniformly between 0 and 1 with calibrated outcomes, in one Parquet
file. The engine for data larger than memory uses DuckDB, a database that runs inside the program, with
two threads and a limit of 1 GB. It checks every row, computes the hash of the file, sorts the
rows on disk and computes the isotonic fit and the exact decomposition of the Brier score. It is compared
with the minimum work: DuckDB's own `SELECT forecast, outcome … ORDER BY forecast` under the same limits, read
batch by batch and discarded. Before the clock starts, the blocks of the fit at the smallest size are compared
with those of the fit in memory; a difference of one bit would stop the benchmark.

The fitted exponent is the slope of a straight line through the logarithms of time and rows at the three
sizes, by least squares, with nothing subtracted: 1 would mean that ten times the rows take ten times as
long. A sort that compares rows grows like n log n, which is a little more than 1 at these sizes. At the
smallest size the start-up time has the largest share, which makes the exponent smaller.

The whole evaluation has all scores with intervals, curves, bands and tests of one model.
[large-data.md](large-data.md) describes its methods for data larger than memory, and
[spark-plan.md](spark-plan.md) estimates the cost of 10,000,000,000 rows on a Spark cluster.""",
    ),
    "spark": (
        "On Spark",
        """Three models in one Parquet file, on this machine alone, with all its cores, after a first run
that warms Java up. For every stage the table shows the time by the clock and the time that all processors
spent on it, in Java and in Python. A cluster divides this processor time among its cores, and
[spark-plan.md](spark-plan.md) multiplies it.""",
    ),
    "engine": (
        "In memory: fit and decomposition",
        """The isotonic fit and the decomposition of the Brier score of a million forecasts, against a
sort of the forecasts by numpy, without which there is no fit, and against other programs.""",
    ),
    "bands": (
        "In memory: bands",
        """A resampled band draws many samples and fits each of them again. Its cost is stated per row
and resample, against one sort by numpy.""",
    ),
    "memory": (
        "In memory: whole reports",
        """The peak memory of a process that reads three models on ten million rows from a Parquet file,
evaluates them in memory and writes the report as PDF. The number of resamples does not change it.""",
    ),
}

PEERS_HEAD = """## Other packages

The same rows for all, each package in a fresh process that may use {seconds} s and {memory} GB of
address space (memory requested, whether used or not). Arrays of outcomes and forecasts, 16 bytes a
row, are in memory before the clock starts; only the engine for data larger than memory reads its
Parquet file and checks the rows within the measured time. The shortest of three runs counts, or of fewer
runs if they take more than 5 s together. A package that fails is not run at larger sizes.
`python -m validation.benchmarks peers` repeats this comparison.
"""

WORKS = {
    "decompose": """**Isotonic fit and decomposition of the Brier score.** reliabilitydiag (R) and
model-diagnostics offer both; for scikit-learn (IsotonicRegression, brier_score_loss) and scores
(isotonic_fit, brier_score) the three components are computed from their scores.""",
    "band": """**The same with a band by 100 resamples.** reliabilitydiag and scorereport draw a
consistency band, scores draws its confidence band. scikit-learn has no band; model-diagnostics
plots one but does not return its numbers.""",
}

REPEAT = """## How to repeat the benchmarks

`make bench` runs everything, in about half an hour, writes `validation/benchmarks/results/latest.json`
and `peers.json`, and this page. `python -m validation.benchmarks large peers` runs some
benchmarks and keeps the results of the others. `--data FOLDER` keeps the large samples for the next
run. The largest sample needs 6 GB of free disk; with less, it is skipped, and the output states the reason.
For a quick trial, use `SCOREREPORT_BENCH_ROWS=1e6 python -m validation.benchmarks large peers`, which does
not write this page.
"""

OTHERS = (
    "Everything else",
    """Start, several classes, audits, certificates and rendering, each with its limit.""",
)
