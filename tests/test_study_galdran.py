"""What the study finds of Galdran (2023), and that it would notice a broken engine."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from scorereport import scores
from scorereport.curves.retention import METRICS
from scorereport.reference.comparison_records import Verdict
from scorereport.study.papers.galdran import reproduce_galdran
from scorereport.study.papers.galdran_errata import errata_galdran
from scorereport.study.papers.printed_numbers import compare_printed, compare_readings

INCONSISTENT = [
    ("eqs. 3 and 4", "RPS of p1", "1/8", 9 / 32),
    ("eqs. 3 and 4", "RPS of p2", "1/4", 9 / 16),
    ("eq. 7", "Largest sa-RPS, 3 classes", "1", 2.0),
    ("eq. 7", "Largest sa-RPS, 5 classes", "1", 4.0),
    ("sect. 2.2", "RPS over the Brier score of eq. 1, two classes", "1", 0.5),
    (
        "sect. 2.2 and 3.1",
        "sa-RPS as a proper score: truths that another forecast beats, of 28 on the 1/6-grid",
        "0",
        10.0,
    ),
    (
        "sect. 3.3",
        "Eyepacs, QWK: the best RPS result does not reach the worst sa-RPS result",
        "does not reach",
        "best RPS 17.84, worst sa-RPS 17.83",
    ),
]


def found(lines, *verdicts):
    return [line for line in lines if line.verdict in verdicts]


def test_numbers_of_the_paper():
    lines = list(reproduce_galdran())
    assert Counter(line.verdict for line in lines) == {
        Verdict.REPRODUCED: 17,
        Verdict.INCONSISTENT: 7,
        Verdict.NOT_REPRODUCIBLE: 4,
    }
    inconsistent = found(lines, Verdict.INCONSISTENT)
    assert [
        (line.subject.partition(", ")[2], line.quantity, line.reference, line.engine) for line in inconsistent
    ] == INCONSISTENT
    assert all(
        line.subject == "Galdran (2023), Table 1 and Fig. 4"
        for line in found(lines, Verdict.NOT_REPRODUCIBLE)
    )
    assert all(bool(line.reason) == (line.verdict != Verdict.REPRODUCED) for line in lines)


def test_the_examples_of_the_paper_as_corrected():
    """Equations 3 and 5 exactly; equation 6, of which the text prints .09 and .1025, with both sa-RPS."""
    table = [[1 / 4, 3 / 4, 0], [1 / 4, 0, 3 / 4]]
    np.testing.assert_array_equal(scores.rps([0, 0], table), [9 / 32, 9 / 16])
    np.testing.assert_array_equal(scores.rps([0, 0, 0], np.eye(3)), [0, 1 / 2, 1])
    table = [[0.30, 0.40, 0.30], [0.45, 0.50, 0.05]]
    assert scores.rps([1, 1], table) == pytest.approx([0.09, 0.1025], rel=1e-14)
    assert scores.sa_rps([1, 1], table, scale="paper") == pytest.approx([0.18, 0.125], rel=1e-14)
    assert scores.sa_rps([1, 1], table) == pytest.approx([0.09, 0.0625], rel=1e-14)


def test_errata_are_confirmed():
    lines = list(errata_galdran())
    assert [line.quantity.partition(":")[0] for line in lines] == [f"E{number}" for number in range(1, 10)]
    assert not found(lines, Verdict.REFUTED)
    assert lines[3].reference == "11/54"
    assert lines[3].engine == "1/6"


def test_a_wrong_rps_is_noticed(monkeypatch):
    rps = scores.rps
    monkeypatch.setattr(scores, "rps", lambda *args, **options: 1.01 * rps(*args, **options))
    differing = [line.quantity for line in found(reproduce_galdran(), Verdict.DIFFERS)]
    assert {"RPS of p1", "RPS of p2", "Largest RPS, 3 classes"} < set(differing)
    refuted = [line.quantity[:2] for line in found(errata_galdran(), Verdict.REFUTED)]
    assert refuted == ["E1", "E2"]


def test_a_proper_sa_rps_is_noticed(monkeypatch):
    rps = scores.rps
    monkeypatch.setattr(scores, "sa_rps", lambda y, p, **_: rps(y, p))
    differing = [line.quantity for line in found(reproduce_galdran(), Verdict.DIFFERS)]
    assert len(differing) == 2
    assert all("prefers the asymmetric" in quantity for quantity in differing)
    assert [line.quantity[:2] for line in found(errata_galdran(), Verdict.REFUTED)] == ["E3", "E4", "E5"]


def test_a_wrong_kappa_is_noticed(monkeypatch):
    monkeypatch.setitem(METRICS, "quadratic_weighted_kappa", lambda tables: np.full(tables.shape[:-2], 0.5))
    differing = [line.quantity for line in found(reproduce_galdran(), Verdict.DIFFERS)]
    assert differing == [f"Areas under the retention curve, {data}, QWK" for data in ("TMED", "Eyepacs")]
    assert [line.quantity[:2] for line in found(errata_galdran(), Verdict.REFUTED)] == ["E9"]


@pytest.mark.parametrize(
    ("engine", "verdict"),
    [
        (0.1254, Verdict.REPRODUCED),
        (0.1256, Verdict.DIFFERS),
        (0.28125, Verdict.INCONSISTENT),
        (0.2813, Verdict.DIFFERS),
    ],
)
def test_printed_numbers_are_judged_by_their_digits(engine, verdict):
    line = compare_printed("paper", "score", ".125", engine, corrected=9 / 32, reason="because")
    assert line.verdict == verdict
    assert line.tolerance == 0.0005


@pytest.mark.parametrize(
    ("readings", "verdict"),
    [
        ((0.626, 0.634), Verdict.REPRODUCED),
        ((0.60, 0.66), Verdict.NOT_REPRODUCIBLE),
        ((0.64, 0.70), Verdict.DIFFERS),
        ((0.60, float("nan")), Verdict.DIFFERS),
    ],
)
def test_readings_are_judged_by_what_they_span(readings, verdict):
    named = dict(zip("ab", readings, strict=True))
    assert compare_readings("paper", "score", "0.63", named, reason="open").verdict == verdict
