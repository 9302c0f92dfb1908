"""The numbers and theorems of Ahmadian et al. (2025) against the engine."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from scorereport import scores
from scorereport.reference.comparison_records import TOLERANCE
from scorereport.reliability.sampling import SEED, random_stream
from scorereport.study.papers.ahmadian_tables import compare_tables
from scorereport.study.papers.citations import AHMADIAN as PAPER
from scorereport.study.papers.forecasts import as_table, expected_scores, score_forecasts, simplex_grid
from scorereport.study.papers.printed_numbers import compare_claim, compare_printed, compare_readings, is_near

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scorereport._utils.arrays import FloatArray
    from scorereport.reference.comparison_records import Comparison

#: The two forecasts of section 1.1; the second class is the true one.
A = (Fraction(33, 100), Fraction(34, 100), Fraction(33, 100))
B = (Fraction(51, 100), Fraction(49, 100), Fraction(0))
#: Steps of the grid on which theorems are tried: it holds the uniform forecast and that of two classes.
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
    """Each number, theorem and checkable claim of the paper against the engine."""
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
    """The worst score of a correct prediction on the grid, and the best of a wrong one."""
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
    """The best wrong prediction less the worst correct one; ties of two classes are the best wrong ones."""
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
            f"{name}: best wrong prediction less worst correct one, {classes} classes",
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
        f"{law}, {classes} classes": _draw_shares(law, classes, random_stream(SEED, number, classes))
        for number, law in enumerate(_DISTRIBUTIONS)
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
            reason="The text draws vectors on the simplex and their number of classes from a normal law,"
            " which is no procedure; readings of it disagree.",
        )


def _draw_shares(law: str, classes: int, rng: np.random.Generator) -> tuple[float, float]:
    """Percent of pairs in which the wrong forecast scores worse, if it gives the true class less, or more."""
    correct, wrong = (_DISTRIBUTIONS[law](rng, (_PAIRS, classes)) for _ in range(2))
    rows, best = np.arange(_PAIRS), correct.argmax(axis=1)
    # classes are exchangeable: moving the largest to the front is drawing among correct forecasts
    correct[rows, best], correct[:, 0] = correct[:, 0], correct[rows, best].copy()
    is_wrong = wrong.argmax(axis=1) > 0
    correct, wrong = (
        table[is_wrong] / table[is_wrong].sum(axis=1, keepdims=True) for table in (correct, wrong)
    )
    label = np.zeros(len(wrong))
    is_worse = scores.multiclass_brier(label, wrong) > scores.multiclass_brier(label, correct)
    has_less = wrong[:, 0] < correct[:, 0]
    return 100 * float(is_worse[has_less].mean()), 100 * float(is_worse[~has_less].mean())
