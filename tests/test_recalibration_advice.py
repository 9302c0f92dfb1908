"""Advice on recalibration: the simplest map that is shown to help, a new fit, more cases, or nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit

import scorereport as sr
from scorereport.configuration.judgement import judge_limits
from scorereport.report.alarms import raise_alarms
from scorereport.report.finding_records import list_actions
from scorereport.report.findings import _find_in_evaluation
from scorereport.report.recalibration_advice import Circumstances, Remedy, advise_recalibration
from scorereport.report.recalibration_findings import advise_models

#: Log-odds of forecasts, given the true ones: right, wrong by a shift, by a slope, and by a wave.
FORECASTS = {
    "good": lambda z: z,
    "shifted": lambda z: z + 0.8,
    "steep": lambda z: 2.2 * z,
    "waved": lambda z: z + np.sin(2 * z),
}


def draw(n=6000, seed=4):
    rng = np.random.default_rng(seed)
    z = logit(rng.beta(2, 3, n))
    # half of the events are where they are expected, so that the advice does not depend on the seed
    place = np.argsort(z)
    happens = np.empty(n)
    happens[place] = np.diff(np.floor(np.cumsum(expit(z[place])) + 0.5), prepend=0)
    noisy = np.where(rng.random(n) < 0.5, happens, rng.random(n) < expit(z))
    return pd.DataFrame({"y": noisy.astype(int)} | {name: expit(f(z)) for name, f in FORECASTS.items()})


@pytest.fixture(scope="module")
def evaluation():
    return sr.evaluate(draw(), outcome="y", forecasts=list(FORECASTS), resamples=200)


def advise(evaluation, model, **met):
    (result,) = [result for result in evaluation.models if result.model == model]
    return advise_recalibration(result, evaluation, 0.05, Circumstances(**met))


@pytest.mark.parametrize(
    ("model", "remedy", "how"),
    [
        ("good", Remedy.LEAVE, ""),
        ("shifted", Remedy.SHIFT, "a shift of the log-odds (−0."),
        ("steep", Remedy.LINE, "a line in log-odds (intercept "),
        ("waved", Remedy.CURVE, "a new curve"),
    ],
)
def test_the_simplest_map_that_suffices_is_advised(evaluation, model, remedy, how):
    advice = advise(evaluation, model)
    assert advice.remedy is remedy
    assert advice.how.startswith(how)
    assert (advice.trial is None) == (remedy is Remedy.LEAVE)
    if how:
        assert advice.action == f"Recalibrate {{models}} by {advice.how}, and evaluate again on new cases."
        assert advice.sentence.startswith(f"{model}: recalibrate by {advice.how}; ")
    else:
        assert advice.action == ""
        assert advice.sentence == (
            "good: leave as it is; no map is shown to lower the Brier score on new cases."
        )


def test_coefficients_are_those_of_maximum_likelihood(evaluation):
    line = evaluation.models[2].calibration.line
    stated = f"(intercept {line.intercept.value:.2f}, slope {line.slope.value:.2f})".replace("-", "−")
    assert advise(evaluation, "steep").how == f"a line in log-odds {stated}"


def test_an_inverted_ranking_is_not_recalibrated(evaluation):
    advice = advise(evaluation, "steep", is_inverted=True)
    assert (advice.remedy, advice.action, advice.trial) == (Remedy.REFIT, "", None)


def test_low_discrimination_needs_a_new_fit(evaluation):
    advice = advise(evaluation, "steep", weak=("AUC",))
    assert advice.remedy is Remedy.REFIT
    assert advice.action == "Refit {models}: recalibration does not improve a ranking."
    assert advice.sentence == (
        "steep: refit; AUC is beyond the limit, and recalibration does not improve a ranking."
    )


def test_a_breached_limit_on_the_auc_leads_to_a_new_fit(evaluation):
    judged = judge_limits(evaluation, {"roc_auc": 0.95})
    advised = advise_models(evaluation, raise_alarms(evaluation), judged)
    assert {advice.remedy for advice in advised} == {Remedy.REFIT}
    assert {advice.remedy for advice in advise_models(evaluation, raise_alarms(evaluation))} != {Remedy.REFIT}


def test_groups_that_are_calibrated_differently_need_more_than_one_map():
    frame = draw().assign(region=np.arange(6000) % 2)
    frame["m"] = np.where(frame["region"] == 0, frame["shifted"], frame["good"])
    evaluation = sr.evaluate(frame, outcome="y", forecasts=["m"], groups="region", resamples=200)
    advice = advise(evaluation, "m")
    assert advice.remedy is Remedy.REFIT
    assert advice.action == "Refit {models} or recalibrate it by region, and evaluate again on new cases."
    actions = list_actions(_find_in_evaluation(evaluation))
    assert not any(action.startswith("Recalibrate") for action in actions)


def without_gains(result):
    """A result in which no map is shown to lower the Brier score."""
    return replace(
        result,
        recalibration=tuple(
            replace(trial, brier=replace(trial.brier, p_value=0.5, p_value_holm=0.5))
            for trial in result.recalibration
        ),
    )


def test_miscalibration_without_a_gain_needs_more_cases(evaluation):
    (result,) = [without_gains(r) for r in evaluation.models if r.model == "steep"]
    advice = advise_recalibration(result, evaluation, 0.05, Circumstances())
    assert advice.remedy is Remedy.COLLECT
    assert advice.action == "Collect more cases before {models} is recalibrated."


def test_few_cases_are_stated_by_their_alarm_alone(evaluation):
    advice = advise(evaluation, "good", few_cases=True)
    assert (advice.remedy, advice.action) == (Remedy.COLLECT, "")


def test_documents_without_parts_have_advice_by_trials(evaluation):
    (result,) = [replace(r, miscalibration_parts=()) for r in evaluation.models if r.model == "steep"]
    advice = advise_recalibration(result, evaluation, 0.05, Circumstances())
    assert (advice.remedy, advice.how) == (Remedy.LINE, "a line in log-odds")


def test_actions_of_models_with_the_same_remedy_are_one(evaluation):
    twice = replace(evaluation, models=(*evaluation.models[1:3], replace(evaluation.models[2], model="two")))
    actions = list_actions(_find_in_evaluation(twice))
    assert "Recalibrate steep and two by a line in log-odds, and evaluate again on new cases." in actions
    assert any(action.startswith("Recalibrate shifted by a shift of the log-odds (−0.") for action in actions)


def test_every_remedy_has_one_action_at_most_for_each_model(evaluation):
    found = [f for f in _find_in_evaluation(evaluation) if f.action and f.model]
    actions = {(finding.model, finding.action) for finding in found}
    assert len({model for model, _ in actions}) == len(actions)


# ---- discrimination of the recalibrated forecasts ----


def test_trials_have_discrimination_before_and_after(evaluation):
    for model in evaluation.models:
        known = model.scores.decomposition("brier").discrimination
        for trial in model.recalibration:
            assert trial.discrimination_before == pytest.approx(known, rel=1e-9)
            assert trial.auc_before == pytest.approx(model.scores.score("roc_auc").value, rel=1e-9)
            change = trial.discrimination_after - trial.discrimination_before
            assert trial.brier.value == pytest.approx(
                trial.miscalibration_after - trial.miscalibration_before - change, abs=1e-12
            )
            assert abs(trial.auc_after - trial.auc_before) < 0.02
