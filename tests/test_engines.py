"""Digests add up exactly, and an evaluation from digests equals the one in memory."""

from __future__ import annotations

from dataclasses import fields, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from engine_tools import ArrayEngine
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import scorereport as sr
from scorereport.evaluation.engines import digest as digests
from scorereport.evaluation.engines import engine_evaluation
from scorereport.evaluation.engines.chunk_digest import digest_chunk
from scorereport.evaluation.engines.chunks import compress_chunk, cut_at_ties, join_chunks
from scorereport.evaluation.engines.digest import SUMS
from scorereport.evaluation.engines.digest_plan import cell_starts, plan_model_digest
from scorereport.evaluation.engines.jackknife import spread_of_auc, sum_by_bucket
from scorereport.evaluation.engines.protocol import BUCKETS, Chunk, CountsBelow, DigestPlan
from scorereport.evaluation.evaluated_parts import assemble_evaluation
from scorereport.inference.losses import resolve_measure
from scorereport.reliability.blocks import Blocks
from scorereport.results.evaluation import Evaluation

SCORES = ("brier", "log_loss", "misclassification", "spherical")


def make_chunk(x, y, bucket=None, weight=None):
    order = np.argsort(x, kind="stable")
    bucket = np.zeros(len(x), np.uint16) if bucket is None else bucket
    return Chunk(
        x=np.asarray(x, float)[order],
        y=np.asarray(y, bool)[order],
        bucket=bucket[order].astype(np.uint16),
        weight=None if weight is None else np.asarray(weight)[order],
    )


def make_plan(chunk, **more):
    weight = np.ones(len(chunk), int) if chunk.weight is None else chunk.weight
    given = {"total": weight.sum().item(), "events": (weight * chunk.y).sum().item()}
    return DigestPlan(**given, measures=tuple((name, ()) for name in SCORES), **more)


def fold(pieces, plan):
    """Digest pieces one after the other, and add them up."""
    total, before = None, CountsBelow()
    for piece in pieces:
        found = digest_chunk(piece, plan, before)
        total = found if total is None else total + found
        n, events = found.blocks.n.sum().item(), found.blocks.events.sum().item()
        before = CountsBelow(n=before.n + n, events=before.events + events)
    return total


def cut(chunk, size):
    return (chunk.select(slice(at, at + size)) for at in range(0, len(chunk), size))


# ---- Chunks ----

small_rows = st.integers(1, 60).flatmap(
    lambda n: st.tuples(
        arrays(float, n, elements=st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 1e-300])),
        arrays(bool, n),
        arrays(np.uint16, n, elements=st.integers(0, 5)),
    )
)


@given(small_rows, st.integers(1, 7), st.integers(1, 20))
def test_a_stream_is_cut_at_ties_without_losing_a_row(given, size, rows):
    chunk = make_chunk(*given)
    pieces = list(cut_at_ties(cut(chunk, size), rows))
    for below, above in pairwise(pieces):
        assert below.x[-1] < above.x[0]
    whole, again = compress_chunk(join_chunks(pieces)), compress_chunk(chunk)
    for field in fields(Chunk):
        np.testing.assert_array_equal(getattr(whole, field.name), getattr(again, field.name))


def test_a_tie_of_any_length_takes_no_more_than_two_rows_a_bucket():
    rng = np.random.default_rng(1)
    chunk = make_chunk(np.full(50_000, 0.3), rng.random(50_000) < 0.3, rng.integers(0, BUCKETS, 50_000))
    lengths = []

    def watched():
        for piece in cut(chunk, 1000):
            lengths.append(len(piece))
            yield piece

    (only,) = cut_at_ties(watched(), 2000)
    assert len(only) <= 2 * BUCKETS + 2000
    assert only.weight.sum() == 50_000
    assert sum(lengths) == 50_000


def test_fractional_weights_are_summed_too():
    found = compress_chunk(make_chunk([0.1, 0.1, 0.1], [1, 1, 0], np.array([3, 3, 3]), [0.5, 0.25, 2.0]))
    assert found.weight.tolist() == [2.0, 0.75]
    assert found.y.tolist() == [False, True]


# ---- Digests add up ----


