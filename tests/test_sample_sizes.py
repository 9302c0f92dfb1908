"""Sample sizes of validations, against the published examples of Riley and others and R's pmvalsampsize.

pmvalsampsize 0.1.0 (R 4.2.2) and 0.2.1 (Python) were run on 2026-11-18. They draw a million log-odds, whose
error moves the size for the slope by about 0.3 %, and search standard errors in steps of 0.0001.
"""

import math

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import beta, norm

from scorereport.errors import UsageError
from scorereport.inference import plan_sample_size
from scorereport.inference.sample_sizes import _standardized_net_benefit

QUANTILES = (np.arange(200_000) + 0.5) / 200_000
HEART_VALVES = expit(norm(-5, 2.5).ppf(QUANTILES))


def sizes(plan):
    return dict(zip(plan.to_frame()["measure"], plan.to_frame()["cases"], strict=True))


def test_heart_valves_of_riley():
    """R answers 905, 4563 and 4252; the package in Python 905, 4544 and 4252, as the paper does."""
    found = sizes(plan_sample_size(HEART_VALVES, prevalence=0.018, auc=0.8, ratio_width=1))
    assert found["observed / expected"] == pytest.approx(905, abs=1)
    assert found["calibration slope"] == pytest.approx(4554, abs=15)
    assert found["AUC"] == 4252


def test_beta_distribution():
    """R answers 510, 2135 and 308, the package in Python 510, 2136 and 308."""
    plan = plan_sample_size(beta(1.33, 1.75).ppf(QUANTILES), prevalence=0.43, auc=0.8)
    found = sizes(plan)
    assert found["observed / expected"] == pytest.approx(510, abs=2)
    assert found["calibration slope"] == pytest.approx(2135, abs=8)
    assert found["AUC"] == 308
    assert plan.cases == found["calibration slope"]
    assert plan.events == math.ceil(plan.cases * 0.43)


@pytest.mark.parametrize(
    ("share", "sensitivity", "specificity", "threshold", "value", "cases"),
    [(0.018, 0.8, 0.5, 0.1, -2.231, 206_821), (0.43, 0.8, 0.5, 0.3, 0.516, 325)],
)
def test_net_benefit_as_in_r(share, sensitivity, specificity, threshold, value, cases):
    found, variance = _standardized_net_benefit(share, sensitivity, specificity, threshold)
    assert found == pytest.approx(value, abs=5e-4)
    assert math.ceil(variance / 0.051**2) == cases  # R stops at the step 0.051


def test_sizes_keep_their_widths_in_samples():
    """In samples of the planned size, the standard deviation of the estimates is the planned error."""
    rng = np.random.default_rng(11)
    source = expit(rng.normal(-1.5, 1.0, 20_000))
    plan = plan_sample_size(source, thresholds=[0.2], auc_width=0.12, ratio_width=0.4, slope_width=0.5)
    criteria = {one.measure: one for one in plan.criteria}
    ratio, area = criteria["observed / expected"], criteria["AUC"]
    ratios, areas = [], []
    for _ in range(600):
        p = rng.choice(source, ratio.cases)
        ratios.append(np.log((rng.random(ratio.cases) < p).sum() / p.sum()))
        p = rng.choice(source, area.cases)
        areas.append(_auc(rng.random(area.cases) < p, p))
    # the standard deviation of 600 draws has an error of 3 %
    assert np.std(ratios) == pytest.approx(ratio.standard_error, rel=0.13)
    assert np.std(areas) == pytest.approx(area.standard_error, rel=0.13)
    assert np.mean(areas) == pytest.approx(plan.auc, abs=5 * area.standard_error / math.sqrt(600))


def _auc(y, p):
    ranks = np.empty(len(p))
    ranks[np.argsort(p)] = np.arange(len(p))
    events = y.sum()
    return (ranks[y].sum() - events * (events - 1) / 2) / (events * (len(p) - events))


@pytest.mark.parametrize(
    ("forecasts", "options", "message"),
    [
        ([0.2, 0.2, 1.0], {}, "at least two different forecasts"),
        ([0.2, 0.3], {"prevalence": 1.2}, "`prevalence` must lie in"),
        ([0.2, 0.3], {"auc": 1.0}, "`auc` must lie in"),
        ([0.2, 0.3], {"auc_width": 0}, "`auc_width` must lie in"),
        ([0.2, 0.3], {"thresholds": [0.0]}, "`thresholds` must lie in"),
    ],
)
def test_wrong_arguments(forecasts, options, message):
    with pytest.raises(UsageError, match=message):
        plan_sample_size(forecasts, **options)
