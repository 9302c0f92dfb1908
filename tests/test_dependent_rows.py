"""Clusters, time, groups, no draws, documents of evaluations with intervals."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from io import StringIO
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest
from uncertainty_tools import COLUMNS, RESAMPLES, evaluate, frame_fixture, plain_fixture

import scorereport as sr
from scorereport._utils.choices import SEED
from scorereport.cli.terminal import print_evaluation
from scorereport.evaluation.subgroups import label_windows
from scorereport.inference import (
    cochran_q,
    group_calibration_test,
)
from scorereport.inference.delong import errors_at_common_auc
from scorereport.inference.estimates import holm
from scorereport.scores.registry import Kind, Reported, list_reported

frame = pytest.fixture(scope="module")(frame_fixture)


plain = pytest.fixture(scope="module")(plain_fixture)


SCHEMA = Path(sr.__file__).parent / "schemas" / "evaluation-1.json"


@pytest.fixture(scope="module")
def everything(frame):
    """All features at once."""
    return evaluate(
        frame,
        cluster="bank",
        time="day",
        window="quarter",
        groups="site",
        grade="rating",
        cost_interval=(0.1, 0.4),
        smallest_group=10,
    )


# ---- clusters ----


@pytest.mark.sweep
@pytest.mark.parametrize("k", [2, 4])
def test_clusters_of_copies_widen_intervals_by_the_root_of_their_number(frame, k):
    """k copies of each row shrink errors by √k unless the copies are one cluster.

    Bootstrap errors of 60 resamples are known to 1/√120 = 9 %; the ratio of two to 13 %, so that any
    sample keeps to the wide limits here, and closed forms are compared more sharply.
    """
    copies = frame.loc[frame.index.repeat(k)].assign(row=np.repeat([f"r{i}" for i in range(len(frame))], k))
    naive, clustered = (evaluate(copies, cluster=cluster, resamples=60) for cluster in (None, "row"))
    root = np.sqrt(k)
    for one, other in zip(naive.models, clustered.models, strict=True):
        for a, b in zip(one.scores.components, other.scores.components, strict=True):
            assert b.standard_error == pytest.approx(root * a.standard_error, rel=0.01, abs=1e-15)
        auc, wide = one.scores.scores[-1].interval, other.scores.scores[-1].interval
        assert wide.standard_error == pytest.approx(root * auc.standard_error, rel=0.01)
        brier, wider = one.scores.scores[0].interval, other.scores.scores[0].interval
        assert 0.55 < wider.standard_error / (root * brier.standard_error) < 1.8
        slope, loose = one.calibration.line.slope, other.calibration.line.slope
        assert loose.standard_error == pytest.approx(root * slope.standard_error, rel=0.25)  # of the data
    for d, e in zip(naive.comparisons.differences, clustered.comparisons.differences, strict=True):
        if d.standard_error > 0:
            assert e.standard_error == pytest.approx(root * d.standard_error, rel=0.01)
    rate, wide = (e.data.sample.prevalence_interval for e in (naive, clustered))
    assert wide.standard_error == pytest.approx(root * rate.standard_error, rel=0.01)
    assert wide.method == "normal on log-odds, errors over clusters"
    assert clustered.data.clusters == len(frame)


def test_clusters_are_named_in_methods(everything):
    assert everything.data.clusters == 60
    for model in everything.models:
        assert f"{RESAMPLES} resamples of clusters" in model.scores.scores[0].interval.method
        assert model.scores.scores[-1].interval.method.startswith("DeLong with bias-reduced cluster errors")
        assert "dependent within clusters" in model.scores.miscalibration_tests[0].method
    methods = {d.method for d in everything.comparisons.differences}
    assert "Diebold-Mariano, cluster errors (60 clusters)" in methods
    assert not any("HAC" in method for method in methods)  # clusters take precedence over time


@pytest.mark.sweep
def test_few_clusters_are_noted(frame):
    note = "Only 29 clusters: with fewer than 30 intervals and tests rest on few independent clusters."
    found = [evaluate(frame.assign(bank=np.arange(300) % k), cluster="bank", resamples=20) for k in (29, 30)]
    assert [note in evaluation.notes for evaluation in found] == [True, False]
    assert not any("clusters: with fewer" in n for n in found[1].notes)
    for evaluation in found:
        assert (
            "The Hosmer-Lemeshow test and the honest band are left out: they need independent rows."
            in evaluation.notes
        )


@pytest.mark.sweep
def test_weights_and_clusters_leave_out_the_honest_band_once(frame):
    clustered = frame.assign(bank=np.arange(len(frame)) % 30, w=np.resize([1.0, 2.5], len(frame)))
    notes = evaluate(clustered, cluster="bank", weight="w", resamples=20).notes
    assert [note for note in notes if "honest band" in note] == [
        "The Hosmer-Lemeshow test and the honest band are left out: they need independent rows."
    ]


@pytest.mark.sweep
def test_murphy_curves_allow_for_clusters(frame):
    """Each row in five copies: the band of copies taken for rows is about √5 too narrow."""
    copies = frame.loc[frame.index.repeat(5)].assign(row=np.repeat([f"r{i}" for i in range(300)], 5))
    naive, clustered = (
        evaluate(copies, forecasts=["sharp", "blunt"], cluster=cluster, resamples=60).comparisons.murphy[0]
        for cluster in (None, "row")
    )
    inner = (naive.theta > 0.3) & (naive.theta < 0.7)
    widths = [np.mean((curve.upper - curve.lower)[inner]) for curve in (naive, clustered)]
    # a mean over many costs of errors that 60 resamples give to 9 % each: five times the ratio's 13 %
    assert 0.35 < widths[1] / widths[0] / np.sqrt(5) < 1.65
    assert widths[1] > 1.4 * widths[0]


@pytest.mark.sweep
def test_whole_weights_in_one_group_are_not_counts_if_others_are_fractions(frame):
    """A weight of 2 beside one of .5 is not a pair of rows, even in the group where all weights are 2."""
    mixed = frame.assign(share=np.where(frame["site"] == "east", 2.0, 0.5))
    east = evaluate(mixed, weight="share", groups="site").groups[0]
    assert east.sample.prevalence_interval.method == "normal on log-odds, errors over weighted rows"
    alone = frame[frame["site"] == "east"]["y"]
    error = np.sqrt(alone.var() / len(alone))
    assert east.sample.prevalence_interval.standard_error == pytest.approx(error, rel=1e-9)


GROUP = {"groups": "site", "cluster": "bank"}


@pytest.mark.sweep
def test_a_group_in_one_cluster_is_scored_without_intervals(frame):
    """Each site a cluster of its own: the spread within a site is not known."""
    found = evaluate(frame.assign(bank=frame["site"]), **GROUP, smallest_group=1)
    for group in found.groups:
        interval = group.sample.prevalence_interval
        assert np.isnan([interval.standard_error, interval.lower, interval.upper]).all()
        assert 0 < group.models[0].scores[0].value < 1
        for part in group.models[0].components:
            assert np.isnan([part.lower, part.upper]).all()
        for uncertainty in group.sample.uncertainties:
            assert np.isfinite(uncertainty.value)
            assert np.isnan([uncertainty.lower, uncertainty.upper]).all()
    again = sr.Evaluation.json_schema()
    jsonschema.validate(json.loads(found.to_json()), again)


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("options", [{"cluster": "bank"}, {"weight": "share"}, {}])
def test_one_class_is_evaluated_however_rows_were_drawn(frame, options):
    found = evaluate(frame.assign(y=0), **options)
    assert "All outcomes are the same: AUC and skill are not defined." in found.notes
    sample = found.data.sample
    assert sample.prevalence_interval.value == 0
    assert [u.value for u in sample.uncertainties] == [0] * len(found.models[0].scores.decompositions)
    for score in found.models[0].scores.scores:
        assert np.isnan(score.skill)
        assert np.isnan(score.skill_interval.value)


@pytest.mark.sweep
@pytest.mark.parametrize("options", [{"cluster": "bank"}, {"weight": "share"}])
def test_groups_of_one_class_are_evaluated_however_rows_were_drawn(frame, options):
    found = evaluate(frame.assign(y=frame["y"] * (frame["site"] == "east")), groups="site", **options)
    assert any(
        note.startswith("site: AUC and skill are not defined where all outcomes") for note in found.notes
    )
    west = next(g for g in found.groups if g.label == "west")
    assert west.sample.prevalence_interval.value == 0


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_few_rows_are_evaluated(frame, n):
    found = evaluate(frame[:n])
    assert len(found.models) == 3
    if n == 1:
        assert np.isnan(found.models[0].scores.components[0].upper)


# ---- time ----


def test_time_brings_errors_that_allow_for_dependence(frame):
    found = evaluate(frame, time="day", window="year")
    how = "errors in time (5 cosines, 300 times)"
    by_measure = {d.measure: d for d in found.comparisons.differences if d.second == "blunt"}
    assert by_measure["brier"].method == f"Diebold-Mariano, {how}"
    assert by_measure["roc_auc"].method == f"AUC influence, {how}"
    assert by_measure["brier miscalibration"].method.endswith(f"; {how}")
    assert found.notes[0] == (
        "Differences of scores, AUC, miscalibration and discrimination, the calibration line and the tests "
        "of sums and of the line allow for dependence in time; "
        "all other intervals, bands and tests take rows as independent."
    )
    without = {d.measure: d for d in evaluate(frame).comparisons.differences if d.second == "blunt"}
    assert by_measure["brier"].standard_error != without["brier"].standard_error
    assert by_measure["brier"].value == pytest.approx(without["brier"].value, rel=1e-12)


DATES = np.array(
    ["2020-12-31", "2021-01-01", "2021-01-03", "2021-01-04", "2021-03-31", "2021-04-01", "2024-12-30T23:59"],
    dtype="datetime64[ns]",
)


@pytest.mark.parametrize(
    ("window", "labels"),
    [
        ("year", ["2020", "2021", "2021", "2021", "2021", "2021", "2024"]),
        ("quarter", ["2020-Q4", "2021-Q1", "2021-Q1", "2021-Q1", "2021-Q1", "2021-Q2", "2024-Q4"]),
        ("month", ["2020-12", "2021-01", "2021-01", "2021-01", "2021-03", "2021-04", "2024-12"]),
        # the first of January 2021 is a Friday of week 53, the thirtieth of December 2024 a Monday of week 1
        ("week", ["2020-W53", "2020-W53", "2020-W53", "2021-W01", "2021-W13", "2021-W13", "2025-W01"]),
        (
            "day",
            [
                "2020-12-31",
                "2021-01-01",
                "2021-01-03",
                "2021-01-04",
                "2021-03-31",
                "2021-04-01",
                "2024-12-30",
            ],
        ),
    ],
)
def test_windows_are_labelled(window, labels):
    found = label_windows(DATES, window)
    assert found.tolist() == labels
    assert sorted(found.tolist()) == found.tolist()


@pytest.mark.parametrize(
    ("days", "first"),
    [
        (24, "2021-11-15"),  # each day
        (25, "2021-W46"),
        (24 * 7, "2021-W46"),
        (24 * 7 + 1, "2021-11"),
        (700, "2021-11"),
        (730, "2021-Q4"),
        (2500, "2021"),
        (366 * 40, "2021"),  # more than 24 years: there is nothing longer
    ],
)
def test_the_shortest_window_that_makes_no_more_than_24_is_chosen(days, first):
    time = np.datetime64("2021-11-15") + np.arange(days)
    labels = label_windows(time.astype("datetime64[ns]"), None)
    assert labels[0] == first
    assert len(set(labels)) <= 24 or first == "2021"


@pytest.mark.sweep
def test_windows_equal_evaluations_of_their_rows(frame):
    found = evaluate(frame, time="day", window="quarter")
    assert [w.label for w in found.windows] == ["2021-Q4", "2022-Q1", "2022-Q2", "2022-Q3"]
    assert {w.column for w in found.windows} == {"day"}
    alone = evaluate(frame[(frame["day"] >= "2022-01-01") & (frame["day"] < "2022-04-01")], time="day")
    assert found.windows[1].sample == alone.data.sample
    assert found.windows[1].models[0].scores == alone.models[0].scores.scores
    assert found.windows[1].models[0].components == alone.models[0].scores.components
    p_values = [[t.p_value for t in w.models[1].miscalibration_tests] for w in found.windows]
    adjusted = [[t.p_value_holm for t in w.models[1].miscalibration_tests] for w in found.windows]
    np.testing.assert_array_equal(adjusted, np.apply_along_axis(holm, 0, np.array(p_values)))
    assert found.heterogeneity == ()
    table = found.window_intervals
    assert list(table["label"].unique()) == [w.label for w in found.windows]
    assert (
        "day: p-values of groups are not adjusted; Holm's p-values are adjusted for all 4 groups."
        in found.notes
    )


def test_a_window_needs_times(frame):
    with pytest.raises(sr.UsageError, match=r"^`window` needs a column of times; name it as `time`\.$"):
        evaluate(frame, window="month")
    sentence = '`window` must be one of "year", "quarter", "month", "week", "day"; got \'decade\'.'
    with pytest.raises(sr.UsageError, match=f"^{re.escape(sentence)}$"):
        evaluate(frame, window="decade", time="day")


# ---- groups ----


@pytest.mark.sweep
def test_small_groups_are_counted_not_scored(frame):
    north = int((frame["site"] == "north").sum())
    assert 1 <= north < 10
    found = evaluate(frame, groups="site")
    assert [g.label for g in found.groups] == ["east", "north", "west"]
    small = found.groups[1]
    assert small.models == ()
    assert small.note == "Fewer than 10 rows: counted, not scored."
    assert (small.sample.rows, small.sample.events) == (north, frame.loc[frame["site"] == "north", "y"].sum())
    assert small.sample.prevalence_interval is None
    assert found.notes == (
        "site: groups of fewer than 10 rows are counted, not scored (1 of 3).",
        "site: p-values of groups are not adjusted; Holm's p-values are adjusted for all 2 groups.",
    )
    assert "north" not in set(found.group_intervals["label"])
    lenient = evaluate(frame, groups="site", smallest_group=north)
    assert lenient.groups[1].models != ()
    strict = evaluate(frame, groups="site", smallest_group=1000)
    assert [g.models for g in strict.groups] == [(), (), ()]
    assert strict.heterogeneity == ()
    largest = int(frame["site"].value_counts().max())
    alone = evaluate(frame, groups="site", smallest_group=largest)
    assert sum(bool(g.models) for g in alone.groups) == 1
    assert alone.heterogeneity == ()
    assert not any("Holm" in note for note in alone.notes)
    assert strict.notes == ("site: groups of fewer than 1000 rows are counted, not scored (3 of 3).",)


def test_p_values_of_groups_are_adjusted_for_their_number(frame):
    found = evaluate(frame, groups="site").groups
    scored = [g for g in found if g.models]
    for model in range(3):
        for place in range(4):
            tests = [g.models[model].miscalibration_tests[place] for g in scored]
            np.testing.assert_array_equal([t.p_value_holm for t in tests], holm([t.p_value for t in tests]))


def test_p_values_of_models_are_adjusted_for_their_number(everything, frame):
    by_model = [m.scores.miscalibration_tests + m.calibration.tests for m in everything.models]
    assert len(by_model) == 3
    for tests in zip(*by_model, strict=True):
        np.testing.assert_array_equal([t.p_value_holm for t in tests], holm([t.p_value for t in tests]))
    (alone,) = evaluate(frame, forecasts=["sharp"]).models
    assert {t.p_value_holm for t in (*alone.scores.miscalibration_tests, *alone.calibration.tests)} == {None}


@pytest.mark.sweep
def test_many_groups_have_scores_and_no_intervals(frame):
    many = frame.assign(site=[f"s{k % 101:03}" for k in range(len(frame))])
    found = evaluate(many, groups="site", forecasts=["sharp"], smallest_group=1)
    assert len(found.groups) == 101
    assert all(g.models[0].scores[0].interval is None for g in found.groups)
    assert all(g.models[0].components == g.models[0].miscalibration_tests == () for g in found.groups)
    assert "site: no intervals, because it has more than 100 groups." in found.notes
    assert not any("Holm" in note for note in found.notes)
    assert found.heterogeneity == ()
    assert len(found.group_scores) == 101
    fewer = evaluate(
        many[many["site"] < "s100"], groups="site", forecasts=["sharp"], resamples=20, smallest_group=2
    )
    assert len(fewer.groups) == 100
    assert all(g.models[0].scores[0].interval is not None for g in fewer.groups)
    assert not any("no intervals" in note for note in fewer.notes)
    assert (
        "site: p-values of groups are not adjusted; Holm's p-values are adjusted for all 100 groups."
        in fewer.notes
    )


def test_heterogeneity_is_tested_over_the_scored_groups(frame):
    found = evaluate(frame, groups="site")
    scored = [g for g in found.groups if g.models]
    names = [
        "Cochran's Q (brier)",
        "Cochran's Q (log_loss)",
        "Cochran's Q (roc_auc)",
        "Calibration intercept by group",
        "Calibration intercept and slope by group",
    ]
    assert [(h.column, h.model, h.test.name) for h in found.heterogeneity] == [
        ("site", model, name) for model in COLUMNS["forecasts"] for name in names
    ]
    raw = [h.test.p_value for h in found.heterogeneity]
    assert [h.test.p_value_holm for h in found.heterogeneity] == holm(raw).tolist()
    for place, model in enumerate(COLUMNS["forecasts"]):
        tests = {
            h.test.name: replace(h.test, p_value_holm=None) for h in found.heterogeneity if h.model == model
        }
        for score in ("brier", "log_loss", "roc_auc"):
            intervals = [s.interval for g in scored for s in g.models[place].scores if s.name == score]
            values, errors = ([getattr(i, name) for i in intervals] for name in ("value", "standard_error"))
            cases = [(g.sample.events, g.sample.total - g.sample.events) for g in scored]
            q = cochran_q(values, errors, degrees_of_freedom=[min(counts) - 1 for counts in cases])
            if score == "roc_auc":
                q = cochran_q(values, errors_at_common_auc(np.array(values), np.array(errors), cases))
            assert replace(tests[f"Cochran's Q ({score})"], name=q.name) == q
        kept = frame[frame["site"] != "north"]
        assert (tests[names[3]], tests[names[4]]) == group_calibration_test(
            kept["y"], kept[model], kept["site"]
        )


@pytest.mark.sweep
def test_heterogeneity_finds_a_group_that_differs(frame):
    turned = frame.assign(y=np.where(frame["site"] == "west", 1 - frame["y"], frame["y"]))
    tests = {(h.model, h.test.name): h.test for h in evaluate(turned, groups="site").heterogeneity}
    assert tests["sharp", "Cochran's Q (brier)"].p_value < 1e-6
    assert tests["sharp", "Calibration intercept and slope by group"].p_value < 1e-6


@pytest.mark.sweep
def test_groups_without_an_error_are_left_out_of_cochrans_test(frame):
    """A group of one class has no AUC; infinite log scores have no error."""
    mixed = frame.assign(
        site=np.repeat(["a", "b", "c"], 100),
        y=frame["y"] * (np.arange(300) < 200),
    )
    mixed.loc[mixed.index[np.flatnonzero(mixed["y"])[0]], "sharp"] = 0.0
    tests = {(h.model, h.test.name): h.test for h in evaluate(mixed, groups="site").heterogeneity}
    assert tests["coarse", "Cochran's Q (roc_auc)"].note.endswith(
        " 1 groups without a standard error are left out."
    )
    assert tests["coarse", "Cochran's Q (roc_auc)"].degrees_of_freedom == 1
    assert tests["sharp", "Cochran's Q (log_loss)"].degrees_of_freedom == 1
    assert tests["coarse", "Cochran's Q (log_loss)"].degrees_of_freedom == 2
    fewer = evaluate(mixed[mixed["site"] != "b"], groups="site")
    names = {(h.model, h.test.name) for h in fewer.heterogeneity}
    assert ("coarse", "Cochran's Q (roc_auc)") not in names  # one group with an error is left
    assert ("coarse", "Cochran's Q (brier)") in names


@pytest.mark.sweep
def test_groups_with_few_events_are_noted(frame):
    note = "Some group has fewer than 20 events or non-events: the test allows for that and has less power."
    few = evaluate(frame[:60].assign(part=["a", "b"] * 30), groups="part")
    many = evaluate(frame.assign(part=["a", "b"] * (len(frame) // 2)), groups="part")
    for found, is_noted in ((few, True), (many, False)):
        tests = [h.test for h in found.heterogeneity if "Cochran" in h.test.name]
        assert len(tests) > 0
        assert [note in test.note for test in tests] == [is_noted] * len(tests)


@pytest.mark.sweep
def test_clusters_that_span_groups_are_noted(frame):
    note = "Clusters span groups, but the test takes groups as independent."
    spanning = evaluate(frame, **GROUP)
    assert all(note in h.test.note for h in spanning.heterogeneity if "Cochran" in h.test.name)
    nested = evaluate(frame.assign(bank=frame["site"] + frame["bank"]), **GROUP)
    assert not any(note in h.test.note for h in nested.heterogeneity)


@pytest.mark.sweep
def test_group_labels_need_not_be_text(frame):
    """Predictions may be built from arrays, whose labels are numbers."""

    def build(labels):
        return sr.Predictions(outcome=frame["y"], forecasts={"sharp": frame["sharp"]}, groups={"g": labels})

    numbers = np.arange(len(frame)) % 3
    found, text = (sr.evaluate(build(labels), resamples=20) for labels in (numbers, numbers.astype(str)))
    assert found.to_json() == text.to_json()


@pytest.mark.sweep
def test_a_group_named_time_keeps_its_notes(frame):
    found = evaluate(frame.rename(columns={"site": "time"}), groups="time")
    assert "time: groups of fewer than 10 rows are counted, not scored (1 of 3)." in found.notes


# ---- nothing drawn ----


def test_without_resamples_nothing_is_drawn(frame, plain):
    bare = evaluate(
        frame, resamples=0, groups="site", time="day", window="year", grade="rating", cost_interval=(0.1, 0.4)
    )
    assert len(bare.intervals) == len(bare.differences) == len(bare.ranks) == 0
    assert len(bare.calibration_tests) == len(bare.heterogeneity_tests) == 0
    assert len(bare.group_intervals) == len(bare.window_intervals) == 0
    assert bare.comparisons.murphy == ()
    assert bare.data.sample.prevalence_interval is None
    assert bare.data.sample.uncertainties == ()
    for model in bare.models:
        assert model.bands == model.scores.components == model.scores.miscalibration_tests == ()
        assert model.calibration is None
        assert all(s.interval is None and s.skill_interval is None for s in model.scores.scores)
    assert bare.notes == ("site: groups of fewer than 10 rows are counted, not scored (1 of 3).",)
    pd.testing.assert_frame_equal(bare.scores, plain.scores)
    pd.testing.assert_frame_equal(bare.skills, plain.skills)
    out = StringIO()
    print_evaluation(bare, out, everything=True)
    text = out.getvalue()
    assert "interval" not in text.replace("(no intervals were requested)", "")
    assert "Holm" not in text
    heads = [line.split() for line in text.splitlines() if line.startswith("score ")]
    assert heads == [["score", "model", "mean", "skill"]] * 2 + [
        ["score", "model", "mean", "MCB", "DSC", "UNC"]
    ]
    jsonschema.validate(json.loads(bare.to_json()), sr.Evaluation.json_schema())


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"resamples": 17}, "`resamples` must be 0, or at least 18 for bands of level 0.9; got 17."),
        ({"resamples": 1}, "`resamples` must be 0, or at least 18 for bands of level 0.9; got 1."),
        (
            {"resamples": 37, "band_level": 0.95},
            "`resamples` must be 0, or at least 38 for bands of level 0.95; got 37.",
        ),
        ({"resamples": -1}, "`resamples` must be a whole number of at least 0; got -1."),
        ({"resamples": 99.0}, "`resamples` must be a whole number of at least 0; got 99.0."),
        ({"level": 0}, "`level` must lie in (0, 1); got 0."),
        ({"band_level": 1}, "`band_level` must lie in (0, 1); got 1."),
        ({"seed": -3}, "`seed` must be a whole number of at least 0; got -3."),
        ({"smallest_group": 0}, "`smallest_group` must be a whole number of at least 1; got 0."),
        (
            {"interval_method": "basic"},
            '`interval_method` must be one of "bca", "percentile"; got \'basic\'.',
        ),
    ],
)
def test_settings_are_checked(frame, options, sentence):
    with pytest.raises(sr.UsageError, match=f"^{re.escape(sentence)}$"):
        evaluate(frame, **options)


@pytest.mark.sweep
def test_the_fewest_resamples_are_enough(frame):
    assert len(evaluate(frame, resamples=18).models[0].bands) == 4
    assert len(evaluate(frame, resamples=2, band_level=0.3).models[0].bands) == 4


def test_settings_are_recorded(everything):
    settings = everything.settings
    assert (settings.level, settings.band_level, settings.interval_method) == (0.95, 0.9, "bca")
    assert (settings.resamples, settings.seed, settings.smallest_group) == (RESAMPLES, SEED, 10)
    assert (settings.window, settings.cost_interval) == ("quarter", (0.1, 0.4))


# ---- documents and tables ----


def test_the_document_of_everything_reads_back_equal(everything, tmp_path):
    path = tmp_path / "all.json"
    text = everything.to_json(path)
    jsonschema.validate(json.loads(text), json.loads(SCHEMA.read_text(encoding="utf-8")))
    again = sr.Evaluation.from_json(path)
    assert again == everything
    assert again.to_json() == text
    one, other = StringIO(), StringIO()
    print_evaluation(everything, one, everything=True)
    print_evaluation(again, other, everything=True)
    assert one.getvalue() == other.getvalue()


def without_hash(evaluation):
    return replace(evaluation, data=replace(evaluation.data, sha256=""))


@pytest.mark.sweep
def test_the_order_of_rows_changes_not_a_byte(frame, everything):
    shuffled = frame.sample(frac=1, random_state=5)
    again = evaluate(
        shuffled,
        cluster="bank",
        time="day",
        window="quarter",
        groups="site",
        grade="rating",
        cost_interval=(0.1, 0.4),
    )
    assert again.data.sha256 != everything.data.sha256  # it depends on the order of the rows
    assert without_hash(again).to_json() == without_hash(everything).to_json()
    weighted = {"weight": "share", "time": "day", "window": "year", "groups": "site", "resamples": 20}
    again, before = (without_hash(evaluate(rows, **weighted)) for rows in (shuffled, frame))
    assert again.to_json() == before.to_json()


@pytest.mark.sweep
def test_the_seed_and_nothing_else_decides(frame, monkeypatch):
    options = {"groups": "site", "cluster": "bank", "resamples": 20}
    one = evaluate(frame, seed=7, **options).to_json()
    monkeypatch.setattr("scorereport._utils.machine._ROWS_WORTH_A_THREAD", 1)
    for threads in ("1", "3"):
        monkeypatch.setenv("SCOREREPORT_THREADS", threads)
        assert evaluate(frame, seed=7, **options).to_json() == one
    assert evaluate(frame, seed=8, **options).to_json() != one


def test_frames(everything):
    ev = everything
    assert list(ev.intervals) == [
        "model",
        "measure",
        "number",
        "value",
        "standard_error",
        "lower",
        "upper",
        "level",
        "n",
        "method",
        "note",
        "corrected",
    ]
    decomposed = len(list_reported(Reported.ALWAYS, Reported.WITH_COSTS, kinds=[Kind.BINARY]))
    scored = decomposed + 1  # and the AUC
    of_models = 3 * (2 * scored + 2 * decomposed)
    assert len(ev.intervals) == 1 + decomposed + of_models + 3 * (3 + 4 + 1)
    assert ev.intervals["number"].value_counts().to_dict() == {
        "mean": 1 + 3 * scored,
        "skill": 3 * scored,
        "miscalibration": 3 * decomposed,
        "discrimination": 3 * decomposed,
        "uncertainty": decomposed,
        "value": 24,
    }
    first = ev.intervals.iloc[0]
    assert (first["model"], first["measure"], first["n"]) == ("", "prevalence", 300)
    slope = ev.models[2].calibration.line.slope
    found = ev.intervals[(ev.intervals["model"] == "blunt") & (ev.intervals["measure"] == slope.measure)]
    assert found["value"].tolist() == [slope.value]
    row = ev.intervals.query("model == 'blunt' and measure == 'brier' and number == 'miscalibration'").iloc[0]
    part = ev.models[2].scores.components[0]
    assert (row["value"], row["corrected"], row["lower"]) == (part.value, part.corrected, part.lower)
    binned = ev.models[2].calibration.binned
    row = ev.intervals.query("model == 'blunt' and measure == 'ece'").iloc[0]
    assert (row["value"], row["corrected"]) == (binned.value, binned.corrected)
    curve = ev.models[0].curves.decision
    found = ev.decision_curves.query("model == 'sharp'")
    assert found["lower"].tolist() == curve.band.lower.tolist()
    columns = ["model", "threshold", "net_benefit", "lower", "upper", "treat_all", "interventions_avoided"]
    assert list(found) == columns
    assert list(ev.flexible_curves) == ["model", "forecast", "probability", "lower", "upper"]
    assert {"sensitivity", "sensitivity_lower", "net_benefit_upper", "regret_lower"} <= set(ev.thresholds)
    assert len(ev.differences) == 3 * (scored + 2 * decomposed)
    assert {"first", "second", "measure", "value", "p_value", "p_value_holm", "method"} <= set(ev.differences)
    assert len(ev.ranks) == 3 * scored
    assert list(ev.ranks) == ["model", "measure", "value", "rank", "tied_with"]
    assert len(ev.calibration_tests) == 3 * (decomposed + 5)
    assert len(ev.group_intervals) == 2 * of_models
    assert list(ev.group_intervals)[:5] == ["group", "label", "n", "events", "prevalence"]
    assert len(ev.window_intervals) == 4 * of_models
    assert list(ev.heterogeneity_tests)[:3] == ["column", "model", "name"]
    assert len(ev.heterogeneity_tests) == 3 * 5


def test_tables_state_how_intervals_were_computed(plain, everything):
    for evaluation, words in (
        (
            plain,
            [
                f"{RESAMPLES} resamples of rows (seed 2021)",
                "AUC and rates in closed form",
                "95 % intervals: BCa bootstrap",
            ],
        ),
        (
            everything,
            [
                f"{RESAMPLES} resamples of clusters (seed 2021)",
                "in 60 clusters",
                "By site",
                "By day",
            ],
        ),
    ):
        out = StringIO()
        print_evaluation(evaluation, out, everything=True)
        for word in words:
            assert word in out.getvalue()
