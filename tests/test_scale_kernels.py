"""Kernels of the probability scale: fits of many draws, groups of values, means of many powers, threads."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from many_rows_tools import lower_thresholds
from probability_scale_tools import OPTIONS, draw_events

from scorereport._utils import machine
from scorereport._utils.json_documents import dump
from scorereport.inference import scale_sums
from scorereport.inference.nelson_scale import scale_forecast
from scorereport.inference.panel import make_panel
from scorereport.inference.scale_fits import fit_source, group_values, source_marks
from scorereport.inference.scale_powers import power_means
from scorereport.reliability.blocks import Blocks, pool
from scorereport.reliability.sampling import SamplingUnits
from scorereport.scores.probability import power_mean


def draw_counts(draws=7, groups=40, seed=3):
    rng = np.random.default_rng(seed)
    n = rng.integers(1, 30, groups).astype(float)
    return rng.binomial(n.astype(int), np.linspace(0, 1, groups), (draws, groups)).astype(float), n


def fit_alone(events, n):
    blocks = pool(Blocks(x_min=np.arange(len(n)), x_max=np.arange(len(n)), n=n, events=events))
    return source_marks(blocks.events, blocks.n)


def test_many_draws_are_fitted_as_each_alone():
    events, n = draw_counts()
    events[3] = 0
    events[4] = n
    events[5] = 0
    expected = [fit_alone(one, n) for one in events]
    np.testing.assert_allclose(fit_source(events, n), expected, rtol=1e-12)
    times = np.linspace(1, 2, len(events))[:, None]
    np.testing.assert_allclose(fit_source(events * times, n * times), expected, rtol=1e-12)


def test_few_values_are_not_grouped_and_many_only_in_the_middle():
    assert group_values(np.ones(500), 500).tolist() == list(range(500))
    start = group_values(np.ones(20_000), 500)
    assert np.diff(start)[:60].max() == np.diff(start)[-60:].max() == 1
    assert np.diff(start).max() <= 40
    heavy = np.ones(20_000)
    heavy[7000] = 1e6
    assert 7000 in group_values(heavy, 500)


@pytest.mark.parametrize("weight", [None, "frequency", "sampling"])
def test_means_of_many_powers_are_those_of_each(weight):
    rng = np.random.default_rng(5)
    p = rng.beta(0.3, 2, 300)
    weights = None if weight is None else rng.integers(0, 4, 300) * (1.0 if weight == "frequency" else 0.37)
    exponents = [-2.0, -0.7, -2 / 3, 0.0, 0.1, 1.0, 1.9]
    found = power_means(p, exponents, weights)
    expected = {m: power_mean(p, m, np.ones(300) if weights is None else weights) for m in exponents}
    assert found == pytest.approx(expected, rel=1e-11)


def test_resamples_are_drawn_once_for_all_models_and_forgotten_with_their_rows(monkeypatch):
    y, p = draw_events(200)
    panel, draw, drawn = make_panel(y, {"m": p, "k": p**2}), SamplingUnits.draw, []

    def count_draws(units, rng):
        drawn.append(units.rows)
        return draw(units, rng)

    monkeypatch.setattr(SamplingUnits, "draw", count_draws)
    known = len(scale_sums._SHARED)
    alone = {}
    for model in ("m", "k"):
        alone[model] = scale_forecast(panel, model, **OPTIONS | {"resamples": 12})
    assert drawn == [200] * 12
    assert len(scale_sums._SHARED) == known + 1
    scale_sums._SHARED.clear()
    assert dump(scale_forecast(panel, "k", **OPTIONS | {"resamples": 12})) == dump(alone["k"])
    del panel
    gc.collect()
    assert len(scale_sums._SHARED) == 0


@pytest.mark.parametrize("is_grouped", [False, True])
def test_the_probability_scale_does_not_depend_on_threads(monkeypatch, is_grouped):
    if is_grouped:
        lower_thresholds(monkeypatch)
    y, p = draw_events(600)
    panel = make_panel(y, {"m": p})
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("SCOREREPORT_THREADS", threads)
        monkeypatch.setattr(machine, "_ROWS_WORTH_A_THREAD", 1)
        scale_sums._SHARED.clear()
        found.append(scale_forecast(panel, "m", **OPTIONS | {"resamples": 12}))
    assert dump(found[0]) == dump(found[1])