@given(small_rows, st.integers(1, 9))
def test_however_rows_are_cut_the_digest_is_that_of_all_rows(given, size):
    chunk = make_chunk(*given)
    plan = make_plan(
        chunk,
        edges=np.array([0.0, 0.2, 0.25, 0.9]),
        ranks=np.arange(0, len(chunk), 3.0),
        heights=np.linspace(0, 2, 5),
        jumps=2,
    )
    whole = digest_chunk(chunk, plan, CountsBelow())
    parts = fold(cut_at_ties(cut(chunk, size), size), plan)
    assert parts.blocks.equals(whole.blocks)
    assert parts.distinct.equals(whole.distinct)
    np.testing.assert_array_equal(parts.block_counts, whole.block_counts)
    assert (parts.pairs, parts.n_distinct, parts.smallest_gap) == (
        whole.pairs,
        whole.n_distinct,
        whole.smallest_gap,
    )
    np.testing.assert_allclose(parts.bucket_sums, whole.bucket_sums, rtol=1e-13, atol=1e-13)
    assert set(whole.steps.x) <= set(parts.steps.x)
    for field in ("x", "n_below", "events_below", "n_at", "events_at"):
        np.testing.assert_array_equal(getattr(parts.jumps, field), getattr(whole.jumps, field))


@given(small_rows)
def test_pairs_are_counted_exactly(given):
    chunk = make_chunk(*given)
    digest = digest_chunk(chunk, make_plan(chunk), CountsBelow())
    events, others = chunk.x[chunk.y], chunk.x[~chunk.y]
    by_hand = sum(2 * (e > o) + (e == o) for e in events for o in others)
    assert digest.pairs == by_hand


def test_pairs_beyond_64_bits_are_counted_exactly():
    n = 3_000_000_000
    chunk = Chunk(
        x=np.array([0.2, 0.7]),
        y=np.array([False, True]),
        bucket=np.zeros(2, np.uint16),
        weight=np.array([n, n]),
    )
    digest = digest_chunk(chunk, make_plan(chunk, buckets=1), CountsBelow())
    assert digest.pairs == 2 * n * n > 2**63


