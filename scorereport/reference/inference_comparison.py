"""Comparison of calibration lines, tests, intervals and differences of models with base R.

Intervals whose ends are drawn at random are compared by their standard error, within its Monte-Carlo error.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.formatting import format_count, format_counted
from scorereport.inference.bootstrap_results import FROM_INFLUENCE
from scorereport.inference.differences import AUC
from scorereport.inference.time_errors import AUTOCORRELATION
from scorereport.reference.comparison_records import Comparison, Verdict, compare_relatively
from scorereport.reference.inference_questions import InferenceAnswer, InferenceQuestion, names_of
from scorereport.reference.model_comparison import BASE_SOURCE
from scorereport.scores.registry import Direction, get_score

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike

    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.estimates import Difference, Estimate, HypothesisTest
    from scorereport.results.evaluation import Evaluation
    from scorereport.results.model_records import ModelResult, SampleSummary, ScoreValue

#: The difference that two correct implementations may have, relative to each number; and what rounding adds
#: to a statistic, in standard errors, and to a likelihood ratio, in units of the likelihood.
RELATIVE, STATISTIC_NOISE, LIKELIHOOD_NOISE = 3e-8, 1e-11, 1e-14
#: What rounding adds to an area or a skill, which is a difference of two numbers around 1.
_AREA_NOISE = 1e-14
#: Monte-Carlo errors by which the error of resamples may differ from the exact one, if they are as many.
_MONTE_CARLO, _FEWEST_RESAMPLES = 5.0, 100
LINE, TESTS = "calibration line", "tests of calibration"
INTERVALS, DIFFERENCES = "intervals", "differences of models"
_JOINT = "line.unreliability"
#: For each test, the name of R's answer, and the places of statistic, p-value and degrees of freedom.
_TESTS = {
    "Spiegelhalter's z": ("sums.spiegelhalter", 0, 1, None),
    "Calibration in the large": ("sums.in_the_large", 0, 1, None),
    "Calibration slope": ("line.slope", 4, 5, None),
    "Calibration intercept at slope 1": ("line.intercept_at_slope_one", 4, 5, None),
    "Unreliability": (_JOINT, 0, 1, None),
    "Hosmer-Lemeshow": ("tenths.hosmer_lemeshow", 0, 1, 2),
    AUTOCORRELATION: ("time.autocorrelation", 0, 1, 2),
}
#: Places of a limit of a score's interval among R's numbers.
_LIMITS = {"bca": slice(2, 4), "percentile": slice(4, 6)}
DRAWN = "The ends come from random resamples; the standard errors of mean scores are compared."
_WIDENED_REASON = "The ends are widened for rare cases, or for few clusters; the standard error is compared."
ENGINE = "This engine computes errors from buckets of rows, base R from the rows."
_HOTELLING = (
    "With clusters or weights its p-value is that of Hotelling's distribution, which R is not asked for."
)
_FEW_DRAWS = (
    "R does not compute the degrees of freedom that decide whether there is a test of two parameters."
)
#: Errors of R about samples that its script does not cover.
_BEYOND_R = ("glm did not converge", "one draw determines a coefficient alone")
_NOT_ASKED = "R is not asked for this with clusters or weights."


@dataclass(frozen=True, kw_only=True, eq=False)
class InferenceComparer:
    """Compares numbers of an evaluation with R's answer about one model, or about all, by name."""

    subject: str
    prefix: str
    answer: InferenceAnswer

    def find(self, name: str) -> FloatArray | None:
        """Numbers of the answer about this model; None if there are none."""
        return self.answer.find(f"{self.prefix}{name}")

    def match(
        self, quantity: str, ours: ArrayLike, theirs: ArrayLike, *, noise: ArrayLike = 0.0
    ) -> Comparison:
        """A line that compares numbers, each relative to its size."""
        line = compare_relatively(self.subject, quantity, ours, theirs, relative=RELATIVE, noise=noise)
        return replace(line, source=BASE_SOURCE)

    def state(self, quantity: str, verdict: Verdict, reason: str) -> Comparison:
        """A line without numbers."""
        return Comparison(
            subject=self.subject, quantity=quantity, verdict=verdict, reason=reason, source=BASE_SOURCE
        )

    def miss(self, quantity: str, name: str, reason: str = _NOT_ASKED) -> Comparison:
        """A line about numbers that R did not give: it failed, or was not asked for them."""
        problem = self.answer.problem(f"{self.prefix}{name.partition('.')[0]}")
        is_failure = bool(problem) and problem not in _BEYOND_R
        return self.state(quantity, Verdict.FAILED if is_failure else Verdict.NOT_COMPARED, problem or reason)

    def match_named(
        self,
        quantity: str,
        ours: ArrayLike,
        name: str,
        *,
        noise: ArrayLike = 0.0,
        places: slice = slice(None),
    ) -> Comparison:
        """A line that compares numbers with those of R's answer by name."""
        theirs = self.find(name)
        if theirs is None:
            return self.miss(quantity, name)
        return self.match(quantity, ours, theirs[places], noise=noise)


