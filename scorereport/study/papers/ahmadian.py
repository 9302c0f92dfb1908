"""Numbers, tables and theorems of Ahmadian et al. (2025), compared with the engine."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from scorereport import scores
from scorereport._utils.choices import SEED
from scorereport.reference.comparison_records import TOLERANCE
from scorereport.reliability.sampling import random_stream
from scorereport.study.papers.paper_numerics import as_table, expected_scores, score_forecasts, simplex_grid
from scorereport.study.papers.printed_numbers import AHMADIAN as PAPER
from scorereport.study.papers.printed_numbers import (
    compare_claim,
    compare_printed,
    compare_readings,
    is_near,
    report_irreproducible,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from scorereport._utils.arrays import FloatArray
    from scorereport.reference.comparison_records import Comparison


class PrintedRow(NamedTuple):
    """One printed row: the measure with each score, and the printed gains of the penalised ones."""

    brier: Fraction
    penalized_brier: Fraction
    brier_gain: Fraction
    log: Fraction
    penalized_log: Fraction
    log_gain: Fraction


def _read(text: str) -> tuple[PrintedRow, ...]:
    return tuple(PrintedRow(*map(Fraction, line.split())) for line in text.strip().splitlines())


#: Correlation with the F1 score: BS, PBS, gain, LL, PLL, gain.
TABLE_2 = _read("""
0.957 0.969 0.012 0.837 0.900 0.063
0.964 0.980 0.016 0.526 0.640 0.113
0.963 0.983 0.020 0.764 0.845 0.081
0.699 0.926 0.228 0.520 0.589 0.069
0.721 0.740 0.019 0.731 0.745 0.013
0.607 0.748 0.141 0.306 0.508 0.202
0.690 0.748 0.058 0.567 0.619 0.052
0.667 0.674 0.007 0.317 0.378 0.061
0.717 0.728 0.010 0.275 0.292 0.016
0.739 0.740 0.001 0.384 0.425 0.041
0.965 0.987 0.022 0.592 0.664 0.072
0.995 0.997 0.002 0.419 0.446 0.026
0.680 0.899 0.219 0.595 0.777 0.182
0.665 0.813 0.148 0.378 0.802 0.424
0.572 0.597 0.025 0.694 0.724 0.031
0.444 0.704 0.260 0.434 0.498 0.064
0.874 0.924 0.050 0.450 0.553 0.103
0.916 0.953 0.037 0.391 0.629 0.239
""")
#: F1 score of the model that each score selects, in percent.
TABLE_3 = _read("""
45.00 51.65 6.65 64.76 65.85 1.10
55.47 60.03 4.56 70.00 71.82 1.83
53.01 57.60 4.59 53.90 55.48 1.59
55.37 58.03 2.66 55.74 57.63 1.89
28.24 32.48 4.24 30.08 30.62 0.53
32.30 34.28 1.99 31.65 31.80 0.15
58.27 59.14 0.87 56.79 59.55 2.76
66.51 67.49 0.97 68.21 69.78 1.57
43.66 50.81 7.14 51.12 59.69 8.57
48.00 54.83 6.83 64.12 66.82 2.71
80.93 83.20 2.27 77.87 80.13 2.26
82.08 83.88 1.80 80.22 83.42 3.20
50.13 53.51 3.38 55.59 56.33 0.74
52.04 53.63 1.59 51.73 52.39 0.66
27.09 27.77 0.69 23.10 23.75 0.65
26.51 29.37 2.86 26.77 27.39 0.62
66.50 66.53 0.03 65.39 65.81 0.43
67.85 68.36 0.51 66.64 67.07 0.43
""")
_TABLES = (("Table 2", TABLE_2, Fraction(1, 1000)), ("Table 3", TABLE_3, Fraction(1, 100)))


def count_brier_above_log() -> int:
    """Rows of Table 3 in which the penalised Brier score selects the better model."""
    return sum(row.penalized_brier > row.penalized_log for row in TABLE_3)


def compare_tables() -> Iterator[Comparison]:
    """Compare the arithmetic of the tables and the claims about them; their entries cannot be computed."""
    for name, rows, unit in _TABLES:
        yield from _compare_table(f"{PAPER}, {name}", rows, unit)
    above = count_brier_above_log()
    yield compare_printed(
        f"{PAPER}, sect. 5.5",
        "Rows of Table 3 in which PBS selects a better model than PLL",
        str(len(TABLE_3)),
        above,
        corrected=11,
        reason="The paper claims it for all rows; the table shows it for some.",
    )


def _compare_table(place: str, rows: Sequence[PrintedRow], unit: Fraction) -> Iterator[Comparison]:
    brier = sum(row.penalized_brier > row.brier for row in rows)
    log = sum(row.penalized_log > row.log for row in rows)
    consistent = sum(gap <= unit for row in rows for gap in _gaps(row))
    every = str(len(rows))
    yield compare_printed(place, "Rows in which PBS is better than BS", every, brier)
    yield compare_printed(place, "Rows in which PLL is better than LL", every, log)
    yield compare_printed(place, "Gains that agree with their entries", str(2 * len(rows)), consistent)
    yield report_irreproducible(
        place,
        "Entries",
        f"{4 * len(rows)} means over folds",
        f"{consistent} of {2 * len(rows)} gains agree with their entries",
        reason="Needs networks trained on nine data sets; only the arithmetic can be checked.",
        is_possible=consistent == 2 * len(rows),
    )


def _gaps(row: PrintedRow) -> tuple[Fraction, Fraction]:
    """Deviations of the printed gains from the differences between the rounded entries."""
    return (
        abs(row.penalized_brier - row.brier - row.brier_gain),
        abs(row.penalized_log - row.log - row.log_gain),
    )


#: The two forecasts of section 1.1; the second class is the true one.
A = (Fraction(33, 100), Fraction(34, 100), Fraction(33, 100))
B = (Fraction(51, 100), Fraction(49, 100), Fraction(0))
#: Steps of the grid for the theorems: it contains the uniform forecasts over all and over two classes.
_STEPS = 12
_PAIRS = 100_000
_DISTRIBUTIONS: dict[str, Callable[[np.random.Generator, tuple[int, int]], FloatArray]] = {
    "uniform on the simplex": lambda rng, shape: rng.exponential(size=shape),
    "softmax of normals": lambda rng, shape: np.exp(rng.normal(size=shape)),
    "absolute normals": lambda rng, shape: np.abs(rng.normal(size=shape)),
}


def exact_brier(forecast: tuple[Fraction, ...], label: int) -> Fraction:
    """Equation 1 in exact arithmetic."""
    return sum(((p - (k == label)) ** 2 for k, p in enumerate(forecast)), Fraction())


def reproduce_ahmadian() -> Iterator[Comparison]:
    """Compare each number, theorem and checkable claim of the paper with the engine."""
    yield from _compare_motivation()
    yield from _compare_maxima()
    yield from _compare_superiority()
    yield from _compare_propriety()
    yield from _compare_simulations()
    yield from compare_tables()


def _compare_motivation() -> Iterator[Comparison]:
    brier = [float(exact_brier(forecast, 1)) for forecast in (A, B)]
    log = [-math.log(forecast[1]) for forecast in (A, B)]
    lines = (
        ("Brier score", scores.multiclass_brier, brier, 0.0, "above"),
        ("Logarithmic loss", scores.multiclass_log_loss, log, 0.0, "above"),
        ("Penalised Brier score", scores.penalized_brier, brier, 2 / 3, "below"),
        ("Penalised logarithmic loss", scores.penalized_log_loss, log, math.log(3), "below"),
    )
    for name, score, plain, penalty, side in lines:
        right, wrong = score([1, 1], as_table([A, B]))
        is_exact = is_near(right, plain[0]) and is_near(wrong, plain[1] + penalty)
        yield compare_claim(
            f"{PAPER}, sect. 1.1",
            f"{name} of the correct forecast A and the wrong forecast B",
            f"A {side} B",
            f"A {right:.4f}, B {wrong:.4f}",
            holds=is_exact and (right > wrong) == (side == "above"),
        )


def _extremes(score: Callable[..., FloatArray], classes: int) -> tuple[float, float]:
    """Return the worst score of a correct prediction on the grid, and the best of a wrong one."""
    forecasts = as_table(simplex_grid(classes, _STEPS))
    values = score_forecasts(score, forecasts)
    is_correct = forecasts.argmax(axis=1)[:, None] == np.arange(classes)
    return float(values[is_correct].max()), float(values[~is_correct].min())


def _compare_maxima() -> Iterator[Comparison]:
    for classes in (3, 4, 6):
        largest = _extremes(scores.multiclass_brier, classes)[0]
        quantity = f"Largest Brier score of a correct prediction, {classes} classes"
        yield compare_printed(f"{PAPER}, Theorem 3", quantity, str(Fraction(classes - 1, classes)), largest)
        largest = _extremes(scores.multiclass_log_loss, classes)[0]
        yield compare_claim(
            f"{PAPER}, Theorem 4",
            f"Largest logarithmic loss of a correct prediction, {classes} classes",
            f"-log(1/{classes})",
            f"{largest:.6g}",
            holds=is_near(largest, math.log(classes)),
        )


def _compare_superiority() -> Iterator[Comparison]:
    """Best wrong prediction minus worst correct one; ties of two classes are the best wrong ones."""
    classes = 4
    lines = (
        ("Theorem 1", "Logarithmic loss", scores.multiclass_log_loss, math.log(2 / classes)),
        ("Theorem 2", "Brier score", scores.multiclass_brier, (2 - classes) / (2 * classes)),
        ("Theorem 6", "Penalised Brier score", scores.penalized_brier, 1 / 2),
        ("Theorem 6", "Penalised logarithmic loss", scores.penalized_log_loss, math.log(2)),
    )
    for place, name, score, exact in lines:
        correct, wrong = _extremes(score, classes)
        yield compare_claim(
            f"{PAPER}, {place}",
            f"{name}: best wrong prediction minus worst correct one, {classes} classes",
            "above 0" if exact > 0 else "not above 0",
            f"{wrong - correct:.6g}",
            holds=is_near(wrong - correct, exact),
        )


def _compare_propriety() -> Iterator[Comparison]:
    forecasts = as_table(simplex_grid(3, 10))
    for name, score in (("PBS", scores.penalized_brier), ("PLL", scores.penalized_log_loss)):
        expected = expected_scores(score, forecasts)
        rivals = int((expected <= np.diag(expected) + TOLERANCE).sum()) - len(forecasts)
        quantity = f"{name}: forecasts that do as well as one of {len(forecasts)} truths"
        yield compare_printed(f"{PAPER}, Theorem 5", quantity, "0", rivals)


def _compare_simulations() -> Iterator[Comparison]:
    shares = {
        f"{name}, {classes} classes": _draw_shares(name, classes, random_stream(SEED, number, classes))
        for number, name in enumerate(_DISTRIBUTIONS)
        for classes in (3, 5, 10)
    }
    for place, printed, tolerance, relation, position in (
        ("Fig. 4", "99.996", 0.0005, "less", 0),
        ("Fig. 5", "63", 0.5, "more", 1),
    ):
        yield compare_readings(
            f"{PAPER}, {place}",
            f"Percent of wrong forecasts with {relation} on the true class that have the larger Brier score",
            printed,
            {name: share[position] for name, share in shares.items()},
            tolerance=tolerance,
            reason="The text draws vectors on the simplex and their number of classes from a normal"
            " distribution, which is not a procedure; readings of it disagree.",
        )


def _draw_shares(name: str, classes: int, rng: np.random.Generator) -> tuple[float, float]:
    """Percentage of wrong forecasts that score worse, if they give the true class less, or more."""
    correct, wrong = (_DISTRIBUTIONS[name](rng, (_PAIRS, classes)) for _ in range(2))
    rows, best = np.arange(_PAIRS), correct.argmax(axis=1)
    # classes are exchangeable: moving the largest to the front draws among correct forecasts
    correct[rows, best], correct[:, 0] = correct[:, 0], correct[rows, best].copy()
    is_wrong = wrong.argmax(axis=1) > 0
    correct, wrong = (
        table[is_wrong] / table[is_wrong].sum(axis=1, keepdims=True) for table in (correct, wrong)
    )
    label = np.zeros(len(wrong))
    is_worse = scores.multiclass_brier(label, wrong) > scores.multiclass_brier(label, correct)
    has_less = wrong[:, 0] < correct[:, 0]
    return 100 * float(is_worse[has_less].mean()), 100 * float(is_worse[~has_less].mean())
