"""Bounds over missing outcomes against all outcomes one by one, and verdicts by the share of events."""

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
from scorereport.configuration.judgement import judge_limits
from scorereport.configuration.limit_verdicts import LimitVerdict
from scorereport.configuration.tipping_shares import describe_tipping, find_tipping_shares
from scorereport.data.reader import read_predictions
from scorereport.inference import miscalibration_bounds
from scorereport.inference.losses import resolve_measure
from scorereport.inference.miscalibration_bounds import (
    bound_miscalibration,
    measure_miscalibration,
    merge_observed,
    tally_rows,
)
from scorereport.inference.missing_outcomes import ObservedMean, bound_model
from scorereport.report.finding_records import Consequence
from scorereport.report.findings import list_report_findings
from scorereport.report.provenance import trace_provenance
from scorereport.report.report_record import build_report
from scorereport.report.sections.missing_outcome_section import describe_missing_outcome_section
from scorereport.report.tables.missing_outcome_tables import missing_outcome_table

SCORES = ("brier", "log_loss", "spherical", "misclassification")


# Bounds against all outcomes


@st.composite
def draw_rows(draw):
    """Few rows, with and without outcome, with ties, and with weights of any kind."""
    grid = draw(st.sampled_from([2, 4, 7, 50]))
    forecast = st.integers(0, grid).map(lambda place: place / grid)
    known, unknown = draw(st.integers(1, 8)), draw(st.integers(1, 7))
    weight = draw(st.sampled_from([st.just(1.0), st.integers(1, 3).map(float), st.floats(0.05, 3.0)]))
    lists = [(forecast, known), (st.sampled_from([0.0, 1.0]), known), (weight, known)]
    lists += [(forecast, unknown), (weight, unknown)]
    return [np.array(draw(st.lists(each, min_size=n, max_size=n))) for each, n in lists]


def complete(rows):
    """Yield the outcomes, forecasts and weights of all rows for each choice of the missing outcomes."""
    forecast, outcome, weight, others, other_weight = rows
    for chosen in product([0.0, 1.0], repeat=len(others)):
        yield (
            np.concatenate([outcome, chosen]),
            np.concatenate([forecast, others]),
            np.concatenate([weight, other_weight]),
        )


def find_extremes(rows):
    """The smallest and largest MCB over all choices, by the decomposition of each."""
    found = [sr.corp(y, p, w).decompose("brier").miscalibration for y, p, w in complete(rows)]
    return min(found), max(found)


def tally(rows):
    forecast, outcome, weight, others, other_weight = rows
    return tally_rows(outcome, forecast, weight, others, other_weight)


@given(draw_rows(), st.booleans())
def test_miscalibration_is_bounded_sharply(rows, merges):
    cases = merge_observed(tally(rows)) if merges else tally(rows)
    lowest, highest = find_extremes(rows)
    bounds = bound_miscalibration(cases)
    assert bounds.upper == pytest.approx(highest, abs=1e-9)
    assert bounds.upper_slack <= 1e-9
    assert bounds.lower - 1e-9 <= lowest <= bounds.lower + bounds.lower_slack + 1e-9


@given(draw_rows())
def test_a_grid_of_levels_and_cells_of_forecasts_bound_miscalibration(rows):
    _, highest = find_extremes(rows)
    for levels, most_cells in ((1000, 16_000), (1000, 3), (6, 16_000)):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(miscalibration_bounds, "_MOST_EXACT", 0)
            patched.setattr(miscalibration_bounds, "_LEVELS", levels)
            patched.setattr(miscalibration_bounds, "_MOST_CELLS", most_cells)
            bounds = bound_miscalibration(tally(rows))
        assert bounds.upper - bounds.upper_slack - 1e-12 <= highest <= bounds.upper + 1e-12
        if levels == 1000 and most_cells != 3:
            assert bounds.upper <= highest + 1e-6


