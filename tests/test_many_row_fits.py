"""Fits, panels, units, bins and whole evaluations of many rows."""

from __future__ import annotations

import ctypes
import re
import sys
from dataclasses import fields, is_dataclass
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from many_rows_tools import (
    MANY,
    assert_same_interval,
    draw_panel,
    draw_sample,
    few_are_many_fixture,
    lower_thresholds,
    set_chunk_rows,
)
from scipy.special import logit

import scorereport as sr
from scorereport._utils.arrays import bits_equal
from scorereport._utils.machine import release_memory
from scorereport.inference import component_intervals, overfit_draws
from scorereport.inference import large_panels as fits
from scorereport.inference.bootstrap_resamples import bootstrap
from scorereport.inference.components import FittedLosses, case_losses, place_in_blocks
from scorereport.inference.large_panels import PanelFits
from scorereport.inference.likelihood import information
from scorereport.inference.logistic import fit_line, fit_offset
from scorereport.inference.losses import resolve_measure
from scorereport.inference.overfit import estimate_overfit, smooth_curve
from scorereport.inference.overfit_draws import OverfitDraws
from scorereport.inference.panel import are_ordered, make_panel, order_by
from scorereport.inference.recalibration_gains import _assign_in_order, assign_folds
from scorereport.reliability.blocks import sum_between
from scorereport.reliability.cells import CellSize
from scorereport.reliability.fit import corp
from scorereport.reliability.sampling import SamplingUnits, random_stream
from scorereport.scores.scale import split_evenly

few_are_many = pytest.fixture(few_are_many_fixture)


# Fits and losses


@pytest.mark.usefixtures("few_are_many")
def test_fits_of_few_rows_are_kept_and_of_many_are_repeated():
    few, many = (PanelFits(draw_panel(n)) for n in (MANY, MANY + 1))
    assert few["first"] is few["first"]
    assert many["first"] is not many["first"]
    assert list(many) == ["first", "second"]
    assert len(many) == 2
    for found in (few, many):
        assert found["second"].blocks.equals(
            corp(found._panel.outcome, found._panel.forecasts["second"]).blocks
        )


@pytest.mark.parametrize("kind", ["sampling", "frequency"])
def test_fits_have_the_weight_kind_of_the_panel(kind):
    y, p, _ = draw_sample(20)
    panel = make_panel(y, {"p": p}, sample_weight=np.full(20, 2.0), weight_kind=kind)
    assert PanelFits(panel)["p"].sample.units.are_repeated_rows == (kind == "frequency")


@pytest.mark.usefixtures("few_are_many")
def test_memory_is_released_after_each_fit_of_many_rows(monkeypatch):
    calls = []
    monkeypatch.setattr(fits, "release_memory", lambda: calls.append(1))
    assert PanelFits(draw_panel(MANY))["first"].n == MANY
    assert not calls
    assert PanelFits(draw_panel(MANY + 1))["first"].n == MANY + 1
    assert len(calls) == 1


LOSSES = [("brier", {}), ("log_loss", {}), ("spherical", {}), ("net_benefit", {"threshold": 0.3})]


@pytest.mark.parametrize("rows", [1, 7, 1000])
@pytest.mark.parametrize("digits", [1, None])
@pytest.mark.parametrize(("name", "options"), LOSSES)
def test_losses_on_demand_are_those_of_each_case(name, options, digits, rows, monkeypatch):
    set_chunk_rows(monkeypatch, rows)
    measure, panel = resolve_measure(name, options), draw_panel(60, digits=digits)
    y, p = panel.outcome, np.clip(panel.forecasts["first"], 0.01, 0.99)
    fit = corp(y, p)
    expected = case_losses(measure, y, p, fit.cep, fit.prevalence)
    found = FittedLosses(measure, y, p, fit.blocks, place_in_blocks(y, p, fit.blocks))
    assert found.measure == expected.measure
    for component in ("discrimination", "miscalibration", "discrimination"):
        assert bits_equal(found.gain(component), expected.gain(component))
        assert found.gain(component) is found.gain(component)


