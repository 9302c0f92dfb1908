"""Whether a sample has enough cases to judge a limit on an interval, and exact bounds if it has not.

With fewer than `FEWEST_CASES` events or non-events, an interval depends on a few chance outcomes. A limit is
then judged only by an exact bound, which holds for every distribution of the scores: that of Clopper and
Pearson for a rate, that of Hoeffding for a mean of scores with a smallest and a largest value. For clusters
it is Hoeffding's, with the effective number of clusters (of equal weight). If sampling weights vary, there is
none: by simulation, a bound with Kish's number of cases fails in 8 to 22 % of samples instead of 2.5 %.

References
----------
Clopper, Pearson (1934), Biometrika 26, doi:10.1093/biomet/26.4.404
Hoeffding (1963), J. Am. Stat. Assoc. 58, doi:10.1080/01621459.1963.10500830, theorem 1
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from scipy.optimize import brentq
from scipy.special import kl_div

from scorereport._utils.formatting import format_counted, format_number
from scorereport.configuration.limit_numbers import CountedCases, count_independent
from scorereport.configuration.limit_records import EvidenceRule, ExactBound, LimitMeasure
from scorereport.inference.rare_cases import exact_share

if TYPE_CHECKING:
    from scorereport.results.model_records import IndependentCases, SampleSummary

#: With fewer events or non-events, an interval is not enough to judge a limit.
FEWEST_CASES = 10
#: A number of errors this near a whole number is whole.
_ROUNDING = 1e-9


class CaseCounts(NamedTuple):
    """The number of independent cases of a sample, and of those of the rarer kind, with a description.

    `cases` is NaN if weights vary, because there is no exact bound then.
    """

    cases: float
    fewest: float
    describes: str
    unit: str = "row"

    @property
    def is_enough(self) -> bool:
        """Whether an interval is enough to judge a limit."""
        return not self.fewest < FEWEST_CASES - _ROUNDING


def find_evidence(
    sample: SampleSummary, measure: LimitMeasure, cases: CountedCases | None = None
) -> CaseCounts:
    """The cases of a sample that count for a measure; `cases` are those to which its number refers."""
    found = count_independent(sample)
    if measure.evidence is EvidenceRule.NONE:
        return CaseCounts(math.nan, math.inf, "", found.unit)
    if cases is not None:
        return _count_found(found, sample, measure, cases)
    if found.classes:
        return _count_classes(found, sample, measure)
    fewest, what = min((found.events, "event"), (found.non_events, "non-event"))
    return CaseCounts(
        _count_alike(found, sample), fewest, _describe(fewest, what, found.unit, sample), found.unit
    )


def _count_alike(found: IndependentCases, sample: SampleSummary) -> float:
    """The number of independent cases, or NaN if rows have weights that vary."""
    is_alike = any(math.isclose(found.total, n) for n in (sample.total, sample.rows))
    return found.total if found.unit == "cluster" or is_alike else math.nan


def _count_found(
    found: IndependentCases, sample: SampleSummary, measure: LimitMeasure, cases: CountedCases
) -> CaseCounts:
    """The cases to which a number refers; a rate among them has an exact bound if they are rows."""
    number, noun = cases
    fewest = round(number) if math.isclose(number, round(number), rel_tol=_ROUNDING) else number
    describes = f"There is no {noun}" if not fewest else f"Only {_count_nouns(_round_down(fewest), noun)}"
    alike = _count_alike(found, sample)
    if measure.exact is ExactBound.RATE_AMONG:
        alike = fewest if found.unit == "row" and not math.isnan(alike) else math.nan
    return CaseCounts(alike, fewest, describes, found.unit)


def _count_nouns(number: float, noun: str) -> str:
    """The number with its noun, of which the first word is counted."""
    first, space, rest = noun.partition(" ")
    return f"{format_counted(number, first)}{space}{rest}"


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
    return f"The clusters {which} count as {format_number(_round_down(fewest), 1)} of equal size"


def _round_down(fewest: float) -> float:
    """The number rounded down, so that it does not look sufficient: 9.97 is shown as 9.9."""
    return math.floor(10 * fewest) / 10


def _count_classes(found: IndependentCases, sample: SampleSummary, measure: LimitMeasure) -> CaseCounts:
    """Cases outside the most frequent class or, for means over classes, of the rarest observed class."""
    if measure.evidence is EvidenceRule.RAREST_CLASS:
        fewest, which = min(cases for cases in found.classes if cases > 0), "of the rarest class"
    else:
        fewest = min(sum(found.classes) - max(found.classes), found.total)
        which = "outside the most frequent class"
    describes = _describe_class_cases(fewest, found.unit, which)
    return CaseCounts(_count_alike(found, sample), fewest, describes, found.unit)


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

    The mean of a cluster is any number between the smallest and the largest score: its rates are means.

    >>> from scorereport.configuration.measure_limits import MEASURES
    >>> lower, upper = exact_bounds(MEASURES["brier"], 0.0, 30, 0.95)
    >>> lower, round(upper, 4)  # as for a rate: 1 - 0.025**(1/30)
    (0.0, 0.1157)
    >>> exact_bounds(MEASURES["log_loss"], 0.0, 30, 0.95) is None
    True
    """
    if not math.isfinite(value) or not cases >= 1:
        return None
    is_rate = measure.exact in (ExactBound.RATE, ExactBound.RATE_AMONG)
    if is_rate and unit == "row":
        count = value * cases
        if abs(count - round(count)) <= _ROUNDING * cases or measure.score == "":
            return exact_share(value, cases, level)
    low, high = measure.lower, measure.upper
    if measure.exact not in (ExactBound.RATE, ExactBound.MEAN):
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
