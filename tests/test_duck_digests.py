"""Sorted on disk and added up: the same digests as in memory, to the bit, however the work is cut."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from scorereport._utils.arrays import bits_equal
from scorereport._utils.progress import progress_callback
from scorereport.errors import DataError, UsageError
from scorereport.evaluation.engines.chunk_digest import digest_chunk
from scorereport.evaluation.engines.digest import Knots
from scorereport.evaluation.engines.duck import disk_sort, row_scans, sorted_digests
from scorereport.evaluation.engines.duck.disk_sort import LabelBins, count_bins, plan_ranges
from scorereport.evaluation.engines.duck.duck_engine import open_duckdb
from scorereport.evaluation.engines.protocol import BUCKETS, Chunk, CountsBelow, DigestPlan
from scorereport.reliability.blocks import Blocks

NAMED = {"outcome": "y", "forecasts": ["x"]}
MEASURES = (("brier", ()), ("log_loss", ()))


def make_plan(counted, **others):
    return DigestPlan(total=counted.total, events=counted.events, measures=MEASURES, jumps=20, **others)


def make_frame(n, seed=1, decimals=None):
    rng = np.random.default_rng(seed)
    x = rng.beta(0.5, 2, n)
    x = x if decimals is None else x.round(decimals)
    return pd.DataFrame(
        {
            "y": (rng.random(n) < x).astype(np.int8),
            "x": x,
            "whole": rng.integers(0, 4, n).astype(float),
            "part": rng.random(n),
            "g": rng.choice(["a", "b", "c", "d"], n, p=[0.6, 0.3, 0.099, 0.001]),
            "c": rng.integers(0, n // 10, n),
        }
    )


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Rows in many row groups, which several threads read."""
    path = tmp_path_factory.mktemp("large") / "p.parquet"
    make_frame(90_000).to_parquet(path, row_group_size=7000)
    return path