@pytest.mark.parametrize("rows", [3, 1000])
def test_fits_that_recalibrate_alike_are_recognised(rows, monkeypatch):
    set_chunk_rows(monkeypatch, rows)
    measure, panel = resolve_measure("brier", {}), draw_panel(60)
    y, p = panel.outcome, panel.forecasts["first"]
    last = p.copy()
    last[np.argmax(p)] = 0.0
    fits = [(q, corp(y, q).blocks) for q in (p, p**2, last)]
    losses = [FittedLosses(measure, y, q, blocks, place_in_blocks(y, q, blocks)) for q, blocks in fits]
    assert losses[0].recalibrates_like(losses[1])
    assert not losses[0].recalibrates_like(losses[2])


# Overfit


def compare_ways(sample, draws, monkeypatch):
    """The overfit under three scores, drawn by case and in cells: means, and the error of their ratio."""
    curve = smooth_curve(sample)
    measures = [resolve_measure(name, {}) for name in ("brier", "log_loss", "spherical")]
    found = []
    for most in (np.inf, 0):
        monkeypatch.setattr(overfit_draws, "MOST_CASES", most)
        drawn = OverfitDraws.of(sample, curve, measures, 1)
        assert drawn.is_in_cells == (most == 0)
        found.append(drawn.draw(range(draws)))
    by_case, in_cells = (excess.mean(axis=0) for excess in found)
    errors = [excess.std(axis=0) / excess.mean(axis=0) / np.sqrt(draws) for excess in found]
    return in_cells / by_case, np.hypot(*errors)


@pytest.mark.parametrize("digits", [5, None])
def test_the_overfit_drawn_in_cells_is_that_of_cases(digits, monkeypatch):
    y, p, _ = draw_sample(40_000, digits=digits)
    sample = corp(y, np.clip(p, 1e-5, 1 - 1e-5)).sample
    ratio, error = compare_ways(sample, 60, monkeypatch)
    assert (np.abs(ratio - 1) < 0.02 + 4 * error).all()
    assert (error < 0.03).all()


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["uniform", "not calibrated", "rare", "sharp", "ties"])
def test_the_overfit_of_many_cases_drawn_in_cells_is_that_of_cases(name, monkeypatch):
    """Within 2 % at a size at which an evaluation draws in cells."""
    rng = np.random.default_rng(5)
    u = rng.random(400_000)
    x, truth = {
        "uniform": (u, u),
        "not calibrated": (0.2 + 0.6 * u, u),
        "rare": (rng.beta(0.5, 25, len(u)),) * 2,
        "sharp": (np.clip(rng.beta(0.1, 0.1, len(u)), 1e-9, 1 - 1e-9),) * 2,
        "ties": (u.round(5),) * 2,
    }[name]
    sample = corp((rng.random(len(u)) < truth).astype(float), x).sample
    ratio, error = compare_ways(sample, 200, monkeypatch)
    assert (np.abs(ratio - 1) < 0.02 + 3 * error).all()
    assert (error < 0.025).all()


def test_without_extrapolation_cells_lose_a_part_of_the_overfit(monkeypatch):
    y, p, _ = draw_sample(100_000)
    monkeypatch.setattr(overfit_draws, "_LOSS", 0.0)
    monkeypatch.setattr(overfit_draws, "_CELLS", CellSize(parts=1024))
    ratio, error = compare_ways(corp(y, p).sample, 60, monkeypatch)
    assert (ratio + 4 * error < 0.97).all()


def test_the_overfit_of_few_forecasts_is_not_drawn_in_cells(monkeypatch):
    monkeypatch.setattr(overfit_draws, "MOST_CASES", 0)
    y, p, _ = draw_sample(5000, digits=1)
    (overfit,) = estimate_overfit(corp(y, p).sample, [resolve_measure("brier", {})], draws=20, seed=1)
    assert overfit.drawn == "20 draws, seed 1"


def test_the_method_of_components_names_the_cells(monkeypatch):
    monkeypatch.setattr(overfit_draws, "MOST_CASES", 1000)
    y, p, _ = draw_sample(40_000)
    mcb, _ = component_intervals(corp(y, p), draws=20, resamples=9, seed=7)
    assert re.search(r"\(20 draws in \d{5} cells, seed 7\)", mcb.method)


