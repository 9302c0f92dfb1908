"""The certificate: it accuses every number that is off, excuses only what is known, and names its source.

First without R, by answers made here: taken from the record, or made by the engine itself and then spoilt.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import time
from collections import Counter
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from artefact_tools import make_once, shared_folder
from conftest import recorded
from hypothesis import given
from hypothesis import strategies as st
from reference_tools import give_up

import scorereport as sr
from scorereport.curves import roc_curve
from scorereport.reference import band_comparison, band_distributions, certification, deviations
from scorereport.reference.band_comparison import FALSE_ALARMS, OUR_DRAWS, POINTS, ResampledBand
from scorereport.reference.band_distributions import (
    band_of,
    count_unlikely,
    is_likely_band,
    is_likely_quantile,
    likely_ranks,
    likely_sizes,
)
from scorereport.reference.comparison_records import (
    UNEXPECTED,
    Comparison,
    Verdict,
    compare_arrays,
    compare_numbers,
    distance,
    summarise,
)
from scorereport.reference.live_references import BASE, PACKAGE, open_reference
from scorereport.reference.model_comparison import ModelComparer
from scorereport.reference.questions import RESAMPLED, Answer, BandAnswer, Question, read_answer
from scorereport.reference.r_installation import Unavailable
from scorereport.reference.r_session import ReferenceFailure
from scorereport.reference.recorded_answers import (
    compare_fit,
    decompose_all,
    describe_recorded_answers,
    read_case,
)
from scorereport.reliability import bands
from scorereport.reliability.band_bounds import redraw_curves
from scorereport.study.r_comparison import compare_live
from scorereport.study.seeded_cases import CASE_SHAPES, draw_cases

RECORD = {case["name"]: case for case in recorded("reliabilitydiag")["cases"]}
INF, NAN = math.inf, math.nan
SCORES = ("brier", "log_loss", "misclassification", "spherical")
BOUNDED = ("bounded_brier", "bounded_log_loss", "bounded_net_benefit")
LABELS = {
    "brier": "Brier score",
    "log_loss": "Log score",
    "misclassification": "Misclassification",
    "spherical": "Spherical score",
    "bounded_brier": "Bounded Brier score",
    "bounded_log_loss": "Bounded log score",
    "bounded_net_benefit": "Bounded net benefit",
}
COMPONENTS = ("mean score", "MCB", "DSC", "UNC", "perfect forecast")
DISCRETE, CONTINUOUS = "discrete consistency band", "continuous consistency band"
BY_TABLE, EXACT = f"{CONTINUOUS}, R's quantile", f"{CONTINUOUS}, exact quantile"
CONSISTENCY = "resampled consistency band, in distribution"
CONFIDENCE = "resampled confidence band, in distribution"
CERTAIN = f"{CONFIDENCE}, where certain"
QUANTILES = tuple(f"resampled {kind} band, quantiles" for kind in ("consistency", "confidence"))
BINS = ("number of bins", "lower edges of bins", "upper edges of bins", "cases in bins")
OTHER_BAND = "R's band has another level or is at other forecasts."
COMPLETE = "scores and bands that an evaluation has"
CURVE = ("reliability curve: corners", "reliability curve: heights")
COUNTS = (
    "AUC",
    "Murphy's reliability",
    "Murphy's resolution",
    "Murphy's uncertainty",
)

# Numbers


@pytest.mark.parametrize(
    ("engine", "reference", "gap"),
    [
        (INF, INF, 0.0),
        (-INF, -INF, 0.0),
        (NAN, NAN, 0.0),
        (0.0, -0.0, 0.0),
        (-0.0, 0.0, 0.0),
        (1e-12, 0.0, 1e-12),
        (0.25, 0.25 + 2**-41, 2**-41),
        (1e6, 1e6 + 2**-20, 2**-20),
        (-1e6, -1e6 - 2**-20, 2**-20),
    ],
)
def test_equal_numbers_agree(engine, reference, gap):
    """To 1e-12, of the reference if that is above 1; infinite and undefined ones if they are alike."""
    line = compare_numbers("logit", "MCB", engine, reference)
    assert (line.subject, line.quantity, line.verdict) == ("logit", "MCB", Verdict.AGREES)
    assert (line.difference, line.tolerance, line.reason) == (gap, 1e-12, "")
    assert distance(engine, reference) == distance(reference, engine) == gap


@pytest.mark.parametrize(
    ("engine", "reference", "gap"),
    [
        (INF, -INF, INF),
        (INF, 1.0, INF),
        (1.0, INF, INF),
        (1.0, -INF, INF),
        (NAN, 1.0, INF),
        (1.0, NAN, INF),
        (NAN, INF, INF),
        (-INF, NAN, INF),
        (1.1e-12, 0.0, 1.1e-12),
        (0.25, 0.25 + 2**-39, 2**-39),
        (1e6, 1e6 + 2**-19, 2**-19),
        (1e13, 0.5, 1e13 - 0.5),
        (0.25, 0.250001, 0.250001 - 0.25),
    ],
)
def test_other_numbers_differ(engine, reference, gap):
    line = compare_numbers("logit", "MCB", engine, reference)
    assert (line.verdict, line.difference) == (Verdict.DIFFERS, gap)
    assert line.is_unexpected


def test_a_tolerance_of_zero_wants_the_same_number():
    assert compare_numbers("a", "n", 3, 3, tolerance=0.0).verdict is Verdict.AGREES
    assert compare_numbers("a", "n", INF, INF, tolerance=0.0).verdict is Verdict.AGREES
    assert compare_numbers("a", "n", 0.3, np.nextafter(0.3, 1), tolerance=0.0).verdict is Verdict.DIFFERS


NUMBERS = st.floats(-1e300, 1e300) | st.sampled_from(
    [INF, -INF, NAN, 0.0, -0.0, 1.0, 1 + 1e-13, 1e6, 1e6 + 1e-9]
)


@given(st.lists(st.tuples(NUMBERS, NUMBERS) | NUMBERS.map(lambda x: (x, x)), min_size=1, max_size=6))
def test_arrays_agree_if_and_only_if_all_their_numbers_do(pairs):
    """And the line is that of one of the pairs, one that differs if any does."""
    line = compare_arrays("a", "cep", [x for x, _ in pairs], [x for _, x in pairs])
    singles = [compare_numbers("a", "cep", *pair) for pair in pairs]
    assert (line.verdict is Verdict.AGREES) == all(one.verdict is Verdict.AGREES for one in singles)
    assert repr(line) in {repr(one) for one in singles}


def test_arrays_are_compared_by_their_worst_number():
    """Worst by what counts: 1e-3 of a million is less than 1e-6 of 1."""
    line = compare_arrays("a", "cep", [1e6, 0.5, 0.25], [1e6 + 1e-7, 0.5 + 1e-6, 0.25])
    assert (line.engine, line.reference, line.verdict) == (0.5, 0.5 + 1e-6, Verdict.DIFFERS)
    worst = compare_arrays("a", "cep", [0.1, NAN, 0.5], [0.2, 0.1, 0.5])
    assert math.isnan(worst.engine)
    assert worst.difference == INF


@pytest.mark.parametrize(("engine", "reference"), [([0.5], [0.5, 0.5]), ([], [0.5]), ([0.5, 0.5], [])])
def test_arrays_of_other_lengths_differ(engine, reference):
    line = compare_arrays("a", "cep", engine, reference)
    assert (line.verdict, line.difference) == (Verdict.DIFFERS, None)
    assert (line.engine, line.reference) == (f"{len(engine)} numbers", f"{len(reference)} numbers")
    assert line.reason == "The numbers of values differ, or there are none."


LINES = st.lists(
    st.builds(
        Comparison,
        subject=st.sampled_from("abc"),
        quantity=st.sampled_from(["MCB", "DSC"]),
        engine=st.just(0.5),
        reference=st.just(0.5),
        difference=st.none() | st.floats(0, 1) | st.just(INF),
        verdict=st.sampled_from(Verdict),
        reason=st.sampled_from(["", "One.", "Two."]),
    ),
    max_size=30,
)


@given(LINES)
def test_a_summary_never_hides_what_nobody_expects(lines):
    """Alarms stay as they are; all others are counted once, by quantity, verdict and reason."""
    found = list(summarise(lines, "all", "case"))
    assert [line for line in found if line.is_unexpected] == [line for line in lines if line.is_unexpected]
    counts = Counter()
    for line in lines:
        if not line.is_unexpected:
            counts[line.quantity, line.verdict, "" if line.verdict is Verdict.AGREES else line.reason] += 1
    calm = [line for line in found if not line.is_unexpected]
    assert len(calm) == len(counts)
    for line in calm:
        told, _, reason = line.reason.partition(". ")
        number = int(re.match(r"\d+", told).group())
        assert counts[line.quantity, line.verdict, reason] == number
        assert line.subject == "all"
        group = [
            other.difference or 0
            for other in lines
            if (other.quantity, other.verdict) == (line.quantity, line.verdict)
            and (line.verdict is Verdict.AGREES or other.reason == reason)
        ]
        assert (line.difference or 0) == max(group)


def test_alarms_are_those_that_need_a_look():
    assert {Verdict.DIFFERS, Verdict.REFUTED, Verdict.FAILED} == UNEXPECTED


# Laws


def sample_of(n, digits, power=1.0):
    rng = np.random.default_rng(n)
    x = rng.random(n).round(digits)
    return (rng.random(n) < x**power).astype(float), x


class Law:
    """The curves of an engine and those of a reference, at the points and with the draws of a certificate."""

    def __init__(self, kind, sample):
        self.fit = sr.corp(*sample)
        x = self.fit.distinct.x_min
        self.chances = {"consistency": x, "confidence": self.fit.recalibrate(x)}
        chance = self.chances[kind]
        inner = np.flatnonzero((chance > 0) & (chance < 1))
        self.entries = inner[np.unique(np.linspace(0, len(inner) - 1, POINTS).round().astype(int))]
        self.points = x[self.entries]
        self.simulation = self.fit.sample.simulation(chance)
        self.curves = redraw_curves(self.simulation, self.points, OUR_DRAWS, 2021)
        self.other = "consistency" if kind == "confidence" else "confidence"

    def accused(self, curves, level=0.9, shift=0.0, asked=0.9):
        """How many bounds of a band of these curves do not fit those of the engine."""
        sizes = likely_sizes(self.points, self.fit.y_prob, len(curves))
        bounds = np.nanquantile(curves, [(1 - level) / 2, (1 + level) / 2], axis=0) + shift
        return count_unlikely(self.curves, tuple(bounds), asked, sizes, FALSE_ALARMS)

    def redrawn(self, seed, draws=100):
        return redraw_curves(self.simulation, self.points, draws, seed)


@cache
def law(kind, n, digits, power):
    return Law(kind, sample_of(n, digits, power))


EACH_LAW = pytest.mark.parametrize(
    "law_of",
    [
        ("consistency", 60, 17, 1.0),
        ("confidence", 60, 17, 1.0),
        ("consistency", 400, 1, 2.0),
        ("confidence", 400, 2, 2.0),
    ],
    ids=str,
)


@pytest.mark.sweep
@EACH_LAW
def test_equal_laws_are_accepted(law_of):
    """100 draws as in R against 1000; also other levels, as far as they are asked for."""
    found = law(*law_of)
    for seed in range(100, 140):
        curves = found.redrawn(seed)
        assert found.accused(curves) == 0
        assert found.accused(curves, level=0.5, asked=0.5) == 0
        assert found.accused(curves, level=0.999, asked=0.999) == 0


@pytest.mark.sweep(after=1)
@EACH_LAW
@pytest.mark.parametrize("shift", [0.1, -0.1])
def test_a_law_that_is_shifted_is_rejected(law_of, shift):
    found = law(*law_of)
    assert all(found.accused(found.redrawn(seed), shift=shift) > 0 for seed in range(100, 110))


@EACH_LAW
def test_outcomes_drawn_from_the_wrong_chance_are_rejected(law_of):
    """A consistency band drawn around the estimate, and the other way round."""
    found = law(*law_of)
    wrong = found.fit.sample.simulation(found.chances[found.other])
    for seed in range(100, 105):
        assert found.accused(redraw_curves(wrong, found.points, 100, seed)) > 0


@EACH_LAW
def test_a_much_narrower_band_is_rejected_point_by_point(law_of):
    """100 draws tell a level of .5 from .9; .8 takes many points together, or many draws."""
    found = law(*law_of)
    assert all(found.accused(found.redrawn(seed), level=0.5) > 0 for seed in range(100, 105))


def test_many_draws_tell_levels_apart():
    found = law("consistency", 400, 1, 2.0)
    many = found.redrawn(5, draws=3000)
    assert found.accused(many) == 0
    assert found.accused(many, level=0.8) > 0
    assert found.accused(many, level=0.98) > 0


def test_ranks_are_those_of_order_statistics():
    """Simulated: of independent uniform draws hardly any quantile leaves its ranks, and some come near."""
    rng = np.random.default_rng(1)
    for level in (0.05, 0.5, 0.95):
        fewest, most = likely_ranks(200, 20, level, 1e-3)
        bounds = np.quantile(rng.random((20_000, 20)), level, axis=1)
        ranks = (rng.random((20_000, 200)) < bounds[:, None]).sum(axis=1)
        outside = ((ranks < fewest) | (ranks > most)).mean()
        assert 0 < outside < 2e-3


@pytest.mark.parametrize(
    ("values", "quantile", "sizes", "expected"),
    [
        ([], NAN, (0, 0), True),  # neither has drawn anything there, and nobody had to
        ([], NAN, (0, 3), True),
        ([], NAN, (5, 9), False),  # both should have
        ([0.5], NAN, (0, 3), True),  # R may have drawn nothing
        ([0.5], NAN, (1, 3), False),  # R should have
        ([], 0.5, (50, 100), False),  # the engine should have
        ([], 0.5, (0, 3), True),  # a rare draw of R
        ([0.5] * 9, 0.5, (0, 3), True),
    ],
)
def test_curves_that_say_nothing_are_likely_only_where_few_forecasts_are(values, quantile, sizes, expected):
    assert is_likely_quantile(np.array(values), quantile, 0.5, sizes, 1e-6) is expected


def test_equal_values_may_differ_in_the_last_digits():
    values = np.full(1000, 1 / 3)
    for off in (0.0, 1e-13, -1e-13):
        assert is_likely_quantile(values, 1 / 3 + off, 0.05, (100, 100), 1e-9)
    assert not is_likely_quantile(values, 1 / 3 + 1e-9, 0.05, (100, 100), 1e-9)
    assert not is_likely_quantile(values, 1 / 3 - 1e-9, 0.95, (100, 100), 1e-9)


@pytest.mark.parametrize("quantile", [0.1, 0.9])
def test_a_quantile_of_an_unknown_number_of_draws_may_be_one_of_few(quantile):
    values = np.linspace(0, 1, 1000)
    assert is_likely_quantile(values, quantile, 0.5, (1, 100), 1e-6)
    assert not is_likely_quantile(values, quantile, 0.5, (100, 100), 1e-6)


def test_sizes_are_how_often_forecasts_are_reached():
    """Of two rows a draw holds the first with chance 3/4; one forecast is always there."""
    x = np.array([0.2, 0.7])
    fewest, most = zip(*likely_sizes(x, x, 1000), strict=True)
    assert all(600 < low < 750 < high < 850 for low, high in zip(fewest, most, strict=True))
    assert likely_sizes(np.array([0.4]), np.full(5, 0.4), 100) == [(100, 100)]
    assert likely_sizes(np.array([0.0]), x, 100) == [(0, 0)]
    assert likely_sizes(np.empty(0), x, 100) == []
    assert count_unlikely(np.empty((7, 0)), (np.empty(0), np.empty(0)), 0.9, [], 1e-6) == 0


# The settings of a certificate: 200 draws in R, 5000 here

SMALL_TO_LARGE = pytest.mark.parametrize("n", [60, 200, 1000])
EACH_KIND = pytest.mark.parametrize("kind", ["consistency", "confidence"])


def is_accused(found, curves, bounds):
    """Whether these curves of an engine are told from a band of R."""
    sizes = likely_sizes(found.points, found.fit.y_prob, 200)
    unlikely = count_unlikely(curves, bounds, 0.9, sizes, FALSE_ALARMS)
    return unlikely > 0 or not is_likely_band(curves, bounds, 0.9, 200, 2021)


@pytest.mark.sweep(after=1)
@SMALL_TO_LARGE
@EACH_KIND
@pytest.mark.parametrize("digits", [1, 17])
def test_equal_laws_are_never_accused(kind, n, digits):
    """Twenty bands of each of twelve laws."""
    found = law(kind, n, digits, 1.5)
    for seed in range(1000, 1020):
        assert not is_accused(found, found.curves, band_of(found.redrawn(seed, 200), 0.9))


@pytest.mark.sweep
@SMALL_TO_LARGE
@EACH_KIND
def test_an_engine_of_another_spread_is_found_out(kind, n):
    """None, half of it, and twice as much."""
    found = law(kind, n, 17, 1.5)
    middle = np.nanmedian(found.curves, axis=0)
    for seed in range(1000, 1005):
        bounds = band_of(found.redrawn(seed, 200), 0.9)
        for factor in (0.0, 0.5, 2.0):
            assert is_accused(found, middle + factor * (found.curves - middle), bounds)


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("n", [200, 1000])
@EACH_KIND
def test_an_engine_that_draws_outcomes_from_the_wrong_chance_is_found_out(kind, n):
    found = law(kind, n, 17, 2.0)
    wrong = redraw_once(
        found.fit.sample.simulation(found.chances[found.other]), found.points, OUR_DRAWS, 2021
    )
    for seed in range(1000, 1005):
        assert is_accused(found, wrong, band_of(found.redrawn(seed, 200), 0.9))


def test_one_bound_that_does_not_fit_is_counted():
    found = law("consistency", 400, 1, 2.0)
    sizes = likely_sizes(found.points, found.fit.y_prob, 100)
    lower, upper = np.nanquantile(found.redrawn(1), [0.05, 0.95], axis=0)
    lower[3], upper[5] = upper[3], lower[5]
    assert count_unlikely(found.curves, (lower, upper), 0.9, sizes, FALSE_ALARMS) == 2


# One model beside an answer


@pytest.fixture(autouse=True)
def _curves_once(monkeypatch):
    """Draw the same curves of the engine, and bands of them, only once in all tests, and a fifth of them."""
    monkeypatch.setattr(band_comparison, "OUR_DRAWS", OUR_DRAWS // 5)
    monkeypatch.setattr(band_comparison, "redraw_curves", redraw_once)
    monkeypatch.setattr(band_distributions, "_expected_share", share_once)


@pytest.fixture
def all_curves(monkeypatch):
    """As many curves as users get, for what a fifth of them cannot tell."""
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
    """The same without the bands that were resampled, which take long to compare."""
    return replace(answer, bands={name: answer.bands[name] for name in ("discrete", "continuous")})


def make_answer(question, *, quantiles="r", draws=(), band_level=None):
    """What R would say if it were the engine; of random draws it makes its own."""
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


def break_level(monkeypatch, level):
    """Quantiles of another level in the band that users get."""
    bounds = bands.pointwise_bounds
    monkeypatch.setattr(
        bands, "pointwise_bounds", lambda simulation, x, _, *draws: bounds(simulation, x, level, *draws)
    )


def break_width(monkeypatch, factor):
    """Another spread around the middle in the band that users get."""
    bounds = bands.pointwise_bounds

    def spread(*given):
        lower, upper = bounds(*given)
        middle, half = (lower + upper) / 2, factor * (upper - lower) / 2
        return middle - half, middle + half

    monkeypatch.setattr(bands, "pointwise_bounds", spread)


def break_chance(monkeypatch, _):
    """A band around the diagonal instead of the estimate, and the other way round."""
    is_diagonal = bands.BandRequest.around_diagonal.fget
    inverted = property(lambda request: not is_diagonal(request))
    monkeypatch.setattr(bands.BandRequest, "around_diagonal", inverted)


@pytest.mark.sweep(after=1)
@SMALL_TO_LARGE
@pytest.mark.parametrize(
    ("spoil", "by"),
    [
        (break_level, 0.8),
        (break_level, 0.95),
        (break_level, 0.9 + 1e-6),
        (break_width, 0.0),
        (break_width, 0.5),
        (break_width, 1 + 1e-6),
        (break_chance, None),
    ],
)
def test_the_band_that_users_get_is_of_the_curves_that_r_is_held_against(n, spoil, by, monkeypatch):
    question = ask(n=n, digits=17, level=0.9)
    answer = made(question)
    comparer = ModelComparer(subject="model", question=question, answer=answer, is_package=True)
    spoil(monkeypatch, by)
    for kind, quantity in zip(RESAMPLED, QUANTILES, strict=True):
        lines = {line.quantity: line for line in ResampledBand(comparer, kind).compare()}
        assert (lines[quantity].verdict, lines[quantity].source) == (Verdict.DIFFERS, "numpy")
        in_law = CONSISTENCY if kind == "consistency" else CONFIDENCE
        assert lines[in_law].verdict is Verdict.AGREES


def made(question, cache={}):  # noqa: B006
    """An answer with both resampled bands, once for each sample."""
    key = question.y_prob.tobytes()
    if key not in cache:
        cache[key] = make_answer(question, draws=RESAMPLED)
    return cache[key]


@pytest.mark.usefixtures("all_curves")
def test_the_engine_agrees_with_itself():
    question = ask(level=0.9)
    lines = compare(question, make_answer(question, draws=("consistency",)))
    assert {quantity for quantity, line in lines.items() if line.verdict is not Verdict.AGREES} == {EXACT}
    assert lines[CONSISTENCY].reason == (
        "0 of 20 bounds of 200 draws in R are unlikely among 5,000 curves of the engine, and the band "
        "contains as many curves as expected; with equal distributions, a false alarm occurs once in 100,000 "
        "times."
    )
    assert (lines[CONSISTENCY].difference, lines[CONSISTENCY].tolerance) == (0.0, 0.0)
    assert set(lines) == {
        *(f"{LABELS[score]}: {part}" for score in (*SCORES, *BOUNDED) for part in COMPONENTS),
        *BINS,
        *CURVE,
        *COUNTS,
        "recalibrated probabilities",
        DISCRETE,
        BY_TABLE,
        EXACT,
        f"{CONTINUOUS}: level",
        CONSISTENCY,
        QUANTILES[0],
    }


def spoil_score(name, index):
    return lambda a: replace(a, scores={**a.scores, name: changed(a.scores[name], index)})


def spoil_bins(column, by=1e-6):
    return lambda a: replace(a, bins={**a.bins, column: changed(a.bins[column], 1, by)})


def spoil_band(name, part, index, by=1e-6):
    return lambda a: with_band(a, name, **{part: changed(getattr(a.bands[name], part), index, by)})


SPOILT = {
    **{
        f"{name}, {part}": (spoil_score(name, index), f"{LABELS[name]}: {part}")
        for name in (*SCORES, *BOUNDED)
        for index, part in enumerate(COMPONENTS)
    },
    "bin size": (spoil_bins("n"), "cases in bins"),
    "bin size by 1": (spoil_bins("n", -1), "cases in bins"),
    "cep of a bin": (spoil_bins("cep"), "reliability curve: heights"),
    "cep": (lambda a: replace(a, cep=changed(a.cep, 7)), "recalibrated probabilities"),
    "last cep": (lambda a: replace(a, cep=changed(a.cep, -1, -1e-6)), "recalibrated probabilities"),
    "cep missing": (lambda a: replace(a, cep=changed(a.cep, 3, NAN)), "recalibrated probabilities"),
    "AUC": (lambda a: replace(a, auc=a.auc + 1e-6), "AUC"),
    **{
        quantity: (lambda a, k=k: replace(a, murphy=changed(a.murphy, k)), quantity)
        for k, quantity in enumerate(COUNTS[1:])
    },
    "discrete lower": (spoil_band("discrete", "lower", 2), DISCRETE),
    "discrete upper": (spoil_band("discrete", "upper", -1), DISCRETE),
    "discrete missing": (spoil_band("discrete", "upper", -1, NAN), DISCRETE),
    "discrete forecast": (spoil_band("discrete", "x", 1), DISCRETE),
    "continuous lower": (spoil_band("continuous", "lower", 60), BY_TABLE),
    "continuous upper": (spoil_band("continuous", "upper", 40), BY_TABLE),
    "continuous level": (
        lambda a: with_band(a, "continuous", level=a.bands["continuous"].level + 1e-6),
        f"{CONTINUOUS}: level",
    ),
}


@cache
def sound(name):
    question, answer = read(name)
    return question, without_draws(answer), compare(question, without_draws(answer))


@pytest.mark.parametrize("what", SPOILT)
@pytest.mark.parametrize("name", ["discrete 1", "float32 1"])
def test_one_number_off_by_a_millionth_is_accused_and_no_other(name, what):
    """At level .95, where R's table is off by a thousandth: the exact quantile deviates as before."""
    spoil, quantity = SPOILT[what]
    question, answer, before = sound(name)
    after = compare(question, spoil(answer))
    assert before[quantity].verdict in {Verdict.AGREES, Verdict.EXPECTED}
    assert after[quantity].verdict is Verdict.DIFFERS
    assert after[quantity].is_unexpected
    assert {**after, quantity: None} == {**before, quantity: None}


