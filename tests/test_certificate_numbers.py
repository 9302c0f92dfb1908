"""Numbers, distributions and single models compared with an answer of R: agreement and differences."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from certificate_tools import (
    BINS,
    BOUNDED,
    BY_TABLE,
    COMPONENTS,
    CONFIDENCE,
    CONSISTENCY,
    CONTINUOUS,
    COUNTS,
    CURVE,
    DISCRETE,
    EXACT,
    INF,
    LABELS,
    NAN,
    QUANTILES,
    RECORD,
    SCORES,
    _curves_once_fixture,
    all_curves_fixture,
    ask,
    changed,
    compare,
    make_answer,
    redraw_once,
    sample_of,
    sound,
    spoil_band,
    verdicts,
    with_band,
)
from hypothesis import given
from hypothesis import strategies as st

import scorereport as sr
from scorereport._utils.json_documents import encode
from scorereport.reference import band_distributions, deviations
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
from scorereport.reference.model_comparison import ModelComparer
from scorereport.reference.questions import RESAMPLED
from scorereport.reliability import bands
from scorereport.reliability.band_bounds import redraw_curves

_curves_once = pytest.fixture(autouse=True)(_curves_once_fixture)


all_curves = pytest.fixture(all_curves_fixture)


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


def test_a_tolerance_of_zero_requires_the_same_number():
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
    assert str(encode(line)) in {str(encode(one)) for one in singles}


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
def test_a_summary_never_hides_unexpected_lines(lines):
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
        counted, _, reason = line.reason.partition(". ")
        number = int(re.match(r"\d+", counted).group())
        assert counts[line.quantity, line.verdict, reason] == number
        assert line.subject == "all"
        group = [
            other.difference or 0
            for other in lines
            if (other.quantity, other.verdict) == (line.quantity, line.verdict)
            and (line.verdict is Verdict.AGREES or other.reason == reason)
        ]
        assert (line.difference or 0) == max(group)


def test_unexpected_verdicts_are_these():
    assert {Verdict.DIFFERS, Verdict.REFUTED, Verdict.FAILED} == UNEXPECTED


class CurveDistribution:
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

    def count_differing(self, curves, level=0.9, shift=0.0, requested_level=0.9):
        """How many bounds of a band of these curves do not fit those of the engine."""
        sizes = likely_sizes(self.points, self.fit.y_prob, len(curves))
        bounds = np.nanquantile(curves, [(1 - level) / 2, (1 + level) / 2], axis=0) + shift
        return count_unlikely(self.curves, tuple(bounds), requested_level, sizes, FALSE_ALARMS)

    def redrawn(self, seed, draws=100):
        return redraw_curves(self.simulation, self.points, draws, seed)


@cache
def curve_distribution(kind, n, digits, power):
    return CurveDistribution(kind, sample_of(n, digits, power))


EACH_DISTRIBUTION = pytest.mark.parametrize(
    "arguments",
    [
        ("consistency", 60, 17, 1.0),
        ("confidence", 60, 17, 1.0),
        ("consistency", 400, 1, 2.0),
        ("confidence", 400, 2, 2.0),
    ],
    ids=str,
)


@pytest.mark.sweep
@EACH_DISTRIBUTION
def test_equal_distributions_are_accepted(arguments):
    """100 draws as in R against 1,000; also other levels, if these are the levels requested."""
    found = curve_distribution(*arguments)
    for seed in range(100, 140):
        curves = found.redrawn(seed)
        assert found.count_differing(curves) == 0
        assert found.count_differing(curves, level=0.5, requested_level=0.5) == 0
        assert found.count_differing(curves, level=0.999, requested_level=0.999) == 0


@pytest.mark.sweep
@EACH_DISTRIBUTION
@pytest.mark.parametrize("shift", [0.1, -0.1])
def test_a_shifted_distribution_is_rejected(arguments, shift):
    found = curve_distribution(*arguments)
    assert all(found.count_differing(found.redrawn(seed), shift=shift) > 0 for seed in range(100, 110))


@pytest.mark.sweep
@EACH_DISTRIBUTION
def test_outcomes_drawn_from_the_wrong_probability_are_rejected(arguments):
    """A consistency band drawn around the estimate, and the other way round."""
    found = curve_distribution(*arguments)
    wrong = found.fit.sample.simulation(found.chances[found.other])
    for seed in range(100, 105):
        assert found.count_differing(redraw_curves(wrong, found.points, 100, seed)) > 0


@pytest.mark.sweep(after=1)
@EACH_DISTRIBUTION
def test_a_much_narrower_band_is_rejected_point_by_point(arguments):
    """100 draws distinguish a level of .5 from .9; for .8, many points or many draws are needed."""
    found = curve_distribution(*arguments)
    assert all(found.count_differing(found.redrawn(seed), level=0.5) > 0 for seed in range(100, 105))


@pytest.mark.sweep
def test_many_draws_distinguish_levels():
    found = curve_distribution("consistency", 400, 1, 2.0)
    many = found.redrawn(5, draws=3000)
    assert found.count_differing(many) == 0
    assert found.count_differing(many, level=0.8) > 0
    assert found.count_differing(many, level=0.98) > 0


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
        ([], NAN, (0, 0), True),  # neither has drawn anything there, and neither had to
        ([], NAN, (0, 3), True),
        ([], NAN, (5, 9), False),  # both should have
        ([0.5], NAN, (0, 3), True),  # R may have drawn nothing
        ([0.5], NAN, (1, 3), False),  # R should have
        ([], 0.5, (50, 100), False),  # the engine should have
        ([], 0.5, (0, 3), True),  # a rare draw of R
        ([0.5] * 9, 0.5, (0, 3), True),
    ],
)
def test_empty_curves_are_likely_only_where_forecasts_are_few(values, quantile, sizes, expected):
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


# The settings of a certificate: 200 draws in R, 1000 here

SMALL_TO_LARGE = pytest.mark.parametrize("n", [60, 200, 1000])


EACH_KIND = pytest.mark.parametrize("kind", ["consistency", "confidence"])


def is_different(found, curves, bounds):
    """Whether these curves of an engine are found to differ from a band of R."""
    sizes = likely_sizes(found.points, found.fit.y_prob, 200)
    unlikely = count_unlikely(curves, bounds, 0.9, sizes, FALSE_ALARMS)
    return unlikely > 0 or not is_likely_band(curves, bounds, 0.9, 200, 2021)


@pytest.mark.sweep(after=1)
@SMALL_TO_LARGE
@EACH_KIND
@pytest.mark.parametrize("digits", [1, 17])
def test_equal_distributions_never_differ(kind, n, digits):
    """Twenty bands of each of twelve distributions."""
    found = curve_distribution(kind, n, digits, 1.5)
    for seed in range(1000, 1020):
        assert not is_different(found, found.curves, band_of(found.redrawn(seed, 200), 0.9))


@pytest.mark.sweep
@SMALL_TO_LARGE
@EACH_KIND
def test_an_engine_with_another_spread_differs(kind, n):
    """No spread, half of it, and twice as much."""
    found = curve_distribution(kind, n, 17, 1.5)
    middle = np.nanmedian(found.curves, axis=0)
    for seed in range(1000, 1005):
        bounds = band_of(found.redrawn(seed, 200), 0.9)
        for factor in (0.0, 0.5, 2.0):
            assert is_different(found, middle + factor * (found.curves - middle), bounds)


@pytest.mark.sweep
@pytest.mark.parametrize("n", [200, 1000])
@EACH_KIND
def test_an_engine_that_draws_outcomes_from_the_wrong_probability_differs(kind, n):
    found = curve_distribution(kind, n, 17, 2.0)
    wrong = redraw_once(
        found.fit.sample.simulation(found.chances[found.other]), found.points, OUR_DRAWS, 2021
    )
    for seed in range(1000, 1005):
        assert is_different(found, wrong, band_of(found.redrawn(seed, 200), 0.9))


def test_one_bound_that_does_not_fit_is_counted():
    found = curve_distribution("consistency", 400, 1, 2.0)
    sizes = likely_sizes(found.points, found.fit.y_prob, 100)
    lower, upper = np.nanquantile(found.redrawn(1), [0.05, 0.95], axis=0)
    lower[3], upper[5] = upper[3], lower[5]
    assert count_unlikely(found.curves, (lower, upper), 0.9, sizes, FALSE_ALARMS) == 2


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
        lower, upper, resamples = bounds(*given)
        middle, half = (lower + upper) / 2, factor * (upper - lower) / 2
        return middle - half, middle + half, resamples

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
def test_the_band_that_users_get_comes_from_the_curves_compared_with_r(n, spoil, by, monkeypatch):
    question = ask(n=n, digits=17, level=0.9)
    answer = cached_answer(question)
    comparer = ModelComparer(subject="model", question=question, answer=answer, is_package=True)
    spoil(monkeypatch, by)
    for kind, quantity in zip(RESAMPLED, QUANTILES, strict=True):
        lines = {line.quantity: line for line in ResampledBand(comparer, kind).compare()}
        assert (lines[quantity].verdict, lines[quantity].source) == (Verdict.DIFFERS, "numpy")
        in_distribution = CONSISTENCY if kind == "consistency" else CONFIDENCE
        assert lines[in_distribution].verdict is Verdict.AGREES


def cached_answer(question, cache={}):  # noqa: B006
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
        "0 of 20 bounds of 200 draws in R are unlikely among 1,000 curves of the engine, and the band "
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


SPOILT = {
    **{
        f"{name}, {part}": (spoil_score(name, index), f"{LABELS[name]}: {part}")
        for name in RECORD["discrete 1"]["answer"]["scores"]
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


@pytest.mark.parametrize("what", SPOILT)
@pytest.mark.parametrize("name", ["discrete 1", "float32 1"])
def test_one_number_off_by_a_millionth_differs_and_no_other(name, what):
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
def test_an_edge_off_by_a_millionth_differs_as_edge_and_as_corner(name, column, quantity, by):
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
def test_rounding_is_not_a_difference(size):
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


@pytest.mark.parametrize(("drawn", "k", "size"), [(200, 5, 100), (1000, 181, 200), (3, 1, 1)])
def test_ranks_are_beta_binomial(drawn, k, size):
    from scipy.stats import betabinom

    expected = betabinom.cdf(np.arange(drawn + 1), drawn, k, size - k + 1)
    assert band_distributions._rank_distribution(drawn, k, size) == pytest.approx(expected, rel=0, abs=1e-10)


@pytest.mark.parametrize("q", [1e-9, 0.3, 1 - 1e-9])
def test_counts_are_quantiles_of_the_binomial(q):
    from scipy.stats import binom

    chances = np.concatenate([[0, 1, 1e-12, 1 - 1e-12, 0.5, 0.5], np.linspace(0.001, 0.999, 97)])
    expected = np.maximum(binom.ppf(q, 200, chances), 0)
    assert band_distributions._counts(q, 200, chances).tolist() == expected.tolist()