@pytest.fixture
def cut_small(monkeypatch):
    """Make chunks, batches and ranges so small that there are many."""
    for module in (sorted_digests, disk_sort):
        monkeypatch.setattr(module, "ROWS_PER_CHUNK", 8192)
    monkeypatch.setattr(row_scans, "BATCH_ROWS", 8192)
    for name in ("_LIMIT_OVER_ROWS", "_LIMIT_OVER_WEIGHTED_ROWS"):
        monkeypatch.setattr(sorted_digests, name, 100_000_000 // 20_000)


def assert_same_bits(left, right):
    """All fields of two digests are the same to the last bit."""
    for field in fields(left):
        a, b = getattr(left, field.name), getattr(right, field.name)
        if isinstance(a, (Blocks, Knots)):
            assert_same_bits(a, b)
        elif isinstance(a, np.ndarray):
            assert bits_equal(a, b), field.name
        else:
            assert a == b, field.name


def assert_equals_memory(digest, frame, plan, weight=None):
    """Counts and blocks to the bit, sums to 1e-12, of rows that are sorted in memory."""
    frame = frame if weight is None else frame[frame[weight] > 0]
    frame = frame.sort_values(["x", "y"])
    chunk = Chunk(
        x=frame["x"].to_numpy() + 0.0,
        y=frame["y"].to_numpy().astype(bool),
        bucket=(np.arange(len(frame)) % BUCKETS).astype(np.uint16),
        weight=None if weight is None else _weights(frame[weight].to_numpy()),
    )
    expected = digest_chunk(chunk, plan, CountsBelow())
    if weight == "part":
        np.testing.assert_allclose(digest.blocks.n, expected.blocks.n, rtol=1e-12)
    else:
        assert digest.blocks.equals(expected.blocks)
        assert digest.pairs == expected.pairs
    assert digest.n_distinct == expected.n_distinct
    np.testing.assert_allclose(digest.sums, expected.sums, rtol=1e-12)


def _weights(values):
    return values.astype(np.int64) if np.array_equal(values, np.floor(values)) else values


# ---- the digest of a model ----


@pytest.mark.usefixtures("cut_small")
def test_a_model_of_many_chunks_and_ranges_equals_memory(large, monkeypatch):
    with open_duckdb(large, **NAMED, memory_limit="100MB") as engine:
        plan = make_plan(engine.survey)
        digest = engine.digest("x", plan)
        assert not (engine.folder / "keys").exists()
        monkeypatch.setattr(sorted_digests, "_LIMIT_OVER_ROWS", 1000)
        assert_same_bits(digest, engine.digest("x", plan))  # where ranges end does not matter
        monkeypatch.setattr(sorted_digests, "plan_ranges", lambda *_: None)
        assert_same_bits(digest, engine.digest("x", plan))
    assert_equals_memory(digest, pd.read_parquet(large), plan)


@pytest.mark.usefixtures("cut_small")
@pytest.mark.parametrize("weight", ["whole", "part"])
def test_weighted_rows_equal_memory(tmp_path, monkeypatch, weight):
    frame = make_frame(50_000, decimals=3)
    frame.to_parquet(tmp_path / "p.parquet")
    with open_duckdb(tmp_path / "p.parquet", **NAMED, weight=weight, memory_limit="100MB") as engine:
        plan = make_plan(engine.survey)
        digest = engine.digest("x", plan)
        monkeypatch.setattr(sorted_digests, "plan_ranges", lambda *_: None)
        assert_same_bits(digest, engine.digest("x", plan))
    assert digest.blocks.n.dtype == (np.int64 if weight == "whole" else np.float64)
    assert_equals_memory(digest, frame, plan, weight)


@pytest.mark.sweep(after=1)
@pytest.mark.usefixtures("cut_small")
@pytest.mark.parametrize("weight", [None, "part"])
def test_the_number_of_threads_does_not_matter(large, monkeypatch, weight):
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("SCOREREPORT_THREADS", threads)
        with open_duckdb(large, **NAMED, weight=weight, memory_limit="200MB") as engine:
            found.append((engine.survey, engine.digest("x", make_plan(engine.survey))))
    (survey, digest), (other_survey, other_digest) = found
    assert survey == other_survey
    assert_same_bits(digest, other_digest)


def test_odd_forecasts_are_sorted_correctly(tmp_path):
    x = [0.0, -0.0, 5e-324, 1e-300, 1e-12, 0.1, np.nextafter(0.1, 1), 0.5, 1.0, 1.0]
    frame = pd.DataFrame({"y": [0, 1] * 50, "x": x * 10})
    frame.to_parquet(tmp_path / "p.parquet")
    with open_duckdb(tmp_path / "p.parquet", **NAMED) as engine:
        digest = engine.digest("x", make_plan(engine.survey))
    assert digest.distinct.x_min.tolist() == sorted({value + 0.0 for value in x})
    assert digest.distinct.n.tolist() == [20, 10, 10, 10, 10, 10, 10, 20]
    assert not np.signbit(digest.distinct.x_min).any()


@pytest.mark.sweep
@pytest.mark.usefixtures("cut_small")
@pytest.mark.parametrize("weight", [None, "whole"])
def test_half_of_all_rows_may_share_one_forecast(tmp_path, weight):
    frame = make_frame(90_000)
    frame.loc[::2, "x"] = 0.25
    frame.to_parquet(tmp_path / "p.parquet")
    with open_duckdb(tmp_path / "p.parquet", **NAMED, weight=weight, memory_limit="100MB") as engine:
        plan = make_plan(engine.survey)
        assert plan_bins(frame["x"].to_numpy(), 20_000) is None
        assert_equals_memory(engine.digest("x", plan), frame, plan, weight)


def test_a_source_that_changes_is_refused(tmp_path):
    frame = make_frame(3000)
    frame.to_parquet(tmp_path / "p.parquet")
    with open_duckdb(tmp_path / "p.parquet", **NAMED) as engine:
        frame.assign(x=frame["x"] / 2).to_parquet(tmp_path / "p.parquet")
        with pytest.raises(DataError, match=r"^The source has changed since it was surveyed; read it again"):
            engine.digest("x", make_plan(engine.survey))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is always full is Linux's")
def test_a_full_disk_is_reported():
    sentence = r"^`temporary_folder` cannot hold what does not fit into memory: No space left on device\.$"
    with Path("/dev/full").open("wb", buffering=0) as full, pytest.raises(UsageError, match=sentence):
        disk_sort._write(full, np.arange(5), 0)


def test_dropped_rows_are_not_sorted(tmp_path):
    frame = make_frame(5000)
    frame.loc[::7, "x"] = np.nan
    frame.loc[::11, "g"] = None
    frame.to_parquet(tmp_path / "p.parquet")
    with open_duckdb(tmp_path / "p.parquet", **NAMED, groups="g", missing="drop") as engine:
        plan = make_plan(engine.survey)
        assert engine.survey.rows == len(frame.dropna())
        assert_equals_memory(engine.digest("x", plan), frame.dropna(), plan)


def plan_bins(x, most):
    counts = count_bins(x)
    cells = LabelBins.of(counts)
    return plan_ranges(cells, counts[cells.bins], most)


def test_keys_restore_forecasts_and_packed_values():
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.random(50_000), 10.0 ** -rng.uniform(0, 300, 5000), [0, 1, 5e-324]])
    packed = rng.integers(0, 2 * BUCKETS, len(x)).astype(np.uint16)
    found = plan_bins(x, 9000)
    assert found.rows.max() <= 9000
    keys, of_row = found.make_keys(x, packed)
    assert np.bincount(of_row).tolist() == found.rows.tolist()
    pairs = [found.read_keys(np.sort(keys[of_row == place]), place) for place in range(len(found.rows))]
    order = np.lexsort((packed, x))
    assert np.concatenate([x for x, _ in pairs]).tobytes() == x[order].tobytes()
    assert np.concatenate([p for _, p in pairs]).tolist() == packed[order].tolist()
    assert plan_bins(x, 10) is None
    assert 2 * BUCKETS <= 1 << disk_sort.PACKED_BITS


