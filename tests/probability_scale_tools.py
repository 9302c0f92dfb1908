"""Samples of the probability scale that two test files share."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from scipy.special import expit

from scorereport._utils.choices import SEED
from scorereport.inference.nelson_scale import scale_forecast
from scorereport.inference.panel import make_panel

MARKS = ("decisiveness", "accuracy", "robustness")


OPTIONS = {"n_bins": 10, "limit": 0.0, "level": 0.95, "resamples": 0, "seed": SEED}


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def draw_classes(n, k, *, temper=1.0, spread=1.2, seed=1):
    """Outcomes, and the forecasts of a model whose log-odds are too far apart if `temper` is above 1."""
    rng = np.random.default_rng(seed)
    x = rng.normal(0, spread, (n, k))
    y = (rng.random(n)[:, None] > np.cumsum(softmax(x), axis=1)[:, :-1]).sum(axis=1)
    return y, softmax(temper * x)


def draw_events(n, *, temper=1.0, seed=1):
    rng = np.random.default_rng(seed)
    x = rng.normal(-0.3, 1.3, n)
    return (rng.random(n) < expit(x)) * 1, expit(temper * x)


def values(result, part):
    return [getattr(getattr(result, mark), part).value for mark in MARKS]


def events_fixture():
    y, p = draw_events(500)
    panel = make_panel(y, {"right": p})
    return [SimpleNamespace(model="right", scale=scale_forecast(panel, "right", **OPTIONS))]
