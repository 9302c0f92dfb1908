"""Models of K classes: the whole evaluation against binary evaluations of all its views."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import scorereport as sr
from validation.benchmarks.measure import Comparison, time_by_turns

if TYPE_CHECKING:
    from collections.abc import Iterator

N, CLASSES, RESAMPLES = 5_000, 5, 100


def compare_classes() -> Iterator[Comparison]:
    """Compare a whole ordinal evaluation, including its joint parts, with its views evaluated one by one."""
    rng = np.random.default_rng(2021)
    p = rng.dirichlet(np.ones(CLASSES), N)
    observed = (rng.random(N)[:, None] >= np.cumsum(p, axis=1)[:, :-1]).sum(axis=1)
    labels = tuple(map(str, range(CLASSES)))
    whole = sr.ClassPredictions(outcome=observed, forecasts={"model": p}, classes=labels, ordered=True)
    below = np.minimum(np.cumsum(p, axis=1), 1.0)
    views = [(observed == k, p[:, k]) for k in range(CLASSES)]
    views += [(observed <= k, below[:, k]) for k in range(CLASSES - 1)]
    parts = [sr.Predictions(outcome=y.astype(np.float64), forecasts={"model": x}) for y, x in views]
    ours, other = time_by_turns(
        lambda: sr.evaluate(whole, resamples=RESAMPLES),
        lambda: [sr.evaluate(part, resamples=RESAMPLES) for part in parts],
        repeats=2,
    )
    name = f"evaluation of {CLASSES} ordered classes / of its {len(parts)} views as binary models"
    yield Comparison(name=name, ours=ours, other=other, ratio=ours / other, limit=1)
