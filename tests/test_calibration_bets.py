"""Evidence against calibration: means by enumeration of all outcomes, fits by other implementations."""

from __future__ import annotations

from itertools import product
from math import exp, inf, log

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression

from scorereport.inference.calibration_bets import (
    AUDITS_FITTED,
    RIDGE,
    BinnedOutcomes,
    CalibrationBet,
    calibration_evidence,
    combine_evidence,
    fit_calibration_bets,
    tolerance_bounds,
    update_detector,
)
from scorereport.reliability.sampling import SamplingUnits, random_stream

MIDPOINTS = np.arange(-72, 73) / 8
#: Forecasts with ties, 0 and 1.
FORECASTS = np.array([0.0, 0.02, 0.3, 0.3, 0.3, 0.9, 1.0])
#: Means of e-values over all outcomes may exceed 1 by rounding.
ROUNDING = 1e-12


def bin_outcomes(forecast, outcome, weight=None):
    """Cases and events in bins of an eighth of log-odds, as records of audits keep them."""
    weight = np.ones(len(forecast)) if weight is None else weight
    number = np.clip(np.rint(8 * logit(np.clip(forecast, 1e-9, 1 - 1e-9))), -72, 72).astype(int) + 72
    cases, events = (np.bincount(number, weights=w, minlength=145) for w in (weight, weight * outcome))
    return BinnedOutcomes(log_odds=MIDPOINTS, weights=cases, events=events)


def draw_audit(rng, n, shift=0.0, slope=1.0):
    x = rng.normal(-1, 1.2, n)
    return expit(x), (rng.random(n) < expit(shift + slope * x)).astype(float)


def fit_to_miscalibrated(key, audits=3, n=80):
    """Bets fitted to a model whose log-odds are too low and too far apart."""
    rng = random_stream(5, key)
    return fit_calibration_bets([bin_outcomes(*draw_audit(rng, n, 0.7, 0.6)) for _ in range(audits)])


def evidence_of(forecast, outcome, bets, tolerance=0.0, **units):
    units = SamplingUnits(rows=len(forecast), **units)
    return calibration_evidence(forecast, outcome, units, bets, *tolerance_bounds(forecast, tolerance))


def independent_law(theta):
    """All outcomes of independent rows and their probabilities."""
    for outcome in product([0.0, 1.0], repeat=len(theta)):
        y = np.array(outcome)
        yield y, float(np.prod(np.where(y == 1, theta, 1 - theta)))


def dependent_law(theta, cluster):
    """Outcomes of clusters of rows that depend perfectly: each cluster has one uniform number."""
    cells = [np.unique(np.append(theta[cluster == c], [0.0, 1.0])) for c in range(cluster.max() + 1)]
    for choice in product(*(range(len(cell) - 1) for cell in cells)):
        middle = np.array([(cell[k] + cell[k + 1]) / 2 for cell, k in zip(cells, choice, strict=True)])
        width = [cell[k + 1] - cell[k] for cell, k in zip(cells, choice, strict=True)]
        yield (middle[cluster] < theta).astype(float), float(np.prod(width))


def mean_evidence(law, forecast, bets, tolerance, **units):
    """The mean of the evidence of each bet over all outcomes."""
    means, total = np.zeros(len(bets)), 0.0
    for outcome, probability in law:
        means += probability * np.exp(evidence_of(forecast, outcome, bets, tolerance, **units))
        total += probability
    assert total == pytest.approx(1)
    return means


def probabilities_within(tolerance):
    """Probabilities of the hypothesis: both bounds of each row, mixtures of them, and random ones."""
    lower, upper = tolerance_bounds(FORECASTS, tolerance)
    rng = random_stream(6, int(100 * tolerance))
    alternating = np.where(np.arange(len(FORECASTS)) % 2, lower, upper)
    return [lower, upper, FORECASTS, alternating, lower + (upper - lower) * rng.random(len(lower))]


# Means of evidence by enumeration