@pytest.mark.parametrize("weight", [10**6, 2**45])
def test_pairs_of_many_heavy_rows_are_counted_exactly(weight):
    rng = np.random.default_rng(9)
    x = rng.random(3000).round(2)
    y, counts = rng.random(3000) < x, rng.integers(weight // 2, weight, 3000)
    chunk = make_chunk(x, y, weight=counts)
    whole = digest_chunk(chunk, make_plan(chunk, buckets=1), CountsBelow())
    parts = fold(cut_at_ties(cut(chunk, 400), 400), make_plan(chunk, buckets=1))
    by_value = {}
    for forecast, event, times in zip(x.tolist(), y.tolist(), counts.tolist(), strict=True):
        by_value.setdefault(forecast, [0, 0])[event] += times
    below = pairs = 0
    for forecast in sorted(by_value):
        others, events = by_value[forecast]
        pairs += events * (2 * below + others)
        below += others
    assert whole.pairs == parts.pairs == pairs


@pytest.mark.parametrize("digits", [2, 17])
@pytest.mark.parametrize("buckets", [1, BUCKETS])
def test_sums_and_blocks_are_those_of_a_fit_in_memory(digits, buckets):
    rng = np.random.default_rng(2)
    x = rng.random(5000).round(digits)
    y, bucket = rng.random(5000) < x, rng.integers(0, BUCKETS, 5000)
    chunk = make_chunk(x, y, bucket)
    digest = fold(cut_at_ties(cut(chunk, 700), 700), make_plan(chunk, buckets=buckets))
    fit = sr.corp(y, x)
    assert digest.blocks.equals(fit.blocks)
    means = digest.sums[len(SUMS) :] / 5000
    np.testing.assert_allclose(means, [fit.decompose(name).score for name in SCORES], rtol=1e-12)
    murphy = fit.murphy()
    np.testing.assert_allclose(digest.murphy / 5000, [murphy.reliability, murphy.resolution], rtol=1e-12)
    auc = sr.scores.roc_auc(y, x)
    wins = dict(zip(SUMS, digest.sums, strict=False))
    assert digest.pairs / (2 * y.sum() * (~y).sum()) == pytest.approx(auc, abs=1e-15)
    assert wins["events_win"] / y.sum() == pytest.approx(auc, rel=1e-12)
    assert wins["non_events_win"] / (~y).sum() == pytest.approx(auc, rel=1e-12)


def test_blocks_that_differ_only_in_exact_arithmetic_survive_any_cut():
    n = 94_906_267  # two means that differ by less than a rounding error
    chunk = Chunk(
        x=np.array([0.1, 0.1, 0.2, 0.2]),
        y=np.array([False, True, False, True]),
        bucket=np.zeros(4, np.uint16),
        weight=np.array([n, n - 1, n + 1, n]),
    )
    means = Fraction(n - 1, 2 * n - 1), Fraction(n, 2 * n + 1)
    digest = fold([chunk.select(slice(2)), chunk.select(slice(2, 4))], make_plan(chunk))
    assert len(digest.blocks) == (2 if means[0] < means[1] else 1)


# ---- Where counts are exact ----


@pytest.mark.parametrize(("total", "cells"), [(10, 3), (1000, 7), (10**10 + 1, 12_927)])
def test_cells_start_at_whole_cases(total, cells):
    exact = [-(-k * total // cells) for k in range(1, cells)]
    assert cell_starts(total, cells).tolist() == exact


# ---- An evaluation from digests ----


def make_frame(n=4000, seed=3):
    rng = np.random.default_rng(seed)
    x = rng.beta(0.7, 3, n)
    return pd.DataFrame(
        {
            "y": (rng.random(n) < x).astype(float),
            "fine": np.clip(x, 1e-4, 1 - 1e-4),
            "coarse": np.clip(x**1.3 + rng.normal(0, 0.03, n), 0.01, 0.99).round(2),
            "group": rng.choice(["a", "b", "c"], n),
            "time": pd.Timestamp("2025-01-15") + pd.to_timedelta(rng.integers(0, 200, n), "D"),
            "count": rng.integers(0, 4, n).astype(float),
            "weight": rng.random(n),
            "cluster": rng.integers(0, 300, n),
        }
    )


def evaluate_both(monkeypatch, most_distinct, **columns):
    """The evaluation in memory, and that of the same rows from digests of small pieces."""
    frame = make_frame(2000)
    named = {"outcome": "y", "forecasts": ["fine", "coarse"], **columns}
    predictions = sr.read_predictions(frame, **named)
    memory = sr.evaluate(predictions, cost_interval=(0.1, 0.4), resamples=20)
    if "time" in columns:  # engines take rows as independent, in time as well
        named.pop("time")
        alone = sr.evaluate(sr.read_predictions(frame, **named), cost_interval=(0.1, 0.4), resamples=20)
        memory = replace(memory, models=alone.models, comparisons=alone.comparisons)

    def few(*args):
        return replace(plan_model_digest(*args), most_distinct=most_distinct)

    monkeypatch.setattr(engine_evaluation, "plan_model_digest", few)
    settings = replace(memory.settings, engine="duckdb")
    parts = engine_evaluation.evaluate_with_engine(ArrayEngine(predictions, rows=500), settings)
    return memory, assemble_evaluation(parts, settings, software={})


def assert_same_curves(first, second):
    for field in fields(first):
        one, other = getattr(first, field.name), getattr(second, field.name)
        if isinstance(one, np.ndarray):
            np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-15, err_msg=field.name)
        elif hasattr(one, "__dataclass_fields__"):
            assert_same_curves(one, other)
        elif isinstance(one, float):
            assert other == pytest.approx(one, rel=1e-12, nan_ok=True)
        else:
            assert one == other


KINDS = {
    "all forecasts kept": (65_536, {}),
    "marks only": (100, {}),
    "counts, marks only": (100, {"weight": "count", "weight_kind": "frequency"}),
    "whole weights": (100, {"weight": "count"}),
    "weights": (100, {"weight": "weight"}),
    "clusters": (100, {"cluster": "cluster"}),
}


#: The kind that `make test` runs.
QUICK_KIND = "weights"


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(kind, id=name, marks=() if name == QUICK_KIND else pytest.mark.sweep)
        for name, kind in KINDS.items()
    ],
)
def both(request):
    most_distinct, columns = request.param
    with pytest.MonkeyPatch.context() as patch:
        yield evaluate_both(patch, most_distinct, groups="group", time="time", **columns)


def test_scores_and_decompositions_are_the_same(both):
    memory, digested = both
    pd.testing.assert_frame_equal(digested.scores, memory.scores, rtol=1e-12, atol=1e-15)
    pd.testing.assert_frame_equal(digested.decompositions, memory.decompositions, rtol=1e-12, atol=1e-15)
    pd.testing.assert_frame_equal(digested.murphy, memory.murphy, rtol=1e-12, atol=1e-15)


