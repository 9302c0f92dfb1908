"""The study of Flores et al. (2025): expected verdicts, and detection of a broken engine."""

from __future__ import annotations

from collections import Counter
from dataclasses import is_dataclass, replace
from fractions import Fraction

import pytest

import scorereport as sr
from scorereport.reference.comparison_records import Verdict
from scorereport.study.papers import flores
from scorereport.study.papers.flores import fits_treating_none, reproduce_flores
from scorereport.study.papers.flores_errata import errata_flores
from scorereport.study.papers.printed_numbers import smallest_sample

PAPER = "Flores et al. (2025)"
#: All lines with another verdict than reproduced.
EXCEPTIONS = {
    ("Appendix F", 'cells of 8 in Brier 5%-20% that scale="regret" gives'): Verdict.INCONSISTENT,
    ("Appendix F", 'cells of 8 in Brier 5%-20% that scale="difference" gives'): Verdict.INCONSISTENT,
    **{
        ("Table 2", row): Verdict.NOT_REPRODUCIBLE
        for row in ("AUC", "Brier", "Log Loss", "Thr. LogLoss", "Thr. Brier")
    },
    (
        "Table 2",
        "Thr. Brier over Thr. LogLoss of the three models that are alike, on 1.66 %-3 %",
    ): Verdict.INCONSISTENT,
    **{
        ("Appendix K", f"{venue}: shares of papers by metric"): Verdict.NOT_REPRODUCIBLE
        for venue in ("ICML", "FAccT", "CHIL")
    },
    ("Theorem 2.4", "Brier score as mean regret"): Verdict.INCONSISTENT,
    ("Theorem 3.3", "mean regret on [.2, .7]"): Verdict.INCONSISTENT,
    ("Theorem 3.4", "mean regret, uniform in log-odds"): Verdict.INCONSISTENT,
    ("Theorem 3.7", "mean net benefit on [.2, .7]"): Verdict.INCONSISTENT,
}
#: Appendix F as printed: AUC, Brier, net benefit at 5 %, 10 % and 20 %, Brier 5 %-20 %.
APPENDIX_F = {
    "Highly sensitive": "0.73 0.41 0.17 0.15 0.09 0.12",
    "Underestimating risk": "0.75 0.15 0.16 0.12 0.06 0.16",
    "Well calibrated": "0.75 0.17 0.16 0.12 0.05 0.17",
    "Overestimating risk": "0.75 0.20 0.16 0.11 0.03 0.18",
    "Assume all positive": "0.50 0.80 0.16 0.11 0.00 0.20",
    "Highly specific": "0.73 0.14 0.10 0.10 0.09 0.18",
    "Severely underestimating risk": "0.75 0.18 0.09 0.04 0.01 0.29",
    "Assume all negative": "0.50 0.20 0.00 0.00 0.00 0.35",
}
ERRATA = "E1 E2 E3 E4 E5 E6 E7 E8 E9 E9 E10 E11 E11 E11 E12 E13 E13 E14 E15 E15"


def place(line):
    return line.subject.removeprefix(f"{PAPER}, ")


def differing(comparisons):
    lines = list(comparisons)
    assert {line.verdict for line in lines if line.is_unexpected} <= {Verdict.DIFFERS}
    return {place(line) for line in lines if line.is_unexpected}


@pytest.fixture
def quick(monkeypatch):
    """Leave out the million cases of Appendix F."""
    monkeypatch.setattr(flores, "_compare_appendix_f", lambda: iter(()))


@pytest.fixture
def break_score(monkeypatch):
    """Add 0.01 to the result of a function of `sr.scores`, or to the named parts of a record."""

    def move(name, *parts):
        right = getattr(sr.scores, name)

        def wrong(*args, **options):
            value = right(*args, **options)
            if is_dataclass(value):
                return replace(value, **{part: getattr(value, part) + 0.01 for part in parts})
            return value + 0.01

        monkeypatch.setattr(sr.scores, name, wrong)

    return move