# ---- groups ----


@pytest.mark.usefixtures("cut_small")
@pytest.mark.parametrize("weight", [None, "whole"])
def test_each_label_has_the_digest_of_its_own_rows(tmp_path, monkeypatch, weight):
    frame = make_frame(50_000, decimals=3)
    frame.to_parquet(tmp_path / "p.parquet")
    with open_duckdb(
        tmp_path / "p.parquet", **NAMED, groups="g", weight=weight, memory_limit="100MB"
    ) as engine:
        labels = engine.survey.groups["g"]
        plan = {label.code: make_plan(label) for label in labels}
        found = engine.digest_groups("x", "g", plan)
        some = engine.digest_groups("x", "g", {labels[2].code: plan[labels[2].code]})
        assert engine.digest_groups("x", "g", {}) == {}
        monkeypatch.setattr(sorted_digests, "_MOST_LABELS", 3)
        by_duckdb = engine.digest_groups("x", "g", plan)
    assert set(found) == set(plan)
    for label in labels:
        assert_same_bits(found[label.code], by_duckdb[label.code])
        rows = frame[frame["g"] == label.label]
        assert_equals_memory(found[label.code], rows, plan[label.code], weight)
    assert set(some) == {labels[2].code}
    assert_same_bits(some[labels[2].code], found[labels[2].code])


@pytest.mark.sweep
def test_windows_are_groups_too(tmp_path):
    frame = make_frame(3000).assign(when=pd.date_range("2026-01-01", periods=3000, freq="h"))
    frame.to_parquet(tmp_path / "p.parquet")
    with open_duckdb(tmp_path / "p.parquet", **NAMED, time="when") as engine:
        windows = engine.survey.windows
        found = engine.digest_groups("x", "when", {w.code: make_plan(w) for w in windows})
    assert [w.label for w in windows][:2] == ["2026-W01", "2026-W02"]
    for window in windows:
        rows = frame["when"].dt.strftime("%G-W%V") == window.label
        assert_equals_memory(found[window.code], frame[rows], make_plan(window))


# ---- buckets and batches ----


def collect_batches(engine):
    """All batches of the rows, in their order."""
    found = []

    def keep(batch):
        dict(batch.groups)  # codes are read only if the function uses them
        found.append(batch)
        return (np.array([len(batch)]),)

    assert engine.reduce(keep, "gathering")[0] == engine.survey.rows
    return found


