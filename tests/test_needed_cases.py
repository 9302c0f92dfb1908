"""How many more cases would decide an inconclusive limit: by hand, by simulation, in words and in reports."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from scipy.stats import poisson

import scorereport as sr
from scorereport._utils import json_documents
from scorereport.configuration import MEASURES, parse_configuration
from scorereport.configuration.judgement import judge
from scorereport.configuration.limit_needs import describe_remedy, find_rate, format_days, round_up
from scorereport.configuration.limit_verdicts import Judgement, LimitVerdict
from scorereport.inference.needed_cases import ErrorScale, find_growth, grow_beside
from scorereport.report.limit_findings import find_limits
from scorereport.report.tables.need_tables import needed_cases_table

#: ((z + z') / z)², for the quantiles 1.959964 of 95 % and 0.841621 of a probability of 80 %.
LIKELY_FACTOR = ((1.959964 + 0.841621) / 1.959964) ** 2
DAYS = pd.date_range("2025-01-01", "2025-12-31")


def make_frame(n=730):
    """Two cases a day in a year, with every forecast from 0.005 to 0.995."""
    p = (np.arange(n) % 199 + 1) / 200
    return pd.DataFrame(
        {
            "y": (np.arange(n) * 0.6180339887) % 1 < p,
            "m": p,
            "g": np.where(np.arange(n) % 3, "a", "b"),
            "day": np.resize(DAYS.to_numpy(), n),
        }
    )


@pytest.fixture(scope="module")
def evaluation():
    return sr.evaluate(make_frame(), outcome="y", forecasts=["m"], groups="g", time="day")


def with_brier(evaluation, value, lower, upper):
    """Replace the Brier score on all cases and its interval."""
    model = evaluation.models[0]
    score = model.scores.score("brier")
    interval = replace(score.interval, value=value, lower=lower, upper=upper)
    scores = tuple(
        replace(one, value=value, interval=interval) if one.name == "brier" else one
        for one in model.scores.scores
    )
    changed = replace(model, scores=replace(model.scores, scores=scores))
    return replace(evaluation, models=(changed,))


def judge_text(evaluation, text):
    return judge(evaluation, parse_configuration(f"[limits]\n{text}").limits)


@pytest.mark.parametrize(
    ("scale", "value", "ends", "limits", "growth"),
    [
        (ErrorScale.LINEAR, 0.20, (0.18, 0.23), [0.21], 9.0),  # 0.03 above must become 0.01
        (ErrorScale.LINEAR, 0.20, (0.18, 0.23), [0.19], 4.0),  # 0.02 below must become 0.01
        (ErrorScale.LINEAR, 0.20, (0.18, 0.23), [0.19, 0.21], 9.0),  # both limits must be left
        (ErrorScale.ROOT, 0.01, (0.0, 0.09), [0.04], 4.0),  # of the roots, 0.2 must become 0.1
        (ErrorScale.ROOT, 0.0, (0.0, 0.09), [0.01], 9.0),  # a square of 0 shrinks as 1/n
        (ErrorScale.ARCSINE, 0.5, (0.25, 0.75), [math.sin(math.pi / 4 + math.pi / 24) ** 2], 4.0),
        (ErrorScale.LINEAR, 0.20, (0.18, 0.23), [0.25], 1.0),  # decided already
    ],
)
def test_growth_by_hand(scale, value, ends, limits, growth):
    even, likely = find_growth(value, ends, limits, level=0.95, scale=scale)
    assert even == pytest.approx(growth)
    ratio = math.sqrt(growth) if growth > 1 else 0.6
    assert likely == pytest.approx(max(ratio**2 * LIKELY_FACTOR, 1.0), rel=1e-5)


def test_a_value_on_its_limit_is_never_decided():
    assert find_growth(0.2, (0.1, 0.3), [0.2], level=0.95) == (math.inf, math.inf)
    assert find_growth(0.2, (0.1, 0.3), [0.2 + 1e-12], level=0.95)[0] == math.inf


def test_a_reference_sample_that_does_not_grow():
    """1/150 + 1/300 is smaller than 1/100 + 1/300 by 4/3; below 1/300 there is nothing."""
    assert grow_beside(100, 4 / 3, 300) == pytest.approx(150)
    assert grow_beside(100, 4, 300) == math.inf
    assert grow_beside(100, math.inf, 300) == math.inf


def test_judgements_state_cases_and_time(evaluation):
    """0.03 above the value must become 0.01, with 730 cases: 8 times as many more, at two a day."""
    (judged,) = judge_text(with_brier(evaluation, 0.20, 0.18, 0.23), "brier = 0.21")
    assert judged.verdict is LimitVerdict.INCONCLUSIVE
    assert judged.needed.even == pytest.approx(8 * 730)
    assert judged.needed.likely == pytest.approx((9 * LIKELY_FACTOR - 1) * 730, rel=1e-5)
    assert judged.needed.verdict == "pass"
    assert judged.needed.days == pytest.approx(4 * 730, rel=0.01)
    assert (
        " If the value stays, about 5,900 more cases (8 years at the present rate) would show that the limit "
        "is met; for a probability of 80 %, about 13,000."
    ) in judged.sentence


@pytest.mark.parametrize(("limit", "verdict", "words"), [(0.21, "pass", "met"), (0.19, "fail", "breached")])
def test_the_verdict_to_expect(evaluation, limit, verdict, words):
    (judged,) = judge_text(with_brier(evaluation, 0.20, 0.18, 0.23), f"brier = {limit}")
    assert judged.needed.verdict == verdict
    assert f"would show that the limit is {words};" in judged.sentence


def test_decided_limits_need_no_cases(evaluation):
    for limit in (0.1, 0.24):
        (judged,) = judge_text(with_brier(evaluation, 0.20, 0.18, 0.23), f"brier = {limit}")
        assert judged.needed is None
        assert "more cases" not in judged.sentence


def test_too_many_cases_are_not_counted(evaluation):
    (judged,) = judge_text(with_brier(evaluation, 0.20, 0.18, 0.23), "brier = 0.2001")
    assert judged.needed.even == math.inf
    expected = "so close to the limit that more than 100 times as many cases would be needed to decide it."
    assert expected in judged.sentence
    (near,) = judge_text(with_brier(evaluation, 0.20, 0.18, 0.23), "brier = 0.2035")
    assert math.isfinite(near.needed.even)
    assert math.isinf(near.needed.likely)
    assert "for a probability of 80 %, more than 100 times as many cases." in near.sentence


def test_groups_need_cases_of_their_own(evaluation):
    judged = judge_text(evaluation, "brier = 0.187\ngroups = true")
    grouped = [one for one in judged if one.group and one.needed is not None]
    assert grouped
    for one in grouped:
        rows = next(g.sample.rows for g in evaluation.groups if one.group == f"{g.column} = {g.label}")
        reach = (one.upper if one.value < 0.187 else one.lower) - one.value
        assert one.needed.even == pytest.approx(((reach / (0.187 - one.value)) ** 2 - 1) * rows)
        assert one.needed.days is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1.25, 25), (0.75, 25), (1.0, (0.25 / 0.2) ** 2), (1.15, 25)],  # beyond one limit, or between both
)
def test_limits_on_both_sides(evaluation, value, expected):
    model = evaluation.models[0]
    line = model.calibration.line
    slope = replace(line.slope, value=value, lower=value - 0.25, upper=value + 0.25)
    calibration = replace(model.calibration, line=replace(line, slope=slope))
    changed = replace(evaluation, models=(replace(model, calibration=calibration),))
    (judged,) = judge_text(changed, "calibration_slope = {min = 0.8, max = 1.2}")
    assert judged.needed.even == pytest.approx((expected - 1) * 730)
    assert judged.needed.verdict == ("pass" if 0.8 <= value <= 1.2 else "fail")


def test_frequency_weights_count_cases():
    frame = make_frame(200).assign(w=3)
    found = sr.evaluate(frame, outcome="y", forecasts=["m"], weight="w", weight_kind="frequency")
    value = found.models[0].scores.score("brier").value
    (judged,) = judge_text(found, f"brier = {value + 0.004:.12f}")
    reach = judged.upper - judged.value
    assert judged.needed.cases == 600
    assert judged.needed.even == pytest.approx(((reach / 0.004) ** 2 - 1) * 600)


def test_a_reference_sample_does_not_grow_with_the_sample():
    rng = np.random.default_rng(2)
    forecasts, earlier = expit(rng.normal(0.3, 1, 500)), expit(rng.normal(0, 1, 700))
    y = (rng.random(500) < forecasts).astype(float)
    found = sr.evaluate(y, {"m": forecasts}, reference={"m": earlier}, resamples=20)
    index = found.stability[0].index
    limit = index.value + 0.7 * (index.upper - index.value)
    (judged,) = judge_text(found, f"psi = {limit:.12f}")
    growth = (
        (math.sqrt(index.upper) - math.sqrt(index.value)) / (math.sqrt(limit) - math.sqrt(index.value))
    ) ** 2
    expected = 1 / ((1 / 500 + 1 / 700) / growth - 1 / 700) - 500
    assert judged.needed.even == pytest.approx(expected, rel=1e-6)


def test_few_events_need_ten():
    """With 4 events of 40 cases, ten are expected of 100."""
    y, p = np.arange(40) % 10 == 0, (np.arange(40) % 8 + 1) / 20
    found = sr.evaluate(y.astype(float), {"m": p})
    (judged,) = judge_text(found, "log_loss = 0.5")
    assert judged.verdict is LimitVerdict.INCONCLUSIVE
    assert judged.needed.even >= 60 - 1e-9
    (far,) = judge_text(found, "log_loss = 9")  # the interval alone would decide
    assert far.verdict is LimitVerdict.INCONCLUSIVE
    assert far.needed.even == pytest.approx(60)
    assert poisson(4 * (40 + far.needed.likely) / 40).sf(9) == pytest.approx(0.8)
    (without,) = judge_text(sr.evaluate(np.zeros(40), {"m": p}), "log_loss = 0.1")
    assert without.needed is None


@pytest.mark.parametrize(
    ("name", "scale"),
    [
        ("brier", ErrorScale.LINEAR),
        ("brier_skill", ErrorScale.LINEAR),
        ("brier_miscalibration", ErrorScale.ROOT),
        ("brier_discrimination", ErrorScale.LINEAR),
        ("psi", ErrorScale.ROOT),
        ("roc_auc", ErrorScale.ARCSINE),
        ("class_roc_auc", ErrorScale.ARCSINE),
        ("accuracy", ErrorScale.ARCSINE),
        ("sensitivity", ErrorScale.ARCSINE),
        ("net_benefit", ErrorScale.LINEAR),
        ("prevalence", ErrorScale.ARCSINE),
        ("calibration_slope", ErrorScale.LINEAR),
    ],
)
def test_scales_of_measures(name, scale):
    assert MEASURES[name].scale is scale


@pytest.mark.parametrize(
    ("window", "expected"), [("year", None), ("quarter", 2), ("month", 2), ("week", 2), ("day", 2)]
)
def test_rate_of_cases(window, expected):
    found = sr.evaluate(
        make_frame(), outcome="y", forecasts=["m"], time="day", window=window, resamples=0, smallest_group=1
    )
    rate = find_rate(found)
    assert rate is None if expected is None else rate == pytest.approx(expected, rel=0.01)


def test_incomplete_periods_do_not_lower_the_rate():
    """From the middle of January to the middle of December, two cases a day."""
    frame = make_frame()
    kept = frame[(frame.day >= "2025-01-20") & (frame.day <= "2025-12-05")]
    found = sr.evaluate(kept, outcome="y", forecasts=["m"], time="day", window="month", resamples=0)
    assert find_rate(found) == pytest.approx(2)


def test_numbers_are_rounded_up():
    assert [round_up(n) for n in (1.2, 99, 101, 4150, 4200, 1e6)] == [2, 99, 110, 4200, 4200, 1e6]
    assert [format_days(d) for d in (1, 20, 21, 181, 183, 1095, 1097)] == [
        *("1 day", "20 days", "3 weeks", "26 weeks", "6 months", "36 months", "3 years"),
    ]


def test_the_action_states_the_largest_number(evaluation):
    judged = judge_text(with_brier(evaluation, 0.20, 0.18, 0.23), "brier = 0.21\nroc_auc = {fail = 0.5}")
    (finding,) = find_limits([one for one in judged if one.verdict is LimitVerdict.INCONCLUSIVE])
    assert finding.action == (
        "Collect at least 5,900 more cases (8 years at the present rate) to decide the open limits of "
        "{models}."
    )


def test_the_action_leaves_out_what_is_not_worthwhile(evaluation):
    """Of three limits, one needs as many cases again, one 8 times as many, and one more than 100 times."""
    judged = [
        judge_text(with_brier(evaluation, 0.20, 0.18, 0.23), f"brier = {limit}")[0]
        for limit in (0.2212, 0.21, 0.2001)
    ]
    assert describe_remedy(judged) == (
        "Collect at least 740 more cases (12 months at the present rate) to decide 1 of"
    )
    assert describe_remedy(judged[1:]).endswith(
        "5,900 more cases (8 years at the present rate) to decide 1 of"
    )
    assert describe_remedy(judged[2:]) == "Use other evidence for"


def test_no_data_are_asked_for_in_vain(evaluation):
    judged = judge_text(with_brier(evaluation, 0.20, 0.18, 0.23), "brier = 0.2001")
    (finding,) = find_limits(judged)
    assert finding.action == "Use other evidence for the open limits of {models}."


def test_the_table_and_the_frame(evaluation):
    changed = with_brier(evaluation, 0.20, 0.18, 0.23)
    table = needed_cases_table(judge_text(changed, "brier = 0.21"))
    assert table.rows == (("Brier score", "m", "pass", "5,900", "8 years", "13,000", "17 years"),)
    assert needed_cases_table(judge_text(changed, "brier = 0.24")) is None
    frame = changed.verdicts({"brier": {"fail": 0.21}, "log_loss": {"fail": 5}})
    assert frame.more_cases.tolist() == pytest.approx([8 * 730, math.nan], nan_ok=True)
    assert frame.more_days[0] == pytest.approx(4 * 730, rel=0.01)


def test_judgements_are_read_back_equal(evaluation):
    for limit in (0.21, 0.24):
        (judged,) = judge_text(with_brier(evaluation, 0.20, 0.18, 0.23), f"brier = {limit}")
        text = json_documents.dump(judged)
        assert json_documents.load(Judgement, text, "judgement") == judged
        assert ("needed" in text) == (limit == 0.21)


def test_as_many_cases_decide_as_often_as_stated():
    """Samples of calibrated forecasts: the limit is decided in half of them, and in 80 %.

    The coverage study has more measures; the errors of 150 shares are about 4 points.
    """
    rng = np.random.default_rng(5)
    n, truth = 300, float(np.mean(expit(z := rng.normal(0, 1, 200_000)) * expit(-z)))
    limit = truth + 0.012

    def draw(size):
        p = expit(rng.normal(0, 1, size))
        losses = (p - (rng.random(size) < p)) ** 2
        error = losses.std(ddof=1) / math.sqrt(size)
        return losses.mean(), losses.mean() - 1.96 * error, losses.mean() + 1.96 * error

    decided = []
    for _ in range(150):
        value, lower, upper = draw(n)
        moved = (truth + lower - value, truth + upper - value)
        sizes = [math.ceil(n * growth) for growth in find_growth(truth, moved, [limit], level=0.95)]
        decided.append([draw(size)[2] <= limit for size in sizes])
    even, likely = np.mean(decided, axis=0)
    assert even == pytest.approx(0.5, abs=0.17)
    assert likely == pytest.approx(0.8, abs=0.14)
