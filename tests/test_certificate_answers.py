"""Failures, answers of R that cannot be read, and engines that are broken."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from certificate_tools import (
    BINS,
    BOUNDED,
    CONFIDENCE,
    CONSISTENCY,
    CONTINUOUS,
    COUNTS,
    DISCRETE,
    SCORES,
    _curves_once_fixture,
    ask,
    break_draws,
    break_mean,
    changed,
    compare,
    drawn,
    evaluate,
    frame_fixture,
    make_answer,
    make_frame,
    sound,
    with_band,
)

import scorereport as sr
from scorereport.reference import band_comparison
from scorereport.reference.comparison_records import (
    Verdict,
)
from scorereport.reference.questions import read_answer
from scorereport.reference.r_session import ReferenceFailure
from scorereport.reference.recorded_answers import (
    describe_recorded_answers,
)
from scorereport.reliability import bands
from scorereport.scores.registry import REGISTRY

_curves_once = pytest.fixture(autouse=True)(_curves_once_fixture)


frame = pytest.fixture(scope="module")(frame_fixture)


# Failures


@pytest.mark.parametrize(
    ("name", "quantity"),
    [
        ("discrete", DISCRETE),
        ("continuous", CONTINUOUS),
        ("consistency", CONSISTENCY),
        ("confidence", CONFIDENCE),
    ],
)
def test_an_error_of_r_in_one_part_fails_this_part(name, quantity):
    question, answer, before = drawn()
    after = compare(question, with_band(answer, name, error="subscript out of bounds"))
    line = after.pop(quantity)
    assert (line.verdict, line.reason) == (Verdict.FAILED, "subscript out of bounds")
    assert line.is_unexpected
    assert after == {other: before[other] for other in after}
    missing = {other for other in before if other.startswith(quantity)}
    missing |= {f"resampled {name} band, quantiles"} & set(before)
    assert set(before) - set(after) == missing


def test_a_score_that_r_does_not_know_is_not_compared():
    question, answer, before = sound("discrete 1")
    fewer = {name: values for name, values in answer.scores.items() if name != "spherical"}
    after = compare(question, replace(answer, scores=fewer))
    line = after.pop("Spherical score")
    assert (line.verdict, line.reason) == (Verdict.NOT_COMPARED, "R was not given this score.")
    assert after == {q: other for q, other in before.items() if not q.startswith("Spherical score")}


def test_bands_of_weighted_cases_are_not_compared():
    question = ask()
    weighted = replace(question, weight=np.full(40, 0.5))
    answer = replace(make_answer(question, quantiles="exact"), bands={})
    answer = replace(answer, bins={**answer.bins, "n": answer.bins["n"] / 2})
    lines = compare(weighted, answer, is_package=False)
    assert lines["bands"].verdict is Verdict.NOT_COMPARED
    assert lines["bands"].reason == "R has no bands for weighted cases."
    assert {line.verdict for q, line in lines.items() if q != "bands"} == {Verdict.AGREES}
    assert set(COUNTS) <= set(lines)
    spoilt = replace(answer, bins={**answer.bins, "n": changed(answer.bins["n"], 0)})
    after = compare(weighted, spoilt, is_package=False)
    assert [q for q, line in after.items() if line.verdict is Verdict.DIFFERS] == ["cases in bins"]
    rounded = replace(answer, bins={**answer.bins, "n": changed(answer.bins["n"], 0, 1e-14)})
    assert compare(weighted, rounded, is_package=False)["cases in bins"].verdict is Verdict.AGREES


def test_r_is_given_the_formulas_of_the_registry(monkeypatch):
    question, vectors = raw_answer()
    assert set(question.formulas) == {*SCORES, *BOUNDED}
    asked = question.vectors()
    assert dict(zip(asked["scores"], asked["formulas"], strict=True))["brier"] == "(x - y)^2"
    monkeypatch.setitem(REGISTRY, "brier", replace(REGISTRY["brier"], r_formula=""))
    assert set(question.formulas) == {*SCORES, *BOUNDED} - {"brier"}
    answer = read_answer({name: v for name, v in vectors.items() if name != "score.brier"}, question)
    assert compare(question, answer)["Brier score"].verdict is Verdict.NOT_COMPARED


# Reading answers


@cache
def raw_answer():
    """A question, and vectors as they come from R."""
    question = replace(ask(level=0.9), draws=20)
    answer = make_answer(question, draws=("consistency", "confidence"))
    vectors = {f"score.{name}": values for name, values in answer.scores.items()}
    vectors |= {"totals": answer.totals, "cep": answer.cep, "seconds": np.array([0.25]), "rpy2": ["3.6.5"]}
    vectors |= {"auc": np.array([answer.auc]), "murphy": answer.murphy}
    vectors |= {f"bins.{name}": column for name, column in answer.bins.items()}
    for name, band in answer.bands.items():
        vectors |= {f"{name}.{part}": getattr(band, part) for part in ("x", "lower", "upper")}
        vectors[f"{name}.level"] = np.array([band.level])
    return question, vectors


def test_an_answer_is_read():
    question, vectors = raw_answer()
    answer = read_answer(vectors, question)
    assert set(answer.scores) == {*SCORES, *BOUNDED}
    assert set(answer.bands) == {"discrete", "continuous", "consistency", "confidence"}
    assert answer.seconds == 0.25
    np.testing.assert_array_equal(answer.cep, vectors["cep"])
    np.testing.assert_array_equal(answer.bins["x_min"], vectors["bins.x_min"])
    np.testing.assert_array_equal(answer.bands["confidence"].upper, vectors["confidence.upper"])
    assert answer.bands["continuous"].level == 0.9


def assert_refused(vectors, question, sentence):
    with pytest.raises(ReferenceFailure, match=f"^{re.escape(sentence)}$"):
        read_answer(vectors, question)


ALL_BANDS = [f"{band}.{part}" for band in ("discrete", "confidence") for part in ("lower", "upper", "level")]


@pytest.mark.parametrize(
    "name",
    [
        "bins.n",
        "bins.x_min",
        "bins.x_max",
        "bins.cep",
        "cep",
        "auc",
        "murphy",
        "totals",
        "seconds",
        "continuous.lower",
        *ALL_BANDS,
    ],
)
@pytest.mark.parametrize("instead", [None, np.empty(0), ["many", "words"]], ids=["none", "empty", "texts"])
def test_an_answer_without_its_numbers_is_refused(name, instead):
    question, vectors = raw_answer()
    spoilt = {key: vector for key, vector in vectors.items() if key != name}
    if instead is not None:
        spoilt[name] = instead
    assert_refused(spoilt, question, f"R answered without the numbers `{name}`.")


@pytest.mark.parametrize(
    "name",
    [
        "bins.x_min",
        "bins.x_max",
        "bins.cep",
        "cep",
        "murphy",
        "totals",
        "continuous.lower",
        *ALL_BANDS,
    ],
)
def test_an_answer_with_more_numbers_is_refused(name):
    question, vectors = raw_answer()
    n = len(vectors[name])
    spoilt = {**vectors, name: np.append(vectors[name], 0.5)}
    assert_refused(spoilt, question, f"R answered with {n + 1} numbers `{name}` instead of {n}.")


@pytest.mark.parametrize("score", [*SCORES, *BOUNDED])
def test_a_score_without_its_five_numbers_is_refused(score):
    question, vectors = raw_answer()
    score = f"score.{score}"
    assert_refused(
        {**vectors, score: vectors[score][:3]}, question, f"R answered with 3 numbers `{score}` instead of 5."
    )
    missing = f"R answered without the numbers `{score}`."
    assert_refused({**vectors, score: ["a", "b", "c", "d"]}, question, missing)
    assert_refused({key: v for key, v in vectors.items() if key != score}, question, missing)


@pytest.mark.parametrize("band", ["discrete", "continuous", "consistency", "confidence"])
def test_an_answer_without_a_band_is_refused_unless_cases_are_weighted(band):
    question, vectors = raw_answer()
    spoilt = {name: vector for name, vector in vectors.items() if not name.startswith(f"{band}.")}
    assert_refused(spoilt, question, f"R answered without the band `{band}`.")
    weighted = replace(question, weight=np.full(40, 0.5))
    plain = {key: v for key, v in vectors.items() if "." not in key or key.startswith(("bins", "score"))}
    assert read_answer(plain, weighted).bands == {}


def test_an_error_of_a_part_is_read():
    question, vectors = raw_answer()
    spoilt = {name: vector for name, vector in vectors.items() if not name.startswith("discrete.")}
    answer = read_answer({**spoilt, "discrete.error": ["no", "way"]}, question)
    assert answer.bands["discrete"].error == "no way"
    assert not any(answer.bands[name].error for name in ("continuous", "consistency", "confidence"))


def break_fit(monkeypatch):
    from scorereport.reliability.fit import Corp

    recalibrate = Corp.recalibrate
    monkeypatch.setattr(Corp, "recalibrate", lambda fit, p: recalibrate(fit, p) * (1 - 1e-6))
    return {"recalibrated probabilities"}


def break_discrete_band(monkeypatch):

    width = bands.discrete_half_width
    monkeypatch.setattr(bands, "discrete_half_width", lambda *given: width(*given) * (1 + 1e-6))
    return {DISCRETE}


@pytest.mark.sweep
@pytest.mark.parametrize("break_engine", [break_mean, break_fit, break_discrete_band, break_draws])
def test_a_broken_engine_differs_from_the_record(break_engine, monkeypatch):
    if break_engine is not break_draws:  # for the others the curves of resampled bands are of no account
        monkeypatch.setattr(band_comparison, "OUR_DRAWS", 200)
    broken = break_engine(monkeypatch)
    c = sr.certify(evaluate(make_frame(30)), reference="recorded")
    differing = {line.quantity for line in c.comparisons if line.verdict is Verdict.DIFFERS}
    assert broken <= differing
    assert not any(quantity in differing for quantity in BINS)
    assert c.verdict == "failed"
    assert {line.quantity for line in c.unexpected} == differing
    assert c.sentence == (
        "Not checked on these data. Only recorded answers were requested. The engine differs from "
        f"{describe_recorded_answers()}, of other data."
    )
