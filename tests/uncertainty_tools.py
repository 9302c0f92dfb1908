"""Frames and evaluations that two test files share."""

from __future__ import annotations

import numpy as np
import pandas as pd

import scorereport as sr

RESAMPLES = 20


COLUMNS = {"outcome": "y", "forecasts": ["sharp", "coarse", "blunt"]}


def make_frame(n=300, seed=2):
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.02, 0.98, n)
    return pd.DataFrame(
        {
            "y": (rng.random(n) < p).astype(int),
            "sharp": p,
            "coarse": np.clip(p.round(1), 0.06, 0.94),
            "blunt": 0.3 + 0.4 * p**2,
            "site": rng.choice(["east", "west", "north"], n, p=[0.49, 0.49, 0.02]),
            "bank": [f"bank {k}" for k in rng.integers(0, 60, n)],
            "rating": np.where(p < 0.3, "A", np.where(p < 0.7, "B", "C")),
            "day": pd.date_range("2021-11-15", periods=n, freq="D"),
            "share": rng.random(n) + 0.1,
            "count": rng.integers(1, 4, n),
        }
    )


def evaluate(frame, **options):
    return sr.evaluate(frame, **{"resamples": RESAMPLES, **COLUMNS, **options})


def frame_fixture():
    return make_frame()


def plain_fixture(frame):
    return evaluate(frame, cost_interval=(0.1, 0.4))
