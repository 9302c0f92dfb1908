"""Rows on the workers: parts, which are sorted separately, and packets, in which rows are sent.

A part is a range of forecasts of one label, or of all rows. The part of a row depends on its label and its
forecast alone, so a tie is never split.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from scorereport._utils.arrays import FloatArray
from scorereport.evaluation.engines.chunks import compress_chunk, join_chunks
from scorereport.evaluation.engines.protocol import BUCKETS, Chunk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa

    from scorereport._utils.arrays import CountArray


#: The label of all rows.
ALL = 0
#: Rows of a part: its worker holds them in memory, about 60 bytes each.
ROWS_PER_PART = 1 << 22
#: Rows of the sample from which the edges of parts are taken: for each part, and at least.
SAMPLED_PER_PART = 400
FEWEST_SAMPLED = 100_000
#: Ties are summed before rows are sent if more than this share of rows are tied.
_WORTH_SUMMING = 0.3
#: Rows that are sorted and cut at a time: the more, the fewer and larger the packets.
CHUNK_ROWS = 1 << 20
#: The columns of a packet: forecasts of rows of one part, their keys and any weights, all as bytes.
PACKET = "part int, source long, n {0}, events {0}, x binary, key binary, weight binary"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Parts:
    """How rows are split into parts: `label` is the label code of each part, `edges` where parts begin.

    Only labels with several parts have edges.
    """

    label: NDArray[np.int32]
    edges: Mapping[int, FloatArray]

    def __len__(self) -> int:
        return len(self.label)

    @property
    def is_whole(self) -> bool:
        """Whether all rows are one label, so that parts are in the order of forecasts."""
        return self.label[0] == self.label[-1] == ALL

    @property
    def by_label(self) -> dict[int, list[int]]:
        """The parts of each label, in ascending order of forecasts."""
        labels, first = np.unique(self.label, return_index=True)
        parts = np.split(np.arange(len(self)), first[1:])
        return {int(label): of.tolist() for label, of in zip(labels, parts, strict=True)}

    def number(self, codes: NDArray[np.int32], x: FloatArray) -> NDArray[np.int32]:
        """The part of each row; -1 for labels without a part."""
        if self.is_whole:
            return np.searchsorted(self.edges.get(ALL, np.empty(0)), x, side="right").astype(np.int32)
        labels, first = np.unique(self.label, return_index=True)
        base = np.full(max(labels[-1], int(codes.max(initial=0))) + 2, -1, dtype=np.int32)
        base[labels] = first
        part: NDArray[np.int32] = base[codes]  # code -1, no label, reads the last place, which is -1
        for label, edges in self.edges.items():
            here = np.flatnonzero(codes == label)
            part[here] += np.searchsorted(edges, x[here], side="right").astype(np.int32)
        return part


def plan_parts(
    rows_of: Mapping[int, int], codes: NDArray[np.int32], x: FloatArray, rows_per_part: int
) -> Parts:
    """Split labels into parts of about equal size, by their rows and a sample of their forecasts."""
    edges, rows_of = {}, dict(sorted(rows_of.items()))
    for label, rows in rows_of.items():
        wanted = -(-rows // rows_per_part)
        if wanted > 1:
            edges[label] = _edges(np.sort(x[codes == label]), wanted)
    parts = [len(edges[label]) + 1 if label in edges else 1 for label in rows_of]
    return Parts(label=np.repeat(np.array(list(rows_of), dtype=np.int32), parts), edges=edges)


def _edges(sample: FloatArray, parts: int) -> FloatArray:
    """The forecasts at which parts begin, each once, even if one value would fill several parts."""
    return np.unique(sample[np.arange(1, parts) * len(sample) // parts]) if len(sample) else np.empty(0)


def split_by_part(rows: Chunk, codes: NDArray[np.int32], parts: Parts) -> Iterator[tuple[int, Chunk]]:
    """Sort rows and split them by part; if many are tied, ties are summed."""
    part = parts.number(codes, rows.x)
    order = np.argsort(rows.x) if parts.is_whole else np.lexsort((rows.x, part))
    rows, part = rows.select(order), part[order]
    starts = np.flatnonzero(np.append(True, part[1:] != part[:-1]))
    for start, end in zip(starts, np.append(starts[1:], len(part)), strict=True):
        if part[start] >= 0:
            yield int(part[start]), sum_ties(rows.select(slice(start, end)))


def sum_ties(chunk: Chunk) -> Chunk:
    """Sum the rows of ties by outcome and bucket if many rows are tied; otherwise sort the rows of each tie.

    Equal rows thus give equal sums to the last bit, whatever their order was.
    """
    is_tied = chunk.x[1:] == chunk.x[:-1]
    tied = int(is_tied.sum())
    if tied == 0:
        return chunk
    ordered = _order_ties(chunk, is_tied)
    return compress_chunk(ordered) if tied > _WORTH_SUMMING * len(chunk) else ordered


def _order_ties(chunk: Chunk, is_tied: NDArray[np.bool_]) -> Chunk:
    """The chunk with the rows of each tie sorted by outcome, bucket and weight."""
    rows = np.flatnonzero(np.append(is_tied, False) | np.append(False, is_tied))
    key = chunk.y[rows].astype(np.int32) * BUCKETS + chunk.bucket[rows]
    by = [key, chunk.x[rows]] if chunk.weight is None else [chunk.weight[rows], key, chunk.x[rows]]
    order = np.arange(len(chunk))
    order[rows] = rows[np.lexsort(by)]
    return chunk.select(order)


def merge_chunks(chunks: Iterable[Chunk], rows: int = ROWS_PER_PART) -> Chunk:
    """One sorted chunk from many; ties are summed on the way once there are more than 2 `rows` rows."""
    waiting: list[Chunk] = []
    length, limit = 0, 2 * rows
    for chunk in chunks:
        waiting.append(chunk)
        length += len(chunk)
        if length > limit:
            waiting = [_sort(join_chunks(waiting))]
            length = len(waiting[0])
            limit = max(limit, 2 * length)
    return _sort(join_chunks(waiting))


def _sort(chunk: Chunk) -> Chunk:
    return sum_ties(chunk.select(np.argsort(chunk.x, kind="stable")))


def weight_of(chunk: Chunk) -> tuple[int | float, int | float]:
    """The weight of all rows and of the events."""
    if chunk.weight is None:
        return len(chunk), int(chunk.y.sum())
    weight: CountArray = chunk.weight
    number = int if weight.dtype.kind == "i" else float
    return number(weight.sum()), number(weight[chunk.y].sum())


def join_batches(batches: Iterable[pa.RecordBatch], rows: int = CHUNK_ROWS) -> Iterator[pa.Table]:
    """Join batches to tables of at least `rows` rows, except the last."""
    import pyarrow as pa

    waiting: list[pa.RecordBatch] = []
    length = 0
    for batch in batches:
        waiting.append(batch)
        length += batch.num_rows
        if length >= rows:
            yield pa.Table.from_batches(waiting)
            waiting, length = [], 0
    if length:
        yield pa.Table.from_batches(waiting)


def read_chunk(table: pa.Table, *, counted: bool, with_buckets: bool) -> Chunk:
    """The rows of a table, not sorted."""
    key = table["key"].to_numpy().astype(np.uint16)
    weight = table["w"].to_numpy() if "w" in table.column_names else None
    return Chunk(
        x=table["x"].to_numpy(),
        y=(key & 1).astype(bool),
        bucket=key >> 1 if with_buckets else np.zeros(len(key), dtype=np.uint16),
        weight=weight.astype(np.int64) if counted and weight is not None else weight,
    )


def pack_chunk(part: int, source: int, chunk: Chunk) -> dict[str, Any]:
    """The packet of a chunk, with the weight of its cases and of its events."""
    n, events = weight_of(chunk)
    key = chunk.bucket * np.uint16(2) + chunk.y
    weight = None if chunk.weight is None else chunk.weight.tobytes()
    return {
        "part": part,
        "source": source,
        "n": n,
        "events": events,
        "x": chunk.x.tobytes(),
        "key": key.astype(np.uint16).tobytes(),
        "weight": weight,
    }


def unpack_packets(packets: pa.Table, *, counted: bool) -> Iterator[Chunk]:
    """The chunks of packets, in the order of the source."""
    for packet in packets.sort_by("source").select(["x", "key", "weight"]).to_batches(max_chunksize=1):
        x, key, weight = (column[0].as_buffer() for column in packet.columns)
        keys: NDArray[np.uint16] = np.frombuffer(key, dtype=np.uint16)
        bucket: NDArray[np.uint16] = keys >> np.uint16(1)
        kind: Any = np.int64 if counted else np.float64
        yield Chunk(
            x=np.frombuffer(x, dtype=np.float64),
            y=(keys & 1).astype(bool),
            bucket=bucket,
            weight=None if weight is None else np.frombuffer(weight, dtype=kind),
        )


def partition_number() -> int:
    """The number of the partition on which a worker runs."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else context.partitionId()