def test_curves_histograms_and_thresholds_are_the_same(both):
    memory, digested = both
    for one, other in zip(memory.models, digested.models, strict=True):
        if memory.settings.engine == "memory" and not _has_fractions(memory):
            assert_same_curves(one.forecasts, other.forecasts)
        are_counted = _are_counted(memory)
        kept, again = (
            (c, replace(c, decision=replace(c.decision, band=None))) for c in (one.curves, other.curves)
        )
        assert_same_curves(kept[not are_counted], again[not are_counted])
        for row, found in zip(one.thresholds, other.thresholds, strict=True):
            rows = row, found
            if not are_counted:  # limits are from counts of cases there, and over what was drawn here
                rows = (replace(of, intervals=()) for of in rows)
            assert_same_curves(*rows)


def _has_fractions(evaluation):
    return evaluation.data.weighted and evaluation.data.sample.total != int(evaluation.data.sample.total)


def _are_counted(evaluation):
    """Whether every case was drawn by itself."""
    return evaluation.data.clusters is None and evaluation.data.weight_kind in ("", "frequency")


def test_calibration_lines_and_tests_are_the_same(both):
    memory, digested = both
    is_exact = _are_counted(memory)
    for one, other in zip(memory.models, digested.models, strict=True):
        line, again = one.calibration.line, other.calibration.line
        for name in ("slope", "intercept", "intercept_at_slope_one"):
            first, second = getattr(line, name), getattr(again, name)
            assert second.value == pytest.approx(first.value, rel=1e-9, abs=1e-12)
            tolerance = 1e-9 if is_exact else 0.3
            assert second.standard_error == pytest.approx(first.standard_error, rel=tolerance)
        tests = {test.name: test for test in one.calibration.tests}
        for test in other.calibration.tests:
            tolerance = 1e-7 if is_exact else 0.5
            assert test.statistic == pytest.approx(tests[test.name].statistic, rel=tolerance, abs=1e-9)
        assert other.calibration.binned.value == pytest.approx(one.calibration.binned.value, rel=1e-9)


def test_intervals_are_about_as_wide(both):
    memory, digested = both
    keys = ["model", "measure", "number"]
    joined = memory.intervals.merge(digested.intervals, on=keys, suffixes=("", "_digested"))
    drawn = memory.intervals["measure"].isin(["ici", "e50", "e90", "emax", "ece"])  # by draws in memory only
    assert len(joined) == len(memory.intervals) - drawn.sum()
    ratio = joined["standard_error_digested"] / joined["standard_error"]
    known = ratio[(joined["standard_error"] > 1e-9) & np.isfinite(ratio)]
    assert len(known) > 20
    assert known.between(0.5, 2.5).all()  # of 40 resamples
    are_repeated = memory.data.weight_kind == "frequency"
    assert known.median() == pytest.approx(1.4 if are_repeated else 1, abs=0.2)  # rows stay whole


def test_differences_are_the_same_and_their_errors_alike(both):
    memory, digested = both
    keys = ["first", "second", "measure"]
    joined = memory.differences.merge(digested.differences, on=keys, suffixes=("", "_digested"))
    assert len(joined) == len(memory.differences) == len(digested.differences)
    np.testing.assert_allclose(joined["value_digested"], joined["value"], rtol=1e-9, atol=1e-14)
    ratio = joined["standard_error_digested"] / joined["standard_error"]
    assert ratio.between(0.5, 2).all()
    assert {rank.model for rank in digested.comparisons.ranks} == {"fine", "coarse"}


def test_groups_and_periods_are_the_same(both):
    memory, digested = both
    for ours, theirs in ((digested.groups, memory.groups), (digested.windows, memory.windows)):
        assert [(g.column, g.label, g.sample.rows) for g in ours] == [
            (g.column, g.label, g.sample.rows) for g in theirs
        ]
        for one, other in zip(ours, theirs, strict=True):
            assert one.sample.events == pytest.approx(other.sample.events, rel=1e-12)
            for model, again in zip(one.models, other.models, strict=True):
                for part, same in zip(model.decompositions, again.decompositions, strict=True):
                    assert part.miscalibration == pytest.approx(same.miscalibration, rel=1e-11, abs=1e-14)
                assert model.score("roc_auc").value == pytest.approx(again.score("roc_auc").value, rel=1e-12)
    tests = {(h.column, h.model, h.test.name) for h in digested.heterogeneity}
    assert ("group", "fine", "Cochran's Q (brier)") in tests


