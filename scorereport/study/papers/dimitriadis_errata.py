"""Errata of Dimitriadis et al. (2021), the CORP paper, each with its proof or counterexample, computed."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from scorereport.reliability.fit import corp
from scorereport.study.papers.printed_numbers import DIMITRIADIS as PAPER
from scorereport.study.papers.printed_numbers import (
    Erratum,
    ErratumResult,
    attainable_events,
    half_unit,
    is_near,
    judge_errata,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.reference.comparison_records import Comparison


def errata_dimitriadis() -> Iterator[Comparison]:
    """Compare each erratum: the printed claim, the correct value, and whether the computation confirms it."""
    return judge_errata(PAPER, _ERRATA)


def _find_sample_size() -> ErratumResult:
    possible, impossible = attainable_events(92, ".244"), attainable_events(86, ".244")
    return float(len(impossible)), float(len(possible)), not impossible and 53 in possible


def _find_rounding() -> ErratumResult:
    x = 1024 ** (1 / 3)
    smallest = {min(i for i in range(-window, window) if i <= x) for window in (100, 1000)}
    is_ceiling = math.ceil(x) - 1 < x <= math.ceil(x)
    return "none" if len(smallest) > 1 else str(*smallest), str(math.ceil(x)), is_ceiling


def _find_linear_weights() -> ErratumResult:
    at_forecasts = [Fraction(2, 5) + Fraction(6, 5) * Fraction(2 * j - 1, 20) for j in range(1, 11)]
    simulated = [1 + Fraction(3 * j, 9) for j in range(10)]
    to_the_ends = [Fraction(2, 5) + Fraction(6, 5) * Fraction(j, 9) for j in range(10)]
    is_density_elsewhere = len({a / b for a, b in zip(simulated, to_the_ends, strict=True)}) == 1
    return at_forecasts[0] / sum(at_forecasts), simulated[0] / sum(simulated), is_density_elsewhere


def _find_sum_of_row() -> ErratumResult:
    mcb, dsc, unc, score = (Fraction(cell) for cell in (".017", ".056", ".244", ".206"))
    total = mcb - dsc + unc
    return float(total), float(score), abs(total - score) <= 4 * Fraction(half_unit(".206"))


def _find_vanishing_part() -> ErratumResult:
    fit = corp([0, 0, 1], [0.4, 0.4, 0.4])
    vanishes = fit.decompose("misclassification").miscalibration == 0
    return 0.4, float(fit.cep[0]), vanishes and is_near(fit.cep[0], Fraction(1, 3))


_ERRATA: tuple[Erratum, ...] = (
    (
        "E1: n = 86 in Fig. 1 contradicts UNC = .244; numbers of events that give it, of 86 and of 92",
        _find_sample_size,
        "k(n - k)/n² is .2434 for k = 36 and .2451 for k = 37 of 86; 53 of 92 give .2442.",
    ),
    (
        "E2: Appendix B rounds up to the smallest integer that is not above x, which does not exist",
        _find_rounding,
        "At n = 1024, α = 1/3 all negative integers lie below x; the smallest that does not is meant.",
    ),
    (
        "E3: weight of the lowest of 10 forecasts in the discrete Linear distribution, printed and simulated",
        _find_linear_weights,
        "The authors' program has evenly spaced weights from 1 to 4: the density at j/9, not at the "
        "forecasts.",
    ),
    (
        "E5: the printed row Logistic of Table 2 does not add up, by rounding only",
        _find_sum_of_row,
        "MCB - DSC + UNC of the printed digits; four roundings can make twice the difference.",
    ),
    (
        "E5: MCB = 0 does not mean calibration unless the score is strictly proper",
        _find_vanishing_part,
        "Forecasts of .4 for one event in three: no misclassification is avoidable, yet .4 is not 1/3.",
    ),
)
