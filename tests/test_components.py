"""Intervals of MCB and DSC, their differences, and the test of calibration, against slow independent code."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression
from scipy.stats import binom, norm, t

import scorereport as sr
from scorereport.inference import component_differences, component_intervals, miscalibration_test
from scorereport.inference.component_tests import is_miscalibrated, judge_miscalibration
from scorereport.inference.components import (
    COMPONENTS,
    CaseLosses,
    case_losses,
    component_difference,
    component_interval,
    warn_of_few_events,
)
from scorereport.inference.losses import (
    expected_score,
    image_of_prevalence,
    resolve_measure,
    uncertainty_slope,
)
from scorereport.inference.mean_errors import ErrorDistribution
from scorereport.inference.overfit import (
    OVERFIT_WEIGHTS,
    Overfit,
    draw_excess,
    estimate_overfit,
    smooth_curve,
)
from scorereport.reliability.sampling import SamplingUnits, random_stream
from scorereport.scores.registry import REGISTRY, Kind, Propriety

X = np.arange(1, 9) / 10
Y = np.array([0, 0, 1, 0, 1, 0, 1, 1.0])
FIT = sr.corp(Y, X)
#: Five standard errors: one of a million normal draws lies beyond.
FAR = 5.0

#: Every registered proper score, under the options that change its curvature.
BOUNDS = {"lower": 0.2, "upper": 0.7}
SCORES = {
    "brier": ("brier", {}),
    "log": ("log_loss", {}),
    "log, limited": ("log_loss", {"limit": 0.05}),
    "spherical": ("spherical", {}),
    "bounded Brier": ("bounded_brier", BOUNDS),
    "bounded Brier, paper": ("bounded_brier", {**BOUNDS, "scale": "paper"}),
    "bounded Brier, difference": ("bounded_brier", {**BOUNDS, "scale": "difference"}),
    "bounded log": ("bounded_log_loss", BOUNDS),
    "bounded log, paper": ("bounded_log_loss", {**BOUNDS, "scale": "paper"}),
    "bounded log, difference": ("bounded_log_loss", {**BOUNDS, "scale": "difference"}),
    "bounded net benefit": ("bounded_net_benefit", BOUNDS),
    "bounded net benefit, paper": ("bounded_net_benefit", {**BOUNDS, "scale": "paper"}),
    "bounded net benefit, difference": ("bounded_net_benefit", {**BOUNDS, "scale": "difference"}),
    "misclassification": ("misclassification", {}),
    "elementary": ("elementary", {"theta": 0.3}),
    "regret": ("regret", {"cost": 0.3}),
    "net benefit": ("net_benefit", {"threshold": 0.3}),
    "mode-shifted": ("mode_shifted", {"mu": 0.3}),
    "beta": ("beta_regret", {"a": 2, "b": 3}),
}
PRICED = {key: chosen for key, chosen in SCORES.items() if chosen[0] in OVERFIT_WEIGHTS}


def simulate(n=300, seed=1, power=0.8, digits=None):
    rng = np.random.default_rng(seed)
    x = rng.random(n) if digits is None else rng.random(n).round(digits)
    return (rng.random(n) < x**power).astype(float), x


def slow_pav(mean, weight):
    """Pool adjacent violators one by one; the fit of each entry."""
    blocks = []
    for m, w in zip(mean, weight, strict=True):
        blocks.append([m * w, w, 1])
        while len(blocks) > 1 and blocks[-2][0] * blocks[-1][1] >= blocks[-1][0] * blocks[-2][1]:
            last = blocks.pop()
            blocks[-1] = [a + b for a, b in zip(blocks[-1], last, strict=True)]
    return np.concatenate([[total / w] * k for total, w, k in blocks])


def slow_loss(measure, y, p):
    return measure.sign * measure.score(np.asarray(y, float), np.asarray(p, float))


def slow_mcb(measure, y, x, w=None):
    """Mean loss of x minus that of its isotonic fit; ties pooled by hand."""
    w = np.ones(len(x)) if w is None else w
    place = np.unique(x, return_inverse=True)[1]
    n = np.bincount(place, weights=w)
    fit = slow_pav(np.bincount(place, weights=w * y) / n, n)[place]
    return float((w * (slow_loss(measure, y, x) - slow_loss(measure, y, fit))).sum() / w.sum())


# ---- worked values of the interval study, sample (1) ----


@pytest.mark.parametrize(
    ("score", "component", "raw", "error", "overfit"),
    [
        ("brier", 0, 0.0550000000, 0.0340692572, 0.0468750000),
        ("brier", 1, 0.1250000000, 0.0472455591, 0.0156250000),
        ("log", 0, 0.1824962726, 0.0750525815, 0.2812500000),
        ("log", 1, 0.3465735903, 0.1309925044, 0.2187500000),
    ],
)
def test_worked_values(score, component, raw, error, overfit):
    part = component_intervals(sr.corp(Y, X), score)[component]
    assert part.component == COMPONENTS[component]
    assert part.value == pytest.approx(raw, abs=6e-11)
    assert part.standard_error == pytest.approx(error, abs=6e-11)
    assert part.overfit_closed == pytest.approx(overfit, abs=6e-11)


def test_an_interval_is_made_of_its_pieces():
    fit = sr.corp(Y, X)
    mcb, dsc = component_intervals(fit, level=0.9)
    z = norm.ppf(0.95)
    assert mcb.lower == 0
    least = min(mcb.overfit_closed, mcb.overfit_resampled)
    assert mcb.upper == pytest.approx(max(0, mcb.value - least + z * mcb.standard_error), rel=1e-13)
    least, most = sorted([dsc.overfit_closed, dsc.overfit_resampled])
    assert dsc.lower == pytest.approx(max(0, dsc.value - most - z * dsc.standard_error), rel=1e-12)
    assert dsc.upper == pytest.approx(dsc.value - least + z * dsc.standard_error, rel=1e-13)
    assert dsc.corrected == pytest.approx(max(0, dsc.value - dsc.overfit_resampled), rel=1e-13)
    assert (mcb.level, dsc.level) == (0.9, 0.9)
    # the resampled overfit of DSC is less by that of the prevalence, 1/4 of 8 cases
    assert mcb.overfit_resampled - dsc.overfit_resampled == pytest.approx(0.25 / 8, rel=1e-12)


# ---- the bracket by hand ----

EVEN = SamplingUnits(rows=4)
#: Gains .1, .1, .3, .3 of recalibration over the forecast and .2, .4, .2, .4 over the prevalence.
LOSSES = CaseLosses(
    measure="loss",
    forecast=np.array([0.2, 0.2, 0.4, 0.4]),
    recalibrated=np.array([0.1, 0.1, 0.1, 0.1]),
    prevalence=np.array([0.3, 0.5, 0.3, 0.5]),
)
ERROR = np.sqrt(0.01 * 4 / 3 / 4)  # deviations ±.1


def bracket(component, overfit, *, level=0.9, is_shown=True, units=EVEN):
    return component_interval(LOSSES, component, overfit, units, level=level, is_shown=is_shown, note="few")


@pytest.mark.parametrize(("closed", "resampled"), [(0.04, 0.01), (0.01, 0.04)])
def test_the_larger_overfit_bounds_from_below_and_the_smaller_from_above(closed, resampled):
    overfit = Overfit(closed=closed, resampled=resampled, constant=0.005)
    reach = norm.ppf(0.95) * ERROR
    mcb, dsc = bracket("miscalibration", overfit), bracket("discrimination", overfit)
    assert (mcb.value, mcb.standard_error) == pytest.approx((0.2, ERROR), rel=1e-13)
    assert (mcb.lower, mcb.upper) == pytest.approx((0.2 - 0.04 - reach, 0.2 - 0.01 + reach), rel=1e-12)
    assert mcb.corrected == pytest.approx(0.2 - resampled, rel=1e-13)
    assert (mcb.overfit_closed, mcb.overfit_resampled) == (closed, resampled)
    assert dsc.value == pytest.approx(0.3, rel=1e-13)
    assert (dsc.lower, dsc.upper) == pytest.approx((0.3 - 0.035 - reach, 0.3 - 0.005 + reach), rel=1e-12)
    assert dsc.corrected == pytest.approx(0.3 - (resampled - 0.005), rel=1e-13)
    assert dsc.overfit_closed == pytest.approx(closed - 0.005)
    assert mcb.note == dsc.note == "few"


def test_both_ends_are_cut_at_zero():
    huge = Overfit(closed=3.0, resampled=2.0, constant=0.0)
    part = bracket("discrimination", huge)
    assert (part.lower, part.upper, part.corrected) == (0.0, 0.0, 0.0)
    large = Overfit(closed=0.3, resampled=0.2, constant=0.0)
    part = bracket("discrimination", large)
    assert part.lower == 0.0
    assert part.upper == pytest.approx(0.1 + norm.ppf(0.95) * ERROR)


def test_the_interval_starts_at_zero_unless_the_test_rejects():
    overfit = Overfit(closed=0.0, resampled=0.0, constant=0.0)
    for is_shown in (True, False):
        found = bracket("miscalibration", overfit, is_shown=is_shown)
        assert (found.lower == 0) is not is_shown
        assert found.upper == bracket("miscalibration", overfit).upper
        assert bracket("discrimination", overfit, is_shown=is_shown).lower > 0


@pytest.mark.parametrize(
    ("p_value", "level", "resamples", "rejects"),
    [
        (0.05 - 1e-9, 0.9, 999, True),
        (0.05 + 1e-9, 0.9, 999, False),
        (0.06, 0.8, 999, True),  # the limit is .1
        (1.0, 0.9, 999, False),
        (1 / 20, 0.95, 19, True),  # 19 draws cannot say it more clearly
        (2 / 20, 0.95, 19, False),
        (2 / 40, 0.95, 39, False),
    ],
)
def test_the_test_rejects_on_the_side_of_the_lower_end(p_value, level, resamples, rejects):
    test = replace(miscalibration_test(FIT, resamples=9), p_value=p_value)
    assert is_miscalibrated(test, level, resamples) is rejects


def test_clusters_widen_the_bracket_by_the_quantile_of_t():
    overfit = Overfit(closed=0.03, resampled=0.01, constant=0.005)
    found = bracket("discrimination", overfit, units=SamplingUnits(rows=4, cluster=np.arange(4)))
    reach = t.ppf(0.95, 3) * ERROR
    assert found.lower == pytest.approx(max(0.3 - 0.025 - reach, 0), rel=1e-12)
    assert found.upper == pytest.approx(0.3 - 0.005 + reach, rel=1e-12)


def test_what_the_constant_overfits_is_at_most_the_overfit():
    found = bracket("discrimination", Overfit(closed=0.001, resampled=0.002, constant=0.005))
    assert (found.overfit_closed, found.overfit_resampled) == (0, 0)
    assert found.corrected == found.value


def test_an_infinite_score_has_an_infinite_mcb_and_a_finite_dsc():
    y, x = np.append(Y, 1), np.append(X, 0.0)
    mcb, dsc = component_intervals(sr.corp(y, x), "log")
    assert np.isinf([mcb.value, mcb.corrected]).all()
    assert np.isnan([mcb.standard_error, mcb.lower, mcb.upper]).all()
    assert mcb.note == "The score is infinite: there is no interval."
    assert np.isfinite([dsc.value, dsc.standard_error, dsc.lower, dsc.upper]).all()
    assert dsc.note == "Only 4 non-events: with fewer than 20 this interval says little."


@pytest.mark.parametrize(
    ("events", "n", "warning"),
    [
        (20, 40, ""),
        (19, 100, "Only 19 events: with fewer than 20 this interval says little."),
        (81, 100, "Only 19 non-events: with fewer than 20 this interval says little."),
        (10, 20, "Only 10 events: with fewer than 20 this interval says little."),
        (
            2.5,
            100,
            "Only 2.5 events (effective number of weighted rows): "
            "with fewer than 20 this interval says little.",
        ),
        (
            19.97,
            100,
            "Only 19.9 events (effective number of weighted rows): "
            "with fewer than 20 this interval says little.",
        ),
    ],
)
def test_few_events_are_warned_of(events, n, warning):
    assert warn_of_few_events(events, n - events) == warning


@pytest.mark.parametrize(("cluster", "unit"), [(None, "row"), (np.zeros(1), "cluster")])
def test_one_draw_has_a_value_and_no_interval(cluster, unit):
    for part in component_intervals(sr.corp([1], [0.3], cluster=cluster)):
        assert np.isfinite(part.value)
        assert part.note == f"One {unit} has no spread: there is no interval."
        assert np.isnan([part.standard_error, part.lower, part.upper]).all()


def test_one_cluster_has_values_and_no_interval():
    for part in component_intervals(sr.corp(Y, X, cluster=np.zeros(8)), resamples=19, draws=5):
        assert part.value > 0
        assert np.isnan([part.standard_error, part.lower, part.upper]).all()


def test_two_rows_have_an_interval():
    mcb, dsc = component_intervals(sr.corp([0, 1], [0.2, 0.6]))
    gains = np.array([0.04, 0.16])
    assert (mcb.value, mcb.standard_error) == pytest.approx((0.1, gains.std(ddof=1) / np.sqrt(2)))
    assert 0 == mcb.lower < mcb.upper
    assert dsc.value == 0.25
    assert dsc.standard_error == 0


@pytest.mark.parametrize("outcome", [0, 1])
@pytest.mark.parametrize("score", ["brier", "log", "misclassification"])
def test_one_class_has_no_discrimination(outcome, score):
    y = np.full(8, outcome)
    mcb, dsc = component_intervals(sr.corp(y, X), score)
    assert (dsc.value, dsc.standard_error, dsc.lower) == (0, 0, 0)
    measure = resolve_measure(score, {})
    assert mcb.value == pytest.approx(slow_loss(measure, y, X).mean(), rel=1e-13)
    assert mcb.lower <= mcb.upper
    absent = "events" if outcome == 0 else "non-events"
    assert mcb.note == f"Only 0 {absent}: with fewer than 20 this interval says little."


@pytest.mark.parametrize("name", ["bounded net benefit", "net benefit", "bounded net benefit, difference"])
def test_what_grows_with_quality_has_positive_components(name):
    score, options = SCORES[name]
    y, x = simulate(200)
    fit = sr.corp(y, x)
    raw = fit.decompose(score, **options)
    mcb, dsc = component_intervals(fit, score, resamples=39, draws=20, **options)
    assert mcb.value == pytest.approx(raw.miscalibration, rel=1e-9)
    assert dsc.value == pytest.approx(raw.discrimination, rel=1e-9)
    assert 0 <= mcb.value < dsc.value
    assert mcb.overfit_resampled >= 0
    assert 0 <= dsc.lower < dsc.value < dsc.upper + dsc.overfit_resampled


@pytest.mark.parametrize("name", SCORES)
def test_raw_components_are_those_of_the_decomposition(name):
    score, options = SCORES[name]
    y, x = simulate(150, seed=4)
    w = np.random.default_rng(2).random(150)
    fit = sr.corp(y, x, w)
    raw = fit.decompose(score, **options)
    mcb, dsc = component_intervals(fit, score, resamples=9, draws=2, **options)
    assert mcb.value == pytest.approx(raw.miscalibration, rel=1e-9, abs=1e-14)
    assert dsc.value == pytest.approx(raw.discrimination, rel=1e-9, abs=1e-14)
    assert mcb.measure == dsc.measure == resolve_measure(score, options).label


# ---- the closed form of the overfit ----


@pytest.mark.parametrize("name", PRICED)
def test_prices_are_half_the_curvature(name):
    """Central differences with h = 1e-5: rounding 1e-16/h and truncation h² leave 1e-9 of values near 1."""
    measure = resolve_measure(*PRICED[name])
    p = np.array([0.01, 0.03, 0.1, 0.21, 0.35, 0.5, 0.69, 0.8, 0.96, 0.999])
    h = 1e-5

    def advantage(q):
        return slow_loss(measure, np.zeros(len(q)), q) - slow_loss(measure, np.ones(len(q)), q)

    curvature = (advantage(p + h) - advantage(p - h)) / (2 * h)
    price = OVERFIT_WEIGHTS[measure.name](p, measure.options)
    np.testing.assert_allclose(price, p * (1 - p) * curvature / 2, rtol=1e-4, atol=1e-8)
    assert (price > 0).any()


def test_all_proper_scores_are_looked_at():
    proper = {
        name
        for name, entry in REGISTRY.items()
        if entry.kind is Kind.BINARY and entry.propriety is not Propriety.IMPROPER
    }
    assert {name for name, _ in SCORES.values()} == proper
    assert set(OVERFIT_WEIGHTS) <= proper


@pytest.mark.parametrize("name", sorted(set(SCORES) - set(PRICED)))
def test_only_scores_without_curvature_have_no_price(name):
    """Between its jumps a score of decisions is constant, so that one more parameter gains nothing."""
    measure = resolve_measure(*SCORES[name])
    p = np.array([0.1, 0.2, 0.4, 0.6, 0.8])
    h = 1e-5
    for outcome in (np.zeros(5), np.ones(5)):
        np.testing.assert_array_equal(slow_loss(measure, outcome, p - h), slow_loss(measure, outcome, p + h))


def test_scores_without_a_price_have_no_closed_overfit():
    fit = sr.corp(*simulate(60))
    (overfit,) = estimate_overfit(fit.sample, [resolve_measure("misclassification", {})], draws=5, seed=1)
    assert (overfit.closed, overfit.constant) == (0.0, 0.0)
    assert overfit.least == 0.0
    assert overfit.most == overfit.resampled > 0


def test_a_limit_pays_nothing_beyond_it():
    price = OVERFIT_WEIGHTS["log_loss"](np.array([0.0, 0.04, 0.05, 0.5, 0.95, 0.96, 1.0]), {"limit": 0.05})
    assert price.tolist() == [0, 0, 0.5, 0.5, 0.5, 0, 0]
    assert OVERFIT_WEIGHTS["log_loss"](np.array([0.0, 1.0]), {}).tolist() == [
        0.5,
        0.5,
    ]  # the formula counts all blocks


def test_the_closed_form_by_hand():
    """Blocks: .1 (0 of 2 cases), .3-.5 (1 of 3), .7 (2 of 3), .9 (1 of 1)."""
    x = [0.1, 0.1, 0.3, 0.5, 0.5, 0.7, 0.7, 0.7, 0.9]
    y = [0, 0, 1, 0, 0, 1, 1, 0, 1]
    fit = sr.corp(y, x)
    assert fit.blocks.n.tolist() == [2, 3, 3, 1]
    measures = [resolve_measure(name, {}) for name in ("brier", "log")]
    brier, log = estimate_overfit(fit.sample, measures, draws=2, seed=1)
    assert brier.closed == pytest.approx((1.5 * 2 / 9 + 1 * 2 / 9) / 9, rel=1e-14)
    assert log.closed == pytest.approx((1 + 1.5 + 1 + 1) / 2 / 9, rel=1e-14)
    assert brier.constant == pytest.approx(4 / 9 * 5 / 9 / 9, rel=1e-14)
    assert log.constant == pytest.approx(1 / 18, rel=1e-14)


def test_fractional_weights_count_by_their_squares():
    """A block of weights v, w is as good as (v + w)²/(v² + w²) cases."""
    x, y, w = [0.2, 0.2, 0.6, 0.7], [0, 1, 1, 1], np.array([0.5, 1.5, 1.0, 3.0])
    fit = sr.corp(y, x, w)
    (overfit,) = estimate_overfit(fit.sample, [resolve_measure("log", {})], draws=2, seed=1)
    blocks = (0.5**2 + 1.5**2) / 2.0 * 1 + (1.0 + 9.0) / 4.0 * 1.5
    assert overfit.closed == pytest.approx(blocks / 2 / 6, rel=1e-14)
    assert overfit.constant == pytest.approx(0.5 * (0.25 + 2.25 + 1 + 9) / 36, rel=1e-14)


# ---- the smoothed curve ----


def slow_curve(y, x, w=None):
    """Blocks as lists, pooled from both ends until each end has three events and three non-events."""
    w = np.ones(len(x)) if w is None else w
    values, place = np.unique(x, return_inverse=True)
    n, events = np.bincount(place, weights=w), np.bincount(place, weights=w * y)
    fit = slow_pav(events / n, n)
    blocks = []
    for mean in np.unique(fit):
        member = fit == mean
        blocks.append([n[member].sum(), events[member].sum(), (n * values)[member].sum()])

    def is_large(block):
        return block[1] >= 3 and block[0] - block[1] >= 3

    def pool_end(blocks):
        """Merge the first block inwards until it is large, or alone."""
        blocks = [list(block) for block in blocks]
        while len(blocks) > 1 and not is_large(blocks[0]):
            first = blocks.pop(0)
            blocks[0] = [a + b for a, b in zip(first, blocks[0], strict=True)]
        return blocks

    blocks = pool_end(blocks)
    blocks = pool_end(blocks[::-1])[::-1]
    if not is_large(blocks[0]):
        blocks = [np.sum(blocks, axis=0)]
    n, events, total = np.array(blocks).T
    return np.interp(values, total / n, events / n)


def test_the_curve_by_hand():
    """Blocks (n, events): 4, 0 at .1; 8, 4 at .4; 4, 4 at .8; both ends swallow the middle."""
    x = np.repeat([0.1, 0.4, 0.8], [4, 8, 4])
    y = np.repeat([0, 1, 0, 1], [4, 4, 4, 4])
    np.testing.assert_array_equal(smooth_curve(sr.corp(y, x).sample), [0.5] * 3)
    # blocks 6, 3 at .1; 4, 2 and 10, 6 at .3 and .5; 6, 5 at .7 is one non-event at the end, pooled with .5
    x = np.repeat([0.1, 0.3, 0.5, 0.7], [6, 9, 10, 6])
    y = np.concatenate([[1] * e + [0] * (n - e) for n, e in [(6, 3), (9, 5), (10, 6), (6, 5)]])
    ends = (10 * 0.5 + 6 * 0.7) / 16
    expected = np.interp([0.1, 0.3, 0.5, 0.7], [0.1, 0.3, ends], [3 / 6, 5 / 9, 11 / 16])
    np.testing.assert_allclose(smooth_curve(sr.corp(y, x).sample), expected, rtol=1e-14)


@pytest.mark.parametrize("y", [[0, 0, 1, 0, 1, 0, 1, 1], [0] * 6 + [1, 1], [1] * 8, [0] * 8])
def test_too_few_cases_have_a_flat_curve(y):
    expected = np.full(8, np.mean(y))
    np.testing.assert_allclose(smooth_curve(sr.corp(y, X).sample), expected, rtol=1e-15)


@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 1)), min_size=1, max_size=60),
    st.sampled_from([1, 4]),
)
def test_the_curve_agrees_with_slow_code(rows, repeat):
    x, y = np.array(rows * repeat, dtype=float).T
    curve = smooth_curve(sr.corp(y, x / 12).sample)
    np.testing.assert_allclose(curve, slow_curve(y, x / 12), rtol=1e-12, atol=1e-12)


def test_the_curve_of_weighted_rows_agrees_with_slow_code():
    """The outer blocks have events and non-events enough, by rows as by weights."""
    rng = np.random.default_rng(3)
    x = rng.integers(2, 9, 600) / 10
    y, w = (rng.random(600) < x).astype(float), rng.random(600) + 0.5
    np.testing.assert_allclose(smooth_curve(sr.corp(y, x, w).sample), slow_curve(y, x, w), rtol=1e-12)


# ---- the resampled overfit ----


def slow_excess(measure, simulation, drawn):
    """What the fit gains over the hypothesis on one drawn sample, outcome by outcome."""
    q, size = simulation.probability, len(simulation.distinct)
    position = np.arange(size) if drawn.position is None else np.asarray(drawn.position, dtype=int)
    n = np.ones(len(position)) if drawn.n is None else np.asarray(drawn.n, float)
    n = np.bincount(position, weights=n, minlength=size)
    events = np.bincount(position, weights=np.asarray(drawn.events, float), minlength=size)
    kept = n > 0
    n, events, q = n[kept], events[kept], q[kept]
    fit = slow_pav(events / n, n)
    total = 0.0
    for p, sign in ((q, 1), (fit, -1)):
        for outcome, cases in ((1.0, events), (0.0, n - events)):
            some = cases > 1e-12
            loss = slow_loss(measure, np.full(some.sum(), outcome), p[some])
            total += sign * (cases[some] * loss).sum()
    return total / n.sum()


@pytest.mark.parametrize("digits", [None, 2, 1], ids=["cases", "few ties", "counts"])
@pytest.mark.parametrize("rows", ["plain", "whole", "fractional", "clusters"])
@pytest.mark.parametrize("redraw_cases", [False, True])
def test_each_draw_gives_what_slow_code_gives(digits, rows, redraw_cases):
    y, x = simulate(120, digits=digits)
    rng = np.random.default_rng(4)
    weight = {"whole": rng.integers(1, 4, 120), "fractional": rng.random(120) + 0.1}.get(rows)
    cluster = rng.integers(0, 30, 120) if rows == "clusters" else None
    fit = sr.corp(y, x, weight, cluster=cluster)
    simulation = fit.sample.simulation(smooth_curve(fit.sample))
    measures = [
        resolve_measure(*SCORES[name]) for name in ("brier", "log", "bounded net benefit", "elementary")
    ]
    excess = draw_excess(simulation, measures, draws=3, seed=7, redraw_cases=redraw_cases)
    assert excess.shape == (3, 4)
    for number in range(3):
        rng = random_stream(7, number)
        drawn = simulation.redraw_cases(rng) if redraw_cases else simulation.redraw_outcomes(rng)
        slow = [slow_excess(measure, simulation, drawn) for measure in measures]
        np.testing.assert_allclose(excess[number], slow, rtol=1e-9, atol=1e-13)


def enumerate_outcomes(q):
    """Every outcome vector with its probability."""
    for outcomes in product([0.0, 1.0], repeat=len(q)):
        y = np.array(outcomes)
        yield y, float(np.prod(np.where(y == 1, q, 1 - q)))


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("score", ["brier", "log"])
@pytest.mark.parametrize("x", [X[:6], [0.2, 0.2, 0.3, 0.6, 0.6, 0.9]], ids=["distinct", "ties"])
def test_the_resampled_overfit_has_its_exact_expectation(score, x):
    """All 64 outcomes of six cases; the mean of 4000 draws lies within five of its standard errors."""
    x = np.array(x)
    measure = resolve_measure(score, {})
    sample = sr.corp(Y[:6], x).sample
    values, place = np.unique(x, return_inverse=True)
    q = np.linspace(0.15, 0.9, len(values))
    exact = 0.0
    for y, probability in enumerate_outcomes(q[place]):
        n = np.bincount(place)
        fit = slow_pav(np.bincount(place, weights=y) / n, n)[place]
        exact += probability * (slow_loss(measure, y, q[place]) - slow_loss(measure, y, fit)).mean()
    draws = draw_excess(sample.simulation(q), [measure], draws=4000, seed=5)[:, 0]
    assert abs(draws.mean() - exact) < FAR * draws.std() / np.sqrt(4000)


@pytest.mark.parametrize(("digits", "weighted"), [(None, False), (1, False), (None, True)])
def test_the_resampled_overfit_agrees_with_slow_code_in_distribution(digits, weighted):
    """Both means of 300 draws are within five standard errors of their difference; so are the spreads.

    The variance of a variance of nearly normal draws is 2σ⁴/(R - 1), so that of log(sd) is 1/(2(R - 1)).
    """
    y, x = simulate(150, digits=digits)
    rng = np.random.default_rng(12)
    w = rng.random(150) + 0.2 if weighted else np.ones(150)
    fit = sr.corp(y, x, w if weighted else None)
    measure = resolve_measure("brier", {})
    ours = draw_excess(fit.sample.simulation(smooth_curve(fit.sample)), [measure], draws=300, seed=1)[:, 0]
    values, place = np.unique(x, return_inverse=True)
    q, n = slow_curve(y, x, w)[place], np.bincount(place, weights=w)
    slow = []
    for _ in range(300):
        drawn = (rng.random(150) < q).astype(float)
        fitted = isotonic_regression(np.bincount(place, weights=w * drawn) / n, weights=n).x[place]
        slow.append((w * ((q - drawn) ** 2 - (fitted - drawn) ** 2)).sum() / w.sum())
    error = np.sqrt((ours.var() + np.var(slow)) / 300)
    assert len(values) == len(n)
    assert abs(ours.mean() - np.mean(slow)) < FAR * error
    assert (
        abs(np.log(ours.std() / np.std(slow))) < FAR * np.sqrt(2 / (2 * 299)) * 1.5
    )  # skewed: half as much again


def test_all_scores_share_one_pass_of_draws():
    fit = sr.corp(*simulate(80))
    measures = [resolve_measure(name, {}) for name in ("brier", "log", "spherical")]
    together = estimate_overfit(fit.sample, measures, draws=10, seed=3)
    for measure, overfit in zip(measures, together, strict=True):
        assert estimate_overfit(fit.sample, [measure], draws=10, seed=3) == [overfit]
    assert estimate_overfit(fit.sample, measures, draws=10, seed=4) != together


def test_draws_and_resamples_are_told_apart():
    fit = sr.corp(*simulate(80))
    (overfit,) = estimate_overfit(fit.sample, [resolve_measure("brier", {})], draws=7, seed=3)
    mcb, _ = component_intervals(fit, draws=7, resamples=5, seed=3)
    assert mcb.overfit_resampled == overfit.resampled
    assert (
        component_intervals(fit, seed=3)[0] == component_intervals(fit, draws=100, resamples=999, seed=3)[0]
    )


# ---- rows that count for several, clusters, order ----


def numbers(parts):
    names = ("value", "corrected", "standard_error", "lower", "upper", "overfit_closed", "overfit_resampled")
    return np.array([[getattr(part, name) for name in names] for part in parts])


FEW = {"draws": 8, "resamples": 19}


@pytest.mark.parametrize("score", ["brier", "log"])
@pytest.mark.parametrize("digits", [None, 1])
def test_frequencies_equal_repeated_rows(score, digits):
    y, x = simulate(90, digits=digits)
    w = np.random.default_rng(5).integers(0, 4, 90)
    fit = sr.corp(y, x.clip(0.01, 0.99), w, weight_kind="frequency")
    weighted = component_intervals(fit, score, **FEW)
    repeated = component_intervals(sr.corp(np.repeat(y, w), np.repeat(x, w).clip(0.01, 0.99)), score, **FEW)
    np.testing.assert_allclose(numbers(weighted), numbers(repeated), rtol=1e-10, atol=1e-14)


def test_clusters_of_one_row_are_rows():
    """All but the random numbers agree; two means of 400 draws each differ by less than five errors."""
    y, x = simulate(120)
    rows = numbers(component_intervals(sr.corp(y, x), draws=400, resamples=19))
    single = numbers(component_intervals(sr.corp(y, x, cluster=np.arange(120)), draws=400, resamples=19))
    np.testing.assert_allclose(rows[:, [0, 2, 5]], single[:, [0, 2, 5]], rtol=1e-10)
    fit = sr.corp(y, x)
    measure = resolve_measure("brier", {})
    spread = draw_excess(fit.sample.simulation(smooth_curve(fit.sample)), [measure], draws=100, seed=9).std()
    assert abs(rows[0, 6] - single[0, 6]) < FAR * spread * np.sqrt(2 / 400)


def test_repeating_clusters_leaves_the_cluster_error():
    """Rows written three times, each trio a cluster: a mean of G clusters, not of 3G rows."""
    y, x = simulate(100)
    cluster = np.repeat(np.arange(100), 3)
    tripled = component_intervals(sr.corp(np.repeat(y, 3), np.repeat(x, 3), cluster=cluster), **FEW)
    plain = component_intervals(sr.corp(y, x), **FEW)
    assert [p.standard_error for p in tripled] == pytest.approx([p.standard_error for p in plain], rel=1e-10)
    assert [p.value for p in tripled] == pytest.approx([p.value for p in plain], rel=1e-10)


def test_few_events_are_counted_in_rows_not_in_units_of_weight():
    y, x = simulate(200)
    w = np.random.default_rng(5).random(200)
    notes = [component_intervals(sr.corp(y, x, unit * w), **FEW)[0].note for unit in (1.0, 1 / w.sum(), 1e3)]
    assert notes == ["", "", ""]  # 60 events and more, whatever they weigh


@pytest.mark.parametrize("factor", [0.37, 4.0, 1e-6])
def test_the_unit_of_fractional_weights_does_not_matter(factor):
    y, x = simulate(90, digits=2)
    w = np.random.default_rng(5).random(90) + 0.1
    one, other = (component_intervals(sr.corp(y, x, unit * w), **FEW) for unit in (1.0, factor))
    np.testing.assert_allclose(numbers(one), numbers(other), rtol=1e-8, atol=1e-12)


def test_equal_fractional_weights_are_none():
    """All but the random numbers agree."""
    y, x = simulate(90)
    weighted, plain = (
        numbers(component_intervals(sr.corp(y, x, w), **FEW)) for w in (np.full(90, 0.5), None)
    )
    np.testing.assert_allclose(weighted[:, [0, 2, 5]], plain[:, [0, 2, 5]], rtol=1e-10)


@pytest.mark.parametrize("kind", ["plain", "whole", "fractional", "clusters"])
def test_the_order_of_rows_leaves_no_bit(kind):
    y, x = simulate(80, digits=2)
    rng = np.random.default_rng(6)
    w = {"whole": rng.integers(1, 4, 80), "fractional": rng.random(80) + 0.1}.get(kind)
    c = rng.integers(0, 20, 80) if kind == "clusters" else None
    shuffled = rng.permutation(80)
    results = []
    for order in (np.arange(80), shuffled):
        weight, cluster = (None if v is None else v[order] for v in (w, c))
        fit = sr.corp(y[order], x[order], weight, cluster=cluster)
        pair = component_differences(
            y[order], x[order], 1 - x[order] ** 2, sample_weight=weight, cluster=cluster, draws=5
        )
        results.append((component_intervals(fit, **FEW), miscalibration_test(fit, resamples=19), pair))
    assert repr(results[0]) == repr(results[1])


# ---- paired differences ----

#: Full sentences of what a difference has to say.
NOTHING_TO_TEST = "The difference is the same in every case: there is nothing to test."


@pytest.mark.parametrize("score", ["brier", "log", "spherical"])
def test_the_same_order_of_cases_has_the_same_discrimination(score):
    y, x = simulate(200)
    mcb, dsc = component_differences(y, x**2, x, score, level=0.9, draws=5)
    assert (dsc.value, dsc.standard_error, dsc.lower, dsc.upper) == (0, 0, 0, 0)
    assert np.isnan([dsc.statistic, dsc.p_value]).all()
    assert dsc.note == NOTHING_TO_TEST
    measure = resolve_measure(score, {})
    gain = slow_loss(measure, y, x**2) - slow_loss(measure, y, x)
    error = gain.std(ddof=1) / np.sqrt(200)
    assert mcb.value == pytest.approx(gain.mean(), rel=1e-12)
    assert mcb.standard_error == pytest.approx(error, rel=1e-12)
    reach = norm.ppf(0.95) * error
    assert (mcb.lower, mcb.upper) == pytest.approx((gain.mean() - reach, gain.mean() + reach), rel=1e-11)
    assert mcb.p_value == pytest.approx(2 * norm.sf(abs(gain.mean()) / error), rel=1e-9)
    assert mcb.note == ""


def test_a_difference_is_made_of_its_pieces():
    y, x = simulate(150, digits=1)
    z = np.clip(x + np.random.default_rng(8).normal(0, 0.2, 150), 0.01, 0.99)
    measure = resolve_measure("brier", {})
    a, b = (estimate_overfit(sr.corp(y, p).sample, [measure], draws=30, seed=11)[0] for p in (z, x))
    assert a.closed - b.closed != a.resampled - b.resampled
    for component, difference in zip(
        COMPONENTS, component_differences(y, z, x, level=0.8, draws=30, seed=11), strict=True
    ):
        parts = [
            component_intervals(sr.corp(y, p), draws=2, resamples=2)[COMPONENTS.index(component)]
            for p in (z, x)
        ]
        gains = []
        for p in (z, x):
            fit = sr.corp(y, p)
            worse = p if component == "miscalibration" else np.full(150, y.mean())
            gains.append((worse - y) ** 2 - (fit.cep - y) ** 2)
        gain = gains[0] - gains[1]
        error = gain.std(ddof=1) / np.sqrt(150)
        least, most = sorted([a.closed - b.closed, a.resampled - b.resampled])
        assert difference.value == pytest.approx(parts[0].value - parts[1].value, rel=1e-10)
        assert (difference.first_value, difference.second_value) == pytest.approx(
            (parts[0].value, parts[1].value), rel=1e-12
        )
        assert difference.lower == pytest.approx(gain.mean() - most - norm.ppf(0.9) * error, rel=1e-9)
        assert difference.upper == pytest.approx(gain.mean() - least + norm.ppf(0.9) * error, rel=1e-9)
        assert difference.measure == f"brier {component}"
        assert difference.null_hypothesis == f"Both models have the same {component} (brier)."
        assert difference.higher_is_better is (component == "discrimination")
        assert (difference.first, difference.second, difference.n) == ("first", "second", 150)


def losses_of(rng, n, scale):
    forecast, recalibrated = rng.random(n) * scale, rng.random(n) * scale
    return CaseLosses(measure="m", forecast=forecast, recalibrated=recalibrated, prevalence=rng.random(n))


overfits = st.builds(
    Overfit,
    closed=st.floats(0, 0.3),
    resampled=st.floats(0, 0.3),
    constant=st.floats(0, 0.01),
)


def contrast(first, second, component, pair, level, law=ErrorDistribution()):  # noqa: B008
    """The difference of two models with iid errors."""
    units = SamplingUnits(rows=len(first.forecast))

    def errors(values):
        return units.standard_error(values), law

    return component_difference(first, second, component, pair, units, errors, level)


@given(
    st.integers(0, 10_000),
    overfits,
    overfits,
    st.sampled_from(COMPONENTS),
    st.floats(0.5, 0.99),
    st.sampled_from([ErrorDistribution(), ErrorDistribution(3)]),
)
def test_the_p_value_agrees_with_the_interval_and_turns_with_the_pair(seed, a, b, component, level, law):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    first, second = losses_of(rng, n, 1.0), losses_of(rng, n, rng.choice([0.3, 1.0]))
    one = contrast(first, second, component, (a, b), level, law)
    other = contrast(second, first, component, (b, a), level, law)
    assert (one.p_value < 1 - level) == (one.lower > 0 or one.upper < 0)
    assert one.lower <= one.upper
    assert 0 <= one.p_value <= 1
    assert one.lower == pytest.approx(-other.upper, rel=1e-12, abs=1e-14)
    assert one.upper == pytest.approx(-other.lower, rel=1e-12, abs=1e-14)
    assert (one.value, one.statistic) == pytest.approx((-other.value, -other.statistic), rel=1e-9, abs=1e-13)
    assert one.p_value == pytest.approx(other.p_value, rel=1e-9, abs=1e-13)


def test_swapping_models_turns_the_sign():
    y, x = simulate(150, digits=1)
    z = np.random.default_rng(9).random(150)
    for one, other in zip(
        component_differences(y, x, z, draws=10), component_differences(y, z, x, draws=10), strict=True
    ):
        assert (one.value, one.lower, one.upper, one.statistic) == pytest.approx(
            (-other.value, -other.upper, -other.lower, -other.statistic), rel=1e-9
        )
        assert one.p_value == pytest.approx(other.p_value, rel=1e-9)
        assert (one.first_value, one.second_value) == pytest.approx(
            (other.second_value, other.first_value), rel=1e-12
        )


def test_a_bracket_around_zero_is_no_evidence():
    """Overfits of -.1 and .1 leave a bracket on both sides of a raw difference of .05."""
    n = 40
    gain = np.where(np.arange(n) % 2, 0.06, 0.04)
    first = CaseLosses(measure="m", forecast=gain, recalibrated=np.zeros(n), prevalence=gain)
    second = CaseLosses(measure="m", forecast=0 * gain, recalibrated=-0 * gain - 1e-300, prevalence=0 * gain)
    pair = (
        Overfit(closed=0.0, resampled=0.1, constant=0.0),
        Overfit(closed=0.1, resampled=0.0, constant=0.0),
    )
    found = contrast(first, second, "miscalibration", pair, 0.95)
    assert (found.statistic, found.p_value) == (0.0, 1.0)
    assert found.lower < 0 < found.upper


def test_infinite_scores_have_no_difference():
    y, x = np.append(Y, 1), np.append(X, 0.0)
    mcb, dsc = component_differences(y, x, np.append(X, 0.05), "log", draws=5)
    assert np.isnan([mcb.standard_error, mcb.lower, mcb.upper, mcb.p_value]).all()
    assert mcb.note == "A score is infinite: there is no test."
    assert mcb.value == mcb.first_value == np.inf
    assert np.isfinite(mcb.second_value)
    assert np.isfinite([dsc.value, dsc.lower, dsc.upper]).all()
    both, _ = component_differences(y, x, x, "log", draws=5)
    assert np.isnan(both.value)  # infinity less infinity


def test_one_row_has_a_difference_and_no_test():
    mcb, _ = component_differences([1], [0.3], [0.4], draws=2)
    assert mcb.value == pytest.approx(0.49 - 0.36)
    assert np.isnan([mcb.standard_error, mcb.lower, mcb.upper, mcb.p_value]).all()
    assert mcb.note == "One row has no spread: there is no test."


def test_differences_of_frequencies_equal_those_of_repeated_rows():
    y, x = simulate(90, digits=1)
    z = np.random.default_rng(9).random(90)
    w = np.random.default_rng(5).integers(0, 4, 90)
    weighted = component_differences(y, x, z, sample_weight=w, weight_kind="frequency", draws=8)
    repeated = component_differences(*(np.repeat(v, w) for v in (y, x, z)), draws=8)
    for one, other in zip(weighted, repeated, strict=True):
        fields = ("value", "standard_error", "lower", "upper", "statistic", "p_value", "n", "first_value")
        assert [getattr(one, f) for f in fields] == pytest.approx(
            [getattr(other, f) for f in fields], rel=1e-8
        )


def test_clusters_widen_differences():
    """Each row twice, the copies a cluster: the error is that of the single rows, √2 times the naive one."""
    y, x = simulate(120, digits=1)
    z = np.random.default_rng(9).random(120)
    twice = [np.repeat(v, 2) for v in (y, x, z)]
    clustered = component_differences(*twice, cluster=np.repeat(np.arange(120), 2), draws=5)
    naive, single = component_differences(*twice, draws=5), component_differences(y, x, z, draws=5)
    for a, b, c in zip(clustered, naive, single, strict=True):
        assert a.standard_error == pytest.approx(c.standard_error, rel=1e-9)
        assert a.standard_error / b.standard_error == pytest.approx(
            np.sqrt(2 * 239 / 240 * 120 / 119), rel=1e-3
        )


def test_the_overfit_of_differences_allows_for_clusters():
    """Copies overfit as their originals do; the draws of a cluster agree with each other."""
    y, x = simulate(60, digits=1)
    z = np.random.default_rng(9).random(60)
    rows = [np.repeat(v, 5) for v in (y, x, z)]
    cluster = np.repeat(np.arange(60), 5)
    measure = resolve_measure("brier", {})
    a, b = (
        estimate_overfit(sr.corp(rows[0], p, cluster=cluster).sample, [measure], draws=20, seed=1)[0]
        for p in rows[1:]
    )
    mcb, _ = component_differences(*rows, cluster=cluster, level=0.9, draws=20, seed=1)
    least, most = sorted([a.closed - b.closed, a.resampled - b.resampled])
    reach = t.ppf(0.95, 59) * mcb.standard_error
    assert mcb.p_value == pytest.approx(2 * t.sf(abs(mcb.statistic), 59), rel=1e-9)
    assert mcb.method.endswith("; cluster errors (60 clusters)")
    assert (mcb.lower, mcb.upper) == pytest.approx(
        (mcb.value - most - reach, mcb.value - least + reach), rel=1e-9
    )


# ---- the test of calibration ----


JUDGED = [resolve_measure(name, {}) for name in ("brier", "log", "misclassification")]


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize(
    "x",
    [[0.1, 0.3, 0.6, 0.9], [0.2, 0.2, 0.5, 0.7, 0.7], [0.05, 0.3, 0.4, 0.8, 0.8, 0.95], [0.0, 0.4, 0.5, 1.0]],
)
def test_the_level_is_exact(x):
    """Every outcome vector, with its exact tail probability T = P(MCB* >= MCB).

    Given T the count of B draws is binomial, so that p = (1 + #)/(B + 1) misses T by less than five
    standard errors and 1/(B + 1); and the chance of p <= α, the sum of binomial probabilities over all
    outcomes, is at most α.
    """
    x, b = np.array(x), 200
    every = [(y, chance) for y, chance in enumerate_outcomes(x) if chance > 0]
    chances = np.array([chance for _, chance in every])
    assert chances.sum() == pytest.approx(1)
    judged = [judge_miscalibration(sr.corp(y, x), JUDGED, resamples=b, seed=2) for y, _ in every]
    for measure, tests in zip(JUDGED, zip(*judged, strict=True), strict=True):
        mcb = np.array([slow_mcb(measure, y, x) for y, _ in every])
        tails = np.minimum([chances[mcb >= m - 1e-12].sum() for m in mcb], 1.0)
        p = np.array([test.p_value for test in tests])
        np.testing.assert_allclose([test.statistic for test in tests], mcb, atol=1e-13)
        assert (np.abs(p - tails) < FAR * np.sqrt(tails * (1 - tails) / b) + 1 / (b + 1)).all()
        np.testing.assert_allclose(p * (b + 1), np.round(p * (b + 1)), atol=1e-9)
        for alpha in (0.05, 0.1, 0.25, 0.5):
            assert chances[tails <= alpha + 1e-12].sum() <= alpha + 1e-12
            draws = 19
            rejects = binom.cdf(np.floor(alpha * (draws + 1) + 1e-9) - 1, draws, tails)
            assert (chances * rejects).sum() <= alpha + 1e-12


def test_equal_outcomes_have_equal_p_values():
    """Counts with the same MCB up to rounding are ties: the smallest MCB has p = 1."""
    x = np.array([0.3, 0.3, 0.3])
    best = miscalibration_test(sr.corp([1, 0, 0], x), resamples=99)
    assert best.p_value == 1.0


@pytest.mark.parametrize(("rule", "p"), [("exact", 1 / 100), ("r", 0.0)])
@pytest.mark.parametrize("score", ["brier", "log", "misclassification"])
def test_a_refuted_certainty_has_the_smallest_p_value(rule, p, score):
    x = np.repeat([0.0, 1.0], 20)
    y = x.copy()
    assert miscalibration_test(sr.corp(y, x), score, resamples=99, rule=rule).p_value == 1.0
    y[:15] = 1  # so many that the fit decides otherwise
    test = miscalibration_test(sr.corp(y, x), score, resamples=99, rule=rule)
    assert test.p_value == pytest.approx(p, rel=1e-14)
    assert np.isinf(test.statistic) == (score == "log")


@pytest.mark.parametrize(
    ("rule", "method"),
    [
        ("exact", "25 draws of outcomes from the forecast, seed 3; p = (1 + #)/(B + 1)"),
        ("r", "25 draws of forecasts and outcomes from the forecast, seed 3; p = #/B"),
    ],
)
def test_p_values_count_draws(rule, method):
    y, x = simulate(60, digits=1)
    measure = resolve_measure("brier", {})
    fit = sr.corp(y, x)
    test = miscalibration_test(fit, resamples=25, seed=3, rule=rule)
    simulation = fit.sample.simulation(fit.distinct.x_min)
    null = []
    for number in range(25):
        rng = random_stream(3, number)
        drawn = simulation.redraw_cases(rng) if rule == "r" else simulation.redraw_outcomes(rng)
        null.append(slow_excess(measure, simulation, drawn))
    at_least = sum(value >= test.statistic - 1e-12 for value in null)
    assert 0 < at_least < 25
    assert test.p_value == pytest.approx(at_least / 25 if rule == "r" else (1 + at_least) / 26, rel=1e-14)
    assert test.method == method
    assert (test.name, test.n) == ("miscalibration (brier)", 60)
    assert test.null_hypothesis == "The forecast is calibrated: P(event | forecast) equals the forecast."
    assert "Dimitriadis, Gneiting, Jordan (2021)" in test.reference


def test_clusters_are_told_in_the_method():
    y, x = simulate(60)
    test = miscalibration_test(sr.corp(y, x, cluster=np.arange(60) // 3), resamples=5)
    assert test.method == (
        "5 draws of outcomes from the forecast, dependent within clusters, seed 2021; p = (1 + #)/(B + 1)"
    )


def test_dependent_outcomes_are_not_taken_for_miscalibration():
    """Each row ten times: rows alone reject, clusters see that there are 40 cases only."""
    rng = np.random.default_rng(31)
    x = rng.uniform(0.2, 0.8, 40)
    y = (rng.random(40) < x).astype(float)
    rows = [np.repeat(v, 10) for v in (y, x)]
    assert miscalibration_test(sr.corp(*rows), resamples=199).p_value == 1 / 200
    clustered = sr.corp(*rows, cluster=np.repeat(np.arange(40), 10))
    assert miscalibration_test(clustered, resamples=199).p_value > 0.05


def test_all_scores_are_judged_from_the_same_draws():
    fit = sr.corp(*simulate(60))
    measures = [resolve_measure(*SCORES[name]) for name in ("brier", "log", "bounded Brier")]
    together = judge_miscalibration(fit, measures, resamples=19, seed=2)
    for name, test in zip(("brier", "log", "bounded Brier"), together, strict=True):
        score, options = SCORES[name]
        assert miscalibration_test(fit, score, resamples=19, seed=2, **options) == test
    assert together[2].name == "miscalibration (bounded_brier(lower=0.2, upper=0.7))"


def test_options_and_functions_are_scores_too():
    def quadratic(y, p):
        return (y - p) ** 2

    fit = sr.corp(*simulate(60))
    own, ours = (component_intervals(fit, score, **FEW) for score in (quadratic, "brier"))
    assert [part.measure for part in own] == ["quadratic"] * 2
    assert [part.value for part in own] == pytest.approx([part.value for part in ours], rel=1e-13)
    assert [part.overfit_closed for part in own] == [0.0, 0.0]  # unknown: the least it can be


# ---- uncertainty as a function of prevalence ----


def test_expected_scores_by_hand():
    brier, log = (resolve_measure(name, {}) for name in ("brier", "log"))
    q, p = np.array([0.0, 0.3, 1.0]), np.array([0.0, 0.5, 1.0])
    np.testing.assert_allclose(expected_score(brier, q, p), [0, 0.25, 0], atol=0)
    np.testing.assert_allclose(expected_score(log, q, p), [0, np.log(2), 0], atol=0)
    np.testing.assert_array_equal(expected_score(log, q, None), 0)
    benefit = resolve_measure("net_benefit", {"threshold": 0.2})
    np.testing.assert_allclose(expected_score(benefit, q, None), q)
    np.testing.assert_allclose(expected_score(benefit, q, p), [0, 0.3 - 0.7 / 4, 1])


def test_the_uncertainty_between_two_prevalences():
    brier = resolve_measure("brier", {})
    assert image_of_prevalence(brier, 0.4, 0.7) == pytest.approx((0.21, 0.25), rel=1e-6)
    assert image_of_prevalence(brier, 0.1, 0.2) == pytest.approx((0.09, 0.16), rel=1e-14)
    assert uncertainty_slope(brier, 0.3) == pytest.approx(1 - 2 * 0.3, rel=1e-14)


# ---- the seed, threads, refusals ----


def test_the_seed_decides_to_the_last_bit():
    fit = sr.corp(*simulate(100))
    one, again, other = (repr(component_intervals(fit, seed=seed, **FEW)) for seed in (5, 5, 6))
    assert one == again != other
    tests = [miscalibration_test(fit, seed=seed, resamples=30) for seed in (5, 5, 6)]
    assert tests[0] == tests[1] != tests[2]
    y, x = simulate(100)
    pairs = [repr(component_differences(y, x, x.round(1), seed=seed, draws=5)) for seed in (5, 5, 6)]
    assert pairs[0] == pairs[1] != pairs[2]


@pytest.mark.parametrize("kind", ["plain", "clusters"])
def test_any_number_of_threads_gives_the_same_bits(monkeypatch, kind):
    monkeypatch.setattr("scorereport._utils.machine._ROWS_WORTH_A_THREAD", 1)
    y, x = simulate(150, digits=2)
    cluster = np.arange(150) // 5 if kind == "clusters" else None
    found = []
    for threads in ("1", "2", "7"):
        monkeypatch.setenv("SCOREREPORT_THREADS", threads)
        fit = sr.corp(y, x, cluster=cluster)
        found.append(
            repr((component_intervals(fit, "log", **FEW), miscalibration_test(fit, rule="r", resamples=20)))
        )
    assert found[0] == found[1] == found[2]


REAL = sr.corp([0.2, 1.4], [0.1, 0.9], functional="mean")


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: miscalibration_test(REAL),
            "The miscalibration test needs outcomes 0 and 1; this fit is of the mean of real outcomes.",
        ),
        (
            lambda: component_intervals(REAL),
            "An interval of a component needs outcomes 0 and 1; this fit is of the mean of real outcomes.",
        ),
        (
            lambda: miscalibration_test(FIT, rule="R"),
            '`rule` must be one of "exact", "r"; got \'R\'.',
        ),
        (
            lambda: miscalibration_test(FIT, resamples=0),
            "`resamples` must be a whole number of at least 1; got 0.",
        ),
        (
            lambda: miscalibration_test(FIT, seed=-1),
            "`seed` must be a whole number of at least 0; got -1.",
        ),
        (
            lambda: component_intervals(FIT, level=1),
            "`level` must lie in (0, 1); got 1.",
        ),
        (
            lambda: component_intervals(FIT, draws=0),
            "`draws` must be a whole number of at least 1; got 0.",
        ),
        (
            lambda: component_intervals(FIT, resamples=0.5),
            "`resamples` must be a whole number of at least 1; got 0.5.",
        ),
        (
            lambda: component_intervals(FIT, seed=True),
            "`seed` must be a whole number of at least 0; got True.",
        ),
        (
            lambda: component_differences(Y, X, X, level=0),
            "`level` must lie in (0, 1); got 0.",
        ),
        (
            lambda: component_differences(Y, X, X, draws=0),
            "`draws` must be a whole number of at least 1; got 0.",
        ),
        (
            lambda: component_differences(Y, X, X, seed=1.5),
            "`seed` must be a whole number of at least 0; got 1.5.",
        ),
        (
            lambda: miscalibration_test(FIT, "shifted_brier", mu=0.3),
            "`score` must be proper; the decomposition of 'shifted_brier' would be meaningless.",
        ),
    ],
)
def test_options_are_checked(call, sentence):
    with pytest.raises(sr.UsageError, match=f"^{re.escape(sentence)}$"):
        call()


def test_lengths_are_checked():
    with pytest.raises(
        sr.DataError, match=r"^`y_true` \(8\) and `second` \(7\) must have the same length\.$"
    ):
        component_differences(Y, X, X[:7])


def test_case_losses_score_three_forecasts():
    measure = resolve_measure("net_benefit", {"threshold": 0.5})
    losses = case_losses(measure, np.array([0.0, 1.0]), np.array([0.7, 0.2]), np.array([0.2, 0.7]), 0.5)
    assert losses.forecast.tolist() == [1, 0]
    assert losses.recalibrated.tolist() == [0, -1]
    assert losses.prevalence.tolist() == [1, -1]
    assert losses.gain("miscalibration").tolist() == [1, 1]
    assert losses.gain("discrimination").tolist() == [1, 0]
