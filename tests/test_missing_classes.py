"""Bounds of models of several classes over missing outcomes, against all classes one by one."""

from __future__ import annotations

import json
import math
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import scorereport as sr
from scorereport.configuration import parse_configuration
from scorereport.configuration.tipping_shares import find_tipping_shares
from scorereport.errors import DataError
from scorereport.inference.class_outcome_bounds import (
    ObservedClassMean,
    UnknownClasses,
    bound_class_mean,
    bound_views,
)
from scorereport.inference.miscalibration_bounds import tally_rows
from scorereport.report.findings import list_report_findings
from scorereport.report.provenance import Provenance
from scorereport.report.report_record import build_report
from scorereport.report.sections.methods_section import describe_methods_section
from scorereport.report.sections.missing_outcome_section import describe_missing_outcome_section
from scorereport.report.tables.missing_outcome_tables import missing_outcome_table, tipping_table
from scorereport.scores.multiclass import multiclass_brier, multiclass_log_loss
from scorereport.scores.ordinal import rps

CLASSES = ["a", "b", "c"]
SCORES = {"multiclass_brier": multiclass_brier, "multiclass_log_loss": multiclass_log_loss, "rps": rps}


# Bounds against all classes


@st.composite
def draw_rows(draw):
    """Few rows of three classes, with and without outcome, with ties, zeros, and weights of any kind."""
    parts = st.tuples(*[st.integers(0, 4)] * 3).filter(any).map(lambda each: np.array(each) / sum(each))
    known, unknown = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    weight = draw(st.sampled_from([st.just(1.0), st.integers(1, 3).map(float), st.floats(0.05, 3.0)]))
    lists = [(parts, known), (st.integers(0, 2), known), (weight, known), (parts, unknown), (weight, unknown)]
    return [np.array(draw(st.lists(each, min_size=n, max_size=n))) for each, n in lists]


def complete(rows):
    """Yield the classes, forecasts and weights of all rows for each choice of the missing classes."""
    forecast, outcome, weight, others, other_weight = rows
    for chosen in product(range(3), repeat=len(others)):
        yield (
            np.concatenate([outcome, chosen]).astype(int),
            np.concatenate([forecast, others]),
            np.concatenate([weight, other_weight]),
        )


def make_unknown(rows):
    _, outcome, weight, others, other_weight = rows
    observed = np.bincount(outcome.astype(int), weight, minlength=3) / weight.sum()
    return UnknownClasses(others, other_weight / (weight.sum() + other_weight.sum()), observed)


@given(draw_rows(), st.sampled_from(sorted(SCORES)))
def test_mean_scores_are_bounded_exactly(rows, name):
    forecast, outcome, weight, _, _ = rows
    score = SCORES[name]
    observed = np.average(score(outcome.astype(int), forecast), weights=weight)
    found = bound_class_mean(ObservedClassMean(name, score, observed), make_unknown(rows))
    every = [np.average(score(y, p), weights=w) for y, p, w in complete(rows)]
    np.testing.assert_allclose((found.lower, found.upper), (min(every), max(every)), atol=1e-12)


@given(draw_rows())
def test_assumed_classes_are_weighted_rows(rows):
    """Each row without an outcome is a row of each class, with a part of its weight."""
    forecast, outcome, weight, others, other_weight = rows
    observed = np.average(multiclass_brier(outcome.astype(int), forecast), weights=weight)
    unknown = make_unknown(rows)
    found = bound_class_mean(ObservedClassMean("multiclass_brier", multiclass_brier, observed), unknown)
    y = np.concatenate([outcome, *(np.full(len(others), k) for k in range(3))]).astype(int)
    p = np.concatenate([forecast, others, others, others])
    for value, shares in ((found.as_observed, [unknown.observed] * len(others)), (found.as_forecast, others)):
        w = np.concatenate([weight, *(other_weight * np.array(shares)[:, k] for k in range(3))])
        assert value == pytest.approx(np.average(multiclass_brier(y, p), weights=w), abs=1e-12)