@pytest.mark.parametrize(
    ("column", "quantity"), [("x_min", "lower edges of bins"), ("x_max", "upper edges of bins")]
)
@pytest.mark.parametrize("name", ["discrete 1", "float32 1"])
@pytest.mark.parametrize("by", [1e-6, -1e-6])
def test_an_edge_off_by_a_millionth_is_accused_as_such_and_as_a_corner(name, column, quantity, by):
    """A corner that lies elsewhere may have the height of the next bin."""
    question, answer, before = sound(name)
    after = compare(question, spoil_bins(column, by)(answer))
    assert after[quantity].verdict is after[CURVE[0]].verdict is Verdict.DIFFERS
    assert {**after, quantity: None, **dict.fromkeys(CURVE)} == {
        **before,
        quantity: None,
        **dict.fromkeys(CURVE),
    }


@pytest.mark.parametrize("size", [1e-13, -1e-13])
def test_rounding_is_not_accused(size):
    question, answer, before = sound("discrete 1")
    spoilt = replace(
        answer,
        scores={name: values + size for name, values in answer.scores.items()},
        cep=answer.cep + size,
    )
    assert verdicts(compare(question, spoilt)) == verdicts(before)


@pytest.mark.parametrize("off", [1e-9, -1e-9])
@pytest.mark.parametrize("part", ["lower", "upper"])
@pytest.mark.parametrize("band", ["discrete", "continuous"])
def test_bounds_agree_to_1e_10(band, part, off):
    question, answer, _ = sound("discrete 1")
    quantity = DISCRETE if band == "discrete" else BY_TABLE
    near, far = (compare(question, spoil_band(band, part, 3, by)(answer)) for by in (off / 50, off))
    assert (near[quantity].verdict, far[quantity].verdict) == (Verdict.AGREES, Verdict.DIFFERS)


