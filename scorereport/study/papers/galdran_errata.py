"""Errata of Galdran (2023), each with its proof or counterexample, computed."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from scorereport import scores
from scorereport.study.papers.galdran import (
    LAST,
    MIDDLE,
    P_1,
    P_2,
    count_beaten,
    exact_rps,
    exact_sa_rps,
    expected_exact_score,
    interval_end,
    ratio_of_two_classes,
    table_1,
    window_areas,
)
from scorereport.study.papers.paper_numerics import as_table, score_forecasts, simplex_grid
from scorereport.study.papers.printed_numbers import GALDRAN as PAPER
from scorereport.study.papers.printed_numbers import Erratum, ErratumResult, is_near, judge_errata

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.reference.comparison_records import Comparison


def errata_galdran() -> Iterator[Comparison]:
    """Compare each erratum: the printed claim, the correct value, and whether the computation confirms it."""
    return judge_errata(PAPER, _ERRATA)


def _find_example() -> ErratumResult:
    right = [exact_rps(forecast, 0) for forecast in (P_1, P_2)]
    engine = scores.rps([0, 0], as_table([P_1, P_2]))
    half = Fraction(1, 2)
    meant = [exact_rps((half, half, Fraction()), 0), exact_rps((half, Fraction(), half), 0)]
    claimed = [Fraction(1, 8), Fraction(1, 4)]
    holds = all(map(is_near, engine, right)) and meant == claimed
    return f"{claimed[0]}, {claimed[1]}", f"{right[0]}, {right[1]}", holds


def _find_two_classes() -> ErratumResult:
    return Fraction(1), Fraction(1, 2), is_near(ratio_of_two_classes(), Fraction(1, 2))


def _find_range() -> ErratumResult:
    far_end = exact_sa_rps(LAST, 0, power=1)
    engine = score_forecasts(lambda y, p: scores.sa_rps(y, p, scale="paper"), np.eye(3)).max()
    return Fraction(1), far_end, far_end == len(LAST) - 1 and is_near(engine, far_end)


def _find_propriety() -> ErratumResult:
    third = Fraction(1, 3)
    truth = (third, third, 1 - 2 * third)
    honest, sure = (expected_exact_score(exact_sa_rps, forecast, truth) for forecast in (truth, MIDDLE))
    engine = score_forecasts(scores.sa_rps, as_table([truth, MIDDLE])).mean(axis=1)
    return honest, sure, sure < honest and is_near(engine[0], honest) and is_near(engine[1], sure)


def _find_argument() -> ErratumResult:
    forecasts = simplex_grid(3, 6)
    values = score_forecasts(scores.sa_rps, as_table(forecasts))
    sure = as_table(forecasts) == 1
    premises_hold = bool((values[sure] == 0).all() and (values[~sure] > 0).all())
    beaten = count_beaten(scores.sa_rps, forecasts)
    total = f"of {len(forecasts)} truths beaten"
    return f"0 {total}", f"{beaten} {total}", premises_hold and beaten > 0


def _find_sum_of_forecast() -> ErratumResult:
    printed = (Fraction(1, 10), Fraction(5, 10), Fraction(9, 10))
    return Fraction(1), sum(printed, Fraction()), sum(printed) != 1


def _find_category() -> ErratumResult:
    more = [second - first for first, second in zip(P_1, P_2, strict=True)]
    gaining = [place for place, gain in enumerate(more, start=1) if gain > 0]
    return "category 2", f"category {gaining[0]}", len(gaining) == 1


def _find_overlap() -> ErratumResult:
    best, worst = (
        interval_end("RPS", "Eyepacs, QWK", best=True),
        interval_end("sa-RPS", "Eyepacs, QWK", best=False),
    )
    ranked_cost = interval_end("RPS", "Eyepacs, EC", best=True)
    is_true_for_cost = ranked_cost < interval_end("sa-RPS", "Eyepacs, EC", best=False)
    return f"below {float(worst):.2f}", f"{float(best):.2f}", best > worst and is_true_for_cost


def _find_axis() -> ErratumResult:
    printed = table_1("sa-RPS", "Eyepacs, QWK")[0]
    area = window_areas("quadratic_weighted_kappa")[1]
    per_unit = area / 0.2
    return f"{float(printed):.2f}", f"at most {per_unit:.6g}", is_near(per_unit, 1) and printed > 1


_ERRATA: tuple[Erratum, ...] = (
    (
        "E1: the example of equations 3 and 4 has RPS 9/32 and 9/16",
        _find_example,
        "½[(¼ - 1)² + 0] and ½[(¾)² + (¾)²]; the printed values belong to [½, ½, 0] and [½, 0, ½].",
    ),
    (
        "E2: for two classes RPS is half the Brier score of equation 1, not equal to it",
        _find_two_classes,
        "RPS = (p - y)², equation 1 gives (p - y)² + ((1 - p) - (1 - y))²; the ratio is shown.",
    ),
    (
        "E3: the sa-RPS reaches K - 1, not 1",
        _find_range,
        "Largest value for three classes: a certain forecast at the far end has (1 + 1)²/(K - 1) = 2.",
    ),
    (
        "E4: the sa-RPS is not proper",
        _find_propriety,
        "Three equally likely classes, unit scale: certainty of the middle class has a lower mean than "
        "the truth.",
    ),
    (
        "E5: being 0 at the truth and never negative does not make a score proper",
        _find_argument,
        "On the 1/6-grid the sa-RPS is 0 only for a certain and right forecast, and yet it is improper.",
    ),
    (
        "E6: the asymmetric forecast as printed in the text does not sum to 1",
        _find_sum_of_forecast,
        "1/10 + 5/10 + 9/10; equation 6 uses [.45, .50, .05].",
    ),
    (
        "E7: p2 moves probability to the third category, not to the second",
        _find_category,
        "p2 - p1 = [0, -¾, ¾].",
    ),
    (
        "E8: on Eyepacs the best RPS result does reach the worst sa-RPS result for QWK",
        _find_overlap,
        "17.81 + .03 against 17.86 - .03; for EC the claim is true.",
    ),
    (
        "E9: areas of 13 to 18 are impossible with the removed fraction on the axis",
        _find_axis,
        "QWK and its area over [0, 1] never exceed 1; the axis must be in percent, with 17.86 points or "
        "more.",
    ),
)
