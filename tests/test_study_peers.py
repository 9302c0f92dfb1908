"""The comparison with other Python packages: agreement, known deviations by name, and that errors show."""

from __future__ import annotations

import math
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from artefact_tools import make_once, shared_folder

from scorereport import scores
from scorereport.reference.comparison_records import Verdict
from scorereport.study.defect_demonstrations import Demonstration, run_demonstration
from scorereport.study.peers.peer_checks import Check, Deviation, run_check
from scorereport.study.peers.peer_comparison import compare_with_peers
from scorereport.study.peers.peer_samples import CaseRule, PeerSample, merge_like_scikit_learn
from scorereport.study.seeded_cases import Case, draw_cases

MODULES = {
    "scikit-learn": "sklearn",
    "scipy": "scipy",
    "statsmodels": "statsmodels",
    "model-diagnostics": "model_diagnostics",
    "scores": "scores",
    "dcurves": "dcurves",
    "briertools": "briertools",
}
PRESENT = {package for package, module in MODULES.items() if find_spec(module)}

#: Every known deviation that shows in the cases of the fixture, by package.
EXPECTED = {
    ("scikit-learn", "weighted mean log score, forecasts within 2.2e-16 of 0 or 1"),
    ("scikit-learn", "mean log score, forecasts within 2.2e-16 of 0 or 1"),
    ("scikit-learn", "log skill, forecasts within 2.2e-16 of 0 or 1"),
    ("dcurves", "net benefit at threshold 0, forecasts of 0"),
    ("scikit-learn", "mean log score of three classes, probabilities within 2.2e-16 of 0 or 1"),
    ("scikit-learn", "recalibrated probabilities, single precision"),
    ("scikit-learn", "mean log score of an event forecast 0"),
    ("scikit-learn", "recalibrated probability 4e-16 below another forecast"),
    ("model-diagnostics", "MCB, DSC, UNC of the Brier score, single precision"),
    ("model-diagnostics", "log score of a probability of 1.5"),
    ("dcurves", "net benefit with a missing forecast"),
    ("dcurves", "net benefit at threshold 0 of an event forecast 0"),
    ("briertools", "net benefit of DCAScorer"),
}


def package_of(line):
    return line.subject.split(" ")[0]


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    folder = shared_folder(tmp_path_factory, "peers")
    return make_once(folder, lambda: list(compare_with_peers(draw_cases(24, seed=2021))))


@pytest.fixture
def samples():
    return [PeerSample(case=case, number=k) for k, case in enumerate(draw_cases(11, seed=2021))]


# The study


@pytest.mark.sweep
def test_nothing_unexpected_is_found(lines):
    assert [line for line in lines if line.is_unexpected] == []
    assert {line.verdict for line in lines} <= {Verdict.AGREES, Verdict.EXPECTED, Verdict.ABSENT}


@pytest.mark.sweep
def test_known_deviations_are_these_and_no_others(lines):
    found = {(package_of(line), line.quantity) for line in lines if line.verdict is Verdict.EXPECTED}
    assert found == {(package, quantity) for package, quantity in EXPECTED if package in PRESENT}


@pytest.mark.sweep
def test_every_peer_is_compared_or_absent(lines):
    absent = {line.subject for line in lines if line.verdict is Verdict.ABSENT}
    assert absent == MODULES.keys() - PRESENT
    assert {package_of(line) for line in lines} == MODULES.keys()
    versions = {line.subject.split(" ")[1] for line in lines if line.subject not in absent}
    assert all(version[0].isdigit() for version in versions)


@pytest.mark.sweep
def test_every_comparison_has_a_name_of_its_own(lines):
    names = [(line.subject, line.quantity) for line in lines]
    assert len(names) == len(set(names))


@pytest.mark.sweep
def test_comparisons_say_how_many_cases_and_hold_the_worst(lines):
    brier = next(line for line in lines if line.quantity == "mean Brier score")
    assert (brier.reason, brier.tolerance) == ("24 cases.", 1e-12)
    assert brier.difference == abs(brier.engine - brier.reference) < 1e-15
    auc = next(line for line in lines if line.quantity == "AUC")
    assert auc.reason == "21 cases; left out 3 with outcomes of one class."


