"""The certificate of models of K classes: every class and threshold is put to R as a binary question.

First without R: a stand-in answers by the engine, or by plain loops, and is then spoilt.
"""

from __future__ import annotations

import re
from contextlib import ExitStack, contextmanager
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from reference_tools import give_up

import scorereport as sr
from scorereport._utils.progress import watched_by
from scorereport.reference import band_comparison, certification, live_references
from scorereport.reference.band_distributions import band_of
from scorereport.reference.binary_views import DRAWN_VIEWS, count_views, find_views, make_views
from scorereport.reference.comparison_records import Comparison, Verdict
from scorereport.reference.live_references import BASE, NAMES, PACKAGE, open_reference
from scorereport.reference.r_installation import Unavailable
from scorereport.reference.r_session import ReferenceFailure
from scorereport.reference.recorded_answers import decompose_all
from scorereport.reliability.band_bounds import redraw_curves
from scorereport.report.document_context import describe_certificate
from scorereport.report.tables.reference_tables import LISTED_UNEXPECTED
from scorereport.scores.ranking import area_under_roc
from scorereport.scores.registry import get_score

LABELS = ("none", "mild", "severe", "fatal")
THRESHOLDS = [f"up to {label}" for label in LABELS[:-1]]
CLASSES = [f"class {label}" for label in LABELS]
COMPONENTS = ("mean score", "MCB", "DSC", "UNC", "perfect forecast")
RPS = "Ranked probability score, mean over 3 thresholds"
BRIER = "Brier score (K classes), sum over 4 classes"
CROSSING = "cases whose recalibrated probabilities cross"
COMPLETE = "scores and bands that an evaluation has"
CURVE = ("reliability curve: corners", "reliability curve: heights")
EXACT = "continuous consistency band, exact quantile"


# ---- Data and evaluations ----