def numbers_of(estimate: Estimate) -> list[float]:
    """Value, standard error and limits."""
    return [estimate.value, estimate.standard_error, estimate.lower, estimate.upper]


# ---- Calibration ----


def compare_calibration(
    comparer: InferenceComparer, result: ModelResult, *, has_rows: bool
) -> Iterator[Comparison]:
    """Compare the calibration line and the tests of calibration of a model.

    With `has_rows` False, an engine computed errors from buckets, and likelihood ratios from rows.
    """
    c, calibration = comparer, result.calibration
    if calibration is None:
        yield c.state(LINE, Verdict.DIFFERS, "The evaluation has no calibration line and no tests.")
        return
    for name in ("slope", "intercept", "intercept_at_slope_one"):
        estimate: Estimate = getattr(calibration.line, name)
        quantity = f"{LINE}: {estimate.measure.removeprefix('calibration ')}"
        theirs = c.find(f"line.{name}")
        if theirs is None:
            yield c.miss(quantity, "line")
        elif has_rows:
            noise = STATISTIC_NOISE * np.nan_to_num(theirs[1])
            ours, expected = numbers_of(estimate), theirs[:4]
            if estimate.degrees_of_freedom is not None:
                ours, expected = [*ours, estimate.degrees_of_freedom], np.append(expected, theirs[6])
            yield c.match(f"{quantity} with error and limits", ours, expected, noise=noise)
        else:
            noise = STATISTIC_NOISE * np.nan_to_num(theirs[1])
            yield c.match(quantity, estimate.value, theirs[0], noise=noise)
    if not has_rows:
        yield c.state(TESTS, Verdict.NOT_COMPARED, ENGINE)
        return
    for test in calibration.tests:
        yield from _compare_test(c, test)


def _compare_test(c: InferenceComparer, test: HypothesisTest) -> Iterator[Comparison]:
    """Compare a test: statistic, p-value, degrees of freedom, and the p-value adjusted over models."""
    quantity = f"{TESTS}: {test.name}"
    if test.name not in _TESTS:
        yield c.state(quantity, Verdict.NOT_COMPARED, "R is not asked for this test.")
        return
    name, at, at_p, at_freedom = _TESTS[test.name]
    theirs = c.find(name)
    if theirs is None:
        yield c.miss(quantity, name)
        return
    if np.isnan(test.statistic) and name == _JOINT and len(theirs) == 1:
        yield c.state(quantity, Verdict.NOT_COMPARED, _FEW_DRAWS)
        return
    noise = STATISTIC_NOISE + LIKELIHOOD_NOISE * test.n * (name == _JOINT)
    yield c.match(quantity, test.statistic, theirs[at], noise=noise)
    if at_p >= len(theirs):
        yield c.state(f"{quantity}, p-value", Verdict.NOT_COMPARED, _HOTELLING)
        return
    noise = noise * (1 + abs(float(np.nan_to_num(theirs[at]))))
    yield c.match(f"{quantity}, p-value", test.p_value, theirs[at_p], noise=_noise_of(theirs[at_p], noise))
    if at_freedom is not None:
        yield c.match(
            f"{quantity}, degrees of freedom", float(test.degrees_of_freedom or 0), theirs[at_freedom]
        )
    adjusted = c.answer.find(f"holm.{name}")
    if test.p_value_holm is not None and adjusted is not None:
        own = adjusted[int(c.prefix[1:-1]) - 1]
        quantity = f"{quantity}, p-value adjusted by Holm"
        yield c.match(quantity, test.p_value_holm, own, noise=_noise_of(own, noise))


def _noise_of(p_value: float, noise: float) -> float:
    """What noise of a statistic, times the slope of the logarithm of p-values, adds to its p-value."""
    return float(np.nan_to_num(p_value)) * noise


# ---- Intervals ----


def compare_intervals(
    comparer: InferenceComparer, scores: Sequence[ScoreValue], *, method: str, topic: str = INTERVALS
) -> Iterator[Comparison]:
    """Compare the intervals of the scores of a model, and of their skills."""
    drawn, widened = [], []
    for score in scores:
        for estimate, what in ((score.interval, "score"), (score.skill_interval, "skill")):
            if estimate is None:
                continue
            line, left_out = _compare_interval(comparer, score.name, estimate, what, method, topic)
            yield from line
            drawn += [estimate.measure] if left_out == DRAWN else []
            widened += [estimate.measure] if left_out == _WIDENED_REASON else []
    for names, reason in ((drawn, DRAWN), (widened, _WIDENED_REASON)):
        if names:
            quantity = f"{topic}: ends of {format_counted(len(names), 'interval')}"
            yield comparer.state(quantity, Verdict.NOT_COMPARED, reason)


