"""The answers of the R package reliabilitydiag, recorded in validation/recorded: to 1e-12, bands to 1e-10.

Once number by number with numpy, from the file as it is; and once by the comparisons of the certificate,
where every deviation that is expected is counted here.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from artefact_tools import make_once, shared_folder
from conftest import recorded
from scipy.special import ndtri

import scorereport as sr
from scorereport.curves import roc_curve
from scorereport.reference import deviations
from scorereport.reference.comparison_records import Verdict
from scorereport.reference.recorded_answers import (
    compare_case,
    compare_with_record,
    describe_recorded_answers,
)
from scorereport.scores.registry import REGISTRY

R = recorded("reliabilitydiag")
CASES = {case["name"]: case for case in R["cases"]}
SHAPES = (
    "continuous",
    "discrete",
    "rounded",
    "constant",
    "0/1 forecasts",
    "rare events",
    "one class",
    "two rows",
    "anti-correlated",
    "heavy ties",
    "float32",
)
#: The names of a score: in the record, and for `decompose`.
SCORES = ("brier", "log_loss", "misclassification", "spherical")
BOUNDED_SCORES = ("bounded_brier", "bounded_log_loss", "bounded_net_benefit")
SCORE_LABELS = (
    "Brier score",
    "Log score",
    "Misclassification",
    "Spherical score",
    "Bounded Brier score",
    "Bounded log score",
    "Bounded net benefit",
)
#: Cases whose bands R resampled: of all of these the estimate has certain ends, of the last nothing else.
RESAMPLED = ("continuous 1", "rounded 2", "0/1 forecasts 3", "one class 4")
KINDS = ("consistency", "confidence")

COMPONENTS = ("mean score", "MCB", "DSC", "UNC", "perfect forecast")
CONTINUOUS, DISCRETE = "continuous consistency band", "discrete consistency band"
RESAMPLED_CONSISTENCY = "resampled consistency band, in distribution"
RESAMPLED_CONFIDENCE = "resampled confidence band, in distribution"
#: Quantities of every case, which all agree.
ALWAYS = [
    *(f"{label}: {part}" for label in SCORE_LABELS for part in COMPONENTS),
    "number of bins",
    "lower edges of bins",
    "upper edges of bins",
    "cases in bins",
    "recalibrated probabilities",
    "reliability curve: corners",
    "reliability curve: heights",
    "AUC",
    "Murphy's reliability",
    "Murphy's resolution",
    "Murphy's uncertainty",
    DISCRETE,
    f"{CONTINUOUS}, R's quantile",
]


@pytest.fixture(scope="module", params=CASES)
def case(request):
    return CASES[request.param]


@pytest.fixture(scope="module")
def asked(case):
    return case["question"]


@pytest.fixture(scope="module")
def answer(case):
    return case["answer"]


@pytest.fixture(scope="module")
def fit(asked):
    return sr.corp(asked["y_true"], asked["y_prob"])


@pytest.fixture(scope="module")
def lines_of_cases(tmp_path_factory):
    folder = shared_folder(tmp_path_factory, "recorded")
    return make_once(folder, lambda: {name: compare_recorded(case) for name, case in CASES.items()})


def compare_recorded(case):
    """The comparisons of a case, without those of scores that are newer than the record."""
    newer = tuple(f"{entry.label}:" for entry in REGISTRY.values() if entry.label not in SCORE_LABELS)
    return [
        line
        for line in compare_case(case)
        if line.verdict is not Verdict.NOT_COMPARED or not line.quantity.startswith(newer)
    ]


@pytest.fixture(scope="module")
def verdicts(lines_of_cases):
    """Case, quantity and verdict of all comparisons, each with its line."""
    return {
        (name, line.quantity, line.verdict): line for name, lines in lines_of_cases.items() for line in lines
    }


def numbers(values):
    """Numbers of the record, which writes infinity as text."""
    return np.array([float(value) for value in values])


def test_the_record_names_its_origin():
    assert R["software"] == {
        "R": "4.2.2",
        "reliabilitydiag": "0.2.1.9000",
        "monotone": "0.1.2",
        "rpy2": "3.6.5",
    }
    assert describe_recorded_answers() == "44 recorded answers of reliabilitydiag 0.2.1.9000 (R 4.2.2)"
    assert set(R) == {"seed", "software", "cases"}


def test_the_record_has_every_shape_and_level_and_all_bands():
    assert list(CASES) == [f"{shape} {turn}" for turn in (1, 2, 3, 4) for shape in SHAPES]
    assert Counter(case["question"]["level"] for case in R["cases"]) == {0.9: 15, 0.95: 15, 0.8: 14}
    assert all(set(case["answer"]["scores"]) == {*SCORES, *BOUNDED_SCORES} for case in R["cases"])
    assert {name for name in CASES if "consistency" in CASES[name]["answer"]["bands"]} == set(RESAMPLED)
    for name, case in CASES.items():
        bands = case["answer"]["bands"]
        resampled = set(KINDS) if name in RESAMPLED else set()
        assert case["question"]["draws"] == (200 if name in RESAMPLED else 0)
        assert set(bands) == {"discrete", "continuous", *resampled}
        assert not any(band["error"] for band in bands.values())


def test_the_record_holds_the_difficult_cases():
    """Two rows, one class of each kind, one forecast, forecasts of 0 and 1, single precision."""
    outcomes = [set(CASES[f"one class {turn}"]["question"]["y_true"]) for turn in (1, 2, 3, 4)]
    assert {0.0} in outcomes
    assert {1.0} in outcomes
    for turn in (1, 2, 3, 4):
        assert len(CASES[f"two rows {turn}"]["question"]["y_prob"]) == 2
        assert len(set(CASES[f"constant {turn}"]["question"]["y_prob"])) == 1
        assert {0.0, 1.0} <= set(CASES[f"0/1 forecasts {turn}"]["question"]["y_prob"])
        singles = np.array(CASES[f"float32 {turn}"]["question"]["y_prob"])
        np.testing.assert_array_equal(singles, singles.astype(np.float32))


# Number by number


def test_recalibrated_probabilities_agree(answer, fit):
    np.testing.assert_allclose(fit.cep, answer["cep"], rtol=1e-12, atol=1e-12)


def test_bins_agree(answer, fit):
    bins, ours = answer["bins"], fit.bins
    np.testing.assert_array_equal(ours["n"], bins["n"])
    np.testing.assert_array_equal(ours["x_min"], bins["x_min"])
    np.testing.assert_array_equal(ours["x_max"], bins["x_max"])
    np.testing.assert_allclose(ours["cep"], bins["cep"], rtol=1e-12, atol=1e-12)


def test_bins_hold_all_cases(asked, answer):
    """The record itself: bins are apart, count every row, and their means are those of the outcomes."""
    bins, x, y = answer["bins"], np.array(asked["y_prob"]), np.array(asked["y_true"])
    assert sum(bins["n"]) == len(x)
    for n, low, high, cep in zip(*(bins[part] for part in ("n", "x_min", "x_max", "cep")), strict=True):
        inside = (x >= low) & (x <= high)
        assert inside.sum() == n
        assert y[inside].mean() == pytest.approx(cep, abs=1e-12)
        np.testing.assert_allclose(np.array(answer["cep"])[inside], cep, rtol=0, atol=1e-12)


def assert_components_agree(d, theirs, signs=(1, 1, 1, 1, 1)):
    ours = [d.score, d.miscalibration, d.discrimination, d.uncertainty, d.perfect]
    np.testing.assert_allclose(ours, signs * numbers(theirs), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("score", SCORES)
def test_decomposition_agrees(answer, fit, score):
    assert_components_agree(fit.decompose(score), answer["scores"][score])


@pytest.mark.parametrize("score", BOUNDED_SCORES)
def test_bounded_decomposition_agrees(asked, answer, fit, score):
    """R was given the loss of net benefit, which is better the higher it is."""
    lower, upper = asked["costs"]
    signs = (-1, 1, 1, -1, -1) if score == "bounded_net_benefit" else (1, 1, 1, 1, 1)
    assert_components_agree(
        fit.decompose(score, lower=lower, upper=upper), answer["scores"][score], np.array(signs)
    )


def test_mean_scores_are_those_of_a_formula(asked, answer):
    x, y = np.array(asked["y_prob"]), np.array(asked["y_true"])
    of_outcome = np.where(y == 1, x, 1 - x)
    wrong = np.where(x == 0.5, 0.5, (x > 0.5) != (y == 1))
    with np.errstate(divide="ignore"):
        expected = {
            "brier": ((x - y) ** 2).mean(),
            "log_loss": -np.log(of_outcome).mean(),
            "misclassification": wrong.mean(),
            "spherical": (1 - of_outcome / np.hypot(x, 1 - x)).mean(),
        }
    for name, value in expected.items():
        assert float(answer["scores"][name][0]) == pytest.approx(value, rel=1e-12, abs=1e-12)


def test_areas_under_the_roc_curve_agree(asked, answer, fit):
    """With the engine, and with the share of pairs in order, ties by half; of one class there are none."""
    x, y = np.array(asked["y_prob"]), np.array(asked["y_true"])
    gaps = x[y == 1][:, None] - x[y == 0]
    pairs = np.where(gaps == 0, 0.5, gaps > 0)
    expected = pairs.mean() if pairs.size else np.nan
    theirs = float(answer["auc"])
    np.testing.assert_allclose(theirs, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(roc_curve(fit).auc, theirs, rtol=0, atol=1e-12)


def test_totals_are_counts_of_rows(asked, answer):
    assert answer["totals"] == [len(asked["y_true"]), sum(asked["y_true"])]


def test_murphys_parts_agree(asked, answer, fit):
    """With the engine, and with groups of equal forecasts by hand."""
    x, y = np.array(asked["y_prob"]), np.array(asked["y_true"])
    means = np.array([y[x == value].mean() for value in x])
    expected = [((means - x) ** 2).mean(), ((means - y.mean()) ** 2).mean(), y.mean() * (1 - y.mean())]
    murphy = fit.murphy()
    ours = [murphy.reliability, murphy.resolution, murphy.uncertainty]
    np.testing.assert_allclose(answer["murphy"], expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(ours, answer["murphy"], rtol=0, atol=1e-12)


def test_corners_of_the_curve_are_edges_of_bins(answer, fit):
    bins, (x, cep) = answer["bins"], fit.corners
    np.testing.assert_array_equal(x, np.unique([*bins["x_min"], *bins["x_max"]]))
    heights = [next(c for c, high in zip(bins["cep"], bins["x_max"], strict=True) if z <= high) for z in x]
    np.testing.assert_allclose(cep, heights, rtol=0, atol=1e-12)


def test_discrete_bands_agree(asked, answer, fit):
    """With the engine, and with normal quantiles by hand."""
    r = answer["bands"]["discrete"]
    band = fit.band(method="discrete", level=asked["level"], points=max(len(r["x"]), 2))
    x, n = np.unique(asked["y_prob"], return_counts=True)
    half = ndtri((1 + asked["level"]) / 2) * np.sqrt(x * (1 - x) / n)
    np.testing.assert_array_equal(band.x, x)
    np.testing.assert_allclose(r["x"], x, rtol=0, atol=1e-14)
    for ours, theirs, formula in (
        (band.lower, r["lower"], np.maximum(x - half, 0)),
        (band.upper, r["upper"], np.minimum(x + half, 1)),
    ):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-10)
        np.testing.assert_allclose(theirs, formula, rtol=0, atol=1e-10)
    assert r["level"] == asked["level"]


def test_continuous_bands_agree(asked, answer, fit):
    r = answer["bands"]["continuous"]
    band = fit.band(method="continuous", level=asked["level"], quantiles="r")
    np.testing.assert_allclose(r["x"], np.arange(101) / 100, rtol=0, atol=1e-14)
    np.testing.assert_allclose(band.x, r["x"], rtol=0, atol=1e-14)
    np.testing.assert_allclose(band.lower, r["lower"], rtol=0, atol=1e-10)
    np.testing.assert_allclose(band.upper, r["upper"], rtol=0, atol=1e-10)
    assert r["level"] == 0.9  # whatever was asked


@pytest.mark.parametrize("name", RESAMPLED)
@pytest.mark.parametrize("kind", KINDS)
def test_resampled_bands_have_the_level_asked(name, kind):
    asked, band = CASES[name]["question"], CASES[name]["answer"]["bands"][kind]
    np.testing.assert_array_equal(band["x"], np.unique(asked["y_prob"]))
    assert band["level"] == asked["level"]
    assert (np.array(band["lower"]) <= np.array(band["upper"])).all()


# By the comparisons of the certificate


def expected_of(name):
    """Every quantity of a case, with the verdict that it must have and the reason of a deviation."""
    level = CASES[name]["question"]["level"]
    found = dict.fromkeys(ALWAYS, (Verdict.AGREES, ""))
    found[f"{CONTINUOUS}, exact quantile"] = (Verdict.EXPECTED, deviations.TABLE)
    is_written = level == 0.9
    found[f"{CONTINUOUS}: level"] = (
        (Verdict.AGREES, "") if is_written else (Verdict.EXPECTED, deviations.LEVEL)
    )
    if name in RESAMPLED:
        found[RESAMPLED_CONSISTENCY] = found[RESAMPLED_CONFIDENCE] = (Verdict.AGREES, "0 of")
        found |= {f"resampled {kind} band, quantiles": (Verdict.AGREES, "") for kind in KINDS}
        found[f"{RESAMPLED_CONFIDENCE}, where certain"] = (Verdict.EXPECTED, deviations.CERTAIN)
    if name == "one class 4":  # all of it is certain
        del found[RESAMPLED_CONFIDENCE], found["resampled confidence band, quantiles"]
    return found


@pytest.mark.sweep
@pytest.mark.parametrize("name", CASES)
def test_every_quantity_agrees_or_deviates_for_its_known_reason(name, verdicts):
    lines = {quantity: line for (case, quantity, _), line in verdicts.items() if case == name}
    expected = expected_of(name)
    assert set(lines) == set(expected)
    for quantity, (verdict, reason) in expected.items():
        line = lines[quantity]
        assert (line.subject, line.verdict) == (name, verdict), quantity
        assert line.reason.startswith(reason), quantity


@pytest.mark.sweep
def test_tolerances_are_what_they_are_said_to_be(verdicts):
    exact = {
        "number of bins",
        "lower edges of bins",
        "upper edges of bins",
        "cases in bins",
        "reliability curve: corners",
    }
    for (_, quantity, verdict), line in verdicts.items():
        if verdict is Verdict.AGREES and "in distribution" not in quantity:
            is_exact = quantity in exact or quantity.endswith(": level")
            is_plain = "band" not in quantity or "quantiles" in quantity
            expected = 0.0 if is_exact else 1e-12 if is_plain else 1e-10
            assert line.tolerance == expected, quantity
            assert line.difference <= expected * max(1, abs(line.reference)) or line.difference == 0


@pytest.mark.sweep
def test_what_is_expected_is_counted(verdicts):
    """All deviations there are; the level is written right where .9 was asked, in 15 cases of 44."""
    found = Counter(quantity for _, quantity, verdict in verdicts if verdict is Verdict.EXPECTED)
    assert found == {
        f"{CONTINUOUS}, exact quantile": 44,
        f"{CONTINUOUS}: level": 29,
        f"{RESAMPLED_CONFIDENCE}, where certain": 4,
    }
    assert Counter(verdict for *_, verdict in verdicts) == {
        Verdict.AGREES: 44 * len(ALWAYS) + 15 + 2 * (4 + 3),
        Verdict.EXPECTED: 44 + 29 + 4,
    }


@pytest.mark.sweep
def test_the_summary_counts_the_same(lines_of_cases, verdicts, monkeypatch):
    """A line for each quantity and verdict, and the number of cases behind it."""
    monkeypatch.setattr(
        "scorereport.reference.recorded_answers.compare_case", lambda case: lines_of_cases[case["name"]]
    )
    found = Counter((quantity, verdict) for _, quantity, verdict in verdicts)
    lines = list(compare_with_record())
    assert {(line.quantity, line.verdict) for line in lines} == set(found)
    assert len(lines) == len(found)
    for line in lines:
        cases = found[line.quantity, line.verdict]
        assert line.subject == "Recorded answers"
        assert line.reason.startswith(f"{cases} recorded case{'s' * (cases > 1)}")