@given(draw_rows(), st.sampled_from([(6, 16_000), (1000, 3)]))
def test_the_bound_holds_without_outcomes_that_attain_it(rows, grid):
    """A few levels or cells lose less than is added for them."""
    with pytest.MonkeyPatch.context() as patched:
        for name, value in zip(("_LEVELS", "_MOST_CELLS"), grid, strict=True):
            patched.setattr(miscalibration_bounds, name, value)
        patched.setattr(miscalibration_bounds, "_MOST_EXACT", 0)
        patched.setattr(miscalibration_bounds, "_climb", lambda *_: -math.inf)
        assert find_extremes(rows)[1] <= bound_miscalibration(tally(rows)).upper + 1e-12


@given(draw_rows())
def test_whole_outcomes_come_within_two_rows_of_the_lower_bound(rows):
    lowest, _ = find_extremes(rows)
    weight, others = rows[2], rows[4]
    assert (
        lowest
        <= bound_miscalibration(tally(rows)).lower + 2 * others.max() / (weight.sum() + others.sum()) + 1e-12
    )


@given(draw_rows())
def test_mean_scores_are_bounded_exactly(rows):
    forecast, outcome, weight, _, _ = rows
    measures = [resolve_measure(name, {}) for name in SCORES]
    means = [ObservedMean(m, np.average(m.score(outcome, forecast), weights=weight)) for m in measures]
    found = bound_model("m", tally(rows), means, 0.0)
    for measure in measures:
        every = [np.average(measure.score(y, p), weights=w) for y, p, w in complete(rows)]
        bounds = found.find(measure.name)
        expected = (min(every), max(every), every[0], every[-1])
        shown = (bounds.lower, bounds.upper, bounds.no_events, bounds.all_events)
        np.testing.assert_allclose(shown, expected, atol=1e-12)
    shares = [np.average(y, weights=w) for y, _, w in complete(rows)]
    prevalence = found.find("prevalence", "share")
    np.testing.assert_allclose((prevalence.lower, prevalence.upper), (min(shares), max(shares)), atol=1e-12)


@given(draw_rows(), st.floats(0.01, 0.99))
def test_a_share_of_events_is_two_weighted_rows(rows, share):
    forecast, outcome, weight, others, other_weight = rows
    y = np.concatenate([outcome, np.ones(len(others)), np.zeros(len(others))])
    p = np.concatenate([forecast, others, others])
    w = np.concatenate([weight, share * other_weight, (1 - share) * other_weight])
    expected = sr.corp(y[w > 0], p[w > 0], w[w > 0]).decompose("brier").miscalibration
    for cases in (tally(rows), merge_observed(tally(rows))):
        assert measure_miscalibration(cases, share * cases.unknown) == pytest.approx(expected, abs=1e-12)


def test_the_deviation_is_that_of_the_gain_of_recalibration():
    rng = np.random.default_rng(5)
    p = rng.choice([0.1, 0.3, 0.7], 400)
    y = (rng.random(400) < p**2).astype(float)
    cases = tally_rows(y, p, None, np.array([0.3]), np.array([1e-12]))
    fit = pd.Series(y).groupby(p).transform("mean").to_numpy()  # rates rise with these forecasts
    assert (np.diff([y[p == value].mean() for value in (0.1, 0.3, 0.7)]) > 0).all()
    gains = (p - y) ** 2 - (fit - y) ** 2
    gain, deviation = miscalibration_bounds.measure_deviation(cases, np.zeros(3))
    assert gain == pytest.approx(gains.mean(), abs=1e-9)
    assert deviation == pytest.approx(gains.std(), rel=1e-6)


def test_many_forecasts_are_bounded_with_little_slack():
    rng = np.random.default_rng(7)
    p = rng.beta(1, 6, 4000)
    y = (rng.random(4000) < p).astype(float)
    unknown = rng.random(4000) < 0.1
    found = bound_miscalibration(merge_observed(tally_rows(y[~unknown], p[~unknown], None, p[unknown], None)))
    complete_fit = sr.corp(y, p).decompose("brier").miscalibration
    assert found.lower <= complete_fit <= found.upper
    assert found.upper_slack < 1e-6
    assert found.lower_slack < 1e-4