@pytest.mark.parametrize(
    ("level", "verdict"), [(0.9, Verdict.EXPECTED), (0.95, Verdict.AGREES), (0.85, Verdict.DIFFERS)]
)
def test_no_level_but_point_9_may_stand_beside_a_continuous_band(level, verdict):
    question, answer, _ = sound("discrete 1")
    line = compare(question, with_band(answer, "continuous", level=level))[f"{CONTINUOUS}: level"]
    assert (question.level, line.verdict) == (0.95, verdict)
    assert line.reason == (deviations.LEVEL if verdict is Verdict.EXPECTED else "")


def test_a_level_that_is_missing_differs():
    question, answer, _ = sound("discrete 1")
    lines = compare(question, with_band(answer, "continuous", level=NAN))
    assert lines[f"{CONTINUOUS}: level"].verdict is Verdict.DIFFERS


# Bins that R splits


def split_bin(answer, x, by=0.0):
    """The first bin of several forecasts, as two: their recalibrated probabilities differ by so much."""
    bins = answer.bins
    k = next(k for k in range(len(bins["n"])) if bins["x_min"][k] < bins["x_max"][k])
    inside = np.sort(x[(x >= bins["x_min"][k]) & (x <= bins["x_max"][k])])
    first = (inside == inside[0]).sum()
    twice = {name: np.insert(column, k, column[k]) for name, column in bins.items()}
    twice["n"][[k, k + 1]] = first, len(inside) - first
    twice["x_max"][k], twice["x_min"][k + 1] = inside[0], inside[first]
    twice["cep"][k + 1] += by
    return replace(answer, bins=twice)