def _compare_interval(
    c: InferenceComparer, name: str, estimate: Estimate, what: str, method: str, topic: str
) -> tuple[list[Comparison], str]:
    """The lines on one interval, and the reason why its ends are left out; empty if they are not."""
    quantity = f"{topic}: {estimate.measure}"
    if name == AUC:
        return [_compare_area(c, quantity, estimate, what)], ""
    if estimate.method.startswith(("Wilson", "normal on log-odds")):
        return [c.match_named(quantity, numbers_of(estimate), f"rate.{name}")], ""
    theirs = c.find(f"score.{name}.{what}")
    if theirs is None:
        return [c.miss(quantity, "score")], ""
    value = -theirs[0] if what == "score" and get_score(name).direction is Direction.HIGHER else theirs[0]
    line = c.match(f"{quantity}, value", estimate.value, value, noise=_AREA_NOISE)
    if FROM_INFLUENCE not in estimate.method:
        return [line, *_compare_drawn(c, _drawn(quantity), estimate, theirs, what)], DRAWN
    if "widened" in estimate.method:
        return [line, c.match(f"{quantity}, error", estimate.standard_error, theirs[1])], _WIDENED_REASON
    ours = [estimate.standard_error, estimate.lower, estimate.upper]
    expected = [theirs[1], *_turn(theirs[_LIMITS[method]], name, what)]
    return [line, c.match(f"{quantity}, error and limits", ours, expected)], ""


def _drawn(quantity: str) -> str:
    """The name of the error of resamples, which is a topic of its own: its tolerance is that of draws."""
    return f"errors of resamples: {quantity.replace(':', ',')}"


def _compare_area(c: InferenceComparer, quantity: str, estimate: Estimate, what: str) -> Comparison:
    """Compare the interval of the AUC, or of its skill, which is twice the AUC minus 1."""
    theirs = c.find("auc.interval")
    if theirs is None:
        return c.miss(quantity, "auc")
    if what == "skill":
        theirs = theirs * np.array([2, 2, 2, 2, 1]) - np.array([1, 0, 1, 1, 0])
    numbers = [*numbers_of(estimate), estimate.degrees_of_freedom or np.inf]
    return c.match(quantity, numbers, theirs, noise=_AREA_NOISE)


def _turn(ends: FloatArray, name: str, what: str) -> FloatArray:
    """The ends of an interval of R's loss as those of a score, inside its range."""
    if what == "skill":
        return ends
    entry = get_score(name)
    turned = -ends[::-1] if entry.direction is Direction.HIGHER else ends
    return np.clip(turned, entry.lower, entry.upper)


def _compare_drawn(
    c: InferenceComparer, quantity: str, estimate: Estimate, theirs: FloatArray, what: str
) -> list[Comparison]:
    """Compare the error of many resamples of a mean score with the exact one; a skill is not linear."""
    resamples = re.search(r"(\d+) resamples", estimate.method)
    draws, error, kurtosis = int(resamples[1]) if resamples else 0, float(theirs[1]), float(theirs[6])
    if what == "skill" or draws < _FEWEST_RESAMPLES or np.isnan(kurtosis):
        return []
    rounding = 1e-14 * (1 + abs(estimate.value))  # resamples of equal scores
    allowed = _MONTE_CARLO * error * np.sqrt((max(kurtosis, 0.0) + 2) / (4 * draws)) + rounding
    line = compare_relatively(
        c.subject, quantity, estimate.standard_error, error, relative=1e-12, noise=allowed
    )
    reason = f"Within the Monte-Carlo error of {format_count(draws)} resamples."
    return [replace(line, source=BASE_SOURCE, reason=reason)]


def compare_sample_intervals(
    comparer: InferenceComparer, sample: SampleSummary, topic: str = INTERVALS
) -> Iterator[Comparison]:
    """Compare numbers of independent cases, and intervals of the prevalence and of each uncertainty."""
    c = comparer
    if sample.independent is not None:
        numbers = sample.independent
        ours = [numbers.total, numbers.events, numbers.non_events]
        yield c.match_named(f"{topic}: independent cases", ours, "independent")
    if sample.prevalence_interval is not None:
        ours = numbers_of(sample.prevalence_interval)
        yield c.match_named(f"{topic}: prevalence", ours, "sample.prevalence")
    for estimate in sample.uncertainties:
        quantity, theirs = f"{topic}: uncertainty of {estimate.measure}", c.find(f"sample.{estimate.measure}")
        if theirs is None:
            yield c.miss(quantity, "sample")
            continue
        value, error, *ends = theirs
        if get_score(estimate.measure).direction is Direction.HIGHER:
            value, ends = -value, [-end for end in reversed(ends)]
        yield c.match(quantity, numbers_of(estimate), [value, error, *ends], noise=1e-15)


