"""Certificates of classes: questions to R, weights, numbers that differ."""

from __future__ import annotations

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
    nudged,
    replace_in,
    use_fixture,
    with_model,
    with_scores,
    with_view,
)
from reference_tools import base_fixture, package_fixture

import scorereport as sr
from scorereport._utils.progress import watched_by
from scorereport.reference import certification, inquiry, live_references
from scorereport.reference.binary_views import DRAWN_VIEWS, count_views, make_views
from scorereport.reference.comparison_records import Verdict
from scorereport.reference.live_references import PACKAGE
from scorereport.scores.registry import get_score

frame = pytest.fixture(scope="module")(frame_fixture)


evaluation = pytest.fixture(scope="module")(evaluation_fixture)


use = pytest.fixture(use_fixture)


package = pytest.fixture(scope="module")(package_fixture)


base = pytest.fixture(scope="module")(base_fixture)


@pytest.fixture(scope="module")
def of_one(frame):
    """One model with bands."""
    return evaluate(frame, LABELS, resamples=40)


# ---- Questions to R ----


def test_every_threshold_and_every_class_is_a_binary_question(evaluation, use):
    reference = use(StandIn())
    c = certify(evaluation)
    y, p = evaluation.predictions.outcome, evaluation.predictions.forecasts
    asked = iter(reference.questions)
    for model in ("sharp", "flat"):
        for k in range(3):
            question = next(asked)
            np.testing.assert_array_equal(question.y_true, y <= k)
            np.testing.assert_allclose(question.y_prob, p[model][:, : k + 1].sum(axis=1), rtol=1e-14)
        for k in range(4):
            question = next(asked)
            np.testing.assert_array_equal(question.y_true, y == k)
            np.testing.assert_array_equal(question.y_prob, p[model][:, k])
    assert not list(asked)
    assert {line.subject for line in c.comparisons} == {
        *(f"{model}, {view}" for model in ("sharp", "flat") for view in THRESHOLDS + CLASSES),
        *("sharp", "flat"),
    }
    assert c.verdict == "confirmed"
    assert c.sentence.startswith(
        "Confirmed on these data by base R. 14 binary questions were asked, about each threshold between "
        "classes and each class. "
    )


def test_unordered_classes_have_no_thresholds(frame, use):
    reference = use(StandIn())
    c = certify(evaluate(frame, LABELS, ordered=False))
    assert (c.verdict, len(reference.questions)) == ("confirmed", 4)
    assert {line.subject for line in c.comparisons} == {"sharp", *(f"sharp, {view}" for view in CLASSES)}
    assert "4 binary questions were asked, about each class. " in c.sentence
    assert not any("Ranked" in line.quantity or "kappa" in line.quantity for line in c.comparisons)


def test_cumulative_probabilities_never_exceed_one():
    p = np.array([[0.7, 0.2, 0.1 + 5e-10], [0.1 + 2e-16, 0.9, 0.0]])
    y = np.array([0, 1])
    data = sr.read_predictions(
        frame_of(y, m=p), outcome="y", forecasts={"m": ["m_0", "m_1", "m_2"]}, classes=[0, 1, 2], ordered=True
    )
    views = list(make_views(data))
    assert len(views) == count_views(data) == 5
    assert max(view.y_prob.max() for view in views) <= 1
    assert [view.subject for view in views] == [
        *("m, up to 0", "m, up to 1"),
        *("m, class 0", "m, class 1", "m, class 2"),
    ]


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("k", "ordered", "drawn"),
    [
        (2, True, ["up to 0"]),
        (2, False, ["class 0", "class 1"]),
        (3, True, ["up to 0", "up to 1"]),
        (4, True, ["up to 0", "up to 2"]),
        (9, True, ["up to 2", "up to 6"]),
        (9, False, ["class 2", "class 6"]),
    ],
)
def test_r_resamples_bands_of_few_views_and_the_certificate_names_them(k, ordered, drawn, use):
    reference = use(StandIn())
    y, p = draw_cases(30, k)
    made = evaluate(frame_of(y, sharp=p), range(k), ordered=ordered)
    c = certify(made, draws=100)
    views = list(make_views(made.predictions))
    found = [view.subject.partition(", ")[2] for view in views if view.is_drawn]
    assert found == drawn
    assert len(drawn) <= DRAWN_VIEWS
    assert [question.draws > 0 for question in reference.questions] == [view.is_drawn for view in views]
    compared = {line.subject for line in c.comparisons if "in distribution" in line.quantity}
    assert compared == {f"sharp, {view}" for view in drawn}
    note = (
        f"R's resampled bands, which take seconds each, of all but {len(drawn)} of the {len(views)} binary "
        f"questions about each model ({', '.join(drawn)})"
    )
    assert c.left_out == (*certification.CLASS_LEFT_OUT, *([note] if len(drawn) < len(views) else []))
    assert c.verdict == "confirmed"