# Data


def make_frame(n=300, seed=3, share=0.2):
    rng = np.random.default_rng(seed)
    p = rng.beta(1, 4, n).round(3).clip(0.005, 0.99)
    frame = pd.DataFrame({"y": (rng.random(n) < p).astype(float), "m": p, "steep": np.clip(1.5 * p, 0, 0.99)})
    frame.loc[rng.random(n) < share, "y"] = np.nan
    return frame


def evaluate(frame, **others):
    return sr.evaluate(frame, outcome="y", forecasts=["m", "steep"], missing="drop", resamples=0, **others)


def test_the_bounds_are_those_of_the_rows_without_outcome(tmp_path):
    frame = make_frame()
    found = evaluate(frame)
    missing = int(frame["y"].isna().sum())
    assert found.missing_outcomes.rows == missing
    assert found.missing_outcomes.share == pytest.approx(missing / len(frame))
    brier = found.missing_outcomes.models[0].find("brier")
    assert brier.observed == found.models[0].scores.score("brier").value
    for value in (0.0, 1.0):
        filled = sr.evaluate(frame.fillna({"y": value}), outcome="y", forecasts=["m", "steep"], resamples=0)
        for model, bounds in zip(filled.models, found.missing_outcomes.models, strict=True):
            for score in SCORES:
                name = "all_events" if value else "no_events"
                assert getattr(bounds.find(score), name) == pytest.approx(model.scores.score(score).value)
            component = bounds.find("brier", "miscalibration")
            expected = model.scores.decomposition("brier").miscalibration
            assert getattr(component, "all_events" if value else "no_events") == pytest.approx(expected)
            assert component.lower <= expected <= component.upper
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    arrays = {name: frame[name].to_numpy() for name in ("m", "steep")}
    doors = (
        evaluate(path),
        sr.evaluate(frame["y"].to_numpy(), arrays, missing="drop", resamples=0),
        sr.evaluate(read_predictions(frame, ["m", "steep"], outcome="y", missing="drop"), resamples=0),
    )
    for door in doors:
        pd.testing.assert_frame_equal(door.missing_outcome_bounds, found.missing_outcome_bounds)


def test_deviations_are_those_of_the_values_of_rows():
    frame = make_frame()
    model = evaluate(frame).missing_outcomes.models[0]
    filled = {"observed": frame.dropna(), "no_events": frame.fillna(0.0), "all_events": frame.fillna(1.0)}
    for name, rows in filled.items():
        values = {"prevalence": rows["y"], "brier": (rows["m"] - rows["y"]) ** 2}
        for measure, of_rows in values.items():
            bounds = model.find(measure, "share" if measure == "prevalence" else "mean")
            assert getattr(bounds, f"{name}_deviation") == pytest.approx(of_rows.std(ddof=0))


def test_weights_count_and_rows_that_lack_more_do_not():
    frame = make_frame().assign(w=1.0)
    rows = frame.index[frame["y"].isna()]
    frame.loc[rows[0], "m"] = np.nan
    frame.loc[rows[1], "w"] = 0.0
    frame.loc[rows[2], "w"] = 5.0
    found = evaluate(frame, weight="w").missing_outcomes
    assert found.rows == len(rows) - 2
    weights = frame["w"].sum() - 1  # that of the row which lacks a forecast
    assert found.share == pytest.approx((len(rows) - 3 + 5) / weights)
    repeated = evaluate(frame, weight="w", weight_kind="frequency").missing_outcomes
    assert repeated.models[0].bounds == found.models[0].bounds


def test_nothing_is_bounded_without_missing_outcomes():
    frame = make_frame()
    assert evaluate(frame.dropna()).missing_outcomes is None
    assert evaluate(frame.dropna()).missing_outcome_bounds.empty
    frame.loc[frame["y"].isna(), "m"] = np.nan
    found = evaluate(frame)
    assert found.missing_outcomes is None
    assert any("lack other values as well" in note for note in found.notes)


