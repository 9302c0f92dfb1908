"""Propriety of scores, and scores as integrals over costs."""

from __future__ import annotations

from decimal import Decimal, localcontext
from inspect import isfunction, signature
from itertools import pairwise, product

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.special import logit
from score_tools import BINARY, K_CLASSES, OF_LABELS, OF_PROBABILITIES

import scorereport as sr
from scorereport.scores import REGISTRY, Direction, Kind, Propriety
from scorereport.scores.registry import Reported


def _instances(table, *, propriety=None):
    return [
        pytest.param(name, options, id="-".join([name, *map(str, options.values())]))
        for name, many in table.items()
        for options in many
        if propriety is None or REGISTRY[name].propriety in propriety
    ]


PROPER_OR_STRICT = {Propriety.PROPER, Propriety.STRICT}


def test_every_registered_score_is_exercised_here():
    assert REGISTRY.keys() == BINARY.keys() | K_CLASSES.keys() | {*OF_LABELS, *OF_PROBABILITIES}
    assert {n for n in REGISTRY if REGISTRY[n].kind is Kind.BINARY} == BINARY.keys()
    assert {n for n in REGISTRY if REGISTRY[n].kind in {Kind.MULTICLASS, Kind.ORDINAL}} == K_CLASSES.keys()
    assert {n for n in REGISTRY if REGISTRY[n].per_case} == BINARY.keys() | K_CLASSES.keys()


def test_every_public_score_that_takes_cases_is_registered():
    """A measure with several numbers in its result has no entry."""
    apart = {"naive_expected_cost", "partial_auc", "top_k", "probability_scale"}
    takes_cases = {
        name
        for name in sr.scores.__all__
        if "y_true" in getattr(getattr(sr.scores, name), "__annotations__", {})
    }
    assert takes_cases == REGISTRY.keys() | apart


WITH_KERNEL = [name for name in REGISTRY if REGISTRY[name].kernel is not None]


@pytest.mark.parametrize("name", WITH_KERNEL)
@pytest.mark.parametrize("outcome", ["both", 0, 1])
def test_a_score_of_checked_cases_is_that_of_the_function(name, outcome):
    p = np.tile([0.0, 1e-300, 0.2, 0.5, 0.7, np.nextafter(1, 0), 1.0], 2)
    y = np.repeat([0.0, 1.0], 7) if outcome == "both" else np.full(14, float(outcome))
    for options in BINARY[name]:
        scores = getattr(sr.scores, name)(y, p, **options)
        np.testing.assert_array_equal(REGISTRY[name].of_checked(y, p, **options), scores)
        # one case at a time, which takes the way of a sample with a single outcome
        one_by_one = [REGISTRY[name].of_checked(y[k : k + 1], p[k : k + 1], **options)[0] for k in range(14)]
        np.testing.assert_allclose(one_by_one, scores, rtol=1e-14)
        assert not np.signbit(scores).any()


def test_scores_of_every_evaluation_have_a_kernel():
    always = {name for name in REGISTRY if REGISTRY[name].reported is Reported.ALWAYS}
    assert always & BINARY.keys() <= set(WITH_KERNEL)


@pytest.mark.parametrize("name", REGISTRY)
def test_docstring_states_range_and_reference(name):
    entry = REGISTRY[name]
    text = getattr(sr.scores, name).__doc__
    assert entry.properties in text.splitlines()
    scale = " at the default scale" if "scale" in entry.options else ""
    assert entry.properties.startswith(f"Range {entry.range}{scale}; {entry.direction}; {entry.propriety}; ")
    assert entry.references
    assert all(
        "doi:10." in reference and f"- {reference}" in text.splitlines() for reference in entry.references
    )


@pytest.mark.parametrize(
    ("name", "interval"),
    [("brier", "[0, 1]"), ("elementary", "[0, 2]"), ("log_loss", "[0, ∞]"), ("net_benefit", "(-∞, 1]")],
)
def test_ranges_are_written_as_intervals(name, interval):
    assert REGISTRY[name].range == interval