# ---- Differences ----


def compare_differences(
    answer: InferenceAnswer, evaluation: Evaluation, question: InferenceQuestion, *, has_rows: bool
) -> Iterator[Comparison]:
    """Compare differences of every pair of models by every score and by the AUC, with their tests."""
    names = names_of(question.predictions)
    if len(names) < 2:
        return
    pairs = list(combinations(names, 2))
    found = {(d.first, d.second, d.measure): d for d in evaluation.comparisons.differences}
    for measure in (*question.measures, AUC):
        theirs = answer.find(f"pairs.{measure}")
        for place, (first, second) in enumerate(pairs):
            c = InferenceComparer(subject=f"{first} and {second}", prefix="", answer=answer)
            quantity = f"{DIFFERENCES}: {measure}"
            difference = found.get((first, second, measure))
            if theirs is None:
                yield c.miss(quantity, "pairs")
            elif difference is None:
                yield c.state(quantity, Verdict.DIFFERS, "The evaluation has no such difference.")
            else:
                yield from _compare_difference(c, difference, theirs.reshape(len(pairs), 9)[place], has_rows)


def compare_ranks(
    answer: InferenceAnswer, evaluation: Evaluation, question: InferenceQuestion
) -> Iterator[Comparison]:
    """Compare the ranks of models with those that follow from the differences of R."""
    names = names_of(question.predictions)
    for rank in evaluation.comparisons.ranks:
        theirs = answer.find(f"pairs.{rank.measure}")
        c = InferenceComparer(subject=rank.model, prefix="", answer=answer)
        quantity = f"{DIFFERENCES}: rank by {rank.measure}"
        if theirs is None:
            yield c.miss(quantity, "pairs")
            continue
        is_higher_better = rank.measure == AUC  # R has the loss of every score
        value, better = _rank_by_differences(
            theirs, names, rank.model, evaluation.settings.level, is_higher_better
        )
        if rank.measure != AUC and get_score(rank.measure).direction is Direction.HIGHER:
            value = -value
        yield c.match(quantity, [rank.value, float(rank.rank)], [value, 1.0 + better], noise=_AREA_NOISE)


def _rank_by_differences(
    theirs: FloatArray, names: Sequence[str], model: str, level: float, is_higher_better: bool
) -> tuple[float, int]:
    """The mean score of a model, and the number of models that are better by a significant difference."""
    pairs = combinations(names, 2)
    value, better = np.nan, 0
    for (first, second), numbers in zip(pairs, theirs.reshape(-1, 9), strict=True):
        if model in (first, second):
            value = float(numbers[0] if model == first else numbers[1])
            behind = float(numbers[2]) * (1 if model == first else -1) * (-1 if is_higher_better else 1)
            better += behind > 0 and (numbers[8] <= 1 - level or np.isinf(behind))
    return value, better


def _compare_difference(
    c: InferenceComparer, difference: Difference, theirs: FloatArray, has_rows: bool
) -> Iterator[Comparison]:
    d, quantity = difference, f"{DIFFERENCES}: {difference.measure}"
    if d.measure != AUC and get_score(d.measure).direction is Direction.HIGHER:
        first, second, value, error, lower, upper, statistic, *p_values = theirs
        theirs = np.array([-first, -second, -value, error, -upper, -lower, -statistic, *p_values])
    error = float(np.nan_to_num(theirs[3]))
    # scores are rounded in proportion to 1 at least: one may be the logarithm of a number near 1
    size = 1e-15 * max(1.0, np.abs(np.nan_to_num(theirs[:2], posinf=0.0, neginf=0.0)).max())
    values, noise = [d.first_value, d.second_value, d.value], STATISTIC_NOISE * error + size
    yield c.match(f"{quantity}, means and difference", values, theirs[:3], noise=noise)
    if not has_rows:
        yield c.state(f"{quantity}, test", Verdict.NOT_COMPARED, ENGINE)
        return
    yield c.match(
        f"{quantity}, error and limits", [d.standard_error, d.lower, d.upper], theirs[3:6], noise=noise
    )
    noise = (STATISTIC_NOISE + (size / error if error else 0.0)) * (1 + abs(float(np.nan_to_num(theirs[6]))))
    yield c.match(f"{quantity}, statistic", d.statistic, theirs[6], noise=noise)
    adjusted = [] if d.p_value_holm is None else [d.p_value_holm]
    yield c.match(
        f"{quantity}, p-value, also by Holm",
        [d.p_value, *adjusted],
        theirs[7 : 8 + len(adjusted)],
        noise=np.nan_to_num(theirs[7 : 8 + len(adjusted)]) * noise,
    )
