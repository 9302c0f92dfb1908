"""Limits on numbers that are not scores: at a threshold, of a class, by grade, and against a reference."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import scorereport as sr
from scorereport.configuration import (
    MEASURES,
    check_arguments,
    check_configuration,
    configuration_schema,
    parse_configuration,
)
from scorereport.configuration.judgement import judge
from scorereport.configuration.limit_names import SHORTHANDS
from scorereport.configuration.limit_records import LimitArgument
from scorereport.configuration.measure_limits import find_measure, known_measure
from scorereport.curves import roc_curve
from scorereport.errors import UsageError
from scorereport.evaluation.decision_thresholds import choose_thresholds


def make_rows(n=300, seed=3):
    rng = np.random.default_rng(seed)
    p = rng.random(n).round(2).clip(0.01, 0.99)
    grade = np.where(p < 0.3, "A", np.where(p < 0.6, "B", "C"))
    return pd.DataFrame({"y": rng.random(n) < p, "m": p, "low": p / 2, "grade": grade})


@pytest.fixture(scope="module")
def rows():
    return make_rows()


@pytest.fixture(scope="module")
def evaluation(rows):
    """With intervals and grades; the threshold 0.15 is one of a limit."""
    settings = read("sensitivity = {at = 0.15, fail = 0.1}").settings
    return sr.evaluate(rows, outcome="y", forecasts=["m", "low"], grade="grade", resamples=20, **settings)


@pytest.fixture(scope="module")
def bare(rows):
    return sr.evaluate(rows, outcome="y", forecasts=["m", "low"], resamples=0)


def read(limits, evaluation=""):
    return parse_configuration(f"[evaluation]\n{evaluation}\n[limits]\n{limits}", "c.toml")


def judge_by(evaluation, text):
    return judge(evaluation, read(text).limits)


def refuse(text, evaluation=""):
    with pytest.raises(UsageError) as caught:
        read(text, evaluation)
    return str(caught.value).removeprefix("c.toml: ")


EXAMPLE = "such as { at = 0.1, fail = 0.5 }"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sensitivity = 0.6", f"`limits.sensitivity` must be a table, or a list of tables, of `at`, "
         f"`warn`, `fail`, "
         f"{EXAMPLE}; got 0.6."),
        ("sensitivity = {fail = 0.6}", f"`limits.sensitivity` must have `at`, the threshold of the "
         f"decisions, "
         f"{EXAMPLE}."),
        ("sensitivity = {at = 1.2, fail = 0.6}", "`limits.sensitivity.at` must lie in (0, 1); got 1.2."),
        ("sensitivity = {at = 0, fail = 0.6}", "`limits.sensitivity.at` must lie in (0, 1); got 0."),
        ("sensitivity = {at = 'x', fail = 0.6}", "`limits.sensitivity.at` must be a number; got 'x'."),
        ("sensitivity = [{at = 0.1, fail = 0.6}, {at = 0.1, warn = 0.7}]",
         "`limits.sensitivity.at` must differ; got 0.1 2 times."),
        ("sensitivity = []", "`limits.sensitivity` must have a table such as { at = 0.1, fail = 0.5 }; "
         "got an empty list."),
        ("sensitivity = {at = 0.1}", "`limits.sensitivity` must have one of `warn`, `fail`; got an "
         "empty table."),
        ("sensitivity = {at = 0.1, fail = 60}",
         "`limits.sensitivity.fail` must lie in [0, 1], the range of this measure; got 60."),
        ("sensitivity = {at = 0.1, fail = 0.6, warn = 0.5}", "`limits.sensitivity.warn` must not be below "
         "`limits.sensitivity.fail`, because higher is better; got 0.5 and 0.6."),
        ("brier = {at = 0.1, fail = 0.2}", "`limits.brier.at` is not known; its keys are `warn`, `fail`."),
        ("flagged = {at = 0.1, min = 0.2, of_class = 'a'}", "`limits.flagged.of_class` is not known; "
         "its keys are "
         "`at`, `min`, `max`, `warn_min`, `warn_max`."),
        ("precision = {fail = 0.3}", f"`limits.precision` must have `at`, the threshold of the decisions, "
         f"{EXAMPLE}."),
        ("gini = 0.4\naccuracy_ratio = 0.5", "`limits.gini` is the same as `limits.accuracy_ratio`, "
         "which is set "
         "as well; remove one of them."),
        ("class_share = {min = 0.1}", '`limits.class_share` must have `of_class`, the class, such as '
         '{ of_class = "high", min = 0.5 }.'),
    ],
)  # fmt: skip
def test_limits_at_a_threshold_or_of_a_class_are_checked(text, message):
    assert refuse(text) == message


def test_several_limits_on_one_measure_are_judged_at_their_thresholds(evaluation):
    text = "[[limits.sensitivity]]\nat = 0.15\nfail = 0.1\n[[limits.sensitivity]]\nat = 0.5\nfail = 0.99"
    limits = parse_configuration(text).limits
    found = {(j.measure, j.model): j for j in judge(evaluation, limits)}
    assert [name for name, model in found if model == "m"] == ["sensitivity_at_0.15", "sensitivity_at_0.5"]
    table = evaluation.thresholds.set_index(["model", "threshold"])
    for (name, model), judgement in found.items():
        row = table.loc[model, float(name.removeprefix("sensitivity_at_"))]
        assert judgement.value == row.sensitivity
        assert (judgement.lower, judgement.upper) == (row.sensitivity_lower, row.sensitivity_upper)
        assert judgement.label == name.replace("_", " ")
        assert known_measure(name).label == judgement.label
    assert found["sensitivity_at_0.5", "low"].verdict == "fail"
    assert found["sensitivity_at_0.15", "m"].sentence.startswith("Sensitivity at 0.15 of m: 9")


def test_the_gain_over_acting_on_all_is_that_of_the_table(evaluation):
    for judgement in judge_by(evaluation, "net_benefit_gain = {at = 0.3, fail = -1}"):
        row = next(
            row
            for model in evaluation.models
            if model.model == judgement.model
            for row in model.thresholds
            if row.threshold == 0.3
        )
        assert judgement.value == pytest.approx(row.interval("net_benefit_over_treat_all").value, abs=1e-12)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("", (*choose_thresholds(None), 0.15)),
        ("thresholds = [0.2]", (0.15, 0.2)),
        ("cost_interval = [0.1, 0.2]", None),
        ("cost_interval = [0.2, 0.3]", (0.15, *choose_thresholds((0.2, 0.3)))),
    ],
)
def test_thresholds_of_limits_are_added_to_those_of_the_evaluation(keys, expected):
    configuration = read("ppv = {at = 0.15, fail = 0.1}", keys)
    found = configuration.arguments.get("thresholds")
    assert found == (None if expected is None else tuple(sorted(expected)))
    assert configuration.settings.get("thresholds") == found


def test_thresholds_that_an_evaluation_has_anyway_leave_its_settings_alone():
    assert read("sensitivity = {at = 0.3, fail = 0.1}").arguments == {}
    assert read("brier = 0.2").settings == {}
    configuration = read("ppv = {at = 0.3, fail = 0.1}", "thresholds = [0.3, 0.4]")
    assert configuration.settings == {"thresholds": (0.3, 0.4)}


def test_a_threshold_that_the_evaluation_lacks_is_refused(evaluation, bare):
    configuration = read("recall = {at = 0.15, fail = 0.1}")
    check_configuration(configuration, evaluation)
    message = (
        "c.toml: `limits.recall` applies at 0.15, and the evaluation has no decisions at this "
        "threshold: add it "
        "to `evaluation.thresholds`, or give --threshold, and evaluate again."
    )
    with pytest.raises(UsageError) as caught:
        check_configuration(configuration, bare)
    assert str(caught.value) == message
    check_arguments(configuration, {"forecasts": ["m"], **configuration.arguments})
    with pytest.raises(UsageError) as caught:
        check_arguments(configuration, {"forecasts": ["m"], "thresholds": [0.2]})
    assert str(caught.value) == message


def test_gini_is_the_skill_in_the_auc_under_its_own_name(evaluation):
    judgements = {name: judge_by(evaluation, f"{name} = 0.4") for name in ("gini", "roc_auc_skill")}
    for gini, skill in zip(*judgements.values(), strict=True):
        assert gini.sentence == skill.sentence.replace("Skill in the AUC", "Gini coefficient")
        assert replace(gini, label="", sentence="") == replace(skill, label="", sentence="")
        auc = next(m for m in evaluation.models if m.model == gini.model).scores.score("roc_auc").value
        assert gini.value == pytest.approx(2 * auc - 1)


def test_every_shorthand_stands_for_a_measure():
    assert set(SHORTHANDS.values()) <= set(MEASURES)
    assert not set(SHORTHANDS) & set(MEASURES)


def test_ks_is_the_largest_distance_of_two_distributions(evaluation, rows):
    for judgement in judge_by(evaluation, "ks = 0.3"):
        curve = roc_curve(sr.corp(rows.y, rows[judgement.model]))
        assert judgement.value == pytest.approx((curve.tpr - curve.fpr).max(), abs=1e-12)
        assert 0 < judgement.lower < judgement.value < judgement.upper < 1


def with_grades(evaluation, *tests):
    """The evaluation with its first model alone, and with these tests by grade."""
    model = evaluation.models[0]
    return replace(evaluation, models=(replace(model, calibration=replace(model.calibration, grades=tests)),))


def test_shares_of_red_grades_are_judged_without_an_interval(evaluation):
    green, red = sr.inference.grade_test(90, 9, 0.1), sr.inference.grade_test(10, 9, 0.1)
    assert (green.light, red.light) == ("green", "red")
    judged = with_grades(evaluation, green, red, red, green)
    grades, cases = judge_by(judged, "red_grades = {warn = 0, fail = 0.4}\nred_grade_cases = 0.1")
    assert (grades.value, grades.verdict, cases.value, cases.verdict) == (0.5, "fail", 0.1, "pass")
    assert math.isnan(grades.lower)
    assert grades.sentence == (
        "Share of red grades of m: 50.0 %, judged without an interval, lies above the limit 40.0 %."
    )
    for judgement in judge_by(with_grades(evaluation, green), "red_grades = 0\nred_grade_cases = 0"):
        assert (judgement.value, judgement.verdict) == (0, "pass")


@pytest.mark.parametrize(
    ("text", "arguments", "ending"),
    [
        ("ici = 0.1", {"resamples": 0}, "needs the calibration errors, which are not computed where "
         "`evaluation.resamples` is 0: set it to 1000, or remove the limit."),
        ("emax = 0.1", {"engine": "duckdb"}, "needs the rows in memory: set `evaluation.engine` to "
         "\"memory\" or "
         "\"auto\", or remove the limit."),
        ("red_grades = 0.1", {}, "needs tests by grade, and the evaluation has none: name the column in "
         "`evaluation.grade` (weights must be frequencies), or remove the limit."),
        ("red_grades = 0.1", {"grade": "g", "weight": "w"}, "needs tests by grade, and the evaluation "
         "has none: "
         "name the column in `evaluation.grade` (weights must be frequencies), or remove the limit."),
        ("psi = 0.1", {}, "needs a reference sample, and the evaluation has none: name it in "
         "`data.reference`, or remove the limit."),
        ("class_share = {of_class = 'a', min = 0.1}", {}, "is for models of several classes, and "
         "`evaluation.classes` names none: remove the limit."),
        ("sensitivity = {at = 0.1, fail = 0.1}", {"classes": ["a", "b"]}, "is for binary models, and "
         "these have "
         "several classes: remove the limit."),
    ],
)  # fmt: skip
def test_limits_that_the_evaluation_cannot_judge_are_refused_before_it(text, arguments, ending):
    name = text.partition(" ")[0]
    with pytest.raises(UsageError) as caught:
        check_arguments(read(text), {"forecasts": ["m"], **arguments})
    assert str(caught.value) == f"c.toml: `limits.{name}` {ending}"


def test_limits_that_have_what_they_need_are_accepted():
    arguments = {
        "forecasts": ["m"],
        "grade": "g",
        "weight": "w",
        "weight_kind": "frequency",
        "reference": "r",
    }
    check_arguments(read("red_grades = 0.1\npsi = 0.1\nici = 0.1"), arguments)


@pytest.mark.parametrize(
    ("key", "label", "ending"),
    [
        ("of_class", "hihg", "must be a class; got 'hihg'; did you mean `high`?"),
        ("of_class", "top", "must be a class; got 'top'; classes are low, mid, high."),
        ("up_to", "high", "must be a class below a threshold; got 'high'; classes are low, mid."),
    ],
)
def test_a_limit_must_name_a_class(key, label, ending):
    name = "class_brier" if key == "of_class" else "threshold_brier"
    arguments = {"forecasts": ["m"], "classes": ["low", "mid", "high"], "ordered": True}
    with pytest.raises(UsageError) as caught:
        check_arguments(read(f"{name} = {{{key} = {label!r}, fail = 0.2}}"), arguments)
    assert str(caught.value) == f"c.toml: `limits.{name}.{key}` {ending}"
    check_arguments(read(f"{name} = {{{key} = 'low', fail = 0.2}}"), arguments)


def test_a_class_may_be_a_whole_number():
    (limit,) = read("class_share = {of_class = 2, min = 0.1}").limits.listed["class_share"]
    assert limit.of_class == "2"


def make_few(n, events):
    """Rows with few events, all of them above 0.5."""
    y = np.arange(n) < events
    return pd.DataFrame({"y": y, "m": np.where(y, 0.8, 0.1)})


def test_few_events_are_judged_by_an_exact_bound():
    few = sr.evaluate(make_few(60, 6), outcome="y", forecasts=["m"], resamples=0)
    text = (
        "sensitivity = [{at = 0.5, fail = 0.5}, {at = 0.4, fail = 0.7}]\nspecificity = {at = 0.5, fail = 0.9}"
    )
    found = {j.measure: j for j in judge_by(few, text)}
    assert found["sensitivity_at_0.5"].verdict == "pass"  # 0.025^(1/6) = 0.541
    assert found["sensitivity_at_0.5"].sentence == (
        "Sensitivity at 0.5 of m: 100.0 %. Only 6 events: with fewer than 10, a limit is judged by an "
        "exact bound "
        "only, and [54.1, 100.0] % lies above the limit 50.0 %."
    )
    assert found["sensitivity_at_0.4"].verdict == "inconclusive"
    assert found["specificity_at_0.5"].verdict == "pass"
    assert "Only" not in found["specificity_at_0.5"].sentence


def test_predictive_values_count_the_cases_on_their_side_of_the_threshold():
    few = sr.evaluate(make_few(60, 6), outcome="y", forecasts=["m"], resamples=0)
    (ppv,) = judge_by(few, "ppv = {at = 0.5, fail = 0.7}")
    assert ppv.verdict == "inconclusive"
    assert "Only 6 cases at or above the threshold: with fewer than 10" in ppv.sentence
    (npv,) = judge_by(few, "npv = {at = 0.5, fail = 0.7}")
    assert npv.verdict == "pass"
    (none,) = judge_by(few, "ppv = {at = 0.9, fail = 0.7}")
    assert none.verdict == "inconclusive"
    assert none.sentence.startswith("Positive predictive value at 0.9 of m is not defined")


@pytest.mark.sweep
def test_numbers_that_need_rows_are_inconclusive_with_an_engine_that_keeps_none(rows):
    frame = sr.evaluate(rows, outcome="y", forecasts=["m"], engine="duckdb", resamples=40)
    text = "ici = 0.1\nks = 0.1\nsensitivity = {at = 0.5, fail = 0.1}\nscale_angle = {min = 1}"
    found = {j.measure: j for j in judge_by(frame, text)}
    assert found["ici"].verdict == found["scale_angle"].verdict == "inconclusive"
    assert found["ici"].sentence == (
        "ICI of m is not defined and cannot be judged: it needs the rows in memory, and the engine "
        "'duckdb' does "
        "not keep them."
    )
    in_memory = {j.measure: j for j in judge_by(sr.evaluate(
        rows, outcome="y", forecasts=["m"], resamples=40), text)}  # fmt: skip
    for name in ("ks", "sensitivity_at_0.5"):
        assert found[name].value == in_memory[name].value
        assert found[name].lower == pytest.approx(in_memory[name].lower, abs=1e-9)


@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_is_found_by_the_name_in_a_judgement(name):
    measure = MEASURES[name]
    assert find_measure(name) is measure
    if measure.argument is not None:
        at = 0.125 if measure.argument is LimitArgument.AT else "a b_of_c"
        assert find_measure(measure.at_argument(at).name) == measure.at_argument(at)


def test_unknown_measures_are_not_found():
    assert find_measure("sensitivity_at_x") is None
    assert find_measure("lift") is None
    with pytest.raises(KeyError):
        known_measure("lift")


def test_the_schema_has_every_measure_with_its_keys():
    schema = configuration_schema()
    limits = schema["$defs"]["LimitsTable"]["properties"]
    assert {*MEASURES, *SHORTHANDS} < set(limits)
    assert not {"one_sided", "two_sided", "listed", "written"} & set(limits)
    table = schema["$defs"]["OneSidedLimitAt"]
    assert (list(table["properties"]), table["required"]) == (["at", "warn", "fail"], ["at"])
    assert limits["sensitivity"]["anyOf"][0] == {"$ref": "#/$defs/OneSidedLimitAt"}