@pytest.mark.sweep
def test_wider_tolerances_are_explained(lines):
    wide = [line for line in lines if line.tolerance is not None and line.tolerance > 1e-12]
    assert wide
    assert all("Tolerance" in line.reason for line in wide)


@pytest.mark.sweep
def test_nothing_is_printed(capfd):
    list(compare_with_peers(draw_cases(2, seed=1)))
    assert capfd.readouterr() == ("", "")


def test_an_absent_peer_is_reported(monkeypatch):
    monkeypatch.setitem(sys.modules, "briertools", None)
    absent = [line for line in compare_with_peers(draw_cases(1, seed=1)) if "briertools" in line.subject]
    assert [(line.subject, line.quantity, line.verdict) for line in absent] == [
        ("briertools", "installed", Verdict.ABSENT)
    ]
    assert absent[0].reason.endswith("To fix: pip install briertools")


# Errors of ours are seen


def off_by(function, error=1e-6):
    return lambda *args, **options: function(*args, **options) + error


@pytest.mark.sweep
def test_a_broken_score_is_noticed(monkeypatch):
    monkeypatch.setattr(scores, "brier", off_by(scores.brier))
    lines = compare_with_peers(draw_cases(3, seed=2021))
    found = {package_of(line) for line in lines if line.is_unexpected and line.quantity == "mean Brier score"}
    assert found == {"scikit-learn", "scores", "briertools"} & PRESENT


@pytest.mark.sweep
def test_a_known_deviation_hides_no_error(monkeypatch):
    """Among forecasts of 0 and 1 too, where scikit-learn clips."""
    monkeypatch.setattr(scores, "multiclass_log_loss", off_by(scores.multiclass_log_loss))
    lines = compare_with_peers(draw_cases(5, seed=2021))
    found = [line for line in lines if line.quantity.startswith("mean log score of three classes")]
    assert [line.verdict for line in found] == [Verdict.DIFFERS, Verdict.DIFFERS]
    assert found[1].reason.startswith("1 case. It is not the known deviation: It clips")


def test_close_forecasts_are_expected_to_be_merged():
    p = np.array([0.2, 0.5, 0.5 + 4e-16, 0.5 + 8e-16, 0.9])
    case = Case(name="close", shape="close", y_true=np.array([0.0, 0, 1, 1, 1]), y_prob=p)
    lines = list(compare_with_peers([case]))
    assert [line for line in lines if line.is_unexpected] == []
    found = [line for line in lines if "within 1e-15" in line.quantity]
    quantities = [(package_of(line), line.quantity, line.verdict) for line in found]
    expected = [
        ("scikit-learn", "recalibrated probabilities"),
        ("model-diagnostics", "MCB, DSC, UNC of the Brier score"),
        ("model-diagnostics", "MCB, DSC, UNC of the log score"),
    ]
    assert quantities == [
        (package, f"{quantity}, forecasts within 1e-15 of each other", Verdict.EXPECTED)
        for package, quantity in expected
        if package in PRESENT
    ]


def test_merging_starts_anew_from_the_first_of_a_group():
    p = np.array([0.5, 0.5 + 6e-16, 0.5 + 12e-16])
    np.testing.assert_array_equal(merge_like_scikit_learn(p), [p[0], p[0], p[2]])
    single = np.array([0.5, 0.5 + 6e-7, 0.9], dtype=np.float32)
    np.testing.assert_array_equal(merge_like_scikit_learn(single), single[[0, 0, 2]].astype(float))


# How cases are summed up


def fail(error):
    def raising(_):
        raise error

    return raising


def mean(sample):
    return sample.p.mean()


ALL = CaseRule("rows", lambda sample: sample.n > 0)
PAIRS = CaseRule("two rows", lambda sample: sample.n == 2)