@pytest.mark.parametrize("by", [0.0, 1e-13, -1e-13])
def test_bins_of_equal_means_may_stay_apart_in_the_package(by):
    question, answer, before = sound("discrete 1")
    after = compare(question, split_bin(answer, question.y_prob, by))
    line = after["number of bins"]
    assert (line.verdict, line.reason) == (Verdict.EXPECTED, deviations.ROUNDED_BINS)
    assert (line.engine, line.reference) == (len(answer.bins["n"]), len(answer.bins["n"]) + 1)
    assert {**after, "number of bins": None} == {**before, "number of bins": None}


@pytest.mark.parametrize("by", [1e-6, -1e-6, 0.01, -0.2])
def test_bins_of_other_means_may_not(by):
    question, answer, before = sound("discrete 1")
    after = compare(question, split_bin(answer, question.y_prob, by))
    differing = {quantity for quantity, line in after.items() if line.verdict is Verdict.DIFFERS}
    assert set(BINS) <= differing <= {*BINS, *CURVE}
    excused = dict.fromkeys([*BINS, *CURVE])
    assert {**after, **excused} == {**before, **excused}


def test_base_r_may_not_split_bins_at_all():
    question = ask()
    answer = make_answer(question, quantiles="exact")
    after = compare(question, split_bin(answer, question.y_prob), is_package=False)
    differing = {quantity for quantity, line in after.items() if line.verdict is Verdict.DIFFERS}
    assert set(BINS) <= differing <= {*BINS, *CURVE}


def test_bins_that_are_fewer_differ():
    question, answer, _ = sound("discrete 1")
    fewer = replace(answer, bins={name: column[1:] for name, column in answer.bins.items()})
    after = compare(question, fewer)
    differing = {quantity for quantity, line in after.items() if line.verdict is Verdict.DIFFERS}
    assert set(BINS) <= differing <= {*BINS, *CURVE}


def test_a_wrong_edge_is_seen_behind_a_split():
    question, answer, _ = sound("discrete 1")
    split = split_bin(answer, question.y_prob)
    last = changed(split.bins["x_max"], -1)
    after = compare(question, replace(split, bins={**split.bins, "x_max": last}))
    differing = {q for q, line in after.items() if line.verdict is Verdict.DIFFERS}
    assert differing - set(CURVE) == {"upper edges of bins"}
    assert after["number of bins"].verdict is Verdict.EXPECTED


# The continuous band

AT_ENDS = f"{CONTINUOUS} at 0 and 1"


def certain_forecasts(value):
    """All forecasts at one end: there is no density at the other, where R divides 0 by 0."""
    return Question(y_true=np.arange(20) % 2.0, y_prob=np.full(20, value), level=0.9, costs=(0.1, 0.3))


@pytest.mark.parametrize(("value", "end"), [(1.0, 0), (0.0, -1)])
def test_bounds_may_be_missing_at_an_end_without_density(value, end):
    question = certain_forecasts(value)
    answer = make_answer(question)
    band = answer.bands["continuous"]
    missing = with_band(
        answer, "continuous", lower=changed(band.lower, end, NAN), upper=changed(band.upper, end, NAN)
    )
    before, after = compare(question, answer), compare(question, missing)
    assert AT_ENDS not in before
    line = after.pop(AT_ENDS)
    assert (line.verdict, line.reason) == (Verdict.EXPECTED, deviations.NO_DENSITY)
    assert after == before


