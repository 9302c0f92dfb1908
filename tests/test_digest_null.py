"""What engines draw: the test of miscalibration and the simultaneous consistency band, as in memory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from engine_tools import ArrayEngine
from numpy.testing import assert_allclose, assert_array_equal

import scorereport as sr
from scorereport.evaluation.engines.digest_plan import point_ranks
from scorereport.evaluation.engines.engine_evaluation import evaluate_with_engine
from scorereport.evaluation.engines.protocol import MOST_DISTINCT
from scorereport.results.settings import EvaluationSettings

SETTINGS = EvaluationSettings(resamples=99)


def make_frame(rows, digits=None, seed=3):
    rng = np.random.default_rng(seed)
    p = rng.beta(1.2, 2, rows)
    frame = pd.DataFrame({"y": (rng.random(rows) < p).astype(int), "a": p, "b": p**1.05, "c": 0.4 * p + 0.5})
    return frame if digits is None else frame.round(digits)


def evaluate_both(frame, settings=SETTINGS, **columns):
    """The models as evaluated in memory, and by an engine that reads rows in small pieces."""
    predictions = sr.read_predictions(frame, outcome="y", forecasts=["a", "b", "c"], **columns)
    engine = ArrayEngine(predictions, rows=max(len(frame) // 30, 100))
    ours = evaluate_with_engine(engine, replace(settings, engine="duckdb")).models
    in_memory = sr.evaluate(predictions, resamples=settings.resamples)
    return list(zip(ours, in_memory.models, strict=True))


def whole_band(model):
    (band,) = (b for b in model.bands if (b.kind, b.coverage) == ("consistency", "simultaneous"))
    return band


KINDS = {
    "few rows": (make_frame(1500), {}),
    "in cells": (make_frame(9000), {}),
    "tied": (make_frame(9000, 2), {}),
    "tied in cells": (make_frame(9000, 3), {}),
    "repeated": (make_frame(2500).assign(k=lambda f: 1 + np.arange(len(f)) % 4), {"weight": "k"}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_tests_and_bands_are_those_of_memory(kind):
    frame, columns = KINDS[kind]
    options = {"weight_kind": "frequency"} if columns else {}
    for ours, reference in evaluate_both(frame, **columns, **options):
        assert len(ours.scores.miscalibration_tests) == 4
        for found, known in zip(
            ours.scores.miscalibration_tests, reference.scores.miscalibration_tests, strict=True
        ):
            assert (found.name, found.method, found.n) == (known.name, known.method, known.n)
            assert found.p_value == known.p_value
            assert found.p_value_holm == known.p_value_holm
            assert found.statistic == pytest.approx(known.statistic, rel=1e-9)
        band, known = whole_band(ours), whole_band(reference)
        assert (band.label, band.note, band.n) == (known.label, known.note, known.n)
        assert_array_equal(band.x, known.x)
        assert_allclose(band.lower, known.lower, rtol=1e-12)
        assert_allclose(band.upper, known.upper, rtol=1e-12)
        assert [(b.kind, b.coverage) for b in ours.bands] == [(b.kind, b.coverage) for b in reference.bands]
    assert ours.scores.miscalibration_tests[0].p_value == 0.01  # the last model is not calibrated


@pytest.mark.sweep
def test_cells_of_many_forecasts_are_those_of_memory():
    """With this many distinct forecasts a digest has only cells; their means may differ by rounding."""
    pairs = evaluate_both(make_frame(MOST_DISTINCT + 4000))
    for ours, reference in pairs:
        for found, known in zip(
            ours.scores.miscalibration_tests, reference.scores.miscalibration_tests, strict=True
        ):
            assert found.method == known.method
            assert abs(found.p_value - known.p_value) <= 0.011  # a draw in a hundred
            assert found.statistic == pytest.approx(known.statistic, rel=1e-6)
        band, known = whole_band(ours), whole_band(reference)
        assert_allclose(band.x, known.x, rtol=1e-12)
        width = (known.upper - known.lower).mean()
        assert np.abs(band.lower - known.lower).max() < 0.05 * width
        assert np.abs(band.upper - known.upper).max() < 0.05 * width


@pytest.mark.parametrize("columns", [{"weight": "w"}, {"cluster": "g"}])
def test_dependent_cases_are_not_drawn(columns):
    frame = make_frame(400).assign(w=lambda f: 1 + f.a, g=lambda f: np.arange(len(f)) // 4)
    for ours, _ in evaluate_both(frame, **columns):
        assert ours.scores.miscalibration_tests == ()
        assert ours.bands == ()


def test_without_intervals_nothing_is_drawn():
    none = replace(SETTINGS, resamples=0)
    for ours, _ in evaluate_both(make_frame(400), none):
        assert ours.scores.miscalibration_tests == ()


def test_times_are_noted():
    frame = make_frame(300).assign(day=lambda f: pd.Timestamp("2026-01-01") + pd.to_timedelta(f.index, "D"))
    for ours, _ in evaluate_both(frame, time="day"):
        assert all("independent" in test.note for test in ours.scores.miscalibration_tests)


def test_ranks_of_points_are_those_of_distinct_forecasts():
    assert_array_equal(point_ranks(5, 100), np.arange(5))
    assert point_ranks(1000, 60)[-1] == 999
