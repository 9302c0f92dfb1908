"""Bands of Murphy differences from the covariance of rows, compared with resamples of the rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit

from scorereport._utils import machine
from scorereport.inference.dominance import choose_costs, compare_costs, murphy_difference
from scorereport.inference.drawn_sums import find_root
from scorereport.inference.murphy_bands import (
    ROUNDING,
    MurphyCells,
    _clusters_of,
    _rows_of,
    average_differences,
)
from scorereport.inference.murphy_bands import RowSample as Rows
from scorereport.inference.murphy_draws import (
    FEWEST_UNITS,
    _coarse_to_fine,
    _covariance,
    _DrawnCurve,
    _Kinds,
    draw_band,
)
from scorereport.inference.panel import make_panel
from scorereport.inference.resampled_weights import is_quantile_precise
from scorereport.reliability.precision import MOST_RESAMPLES
from scorereport.reliability.sampling import random_stream

KINDS = ("usual", "similar", "rare", "ties", "frequency", "sampling")


def make_pair(kind, n):
    rng = np.random.default_rng([KINDS.index(kind), n])
    z = rng.normal(size=n)
    truth = expit(z - 5 if kind == "rare" else 1.2 * z - 1)
    first, second = truth, expit(0.8 * z - (4 if kind == "rare" else 1) + 0.4 * rng.normal(size=n))
    if kind == "similar":
        second = expit(1.2 * z - 1 + 0.02 * rng.normal(size=n))
    if kind == "ties":
        first, second = first.round(1), second.round(2)
    weights = {
        "frequency": {"sample_weight": rng.integers(1, 5, n), "weight_kind": "frequency"},
        "sampling": {"sample_weight": rng.gamma(2, size=n)},
    }.get(kind, {})
    y = rng.random(n) < truth
    return make_panel(y, {"first": first, "second": second}, **weights)


def differences_of(panel, theta):
    """The difference of elementary scores of each row at each cost, by their definition."""
    y = panel.outcome[:, None]

    def score(p):
        p = p[:, None]
        missed, alarm = 2 * (1 - theta) * (p < theta), 2 * theta * (p > theta)
        return np.where(p == theta, 2 * theta * (1 - theta), np.where(y == 1, missed, alarm))

    first, second = panel.forecasts.values()
    return score(first) - score(second)


@pytest.mark.parametrize("kind", KINDS)
def test_the_covariance_is_that_of_the_rows(kind):
    panel = make_pair(kind, 300)
    theta = choose_costs(panel, 40)
    kinds, d = _Kinds.of(panel, theta), differences_of(panel, theta)
    weight = panel.units.row_weight
    mean = (weight[:, None] * d).sum(axis=0) / weight.sum()
    square = weight if panel.units.are_repeated_rows else weight**2
    expected = ((d - mean) * square[:, None]).T @ (d - mean)
    assert_allclose(kinds.sum_differences(kinds.weight) / weight.sum(), mean, atol=1e-14)
    assert_allclose(_covariance(kinds, kinds.square, mean, kinds.all_squares), expected, atol=1e-10)
    curve = _DrawnCurve.of(panel, theta)
    assert_allclose(curve.spread, np.sqrt(np.diag(expected)) / weight.sum(), atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_draws_have_the_covariance_of_the_rows(kind, monkeypatch):
    """Both parts together: the normal part and the rows that are drawn."""
    monkeypatch.setattr("scorereport.inference.murphy_draws._FEW_ROWS", 20)
    panel = make_pair(kind, 400)
    theta = choose_costs(panel, 12)
    curve, kinds = _DrawnCurve.of(panel, theta), _Kinds.of(panel, theta)
    whole = _covariance(kinds, kinds.square, curve.difference, kinds.all_squares)
    is_atom = kinds.find_rare()[1]
    rows = np.where(is_atom, kinds.square, 0.0)
    of_atoms = _covariance(kinds, rows, curve.difference, float(rows.sum()))
    assert_allclose(curve.root @ curve.root.T + of_atoms, whole, atol=1e-7 * whole.max())
    drawn, rare = curve.atoms.mean.sum(), count_rare_rows(panel, theta, 20)
    assert 0 < rare <= drawn
    assert drawn == pytest.approx(rare) or kind == "ties"  # ties at costs of 0 and 1 are drawn as well


def count_rare_rows(panel, theta, few):
    """The rows that disagree at a cost at which few rows of their outcome do, one by one."""
    disagrees = np.abs(differences_of(panel, theta)) > ROUNDING
    times = panel.units.row_weight if panel.units.are_repeated_rows else np.ones(len(panel.outcome))
    is_drawn = np.zeros(len(times), dtype=bool)
    for outcome in (0, 1):
        rows = disagrees & (panel.outcome == outcome)[:, None]
        counted = (times[:, None] * rows).sum(axis=0)
        is_drawn |= rows[:, (counted > 0) & (counted < few)].any(axis=1)
    return times[is_drawn].sum()


@pytest.mark.parametrize("kind", ["usual", "rare", "ties"])
def test_bands_agree_with_resamples(kind):
    """Half-widths of 600 draws or more and of 1,000 resamples differ by their Monte-Carlo errors."""
    panel = make_pair(kind, 1200)
    drawn = compare_costs(panel, ("first", "second"), level=0.9, points=40, seed=1)
    first, second = panel.forecasts.values()
    resampled = murphy_difference(panel.outcome, first, second, points=40, resamples=1000, seed=2)
    assert drawn.method == "covariance over rows, sup-t"
    assert 600 <= drawn.resamples <= 1000
    assert_allclose(drawn.difference, resampled.difference, atol=1e-14)
    for ours, theirs in (("upper", "upper"), ("simultaneous_upper", "simultaneous_upper")):
        width, expected = (
            getattr(drawn, ours) - drawn.difference,
            getattr(resampled, theirs) - resampled.difference,
        )
        assert_allclose(width, expected, rtol=0.2, atol=1e-12)
        wide = expected > ROUNDING
        assert np.median(width[wide] / expected[wide]) == pytest.approx(1, abs=0.07)


@pytest.mark.sweep
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [FEWEST_UNITS, 5000, 20_000])
def test_critical_values_agree_with_many_resamples(kind, n):
    """The quantiles of the largest distance over all costs agree to 4 %, a tenth of a standard error."""
    panel = make_pair(kind, n)
    theta = choose_costs(panel, 200)
    curve = _DrawnCurve.of(panel, theta)
    drawn = np.concatenate([curve.draw(random_stream(1, k)) for k in range(40)])
    sample = Rows.of(panel, theta)
    means = np.array(
        [average_differences(sample.cells, sample.draw(random_stream(2, k))) for k in range(4000)]
    )
    mean, square = means[:, 0], means[:, 1]
    spread = mean.std(axis=0, ddof=1)
    share = np.sqrt(np.maximum(square - mean**2, 0) / curve.variance)
    own = np.hypot(spread * share, curve.row)
    away = np.abs(mean - curve.difference)
    ratio = np.divide(away, own, out=np.zeros_like(away), where=own > ROUNDING)
    for level in (0.5, 0.8, 0.9, 0.95):
        ours, theirs = (np.quantile(found.max(axis=1), level) for found in (drawn, ratio))
        # where few rows differ the distances have few values, and quantiles jump between them
        lower, upper = np.quantile(ratio.max(axis=1), [level - 0.02, level + 0.02])
        assert 0.97 * lower <= ours <= 1.03 * upper, (level, ours, theirs)
    varies = spread > 1e-12
    assert_allclose(curve.spread[varies], spread[varies], rtol=0.06)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 200])
def test_costs_are_taken_from_coarse_to_fine(size):
    order = _coarse_to_fine(size)
    assert sorted(order) == list(range(size))
    assert order[: min(size, 2)] == [0, size - 1][: min(size, 2)]


def test_the_root_of_a_singular_covariance():
    rng = np.random.default_rng(3)
    part = rng.normal(size=(30, 4))
    part[5] = 0
    covariance = part @ part.T
    root = find_root(covariance, np.diag(covariance), _coarse_to_fine(len(covariance)))
    assert root.shape == (30, 4)
    assert_allclose(root @ root.T, covariance, atol=1e-10)


@pytest.mark.parametrize("units", ["few", "clusters"])
def test_few_rows_and_clusters_are_resampled(units):
    n = FEWEST_UNITS - 1 if units == "few" else FEWEST_UNITS
    panel = make_pair("usual", n)
    cluster = None if units == "few" else np.arange(n) // 3
    first, second = panel.forecasts.values()
    found, expected = (
        murphy_difference(panel.outcome, first, second, points=20, resamples=resamples, cluster=cluster)
        for resamples in (None, 1000)
    )
    assert (
        found.method == expected.method == f"bootstrap of {'rows' if units == 'few' else 'clusters'}, sup-t"
    )
    assert found.resamples == 1000
    inner = slice(1, -1)
    widths = [(band.simultaneous_upper - band.difference)[inner] for band in (found, expected)]
    assert_allclose(*widths, rtol=0.12)
    assert not np.array_equal(*widths)


def test_the_same_forecasts_have_a_band_of_no_width():
    panel = make_pair("usual", FEWEST_UNITS)
    p = panel.forecasts["first"]
    found = murphy_difference(panel.outcome, p, p, resamples=None)
    assert found.dominant == "both"
    assert not found.difference.any()
    assert not (found.simultaneous_upper - found.simultaneous_lower).any()


def test_draws_go_on_until_their_largest_distance_is_precise(monkeypatch):
    panel = make_pair("usual", FEWEST_UNITS)
    theta = choose_costs(panel, 10)
    monkeypatch.setattr("scorereport.reliability.precision.PRECISION", 0.05)
    assert draw_band(panel, theta, 0.9, 1).draws == 600
    monkeypatch.setattr("scorereport.reliability.precision.PRECISION", 0.01)
    assert 600 < draw_band(panel, theta, 0.9, 1).draws < MOST_RESAMPLES
    monkeypatch.setattr("scorereport.reliability.precision.PRECISION", 0.0)
    assert draw_band(panel, theta, 0.9, 1).draws == MOST_RESAMPLES


def test_draws_go_on_until_the_bounds_at_rare_costs_are_precise(monkeypatch):
    """At other costs the pointwise bounds are normal, and need no draws."""
    panel = make_pair("rare", FEWEST_UNITS)
    theta = choose_costs(panel, 40)
    rare = _DrawnCurve.of(panel, theta).is_rare.sum()
    assert 0 < rare < len(theta)

    def is_last_precise(values, _):
        shapes.append(values.shape)
        return values.ndim == 1 or len(values) == 1000

    shapes = []
    monkeypatch.setattr("scorereport.inference.murphy_draws.is_quantile_precise", is_last_precise)
    assert draw_band(panel, theta, 0.9, 1).draws == 1000
    assert shapes == [shape for draws in (600, 800, 1000) for shape in ((draws,), (draws, rare))]


def test_the_errors_of_several_quantiles_are_averaged():
    values = np.linspace(0, 1, 1000)
    assert is_quantile_precise(1 + values, 0.9)  # an error of 0.01, and a width of 3.8
    assert not is_quantile_precise(values**40, 0.9)
    assert not is_quantile_precise(np.column_stack([1 + values, 100 * values**40]), 0.9)
    assert is_quantile_precise(np.column_stack([100 + values, values**40]), 0.9)
    assert is_quantile_precise(np.empty((1000, 0)), 0.9)


def test_bands_do_not_depend_on_threads(monkeypatch):
    panel = make_pair("usual", FEWEST_UNITS)
    theta = choose_costs(panel, 30)
    monkeypatch.setattr(machine, "_ROWS_WORTH_A_THREAD", 1)
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("SCOREREPORT_THREADS", threads)
        found.append(draw_band(panel, theta, 0.9, 1).simultaneous)
    assert np.array_equal(*found)


def test_a_row_with_much_of_the_weight_is_resampled():
    panel = make_pair("usual", 2 * FEWEST_UNITS)
    first, second = panel.forecasts.values()
    weight = np.where(np.arange(len(first)) == 0, 1e6, 1.0)
    found, expected = (
        murphy_difference(panel.outcome, first, second, points=10, sample_weight=weight, resamples=resamples)
        for resamples in (None, 1000)
    )
    assert found.method == "bootstrap of rows, sup-t"
    widths = [band.simultaneous_upper - band.difference for band in (found, expected)]
    assert_allclose(*widths, rtol=0.2, atol=1e-12)


@pytest.mark.parametrize("weights", ["none", "frequency", "sampling"])
def test_resamples_of_clusters_are_sums_over_their_rows(weights):
    """The same draws give the same tables as weights of rows: whole ones to the last bit."""
    rng = np.random.default_rng(4)
    panel = make_pair("ties", 700)
    weight = {"none": None, "frequency": rng.integers(1, 4, 700), "sampling": rng.gamma(2, size=700)}[weights]
    panel = make_panel(
        panel.outcome,
        panel.forecasts,
        cluster=rng.integers(0, 60, 700),
        sample_weight=weight,
        weight_kind="frequency" if weights == "frequency" else "sampling",
    )
    cells = MurphyCells.of(panel, np.linspace(0, 1, 21))
    tables = _clusters_of(cells, panel.units)(50, random_stream(1))
    expected = _rows_of(cells, panel.units)(50, random_stream(1))
    for found, table in zip(tables, expected, strict=True):
        assert_allclose(found, table, rtol=1e-12 if weights == "sampling" else 0, atol=0)
    assert tables[0].sum() > 0