@pytest.mark.parametrize("parts", [("lower",), ("upper",), ("lower", "upper")])
@pytest.mark.parametrize("index", [0, 1, 50, 99, 100])
def test_bounds_may_be_missing_nowhere_else(parts, index):
    """Forecasts are everywhere here, also near 0 and 1."""
    question, answer, before = sound("float32 1")
    band = answer.bands["continuous"]
    missing = {part: changed(getattr(band, part), index, NAN) for part in parts}
    after = compare(question, with_band(answer, "continuous", **missing))
    assert after[BY_TABLE].verdict is Verdict.DIFFERS
    assert after[EXACT].verdict is Verdict.DIFFERS
    assert verdicts(before) == {**verdicts(after), BY_TABLE: Verdict.AGREES, EXACT: Verdict.EXPECTED}


@pytest.mark.parametrize("part", ["lower", "upper"])
def test_one_bound_may_not_be_missing_alone(part):
    """0/0 spoils both."""
    question = certain_forecasts(1.0)
    answer = make_answer(question)
    other = {"lower": "upper", "upper": "lower"}[part]
    band = answer.bands["continuous"]
    spoilt = {part: changed(getattr(band, part), 0, NAN), other: changed(getattr(band, other), 0, 0.5)}
    after = compare(question, with_band(answer, "continuous", **spoilt))
    assert after[BY_TABLE].verdict is Verdict.DIFFERS


def test_a_deviation_larger_than_the_table_explains_differs():
    """The table is off by 1e-7 at level .9, by 1e-3 at .95: there a millionth more is not its doing."""
    question, answer, _ = sound("discrete 2")
    after = compare(question, spoil_band("continuous", "lower", 60)(answer))
    assert (question.level, after[BY_TABLE].verdict) == (0.9, Verdict.DIFFERS)
    assert after[EXACT].verdict is Verdict.DIFFERS
    question, answer, before = sound("discrete 1")
    off = before[EXACT].difference
    assert 5e-4 < off < 2e-3
    exact = sr.corp(question.y_true, question.y_prob).band(level=question.level, method="continuous")
    worst = int(np.argmax(np.abs(answer.bands["continuous"].upper - exact.upper)))
    for by, verdict in ((-off / 100, Verdict.EXPECTED), (off / 100, Verdict.DIFFERS)):
        after = compare(question, spoil_band("continuous", "upper", worst, by)(answer))
        assert (after[BY_TABLE].verdict, after[EXACT].verdict) == (Verdict.DIFFERS, verdict)


def test_exact_quantiles_in_r_would_be_seen():
    """Should R mend its table, the comparison with the table differs; that with exact ones agrees."""
    question = ask(level=0.95)
    lines = compare(question, make_answer(question, quantiles="exact"))
    assert (lines[BY_TABLE].verdict, lines[EXACT].verdict) == (Verdict.DIFFERS, Verdict.AGREES)


@pytest.mark.parametrize("level", [0.9999, 0.99981])
def test_beyond_the_end_of_its_table_r_may_have_no_band(level):
    question = ask(level=level)
    answer = make_answer(question, quantiles="exact")
    band = answer.bands["continuous"]
    nothing = np.full(101, NAN)
    lines = compare(question, with_band(answer, "continuous", lower=nothing, upper=nothing, level=0.9))
    assert (lines[CONTINUOUS].verdict, lines[CONTINUOUS].reason) == (
        Verdict.EXPECTED,
        deviations.END_OF_TABLE,
    )
    for lower, upper in ((band.lower, band.upper), (nothing, band.upper), (band.lower, nothing)):
        lines = compare(question, with_band(answer, "continuous", lower=lower, upper=upper))
        assert lines[CONTINUOUS].verdict is Verdict.DIFFERS
    partly = nothing.copy()
    partly[40] = 0.3
    lines = compare(question, with_band(answer, "continuous", lower=partly, upper=nothing))
    assert lines[CONTINUOUS].verdict is Verdict.DIFFERS


def test_up_to_the_end_of_its_table_r_must_have_a_band():
    question = ask(level=0.9998)
    answer = make_answer(question)
    assert compare(question, answer)[BY_TABLE].verdict is Verdict.AGREES
    nothing = np.full(101, NAN)
    lines = compare(question, with_band(answer, "continuous", lower=nothing, upper=nothing))
    assert lines[BY_TABLE].verdict is Verdict.DIFFERS


def test_base_r_is_excused_nothing():
    """It is given the quantile, and its level is the one asked for."""
    question = ask(level=0.9999)
    answer = make_answer(question, quantiles="exact")
    quantity = f"{CONTINUOUS}, given Chernoff's quantile"
    lines = compare(question, answer, is_package=False)
    assert set(verdicts(lines).values()) == {Verdict.AGREES}
    assert quantity in lines
    assert not any("level" in found or "exact" in found for found in lines)
    nothing = np.full(101, NAN)
    lines = compare(question, with_band(answer, "continuous", lower=nothing, upper=nothing), is_package=False)
    assert lines[quantity].verdict is Verdict.DIFFERS


@pytest.mark.parametrize("is_package", [True, False])
@pytest.mark.parametrize("name", ["discrete", "continuous"])
@pytest.mark.parametrize("how", ["moved", "fewer", "one"])
def test_bands_at_other_forecasts_differ(name, how, is_package):
    question = ask()
    answer = make_answer(question, quantiles="r" if is_package else "exact")
    band = answer.bands[name]
    parts = {part: getattr(band, part) for part in ("x", "lower", "upper")}
    if how == "moved":
        parts["x"] = changed(band.x, 3, 1e-9)
    else:
        parts = {part: column[: 1 if how == "one" else -1] for part, column in parts.items()}
    after = compare(question, with_band(answer, name, **parts), is_package=is_package)
    lines = {quantity: line for quantity, line in after.items() if quantity.startswith(name)}
    held = [line for quantity, line in lines.items() if not quantity.endswith(": level")]
    assert len(held) == (2 if is_package and name == "continuous" else 1)
    for line in held:
        assert (line.verdict, line.reason) == (Verdict.DIFFERS, "R's band is at other forecasts.")


# Resampled bands


@cache
def drawn(name="continuous 1"):
    question, answer = read(name)
    return question, answer, compare(question, answer)


def compared_places(question, kind):
    """The entries of a band of the package that are compared."""
    fit = sr.corp(question.y_true, question.y_prob)
    chance = fit.recalibrate(fit.distinct.x_min)
    is_held = (chance > 0) & (chance < 1) | (kind == "consistency")
    held = np.flatnonzero(is_held)
    return held[np.linspace(0, len(held) - 1, POINTS).round().astype(int)]


def test_one_bound_of_a_resampled_band_is_accused_alone():
    """A lower bound where the upper one is; far from the certain ends, which hang on their neighbours."""
    question, answer, before = drawn()
    for kind, quantity in (("consistency", CONSISTENCY), ("confidence", CONFIDENCE)):
        band = answer.bands[kind]
        middle = compared_places(question, kind)[4]
        assert band.lower[middle] < band.upper[middle] - 0.1
        lower = changed(band.lower, middle, band.upper[middle] - band.lower[middle])
        after = compare(question, with_band(answer, kind, lower=lower))
        assert after[quantity].verdict is Verdict.DIFFERS
        assert after[quantity].difference == 1
        assert after[quantity].reason.startswith("1 of ")
        assert {**after, quantity: None} == {**before, quantity: None}


@pytest.mark.parametrize("kind", ["consistency", "confidence"])
def test_resampled_bands_at_other_forecasts_differ(kind):
    question, answer, _ = drawn()
    quantity = CONSISTENCY if kind == "consistency" else CONFIDENCE
    band = answer.bands[kind]
    moved = {"x": changed(band.x, 3)}
    fewer = {part: getattr(band, part)[1:] for part in ("x", "lower", "upper")}
    for parts in (moved, fewer):
        line = compare(question, with_band(answer, kind, **parts))[quantity]
        assert (line.verdict, line.reason) == (Verdict.DIFFERS, OTHER_BAND)
    line = compare(question, with_band(answer, kind, level=0.95))[quantity]
    assert (question.level, line.verdict, line.reason) == (0.9, Verdict.DIFFERS, OTHER_BAND)


