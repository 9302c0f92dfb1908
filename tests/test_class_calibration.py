"""The tests of calibration of several classes: what is drawn and compared, by case and in cells."""

from __future__ import annotations

import numpy as np
import pytest

import scorereport as sr
from scorereport.evaluation import class_calibration
from scorereport.evaluation.class_calibration import (
    _count_labels,
    _count_weights,
    _miscalibrations,
    _PooledFamily,
    examine_class_calibration,
)
from scorereport.evaluation.class_views import make_families
from scorereport.inference import class_panel
from scorereport.inference.class_panel import ClassDistribution, DrawnClasses, make_class_panel
from scorereport.reliability.bands import MOST_CASES
from scorereport.reliability.cells import USUAL_SIZE, find_cells
from scorereport.reliability.sampling import random_stream

CLASSES = ("a", "b", "c", "d")


def make_panel(n, seed=1, *, power=1.0, digits=None, **columns):
    """Cases whose classes are drawn from probabilities; forecasts are these to a power."""
    rng = np.random.default_rng(seed)
    true = rng.dirichlet(np.ones(4), n)
    y = (rng.random((n, 1)) >= true.cumsum(axis=1)[:, :-1]).sum(axis=1)
    p = true**power if digits is None else np.round(true, digits) + 0.01
    return make_class_panel(y, {"m": p / p.sum(axis=1, keepdims=True)}, **columns)


