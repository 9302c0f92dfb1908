"""Whole certificates, also of live R."""

from __future__ import annotations

import hashlib
import json
import math
import re
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from artefact_tools import make_once, shared_folder
from certificate_tools import (
    BINS,
    BOUNDED,
    BY_TABLE,
    CERTAIN,
    COMPONENTS,
    CONFIDENCE,
    CONSISTENCY,
    CONTINUOUS,
    COUNTS,
    CURVE,
    DISCRETE,
    EXACT,
    LABELS,
    MODELS,
    QUANTILES,
    SCORES,
    _curves_once_fixture,
    ask,
    break_draws,
    break_mean,
    changed,
    compare,
    evaluate,
    frame_fixture,
    sample_of,
    without,
)
from reference_tools import base_fixture, package_fixture

import scorereport as sr
from scorereport.reference import band_comparison, certification
from scorereport.reference.band_comparison import OUR_DRAWS
from scorereport.reference.comparison_records import Comparison, Verdict
from scorereport.reference.live_references import BASE, PACKAGE, open_reference
from scorereport.reference.questions import RESAMPLED, Question, read_answer
from scorereport.reference.recorded_answers import (
    describe_recorded_answers,
)
from scorereport.study.case_comparison import compare_case_live
from scorereport.study.case_summary import merge_summaries, summarise_case
from scorereport.study.seeded_cases import CASE_SHAPES, draw_cases

_curves_once = pytest.fixture(autouse=True)(_curves_once_fixture)


frame = pytest.fixture(scope="module")(frame_fixture)


package = pytest.fixture(scope="module")(package_fixture)


base = pytest.fixture(scope="module")(base_fixture)


COMPLETE = "scores and bands that an evaluation has"


@pytest.fixture(scope="module")
def evaluation(frame):
    return evaluate(frame)


@pytest.fixture(scope="module")
def recorded_certificate(evaluation, tmp_path_factory):
    folder = shared_folder(tmp_path_factory, "recorded certificate")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(band_comparison, "OUR_DRAWS", OUR_DRAWS // 5)
        return make_once(folder, lambda: sr.certify(evaluation, reference="recorded"))


@pytest.fixture
def _quick_record(recorded_certificate, monkeypatch):
    """Reuse the comparisons of `recorded_certificate`, which take seconds."""
    monkeypatch.setattr(certification, "compare_with_record", lambda: iter(recorded_certificate.comparisons))


def test_recorded_answers_do_not_certify_these_data(recorded_certificate):
    c = recorded_certificate
    assert c.verdict == "not checked"
    assert c.sentence == (
        "Not checked on these data. Only recorded answers were requested. The engine agrees with 44 "
        "recorded answers of reliabilitydiag 0.2.1.9000 (R 4.2.2), of other data."
    )
    assert c.reference == describe_recorded_answers()
    assert "through rpy2" not in c.reference
    assert set(c.software) == {"scorereport"}
    assert c.attempts == ()
    assert {line.subject for line in c.comparisons} == {"Recorded answers"}
    assert c.unexpected == ()


def hash_of(frame, names):
    columns = (name.encode() + b"\0" + frame[name].to_numpy().astype("<f8").tobytes() for name in names)
    return hashlib.sha256(b"".join(columns)).hexdigest()


def test_the_hash_is_that_of_the_data(frame, evaluation, recorded_certificate):
    assert recorded_certificate.sha256 == hash_of(frame, ("y", *MODELS))
    assert recorded_certificate.results_sha256 == hashlib.sha256(evaluation.to_json().encode()).hexdigest()
    assert recorded_certificate.rows == len(frame)


@pytest.mark.usefixtures("_quick_record")
def test_the_hash_of_weighted_data_has_their_weights(frame):
    c = sr.certify(evaluate(frame, weight="share"), reference="recorded")
    assert c.sha256 == hash_of(frame, ("y", *MODELS, "share"))


def test_certificates_are_read_back_equal(recorded_certificate, tmp_path):
    path = tmp_path / "certificate.json"
    text = recorded_certificate.to_json(path)
    assert path.read_text(encoding="utf-8") == text
    assert sr.Certificate.from_json(path) == recorded_certificate
    assert json.loads(text)["verdict"] == "not checked"


@pytest.mark.sweep
def test_certificates_of_one_time_are_the_same_bytes(evaluation, recorded_certificate, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    again = sr.certify(evaluation, reference="recorded")
    assert again.time == "2023-11-14T22:13:20+00:00"
    assert again.to_json() == replace(recorded_certificate, time=again.time).to_json()


@pytest.mark.usefixtures("_quick_record")
def test_an_evaluation_from_a_file_needs_its_data(frame, evaluation, tmp_path):
    path = tmp_path / "evaluation.json"
    evaluation.to_json(path)
    again = sr.Evaluation.from_json(path)
    with pytest.raises(
        sr.UsageError,
        match=r"^This evaluation was read without its data; pass the predictions as `data`\.$",
    ):
        sr.certify(again)
    data = sr.read_predictions(frame, outcome="y", forecasts=list(MODELS))
    c = sr.certify(again, data=data, reference="recorded")
    assert c.sha256 == evaluation.predictions.sha256


def test_data_must_have_the_forecasts_of_all_models(frame, evaluation):
    for names in (["sharp", "certain"], ["rounded", "sharp", "certain"], [*MODELS, "share"]):
        odd = frame.assign(share=frame["share"] / 2)
        data = sr.read_predictions(odd, outcome="y", forecasts=names)
        sentence = f"The evaluation is of sharp, rounded, certain, the data are of {', '.join(names)}."
        with pytest.raises(sr.UsageError, match=f"^{re.escape(sentence)}$"):
            sr.certify(evaluation, data=data)


@pytest.mark.parametrize("models", [(0, 1), (0, 1, 2, 2), (0, 1, 1), (0, 2, 1)])
def test_a_model_that_was_removed_doubled_or_moved_is_refused(evaluation, models):
    spoilt = replace(evaluation, models=tuple(evaluation.models[k] for k in models))
    named = ", ".join(MODELS[k] for k in models)
    sentence = f"The evaluation is of {named}, the data are of sharp, rounded, certain."
    with pytest.raises(sr.UsageError, match=f"^{re.escape(sentence)}$"):
        sr.certify(spoilt, data=evaluation.predictions)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"reference": "R"},
            '`reference` must be one of "auto", "reliabilitydiag", "base", "recorded"; got \'R\'.',
        ),
        ({"draws": 99}, "`draws` must be a whole number of at least 100; got 99."),
        ({"draws": 0}, "`draws` must be a whole number of at least 100; got 0."),
        ({"time_limit": 0.0}, "`time_limit` must lie in (0, inf); got 0."),
    ],
)
def test_options_are_checked(evaluation, options, sentence):
    with pytest.raises(sr.UsageError) as refusal:
        sr.certify(evaluation, **options)
    assert str(refusal.value) == sentence


