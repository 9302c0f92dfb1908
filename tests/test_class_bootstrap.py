"""The bootstrap of models of classes: with many rows, few are drawn one by one."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from scorereport.evaluation import class_bootstrap
from scorereport.evaluation.class_bootstrap import MeanScores, bootstrap_classes
from scorereport.evaluation.class_measures import choose_mean_measures, choose_table_measures
from scorereport.inference.class_panel import make_class_panel
from scorereport.reliability.bands import MOST_CASES
from scorereport.results.settings import EvaluationSettings

CLASSES = 4
MEANS = choose_mean_measures(CLASSES, EvaluationSettings(), ordered=True)
TABLES = choose_table_measures(ordered=True)


def make(n, seed=1, **options):
    """Two models of ordered classes, of which the last is rare."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet([3.0, 2.0, 1.0, 0.05], n)
    y = (p.cumsum(axis=1) > rng.random(n)[:, None]).argmax(axis=1)
    y[:CLASSES] = range(CLASSES)
    flat = (p + 0.05) / (1 + CLASSES * 0.05)
    return make_class_panel(y, {"sharp": np.maximum(p, 1e-9), "flat": flat}, **options)


def bootstrap(panel, resamples=100, **options):
    return bootstrap_classes(panel, MEANS, TABLES, resamples=resamples, seed=3, **options)


@pytest.fixture
def by_row(monkeypatch):
    """A list that is filled when rows are drawn one by one."""
    calls, draw = [], class_bootstrap.bootstrap_parts
    monkeypatch.setattr(
        class_bootstrap, "bootstrap_parts", lambda *args, **kw: calls.append(True) or draw(*args, **kw)
    )
    return calls


@pytest.mark.parametrize("kind", ["rows", "frequency"])
def test_few_rows_are_drawn_with_the_distribution_of_resamples(kind):
    """Spreads of 1,500 resamples have an error of 2 %, and quantiles one of 6 % of a spread."""
    times = np.random.default_rng(2).integers(1, 4, 6000)
    options = {"sample_weight": times, "weight_kind": "frequency"} if kind == "frequency" else {}
    panel = make(6000, **options)
    drawn, by_row = bootstrap(panel, 1500), bootstrap(panel, 1500, most_cases=np.inf)
    assert len(drawn.statistics) == 2 * (2 * len(MEANS) + len(TABLES))
    for ours, reference in zip(drawn.statistics, by_row.statistics, strict=True):
        assert (ours.model, ours.measure, ours.value) == (reference.model, reference.measure, reference.value)
        assert_allclose(ours.spread, reference.spread, rtol=0.12)
        ends = [np.quantile(one.replicates, [0.05, 0.5, 0.95]) for one in (ours, reference)]
        assert (np.abs(ends[0] - ends[1]) < 0.35 * reference.spread).all()


def test_the_rows_that_are_drawn_are_those_with_a_large_influence():
    """The linear function of the columns of a row is its influence, up to a constant."""
    panel = make(5000)
    scores = MeanScores(panel, MEANS)
    (columns, times), *others = scores._read()
    assert not others
    assert_array_equal(times, 1)
    slopes = scores._linearise(scores.values(panel.units.row_weight))
    found = list(scores.finish(np.empty((0, columns.shape[0]))))
    for statistic, slope in zip(found, slopes, strict=True):
        influence = statistic.influence()
        off = slope @ columns - influence
        assert np.ptp(off) < 1e-9 * np.ptp(influence)


def test_resamples_keep_the_number_of_cases():
    """Shares of classes vary, but their sum does not."""
    panel = make(5000)
    classes = MeanScores(panel, MEANS).draw(250, 1)[:, :CLASSES]
    assert_allclose(classes.sum(axis=1), 5000, rtol=1e-12)
    assert len(classes) == 250
    observed = np.bincount(panel.outcome)
    expected = np.sqrt(observed * (1 - observed / 5000))
    assert_allclose(classes.std(axis=0), expected, rtol=0.25)


@pytest.mark.parametrize(
    ("options", "is_drawn"),
    [
        ({}, True),
        ({"sample_weight": np.full(5000, 2), "weight_kind": "frequency"}, True),
        ({"sample_weight": np.linspace(1, 2, 5000)}, False),
        ({"cluster": np.arange(5000) // 4}, False),
    ],
)
def test_only_independent_rows_are_drawn_as_sums(options, is_drawn, by_row):
    assert bootstrap(make(5000, **options), 5).resamples == 5
    assert bool(by_row) is not is_drawn


@pytest.mark.parametrize(("n", "is_drawn"), [(MOST_CASES, False), (MOST_CASES + 1, True)])
def test_few_cases_are_drawn_one_by_one(n, is_drawn, by_row):
    bootstrap(make(n), 2)
    assert bool(by_row) is not is_drawn


def test_an_infinite_score_has_no_interval():
    n = 5000
    p = np.tile([0.5, 0.5, 0.0, 0.0], (n, 1))
    y = np.arange(n) % 2
    y[0] = 3
    panel = make_class_panel(y, {"a": p})
    found = bootstrap(panel, 50)
    assert np.isnan(found.interval("a", "multiclass_log_loss").lower)
    assert found.interval("a", "multiclass_brier").lower < found.interval("a", "multiclass_brier").upper
