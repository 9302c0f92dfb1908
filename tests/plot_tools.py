"""Evaluations and fits that the tests of public plots draw."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd

import scorereport as sr
from scorereport.report.figure_drawing import read_drawing

N = 1200


@cache
def make_forecasts():
    """Outcomes, and the forecasts of a calibrated model and of one that is too extreme."""
    rng = np.random.default_rng(5)
    x = rng.normal(-0.4, 1.2, N)
    p = 1 / (1 + np.exp(-x))
    y = (rng.random(N) < p) * 1
    q = 1 / (1 + np.exp(-(1.8 * x + 0.4 + 0.3 * rng.standard_normal(N))))
    return y, {"logit": p, "boost": q}


@cache
def binary_evaluation():
    y, forecasts = make_forecasts()
    frame = pd.DataFrame({"y": y, **forecasts})
    frame["region"] = np.array(["north", "south", "west"])[np.arange(N) % 3]
    frame["day"] = pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(N) // 6, unit="D")
    return sr.evaluate(
        frame,
        outcome="y",
        forecasts=list(forecasts),
        groups="region",
        time="day",
        cost_interval=(0.2, 0.5),
        resamples=200,
    )


@cache
def class_evaluation():
    rng = np.random.default_rng(7)
    table = rng.dirichlet([2.0, 1.5, 1.0], 900)
    outcome = (rng.random((900, 1)) > table.cumsum(axis=1)).sum(axis=1)
    frame = pd.DataFrame({f"m_{label}": table[:, k] for k, label in enumerate(("low", "mid", "high"))})
    frame["grade"] = np.array(["low", "mid", "high"])[outcome]
    frame["branch"] = np.array(["a", "b"])[np.arange(900) % 2]
    return sr.evaluate(
        frame,
        outcome="grade",
        forecasts=["m"],
        classes=["low", "mid", "high"],
        ordered=True,
        groups="branch",
        resamples=100,
    )


@cache
def fit_of(name):
    y, forecasts = make_forecasts()
    return sr.corp(y, forecasts[name])


#: Greatest height in millimetres of a figure, or of a part of one that pages do not divide.
HIGHEST = 78.0


def part_heights(svg):
    """The heights in millimetres of the parts of a figure that pages do not divide."""
    drawing = read_drawing(svg.encode(), {})
    return [part.height * 25.4 / 96 for part in drawing.divide()]
