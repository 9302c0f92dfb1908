"""Rows that depend on each other in time: tests of it, tests of calibration that allow for it, page one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.special import expit, logit
from scipy.stats import f as fisher
from scipy.stats import t as student
from statsmodels.stats.diagnostic import acorr_ljungbox

import scorereport as sr
from scorereport.configuration import parse_configuration
from scorereport.configuration.judgement import DEPENDENCE_CAUTION, judge
from scorereport.configuration.limit_verdicts import LimitVerdict
from scorereport.evaluation.notes import CLUSTERS_INDEPENDENT_IN_TIME
from scorereport.inference.calibration_in_time import INDEPENDENT, allow_for_time
from scorereport.inference.calibration_tests import mean_calibration_test, spiegelhalter_test
from scorereport.inference.differences import score_difference
from scorereport.inference.panel import make_panel
from scorereport.inference.regression import calibration_line, line_tests
from scorereport.inference.time_errors import AUTOCORRELATION, autocorrelation_test, number_of_cosines
from scorereport.report.calibration_decision import decide_calibration
from scorereport.report.findings import describe_method_line, list_report_findings
from scorereport.report.provenance import Provenance
from scorereport.report.report_record import build_report
from scorereport.report.section_parts import describe_time_note
from scorereport.report.sections.summary_section import describe_summary_section

TIMES = 200
ALLOWING = "test of slope and intercept that allows for dependence in time"


def draw(*, spells=1):
    """Two rows at each time; outcomes that follow the forecasts, the same uniform number for some times."""
    rng = np.random.default_rng(5)
    p = rng.uniform(0.1, 0.9, 2 * TIMES)
    level = np.repeat(rng.random(TIMES // spells), 2 * spells)
    return (level < p).astype(float), p, np.repeat(np.arange(TIMES), 2)


def covariance_of(sums):
    """Of the totals of series, a row for each, by the projections on the slowest cosines."""
    n, cosines = sums.shape[1], number_of_cosines(sums.shape[1])
    angles = np.pi * np.outer(np.arange(n) + 0.5, np.arange(1, cosines + 1)) / n
    parts = np.sqrt(2) * sums @ np.cos(angles)
    return parts @ parts.T / cosines


def at_times(values, time):
    return np.array([np.bincount(time, weights=row) for row in np.atleast_2d(values)])


@pytest.mark.parametrize(("times", "cosines"), [(30, 4), (365, 5), (400, 5), (1000, 7), (8000, 15)])
def test_cosines_are_few(times, cosines):
    assert number_of_cosines(times) == cosines


def test_the_test_of_autocorrelation_is_that_of_statsmodels():
    y, p, time = draw(spells=4)
    panel = make_panel(y, {"p": p}, time=time)
    found = autocorrelation_test(panel, panel.outcome - panel.only)
    sums = at_times(y - p, time)[0]
    expected = acorr_ljungbox(sums, lags=[5]).iloc[0]
    assert (found.statistic, found.p_value) == pytest.approx((expected.lb_stat, expected.lb_pvalue), rel=1e-9)
    assert found.note == f"Autocorrelation at lag 1: {sm.tsa.acf(sums, nlags=1)[1]:.2f}."
    few = make_panel(y[:40], {"p": p[:40]}, time=time[:40])
    assert np.isnan(autocorrelation_test(few, few.outcome - few.only).p_value)


@pytest.mark.parametrize("weighted", [False, True])
def test_tests_of_calibration_allow_for_time(weighted):
    """Every number again by matrices: sums at each time, projected on cosines."""
    y, p, time = draw(spells=4)
    weight = np.random.default_rng(2).integers(1, 4, len(y)).astype(float) if weighted else np.ones(len(y))
    given = {"sample_weight": weight} if weighted else {}
    panel = make_panel(y, {"p": p}, time=time, **given)
    alone = [
        spiegelhalter_test(y, p, **given),
        mean_calibration_test(y, p, **given),
        *line_tests(y, p, **given),
    ]
    line, tests = allow_for_time(panel, calibration_line(y, p, **given), alone)
    cosines = number_of_cosines(TIMES)
    for test, factor in zip(tests, (1 - 2 * p, np.ones_like(p)), strict=False):
        terms = weight * factor * (y - p)
        statistic = terms.sum() / np.sqrt(covariance_of(at_times(terms, time))[0, 0])
        assert test.statistic == pytest.approx(statistic, rel=1e-9)
        assert test.p_value == pytest.approx(2 * student.sf(abs(statistic), cosines), rel=1e-9)
    x = sm.add_constant(logit(p))
    fit = sm.GLM(y, x, family=sm.families.Binomial(), freq_weights=weight).fit()
    moved = fit.normalized_cov_params @ (x * (weight * (y - fit.fittedvalues))[:, None]).T
    covariance = covariance_of(at_times(moved, time))
    reach = student.ppf(0.975, cosines) * np.sqrt(covariance[1, 1])
    assert (line.slope.lower, line.slope.upper) == pytest.approx(
        (fit.params[1] - reach, fit.params[1] + reach), rel=1e-6
    )
    off = fit.params - [0, 1]
    wald = off @ np.linalg.solve(covariance, off)
    by_f = fisher.sf(wald * (cosines - 1) / (2 * cosines), 2, cosines - 1)
    assert (tests[4].statistic, tests[4].p_value) == pytest.approx((wald, by_f), rel=1e-6)
    assert tests[2].statistic == pytest.approx((fit.params[1] - 1) / np.sqrt(covariance[1, 1]), rel=1e-6)


def test_few_times_leave_the_tests_as_they_are_with_a_note():
    y, p, time = draw()
    y, p, time = y[:40], p[:40], time[:40]
    alone = [mean_calibration_test(y, p)]
    _, (test, dependence) = allow_for_time(make_panel(y, {"p": p}, time=time), calibration_line(y, p), alone)
    assert test.p_value == alone[0].p_value
    assert test.note == INDEPENDENT
    assert np.isnan(dependence.p_value)


def findings_of(y, p, day, **options):
    frame = pd.DataFrame(
        {"y": y.astype(int), "m": p, "day": pd.Timestamp("2025-01-01") + pd.to_timedelta(day, "D")}
    )
    evaluation = sr.evaluate(frame, outcome="y", forecasts=["m"], resamples=99, **options)
    report = build_report(evaluation, Provenance(time="2026-11-15T07:30:12+00:00"))
    return evaluation, [finding.text for finding in list_report_findings(report)]


def test_page_one_does_not_state_evidence_of_rows_that_depend_in_time():
    """Ten spells of 40 days: in most of them more events happen than forecast."""
    time = np.arange(400)
    p = np.random.default_rng(1).uniform(0.2, 0.8, 400)
    level = np.repeat([0.15, 0.35, 0.25, 0.4, 0.7, 0.75, 0.6, 0.25, 0.3, 0.45], 40)
    y = (level < p).astype(float)
    evaluation, findings = findings_of(y, p, time, time="day")
    (finding,) = [text for text in findings if "is miscalibrated" in text]
    assert finding.startswith(f"No evidence that m is miscalibrated ({ALLOWING}, p = 0.")
    assert ", with rows taken as independent)" in finding
    decision = decide_calibration(evaluation.models[0], evaluation, 0.05)
    assert decision.reasons[0].startswith("Residuals depend on each other in time (autocorrelation 0.")
    assert decision.reasons[0].endswith("take rows as independent and are too confident.")
    assert decision.reasons[1].startswith(f"The {ALLOWING} decides")
    scores = evaluation.models[0].scores
    assert all(test.note.endswith(INDEPENDENT) for test in scores.miscalibration_tests)
    _, alone = findings_of(y, p, time)
    assert any(text.startswith("m is miscalibrated (p ") for text in alone)


@pytest.mark.sweep
def test_a_model_that_is_wrong_at_all_times_is_still_shown_to_be():
    rng = np.random.default_rng(3)
    p, time = rng.uniform(0.1, 0.9, 3000), np.repeat(np.arange(300), 10)
    level = np.where(rng.random(3000) < 0.7, np.repeat(rng.random(75), 40), rng.random(3000))
    y = (level < expit(logit(p) + 2)).astype(float)
    _, findings = findings_of(y, p, time, time="day")
    assert any(text.startswith(f"m is miscalibrated ({ALLOWING}, p ") for text in findings)


@pytest.mark.parametrize(
    ("run", "note"),
    [
        (1, ""),
        (20, ""),
        (
            40,
            "Values at successive times are similar (autocorrelation 0.95): 400 times count as about 10 "
            "independent ones, and the test rejects too often.",
        ),
    ],
)
def test_series_that_move_slowly_are_noted_at_their_test(run, note):
    """Differences that keep their sign for 40 of 400 days: 9 changes of sign, r = 1 - 2 (9/400) - ..."""
    days = np.arange(400)
    first = np.where(days // run % 2, 0.2, 0.4)
    assert score_difference(np.zeros(400), first, np.full(400, 0.3), time=days).note == note


def test_slow_residuals_are_noted_at_the_tests_of_calibration():
    days = np.arange(400)
    y = (days // 40 % 2).astype(float)
    frame = pd.DataFrame(
        {
            "y": y,
            "m": 0.45 + 0.1 * (days % 7) / 6,
            "day": pd.Timestamp("2026-01-01") + pd.to_timedelta(days, "D"),
        }
    )
    found = sr.evaluate(frame, outcome="y", forecasts=["m"], time="day", resamples=20)
    notes = {test.name: test.note for test in found.models[0].calibration.tests}
    for name in ("Spiegelhalter's z", "Calibration in the large", "Calibration slope", "Unreliability"):
        assert notes[name].startswith("Values at successive times are similar (autocorrelation 0.")


@pytest.mark.sweep
def test_page_one_names_numbers_that_treat_rows_as_independent_in_time():
    y, p, time = draw()
    evaluation, _ = findings_of(y, p, time, time="day")
    (note,) = [note for note in evaluation.notes if "dependence in time" in note]
    assert describe_method_line(evaluation).endswith(note)
    assert describe_time_note(evaluation) == "(intervals and tests assume rows that are independent in time)"
    alone, _ = findings_of(y, p, time)
    assert describe_method_line(alone).endswith("“evidence” means that a test rejects at the 5.0 % level.")
    assert describe_time_note(alone) == ""


def judge_line(p_value, adjusted):
    """A model whose test of slope and intercept has these p-values, and an evaluation that has it twice."""
    y, p, time = draw(spells=8)
    evaluation, _ = findings_of(y, p, time, time="day")
    (model,) = evaluation.models
    tests = [
        replace(test, p_value=p_value, p_value_holm=adjusted) if test.name == "Unreliability" else test
        for test in model.calibration.tests
    ]
    judged = replace(model, calibration=replace(model.calibration, tests=tuple(tests)))
    return judged, replace(evaluation, models=(judged, judged))


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize(("adjusted", "is_shown"), [(0.079, False), (0.049, True), (None, True)])
def test_page_one_uses_the_p_value_adjusted_for_all_models(adjusted, is_shown):
    model, evaluation = judge_line(0.04, adjusted)
    both = "" if adjusted is None else f", adjusted for 2 models {adjusted:.3f}"
    decision = decide_calibration(model, evaluation, 0.05)
    assert (decision.verdict is LimitVerdict.FAIL) is is_shown
    assert f" miscalibrated ({ALLOWING}, p = 0.040{both}; " in decision.sentence
    undrawn = replace(model, scores=replace(model.scores, miscalibration_tests=()))
    without_rows = replace(evaluation, settings=replace(evaluation.settings, engine="duckdb"))
    decision = decide_calibration(undrawn, without_rows, 0.05)
    assert (decision.verdict is LimitVerdict.FAIL) is is_shown
    assert f"(test of slope and intercept, p = 0.040{both}; " in decision.sentence


@pytest.mark.sweep
def test_without_a_line_page_one_uses_spiegelhalters_test():
    model, evaluation = judge_line(np.nan, None)
    decision = decide_calibration(model, evaluation, 0.05)
    assert "(Spiegelhalter test that allows for dependence in time, p " in decision.sentence
    dependence = [test for test in model.calibration.tests if test.name == AUTOCORRELATION]
    bare = replace(model, calibration=replace(model.calibration, tests=tuple(dependence)))
    decision = decide_calibration(bare, evaluation, 0.05)
    assert decision.verdict is LimitVerdict.INCONCLUSIVE
    assert decision.sentence.endswith(", and no test that allows for it is available.")
    assert decision.reasons[1].startswith("No test that allows for dependence in time is available")


@pytest.mark.sweep
def test_limits_state_that_intervals_ignore_the_dependence_that_is_shown():
    y, p, time = draw(spells=8)
    evaluation, _ = findings_of(y, p, time, time="day")
    limits = parse_configuration(
        "[limits]\nbrier = 0.9\ncalibration_slope = {min = 0.0}\nprevalence = {max = 1.0}"
    )
    report = build_report(evaluation, Provenance(time="2026-11-15T07:30:12+00:00"), configuration=limits)
    has_caution = {
        judgement.measure: judgement.sentence.endswith(DEPENDENCE_CAUTION) for judgement in report.judgements
    }
    assert has_caution == {"brier": True, "calibration_slope": False, "prevalence": True}
    assert "depend on each other in time" in describe_summary_section(report).parts["limits"]["detail"]
    alone, _ = findings_of(y, p, time)
    assert not any(
        judgement.sentence.endswith(DEPENDENCE_CAUTION) for judgement in judge(alone, limits.limits)
    )


@pytest.mark.sweep
def test_a_note_states_that_clusters_are_independent_in_time():
    y, p, time = draw()
    frame = pd.DataFrame(
        {"y": y.astype(int), "m": p, "day": pd.Timestamp("2025-01-01") + pd.to_timedelta(time, "D")}
    )
    frame["site"] = np.arange(len(frame)) % 40
    found = sr.evaluate(frame, outcome="y", forecasts=["m"], time="day", cluster="site", resamples=99)
    assert CLUSTERS_INDEPENDENT_IN_TIME in found.notes
    assert describe_method_line(found).endswith(CLUSTERS_INDEPENDENT_IN_TIME)
    assert describe_time_note(found) == "(intervals and tests assume clusters that are independent in time)"