@pytest.fixture
def few_draws(monkeypatch):
    """Few draws of the engine too, for tests that are not about bands of random draws."""
    monkeypatch.setattr(band_comparison, "OUR_DRAWS", 200)


@pytest.fixture
def running(package, base, monkeypatch, few_draws):  # noqa: ARG001
    """Certify by references that already run, and allow no draws: R takes long for resampled bands."""
    monkeypatch.setattr(certification, "FEWEST_DRAWS", 0)

    @contextmanager
    def find(kind, _time_limit, _on_start):
        yield {PACKAGE: package, BASE: base}[kind]

    monkeypatch.setattr(certification, "open_reference", find)


def certify(evaluation, **options):
    return sr.certify(evaluation, **{"draws": 0, **options})


#: Comparisons of which tests/test_certificate_inference.py has the tests.
OF_INFERENCE = re.compile(
    "calibration line|tests of calibration|intervals|errors of resamples|decision|differences of models|"
    "differences of net benefit|.*uncorrected$"
)


def quantities_of(certificate, model, verdict):
    """The quantities of one verdict, without those of inference."""
    return {
        line.quantity
        for line in certificate.comparisons
        if (line.subject, line.verdict) == (model, verdict) and not OF_INFERENCE.match(line.quantity)
    }


def count_of(certificate, source):
    """The comparisons with a source, in words."""
    return certification._count([line for line in certificate.comparisons if line.source == source])


ALL_SCORES = {f"{LABELS[score]}: {part}" for score in (*SCORES, *BOUNDED) for part in COMPONENTS}


REPORTED = {
    *(f"{LABELS[score]}: {part}" for score in (*SCORES, *BOUNDED) for part in ("as reported", "skill")),
    "AUC: skill",
    "cases and events",
    COMPLETE,
}


PLAIN = {*ALL_SCORES, *BINS, *CURVE, *COUNTS, *REPORTED, "recalibrated probabilities"}


