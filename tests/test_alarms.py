"""Alarms that no limit asks for, on data made to raise each of them, and the order of findings."""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

import scorereport as sr
from scorereport.configuration.judgement import DEPENDENCE_CAUTION
from scorereport.configuration.limit_verdicts import LimitVerdict
from scorereport.inference.estimates import Estimate
from scorereport.report.alarms import _is_inverted, raise_alarms
from scorereport.report.calibration_decision import CalibrationDecision
from scorereport.report.finding_records import Consequence, Finding, sort_findings
from scorereport.report.findings import _rate_calibration
from scorereport.results.model_records import ScoreValue

ROWS = 600
#: Forecasts and outcomes that agree with them, without a draw: of each ten rows in order, the right share.
P = np.linspace(0.02, 0.98, ROWS)
Y = ((np.arange(ROWS) * 0.61803398875) % 1 < P).astype(int)


def alarms_of(*arguments, **keywords):
    """The alarms by their consequence."""
    found = list(raise_alarms(sr.evaluate(*arguments, **{"resamples": 200, **keywords})))
    assert all(finding.tone in ("bad", "open") for finding in found)
    return {finding.consequence: finding.text for finding in found}


def make_classes(rows=ROWS):
    """Probabilities of three classes, and classes that agree with them."""
    low = np.linspace(0.05, 0.8, rows)
    forecasts = np.column_stack([low, 0.6 * (1 - low), 0.4 * (1 - low)])
    draws = (np.arange(rows) * 0.7548776662) % 1
    return (draws[:, None] > forecasts.cumsum(axis=1)).sum(axis=1).clip(max=2), forecasts


def test_good_data_raise_no_alarm():
    assert alarms_of(Y, {"m": P}) == {}
    outcome, forecasts = make_classes()
    assert alarms_of(outcome, {"m": forecasts}, classes=[0, 1, 2]) == {}


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_swapped_class_is_an_inverted_ranking_and_worse_than_no_model(engine, tmp_path):
    path = tmp_path / "p.parquet"
    pd.DataFrame({"y": Y, "m": 1 - P}).to_parquet(path)
    extra = {"resamples": 200} if engine == "memory" else {"resamples": None}
    found = alarms_of(path, outcome="y", forecasts=["m"], engine=engine, **extra)
    assert list(found) == [Consequence.INVERTED_RANKING, Consequence.WORSE_THAN_NO_MODEL]
    ranking, skill = found.values()
    assert ranking.startswith("m: the ranking is inverted, AUC 0.")
    assert ranking.endswith("]: are probability and class swapped?")
    assert skill.startswith("m is worse than no model: its skill in the Brier score, compared with always ")
    assert skill.endswith("] %.")


def test_what_an_alarm_states_is_not_repeated_and_an_inverted_model_is_not_recalibrated():
    findings = sr.evaluate(Y, {"m": 1 - P}, resamples=200).findings
    assert sum("skill" in finding for finding in findings) == 1
    assert sum("AUC" in finding for finding in findings) == 1
    assert not any("Recalibration" in finding for finding in findings)
    both = sr.evaluate(Y, {"m": 1 - P, "good": P}, resamples=200).findings
    (area,) = [finding for finding in both if finding.startswith("AUC")]
    assert "good 0." in area
    assert " m 0." not in area


def test_without_intervals_nothing_is_shown_to_be_inverted():
    assert alarms_of(Y, {"m": 1 - P}, resamples=0) == {}


def test_an_interval_of_one_view_allows_for_the_number_of_views():
    interval = Estimate(
        measure="roc_auc",
        value=0.45,
        standard_error=0.02,
        lower=0.41,
        upper=0.49,
        level=0.95,
        method="",
        n=600,
    )
    area = ScoreValue(name="roc_auc", value=0.45, skill=-0.1, interval=interval)
    assert [_is_inverted(area, tests=tests) for tests in (1, 2, 7)] == [True, True, False]