@pytest.mark.parametrize("rows", [4, 1000])
@pytest.mark.parametrize("digits", [1, None])
def test_drawn_outcomes_have_the_mean_score_of_their_cases(digits, rows, monkeypatch):
    set_chunk_rows(monkeypatch, rows)
    y, p, _ = draw_sample(60, digits=digits)
    measures = [resolve_measure("brier", {}), resolve_measure("spherical", {})]
    sample = corp(y, p).sample
    drawn = sample.simulation(sample.distinct.x_min).redraw_outcomes(random_stream(1))
    n, events = np.ones(60) if drawn.n is None else drawn.n, drawn.events[0]
    scorer = overfit_draws.ExcessScorer(sample.simulation(sample.distinct.x_min), measures, with_counts=False)
    found = scorer.sum_up(drawn, drawn.fit()).of_hypothesis[0] / 60
    for value, measure in zip(found, measures, strict=True):
        of_events, of_others = (measure.loss(np.full(len(n), y), sample.distinct.x_min) for y in (1.0, 0.0))
        expected = (events * of_events + (n - events) * of_others).sum() / 60
        assert value == pytest.approx(expected, rel=1e-12)


# Panels


def random_keys(seed):
    """Three columns with few values, so that rows tie."""
    rng = np.random.default_rng(seed)
    return [rng.integers(0, 3, 9).astype(float) for _ in range(3)]


@pytest.mark.parametrize("seed", range(20))
def test_rows_are_ordered_like_tuples(seed):
    keys = random_keys(seed)
    rows = list(zip(*keys, strict=True))
    order = order_by(keys)
    assert [rows[at] for at in order] == sorted(rows)
    assert are_ordered([key[order] for key in keys])
    for left, right in pairwise(range(9)):
        swapped = order.copy()
        swapped[[left, right]] = order[[right, left]]
        assert are_ordered([key[swapped] for key in keys]) == (rows[order[left]] == rows[order[right]])


def test_one_row_and_dates_have_an_order():
    assert are_ordered([np.array([1.0])])
    days = np.array(["2026-01-01", "2026-01-02", "2026-01-02"], dtype="datetime64[D]")
    assert are_ordered([days, np.array([5.0, 1.0, 2.0])])
    assert not are_ordered([days, np.array([5.0, 2.0, 1.0])])
    assert not are_ordered([days[::-1], np.array([5.0, 1.0, 2.0])])


def test_rows_that_are_in_order_and_cannot_change_are_not_copied():
    panel = draw_panel(50, digits=1)
    again = make_panel(panel.outcome, panel.forecasts)
    assert np.shares_memory(again.outcome, panel.outcome)
    assert all(np.shares_memory(again.forecasts[name], p) for name, p in panel.forecasts.items())
    assert not again.outcome.flags.writeable
    assert not again.forecasts["first"].flags.writeable


def test_a_panel_in_order_does_not_change_with_its_source_arrays():
    p = np.linspace(0.1, 0.9, 60)
    y = (np.arange(60) % 3 == 0).astype(float)
    expected = bootstrap(y.copy(), {"p": p.copy()}, resamples=30).interval("p", "brier")
    result = bootstrap(y, {"p": p}, resamples=30)
    p[:], y[:] = 0.5, 1.0
    assert result.interval("p", "brier") == expected


def test_results_do_not_change_with_the_source_table():
    table = pd.DataFrame({"y": [0.0, 1.0, 1.0] * 30, "p": np.linspace(0.1, 0.8, 90)})
    fit, boot = corp(table["y"], table["p"]), bootstrap(table["y"], {"p": table["p"]}, resamples=30)
    cep, interval = fit.cep, boot.interval("p", "brier")
    table.loc[0, "p"] = 0.99
    table.loc[:, "y"] = 1.0
    assert bits_equal(fit.cep, cep)
    assert boot.interval("p", "brier") == interval


def test_the_forecasts_of_a_panel_are_held_once_for_its_fits():
    panel = draw_panel(50)
    assert np.shares_memory(PanelFits(panel)["first"].y_prob, panel.forecasts["first"])


def test_rows_of_weight_zero_are_removed_also_in_order():
    panel = make_panel([0, 1, 1], {"p": [0.1, 0.2, 0.3]}, sample_weight=[1, 0, 2])
    assert panel.only.tolist() == [0.1, 0.3]
    assert panel.weight.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("p", [[0.0, -0.0, 0.5], [-0.0, 0.0, 0.5], [0.5, -0.0, 0.0]])
