"""How rows are cut into ranges of forecasts, on one worker: no Spark is needed."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from spark_tools import assert_same_digest, mark

from scorereport.errors import UsageError
from scorereport.evaluation.engines.chunk_digest import digest_chunk
from scorereport.evaluation.engines.protocol import BUCKETS, Chunk, CountsBelow
from scorereport.evaluation.engines.spark.spark_engine import open_spark
from scorereport.evaluation.engines.spark.spark_jobs import find_before, fold
from scorereport.evaluation.engines.spark.spark_partitions import (
    ALL,
    Parts,
    join_batches,
    merge_chunks,
    pack_chunk,
    plan_parts,
    split_by_part,
    unpack_packets,
    weight_of,
)

NO_CODES = np.empty(0, dtype=np.int32)


def make_rows(seed: int, n: int, digits: int, *, kind: str = "none") -> Chunk:
    rng = np.random.default_rng(seed)
    x = np.round(rng.random(n), digits)
    weight = {"none": None, "whole": rng.integers(1, 5, n), "fractional": rng.random(n) + 0.1}[kind]
    bucket = rng.integers(0, BUCKETS, n).astype(np.uint16)
    return Chunk(x=x, y=rng.random(n) < x, bucket=bucket, weight=weight)


def as_packets(packets: list[dict[str, object]]) -> pa.Table:
    binary = [(name, pa.binary()) for name in ("x", "key", "weight")]
    return pa.Table.from_pylist(packets, schema=pa.schema([("part", "int32"), ("source", "int64"), *binary]))


@given(seed=st.integers(0, 1000), n=st.integers(1, 300), digits=st.integers(0, 3), parts=st.integers(1, 9))
def test_a_tie_lies_in_one_part_and_no_row_is_lost(seed: int, n: int, digits: int, parts: int) -> None:
    rows = make_rows(seed, n, digits)
    plan = plan_parts({ALL: n}, np.zeros(n, dtype=np.int32), rows.x, -(-n // parts))
    found = dict(split_by_part(rows, NO_CODES, plan))
    assert all(part in range(len(plan)) for part in found)
    in_order = [found[part] for part in sorted(found)]
    assert all(low.x[-1] < high.x[0] for low, high in itertools.pairwise(in_order))
    assert sum(weight_of(part)[0] for part in in_order) == n
    assert sum(weight_of(part)[1] for part in in_order) == rows.y.sum()


def test_labels_are_cut_apart_and_the_others_left_out() -> None:
    rows, codes = make_rows(1, 1000, 2), np.random.default_rng(1).integers(-1, 4, 1000).astype(np.int32)
    plan = plan_parts({3: int((codes == 3).sum()), 1: int((codes == 1).sum())}, codes, rows.x, 50)
    found = dict(split_by_part(rows, codes, plan))
    assert plan.by_label.keys() == {1, 3}
    for label, parts in plan.by_label.items():
        assert len(parts) > 3
        n = sum(weight_of(found[part])[0] for part in parts if part in found)
        assert n == (codes == label).sum()
    assert set(found) <= set(range(len(plan)))


@pytest.mark.parametrize("kind", ["none", "whole", "fractional"])
@pytest.mark.parametrize("digits", [1, 3, 15])
def test_packets_in_any_order_make_the_same_digest_to_the_last_bit(kind: str, digits: int) -> None:
    rows = make_rows(7, 3000, digits, kind=kind)
    plan = plan_parts({ALL: 3000}, np.zeros(3000, dtype=np.int32), rows.x, 600)
    packets = [
        pack_chunk(part, source, piece)
        for source in range(3)
        for part, piece in split_by_part(
            rows.select(slice(source * 1000, source * 1000 + 1000)), NO_CODES, plan
        )
    ]
    weights = dict.fromkeys(range(len(plan)), (0, 0))
    for packet in packets:
        n, events = weights[packet["part"]]
        weights[packet["part"]] = (n + packet["n"], events + packet["events"])
    before = find_before(plan, weights)
    n, events = weight_of(rows)
    digest_plan = mark(LabelTotals(n, events))
    digests = []
    for order in (packets, packets[::-1]):
        digest = None
        for part in range(len(plan)):
            table = as_packets([packet for packet in order if packet["part"] == part])
            piece = merge_chunks(unpack_packets(table, counted=kind != "fractional"), rows=100)
            found = fold(piece, digest_plan, before[part], digest_chunk)
            digest = found if digest is None else digest + found
        digests.append(digest)
    assert_same_digest(*digests)
    whole = fold(rows.select(np.lexsort((rows.y, rows.x))), digest_plan, CountsBelow(), digest_chunk)
    assert np.array_equal(digests[0].blocks.x_min, whole.blocks.x_min)
    assert np.allclose(digests[0].blocks.n, whole.blocks.n, rtol=1e-12)
    assert np.allclose(digests[0].bucket_sums, whole.bucket_sums, rtol=1e-12)


class LabelTotals:
    def __init__(self, total: float, events: float) -> None:
        self.total, self.events = total, events


def test_a_tie_of_any_length_is_merged_in_little_memory() -> None:
    lengths = []

    def pieces() -> object:
        for seed in range(50):
            rows = make_rows(seed, 2000, 15)
            piece = Chunk(x=np.full(2000, 0.5), y=rows.y, bucket=rows.bucket)
            yield (compressed := next(iter(split_by_part(piece, NO_CODES, Parts(label=ZERO, edges={})))))[1]
            lengths.append(len(compressed[1]))

    merged = merge_chunks(pieces(), rows=1000)
    assert len(merged) <= 2 * BUCKETS
    assert weight_of(merged)[0] == 100_000
    assert max(lengths) <= 2 * BUCKETS


ZERO = np.zeros(1, dtype=np.int32)


def test_batches_are_joined_into_chunks() -> None:
    batches = [pa.record_batch({"x": np.full(n, 0.5)}) for n in (3, 0, 4, 5, 1)]
    assert [table.num_rows for table in join_batches(batches, 6)] == [7, 6]
    assert list(join_batches([], 6)) == []


def test_a_forecast_named_twice_is_refused_before_spark_starts():
    with pytest.raises(UsageError, match="`forecasts` must differ; got 'x' 2 times"):
        open_spark("nowhere.parquet", outcome="y", forecasts=["x", "x"])