def test_progress_is_reported_for_each_question(evaluation, use):
    use(StandIn())
    steps = []
    with watched_by(lambda what, done, total: steps.append((what, done, total))):
        certify(evaluation)
    assert [step for step in steps if step[0] == "asking R"] == [("asking R", k, 14) for k in range(1, 15)]


# ---- Weights ----


@pytest.mark.sweep
def test_whole_weights_are_repeated_rows(frame, use):
    reference = use(StandIn(PACKAGE))
    c = certify(evaluate(frame, LABELS, weight="count"))
    assert c.verdict == "certified"
    assert {len(question.y_true) for question in reference.questions} == {frame["count"].sum()}
    assert all(question.weight is None for question in reference.questions)


def test_weights_that_are_too_many_rows_are_for_base_r(frame, use, monkeypatch):
    monkeypatch.setattr(live_references, "_MOST_REPEATED", frame["count"].sum() - 1)
    package, base = StandIn(PACKAGE), StandIn()
    use(package, base)
    c = certify(evaluate(frame, LABELS, weight="count"))
    assert (c.verdict, c.reference, package.questions) == ("confirmed", base.title, [])


def test_fractional_weights_are_for_base_r(frame, use):
    package, base = StandIn(PACKAGE), StandIn()
    use(package, base)
    c = certify(evaluate(frame, LABELS, weight="share"), draws=100)
    assert (c.verdict, c.reference, package.questions) == ("confirmed", base.title, [])
    assert [attempt.reason for attempt in c.attempts] == [inquiry.NO_WEIGHTS]
    assert c.left_out == certification.CLASS_LEFT_OUT
    left = {line.subject for line in c.comparisons if line.verdict is Verdict.NOT_COMPARED}
    assert left == {f"sharp, {view}" for view in THRESHOLDS + CLASSES}


@pytest.mark.sweep
def test_bands_of_clusters_are_drawn_again(frame, use):
    """As the evaluation drew them: clusters whole."""
    use(StandIn())
    c = certify(evaluate(frame, LABELS, cluster="site", resamples=40))
    drawn = [line for line in c.comparisons if line.quantity.endswith("drawn again")]
    assert (c.verdict, len(drawn)) == ("confirmed", 7)
    assert {line.tolerance for line in drawn} == {0.0}


def test_costs_of_the_user_are_those_compared(frame, use):
    costs = [[0, 1, 2, 9], [1, 0.5, 1, 1], [5, 1, 0, 1], [9, 2, 1, 0]]
    use(StandIn())
    c = certify(evaluate(frame, LABELS, cost_matrix=costs))
    assert c.verdict == "confirmed"
    other = certify(evaluate(frame, LABELS))
    value = [
        next(line.engine for line in found.comparisons if line.quantity == "Expected cost: as reported")
        for found in (c, other)
    ]
    assert value[0] > 1 > value[1]


def spoil_views(evaluation):
    """Every kind of number of a view, a millionth off; its subject, and what must be named."""
    for kind, place, subject in (("threshold", 1, "sharp, up to mild"), ("class", 3, "sharp, class fatal")):
        view = evaluation.class_models[0].family(kind).views[place]
        d = view.scores.decompositions[0]
        brier, auc = view.scores.scores
        spoilt = {
            ("Brier score: mean score", "Brier score: MCB"): {
                "scores": replace(view.scores, decompositions=(nudged(d, "score"),))
            },
            ("Brier score: MCB", "Brier score: DSC"): {
                "scores": replace(view.scores, decompositions=(nudged(d, "recalibrated"),))
            },
            ("Brier score: as reported",): {
                "scores": replace(view.scores, scores=(nudged(brier, "value"), auc))
            },
            ("Brier score: skill",): {"scores": replace(view.scores, scores=(nudged(brier, "skill"), auc))},
            ("AUC",): {"scores": replace(view.scores, scores=(brier, nudged(auc, "value")))},
            ("AUC: skill",): {"scores": replace(view.scores, scores=(brier, nudged(auc, "skill")))},
            ("cases and events",): {"sample": nudged(view.sample, "events", by=1.0)},
            (CURVE[1],): {"reliability": replace(view.reliability, cep=view.reliability.cep * (1 - 1e-6))},
            (COMPLETE,): {"scores": replace(view.scores, scores=(brier,))},
            ("reported consistency band (resampling), drawn again",): {
                "bands": replace_in(view.bands, 0, lower=view.bands[0].lower + 1e-12)
            },
            (COMPLETE, "bands"): {"bands": view.bands[1:]},
        }
        for named, changes in spoilt.items():
            quantities = {name for name in named if name != "bands"}
            yield {(subject, q) for q in quantities}, with_view(evaluation, kind, place, **changes)


