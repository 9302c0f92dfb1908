"""The answers of the R package reliabilitydiag, recorded in validation/recorded, to 1e-12.

R's JSON writes vectors of length one as plain numbers; none of its numbers here is infinite or missing.
"""

from __future__ import annotations

import numpy as np
import pytest
from conftest import recorded

import scorereport as sr

R = recorded("reliabilitydiag")
CASES = R["cases"]
COMPONENTS = ("mean_score", "miscalibration", "discrimination", "uncertainty")


@pytest.fixture(scope="module", params=CASES)
def case(request):
    return CASES[request.param]


@pytest.fixture(scope="module")
def fit(case):
    return sr.corp(np.atleast_1d(case["y"]), np.atleast_1d(case["x"]))


def test_the_record_names_its_origin():
    assert (R["meta"]["package"], R["meta"]["version"]) == ("reliabilitydiag", "0.2.1.9000")
    assert len(CASES) == 16


def test_recalibrated_probabilities_agree(case, fit):
    np.testing.assert_allclose(fit.cep, np.atleast_1d(case["cep"]), rtol=1e-12, atol=1e-12)


def test_bins_agree(case, fit):
    bins = {name: np.atleast_1d(column) for name, column in case["bins"].items()}
    ours = fit.bins
    np.testing.assert_array_equal(bins["bin_id"], np.arange(len(ours)) + 1)
    np.testing.assert_array_equal(ours["n"], bins["n"])
    np.testing.assert_array_equal(ours["x_min"], bins["x_min"])
    np.testing.assert_array_equal(ours["x_max"], bins["x_max"])
    np.testing.assert_allclose(ours["cep"], bins["CEP_pav"], rtol=1e-12, atol=1e-12)


def test_forecast_type_agrees(case, fit):
    assert fit.forecast_type == case["xtype"]


@pytest.mark.parametrize("score", ["brier", "log", "misclassification"])
def test_decomposition_agrees(case, fit, score):
    d = fit.decompose(score)
    ours = (d.score, d.miscalibration, d.discrimination, d.uncertainty)
    theirs = tuple(case[score][name] for name in COMPONENTS)
    assert ours == pytest.approx(theirs, rel=1e-12, abs=1e-12)
