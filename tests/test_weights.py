"""Kinds of weights: what sampling weights change, what frequencies mean, weights that go with outcomes."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import scorereport as sr
from scorereport._utils.checks import CheckedCases
from scorereport.inference.bootstrap_resamples import bootstrap
from scorereport.inference.calibration_tests import mean_calibration_test, spiegelhalter_test
from scorereport.inference.component_tests import miscalibration_test
from scorereport.inference.regression import calibration_line
from scorereport.reliability.outcome_weights import weigh_outcomes

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


# Weights of either outcome


def brute_force_cells(p, y, fewest=50):
    """Cells that end where both outcomes have 50 rows and the forecast changes; the rest joins the last."""
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


def ratio_of(w, y):
    """Mean weight of events over that of non-events, its logarithm pulled to 0 by its squared error."""
    parts = [w[y == outcome] for outcome in (0, 1)]
    logarithm = np.log(parts[1].mean() / parts[0].mean())
    error = sum(of.var() / of.mean() ** 2 / (len(of) - 1) for of in parts)
    return np.exp(logarithm * max(0.0, 1 - error / logarithm**2))


@pytest.mark.parametrize("n", [100, 300, 3000])
@pytest.mark.parametrize("factor", [1.0, 1.3, 9.0])
def test_a_weight_changes_with_the_outcome_as_those_of_its_cell_do(n, factor):
    rng = np.random.default_rng(n)
    p = np.sort(rng.random(n)).round(2)
    y = (rng.random(n) < p).astype(float)
    w = rng.integers(1, 101, n) * np.where(y == 1, 1.0, factor)
    found = weigh_outcomes(CheckedCases(y, p, w))
    cells = brute_force_cells(p, y)
    assert len(cells) == {100: 1, 300: 1, 3000: 15}[n] or n == 3000
    for start, end in cells:
        ratio = ratio_of(w[start:end], y[start:end])
        inside = slice(start, end)
        np.testing.assert_allclose(found.of_event[inside] / found.of_other[inside], ratio, rtol=1e-12)
    np.testing.assert_array_equal(np.where(y == 1, found.of_event, found.of_other), w)


def test_a_large_sample_has_a_limited_number_of_cells():
    n = 100_000
    y = (np.arange(n) % 2).astype(float)
    w = np.where(y == 1, 1 + np.arange(n) // 500, 1.0)  # the ratio of a cell of 500 rows is its number
    found = weigh_outcomes(CheckedCases(y, np.linspace(0.01, 0.99, n), w))
    assert len(np.unique((found.of_event / found.of_other).round(9))) == 200


@pytest.mark.parametrize("p", [0.0, 0.2, 0.5, 0.9, 1.0])
def test_weighted_outcomes_of_sampled_rows_have_the_mean_and_variance_of_the_hypothesis(p):
    found = weigh_outcomes(CheckedCases(Y, P, np.where(Y == 1, 2.0, 7.0)))
    q = found.share_of_events(np.full(N, p))
    np.testing.assert_allclose(2 * q / (2 * q + 7 * (1 - q)), p, rtol=0, atol=1e-15)
    spread = 4 * q * (1 - p) ** 2 + 49 * (1 - q) * p**2
    np.testing.assert_allclose(found.squares * p * (1 - p), spread, rtol=1e-12)


@pytest.mark.parametrize("weight", [np.full(N, 3.0), WHOLE], ids=["equal", "unrelated"])
def test_weights_that_chance_explains_do_not_change_with_outcomes(weight):
    """The mean weights of events and non-events differ by less than their standard error."""
    found = weigh_outcomes(CheckedCases(Y, P, weight))
    assert found.are_fixed
    np.testing.assert_array_equal(found.share_of_events(P), P)
    np.testing.assert_array_equal(found.squares, weight**2)


@pytest.mark.parametrize("rare", [0, 1])
def test_with_too_few_rows_of_an_outcome_weights_are_fixed(rare):
    for outcome in (0.0, 1.0):
        y = np.full(N, outcome)
        y[:rare] = 1 - outcome
        found = weigh_outcomes(CheckedCases(y, P, WHOLE))
        assert found.are_fixed
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
        squares = weigh_outcomes(CheckedCases(y[at], x[at], w[at])).squares
        error = np.sqrt(value * (1 - value) * squares.sum()) / w[at].sum()
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


# Entry points

FRAME = pd.DataFrame({"y": Y.astype(int), "p": P, "w": WHOLE, "share": WHOLE / 100})
NAMED = {"outcome": "y", "forecasts": ["p"], "resamples": 0}


@pytest.mark.parametrize("read", [sr.read_predictions, sr.evaluate], ids=["read", "evaluate"])
def test_a_kind_of_weights_must_be_known(read):
    named = {"outcome": "y", "forecasts": ["p"], "weight": "w", "weight_kind": "survey"}
    sentence = '`weight_kind` must be one of "sampling", "frequency"; got \'survey\'.'
    with pytest.raises(sr.UsageError, match=f"^{re.escape(sentence)}$"):
        read(FRAME, **named)


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_frequencies_need_a_column_of_weights(engine, tmp_path):
    path = tmp_path / "p.parquet"
    FRAME.to_parquet(path)
    sentence = "`weight_kind` is given, but there is no column of weights; name one with `weight`."
    with pytest.raises(sr.UsageError, match=f"^{re.escape(sentence)}$"):
        sr.evaluate(path, **NAMED, weight_kind="frequency", engine=engine)
    with pytest.raises(sr.UsageError, match=f"^{re.escape(sentence)}$"):
        sr.read_predictions(path, outcome="y", forecasts=["p"], weight_kind="frequency")
    assert sr.evaluate(path, **NAMED, weight_kind="sampling", engine=engine).data.weight_kind == ""


def test_point_values_are_those_of_repeated_rows_for_either_kind():
    repeated = sr.evaluate(FRAME.loc[FRAME.index.repeat(WHOLE.astype(int))], **NAMED)
    for kind in ("sampling", "frequency"):
        found = sr.evaluate(FRAME, **NAMED, weight="w", weight_kind=kind)
        pd.testing.assert_frame_equal(found.scores, repeated.scores, rtol=1e-13, check_exact=False)
        assert found.models[0].forecasts.quantiles == repeated.models[0].forecasts.quantiles
        assert found.data.sample.total == repeated.data.sample.total


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_every_engine_supports_the_kind(engine, tmp_path):
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


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize(
    ("y", "p", "weight"),
    [
        ([0, 0, 1, 1, 1], [0.1, 0.5, 0.4, 0.6, 0.8], [1, 1, 1e9, 1, 1]),
        ([0, 0, 1, 1, 1], [0.1, 0.5, 0.4, 0.6, 0.8], [1, 1, 1e8, 1, 1e16]),
        ([1, 1, 0, 1, 0], [1, 1, 0, 1, 0], [1, 1e12, 1e-11, 1e3, 1e-7]),
        ([1, 0] * 30, np.linspace(0.1, 0.9, 60), np.append(np.ones(59), 1e12)),
    ],
)
def test_one_row_with_almost_all_weight_is_not_a_crash(y, p, weight):
    frame = pd.DataFrame({"y": y, "m": np.asarray(p, dtype=float), "w": np.asarray(weight, dtype=float)})
    found = sr.evaluate(frame, outcome="y", forecasts=["m"], weight="w", resamples=99)
    line = found.models[0].calibration.line
    intervals = [line.slope, line.intercept, *(score.interval for score in found.models[0].scores.scores)]
    for interval in intervals:
        assert interval.lower <= interval.value <= interval.upper or (
            np.isnan(interval.lower) and interval.note
        )


# Notes


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_notes_on_few_events_name_effective_numbers(engine, tmp_path):
    frame = pd.DataFrame({"y": np.repeat([1.0, 0.0], [9, 111]), "p": np.linspace(0.9, 0.1, 120), "w": 10})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    options = {"outcome": "y", "forecasts": ["p"], "weight": "w", "resamples": 40, "engine": engine}
    found = sr.evaluate(tmp_path / "rows.csv", **options)
    few = "Only 9 events (effective number of weighted rows): with fewer than 20"
    assert f"{few} intervals say little." in found.notes
    counted = sr.evaluate(tmp_path / "rows.csv", weight_kind="frequency", **options)
    assert not any("Only" in note for note in counted.notes)


def test_notes_at_intervals_name_effective_numbers():
    frame = pd.DataFrame({"y": np.repeat([1.0, 0.0], [9, 111]), "p": np.linspace(0.9, 0.1, 120), "w": 10})
    scores = sr.evaluate(frame, outcome="y", forecasts=["p"], weight="w", resamples=40).models[0].scores
    few = "Only 9 events (effective number of weighted rows): with fewer than"
    assert {part.note for part in scores.components} == {f"{few} 20 this interval says little."}
    assert scores.score("misclassification").skill_interval.note == f"{few} 50 this interval says little."


def test_notes_on_rare_classes_name_effective_numbers():
    frame = pd.DataFrame({"y": np.repeat(["a", "b", "c"], [9, 30, 30]), "w": 10.0})
    frame = frame.assign(m_a=np.linspace(0.5, 0.1, 69), m_b=0.3, m_c=lambda f: 0.7 - f["m_a"])
    found = sr.evaluate(frame, outcome="y", forecasts=["m"], classes=list("abc"), weight="w", resamples=40)
    note = found.class_models[0].scores.score("multiclass_brier").skill_interval.note
    assert note.startswith("Only 9 cases (effective number of weighted rows) of a class: with fewer than 20")


def test_a_note_states_that_recalibration_is_not_tried():
    note = "Recalibration is left out: it needs at least 10 events and 10 non-events, spread over its folds."
    frame = pd.DataFrame(
        {"y": np.repeat([1.0, 0.0], [10, 50]), "p": np.resize([0.2, 0.3, 0.5, 0.7], 60), "w": 2.0}
    )
    enough = sr.evaluate(frame, outcome="y", forecasts=["p"], resamples=40, weight="w")
    assert note not in enough.notes
    assert enough.models[0].recalibration
    few = sr.evaluate(frame.iloc[1:], outcome="y", forecasts=["p"], resamples=40, weight="w")
    assert note in few.notes
    assert not few.models[0].recalibration
    assert note not in sr.evaluate(frame.iloc[1:], outcome="y", forecasts=["p"], resamples=0).notes


@pytest.mark.parametrize(("events", "is_wider"), [(100, False), (20, True)])
def test_events_that_are_oversampled_are_not_rare(events, is_wider):
    """All events and one non-event in nine: Kish's number of all rows would make 100 events some 14."""
    rng = np.random.default_rng(1)
    y = np.repeat([1.0, 0.0], [events, 120])
    p = rng.uniform(0.1, 0.4, len(y))
    boot = bootstrap(y, {"m": p}, sample_weight=np.where(y == 1, 1.0, 9.0), resamples=99)
    wide, plain = (boot.interval("m", "brier", allow_for_rare=allow) for allow in (True, False))
    assert (wide.upper > plain.upper) is is_wider
