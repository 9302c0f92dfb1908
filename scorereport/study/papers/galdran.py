"""Numbers, claims and Table 1 of Galdran (2023), MICCAI, compared with the engine."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from scorereport import scores
from scorereport.curves import retention_curve
from scorereport.reference.comparison_records import TOLERANCE, Comparison, Verdict
from scorereport.study.papers.paper_numerics import as_table, expected_scores, score_forecasts, simplex_grid
from scorereport.study.papers.printed_numbers import GALDRAN as PAPER
from scorereport.study.papers.printed_numbers import (
    compare_claim,
    compare_printed,
    is_near,
    report_irreproducible,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from scorereport._utils.arrays import FloatArray


#: Table 1: mean and spread of the area under the retention curve, for the four columns.
_COLUMNS = ("TMED, QWK", "TMED, EC", "Eyepacs, QWK", "Eyepacs, EC")
_TABLE_1 = {
    "Brier": "13.46 0.35  3.76 0.21  17.36 0.04  2.84 0.07",
    "Neg-Log": "13.56 0.35  3.62 0.2  17.44 0.04  2.67 0.07",
    "RPS": "14.76 0.28  2.68 0.14  17.81 0.03  1.99 0.04",
    "sa-RPS": "14.95 0.25  2.53 0.12  17.86 0.03  1.88 0.04",
}
_DISTANCE_BLIND, _DISTANCE_SENSITIVE = ("Brier", "Neg-Log"), ("RPS", "sa-RPS")


def table_1(score: str, column: str) -> tuple[Fraction, Fraction]:
    """Mean and spread that Table 1 prints for a score."""
    cells, place = _TABLE_1[score].split(), 2 * _COLUMNS.index(column)
    return Fraction(cells[place]), Fraction(cells[place + 1])


def interval_end(score: str, column: str, *, best: bool) -> Fraction:
    """The better or the worse end of an interval of Table 1, negative for EC so that more is better."""
    mean, spread = table_1(score, column)
    sign = 1 if column.endswith("QWK") else -1
    return sign * mean + (spread if best else -spread)


def _gain(score: str, other: str, column: str) -> Fraction:
    """By how much the printed mean of one score is better than that of another."""
    gain = table_1(score, column)[0] - table_1(other, column)[0]
    return gain if column.endswith("QWK") else -gain


def window_areas(metric: str) -> tuple[float, float]:
    """Areas over the first fifth removed, if all labels are as wrong as possible, and if all are right."""
    truth, right = np.repeat([0, 4], 10), np.repeat(np.eye(5)[[0, 4]], 10, axis=0)
    wrong, right_area = (
        retention_curve(truth, table, metric=metric, fractions=(0, 0.2)).area
        for table in (right[::-1], right)
    )
    return wrong, right_area


def compare_table() -> Iterator[Comparison]:
    """Compare the claims about the table; its entries cannot be computed."""
    yield from _compare_means()
    yield from _compare_ends()
    yield from _compare_areas()


def _compare_means() -> Iterator[Comparison]:
    """Count how often one score is better than another by the printed means, or by mean and spread."""
    gaps = [
        interval_end("sa-RPS", column, best=False) - interval_end(blind, column, best=True)
        for column in _COLUMNS
        for blind in _DISTANCE_BLIND
    ]
    gains = [
        _gain(sensitive, blind, column)
        for column in _COLUMNS
        for sensitive in _DISTANCE_SENSITIVE
        for blind in _DISTANCE_BLIND
    ]
    steps = [_gain("sa-RPS", "RPS", column) for column in _COLUMNS]
    for quantity, differences in (
        ("sa-RPS intervals that Brier and Neg-Log do not overlap", gaps),
        ("Comparisons that RPS or sa-RPS wins against Brier or Neg-Log", gains),
        ("Comparisons that sa-RPS wins against RPS", steps),
    ):
        won = sum(difference > 0 for difference in differences)
        yield compare_printed(f"{PAPER}, Table 1", quantity, str(len(differences)), won)


def _compare_ends() -> Iterator[Comparison]:
    """Compare the best end of RPS with the worst of sa-RPS, where the paper denies an overlap."""
    for column in _COLUMNS[2:]:
        best, worst = interval_end("RPS", column, best=True), interval_end("sa-RPS", column, best=False)
        yield compare_claim(
            f"{PAPER}, sect. 3.3",
            f"{column}: the best RPS result does not reach the worst sa-RPS result",
            "does not reach",
            f"best RPS {abs(float(best)):.2f}, worst sa-RPS {abs(float(worst)):.2f}",
            holds=best < worst,
            otherwise=Verdict.INCONSISTENT,
            reason="Mean and spread in Table 1 make the two intervals overlap.",
        )


def _compare_areas() -> Iterator[Comparison]:
    """Report the areas that a percent axis allows, because the entries need the network."""
    for column in _COLUMNS:
        is_kappa = column.endswith("QWK")
        wrong, right = window_areas("quadratic_weighted_kappa" if is_kappa else "expected_cost")
        low, high = sorted((100 * wrong, 100 * right))
        printed = [table_1(score, column)[0] for score in _TABLE_1]
        yield report_irreproducible(
            f"{PAPER}, Table 1 and Fig. 4",
            f"Areas under the retention curve, {column}",
            ", ".join(f"{float(area):.2f}" for area in printed),
            f"{100 * right:.4g} if all labels are right, {100 * wrong:.4g} if all are wrong",
            reason="Needs the outputs of a network that were not released, and an axis"
            + (" that is" if is_kappa else " and costs that are")
            + " not stated; ours is a window of 20 percent removed.",
            is_possible=low <= min(printed) and max(printed) <= high,
        )


P_1 = (Fraction(1, 4), Fraction(3, 4), Fraction(0))
P_2 = (Fraction(1, 4), Fraction(0), Fraction(3, 4))
SYMMETRIC = (Fraction(3, 10), Fraction(4, 10), Fraction(3, 10))
ASYMMETRIC = (Fraction(45, 100), Fraction(50, 100), Fraction(5, 100))
FIRST, MIDDLE, LAST = (tuple(Fraction(int(i == k)) for i in range(3)) for k in range(3))


def exact_rps(forecast: Sequence[Fraction], label: int) -> Fraction:
    """Equation 4 in exact arithmetic."""
    errors = _cumulative_errors(forecast, label)
    return sum((error**2 for error in errors), Fraction()) / len(errors)


def exact_sa_rps(forecast: Sequence[Fraction], label: int, *, power: int = 2) -> Fraction:
    """Equation 7 in exact arithmetic, divided by (K - 1)^power; the paper prints power 1."""
    errors = _cumulative_errors(forecast, label)
    return sum((abs(error) for error in errors), Fraction()) ** 2 / Fraction(len(errors)) ** power


def _cumulative_errors(forecast: Sequence[Fraction], label: int) -> list[Fraction]:
    return [total - (label <= k) for k, total in enumerate(accumulate(forecast[:-1]))]


def expected_exact_score(
    score: Callable[[Sequence[Fraction], int], Fraction],
    forecast: Sequence[Fraction],
    truth: Sequence[Fraction],
) -> Fraction:
    """Expected score of a forecast if the classes have the probabilities `truth`."""
    return sum((q * score(forecast, label) for label, q in enumerate(truth)), Fraction())


def count_beaten(score: Callable[..., FloatArray], forecasts: Sequence[Sequence[Fraction]]) -> int:
    """Number of true distributions under which another forecast of the list has a better expected score."""
    expected = expected_scores(score, as_table(forecasts))
    return int((np.diag(expected) > expected.min(axis=0) + TOLERANCE).sum())


def count_beaten_exactly(
    score: Callable[[Sequence[Fraction], int], Fraction], forecasts: Sequence[Sequence[Fraction]]
) -> int:
    """The same count in exact arithmetic."""
    return sum(
        any(expected_exact_score(score, p, q) < expected_exact_score(score, q, q) for p in forecasts)
        for q in forecasts
    )


def ratio_of_two_classes() -> float:
    """RPS over the Brier score for two classes; NaN if it is not the same for all forecasts."""
    forecasts = as_table(simplex_grid(2, 6)[:-1])  # the last is certain and right: 0/0
    label = np.zeros(len(forecasts))
    ratio = scores.rps(label, forecasts) / scores.multiclass_brier(label, forecasts)
    return float(ratio[0]) if np.ptp(ratio) <= TOLERANCE else math.nan


_EXAMPLES = (
    ("eqs. 3 and 4", "RPS of p1", "1/8", P_1, 0),
    ("eqs. 3 and 4", "RPS of p2", "1/4", P_2, 0),
    ("eq. 5", "RPS of a certain forecast of the true class", "0", FIRST, 0),
    ("eq. 5", "RPS of a certain forecast of the next class", "1/2", MIDDLE, 0),
    ("eq. 5", "RPS of a certain forecast of the last class", "1", LAST, 0),
    ("eq. 6", "RPS of the symmetric forecast", "0.09", SYMMETRIC, 1),
    ("eq. 6", "RPS of the asymmetric forecast", "0.1025", ASYMMETRIC, 1),
)


def reproduce_galdran() -> Iterator[Comparison]:
    """Compare each number and checkable claim of the paper with the engine."""
    yield from _compare_examples()
    yield from _compare_preferences()
    yield from _compare_ranges()
    yield from _compare_propriety()
    yield from compare_table()


def _compare_examples() -> Iterator[Comparison]:
    for place, quantity, printed, forecast, label in _EXAMPLES:
        exact = exact_rps(forecast, label)
        value = scores.rps([label], as_table([forecast]))[0]
        why = f"Equation 4 gives {exact} for its own example."
        yield compare_printed(f"{PAPER}, {place}", quantity, printed, value, corrected=exact, reason=why)
    for name, score in (("Brier", scores.multiclass_brier), ("Logarithmic", scores.multiclass_log_loss)):
        first, second = score([0, 0], as_table([P_1, P_2]))
        quantity = f"{name} score of p1 less that of p2"
        yield compare_printed(f"{PAPER}, sect. 2.2", quantity, "0", first - second)


def _compare_preferences() -> Iterator[Comparison]:
    for name, scale, power in (("as printed", "paper", 1), ("on the unit scale", "unit", 2)):
        symmetric, asymmetric = scores.sa_rps([1, 1], as_table([SYMMETRIC, ASYMMETRIC]), scale=scale)
        is_exact = is_near(symmetric, exact_sa_rps(SYMMETRIC, 1, power=power)) and is_near(
            asymmetric, exact_sa_rps(ASYMMETRIC, 1, power=power)
        )
        yield compare_claim(
            f"{PAPER}, eq. 7 and Fig. 2",
            f"sa-RPS {name} prefers the asymmetric forecast of eq. 6",
            "asymmetric below symmetric",
            f"asymmetric {asymmetric:.6g}, symmetric {symmetric:.6g}",
            holds=is_exact and asymmetric < symmetric,
        )
    sure = np.eye(5)[[4, 2]]
    ranked, brier = (score([0, 4], sure) for score in (scores.rps, scores.multiclass_brier))
    yield compare_claim(
        f"{PAPER}, Fig. 3",
        "Certain forecasts of class 5 for class 1, and of class 3 for class 5",
        "RPS finds the first worse, Brier does not",
        f"RPS {ranked[0]:.6g} and {ranked[1]:.6g}, Brier {brier[0]:.6g} and {brier[1]:.6g}",
        holds=bool(ranked[0] > ranked[1] and is_near(brier[0], brier[1])),
    )


def _compare_ranges() -> Iterator[Comparison]:
    for classes in (3, 5):
        forecasts = as_table(simplex_grid(classes, 4))
        largest = score_forecasts(scores.rps, forecasts).max()
        yield compare_printed(f"{PAPER}, eq. 4", f"Largest RPS, {classes} classes", "1", largest)
        squared = score_forecasts(lambda y, p: scores.sa_rps(y, p, scale="paper"), forecasts).max()
        yield compare_printed(
            f"{PAPER}, eq. 7",
            f"Largest sa-RPS, {classes} classes",
            "1",
            squared,
            corrected=classes - 1,
            reason="A certain forecast at the far end scores (K - 1)²/(K - 1) = K - 1.",
        )
    yield compare_printed(
        f"{PAPER}, sect. 2.2",
        "RPS over the Brier score of eq. 1, two classes",
        "1",
        ratio_of_two_classes(),
        corrected=Fraction(1, 2),
        reason="RPS is (p - y)², whereas equation 1 sums it over both classes.",
    )


def _compare_propriety() -> Iterator[Comparison]:
    grid = simplex_grid(3, 6)
    for name, score, exact in (("RPS", scores.rps, exact_rps), ("sa-RPS", scores.sa_rps, exact_sa_rps)):
        yield compare_printed(
            f"{PAPER}, sect. 2.2 and 3.1",
            f"{name} as a proper score: truths that another forecast beats, of {len(grid)} on the 1/6-grid",
            "0",
            count_beaten(score, grid),
            corrected=count_beaten_exactly(exact, grid),
            reason="Not proper: a forecast other than the truth has the smallest expected score.",
        )