def test_minus_zero_is_zero(p):
    panel = make_panel([1, 0, 1] if p[0] < 0.5 else [1, 1, 0], {"p": p})
    assert bits_equal(panel.only, np.array([0.0, 0.0, 0.5]))
    assert panel.outcome.tolist() == [0.0, 1.0, 1.0]


def test_the_arrays_of_a_panel_in_order_stay_writeable():
    p, y = np.array([0.1, 0.2]), np.array([0.0, 1.0])
    make_panel(y, {"p": p})
    assert p.flags.writeable
    assert y.flags.writeable


@pytest.mark.parametrize("column", ["outcome", "second", "weight", "cluster", "time"])
def test_a_panel_is_the_same_from_rows_in_any_order(column):
    rng = np.random.default_rng(3)
    n = 120
    y, first, second = draw_sample(n, digits=1)
    columns = {
        "weight": rng.integers(0, 3, n).astype(float),
        "cluster": rng.integers(0, 4, n),
        "time": rng.integers(0, 5, n),
    }
    used = {column} & columns.keys()

    def make(order):
        options = {name: columns[name][order] for name in used}
        weight = options.pop("weight", None)
        forecasts = {"first": first[order]} | ({"second": second[order]} if column == "second" else {})
        return make_panel(y[order], forecasts, sample_weight=weight, **options)

    one, other = make(np.arange(n)), make(rng.permutation(n))
    again = make_panel(
        one.outcome, one.forecasts, sample_weight=one.weight, cluster=one.cluster, time=one.time
    )
    for panel in (other, again):
        assert bits_equal(one.outcome, panel.outcome)
        assert all(bits_equal(one.forecasts[name], panel.forecasts[name]) for name in one.forecasts)
        for name in used:
            assert bits_equal(getattr(one, name), getattr(panel, name))
    assert one.weight is None or (one.weight > 0).all()


# Units, ties, folds and sums by chunk


def test_rows_without_weights_weigh_one_and_take_no_memory():
    weight = SamplingUnits(rows=5).row_weight
    assert weight.tolist() == [1.0] * 5
    assert weight.dtype == np.float64
    assert weight.base.size == 1
    with pytest.raises(ValueError, match="read-only"):
        weight[0] = 2.0


def test_rows_without_weights_are_rows_that_weigh_one():
    values = np.random.default_rng(1).exponential(size=200)
    kept = values.copy()
    plain, weighted = SamplingUnits(rows=200), SamplingUnits(rows=200, weight=np.ones(200))
    for name in ("mean", "standard_error", "acceleration"):
        assert getattr(plain, name)(values) == getattr(weighted, name)(values)
        assert bits_equal(values, kept)
    assert (plain.total, plain.size, plain.case_weight) == (200.0, 200.0, 1.0)
    assert plain.standard_error(values) == pytest.approx(values.std(ddof=1) / np.sqrt(200), rel=1e-12)


TIES = {
    "first": [3, 1, 1],
    "last": [1, 1, 3],
    "neighbours": [1, 2, 3, 2, 1],
    "all": [2, 2, 4],
    "one forecast": [5],
    "apart": [1, 4, 1, 1, 2, 1, 7],
}


def test_sums_between_cuts_keep_their_dtype():
    values, cuts = np.array([1, 2, 3, 4, 5], dtype=np.int32), np.array([2, 3])
    found = sum_between(values, cuts)
    assert found.tolist() == [3, 3, 9]
    assert found.dtype == np.int32
    assert values.tolist() == [1, 2, 3, 4, 5]


def test_folds_of_ordered_forecasts_are_even_and_independent_of_outcomes():
    p, folds = np.sort(np.random.default_rng(1).random(203)), 5
    fold = _assign_in_order(p, folds, random_stream(1))
    assert all(sorted(turn) == list(range(folds)) for turn in fold[:200].reshape(-1, folds).tolist())
    assert len(set(fold[200:].tolist())) == 3
    tied = np.repeat([0.1, 0.2, 0.6], [1, 100, 102])  # in ties, rows are ordered by outcome
    assigned = np.array([_assign_in_order(tied, folds, random_stream(1, number)) for number in range(400)])
    assert (np.diff(np.sort(np.apply_along_axis(np.bincount, 1, assigned, minlength=folds))) <= 1).all()
    of_tie = np.apply_along_axis(np.bincount, 1, assigned[:, 1:101], minlength=folds)
    assert of_tie.min() >= 19
    assert of_tie.max() <= 21
    together = (assigned[:, 1] == assigned[:, 2]).mean()  # rarely, if neighbours only took turns
    assert together == pytest.approx(19 / 99, abs=0.1)