def test_no_ranking_is_not_an_inverted_one():
    alternating = np.where(np.arange(ROWS) % 2, 0.4, 0.6)
    assert Consequence.INVERTED_RANKING not in alarms_of(np.repeat([0, 1], ROWS // 2), {"m": alternating})


def test_swapped_classes_name_their_views():
    outcome, forecasts = make_classes()
    found = alarms_of(outcome, {"m": forecasts[:, [1, 0, 2]]}, classes=[0, 1, 2])
    assert found[Consequence.INVERTED_RANKING].startswith("m: the ranking is inverted, AUC “0” 0.")
    assert "always forecasting the class frequencies" in found[Consequence.WORSE_THAN_NO_MODEL]


@pytest.mark.parametrize(
    ("events", "sentence"),
    [
        (0, "There are no events in 500 cases: AUC and skill are not defined."),
        (13, "Only 13 events in 500 cases: with fewer than 20 intervals say little."),
        (487, "Only 13 non-events in 500 cases: with fewer than 20 intervals say little."),
        (500, "There are no non-events in 500 cases: AUC and skill are not defined."),
    ],
)
def test_few_cases_and_one_class_are_stated(events, sentence):
    outcome = (np.arange(500) < events).astype(int)
    forecast = np.linspace(0.9, 0.1, 500) * 0.5 + 0.5 * events / 500
    found = alarms_of(outcome, {"m": forecast.clip(0.01, 0.99)})
    assert found[Consequence.TOO_FEW_CASES] == sentence


def test_twenty_events_are_enough():
    outcome = (np.arange(500) < 20).astype(int)
    assert Consequence.TOO_FEW_CASES not in alarms_of(outcome, {"m": np.linspace(0.1, 0.01, 500)})


def test_a_rare_class_and_few_clusters_are_stated():
    outcome, forecasts = make_classes()
    outcome = np.where(outcome == 2, np.where(np.arange(ROWS) < 30, 2, 1), outcome)
    rare = int((outcome == 2).sum())
    assert 0 < rare < 20
    found = alarms_of(outcome, {"m": forecasts}, classes=[0, 1, 2])
    counted = "1 case" if rare == 1 else f"{rare} cases"
    assert found[Consequence.TOO_FEW_CASES].startswith(f"Only {counted} of the class “2” in 600 cases: ")
    found = alarms_of(Y, {"m": P}, cluster=np.arange(ROWS) % 15)
    assert found[Consequence.TOO_FEW_CASES].startswith("Only 15 clusters: with fewer than 30 ")


def test_an_infinite_score_is_stated_with_its_forecasts():
    forecast = P.copy()
    forecast[:2] = 1 - Y[:2]
    found = alarms_of(Y, {"m": forecast})
    assert found[Consequence.INFINITE_SCORE] == (
        "m: the log score is infinite, because 2 forecasts were 0 for an event or 1 for a non-event "
        "(row 0, 1)."
    )


def test_labels_instead_of_probabilities_are_stated():
    sentence = "The forecasts of m are only 0 and 1: are they predicted classes instead of probabilities?"
    assert alarms_of(Y, {"m": (P > 0.5).astype(float)})[Consequence.QUESTIONABLE_INPUT] == sentence
    outcome, forecasts = make_classes()
    found = alarms_of(outcome, {"m": np.eye(3)[forecasts.argmax(axis=1)]}, classes=[0, 1, 2])
    assert found[Consequence.QUESTIONABLE_INPUT] == sentence
    assert Consequence.QUESTIONABLE_INPUT not in alarms_of(Y, {"m": np.where(P > 0.5, 1.0, 0.25)})
    assert Consequence.QUESTIONABLE_INPUT not in alarms_of(Y, {"m": np.zeros(ROWS)})


@pytest.mark.parametrize("resamples", [0, 200])
def test_a_column_that_is_used_twice_is_found(resamples):
    models = {"a": P, "b": P.copy(), "c": P**1.01}
    found = alarms_of(Y, models, resamples=resamples)
    assert found == {
        Consequence.QUESTIONABLE_INPUT: "The forecasts of a and b are the same: was one column used twice?"
    }
    without_events = alarms_of(np.zeros(ROWS, dtype=int), models, resamples=resamples)
    assert without_events[Consequence.QUESTIONABLE_INPUT] == found[Consequence.QUESTIONABLE_INPUT]


def test_all_models_that_are_the_same_are_named_once():
    models = {"a": P, "b": P.copy(), "c": P**1.01, "d": P.copy(), "e": P**1.01}
    found = list(raise_alarms(sr.evaluate(Y, models, resamples=200)))
    assert [finding.text for finding in found] == [
        "The forecasts of a, b and d are the same: was one column used twice?",
        "The forecasts of c and e are the same: was one column used twice?",
    ]


def test_alarms_on_rows_that_depend_on_each_other_in_time_carry_a_caution():
    """Residuals in long runs of the same sign, by days; one model is right on average, one is far off."""
    day = np.arange(ROWS)
    outcome = ((day // 30) % 2).astype(int)
    wrong = np.where(outcome == 1, 0.2, 0.8) + 0.001 * (day % 7)
    for time, expected in ((None, False), (pd.date_range("2026-01-01", periods=ROWS), True)):
        found = alarms_of(outcome, {"m": wrong}, **({} if time is None else {"time": time}))
        for consequence in (Consequence.INVERTED_RANKING, Consequence.WORSE_THAN_NO_MODEL):
            assert found[consequence].endswith(DEPENDENCE_CAUTION) is expected


def test_the_same_scores_by_other_forecasts_are_not_the_same_forecasts():
    """Two rows with the same outcome exchange their forecasts: every mean is the same, but not every row."""
    first, second = np.flatnonzero(Y == 1)[[3, 60]]
    exchanged = P.copy()
    exchanged[[first, second]] = P[[second, first]]
    assert alarms_of(Y, {"a": P, "b": exchanged}) == {}
    same = sr.evaluate(Y, {"a": P, "b": P.copy()}, resamples=0)
    first, second = same.models
    other = replace(second, forecasts=replace(second.forecasts, mean=0.4))
    assert len(list(raise_alarms(same))) == 1
    assert list(raise_alarms(replace(same, models=(first, other)))) == []


def test_groups_without_events_are_named():
    outcome = np.where(np.arange(ROWS) < 40, 0, Y)
    region = np.where(np.arange(ROWS) < 40, "small", np.where(np.arange(ROWS) % 2, "east", "west"))
    found = alarms_of(outcome, {"m": P}, groups={"region": region})
    assert found[Consequence.GROUPS_SERVED_WORSE] == (
        "There are no events where region = small (40 cases): the data cannot show how well models do there."
    )
    classes = np.where(region == "small", 1, make_classes()[0])
    found = alarms_of(classes, {"m": make_classes()[1]}, classes=[0, 1, 2], groups={"region": region})
    assert found[Consequence.GROUPS_SERVED_WORSE].startswith("There is only one class where region = small ")
    nothing = alarms_of(np.zeros(ROWS, dtype=int), {"m": P}, groups={"region": region})
    assert Consequence.GROUPS_SERVED_WORSE not in nothing


# ---- Order ----


def test_a_pass_is_open_if_rows_depend_on_each_other_in_time():
    passed = CalibrationDecision(model="m", verdict=LimitVerdict.PASS, test=None, sentence="")
    assert _rate_calibration(passed) is Consequence.RESULT
    assert _rate_calibration(replace(passed, depends_on_time=True)) is Consequence.OPEN_QUESTION


def test_of_miscalibrated_models_the_worst_is_stated_first():
    models = {"slightly": P**2, "far": P**4, "right": P}
    findings = sr.evaluate(Y, models, resamples=200).findings
    wrong = [
        finding.split()[0]
        for finding in findings
        if " is miscalibrated (" in finding and not finding.startswith("No ")
    ]
    assert wrong == ["far", "slightly"]


@cache
def make_findings():
    return [Finding(text=each.name, see="", consequence=each) for each in Consequence]


def test_findings_are_sorted_by_consequence_and_keep_their_order_otherwise():
    ordered = make_findings()
    assert sort_findings(reversed(ordered)) == ordered
    names = [finding.text for finding in ordered]
    grave = ["BREACHED_LIMIT", "INVERTED_RANKING", "WORSE_THAN_NO_MODEL", "ALARM", "CHANGED_LIMITS"]
    assert names[:9] == [*grave, "TOO_FEW_CASES", "INFINITE_SCORE", "GROUPS_SERVED_WORSE", "DRIFT"]
    same = [Finding(text=str(number), see="") for number in range(5)]
    assert sort_findings(same) == same


def test_a_document_has_the_same_findings(tmp_path):
    evaluation = sr.evaluate(Y, {"m": 1 - P, "twice": 1 - P}, resamples=200)
    evaluation.to_json(tmp_path / "r.json")
    assert sr.Evaluation.from_json(tmp_path / "r.json").findings == evaluation.findings
    assert len(evaluation.findings) >= 5
