"""Differences of net benefit by threshold, counts of decisions, and the net reduction in interventions."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import scorereport as sr
from scorereport.inference.decision_differences import (
    MODEL,
    TREAT_ALL,
    TREAT_NONE,
    compare_decisions,
    decision_difference,
)
from scorereport.inference.decisions import threshold_intervals
from scorereport.inference.murphy_bands import widen_for_pairs
from scorereport.inference.panel import make_panel

RNG = np.random.default_rng(26)
N = 400
P = RNG.beta(1, 3, N).round(2)
Q = np.clip(P + RNG.normal(0, 0.1, N), 0, 1).round(2)
Y = (RNG.random(N) < P).astype(float)
W = RNG.gamma(2, 0.5, N)
T = np.array([0.05, 0.1, 0.2, 0.3, 0.45])  # forecasts equal to thresholds
KINDS = {
    "rows": {},
    "counts": {"sample_weight": RNG.integers(1, 4, N).astype(float), "weight_kind": "frequency"},
    "weights": {"sample_weight": W},
    "clusters": {"cluster": np.arange(N) // 4},
}


def net_benefit(y, acts, t, weight=None):
    """By the definition: weighted means of true and false positives."""
    w = np.ones(len(y)) if weight is None else weight
    return (w * acts * (y - (1 - y) * t / (1 - t))).sum() / w.sum()


# Net reduction in interventions, and counts

#: dcurves 1.1.7 (PyPI), `dca(...)`, columns `net_benefit` and `net_intervention_avoided`, of the rows below.
DCURVES = {
    0.05: (0.3276315789473684, -0.27500000000000085),
    0.1: (0.29611111111111105, -0.0850000000000008),
    0.25: (0.21999999999999997, 0.15999999999999986),
    0.4: (0.16166666666666665, 0.30500000000000005),
    0.6: (0.08750000000000001, 0.43333333333333335),
}


def test_the_net_reduction_in_interventions_is_that_of_dcurves():
    place = np.arange(200)
    p = (((37 * place) % 200 + 0.5) / 200) ** 2
    y = ((53 * place + 11) % 200) / 200 < p * 0.8 + 0.1
    fit = sr.corp(y, p)
    curve = sr.curves.decision_curve(fit, thresholds=list(DCURVES))
    rows = threshold_intervals(fit, thresholds=list(DCURVES))
    for row, on_curve, (benefit, avoided) in zip(
        rows, curve.interventions_avoided, DCURVES.values(), strict=True
    ):
        assert row.net_benefit == pytest.approx(benefit, abs=1e-12)
        assert row.interventions_avoided == pytest.approx(100 * avoided, abs=1e-9)
        assert row.interval("interventions_avoided").value == pytest.approx(100 * avoided, abs=1e-9)
        assert on_curve == pytest.approx(100 * avoided, abs=1e-9)


def test_the_interval_of_the_net_reduction_is_that_of_net_benefit_over_treating_all():
    for row in threshold_intervals(sr.corp(Y, P), thresholds=T):
        over, avoided = (
            row.interval(name) for name in ("net_benefit_over_treat_all", "interventions_avoided")
        )
        factor = 100 * (1 - row.threshold) / row.threshold
        for end in ("value", "lower", "upper"):
            assert getattr(avoided, end) == pytest.approx(factor * getattr(over, end), rel=1e-12)


def test_the_net_reduction_is_not_defined_at_thresholds_0_and_1():
    zero, one = sr.curves.threshold_table(Y, P, thresholds=[0, 1])
    assert np.isnan([zero.interventions_avoided, one.interventions_avoided]).all()


@pytest.mark.parametrize("weight", [None, W], ids=["counts", "weights"])
def test_counts_at_thresholds_are_sums_over_the_four_kinds_of_rows(weight):
    w = np.ones(N) if weight is None else weight
    for row in sr.curves.threshold_table(Y, P, sample_weight=weight, thresholds=T):
        acts = row.threshold <= P
        expected = [w[acts == act][Y[acts == act] == y].sum() for act, y in ((1, 1), (1, 0), (0, 1), (0, 0))]
        found = [row.true_positives, row.false_positives, row.false_negatives, row.true_negatives]
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        assert sum(found) == pytest.approx(w.sum())


# Differences


@pytest.mark.parametrize("kind", KINDS)
def test_differences_of_net_benefit_follow_from_its_definition(kind):
    options = KINDS[kind]
    panel = make_panel(Y, {"p": P, "q": Q}, **options)
    found = compare_decisions(panel, T, level=0.95)
    acts = {"p": lambda t: t <= P, "q": lambda t: t <= Q, TREAT_ALL: lambda _: 1, TREAT_NONE: lambda _: 0}
    assert [(d.first, d.second, d.against) for d in found] == [
        ("p", "q", MODEL),
        *[(name, policy, policy) for name in ("p", "q") for policy in (TREAT_ALL, TREAT_NONE)],
    ]
    for d in found:
        one, other = (
            np.array([net_benefit(Y, acts[name](t), t, options.get("sample_weight")) for t in T])
            for name in (d.first, d.second)
        )
        np.testing.assert_allclose(d.difference, one - other, atol=1e-12)
        assert (d.simultaneous_lower <= d.lower).all()
        assert (d.lower <= d.difference).all()
        assert (d.upper <= d.simultaneous_upper).all()


def test_the_band_is_that_of_a_bootstrap_with_the_largest_studentized_deviation():
    """By brute force, for independent rows that are drawn with replacement."""
    rng = np.random.default_rng(5)
    n, t = 1500, np.linspace(0.1, 0.4, 7)
    p = rng.beta(2, 5, n)
    q, y = np.clip(p + rng.normal(0, 0.08, n), 0, 1), (rng.random(n) < p).astype(float)
    gains = [(x[:, None] >= t) * (y[:, None] - (1 - y[:, None]) * t / (1 - t)) for x in (p, q)]
    difference = gains[0] - gains[1]
    weights = rng.multinomial(n, np.full(n, 1 / n), 4000) / n
    drawn = weights @ difference
    spread = drawn.std(axis=0)
    critical = np.quantile((np.abs(drawn - difference.mean(axis=0)) / spread).max(axis=1), 0.95)
    found = decision_difference(y, p, q, thresholds=t)
    width = (found.simultaneous_upper - found.simultaneous_lower) / 2
    np.testing.assert_allclose(width / spread, critical, rtol=0.1)


def test_models_with_equal_decisions_are_not_distinguishable_and_treating_none_is_net_benefit_0():
    found = decision_difference(Y, P, np.where(P > 0.02, P, 0.001), thresholds=[0.1, 0.5])
    assert found.better == ("", "")
    assert not found.difference.any()
    (all_, none) = compare_decisions(make_panel(Y, {"zero": np.zeros(N)}), T, level=0.95)
    assert not none.difference.any()
    assert set(none.better) == {""}
    assert (all_.against, none.against) == (TREAT_ALL, TREAT_NONE)


def test_ranges_join_neighbouring_thresholds_with_the_same_result():
    found = decision_difference(Y, P, np.full(N, 0.2), thresholds=np.linspace(0.05, 0.5, 46))
    ranges = found.ranges
    assert [r.better for r in ranges] != [""]
    assert all(one.better != other.better for one, other in pairwise(ranges))
    assert (ranges[0].lower, ranges[-1].upper) == (0.05, 0.5)
    for r in ranges:
        inside = (found.threshold >= r.lower) & (found.threshold <= r.upper)
        assert {name for name, chosen in zip(found.better, inside, strict=True) if chosen} == {r.better}


@pytest.mark.parametrize(
    ("y", "p"),
    [(np.zeros(50), np.linspace(0, 1, 50)), (np.ones(50), np.linspace(0, 1, 50)),
     (np.arange(50) % 2, np.full(50, 0.3)), (np.arange(50) % 2, np.arange(50) // 2 % 2)],
    ids=["no event", "only events", "one forecast", "forecasts 0 and 1"],
)  # fmt: skip
def test_odd_samples_have_finite_bands(y, p):
    for d in compare_decisions(make_panel(y, {"p": p, "q": 1 - p}), T, level=0.95):
        assert np.isfinite([d.difference, d.simultaneous_lower, d.simultaneous_upper]).all()


def test_one_cluster_has_no_band():
    found = decision_difference(Y, P, Q, thresholds=T, cluster=np.zeros(N, int))
    assert np.isnan(found.simultaneous_upper).all()
    assert found.note == "One cluster does not show how much net benefit varies: there is no band."
    assert found.ranges == ()


@pytest.mark.parametrize("thresholds", [[0, 0.5], [0.5, 1]])
def test_thresholds_lie_inside_0_and_1(thresholds):
    with pytest.raises(sr.errors.UsageError, match="thresholds"):
        decision_difference(Y, P, Q, thresholds=thresholds)


@pytest.mark.sweep
@pytest.mark.parametrize("correlation", [0.5, 0.9, 0.97])
def test_critical_values_for_several_pairs_are_wide_enough_and_not_much_wider(correlation):
    """Against quantiles of the largest of 31 values of an autoregressive process, 400,000 times."""
    rng = np.random.default_rng(31)
    largest = []
    for _ in range(40):
        step = rng.standard_normal((10_000, 31))
        path = step[:, 0]
        top = np.abs(path)
        for k in range(1, 31):
            path = correlation * path + np.sqrt(1 - correlation**2) * step[:, k]
            top = np.maximum(top, np.abs(path))
        largest.append(top)
    drawn = np.concatenate(largest)
    for pairs in (3, 10, 45):
        needed = np.quantile(drawn, 1 - 0.05 / pairs)
        found = widen_for_pairs(float(np.quantile(drawn, 0.95)), pairs)
        assert needed - 0.03 < found < needed + 0.15


# In an evaluation


@pytest.fixture(scope="module")
def frame():
    return pd.DataFrame({"y": Y.astype(int), "p": P, "q": Q})


@pytest.fixture(scope="module")
def evaluation(frame):
    return sr.evaluate(frame, outcome="y", forecasts=["p", "q"], cost_interval=(0.1, 0.4))


def test_an_evaluation_compares_decisions_over_its_costs(evaluation):
    found = evaluation.comparisons.decisions
    assert len(found) == 5
    np.testing.assert_allclose(found[0].threshold[[0, 10, -1]], [0.1, 0.2, 0.4])
    table = evaluation.decision_differences
    assert len(table) == 5 * 31
    assert list(table.columns[:5]) == ["first", "second", "against", "threshold", "difference"]
    assert set(table["better"]) <= {"", "p", "q", TREAT_ALL, TREAT_NONE}
    none = table[(table["first"] == "p") & (table["against"] == TREAT_NONE)]
    at = none[none["threshold"] == 0.25]["difference"].iloc[0]
    assert at == pytest.approx(net_benefit(Y, P >= 0.25, 0.25), abs=1e-12)


def test_documents_keep_decisions_and_older_ones_load_without_them(evaluation, tmp_path):
    path = tmp_path / "e.json"
    evaluation.to_json(path)
    again = sr.Evaluation.from_json(path)
    assert again == evaluation
    document = json.loads(path.read_text())
    del document["comparisons"]["decisions"]
    for model in document["models"]:
        for row in model["thresholds"]:
            for name in ("true_positives", "false_positives", "false_negatives", "true_negatives"):
                del row[name]
            del row["interventions_avoided"]
    path.write_text(json.dumps(document))
    old = sr.Evaluation.from_json(path)
    assert old.comparisons.decisions is None
    assert len(old.decision_differences) == 0
    assert json.loads(old.to_json()) == document


def test_an_engine_leaves_comparisons_of_decisions_out_and_says_so(frame):
    found = sr.evaluate(frame, outcome="y", forecasts=["p", "q"], cost_interval=(0.1, 0.4), engine="duckdb")
    assert found.comparisons.decisions is None
    assert any("comparisons of net benefit" in note for note in found.notes)
    assert found.models[0].thresholds[0].interval("interventions_avoided").lower < 100
    assert found.models[0].thresholds[0].true_positives == (Y[P >= 0.1] == 1).sum()