@pytest.mark.parametrize("tolerance", [0.0, 0.05, 0.4])
@pytest.mark.parametrize("fitted", [0, 3])
def test_the_mean_over_all_outcomes_is_at_most_1_within_the_bounds(tolerance, fitted):
    bets = fit_to_miscalibrated(1, audits=fitted)
    for theta in probabilities_within(tolerance):
        means = mean_evidence(independent_law(theta), FORECASTS, bets, tolerance)
        assert (means <= 1 + ROUNDING).all()


def test_the_mean_is_1_at_the_bound_that_the_bet_is_beyond():
    forecast = np.array([0.1, 0.3, 0.3, 0.6])
    above = CalibrationBet(name="shift", parameters=(0.5,), weight=0.5)
    below = CalibrationBet(name="shift", parameters=(-0.5,), weight=0.5)
    lower, upper = tolerance_bounds(forecast, 0.2)
    at_upper = mean_evidence(independent_law(upper), forecast, (above, below), 0.2)
    at_lower = mean_evidence(independent_law(lower), forecast, (above, below), 0.2)
    assert at_upper[0] == pytest.approx(1, abs=1e-12)
    assert at_upper[1] < 1
    assert at_lower[0] < 1
    assert at_lower[1] == pytest.approx(1, abs=1e-12)


def test_the_mean_is_above_1_outside_the_bounds():
    """The check above can fail: a little beyond the bound, the mean of a bet beyond it is above 1."""
    forecast = np.array([0.1, 0.3, 0.3, 0.6])
    bets = (CalibrationBet(name="shift", parameters=(0.5,), weight=1.0),)
    beyond = tolerance_bounds(forecast, 0.25)[1]
    assert mean_evidence(independent_law(beyond), forecast, bets, 0.2)[0] > 1.001


@pytest.mark.parametrize("tolerance", [0.0, 0.3])
def test_sampling_weights_keep_the_mean_at_most_1(tolerance):
    weight = np.array([0.5, 7.0, 2.0, 3.0, 0.0, 1.0, 4.0])
    bets = fit_to_miscalibrated(2)
    for theta in probabilities_within(tolerance):
        means = mean_evidence(independent_law(theta), FORECASTS, bets, tolerance, weight=weight)
        assert (means <= 1 + ROUNDING).all()


def test_sampling_weights_may_depend_on_outcomes():
    """Events are drawn with probability 1, others with 1/4: their weights are inverse probabilities."""
    forecast, theta = np.array([0.2, 0.5]), np.array([0.2, 0.5])
    drawn = theta / (theta + (1 - theta) / 4)
    bets = fit_to_miscalibrated(3)
    means = np.zeros(len(bets))
    for outcome, probability in independent_law(drawn):
        weight = np.append(np.where(outcome == 1, 1.0, 4.0), 4.0)
        rows, outcomes = np.append(forecast, 1e-6), np.append(outcome, 0.0)  # fixes the largest weight
        means += probability * np.exp(evidence_of(rows, outcomes, bets, weight=weight))
    assert (means <= 1 + 1e-5).all()


def test_frequency_weights_repeat_rows():
    rng = random_stream(7)
    forecast, outcome = draw_audit(rng, 200)
    weight = rng.integers(0, 4, 200).astype(float)
    bets = fit_to_miscalibrated(4)
    repeated = np.repeat(np.arange(200), weight.astype(int))
    np.testing.assert_allclose(
        evidence_of(forecast, outcome, bets, weight=weight, weight_kind="frequency"),
        evidence_of(forecast[repeated], outcome[repeated], bets),
        rtol=1e-12,
    )
    cluster = np.arange(200) // 8
    np.testing.assert_allclose(
        evidence_of(forecast, outcome, bets, weight=weight, weight_kind="frequency", cluster=cluster),
        evidence_of(forecast[repeated], outcome[repeated], bets, cluster=cluster[repeated]),
        rtol=1e-12,
    )


