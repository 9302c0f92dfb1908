"""Global and local miscalibration: against other optimisers, against large-sample truth, and at the edges."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, logit
from scipy.stats import beta
from sklearn.isotonic import IsotonicRegression

import scorereport as sr
from scorereport.inference import miscalibration_parts, score_lines, split_miscalibration
from scorereport.inference.local_miscalibration import _LocalScorer
from scorereport.inference.score_lines import BRIER, LOG, ScoreLine
from scorereport.reliability.draws import Redraws

CURVES = {
    "calibrated": lambda z: z,
    "shift": lambda z: z + 0.5,
    "slope": lambda z: 0.6 * z,
    "sine": lambda z: z + 0.8 * np.sin(2 * z),
}


def sample(n, curve="sine", seed=1):
    """Outcomes, and forecasts whose log-odds have a true curve."""
    rng = np.random.default_rng(seed)
    p = rng.beta(2, 3, n)
    return (rng.random(n) < expit(CURVES[curve](logit(p)))).astype(float), p


def brier(y, q, weight):
    return np.average((q - y) ** 2, weights=weight)


def log_score(y, q, weight):
    return np.average(-np.log(np.where(y == 1, q, 1 - q)), weights=weight)


def optimise(score, y, p, weight):
    """Mean scores of the forecasts, the best shift and line, and the isotonic fit, by other packages."""
    x = logit(p)
    shift = minimize(lambda a: score(y, expit(a[0] + x), weight), [0.0], method="Nelder-Mead", tol=1e-12)
    line = minimize(
        lambda ab: score(y, expit(ab[0] + ab[1] * x), weight),
        [shift.x[0], 1.0],
        method="Nelder-Mead",
        options={"xatol": 1e-10, "fatol": 1e-15, "maxiter": 4000, "maxfev": 8000},
    )
    fit = IsotonicRegression(out_of_bounds="clip").fit(p, y, sample_weight=weight).predict(p)
    return score(y, p, weight), shift.fun, line.fun, score(y, fit.clip(1e-300, 1 - 1e-16), weight)


@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize("rows", ["plain", "weighted"])
def test_parts_are_those_of_other_optimisers(curve, rows):
    y, p = sample(300, curve)
    weight = np.random.default_rng(2).random(300) + 0.5 if rows == "weighted" else np.ones(300)
    options = {"sample_weight": weight} if rows == "weighted" else {}
    for parts, score in zip(split_miscalibration(y, p, draws=9, **options), (brier, log_score), strict=True):
        original, shifted, lined, fitted = optimise(score, y, p, weight)
        assert parts.by_shift.value == pytest.approx(original - shifted, abs=1e-9)
        assert parts.by_slope.value == pytest.approx(shifted - lined, abs=1e-9)
        assert parts.global_part.value == pytest.approx(original - lined, abs=1e-9)
        assert parts.local_part.value == pytest.approx(lined - fitted, abs=1e-9)
        assert parts.miscalibration == pytest.approx(original - fitted, abs=1e-9)


def test_lines_of_the_log_score_are_those_of_statsmodels():
    y, p = sample(500)
    parts = split_miscalibration(y, p, draws=9)[1]
    columns, family = np.column_stack([np.ones(500), logit(p)]), sm.families.Binomial()
    fitted = sm.GLM(y, columns, family=family).fit(tol=1e-12)
    offset = sm.GLM(y, columns[:, :1], family=family, offset=logit(p)).fit(tol=1e-12)
    assert (parts.intercept, parts.slope) == pytest.approx(fitted.params, rel=1e-7)
    assert parts.offset == pytest.approx(offset.params[0], rel=1e-7)
    # the overfit of k parameters of the log score is k/(2n)
    assert parts.global_part.overfit_closed == pytest.approx(1 / 500)
    assert parts.by_shift.corrected == pytest.approx(max(parts.by_shift.value - 1 / 1000, 0))


@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.booleans())
def test_no_part_is_negative_and_they_add_up(seed, decimals, with_certain):
    rng = np.random.default_rng(seed)
    p = rng.random(60).round(decimals)
    p = p if with_certain else p.clip(0.01, 0.99)
    y = (rng.random(60) < rng.random()).astype(float)
    for parts in split_miscalibration(y, p, draws=3):
        steps = [parts.by_shift, parts.by_slope, parts.local_part]
        values = [step.value for step in steps]
        if np.isnan(values).any():
            assert parts.note
            continue
        assert min(values) >= 0
        assert sum(values) == pytest.approx(parts.miscalibration, abs=1e-9)
        assert all(0 <= step.lower <= step.upper for step in steps if not np.isnan(step.lower))


def true_parts(curve):
    """Parts of the Brier score for forecasts with the distribution of the samples, by quantiles."""
    p = beta.ppf((np.arange(5000) + 0.5) / 5000, 2, 3)
    x, truth = logit(p), expit(CURVES[curve](logit(p)))

    def loss(q):
        return ((q - truth) ** 2).mean()

    shift = minimize(lambda a: loss(expit(a[0] + x)), [0.0], method="Nelder-Mead", tol=1e-10).fun
    line = minimize(
        lambda ab: loss(expit(ab[0] + ab[1] * x)), [0.0, 1.0], method="Nelder-Mead", tol=1e-10
    ).fun
    return loss(p) - shift, shift - line, line


@pytest.mark.parametrize("curve", CURVES)
def test_corrected_parts_of_a_large_sample_are_the_true_ones(curve):
    y, p = sample(60_000, curve, seed=5)
    parts = split_miscalibration(y, p)[0]
    for found, true in zip(
        (parts.by_shift, parts.by_slope, parts.local_part), true_parts(curve), strict=True
    ):
        slack = 5 * found.standard_error + found.overfit_closed
        assert abs(found.corrected - true) <= slack
        assert slack < max(0.0015, true / 4)


def test_cells_of_many_rows_give_the_parts_of_the_rows(monkeypatch):
    y, p = sample(25_000)
    in_cells = split_miscalibration(y, p)
    monkeypatch.setattr(score_lines, "MANY_CASES", 10**9)
    for ours, exact in zip(in_cells, split_miscalibration(y, p), strict=True):
        for name in ("by_shift", "by_slope", "global_part", "local_part"):
            found, wanted = getattr(ours, name), getattr(exact, name)
            assert found.value == pytest.approx(wanted.value, abs=1e-10)
            assert found.standard_error == pytest.approx(wanted.standard_error, rel=0.02, abs=1e-6)
            assert found.overfit_closed == pytest.approx(wanted.overfit_closed, rel=1e-6)


# ---- the test of the local part ----


def test_one_step_of_newton_gives_the_gain_of_the_line_fitted_to_a_draw():
    _, p = sample(2000)
    line = ScoreLine(0.2, 0.8)
    rng = np.random.default_rng(3)
    fit = sr.corp((rng.random(2000) < line.move(p)).astype(float), p).sample
    scorer = _LocalScorer(fit.simulation(line.move(fit.distinct.x_min)), line, (BRIER, LOG))
    x = logit(fit.distinct.x_min)
    drawn = (rng.random((4, 2000)) < line.move(fit.distinct.x_min)).astype(float)
    gains = scorer._gain(Redraws(None, drawn))
    for y, ours in zip(drawn, gains, strict=True):
        for score, gain in zip((brier, log_score), ours, strict=True):
            best = minimize(
                lambda ab, y=y, score=score: score(y, expit(ab[0] + ab[1] * x), np.ones(2000)),
                [0.2, 0.8],
                method="Nelder-Mead",
                tol=1e-12,
            ).fun
            exact = score(y, expit(0.2 + 0.8 * x), np.ones(2000)) - best
            assert gain == pytest.approx(exact, rel=0.15, abs=2e-6)


@pytest.mark.sweep
@pytest.mark.parametrize("curve", ["calibrated", "slope"])
def test_a_line_is_rejected_as_often_as_the_level_says(curve):
    found = [split_miscalibration(*sample(400, curve, seed=s), draws=99, seed=s) for s in range(150)]
    share = np.mean([[parts.local_test.p_value <= 0.05 for parts in split] for split in found], axis=0)
    assert (share <= 0.05 + 4 * (0.05 * 0.95 / 150) ** 0.5).all()  # chance alone: 1 in 30,000


def test_a_wave_is_rejected():
    y, p = sample(6000)
    for parts in split_miscalibration(y, p):
        assert parts.local_test.p_value <= 0.01
        assert parts.local_part.lower > 0


def test_few_draws_are_enough_where_the_p_value_is_large():
    y, p = sample(2000, "calibrated", seed=3)
    for parts in split_miscalibration(y, p):
        assert (parts.local_test.draws == 99) == (parts.local_test.p_value >= 0.2)


# ---- edges ----


def test_there_are_no_parts_with_few_events():
    y = np.repeat([1.0, 0.0], [9, 200])
    assert split_miscalibration(y, np.linspace(0.01, 0.3, 209)) == ()


def test_an_inverted_ranking_has_a_constant_as_its_best_line():
    y, p = sample(500, "calibrated")
    for parts in split_miscalibration(y, 1 - p, draws=9):
        assert parts.slope == 0
        assert expit(parts.intercept) == pytest.approx(y.mean(), abs=1e-6)
        assert "inverted" in parts.note
        assert min(parts.by_shift.value, parts.by_slope.value, parts.local_part.value) >= 0


def test_separated_outcomes_have_no_line():
    y = np.repeat([0.0, 1.0], 20)
    for parts in split_miscalibration(y, np.linspace(0.1, 0.9, 40), draws=9):
        assert parts.note == "The forecasts separate events from non-events: no line fits."
        assert np.isnan([parts.by_slope.value, parts.local_part.upper, parts.local_test.p_value]).all()


def test_one_forecast_is_moved_by_a_shift_alone():
    y = np.repeat([0.0, 1.0], [30, 10])
    for parts in split_miscalibration(y, np.full(40, 0.5), draws=9):
        assert expit(parts.offset) == pytest.approx(0.25, abs=1e-6)
        assert parts.by_shift.value == pytest.approx(parts.miscalibration, abs=1e-12)
        assert (parts.by_slope.value, parts.by_slope.upper) == (0, 0)
        assert parts.local_part.value == pytest.approx(0, abs=1e-12)


def test_certain_forecasts_stay_and_refuted_ones_make_the_log_score_infinite():
    y, p = sample(400, "shift")
    y, p = np.append(y, [0, 0, 1, 1]), np.append(p, [0, 0, 1, 1])
    for parts, alone in zip(
        split_miscalibration(y, p, draws=9), split_miscalibration(y[:400], p[:400], draws=9), strict=True
    ):
        assert parts.offset == pytest.approx(alone.offset, rel=1e-9)
        assert parts.by_shift.value == pytest.approx(alone.by_shift.value * 400 / 404)
    ours, infinite = split_miscalibration(np.append(y, 1), np.append(p, 0), draws=9)
    assert ours.note == ""
    assert infinite.note.startswith("The score is infinite")


def test_clusters_widen_the_intervals_and_weights_count():
    y, p = sample(600)
    twice = np.repeat(np.arange(600), 2)
    alone = split_miscalibration(y, p, draws=9)[0]
    clustered = split_miscalibration(y[twice], p[twice], cluster=twice, draws=9)[0]
    assert clustered.by_shift.value == pytest.approx(alone.by_shift.value, abs=1e-12)
    assert clustered.by_shift.overfit_closed == pytest.approx(alone.by_shift.overfit_closed, rel=0.15)
    counted = split_miscalibration(y, p, sample_weight=np.full(600, 2), weight_kind="frequency", draws=9)[0]
    assert counted.by_shift.overfit_closed == pytest.approx(alone.by_shift.overfit_closed / 2, rel=1e-9)
    assert counted.local_part.value == pytest.approx(alone.local_part.value, abs=1e-12)


def test_a_negative_part_is_an_error_of_the_program():
    with pytest.raises(sr.ScoreReportError, match="negative"):
        miscalibration_parts._cut(-1e-6)


def test_a_line_whose_score_falls_towards_a_step_is_not_replaced_by_a_worse_one():
    """Refuted forecasts near 1 hold the likeliest line flat, from where the descent ends above the shift."""
    p = np.array(
        [0.0005, 0.0595, 0.1351, 0.1402, 0.1762, 0.2157, 0.2235, 0.2458, 0.4719, 0.4937, 0.5888, 0.6463]
    )
    p = np.append(p, [0.6668, 0.695, 0.7678, 0.8031, 0.8459, 0.8547, 0.8975, 0.9149, 0.9493, 0.9995, 0.9995])
    n = np.array([1, 2, 1, 3, 2, 3, 3, 2, 1, 2, 2, 2, 1, 2, 1, 1, 3, 1, 3, 1, 2, 3, 3])
    y = (p > 0.6) & (p < 0.99) | (p == 0.2458)
    brier, _ = split_miscalibration(y, p, sample_weight=n, weight_kind="frequency")
    assert np.isnan([brier.slope, brier.by_slope.value, brier.local_part.value]).all()
    assert brier.note == "The steeper the line, the lower the score: no line fits."
    assert brier.by_shift.value > 0
