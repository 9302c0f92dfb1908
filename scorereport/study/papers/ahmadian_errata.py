"""Errata of Ahmadian et al. (2025), each with its proof or counterexample, computed."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from scorereport import scores
from scorereport.study.papers.ahmadian import TABLE_2, TABLE_3, A, count_brier_above_log, exact_brier
from scorereport.study.papers.paper_numerics import as_table, expected_scores
from scorereport.study.papers.printed_numbers import AHMADIAN as PAPER
from scorereport.study.papers.printed_numbers import Erratum, ErratumResult, is_near, judge_errata

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport._utils.arrays import FloatArray
    from scorereport.reference.comparison_records import Comparison

_TENTHS = (Fraction(5, 10), Fraction(3, 10), Fraction(2, 10))


def errata_ahmadian() -> Iterator[Comparison]:
    """Compare each erratum: the printed claim, the correct value, and whether the computation confirms it."""
    return judge_errata(PAPER, _ERRATA)


def _penalise(forecasts: FloatArray, truth: FloatArray, penalty: float, length: int) -> FloatArray:
    """Algorithm 1 line by line; it prints the number of classes as `length` but means the number of cases."""
    hot_values = np.where(truth == 1, forecasts, truth).sum(axis=1)
    container = forecasts - hot_values[:, None]
    container = np.where(container < 0, 0.0, container).sum(axis=1)
    return np.where(container > 0, np.ones(length) * penalty, container)


def _find_algorithm_2() -> ErratumResult:
    """For the forecast (.5, .3, .2) of the second class."""
    forecasts, truth = as_table([_TENTHS]), np.eye(3)[[1]]
    payoff = _penalise(forecasts, truth, (3 - 1) / 3**2, length=1)
    returned = float(np.mean(((truth - forecasts) ** 2).mean(axis=1) + payoff))
    exact = exact_brier(_TENTHS, 1) + Fraction(2, 3)
    engine = scores.penalized_brier([1], forecasts)[0]
    return round(returned, 6), exact, is_near(engine, exact) and is_near(3 * returned, exact)


def _find_algorithm_3() -> ErratumResult:
    """For the forecast (.4, .6) of the first class."""
    forecasts, truth = np.array([[0.4, 0.6]]), np.eye(2)[[0]]
    payoff = _penalise(forecasts, truth, math.log(1 / 2), length=1)
    returned = float(np.mean((truth * np.log(forecasts)).sum() - payoff))
    engine = float(scores.penalized_log_loss([0], forecasts)[0])
    return round(returned, 4), round(engine, 4), is_near(engine, -math.log(0.4) + math.log(2))


def _find_length() -> ErratumResult:
    """Two cases of three classes, which the printed length does not fit."""
    forecasts, truth = as_table([_TENTHS, _TENTHS]), np.eye(3)[[0, 1]]
    meant = _penalise(forecasts, truth, 1.0, length=2)
    try:
        _penalise(forecasts, truth, 1.0, length=3)
    except ValueError:
        return "3 penalties for 2 cases", "2 penalties for 2 cases", meant.tolist() == [0.0, 1.0]
    return "3 penalties for 2 cases", "2 penalties for 2 cases", False


def _find_ties() -> ErratumResult:
    """A tie with the true class, for which argmax returns the first class."""
    forecasts, truth = np.array([[0.5, 0.5]]), np.eye(2)[[1]]
    lenient = float(_penalise(forecasts, truth, 0.5, length=1)[0])
    penalty = float(scores.penalized_brier([1], forecasts)[0] - scores.multiclass_brier([1], forecasts)[0])
    return lenient, penalty, is_near(penalty, 1 / 2)


def _find_proof() -> ErratumResult:
    """S_PBS(Q, Q) - S_BS(Q, Q), which the paper claims to be 0."""
    penalised, plain = (
        expected_scores(score, as_table([_TENTHS]))[0, 0]
        for score in (scores.penalized_brier, scores.multiclass_brier)
    )
    exact = Fraction(2, 3) * (1 - max(_TENTHS))
    return Fraction(0), exact, is_near(penalised - plain, exact)


def _tie_rule(plain: str, penalised: str, penalty: float) -> ErratumResult:
    """Expected scores of the truth (.51, .49) and of (.5, .5) if a tie counts as correct."""
    forecasts = np.array([[0.51, 0.49], [0.5, 0.5]])

    def lenient(labels: FloatArray, table: FloatArray) -> FloatArray:
        payoff = _penalise(table, np.eye(2)[labels.astype(int)], penalty, length=len(table))
        return getattr(scores, plain)(labels, table) + payoff

    honest, tied = expected_scores(lenient, forecasts)[:, 0]
    ours = expected_scores(getattr(scores, penalised), forecasts)[:, 0]
    return round(float(honest), 4), round(float(tied), 4), bool(tied < honest and ours[0] < ours[1])


def _find_strict_ties() -> ErratumResult:
    """Expected scores of three equal classes and of (.34, .33, .33) if a tie counts as wrong."""
    forecasts = np.array([[1 / 3, 1 / 3, 1 / 3], [0.34, 0.33, 0.33]])

    def strict(labels: FloatArray, table: FloatArray) -> FloatArray:
        own = table[np.arange(len(table)), labels.astype(int)]
        is_alone = (table >= own[:, None]).sum(axis=1) == 1
        return scores.multiclass_brier(labels, table) + 2 / 3 * ~is_alone

    honest, other = expected_scores(strict, forecasts)[:, 0]
    ours = expected_scores(scores.penalized_brier, forecasts)[:, 0]
    return round(float(honest), 4), round(float(other), 4), bool(other < honest and ours[0] < ours[1])


def _find_expansion() -> ErratumResult:
    """The sum of squares of the two values after the first of (.5, .3, .2)."""
    others, classes = _TENTHS[1:], len(_TENTHS)
    mean = sum(others, Fraction()) / len(others)
    spread = sum(((q - mean) ** 2 for q in others), Fraction())
    squares = sum((q**2 for q in others), Fraction())
    return spread + classes * mean**2, squares, spread + (classes - 1) * mean**2 == squares


def _find_same_hot_value() -> ErratumResult:
    """A wrong forecast with the hot value of a correct one, and yet a smaller Brier score."""
    correct = tuple(Fraction(value, 1000) for value in (310, 300, 300, 90))
    wrong = tuple(Fraction(value, 1000) for value in (310, 320, 185, 185))
    right_score, wrong_score = exact_brier(correct, 0), exact_brier(wrong, 0)
    engine = scores.multiclass_brier([0, 0], as_table([correct, wrong]))
    is_case = correct[0] == max(correct) and wrong[0] < max(wrong)
    is_exact = is_near(engine[0], right_score) and is_near(engine[1], wrong_score)
    return (
        f"above {float(right_score)}",
        str(float(wrong_score)),
        is_case and is_exact and wrong_score < right_score,
    )


def _expected_f1(decision: int, chance: Fraction, cases: int, empty: int) -> Fraction:
    """Expected F1 score of one decision for all cases; `empty` is the value of 0/0."""
    total = Fraction()
    for outcome in product((0, 1), repeat=cases):
        events, alarms = sum(outcome), decision * cases
        f1 = Fraction(2 * events * decision, events + alarms) if events + alarms else Fraction(empty)
        total += chance**events * (1 - chance) ** (cases - events) * f1
    return total


def _find_f_measure() -> ErratumResult:
    """Three cases of probability .3: the truthful decision is 0 for all."""
    chance = Fraction(3, 10)
    truthful = max(_expected_f1(0, chance, 3, empty) for empty in (0, 1))
    other = _expected_f1(1, chance, 3, 0)
    return f"at most {float(truthful)}", str(float(other)), other > truthful


def _find_selection() -> ErratumResult:
    above = count_brier_above_log()
    return f"{len(TABLE_3)} of {len(TABLE_3)} rows", f"{above} of {len(TABLE_3)} rows", above < len(TABLE_3)


def _find_sign() -> ErratumResult:
    smallest = min(min(row.brier, row.penalized_brier, row.log, row.penalized_log) for row in TABLE_2)
    return "below 0", f"at least {float(smallest)}", smallest > 0


def _find_true_negative() -> ErratumResult:
    """Forecast A of section 1.1 predicts the observed class."""
    predicted = int(np.argmax(as_table([A])))
    engine = scores.penalized_brier([1], as_table([A]))[0]
    return "negative", "positive", predicted == 1 and is_near(engine, exact_brier(A, 1))


def _find_block_slices() -> ErratumResult:
    """Iterations of Algorithm 4 with a full test block, for ten blocks."""
    blocks = list(range(10))
    validation, test = len(blocks) * 2 // 10, len(blocks) * 3 // 10
    full = sum(len(blocks[i + validation : i + validation + test]) == test for i in blocks)
    return f"{len(blocks)} of 10", f"{full} of 10", full == len(blocks) - validation - test + 1


def _find_lenient_brier() -> ErratumResult:
    return _tie_rule("multiclass_brier", "penalized_brier", 1 / 2)


def _find_lenient_log() -> ErratumResult:
    return _tie_rule("multiclass_log_loss", "penalized_log_loss", math.log(2))


_ERRATA: tuple[Erratum, ...] = (
    (
        "E1: Algorithm 2 returns equation 4 divided by the number of classes",
        _find_algorithm_2,
        "Class mean instead of sum, and a penalty of (c - 1)/c²; forecast (.5, .3, .2) of the second class.",
    ),
    (
        "E2: Algorithm 3 lacks the minus of the logarithmic loss",
        _find_algorithm_3,
        "It returns log q + log c for a wrong forecast; (.4, .6) of the first class.",
    ),
    (
        "E3: the penalties of Algorithm 1 must be as many as the cases, not as the classes",
        _find_length,
        "With two cases and three classes the arrays do not have the same length.",
    ),
    (
        "E3: Algorithm 1 counts a tie as correct, unlike the argmax of Definition 5",
        _find_ties,
        "Penalty for (.5, .5) if the second class is true.",
    ),
    (
        "E4: equations 38 and 39 fail: a penalised score of the truth exceeds the plain one",
        _find_proof,
        "The expected penalty is (c - 1)/c (1 - max Q), not 0, unless Q is certain; Q = (.5, .3, .2).",
    ),
    (
        "E5: with the ties of Algorithm 1 PBS is not proper",
        _find_lenient_brier,
        "If (.51, .49) is true, (.5, .5) escapes the penalty and has a smaller expected score; with the "
        "first argmax it does not.",
    ),
    (
        "E5: with the ties of Algorithm 1 PLL is not proper",
        _find_lenient_log,
        "If (.51, .49) is true, (.5, .5) escapes the penalty and has a smaller expected score; with the "
        "first argmax it does not.",
    ),
    (
        "E5: with ties counted as wrong PBS is not proper either",
        _find_strict_ties,
        "If three classes are equally likely, (.34, .33, .33) has a smaller expected score than the truth.",
    ),
    (
        "E6: equations 12 to 18 count c terms beside the true class where there are c - 1",
        _find_expansion,
        "Σq² = Σ(q - q̃)² + (c - 1) q̃², printed with c q̃²; (.5, .3, .2) of the first class.",
    ),
    (
        "E7: a wrong forecast with the same hot value can have the smaller Brier score",
        _find_same_hot_value,
        "(.31, .32, .185, .185) against the correct (.31, .30, .30, .09): its other values are more even.",
    ),
    (
        "E8: the F1 score is not a proper score",
        _find_f_measure,
        "Three cases of probability .3: predicting all positive has a larger expected F1 than the "
        "truthful all "
        "negative.",
    ),
    (
        "E9: PBS does not select better models than PLL in all rows",
        _find_selection,
        "Rows of Table 3 in which its F1 score is the larger one.",
    ),
    (
        "E9: the correlations with the F1 score are not negative in the table",
        _find_sign,
        "All correlations of Table 2 are positive: they belong to scores with their sign changed.",
    ),
    (
        "E10: the correct forecast A is a true positive, not a true negative",
        _find_true_negative,
        "Its largest probability is that of the observed class.",
    ),
    (
        "E10: Algorithm 4 does not give every iteration a full test block",
        _find_block_slices,
        "Its slices do not wrap around: with ten blocks the last iterations run past the end.",
    ),
)
