"""Tables and worked examples of the papers, to the digits they print."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import scorereport as sr

# Dimitriadis, Gneiting, Jordan (2021), Table 2: mean score, MCB, DSC, UNC as printed, and six digits of
# them as MATH.md records them from R.
TABLE_2 = {
    "ENS": ((".266", ".066", ".044", ".244"), (0.266168, 0.066072, 0.044115, 0.244211)),
    "EPC": ((".234", ".022", ".032", ".244"), (0.234282, 0.022350, 0.032279, 0.244211)),
    "EMOS": ((".232", ".018", ".030", ".244"), (0.232025, 0.018283, 0.030469, 0.244211)),
    "Logistic": ((".206", ".017", ".056", ".244"), (0.205746, 0.017076, 0.055541, 0.244211)),
}


@pytest.fixture(scope="module")
def niamey(shared):
    return pd.read_csv(shared / "niamey_2016.csv")


def test_niamey_has_92_days_with_53_events(niamey):
    """Erratum: the caption of Fig. 1 says n = 86, with which UNC = .244 is impossible."""
    fit = sr.corp(niamey["obs"], niamey["ENS"])
    assert (fit.n, fit.events) == (92, 53)


@pytest.mark.parametrize("forecast", TABLE_2)
def test_corp_table_2(niamey, forecast):
    d = sr.corp(niamey["obs"], niamey[forecast]).decompose("brier")
    values = (d.score, d.miscalibration, d.discrimination, d.uncertainty)
    printed, six_digits = TABLE_2[forecast]
    assert tuple(f"{value:.3f}".removeprefix("0") for value in values) == printed
    assert tuple(round(value, 6) for value in values) == six_digits


@pytest.mark.parametrize(
    ("lowest", "highest", "n", "events", "printed"),
    [(Fraction(9, 52), Fraction(20, 52), 8, 1, ".125"), (Fraction(21, 52), Fraction(42, 52), 27, 13, ".481")],
)
def test_corp_bins_quoted_in_the_text(niamey, lowest, highest, n, events, printed):
    bins = sr.corp(niamey["obs"], niamey["ENS"]).bins
    row = bins[np.isclose(bins["x_min"], float(lowest), rtol=0, atol=1e-14)].squeeze()
    assert row["x_max"] == pytest.approx(float(highest), abs=1e-14)
    assert (row["n"], row["events"]) == (n, events)
    assert f"{row['cep']:.3f}".removeprefix("0") == printed


def test_corp_log_score_of_ens_is_infinite_and_says_so(niamey):
    d = sr.corp(niamey["obs"], niamey["ENS"]).decompose("log")
    certain = ((niamey["ENS"] == 1) & (niamey["obs"] == 0)) | ((niamey["ENS"] == 0) & (niamey["obs"] == 1))
    assert d.miscalibration == np.inf
    assert np.isfinite([d.discrimination, d.uncertainty]).all()
    assert d.infinite_cases == certain.sum() > 0


# Flores et al. (2025), Appendix F: AUC, Brier, net benefit at 5%, 10%, 20%, Brier 5%-20%.
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


@pytest.fixture(scope="module")
def assel():
    """Outcomes and the eight forecasts of Assel et al., drawn in the order of the authors' simulation.

    Some cells lie on the edge of rounding (an AUC of .725 prints as 0.73), so the draws must be theirs.
    """
    y = np.random.RandomState(42).binomial(1, 0.2, 1_000_000).astype(np.float64)
    random = np.random.RandomState(43)
    sensitive = _draw(y, {1: partial(random.binomial, 1, 0.95), 0: partial(random.binomial, 1, 0.50)})
    specific = _draw(y, {1: partial(random.binomial, 1, 0.50), 0: partial(random.binomial, 1, 0.05)})
    marker = _draw(y, {0: partial(random.normal, 0.0, 1.0), 1: partial(random.normal, 0.95, 1.0)})
    return y, {
        "Highly sensitive": sensitive,
        "Underestimating risk": expit(-0.9 + marker - 0.285),
        "Well calibrated": expit(-0.9 + marker),
        "Overestimating risk": expit(-0.9 + marker + 0.361),
        "Assume all positive": np.ones(len(y)),
        "Highly specific": specific,
        "Severely underestimating risk": expit(-0.9 + marker - 3.04),
        "Assume all negative": np.zeros(len(y)),
    }


def _draw(y, by_outcome):
    values = np.empty(len(y))
    for outcome, draw in by_outcome.items():
        values[y == outcome] = draw((y == outcome).sum())
    return values


@pytest.mark.parametrize("forecast", APPENDIX_F)
def test_appendix_f(assel, forecast):
    y, forecasts = assel
    p = forecasts[forecast]
    row = [
        sr.scores.roc_auc(y, p),
        sr.scores.brier(y, p).mean(),
        *(sr.scores.net_benefit(y, p, threshold=t).mean() for t in (0.05, 0.10, 0.20)),
        sr.scores.bounded_brier(y, p, lower=0.05, upper=0.20, scale="paper").mean(),
    ]
    assert " ".join(f"{round(value, 2) + 0.0:.2f}" for value in row) == APPENDIX_F[forecast]


# Ahmadian et al. (2025), section 1.1: both vectors for the truth [0, 1, 0].
A, B = [0.33, 0.34, 0.33], [0.51, 0.49, 0.0]


def test_ahmadian_scores_of_the_motivation():
    np.testing.assert_array_equal(sr.scores.multiclass_brier([1, 1], [A, B]).round(4), [0.6534, 0.5202])
    np.testing.assert_array_equal(sr.scores.multiclass_log_loss([1, 1], [A, B]).round(4), [1.0788, 0.7133])


@pytest.mark.parametrize(
    ("plain", "penalised", "penalty"),
    [
        (sr.scores.multiclass_brier, sr.scores.penalized_brier, 2 / 3),
        (sr.scores.multiclass_log_loss, sr.scores.penalized_log_loss, np.log(3)),
    ],
)
def test_ahmadian_penalty_puts_the_correct_prediction_first(plain, penalised, penalty):
    right, wrong = plain([1, 1], [A, B])
    assert wrong < right
    assert penalised([1, 1], [A, B]) == pytest.approx([right, wrong + penalty], rel=1e-15)
    assert right < wrong + penalty


def test_galdran_equation_3_as_corrected():
    """Erratum: the paper prints 1/8 and 1/4."""
    table = [[1 / 4, 3 / 4, 0], [1 / 4, 0, 3 / 4]]
    np.testing.assert_array_equal(sr.scores.rps([0, 0], table), [9 / 32, 9 / 16])


def test_galdran_equation_5():
    np.testing.assert_array_equal(sr.scores.rps([0, 0, 0], np.eye(3)), [0, 1 / 2, 1])


def test_galdran_equation_6():
    table = [[0.30, 0.40, 0.30], [0.45, 0.50, 0.05]]
    assert sr.scores.rps([1, 1], table) == pytest.approx([0.09, 0.1025], rel=1e-14)
    assert sr.scores.sa_rps([1, 1], table, scale="paper") == pytest.approx([0.18, 0.125], rel=1e-14)
    assert sr.scores.sa_rps([1, 1], table) == pytest.approx([0.09, 0.0625], rel=1e-14)
