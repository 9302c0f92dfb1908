"""Bins and bands beside an answer of R."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from certificate_tools import (
    BINS,
    BY_TABLE,
    CERTAIN,
    CONFIDENCE,
    CONSISTENCY,
    CONTINUOUS,
    CURVE,
    EXACT,
    NAN,
    QUANTILES,
    _curves_once_fixture,
    all_curves_fixture,
    ask,
    changed,
    compare,
    drawn,
    make_answer,
    read,
    sound,
    spoil_band,
    verdicts,
    with_band,
)
from reference_tools import base_fixture, package_fixture

import scorereport as sr
from scorereport.reference import band_comparison, deviations
from scorereport.reference.band_comparison import POINTS, ResampledBand
from scorereport.reference.comparison_records import (
    Verdict,
)
from scorereport.reference.model_comparison import ModelComparer
from scorereport.reference.questions import RESAMPLED, BandAnswer, Question
from scorereport.reliability.band_bounds import redraw_curves

_curves_once = pytest.fixture(autouse=True)(_curves_once_fixture)


all_curves = pytest.fixture(all_curves_fixture)


package = pytest.fixture(scope="module")(package_fixture)


base = pytest.fixture(scope="module")(base_fixture)


OTHER_BAND = "R's band has another level or is at other forecasts."


# Bins that R splits


def split_bin(answer, x, by=0.0):
    """Split the first bin with several forecasts in two whose recalibrated probabilities differ by `by`."""
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
    ignored = dict.fromkeys([*BINS, *CURVE])
    assert {**after, **ignored} == {**before, **ignored}


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


def test_a_wrong_edge_is_found_despite_a_split():
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
    """All forecasts are at one end: the density at the other is 0, where R divides 0 by 0."""
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
    """The table is off by 1e-7 at level .9 and by 1e-3 at .95: it does not explain larger deviations."""
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


def test_exact_quantiles_in_r_would_be_noticed():
    """If R corrects its table, the comparison with the table differs; that with exact quantiles agrees."""
    question = ask(level=0.95)
    lines = compare(question, make_answer(question, quantiles="exact"))
    assert (lines[BY_TABLE].verdict, lines[EXACT].verdict) == (Verdict.DIFFERS, Verdict.AGREES)


@pytest.mark.sweep
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


def test_base_r_has_no_expected_deviations():
    """It gets the quantile from the engine, and its level is the requested one."""
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


def compared_places(question, kind):
    """The entries of a band of the package that are compared."""
    fit = sr.corp(question.y_true, question.y_prob)
    chance = fit.recalibrate(fit.distinct.x_min)
    is_held = (chance > 0) & (chance < 1) | (kind == "consistency")
    held = np.flatnonzero(is_held)
    return held[np.linspace(0, len(held) - 1, POINTS).round().astype(int)]


def test_one_wrong_bound_of_a_resampled_band_differs_alone():
    """A lower bound at the upper one, far from the certain ends, which depend on their neighbours."""
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


@pytest.mark.sweep
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


@pytest.mark.sweep(after=2)
@pytest.mark.parametrize("end", [0, -1])
@pytest.mark.parametrize("part", ["lower", "upper"])
def test_a_single_certain_forecast_at_an_end_has_no_width(part, end):
    """No point between it and its neighbour could show a width."""
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


def test_certain_bounds_of_base_r_are_compared_in_distribution():
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
@pytest.mark.parametrize(("n", "level"), [(60, 0.8), (200, 0.8), (1000, 0.8), (1000, 0.97)])
def test_a_resampled_band_of_another_level_differs(n, level):
    """With 200 draws of R, single bounds do not separate .8 from .9; all of them together do."""
    question = ask(n=n, level=0.9)
    answer = make_answer(question, draws=("consistency",), band_level=level)
    line = compare(question, answer)[CONSISTENCY]
    assert line.verdict is Verdict.DIFFERS


@pytest.mark.sweep
@pytest.mark.parametrize("n", [60, 1000])
@pytest.mark.parametrize("kind", ["consistency", "confidence"])
def test_a_resampled_band_that_covers_everything_differs(n, kind):
    """No single bound is too wide for 100 draws at level .9, however wide it is; all of them together are."""
    question = ask(n=n, level=0.9)
    answer = make_answer(question, draws=(kind,))
    band = answer.bands[kind]
    wide = with_band(answer, kind, lower=np.zeros(len(band.x)), upper=np.ones(len(band.x)))
    line = compare(question, wide, is_package=False)[CONSISTENCY if kind == "consistency" else CONFIDENCE]
    assert line.verdict is Verdict.DIFFERS


@pytest.mark.sweep
def test_resampled_bands_of_equal_distributions_agree():
    """So do all bounds together; the samples are independent."""
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


def test_an_engine_whose_curves_are_missing_differs(monkeypatch):
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
    """Its band is only checked to be a band; that of base R is compared as well and must agree."""
    question, answer = lone_answer()
    before = compare(question, answer)
    for kind, quantity in zip(RESAMPLED, (CONSISTENCY, CONFIDENCE), strict=True):
        assert (before[quantity].verdict, before[quantity].reason) == (
            Verdict.EXPECTED,
            deviations.LONE_FORECAST,
        )
        assert (before[BY_BASE[kind]].verdict, before[BY_BASE[kind]].source) == (Verdict.AGREES, "base R")
    assert CERTAIN not in before  # base R has no expected deviations
    package = compare(question, answer, is_package=False)
    assert Verdict.EXPECTED not in verdicts(package).values()
    assert package[CONSISTENCY].verdict is Verdict.DIFFERS
    assert not set(BY_BASE.values()) & set(package)


@pytest.mark.sweep
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


@pytest.mark.sweep
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
def test_lone_forecasts_are_expected_where_they_are_likely(forecasts, draws, expected):
    assert deviations.draws_lone_forecasts(np.array(forecasts), draws) is expected


def test_many_cases_are_resampled_in_part():
    """1,000 of them, evenly by their forecasts; R resamples the same ones."""
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


@pytest.mark.sweep
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