AGREEING = {*PLAIN, DISCRETE, CONSISTENCY, CONFIDENCE, *QUANTILES}


def test_verdicts_are_counted_in_words():
    verdicts = (Verdict.AGREES, Verdict.AGREES, Verdict.EXPECTED, Verdict.NOT_COMPARED, Verdict.DIFFERS)
    lines = [Comparison(subject="m", quantity="MCB", verdict=verdict, reason="") for verdict in verdicts]
    assert certification._count(lines) == (
        "2 agree, 1 deviates as expected, 1 could not be compared, 1 DIFFERS"
    )


@pytest.mark.sweep
@pytest.mark.r
def test_three_models_are_certified_by_the_package(evaluation, package, tmp_path):
    """As a user calls it, with its own R process."""
    c = sr.certify(evaluation)
    assert (c.verdict, c.unexpected, c.attempts) == ("certified", (), ())
    assert re.fullmatch(r"reliabilitydiag \S+ \(R \S+\) through rpy2 \S+", c.reference)
    assert c.reference == package.title
    assert set(c.software) >= {"scorereport", "R", "reliabilitydiag", "monotone", "rpy2", "python"}
    assert {line.subject for line in c.comparisons} == set(MODELS)
    for model in MODELS:
        expected = {EXACT} | ({CERTAIN} & quantities_of(c, model, Verdict.EXPECTED))
        assert quantities_of(c, model, Verdict.EXPECTED) == expected
        agreeing = quantities_of(c, model, Verdict.AGREES)
        assert agreeing == AGREEING | {BY_TABLE, f"{CONTINUOUS}: level"}
    count = Counter((line.source, line.verdict) for line in c.comparisons)
    agree, deviate = (count["reliabilitydiag", v] for v in (Verdict.AGREES, Verdict.EXPECTED))
    of_base = sum(count["base R", v] for v in (Verdict.AGREES, Verdict.NOT_COMPARED))
    assert (count["the engine", Verdict.AGREES], count["numpy", Verdict.AGREES]) == (3, 6)
    assert count["base R", Verdict.AGREES] > 18  # as many as without decisions and curves
    assert sum(count.values()) == agree + deviate + of_base + 9
    assert c.sentence == (
        f"Certified on these data. {agree} agree, {deviate} deviate as expected with {c.reference}; "
        f"3 agree of the evaluation with the engine itself; {count_of(c, 'base R')} with plain arithmetic of "
        "base R; 6 agree with numpy."
    )
    assert c.left_out == certification.LEFT_OUT
    path = tmp_path / "certificate.json"
    c.to_json(path)
    assert sr.Certificate.from_json(path) == c
    assert c.expected == tuple(line for line in c.comparisons if line.verdict is Verdict.EXPECTED)


@pytest.mark.sweep
@pytest.mark.r
def test_three_models_are_confirmed_by_base_r_under_its_own_name(evaluation, base):
    """And never under that of the package."""
    c = sr.certify(evaluation, reference="base")
    assert (c.verdict, c.unexpected, c.expected, c.attempts) == ("confirmed", (), (), ())
    assert (
        c.reference
        == base.title
        == (f"base R {base.software['R']} (stats::isoreg and plain arithmetic in a script of scorereport)")
    )
    assert "reliabilitydiag" not in c.reference + c.sentence + json.dumps(c.software)
    assert "rpy2" not in c.reference + c.sentence + json.dumps(c.software)
    for model in MODELS:
        assert quantities_of(c, model, Verdict.AGREES) == AGREEING | {
            f"{CONTINUOUS}, given Chernoff's quantile"
        }
    assert {line.source for line in c.comparisons} == {"base R", "the engine", "numpy"}


@pytest.mark.sweep
@pytest.mark.r
@pytest.mark.usefixtures("running")
@pytest.mark.parametrize("level", [0.8, 0.9, 0.95, 0.9998, 0.9999])
def test_bands_of_all_levels_are_certified(frame, level):
    evaluation = evaluate(frame, MODELS[:2], band_level=level, cost_interval=None)
    c = certify(evaluation, reference="reliabilitydiag")
    assert (c.verdict, c.unexpected) == ("certified", ())
    level_line = set() if level == 0.9 else {f"{CONTINUOUS}: level"}
    for model in MODELS[:2]:
        expected = quantities_of(c, model, Verdict.EXPECTED) - {CERTAIN}
        assert expected == ({CONTINUOUS} if level > 0.9998 else {EXACT, *level_line})
    assert not any("ounded" in line.quantity for line in c.comparisons)
    by_base = certify(evaluation, reference="base")
    assert {line.verdict for line in by_base.comparisons} == {Verdict.AGREES}


