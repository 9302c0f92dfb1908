"""Limits judged on intervals: the rule, the numbers that it uses, and its sentences."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from configuration_tools import limit_text
from hypothesis import given
from hypothesis import strategies as st

import scorereport as sr
from scorereport.configuration import MEASURES, Bounds, ModelKind, parse_configuration
from scorereport.configuration.judgement import describe_unjudged, format_judgement, judge
from scorereport.configuration.limit_records import EvidenceRule, Requirement
from scorereport.configuration.limit_verdicts import (
    LimitVerdict,
    count_limit_verdicts,
    find_verdict,
    find_worst_verdict,
    verdict_exit_code,
)
from scorereport.errors import ExitCode
from scorereport.history.trend.snapshot import list_numbers
from scorereport.plots.trend_picture import collect_series, read_audit

ORDER = list(LimitVerdict)
UPPER = Bounds(warn_upper=0.2, fail_upper=0.3)
#: Numbers with intervals that have no limits; kappa is its own skill.
UNJUDGED = [("quadratic_weighted_kappa", "skill")]


def make_frame(n=400, seed=5):
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    site = rng.choice(["A", "B"], n)
    site[:3] = "tiny"
    return pd.DataFrame(
        {"y": rng.random(n) < p, "exact": p, "rounded": p.round(1).clip(0.1, 0.9), "site": site}
    )


@pytest.fixture(scope="module")
def evaluation():
    return sr.evaluate(
        make_frame(),
        outcome="y",
        forecasts=["exact", "rounded"],
        groups="site",
        cost_interval=(0.1, 0.4),
        resamples=40,
        scale=True,
    )


def evaluate_forecast(y, p, **options):
    frame = pd.DataFrame({"y": y, "m": p})
    return sr.evaluate(frame, outcome="y", forecasts=["m"], **{"resamples": 40, **options})


def limits_of(text):
    return parse_configuration(f"[limits]\n{text}").limits


def judge_one(evaluation, text):
    (judgement,) = judge(evaluation, limits_of(text))
    return judgement


@pytest.mark.parametrize(
    ("lower", "upper", "bounds", "verdict"),
    [
        (0.1, 0.19, UPPER, LimitVerdict.PASS),
        (0.1, 0.2, UPPER, LimitVerdict.PASS),  # ends on the limit, on its good side
        (0.1, 0.21, UPPER, LimitVerdict.WARN),
        (0.2, 0.21, UPPER, LimitVerdict.WARN),
        (0.25, 0.3, UPPER, LimitVerdict.WARN),
        (0.25, 0.31, UPPER, LimitVerdict.INCONCLUSIVE),
        (0.3, 0.31, UPPER, LimitVerdict.INCONCLUSIVE),  # begins on the limit and reaches beyond
        (0.31, 0.32, UPPER, LimitVerdict.FAIL),
        (0.3, 0.3, UPPER, LimitVerdict.WARN),
        (0.3, 0.3, Bounds(fail_upper=0.3), LimitVerdict.PASS),  # a number on the only limit meets it
        (0.3, 0.3, Bounds(fail_lower=0.3), LimitVerdict.PASS),
        (0.1, 0.9, Bounds(warn_upper=0.05), LimitVerdict.WARN),  # without a fail limit nothing fails
        (0.8, 0.9, Bounds(fail_lower=0.7, warn_lower=0.75), LimitVerdict.PASS),
        (0.72, 0.9, Bounds(fail_lower=0.7, warn_lower=0.75), LimitVerdict.WARN),
        (0.69, 0.9, Bounds(fail_lower=0.7, warn_lower=0.75), LimitVerdict.INCONCLUSIVE),
        (0.6, 0.69, Bounds(fail_lower=0.7, warn_lower=0.75), LimitVerdict.FAIL),
        (0.9, 1.1, Bounds(fail_lower=0.8, fail_upper=1.2), LimitVerdict.PASS),
        (0.7, 1.3, Bounds(fail_lower=0.8, fail_upper=1.2), LimitVerdict.INCONCLUSIVE),
        (0.7, 0.79, Bounds(fail_lower=0.8, fail_upper=1.2), LimitVerdict.FAIL),
        (1.21, 9.0, Bounds(fail_lower=0.8, fail_upper=1.2), LimitVerdict.FAIL),
        (
            0.85,
            1.0,
            Bounds(fail_lower=0.8, fail_upper=1.2, warn_lower=0.9, warn_upper=1.1),
            LimitVerdict.WARN,
        ),
        (math.inf, math.inf, UPPER, LimitVerdict.FAIL),
        (-math.inf, math.inf, UPPER, LimitVerdict.INCONCLUSIVE),
    ],
)
def test_the_rule(lower, upper, bounds, verdict):
    assert find_verdict(lower, upper, bounds) is verdict


numbers = st.integers(-20, 20)  # small, so that ends and limits often coincide
widths = st.integers(0, 10)


@st.composite
def one_sided_bounds(draw):
    """A fail limit, a warning limit at the fail limit or on its good side, or only one of the two."""
    fail = draw(numbers)
    warn = fail - draw(widths)
    keeps_fail, keeps_warn = draw(st.sampled_from([(True, True), (True, False), (False, True)]))
    return Bounds(fail_upper=fail if keeps_fail else None, warn_upper=warn if keeps_warn else None)


def mirror(bounds):
    def turn(bound):
        return None if bound is None else -bound

    return Bounds(
        warn_lower=turn(bounds.warn_upper),
        warn_upper=turn(bounds.warn_lower),
        fail_lower=turn(bounds.fail_upper),
        fail_upper=turn(bounds.fail_lower),
    )


@given(numbers, widths, widths, one_sided_bounds())
def test_a_shift_towards_worse_never_improves_the_verdict(lower, width, shift, bounds):
    before = find_verdict(lower, lower + width, bounds)
    after = find_verdict(lower + shift, lower + width + shift, bounds)
    assert ORDER.index(after) >= ORDER.index(before)


@given(numbers, widths, one_sided_bounds())
def test_the_verdict_does_not_depend_on_the_direction(lower, width, bounds):
    assert find_verdict(lower, lower + width, bounds) is find_verdict(-lower - width, -lower, mirror(bounds))


@given(numbers, widths, one_sided_bounds(), widths)
def test_a_stricter_limit_never_improves_the_verdict(lower, width, bounds, by):
    stricter = Bounds(
        fail_upper=None if bounds.fail_upper is None else bounds.fail_upper - by,
        warn_upper=None if bounds.warn_upper is None else bounds.warn_upper - by,
    )
    verdicts = [find_verdict(lower, lower + width, each) for each in (bounds, stricter)]
    assert ORDER.index(verdicts[1]) >= ORDER.index(verdicts[0])


@given(numbers, widths, numbers, widths, one_sided_bounds())
def test_two_sides_are_as_bad_as_the_worse_of_them(lower, width, floor, room, bounds):
    upper_side = replace(bounds, fail_upper=floor + room, warn_upper=None)
    lower_side = Bounds(fail_lower=floor)
    both = Bounds(fail_lower=floor, fail_upper=floor + room)
    ends = (lower, lower + width)
    sides = [find_verdict(*ends, side) for side in (upper_side, lower_side)]
    assert find_verdict(*ends, both) is max(sides, key=ORDER.index)


@given(numbers, widths, one_sided_bounds())
def test_only_an_interval_on_both_sides_is_inconclusive(lower, width, bounds):
    verdict = find_verdict(lower, lower + width, bounds)
    fail = bounds.fail_upper
    holds_both_sides = fail is not None and lower <= fail < lower + width
    assert (verdict is LimitVerdict.INCONCLUSIVE) == holds_both_sides


def limit_all(kind):
    """Limits on every measure of a kind of model, and the names of these measures in judgements.

    Grades and a reference sample are in other tests.
    """
    names = [
        name
        for name, measure in MEASURES.items()
        if kind in measure.kinds and not {Requirement.GRADES, Requirement.REFERENCE} & {*measure.requires}
    ]
    text = "\n".join(limit_text(name, "fail = 0.3", "min = 0.1, max = 0.9", label="1") for name in names)
    return text, [measure.name for measure, _ in limits_of(text).bounds]


def assert_judged_by_intervals(evaluation, judgements):
    found = {(j.model, j.measure): j for j in judgements}
    assert len(found) == len(judgements)
    for row in evaluation.intervals.itertuples():
        is_other_class = row.number == "share" and row.measure != "1"
        if (row.measure, row.number) in UNJUDGED or is_other_class:
            continue
        judgement = found[row.model, measure_of(row)]
        shown = row.corrected if row.number in ("miscalibration", "discrimination") else row.value
        assert judgement.value == pytest.approx(shown, rel=1e-12)
        assert (judgement.lower, judgement.upper) == (row.lower, row.upper)
        assert judgement.level == row.level == 0.95


def test_every_measure_is_judged_on_the_numbers_of_the_evaluation(evaluation):
    text, names = limit_all(ModelKind.BINARY)
    judgements = judge(evaluation, limits_of(text))
    assert [j.measure for j in judgements if j.model in ("exact", "")] == names
    of_sample = [name for name in names if name == "prevalence" or name.endswith("_uncertainty")]
    assert len(judgements) == 2 * len(names) - len(of_sample)
    assert_judged_by_intervals(evaluation, judgements)
    assert all(j.group == "" for j in judgements)
    no_interval = {name for name, measure in MEASURES.items() if measure.evidence is EvidenceRule.NONE}
    assert all(math.isfinite(j.upper) or j.measure in no_interval for j in judgements)


def measure_of(row):
    """The name of the limit for a row of the table of intervals."""
    lines = {
        "calibration slope": "calibration_slope",
        "calibration intercept": "calibration_intercept",
        "calibration intercept at slope 1": "calibration_in_the_large",
    }
    if row.number in ("skill", "miscalibration", "discrimination", "uncertainty"):
        return f"{row.measure}_{row.number}"
    if row.number == "share":
        return f"class_share_of_{row.measure}"
    return lines.get(row.measure, row.measure)


def test_limits_apply_to_the_models_they_name(evaluation):
    judgements = judge(evaluation, limits_of('models = ["rounded"]\nbrier = 0.3\nprevalence = {min = 0.1}'))
    assert [(j.model, j.measure) for j in judgements] == [("rounded", "brier"), ("", "prevalence")]


def test_groups_are_judged_if_requested(evaluation):
    text = (
        "brier = 0.3\nbrier_miscalibration = 0.1\ncalibration_slope = {min = 0.1}\nprevalence = {min = 0.1}"
    )
    overall = judge(evaluation, limits_of(text))
    with_groups = judge(evaluation, limits_of(f"{text}\ngroups = true"))
    assert [j for j in with_groups if not j.group] == list(overall)
    judged = {(j.model, j.group, j.measure) for j in with_groups if j.group}
    assert judged == {
        (model, f"site = {site}", measure)
        for model in ("exact", "rounded")
        for site in "AB"
        for measure in ("brier", "brier_miscalibration")
    }
    group = next(g for g in evaluation.groups if g.label == "A")
    judgement = next(j for j in with_groups if (j.group, j.measure) == ("site = A", "brier"))
    assert judgement.upper == group.models[0].scores[0].interval.upper
    assert judgement.sentence.startswith("Brier score of exact where site = A: 0.")


def test_groups_too_small_are_named(evaluation):
    limits = limits_of("brier = 0.3\ngroups = true")
    assert describe_unjudged(evaluation, limits) == (
        "site: 1 of 3 groups, too small to be scored, is not judged.",
    )
    assert describe_unjudged(evaluation, limits_of("brier = 0.3")) == ()
    assert describe_unjudged(evaluation, limits_of("groups = true")) == ()


def with_brier(evaluation, value, lower, upper, name="brier"):
    """The evaluation with other numbers for a score of its first model."""
    result = evaluation.models[0]
    scores = [
        replace(s, value=value, interval=replace(s.interval, value=value, lower=lower, upper=upper))
        if s.name == name
        else s
        for s in result.scores.scores
    ]
    changed = replace(result, scores=replace(result.scores, scores=tuple(scores)))
    return replace(evaluation, models=(changed,))


@pytest.mark.parametrize(
    ("text", "verdict", "sentence"),
    [
        (
            "brier = 0.21",
            LimitVerdict.PASS,
            "Brier score of exact: 0.1991, interval [0.1950, 0.2031], lies below the limit 0.2100.",
        ),
        (
            "brier = {warn = 0.205, fail = 0.21}",
            LimitVerdict.PASS,
            "Brier score of exact: 0.1991, interval [0.1950, 0.2031], lies below the warning limit 0.2050.",
        ),
        (
            "brier = 0.2031",
            LimitVerdict.PASS,
            "Brier score of exact: 0.1991, interval [0.1950, 0.2031], lies at or below the limit 0.2031.",
        ),
        (
            "brier = {warn = 0.2, fail = 0.21}",
            LimitVerdict.WARN,
            "Brier score of exact: 0.1991, interval [0.1950, 0.2031], lies below the limit 0.2100, but not "
            "wholly below the warning limit 0.2000.",
        ),
        (
            "brier = {warn = 0.19, fail = 0.21}",
            LimitVerdict.WARN,
            "Brier score of exact: 0.1991, interval [0.1950, 0.2031], lies below the limit 0.2100, but above "
            "the warning limit 0.1900.",
        ),
        (
            "brier = {warn = 0.2}",
            LimitVerdict.WARN,
            "Brier score of exact: 0.1991, interval [0.1950, 0.2031], does not lie wholly below the warning "
            "limit 0.2000.",
        ),
        (
            "brier = 0.2",
            LimitVerdict.INCONCLUSIVE,
            "Brier score of exact: 0.1991, interval [0.1950, 0.2031], is inconclusive: the limit 0.2000 lies "
            "inside the interval. If the value stays, about 7,600 more cases would show that the limit is "
            "met; for a probability of 80 %, about 16,000.",
        ),
        (
            "brier = 0.19",
            LimitVerdict.FAIL,
            "Brier score of exact: 0.1991, interval [0.1950, 0.2031], lies above the limit 0.1900.",
        ),
        (
            "brier = 0.2031001",
            LimitVerdict.PASS,
            "Brier score of exact: 0.1991000, interval [0.1950000, 0.2031000], lies below the limit "
            "0.2031001.",
        ),
    ],
)
def test_sentences_of_a_score(evaluation, text, verdict, sentence):
    judgement = judge_one(with_brier(evaluation, 0.1991, 0.1950, 0.2031), text)
    assert (judgement.verdict, judgement.sentence) == (verdict, sentence)


@pytest.mark.parametrize(
    ("text", "verdict", "ending"),
    [
        ("{min = 0.8, max = 1.2}", LimitVerdict.PASS, "lies between the limits 0.800 and 1.200."),
        ("{min = 0.8}", LimitVerdict.PASS, "lies above the limit 0.800."),
        ("{max = 1.2}", LimitVerdict.PASS, "lies below the limit 1.200."),
        (
            "{min = 0.8, warn_max = 1.2}",
            LimitVerdict.PASS,
            "lies above the limit 0.800 and below the warning limit 1.200.",
        ),
        (
            "{min = 0.8, max = 1.2, warn_min = 0.85, warn_max = 1.1}",
            LimitVerdict.PASS,
            "lies between the warning limits 0.850 and 1.100.",
        ),
        (
            "{min = 0.8, max = 1.2, warn_min = 0.95, warn_max = 1.1}",
            LimitVerdict.WARN,
            "lies between the limits 0.800 and 1.200, but not wholly between the warning limits 0.950 and "
            "1.100.",
        ),
        (
            "{min = 0.8, warn_min = 1.1}",
            LimitVerdict.WARN,
            "lies above the limit 0.800, but below the warning limit 1.100.",
        ),
        (
            "{min = 0.95, max = 1.2}",
            LimitVerdict.INCONCLUSIVE,
            "is inconclusive: the limit 0.950 lies inside the interval.",
        ),
        (
            "{min = 0.95, max = 1.0}",
            LimitVerdict.INCONCLUSIVE,
            "is inconclusive: the limits 0.950 and 1.000 lie inside the interval.",
        ),
        (
            "{min = 0.9, max = 1.0}",  # the interval begins on a limit, which is met
            LimitVerdict.INCONCLUSIVE,
            "is inconclusive: the limit 1.000 lies inside the interval.",
        ),
        (
            "{min = 0.95, max = 1.05}",
            LimitVerdict.INCONCLUSIVE,
            "is inconclusive: the limit 0.950 lies inside the interval.",
        ),
        ("{warn_max = 0.9}", LimitVerdict.WARN, "does not lie wholly below the warning limit 0.900."),
        ("{warn_min = 1.05}", LimitVerdict.WARN, "does not lie wholly above the warning limit 1.050."),
        ("{min = 1.1, max = 1.2}", LimitVerdict.FAIL, "lies below the limit 1.100."),
        ("{max = 0.8}", LimitVerdict.FAIL, "lies above the limit 0.800."),
    ],
)
def test_sentences_of_a_measure_with_two_sides(evaluation, text, verdict, ending):
    result = evaluation.models[0]
    line = result.calibration.line
    slope = replace(line.slope, value=0.98, lower=0.9, upper=1.05)
    calibration = replace(result.calibration, line=replace(line, slope=slope))
    changed = replace(evaluation, models=(replace(result, calibration=calibration),))
    judgement = judge_one(changed, f"calibration_slope = {text}")
    assert judgement.verdict is verdict
    sentence, _, needed = judgement.sentence.partition(" If the value stays, ")
    assert sentence == f"Calibration slope of exact: 0.980, interval [0.900, 1.050], {ending}"
    assert bool(needed) == (verdict is LimitVerdict.INCONCLUSIVE)


def test_components_are_judged_and_shown_overfit_corrected(evaluation):
    part = evaluation.models[0].scores.components[0]
    assert (part.measure, part.component) == ("brier", "miscalibration")
    assert part.value > part.corrected  # the measured value contains overfit
    judgement = judge(evaluation, limits_of("brier_miscalibration = 0.1"))[0]
    assert (judgement.value, judgement.lower, judgement.upper) == (part.corrected, part.lower, part.upper)
    assert judgement.sentence.startswith("Corrected MCB of the Brier score of exact: 0.0")
    limit = (part.upper + part.value) / 2 if part.value > part.upper else part.upper
    assert judge(evaluation, limits_of(f"brier_miscalibration = {limit}"))[0].verdict is LimitVerdict.PASS
    scores = replace(evaluation.models[0].scores, components=())
    bare = replace(evaluation, models=(replace(evaluation.models[0], scores=scores),))
    raw = judge(bare, limits_of("brier_miscalibration = 0.1"))[0]
    assert raw.value == pytest.approx(part.value, rel=1e-12)
    assert raw.sentence.startswith("MCB of the Brier score of exact: 0.0")


def test_no_number_is_shown_outside_its_own_interval(evaluation):
    text, _ = limit_all(ModelKind.BINARY)
    corrected = [j for j in judge(evaluation, limits_of(text)) if "corrected " in j.label]
    assert len(corrected) > 10
    for judgement in corrected:
        assert judgement.lower <= judgement.value <= judgement.upper


def test_shares_are_stated_in_percent(evaluation):
    judgement = judge_one(evaluation, "prevalence = {min = 0.2, max = 0.8}")
    share = evaluation.data.sample.prevalence
    assert judgement.sentence.startswith(f"Prevalence: {100 * share:.1f} %, interval [")
    assert judgement.sentence.endswith("] %, lies between the limits 20.0 % and 80.0 %.")
    assert format_judgement(judgement)["fail"] == "≥ 20.0 %, ≤ 80.0 %"
    assert format_judgement(judgement)["warn"] == ""
    skill = judge(evaluation, limits_of("roc_auc_skill = {warn = 0.2, fail = 0.1}"))[0]
    assert format_judgement(skill) == {
        "value": f"{100 * skill.value:.1f} %",
        "interval": f"[{100 * skill.lower:.1f}, {100 * skill.upper:.1f}] %",
        "warn": "≥ 20.0 %",
        "fail": "≥ 10.0 %",
    }


def test_without_intervals_the_number_is_judged():
    rng = np.random.default_rng(1)
    p = rng.random(50)
    bare = evaluate_forecast(rng.random(50) < p, p, resamples=0)
    value = bare.models[0].scores.scores[0].value
    judgement = judge_one(bare, "brier = 0.9")
    assert judgement.sentence == (
        f"Brier score of m: {value:.4f}, judged without an interval, lies below the limit 0.9000."
    )
    assert math.isnan(judgement.lower)
    assert math.isnan(judgement.level)
    assert judge_one(bare, "brier = 0.01").verdict is LimitVerdict.FAIL
    assert judge_one(bare, f"brier = {value!r}").verdict is LimitVerdict.PASS
    assert "judged without an interval" in judge_one(bare, "brier_miscalibration = 0.5").sentence
    assert "judged without an interval" in judge_one(bare, "prevalence = {min = 0.1}").sentence
    assert judge(bare, limits_of("calibration_slope = {min = 0.8}")) == ()


@pytest.mark.parametrize("resamples", [0, 40])
def test_infinity_on_the_bad_side_fails(resamples):
    refuted = evaluate_forecast([0, 1, 0, 1, 1] * 6, [0.1, 0.0, 0.3, 0.8, 0.9] * 6, resamples=resamples)
    judgement = judge_one(refuted, "log_loss = {warn = 0.6, fail = 0.7}")
    assert judgement.verdict is LimitVerdict.FAIL
    assert judgement.sentence == "Log score of m is ∞ and lies above the limit 0.7000."
    assert judge_one(refuted, "log_loss = {warn = 0.6}").verdict is LimitVerdict.WARN
    skill = judge_one(refuted, "log_loss_skill = 0.0")
    assert (skill.verdict, skill.sentence) == (
        LimitVerdict.FAIL,
        "Skill in the log score of m is −∞ and lies below the limit 0.0 %.",
    )
    assert judge_one(refuted, "log_loss_miscalibration = 0.1").verdict is LimitVerdict.FAIL


def test_an_undefined_number_is_inconclusive():
    one_class = evaluate_forecast([1] * 30, np.linspace(0.1, 0.9, 30))
    judgement = judge_one(one_class, "roc_auc = {warn = 0.1}")
    assert judgement.verdict is LimitVerdict.INCONCLUSIVE
    assert judgement.sentence.startswith("AUC of m is not defined and cannot be judged: ")
    assert format_judgement(judgement)["value"] == "n/d"
    bare = evaluate_forecast([1] * 30, np.linspace(0.1, 0.9, 30), resamples=0)
    assert judge_one(bare, "roc_auc = 0.1").sentence == (
        "AUC of m is not defined and cannot be judged: these data do not determine it."
    )
    constant = evaluate_forecast([0, 1] * 15, [0.5] * 30)
    slope = judge_one(constant, "calibration_slope = {min = 0.8}")
    assert slope.verdict is LimitVerdict.INCONCLUSIVE
    assert "is not defined and cannot be judged: " in slope.sentence


def test_an_undefined_interval_is_inconclusive(evaluation):
    changed = with_brier(evaluation, 0.2, math.nan, math.nan)
    judgement = judge_one(changed, "brier = 0.3")
    assert judgement.verdict is LimitVerdict.INCONCLUSIVE
    assert judgement.sentence == (
        "Brier score of exact: 0.2000, cannot be judged without an interval: these data do not determine it."
    )


def test_the_worst_verdict_the_counts_and_the_exit_code(evaluation):
    text = "brier = 0.9\nroc_auc = 0.999\nprevalence = {warn_min = 0.9}"
    judgements = judge(evaluation, limits_of(text))
    assert find_worst_verdict(judgements) is LimitVerdict.FAIL
    assert count_limit_verdicts(judgements) == {
        LimitVerdict.PASS: 2,
        LimitVerdict.WARN: 1,
        LimitVerdict.INCONCLUSIVE: 0,
        LimitVerdict.FAIL: 2,
    }
    assert find_worst_verdict([]) is None
    assert (
        find_worst_verdict([j for j in judgements if j.verdict is not LimitVerdict.FAIL]) is LimitVerdict.WARN
    )
    assert [verdict_exit_code(verdict, strict=False) for verdict in (None, *LimitVerdict)] == [0, 0, 0, 0, 1]
    assert [verdict_exit_code(verdict, strict=True) for verdict in (None, *LimitVerdict)] == [0, 0, 3, 3, 1]
    assert verdict_exit_code(LimitVerdict.FAIL, strict=False) is ExitCode.LIMIT_BREACHED


# ---- Models of several classes ----


def make_classes(n=120, seed=5):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet([1, 1, 1], n)
    observed = np.array([rng.choice(3, p=row) for row in p])
    flat = 0.5 * p + 0.5 / 3
    columns = {f"{m}_{k}": q[:, k] for m, q in [("exact", p), ("flat", flat)] for k in range(3)}
    site = np.where(rng.random(n) < 0.5, "A", "B")
    site[:3] = "tiny"
    return pd.DataFrame({"grade": observed, "site": site, **columns})


@pytest.fixture(scope="module", params=[True, False], ids=["ordered", "unordered"])
def of_classes(request):
    return sr.evaluate(
        make_classes(),
        outcome="grade",
        forecasts=["exact", "flat"],
        classes=range(3),
        ordered=request.param,
        groups="site",
        resamples=40,
        scale=True,
    )


def kind_of(evaluation):
    return ModelKind.of(has_classes=True, ordered=evaluation.data.classes.ordered)


def test_every_measure_of_classes_is_judged(of_classes):
    text, names = limit_all(kind_of(of_classes))
    judgements = judge(of_classes, limits_of(text))
    assert [(j.measure, j.model) for j in judgements] == [
        (n, m) for n in names for m in ([""] if n.startswith("class_share") else ["exact", "flat"])
    ]
    assert_judged_by_intervals(of_classes, judgements)
    for judgement in judgements:
        score = next(
            (s for s in of_classes.class_models[0].scores.scores if s.name == judgement.measure), None
        )
        if score is not None and judgement.model == "exact":
            assert judgement.value == score.value
            assert math.isfinite(judgement.upper)


def test_measures_of_the_other_kind_of_model_are_not_judged(of_classes, evaluation):
    of_binary, _ = limit_all(ModelKind.BINARY)
    others, _ = limit_all(ModelKind.ORDINAL)
    assert all("scale_" in j.measure for j in judge(of_classes, limits_of(of_binary)))
    assert all("scale_" in j.measure for j in judge(evaluation, limits_of(others)))


def test_groups_of_classes_are_judged_by_what_they_have(of_classes):
    ordered = of_classes.data.classes.ordered
    main = "rps" if ordered else "multiclass_brier"
    text = "groups = true\nmodels = ['flat']\nmacro_f1 = 0.1\nmulticlass_brier_miscalibration = 0.2\n"
    text += "rps_discrimination = 0.0" if ordered else "multiclass_brier_discrimination = 0.0"
    judged = {(j.group, j.measure): j for j in judge(of_classes, limits_of(text))}
    sites = {f"site = {site}" for site in "AB"}
    expected = {(g, m) for g in ("", *sites) for m in ("macro_f1", f"{main}_discrimination")}
    expected |= {(g, "multiclass_brier_miscalibration") for g in (("",) if ordered else ("", *sites))}
    assert set(judged) == expected
    group = next(g for g in of_classes.groups if g.label == "B")
    flat = next(scores for scores in group.models if scores.model == "flat")
    f1 = next(score for score in flat.scores if score.name == "macro_f1")
    assert judged["site = B", "macro_f1"].value == f1.value
    assert judged["site = B", "macro_f1"].lower == f1.interval.lower
    notes = describe_unjudged(of_classes, limits_of(text))
    assert notes[0] == "site: 1 of 3 groups, too small to be scored, is not judged."
    assert notes[1:] == (
        (
            "Corrected MCB of the Brier score (K classes) is judged on all rows only: in groups of ordered "
            "classes only the ranked probability score is decomposed.",
        )
        if ordered
        else ()
    )


@pytest.mark.parametrize(
    ("name", "limit", "verdict", "sentence"),
    [
        (
            "macro_f1",
            0.45,
            LimitVerdict.PASS,
            "Macro F1 of exact: 0.5000, interval [0.4600, 0.5400], lies above the",
        ),
        (
            "macro_f1",
            0.5,
            LimitVerdict.INCONCLUSIVE,
            "Macro F1 of exact: 0.5000, interval [0.4600, 0.5400], is inconclusive",
        ),
        (
            "accuracy",
            0.6,
            LimitVerdict.FAIL,
            "Accuracy of exact: 0.5000, interval [0.4600, 0.5400], lies below the",
        ),
        (
            "expected_cost",
            0.4,
            LimitVerdict.FAIL,
            "Expected cost of exact: 0.5000, interval [0.4600, 0.5400], lies a",
        ),
        (
            "multiclass_brier",
            0.6,
            LimitVerdict.PASS,
            "Brier score (K classes) of exact: 0.5000, interval [0.4600, 0.5400], lies below the limit",
        ),
        (
            "multiclass_log_loss",
            0.6,
            LimitVerdict.PASS,
            "Log score (K classes) of exact: 0.5000, interval [0.4600, 0.5400], lies below the limit",
        ),
        (
            "penalized_brier",
            0.6,
            LimitVerdict.PASS,
            "Penalised Brier score of exact: 0.5000, interval [0.4600, 0.5400], lies below the limit",
        ),
    ],
)
def test_sentences_of_classes(of_classes, name, limit, verdict, sentence):
    result = of_classes.class_models[0]
    scores = [
        replace(s, value=0.5, interval=replace(s.interval, value=0.5, lower=0.46, upper=0.54))
        if s.name == name
        else s
        for s in result.scores.scores
    ]
    changed = replace(result, scores=replace(result.scores, scores=tuple(scores)))
    judgement = judge_one(replace(of_classes, class_models=(changed,)), f"{name} = {limit}")
    assert judgement.verdict is verdict
    assert judgement.sentence.startswith(sentence)


def test_sentences_of_ordered_classes(of_classes):
    if not of_classes.data.classes.ordered:
        assert judge(of_classes, limits_of("rps = 0.5\nquadratic_weighted_kappa = 0.1")) == ()
        return
    text = "models = ['exact']\nrps = 0.9\nrps_skill = 0.01\nrps_miscalibration = 0.9\nsa_rps_skill = 0.01"
    sentences = [j.sentence for j in judge(of_classes, limits_of(f"{text}\nquadratic_weighted_kappa = -0.5"))]
    starts = [
        "Ranked probability score of exact: 0.",
        "Skill in the ranked probability score of exact: ",
        "Corrected MCB of the ranked probability score of exact: 0.",
        "Skill in the squared absolute RPS of exact: ",
        "Quadratic weighted kappa of exact: 0.",
    ]
    assert [any(t.startswith(start) for start in starts) for t in sentences] == [True] * 5
    assert " %, interval [" in sentences[1]
    assert ", interval [" in sentences[2]
    assert sentences[4].endswith("lies above the limit −0.5000.")


def test_an_undefined_kappa_is_inconclusive():
    frame = pd.DataFrame({"y": ["a"] * 30, "m_a": [0.8] * 30, "m_b": [0.2] * 30})
    constant = sr.evaluate(
        frame, outcome="y", forecasts=["m"], classes=["a", "b"], ordered=True, resamples=40
    )
    judgement = judge_one(constant, "quadratic_weighted_kappa = 0.1")
    assert judgement.verdict is LimitVerdict.INCONCLUSIVE
    assert judgement.sentence.startswith(
        "Quadratic weighted kappa of m is not defined and cannot be judged: "
    )
    assert judge_one(constant, "accuracy = 0.1").verdict is LimitVerdict.PASS


def test_an_observed_class_with_probability_0_fails():
    frame = pd.DataFrame({"y": ["a", "b"] * 15, "m_a": [1.0, 0.4, 1.0, 1.0, 1.0] * 6})
    refuted = sr.evaluate(
        frame.assign(m_b=1 - frame["m_a"]), outcome="y", forecasts=["m"], classes=["a", "b"], resamples=0
    )
    judgement = judge_one(refuted, "multiclass_log_loss = 0.7")
    assert judgement.verdict is LimitVerdict.FAIL
    assert judgement.sentence == "Log score (K classes) of m is ∞ and lies above the limit 0.7000."


def test_trends_name_corrected_components_of_old_records_and_do_not_show_raw_ones(evaluation):
    """Version 0.1 recorded the raw component beside the interval of the corrected one."""
    now = judge(evaluation, limits_of("log_loss_miscalibration = 0.1"))[0]
    old = replace(now, label="MCB of the log score", value=0.5)
    key = (now.measure, now.model)
    (series,) = collect_series([read_audit([], [old]), read_audit([], [now])])
    assert (series.measure, series.model) == key
    assert series.label == "corrected MCB of the log score"
    first, last = series.readings
    assert math.isnan(first.value)
    assert first.raw == 0.5
    assert last.value == now.value
    number = next(n for n in list_numbers(evaluation) if n.measure == "brier_miscalibration")
    recorded = replace(number, label="MCB of the Brier score")
    (reading,) = read_audit([recorded]).values()
    assert reading.label == number.label == "corrected MCB of the Brier score"
    assert reading.value == number.corrected