@pytest.mark.sweep
def test_all_verdicts():
    lines = list(reproduce_flores())
    others = {
        (place(line), line.quantity): line.verdict for line in lines if line.verdict is not Verdict.REPRODUCED
    }
    assert others == EXCEPTIONS
    assert Counter(place(line) for line in lines) == {
        "Appendix F": 48 + 2 + 3,
        "Table 2": 6,
        "Appendix K": 3,
        "Appendix J": 7,
        "Theorem 3.3": 2,
        "Appendix H": 2,
        **dict.fromkeys(("Theorem C.2", "Theorem 2.4", "Theorem 2.5", "Theorem E.1", "Appendix G"), 1),
        **dict.fromkeys(("Theorem 3.4", "Theorem 3.7", "Theorem E.3", "Theorem E.4", "Theorem 2.1"), 1),
        **dict.fromkeys(("Lemma I.3", "Lemma I.4", "Theorem I.5", "Theorem I.6"), 1),
        **dict.fromkeys(("Lemma I.10", "Theorem I.11"), 1),
    }
    assert all(line.reason for line in lines if line.verdict is not Verdict.REPRODUCED)
    assert len({(line.subject, line.quantity) for line in lines}) == len(lines)


@pytest.mark.sweep
def test_appendix_f_to_the_printed_digits():
    lines = {line.quantity: line for line in flores._compare_appendix_f()}
    columns = ("AUC-ROC", "Brier", "NB 5%", "NB 10%", "NB 20%", "Brier 5%-20%")
    rows = {name: [lines[f"{name}, {column}"] for column in columns] for name in APPENDIX_F}
    assert {name: " ".join(line.reference for line in row) for name, row in rows.items()} == APPENDIX_F
    rounded = {name: [round(line.engine, 2) + 0.0 for line in row] for name, row in rows.items()}
    assert {name: " ".join(f"{value:.2f}" for value in row) for name, row in rounded.items()} == APPENDIX_F


@pytest.mark.usefixtures("quick")
def test_the_smallest_samples_of_the_survey():
    """CHIL: no n below 137 has counts for 78.8, 33.6 and 27.7 per cent."""
    shares = (0.788, 0.336, 0.277)

    def is_possible(n):
        return all(any(round(k / n, 3) == share for k in range(n + 1)) for share in shares)

    assert [n for n in range(1, 138) if is_possible(n)] == [137] == [smallest_sample(".788", ".336", ".277")]
    engine = {place(line): line.engine for line in reproduce_flores() if "CHIL" in line.quantity}
    assert engine == {"Appendix K": "at least 137 papers"}


@pytest.mark.sweep
def test_wrong_scores_are_noticed_in_appendix_f(break_score):
    for name in ("brier", "roc_auc", "bounded_brier", "net_benefit"):
        break_score(name)
    cells = [line for line in flores._compare_appendix_f() if "cells" not in line.quantity]
    wrong = [line.quantity for line in cells if line.verdict is Verdict.DIFFERS]
    assert len([quantity for quantity in wrong if "order" not in quantity]) == 48


@pytest.mark.sweep
def test_a_wrong_scale_is_not_an_inconsistency_of_the_paper(break_score):
    break_score("bounded_brier")
    lines = [line for line in flores._compare_appendix_f() if "cells" in line.quantity]
    assert [line.verdict for line in lines] == [Verdict.DIFFERS] * 3


@pytest.mark.sweep(after=3)
@pytest.mark.parametrize(
    ("broken", "places"),
    [
        (("brier",), {"Theorem 2.4", "Theorem 3.3", "Appendix G", "Appendix J"}),
        (("log_loss",), {"Theorem 2.5", "Appendix J"}),
        (
            ("regret",),
            {"Theorem C.2", "Theorem 2.4", "Theorem E.1", "Theorem 3.3", "Theorem I.5", "Theorem I.6"},
        ),
        (("net_benefit",), {"Theorem E.1", "Theorem 3.7", "Theorem E.3", "Theorem E.4"}),
        (("bounded_brier",), {"Theorem 3.3", "Theorem E.3"}),
        (("bounded_log_loss",), {"Theorem 3.4", "Theorem E.4"}),
        (("bounded_net_benefit",), {"Theorem 3.7"}),
        (("beta_regret",), {"Appendix G"}),
        (("roc_auc",), {"Theorem I.6", "Appendix J"}),
        (("partial_auc", "plus"), {"Lemma I.3", "Theorem I.5", "Lemma I.10", "Theorem I.11"}),
        (("partial_auc", "minus"), {"Lemma I.4", "Theorem I.5", "Lemma I.10", "Theorem I.11"}),
        (("top_k", "cost"), {"Appendix H"}),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, tuple) else "",
)
@pytest.mark.usefixtures("quick")
def test_a_wrong_score_is_noticed(break_score, broken, places):
    break_score(*broken)
    assert places <= differing(reproduce_flores())