def test_an_engine_says_why_it_has_no_bounds(tmp_path):
    frame = make_frame()
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    found = evaluate(path, engine="duckdb")
    assert found.missing_outcomes is None
    assert any("Bounds over the missing outcomes" in note and "duckdb" in note for note in found.notes)


def test_one_distinct_forecast_and_certain_forecasts():
    outcomes = [0.0, 1.0, 0.0, None, None]
    found = sr.evaluate(outcomes, {"m": [0.5] * 5}, missing="drop", resamples=0).missing_outcomes
    bounds = found.models[0].find("brier", "miscalibration")
    # rates of 1/5 to 3/5 against a forecast of 1/2; 0.5 is not reached by whole outcomes
    assert bounds.upper == pytest.approx(0.3**2)
    assert bounds.lower == pytest.approx(0.0, abs=1e-9)
    assert bounds.lower + bounds.lower_slack >= 0.1**2 - 1e-12
    certain = sr.evaluate(outcomes, {"m": [0.2, 0.8, 0.2, 0.0, 0.5]}, missing="drop", resamples=0)
    log = certain.missing_outcomes.models[0].find("log_loss")
    assert math.isfinite(log.lower)
    assert math.isfinite(log.as_forecast)
    assert log.upper == log.all_events == log.as_observed == math.inf


def test_documents_keep_the_bounds_and_old_ones_have_none(tmp_path):
    found = evaluate(make_frame())
    path = tmp_path / "results.json"
    found.to_json(path)
    assert sr.Evaluation.from_json(path) == found
    document = json.loads(path.read_text())
    del document["missing_outcomes"]
    path.write_text(json.dumps(document))
    assert sr.Evaluation.from_json(path).missing_outcomes is None


# Verdicts


def judge_shares(found, limits):
    return find_tipping_shares(found, judge_limits(found, limits))


def test_a_mean_without_interval_tips_where_its_line_crosses_the_limit():
    found = evaluate(make_frame())
    brier = found.missing_outcomes.models[0].find("brier")
    limit = (brier.no_events + 3 * brier.all_events) / 4
    tipping = judge_shares(found, {"brier": {"fail": limit}, "models": ["m"]})[0]
    assert [r.verdict for r in tipping.ranges] == [LimitVerdict.PASS, LimitVerdict.FAIL]
    assert tipping.ranges[0].end == pytest.approx(0.75, abs=1e-6)
    rows = found.missing_outcomes.rows
    assert f"changes from pass to fail if more than 75.0 % of the {rows} missing outcomes are events" in (
        describe_tipping(tipping, found.missing_outcomes)
    )


def test_verdicts_that_no_outcome_changes():
    found = evaluate(make_frame())
    tipping = judge_shares(found, {"brier": {"fail": 0.9}, "log_loss": {"fail": 0.01}, "models": ["m"]})
    assert [t.possible for t in tipping] == [(LimitVerdict.PASS,), (LimitVerdict.FAIL,)]
    assert not any(t.can_change or t.can_worsen for t in tipping)
    assert "stays pass, whatever share" in describe_tipping(tipping[0], found.missing_outcomes)


def test_limits_on_other_numbers_and_in_groups_are_not_followed():
    frame = make_frame().assign(g=["a", "b"] * 150)
    found = evaluate(frame, groups=["g"])
    tipping = judge_shares(
        found, {"roc_auc": {"fail": 0.6}, "brier": {"fail": 0.2}, "groups": True, "models": ["m"]}
    )
    assert [(t.judgement.measure, t.judgement.group) for t in tipping] == [("brier", "")]


