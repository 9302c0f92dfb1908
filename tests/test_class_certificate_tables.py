"""Certificates of classes: wrong answers, data of another evaluation, tables, live R."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from class_certificate_tools import (
    BRIER,
    CLASSES,
    COMPLETE,
    CROSSING,
    CURVE,
    LABELS,
    RPS,
    THRESHOLDS,
    StandIn,
    accused,
    certify,
    draw_cases,
    evaluate,
    evaluation_fixture,
    frame_fixture,
    frame_of,
    measure_classes,
    nudged,
    use_fixture,
    with_scores,
    with_view,
)
from reference_tools import base_fixture, package_fixture

import scorereport as sr
from scorereport.reference.binary_views import find_views
from scorereport.reference.comparison_records import Comparison, Verdict
from scorereport.reference.live_references import PACKAGE
from scorereport.reference.r_session import ReferenceFailure
from scorereport.report.document_context import describe_certificate
from scorereport.report.tables.reference_tables import LISTED_UNEXPECTED

frame = pytest.fixture(scope="module")(frame_fixture)


evaluation = pytest.fixture(scope="module")(evaluation_fixture)


use = pytest.fixture(use_fixture)


package = pytest.fixture(scope="module")(package_fixture)


base = pytest.fixture(scope="module")(base_fixture)


COMPONENTS = ("mean score", "MCB", "DSC", "UNC", "perfect forecast")


EXACT = "continuous consistency band, exact quantile"


# ---- Wrong answers ----


def test_a_wrong_answer_about_a_threshold_differs_there_and_in_the_sum(evaluation, use):
    reference = use(StandIn())
    reference.spoil = lambda _question, vectors: (
        {**vectors, "score.brier": vectors["score.brier"] + [3e-6, 3e-6, 0, 0, 0]}
        if len(reference.questions) == 2
        else vectors
    )
    c = certify(evaluation)
    mild = ("mean score", "MCB", "as reported", "skill")
    assert accused(c) == {
        *(("sharp, up to mild", f"Brier score: {part}") for part in mild),
        *(("sharp", f"{RPS}: {part}") for part in ("mean score", "MCB")),
    }
    sums = [line for line in c.unexpected if line.subject == "sharp"]
    assert [line.difference for line in sums] == pytest.approx([1e-6, 1e-6], rel=1e-6)  # a mean of three


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda v: {k: x for k, x in v.items() if k != "class.rps"}, "without the numbers `class.rps`."),
        (lambda v: {**v, "class.rps": v["class.rps"][:2]}, "with 2 numbers `class.rps` instead of 3."),
        (lambda v: {**v, "joint": v["joint"][1:]}, "with 15 numbers `joint` instead of 16."),
        (lambda v: {**v, "came": np.append(v["came"], 1.0)}, "with 5 numbers `came` instead of 4."),
        (lambda v: {**v, "came": ["many"]}, "without the numbers `came`."),
    ],
)
def test_an_invalid_answer_ends_as_a_verdict(evaluation, use, spoil, sentence):
    reference = use(StandIn())
    reference.spoil_classes = spoil
    c = certify(evaluation, reference="base")
    assert c.verdict == "not checked"
    assert [attempt.reason for attempt in c.attempts] == [f"R answered {sentence}"]


def test_r_that_fails_in_one_view_leaves_it_to_base_r(evaluation, use):
    package, base = StandIn(PACKAGE), StandIn()
    use(package, base)

    def refuse(question, vectors):
        if question is package.questions[-1] and len(package.questions) == 5:
            raise ReferenceFailure("R refused: no.")
        return vectors

    package.spoil = refuse
    c = certify(evaluation)
    assert (c.verdict, c.reference) == ("confirmed", base.title)
    assert [(attempt.reference, attempt.reason) for attempt in c.attempts] == [
        (package.name, "R refused: no.")
    ]


# ---- Data of another evaluation ----


def assert_refused(evaluation, data, sentence):
    with pytest.raises(sr.UsageError, match=f"^{re.escape(sentence)}$"):
        certify(evaluation, data=data)


def test_data_of_another_kind_are_refused(frame, evaluation, tmp_path):
    binary = frame.assign(y=(frame["y"] == "none").astype(int))
    event = sr.read_predictions(binary, outcome="y", forecasts=["sharp_0", "flat_0"])
    ordered = "4 classes in order (none, mild, severe, fatal)"
    assert_refused(evaluation, event, f"The evaluation is of {ordered}, the data are of an event.")
    of_event = sr.evaluate(event, resamples=0)
    sentence = f"The evaluation is of an event, the data are of {ordered}."
    assert_refused(of_event, evaluation.predictions, sentence)
    nominal = evaluate(frame, LABELS, ("sharp", "flat"), ordered=False).predictions
    sentence = f"The evaluation is of {ordered}, the data are of {ordered.replace('in', 'without', 1)}."
    assert_refused(evaluation, nominal, sentence)
    turned = evaluate(frame, LABELS[::-1], ("sharp", "flat")).predictions
    sentence = (
        f"The evaluation is of {ordered}, the data are of 4 classes in order (fatal, severe, mild, none)."
    )
    assert_refused(evaluation, turned, sentence)
    one = evaluate(frame, LABELS).predictions
    assert_refused(evaluation, one, "The evaluation is of sharp, flat, the data are of sharp.")
    path = tmp_path / "evaluation.json"
    evaluation.to_json(path)
    again = sr.Evaluation.from_json(path)
    sentence = "This evaluation was read without its data; pass the predictions as `data`."
    assert_refused(again, None, sentence)


def test_an_evaluation_from_a_file_is_certified_with_its_data(evaluation, use, tmp_path):
    use(StandIn(PACKAGE))
    path = tmp_path / "evaluation.json"
    evaluation.to_json(path)
    c = certify(sr.Evaluation.from_json(path), data=evaluation.predictions)
    assert (c.verdict, c.results_sha256) == ("certified", evaluation.sha256)
    written = tmp_path / "certificate.json"
    c.to_json(written)
    assert sr.Certificate.from_json(written) == c


# ---- Tables ----


def test_subjects_are_split_into_model_and_view():
    odd = ["a", "a, class x", "a, class x, class y", "b, up to 1", "a, up to b, up to 1", "a, classes"]
    assert find_views(odd) == {
        "a": ("a", ""),
        "a, class x": ("a", "class"),
        "a, class x, class y": ("a", "class"),
        "b, up to 1": ("b, up to 1", ""),
        "a, up to b, up to 1": ("a", "threshold"),
        "a, classes": ("a, classes", ""),
    }


def rows_of(table):
    return [[cell["text"] for cell in row["cells"]] for body in table["bodies"] for row in body["rows"]]


def test_tables_are_by_kind_of_view(evaluation, use):
    use(StandIn(PACKAGE))
    described = describe_certificate(certify(evaluation))
    rows = rows_of(described["views"])
    assert [row[:2] for row in rows] == [
        [model, asked]
        for model in ("sharp", "flat")
        for asked in ("3 thresholds", "4 classes", "all classes together")
    ]
    for _, asked, *counts in rows:
        compared, agree, expected, left, unexpected = (int(text) for text in counts)
        assert agree + expected == compared
        assert (left, unexpected) == (0, 0)
        assert expected == {"3": 3, "4": 4, "a": 0}[asked[0]]
    assert len(rows_of(described["expected"])) == 14  # one by one, as they are few
    heads = {row[0] for row in rows_of(described["summary"])}
    assert {"Brier score", RPS, BRIER, "Accuracy (base R)", "AUC (base R)", CROSSING} <= heads


def lines_of_many(verdict, views=50, quantities=3):
    subjects = [f"m, class {k}" for k in range(views)]
    return [
        Comparison(
            subject=subject,
            quantity=f"q{q}",
            engine=0.5,
            reference=0.25,
            difference=0.25 + k / 1000,
            verdict=verdict,
            reason="A reason that is too long to stand beside it.",
        )
        for k, subject in enumerate(subjects)
        for q in range(quantities)
    ]


def certificate_of(lines):
    return sr.Certificate(
        verdict="failed",
        sentence="Failed.",
        reference="R",
        time="2026-01-01T00:00:00+00:00",
        rows=1,
        sha256="",
        results_sha256="",
        software={},
        comparisons=(Comparison(subject="m", quantity="q", verdict=Verdict.AGREES), *lines),
    )


def test_many_expected_deviations_are_listed_by_quantity():
    described = describe_certificate(certificate_of(lines_of_many(Verdict.EXPECTED)))
    table = described["expected"]
    assert [row[:2] for row in rows_of(table)] == [["q0", "50"], ["q1", "50"], ["q2", "50"]]
    assert [body["note"] for body in table["bodies"]] == ["A reason that is too long to stand beside it."]
    assert described["unexpected"] is None


def test_the_worst_of_many_unexpected_lines_of_each_quantity_is_shown():
    lines = lines_of_many(Verdict.DIFFERS)
    table = describe_certificate(certificate_of(lines))["unexpected"]
    assert table["caption"] == "Unexpected: 150 of 151 comparisons; the worst of each quantity"
    assert [row[0] for row in rows_of(table)] == ["m, class 49"] * 3
    (body,) = table["bodies"]
    assert body["note"] == "3 lines: A reason that is too long to stand beside it. (worst of 50)"
    bare = describe_certificate(certificate_of([replace(line, reason="") for line in lines]))["unexpected"]
    quantities = [row["cells"][1] for row in bare["bodies"][0]["rows"]]
    assert [cell["detail"] for cell in quantities] == ["worst of 50"] * 3
    few = describe_certificate(certificate_of(lines[:LISTED_UNEXPECTED]))["unexpected"]
    assert len(rows_of(few)) == LISTED_UNEXPECTED


def test_binary_certificates_have_no_table_of_views():
    line = Comparison(subject="m", quantity="q", verdict=Verdict.AGREES)
    assert describe_certificate(certificate_of([line]))["views"] is None


def quantities_of(certificate, subject, verdict):
    return {
        line.quantity
        for line in certificate.comparisons
        if (line.subject, line.verdict) == (subject, verdict)
    }


@pytest.mark.sweep
@pytest.mark.r
def test_an_ordinal_model_is_certified_per_threshold_by_the_package(frame, package, use):
    use(package)
    c = certify(evaluate(frame, LABELS, resamples=40), draws=100)
    assert (c.verdict, c.unexpected, c.attempts) == ("certified", (), ())
    assert c.reference == package.title
    for view in THRESHOLDS + CLASSES:
        agreeing = quantities_of(c, f"sharp, {view}", Verdict.AGREES)
        assert {f"Brier score: {part}" for part in (*COMPONENTS, "as reported", "skill")} <= agreeing
        assert {"AUC", *CURVE, "number of bins", "recalibrated probabilities", COMPLETE} <= agreeing
        assert EXACT in quantities_of(c, f"sharp, {view}", Verdict.EXPECTED)
        is_drawn = {"resampled consistency band, in distribution"} <= agreeing
        assert is_drawn is (view in {"up to none", "up to severe"})
    total = quantities_of(c, "sharp", Verdict.AGREES)
    assert {f"{label}: {part}" for label in (RPS, BRIER) for part in COMPONENTS} <= total
    assert {CROSSING, "confusion table", "cases of each class", COMPLETE} <= total
    crossing = next(line for line in c.comparisons if line.quantity == CROSSING)
    assert crossing.engine == crossing.reference > 0
    assert {line.source for line in c.comparisons} == {"reliabilitydiag", "base R", "the engine", "numpy"}


def odd_case(name):
    """Classes and probabilities that R may fail on, and further columns."""
    y, p = draw_cases(40)
    never = np.where(y == 2, 1, y)
    certain = np.eye(4)[(y + (np.arange(40) % 3 == 0)) % 4]
    more = np.random.default_rng(7)
    return {
        "a class never observed": (never, p, {}),
        "a class neither observed nor forecast": (never, p * [1, 1, 0, 1] / (1 - p[:, [2]]), {}),
        "one class only": (np.full(40, 1), p, {}),
        "constant forecasts": (y, np.tile([0.1, 0.2, 0.3, 0.4], (40, 1)), {}),
        "ties everywhere": (y, np.full((40, 4), 0.25), {}),
        "0 and 1": (y, certain, {}),
        "always right": (y, np.eye(4)[y], {}),
        "two rows": (y[:2], p[:2], {}),
        "whole weights": (y, p, {"weight": more.integers(0, 3, 40)}),
    }[name]


ODD = [
    "a class never observed",
    "a class neither observed nor forecast",
    "one class only",
    "constant forecasts",
    "ties everywhere",
    "0 and 1",
    "always right",
    "two rows",
    "whole weights",
]


@pytest.mark.sweep
@pytest.mark.r
@pytest.mark.parametrize("name", ODD)
def test_odd_classes_are_certified(name, package, base, use):
    y, p, columns = odd_case(name)
    made = evaluate(
        frame_of(y, sharp=p).assign(**columns), range(4), **{column: column for column in columns}
    )
    use(package, base)
    for reference in ("reliabilitydiag", "base"):
        c = certify(made, reference=reference)
        assert (c.verdict, c.unexpected) == ("confirmed" if reference == "base" else "certified", ())
        log = next(line for line in c.comparisons if line.quantity == "Log score (K classes): as reported")
        assert np.isinf(log.reference) == (name == "0 and 1")


@pytest.mark.r
def test_fractional_weights_and_costs_are_confirmed_by_base_r(frame, base, use):
    use(base)
    odd = frame.assign(share=np.where(frame.index % 5 == 0, 0.0, frame["share"]))
    costs = [[0, 1, 2, 9], [1, 0.5, 1, 1], [5, 1, 0, 1], [9, 2, 1, 0]]
    for ordered in (True, False):
        made = evaluate(odd, LABELS, ("sharp", "flat"), ordered=ordered, weight="share", cost_matrix=costs)
        c = certify(made, reference="base")
        assert (c.verdict, c.unexpected, c.reference) == ("confirmed", (), base.title)


@pytest.mark.r
def test_base_r_agrees_with_plain_loops_on_classes(base):
    """Many small samples: ties, zeros, absent classes, weights of zero, costs given or not."""
    for seed in range(60):
        rng = np.random.default_rng([60, seed])
        n, k = int(rng.integers(2, 30)), int(rng.integers(2, 7))
        p = rng.multinomial(5, np.ones(k) / k, n) / 5 if seed % 2 else rng.dirichlet(np.ones(k), n)
        vectors = {
            "y": rng.integers(0, max(k - seed % 3, 1), n) + 1.0,
            "p": p.T.ravel(),
            "weight": rng.integers(0, 3, n) + 0.5 * (np.arange(n) == 0),
            "size": [float(k)],
            "ordered": [float(seed % 3 > 0)],
            "cost": rng.random(k * k) if seed % 5 == 0 else [],
        }
        with np.errstate(invalid="ignore"):
            expected = measure_classes(**{name: np.asarray(v) for name, v in vectors.items()})
        answer = base.fetch("classes", **vectors)
        assert set(answer) - {"seconds"} == set(expected)
        for name, values in expected.items():
            np.testing.assert_allclose(answer[name], values, rtol=1e-12, atol=1e-12, err_msg=f"{seed} {name}")


@pytest.mark.sweep
@pytest.mark.r
def test_a_number_that_was_tampered_with_is_named_live(evaluation, base, use):
    use(base)
    spoilt = with_view(evaluation, "threshold", 1, label="other")
    assert accused(certify(spoilt, data=evaluation.predictions, reference="base")) == {
        ("sharp, up to mild", "scores")
    }
    d = evaluation.class_models[0].scores.decompositions
    spoilt = with_scores(evaluation, decompositions=(d[0], nudged(d[1], "score")))
    c = certify(spoilt, data=evaluation.predictions, reference="base")
    assert accused(c) == {("sharp", f"{RPS}: mean score"), ("sharp", f"{RPS}: MCB")}