@pytest.mark.parametrize(
    ("ours", "theirs", "verdict", "reason"),
    [
        (mean, mean, Verdict.AGREES, "11 cases."),
        (mean, lambda s: mean(s) + 1e-11, Verdict.DIFFERS, "11 cases."),
        (mean, lambda _: math.nan, Verdict.DIFFERS, "11 cases."),
        (lambda _: math.nan, lambda _: math.nan, Verdict.AGREES, "11 cases."),
        (lambda _: [1e6, 0], lambda _: [1e6 + 1e-8, 0], Verdict.AGREES, "11 cases."),
        (lambda _: [0, 0], mean, Verdict.DIFFERS, "11 cases. continuous 1: 2 numbers of ours, 1 of theirs"),
        (fail(ValueError("no")), mean, Verdict.DIFFERS, "11 cases. continuous 1: Ours raised ValueError: no"),
        (
            mean,
            fail(ValueError("no")),
            Verdict.DIFFERS,
            "11 cases. continuous 1: Theirs raised ValueError: no",
        ),
        (
            mean,
            fail(AttributeError("no")),
            Verdict.NOT_COMPARED,
            "11 cases. continuous 1: This version lacks it: AttributeError: no",
        ),
    ],
)
def test_verdicts(samples, ours, theirs, verdict, reason):
    (line,) = run_check(Check("mean", ours, theirs), "peer", samples)
    assert (line.verdict, line.reason) == (verdict, reason)


def test_without_cases_nothing_is_compared(samples):
    (line,) = run_check(Check("mean", mean, mean, unless=(ALL,), most_cases=3), "peer", samples)
    assert line.verdict is Verdict.NOT_COMPARED
    assert line.reason == "0 cases of the first 3, to save time; left out 3 with rows."


@pytest.mark.parametrize(
    ("theirs", "imitate", "verdict", "reason"),
    [
        (
            lambda s: mean(s) + 1,
            lambda s: mean(s) + 1,
            Verdict.EXPECTED,
            "1 case. It adds 1. Imitated, the largest difference is 0.",
        ),
        (
            mean,
            lambda s: mean(s) + 1,
            Verdict.AGREES,
            "The known deviation is fixed in this version: It adds 1.",
        ),
        (mean, mean, Verdict.AGREES, "1 case. The known deviation made no difference: It adds 1."),
        (
            lambda s: mean(s) + 2,
            lambda s: mean(s) + 1,
            Verdict.DIFFERS,
            "It is not the known deviation: It adds 1.",
        ),
        (lambda s: mean(s) + 1, fail(ValueError("no")), Verdict.DIFFERS, "Ours raised ValueError: no"),
    ],
)
def test_verdicts_on_known_deviations(samples, theirs, imitate, verdict, reason):
    deviation = Deviation(only=PAIRS, imitate=imitate, reason="It adds 1.")
    check = Check("mean", mean, lambda s: theirs(s) if s.n == 2 else mean(s), deviation=deviation)
    plain, apart = run_check(check, "peer", samples)
    assert (plain.verdict, plain.reason) == (Verdict.AGREES, "10 cases; left out 1 with two rows.")
    assert (apart.quantity, apart.verdict) == ("mean, two rows", verdict)
    assert apart.reason.endswith(reason)


@pytest.mark.parametrize(
    ("ours", "theirs", "verdict", "reason"),
    [
        (lambda: 1.0, lambda: 2.0, Verdict.EXPECTED, "It doubles."),
        (lambda: 1.0, lambda: 1.0, Verdict.AGREES, "Fixed in this version. Before: It doubles."),
        (
            lambda: 1.0,
            lambda: 3.0,
            Verdict.DIFFERS,
            "Neither the correct value nor the known wrong value 2.0.",
        ),
        (lambda: 2.0, lambda: 2.0, Verdict.DIFFERS, "The correct value is 1.0."),
        (
            lambda: 1.0,
            lambda: {}["x"],
            Verdict.DIFFERS,
            "Neither the correct value nor the known wrong value 2.0.",
        ),
        (
            lambda: 1.0,
            lambda: float("x"),
            Verdict.DIFFERS,
            "Neither the correct value nor the known wrong value 2.0.",
        ),
    ],
)
def test_verdicts_on_demonstrations(ours, theirs, verdict, reason):
    shown = Demonstration(
        quantity="one", ours=ours, theirs=theirs, right=1.0, wrong=2.0, reason="It doubles."
    )
    line = run_demonstration(shown, "peer")
    assert (line.verdict, line.reason) == (verdict, reason)
    assert (line.difference is None) == isinstance(line.reference, str)