def spoil_models(evaluation):
    """The same for the numbers of a model over all classes."""
    result = evaluation.class_models[0]
    scores, families = result.scores, result.families
    for place, (label, d) in enumerate(zip((BRIER, RPS), scores.decompositions, strict=True)):
        for part, named in (("score", ("mean score", "MCB")), ("reference", ("DSC", "UNC"))):
            spoilt = replace_in(scores.decompositions, place, **{part: getattr(d, part) + 1e-6})
            yield {f"{label}: {n}" for n in named}, with_scores(evaluation, decompositions=spoilt)
    for place, value in enumerate(scores.scores):
        label = get_score(value.name).label
        for part, named in (("value", "as reported"), ("skill", "skill")):
            spoilt = replace_in(scores.scores, place, **{part: getattr(value, part) + 1e-6})
            if not np.isnan(getattr(value, part)):
                yield {f"{label}: {named}"}, with_scores(evaluation, scores=spoilt)
    counts = np.array(result.confusion.counts)
    counts[1, 2] += 1
    confusion = replace(result.confusion, counts=tuple(map(tuple, counts.tolist())))
    yield {"confusion table"}, with_model(evaluation, confusion=confusion)
    yield (
        {CROSSING},
        with_model(evaluation, families=replace_in(families, 1, crossing=families[1].crossing + 1)),
    )
    yield {COMPLETE}, with_model(evaluation, families=replace_in(families, 1, divisor=4))
    yield {COMPLETE}, with_model(evaluation, families=(*families, families[1])[::-1])
    yield {COMPLETE}, with_scores(evaluation, scores=scores.scores[1:])
    yield {COMPLETE}, with_scores(evaluation, decompositions=scores.decompositions[1:])


@pytest.mark.sweep
def test_every_number_of_a_view_that_was_tampered_with_is_named(of_one, use):
    """And no other differs."""
    use(StandIn())
    count = 0
    for named, spoilt in spoil_views(of_one):
        c = certify(spoilt, data=of_one.predictions)
        assert (c.verdict, accused(c)) == ("failed", named)
        count += 1
    assert count == 22


@pytest.mark.sweep
def test_every_number_of_a_model_that_was_tampered_with_is_named(of_one, use):
    use(StandIn())
    count = 0
    for named, spoilt in spoil_models(of_one):
        c = certify(spoilt, data=of_one.predictions)
        assert (c.verdict, accused(c)) == ("failed", {("sharp", quantity) for quantity in named})
        count += 1
    assert count == 4 + 21 + 6


@pytest.mark.sweep
def test_a_view_that_was_removed_or_renamed_is_named(evaluation, use):
    use(StandIn())
    families = evaluation.class_models[0].families
    fewer = replace_in(families, 1, views=families[1].views[1:])
    c = certify(with_model(evaluation, families=fewer), data=evaluation.predictions)
    assert accused(c) == {("sharp, up to none", "scores"), ("sharp", COMPLETE)}
    renamed = with_view(evaluation, "class", 2, label="bad")
    c = certify(renamed, data=evaluation.predictions)
    assert accused(c) == {("sharp, class severe", "scores")}
    none = with_model(evaluation, families=families[:1])
    c = certify(none, data=evaluation.predictions)
    assert accused(c) == {*((f"sharp, {view}", "scores") for view in THRESHOLDS), ("sharp", COMPLETE)}


@pytest.mark.parametrize("part", ["weight", "share"])
def test_the_weights_of_classes_are_compared(evaluation, use, part):
    use(StandIn())
    classes = evaluation.data.classes
    counts = replace_in(classes.counts, 2, **{part: getattr(classes.counts[2], part) + 1e-6})
    spoilt = replace(evaluation, data=replace(evaluation.data, classes=replace(classes, counts=counts)))
    c = certify(spoilt, data=evaluation.predictions)
    assert accused(c) == {("sharp", "cases of each class"), ("flat", "cases of each class")}


def test_other_data_fail(frame, evaluation, use):
    use(StandIn())
    other = {f"{a}_{k}": f"{b}_{k}" for a, b in (("sharp", "flat"), ("flat", "sharp")) for k in range(4)}
    swapped = frame.rename(columns=other)
    c = certify(evaluation, data=evaluate(swapped, LABELS, ("sharp", "flat")).predictions)
    assert c.verdict == "failed"
    assert {line.subject for line in c.unexpected} == {line.subject for line in c.comparisons}
