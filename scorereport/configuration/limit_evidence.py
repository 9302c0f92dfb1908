"""Whether a sample has enough cases for an interval to decide on a limit, and exact bounds where it has not.

Below `FEWEST_CASES` events or non-events an interval rests on chance events that did or did not happen. Then
a limit is settled only by an exact bound, which holds for every distribution of the scores: that of Clopper
and Pearson for a rate, that of Hoeffding for a mean of scores with a least and a largest value. Of clusters
it is Hoeffding's, with the number of clusters that there would be of equal weight. Where sampling weights
vary there is none: by simulation, a bound with Kish's number of cases fails in 8 to 22 % of samples, not 2.5.

References
----------
Clopper, Pearson (1934), Biometrika 26, doi:10.1093/biomet/26.4.404
Hoeffding (1963), J. Am. Stat. Assoc. 58, doi:10.1080/01621459.1963.10500830, theorem 1
"""

from __future__ import annotations

import math
from typing import NamedTuple

from scipy.optimize import brentq
from scipy.special import kl_div

from scorereport._utils.formatting import format_counted
from scorereport.configuration.measure_limits import LimitMeasure, MeasurePart
from scorereport.inference.rare_cases import exact_share
from scorereport.results.model_records import IndependentCases, SampleSummary
from scorereport.scores import REGISTRY

#: With fewer events, or non-events, an interval does not settle a limit.
FEWEST_CASES = 10
#: Means of 0 and 1 that a case scores.
_RATES = ("misclassification", "accuracy")
#: What is a mean over classes needs cases of each of them.
_OVER_CLASSES = ("macro_f1",)
#: A number of errors this near to a whole one is whole.
_ROUNDING = 1e-9


class Evidence(NamedTuple):
    """The independent cases of a sample, and those of the rarer kind, in number and words.

    `cases` is NaN where weights vary, so that no exact bound can be had.
    """

    cases: float
    fewest: float
    describes: str
    unit: str = "row"

    @property
    def is_enough(self) -> bool:
        """Whether an interval may settle a limit."""
        return not self.fewest < FEWEST_CASES - _ROUNDING


def find_evidence(sample: SampleSummary, measure: LimitMeasure) -> Evidence:
    """The cases of a sample that count for a measure."""
    found = sample.independent or _take_rows(sample)
    if found.classes:
        return _count_classes(found, sample, measure)
    fewest, what = min((found.events, "event"), (found.non_events, "non-event"))
    return Evidence(
        _count_alike(found, sample), fewest, _describe(fewest, what, found.unit, sample), found.unit
    )


def _count_alike(found: IndependentCases, sample: SampleSummary) -> float:
    """The independent cases, or NaN if rows carry weights that vary."""
    is_alike = any(math.isclose(found.total, n) for n in (sample.total, sample.rows))
    return found.total if found.unit == "cluster" or is_alike else math.nan


def _take_rows(sample: SampleSummary) -> IndependentCases:
    """The cases of results that do not say how many are independent."""
    return IndependentCases(
        unit="row",
        total=sample.total,
        events=sample.events,
        non_events=sample.total - sample.events,
        classes=sample.classes,
    )


def _describe(fewest: float, what: str, unit: str, sample: SampleSummary) -> str:
    if not fewest:
        return f"There are no {what}s"
    if unit == "cluster":
        return _describe_clusters(fewest, f"with {what}s")
    weight = sample.events if what == "event" else sample.total - sample.events
    if math.isclose(fewest, weight):
        return f"Only {format_counted(fewest, what)}"
    return f"Only {format_counted(_round_down(fewest), what)} (effective number of weighted rows)"


def _describe_clusters(fewest: float, which: str) -> str:
    if math.isclose(fewest, round(fewest)):
        return f"Only {format_counted(round(fewest), 'cluster')} {which}"
    return f"The clusters {which} count as {_round_down(fewest):.1f} of equal size"


def _round_down(fewest: float) -> float:
    """A number that does not look like the one that would do: 9.97 is shown as 9.9."""
    return math.floor(10 * fewest) / 10


def _count_classes(found: IndependentCases, sample: SampleSummary, measure: LimitMeasure) -> Evidence:
    """Cases outside the most frequent class or, for means over classes, those of the rarest one observed."""
    if measure.score in _OVER_CLASSES:
        fewest, which = min(cases for cases in found.classes if cases > 0), "of the rarest class"
    else:
        fewest = min(sum(found.classes) - max(found.classes), found.total)
        which = "outside the most frequent class"
    describes = _describe_class_cases(fewest, found.unit, which)
    return Evidence(_count_alike(found, sample), fewest, describes, found.unit)


def _describe_class_cases(fewest: float, unit: str, which: str) -> str:
    if not fewest:
        return f"There is no {unit} {which}"
    if unit == "cluster":
        return _describe_clusters(fewest, f"with cases {which}")
    return f"Only {format_counted(_round_down(fewest), unit)} {which}"


def exact_bounds(
    measure: LimitMeasure, value: float, cases: float, level: float, unit: str = "row"
) -> tuple[float, float] | None:
    """Bounds of a number that hold at the level for every distribution of scores; None if there are none.

    The mean of a cluster is any number between the least and the largest score: its rates are means.

    >>> from scorereport.configuration.measure_limits import MEASURES
    >>> lower, upper = exact_bounds(MEASURES["brier"], 0.0, 30, 0.95)
    >>> lower, round(upper, 4)  # as for a rate: 1 - 0.025**(1/30)
    (0.0, 0.1157)
    >>> exact_bounds(MEASURES["log_loss"], 0.0, 30, 0.95) is None
    True
    """
    if not math.isfinite(value) or not cases >= 1:
        return None
    is_rate = measure.part is MeasurePart.SAMPLE or (
        measure.part is MeasurePart.MEAN and measure.score in _RATES
    )
    if is_rate and unit == "row":
        happened = value * cases
        if abs(happened - round(happened)) <= _ROUNDING * cases or measure.part is MeasurePart.SAMPLE:
            return exact_share(value, cases, level)
    low, high = measure.lower, measure.upper
    is_mean = is_rate or (measure.part is MeasurePart.MEAN and REGISTRY[measure.score].per_case)
    if not is_mean or math.isinf(low) or math.isinf(high):
        return None
    mean = min(max((value - low) / (high - low), 0.0), 1.0)
    lower, upper = 1 - _hoeffding(1 - mean, cases, level), _hoeffding(mean, cases, level)
    return low + (high - low) * lower, low + (high - low) * upper


def _hoeffding(mean: float, cases: float, level: float) -> float:
    """The largest m at which a mean of n scores in [0, 1] as small as this is not too unlikely.

    Its probability is at most exp(-n KL(mean, m)), with KL the divergence of Bernoulli distributions.
    """
    most = math.log(2 / (1 - level)) / cases

    def excess(m: float) -> float:
        return float(kl_div(mean, m) + kl_div(1 - mean, 1 - m)) - most

    highest = 1 - 1e-15
    if mean >= highest or excess(highest) <= 0:
        return 1.0
    return float(brentq(excess, mean, highest, xtol=1e-15, rtol=1e-14))