def test_the_document_is_read_back_and_names_its_engine(both, tmp_path):
    _, digested = both
    digested.to_json(tmp_path / "results.json")
    again = Evaluation.from_json(tmp_path / "results.json")
    assert again == digested
    assert again.sha256 == digested.sha256  # 192 and 192.0 are equal, but not as text
    assert again.settings.engine == "duckdb"
    assert "DuckDB sorted the rows on disk" in " ".join(again.notes)


# ---- Intervals by bucket ----


def test_the_error_of_a_mean_is_that_of_the_buckets():
    rng = np.random.default_rng(4)
    n = 40_000
    x = rng.random(n)
    y, bucket = rng.random(n) < x, rng.integers(0, BUCKETS, n)
    chunk = make_chunk(x, y, bucket)
    brier = resolve_measure("brier", {})
    buckets = sum_by_bucket(digest_chunk(chunk, make_plan(chunk), CountsBelow()), [brier] * len(SCORES))
    loss = (x - y) ** 2
    by_rows = loss.std() / n**0.5
    assert buckets.error(lambda without: without.mean("score", 0)) == pytest.approx(by_rows, rel=0.15)
    auc = sr.inference.auc_interval(y, x)
    for case_weight in (None, 1.0):
        spread = spread_of_auc(buckets.auc_influence, buckets.classes, case_weight)
        assert spread.error == pytest.approx(auc.standard_error, rel=0.15)
        assert 2 < spread.distribution.degrees_of_freedom < 2 * BUCKETS
    assert buckets.auc == pytest.approx(auc.value, rel=1e-12)


def test_many_blocks_are_counted_in_fewer_buckets(monkeypatch):
    rng = np.random.default_rng(7)
    x = np.linspace(0.01, 0.99, 300).repeat(40)
    chunk = make_chunk(x, rng.random(len(x)) < x, rng.integers(0, BUCKETS, len(x)))
    full = fold(cut_at_ties(cut(chunk, 1000), 1000), make_plan(chunk))
    monkeypatch.setattr(digests, "_MOST_COUNTS", 2000)
    few = fold(cut_at_ties(cut(chunk, 1000), 1000), make_plan(chunk))
    assert few.blocks.equals(full.blocks)
    assert few.block_counts.shape[1] < full.block_counts.shape[1] == BUCKETS
    np.testing.assert_array_equal(few.block_counts.sum(axis=1), full.block_counts.sum(axis=1))
    measures = [resolve_measure(name, {}) for name in SCORES]
    one, other = sum_by_bucket(few, measures), sum_by_bucket(full, measures)
    assert len(one.n) == few.block_counts.shape[1]
    np.testing.assert_allclose(one.recalibrated.sum(axis=0), other.recalibrated.sum(axis=0))


def test_jackknife_intervals_cover():
    """In about 30 of 300 samples, the 90 % interval of the Brier score misses its mean, E x(1 - x) = 1/6."""
    rng = np.random.default_rng(5)
    brier, missed, samples, n = resolve_measure("brier", {}), 0, 300, 2000
    for _ in range(samples):
        x = rng.random(n)
        chunk = make_chunk(x, rng.random(n) < x, rng.integers(0, BUCKETS, n))
        plan = replace(make_plan(chunk), measures=(("brier", ()),))
        buckets = sum_by_bucket(digest_chunk(chunk, plan, CountsBelow()), [brier])
        value = buckets.score.sum() / n
        reach = buckets.error_distribution.critical_value(0.9) * buckets.error(
            lambda without: without.mean("score", 0)
        )
        missed += not value - reach <= 1 / 6 <= value + reach
    assert 14 <= missed <= 48  # within 3 standard deviations


def test_blocks_hold_what_their_buckets_hold():
    rng = np.random.default_rng(6)
    x = rng.random(3000).round(2)
    chunk = make_chunk(x, rng.random(3000) < x, rng.integers(0, BUCKETS, 3000))
    digest = fold(cut_at_ties(cut(chunk, 200), 200), make_plan(chunk))
    counts = digest.block_counts.sum(axis=1)
    whole = Blocks(x_min=digest.blocks.x_min, x_max=digest.blocks.x_max, n=counts[:, 0], events=counts[:, 1])
    assert whole.equals(digest.blocks)
