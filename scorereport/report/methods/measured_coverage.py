"""Measured coverage of intervals, bands and tests: the summary of the coverage study, by method."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from scorereport._utils import json_documents
from scorereport._utils.files import find_package_folder
from scorereport._utils.formatting import format_count, format_number, format_plain

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from scorereport.report.report_record import Report
    from scorereport.results.evaluation import Evaluation

#: The file of the summary, which `python -m validation.coverage` writes.
SUMMARY_FILE = "coverage-summary.json"
#: Designs of samples that the study examines.
ROWS, CLUSTERS, WEIGHTS, TIMES = "independent rows", "clusters", "sampling weights", "rows in time"
#: The key of the alarms of audits, which are not in the catalogue of methods.
DRIFT = "drift"
#: Kinds of models that a line is for.
BINARY, CLASSES = "binary", "classes"
#: Methods that infer and that the study does not contain, by their key in the catalogue.
NOT_STUDIED = (
    "line",
    "percentile bootstrap",
    "percentile from the influence",
    "retention interval",
    "grouped jackknife",
    "jackknife difference",
    "jackknife bracket",
    "closed overfit",
    "Spiegelhalter's z in buckets",
    "Calibration in the large in buckets",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredCoverage:
    """How often a method covered, or a test rejected a true hypothesis, in the samples of the study.

    `keys` are those of the method in the catalogue. `lowest` and `highest` are shares over `cells`, pairs of
    a setting and a sample size, and `error` is their largest Monte-Carlo error. `sizes` are the smallest and
    the largest number of units. The worst cell is that with the lowest coverage or the most rejections.
    """

    method: str
    keys: tuple[str, ...]
    kinds: tuple[str, ...]
    design: str
    is_test: bool
    nominal: float
    lowest: float
    highest: float
    error: float
    cells: int
    sizes: tuple[int, int]
    unit: str
    worst_value: float
    worst_error: float
    worst_case: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageSummary:
    """The summary of the study: its date, the versions it ran with, and a line for each method."""

    written: str
    versions: dict[str, str]
    lines: tuple[MeasuredCoverage, ...]


#: Titles of the two parts of the summary, and whether each has the tests.
SUMMARY_TITLES = {
    "Intervals and bands: how often they cover the true value or curve": False,
    "Tests and verdicts: how often they reject a true hypothesis": True,
}


def format_nominal(line: MeasuredCoverage) -> str:
    """Format the nominal level in percent."""
    return format_plain(100 * line.nominal)


def format_range(line: MeasuredCoverage) -> str:
    """Format the range over all cells in percent, with the largest Monte-Carlo error."""
    ends = dict.fromkeys(format_number(100 * end, 1) for end in (line.lowest, line.highest))
    return f"{' to '.join(ends)} ±{format_number(100 * line.error, 1)}"


def format_sizes(line: MeasuredCoverage) -> str:
    """Format the sample sizes of the study."""
    return f"{' to '.join(dict.fromkeys(map(format_count, line.sizes)))} {line.unit}"


def format_worst(line: MeasuredCoverage) -> str:
    """Format the worst cell: its share in percent, its Monte-Carlo error, and its setting in words."""
    value, error = format_number(100 * line.worst_value, 1), format_number(100 * line.worst_error, 1)
    return f"{value} ±{error}: {line.worst_case}"


@cache
def read_coverage() -> tuple[MeasuredCoverage, ...]:
    """Return all lines of the summary of the study."""
    path = find_package_folder("recorded") / SUMMARY_FILE
    return json_documents.load(CoverageSummary, path.read_bytes(), path.name).lines


def find_coverage(report: Report, keys: Collection[str]) -> list[MeasuredCoverage]:
    """Return the lines for methods with these keys, for samples of the design of this report."""
    kind = BINARY if report.evaluation.kind == "binary" else CLASSES
    known = {*keys, DRIFT} if report.trend is not None else {*keys}
    found = [line for line in read_coverage() if kind in line.kinds and known.intersection(line.keys)]
    designs = find_designs(report.evaluation)
    in_time = {key for line in found for key in line.keys if line.design == TIMES}
    treated = [line for line in found if line.design in designs or DRIFT in line.keys]
    if TIMES not in designs:
        return treated
    # Only these allow for dependence in time; all others treat rows as independent.
    return [line for line in treated if line.design == TIMES or not in_time.intersection(line.keys)]


def find_not_studied(keys: Sequence[str], found: Collection[MeasuredCoverage]) -> list[str]:
    """Return the keys of methods that infer and have no line among those found, in their order."""
    infer = {key for line in read_coverage() for key in line.keys}.union(NOT_STUDIED)
    studied = {key for line in found for key in line.keys}
    return [key for key in dict.fromkeys(keys) if key in infer - studied]


def find_designs(evaluation: Evaluation) -> tuple[str, ...]:
    """Return the designs of the sample: clusters, sampling weights, times, or independent rows."""
    differences = evaluation.comparisons.differences
    in_time = any("errors in time" in d.method or "HAC" in d.method for d in differences)
    holds = {
        CLUSTERS: evaluation.data.clusters is not None,
        WEIGHTS: evaluation.data.weight_kind == "sampling",
    }
    dependent = tuple(design for design, is_so in holds.items() if is_so)
    return (*(dependent or (ROWS,)), *((TIMES,) if in_time else ()))
