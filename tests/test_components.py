"""Intervals of MCB and DSC: worked values, overfit in closed form and by resampling."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from band_tools import draw_samples
from component_tools import (
    FAR,
    FIT,
    SCORES,
    X,
    Y,
    draw_excess,
    enumerate_outcomes,
    simulate,
    slow_excess,
    slow_loss,
    slow_pav,
)
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression
from scipy.stats import norm, t

import scorereport as sr
from scorereport.inference import component_intervals, miscalibration_test
from scorereport.inference.component_tests import is_miscalibrated
from scorereport.inference.components import (
    COMPONENTS,
    CaseLosses,
    component_interval,
    warn_of_few_events,
)
from scorereport.inference.losses import (
    resolve_measure,
)
from scorereport.inference.overfit import (
    Overfit,
    estimate_overfit,
    smooth_curve,
)
from scorereport.reliability.sampling import SamplingUnits
from scorereport.scores.registry import REGISTRY, Kind, Propriety

WEIGHTED = {key: chosen for key, chosen in SCORES.items() if REGISTRY[chosen[0]].is_smooth}


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


def test_an_interval_is_computed_from_its_parts():
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
        (1 / 20, 0.95, 19, True),  # the smallest p-value of 19 draws
        (2 / 20, 0.95, 19, False),
        (2 / 40, 0.95, 39, False),
    ],
)
def test_the_test_rejects_on_the_side_of_the_lower_end(p_value, level, resamples, rejects):
    test = replace(miscalibration_test(FIT, resamples=9), p_value=p_value, draws=resamples)
    assert is_miscalibrated(test, level) is rejects


def test_clusters_widen_the_bracket_by_the_quantile_of_t():
    overfit = Overfit(closed=0.03, resampled=0.01, constant=0.005)
    found = bracket("discrimination", overfit, units=SamplingUnits(rows=4, cluster=np.arange(4)))
    reach = t.ppf(0.95, 3) * ERROR
    assert found.lower == pytest.approx(max(0.3 - 0.025 - reach, 0), rel=1e-12)
    assert found.upper == pytest.approx(0.3 - 0.005 + reach, rel=1e-12)


def test_the_overfit_of_the_constant_is_at_most_the_overfit():
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


@pytest.mark.sweep
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
def test_few_events_give_a_warning(events, n, warning):
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


@pytest.mark.sweep(after=2)
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


@pytest.mark.parametrize("name", WEIGHTED)
def test_overfit_weights_are_half_the_curvature(name):
    """Central differences with h = 1e-5: rounding 1e-16/h and truncation h² leave 1e-9 of values near 1."""
    measure = resolve_measure(*WEIGHTED[name])
    p = np.array([0.01, 0.03, 0.1, 0.21, 0.35, 0.5, 0.69, 0.8, 0.96, 0.999])
    h = 1e-5

    def advantage(q):
        return slow_loss(measure, np.zeros(len(q)), q) - slow_loss(measure, np.ones(len(q)), q)

    curvature = (advantage(p + h) - advantage(p - h)) / (2 * h)
    overfit_weight = measure.overfit_weight(p)
    np.testing.assert_allclose(overfit_weight, p * (1 - p) * curvature / 2, rtol=1e-4, atol=1e-8)
    assert (overfit_weight > 0).any()


def test_all_proper_scores_are_covered():
    proper = {
        name
        for name, entry in REGISTRY.items()
        if entry.kind is Kind.BINARY and entry.propriety is not Propriety.IMPROPER
    }
    assert {name for name, _ in SCORES.values()} == proper


@pytest.mark.parametrize("name", sorted(set(SCORES) - set(WEIGHTED)))
def test_only_scores_without_curvature_have_no_overfit_weight(name):
    """Between its jumps a score of decisions is constant, so that one more parameter gains nothing."""
    measure = resolve_measure(*SCORES[name])
    p = np.array([0.1, 0.2, 0.4, 0.6, 0.8])
    h = 1e-5
    for outcome in (np.zeros(5), np.ones(5)):
        np.testing.assert_array_equal(slow_loss(measure, outcome, p - h), slow_loss(measure, outcome, p + h))


def test_scores_without_an_overfit_weight_have_no_closed_overfit():
    fit = sr.corp(*simulate(60))
    (overfit,) = estimate_overfit(fit.sample, [resolve_measure("misclassification", {})], draws=5, seed=1)
    assert (overfit.closed, overfit.constant) == (0.0, 0.0)
    assert overfit.least == 0.0
    assert overfit.most == overfit.resampled > 0


def test_the_overfit_weight_is_zero_beyond_a_limit():
    limited, log = resolve_measure("log", {"limit": 0.05}), resolve_measure("log", {})
    weight = limited.overfit_weight(np.array([0.0, 0.04, 0.05, 0.5, 0.95, 0.96, 1.0]))
    assert weight.tolist() == [0, 0, 0.5, 0.5, 0.5, 0, 0]
    assert log.overfit_weight(np.array([0.0, 1.0])).tolist() == [0.5, 0.5]  # the formula counts all blocks


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
    for number, drawn in enumerate(draw_samples(simulation, 3, 7, redraw_cases=redraw_cases)):
        slow = [slow_excess(measure, simulation, drawn) for measure in measures]
        np.testing.assert_allclose(excess[number], slow, rtol=1e-9, atol=1e-13)


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


def test_draws_and_resamples_are_separate_settings():
    fit = sr.corp(*simulate(80))
    (overfit,) = estimate_overfit(fit.sample, [resolve_measure("brier", {})], draws=7, seed=3)
    mcb, _ = component_intervals(fit, draws=7, resamples=5, seed=3)
    assert mcb.overfit_resampled == overfit.resampled
    free = component_intervals(fit, seed=3)[0]
    drawn = int(free.method.split("(")[1].split()[0])
    assert free == component_intervals(fit, draws=drawn, resamples=999, seed=3)[0]
    assert drawn in range(10, 201, 10)


def test_draws_of_the_overfit_stop_when_it_is_known_well_enough():
    """Its Monte-Carlo error is below 2 % of the width of the interval, and was not one batch before."""
    fit = sr.corp(*simulate(300))
    (overfit,) = estimate_overfit(fit.sample, [resolve_measure("brier", {})], draws=None, seed=3)
    drawn = int(overfit.drawn.split()[0])
    mcb, _ = component_intervals(fit, draws=5, resamples=5)
    simulation = fit.sample.simulation(smooth_curve(fit.sample))
    excess = draw_excess(simulation, [resolve_measure("brier", {})], draws=drawn, seed=3)[:, 0]
    assert overfit.resampled == pytest.approx(excess.mean(), rel=1e-12)
    allowed = 0.02 * 2 * 1.959964 * mcb.standard_error
    assert excess.std(ddof=1) / np.sqrt(drawn) <= 1.05 * allowed
    assert drawn > 25
    before = excess[: drawn - 25]
    assert before.std(ddof=1) / np.sqrt(len(before)) > 0.95 * allowed