@given(draw_rows(), st.booleans())
def test_miscalibration_lies_in_its_bounds(rows, ordered):
    """For one class against the rest and for thresholds; with two rows or one, the sum is nearly sharp."""

    def view(table):
        return np.cumsum(table, axis=1)[:, :-1].clip(0, 1) if ordered else table

    def is_event(y, k):
        return ((y <= k) if ordered else (y == k)).astype(float)

    forecast, outcome, weight, others, other_weight = rows
    divisor = 2 if ordered else 1
    cases = [
        tally_rows(is_event(outcome, k), column, weight, unknown, other_weight)
        for k, (column, unknown) in enumerate(zip(view(forecast).T, view(others).T, strict=True))
    ]
    found = bound_views("rps" if ordered else "multiclass_brier", cases, divisor, 0.0)
    for y, p, w in complete(rows):
        parts = [
            sr.corp(is_event(y, k), column, w).decompose("brier").miscalibration
            for k, column in enumerate(view(p).T)
        ]
        assert found.lower - 1e-9 <= sum(parts) / divisor <= found.upper + 1e-9


# Data


def make_frame(n=150, seed=8, share=0.15):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(3), n)
    y = (rng.random(n)[:, None] >= np.cumsum(p, axis=1)[:, :-1]).sum(axis=1)
    bold = p**3 / (p**3).sum(axis=1, keepdims=True)
    frame = pd.DataFrame({"y": np.array(CLASSES, dtype=object)[y], "w": rng.integers(1, 4, n)})
    frame[[f"m_{c}" for c in CLASSES]] = p
    frame[[f"bold_{c}" for c in CLASSES]] = bold
    frame["truth"] = frame["y"]
    frame.loc[rng.random(n) < share, "y"] = None
    return frame


def evaluate(frame, *, ordered=True, **others):
    settings = {"outcome": "y", "forecasts": ["m", "bold"], "missing": "drop", "resamples": 0}
    return sr.evaluate(frame, classes=CLASSES, ordered=ordered, **(settings | others))


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("weight", ["w", None])
def test_every_mean_score_is_bounded_by_the_classes_of_a_few_rows(ordered, weight):
    """Against evaluations of all completed tables, through the public door."""
    frame = make_frame(n=30, share=0.0)
    frame.loc[:2, "y"] = None
    options = {"ordered": ordered, "weight": weight}
    found = evaluate(frame, **options)
    every = []
    for chosen in product(CLASSES, repeat=3):
        completed = frame.assign(y=[*chosen, *frame["y"][3:]])
        every.append(evaluate(completed, **options))
    assert found.missing_outcomes.rows == 3
    weights = np.ones(30) if weight is None else frame["w"]
    assert found.missing_outcomes.share == pytest.approx(weights[:3].sum() / weights.sum())
    for place, model in enumerate(found.missing_outcomes.class_models):
        means = [b for b in model.bounds if b.number == "mean"]
        names = {score.name for score in found.class_models[place].scores.scores}
        assert names - {b.measure for b in means} <= {"macro_f1", "quadratic_weighted_kappa"}
        for bounds in means:
            values = [e.class_models[place].scores.score(bounds.measure).value for e in every]
            np.testing.assert_allclose((bounds.lower, bounds.upper), (min(values), max(values)), atol=1e-12)
            assert bounds.observed == found.class_models[place].scores.score(bounds.measure).value
        for k, label in enumerate(CLASSES):
            shares = [e.data.classes.counts[k].share for e in every]
            bounds = model.find(f"share of {label}", "share")
            np.testing.assert_allclose((bounds.lower, bounds.upper), (min(shares), max(shares)), atol=1e-12)
        for bounds in (b for b in model.bounds if b.number == "miscalibration"):
            values = [
                e.class_models[place].scores.decomposition(bounds.measure).miscalibration for e in every
            ]
            assert bounds.lower - 1e-9 <= min(values)
            assert max(values) <= bounds.upper + 1e-9
            assert bounds.upper - bounds.lower <= 3 * (max(values) - min(values)) + 0.1


