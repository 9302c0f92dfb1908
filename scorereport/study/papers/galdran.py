"""The numbers and claims of Galdran (2023), MICCAI, against the engine."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from scorereport import scores
from scorereport.study.papers.citations import GALDRAN as PAPER
from scorereport.study.papers.forecasts import as_table, score_forecasts, simplex_grid
from scorereport.study.papers.galdran_scores import (
    ASYMMETRIC,
    FIRST,
    LAST,
    MIDDLE,
    P_1,
    P_2,
    SYMMETRIC,
    count_beaten,
    count_beaten_exactly,
    exact_rps,
    exact_sa_rps,
    ratio_of_two_classes,
)
from scorereport.study.papers.galdran_table import compare_table
from scorereport.study.papers.printed_numbers import compare_claim, compare_printed, is_near

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.reference.comparison_records import Comparison

_EXAMPLES = (
    ("eqs. 3 and 4", "RPS of p1", "1/8", P_1, 0),
    ("eqs. 3 and 4", "RPS of p2", "1/4", P_2, 0),
    ("eq. 5", "RPS of a sure forecast of the true class", "0", FIRST, 0),
    ("eq. 5", "RPS of a sure forecast of the next class", "1/2", MIDDLE, 0),
    ("eq. 5", "RPS of a sure forecast of the last class", "1", LAST, 0),
    ("eq. 6", "RPS of the symmetric forecast", "0.09", SYMMETRIC, 1),
    ("eq. 6", "RPS of the asymmetric forecast", "0.1025", ASYMMETRIC, 1),
)


def reproduce_galdran() -> Iterator[Comparison]:
    """Each number and checkable claim of the paper against the engine."""
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
        "Sure forecasts of class 5 for class 1, and of class 3 for class 5",
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
            reason="A sure forecast at the far end scores (K - 1)²/(K - 1) = K - 1.",
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
            reason="Not proper: the expectation is smallest for another forecast than the truth.",
        )