def awkward(name):
    rng = np.random.default_rng(11)
    x = rng.random(40)
    y = (rng.random(40) < x).astype(float)
    return {
        "two rows": ([0, 1], [0.2, 0.7]),
        "two rows, one forecast": ([0, 1], [0.4, 0.4]),
        "no event": (np.zeros(40), x),
        "events only": (np.ones(40), x),
        "constant": (y, np.full(40, 0.3)),
        "single precision": (y, x.astype(np.float32)),
        "heavy ties": (y, np.where(np.arange(40) < 30, 0.3, x)),
        "0 and 1": (y, x.round()),
        "all 1": (y, np.ones(40)),
        "wrong and certain": (1 - y, y),
        "one half": (y, np.where(np.arange(40) % 2, 0.5, x)),
    }[name]


AWKWARD = [
    "two rows",
    "two rows, one forecast",
    "no event",
    "events only",
    "constant",
    "single precision",
    "heavy ties",
    "0 and 1",
    "all 1",
    "wrong and certain",
    "one half",
]


@pytest.mark.sweep
@pytest.mark.r
@pytest.mark.usefixtures("running")
@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_data_are_certified(name):
    y, x = awkward(name)
    evaluation = evaluate(pd.DataFrame({"y": y, "model": x}), ["model"])
    for reference in ("reliabilitydiag", "base"):
        c = certify(evaluation, reference=reference, draws=100)
        assert c.unexpected == ()
        assert c.verdict == ("confirmed" if reference == "base" else "certified")
        lines = {line.quantity: line for line in c.comparisons}
        assert set(lines) >= {*PLAIN, DISCRETE}
        assert all(lines[quantity].verdict is Verdict.AGREES for quantity in {*ALL_SCORES, *COUNTS})
        is_infinite = name in {"0 and 1", "all 1", "wrong and certain"}
        for part in ("mean score", "MCB"):
            line = lines[f"Log score: {part}"]
            assert math.isinf(line.engine) is math.isinf(line.reference) is is_infinite


@pytest.mark.sweep
@pytest.mark.r
@pytest.mark.usefixtures("running")
@pytest.mark.parametrize("name", ["no event", "wrong and certain"])
def test_certificates_with_infinite_and_undefined_numbers_are_read_back(name, tmp_path):
    """With one class, the AUC is undefined on both sides, which agrees."""
    y, x = awkward(name)
    c = certify(evaluate(pd.DataFrame({"y": y, "model": x}), ["model"]), reference="base")
    path = tmp_path / "certificate.json"
    text = c.to_json(path)
    again = sr.Certificate.from_json(path)
    assert again.to_json() == text
    assert again == c
    special = {repr(line.engine) for line in c.comparisons} & {"nan", "inf"}
    assert special == ({"nan"} if name == "no event" else {"inf"})


@pytest.mark.r
@pytest.mark.usefixtures("running")
def test_single_precision_is_compared_as_it_is():
    """All digits of float32 are kept, and no others: rounded to 6 digits, scores differ."""
    y, x = awkward("single precision")
    evaluation = evaluate(pd.DataFrame({"y": y, "model": x}), ["model"])
    assert evaluation.predictions.forecasts["model"].tolist() == [float(value) for value in x]


@pytest.mark.sweep
@pytest.mark.r
@pytest.mark.usefixtures("running")
def test_whole_weights_are_repeated_rows(frame):
    weighted = certify(evaluate(frame, MODELS[:2], weight="count"))
    rows = frame.loc[frame.index.repeat(frame["count"])]
    repeated = certify(evaluate(rows, MODELS[:2]))
    assert weighted.verdict == repeated.verdict == "certified"
    assert weighted.reference == repeated.reference
    assert weighted.reference.startswith("reliabilitydiag ")
    for one, other in zip(weighted.comparisons, repeated.comparisons, strict=True):
        assert (one.subject, one.quantity, one.verdict) == (other.subject, other.quantity, other.verdict)
        assert one.reference == other.reference
    assert weighted.rows == len(frame)


