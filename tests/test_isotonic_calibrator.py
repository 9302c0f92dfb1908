"""`IsotonicCalibrator`: the checks of scikit-learn, and agreement with the fit and with other packages."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.isotonic import IsotonicRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator, estimator_checks_generator

import scorereport as sr
from scorereport._utils.arrays import bits_equal

RNG = np.random.default_rng(11)
P = RNG.beta(2, 3, 300).round(2)
Y = (RNG.random(300) < P**1.4).astype(int)
W = RNG.integers(0, 4, 300).astype(float)
NEW = np.linspace(-0.2, 1.2, 141)


def list_checks():
    checks = estimator_checks_generator(sr.IsotonicCalibrator(), legacy=True)
    return [pytest.param(*one, id=f"{k}-{name_check(one[1])}") for k, one in enumerate(checks)]


def name_check(check):
    return name_check(check.func) if hasattr(check, "func") else check.__name__


@pytest.mark.parametrize(("estimator", "check"), list_checks())
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_checks_of_scikit_learn_pass(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_check_estimator_passes_as_a_whole():
    results = check_estimator(sr.IsotonicCalibrator(), on_fail=None)
    assert len(results) > 40
    assert {one["status"] for one in results} <= {"passed", "skipped"}
    skipped = {one["check_name"] for one in results if one["status"] == "skipped"}
    assert skipped <= {"check_array_api_input"}  # it needs another package


@pytest.mark.parametrize(("forecasts", "outcome"), [(3 * P, Y), (P, 2.5 * Y)])
def test_one_dimension_is_for_probabilities_of_events(forecasts, outcome):
    message = (
        "One-dimensional forecasts must be probabilities, with outcomes 0 and 1; "
        "pass other numbers as a column, such as X.reshape(-1, 1)."
    )
    with pytest.raises(sr.DataError) as error:
        sr.IsotonicCalibrator().fit(forecasts, outcome)
    assert str(error.value) == message
    column = sr.IsotonicCalibrator().fit(forecasts[:, None], outcome)
    assert column.predict(forecasts[:, None]).shape == (300, 1)


@pytest.mark.parametrize("weight", [None, W, W + 0.3], ids=["plain", "whole", "fractional"])
def test_values_are_those_of_the_fit_to_the_last_bit(weight):
    calibrator = sr.IsotonicCalibrator().fit(P, Y, sample_weight=weight)
    expected = sr.corp(Y, P, weight).recalibrate(NEW)
    assert bits_equal(calibrator.transform(NEW), expected)
    assert bits_equal(calibrator.predict(NEW), expected)
    assert bits_equal(calibrator.transform(NEW[:, None]), expected[:, None])
    assert calibrator.corp_.functional == "probability"


@pytest.mark.parametrize("weight", [None, W + 1], ids=["plain", "weighted"])
def test_values_are_those_of_isotonic_regression_in_scikit_learn(weight):
    theirs = IsotonicRegression(out_of_bounds="clip").fit(P, Y, sample_weight=weight)
    ours = sr.IsotonicCalibrator().fit(P, Y, sample_weight=weight)
    np.testing.assert_allclose(ours.predict(NEW), theirs.predict(NEW), rtol=0, atol=1e-12)


def test_any_numbers_that_rank_the_cases_give_the_same_recalibration():
    log_odds = np.log(P / (1 - P))[:, None]
    of_numbers = sr.IsotonicCalibrator().fit(log_odds, Y)
    assert of_numbers.corp_.functional == "mean"
    np.testing.assert_allclose(
        of_numbers.predict(log_odds)[:, 0], sr.IsotonicCalibrator().fit(P, Y).predict(P), rtol=1e-14
    )


def test_real_outcomes_are_recalibrated_to_their_mean():
    outcome = P + RNG.normal(size=300)
    theirs = IsotonicRegression(out_of_bounds="clip").fit(P, outcome)
    found = sr.IsotonicCalibrator().fit(P[:, None], outcome).predict(NEW)
    np.testing.assert_allclose(found, theirs.predict(NEW), rtol=0, atol=1e-12)


def test_each_column_is_recalibrated_on_its_own():
    table = pd.DataFrame({"logit": P, "bold": P**2})
    calibrator = sr.IsotonicCalibrator().set_output(transform="pandas").fit(table, Y)
    found = calibrator.transform(table)
    assert list(found) == list(calibrator.get_feature_names_out()) == ["logit", "bold"]
    for name in table:
        assert bits_equal(found[name].to_numpy(), sr.corp(Y, table[name]).cep)
    assert [fit.n for fit in calibrator.fits_] == [300, 300]
    with pytest.raises(
        AttributeError, match=r"^`corp_` is the fit of one column; there are 2: see `fits_`\.$"
    ):
        _ = calibrator.corp_


def test_a_series_keeps_its_name():
    calibrator = sr.IsotonicCalibrator().fit(pd.Series(P, name="logit"), Y)
    assert calibrator.get_feature_names_out().tolist() == ["logit"]
    assert bits_equal(calibrator.transform(pd.Series(P, name="logit")), sr.corp(Y, P).cep)
    found = calibrator.set_output(transform="pandas").transform(pd.DataFrame({"logit": P}))
    assert list(found) == ["logit"]


def test_zero_weights_are_absent_rows_and_whole_weights_repeated_rows():
    weighted = sr.IsotonicCalibrator().fit(P, Y, sample_weight=W)
    repeated = sr.IsotonicCalibrator().fit(np.repeat(P, W.astype(int)), np.repeat(Y, W.astype(int)))
    assert bits_equal(weighted.predict(NEW), repeated.predict(NEW))


def test_it_can_be_cloned_pickled_and_put_in_a_pipeline():
    calibrator = sr.IsotonicCalibrator().fit(P, Y)
    again = pickle.loads(pickle.dumps(calibrator))
    assert bits_equal(again.predict(NEW), calibrator.predict(NEW))
    with pytest.raises(NotFittedError):
        clone(calibrator).predict(NEW)
    line = make_pipeline(FunctionTransformer(np.square), sr.IsotonicCalibrator()).fit(P[:, None], Y)
    assert bits_equal(line.predict(P[:, None])[:, 0], sr.corp(Y, P**2).cep)
    columns = ColumnTransformer([("calibrated", sr.IsotonicCalibrator(), ["logit"])])
    found = columns.fit_transform(pd.DataFrame({"logit": P, "other": Y}), Y)
    assert bits_equal(found[:, 0].copy(), sr.corp(Y, P).cep)


def test_without_scikit_learn_a_sentence_names_the_extra():
    script = (
        "import sys; sys.modules['sklearn'] = None\n"
        "from scorereport import *\n"
        "import scorereport as sr\n"
        "try: sr.IsotonicCalibrator()\n"
        "except sr.UsageError as error: print(error)"
    )
    found = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert found.stdout == '`IsotonicCalibrator` needs scikit-learn: pip install "scorereport[sklearn]".\n'
