"""The Kolmogorov-Smirnov statistic, and forecasts against those of a reference sample."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import scorereport as sr
from scorereport.cli.application import app
from scorereport.configuration import check_configuration, parse_configuration, read_configuration
from scorereport.configuration.judgement import judge
from scorereport.curves import roc_curve, roc_hull
from scorereport.data.reader import read_predictions
from scorereport.errors import DataError, UsageError
from scorereport.evaluation.engines.engine_choice import open_engine
from scorereport.evaluation.reference_sample import (
    ReferenceColumns,
    compare_engine_with_reference,
    compare_with_reference,
    read_reference,
)
from scorereport.inference.kolmogorov_smirnov import estimate_ks, ks_statistic
from scorereport.inference.population_stability import count_in_bins, find_bin_ends, stability_index
from scorereport.report.tables.sample_change_tables import stability_table
from scorereport.results.settings import EvaluationSettings

# The Kolmogorov-Smirnov statistic


def fit_forecasts(seed, n=80, digits=2):
    rng = np.random.default_rng(seed)
    p = rng.random(n).round(digits)
    return sr.corp(rng.random(n) < p, p)


@pytest.mark.parametrize("digits", [1, 2, 6])
def test_the_hull_has_the_largest_distance_of_the_curve(digits):
    for seed in range(20):
        fit = fit_forecasts(seed, digits=digits)
        curve = roc_curve(fit)
        assert ks_statistic(roc_hull(fit)) == pytest.approx((curve.tpr - curve.fpr).max(), abs=1e-12)


def test_the_interval_holds_the_statistic_and_narrows_with_cases():
    for seed in range(5):
        hull = roc_hull(fit_forecasts(seed))
        few, many = (estimate_ks(hull, events=n, non_events=n, level=0.95) for n in (20, 2000))
        assert 0 <= few.lower <= many.lower <= many.value <= many.upper <= few.upper <= 1
        wide = estimate_ks(hull, events=20, non_events=20, level=0.99)
        assert wide.lower <= few.lower
        assert wide.upper >= few.upper


def test_the_lower_limit_is_not_below_that_of_the_band():
    for seed in range(20):
        found = estimate_ks(roc_hull(fit_forecasts(seed, n=400)), events=200, non_events=200, level=0.95)
        assert found.value - found.lower <= math.sqrt(-math.log(0.025) / 2 * (2 / 200)) + 1e-12


def test_without_events_the_statistic_is_not_defined():
    found = estimate_ks(roc_hull(sr.corp([0, 0], [0.1, 0.2])), events=0, non_events=2, level=0.95)
    assert math.isnan(found.value)
    assert math.isnan(found.lower)
    assert found.note == "It needs both events and non-events."


def test_perfect_separation_leaves_room_below():
    hull = roc_hull(sr.corp([0] * 12 + [1] * 12, [0.1] * 12 + [0.9] * 12))
    found = estimate_ks(hull, events=12, non_events=12, level=0.95)
    assert (found.value, found.upper) == (1, 1)
    assert 0.4 < found.lower < 0.9


# The stability index


def read_sample(reference, models, **others):
    return read_reference(reference, ReferenceColumns(models=tuple(models), **others))


def test_the_index_of_two_rows_of_counts():
    now, before = np.array([10.0, 30.0]), np.array([20.0, 20.0])
    expected = (0.25 - 0.5) * math.log(0.5) + (0.75 - 0.5) * math.log(1.5)
    assert stability_index(now, before) == pytest.approx(expected)
    assert stability_index(before, before) == 0
    assert stability_index(np.array([0.0, 4.0]), np.array([2.0, 2.0])) == pytest.approx(
        stability_index(np.array([0.5, 4.0]), np.array([2.0, 2.0]))
    )


def test_bins_hold_tenths_of_the_reference_and_keep_equal_forecasts_together():
    reference = np.arange(100) / 100
    ends = find_bin_ends(reference, np.ones(100))
    assert count_in_bins(reference, np.ones(100), ends).tolist() == [10] * 10
    grades = np.repeat([0.1, 0.2, 0.9], [50, 30, 20])
    ends = find_bin_ends(grades, np.ones(100))
    assert ends.tolist() == [0.1, 0.2]
    assert count_in_bins(grades, np.ones(100), ends).tolist() == [50, 30, 20]
    assert count_in_bins(np.array([0.0, 0.15, 0.95]), np.ones(3), ends).tolist() == [1, 1, 1]
    assert len(find_bin_ends(np.full(5, 0.3), np.ones(5))) == 0


def make_predictions(n=300, seed=1, shift=0.0, **columns):
    rng = np.random.default_rng(seed)
    p = 1 / (1 + np.exp(-rng.normal(shift, 1, n)))
    frame = pd.DataFrame({"y": rng.random(n) < p, "m": p, "w": rng.integers(1, 4, n), "c": np.arange(n) // 3})
    return frame, read_predictions(frame, outcome="y", forecasts=["m"], **columns)


@pytest.fixture(scope="module")
def reference():
    frame, _ = make_predictions(1000, seed=2)
    return frame


def test_the_same_forecasts_are_stable_and_shifted_ones_are_not(reference):
    found = read_sample(reference, ["m"])
    (same,) = compare_with_reference(make_predictions(1000, seed=2)[1], found)
    assert (same.index.value, same.index.lower) == (0, 0)
    (shifted,) = compare_with_reference(make_predictions(shift=1.0)[1], found)
    assert shifted.index.lower > 0.4
    assert shifted.index.lower < shifted.index.value < shifted.index.upper + 0.1
    assert shifted.sample.sum() == pytest.approx(1)
    np.testing.assert_allclose(shifted.reference, 0.1)
    assert (shifted.model, shifted.reference_size, len(shifted.ends)) == ("m", 1000, 9)


def test_frequency_weights_count_as_repeated_rows(reference):
    frame, weighted = make_predictions(weight="w", weight_kind="frequency")
    repeated = frame.loc[frame.index.repeat(frame.w)]
    found = read_sample(reference, ["m"], weight="w", weight_kind="frequency")
    plain = read_sample(reference.loc[reference.index.repeat(reference.w)], ["m"])
    (one,), (other,) = (
        compare_with_reference(weighted, found),
        compare_with_reference(read_predictions(repeated, outcome="y", forecasts=["m"]), plain),
    )
    assert one.ends.tolist() == other.ends.tolist()
    assert one.index.value == pytest.approx(other.index.value, rel=1e-12)
    assert one.index.upper == pytest.approx(other.index.upper, rel=1e-9)


def test_sampling_weights_and_clusters_widen_the_interval(reference):
    found = read_sample(reference, ["m"])
    (plain,) = compare_with_reference(make_predictions(shift=0.5)[1], found)
    (clustered,) = compare_with_reference(make_predictions(shift=0.5, cluster="c")[1], found)
    assert clustered.index.value == pytest.approx(plain.index.value, rel=1e-12)
    assert clustered.index.standard_error > plain.index.standard_error
    sampled = read_sample(reference, ["m"], weight="w")
    assert sampled.size < 1000
    assert sampled.weight.sum() == reference.w.sum()


@pytest.mark.parametrize("kind", ["mapping", "frame", "file"])
def test_a_reference_is_read_from_anything(kind, reference, tmp_path):
    source = {"mapping": {"m": reference.m.tolist()}, "frame": reference, "file": tmp_path / "r.parquet"}[
        kind
    ]
    reference.to_parquet(tmp_path / "r.parquet")
    assert read_sample(source, ["m"]).forecasts["m"].tolist() == reference.m.tolist()


def test_a_reference_that_does_not_fit_is_refused(reference):
    with pytest.raises(UsageError, match=r"forecasts and weights; 'm' is missing\.$"):
        read_sample({"other": [0.1]}, ["m"])
    with pytest.raises(DataError, match="has no column `b`"):
        read_sample(reference, ["b"])
    with pytest.raises(DataError, match=r"`m` must lie in \[0, 1\]"):
        read_sample(reference.assign(m=2.0), ["m"])
    with pytest.raises(DataError, match=r"^`m` is missing in 1 row of the reference"):
        read_sample(pd.DataFrame({"m": [0.1, np.nan]}), ["m"])
    with pytest.raises(DataError, match="same number of rows"):
        read_sample({"m": [0.1], "b": [0.1, 0.2]}, ["m", "b"])
    classes = read_predictions(
        pd.DataFrame({"y": ["a", "b"], "m_a": [0.5, 0.5], "m_b": [0.5, 0.5]}),
        outcome="y",
        forecasts=["m"],
        classes=["a", "b"],
    )
    with pytest.raises(UsageError, match="for binary models"):
        compare_with_reference(classes, read_sample(reference, ["m"]))


@pytest.mark.parametrize("grades", [False, True])
def test_an_engine_counts_as_memory_does(reference, grades):
    frame, predictions = make_predictions(shift=0.3)
    if grades:
        frame["m"], reference = frame.m.round(1), reference.assign(m=reference.m.round(1))
        predictions = read_predictions(frame, outcome="y", forecasts=["m"])
    found = read_sample(reference, ["m"])
    (expected,) = compare_with_reference(predictions, found)
    settings = EvaluationSettings(engine="duckdb", resamples=0)
    work = {"memory_limit": None, "temporary_folder": None}
    with open_engine(frame, settings, columns={"outcome": "y", "forecasts": ["m"]}, **work) as engine:
        (counted,) = compare_engine_with_reference(engine, found)
    assert counted.sample.tolist() == expected.sample.tolist()
    assert counted.index == expected.index


@pytest.fixture(scope="module")
def evaluated(reference):
    frame, predictions = make_predictions(shift=1.0)
    evaluation = sr.evaluate(frame, outcome="y", forecasts=["m"], resamples=0, reference=reference)
    (expected,) = compare_with_reference(predictions, read_sample(reference, ["m"]))
    assert evaluation.stability[0].index == expected.index
    return evaluation


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_every_door_takes_a_reference(reference, engine, tmp_path):
    frame, _ = make_predictions(shift=1.0)
    frame.to_csv(tmp_path / "now.csv", index=False)
    reference.to_csv(tmp_path / "development.csv", index=False)
    (tmp_path / "c.toml").write_text(
        f'[evaluation]\noutcome = "y"\nforecasts = ["m"]\nresamples = 0\nengine = "{engine}"\n'
        'reference = "development.csv"\n[limits]\npsi = {fail = 0.25}\n',
        encoding="utf-8",
    )
    configuration = read_configuration(tmp_path / "c.toml")
    found = sr.evaluate(tmp_path / "now.csv", **configuration.arguments)
    (stability,) = found.stability
    assert stability.source == "development.csv"
    assert stability.source_sha256 == hashlib.sha256((tmp_path / "development.csv").read_bytes()).hexdigest()
    check_configuration(configuration, found)
    (verdict,) = judge(found, configuration.limits)
    assert (verdict.measure, verdict.verdict, verdict.value) == ("psi", "fail", stability.index.value)
    by_command = CliRunner().invoke(
        app, ["score", str(tmp_path / "now.csv"), "--config", str(tmp_path / "c.toml"), "--json", "--quiet"]
    )
    assert (
        json.loads(by_command.stdout)["evaluation"]["stability"] == json.loads(found.to_json())["stability"]
    )
    bare = parse_configuration('[evaluation]\nreference = "development.csv"')
    without = sr.evaluate(tmp_path / "now.csv", outcome="y", forecasts=["m"], resamples=0)
    with pytest.raises(UsageError, match=r"`evaluation\.reference` is .* was made without a reference"):
        check_configuration(bare, without)


def test_weights_are_read_from_the_reference_too(reference):
    frame, _ = make_predictions(shift=1.0)
    frame["w"] = 1.0
    columns = {"outcome": "y", "forecasts": ["m"], "weight": "w", "weight_kind": "frequency", "resamples": 0}
    with pytest.raises(DataError, match="has no column `w`"):
        sr.evaluate(frame, reference=reference[["m"]], **columns)
    weighted = sr.evaluate(frame, reference=reference.assign(w=2.0), **columns).stability[0]
    plain = sr.evaluate(frame, outcome="y", forecasts=["m"], resamples=0, reference=reference).stability[0]
    assert weighted.index.value == pytest.approx(plain.index.value, rel=1e-12)
    assert weighted.reference_size == 2 * plain.reference_size


def test_rows_of_a_reference_are_dropped_as_those_of_the_sample(reference):
    frame, _ = make_predictions(shift=1.0)
    columns = {"outcome": "y", "forecasts": ["m"], "resamples": 0}
    gap = pd.concat([reference[["m"]], pd.DataFrame({"m": [np.nan]})])
    with pytest.raises(DataError, match=r"^`m` is missing in 1 row of the reference, The frame\.$"):
        sr.evaluate(frame, reference=gap, **columns)
    dropped = sr.evaluate(frame, reference=gap, missing="drop", **columns).stability[0]
    assert dropped.index == sr.evaluate(frame, reference=reference, **columns).stability[0].index


def test_classes_have_no_reference(reference):
    frame = pd.DataFrame({"y": ["a", "b"], "m_a": [0.5, 0.5], "m_b": [0.5, 0.5]})
    with pytest.raises(UsageError, match=r"^`reference` is for binary models, not for several classes"):
        sr.evaluate(frame, outcome="y", forecasts=["m"], classes=["a", "b"], reference=reference)


def test_documents_have_the_key_only_with_a_reference(evaluated, tmp_path):
    bare = replace(evaluated, stability=None)
    assert "stability" not in json.loads(bare.to_json())
    assert json.loads(evaluated.to_json())["stability"][0]["model"] == "m"
    for evaluation in (bare, evaluated):
        evaluation.to_json(tmp_path / "r.json")
        assert sr.Evaluation.from_json(tmp_path / "r.json") == evaluation
    assert "stability" not in sr.Evaluation.json_schema().get("required", [])


def test_a_limit_on_the_index_is_judged_by_its_interval(evaluated):
    configuration = parse_configuration("[limits]\npsi = {warn = 0.1, fail = 0.25}", "c")
    with_intervals = replace(evaluated, settings=replace(evaluated.settings, resamples=40))
    check_configuration(configuration, with_intervals)
    (judgement,) = judge(with_intervals, configuration.limits)
    index = evaluated.stability[0].index
    assert (judgement.lower, judgement.upper) == (index.lower, index.upper)
    assert judgement.verdict == "fail"
    assert judgement.sentence.startswith("Population stability index of m: ")
    assert judge(replace(with_intervals, stability=None), configuration.limits) == ()
    with pytest.raises(UsageError, match="needs a reference sample"):
        check_configuration(configuration, replace(with_intervals, stability=None))


def test_the_table_shows_the_index_of_each_model(evaluated):
    table = stability_table(evaluated.stability)
    assert table.rows[0][0] == "m"
    assert table.rows[0][3:] == ("10", "1,000")
    assert stability_table(None) is None