@pytest.mark.sweep
@pytest.mark.r
@pytest.mark.usefixtures("running")
def test_fractional_weights_are_confirmed_by_base_r_by_name(frame, base):
    c = certify(evaluate(frame, weight="share"))
    assert (c.verdict, c.reference, c.unexpected) == ("confirmed", base.title, ())
    (attempt,) = c.attempts
    assert (attempt.reference, attempt.remedy) == ("reliabilitydiag through rpy2", "")
    assert attempt.reason == (
        "The R package has no case weights, and these weights are not whole numbers of rows."
    )
    for model in MODELS:
        assert quantities_of(c, model, Verdict.NOT_COMPARED) == {"bands"}
        assert quantities_of(c, model, Verdict.AGREES) == PLAIN
    assert c.sentence == (
        f"Confirmed on these data by base R. {count_of(c, 'base R')} with {base.title}; 3 agree of the "
        "evaluation with the engine itself."
    )
    refused = certify(evaluate(frame, weight="share"), reference="reliabilitydiag")
    assert refused.verdict == "not checked"
    assert refused.attempts == c.attempts
    assert refused.sentence.startswith(f"Not checked on these data. {attempt.reason} The engine agrees ")


@pytest.mark.r
@pytest.mark.usefixtures("running")
def test_rows_with_a_weight_of_zero_do_not_count(frame):
    """Whole or not; a forecast with weight zero has no effect, however far it is from all others."""
    odd = frame.assign(share=np.where(frame.index < 40, 0.0, frame["share"]))
    c = certify(evaluate(odd, weight="share"))
    assert (c.verdict, c.unexpected) == ("confirmed", ())


@pytest.mark.r
@pytest.mark.usefixtures("running")
def test_clusters_are_certified_as_rows(frame):
    clustered = certify(evaluate(frame, ["rounded"], cluster="site"))
    plain = certify(evaluate(frame, ["rounded"]))
    assert clustered.verdict == "certified"
    assert clustered.comparisons == plain.comparisons


def tamper(evaluation, model, name, **parts):
    """The same evaluation with another number in one decomposition."""

    def spoil(d):
        return (
            replace(d, **{part: getattr(d, part) + by for part, by in parts.items()}) if d.name == name else d
        )

    def spoil_model(result):
        if result.model != model:
            return result
        spoilt = tuple(map(spoil, result.scores.decompositions))
        return replace(result, scores=replace(result.scores, decompositions=spoilt))

    return replace(evaluation, models=tuple(map(spoil_model, evaluation.models)))


@pytest.mark.sweep(after=2)
@pytest.mark.r
@pytest.mark.usefixtures("running")
@pytest.mark.parametrize("reference", ["reliabilitydiag", "base"])
@pytest.mark.parametrize(
    ("parts", "named"),
    [
        ({"perfect": 1e-6}, ["perfect forecast"]),
        ({"score": 1e-6, "recalibrated": 1e-6, "reference": 1e-6}, ["mean score", "UNC"]),
        ({"score": 1e-6}, ["mean score", "MCB"]),
        ({"recalibrated": -1e-6}, ["MCB", "DSC"]),
        ({"reference": 1e-6}, ["DSC", "UNC"]),
    ],
)
def test_a_number_that_was_tampered_with_is_named(frame, parts, named, reference):
    evaluation = evaluate(frame, MODELS[:2])
    spoilt = tamper(evaluation, "rounded", "spherical", **parts)
    c = certify(spoilt, data=evaluation.predictions, reference=reference)
    assert c.verdict == "failed"
    assert [(line.subject, line.quantity) for line in c.unexpected] == [
        ("rounded", f"Spherical score: {part}") for part in named
    ]
    assert all(line.difference == pytest.approx(1e-6, rel=1e-6) for line in c.unexpected)
    assert c.sentence.startswith("Failed. ")
    assert re.search(rf", {len(named)} DIFFERS? with ", c.sentence)


def with_score(result, name, **parts):
    """A result with another number in one of its scores."""
    scores = (
        replace(v, **{part: getattr(v, part) + by for part, by in parts.items()}) if v.name == name else v
        for v in result.scores.scores
    )
    return replace(result, scores=replace(result.scores, scores=tuple(scores)))


def with_curve(result, part, index, by):
    curve = result.curves.reliability
    spoilt = replace(curve, **{part: changed(getattr(curve, part), index, by)})
    return replace(result, curves=replace(result.curves, reliability=spoilt))


def with_reported(result, kind, **parts):
    """A result with another pointwise band."""

    def spoil(band):
        if (band.kind, band.coverage) != (kind, "pointwise"):
            return band
        return replace(band, **{name: part(band) if callable(part) else part for name, part in parts.items()})

    return replace(result, bands=tuple(map(spoil, result.bands)))