def designs(n):
    rng = np.random.default_rng(2)
    return {
        "rows": {},
        "weights": {"sample_weight": rng.gamma(2, 0.5, n)},
        "repeated": {"sample_weight": rng.integers(1, 4, n), "weight_kind": "frequency"},
        "clusters": {"cluster": rng.integers(0, n // 5, n)},
    }


def split_by_hand(events, p, weight):
    return sr.corp(events.astype(float), p, weight).decompose("brier").miscalibration


def score_by_hand(row, label, weight, p, *, merge=lambda p: p):
    """Miscalibration of the Brier score of classes and of the RPS, view by view."""
    below = np.cumsum(p, axis=1)
    of_classes = [split_by_hand(label == k, merge(p[:, k])[row], weight) for k in range(4)]
    of_thresholds = [split_by_hand(label <= k, merge(below[:, k])[row], weight) for k in range(3)]
    return sum(of_classes), sum(of_thresholds) / 3


@pytest.mark.parametrize("digits", [None, 1], ids=["distinct", "tied"])
@pytest.mark.parametrize("design", designs(10))
def test_miscalibrations_of_drawn_classes_are_those_of_the_fits(design, digits):
    panel = make_panel(300, digits=digits, **designs(300)[design])
    families = make_families(panel, CLASSES, ordered=True)
    pooled = [_PooledFamily.of(family, "m", MOST_CASES) for family in families]
    assert [family.cells for family in pooled] == [None, None]
    distribution = ClassDistribution(given=panel.forecasts["m"], outcome=panel.outcome, units=panel.units)
    rng, weight = random_stream(5), panel.units.row_weight
    if panel.weight is None:
        labels = distribution.draw_labels(rng, 3)
        events = _count_labels(pooled, labels)
        drawn = [DrawnClasses(distribution.rows, of_sample.astype(int), weight) for of_sample in labels.T]
    else:
        drawn = [distribution.draw(rng) for _ in range(3)]
        events = _count_weights(pooled, drawn, 4)
    found = _miscalibrations(pooled, events, panel.units.total)
    assert len(found) == 3
    for values, (row, label, weight) in zip(found, drawn, strict=True):
        expected = score_by_hand(row, label, weight, panel.forecasts["m"])
        assert values == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("design", designs(10))
def test_in_cells_forecasts_are_averaged(design):
    panel = make_panel(3000, **designs(3000)[design])
    families = make_families(panel, CLASSES, ordered=True)
    pooled = [_PooledFamily.of(family, "m", 100) for family in families]
    weight = panel.units.row_weight

    def merge(p):
        distinct, place = np.unique(p, return_inverse=True)
        first = find_cells(np.bincount(place), USUAL_SIZE)
        assert len(first) < len(distinct)
        cell = np.searchsorted(first, place, side="right") - 1
        return (np.bincount(cell, weight * p) / np.bincount(cell, weight))[cell]

    observed = DrawnClasses(np.arange(3000), panel.outcome, weight)
    (found,) = _miscalibrations(pooled, _count_weights(pooled, [observed], 4), panel.units.total)
    expected = score_by_hand(*observed, panel.forecasts["m"], merge=merge)
    # cumulated probabilities may differ in their last bits, and cells with them
    assert found == pytest.approx(expected, rel=1e-3)
    exact = [family.decompose("m").miscalibration for family in families]
    assert (found < exact).all()
    assert found == pytest.approx(exact, rel=0.3)


GIVEN = np.array([[0, 0.5, 0.5, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0.2, 0, 0.3, 0.5], [1e-12, 0.25, 0.75, 0]])


@pytest.mark.parametrize("cluster", [None, np.arange(500) // 100])
def test_classes_are_drawn_as_often_as_forecast(cluster):
    """Impossible classes never; shares have larger errors where rows of clusters depend on each other."""
    rows = np.repeat(np.arange(5), 100) if cluster is None else np.tile(np.arange(5), 100)
    given = GIVEN[rows]
    outcome = given.argmax(axis=1)
    units = make_class_panel(outcome, {"m": given}, cluster=cluster).units
    labels = ClassDistribution(given=given, outcome=outcome, units=units).draw_labels(random_stream(1), 4000)
    assert labels.shape == (500, 4000)
    for row, p in zip(rows[::50], given[::50], strict=True):
        share = np.bincount(labels[np.flatnonzero(rows == row)].ravel(), minlength=4) / 4e5
        assert (share[p == 0] == 0).all()
        assert share == pytest.approx(p, abs=0.004 if cluster is None else 0.03)


@pytest.mark.parametrize("bits", [0, 1, 2**31, 2**32 - 2, 2**32 - 1])
def test_no_random_number_draws_an_impossible_class(bits, monkeypatch):
    given = np.vstack([GIVEN[:4], [0.7, 0.2, 0.1, 0], [0, 0, 0.1, 0.9]])  # some sums of shares are rounded
    units = make_class_panel(given.argmax(axis=1), {"m": given}).units
    distribution = ClassDistribution(given=given, outcome=given.argmax(axis=1), units=units)
    monkeypatch.setattr(class_panel, "draw_bits", lambda _, size, dtype: np.full(size, bits, dtype))
    labels = distribution.draw_labels(random_stream(1), 3)
    assert (np.take_along_axis(given, labels.astype(int), axis=1) > 0).all()
    possible = given > 0
    first, last = possible.argmax(axis=1), 3 - possible[:, ::-1].argmax(axis=1)
    if bits in (0, 2**32 - 1):
        assert (labels == (last if bits else first)[:, None]).all()


def test_chunks_have_streams_of_their_own(monkeypatch):
    keys = []
    monkeypatch.setattr(
        class_calibration, "random_stream", lambda *key: keys.append(key) or random_stream(*key)
    )
    panel = make_panel(300)
    families = make_families(panel, CLASSES, ordered=True)
    (test, _) = examine_class_calibration(panel, families, "m", resamples=130, seed=8)
    assert keys == [(8, 0), (8, 1), (8, 2)]
    assert test.draws == 130


def test_rows_of_clusters_share_their_numbers():
    """Two rows of a cluster agree as often as the correlation says: always, or no more than others."""
    given, cluster = np.tile([0.5, 0.5], (400, 1)), np.arange(400) // 2
    alike = np.repeat(np.random.default_rng(1).integers(0, 2, 200), 2)
    for outcome, expected in ((alike, 1.0), (np.tile([0, 1], 200), 0.5)):
        units = make_class_panel(outcome, {"m": given}, cluster=cluster).units
        labels = ClassDistribution(given=given, outcome=outcome, units=units).draw_labels(
            random_stream(2), 400
        )
        assert (labels[::2] == labels[1::2]).mean() == pytest.approx(expected, abs=0.01)
        assert (labels[1:-1:2] == labels[2::2]).mean() == pytest.approx(0.5, abs=0.01)


def test_many_rows_are_compared_in_cells_and_few_are_not():
    for n, are_in_cells in ((MOST_CASES, False), (MOST_CASES + 1, True)):
        panel = make_panel(n)
        families = make_families(panel, CLASSES, ordered=True)
        tests = examine_class_calibration(panel, families, "m", resamples=2, seed=1)
        for family, test in zip(families, tests, strict=True):
            assert ("cells of neighbouring forecasts" in test.method) is are_in_cells
            assert test.statistic == family.decompose("m").miscalibration  # of single forecasts, in any case
            assert test.draws == 2


def test_forecasts_with_few_values_need_no_cells():
    rng = np.random.default_rng(3)
    p = rng.dirichlet(np.ones(4), 50)[rng.integers(0, 50, 5000)]
    panel = make_class_panel(rng.integers(0, 4, 5000), {"m": p})
    families = make_families(panel, CLASSES, ordered=False)
    (test,) = examine_class_calibration(panel, families, "m", resamples=19, seed=1)
    (exact,) = examine_class_calibration(panel, families, "m", resamples=19, seed=1, most_rows=np.inf)
    assert test == exact
    assert "cells" not in test.method


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("design", designs(10))
def test_p_values_in_cells_are_those_by_case(design):
    """Both ways draw the same classes, so that p-values correlate closely."""
    found = []
    for seed in range(12):
        panel = make_panel(4500, seed, power=1 + 0.1 * (seed % 2), **designs(4500)[design])
        families = make_families(panel, CLASSES, ordered=True)
        for most in (MOST_CASES, np.inf):
            tests = examine_class_calibration(panel, families, "m", resamples=99, seed=3, most_rows=most)
            found.append([test.p_value for test in tests])
    in_cells, by_case = np.array(found).reshape(12, 2, 2).transpose(1, 2, 0)
    for ours, theirs in zip(in_cells, by_case, strict=True):
        assert np.corrcoef(ours, theirs)[0, 1] > 0.9
        assert abs(ours - theirs).mean() < 0.06


def test_a_clear_departure_is_found_in_cells():
    panel = make_panel(6000, power=1.5)
    families = make_families(panel, CLASSES, ordered=True)
    for test in examine_class_calibration(panel, families, "m", resamples=39, seed=1):
        assert test.p_value == 1 / 40
