"""Displays as scikit-learn has them: predictions, estimators, cross-validation, and their mistakes."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from plot_tools import make_forecasts
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import scorereport as sr

DISPLAYS = (sr.ReliabilityDisplay, sr.MurphyDisplay, sr.DecisionCurveDisplay)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def make_data(n=400):
    rng = np.random.default_rng(3)
    data = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "c"])
    y = (rng.random(n) < 1 / (1 + np.exp(-data["a"] - 0.5 * data["b"]))) * 1
    return data, y.to_numpy()


def line_of(display, label):
    return next(line for line in display.ax_.get_lines() if line.get_label() == label)


@pytest.mark.parametrize("kind", DISPLAYS)
def test_predictions_are_drawn(kind):
    y, forecasts = make_forecasts()
    display = kind.from_predictions(y, forecasts["boost"], name="boost")
    assert isinstance(display.figure_, Figure)
    assert line_of(display, "boost") is not None
    assert repr(display) == f"{kind.__name__}('boost')"
    axes = plt.figure().add_subplot()
    assert display.plot(ax=axes, color="black") is display
    assert display.ax_ is axes


@pytest.mark.parametrize("kind", DISPLAYS)
def test_an_estimator_is_drawn_by_its_probabilities_of_the_event(kind):
    data, y = make_data()
    words = np.where(y == 1, "yes", "no")
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(data, words)
    display = kind.from_estimator(model, data, words)
    other = kind.from_predictions(y, model.predict_proba(data)[:, 1], name="Pipeline")
    np.testing.assert_array_equal(
        line_of(display, "Pipeline").get_xydata(), line_of(other, "Pipeline").get_xydata()
    )
    reverse = kind.from_estimator(model, data, words, pos_label="no", name="no")
    by_hand = kind.from_predictions(1 - y, model.predict_proba(data)[:, 0], name="no")
    np.testing.assert_array_equal(line_of(reverse, "no").get_xydata(), line_of(by_hand, "no").get_xydata())


@pytest.mark.parametrize("as_frame", [True, False])
def test_folds_are_pooled_or_drawn_one_by_one(as_frame):
    data, y = make_data()
    data = data if as_frame else data.to_numpy()
    results = cross_validate(LogisticRegression(), data, y, cv=4, return_estimator=True, return_indices=True)
    pooled = sr.ReliabilityDisplay.from_cv_results(results, data, y, name="logit")
    assert len(pooled.models) == 1
    assert pooled.models[0].fit.n == len(y)
    forecast = np.empty(len(y))
    for model, rows in zip(results["estimator"], results["indices"]["test"], strict=True):
        forecast[rows] = model.predict_proba(data[rows] if not as_frame else data.iloc[rows])[:, 1]
    by_hand = sr.corp(y, forecast)
    pd.testing.assert_frame_equal(pooled.models[0].fit.bins, by_hand.bins)
    each = sr.ReliabilityDisplay.from_cv_results(results, data, y, folds="each", name="logit")
    assert [model.model for model in each.models] == [f"logit, fold {place}" for place in (1, 2, 3, 4)]
    assert sum(model.fit.n for model in each.models) == len(y)
    assert line_of(each, "logit, fold 3") is not None


def test_weights_reach_the_fits_of_the_folds():
    data, y = make_data()
    weight = 1.0 + np.arange(len(y)) % 3
    results = cross_validate(LogisticRegression(), data, y, cv=3, return_estimator=True, return_indices=True)
    pooled = sr.MurphyDisplay.from_cv_results(results, data, y, sample_weight=weight)
    forecast = np.empty(len(y))
    for model, rows in zip(results["estimator"], results["indices"]["test"], strict=True):
        forecast[rows] = model.predict_proba(data.iloc[rows])[:, 1]
    pd.testing.assert_frame_equal(pooled.models[0].fit.bins, sr.corp(y, forecast, weight).bins)


@pytest.mark.parametrize("kind", DISPLAYS)
def test_the_points_of_the_curves_are_a_table(kind):
    y, forecasts = make_forecasts()
    frame = kind.from_predictions(y, forecasts["boost"], name="boost").to_frame()
    assert set(frame["model"]) == {"boost"}
    assert len(frame) > 20
    assert frame.drop(columns="model").shape[1] >= 2


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (
            lambda data, y: sr.MurphyDisplay.from_estimator(Ridge().fit(data, y), data, y),
            "Ridge must be a fitted classifier with `predict_proba`; for other models use "
            "`from_predictions`.",
        ),
        (
            lambda data, y: sr.MurphyDisplay.from_estimator(LogisticRegression(), data, y),
            "LogisticRegression must be a fitted classifier with `predict_proba`; for other models use "
            "`from_predictions`.",
        ),
        (
            lambda data, y: sr.MurphyDisplay.from_estimator(
                LogisticRegression().fit(data, np.arange(len(y)) % 3), data, y
            ),
            "The classifier must have two classes; it has 3.",
        ),
        (
            lambda data, y: sr.MurphyDisplay.from_estimator(
                LogisticRegression().fit(data, y), data, y, pos_label=2
            ),
            "`pos_label` must be one of [0, 1]; got 2.",
        ),
        (
            lambda data, y: sr.MurphyDisplay.from_predictions(y, data["a"] * 0 + 0.5, pos_label="yes"),
            "`pos_label` must be one of the labels 0, 1; got 'yes'.",
        ),
        (
            lambda data, y: sr.MurphyDisplay.from_cv_results(
                cross_validate(LogisticRegression(), data, y), data, y
            ),
            "`cv_results` has no estimator and no indices: call `cross_validate` with "
            "`return_estimator=True` and `return_indices=True`.",
        ),
        (
            lambda data, y: sr.MurphyDisplay.from_cv_results({}, data, y, folds="all"),
            '`folds` must be one of "pooled", "each"; got \'all\'.',
        ),
    ],
)
def test_mistakes_are_explained(draw, message):
    with pytest.raises(sr.UsageError) as caught:
        draw(*make_data())
    assert str(caught.value) == message