def again(kind):
    return f"reported {kind} band (resampling), drawn again"


def narrower(fit, kind):
    """The engine's band of level .8, as if that level had been requested."""
    band = fit.band(kind, 0.8, resamples=40, points=400)
    return {"x": band.x, "lower": band.lower, "upper": band.upper, "level": 0.8}


def tampered(result):
    """Every kind of number that a certificate covers, a millionth off; and what must be named."""
    for name in (*SCORES, *BOUNDED):
        yield {f"{LABELS[name]}: as reported"}, with_score(result, name, value=1e-6)
        yield {f"{LABELS[name]}: skill"}, with_score(result, name, skill=-1e-6)
        for what in ("scores", "decompositions"):
            yield {COMPLETE}, without(result, what, name)
    yield {COMPLETE}, without(result, "scores", "roc_auc")
    yield {"AUC"}, with_score(result, "roc_auc", value=1e-6)
    yield {"AUC: skill"}, with_score(result, "roc_auc", skill=1e-6)
    for part in ("reliability", "resolution", "uncertainty"):
        murphy = replace(result.murphy, **{part: getattr(result.murphy, part) - 1e-6})
        yield {f"Murphy's {part}"}, replace(result, murphy=murphy)
    for index in (0, 2, -1):
        yield {CURVE[1]}, with_curve(result, "cep", index, 1e-6)
        yield {CURVE[0]}, with_curve(result, "forecast", index, -1e-6)


def tampered_bands(result, fit):
    """The same for the pointwise bands, the description of them, and a band of another level."""
    for kind in RESAMPLED:
        yield {COMPLETE}, without(result, "bands", kind)
        for part in ("x", "lower", "upper"):
            for index in (0, 3, -1):
                spoilt = {part: lambda band, part=part, i=index: changed(getattr(band, part), i)}
                yield {again(kind)}, with_reported(result, kind, **spoilt)
        other = {"level": 0.8, "n": 119.0, "resamples": 41, "seed": 2022, "method": "discrete"}
        for part, value in {**other, "shape": "step"}.items():
            yield {again(kind)}, with_reported(result, kind, **{part: value})
        yield {again(kind)}, with_reported(result, kind, **narrower(fit, kind))
        both = [band for band in result.bands if (band.kind, band.coverage) == (kind, "pointwise")]
        yield {COMPLETE}, replace(result, bands=(*result.bands, *both))


@pytest.mark.sweep
@pytest.mark.r
@pytest.mark.usefixtures("running")
def test_every_number_that_was_tampered_with_is_named(frame, remembered_base, monkeypatch):
    """No other number is reported as different; a missing number is reported as missing."""
    open_once(monkeypatch, remembered_base)
    evaluation = evaluate(frame, ["rounded"], resamples=40)
    assert certify(evaluation, reference="base").verdict == "confirmed"
    (result,) = evaluation.models
    fit = sr.corp(frame["y"], frame["rounded"])
    count = 0
    for named, spoilt in (*tampered(result), *tampered_bands(result, fit)):
        c = certify(replace(evaluation, models=(spoilt,)), data=evaluation.predictions, reference="base")
        assert c.verdict == "failed"
        assert {line.quantity for line in c.unexpected} >= named
        assert {line.quantity for line in c.unexpected} <= {*named, *CURVE[1:]}
        count += 1
    assert count == 4 * len(result.scores.decompositions) + 3 + 3 + 6 + 2 * (1 + 9 + 6 + 2)


@pytest.mark.r
@pytest.mark.usefixtures("running")
@pytest.mark.parametrize("part", ["total", "events"])
def test_totals_that_were_tampered_with_are_named(frame, part):
    evaluation = evaluate(frame, ["rounded"])
    sample = evaluation.data.sample
    spoilt = replace(sample, **{part: getattr(sample, part) * (1 + 1e-6)})
    c = certify(
        replace(evaluation, data=replace(evaluation.data, sample=spoilt)),
        data=evaluation.predictions,
        reference="base",
    )
    assert [line.quantity for line in c.unexpected] == ["cases and events"]


