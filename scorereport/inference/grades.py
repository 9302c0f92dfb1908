"""Back-test of a probability of default, one rating grade at a time, with a traffic light."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import betainc

from scorereport._utils.checks import check_clusters, check_inside, check_outcome, check_whole
from scorereport._utils.formatting import shortest
from scorereport._utils.representation import short_repr
from scorereport.errors import UsageError
from scorereport.inference.panel import ForecastPanel, make_panel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from scorereport._utils.arrays import FloatArray

ECB_2019 = (
    "European Central Bank (2019), Instructions for reporting the validation results of internal models"
)
_NULL = "The probability of an event in this grade is not higher than forecast."


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeTest:
    """A grade with its n cases and d events, two one-sided p-values and a traffic light.

    Small p-values are evidence that the forecast is too low. `light` follows the Jeffreys test: "red" below
    the level `red`, "yellow" below the level `yellow`, else "green".
    """

    grade: str
    n: int
    d: int
    probability: float
    event_rate: float
    jeffreys_p_value: float
    binomial_p_value: float
    light: str
    yellow: float
    red: float
    null_hypothesis: str = _NULL
    method: str = "Jeffreys: Beta(d + 1/2, n - d + 1/2) up to the forecast; binomial: exact upper tail"
    reference: str = ECB_2019
    note: str = ""

    __repr__ = short_repr


def grade_test(
    n: int, d: int, probability: float, *, grade: str = "", yellow: float = 0.05, red: float = 0.01
) -> GradeTest:
    """Test whether the forecast probability of n cases with d events is too low.

    The Jeffreys p-value is the posterior probability, from the prior Beta(1/2, 1/2), that the true
    probability is at most the forecast. The binomial p-value is the probability of d events or more.

    Parameters
    ----------
    n : number of cases
    d : number of events among them
    probability : their forecast
    grade : a name for the grade
    yellow, red : levels of the Jeffreys p-value below which the light is yellow or red

    References
    ----------
    European Central Bank (2019), Instructions for reporting the validation results of internal models

    >>> test = grade_test(6, 2, 0.0367)
    >>> round(test.jeffreys_p_value, 5), round(test.binomial_p_value, 5), test.light
    (0.00438, 0.01831, 'red')
    """
    n, d = check_whole(n, "n", 1), check_whole(d, "d", 0)
    if d > n:
        raise UsageError(f"`d` must not exceed `n`; got {d} events among {n} cases.")
    _check_levels(yellow, red)
    return _test_grade(n, d, check_inside(probability, "probability", 0, 1), str(grade), yellow, red)


def grade_tests(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    grade: ArrayLike,
    *,
    yellow: float = 0.05,
    red: float = 0.01,
    sample_weight: ArrayLike | None = None,
    weight_kind: str = "sampling",
) -> tuple[GradeTest, ...]:
    """Test each grade against its mean forecast, from the lowest mean forecast to the highest.

    The p-values are those of single tests: with many grades, some are small by chance.

    Parameters
    ----------
    y_true : outcomes 0 or 1
    y_prob : probabilities
    grade : a label per row
    yellow, red : levels of the Jeffreys p-value below which the light is yellow or red
    sample_weight, weight_kind : weights must be of the kind "frequency", how often each row was observed

    References
    ----------
    European Central Bank (2019), Instructions for reporting the validation results of internal models

    >>> tests = grade_tests([1, 0, 1, 0, 0, 0], [0.3, 0.3, 0.3, 0.01, 0.01, 0.01], list("BBBAAA"))
    >>> [(test.grade, test.n, test.d, test.light) for test in tests]
    [('A', 3, 0, 'green'), ('B', 3, 2, 'green')]
    """
    _check_levels(yellow, red)
    code = check_clusters(grade, len(check_outcome(y_true)), "grade")
    panel = make_panel(
        y_true, {"y_prob": y_prob}, sample_weight=sample_weight, weight_kind=weight_kind, cluster=code
    )
    if not panel.units.are_repeated_rows:
        raise UsageError('`weight_kind` must be "frequency": the tests per grade count cases.')
    counts = _count_by_grade(panel)
    tests = [
        _test_grade(int(n), int(d), float(total / n), name, yellow, red)
        for name, n, d, total in zip(_labels_with_weight(grade, sample_weight), *counts, strict=True)
    ]
    return tuple(sorted(tests, key=lambda test: test.probability))  # ties stay in the order of labels


def pool_grades(grades: Sequence[GradeTest], name: str = "all grades") -> GradeTest:
    """Test all cases of some grades together, at their mean forecast.

    With forecasts that differ between grades the number of events varies less than in a binomial
    distribution, so the test keeps its level.

    >>> test = pool_grades([grade_test(100, 3, 0.02), grade_test(50, 10, 0.1)])
    >>> test.n, test.d, round(test.probability, 4), test.light
    (150, 13, 0.0467, 'yellow')
    """
    n, d = sum(g.n for g in grades), sum(g.d for g in grades)
    mean = sum(g.n * g.probability for g in grades) / n
    return _test_grade(n, d, mean, name, grades[0].yellow, grades[0].red)


def _count_by_grade(panel: ForecastPanel) -> list[FloatArray]:
    """Cases, events and sum of forecasts in each grade; the panel holds grades as its clusters."""
    if panel.cluster is None:
        raise UsageError("`grade` must have one label per case; got None.")
    weighted = [panel.units.row_weight * column for column in (1.0, panel.outcome, panel.only)]
    return [np.bincount(panel.cluster, column).astype(np.float64) for column in weighted]


def _labels_with_weight(grade: ArrayLike, sample_weight: ArrayLike | None) -> list[str]:
    """The distinct grades of rows with a weight, in the order in which a panel numbers them."""
    labels: Any = np.asarray(grade)
    if sample_weight is not None:
        labels = labels[np.asarray(sample_weight, dtype=np.float64) > 0]
    plain = labels.astype(str) if labels.dtype == object else labels
    return [str(label) for label in np.unique(plain)]


def _check_levels(yellow: float, red: float) -> None:
    check_inside(yellow, "yellow", 0, 1)
    check_inside(red, "red", 0, 1)
    if red > yellow:
        raise UsageError(f"`red` must not exceed `yellow`; got {shortest(red)} and {shortest(yellow)}.")


def _test_grade(n: int, d: int, probability: float, grade: str, yellow: float, red: float) -> GradeTest:
    p_value = float(betainc(d + 0.5, n - d + 0.5, probability))
    return GradeTest(
        grade=grade,
        n=n,
        d=d,
        probability=probability,
        event_rate=d / n,
        jeffreys_p_value=p_value,
        binomial_p_value=float(betainc(d, n - d + 1, probability)) if d > 0 else 1.0,
        light="red" if p_value < red else "yellow" if p_value < yellow else "green",
        yellow=yellow,
        red=red,
        note="" if probability > 0 else "The Jeffreys test rejects a forecast of 0 for any outcome.",
    )
