"""What the study finds of Ahmadian et al. (2025), and that it would notice a broken engine."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import pytest

from scorereport import scores
from scorereport.reference.comparison_records import Verdict
from scorereport.study.papers import ahmadian
from scorereport.study.papers.ahmadian import reproduce_ahmadian
from scorereport.study.papers.ahmadian_errata import errata_ahmadian

KEYS = ["E1", "E2", "E3", "E3", "E4", "E5", "E5", "E5", "E6", "E7", "E8", "E9", "E9", "E10", "E10"]


def found(lines, *verdicts):
    return [line for line in lines if line.verdict in verdicts]


def place_of(line):
    return line.subject.partition(", ")[2]


def test_numbers_of_the_paper():
    lines = list(reproduce_ahmadian())
    assert Counter(line.verdict for line in lines) == {
        Verdict.REPRODUCED: 22,
        Verdict.NOT_REPRODUCIBLE: 4,
        Verdict.INCONSISTENT: 1,
    }
    assert [line.engine for line in lines[:2]] == ["A 0.6534, B 0.5202", "A 1.0788, B 0.7133"]
    assert [place_of(line) for line in found(lines, Verdict.NOT_REPRODUCIBLE)] == [
        "Fig. 4",
        "Fig. 5",
        "Table 2",
        "Table 3",
    ]
    (inconsistent,) = found(lines, Verdict.INCONSISTENT)
    assert (place_of(inconsistent), inconsistent.reference, inconsistent.engine) == ("sect. 5.5", "18", 11.0)
    assert all(bool(line.reason) == (line.verdict != Verdict.REPRODUCED) for line in lines)


@pytest.mark.parametrize(
    ("plain", "penalised", "printed", "penalty"),
    [
        (scores.multiclass_brier, scores.penalized_brier, [0.6534, 0.5202], 2 / 3),
        (scores.multiclass_log_loss, scores.penalized_log_loss, [1.0788, 0.7133], math.log(3)),
    ],
)
def test_the_penalty_puts_the_correct_prediction_of_the_motivation_first(plain, penalised, printed, penalty):
    table = [[0.33, 0.34, 0.33], [0.51, 0.49, 0.0]]
    right, wrong = plain([1, 1], table)
    assert [round(right, 4), round(wrong, 4)] == printed
    assert wrong < right < wrong + penalty
    assert penalised([1, 1], table) == pytest.approx([right, wrong + penalty], rel=1e-15)


def test_errata_are_confirmed():
    lines = list(errata_ahmadian())
    assert [line.quantity.partition(":")[0] for line in lines] == KEYS
    assert not found(lines, Verdict.REFUTED)
    assert [(line.reference, line.engine) for line in lines[5:9]] == [
        (0.7448, 0.5),
        (1.0326, 0.6931),
        (1.3333, 1.1112),
        ("77/400", "13/100"),
    ]


@pytest.mark.sweep
def test_a_missing_penalty_is_noticed(monkeypatch):
    monkeypatch.setattr(scores, "penalized_brier", scores.multiclass_brier)
    differing = found(reproduce_ahmadian(), Verdict.DIFFERS)
    assert [place_of(line) for line in differing] == ["sect. 1.1", "Theorem 6"]
    refuted = [line.quantity[:2] for line in found(errata_ahmadian(), Verdict.REFUTED)]
    assert refuted == ["E1", "E3", "E4"]


@pytest.mark.sweep
def test_a_wrong_brier_score_is_noticed(monkeypatch):
    monkeypatch.setattr(scores, "multiclass_brier", lambda y, p: 1.0 - p[range(len(p)), [int(k) for k in y]])
    places = {place_of(line) for line in found(reproduce_ahmadian(), Verdict.DIFFERS)}
    assert places == {"sect. 1.1", "Fig. 4", "Fig. 5"}
    assert "E7" in {line.quantity[:2] for line in found(errata_ahmadian(), Verdict.REFUTED)}


@pytest.mark.sweep
def test_a_lenient_penalty_is_noticed(monkeypatch):
    """With ties taken for correct the score is improper, as the erratum says."""
    brier = scores.multiclass_brier

    def lenient(y, p):
        labels = [int(k) for k in y]
        return brier(y, p) + (p.shape[1] - 1) / p.shape[1] * (p[range(len(p)), labels] < p.max(axis=1))

    monkeypatch.setattr(scores, "penalized_brier", lenient)
    assert "Theorem 5" in {place_of(line) for line in found(reproduce_ahmadian(), Verdict.DIFFERS)}
    assert "E5" in {line.quantity[:2] for line in found(errata_ahmadian(), Verdict.REFUTED)}


def test_a_misread_table_is_noticed(monkeypatch):
    first, *others = ahmadian.TABLE_3
    rows = (first._replace(brier_gain=Fraction("6.85")), *others)
    monkeypatch.setattr(ahmadian, "_TABLES", (("Table 3", rows, Fraction(1, 100)),))
    differing = found(ahmadian.compare_tables(), Verdict.DIFFERS)
    assert [line.quantity for line in differing] == ["Gains that agree with their entries", "Entries"]
