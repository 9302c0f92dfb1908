"""Outcomes and forecasts as arrays: the same numbers as from a frame, and sentences about wrong ones."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import scorereport as sr

RNG = np.random.default_rng(23)
N = 60
P = RNG.uniform(0.05, 0.95, N)
Q = np.clip(P + RNG.normal(0, 0.1, N), 0, 1)
Y = (RNG.uniform(size=N) < P).astype(int)
W = RNG.integers(1, 4, N).astype(float)
SITE = np.array(["north", "south"])[RNG.integers(0, 2, N)]
DAY = np.datetime64("2026-01-01") + np.arange(N)
FRAME = pd.DataFrame({"outcome": Y, "logit": P, "boost": Q, "weight": W, "site": SITE, "time": DAY})
CLASSES = ["low", "mid", "high"]
TABLE = RNG.dirichlet([1, 1, 1], N)
LABELS = np.array(CLASSES)[RNG.integers(0, 3, N)]
CLASS_FRAME = pd.DataFrame({"outcome": LABELS, **{f"m_{c}": TABLE[:, k] for k, c in enumerate(CLASSES)}})


def document(evaluation):
    """The JSON document without the description of the source."""
    found = json.loads(evaluation.to_json())
    found["data"].pop("source")
    return found


def refusal(*arguments, **named):
    with pytest.raises(sr.ScoreReportError) as caught:
        sr.evaluate(*arguments, resamples=0, **named)
    return str(caught.value)


KINDS = {
    "numpy": np.asarray,
    "list": lambda values: values.tolist(),
    "tuple": lambda values: tuple(values.tolist()),
    "pandas": pd.Series,
    "index": pd.Index,
    "polars": pl.Series,
    "pyarrow": pa.array,
    "chunked": lambda values: pa.chunked_array([values[:7], values[7:]]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_arrays_of_any_library_give_the_document_of_the_frame(kind):
    make = KINDS[kind]
    by_frame = sr.evaluate(
        FRAME,
        outcome="outcome",
        forecasts=["logit", "boost"],
        weight="weight",
        groups=["site"],
        resamples=0,
    )
    by_arrays = sr.evaluate(
        make(Y),
        {"logit": make(P), "boost": make(Q)},
        weight=make(W),
        groups={"site": make(SITE)},
        resamples=0,
    )
    assert document(by_arrays) == document(by_frame)
    assert by_arrays.data.source == "arrays"


@pytest.mark.parametrize("kind", KINDS)
def test_labels_of_classes_may_be_arrays_of_any_library(kind):
    by_frame = sr.evaluate(CLASS_FRAME, ["m"], outcome="outcome", classes=CLASSES, ordered=True, resamples=0)
    by_arrays = sr.evaluate(KINDS[kind](LABELS), {"m": TABLE}, classes=CLASSES, ordered=True, resamples=0)
    assert document(by_arrays) == document(by_frame)


def test_intervals_of_arrays_are_those_of_the_frame():
    by_frame = sr.evaluate(FRAME, outcome="outcome", forecasts=["logit"])
    assert document(sr.evaluate(Y, {"logit": P})) == document(by_frame)


def test_times_clusters_and_grades_are_arrays_too():
    others = {"cluster": SITE, "time": DAY, "grade": SITE}
    frame = FRAME.assign(cluster=SITE, grade=SITE)
    by_frame = sr.read_predictions(
        frame, outcome="outcome", forecasts=["logit"], cluster="cluster", time="time", grade="grade"
    )
    by_arrays = sr.read_predictions(Y, {"logit": P}, **others)
    assert by_arrays.sha256 == by_frame.sha256
    assert by_arrays.source == "arrays"


def test_one_array_is_a_model_with_the_name_of_its_series():
    assert list(sr.read_predictions(Y, P).forecasts) == ["model"]
    named = sr.read_predictions(pd.Series(Y, name="default"), pd.Series(P, name="logit"))
    assert list(named.forecasts) == ["logit"]
    assert named.outcome_name == "default"
    assert sr.read_predictions(Y, P, outcome="default").outcome_name == "default"


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_frame_of_forecasts_has_a_column_for_each_model(library):
    by_frame = sr.read_predictions(Y, library({"logit": P, "boost": Q}), groups=library({"site": SITE}))
    by_arrays = sr.read_predictions(Y, {"logit": P, "boost": Q}, groups={"site": SITE})
    assert by_frame.sha256 == by_arrays.sha256


def test_columns_of_classes_are_taken_by_name():
    swapped = pd.DataFrame(TABLE[:, ::-1], columns=CLASSES[::-1])
    expected = sr.read_predictions(LABELS, {"m": TABLE}, classes=CLASSES)
    assert sr.read_predictions(LABELS, {"m": swapped}, classes=CLASSES).sha256 == expected.sha256
    prefixed = swapped.add_prefix("m_")
    assert sr.read_predictions(LABELS, {"m": prefixed}, classes=CLASSES).sha256 == expected.sha256
    numbered = pd.DataFrame(TABLE)
    assert sr.read_predictions(LABELS, {"m": numbered}, classes=CLASSES).sha256 == expected.sha256
    assert refusal(LABELS, {"m": numbered.add_prefix("p")}, classes=CLASSES) == (
        "The columns of m must be named by the classes 'low', 'mid', 'high'; got 'p0', 'p1', 'p2'."
    )


def test_two_columns_are_those_of_sorted_labels_if_positive_is_given():
    texts = np.where(Y == 1, "bad", "good")
    both = np.column_stack([P, 1 - P])  # scikit-learn sorts the labels: bad, good
    expected = sr.read_predictions(texts, P, positive="bad")
    assert sr.read_predictions(texts, both, positive="bad").sha256 == expected.sha256
    assert sr.read_predictions(Y, both[:, ::-1], positive=1).forecasts["model"].tolist() == P.tolist()
    named = pd.DataFrame({"good": 1 - P, "bad": P})  # names decide, not the order
    assert sr.read_predictions(texts, {"model": named}, positive="bad").sha256 == expected.sha256
    two = sr.read_predictions(texts, both, classes=["bad", "good"])
    assert two.forecasts["model"].tolist() == both.tolist()
    assert "does not follow from the outcomes" in refusal(texts, both, positive="ugly")


def test_missing_values_of_arrays_are_dropped_on_demand():
    masked = np.ma.array(P, mask=np.arange(N) < 2)
    expected = sr.read_predictions(Y, np.where(np.arange(N) < 2, np.nan, P), missing="drop")
    for values in (masked, pl.Series([None, None, *P[2:]]), [None, None, *P[2:]]):
        found = sr.read_predictions(Y, values, missing="drop")
        assert found.row_flow.kept == N - 2
        assert found.sha256 == expected.sha256


def test_arrays_are_evaluated_on_disk_as_well():
    on_disk = sr.evaluate(Y, {"logit": P}, engine="duckdb", resamples=0)
    in_memory = sr.evaluate(Y, {"logit": P}, resamples=0)
    assert on_disk.scores.loc["logit", "brier"] == pytest.approx(in_memory.scores.loc["logit", "brier"])
    assert on_disk.data.sha256 == in_memory.data.sha256


# ---- categories ----


@pytest.mark.parametrize("is_ordered", [True, False])
def test_a_categorical_of_pandas_supplies_the_classes(is_ordered):
    outcome = pd.Series(pd.Categorical(LABELS, CLASSES, ordered=is_ordered))
    expected = sr.evaluate(LABELS, {"m": TABLE}, classes=CLASSES, ordered=is_ordered, resamples=0)
    assert document(sr.evaluate(outcome, {"m": TABLE}, resamples=0)) == document(expected)
    frame = CLASS_FRAME.assign(outcome=outcome)
    assert document(sr.evaluate(frame, ["m"], outcome="outcome", resamples=0)) == document(expected)
    assert sr.read_predictions(frame, ["m"], outcome="outcome").ordered is is_ordered


@pytest.mark.parametrize("is_lazy", [False, True])
def test_an_enum_of_polars_supplies_ordered_classes(is_lazy):
    outcome = pl.Series(LABELS, dtype=pl.Enum(CLASSES))
    expected = sr.evaluate(LABELS, {"m": TABLE}, classes=CLASSES, ordered=True, resamples=0)
    assert document(sr.evaluate(outcome, {"m": TABLE}, resamples=0)) == document(expected)
    frame = pl.DataFrame(CLASS_FRAME.assign(outcome=LABELS)).with_columns(outcome=outcome)
    source = frame.lazy() if is_lazy else frame
    assert document(sr.evaluate(source, ["m"], outcome="outcome", resamples=0)) == document(expected)


def test_classes_that_are_given_prevail_over_categories():
    outcome = pd.Series(pd.Categorical(LABELS, CLASSES, ordered=True))
    found = sr.read_predictions(outcome, {"m": TABLE}, classes=CLASSES[::-1])
    assert found.classes == tuple(CLASSES[::-1])
    assert not found.ordered


def test_categories_that_are_not_observed_leave_a_binary_outcome_binary():
    outcome = pd.Series(pd.Categorical(np.where(Y == 1, "bad", "good"), ["bad", "good", "late"]))
    expected = sr.read_predictions(Y, P)
    by_positive = sr.read_predictions(outcome, P, positive="bad")
    assert by_positive.outcome.tolist() == expected.outcome.tolist()
    frame = pd.DataFrame({"y": pd.Categorical(Y, [0, 1, 2]), "logit": P})
    found = sr.read_predictions(frame, outcome="y", forecasts=["logit"])
    assert found.outcome.tolist() == expected.outcome.tolist()


@pytest.mark.parametrize("make", [pd.Categorical, lambda v: pl.Series(v, dtype=pl.Enum(["No", "Yes"]))])
def test_two_categories_are_binary_and_need_a_positive_label(make):
    texts = np.where(Y == 1, "Yes", "No")
    assert sr.read_predictions(make(texts), P, positive="Yes").outcome.tolist() == Y.tolist()
    assert "Its labels are 'No' and 'Yes': pass the one that is the event" in refusal(make(texts), P)


# ---- sentences ----

EXAMPLE = 'evaluate(y, {"logit": p})'
SWITCHED = pd.Series(P, index=range(N)[::-1], name="logit")
REFUSED = {
    "forgotten forecasts": (
        (Y,),
        {},
        "`forecasts` is missing: pass the forecasts after the outcomes, as in "
        f"{EXAMPLE}, or a table and the names of its columns.",
    ),
    "swapped": (
        (P, Y),
        {},
        "The arguments look swapped: the first holds probabilities and the second holds 0 and 1; pass the "
        f"outcomes first, as in {EXAMPLE}.",
    ),
    "lengths": ((Y, {"logit": P[1:]}), {}, "`outcome` (60) and `logit` (59) must have the same length."),
    "length of weights": (
        (Y, P),
        {"weight": W[:5]},
        "`outcome` (60) and `weight` (5) must have the same length.",
    ),
    "two columns": (
        (Y, {"logit": np.column_stack([1 - P, P])}),
        {},
        "The forecasts of logit have 2 columns, as predict_proba returns them; pass the column of the event, "
        "p[:, 1] for the label that is last in estimator.classes_, or pass `positive`, its label.",
    ),
    "one column": (
        (Y, P[:, None]),
        {},
        "The forecasts of model must be one-dimensional; got one column: pass p[:, 0].",
    ),
    "classes forgotten": (
        (LABELS, {"m": TABLE}),
        {},
        "The forecasts of m have 3 columns: pass `classes`, the labels of the columns in their order, for a "
        "model of several classes.",
    ),
    "one dimension for classes": (
        (LABELS, {"m": P}),
        {"classes": CLASSES},
        "The forecasts of m must have two dimensions, with a column for each of the 3 classes; got one "
        "dimension.",
    ),
    "columns for other classes": (
        (LABELS, {"m": TABLE[:, :2]}),
        {"classes": CLASSES},
        "The forecasts of m must have a column for each of the 3 classes; got 2.",
    ),
    "other index": (
        (pd.Series(Y, name="default"), SWITCHED),
        {},
        "`logit` and `default` have different indices, and rows are not aligned by index. Reorder `logit`, "
        "such as by .loc[default.index], or pass .to_numpy() if rows are in the same order.",
    ),
    "other index in a frame": (
        (pd.Series(Y), SWITCHED.to_frame()),
        {},
        "`forecasts` and `outcome` have different indices, and rows are not aligned by index. Reorder "
        "`forecasts`, such as by .loc[outcome.index], or pass .to_numpy() if rows are in the same order.",
    ),
    "frame and arrays": (
        (FRAME, {"logit": P}),
        {"outcome": "outcome"},
        "`forecasts` must name columns, because the data are a frame; got values. Add them to the table as "
        f"columns, or pass arrays only, as in {EXAMPLE}.",
    ),
    "frame and array of weights": (
        (FRAME, ["logit"]),
        {"outcome": "outcome", "weight": W},
        "`weight` must name columns, because the data are a frame; got values. Add them to the table as "
        f"columns, or pass arrays only, as in {EXAMPLE}.",
    ),
    "array and names": (
        (Y, ["logit"]),
        {},
        "`forecasts` names columns, but the data are an array (ndarray); pass a table that has these "
        f"columns, or arrays, as in {EXAMPLE}.",
    ),
    "array and name of weights": (
        (Y, P),
        {"weight": "w"},
        "`weight` names the column 'w', but the data are arrays; pass its values, one for each outcome.",
    ),
    "table": ((Y, P), {"table": "t"}, "`table` is for a database, but the data are arrays; leave it out."),
    "outcomes twice": (
        (Y, P),
        {"outcome": Y},
        "The outcomes are given twice, as first argument and as `outcome`; pass them once.",
    ),
    "outcomes in a column": (
        (Y[:, None], P),
        {},
        "`outcome` must be one-dimensional, with a value for each row; got shape (60, 1).",
    ),
    "names that repeat": (
        (Y, {"outcome": P}),
        {},
        "The names of arrays must differ; got 'outcome' 2 times. Pass forecasts and groups as mappings with "
        "other names, or `outcome` as the name of the outcomes.",
    ),
    "no rows": (([], []), {}, "The arrays hold no rows."),
    "no models of classes": (
        (LABELS, {}),
        {"classes": CLASSES},
        "`forecasts` must hold at least one array; got an empty mapping.",
    ),
    "no models": ((Y, {}), {}, "`forecasts` must hold at least one array; got an empty mapping."),
    "number": ((Y, 0.5), {}, "The forecasts of model must be an array of probabilities; got float."),
    "scalar array": ((np.array(1), P), {}, "`outcome` must be an array; got the number 1."),
    "ragged": (
        (Y, [[0.1, 0.2], [0.3]]),
        {},
        "`model` must be an array; got rows of different lengths.",
    ),
    "three dimensions": (
        (Y, np.zeros((2, 2, 2))),
        {},
        "`model` must have one or two dimensions; got shape (2, 2, 2).",
    ),
    "group that is a number": (
        (Y, P),
        {"cluster": 3},
        "`cluster` must be an array, because the outcomes are an array; got int.",
    ),
    "several groups without names": (
        (Y, P),
        {"groups": [SITE, SITE]},
        "`groups` must be an array, or a mapping from names to arrays; got several arrays.",
    ),
    "two labels": (
        (np.where(np.arange(N) < 20, "No", "Yes"), P),
        {},
        "`outcome` must hold 0 and 1, or True and False; got 'No' at row 0 (60 of 60 rows: 0, 1, 2, 3, 4, "
        "...). Its labels are 'No' and 'Yes': pass the one that is the event, such as positive=\"Yes\" "
        "(--positive Yes).",
    ),
    "three labels": (
        (np.array(["a", "b", "c"] * 20), P),
        {},
        "`outcome` must hold 0 and 1, or True and False; got 'a' at row 0 (60 of 60 rows: 0, 1, 2, 3, 4, "
        "...). For models of several classes, name these in `classes` (--classes).",
    ),
    "probability above one": (
        (Y, {"logit": np.where(np.arange(N) == 3, 1.5, P)}),
        {},
        "`logit` must lie in [0, 1]; got 1.5 at row 3 (1 of 60 rows).",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_wrong_arrays_are_refused_with_a_sentence(case):
    arguments, named, sentence = REFUSED[case]
    assert refusal(*arguments, **named) == sentence


def test_rows_of_series_are_named_by_their_index():
    labels = [f"A{row}" for row in range(N)]
    forecast = pd.Series(np.where(np.arange(N) == 3, 1.5, P), index=labels, name="logit")
    sentence = "`logit` must lie in [0, 1]; got 1.5 at row 3, index 'A3' (1 of 60 rows)."
    assert refusal(pd.Series(Y, index=labels), forecast) == sentence
    assert refusal(Y, forecast) == sentence


def test_forgotten_classes_of_a_frame_are_suggested():
    assert refusal(CLASS_FRAME, outcome="outcome", forecasts=["m"]) == (
        "The frame has no column `m`; it has `outcome`, `m_low`, `m_mid`, `m_high`. Columns `m_low`, "
        '`m_mid`, ... look like those of a model of 3 classes: pass classes=["low", "mid", "high"] '
        "(--classes "
        "low,mid,high), in their order."
    )


def test_names_of_columns_may_still_be_an_array_or_an_index():
    names = FRAME.columns[1:3]
    expected = sr.read_predictions(FRAME, outcome="outcome", forecasts=["logit", "boost"])
    for forecasts in (names, names.to_numpy(), pd.Series(names)):
        found = sr.read_predictions(FRAME, outcome="outcome", forecasts=forecasts)
        assert found.sha256 == expected.sha256
