"""Every evaluator returns one record, and one function makes the evaluation from it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from engine_tools import ArrayEngine

import scorereport as sr
from scorereport.data.predictions import ClassPredictions, Predictions
from scorereport.evaluation.binary_evaluation import evaluate_binary
from scorereport.evaluation.class_evaluation import evaluate_classes
from scorereport.evaluation.engines.engine_evaluation import evaluate_with_engine
from scorereport.evaluation.evaluated_parts import EvaluatedParts, assemble_evaluation
from scorereport.evaluation.notes import describe_few_events
from scorereport.inference.components import warn_of_few_events
from scorereport.results.settings import EvaluationSettings

SETTINGS = EvaluationSettings(resamples=0)
SMALL = "groups of fewer than 10 rows are counted, not scored"


def make_columns(n=60):
    rng = np.random.default_rng(3)
    return {
        "weight": rng.integers(0, 3, n).astype(float),
        "weight_kind": "frequency",
        "groups": {"site": np.repeat(["b", "a"], [40, n - 40]), "age": np.repeat(["x", "y"], [5, n - 5])},
        "cluster": np.arange(n) // 4,
        "time": np.datetime64("2026-01-20", "ns") + np.arange(n) * np.timedelta64(1, "h"),
        "time_name": "day",
    }


def make_predictions(n=60, **columns):
    rng = np.random.default_rng(4)
    p = rng.random(n).round(2)
    return Predictions(outcome=(rng.random(n) < p).astype(float), forecasts={"m": p, "k": p / 2}, **columns)


def make_class_predictions(n=60, **columns):
    p = np.random.default_rng(5).dirichlet([1, 1, 1], n)
    return ClassPredictions(
        outcome=np.arange(n) % 3, forecasts={"m": p}, classes=("lo", "mid", "hi"), ordered=True, **columns
    )


def test_rows_and_engines_describe_the_same_data():
    predictions = make_predictions(**make_columns())
    rows = evaluate_binary(predictions, SETTINGS)
    engine = evaluate_with_engine(ArrayEngine(predictions), SETTINGS)
    assert isinstance(rows, EvaluatedParts)
    assert isinstance(engine, EvaluatedParts)
    assert replace(rows.data, sha256="") == replace(engine.data, sha256="")
    assert list(rows.groups.by_column) == list(engine.groups.by_column) == ["site", "age"]
    assert [g.label for g in rows.groups.windows] == [g.label for g in engine.groups.windows]


@pytest.mark.parametrize(
    ("evaluate", "make"), [(evaluate_binary, make_predictions), (evaluate_classes, make_class_predictions)]
)
def test_the_evaluation_holds_the_parts(evaluate, make):
    predictions = make(**make_columns())
    parts = evaluate(predictions, SETTINGS)
    found = assemble_evaluation(parts, SETTINGS, software={"a": "1"}, predictions=predictions)
    assert (found.models, found.class_models) == (parts.models, parts.class_models)
    assert found.results
    assert [(g.column, g.label) for g in found.groups] == [
        *(("site", "a"), ("site", "b")),
        *(("age", "x"), ("age", "y")),
    ]
    assert found.windows == parts.groups.windows
    assert (found.data.sample, found.data.classes) == (parts.sample, parts.classes)
    assert (found.data.weight_kind, found.data.clusters) == ("frequency", 15)
    assert found.notes[: len(parts.notes)] == parts.notes
    assert any(note.startswith(f"age: {SMALL}") for note in found.notes[len(parts.notes) :])
    assert (found.software, found.predictions, found.tallies) == ({"a": "1"}, predictions, None)
    whole = sr.evaluate(predictions, resamples=0)
    assert replace(whole, software=found.software) == found


def test_without_weights_there_is_no_kind_of_weights():
    parts = evaluate_binary(make_predictions(), SETTINGS)
    assert parts.data.weight_kind == "sampling"
    assert assemble_evaluation(parts, SETTINGS, software={}).data.weight_kind == ""


@pytest.mark.parametrize(
    ("counts", "are_effective", "shown"),
    [
        ((4, 30), False, "4 events"),
        ((30, 1), False, "1 non-event"),
        ((4, 30), True, "4 events (effective number of weighted rows)"),
    ],
)
def test_one_interval_and_all_intervals_have_the_same_warning(counts, are_effective, shown):
    one = warn_of_few_events(*counts, are_effective=are_effective)
    (every,) = describe_few_events(*counts, are_effective=are_effective)
    assert one == f"Only {shown}: with fewer than 20 this interval says little."
    assert every == f"Only {shown}: with fewer than 20 intervals say little."


def test_there_is_no_warning_of_many_events():
    assert warn_of_few_events(20, 20) == ""
    assert list(describe_few_events(20, 20, are_effective=False)) == []