@pytest.mark.usefixtures("quick")
def test_measures_with_different_ranks_are_noticed(monkeypatch):
    right = sr.scores.top_k
    monkeypatch.setattr(
        sr.scores, "top_k", lambda *args, **options: replace(right(*args, **options), net_benefit=0.0)
    )
    assert differing(reproduce_flores()) == {"Appendix H"}


@pytest.mark.usefixtures("quick")
def test_wrong_bounded_scores_are_not_an_error_of_table_2(break_score):
    break_score("bounded_log_loss")
    lines = [line for line in reproduce_flores() if "alike" in line.quantity]
    assert [line.verdict for line in lines] == [Verdict.DIFFERS]


def test_all_errata_are_confirmed():
    lines = list(errata_flores())
    assert " ".join(line.quantity.split(":")[0] for line in lines) == ERRATA
    assert {line.verdict for line in lines} == {Verdict.CONFIRMED}
    assert {line.subject for line in lines} == {PAPER}
    assert all(line.reason and line.engine != line.reference for line in lines)


#: The correct and the printed value of each erratum that is a matter of numbers.
VALUES = {
    "E1": (0.49, 49 / 200),
    "E2": (0.4125, 33 / 40),
    "E3": (0.3868528072345416, -0.3868528072345416),
    "E5": (1 / 4, 7 / 4),
    "E7": (7 / 19, 12 / 19),
    "E8": (1 / 5, 91 / 55),
    "E9": (0.1357340720221607, 0.2017701140677292),
    "E12": (1.0, 0.78),
    "E15": (0.2, 0.3591193680410346),
}


def test_the_values_of_errata_are_those_printed_and_those_computed():
    found = {}
    for line in errata_flores():
        found.setdefault(line.quantity.split(":")[0], (number_of(line.engine), number_of(line.reference)))
    for key, values in VALUES.items():
        assert found[key] == pytest.approx(values, rel=1e-9), key


def number_of(value):
    return float(Fraction(value)) if isinstance(value, str) and value[0].isdigit() else value


@pytest.mark.parametrize(
    ("broken", "keys"),
    [
        (("brier",), "E1 E13"),
        (("log_loss",), "E13"),
        (("bounded_brier",), "E2 E13 E14"),
        (("bounded_log_loss",), "E3 E4 E14"),
        (("bounded_net_benefit",), "E5 E6"),
        (("shifted_brier",), "E7 E8 E9 E9"),
        (("partial_auc", "delta_tpr", "plus"), "E11 E11 E11"),
        (("roc_auc",), "E12"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_an_erratum_that_is_not_found_is_refuted(break_score, broken, keys):
    break_score(*broken)
    refuted = [line.quantity.split(":")[0] for line in errata_flores() if line.verdict is Verdict.REFUTED]
    assert set(refuted) == set(keys.split())


def test_a_doubled_bounded_score_refutes_errata_of_its_scale(monkeypatch):
    right = sr.scores.bounded_brier
    monkeypatch.setattr(sr.scores, "bounded_brier", lambda *args, **options: 2 * right(*args, **options))
    refuted = {line.quantity.split(":")[0] for line in errata_flores() if line.verdict is Verdict.REFUTED}
    assert {"E2", "E13", "E14", "E15"} <= refuted


def test_a_missing_tie_refutes_e10(monkeypatch):
    monkeypatch.setattr(sr.scores, "bounded_brier", lambda y, p, **_: sr.scores.brier(y, p))
    refuted = {line.quantity.split(":")[0] for line in errata_flores() if line.verdict is Verdict.REFUTED}
    assert "E10" in refuted


def test_table_2_allows_a_narrow_ratio_only():
    assert fits_treating_none(0.0433)
    assert not fits_treating_none(0.0430)
    assert not fits_treating_none(0.0436)