@pytest.mark.parametrize("ordered", [True, False])
def test_the_bounds_contain_the_numbers_once_outcomes_are_known(ordered):
    frame = make_frame()
    found, known = evaluate(frame, ordered=ordered), evaluate(frame, ordered=ordered, outcome="truth")
    for model, result in zip(found.missing_outcomes.class_models, known.class_models, strict=True):
        for bounds in model.bounds:
            if bounds.number == "mean":
                value = result.scores.score(bounds.measure).value
            elif bounds.number == "miscalibration":
                value = result.scores.decomposition(bounds.measure).miscalibration
            else:
                value = next(c.share for c in known.data.classes.counts if bounds.measure.endswith(c.label))
            assert bounds.lower <= value <= bounds.upper
            assert bounds.lower <= bounds.as_forecast <= bounds.upper


def test_assumed_numbers_are_those_of_a_table_with_a_row_for_each_class():
    """Each row without an outcome is a row of each class, weighted by its assumed share."""
    frame = make_frame()
    found, unknown = evaluate(frame, weight="w"), frame["y"].isna()
    observed = [count.share for count in found.data.classes.counts]
    for name in ("as_observed", "as_forecast"):
        parts = [frame[~unknown]]
        for label, share in zip(CLASSES, observed, strict=True):
            rows = frame[unknown].assign(y=label)
            parts.append(rows.assign(w=rows["w"] * (share if name == "as_observed" else rows[f"m_{label}"])))
        known = evaluate(pd.concat(parts), weight="w", forecasts=["m"])
        scores = known.class_models[0].scores
        values = {
            **{(score.name, "mean"): score.value for score in scores.scores},
            **{(part.name, "miscalibration"): part.miscalibration for part in scores.decompositions},
            **{(f"share of {c.label}", "share"): c.share for c in known.data.classes.counts},
        }
        for bounds in found.missing_outcomes.class_models[0].bounds:
            expected = values[bounds.measure, bounds.number]
            assert getattr(bounds, name) == pytest.approx(expected, abs=1e-9), bounds.measure


def test_two_classes_have_the_bounds_of_a_binary_model():
    frame = make_frame()
    two = frame.assign(y=frame["y"].replace({"c": "b"}), p_b=frame["m_b"] + frame["m_c"], p_a=frame["m_a"])
    of_classes = sr.evaluate(
        two, outcome="y", forecasts=["p"], classes=["a", "b"], missing="drop", resamples=0
    ).missing_outcomes.class_models[0]
    of_event = sr.evaluate(
        two, outcome="y", forecasts=["p_b"], positive="b", missing="drop", resamples=0
    ).missing_outcomes.models[0]
    pairs = [
        (of_classes.find("multiclass_brier"), of_event.find("brier"), 2),
        (of_classes.find("multiclass_log_loss"), of_event.find("log_loss"), 1),
        (of_classes.find("multiclass_brier", "miscalibration"), of_event.find("brier", "miscalibration"), 2),
        (of_classes.find("share of b", "share"), of_event.find("prevalence", "share"), 1),
    ]
    for ours, theirs, factor in pairs:
        for name in ("observed", "lower", "upper", "as_observed", "as_forecast"):
            assert getattr(ours, name) == pytest.approx(factor * getattr(theirs, name), abs=1e-5)


def test_a_forecast_of_zero_has_no_highest_log_score():
    frame = make_frame()
    row = frame.index[frame["y"].isna()][0]
    frame.loc[row, ["m_a", "m_b", "m_c"]] = [0.0, 0.4, 0.6]
    found = evaluate(frame)
    log = found.missing_outcomes.class_models[0].find("multiclass_log_loss")
    assert math.isfinite(log.lower)
    assert math.isfinite(log.as_forecast)
    assert log.upper == log.as_observed == math.inf
    text = " ".join(describe_missing_outcome_section(report_on(found)).content["limits"])
    assert "The highest log score (K classes) of m is infinite, because in some of these rows" in text


def test_rows_without_outcome_are_checked_and_rescaled():
    frame = make_frame()
    rows = frame.index[frame["y"].isna()]
    wrong = frame.copy()
    wrong.loc[rows[0], "m_a"] += 0.2
    with pytest.raises(DataError, match=f"must sum to 1 .* at row {rows[0]}"):
        evaluate(wrong)
    doubled = frame.copy()
    doubled.loc[rows, ["m_a", "m_b", "m_c"]] *= 2
    found, expected = (evaluate(each, normalize=True).missing_outcomes for each in (doubled, frame))
    for ours, theirs in zip(found.class_models[0].bounds, expected.class_models[0].bounds, strict=True):
        assert (ours.lower, ours.upper) == pytest.approx((theirs.lower, theirs.upper))


