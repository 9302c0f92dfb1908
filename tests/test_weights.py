"""Kinds of weights: what sampling weights change, what frequencies mean, weights that go with outcomes."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import scorereport as sr
from scorereport.checks import Cases
from scorereport.inference.calibration import mean_calibration_test, spiegelhalter_test
from scorereport.inference.miscalibration import miscalibration_test
from scorereport.inference.regression import calibration_line
from scorereport.reliability.weighting import weigh_outcomes

RNG = np.random.default_rng(19)
N = 300
P = np.sort(RNG.random(N)).round(2).clip(0.01, 0.99)
Y = (RNG.random(N) < P).astype(float)
WHOLE = RNG.integers(1, 101, N).astype(float)


def thinned(n, keep, seed=3):
    """Calibrated forecasts of which a share of the non-events is kept, each with the weight 1/share."""
    rng = np.random.default_rng(seed)
    p = np.sort(rng.beta(1, 9, n))
    y = (rng.random(n) < p).astype(float)
    kept = (y == 1) | (rng.random(n) < keep)
    return y[kept], p[kept], np.where(y == 1, 1.0, 1 / keep)[kept]


# Cells of similar forecasts


def brute_force_cells(p, y, fewest=20):
    """Cells that end where both outcomes have 20 rows and the forecast changes; the rest joins the last."""
    cells, start = [], 0
    for end in range(1, len(p) + 1):
        is_edge = end == len(p) or p[end] != p[end - 1]
        events = int(y[start:end].sum())
        if is_edge and min(events, end - start - events) >= fewest:
            cells.append((start, end))
            start = end
    if start < len(p):
        cells = [*cells[:-1], (cells[-1][0] if cells else 0, len(p))]
    return cells


@pytest.mark.parametrize("n", [30, 60, 300])
def test_cells_have_enough_rows_of_both_outcomes(n):
    p, y, w = P[:: N // n], Y[:: N // n], WHOLE[:: N // n]
    found = weigh_outcomes(Cases(y, p, w))
    cells = brute_force_cells(p, y)
    assert found.cell.tolist() == [k for k, (start, end) in enumerate(cells) for _ in range(start, end)]
    for number, (start, end) in enumerate(cells):
        for outcome in (0, 1):
            of = w[start:end][y[start:end] == outcome]
            assert found.mean[number, outcome] == pytest.approx(of.mean(), rel=1e-12)
            assert found.mean_square[number, outcome] == pytest.approx((of**2).mean(), rel=1e-12)


def test_a_large_sample_has_a_limited_number_of_cells():
    p = np.linspace(0.01, 0.99, 100_000)
    found = weigh_outcomes(Cases((np.arange(100_000) % 2).astype(float), p, np.ones(100_000)))
    assert found.cell[-1] + 1 == 200
    assert np.bincount(found.cell).min() >= 500


@pytest.mark.parametrize("p", [0.0, 0.2, 0.5, 0.9, 1.0])
def test_sampled_rows_have_the_share_of_events_that_weights_undo(p):
    """Of rows with P(event) = p, weighted by the mean weight of their outcome, a share p are events."""
    found = weigh_outcomes(Cases(Y, P, np.where(Y == 1, 2.0, 7.0)))
    q = found.share_of_events(np.full(N, p))
    np.testing.assert_allclose(2 * q / (2 * q + 7 * (1 - q)), p, rtol=0, atol=1e-15)
    squares = 4 * q * (1 - p) ** 2 + 49 * (1 - q) * p**2
    if 0 < p < 1:
        np.testing.assert_allclose(found.expected_squares(np.full(N, p)), squares / (p * (1 - p)), rtol=1e-12)
    assert np.isfinite(found.expected_squares(np.full(N, p))).all()


def test_weights_that_do_not_go_with_outcomes_change_nothing():
    found = weigh_outcomes(Cases(Y, P, np.full(N, 3.0)))
    np.testing.assert_allclose(found.share_of_events(P), P, rtol=1e-14)
    np.testing.assert_allclose(found.expected_squares(P), 9, rtol=1e-14)


def test_a_row_keeps_its_weight_unless_its_outcome_changes():
    w = np.where(Y == 1, WHOLE, 1000 + WHOLE)
    found = weigh_outcomes(Cases(Y, P, w))
    rows = np.arange(N)
    np.testing.assert_array_equal(found.draw(np.random.default_rng(1), rows, Y == 1), w)
    changed = found.draw(np.random.default_rng(1), rows, Y == 0)
    assert ((changed > 1000) == (Y == 1)).all()
    for number in range(found.cell[-1] + 1):
        inside = found.cell == number
        assert set(changed[inside & (Y == 1)]) <= set(w[inside & (Y == 0)])


@pytest.mark.parametrize("outcome", [0.0, 1.0])
def test_one_outcome_only(outcome):
    y = np.full(N, outcome)
    found = weigh_outcomes(Cases(y, P, WHOLE))
    np.testing.assert_allclose(found.share_of_events(P), P, rtol=1e-12)
    drawn = found.draw(np.random.default_rng(1), np.arange(N), np.arange(N) % 2 == 0)
    assert set(drawn) <= set(WHOLE)
    assert sr.corp(y, P, WHOLE).band(resamples=20).lower.shape


# What errors and tests make of them


def test_a_sample_drawn_by_outcome_has_the_variance_of_its_residuals():
    """The variance of a weighted sum, against the sum of squared residuals of some 38,000 rows."""
    y, p, w = thinned(200_000, 1 / 9)
    for call, factor in ((mean_calibration_test, np.ones(len(p))), (spiegelhalter_test, 1 - 2 * p)):
        terms = w * factor * (y - p)
        variance = (terms.sum() / call(y, p, sample_weight=w).statistic) ** 2
        assert variance == pytest.approx((terms**2).sum(), rel=0.03)
        naive = (w**2 * factor**2 * p * (1 - p)).sum()
        assert naive > 2 * variance


def test_bands_of_a_sample_drawn_by_outcome_are_those_of_its_rows():
    """Ten values, each with enough rows that the band is normal theory around the weighted rate."""
    y, p, w = thinned(100_000, 1 / 9)
    x = (np.floor(p * 10) + 0.5).clip(0.5, 4.5) / 10
    fit = sr.corp(y, x, w)
    band = fit.band("consistency", 0.9, method="discrete")
    for place, value in enumerate(np.unique(x)):
        at = x == value
        weights = weigh_outcomes(Cases(y[at], x[at], w[at])).expected_squares(x[at])
        error = np.sqrt(value * (1 - value) * weights.sum()) / w[at].sum()
        half = (band.upper[place] - band.lower[place]) / 2
        assert half == pytest.approx(1.6448536269514722 * error, rel=0.1)
    drawn = fit.band("consistency", 0.9, method="resampling", resamples=400)
    np.testing.assert_allclose(
        drawn.upper - drawn.lower, (band.upper - band.lower)[: len(drawn.upper)], rtol=0.3
    )


def test_whole_weights_of_rows_drawn_once_do_not_narrow_a_test():
    """300 rows with weights 1 to 100 count as 300 rows and not as 15,000, whose test rejected always."""
    sampled = miscalibration_test(sr.corp(Y, P, WHOLE), resamples=199)
    counted = miscalibration_test(sr.corp(Y, P, WHOLE, weight_kind="frequency"), resamples=199)
    assert sampled.statistic == counted.statistic
    assert sampled.p_value > counted.p_value
    assert sampled.method.startswith("199 draws of outcomes from the forecast, with sampling weights of the")
    wide, narrow = (
        calibration_line(Y, P, sample_weight=WHOLE, weight_kind=kind).slope
        for kind in ("sampling", "frequency")
    )
    assert wide.value == narrow.value
    assert wide.standard_error > 5 * narrow.standard_error


# Doors

FRAME = pd.DataFrame({"y": Y.astype(int), "p": P, "w": WHOLE, "share": WHOLE / 100})
NAMED = {"outcome": "y", "forecasts": ["p"], "resamples": 0}


@pytest.mark.parametrize("read", [sr.read_predictions, sr.evaluate], ids=["read", "evaluate"])
def test_a_kind_of_weights_must_be_known(read):
    named = {"outcome": "y", "forecasts": ["p"], "weight": "w", "weight_kind": "survey"}
    sentence = '`weight_kind` must be one of "sampling", "frequency"; got \'survey\'.'
    with pytest.raises(sr.UsageError, match=f"^{re.escape(sentence)}$"):
        read(FRAME, **named)


def test_point_values_are_those_of_repeated_rows_for_either_kind():
    repeated = sr.evaluate(FRAME.loc[FRAME.index.repeat(WHOLE.astype(int))], **NAMED)
    for kind in ("sampling", "frequency"):
        found = sr.evaluate(FRAME, **NAMED, weight="w", weight_kind=kind)
        pd.testing.assert_frame_equal(found.scores, repeated.scores, rtol=1e-13, check_exact=False)
        assert found.models[0].forecasts.quantiles == repeated.models[0].forecasts.quantiles
        assert found.data.sample.total == repeated.data.sample.total


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_every_engine_knows_the_kind(engine, tmp_path):
    path = tmp_path / "p.parquet"
    FRAME.to_parquet(path)
    named = {**NAMED, "resamples": 100, "weight": "w", "engine": engine}
    sampled, counted = (sr.evaluate(path, **named, weight_kind=kind) for kind in ("sampling", "frequency"))
    assert (sampled.data.weight_kind, counted.data.weight_kind) == ("sampling", "frequency")
    pd.testing.assert_frame_equal(sampled.scores, counted.scores)
    wide, narrow = (e.data.sample.prevalence_interval for e in (sampled, counted))
    assert wide.upper - wide.lower > 3 * (narrow.upper - narrow.lower)
    assert any("frequency weights" in note for note in sampled.notes)
    assert not any("frequency weights" in note for note in counted.notes)