@pytest.mark.r
@pytest.mark.usefixtures("running")
def test_other_data_fail(frame):
    evaluation = evaluate(frame, MODELS[:2])
    swapped = frame.rename(columns={"sharp": "rounded", "rounded": "sharp"})
    data = sr.read_predictions(swapped, outcome="y", forecasts=list(MODELS[:2]))
    c = certify(evaluation, data=data)
    assert c.verdict == "failed"
    assert {line.subject for line in c.unexpected} == set(MODELS[:2])
    quantities = {line.quantity for line in c.unexpected if not line.quantity.startswith("decision")}
    assert quantities <= {*ALL_SCORES, *CURVE, *COUNTS, *REPORTED}
    assert c.sha256 == data.sha256 != evaluation.predictions.sha256
    one_row = frame.assign(y=np.where(frame.index == 5, 1 - frame["y"], frame["y"]))
    data = sr.read_predictions(one_row, outcome="y", forecasts=list(MODELS[:2]))
    assert certify(evaluation, data=data).verdict == "failed"


@pytest.mark.sweep
@pytest.mark.r
@pytest.mark.usefixtures("running")
def test_live_certificates_of_one_time_are_the_same_bytes(frame, monkeypatch):
    """Also the random draws of R: it is given the seed."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    evaluation = evaluate(frame, ["rounded"])
    first, second = (certify(evaluation, draws=100).to_json() for _ in range(2))
    assert first == second


@pytest.mark.r
@pytest.mark.parametrize("digits", [1, 2, 17])
def test_base_r_agrees(base, digits):
    """stats::isoreg, on many cases with ties or without."""
    rng = np.random.default_rng(digits)
    x = rng.random(3000).round(digits)
    question = Question(y_true=(rng.random(3000) < x**2).astype(float), y_prob=x, draws=2)
    answer = read_answer(base.ask(question), question)
    fit = sr.corp(question.y_true, x)
    np.testing.assert_allclose(fit.cep, answer.cep, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(fit.blocks.n, answer.bins["n"])
    np.testing.assert_array_equal(fit.blocks.x_min, answer.bins["x_min"])
    np.testing.assert_array_equal(fit.blocks.x_max, answer.bins["x_max"])


@pytest.mark.sweep(after=1)
@pytest.mark.r
@pytest.mark.parametrize("level", [0.8, 0.9, 0.95])
@pytest.mark.parametrize("n", [60, 200])
def test_consistency_bands_of_the_package_agree(package, n, level):
    """By theory, number by number with numpy."""
    y, x = sample_of(n, 17 if n == 60 else 1)
    question = Question(y_true=y, y_prob=x, level=level, draws=2)
    bands = read_answer(package.ask(question), question).bands
    fit = sr.corp(y, x)
    for name, options in (("discrete", {}), ("continuous", {"quantiles": "r"})):
        band = fit.band("consistency", level, method=name, **options)
        np.testing.assert_allclose(band.x, bands[name].x, rtol=0, atol=1e-14)
        np.testing.assert_allclose(band.lower, bands[name].lower, rtol=0, atol=1e-10)
        np.testing.assert_allclose(band.upper, bands[name].upper, rtol=0, atol=1e-10)
    assert (bands["discrete"].level, bands["continuous"].level) == (level, 0.9)


class Remembered:
    """A reference that answers each question once and keeps the answer."""

    def __init__(self, reference):
        self.reference, self.answers = reference, {}
        self.name, self.is_package = reference.name, reference.is_package
        self.title, self.software = reference.title, reference.software

    def ask(self, question):
        key = question.y_prob.tobytes()
        if key not in self.answers:
            self.answers[key] = self.reference.ask(question)
        return self.answers[key]

    def fetch(self, what, **vectors):
        key = (what, *(np.asarray(vector).tobytes() for vector in vectors.values()))
        if key not in self.answers:
            self.answers[key] = self.reference.fetch(what, **vectors)
        return self.answers[key]


@cache
def live_cases():
    """One of every shape and one more, of no more than 100 rows."""
    cases = list(draw_cases(12, seed=8))
    assert {case.shape for case in cases} == set(CASE_SHAPES[:-1])
    return [replace(case, y_true=case.y_true[:100], y_prob=case.y_prob[:100]) for case in cases]


def compare_live(cases, reference, seed):
    """The lines of the study about some cases."""
    summaries = [
        summarise_case(case, number, compare_case_live(case, number, reference, seed))
        for number, case in enumerate(cases)
    ]
    return merge_summaries(summaries).describe()


@pytest.fixture(scope="module")
def remembered(package):
    return Remembered(package)


@pytest.fixture(scope="module")
def remembered_base(base):
    return Remembered(base)


def open_once(monkeypatch, reference):
    """Certify by a reference that keeps its answers."""

    @contextmanager
    def find(_kind, _time_limit, _on_start):
        yield reference

    monkeypatch.setattr(certification, "open_reference", find)


@pytest.mark.sweep
@pytest.mark.r
@pytest.mark.usefixtures("few_draws")
def test_every_shape_agrees_with_the_package(remembered):
    lines = list(compare_live(live_cases(), remembered, seed=8))
    assert not [line for line in lines if line.is_unexpected]
    assert {line.subject for line in lines} == {"All shapes", "Shapes"}
    assert {line.quantity for line in lines if line.subject == "Shapes"} == set(CASE_SHAPES[:-1])
    assert {line.verdict for line in lines} == {Verdict.AGREES, Verdict.EXPECTED}


@pytest.mark.r
@pytest.mark.usefixtures("few_draws")
def test_every_shape_agrees_with_base_r(base):
    lines = list(compare_live(live_cases(), base, seed=8))
    assert {line.verdict for line in lines} == {Verdict.AGREES}


@pytest.mark.sweep
@pytest.mark.r
@pytest.mark.usefixtures("few_draws")
@pytest.mark.parametrize("break_engine", [break_mean, break_draws])
def test_a_broken_engine_differs_from_live_answers(break_engine, remembered, monkeypatch):
    broken = break_engine(monkeypatch)
    lines = list(compare_live(live_cases(), remembered, seed=8))
    assert broken <= {line.quantity for line in lines if line.verdict is Verdict.DIFFERS}
    if break_engine is break_mean:
        differing = Counter(line.quantity for line in lines if line.is_unexpected)
        assert set(differing) == broken
        assert min(differing.values()) >= 11


@pytest.mark.sweep
@pytest.mark.r
def test_weights_of_every_kind_agree_with_base_r(base):
    """400 small samples: fractions, tenths, zeros, tiny and huge ones; infinite scores, one forecast."""
    for seed in range(400):
        question = weighted_question(seed)
        answer = read_answer(base.ask(question), question)
        lines = compare(question, answer, is_package=False)
        assert not {quantity for quantity, line in lines.items() if line.is_unexpected}, seed
        assert {q for q, line in lines.items() if line.verdict is Verdict.NOT_COMPARED} == {"bands"}
        fit = sr.corp(question.y_true, question.y_prob, question.weight)
        np.testing.assert_allclose(answer.totals, [fit.n, fit.events], rtol=1e-12)


def weighted_question(seed):
    rng = np.random.default_rng([400, seed])
    n = int(rng.integers(4, 25))
    x = (rng.random(n).round(1), rng.random(n), np.full(n, 0.3), rng.integers(0, 2, n) * 1.0)[seed % 4]
    y = (rng.random(n) < 0.5).astype(float)
    y[:2] = 0, 1
    weight = (
        rng.random(n) + 0.01,
        rng.integers(1, 10, n) / 10,
        np.where(rng.random(n) < 0.4, 0.0, rng.random(n)),
        (rng.random(n) + 1) * 1e-100,
        (rng.random(n) + 0.5) * 1e99,
    )[seed // 4 % 5]
    weight[:2] = np.maximum(weight[:2], weight.max() / 3 or 0.5)  # not all of them 0
    return Question(y_true=y, y_prob=x, weight=weight, costs=(0.1, 0.3))


@pytest.mark.sweep
@pytest.mark.r
def test_base_r_is_quick_where_classes_are_apart(base):
    """stats::isoreg looks through all cases again for each block of its own."""
    x = np.arange(200_000) / 200_000
    question = Question(y_true=(x >= 0.5).astype(float), y_prob=x, draws=0)
    started = time.monotonic()
    answer = read_answer(base.ask(question), question)
    assert time.monotonic() - started < 60
    np.testing.assert_array_equal(answer.cep, question.y_true)
    assert answer.auc == 1


@pytest.mark.sweep
@pytest.mark.r
@pytest.mark.parametrize("kind", [PACKAGE, BASE])
def test_a_profile_that_masks_functions_does_not_matter(kind, tmp_path, monkeypatch, request):
    request.getfixturevalue("r_package" if kind == PACKAGE else "base_r")
    profile = tmp_path / "profile.R"
    lines = ["mean <- function(...) 42", "sum <- function(...) 43", "order <- function(...) 1"]
    profile.write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.setenv("R_PROFILE_USER", str(profile))
    question = replace(ask(), draws=0)
    with open_reference(kind, time_limit=300) as reference:
        lines = compare(question, read_answer(reference.ask(question), question), kind == PACKAGE)
    assert not [line for line in lines.values() if line.is_unexpected]
