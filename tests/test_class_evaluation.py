"""Models of K classes, ordered or not: reading, scores, decompositions, inference, groups, odd cases."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import scorereport as sr
from scorereport._utils import json_documents
from scorereport.evaluation.class_bootstrap import MeanScores
from scorereport.evaluation.class_calibration import examine_class_calibration
from scorereport.evaluation.class_measures import choose_mean_measures, choose_table_measures
from scorereport.evaluation.class_views import make_families
from scorereport.inference.class_panel import make_class_panel
from scorereport.results.settings import EvaluationSettings
from scorereport.scores.hard_labels import confusion_table

CLASSES = ["low", "mid", "high", "top"]


def make_table(rng, n, k=4, concentration=1.0):
    return rng.dirichlet(np.full(k, concentration), n)


def make_frame(n=160, seed=3, classes=CLASSES, models=("a", "b")):
    """Classes drawn from the first model; the others are its forecasts made bolder."""
    rng = np.random.default_rng(seed)
    p = make_table(rng, n, len(classes))
    y = (rng.random(n)[:, None] >= np.cumsum(p, axis=1)[:, :-1]).sum(axis=1)
    frame = pd.DataFrame({"grade": np.array(classes, dtype=object)[y]})
    for power, model in enumerate(models, start=1):
        bold = p**power / (p**power).sum(axis=1, keepdims=True)
        for label, column in zip(classes, bold.T, strict=True):
            frame[f"{model}_{label}"] = column
    frame["site"] = rng.choice(["north", "south"], n)
    frame["person"] = np.arange(n) // 2
    frame["day"] = pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(n) // 40, unit="D")
    return frame


def evaluate(frame, **options):
    given = {"outcome": "grade", "forecasts": ["a", "b"], "classes": CLASSES, "ordered": True, "resamples": 0}
    return sr.evaluate(frame, **(given | options))


@pytest.fixture(scope="module")
def frame():
    return make_frame()


@pytest.fixture(scope="module")
def inferred(frame):
    return evaluate(frame, resamples=60, groups="site", scale=True)


def arrays(frame, model, classes=CLASSES):
    y = np.array([classes.index(label) for label in frame["grade"]])
    return y, frame[[f"{model}_{label}" for label in classes]].to_numpy()


# reading


def test_columns_are_named_after_model_and_class_or_listed(frame):
    by_name = sr.read_predictions(frame, outcome="grade", forecasts=["a"], classes=CLASSES, ordered=True)
    listed = sr.read_predictions(
        frame,
        outcome="grade",
        forecasts={"a": [f"a_{label}" for label in CLASSES]},
        classes=CLASSES,
        ordered=True,
    )
    assert isinstance(by_name, sr.ClassPredictions)
    assert by_name.classes == tuple(CLASSES) == listed.classes
    assert by_name.sha256 == listed.sha256
    y, p = arrays(frame, "a")
    assert by_name.outcome.tolist() == y.tolist()
    np.testing.assert_array_equal(by_name.forecasts["a"], p)


def test_labels_are_read_as_text_whatever_they_were(tmp_path):
    table = pd.DataFrame(
        {"k": [0, 2, 1], "m_0": [0.5, 0.2, 0.3], "m_1": [0.25, 0.2, 0.3], "m_2": [0.25, 0.6, 0.4]}
    )
    table.to_csv(tmp_path / "p.csv", index=False)
    of_frame, of_file = (
        sr.read_predictions(source, outcome="k", forecasts=["m"], classes=classes)
        for source, classes in ((table, [0, 1, 2]), (tmp_path / "p.csv", ["0", "1", "2"]))
    )
    assert of_frame.outcome.tolist() == of_file.outcome.tolist() == [0, 2, 1]
    assert of_frame.sha256 == of_file.sha256


def test_the_label_none_is_a_class_if_it_is_listed():
    table = pd.DataFrame({"k": ["None", "some"], "m_None": [0.5, 0.2], "m_some": [0.5, 0.8]})
    read = sr.read_predictions(table, outcome="k", forecasts=["m"], classes=["None", "some"])
    assert read.outcome.tolist() == [0, 1]


def test_rows_that_do_not_sum_to_one_are_refused_with_the_tolerance(frame):
    off = frame.assign(a_low=frame["a_low"] * np.where(frame.index == 17, 1.5, 1.0))
    sentence = (
        r"The probabilities of a must sum to 1 within 1e-06 in each row; "
        r"got \d\.\d+ at row 17 \(1 of 160 rows\)\. "
        r"Correct them, or pass normalize=True \(--normalize\) to divide each row by its sum\."
    )
    with pytest.raises(sr.DataError, match=f"^{sentence}$"):
        evaluate(off)


def test_normalize_rescales_and_records_it(frame):
    columns = [f"a_{label}" for label in CLASSES]
    votes = frame.copy()
    votes[columns] = 100 * votes[columns]
    rescaled = evaluate(votes, normalize=True)
    plain = evaluate(frame)
    np.testing.assert_allclose(rescaled.scores, plain.scores, rtol=1e-12)
    of_a, of_b = rescaled.data.classes.rescaled
    assert (of_a.model, of_a.rows) == ("a", 160)
    assert of_a.furthest_sum == pytest.approx(100)
    assert (of_b.model, of_b.rows) == ("b", 0)
    assert plain.data.classes.rescaled == ()
    assert any(
        "divided by their sum, as requested; before, 160 of 160 rows did not sum to 1" in n
        for n in rescaled.notes
    )


def test_row_numbers_are_those_of_the_source_if_rows_were_dropped(frame):
    off = frame.copy()
    off.loc[2, "grade"] = None
    off.loc[5, "a_low"] += 0.25
    with pytest.raises(sr.DataError, match=re.escape("at row 5 (1 of 160 rows)")):
        evaluate(off, missing="drop")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"classes": ["low"]}, "`classes` must be a list of at least two labels; got ['low']."),
        ({"classes": ["low", "low"]}, "`classes` must differ; got 'low' 2 times."),
        ({"classes": "ab"}, "`classes` must be a list of at least two labels; got 'ab'."),
        ({"classes": 4}, "`classes` must be a list of at least two labels; got 4."),
        ({"classes": ["", "a"]}, "`classes` must be labels that are not empty; got an empty text."),
        ({"ordered": "no"}, "`ordered` must be true or false; got 'no'."),
        ({"normalize": 1}, "`normalize` must be true or false; got 1."),
        (
            {"forecasts": {1: "a_low"}},
            "`forecasts` must name a column for each class; got 'a_low' for 1.",
        ),
        (
            {"classes": None},
            "`ordered` is for models of several classes: name these in `classes`, or leave it out.",
        ),
        ({"positive": "low"}, "`positive` is for binary models, not for several classes: leave it out."),
        ({"grade": "site"}, "`grade` is for binary models, not for several classes: leave it out."),
        (
            {"forecasts": {"a": ["a_low", "a_mid"]}},
            "`forecasts` must name a column for each of the 4 classes; got 2 for a.",
        ),
        (
            {"cost_interval": (0.1, 0.2)},
            "`cost_interval` is for binary models, not for several classes: leave it out, or use "
            "`cost_matrix`.",
        ),
        ({"thresholds": [0.5]}, "`thresholds` is for binary models, not for several classes: leave it out."),
        (
            {"cost_matrix": [[0, 1], [1, 0]]},
            "`cost_matrix` must have 4 rows of 4 numbers, one for each class; got 2 of 2.",
        ),
        (
            {"retention_fractions": [0.1, 0.2]},
            "`retention_fractions` must be a list of two or more increasing numbers in [0, 1), the first of "
            "them 0; got [0.1, 0.2].",
        ),
        ({"scale_bins": 0}, "`scale_bins` must be a whole number of at least 1; got 0."),
    ],
)
def test_wrong_use_is_refused(frame, options, sentence):
    with pytest.raises(sr.UsageError, match=f"^{re.escape(sentence)}$"):
        evaluate(frame, **options)


def test_a_cost_matrix_is_for_classes():
    table = pd.DataFrame({"y": [0, 1], "p": [0.2, 0.8]})
    sentence = "`cost_matrix` is for models of several classes: name these in `classes`, or leave it out."
    with pytest.raises(sr.UsageError, match=f"^{re.escape(sentence)}$"):
        sr.evaluate(table, outcome="y", forecasts=["p"], cost_matrix=[[0, 1], [1, 0]])


def test_a_label_that_is_not_a_class_is_refused(frame):
    odd = frame.assign(grade=frame["grade"].where(frame.index != 4, "huge"))
    sentence = "`grade` must hold one of the 4 classes ('low', 'mid', 'high', 'top'); got 'huge'"
    with pytest.raises(sr.DataError, match=f"^{re.escape(sentence)} at row 4"):
        evaluate(odd)


def test_a_model_may_be_named_by_a_number(frame):
    found = evaluate(frame, forecasts={1: [f"a_{label}" for label in CLASSES]})
    assert found.class_models[0].model == "1"


def test_classes_may_have_the_names_of_columns():
    names = ["model", "came", "weight"]
    confusion = evaluate(make_frame(n=30, classes=names), classes=names).confusion
    assert set(confusion["model"]) == {"a", "b"}
    assert set(confusion["came"]) == set(confusion["called"]) == set(names)
    assert confusion["weight"].sum() == 60


# scores and decompositions


def test_means_are_those_of_the_scores(frame):
    found = evaluate(frame).scores
    y, p = arrays(frame, "b")
    label = p.argmax(axis=1)
    for name in ("multiclass_brier", "multiclass_log_loss", "rps", "sa_rps", "multiclass_spherical"):
        assert found.loc["b", name] == pytest.approx(getattr(sr.scores, name)(y, p).mean(), abs=1e-14)
    for name in ("penalized_brier", "penalized_log_loss"):
        assert found.loc["b", name] == pytest.approx(getattr(sr.scores, name)(y, p).mean(), abs=1e-14)
    for name in ("accuracy", "macro_f1", "quadratic_weighted_kappa", "expected_cost"):
        assert found.loc["b", name] == pytest.approx(
            getattr(sr.scores, name)(y, label, n_classes=4), abs=1e-14
        )


def test_skill_is_against_the_class_frequencies(frame):
    found = evaluate(frame)
    y, p = arrays(frame, "a")
    share = np.bincount(y, minlength=4) / len(y)
    constant = np.tile(share, (len(y), 1))
    for name in ("multiclass_brier", "multiclass_log_loss", "rps", "sa_rps", "penalized_brier"):
        score = getattr(sr.scores, name)
        expected = 1 - score(y, p).mean() / score(y, constant).mean()
        assert found.skills.loc["a", name] == pytest.approx(expected, abs=1e-12)
    accuracy = found.scores.loc["a", "accuracy"]
    assert found.skills.loc["a", "accuracy"] == pytest.approx((accuracy - share.max()) / (1 - share.max()))
    naive = sr.scores.naive_expected_cost(y, n_classes=4)
    assert found.skills.loc["a", "expected_cost"] == pytest.approx(
        1 - found.scores.loc["a", "expected_cost"] / naive
    )
    assert np.isnan(found.skills.loc["a", "macro_f1"])


def test_thresholds_sum_to_the_rps_and_classes_to_the_brier_score(frame):
    found = evaluate(frame)
    for result in found.class_models:
        y, p = arrays(frame, result.model)
        share = np.bincount(y, minlength=4) / len(y)
        for family, score in zip(result.families, (sr.scores.multiclass_brier, sr.scores.rps), strict=True):
            total = result.scores.decomposition(family.score)
            parts = [view.scores.decompositions[0] for view in family.views]
            for component in ("score", "miscalibration", "discrimination", "uncertainty"):
                summed = sum(getattr(part, component) for part in parts) / family.divisor
                assert abs(getattr(total, component) - summed) < 1e-12
            assert abs(total.score - score(y, p).mean()) < 1e-12
            assert abs(total.uncertainty - score(y, np.tile(share, (len(y), 1))).mean()) < 1e-12


def test_the_recalibrated_rps_is_that_of_recalibrated_thresholds(frame):
    result = evaluate(frame).class_models[1]
    y, p = arrays(frame, "b")
    below = np.minimum(np.cumsum(p, axis=1), 1)
    losses = [((sr.corp(y <= k, below[:, k]).cep - (y <= k)) ** 2).mean() for k in range(3)]
    assert result.scores.decomposition("rps").recalibrated == pytest.approx(np.mean(losses), abs=1e-12)


def test_two_ordered_classes_are_the_binary_evaluation_up_to_the_stated_factor():
    frame = make_frame(classes=["no", "yes"], models=("a",))
    of_classes = evaluate(frame, forecasts=["a"], classes=["no", "yes"]).class_models[0].scores
    binary = (
        sr.evaluate(frame, outcome="grade", forecasts=["a_yes"], positive="yes", resamples=0).models[0].scores
    )
    brier, rps, k_class = (
        binary.decomposition("brier"),
        of_classes.decomposition("rps"),
        of_classes.decomposition("multiclass_brier"),
    )
    for component in ("score", "miscalibration", "discrimination", "uncertainty"):
        assert getattr(rps, component) == pytest.approx(getattr(brier, component), abs=1e-12)
        assert getattr(k_class, component) == pytest.approx(2 * getattr(brier, component), abs=1e-12)
    assert of_classes.score("multiclass_log_loss").value == pytest.approx(binary.score("log_loss").value)
    assert of_classes.score("rps").skill == pytest.approx(binary.score("brier").skill)
    assert of_classes.score("multiclass_spherical").value == pytest.approx(binary.score("spherical").value)


def test_an_expected_cost_has_the_given_matrix(frame):
    cost = [[0, 1, 2, 3], [5, 0, 1, 2], [9, 5, 0, 1], [20, 9, 5, 0]]
    y, p = arrays(frame, "a")
    found = evaluate(frame, cost_matrix=cost)
    assert found.scores.loc["a", "expected_cost"] == pytest.approx(
        np.mean([cost[i][j] for i, j in zip(y, p.argmax(axis=1), strict=True)])
    )
    best_constant = min(np.mean([cost[i][j] for i in y]) for j in range(4))
    assert found.skills.loc["a", "expected_cost"] == pytest.approx(
        1 - found.scores.loc["a", "expected_cost"] / best_constant
    )


def test_unordered_classes_have_neither_rps_nor_kappa_and_cost_one_for_a_mistake(frame):
    found = evaluate(frame, ordered=False)
    assert found.kind == "multiclass"
    assert not {"rps", "sa_rps", "quadratic_weighted_kappa"} & set(found.scores.columns)
    assert found.scores.loc["a", "expected_cost"] == pytest.approx(1 - found.scores.loc["a", "accuracy"])
    assert [family.kind for family in found.class_models[0].families] == ["class"]


@pytest.mark.sweep
def test_whole_weights_are_repeated_rows(frame):
    small = frame[:60].assign(w=np.arange(60) % 3)
    repeated = small.loc[small.index.repeat(small["w"])]
    weighted, written_out = evaluate(small, weight="w"), evaluate(repeated)
    np.testing.assert_allclose(weighted.scores, written_out.scores, rtol=1e-12)
    np.testing.assert_allclose(
        weighted.decompositions.drop(columns=["model", "measure"]).to_numpy(dtype=float),
        written_out.decompositions.drop(columns=["model", "measure"]).to_numpy(dtype=float),
        atol=1e-13,
    )
    np.testing.assert_allclose(
        weighted.retention["value"].to_numpy(), written_out.retention["value"].to_numpy(), rtol=1e-12
    )


@pytest.mark.sweep
def test_the_order_of_rows_does_not_matter(frame):
    options = {"resamples": 40, "groups": "site", "cluster": "person"}
    first = evaluate(frame[:80], **options)
    shuffled = frame[:80].sample(frac=1, random_state=5)
    again = evaluate(shuffled, **options)
    same = replace(again.data, sha256=first.data.sha256)
    assert json_documents.dump(replace(again, data=same)) == json_documents.dump(first)


# inference


def test_every_score_has_an_interval_and_every_skill_that_is_defined(inferred):
    for result in inferred.class_models:
        for score in result.scores.scores:
            assert score.interval.lower <= score.value <= score.interval.upper
            if score.name != "macro_f1":
                assert score.skill_interval.lower <= score.skill <= score.skill_interval.upper


def test_slopes_of_table_measures_are_their_derivatives():
    table = np.random.default_rng(2).random((4, 4)) * 9 + 1
    for measure in choose_table_measures(ordered=True):
        slope = measure.slope(table)
        for cell in np.ndindex(4, 4):
            step = np.zeros((4, 4))
            step[cell] = 1e-6
            rise = measure.value(table + step) - measure.value(table - step)
            assert slope[cell] == pytest.approx(float(rise) / 2e-6, abs=1e-8)


@pytest.mark.parametrize("name", ["rps", "sa_rps", "multiclass_log_loss", "accuracy", "expected_cost"])
def test_influences_of_skills_are_derivatives(name):
    y, p = arrays(make_frame(n=40, models=("a",)), "a")
    distance = np.abs(np.subtract.outer(range(4), range(4)))
    cost = tuple(map(tuple, (distance + np.diag([0.0, 0.5, 0.1, 0.9])).tolist()))
    measures = choose_mean_measures(4, EvaluationSettings(cost_matrix=cost), ordered=True)
    part = MeanScores(make_class_panel(y, {"a": p}), measures)

    def skill(weight):
        totals = part.values(weight)[None]
        measure = next(m for m in measures if m.name == name)
        mean = totals[0, 4 + measures.index(measure)] / totals[0, :4].sum()
        reference, perfect = measure.reference(totals[:, :4])[0], measure.perfect(totals[:, :4])[0]
        return (reference - mean) / (reference - perfect)

    statistic = next(s for s in part.finish(part.values(np.ones(40))[None]) if s.measure == f"{name} skill")
    influence = statistic.influence() - statistic.influence().mean()
    for row in (0, 7, 31):
        step = np.zeros(40)
        step[row] = 1e-5
        slope = (skill(np.ones(40) + step) - skill(np.ones(40) - step)) / 2e-5
        assert influence[row] / 40 == pytest.approx(slope, rel=2e-3, abs=1e-6)


@pytest.mark.sweep
def test_differences_are_paired_and_agree_with_the_bootstrap():
    found = evaluate(make_frame(n=400), resamples=40)
    by_name = {d.measure: d for d in found.comparisons.differences}
    for name, d in by_name.items():
        if " " not in name:
            assert d.value == pytest.approx(found.scores.loc["a", name] - found.scores.loc["b", name])
    rng = np.random.default_rng(0)
    (y, a), (_, b) = arrays(make_frame(n=400), "a"), arrays(make_frame(n=400), "b")
    for name in ("macro_f1", "quadratic_weighted_kappa"):
        score = getattr(sr.scores, name)
        drawn = []
        for _ in range(400):
            rows = rng.integers(0, 400, 400)
            drawn.append(
                score(y[rows], a[rows].argmax(axis=1), n_classes=4)
                - score(y[rows], b[rows].argmax(axis=1), n_classes=4)
            )
        assert by_name[name].standard_error == pytest.approx(np.std(drawn), rel=0.25, abs=2e-3)


@pytest.mark.sweep
def test_the_joint_test_separates_a_bold_model_from_a_calibrated_one():
    found = evaluate(make_frame(n=600, seed=11, models=("a", "b", "c")), forecasts=["a", "c"], resamples=99)
    honest, bold = found.class_models
    for name in ("rps", "multiclass_brier"):
        assert honest.scores.miscalibration_test(name).p_value > 0.05
        assert bold.scores.miscalibration_test(name).p_value == 0.01
        assert honest.scores.component(name, "miscalibration").lower == 0
        assert bold.scores.component(name, "miscalibration").lower > 0


@pytest.mark.sweep
def test_the_joint_test_keeps_its_level():
    rejected = []
    for seed in range(60):
        y, p = arrays(make_frame(n=40, seed=seed, models=("a",)), "a")
        panel = make_class_panel(y, {"a": p})
        families = make_families(panel, CLASSES, ordered=True)
        tests = examine_class_calibration(panel, families, "a", resamples=39, seed=1)
        rejected.append(tests[1].p_value <= 0.1)
    assert sum(rejected) <= 13  # of 60 at 10 %: more has a probability of about 1 %


def test_the_overfit_of_a_score_is_that_of_its_views(inferred):
    for result in inferred.class_models:
        for family in result.families:
            for component in ("miscalibration", "discrimination"):
                total = result.scores.component(family.score, component)
                parts = [view.scores.component("brier", component) for view in family.views]
                assert total.value == pytest.approx(sum(p.value for p in parts) / family.divisor, abs=1e-12)
                if component == "miscalibration":
                    closed = sum(p.overfit_closed for p in parts) / family.divisor
                    resampled = sum(p.overfit_resampled for p in parts) / family.divisor
                    assert (total.overfit_closed, total.overfit_resampled) == pytest.approx(
                        (closed, resampled)
                    )


def test_recalibrated_thresholds_that_cross_are_counted():
    frame = make_frame(n=60, seed=4, models=("a",))
    frame["a_low"], frame["a_high"] = frame["a_high"].to_numpy(), frame["a_low"].to_numpy()
    y, p = arrays(frame, "a")
    below = np.minimum(np.cumsum(p, axis=1), 1)
    fits = np.column_stack([sr.corp(y <= k, below[:, k]).cep for k in range(3)])
    crossing = int((np.diff(fits, axis=1) < -1e-9).any(axis=1).sum())
    family = evaluate(frame, forecasts=["a"]).class_models[0].family("threshold")
    assert family.crossing == crossing > 0


def test_macro_f1_leaves_out_classes_neither_observed_nor_predicted():
    assert sr.scores.macro_f1([0, 0, 1], [0, 1, 1], n_classes=4) == pytest.approx((2 / 3 + 2 / 3) / 2)


def test_each_difference_states_whether_higher_is_better(inferred):
    better = {d.measure: d.higher_is_better for d in inferred.comparisons.differences if " " not in d.measure}
    gains = {"accuracy", "macro_f1", "quadratic_weighted_kappa"}
    assert {name for name, is_gain in better.items() if is_gain} == gains


def test_few_cases_of_a_class_are_noted_at_the_tests_of_groups(inferred):
    note = "Some group has fewer than 20 cases of a class: the test allows for that and has less power."
    smallest = min(min(group.sample.classes) for group in inferred.groups)
    assert all((note in h.test.note) == (smallest < 20) for h in inferred.heterogeneity)
    assert smallest < 20


@pytest.mark.sweep
def test_groups_are_evaluated_as_if_alone(frame, inferred):
    north = next(group for group in inferred.groups if group.label == "north")
    alone = evaluate(frame[frame["site"] == "north"], resamples=60)
    of_group, of_all = north.models[0], alone.class_models[0].scores
    assert of_group.scores == of_all.scores
    assert of_group.decompositions == of_all.decompositions[1:]
    assert of_group.components == of_all.components[2:]
    assert north.sample.classes == alone.data.sample.classes
    tests = {h.test.name for h in inferred.heterogeneity}
    assert tests == {f"Cochran's Q ({name})" for name in ("multiclass_brier", "multiclass_log_loss", "rps")}


def test_times_make_windows_and_hac_errors(frame):
    found = evaluate(frame, resamples=40, time="day")
    assert [window.label for window in found.windows] == [f"2026-01-0{day}" for day in (1, 2, 3, 4)]
    assert all("HAC" in d.method for d in found.comparisons.differences if " " not in d.measure)


@pytest.mark.sweep
def test_clusters_widen_intervals_of_repeated_cases(frame):
    twice = pd.concat([frame, frame]).assign(case=np.tile(np.arange(len(frame)), 2))
    options = {"resamples": 100, "forecasts": ["a"], "ordered": False}
    naive, clustered = evaluate(twice, **options), evaluate(twice, **options, cluster="case")
    for name in ("multiclass_brier", "macro_f1", "accuracy"):
        widths = [
            (interval := found.class_models[0].scores.score(name).interval).upper - interval.lower
            for found in (naive, clustered)
        ]
        assert widths[1] > 1.1 * widths[0]


def test_documents_are_read_back_to_the_byte(inferred, tmp_path):
    inferred.to_json(tmp_path / "results.json")
    again = sr.Evaluation.from_json(tmp_path / "results.json")
    assert again.to_json() == inferred.to_json()
    assert again.kind == "ordinal"


def test_the_probability_scale_is_computed_if_asked_for(frame):
    asked, plain = evaluate(frame, resamples=0, scale_bins=5), evaluate(frame, resamples=0)
    assert (asked.settings.scale, plain.settings.scale) == (True, False)
    assert len(asked.class_models[0].scale) == 2 * (1 + len(CLASSES))
    assert plain.class_models[0].scale == ()
    assert len(plain.probability_scale) == 0


def test_frames_hold_what_records_hold(inferred):
    views = inferred.views
    assert len(views) == 2 * (4 + 3)
    assert set(views["kind"]) == {"class", "threshold"}
    assert inferred.confusion["weight"].sum() == 2 * 160
    assert len(inferred.murphy) == len(inferred.thresholds) == 0
    assert {"fraction", "value", "lower", "upper"} <= set(inferred.retention.columns)
    assert set(inferred.probability_scale["mark"]) == {"decisiveness", "accuracy", "robustness"}
    assert "share" in set(inferred.intervals["number"])


# odd cases


def test_a_class_never_observed_is_kept(frame):
    rare = frame[frame["grade"] != "top"]
    found = evaluate(rare, resamples=40)
    assert found.data.classes.counts[3].share == 0
    top = found.class_models[0].families[0].views[3]
    assert top.sample.events == 0
    assert top.scores.decompositions[0].uncertainty == 0
    assert np.isfinite(found.scores.to_numpy(dtype=float)).all()
    assert "One class was never observed (top); forecasts of it are scored." in found.notes


def test_one_class_alone_leaves_skill_undefined(frame):
    found = evaluate(frame[frame["grade"] == "mid"], resamples=40)
    of_constants = found.skills.drop(columns=["macro_f1", "quadratic_weighted_kappa"])
    assert of_constants.isna().all(axis=None)
    assert "All cases are of one class: skill is not defined." in found.notes


def test_ties_decide_for_the_first_class_and_are_noted():
    tied = pd.DataFrame({"grade": ["x", "y"], "m_x": [0.4, 0.4], "m_y": [0.4, 0.4], "m_z": [0.2, 0.2]})
    found = sr.evaluate(tied, outcome="grade", forecasts=["m"], classes=["x", "y", "z"], resamples=0)
    assert found.confusion["weight"].to_list() == [1, 0, 0, 1, 0, 0, 0, 0, 0]
    assert any("in 2 cases several classes share the highest probability" in note for note in found.notes)


def test_probabilities_of_zero_and_one_stay_what_they_are():
    sure = pd.DataFrame(
        {"k": ["x", "y", "z", "x"], "m_x": [1, 0, 0, 0], "m_y": [0, 1, 0, 1], "m_z": [0, 0, 1, 0]}
    )
    found = sr.evaluate(
        sure, outcome="k", forecasts=["m"], classes=["x", "y", "z"], ordered=True, resamples=40
    )
    scores = found.scores.loc["m"]
    assert np.isinf(scores["multiclass_log_loss"])
    assert scores["multiclass_brier"] == 2 / 4
    assert scores["rps"] == 1 / 2 / 4
    assert any("in 1 case the forecast of the observed class was 0 (row 3)" in note for note in found.notes)


@pytest.mark.sweep
def test_fifty_classes():
    classes = [f"c{k}" for k in range(50)]
    found = evaluate(make_frame(n=120, classes=classes, models=("a",)), classes=classes, forecasts=["a"])
    total = found.class_models[0].scores.decomposition("rps")
    parts = [view.scores.decompositions[0].miscalibration for view in found.class_models[0].families[1].views]
    assert len(parts) == 49
    assert abs(total.miscalibration - sum(parts) / 49) < 1e-12


def test_one_row():
    found = evaluate(make_frame(n=1), resamples=40)
    assert np.isfinite(found.scores.loc["a", "rps"])
    assert np.isnan(found.class_models[0].scores.score("rps").interval.lower)


def test_sums_that_exceed_one_by_rounding_are_accepted():
    p = np.array([[0.1, 0.2, 0.7 + 5e-7], [0.7 + 5e-7, 0.3, 0.0], [0.3, 0.7 + 9e-7, 0.0]])
    panel = make_class_panel([0, 1, 2], {"m": p})
    table = pd.DataFrame(p, columns=["m_x", "m_y", "m_z"]).assign(k=["x", "y", "z"])
    found = sr.evaluate(
        table, outcome="k", forecasts=["m"], classes=["x", "y", "z"], ordered=True, resamples=40
    )
    result = found.class_models[0].scores
    assert abs(result.decomposition("rps").score - result.score("rps").value) < 1e-12
    assert confusion_table(panel.outcome, panel.labels["m"], 3, None).sum() == 3
