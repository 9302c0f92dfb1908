"""Rows between Arrow and numpy, on the workers: batches of a source, and packets of rows that travel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport.evaluation.engines.protocol import Chunk
from scorereport.evaluation.engines.spark.spark_partitions import weight_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

#: Rows that are sorted and cut at a time: the more, the fewer and larger packets travel.
CHUNK_ROWS = 1 << 20
#: A packet has the forecasts of some rows of a part, as bytes, with their keys and any weights.
PACKET = "part int, source long, n {0}, events {0}, x binary, key binary, weight binary"


def join_batches(batches: Iterable[pa.RecordBatch], rows: int = CHUNK_ROWS) -> Iterator[pa.Table]:
    """Batches as tables of at least so many rows, but the last."""
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
    """Rows of a table as they stand, not sorted."""
    key = table["key"].to_numpy().astype(np.uint16)
    weight = table["w"].to_numpy() if "w" in table.column_names else None
    return Chunk(
        x=table["x"].to_numpy(),
        y=(key & 1).astype(bool),
        bucket=key >> 1 if with_buckets else np.zeros(len(key), dtype=np.uint16),
        weight=weight.astype(np.int64) if counted and weight is not None else weight,
    )


def pack_chunk(part: int, source: int, stretch: Chunk) -> dict[str, Any]:
    """A packet, with how much it weighs."""
    n, events = weight_of(stretch)
    key = stretch.bucket * np.uint16(2) + stretch.y
    weight = None if stretch.weight is None else stretch.weight.tobytes()
    return {
        "part": part,
        "source": source,
        "n": n,
        "events": events,
        "x": stretch.x.tobytes(),
        "key": key.astype(np.uint16).tobytes(),
        "weight": weight,
    }


def unpack_packets(packets: pa.Table, *, counted: bool) -> Iterator[Chunk]:
    """The rows of packets, in the order in which their source has them."""
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
    """The number of the partition that a worker is at."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else context.partitionId()
