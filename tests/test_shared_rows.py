"""Many predictions are put in the order of their panel, which shares their columns: no number changes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import scorereport as sr
from scorereport.data.reader import read_predictions
from scorereport.evaluation import prediction_panels
from scorereport.evaluation.prediction_panels import panel_of, share_rows

N = 400


def draw_frame():
    """Rows with every kind of column; two forecasts were refuted and two values are missing."""
    rng = np.random.default_rng(8)
    p = rng.random(N).round(2)
    y = (rng.random(N) < p).astype(float)
    p[[30, 310]], y[[30, 310]] = 0.0, 1.0
    q = np.clip(p + rng.normal(0, 0.1, N), 0.01, 0.99)
    q[[30, 310]] = 0.9, 0.1  # the second is the first in the order of the panel
    q[[7, 200]] = np.nan
    return pd.DataFrame(
        {
            "y": y,
            "p": p,
            "q": q,
            "w": rng.integers(1, 4, N).astype(float),
            "area": rng.choice(["north", "south"], N),
            "rating": rng.choice(["A", "B"], N),
            "day": pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(0, 90, N), unit="D"),
        }
    )


COLUMNS = {
    "plain": {},
    "weight": {"weight": "w"},
    "frequency": {"weight": "w", "weight_kind": "frequency"},
    "groups and grades": {"groups": ["area"], "grade": "rating"},
    "time": {"time": "day"},
    "cluster": {"cluster": "area"},
}


@pytest.fixture
def many(monkeypatch):
    monkeypatch.setattr(prediction_panels, "MOST_ROWS_TOGETHER", 100)


def evaluate(frame, columns):
    names = {"outcome": "y", "forecasts": ["p", "q"], "missing": "drop"}
    return sr.evaluate(frame, **names, resamples=20, **columns)


@pytest.mark.parametrize("columns", COLUMNS.values(), ids=COLUMNS)
def test_an_evaluation_is_the_same_to_the_last_bit(columns, request):
    frame = draw_frame()
    expected = evaluate(frame, columns)
    request.getfixturevalue("many")
    found = evaluate(frame, columns)
    assert found.to_json() == expected.to_json()
    assert any("(row 30, 310)" in note for note in found.notes)
    assert found.predictions.sha256 == found.data.sha256 == expected.predictions.sha256
    is_sorted = found.predictions.rows.tolist() != expected.predictions.rows.tolist()
    assert is_sorted == ("cluster" not in columns)


@pytest.mark.usefixtures("many")
def test_the_panel_shares_all_columns():
    predictions = read_predictions(draw_frame().dropna(), outcome="y", forecasts=["p", "q"])
    before = panel_of(predictions)
    shared = share_rows(predictions)
    panel = panel_of(shared)
    assert np.shares_memory(panel.outcome, shared.outcome)
    assert all(np.shares_memory(panel.forecasts[name], shared.forecasts[name]) for name in ("p", "q"))
    assert not np.shares_memory(before.outcome, predictions.outcome)
    np.testing.assert_array_equal(panel.forecasts["q"], before.forecasts["q"])


def test_few_predictions_stay_as_they_are():
    predictions = read_predictions(draw_frame().dropna(), outcome="y", forecasts=["p"])
    assert share_rows(predictions) is predictions


@pytest.mark.usefixtures("many")
def test_predictions_of_a_user_stay_as_they_are():
    predictions = read_predictions(draw_frame().dropna(), outcome="y", forecasts=["p"])
    assert sr.evaluate(predictions, resamples=20).predictions is predictions


def test_rows_in_another_order_keep_their_place_in_the_source():
    frame = draw_frame()
    predictions = read_predictions(frame, outcome="y", forecasts=["p", "q"], weight="w", missing="drop")
    order = np.random.default_rng(1).permutation(len(predictions))
    other = predictions.in_order(order)
    np.testing.assert_array_equal(frame["q"].to_numpy()[other.rows], other.forecasts["q"])
    np.testing.assert_array_equal(frame["w"].to_numpy()[other.rows], other.weight)
    assert other.sha256 == predictions.sha256
    assert other.row_flow == predictions.row_flow


def test_rows_of_which_none_was_dropped_get_their_places():
    predictions = read_predictions(draw_frame().fillna(0.5), outcome="y", forecasts=["q"], groups=["area"])
    assert predictions.rows is None
    order = np.random.default_rng(1).permutation(N)
    other = predictions.in_order(order)
    np.testing.assert_array_equal(other.rows, order)
    np.testing.assert_array_equal(other.groups["area"], predictions.groups["area"][order])
    again = other.in_order(np.argsort(order))
    np.testing.assert_array_equal(again.rows, np.arange(N))
    assert predictions.sha256 == other.sha256 == again.sha256