@pytest.mark.usefixtures("few_are_many")
def test_folds_of_many_rows_use_the_same_panel():
    y, p, _ = draw_sample(MANY + 1, digits=2)
    panel = make_panel(y, {"p": p})
    assert assign_folds(panel, 5, random_stream(1)).panel is panel


@pytest.mark.parametrize("rows", [1, 13, 1000])
def test_lines_do_not_depend_on_the_size_of_chunks(rows, monkeypatch):
    y, p, _ = draw_sample(300)
    x, weight = logit(p), np.random.default_rng(1).uniform(0.5, 2, 300)
    columns = np.stack([np.ones(300), x])
    expected = [*fit_line(x, y, weight), fit_offset(x, y, weight), *information(columns, x, weight).ravel()]
    set_chunk_rows(monkeypatch, rows)
    found = [*fit_line(x, y, weight), fit_offset(x, y, weight), *information(columns, x, weight).ravel()]
    np.testing.assert_allclose(found, expected, rtol=1e-11)


# Bins


@pytest.mark.parametrize(("total", "n_bins"), [(10, 3), (9, 3), (2, 5), (100_003, 10), (1, 1)])
def test_whole_totals_are_split_into_whole_sizes(total, n_bins):
    expected = [len(part) for part in np.array_split(np.empty(total), n_bins)]
    assert split_evenly(total, n_bins).tolist() == expected
    assert split_evenly(float(total), n_bins).tolist() == expected


def test_fractional_totals_are_split_exactly_evenly():
    assert split_evenly(2.5, 5).tolist() == [0.5] * 5


# Memory


def test_memory_is_released_without_pyarrow(monkeypatch):
    monkeypatch.delitem(sys.modules, "pyarrow", raising=False)
    release_memory()
    assert "pyarrow" not in sys.modules


def test_memory_of_pyarrow_and_the_c_library_is_released(monkeypatch):
    calls = []
    pool = SimpleNamespace(release_unused=lambda: calls.append("pyarrow"))
    monkeypatch.setitem(sys.modules, "pyarrow", SimpleNamespace(default_memory_pool=lambda: pool))
    library = SimpleNamespace(malloc_trim=calls.append)
    monkeypatch.setattr(ctypes, "CDLL", {None: library}.get)
    monkeypatch.setattr(sys, "platform", "linux")
    release_memory()
    assert calls == ["pyarrow", 0]


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_a_c_library_that_cannot_release_memory_is_ignored(platform, monkeypatch):
    loaded = []
    monkeypatch.delitem(sys.modules, "pyarrow", raising=False)
    monkeypatch.setattr(ctypes, "CDLL", lambda name: loaded.append(name) or SimpleNamespace())
    monkeypatch.setattr(sys, "platform", platform)
    release_memory()
    assert loaded == ([None] if platform == "linux" else [])


# A whole evaluation

#: Fields that use other random numbers if rows are many.
DRAWN = re.compile(
    r"interval\.(standard_error|lower|upper)$|recalibration|"
    r"scale.*\.(standard_error|lower|upper|angle_lower|angle_upper|calibrated_\w+)$|"
    r"murphy.*\.(\w*lower|\w*upper|sentence)$"
)