def test_rows_that_lack_more_or_have_no_weight_are_not_bounded():
    frame = make_frame()
    rows = frame.index[frame["y"].isna()]
    frame.loc[rows[0], "m_a"] = np.nan
    frame.loc[rows[1], "w"] = 0
    assert evaluate(frame, weight="w").missing_outcomes.rows == len(rows) - 2
    assert evaluate(frame.dropna(subset="y")).missing_outcomes is None
    frame.loc[rows, "m_a"] = np.nan
    found = evaluate(frame)
    assert found.missing_outcomes is None
    assert any("lack other values as well" in note for note in found.notes)


def test_documents_keep_the_bounds(tmp_path):
    found = evaluate(make_frame())
    path = tmp_path / "results.json"
    found.to_json(path)
    assert sr.Evaluation.from_json(path) == found
    frame = found.missing_outcome_bounds
    assert list(frame.columns[:4]) == ["model", "measure", "number", "observed"]
    binary = sr.evaluate([0, 1, None], {"m": [0.2, 0.7, 0.5]}, missing="drop", resamples=0)
    assert set(json.loads(binary.to_json())["missing_outcomes"]) == {"rows", "share", "models"}


# Report


def report_on(found, limits=""):
    return build_report(
        found, Provenance(time="2026-11-15T07:30:12+00:00"), configuration=parse_configuration(limits)
    )


@pytest.mark.parametrize(
    ("ordered", "label"), [(True, "ranked probability score"), (False, "Brier score (K classes)")]
)
def test_the_summary_and_the_section_state_the_bounds(ordered, label):
    found = evaluate(make_frame(), ordered=ordered)
    report = report_on(found)
    text = next(f.text for f in list_report_findings(report) if f.see == "outcome_bounds")
    assert f"Over all values of the missing outcomes, the {label} of m lies between" in text
    assert "and its MCB between" in text
    content = describe_missing_outcome_section(report)
    assert set(content.parts) == {"outcome_bounds"}
    assert any("macro F1" in sentence for sentence in content.content["limits"])
    table = missing_outcome_table(found.missing_outcomes)
    assert table.heads == (
        "model", "number", "observed rows", "lowest", "highest", "as observed", "as forecast"
    )  # fmt: skip
    assert "Share of a" in {row[1] for row in table.rows}
    families = describe_methods_section(report).content["families"]
    assert "Bounds over missing classes" in {m["name"] for family in families for m in family["methods"]}


def test_verdicts_that_some_classes_change_are_a_finding():
    found = evaluate(make_frame())
    bounds = found.missing_outcomes.class_models[0].find("rps")
    limit = (bounds.observed + bounds.upper) / 2
    limits = f'[limits]\nmodels = ["m"]\nrps = {{ fail = {limit} }}\naccuracy = {{ fail = 0.01 }}\n'
    report = report_on(found, limits + "macro_f1 = { fail = 0.1 }\n")
    tippings = find_tipping_shares(found, report.judgements)
    assert [(t.judgement.measure, t.ranges) for t in tippings] == [("rps", ()), ("accuracy", ())]
    assert [list(map(str, t.possible)) for t in tippings] == [["pass", "fail"], ["pass"]]
    finding = next(f for f in list_report_findings(report) if f.see == "tipping")
    rows = found.missing_outcomes.rows
    assert finding.text == (
        f"Some values of the {rows} missing outcomes change the verdict on the ranked probability score of m "
        "from pass to fail."
    )
    content = describe_missing_outcome_section(report)
    assert set(content.parts) == {"outcome_bounds", "tipping"}
    assert content.content["unfollowed"] == 1
    assert tipping_table(tippings).heads == ("limit on", "of", "verdict", "with any outcomes")


def test_verdicts_that_no_class_changes_are_stated():
    report = report_on(evaluate(make_frame()), "[limits]\nrps = { fail = 0.9 }\n")
    finding = next(f for f in list_report_findings(report) if f.see == "tipping")
    assert "none of 2 verdicts that depend on them changes" in finding.text