def certain_places(question):
    """Where the estimate is 0 or 1: at the very ends, and between them."""
    fit = sr.corp(question.y_true, question.y_prob)
    estimate = fit.recalibrate(fit.distinct.x_min)
    places = np.flatnonzero((estimate == 0) | (estimate == 1))
    ends = {0, len(estimate) - 1}
    return sorted(set(places.tolist()) & ends), sorted(set(places.tolist()) - ends)


@pytest.mark.parametrize("part", ["lower", "upper"])
@pytest.mark.parametrize("by", [1e-6, -1e-6])
def test_bounds_where_the_estimate_is_certain_are_those_known_of_r(part, by):
    """No width at the ends, straight lines between: anything else differs, there and only there."""
    question, answer, before = drawn()
    ends, between = certain_places(question)
    assert len(ends) == 2
    assert between
    assert (before[CERTAIN].verdict, before[CERTAIN].reason) == (Verdict.EXPECTED, deviations.CERTAIN)
    for place in (*ends, between[len(between) // 2]):
        after = compare(question, spoil_band("confidence", part, place, by)(answer))
        assert after[CERTAIN].verdict is Verdict.DIFFERS, place
        assert {**after, CERTAIN: None} == {**before, CERTAIN: None}


@pytest.mark.parametrize("end", [0, -1])
@pytest.mark.parametrize("part", ["lower", "upper"])
def test_a_single_certain_forecast_at_an_end_has_no_width(part, end):
    """There is nothing between it and its neighbour that would tell."""
    y = np.array([0, *[1, 0] * 9, 1.0])
    question = Question(y_true=y, y_prob=np.arange(20) / 20, costs=(0.1, 0.3))
    fit = sr.corp(y, question.y_prob)
    assert fit.blocks.n.tolist() == [1, 18, 1]
    curves = redraw_curves(fit.sample.simulation(fit.cep), question.y_prob, 100, 7)
    lower, upper = np.nanquantile(curves, [0.05, 0.95], axis=0)
    answer = make_answer(question, draws=("confidence",))
    answer = with_band(answer, "confidence", lower=lower, upper=upper)
    before = compare(question, answer)
    assert before[CERTAIN].verdict is Verdict.EXPECTED
    after = compare(question, spoil_band("confidence", part, end)(answer))
    assert after[CERTAIN].verdict is Verdict.DIFFERS
    assert {**after, CERTAIN: None} == {**before, CERTAIN: None}


def test_bounds_that_are_missing_where_certain_differ():
    question, answer, _ = drawn()
    for place in (0, certain_places(question)[1][0]):
        after = compare(question, spoil_band("confidence", "upper", place, NAN)(answer))
        assert after[CERTAIN].verdict is Verdict.DIFFERS


def test_of_base_r_certain_bounds_are_held_to_the_law():
    """Its own draws are as certain as those of the engine: a lower bound above them is unlikely."""
    question = replace(ask(n=60, level=0.9), y_prob=ask(n=60).y_prob.round(1))
    question = replace(question, y_true=np.where(question.y_prob < 0.25, 0.0, question.y_true))
    fit = sr.corp(question.y_true, question.y_prob)
    x = fit.distinct.x_min
    assert fit.blocks.mean[0] == 0
    curves = redraw_curves(fit.sample.simulation(fit.recalibrate(x)), x, 100, 7)
    lower, upper = np.nanquantile(curves, [0.05, 0.95], axis=0)
    answer = make_answer(question, quantiles="exact", draws=("confidence",))
    sound_answer = with_band(answer, "confidence", x=x, lower=lower, upper=upper)
    lines = compare(question, sound_answer, is_package=False)
    assert CERTAIN not in lines
    assert lines[CONFIDENCE].verdict is Verdict.AGREES
    spoilt = spoil_band("confidence", "lower", 0, 0.1)(sound_answer)
    assert compare(question, spoilt, is_package=False)[CONFIDENCE].verdict is Verdict.DIFFERS


@pytest.mark.sweep(after=1)
@pytest.mark.usefixtures("all_curves")
@pytest.mark.parametrize(("n", "level"), [(60, 0.8), (200, 0.8), (1000, 0.8), (1000, 0.95)])
def test_a_resampled_band_of_another_level_is_accused(n, level):
    """200 draws of R: single bounds cannot tell .8 from .9, all of them together can."""
    question = ask(n=n, level=0.9)
    answer = make_answer(question, draws=("consistency",), band_level=level)
    line = compare(question, answer)[CONSISTENCY]
    assert line.verdict is Verdict.DIFFERS


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("n", [60, 1000])
@pytest.mark.parametrize("kind", ["consistency", "confidence"])
def test_a_resampled_band_that_leaves_nothing_out_is_accused(n, kind):
    """No single bound is too wide for 100 draws at level .9, however wide it is; all of them together are."""
    question = ask(n=n, level=0.9)
    answer = make_answer(question, draws=(kind,))
    band = answer.bands[kind]
    wide = with_band(answer, kind, lower=np.zeros(len(band.x)), upper=np.ones(len(band.x)))
    line = compare(question, wide, is_package=False)[CONSISTENCY if kind == "consistency" else CONFIDENCE]
    assert line.verdict is Verdict.DIFFERS


def test_resampled_bands_of_equal_laws_are_not_accused():
    """Also not all bounds taken together: samples of their own."""
    for n in range(4, 15, 5):
        question = ask(n=n**2 + 5, digits=n % 3 + 1, level=0.9)
        fit = sr.corp(question.y_true, question.y_prob)
        x = fit.distinct.x_min
        curves = redraw_curves(fit.sample.simulation(x), x, 100, n)
        lower, upper = np.nanquantile(curves, [0.05, 0.95], axis=0)
        band = BandAnswer(x=x, lower=lower, upper=upper, level=0.9)
        comparer = ModelComparer(
            subject="model",
            question=question,
            answer=replace(make_answer(question), bands={"consistency": band}),
            is_package=False,
        )
        lines = list(ResampledBand(comparer, "consistency").compare())
        assert [line.verdict for line in lines] == [Verdict.AGREES] * 2


def test_an_engine_whose_curves_say_nothing_is_accused(monkeypatch):
    monkeypatch.setattr(
        band_comparison,
        "redraw_curves",
        lambda _, x, draws, seed: np.full((draws, len(x)), NAN),  # noqa: ARG005
    )
    question, answer = read("rounded 2")
    lines = compare(question, answer)
    assert lines[CONSISTENCY].verdict is Verdict.DIFFERS
    assert lines[CONFIDENCE].verdict is Verdict.DIFFERS


def lone_answer():
    """Two rows: the package spoils its bands, and base R draws them as well."""
    question = Question(y_true=np.array([0.0, 1.0]), y_prob=np.array([0.2, 0.7]), costs=(0.1, 0.3))
    answer = make_answer(question, draws=("consistency", "confidence"))
    held = {f"base_{kind}": answer.bands[kind] for kind in ("consistency", "confidence")}
    spoilt = {
        kind: replace(answer.bands[kind], lower=np.full(2, 0.3), upper=np.full(2, 0.3)) for kind in RESAMPLED
    }
    formula = {name: answer.bands[name] for name in ("discrete", "continuous")}
    return question, replace(answer, bands={**spoilt, **formula, **held})


BY_BASE = {kind: f"resampled {kind} band, in distribution, drawn by base R" for kind in RESAMPLED}


def test_lone_forecasts_spoil_the_draws_of_the_package_alone():
    """All that is said of its band is that it is one; base R's stands beside it and must fit."""
    question, answer = lone_answer()
    before = compare(question, answer)
    for kind, quantity in zip(RESAMPLED, (CONSISTENCY, CONFIDENCE), strict=True):
        assert (before[quantity].verdict, before[quantity].reason) == (
            Verdict.EXPECTED,
            deviations.LONE_FORECAST,
        )
        assert (before[BY_BASE[kind]].verdict, before[BY_BASE[kind]].source) == (Verdict.AGREES, "base R")
    assert CERTAIN not in before  # base R is excused nothing
    package = compare(question, answer, is_package=False)
    assert Verdict.EXPECTED not in verdicts(package).values()
    assert package[CONSISTENCY].verdict is Verdict.DIFFERS
    assert not set(BY_BASE.values()) & set(package)


@pytest.mark.sweep(after=3)
@pytest.mark.parametrize(
    ("part", "index", "by"),
    [("x", 0, 1e-6), ("lower", 0, -1.0), ("upper", 1, 1.0), ("lower", 1, 0.1), ("lower", 0, NAN)],
)
@pytest.mark.parametrize("kind", ["consistency", "confidence"])
def test_even_a_spoilt_band_is_a_band(kind, part, index, by):
    question, answer = lone_answer()
    quantity = CONSISTENCY if kind == "consistency" else CONFIDENCE
    before, after = (
        compare(question, found) for found in (answer, spoil_band(kind, part, index, by)(answer))
    )
    assert after[quantity].verdict is Verdict.DIFFERS
    assert {**verdicts(after), quantity: None} == {**verdicts(before), quantity: None}


@pytest.mark.parametrize("kind", ["consistency", "confidence"])
def test_beside_a_spoilt_band_there_must_be_one_of_base_r(kind):
    question, answer = lone_answer()
    before = compare(question, answer)
    base, quantity = f"base_{kind}", BY_BASE[kind]
    without = {name: band for name, band in answer.bands.items() if name != base}
    spoilt = {
        Verdict.FAILED: (replace(answer, bands=without), with_band(answer, base, error="no way")),
        Verdict.DIFFERS: (
            with_band(answer, base, lower=answer.bands[base].upper + 0.1),
            with_band(answer, base, level=0.8),
            with_band(answer, base, x=answer.bands[base].x + 1e-6),
        ),
    }
    for verdict, answers in spoilt.items():
        for found in answers:
            after = compare(question, found)
            assert (after[quantity].verdict, after[quantity].source) == (verdict, "base R")
            left = {q: v for q, v in verdicts(before).items() if q not in {quantity, *QUANTILES}}
            assert left.items() <= verdicts(after).items()


@pytest.mark.parametrize(
    ("forecasts", "draws", "expected"),
    [
        ([0.2, 0.7], 1, True),
        ([0.2, 0.2, 0.2], 100, False),  # one forecast only: no other to miss
        (np.arange(8) / 8, 100, True),  # 100·8·8^-8 = 5e-5
        (np.arange(12) / 12, 100, False),  # 100·12·12^-12 = 1e-10
        (np.arange(9) / 9, 100, True),  # 2.3e-6
        (np.arange(9) / 9, 40, False),  # 9.3e-7
        ([0.3] * 80 + [0.4] * 20, 100, False),  # .8^100 = 2e-10
        ([0.3] * 40 + [0.4] * 10, 100, True),  # .8^50 = 1e-5
    ],
)
def test_lone_forecasts_are_reckoned_with_where_they_may_come(forecasts, draws, expected):
    assert deviations.draws_lone_forecasts(np.array(forecasts), draws) is expected


def test_many_cases_are_resampled_in_part():
    """1,000 of them, evenly by their forecasts; R is asked for the same."""
    question = ask(n=12_000, digits=17)
    y, x = question.redrawn
    order = np.argsort(question.y_prob)
    kept = order[np.round(np.linspace(0, 11_999, 1000)).astype(int)]
    np.testing.assert_array_equal(x, question.y_prob[kept])
    np.testing.assert_array_equal(y, question.y_true[kept])
    vectors = question.vectors()
    np.testing.assert_array_equal(vectors["drawn_x"], x)
    np.testing.assert_array_equal(vectors["drawn_y"], y)
    assert len(vectors["x"]) == len(vectors["y"]) == 12_000
    few = ask(n=1000)
    assert few.redrawn[1] is few.y_prob


def test_bands_of_many_cases_name_how_many():
    question = ask(n=6000, digits=2, level=0.9)
    y, x = question.redrawn
    part = replace(question, y_true=y, y_prob=x)
    answer = make_answer(question)
    answer.bands["consistency"] = make_answer(part, draws=("consistency",)).bands["consistency"]
    lines = compare(question, answer)
    assert lines[f"{CONSISTENCY}, 1,000 cases"].verdict is Verdict.AGREES


def test_a_seed_is_one_that_r_takes():
    assert ask(seed=2**31 - 2).vectors()["seed"] == [2**31 - 2]
    assert ask(seed=2**31 + 4).vectors()["seed"] == [5]


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


# An engine that is broken


def break_mean(monkeypatch):
    from scorereport.reliability import decomposition

    right = decomposition.mean_score

    def wrong(*given, **options):
        mean, infinite = right(*given, **options)
        return mean + 1e-6, infinite

    monkeypatch.setattr(decomposition, "mean_score", wrong)
    return {f"{label}: {part}" for label in LABELS.values() for part in ("mean score", "MCB")}


def break_fit(monkeypatch):
    from scorereport.reliability.fit import Corp

    recalibrate = Corp.recalibrate
    monkeypatch.setattr(Corp, "recalibrate", lambda fit, p: recalibrate(fit, p) * (1 - 1e-6))
    return {"recalibrated probabilities"}


def break_discrete_band(monkeypatch):
    from scorereport.reliability import bands

    width = bands.discrete_half_width
    monkeypatch.setattr(bands, "discrete_half_width", lambda *given: width(*given) * (1 + 1e-6))
    return {DISCRETE}


def break_draws(monkeypatch):
    from scorereport.reliability.fitted_sample import FittedSample

    simulation = FittedSample.simulation
    monkeypatch.setattr(FittedSample, "simulation", lambda sample, chance: simulation(sample, chance**3))
    return {CONSISTENCY, CONFIDENCE}


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
        "Not certified on these data. Only recorded answers were requested. The engine differs from "
        f"{describe_recorded_answers()}, of other data."
    )


# Certificates


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


@pytest.fixture(scope="module")
def frame():
    return make_frame()


@pytest.fixture(scope="module")
def evaluation(frame):
    return evaluate(frame)


@pytest.fixture(scope="module")
def recorded_certificate(evaluation, tmp_path_factory):
    folder = shared_folder(tmp_path_factory, "recorded certificate")
    return make_once(folder, lambda: sr.certify(evaluation, reference="recorded"))


@pytest.fixture
def _quick_record(recorded_certificate, monkeypatch):
    """The comparisons with the record as they were the first time, which take seconds."""
    monkeypatch.setattr(certification, "compare_with_record", lambda: iter(recorded_certificate.comparisons))


def test_a_recorded_certificate_is_none_of_these_data(recorded_certificate):
    c = recorded_certificate
    assert c.verdict == "not certified"
    assert c.sentence == (
        "Not certified on these data. Only recorded answers were requested. The engine agrees with 44 "
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
    assert json.loads(text)["verdict"] == "not certified"


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


# Live


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


@pytest.fixture
def few_draws(monkeypatch):
    """Few draws of the engine too; where bands of random draws are not what a test is about."""
    monkeypatch.setattr(band_comparison, "OUR_DRAWS", 200)


@pytest.fixture
def running(package, base, monkeypatch, few_draws):  # noqa: ARG001
    """Certificates by references that run already; also without resampled bands, for which R takes long."""
    monkeypatch.setattr(certification, "FEWEST_DRAWS", 0)

    @contextmanager
    def find(kind, _time_limit):
        yield {PACKAGE: package, BASE: base}[kind]

    monkeypatch.setattr(certification, "open_reference", find)


def certify(evaluation, **options):
    return sr.certify(evaluation, **{"draws": 0, **options})


def quantities_of(certificate, model, verdict):
    return {
        line.quantity for line in certificate.comparisons if (line.subject, line.verdict) == (model, verdict)
    }


ALL_SCORES = {f"{LABELS[score]}: {part}" for score in (*SCORES, *BOUNDED) for part in COMPONENTS}
REPORTED = {
    *(f"{LABELS[score]}: {part}" for score in (*SCORES, *BOUNDED) for part in ("as reported", "skill")),
    "AUC: skill",
    "cases and events",
    COMPLETE,
}
PLAIN = {*ALL_SCORES, *BINS, *CURVE, *COUNTS, *REPORTED, "recalibrated probabilities"}
AGREEING = {*PLAIN, DISCRETE, CONSISTENCY, CONFIDENCE, *QUANTILES}


@pytest.mark.sweep
@pytest.mark.r
def test_three_models_are_certified_by_the_package(evaluation, package, tmp_path):
    """As a user calls it, with a process of R of its own."""
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
    assert (count["the engine", Verdict.AGREES], count["base R", Verdict.AGREES]) == (3, 18)
    assert count["numpy", Verdict.AGREES] == 6
    assert sum(count.values()) == agree + deviate + 27
    assert c.sentence == (
        f"Certified on these data. {agree} agree, {deviate} deviate as expected with {c.reference}; "
        "3 agree of the evaluation with the engine itself; 18 agree with plain arithmetic of base R; "
        "6 agree with numpy."
    )
    assert c.left_out == certification.LEFT_OUT
    path = tmp_path / "certificate.json"
    c.to_json(path)
    assert sr.Certificate.from_json(path) == c
    assert c.expected == tuple(line for line in c.comparisons if line.verdict is Verdict.EXPECTED)


@pytest.mark.r
def test_three_models_are_certified_by_base_r_under_its_own_name(evaluation, base):
    """And never under that of the package."""
    c = sr.certify(evaluation, reference="base")
    assert (c.verdict, c.unexpected, c.expected, c.attempts) == ("certified", (), (), ())
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
        assert c.verdict == "certified"
        lines = {line.quantity: line for line in c.comparisons}
        assert set(lines) >= {*PLAIN, DISCRETE}
        assert all(lines[quantity].verdict is Verdict.AGREES for quantity in {*ALL_SCORES, *COUNTS})
        is_infinite = name in {"0 and 1", "all 1", "wrong and certain"}
        for part in ("mean score", "MCB"):
            line = lines[f"Log score: {part}"]
            assert math.isinf(line.engine) is math.isinf(line.reference) is is_infinite


@pytest.mark.r
@pytest.mark.usefixtures("running")
@pytest.mark.parametrize("name", ["no event", "wrong and certain"])
def test_certificates_with_infinite_and_undefined_numbers_are_read_back(name, tmp_path):
    """Of one class the AUC is undefined: neither number, both alike."""
    y, x = awkward(name)
    c = certify(evaluate(pd.DataFrame({"y": y, "model": x}), ["model"]), reference="base")
    path = tmp_path / "certificate.json"
    text = c.to_json(path)
    again = sr.Certificate.from_json(path)
    assert again.to_json() == text
    assert repr(again) == repr(c)
    assert again == c
    special = {repr(line.engine) for line in c.comparisons} & {"nan", "inf"}
    assert special == ({"nan"} if name == "no event" else {"inf"})


@pytest.mark.r
@pytest.mark.usefixtures("running")
def test_single_precision_is_compared_as_it_is():
    """The digits of the float32 and no others: rounded to 6 of them scores differ."""
    y, x = awkward("single precision")
    evaluation = evaluate(pd.DataFrame({"y": y, "model": x}), ["model"])
    assert evaluation.predictions.forecasts["model"].tolist() == [float(value) for value in x]


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
def test_fractional_weights_are_certified_by_base_r_by_name(frame, base):
    c = certify(evaluate(frame, weight="share"))
    assert (c.verdict, c.reference, c.unexpected) == ("certified", base.title, ())
    (attempt,) = c.attempts
    assert (attempt.reference, attempt.remedy) == ("reliabilitydiag through rpy2", "")
    assert attempt.reason == (
        "The R package has no case weights, and these weights are not whole numbers of rows."
    )
    for model in MODELS:
        assert quantities_of(c, model, Verdict.NOT_COMPARED) == {"bands"}
        assert quantities_of(c, model, Verdict.AGREES) == PLAIN
    assert c.sentence == (
        f"Certified on these data. {3 * (len(PLAIN) - 1)} agree, 3 could not be compared with {base.title}; "
        "3 agree of the evaluation with the engine itself."
    )
    refused = certify(evaluate(frame, weight="share"), reference="reliabilitydiag")
    assert refused.verdict == "not certified"
    assert refused.attempts == c.attempts
    assert refused.sentence.startswith(f"Not certified on these data. {attempt.reason} The engine agrees ")


@pytest.mark.r
@pytest.mark.usefixtures("running")
def test_some_weights_of_zero_are_no_cases(frame):
    """Whole or not; there a forecast far from all others has no say."""
    odd = frame.assign(share=np.where(frame.index < 40, 0.0, frame["share"]))
    c = certify(evaluate(odd, weight="share"))
    assert (c.verdict, c.unexpected) == ("certified", ())


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


def without(result, what, name):
    """A result from which one score, decomposition or pointwise band was taken out."""
    if what == "bands":
        left = (b for b in result.bands if (b.kind, b.coverage) != (name, "pointwise"))
        return replace(result, bands=tuple(left))
    left = tuple(part for part in getattr(result.scores, what) if part.name != name)
    return replace(result, scores=replace(result.scores, **{what: left}))


def again(kind):
    return f"reported {kind} band (resampling), drawn again"


def narrower(fit, kind):
    """The engine's band of level .8, as if it had been asked for."""
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
    """The same of the pointwise bands, all that is said of them, and a band of another level."""
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
    """And no other is accused; what is missing is named as missing."""
    open_once(monkeypatch, remembered_base)
    evaluation = evaluate(frame, ["rounded"], resamples=40)
    assert certify(evaluation, reference="base").verdict == "certified"
    (result,) = evaluation.models
    fit = sr.corp(frame["y"], frame["rounded"])
    count = 0
    for named, spoilt in (*tampered(result), *tampered_bands(result, fit)):
        c = certify(replace(evaluation, models=(spoilt,)), data=evaluation.predictions, reference="base")
        assert c.verdict == "failed"
        assert {line.quantity for line in c.unexpected} >= named
        assert {line.quantity for line in c.unexpected} <= {*named, *CURVE[1:]}
        count += 1
    assert count == 28 + 3 + 3 + 6 + 2 * (1 + 9 + 6 + 2)


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
    assert {line.quantity for line in c.unexpected} <= {*ALL_SCORES, *CURVE, *COUNTS, *REPORTED}
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
    """A reference that is asked once for each question."""

    def __init__(self, reference):
        self.reference, self.answers = reference, {}
        self.name, self.is_package = reference.name, reference.is_package
        self.title, self.software = reference.title, reference.software

    def ask(self, question):
        key = question.y_prob.tobytes()
        if key not in self.answers:
            self.answers[key] = self.reference.ask(question)
        return self.answers[key]


@cache
def live_cases():
    """One of every shape and one more, of no more than 100 rows."""
    cases = list(draw_cases(12, seed=8))
    assert {case.shape for case in cases} == set(CASE_SHAPES[:-1])
    return [replace(case, y_true=case.y_true[:100], y_prob=case.y_prob[:100]) for case in cases]


@pytest.fixture(scope="module")
def remembered(package):
    return Remembered(package)


@pytest.fixture(scope="module")
def remembered_base(base):
    return Remembered(base)


def open_once(monkeypatch, reference):
    """Certify by a reference that remembers what it was asked."""

    @contextmanager
    def find(_kind, _time_limit):
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
        accused = Counter(line.quantity for line in lines if line.is_unexpected)
        assert set(accused) == broken
        assert min(accused.values()) >= 11


@pytest.mark.r
def test_r_that_refuses_a_case_is_told(package):
    class Refusing(Remembered):
        def ask(self, question):  # noqa: ARG002
            raise ReferenceFailure("R refused: no.")

    lines = list(compare_live(live_cases()[:2], Refusing(package), seed=8))
    assert [(line.verdict, line.reason) for line in lines if line.is_unexpected] == [
        (Verdict.FAILED, "R refused: no.")
    ] * 2
    assert {line.verdict for line in lines if not line.is_unexpected} == {Verdict.NOT_COMPARED}


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