@pytest.mark.parametrize("weight", [None, np.array([0.5, 7.0, 2.0, 3.0, 0.0, 1.0, 4.0])])
@pytest.mark.parametrize("tolerance", [0.0, 0.3])
def test_clusters_may_depend_perfectly(weight, tolerance):
    cluster = np.array([0, 0, 0, 1, 1, 2, 2])
    bets = fit_to_miscalibrated(8)
    for theta in probabilities_within(tolerance):
        law = dependent_law(theta, cluster)
        means = mean_evidence(law, FORECASTS, bets, tolerance, weight=weight, cluster=cluster)
        assert (means <= 1 + ROUNDING).all()


def test_dependent_rows_without_clusters_have_means_above_1():
    """The check of clusters can fail: rows that are taken as independent but are not gain too much."""
    cluster = np.zeros(5, dtype=np.int64)
    forecast = np.full(5, 0.3)
    bets = (CalibrationBet(name="shift", parameters=(0.5,), weight=1.0),)
    alone = mean_evidence(dependent_law(forecast, cluster), forecast, bets, 0.0)
    together = mean_evidence(dependent_law(forecast, cluster), forecast, bets, 0.0, cluster=cluster)
    assert alone[0] > 1.05
    assert together[0] == pytest.approx(1)


def test_random_samples_bets_and_bounds_have_means_of_at_most_1():
    for run in range(40):
        rng = random_stream(9, run)
        n = int(rng.integers(1, 7))
        forecast = np.round(rng.random(n), int(rng.integers(1, 4)))
        lower = forecast * rng.random(n)
        upper = forecast + (1 - forecast) * rng.random(n)
        theta = lower + (upper - lower) * rng.integers(0, 2, n)
        weight = rng.choice([None, "some"]) and rng.random(n) + 0.01
        bets = fit_to_miscalibrated(run, audits=run % 3, n=30)
        units = SamplingUnits(rows=n, weight=weight)
        means = sum(
            probability * np.exp(calibration_evidence(forecast, y, units, bets, lower, upper))
            for y, probability in independent_law(theta)
        )
        assert (means <= 1 + ROUNDING).all()


# The same numbers by a simple implementation