FUNCTIONS = [
    function
    for module in (sr.scores, sr.curves)
    for name in module.__all__
    if isfunction(function := getattr(module, name))
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_all_but_the_data_is_given_by_keyword(function):
    """The exponent and the weights of a plain mean count as data."""
    data = {"y_true", "y_prob", "y_label", "fit", "p", "q", "m", "weights", "x", "kappa", "name"}
    parameters = signature(function).parameters.values()
    assert {p.name for p in parameters if p.kind is not p.KEYWORD_ONLY} <= data


@pytest.mark.parametrize("name", REGISTRY)
def test_options_of_the_entry_are_those_of_the_function(name):
    keywords = set(REGISTRY[name].function.__kwdefaults__ or {}) | set(
        REGISTRY[name].function.__annotations__
    )
    own = keywords - {"y_true", "y_prob", "y_label", "n_classes", "sample_weight", "return"}
    assert set(REGISTRY[name].options) == own


# Propriety, on exhaustive grids


def _expected(weights, scores):
    """Expectation of scores, to which an outcome of probability 0 adds nothing, even if it is infinite."""
    weights, scores = np.broadcast_arrays(weights, scores)
    return np.where(
        weights > 0, np.multiply(weights, scores, where=weights > 0, out=np.zeros(scores.shape)), 0
    )


def _binary_risk(name, options, q, p):
    """Expected loss of each forecast p (columns) under each truth q (rows)."""
    function = REGISTRY[name].function
    sign = -1 if REGISTRY[name].direction is Direction.HIGHER else 1
    event, none = function(np.ones(len(p)), p, **options), function(np.zeros(len(p)), p, **options)
    return sign * (_expected(q[:, None], event) + _expected(1 - q[:, None], none))


def _simplex(k, steps):
    parts = [part for part in product(range(steps + 1), repeat=k) if sum(part) == steps]
    return np.array(parts) / steps


def _class_risk(name, options, q, p):
    function, k = REGISTRY[name].function, q.shape[1]
    by_class = np.column_stack([function(np.full(len(p), y), p, **options) for y in range(k)])
    return _expected(q[:, None, :], by_class[None, :, :]).sum(axis=2)


def _excess(risk):
    """Loss of each forecast above that of the truth, which stands on the diagonal."""
    return risk - np.diag(risk)[:, None]


GRID = np.arange(21) / 20


@pytest.mark.parametrize(("name", "options"), _instances(BINARY, propriety=PROPER_OR_STRICT))
def test_truth_minimises_proper_binary_scores(name, options):
    assert _excess(_binary_risk(name, options, GRID, GRID)).min() >= -1e-15


@pytest.mark.parametrize(("name", "options"), _instances(BINARY, propriety={Propriety.STRICT}))
def test_only_the_truth_minimises_strictly_proper_binary_scores(name, options):
    excess = _excess(_binary_risk(name, options, GRID, GRID))
    assert excess[~np.eye(len(GRID), dtype=bool)].min() > 1e-7


@pytest.mark.parametrize("name", [n for n in BINARY if REGISTRY[n].propriety is Propriety.PROPER])
def test_other_forecasts_tie_with_the_truth_where_propriety_is_not_strict(name):
    excess = _excess(_binary_risk(name, BINARY[name][0], GRID, GRID))
    assert np.abs(excess[~np.eye(len(GRID), dtype=bool)]).min() <= 1e-15


@pytest.mark.parametrize(("name", "options"), _instances(BINARY, propriety={Propriety.IMPROPER}))
def test_truth_is_beaten_where_a_score_is_registered_as_improper(name, options):
    assert _excess(_binary_risk(name, options, GRID, GRID)).min() < -1e-3


def test_log_scores_with_a_limit_stay_proper():
    assert _excess(_binary_risk("log_loss", {"limit": 0.12}, GRID, GRID)).min() >= -1e-15


def test_a_limit_bounds_the_log_scores():
    worst = -np.log(0.01)
    assert sr.scores.log_loss([1, 0], [0.0, 1.0], limit=0.01) == pytest.approx([worst, worst], rel=1e-14)
    assert sr.scores.multiclass_log_loss([0], [[0.0, 1.0]], limit=0.01) == pytest.approx([worst], rel=1e-15)
    assert sr.scores.log_loss([1, 0], [1.0, 0.0], limit=0.01) == pytest.approx([-np.log(0.99)] * 2, rel=1e-14)


def test_regret_with_another_threshold_is_improper():
    assert _excess(_binary_risk("regret", {"cost": 0.3, "threshold": 0.6}, GRID, GRID)).min() < -0.05
    improper = {name: entry.improper_options for name, entry in REGISTRY.items() if entry.improper_options}
    assert improper == {"regret": ("threshold",)}


@pytest.mark.parametrize(("k", "steps"), [(2, 20), (3, 12), (4, 8)])
@pytest.mark.parametrize(("name", "options"), _instances(K_CLASSES, propriety={Propriety.STRICT}))
def test_only_the_truth_minimises_strictly_proper_scores_of_classes(name, options, k, steps):
    grid = _simplex(k, steps)
    excess = _excess(_class_risk(name, options, grid, grid))
    assert excess[~np.eye(len(grid), dtype=bool)].min() > 1e-4


@pytest.mark.parametrize("k", [3, 4])
@pytest.mark.parametrize(
    ("plain", "penalised", "largest_correct", "margin"),
    [
        ("multiclass_brier", "penalized_brier", lambda k: (k - 1) / k, 1 / 2),
        ("multiclass_log_loss", "penalized_log_loss", np.log, np.log(2)),
    ],
)
def test_penalised_scores_put_every_correct_prediction_before_every_wrong_one(
    k, plain, penalised, largest_correct, margin
):
    """The worst correct prediction is the uniform one; the plain scores overlap."""
    grid = np.repeat(_simplex(k, 12), k, axis=0)
    y = np.tile(np.arange(k), len(grid) // k)
    correct = grid.argmax(axis=1) == y
    score = REGISTRY[penalised].function(y, grid)
    assert score[correct].max() == pytest.approx(largest_correct(k), rel=1e-15)
    assert score[~correct].min() - score[correct].max() == pytest.approx(margin, rel=1e-14)
    unpenalised = REGISTRY[plain].function(y, grid)
    assert unpenalised[~correct].min() < unpenalised[correct].max()


@pytest.mark.parametrize("name", ["penalized_brier", "penalized_log_loss"])
def test_the_lowest_index_among_ties_is_the_prediction(name):
    plain = {"penalized_brier": "multiclass_brier", "penalized_log_loss": "multiclass_log_loss"}[name]
    y, p = [0, 1, 2], [[0.4, 0.4, 0.2]] * 3
    penalty = REGISTRY[name].function(y, p) - REGISTRY[plain].function(y, p)
    expected = {"penalized_brier": 2 / 3, "penalized_log_loss": np.log(3)}[name]
    assert penalty == pytest.approx([0, expected, expected], abs=1e-15)


def test_rps_is_the_mean_over_thresholds_or_their_sum():
    table = [[0.5, 0.25, 0.25, 0.0]]
    thresholds = [(0.5 - 0) ** 2, (0.75 - 0) ** 2, (1 - 1) ** 2]
    assert sr.scores.rps([2], table, scale="sum").item() == sum(thresholds)
    assert sr.scores.rps([2], table).item() == pytest.approx(sum(thresholds) / 3, rel=1e-15)


def test_sa_rps_prefers_certainty_of_the_middle_to_a_uniform_truth():
    uniform, middle = np.full((1, 3), 1 / 3), np.array([[0.0, 1.0, 0.0]])
    assert _class_risk("sa_rps", {}, uniform, middle).item() == pytest.approx(1 / 6, rel=1e-15)
    assert _class_risk("sa_rps", {}, uniform, uniform).item() == pytest.approx(11 / 54, rel=1e-15)


def test_sa_rps_is_beaten_at_10_of_28_truths():
    grid = _simplex(3, 6)
    beaten = _excess(_class_risk("sa_rps", {}, grid, grid)).min(axis=1) < -1e-12
    assert (beaten.sum(), len(grid)) == (10, 28)


def test_sa_rps_of_two_classes_is_the_rps_and_strictly_proper():
    grid = _simplex(2, 20)
    risk = _class_risk("sa_rps", {}, grid, grid)
    np.testing.assert_allclose(risk, _class_risk("rps", {}, grid, grid), rtol=0, atol=1e-15)
    assert _excess(risk)[~np.eye(len(grid), dtype=bool)].min() > 1e-4


def _moved(p, mu):
    return p * (1 - mu) / (p * (1 - mu) + (1 - p) * mu)


@pytest.mark.parametrize("mu", [0.2, 0.35, 0.8])
def test_shifted_brier_is_least_where_the_moved_forecast_is_the_truth(mu):
    q, fine = np.arange(1, 20) / 20, np.arange(401) / 400
    best = np.diag(_binary_risk("shifted_brier", {"mu": mu}, q, _moved(q, 1 - mu)))
    assert (best[:, None] <= _binary_risk("shifted_brier", {"mu": mu}, q, fine) + 1e-15).all()
    assert (best < np.diag(_binary_risk("shifted_brier", {"mu": mu}, q, q)) - 1e-4).all()
    assert best == pytest.approx(q * (1 - q), rel=1e-12)


def test_shifted_brier_is_least_at_3_31_for_mu_one_fifth_and_truth_three_tenths():
    assert _moved(0.3, 0.8) == pytest.approx(3 / 31, rel=1e-15)
    candidates = np.array([3 / 31, 3 / 31 - 1e-4, 3 / 31 + 1e-4, 0.3])
    assert _binary_risk("shifted_brier", {"mu": 0.2}, np.array([0.3]), candidates).argmin() == 0


# Scores as integrals over costs

CASES = [(y, p) for y in (0, 1) for p in (0.0, 0.05, 0.2, 0.3, 0.6, 0.85, 1.0)]


INTERVALS = [(0.05, 0.2), (0.2, 0.6), (0.3, 0.95)]


def _integral(function, lower, upper, cut):
    """Integrate piecewise: the integrand jumps where the cost passes the forecast."""
    edges = [lower, *([cut] if lower < cut < upper else []), upper]
    return sum(quad(function, a, b, epsabs=1e-13, epsrel=1e-13)[0] for a, b in pairwise(edges))


@pytest.mark.parametrize(("lower", "upper"), INTERVALS)
@pytest.mark.parametrize(("y", "p"), CASES)
def test_bounded_scores_average_regret_and_net_benefit(y, p, lower, upper):
    ends = {"lower": lower, "upper": upper}
    regret = lambda c: sr.scores.regret([y], [p], cost=c).item()  # noqa: E731
    benefit = lambda c: sr.scores.net_benefit([y], [p], threshold=c).item()  # noqa: E731
    width, log_width = upper - lower, logit(upper) - logit(lower)
    uniform = _integral(regret, lower, upper, p)
    in_log_odds = _integral(lambda c: regret(c) / (c * (1 - c)), lower, upper, p)
    of_benefit = _integral(benefit, lower, upper, p)

    def scores(function):
        return [function([y], [p], **ends, scale=s).item() for s in ("regret", "paper", "difference")]

    assert scores(sr.scores.bounded_brier) == pytest.approx(
        [uniform / width, 2 * uniform / width, 2 * uniform], abs=1e-12
    )
    assert scores(sr.scores.bounded_log_loss) == pytest.approx(
        [in_log_odds / log_width, in_log_odds / log_width, in_log_odds], abs=1e-12
    )
    assert scores(sr.scores.bounded_net_benefit) == pytest.approx(
        [of_benefit / width, of_benefit / width, of_benefit], abs=1e-12
    )


@pytest.mark.parametrize(("y", "p"), CASES)
def test_the_widest_bounded_scores_are_the_scores_themselves(y, p):
    brier = sr.scores.bounded_brier([y], [p], lower=0, upper=1, scale="difference")
    assert brier == pytest.approx((p - y) ** 2, abs=1e-16)
    log = sr.scores.bounded_log_loss([y], [p], lower=1e-9, upper=1 - 1e-9, scale="difference")
    if 0 < p < 1:
        assert log == pytest.approx(sr.scores.log_loss([y], [p]), abs=2e-9)


@pytest.mark.parametrize("mu", [0.05, 0.2, 0.5, 0.501, 0.9])
@pytest.mark.parametrize(("y", "p"), CASES)
def test_mode_shifted_is_the_mean_regret_at_moved_costs(y, p, mu):
    mean = _integral(
        lambda c: sr.scores.regret([y], [p], cost=min(_moved(c, 1 - mu), 1.0)).item(), 0, 1, _moved(p, mu)
    )
    assert sr.scores.mode_shifted([y], [p], mu=mu).item() == pytest.approx(mean, abs=1e-12)


@pytest.mark.parametrize(
    ("mu", "tolerance"), [(0.49976, 4e-15), (0.50003, 4e-15), (0.4, 1e-14), (0.499, 1e-12)]
)
@pytest.mark.parametrize("p", [0.1, 0.5, 1.0])
def test_mode_shifted_loses_no_digits_near_one_half(mu, tolerance, p):
    with localcontext(prec=60):
        m, s = Decimal(mu), Decimal(p)
        k = 1 - 2 * m
        d = m + k * s
        exact = m * (1 - m) / k**2 * ((d / m).ln() + m / d - 1)
    assert sr.scores.mode_shifted([0], [p], mu=mu).item() == pytest.approx(float(exact), rel=tolerance)


@pytest.mark.parametrize("mu", [0.2, 0.5, 0.9])
@pytest.mark.parametrize(("y", "p"), CASES)
def test_shifted_brier_is_twice_the_mean_regret_of_moved_thresholds(y, p, mu):
    mean = _integral(
        lambda c: sr.scores.regret([y], [p], cost=c, threshold=min(_moved(c, 1 - mu), 1.0)).item(),
        0,
        1,
        _moved(p, mu),
    )
    assert sr.scores.shifted_brier([y], [p], mu=mu).item() == pytest.approx(2 * mean, abs=1e-12)


@pytest.mark.parametrize(("a", "b"), [(1, 1), (2, 2), (2, 8), (3, 1.5)])
@pytest.mark.parametrize(("y", "p"), CASES)
def test_beta_regret_is_the_mean_regret_under_its_prior(y, p, a, b):
    prior = stats.beta(a, b).pdf
    mean = _integral(lambda c: sr.scores.regret([y], [p], cost=c).item() * prior(c), 0, 1, p)
    assert sr.scores.beta_regret([y], [p], a=a, b=b).item() == pytest.approx(mean, abs=1e-12)


@pytest.mark.parametrize(("y", "p"), CASES)
def test_elementary_scores_integrate_to_the_brier_score(y, p):
    mean = _integral(lambda t: sr.scores.elementary([y], [p], theta=t).item(), 0, 1, p)
    assert mean == pytest.approx((p - y) ** 2, abs=1e-13)


@pytest.mark.parametrize("threshold", [0.0, 0.2, 0.35, 0.9])
def test_mean_net_benefit_is_prevalence_less_scaled_regret(threshold):
    y, p = np.array(CASES).T
    mean = sr.scores.net_benefit(y, p, threshold=threshold).mean()
    regret = sr.scores.regret(y, p, cost=threshold).mean()
    assert mean == pytest.approx(y.mean() - regret / (1 - threshold), abs=1e-15)


@pytest.mark.parametrize(
    ("function", "options", "expected"),
    [
        (sr.scores.regret, {"cost": 0.5}, [0.5, 0.0]),
        (sr.scores.net_benefit, {"threshold": 0.5}, [-1.0, 1.0]),
        (sr.scores.elementary, {"theta": 0.5}, [0.5, 0.5]),
        (sr.scores.misclassification, {}, [0.5, 0.5]),
    ],
)
def test_a_forecast_at_the_threshold_decides_for_action(function, options, expected):
    """But elementary scores take the mean of both sides there."""
    np.testing.assert_array_equal(function([0, 1], [0.5, 0.5], **options), expected)
