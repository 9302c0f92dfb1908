"""`Evaluation.summary`, `findings` and `verdicts`: the report's main results in Python."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from object_tools import evaluate_grades, evaluate_loans
from report_tools import TIME, words_of

import scorereport as sr
from scorereport.configuration import parse_configuration
from scorereport.configuration.judgement import judge
from scorereport.errors import UsageError
from scorereport.report.findings import list_report_findings
from scorereport.report.provenance import Provenance
from scorereport.report.report_record import build_report

# ---- summary() ----


def test_the_summary_has_a_row_for_each_binary_model():
    evaluation = evaluate_loans()
    frame = evaluation.summary()
    assert list(frame.index) == ["logit", "steep"]
    assert frame.index.name == "model"
    assert list(frame.columns) == [
        *("n", "events", "brier", "brier_lower", "brier_upper", "skill", "skill_lower", "skill_upper"),
        *("miscalibration", "discrimination", "uncertainty", "miscalibration_p_value"),
        *("roc_auc", "roc_auc_lower", "roc_auc_upper", "calibration_slope", "calibration_intercept"),
    ]
    for result in evaluation.models:
        row, score = frame.loc[result.model], result.scores.score("brier")
        area, parts = result.scores.score("roc_auc"), result.scores.decomposition("brier")
        assert (row["n"], row["events"]) == (320, evaluation.data.sample.events)
        assert tuple(row[["brier", "brier_lower", "brier_upper"]]) == (
            score.value,
            score.interval.lower,
            score.interval.upper,
        )
        assert (row["skill"], row["skill_lower"]) == (score.skill, score.skill_interval.lower)
        assert row["miscalibration"] - row["discrimination"] + row["uncertainty"] == pytest.approx(
            row["brier"]
        )
        assert row["discrimination"] == parts.discrimination
        assert (row["roc_auc"], row["roc_auc_upper"]) == (area.value, area.interval.upper)
        assert row["miscalibration_p_value"] == result.scores.miscalibration_test("brier").p_value
        assert row["calibration_slope"] == result.calibration.line.slope.value
        assert row["calibration_intercept"] == result.calibration.line.intercept.value


def test_the_summary_of_classes_has_their_main_score_and_accuracy():
    evaluation = evaluate_grades()
    row = evaluation.summary().loc["clinic"]
    scores = evaluation.class_models[0].scores
    assert row["classes"] == 3
    assert row["rps"] == scores.score("rps").value
    assert row["rps_upper"] == scores.score("rps").interval.upper
    assert row["accuracy"] == scores.score("accuracy").value
    assert row["miscalibration_p_value"] == scores.miscalibration_test("rps").p_value
    assert "events" not in row.index
    assert "calibration_slope" not in row.index


def test_without_intervals_the_summary_has_the_same_columns():
    plain = evaluate_loans(resamples=0).summary()
    assert list(plain.columns) == list(evaluate_loans().summary().columns)
    lacking = ["brier_lower", "skill_upper", "roc_auc_lower", "miscalibration_p_value", "calibration_slope"]
    assert plain[lacking].isna().all(axis=None)
    assert plain[["brier", "skill", "roc_auc"]].notna().all(axis=None)


def test_unordered_classes_are_summarized_by_their_brier_score():
    p = np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7], [0.5, 0.25, 0.25]])
    frame = pd.DataFrame(p, columns=["m_a", "m_b", "m_c"]).assign(k=list("abcb"))
    evaluation = sr.evaluate(frame, outcome="k", forecasts=["m"], classes=list("abc"), resamples=0)
    assert evaluation.summary().loc["m", "multiclass_brier"] == evaluation.scores.loc["m", "multiclass_brier"]


# ---- findings ----


@pytest.mark.parametrize("make", [evaluate_loans, evaluate_grades, lambda: evaluate_loans(resamples=0)])
def test_findings_are_the_sentences_of_the_report(make):
    evaluation = make()
    report = build_report(evaluation, Provenance(time=TIME))
    assert evaluation.findings == tuple(finding.text for finding in list_report_findings(report))
    assert len(evaluation.findings) >= 2


def test_the_report_prints_the_findings(tmp_path):
    evaluation = evaluate_grades()
    page = sr.write_report(evaluation, tmp_path / "report.html").read_text(encoding="utf-8")
    text = words_of(page)
    places = [text.find(sentence) for sentence in evaluation.findings]
    assert min(places) > 0
    assert places == sorted(places)


def test_findings_of_a_document_that_was_read_are_the_same(tmp_path):
    evaluate_loans().to_json(tmp_path / "results.json")
    assert sr.Evaluation.from_json(tmp_path / "results.json").findings == evaluate_loans().findings


# ---- verdicts() ----

LIMITS = {
    "brier": {"warn": 0.15, "fail": 0.25},
    "calibration_slope": {"min": 0.5, "max": 1.5},
    "roc_auc": 0.6,
    "models": ["logit"],
    "groups": True,
    "set_by": "Risk",
}
TOML = """
[limits]
brier = {warn = 0.15, fail = 0.25}
calibration_slope = {min = 0.5, max = 1.5}
roc_auc = 0.6
models = ["logit"]
groups = true
set_by = "Risk"
"""


def test_verdicts_are_those_of_the_same_limits_in_a_file(tmp_path):
    evaluation = evaluate_loans()
    expected = judge(evaluation, parse_configuration(TOML).limits)
    file = tmp_path / "limits.toml"
    file.write_text(TOML)
    found = evaluation.verdicts(LIMITS)
    for frame in (found, evaluation.verdicts(file), evaluation.verdicts(str(file))):
        pd.testing.assert_frame_equal(frame, found)
    assert found["sentence"].tolist() == [judgement.sentence for judgement in expected]
    assert found["verdict"].tolist() == [str(judgement.verdict) for judgement in expected]
    assert list(found.columns) == [
        *("measure", "label", "model", "group", "value", "lower", "upper", "level"),
        *("warn_lower", "warn_upper", "fail_lower", "fail_upper", "verdict", "sentence"),
        *("more_cases", "more_cases_likely", "more_days"),
    ]


def test_a_row_of_verdicts_has_the_number_and_its_limits():
    evaluation = evaluate_loans()
    row = evaluation.verdicts({"brier": {"warn": 0.01, "fail": 0.9}}).iloc[0]
    score = evaluation.models[0].scores.score("brier")
    assert (row["measure"], row["model"], row["group"]) == ("brier", "logit", "")
    assert (row["value"], row["lower"], row["upper"]) == (
        score.value,
        score.interval.lower,
        score.interval.upper,
    )
    assert (row["warn_upper"], row["fail_upper"], row["verdict"]) == (0.01, 0.9, "warn")
    assert math.isnan(row["fail_lower"])
    assert type(row["verdict"]) is str


def test_no_limits_give_an_empty_table_with_all_columns():
    frame = evaluate_loans().verdicts({})
    assert len(frame) == 0
    assert list(frame.columns) == list(evaluate_loans().verdicts(LIMITS).columns)
    assert frame["value"].dtype == np.float64


def test_limits_may_have_numbers_of_numpy_tuples_and_short_names():
    evaluation = evaluate_loans()
    plain = evaluation.verdicts({"brier": 0.25, "models": ["steep"]})
    of_numpy = evaluation.verdicts({"brier": {"fail": np.float64(0.25)}, "models": ("steep",)})
    pd.testing.assert_frame_equal(plain, of_numpy)
    assert evaluation.verdicts({"brier": np.int64(1)})["verdict"].tolist() == ["pass", "pass"]
    assert evaluation.verdicts({"gini": 0.1})["measure"].tolist() == ["roc_auc_skill"] * 2


def test_classes_are_judged_by_class():
    limit = {"of_class": "low", "fail": 0.9}
    frame = evaluate_grades().verdicts({"rps": 0.9, "class_brier": [limit, {**limit, "of_class": "high"}]})
    assert len(frame) == 3
    assert "low" in frame["sentence"][1]
    assert set(frame["verdict"]) == {"pass"}


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"brier_score": 0.2}, "limits: `limits.brier_score` is not known; did you mean `brier`?"),
        ({"brier": {"max": 0.2}}, "limits: `limits.brier.max` is not known; its keys are `warn`, `fail`."),
        ({"brier": {"warn": 0.3, "fail": 0.2}}, None),
        ({"brier": "low"}, None),
        ({"groups": 1}, "limits: `limits.groups` must be true or false; got 1."),
        (
            {"rps": 0.2},
            "limits: `limits.rps` is for models of several classes, and `evaluation.classes` names none: "
            "did you mean `limits.brier`?",
        ),
        (
            {"brier": 0.2, "models": ["logti"]},
            "limits: `limits.models` names a model that is not evaluated: 'logti'; did you mean `logit`?",
        ),
    ],
)
def test_mistakes_in_limits_have_the_message_of_the_file(limits, message, tmp_path):
    evaluation = evaluate_loans()
    with pytest.raises(UsageError) as caught:
        evaluation.verdicts(limits)
    file = tmp_path / "limits"
    file.write_text(f"limits = {as_toml(limits)}")
    with pytest.raises(UsageError) as of_file:
        evaluation.verdicts(file)
    assert str(caught.value) == str(of_file.value)
    assert message is None or str(caught.value) == message


def as_toml(value):
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key} = {as_toml(item)}' for key, item in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(as_toml, value))}]"
    return f'"{value}"' if isinstance(value, str) else str(value)


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ([0.2], "`limits` must be a dictionary, or the path of a TOML configuration; got [0.2]."),
        (None, "`limits` must be a dictionary, or the path of a TOML configuration; got None."),
        (
            {"brier": None},
            "limits: `limits.brier` must be text, a number, a date, true, false, a list or a table; "
            "got None. To fix: leave the key out.",
        ),
        ({"brier": {"fail": {1}}}, "limits: `limits.brier.fail` must be a number; got [1]."),
        ("absent.toml", "There is no configuration 'absent.toml'."),
    ],
)
def test_limits_of_another_kind_are_refused(limits, message):
    with pytest.raises(UsageError) as caught:
        evaluate_loans().verdicts(limits)
    assert str(caught.value) == message


def test_a_configuration_of_another_evaluation_is_refused(tmp_path):
    file = tmp_path / "other.toml"
    file.write_text("[evaluation]\nlevel = 0.8\n[limits]\nbrier = 0.2\n")
    with pytest.raises(UsageError, match=r"`evaluation.level` is 0.8, and the evaluation was made with 0.95"):
        evaluate_loans().verdicts(file)


# ---- Nothing slow ----


def test_representations_do_not_load_pandas_or_matplotlib():
    code = (
        "import sys, scorereport as sr\n"
        "fit = sr.corp([0, 1, 0, 1], [0.1, 0.6, 0.4, 0.8])\n"
        "repr(fit), fit._repr_html_(), repr(fit.decompose()), repr(fit.band(method='discrete'))\n"
        "print([name for name in ('pandas', 'matplotlib', 'jinja2', 'pydantic') if name in sys.modules])"
    )
    folder = Path(sr.__file__).parents[1]
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=folder)
    assert run.stdout == "[]\n"


def test_a_model_without_its_main_score_is_represented():
    """As in a document that another program wrote."""
    evaluation = evaluate_loans(resamples=0)
    model = evaluation.models[0]
    empty = replace(evaluation, models=(replace(model, scores=replace(model.scores, scores=())),))
    assert "Evaluation object at" in repr(empty)