def test_batches_hold_the_rows_in_their_order(tmp_path, monkeypatch):
    monkeypatch.setattr(row_scans, "BATCH_ROWS", 1000)
    monkeypatch.setenv("SCOREREPORT_THREADS", "1")
    frame = make_frame(4500).assign(z=lambda f: 1 - f["x"])
    frame.to_parquet(tmp_path / "p.parquet")
    with open_duckdb(
        tmp_path / "p.parquet", outcome="y", forecasts=["x", "z"], weight="whole", groups="g"
    ) as e:
        batches = collect_batches(e)
        labels = {label.code: label.label for label in e.survey.groups["g"]}
    counts = frame[frame["whole"] > 0]
    assert [len(batch) for batch in batches[:-1]] == [1000] * (len(batches) - 1)
    for name in ("x", "z"):
        assert np.concatenate([b.forecasts[name] for b in batches]).tolist() == counts[name].tolist()
    assert np.concatenate([b.y for b in batches]).tolist() == counts["y"].tolist()
    assert np.concatenate([b.weight for b in batches]).tolist() == counts["whole"].tolist()
    codes = np.concatenate([b.groups["g"] for b in batches])
    assert [labels[code] for code in codes.tolist()] == counts["g"].tolist()
    assert codes.dtype == np.int32


def test_codes_are_found_only_on_request(tmp_path):
    make_frame(3000).to_parquet(tmp_path / "p.parquet")
    calls = []

    def count(batch):
        calls.append(len(batch))
        return (np.bincount(batch.groups["g"]),)

    with open_duckdb(tmp_path / "p.parquet", **NAMED, groups="g") as engine:
        assert engine.reduce(lambda batch: (np.array([len(batch)]),), "counting")[0] == 3000
        (by_label,) = engine.reduce(count, "counting labels")
        assert by_label.tolist() == [label.rows for label in engine.survey.groups["g"]]
    assert calls == [3000, 3000]


@pytest.mark.usefixtures("cut_small")
def test_sums_are_added_in_the_order_of_rows(large, monkeypatch):
    sums = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("SCOREREPORT_THREADS", threads)
        with open_duckdb(large, **NAMED) as engine:
            sums.append(engine.reduce(lambda batch: (np.array([batch.forecasts["x"].sum()]),), "adding"))
    assert sums[0] == sums[1] == sums[2]


def test_buckets_are_about_equal_and_stay_with_their_rows(tmp_path):
    frame = make_frame(40_000)
    frame.to_parquet(tmp_path / "p.parquet")
    with open_duckdb(tmp_path / "p.parquet", **NAMED) as engine:
        (batch,) = collect_batches(engine)
        digest = engine.digest("x", make_plan(engine.survey))
    sizes = np.bincount(batch.bucket, minlength=BUCKETS)
    assert batch.bucket.dtype == np.uint16
    assert (sizes.min() > 50, sizes.max() < 160, len(sizes)) == (True, True, BUCKETS)
    np.testing.assert_array_equal(digest.bucket_sums[:, 0], sizes)
    events = np.bincount(batch.bucket, weights=batch.y, minlength=BUCKETS)
    np.testing.assert_array_equal(digest.bucket_sums[:, 1], events)


def test_rows_of_a_cluster_share_their_bucket(tmp_path):
    frame = make_frame(10_000)
    frame.to_parquet(tmp_path / "p.parquet")
    frame.assign(c=frame["c"].astype(str) + ".0").to_parquet(tmp_path / "text.parquet")
    found = []
    for name in ("p", "text"):
        with open_duckdb(tmp_path / f"{name}.parquet", **NAMED, cluster="c") as engine:
            found.append(collect_batches(engine)[0].bucket)
    by_cluster = pd.Series(found[0]).groupby(frame["c"].to_numpy()).nunique()
    assert by_cluster.max() == 1
    assert len(np.unique(found[0])) > 300
    np.testing.assert_array_equal(*found)


@pytest.mark.usefixtures("cut_small")
def test_progress_counts_rows(large):
    steps = []
    with open_duckdb(large, **NAMED) as engine, progress_callback(steps.append):
        engine.digest("x", make_plan(engine.survey))
        engine.reduce(lambda batch: (np.array([len(batch)]),), "counting")
    for what in ("sorting x", "counting"):
        done = [step.done for step in steps if step.what == what and step.unit == "rows"]
        assert done == sorted(done)
        assert len(done) > 5
        assert done[-1] == 90_000
