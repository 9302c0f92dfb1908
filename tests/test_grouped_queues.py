"""Retention queues of many cases: groups, tables, and bands that agree with those of resampled rows."""

from __future__ import annotations

import numpy as np
import pytest

from scorereport.curves.retention import order_for_retention
from scorereport.inference.class_panel import make_class_panel
from scorereport.inference.grouped_queues import GroupedQueue, _place_ends
from scorereport.inference.retention_bands import retain_panel
from scorereport.reliability.bands import MOST_CASES

FRACTIONS = np.array([0.0, 0.03, 0.25, 0.5])
METRICS = ("quadratic_weighted_kappa", "expected_cost", "accuracy", "macro_f1")


def make_cases(n, seed=1):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(4), n)
    return (rng.random((n, 1)) >= p.cumsum(axis=1)[:, :-1]).sum(axis=1), p


def make_queue(n, weight=None):
    return order_for_retention(*make_cases(n), "rps", weight=weight, fraction=FRACTIONS)


class SameCounts:
    """Draws the sample itself."""

    def __init__(self, counts):
        self.counts = counts

    def draw(self, _rng, resamples):
        return np.tile(self.counts, (resamples, 1))


@pytest.mark.parametrize("is_repeated", [False, True])
@pytest.mark.parametrize("n", [30, 700, 5000])
def test_groups_have_the_tables_of_the_sample(n, is_repeated, monkeypatch):
    weight = np.random.default_rng(3).integers(1, 5, n).astype(float) if is_repeated else None
    queue, seen = make_queue(n, weight), []
    monkeypatch.setattr(
        "scorereport.inference.grouped_queues.poisson_counts",
        lambda mean: seen.append(mean) or SameCounts(mean),
    )
    grouped = GroupedQueue.of(queue)
    (counts,) = seen
    assert counts.sum() == queue.row_weight.sum()
    tables = grouped.draw(np.random.default_rng(1), 2).tables
    expected = queue.cut(queue.row_weight[None]).tables[0]
    assert tables.shape == (2, *expected.shape)
    if not is_repeated:  # groups end at the cuts
        assert tables == pytest.approx(np.stack([expected] * 2), abs=1e-9)
    totals = expected.sum(axis=(1, 2))
    assert tables.sum(axis=(2, 3)) == pytest.approx(np.stack([totals] * 2), abs=1e-9)
    assert abs(tables - expected).max() <= 5 * 16  # a case that counts five times may be beyond a cut


@pytest.mark.parametrize("total", [5000.0, 123_456.0])
def test_groups_end_at_cuts_and_are_small_around_them(total):
    cuts = total - np.floor(FRACTIONS * total)
    ends = _place_ends(total, cuts)
    assert (np.diff(ends) > 0).all()
    assert 0 < ends[0] <= ends[-1] < total
    assert np.isin(cuts[1:], ends).all()  # nothing is set aside at the first
    assert np.diff(ends, prepend=0, append=total).max() <= total / 64 + 1
    for cut in cuts[1:]:
        spread = np.sqrt(cut * (1 - cut / total))
        near = ends[abs(ends - cut) <= 1.25 * spread]
        assert np.diff(near).max() <= 0.31 * spread + 1


def test_resamples_have_the_moments_of_resampled_rows():
    queue, resamples = make_queue(5000), 3000
    rng = np.random.default_rng(4)
    grouped = GroupedQueue.of(queue).draw(rng, resamples).tables.reshape(resamples, -1)
    rows = []
    for _ in range(resamples // 100):
        drawn = [np.bincount(rng.integers(0, 5000, 5000), minlength=5000) for _ in range(100)]
        rows.append(queue.cut(np.array(drawn, dtype=float)).tables.reshape(100, -1))
    ours, theirs = (share_of_cells(tables) for tables in (grouped, np.concatenate(rows)))
    spread = theirs.std(axis=0)
    bias = abs(ours.mean(axis=0) - theirs.mean(axis=0))
    assert (bias <= 0.15 * spread + 1e-5).all()  # the means differ by 2.6 % of the spread by chance
    varies = spread > 1e-3
    assert varies.sum() > 40
    # both standard deviations have an error of about 1.3 %, more where counts are few
    assert ours.std(axis=0)[varies] == pytest.approx(spread[varies], rel=0.09)


def share_of_cells(tables):
    by_fraction = tables.reshape(len(tables), len(FRACTIONS), -1)
    return (by_fraction / by_fraction.sum(axis=2, keepdims=True)).reshape(len(tables), -1)


def find_bands(n, metrics=METRICS, **options):
    y, p = make_cases(n)
    columns = {key: options.pop(key) for key in ("sample_weight", "weight_kind", "cluster") if key in options}
    panel = make_class_panel(y, {"m": p}, **columns)
    options = {"resamples": 20} | options
    return retain_panel(panel, "m", scores=["rps"], metrics=metrics, fractions=FRACTIONS, **options)


def count_right(y, label):
    return float((y == label).mean())


def test_only_many_cases_that_are_alike_are_drawn_in_groups():
    many = MOST_CASES + 1
    alike = {"sample_weight": np.full(many, 2), "weight_kind": "frequency"}
    for options in ({}, alike):
        (band,) = find_bands(many, ["accuracy"], **options)
        assert "20 resamples of rows in up to" in band.area.method
    for n, metric, options in (
        (MOST_CASES, "accuracy", {}),
        (many, count_right, {}),
        (many, "accuracy", {"sample_weight": np.linspace(1, 2, many)}),
        (many, "accuracy", {"cluster": np.arange(many) // 5}),
    ):
        (band,) = find_bands(n, [metric], **options)
        assert "groups" not in band.area.method


def test_the_curve_of_many_cases_is_that_of_the_rows():
    for ours, exact in zip(find_bands(5000), find_bands(5000, most_cases=np.inf), strict=True):
        assert ours.value.tolist() == exact.value.tolist()
        assert ours.n_retained.tolist() == exact.n_retained.tolist()
        assert (ours.lower <= ours.value).all()
        assert (ours.value <= ours.upper).all()


def test_the_first_resamples_do_not_depend_on_how_many_are_drawn(monkeypatch):
    few, many = find_bands(5000, resamples=7), find_bands(5000, resamples=400)
    monkeypatch.setenv("SCOREREPORT_THREADS", "1")
    again = find_bands(5000, resamples=7)
    assert [band.area for band in few] == [band.area for band in again]
    widths = [[band.upper - band.lower for band in bands] for bands in (few, many)]
    assert np.median(np.divide(*widths)) < 1  # fewer resamples reach less far


@pytest.mark.sweep
@pytest.mark.parametrize("score", ["rps", "multiclass_log_loss"])
def test_bands_are_those_of_resampled_rows(score):
    y, p = make_cases(6000)
    panel = make_class_panel(y, {"m": p})
    runs = [
        retain_panel(panel, "m", scores=[score], metrics=METRICS, resamples=3000, seed=seed, most_cases=most)
        for most, seed in ((MOST_CASES, 1), (np.inf, 2))
    ]
    for ours, theirs in zip(*runs, strict=True):
        width = theirs.upper - theirs.lower
        for bound in ("lower", "upper"):
            assert abs(getattr(ours, bound) - getattr(theirs, bound)).max() <= 0.09 * width.max()
        assert ours.upper - ours.lower == pytest.approx(width, rel=0.12)
        assert ours.area.standard_error == pytest.approx(theirs.area.standard_error, rel=0.08)