def list_leaves(value, path=""):
    """All numbers, arrays and texts of a result, with their paths."""
    if is_dataclass(value):
        for field in fields(value):
            yield from list_leaves(getattr(value, field.name), f"{path}.{field.name}")
    elif isinstance(value, dict | tuple | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in items:
            yield from list_leaves(item, f"{path}[{key}]")
    else:
        yield path, value


def draw_evaluated():
    y, first, second = draw_sample(1500, seed=4)
    return y, {"fine": first, "coarse": np.clip(second.round(2), 0.01, 0.99)}


@pytest.fixture(scope="module")
def evaluations():
    """The same predictions, evaluated as few rows and as many."""
    y, forecasts = draw_evaluated()
    predictions = sr.Predictions(outcome=y, forecasts=forecasts)
    few = sr.evaluate(predictions, resamples=40, scale=True)
    with pytest.MonkeyPatch.context() as patch:
        lower_thresholds(patch)
        return few, sr.evaluate(predictions, resamples=40, scale=True)


def test_an_evaluation_of_many_rows_has_the_numbers_of_one_of_few(evaluations):
    few, many = (dict(list_leaves(evaluation)) for evaluation in evaluations)
    assert few.keys() == many.keys()
    fixed = [path for path in few if not DRAWN.search(path)]
    assert len(fixed) > 1000
    for path in fixed:
        one, other = few[path], many[path]
        if isinstance(one, float | np.ndarray) and not isinstance(one, bool):
            np.testing.assert_allclose(other, one, rtol=1e-11, atol=1e-11, err_msg=path)
        else:
            assert other == one, path


def test_components_of_many_rows_are_those_of_their_fits(evaluations):
    y, forecasts = draw_evaluated()
    many, by_model = evaluations[1], []
    for model in many.models:
        found = {f"{c.measure} {c.component}": c.value for c in model.scores.components}
        fit = corp(y, forecasts[model.model])
        expected = {name: getattr(fit.decompose(name.split()[0]), name.split()[1]) for name in found}
        assert found == pytest.approx(expected, rel=1e-10, abs=1e-12)
        by_model.append(found)
    fine, coarse = by_model
    assert len(fine) >= 8
    differences = {d.measure: d.value for d in many.comparisons.differences if d.measure in fine}
    expected = {name: fine[name] - coarse[name] for name in fine}
    assert differences == pytest.approx(expected, rel=1e-9, abs=1e-12)


def list_intervals(evaluation):
    """All estimates whose error and bounds come from the bootstrap of rows."""
    for model in evaluation.models:
        for score in model.scores.scores:
            yield from (score.interval, score.skill_interval)
        for scale in model.scale:
            for mark in (scale.decisiveness, scale.accuracy, scale.robustness):
                yield from (mark.model, mark.source, mark.divergence)


def test_an_evaluation_of_many_rows_has_intervals_that_agree_with_those_of_few(evaluations):
    pairs = list(zip(*map(list_intervals, evaluations), strict=True))
    drawn = [pair for pair in pairs if pair[0].standard_error != pair[1].standard_error]
    assert len(drawn) > 100
    for one, other in drawn:
        assert_same_interval(one, other, factor=2)
    ratio = np.log([other.standard_error / one.standard_error for one, other in drawn])
    assert abs(np.nanmean(ratio)) < 0.15
    few, many = (evaluation.comparisons.murphy[0] for evaluation in evaluations)
    inner = (few.theta > 0.05) & (few.theta < 0.95)
    widths = [(curve.upper - curve.difference)[inner].mean() for curve in (few, many)]
    assert widths[1] == pytest.approx(widths[0], rel=0.25)


def test_recalibration_of_many_rows_gains_as_much_as_that_of_few(evaluations):
    few, many = ([trial for model in e.models for trial in model.recalibration] for e in evaluations)
    assert len(few) == len(many) > 4
    for one, other in zip(few, many, strict=True):
        assert other.method == one.method
        assert other.miscalibration_before == pytest.approx(one.miscalibration_before, rel=1e-12)
        assert other.brier.value == pytest.approx(one.brier.value, abs=2 * one.brier.standard_error)
        assert other.brier.standard_error == pytest.approx(one.brier.standard_error, rel=0.3)


@pytest.mark.parametrize("digits", [2, 17])
def test_rows_are_placed_in_blocks_by_search_and_by_order(digits):
    rng = np.random.default_rng(4)
    p = np.round(rng.random(500), digits)
    y = (rng.random(500) < p).astype(float)
    blocks = corp(y, p).blocks
    found = place_in_blocks(y, p, blocks)
    assert np.array_equal(found, place_in_blocks(y, p, blocks, np.argsort(p).astype(np.int32)))
    assert np.array_equal(blocks.mean[found // 2], corp(y, p).recalibrate(p))
    assert np.array_equal(found % 2, y)
