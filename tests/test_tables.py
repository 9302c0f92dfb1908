"""Tables: each number stands under its own head."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import scorereport as sr
from scorereport._utils.formatting import format_number, format_percent
from scorereport.inference.kolmogorov_smirnov import ks_statistic
from scorereport.report.tables.decision_tables import (
    discrimination_table,
    threshold_decision_table,
)


@pytest.fixture(scope="module")
def evaluation():
    rng = np.random.default_rng(4)
    p = rng.random(300)
    frame = pd.DataFrame({"y": (rng.random(300) < p).astype(int), "m": p})
    return sr.evaluate(frame, outcome="y", forecasts=["m"], resamples=0, thresholds=[0.3])


def test_measures_at_a_threshold_stand_under_their_heads(evaluation):
    table = threshold_decision_table(evaluation.models, "95 %")
    row = dict(zip(table.heads, table.rows[0], strict=True))
    found = evaluation.models[0].thresholds[0]
    shares = {
        "acted on": found.flagged,
        "sens.": found.sensitivity,
        "spec.": found.specificity,
        "PPV": found.positive_predictive_value,
        "NPV": found.negative_predictive_value,
    }
    assert {head: row[head] for head in shares} == {head: format_percent(v) for head, v in shares.items()}
    assert (row["net benefit"], row["regret"]) == (
        format_number(found.net_benefit, 4),
        format_number(found.regret, 4),
    )
    assert len({row[head] for head in shares}) == len(shares)


def test_ks_is_the_largest_distance_of_the_two_distributions():
    rng = np.random.default_rng(6)
    p = rng.random(500).round(2)
    y = (rng.random(500) < p).astype(int)
    thresholds = np.unique(p)
    by_hand = max((p[y == 1] >= t).mean() - (p[y == 0] >= t).mean() for t in thresholds)
    frame = pd.DataFrame({"y": y, "m": p})
    made = sr.evaluate(frame, outcome="y", forecasts=["m"], resamples=0)
    assert ks_statistic(made.models[0].curves.roc_hull) == pytest.approx(by_hand, abs=1e-12)
    assert discrimination_table(made.models, "95 %").rows[0][-1] == format_number(by_hand, 4)
