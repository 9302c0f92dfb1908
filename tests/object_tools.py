"""Results of every kind, for tests of how they are displayed."""

from __future__ import annotations

from dataclasses import is_dataclass
from functools import cache

import numpy as np
import pandas as pd
from report_tools import make_certificate, make_loans

import scorereport as sr
from scorereport._utils.representation import list_fields

HOSTILE = '<script>alert("1")</script> & \x1b[31m'


@cache
def evaluate_loans(*, resamples=40):
    """Two binary models with groups, times, clusters and grades."""
    return sr.evaluate(
        make_loans().assign(branch=np.arange(320) // 4),
        outcome="default",
        forecasts=["logit", "steep"],
        groups=["site"],
        time="day",
        window="quarter",
        grade="rating",
        cluster="branch",
        cost_interval=(0.1, 0.5),
        scale=True,
        resamples=resamples,
    )


@cache
def evaluate_grades():
    """A model of three ordered classes, with groups."""
    return sr.evaluate(
        make_grades(),
        outcome="grade",
        forecasts=["clinic"],
        classes=["low", "mid", "high"],
        ordered=True,
        groups=["site"],
        resamples=30,
        normalize=True,
    )


def make_grades():
    rng = np.random.default_rng(4)
    p = rng.dirichlet([1, 1, 1], 200)
    observed = [("low", "mid", "high")[rng.choice(3, p=row)] for row in p]
    columns = {f"clinic_{label}": p[:, place] for place, label in enumerate(("low", "mid", "high"))}
    return pd.DataFrame({"grade": observed, **columns, "site": rng.choice(["a", "b"], 200)})


@cache
def select_epoch():
    frame = make_grades()
    epochs = [frame.assign(checkpoint=epoch) for epoch in range(1, 6)]
    return sr.select(
        pd.concat(epochs),
        outcome="grade",
        forecasts=["clinic_low", "clinic_mid", "clinic_high"],
        classes=["low", "mid", "high"],
        patience=1,
        normalize=True,
    )


@cache
def fit_loans():
    frame = make_loans()
    return sr.corp(frame["default"], frame["logit"])


#: Public results of every kind, by name.
RESULTS = {
    "evaluation": evaluate_loans,
    "evaluation without intervals": lambda: evaluate_loans(resamples=0),
    "classes": evaluate_grades,
    "predictions": lambda: evaluate_loans().predictions,
    "class predictions": lambda: evaluate_grades().predictions,
    "fit": fit_loans,
    "sample": lambda: fit_loans().sample,
    "decomposition": lambda: fit_loans().decompose(),
    "murphy": lambda: fit_loans().murphy(),
    "band": lambda: fit_loans().band(resamples=20),
    "certificate": lambda: make_certificate(evaluate_loans()),
    "selection": select_epoch,
    "retention": lambda: sr.curves.retention_curve(
        [0, 1, 1], [[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]], fractions=[0, 0.4]
    ),
    "bootstrap": lambda: sr.inference.bootstrap([0, 1] * 200, {"a": np.linspace(0.1, 0.9, 400)}, resamples=5),
    "score": lambda: sr.scores.get_score("brier"),
}


def list_records(value):
    """All records that can be reached from a value."""
    if (is_dataclass(value) and not isinstance(value, type)) or hasattr(value, "_fields"):
        yield value
        for name in list_fields(value):
            yield from list_records(getattr(value, name))
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from list_records(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from list_records(item)