@pytest.mark.sweep
@pytest.mark.parametrize("seed", [1, 2])
def test_shares_at_which_verdicts_change_agree_with_completed_data(seed):
    """Outcomes are drawn at several shares: unless a change is near, one of two verdicts is as stated."""
    frame = make_frame(n=2500, seed=seed, share=0.12)
    limits = {
        "brier": {"fail": 0.15},
        "brier_skill": {"fail": 0.05},
        "log_loss": {"fail": 0.47},
        "brier_miscalibration": {"fail": 0.006},
        "prevalence": {"max": 0.26},
    }
    found = sr.evaluate(frame, outcome="y", forecasts=["m", "steep"], missing="drop")
    stated = judge_shares(found, limits)
    assert len(stated) == 9
    assert sum(len(tipping.ranges) > 1 for tipping in stated) >= 5
    rng, unknown = np.random.default_rng(seed), frame["y"].isna()
    for share in (0.0, 0.3, 0.6, 1.0):
        verdicts = []
        for _ in range(2):
            filled = frame.assign(y=frame["y"].mask(unknown, (rng.random(len(frame)) < share).astype(float)))
            again = sr.evaluate(filled, outcome="y", forecasts=["m", "steep"])
            verdicts.append({(j.measure, j.model): j.verdict for j in judge_limits(again, limits)})
        for tipping in stated:
            margin = 0.15 if tipping.judgement.measure == "brier_miscalibration" else 0.07
            is_near = any(abs(r.end - share) < margin for r in tipping.ranges[:-1])
            key = (tipping.judgement.measure, tipping.judgement.model)
            here = next(r.verdict for r in tipping.ranges if r.start <= share <= r.end)
            assert is_near or any(v[key] is here for v in verdicts), (key, share, here)


# Report


def report_on(found, limits=""):
    configuration = parse_configuration(limits, "limits.toml") if limits else None
    return build_report(found, trace_provenance(), configuration=configuration)


def test_a_verdict_that_may_change_is_a_finding_with_an_action():
    found = evaluate(make_frame())
    brier = found.missing_outcomes.models[0].find("brier")
    report = report_on(found, f"[limits]\nbrier = {{ fail = {(brier.no_events + brier.all_events) / 2} }}\n")
    finding = next(f for f in list_report_findings(report) if f.see == "tipping")
    assert finding.consequence is Consequence.QUESTIONABLE_INPUT
    assert finding.action == "Obtain the missing outcomes, or state why the observed cases represent them."
    assert "The verdict on the Brier score" in finding.text
    content = describe_missing_outcome_section(report)
    assert set(content.parts) == {"outcome_bounds", "tipping", "tipping_figure"}


def test_a_robust_verdict_is_a_plain_finding():
    found = evaluate(make_frame())
    report = report_on(found, "[limits]\nbrier = { fail = 0.9 }\n")
    finding = next(f for f in list_report_findings(report) if f.see == "tipping")
    rows = found.missing_outcomes.rows
    assert (
        finding.text
        == f"Whatever the {rows} missing outcomes are, none of 2 verdicts that depend on them changes."
    )
    assert (finding.consequence, finding.action) == (Consequence.RESULT, "")


def test_without_limits_the_bounds_are_stated():
    found = evaluate(make_frame())
    assert any(
        "Over all values of the missing outcomes, the Brier score of m lies between" in text
        for text in found.findings
    )
    table = missing_outcome_table(found.missing_outcomes)
    assert len(table.rows) == 2 * (len(SCORES) + 2)
    assert describe_missing_outcome_section(report_on(found)).parts.keys() == {
        "outcome_bounds",
        "tipping_figure",
    }
    assert describe_missing_outcome_section(report_on(evaluate(make_frame().dropna()))) is None


def test_rows_that_lack_more_than_the_outcome_are_stated():
    frame = make_frame()
    rows = frame.index[frame["y"].isna()]
    frame.loc[rows[:2], "m"] = np.nan
    content = describe_missing_outcome_section(report_on(evaluate(frame))).content
    assert content["others"].startswith(
        "2 further rows without an outcome have no weight or lack other values"
    )
