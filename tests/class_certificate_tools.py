"""Evaluations of classes and stand-ins of R that two test files share."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pandas as pd

import scorereport as sr
from scorereport.reference import band_comparison, certification
from scorereport.reference.band_distributions import band_of
from scorereport.reference.live_references import BASE, NAMES, PACKAGE
from scorereport.reference.r_installation import Unavailable
from scorereport.reference.recorded_answers import decompose_all
from scorereport.reliability.band_bounds import redraw_curves
from scorereport.scores.ranking import area_under_roc

LABELS = ("none", "mild", "severe", "fatal")


THRESHOLDS = [f"up to {label}" for label in LABELS[:-1]]


CLASSES = [f"class {label}" for label in LABELS]


RPS = "Ranked probability score, mean over 3 thresholds"


BRIER = "Brier score (K classes), sum over 4 classes"


CROSSING = "cases whose recalibrated probabilities cross"


COMPLETE = "scores and bands that an evaluation has"


CURVE = ("reliability curve: corners", "reliability curve: heights")


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
    """Scores alone by default: intervals and tests are not compared with R."""
    settings = {"ordered": True, "resamples": 0, **options}
    forecasts = {name: [f"{name}_{k}" for k in range(len(classes))] for name in models}
    return sr.evaluate(frame, outcome="y", forecasts=forecasts, classes=list(classes), **settings)


def frame_fixture():
    y, p = draw_cases()
    flat = (p + 0.25) / 2
    rng = np.random.default_rng(6)
    frame = frame_of(np.array(LABELS)[y], sharp=p, flat=flat)
    return frame.assign(
        count=rng.integers(0, 4, len(y)), share=rng.random(len(y)), site=rng.integers(0, 20, len(y))
    )


def evaluation_fixture(frame):
    """Two models with bands, which must be drawn again."""
    return evaluate(frame, LABELS, ("sharp", "flat"), resamples=40)


def fit_of(question):
    return sr.corp(question.y_true, question.y_prob, question.weight)


def components_of(d):
    return np.array([d.score, d.miscalibration, d.discrimination, d.uncertainty, d.perfect])


def answer_question(question, is_package):
    """The answer of R if it agreed with the engine in all digits."""
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
    """Bands by formula, and resampled bands if the question requests draws."""
    level, vectors = question.level, {}
    quantiles = "r" if is_package else "exact"
    bands = {
        "discrete": fit.band(level=level, method="discrete", points=10**6),
        "continuous": sr.corp(*question.banded).band(level=level, method="continuous", quantiles=quantiles),
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
    for observed, row, w in zip(y, p, weight, strict=True):
        if w == 0:
            continue
        off = [sum(row[: k + 1]) - (observed <= k) for k in range(size - 1)]
        sums["brier"] += w * sum((q - (k == observed)) ** 2 for k, q in enumerate(row))
        sums["log"] += w * (-np.log(row[observed]) if row[observed] > 0 else np.inf)
        sums["spherical"] += w * (1 - row[observed] / np.sqrt(sum(q * q for q in row)))
        sums["penalty"] += w * (list(row).index(max(row)) != observed)
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
    """The numbers of base R on a model of K classes, in plain Python."""
    size, ordered, y = int(size[0]), bool(ordered[0]), y.astype(int) - 1
    p = p.reshape(size, -1).T
    grades = range(size)
    usual = [[(i - j) ** 2 / (size - 1) ** 2 if ordered else i != j for j in grades] for i in grades]
    cost = np.array(cost).reshape(size, size) if len(cost) else np.array(usual, dtype=float)
    joint = np.zeros((size, size))
    for observed, row, w in zip(y, p, weight, strict=True):
        joint[observed, list(row).index(max(row))] += w
    observed, predicted, total = joint.sum(axis=1), joint.sum(axis=0), joint.sum()
    shares = np.tile(observed / total, (size, 1))
    forecast = mean_losses(y, p, weight, ordered)
    constant = mean_losses(np.arange(size), shares, observed, ordered)
    found = {f"class.{name}": np.array([forecast[name], constant[name], 0.0]) for name in forecast}
    met = observed + predicted > 0
    f1 = 2 * np.diagonal(joint)[met] / (observed + predicted)[met]
    away = [[(i - j) ** 2 for j in grades] for i in grades]
    kappa = 1 - (away * joint).sum() / (away * np.outer(observed, predicted)).sum() * total
    found |= {
        "class.accuracy": np.array([np.trace(joint), observed.max(), total]) / total,
        "class.macro_f1": np.array([f1.mean(), np.nan, np.nan]),
        "class.expected_cost": np.array(
            [(cost * joint).sum(), (observed @ cost).min(), observed @ np.diagonal(cost)]
        )
        / total,
        "came": observed,
        "joint": joint.ravel(),
    }
    return found | ({"class.quadratic_weighted_kappa": np.array([kappa, 0.0, 1.0])} if ordered else {})


class StandIn:
    """A reference that computes its own answers and records the questions."""

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
        if what in ("infer", "infer_groups"):
            return {}  # which makes lines of numbers that are not compared
        assert what == "classes"
        return self.spoil_classes(measure_classes(**vectors))


def use_fixture(monkeypatch):
    """Certify by a stand-in, with few draws or none."""
    monkeypatch.setattr(band_comparison, "OUR_DRAWS", 200)
    monkeypatch.setattr(certification, "FEWEST_DRAWS", 0)
    monkeypatch.setattr(certification, "compare_with_record", lambda: iter(()))

    def use_reference(*references):
        by_kind = {PACKAGE if reference.is_package else BASE: reference for reference in references}

        @contextmanager
        def find(kind, _time_limit, _on_start):
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
