"""What the page says in words."""

from __future__ import annotations

HEAD = """# Performance

How fast scorereport is, how much memory it takes, and where other packages stop. All numbers come from
`make bench`, which writes this page. {machine}.

Times on one machine say little about another, so every promise is a **ratio**: two things timed by
turns in the same run, the shortest time of each. A ratio in bold breaks its limit. “Per row” is the
time divided by the number of rows, in nanoseconds (ns, a thousand-millionth of a second). Memory is the
most that a fresh process ever held at once, with Python and all libraries in it.
"""

TEXTS = {
    "large": (
        "Larger than memory",
        """Rows are forecasts drawn evenly between 0 and 1 with calibrated outcomes, in one Parquet
file. The engine for data larger than memory uses DuckDB, a database that runs inside the program, with
two threads and a limit of 1 GB. It checks every row, computes the fingerprint of the file, sorts the
rows on disk and folds them into the isotonic fit and the exact decomposition of the Brier score. It is
held against the least that could be done: DuckDB's own `SELECT forecast, outcome … ORDER BY forecast`
under the same limits, read batch by batch and thrown away. Before the clock starts, the blocks of the
fit at the smallest size are compared with those of the fit in memory; one bit of difference would stop
the benchmark.

The fitted exponent is the slope of a straight line through the logarithms of time and rows at the three
sizes, by least squares, with nothing subtracted: 1 would mean that ten times the rows take ten times as
long. A sort that compares rows grows like n log n, which is a little more than 1 at these sizes. At the
smallest size starting up weighs most, which makes the exponent smaller.

The whole evaluation has all scores with intervals, curves, bands and tests of one model. What it does
with data larger than memory is told in [large-data.md](large-data.md), and what 10,000,000,000 rows
would cost on a Spark cluster in [spark-plan.md](spark-plan.md).""",
    ),
    "spark": (
        "On Spark",
        """Three models in one Parquet file, on this machine alone, with all its cores, after a first turn
that warms Java up. Every stage has its time by the clock and the time that all processors spent on it,
in Java and in Python: that is what a cluster divides among its cores, and what
[spark-plan.md](spark-plan.md) multiplies.""",
    ),
    "engine": (
        "In memory: fit and decomposition",
        """The isotonic fit and the decomposition of the Brier score of a million forecasts, against a
sort of the forecasts by numpy, without which there is no fit, and against other programs.""",
    ),
    "bands": (
        "In memory: bands",
        """A resampled band draws many samples and fits each of them again. Its cost is told per row
and resample, against one sort by numpy.""",
    ),
    "memory": (
        "In memory: whole reports",
        """The most that a process held which read three models on ten million rows from a Parquet file,
evaluated them in memory and wrote the report as PDF. The number of resamples does not change it.""",
    ),
}

PEERS_HEAD = """## Other packages

The same rows for all, each package in a fresh process that may use {seconds} s and {memory} GB of
addresses (memory that was asked for, whether used or not). Arrays of outcomes and forecasts, 16 bytes a
row, are in memory before the clock starts; only the engine for data larger than memory reads its
Parquet file and checks the rows within its time. The shortest of three runs counts, of fewer where they
take more than 5 s together. A package that fails is not asked for larger sizes.
`python -m validation.benchmarks peers` repeats it.
"""

WORKS = {
    "decompose": """**Isotonic fit and decomposition of the Brier score.** reliabilitydiag (R) and
model-diagnostics offer both; for scikit-learn (IsotonicRegression, brier_score_loss) and scores
(isotonic_fit, brier_score) the three parts are put together from the scores they give.""",
    "band": """**The same with a band by 100 resamples.** reliabilitydiag and scorereport draw a
consistency band, scores the confidence band that it has. scikit-learn has no band; model-diagnostics
draws one into a picture but does not give its numbers.""",
}

REPEAT = """## How to repeat it

`make bench` runs everything, in about half an hour, writes `validation/benchmarks/results/latest.json`
and `peers.json` for machines, and this page. `python -m validation.benchmarks large peers` runs some
benchmarks and keeps the results of the others. `--data FOLDER` keeps the large samples for the next
run. The largest sample needs 6 GB of free disk; where there is less, it is skipped and says so. To try
it quickly: `SCOREREPORT_BENCH_ROWS=1e6 python -m validation.benchmarks large peers`, which leaves this
page alone.
"""

OTHERS = (
    "Everything else",
    """Start, several classes, audits, certificates and rendering, each with its limit.""",
)