def evidence_row_by_row(forecast, outcome, weight, cluster, bet, tolerance):
    """The definition, in Python floats."""
    rows = {}
    for number, (p, y) in enumerate(zip(forecast.tolist(), outcome.tolist(), strict=True)):
        middle = log(p / (1 - p))
        lower, upper = (1 / (1 + exp(-(middle + side))) for side in (-tolerance, tolerance))
        q = float(bet.probability(np.array([p]))[0])
        nearest = min(max(q, lower), upper)
        e = q / nearest if y == 1 else (1 - q) / (1 - nearest)
        share = 1.0 if weight is None else weight[number] / max(weight)
        rows.setdefault(number if cluster is None else cluster[number], []).append(1 + share * (e - 1))
    return sum(log(sum(values) / len(values)) for values in rows.values())


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("is_clustered", [False, True])
def test_evidence_is_that_of_a_loop_over_rows(is_weighted, is_clustered):
    rng = random_stream(10)
    forecast, outcome = draw_audit(rng, 300)
    weight = rng.gamma(2, 0.5, 300) if is_weighted else None
    cluster = rng.permutation(np.arange(300) // 7) if is_clustered else None
    bets = fit_to_miscalibrated(11)
    found = evidence_of(forecast, outcome, bets, 0.1, weight=weight, cluster=cluster)
    expected = [evidence_row_by_row(forecast, outcome, weight, cluster, bet, 0.1) for bet in bets]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_chunks_and_the_order_of_rows_do_not_matter():
    rng = random_stream(12)
    forecast, outcome = draw_audit(rng, 150_000)
    cluster, weight = rng.integers(0, 5000, 150_000), rng.random(150_000)
    bets = fit_to_miscalibrated(13)
    order = rng.permutation(150_000)
    for units in ({}, {"weight": weight}, {"cluster": cluster}, {"cluster": cluster, "weight": weight}):
        moved = {name: values[order] for name, values in units.items()}
        np.testing.assert_allclose(
            evidence_of(forecast, outcome, bets, **units),
            evidence_of(forecast[order], outcome[order], bets, **moved),
            rtol=1e-10,
        )
    parts = [
        evidence_of(forecast[rows], outcome[rows], bets) for rows in (slice(0, 70_000), slice(70_000, None))
    ]
    np.testing.assert_allclose(sum(parts), evidence_of(forecast, outcome, bets), rtol=1e-10)


def test_softened_evidence_is_at_least_its_power():
    """1 + w (e - 1) is never less than e^w, which would be an e-value, too."""
    rng = random_stream(14)
    forecast, outcome = draw_audit(rng, 50)
    bets = fit_to_miscalibrated(15)
    for row in range(50):
        w = float(rng.random())
        alone = evidence_of(forecast[[row]], outcome[[row]], bets)
        pair = evidence_of(
            np.append(forecast[row], 0.5), np.append(outcome[row], 1.0), bets, weight=np.array([w, 1.0])
        )
        heavy = evidence_of(np.array([0.5]), np.array([1.0]), bets)
        assert (pair - heavy >= w * alone - 1e-12).all()


# Bets


def test_the_logistic_bet_is_the_penalised_maximum():
    rng = random_stream(16)
    earlier = [bin_outcomes(*draw_audit(rng, 250, 0.4, 0.7)) for _ in range(4)]
    cases, events = (sum(getattr(audit, name) for audit in earlier) for name in ("weights", "events"))

    def loss(at):
        line = at[0] + at[1] * MIDPOINTS
        likelihood = (events * line - cases * np.log1p(np.exp(line))).sum()
        return RIDGE / 2 * (at[0] ** 2 + (at[1] - 1) ** 2) - likelihood

    best = minimize(loss, [0.0, 1.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12})
    np.testing.assert_allclose(fit_calibration_bets(earlier)[0].parameters, best.x, atol=1e-6)


def test_the_logistic_bet_of_many_cases_is_that_of_statsmodels():
    """The penalty vanishes beside a million cases in each bin."""
    rng = random_stream(17)
    earlier = bin_outcomes(*draw_audit(rng, 2000, 0.3, 0.8))
    many = BinnedOutcomes(log_odds=MIDPOINTS, weights=1e6 * earlier.weights, events=1e6 * earlier.events)
    used = earlier.weights > 0
    pairs = np.column_stack([earlier.events, earlier.weights - earlier.events])[used]
    fit = sm.GLM(pairs, sm.add_constant(MIDPOINTS[used]), family=sm.families.Binomial()).fit()
    np.testing.assert_allclose(fit_calibration_bets([many])[0].parameters, fit.params, atol=1e-7)


def test_the_isotonic_bet_is_that_of_scikit_learn_mixed_with_the_forecast():
    rng = random_stream(18)
    earlier = bin_outcomes(*draw_audit(rng, 700, 0.4, 0.7))
    used = earlier.weights > 0
    curve = IsotonicRegression().fit(
        MIDPOINTS[used], earlier.events[used] / earlier.weights[used], sample_weight=earlier.weights[used]
    )
    forecast = expit(MIDPOINTS[used])
    share = 0.8 * 700 / 900
    bet = fit_calibration_bets([earlier])[1]
    expected = share * curve.predict(MIDPOINTS[used]) + (1 - share) * forecast
    np.testing.assert_allclose(bet.probability(forecast), expected, atol=1e-9)
    assert bet.parameters == pytest.approx((share,))
    assert (np.diff(bet.probability(np.linspace(0, 1, 1001))) >= 0).all()


def test_only_the_last_audits_are_fitted_and_their_order_does_not_matter():
    rng = random_stream(19)
    earlier = [bin_outcomes(*draw_audit(rng, 100, 0.4, 0.7)) for _ in range(AUDITS_FITTED + 2)]
    found = fit_calibration_bets(earlier)
    for other in (fit_calibration_bets(earlier[2:]), fit_calibration_bets(earlier[:1:-1])):
        for bet, same in zip(found, other, strict=True):
            np.testing.assert_allclose(bet.parameters, same.parameters, rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(bet.curve, same.curve, rtol=1e-9)


def test_weights_of_bets_sum_to_1():
    for bets in (fit_calibration_bets([]), fit_to_miscalibrated(20)):
        assert sum(bet.weight for bet in bets) == pytest.approx(1)
    names = [bet.name for bet in bets]
    assert names == ["logistic", "isotonic", *["shift"] * 4, *["slope"] * 4]
    assert [bets[0].weight, bets[1].weight] == [0.4, 0.3]


@pytest.mark.parametrize(
    ("cases", "events"),
    [
        ([100.0], [0.0]),
        ([100.0], [100.0]),
        ([1e9, 1e9], [0.0, 1e9]),
        ([1e9, 1e9], [1e9, 0.0]),
        ([0.5, 0.0, 0.25], [0.5, 0.0, 0.0]),
        ([1e-9, 1.0], [0.0, 1.0]),
    ],
)
def test_bets_of_degenerate_audits_are_probabilities_inside(cases, events):
    x = np.linspace(-9.125, 9.125, len(cases)) if len(cases) > 1 else np.array([0.5])
    bets = fit_calibration_bets(
        [BinnedOutcomes(log_odds=x, weights=np.array(cases), events=np.array(events))]
    )
    assert bets[0].parameters != (0.0, 1.0)
    for bet in bets:
        q = bet.probability(np.array([0.0, 1e-12, 0.2, 0.5, 1.0]))
        assert ((q > 0) & (q < 1)).all()


def test_audits_without_cases_leave_the_fixed_bets():
    empty = BinnedOutcomes(log_odds=MIDPOINTS, weights=np.zeros(145), events=np.zeros(145))
    assert {bet.name for bet in fit_calibration_bets([empty])} == {"shift", "slope"}


# Forecasts of 0 and 1, bounds, and the combination


def test_wrong_forecasts_of_0_and_1_give_finite_evidence_that_grows():
    forecast = np.array([0.0, 1.0, 0.0, 1.0] * 25)
    earlier = BinnedOutcomes(
        log_odds=np.array([-9.125, 9.125]), weights=np.full(2, 50.0), events=np.full(2, 25.0)
    )
    bets = fit_calibration_bets([earlier])
    right = evidence_of(forecast, forecast, bets)
    wrong = evidence_of(forecast, 1 - forecast, bets)
    assert np.isfinite(right).all()
    assert np.isfinite(wrong).all()
    weights = [bet.weight for bet in bets]
    assert combine_evidence(wrong, weights) > log(1e6)
    assert combine_evidence(right, weights) < 0


def test_bounds_are_those_in_log_odds():
    p = np.linspace(0.001, 0.999, 999)
    for tolerance in (0.05, 0.1, 2.0):
        lower, upper = tolerance_bounds(p, tolerance)
        np.testing.assert_allclose(lower, expit(logit(p) - tolerance), rtol=1e-12)
        np.testing.assert_allclose(upper, expit(logit(p) + tolerance), rtol=1e-12)
    for bounds in (tolerance_bounds([0.0, 1.0], 0.3), tolerance_bounds([0.0, 1.0], 0.0)):
        for bound in bounds:
            assert bound.tolist() == [0.0, 1.0]
    assert all((bound == p).all() for bound in tolerance_bounds(p, 0.0))


def test_bets_within_the_bounds_give_no_evidence():
    rng = random_stream(21)
    forecast, outcome = draw_audit(rng, 100)
    bets = (CalibrationBet(name="shift", parameters=(0.25,), weight=1.0),)
    assert evidence_of(forecast, outcome, bets, 0.3).tolist() == [0.0]


def test_rows_without_weight_or_without_rows_give_no_evidence():
    bets = fit_calibration_bets([])
    nothing = np.empty(0)
    assert not evidence_of(nothing, nothing, bets).any()
    rows = np.array([0.2, 0.8]), np.array([1.0, 0.0])
    for units in ({}, {"cluster": np.array([0, 1])}, {"weight_kind": "frequency"}):
        assert not evidence_of(*rows, bets, weight=np.zeros(2), **units).any()
    clusters = {"cluster": np.array([0, 1]), "weight_kind": "frequency"}
    assert not evidence_of(*rows, bets, weight=np.zeros(2), **clusters).any()


def test_combined_evidence_is_the_weighted_mean():
    rng = random_stream(22)
    logs, weights = rng.normal(0, 3, 6), rng.random(6)
    assert combine_evidence(logs, weights) == pytest.approx(log(np.average(np.exp(logs), weights=weights)))
    assert combine_evidence([-2000.0, -2001.0], [0.5, 0.5]) == pytest.approx(-2000 + log((1 + exp(-1)) / 2))
    assert combine_evidence([900.0, -inf], [0.5, 0.5]) == pytest.approx(900 - log(2))
    assert combine_evidence([-inf, -inf], [0.5, 0.5]) == -inf


def test_the_detector_is_the_sum_of_evidence_since_each_audit():
    rng = random_stream(23)
    logs = rng.normal(0, 1, 8)
    detector = -inf
    for factor in logs:
        detector = update_detector(detector, factor)
    since = [exp(logs[start:].sum()) for start in range(8)]
    assert detector == pytest.approx(log(sum(since)))
    assert update_detector(5.0, -inf) == -inf
    assert update_detector(1000.0, 2.0) == pytest.approx(1002)


# The safe Hosmer-Lemeshow test

#: Forecasts, outcomes and the rows that q is fitted to, and the answer of eHL(y, P, boot = 1, s = .5) of the
#: code of arXiv:2203.00426 (github.com/marius-cp/eHL, commit ae97b09) in R 4.2.2 for them.
EHL_FORECASTS = """
 .1606 .2992 .4529 .132 .4341 .386 .402 .6985 .1231 .7352 .1988 .1351 .2042 .4509 .4212 .2955 .1619 .2179
.7249 .4354 .2325 .1637 .3221 .0759 .2533 .1996 .7095 .6713 .3576 .1342 .6413 .6276 .5922 .5948 .2843 .5859
.7427 .3884 .1578 .6114 .6092 .2946 .8233 .1894 .4795 .0385 .3329 .702 .2598 .1709 .5919 .1868 .4554 .0701
.1003 .2604 .1489 .7568 .6459 .1912"""
EHL_OUTCOMES = "000111110110110111111100011011010101111101100001001110110110"
EHL_FITTED = """
42 19 31 28 39 2 15 26 8 3 24 40 22 47 52 53 12 20 49 58 54 6 16 48 21 4 11 45 23 55"""
EHL_EVIDENCE = 12.986711566521


def fit_as_ehl(forecast, outcome):
    """Corners of the isotonic curve; a block of only events or only others has (events + 1/2)/(rows + 1)."""
    order = np.argsort(forecast)
    x, y = forecast[order], outcome[order]
    curve = IsotonicRegression().fit_transform(x, y)
    corners = {}
    for level in np.unique(curve):
        block = curve == level
        is_pure = level in (0, 1)
        q = (y[block].sum() + 0.5) / (block.sum() + 1) if is_pure else level
        corners |= {float(x[block].min()): q, float(x[block].max()): q}
    values = list(corners.values())
    return [0.0, *corners, 1.0], [values[0], *values, values[-1]]


def test_evidence_of_the_isotonic_fit_of_half_of_the_rows_is_that_of_the_safe_hosmer_lemeshow_test():
    forecast = np.array(EHL_FORECASTS.split(), dtype=float)
    outcome = np.array(list(EHL_OUTCOMES), dtype=float)
    is_fitted = np.zeros(len(forecast), dtype=bool)
    is_fitted[[int(row) - 1 for row in EHL_FITTED.split()]] = True
    rest = np.sort(forecast[~is_fitted])
    q = np.interp(rest, *fit_as_ehl(forecast[is_fitted], outcome[is_fitted]))
    bet = CalibrationBet(name="isotonic", parameters=(1.0,), weight=1.0, log_odds=logit(rest), curve=q)
    found = evidence_of(forecast[~is_fitted], outcome[~is_fitted], (bet,))
    assert exp(found[0]) == pytest.approx(EHL_EVIDENCE, rel=1e-8)
