"""The study of Dimitriadis et al. (2021): verdicts as they must be, and a broken engine is noticed."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import numpy as np
import pandas as pd
import pytest

import scorereport as sr
from scorereport.reference.comparison_records import Verdict
from scorereport.reliability.decomposition import Decomposition
from scorereport.study.papers import dimitriadis, dimitriadis_errata, dimitriadis_theorems
from scorereport.study.papers import dimitriadis_theorems as dimitriadis_simulations
from scorereport.study.papers.dimitriadis import figure_3, reproduce_dimitriadis
from scorereport.study.papers.dimitriadis_errata import errata_dimitriadis

PAPER = "Dimitriadis et al. (2021)"
#: All lines that are not plainly reproduced.
EXCEPTIONS = {
    ("Fig. 1", "forecasts n"): Verdict.INCONSISTENT,
    ("Fig. 4", "confidence bands, other n and k"): Verdict.NOT_REPRODUCIBLE,
    ("Fig. 5", "other n"): Verdict.NOT_REPRODUCIBLE,
}
#: Table 2: mean score, MCB, DSC and UNC as printed, and six digits of them as R gives them.
TABLE_2 = {
    "ENS": ((".266", ".066", ".044", ".244"), (0.266168, 0.066072, 0.044115, 0.244211)),
    "EPC": ((".234", ".022", ".032", ".244"), (0.234282, 0.022350, 0.032279, 0.244211)),
    "EMOS": ((".232", ".018", ".030", ".244"), (0.232025, 0.018283, 0.030469, 0.244211)),
    "Logistic": ((".206", ".017", ".056", ".244"), (0.205746, 0.017076, 0.055541, 0.244211)),
}
#: Lines that need Niamey: members, Table 2 and the panels that repeat it, n, bins, the best, infinity.
OF_NIAMEY = 1 + 16 + 12 + 1 + 2 * 4 + 3 + 1


@pytest.fixture(scope="module")
def niamey(shared):
    return pd.read_csv(shared / "niamey_2016.csv")


@pytest.fixture
def quick(monkeypatch):
    """Leave out the simulations, which take seconds."""
    monkeypatch.setattr(dimitriadis, "compare_simulations", lambda: iter(()))


def place(line):
    return line.subject.removeprefix(f"{PAPER}, ")


def differing(comparisons):
    lines = list(comparisons)
    assert {line.verdict for line in lines if line.is_unexpected} <= {Verdict.DIFFERS}
    return {(place(line), line.quantity) for line in lines if line.is_unexpected}


@pytest.mark.sweep
def test_all_verdicts(niamey):
    lines = list(reproduce_dimitriadis(niamey))
    others = {
        (place(line), line.quantity): line.verdict for line in lines if line.verdict is not Verdict.REPRODUCED
    }
    assert others == EXCEPTIONS
    assert Counter(place(line) for line in lines) == {
        "section 2": 1,
        "Table 2": 16,
        **dict.fromkeys(("Fig. 1(b)", "Fig. 1(d)", "Fig. 1(f)", "Fig. 2(d)"), 3),
        "Fig. 1": 1,
        "section 3": 2 * 4 + 1,
        "section 5": 3 + 2,
        "Table 1": 1,
        **{f"Fig. 3({panels})": 4 for panels in ("a,b", "c,d")},
        **{f"Fig. 3({panel})": 1 for panel in "abcd"},
        **{f"Theorem 1({part})": 6 for part in ("a", "c", "e", "a-d")},
        "Theorem 2": 2,
        "section 4": 2 * 8,
        "Chernoff's distribution (ref. 31)": 4,
        "Appendix A": 3 + 1,
        "Appendix B": 2,
        "Fig. 4": 3 + 1,
        "Fig. 5": 9 + 1,
    }
    assert all(line.reason for line in lines if line.verdict is not Verdict.REPRODUCED)


@pytest.mark.sweep
@pytest.mark.usefixtures("quick")
def test_lines_are_unique(niamey):
    lines = [(line.subject, line.quantity) for line in reproduce_dimitriadis(niamey)]
    assert len(set(lines)) == len(lines)


@pytest.mark.sweep
@pytest.mark.usefixtures("quick")
def test_without_niamey_the_same_lines_are_not_compared(niamey):
    with_data, without = list(reproduce_dimitriadis(niamey)), list(reproduce_dimitriadis(None))
    assert [(a.subject, a.quantity, a.reference) for a in without] == [
        (a.subject, a.quantity, a.reference) for a in with_data
    ]
    missing = [line for line in without if line.verdict is Verdict.NOT_COMPARED]
    assert len(missing) == OF_NIAMEY
    assert {line.reason for line in missing} == {
        "Needs the forecasts at Niamey of the R package reliabilitydiag, which is not installed."
    }


def test_table_2_to_six_digits(niamey):
    of_niamey = islice(reproduce_dimitriadis(niamey), OF_NIAMEY)
    lines = {line.quantity: line for line in of_niamey if place(line) == "Table 2"}
    for forecast, (printed, six_digits) in TABLE_2.items():
        row = [lines[f"{forecast}, {label}"] for label in ("mean score", "MCB", "DSC", "UNC")]
        assert tuple(line.reference for line in row) == printed
        assert tuple(f"{line.engine:.3f}".removeprefix("0") for line in row) == printed
        assert tuple(round(line.engine, 6) for line in row) == six_digits


def test_niamey_has_92_days_with_53_events(niamey):
    fit = sr.corp(niamey["obs"], niamey["ENS"])
    assert (fit.n, fit.events) == (92, 53)


@pytest.mark.parametrize(
    ("lowest", "highest", "n", "events", "printed"),
    [(9 / 52, 20 / 52, 8, 1, ".125"), (21 / 52, 42 / 52, 27, 13, ".481")],
)
def test_bins_quoted_in_the_text(niamey, lowest, highest, n, events, printed):
    bins = sr.corp(niamey["obs"], niamey["ENS"]).bins
    row = bins[np.isclose(bins["x_min"], lowest, rtol=0, atol=1e-14)].squeeze()
    assert row["x_max"] == pytest.approx(highest, abs=1e-14)
    assert (row["n"], row["events"]) == (n, events)
    assert f"{row['cep']:.3f}".removeprefix("0") == printed


def test_the_log_score_of_ens_is_infinite_for_the_days_that_were_certain_and_wrong(niamey):
    d = sr.corp(niamey["obs"], niamey["ENS"]).decompose("log")
    wrong = (niamey["ENS"] - niamey["obs"]).abs() == 1
    assert d.miscalibration == np.inf
    assert np.isfinite([d.discrimination, d.uncertainty]).all()
    assert d.infinite_cases == wrong.sum() > 0


@pytest.mark.parametrize(
    ("kind", "total", "events", "of_events"),
    [
        ("discrete", 515.70000000000005, 696, 418.60000000000002),
        ("continuous", 498.73630554624833, 676, 399.10072573670186),
    ],
)
def test_draws_of_figure_3_are_those_of_r(kind, total, events, of_events):
    """In R 4: set.seed(42); x <- sample((1:10 - .5)/10, 1024, TRUE) or runif(1024); rbinom(1024, 1, x^.5)."""
    y, x, _ = figure_3(kind).cases
    assert (x.sum(), y.sum(), (x * y).sum()) == pytest.approx((total, events, of_events), rel=1e-14)


def test_simulated_forecasts_have_the_densities_named():
    """The inverse of each distribution function, checked by the mean and the second moment."""
    u = (np.arange(200_000) + 0.5) / 200_000
    moments = {"Uniform": (1 / 2, 1 / 3), "Linear": (0.6, 0.1 * 4 / 3 + 0.3)}
    for distribution, expected in moments.items():
        x = dimitriadis_simulations._DISTRIBUTIONS[distribution].draw(u, u)
        assert (x.mean(), (x**2).mean()) == pytest.approx(expected, abs=1e-9)
    beta = dimitriadis_simulations._DISTRIBUTIONS["Beta Mixture"].draw(u, np.zeros(len(u)))
    assert (beta.mean(), (beta**2).mean()) == pytest.approx((1 / 11, 2 / (11 * 12)), abs=1e-6)


@pytest.mark.sweep
@pytest.mark.usefixtures("quick")
def test_a_wrong_component_is_noticed(niamey, monkeypatch):
    right = Decomposition.miscalibration.fget
    monkeypatch.setattr(Decomposition, "miscalibration", property(lambda self: right(self) + 0.01))
    lines = differing(reproduce_dimitriadis(niamey))
    assert {("Table 2", f"{name}, MCB") for name in ("ENS", "EPC", "EMOS", "Logistic")} <= lines
    assert {"Theorem 1(e)", "Theorem 2", "section 5", "Fig. 3(a,b)"} <= {where for where, _ in lines}
    assert not {what for where, what in lines if where == "Table 2" and "MCB" not in what}


@pytest.mark.sweep
@pytest.mark.usefixtures("quick")
def test_a_negative_component_is_noticed(monkeypatch):
    monkeypatch.setattr(Decomposition, "discrimination", property(lambda _: -0.01))
    assert {"Theorem 1(c)", "Theorem 1(a-d)"} <= {
        where for where, _ in differing(reproduce_dimitriadis(None))
    }


@pytest.mark.sweep
@pytest.mark.usefixtures("quick")
def test_wrong_data_are_noticed(niamey):
    lines = {(place(line), line.quantity): line for line in reproduce_dimitriadis(niamey.iloc[:-1])}
    assert lines["Fig. 1", "forecasts n"].verdict is Verdict.DIFFERS
    assert lines["Table 2", "ENS, mean score"].verdict is Verdict.DIFFERS
    shifted = niamey.assign(ENS=niamey["ENS"] * 0.999)
    lines = {(place(line), line.quantity): line for line in reproduce_dimitriadis(shifted)}
    assert lines["section 2", "ENS, members of the ensemble"].verdict is Verdict.DIFFERS
    assert lines["section 3", "ENS, bin from 9/52 to 20/52: last forecast"].verdict is Verdict.DIFFERS


@pytest.mark.sweep
@pytest.mark.usefixtures("quick")
def test_a_wrong_quantile_is_noticed(monkeypatch):
    monkeypatch.setattr(dimitriadis_theorems, "chernoff_quantile", lambda p: 0.7 * p)
    assert len(differing(reproduce_dimitriadis(None))) == 4


@pytest.mark.sweep
@pytest.mark.usefixtures("quick")
def test_a_wrong_choice_of_method_is_noticed(monkeypatch):
    monkeypatch.setattr("scorereport.reliability.bands.choose_method", lambda *_: "discrete")
    assert {where for where, _ in differing(reproduce_dimitriadis(None))} == {
        "section 4",
        *(f"Fig. 3({panel})" for panel in "bcd"),
    }


def test_a_wrong_fit_is_noticed_by_the_simulations(monkeypatch):
    monkeypatch.setattr(dimitriadis_simulations, "_REPLICATES", 20)
    assert not any(line.is_unexpected for line in dimitriadis_simulations.compare_simulations())
    right = sr.Corp.recalibrate
    monkeypatch.setattr(sr.Corp, "recalibrate", lambda self, p: right(self, p) + 0.1)
    assert Counter(where for where, _ in differing(dimitriadis_simulations.compare_simulations())) == {
        "Fig. 4": 3,
        "Fig. 5": 9,
    }


def test_all_errata_are_confirmed():
    lines = list(errata_dimitriadis())
    assert [line.quantity.split(":")[0] for line in lines] == ["E1", "E2", "E3", "E5", "E5"]
    assert {line.verdict for line in lines} == {Verdict.CONFIRMED}
    assert {line.subject for line in lines} == {PAPER}
    assert all(line.reason and line.engine != line.reference for line in lines)
    # 39 and 53 events of 92 give .244; weights 1 of 25, and .4 + 1.2 · .05 of 10; Table 2; 1 event of 3
    values = [(2.0, 0.0), ("11", "none"), ("1/25", "23/500"), (0.206, 0.205), (pytest.approx(1 / 3), 0.4)]
    assert [(line.engine, line.reference) for line in lines] == values


def test_an_erratum_that_does_not_show_is_refuted(monkeypatch):
    monkeypatch.setattr(Decomposition, "miscalibration", property(lambda _: 0.01))
    monkeypatch.setattr(dimitriadis_errata, "attainable_events", lambda n, _: list(range(n)))
    refuted = [line.quantity for line in errata_dimitriadis() if line.verdict is Verdict.REFUTED]
    assert [text[:2] for text in refuted] == ["E1", "E5"]
