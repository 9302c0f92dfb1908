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
    "whole": (
        "Whole evaluations, reports and audits",
        """What users wait for, with default settings: all scores with intervals, curves, bands, tests and
comparisons of three models, read from a Parquet file. Every measurement is a fresh process. “Ours” is
**processor time**, of all threads and of all processes that are started, R included, because other programs
on the machine do not change it much. `evaluate` is measured after a first evaluation of 1,000 rows, so
imports are not included; `report` and `audit run` are measured as commands, imports included. By default an
audit asks R if it is installed; the goal is for a run without R, and a run with the certificate of R is
shown as well.

Goals in processor seconds are turned into limits on the ratio to a stable `np.sort` of one column of
forecasts with as many rows, timed in the same process or right after the command: the goal divided by the
time of this sort on the machine for which the goals were set, with a quarter added, because both times vary.
A sort that takes less than 0.05 s is repeated until it takes as long, and the shortest of five turns counts.
Of evaluations of 10,000 rows the shortest of three counts, of commands the shortest of two or three. A sort
that is not stable would take a quarter of the time on processors with wide vector instructions.

The DuckDB engine leaves out some results (see [large-data.md](large-data.md)). A second ratio is without the
time of these in memory: smooth calibration errors, the flexible curve, the interval of the ECE,
recalibration, parts of miscalibration, Murphy differences and comparisons of net benefit. Nor does it include
the overfit by draws, which the engine has in closed form. Rows with sampling weights, or in clusters, and
ordered classes are compared with three binary models of as many independent rows.

The fitted exponent is the slope of a straight line through the logarithms of processor time and rows, by
least squares. The start on 1,000 rows is limited in seconds by the clock on two quiet cores; if other
programs make the time by the clock longer than the processor time, the processor time counts.""",
    ),
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

DIAGRAMS = """## Other packages: reliability diagrams

What a user asks for in one go: reliability diagrams of three models in a PDF file, with bands by 100
resamples, and the decomposition of their Brier scores. The rules are those of the tables above. No other
package gives more than this, and most give less:

- scorereport evaluates the three models as a whole (`evaluate` with `resamples=100`), with all scores,
  intervals, tests, curves and comparisons of a report, and draws the diagram of each model with its bands;
- reliabilitydiag (R) gives the diagram with consistency bands, and the decomposition;
- model-diagnostics gives the diagram with confidence bands, and the decomposition;
- scikit-learn (`CalibrationDisplay`) gives a diagram by ten bins without a band; the components are computed
  from its isotonic regression;
- scores gives the numbers of an isotonic fit with confidence bands and draws nothing; the components are
  computed from its scores.

`python -m validation.benchmarks diagrams` repeats this comparison.
"""

REPEAT = """## How to repeat the benchmarks

`make bench` runs everything, in about an hour, writes `validation/benchmarks/results/latest.json`
and `peers.json`, and this page. `python -m validation.benchmarks large peers` runs some
benchmarks and keeps the results of the others; a section without results on this machine stays as it is.
`--data FOLDER` keeps the large samples for the next
run. The largest sample needs 6 GB of free disk; with less, it is skipped, and the output states the reason.
For a quick trial, use `SCOREREPORT_BENCH_ROWS=1e6 python -m validation.benchmarks large peers`, which does
not write this page.
"""

OTHERS = (
    "Everything else",
    """Start, several classes, audits, certificates and rendering, each with its limit.""",
)
