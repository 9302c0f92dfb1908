"""Fits to cells of neighbouring forecasts agree with those to the rows, far below their standard errors."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit, logit
from statsmodels.stats.proportion import proportion_confint

import scorereport.inference.panel as panels
from scorereport.inference import recalibration_gains
from scorereport.inference.flexible_curves import fit_flexible
from scorereport.inference.grouped_rows import MANY_CASES, group_rows
from scorereport.inference.logistic import fit_line, fit_offset
from scorereport.inference.panel import make_panel
from scorereport.inference.rates import wilson_limits
from scorereport.inference.recalibration import try_recalibration
from scorereport.inference.regression import calibration_line, examine_line, line_tests

MODULES = (panels, recalibration_gains)


def make_rows(n=MANY_CASES, seed=1):
    """Overconfident forecasts with long tails, and a few that are nearly certain."""
    rng = np.random.default_rng(seed)
    z = 1.5 * rng.standard_t(5, n)
    p = np.clip(expit(z - 1), 1e-9, 1 - 1e-9)
    return (rng.random(n) < expit(0.8 * z - 0.9)).astype(float), p


def make_rows_panel(**weights):
    y, p = make_rows()
    return make_panel(y, {"model": p}, **weights)


def group_nothing(monkeypatch):
    for module in MODULES:
        monkeypatch.setattr(module, "MANY_CASES", np.inf)


def test_cells_hold_all_rows_in_order():
    panel = make_rows_panel(sample_weight=np.arange(1, MANY_CASES + 1) % 7 + 1)
    x, y, weight = logit(panel.only), panel.outcome, panel.units.row_weight
    fold = np.arange(len(x)) % 3
    sums = group_rows(panel.only, y, weight, fold, 3)
    for number in (None, 0, 2):
        kept = np.full(len(x), True) if number is None else fold != number
        cells = sums.without(number)
        assert cells.weight.sum() == pytest.approx(weight[kept].sum())
        assert (cells.weight * cells.y).sum() == pytest.approx((weight * y)[kept].sum())
        assert (cells.weight * cells.x).sum() == pytest.approx((weight * x)[kept].sum())
        assert (np.diff(cells.x[cells.y == 1]) >= 0).all()
    assert len(group_rows(panel.only[:5], y[:5], weight[:5]).without().x) == 5


def test_lines_of_cells_are_those_of_rows():
    """Both agree to nine digits of a standard error."""
    panel = make_rows_panel()
    x, y, weight = logit(panel.only), panel.outcome, panel.units.row_weight
    cells, line = group_rows(panel.only, y, weight).without(), calibration_line(y, panel.only)
    errors = [line.intercept.standard_error, line.slope.standard_error]
    difference = np.subtract(fit_line(*cells), fit_line(x, y, weight))
    assert (np.abs(difference) < 1e-9 * np.array(errors)).all()
    away = fit_offset(*cells) - fit_offset(x, y, weight)
    assert abs(away) < 1e-9 * line.intercept_at_slope_one.standard_error


def test_points_of_cells_have_the_moments_of_their_rows():
    panel = make_rows_panel()
    cells = group_rows(panel.only, panel.outcome, panel.units.row_weight).without()
    x = logit(panel.only)
    for outcome in (0, 1):
        ours, rows = cells.y == outcome, panel.outcome == outcome
        for power in range(4):
            moment = (cells.weight * cells.x**power)[ours].sum()
            assert moment == pytest.approx((x**power)[rows].sum(), rel=1e-12, abs=1e-9)
    assert len(cells.x) < MANY_CASES / 2


def test_cells_do_not_stand_for_rows_where_a_line_is_steep():
    """Within a cell a steep line goes from one outcome to the other: the rows are fitted themselves."""
    rng = np.random.default_rng(2)
    x = np.sort(np.append(rng.normal(0, 0.003, MANY_CASES), [-20, 20]))
    y = (rng.random(len(x)) < expit(1000 * x)).astype(float)
    panel = make_panel(y, {"model": expit(x)})
    exact = fit_line(logit(panel.only), panel.outcome, panel.units.row_weight)
    line, _ = examine_line(panel, level=0.95)
    assert not panel.cells.represent(exact[1])
    assert panel.cells.represent(1.0)
    assert_allclose([line.intercept.value, line.slope.value], exact, rtol=1e-12)


def test_the_calibration_line_of_cells_is_that_of_rows(monkeypatch):
    panel = make_rows_panel()
    found = examine_line(panel, level=0.95)
    group_nothing(monkeypatch)
    line, tests = calibration_line(panel.outcome, panel.only), line_tests(panel.outcome, panel.only)
    for name in ("slope", "intercept", "intercept_at_slope_one"):
        ours, exact = getattr(found[0], name), getattr(line, name)
        assert_allclose([ours.value, ours.lower], [exact.value, exact.lower], rtol=1e-9)
    assert_allclose([t.statistic for t in found[1]], [t.statistic for t in tests], rtol=1e-7)
    assert [t.name for t in found[1]] == [t.name for t in tests]


@pytest.mark.parametrize("kind", ["rows", "frequency"])
def test_flexible_curves_of_cells_are_those_of_rows(kind, monkeypatch):
    weights = {"sample_weight": np.arange(MANY_CASES) % 3 + 1, "weight_kind": "frequency"}
    chosen = weights if kind == "frequency" else {}
    found = fit_flexible(make_rows_panel(**chosen), level=0.9)
    group_nothing(monkeypatch)
    exact = fit_flexible(make_rows_panel(**chosen), level=0.9)
    width = exact.upper - exact.lower
    for name in ("probability", "lower", "upper"):
        assert (np.abs(getattr(found, name) - getattr(exact, name)) < 1e-6 * width).all()
    assert not np.array_equal(found.probability, exact.probability)
    assert found.method == exact.method


def test_trials_of_cells_are_those_of_rows(monkeypatch):
    y, p = make_rows()
    found = try_recalibration(y, p)
    group_nothing(monkeypatch)
    for ours, exact in list(zip(found, try_recalibration(y, p), strict=True))[:2]:  # lines
        for name in ("brier", "log_loss"):
            one, other = getattr(ours, name), getattr(exact, name)
            for part in ("value", "lower", "upper"):
                away = getattr(one, part) - getattr(other, part)
                assert abs(away) <= 1e-8 * other.standard_error, (ours.method, name, part)
        assert ours.miscalibration_after == pytest.approx(exact.miscalibration_after, rel=1e-8)
    assert found[1].brier.value != 0


def test_wilson_limits_are_those_of_statsmodels():
    n = np.array([1.0, 7, 50, 1e6, 12.5])
    for rate in (0.0, 0.1, 0.5, 0.97, 1.0):
        for level in (0.5, 0.95, 0.999):
            lower, upper = wilson_limits(np.full(5, rate), n, level)
            expected = proportion_confint(rate * n, n, alpha=1 - level, method="wilson")
            assert_allclose([lower, upper], expected, rtol=1e-12, atol=1e-15)
    assert np.isnan(wilson_limits(np.array([0.3]), np.array([0.0]), 0.95)).all()