def draw_cases(n=70, k=4, seed=5):
    """Classes drawn from random probabilities."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(k), n)
    upper = np.cumsum(p, axis=1)[:, :-1]
    return (rng.random((n, 1)) > upper).sum(axis=1), p


def frame_of(y, **models):
    columns = {f"{name}_{k}": column for name, p in models.items() for k, column in enumerate(p.T)}
    return pd.DataFrame({"y": y, **columns})


def evaluate(frame, classes, models=("sharp",), **options):
    """Scores alone, unless asked otherwise: intervals and tests are not compared with R."""
    settings = {"ordered": True, "resamples": 0, **options}
    forecasts = {name: [f"{name}_{k}" for k in range(len(classes))] for name in models}
    return sr.evaluate(frame, outcome="y", forecasts=forecasts, classes=list(classes), **settings)


@pytest.fixture(scope="module")
def frame():
    y, p = draw_cases()
    flat = (p + 0.25) / 2
    rng = np.random.default_rng(6)
    made = frame_of(np.array(LABELS)[y], sharp=p, flat=flat)
    return made.assign(
        count=rng.integers(0, 4, len(y)), share=rng.random(len(y)), site=rng.integers(0, 20, len(y))
    )


@pytest.fixture(scope="module")
def evaluation(frame):
    """Two models with bands, which must be drawn again."""
    return evaluate(frame, LABELS, ("sharp", "flat"), resamples=40)


@pytest.fixture(scope="module")
def of_one(frame):
    """One model with bands."""
    return evaluate(frame, LABELS, resamples=40)


# ---- Stand-ins of R ----


def fit_of(question):
    return sr.corp(question.y_true, question.y_prob, question.weight)


def components_of(d):
    return np.array([d.score, d.miscalibration, d.discrimination, d.uncertainty, d.perfect])


def answer_question(question, is_package):
    """What R would say if it were the engine."""
    fit = fit_of(question)
    events = fit.distinct.events.astype(float)
    murphy = fit.murphy()
    vectors = {f"score.{d.name}": components_of(d) for d in decompose_all(fit, None)}
    parts = {"n": fit.blocks.n, "x_min": fit.blocks.x_min, "x_max": fit.blocks.x_max, "cep": fit.blocks.mean}
    vectors |= {f"bins.{name}": np.asarray(part, dtype=float) for name, part in parts.items()}
    vectors |= {
        "cep": fit.recalibrate(question.y_prob),
        "totals": np.array([fit.n, fit.events], dtype=float),
        "auc": np.array([area_under_roc(events, fit.distinct.n - events)]),
        "murphy": np.array([murphy.reliability, murphy.resolution, murphy.uncertainty]),
        "seconds": np.array([0.0]),
    }
    return vectors if question.weight is not None else {**vectors, **bands_of(question, fit, is_package)}


def bands_of(question, fit, is_package):
    """Bands by formula, and by draws of their own if they were asked for."""
    level, vectors = question.level, {}
    quantiles = "r" if is_package else "exact"
    bands = {
        "discrete": fit.band(level=level, method="discrete", points=10**6),
        "continuous": fit.band(level=level, method="continuous", quantiles=quantiles),
    }
    for name, band in bands.items():
        vectors |= {f"{name}.{part}": getattr(band, part) for part in ("x", "lower", "upper")}
        vectors[f"{name}.level"] = np.array([level])
    x = fit.distinct.x_min
    for kind in ("consistency", "confidence") if question.draws else ():
        chance = x if kind == "consistency" else fit.recalibrate(x)
        bounds = band_of(redraw_curves(fit.sample.simulation(chance), x, question.draws, 99), level)
        vectors |= {f"{kind}.x": x, f"{kind}.lower": bounds[0], f"{kind}.upper": bounds[1]}
        vectors[f"{kind}.level"] = np.array([level])
    return vectors


def mean_losses(y, p, weight, ordered):
    """Mean scores of K classes, case by case in plain Python."""
    size = p.shape[1]
    sums = dict.fromkeys(("brier", "log", "spherical", "penalty", "rps", "sa_rps"), 0.0)
    for came, row, w in zip(y, p, weight, strict=True):
        if w == 0:
            continue
        off = [sum(row[: k + 1]) - (came <= k) for k in range(size - 1)]
        sums["brier"] += w * sum((q - (k == came)) ** 2 for k, q in enumerate(row))
        sums["log"] += w * (-np.log(row[came]) if row[came] > 0 else np.inf)
        sums["spherical"] += w * (1 - row[came] / np.sqrt(sum(q * q for q in row)))
        sums["penalty"] += w * (list(row).index(max(row)) != came)
        sums["rps"] += w * sum(d * d for d in off) / (size - 1)
        sums["sa_rps"] += w * (sum(map(abs, off)) / (size - 1)) ** 2
    m = {name: value / sum(weight) for name, value in sums.items()}
    found = {
        "multiclass_brier": m["brier"],
        "multiclass_log_loss": m["log"],
        "multiclass_spherical": m["spherical"],
        "penalized_brier": m["brier"] + (size - 1) / size * m["penalty"],
        "penalized_log_loss": m["log"] + np.log(size) * m["penalty"],
    }
    return found | ({"rps": m["rps"], "sa_rps": m["sa_rps"]} if ordered else {})


def measure_classes(y, p, weight, size, ordered, cost):
    """What base R says of a model of K classes, in plain Python."""
    size, ordered, y = int(size[0]), bool(ordered[0]), y.astype(int) - 1
    p = p.reshape(size, -1).T
    grades = range(size)
    usual = [[(i - j) ** 2 / (size - 1) ** 2 if ordered else i != j for j in grades] for i in grades]
    cost = np.array(cost).reshape(size, size) if len(cost) else np.array(usual, dtype=float)
    joint = np.zeros((size, size))
    for came, row, w in zip(y, p, weight, strict=True):
        joint[came, list(row).index(max(row))] += w
    came, called, total = joint.sum(axis=1), joint.sum(axis=0), joint.sum()
    shares = np.tile(came / total, (size, 1))
    forecast = mean_losses(y, p, weight, ordered)
    constant = mean_losses(np.arange(size), shares, came, ordered)
    found = {f"class.{name}": np.array([forecast[name], constant[name], 0.0]) for name in forecast}
    met = came + called > 0
    f1 = 2 * np.diagonal(joint)[met] / (came + called)[met]
    away = [[(i - j) ** 2 for j in grades] for i in grades]
    kappa = 1 - (away * joint).sum() / (away * np.outer(came, called)).sum() * total
    found |= {
        "class.accuracy": np.array([np.trace(joint), came.max(), total]) / total,
        "class.macro_f1": np.array([f1.mean(), np.nan, np.nan]),
        "class.expected_cost": np.array([(cost * joint).sum(), (came @ cost).min(), came @ np.diagonal(cost)])
        / total,
        "came": came,
        "joint": joint.ravel(),
    }
    return found | ({"class.quadratic_weighted_kappa": np.array([kappa, 0.0, 1.0])} if ordered else {})


class StandIn:
    """A reference that answers by itself, and remembers what it was asked."""

    def __init__(self, kind=BASE):
        self.is_package = kind == PACKAGE
        self.name, self.title, self.software = NAMES[kind], f"a stand-in of {kind}", {"R": "0"}
        self.questions, self.answers = [], {}
        self.spoil = lambda _question, vectors: vectors
        self.spoil_classes = lambda vectors: vectors

    def ask(self, question):
        self.questions.append(question)
        key = (question.y_prob.tobytes(), question.y_true.tobytes(), question.draws)
        if key not in self.answers:
            self.answers[key] = answer_question(question, self.is_package)
        return self.spoil(question, dict(self.answers[key]))

    def fetch(self, what, **vectors):
        assert what == "classes"
        return self.spoil_classes(measure_classes(**vectors))


@pytest.fixture
def use(monkeypatch):
    """Certify by a stand-in, with few draws or none."""
    monkeypatch.setattr(band_comparison, "OUR_DRAWS", 200)
    monkeypatch.setattr(certification, "FEWEST_DRAWS", 0)
    monkeypatch.setattr(certification, "compare_with_record", lambda: iter(()))

    def use_reference(*references):
        by_kind = {PACKAGE if reference.is_package else BASE: reference for reference in references}

        @contextmanager
        def find(kind, _time_limit):
            if kind not in by_kind:
                raise Unavailable("There is none.", "")
            yield by_kind[kind]

        monkeypatch.setattr(certification, "open_reference", find)
        return references[0]

    return use_reference


def certify(evaluation, **options):
    return sr.certify(evaluation, **{"draws": 0, **options})


def accused(certificate):
    return {(line.subject, line.quantity) for line in certificate.unexpected}


# ---- What is asked ----


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
    assert c.verdict == "certified"
    assert c.sentence.startswith(
        "Certified on these data. 14 binary questions were asked, about each threshold between classes and "
        "each class. "
    )


def test_unordered_classes_have_no_thresholds(frame, use):
    reference = use(StandIn())
    c = certify(evaluate(frame, LABELS, ordered=False))
    assert (c.verdict, len(reference.questions)) == ("certified", 4)
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


@pytest.mark.sweep(after=1)
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
def test_r_resamples_bands_of_few_views_and_the_certificate_says_of_which(k, ordered, drawn, use):
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
    told = (
        f"R's resampled bands, which take seconds each, of all but {len(drawn)} of the {len(views)} binary "
        f"questions about each model ({', '.join(drawn)})"
    )
    assert c.left_out == (*certification.CLASS_LEFT_OUT, *([told] if len(drawn) < len(views) else []))
    assert c.verdict == "certified"


def test_progress_is_told_by_question(evaluation, use):
    use(StandIn())
    told = []
    with watched_by(lambda what, done, total: told.append((what, done, total))):
        certify(evaluation)
    assert [step for step in told if step[0] == "asking R"] == [("asking R", k, 14) for k in range(1, 15)]


# ---- Weights ----


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
    assert (c.verdict, c.reference, package.questions) == ("certified", base.title, [])


def test_fractional_weights_are_for_base_r(frame, use):
    package, base = StandIn(PACKAGE), StandIn()
    use(package, base)
    c = certify(evaluate(frame, LABELS, weight="share"), draws=100)
    assert (c.verdict, c.reference, package.questions) == ("certified", base.title, [])
    assert [attempt.reason for attempt in c.attempts] == [certification.NO_WEIGHTS]
    assert c.left_out == certification.CLASS_LEFT_OUT
    left = {line.subject for line in c.comparisons if line.verdict is Verdict.NOT_COMPARED}
    assert left == {f"sharp, {view}" for view in THRESHOLDS + CLASSES}


def test_bands_of_clusters_are_drawn_again(frame, use):
    """As the evaluation drew them: clusters whole."""
    use(StandIn())
    c = certify(evaluate(frame, LABELS, cluster="site", resamples=40))
    drawn = [line for line in c.comparisons if line.quantity.endswith("drawn again")]
    assert (c.verdict, len(drawn)) == ("certified", 7)
    assert {line.tolerance for line in drawn} == {0.0}


def test_costs_of_the_user_are_those_compared(frame, use):
    costs = [[0, 1, 2, 9], [1, 0.5, 1, 1], [5, 1, 0, 1], [9, 2, 1, 0]]
    use(StandIn())
    c = certify(evaluate(frame, LABELS, cost_matrix=costs))
    assert c.verdict == "certified"
    other = certify(evaluate(frame, LABELS))
    value = [
        next(line.engine for line in found.comparisons if line.quantity == "Expected cost: as reported")
        for found in (c, other)
    ]
    assert value[0] > 1 > value[1]


# ---- Numbers that are off ----


def replace_in(items, place, **changes):
    return tuple(replace(item, **changes) if k == place else item for k, item in enumerate(items))


def nudged(record, *names, by=1e-6):
    return replace(record, **{name: getattr(record, name) + by for name in names})


def with_model(evaluation, **changes):
    return replace(evaluation, class_models=replace_in(evaluation.class_models, 0, **changes))


def with_scores(evaluation, **changes):
    return with_model(evaluation, scores=replace(evaluation.class_models[0].scores, **changes))


def with_view(evaluation, kind, place, **changes):
    """The evaluation with another view of its first model."""
    families = [
        replace(family, views=replace_in(family.views, place, **changes)) if family.kind == kind else family
        for family in evaluation.class_models[0].families
    ]
    return with_model(evaluation, families=tuple(families))


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
    """The same of the numbers of a model over all classes."""
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
    """And no other is accused."""
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


# ---- Answers that are off ----


def test_a_wrong_answer_about_a_threshold_is_seen_there_and_in_the_sum(evaluation, use):
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
def test_an_answer_that_is_none_ends_as_a_verdict(evaluation, use, spoil, sentence):
    reference = use(StandIn())
    reference.spoil_classes = spoil
    c = certify(evaluation, reference="base")
    assert c.verdict == "not certified"
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
    assert (c.verdict, c.reference) == ("certified", base.title)
    assert [(attempt.reference, attempt.reason) for attempt in c.attempts] == [
        (package.name, "R refused: no.")
    ]


# ---- Data and evaluations that do not fit ----


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


def test_subjects_are_told_apart_by_model_and_view():
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


def test_many_expected_deviations_are_told_by_quantity():
    described = describe_certificate(certificate_of(lines_of_many(Verdict.EXPECTED)))
    table = described["expected"]
    assert [row[:2] for row in rows_of(table)] == [["q0", "50"], ["q1", "50"], ["q2", "50"]]
    assert [body["note"] for body in table["bodies"]] == ["A reason that is too long to stand beside it."]
    assert described["unexpected"] is None


def test_of_many_unexpected_lines_the_worst_of_each_quantity_is_shown():
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


# ---- Live ----


@contextmanager
def opened(kind):
    """A running reference; where it is absent skip with the reason, or fail if R is demanded."""
    with ExitStack() as stack:
        try:
            reference = stack.enter_context(open_reference(kind, time_limit=300))
        except (Unavailable, ReferenceFailure) as reason:
            give_up(str(reason))
        yield reference


@pytest.fixture(scope="module")
def package():
    with opened(PACKAGE) as reference:
        yield reference


@pytest.fixture(scope="module")
def base():
    with opened(BASE) as reference:
        yield reference


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
    """Classes and probabilities that R may stumble over, and columns beside them."""
    y, p = draw_cases(40)
    never = np.where(y == 2, 1, y)
    certain = np.eye(4)[(y + (np.arange(40) % 3 == 0)) % 4]
    more = np.random.default_rng(7)
    return {
        "a class that never came": (never, p, {}),
        "a class that nobody forecast either": (never, p * [1, 1, 0, 1] / (1 - p[:, [2]]), {}),
        "one class only": (np.full(40, 1), p, {}),
        "constant forecasts": (y, np.tile([0.1, 0.2, 0.3, 0.4], (40, 1)), {}),
        "ties everywhere": (y, np.full((40, 4), 0.25), {}),
        "0 and 1": (y, certain, {}),
        "always right": (y, np.eye(4)[y], {}),
        "two rows": (y[:2], p[:2], {}),
        "whole weights": (y, p, {"weight": more.integers(0, 3, 40)}),
    }[name]


ODD = [
    "a class that never came",
    "a class that nobody forecast either",
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
        assert (c.verdict, c.unexpected) == ("certified", ())
        log = next(line for line in c.comparisons if line.quantity == "Log score (K classes): as reported")
        assert np.isinf(log.reference) == (name == "0 and 1")


@pytest.mark.r
def test_fractional_weights_and_costs_are_certified_by_base_r(frame, base, use):
    use(base)
    odd = frame.assign(share=np.where(frame.index % 5 == 0, 0.0, frame["share"]))
    costs = [[0, 1, 2, 9], [1, 0.5, 1, 1], [5, 1, 0, 1], [9, 2, 1, 0]]
    for ordered in (True, False):
        made = evaluate(odd, LABELS, ("sharp", "flat"), ordered=ordered, weight="share", cost_matrix=costs)
        c = certify(made, reference="base")
        assert (c.verdict, c.unexpected, c.reference) == ("certified", (), base.title)


@pytest.mark.r
def test_base_r_says_of_classes_what_plain_loops_say(base):
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
        said = base.fetch("classes", **vectors)
        assert set(said) - {"seconds"} == set(expected)
        for name, values in expected.items():
            np.testing.assert_allclose(said[name], values, rtol=1e-12, atol=1e-12, err_msg=f"{seed} {name}")


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
