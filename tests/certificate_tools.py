"""Questions, answers and evaluations that the tests of certificates share."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
from conftest import recorded

import scorereport as sr
from scorereport.curves import roc_curve
from scorereport.reference import band_comparison, band_distributions
from scorereport.reference.band_comparison import OUR_DRAWS
from scorereport.reference.band_distributions import (
    band_of,
)
from scorereport.reference.model_comparison import ModelComparer
from scorereport.reference.questions import Answer, BandAnswer, Question
from scorereport.reference.recorded_answers import (
    compare_fit,
    decompose_all,
    read_case,
)
from scorereport.reliability.band_bounds import redraw_curves
from scorereport.scores.registry import REGISTRY, Kind, Reported, list_reported

RECORD = {case["name"]: case for case in recorded("reliabilitydiag")["cases"]}


INF, NAN = math.inf, math.nan


SCORES = list_reported(Reported.ALWAYS, kinds=[Kind.BINARY])


BOUNDED = ("bounded_brier", "bounded_log_loss", "bounded_net_benefit")


LABELS = {name: REGISTRY[name].label for name in (*SCORES, *BOUNDED)}


COMPONENTS = ("mean score", "MCB", "DSC", "UNC", "perfect forecast")


DISCRETE, CONTINUOUS = "discrete consistency band", "continuous consistency band"


BY_TABLE, EXACT = f"{CONTINUOUS}, R's quantile", f"{CONTINUOUS}, exact quantile"


CONSISTENCY = "resampled consistency band, in distribution"


CONFIDENCE = "resampled confidence band, in distribution"


CERTAIN = f"{CONFIDENCE}, where certain"


QUANTILES = tuple(f"resampled {kind} band, quantiles" for kind in ("consistency", "confidence"))


BINS = ("number of bins", "lower edges of bins", "upper edges of bins", "cases in bins")


CURVE = ("reliability curve: corners", "reliability curve: heights")


COUNTS = (
    "AUC",
    "Murphy's reliability",
    "Murphy's resolution",
    "Murphy's uncertainty",
)


def sample_of(n, digits, power=1.0):
    rng = np.random.default_rng(n)
    x = rng.random(n).round(digits)
    return (rng.random(n) < x**power).astype(float), x


def _curves_once_fixture(monkeypatch):
    """Draw the same curves of the engine, and their bands, once for all tests, and a fifth as many curves."""
    monkeypatch.setattr(band_comparison, "OUR_DRAWS", OUR_DRAWS // 5)
    monkeypatch.setattr(band_comparison, "redraw_curves", redraw_once)
    monkeypatch.setattr(band_distributions, "_expected_share", share_once)


def all_curves_fixture(monkeypatch):
    """Draw as many curves as for users, in tests where a fifth of them is too few."""
    monkeypatch.setattr(band_comparison, "OUR_DRAWS", OUR_DRAWS)


DRAWN, SHARES = {}, {}


usual_share = band_distributions._expected_share


def share_once(curves, *options):
    key = (curves.tobytes(), *options)
    if key not in SHARES:
        SHARES[key] = usual_share(curves, *options)
    return SHARES[key]


def redraw_once(simulation, points, draws, seed):
    d = simulation.distinct
    data = (d.x_min, d.n, simulation.probability, points)
    key = (type(simulation), draws, seed, *(np.asarray(part).tobytes() for part in data))
    if key not in DRAWN:
        DRAWN[key] = redraw_curves(simulation, points, draws, seed)
    return DRAWN[key]


def read(name):
    return read_case(RECORD[name])


def compare(question, answer, is_package=True):
    """The comparisons of all scores, bins and bands, by quantity."""
    comparer = ModelComparer(subject="model", question=question, answer=answer, is_package=is_package)
    lines = list(compare_fit(comparer))
    found = {line.quantity: line for line in lines}
    assert len(found) == len(lines)
    return found


def verdicts(lines):
    return {quantity: line.verdict for quantity, line in lines.items()}


def changed(array, index, by=1e-6):
    other = np.array(array, dtype=float)
    other[index] += by
    return other


def with_band(answer, name, **parts):
    return replace(answer, bands={**answer.bands, name: replace(answer.bands[name], **parts)})


def without_draws(answer):
    """The answer without its resampled bands, which take long to compare."""
    return replace(answer, bands={name: answer.bands[name] for name in ("discrete", "continuous")})


def make_answer(question, *, quantiles="r", draws=(), band_level=None):
    """The answer of an R that agrees with the engine, except that its random draws are its own."""
    fit = sr.corp(question.y_true, question.y_prob)
    decompositions = list(decompose_all(fit, question.costs))
    murphy, level = fit.murphy(), question.level
    bands = {
        "discrete": fit.band(level=level, method="discrete", points=10**6),
        "continuous": fit.band(level=level, method="continuous", quantiles=quantiles),
    }
    x = fit.distinct.x_min
    for kind in draws:
        simulation = fit.sample.simulation(x if kind == "consistency" else fit.recalibrate(x))
        curves = redraw_curves(simulation, x, question.draws, 99)
        lower, upper = band_of(curves, band_level or level)
        bands[kind] = BandAnswer(x=x, lower=lower, upper=upper, level=level)
    return Answer(
        scores={d.name: loss_components(d) for d in decompositions},
        bins={
            "n": fit.blocks.n.astype(float),
            "x_min": fit.blocks.x_min,
            "x_max": fit.blocks.x_max,
            "cep": fit.blocks.mean,
        },
        cep=fit.cep,
        totals=np.array([fit.n, fit.events]),
        auc=roc_curve(fit).auc,
        murphy=np.array([murphy.reliability, murphy.resolution, murphy.uncertainty]),
        bands={
            name: BandAnswer(x=band.x, lower=band.lower, upper=band.upper, level=level)
            for name, band in bands.items()
        },
        seconds=0.0,
    )


def loss_components(d):
    sign = -1 if d.higher_is_better else 1
    return np.array(
        [sign * d.score, d.miscalibration, d.discrimination, sign * d.uncertainty, sign * d.perfect]
    )


def ask(n=40, digits=2, level=0.95, **options):
    y, x = sample_of(n, digits)
    return Question(y_true=y, y_prob=x, level=level, costs=(0.1, 0.3), **options)


def spoil_band(name, part, index, by=1e-6):
    return lambda a: with_band(a, name, **{part: changed(getattr(a.bands[name], part), index, by)})


@cache
def sound(name):
    question, answer = read(name)
    return question, without_draws(answer), compare(question, without_draws(answer))


@cache
def drawn(name="continuous 1"):
    question, answer = read(name)
    return question, answer, compare(question, answer)


def break_mean(monkeypatch):
    from scorereport.reliability import decomposition

    right = decomposition.mean_score

    def wrong(*given, **options):
        mean, infinite = right(*given, **options)
        return mean + 1e-6, infinite

    monkeypatch.setattr(decomposition, "mean_score", wrong)
    return {f"{label}: {part}" for label in LABELS.values() for part in ("mean score", "MCB")}


def break_draws(monkeypatch):
    from scorereport.reliability.fitted_sample import FittedSample

    simulation = FittedSample.simulation
    monkeypatch.setattr(
        FittedSample, "simulation", lambda sample, chance, **cells: simulation(sample, chance**3, **cells)
    )
    return {CONSISTENCY, CONFIDENCE}


def make_frame(n=120, seed=3):
    """Three models: one continuous, one of few values, one that is certain and sometimes wrong."""
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    y = (rng.random(n) < p).astype(int)
    certain = p.round(1)
    certain[:2], y[:2] = (0.0, 1.0), (1, 0)
    return pd.DataFrame(
        {
            "y": y,
            "sharp": p,
            "rounded": p.round(1),
            "certain": certain,
            "count": rng.integers(0, 4, n),
            "share": rng.random(n) + 0.1,
            "site": rng.integers(0, n // 3, n),
        }
    )


MODELS = ("sharp", "rounded", "certain")


def evaluate(frame, forecasts=MODELS, **options):
    """Scores alone: intervals and tests are not compared with R."""
    given = {"resamples": 0, "cost_interval": (0.1, 0.3), **options}
    return sr.evaluate(frame, outcome="y", forecasts=list(forecasts), **given)


def frame_fixture():
    return make_frame()


def without(result, what, name):
    """A result from which one score, decomposition or pointwise band was taken out."""
    if what == "bands":
        left = (b for b in result.bands if (b.kind, b.coverage) != (name, "pointwise"))
        return replace(result, bands=tuple(left))
    left = tuple(part for part in getattr(result.scores, what) if part.name != name)
    return replace(result, scores=replace(result.scores, **{what: left}))
