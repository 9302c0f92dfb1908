"""Calibration, intervals, tests, decisions, comparisons and groups against recorded answers of base R.

Every number of an evaluation is moved by a millionth: the certificate must name it, or the list of what it
leaves out must.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import fields, is_dataclass, replace
from functools import cache

import numpy as np
import pytest
from conftest import recorded
from reference_tools import base_fixture

import scorereport as sr
from scorereport.inference.estimates import Estimate
from scorereport.reference import inference_comparison
from scorereport.reference.comparison_records import Verdict, compare_relatively
from scorereport.reference.group_comparison import compare_groups
from scorereport.reference.inference_comparison import DRAWN, RELATIVE
from scorereport.reference.inference_questions import InferenceAnswer, ask_about
from scorereport.reference.joint_comparison import compare_inference
from validation.record_inference import CASES, arguments_of, make_frame, question_of

RECORD = recorded("inference")["cases"]
base = pytest.fixture(scope="module")(base_fixture)

#: A millionth of a number, or a millionth where it is 0.
MILLIONTH = 1e-6


@cache
def evaluated(name):
    return sr.evaluate(make_frame(name), **arguments_of(name))


@cache
def asked(name):
    return question_of(name)


@cache
def answers_of(name):
    """The recorded answers about a case; numbers that are not finite are texts there."""
    return [
        InferenceAnswer(vectors={key: np.array([float(x) for x in vector]) for key, vector in answer.items()})
        for answer in RECORD[name]
    ]


def compare(name, evaluation):
    answer, *of_groups = answers_of(name)
    yield from compare_inference(answer, evaluation, asked(name))
    for groups, about in zip(of_groups, asked(name).groups(), strict=True):
        yield from compare_groups(groups, evaluation, about, has_rows=True)


@cache
def lines_of(name):
    return list(compare(name, evaluated(name)))


# ---- Agreement ----


@pytest.mark.sweep(after=2)
@pytest.mark.parametrize("name", CASES)
def test_the_engine_agrees_with_recorded_answers(name):
    """Nothing differs, and what is not compared has a reason."""
    lines = lines_of(name)
    assert [(line.subject, line.quantity) for line in lines if line.is_unexpected] == []
    left_out = [line for line in lines if line.verdict is Verdict.NOT_COMPARED]
    assert all(line.reason.endswith(".") for line in left_out)
    assert Counter(line.verdict for line in lines)[Verdict.AGREES] > 10 * len(left_out)
    assert {line.source for line in lines} == {"base R"}


def test_what_is_compared_depends_on_the_rows():
    """Independent rows have everything; of clusters and weights, tests of several parameters are left out."""
    missing = {
        name: {line.quantity for line in lines_of(name) if line.verdict is Verdict.NOT_COMPARED}
        for name in ("rows", "clusters", "weighted rows")
    }
    unreliability = "tests of calibration: Unreliability, p-value"
    assert unreliability not in missing["rows"]
    assert unreliability in missing["clusters"] & missing["weighted rows"]
    assert not {q for q in missing["rows"] if "ends of" not in q and "Q" not in q and "Holm" not in q}
    by_time = {line.quantity for line in lines_of("counted rows in time")}
    assert "tests of calibration: Autocorrelation in time" in by_time


def test_a_forecast_of_0_or_1_has_no_line_here_and_in_r():
    quantity = "calibration line: slope with error and limits"
    lines = {line.subject: line for line in lines_of("certain forecasts") if line.quantity == quantity}
    assert {name: line.verdict for name, line in lines.items()} == dict.fromkeys(
        ("certain", "constant", "separating"), Verdict.AGREES
    )
    assert all(np.isnan(line.engine) and np.isnan(line.reference) for line in lines.values())


# ---- Numbers that are a millionth off ----


@pytest.mark.parametrize("name", CASES)
def test_every_compared_number_may_not_be_a_millionth_off(name, monkeypatch):
    """Each number of each line is moved alone; numbers that rounding could move as far are the exception."""
    moved = Counter()

    def move_each(*given, **options):
        subject, quantity, ours, theirs = given
        if "resamples" not in quantity:  # its tolerance is that of random draws
            ours = np.atleast_1d(ours).astype(float)
            for place in np.flatnonzero(np.isfinite(ours)):
                changed = ours.copy()
                changed[place] += MILLIONTH * ours[place] if ours[place] else MILLIONTH
                line = compare_relatively(subject, quantity, changed, theirs, **options)
                moved[line.verdict] += 1
                if line.verdict is not Verdict.DIFFERS:
                    assert abs(ours[place]) < 1e-7, (quantity, ours[place], line.tolerance)
        return compare_relatively(*given, **options)

    monkeypatch.setattr(inference_comparison, "compare_relatively", move_each)
    assert not [line for line in compare(name, evaluated(name)) if line.is_unexpected]
    assert moved[Verdict.DIFFERS] > 1000
    assert moved[Verdict.AGREES] < 0.01 * moved[Verdict.DIFFERS]


def list_numbers(part, path=()):
    """The paths of all numbers in a record that are not whole; of arrays, by their places."""
    if isinstance(part, float):
        if np.isfinite(part):
            yield path
    elif isinstance(part, np.ndarray) and part.dtype.kind == "f":
        yield from ((*path, place) for place in np.flatnonzero(np.isfinite(part)).tolist())
    elif isinstance(part, tuple):
        for place, each in enumerate(part):
            yield from list_numbers(each, (*path, place))
    elif is_dataclass(part):
        for field in fields(part):
            yield from list_numbers(getattr(part, field.name), (*path, field.name))


def move(part, path):
    """The record with the number at a path moved by a millionth."""
    if not path:
        return part * (1 + MILLIONTH) if part else MILLIONTH
    step, *rest = path
    if isinstance(step, str):
        return replace(part, **{step: move(getattr(part, step), rest)})
    if isinstance(part, np.ndarray):
        moved = part.copy()
        moved[step] = move(float(part[step]), rest)
        return moved
    return (*part[:step], move(part[step], rest), *part[step + 1 :])


def name_of(path):
    return ".".join("*" if isinstance(step, int) else step for step in path)


#: Numbers that these comparisons leave out. First what the certificate compares by its other lines, and what
#: only repeats a setting or a number of cases; then what certificates leave out, in the order of `LEFT_OUT`.
ELSEWHERE = (
    r"data\.sample\.(total|events)",
    r"models\.\*\.(scores\.scores\.\*\.(value|skill)|scores\.decompositions\..*|murphy\..*|bands\..*)",
    r"models\.\*\.scores\.components\.\*\.value",
    r"models\.\*\.curves\.reliability\..*",
    r"settings\..*|.*\.(level|n|infinite_cases)|.*\.line\.events|.*\.(theta|threshold)\.\*",
    r"models\.\*\.(forecasts|curves\.histogram)\..*",
)
OUTSIDE = (
    r".*\.components\.\*\.(corrected|standard_error|lower|upper|overfit_closed|overfit_resampled)",
    r".*\.miscalibration_tests\.\*\..*",
    r"comparisons\.(murphy|decisions)\.\*\..*",
    r"models\.\*\.curves\.(roc|roc_hull|murphy\.(miscalibration|discrimination|uncertainty))\..*",
    r"models\.\*\.calibration\.(errors|binned|flexible)\..*",
    r"models\.\*\.(segments|miscalibration_parts|recalibration|scale)\..*",
)


def has_clusters_or_weights(evaluation):
    """Whether tests of several parameters have no counterpart in R."""
    rows = evaluation.predictions
    return rows.cluster is not None or (rows.weight is not None and rows.weight_kind == "sampling")


def is_joint_test(path, evaluation):
    """Whether a number is of a test that R is not asked for with clusters or weights, as all by Holm are."""
    name = name_of(path)
    if name.startswith("models.*.calibration.tests.*.p_value"):  # that of Hotelling
        return evaluation.models[path[1]].calibration.tests[path[4]].name == "Unreliability"
    is_group = name.startswith("heterogeneity")
    return is_group and (
        path[-1] == "p_value_holm" or "roc_auc" not in evaluation.heterogeneity[path[1]].test.name
    )


def is_outside(path, evaluation):
    """Whether a number is left out: of curves between the thresholds of R, and differences of components."""
    name = name_of(path)
    if name == "comparisons.decisions.*.difference.*":
        return False
    if any(re.fullmatch(pattern, name) for pattern in (*ELSEWHERE, *OUTSIDE)):
        return True
    if has_clusters_or_weights(evaluation) and is_joint_test(path, evaluation):
        return True
    if name.startswith("comparisons.differences"):
        return evaluation.comparisons.differences[path[2]].measure.endswith(
            ("miscalibration", "discrimination")
        )
    curves = {"decision": "threshold", "regret": "theta", "murphy": "theta"}
    if path[2:3] == ("curves",) and path[3] in curves and isinstance(path[-1], int):
        curve = getattr(evaluation.models[path[1]].curves, path[3])
        curve = curve.score if path[3] == "murphy" else curve
        return not np.isin(getattr(curve, curves[path[3]])[path[-1]], asked("rows").curve)
    return False


def is_drawn(path, evaluation):
    """Whether a number is an error or an end of an interval from random resamples."""
    part, interval = evaluation, None
    for step in path:
        interval = part if isinstance(part, Estimate) else interval
        part = part[step] if isinstance(step, int) else getattr(part, step)
    interval = interval or (part if isinstance(part, Estimate) else None)
    return interval is not None and "resamples" in interval.method and path[-1] != "value"


def parts_about(name, evaluation, path):
    """The lines about the part of an evaluation to which a path leads."""
    answer, *of_groups = answers_of(name)
    if path[0] not in ("groups", "windows", "heterogeneity"):
        return compare_inference(answer, evaluation, asked(name))
    return (
        line
        for groups, about in zip(of_groups, asked(name).groups(), strict=True)
        for line in compare_groups(groups, evaluation, about, has_rows=True)
    )


def compared_numbers(name):
    """The numbers of an evaluation that must be compared, by the names on their paths."""
    evaluation, found = evaluated(name), {}
    for path in list_numbers(evaluation):
        if not is_outside(path, evaluation) and not is_drawn(path, evaluation):
            found.setdefault(name_of(path), []).append(path)
    return found


def assert_named(name, path):
    spoilt = parts_about(name, move(evaluated(name), path), path)
    assert any(line.verdict is Verdict.DIFFERS for line in spoilt), path


def test_a_number_that_was_tampered_with_is_named():
    """One of every kind; none that an evaluation has is forgotten by both the comparison and this list."""
    rng = np.random.default_rng(7)
    found = compared_numbers("rows")
    assert len(found) > 60
    for paths in found.values():
        assert_named("rows", paths[rng.integers(len(paths))])


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["rows", "clusters", "weighted rows", "counted rows in time"])
def test_many_numbers_that_were_tampered_with_are_named(name):
    rng = np.random.default_rng(8)
    limits = r"models.*.thresholds.*.intervals.*"
    for kind, paths in compared_numbers(name).items():
        if kind.startswith(("models.*.curves.decision.band", limits)) and name != "rows":
            continue
        for place in rng.choice(len(paths), min(len(paths), 5), replace=False):
            assert_named(name, paths[place])


def test_a_missing_part_is_named():
    """An evaluation without its calibration, a difference or a group must not pass."""
    evaluation = evaluated("rows")
    first = replace(evaluation.models[0], calibration=None)
    without_line = replace(evaluation, models=(first, *evaluation.models[1:]))
    comparisons = replace(evaluation.comparisons, differences=evaluation.comparisons.differences[1:])
    without_difference = replace(evaluation, comparisons=comparisons)
    without_group = replace(evaluation, groups=evaluation.groups[1:])
    for spoilt in (without_line, without_difference, without_group):
        assert [line for line in compare("rows", spoilt) if line.verdict is Verdict.DIFFERS]


def test_an_error_of_r_in_one_part_fails_this_part():
    answer, *_ = answers_of("rows")
    kept = {key: vector for key, vector in answer.vectors.items() if not key.startswith("m1.line.")}
    broken = InferenceAnswer(vectors={**kept, "m1.line.error": ["cannot allocate vector"]})
    lines = list(compare_inference(broken, evaluated("rows"), asked("rows")))
    failed = [line for line in lines if line.verdict is Verdict.FAILED]
    assert {line.reason for line in failed} == {"cannot allocate vector"}
    assert {line.subject for line in failed} == {"sharp"}
    assert not [line for line in lines if line.verdict is Verdict.DIFFERS]
    beyond = InferenceAnswer(vectors={**kept, "m1.line.error": ["glm did not converge"]})
    lines = list(compare_inference(beyond, evaluated("rows"), asked("rows")))
    assert not [line for line in lines if line.is_unexpected]
    assert "glm did not converge" in {line.reason for line in lines}


def test_errors_of_resamples_may_differ_by_chance_only():
    lines = [line for line in lines_of("few rows") if line.quantity.startswith("errors of resamples")]
    assert len(lines) > 10
    wrong = evaluated("few rows")
    score = wrong.models[0].scores.scores[0]
    wider = replace(score, interval=replace(score.interval, standard_error=3 * score.interval.standard_error))
    scores = replace(wrong.models[0].scores, scores=(wider, *wrong.models[0].scores.scores[1:]))
    spoilt = replace(wrong, models=(replace(wrong.models[0], scores=scores), *wrong.models[1:]))
    named = [line.quantity for line in compare("few rows", spoilt) if line.is_unexpected]
    assert named == ["errors of resamples: intervals, brier"]
    assert DRAWN in {line.reason for line in lines_of("few rows")}
    assert RELATIVE < MILLIONTH / 10


# ---- R itself ----


@pytest.mark.r
@pytest.mark.parametrize("name", ["rows", "clusters"])
def test_r_repeats_its_recorded_answers(name, base):
    """The scripts of today give the recorded numbers, up to rounding."""
    for (what, vectors), known in zip(ask_about(asked(name)), answers_of(name), strict=True):
        answer = base.fetch(what, **vectors)
        assert set(answer) - {"seconds"} == set(known.vectors)
        for key, numbers in known.vectors.items():
            np.testing.assert_allclose(answer[key], numbers, rtol=1e-7, atol=1e-12, err_msg=key)
