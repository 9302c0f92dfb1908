"""The jobs of Spark: sorting rows into digests, and sums over batches of rows."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport.evaluation.engines.chunks import cut_at_ties
from scorereport.evaluation.engines.protocol import Batch, CountsBelow, DigestPlan
from scorereport.evaluation.engines.spark.spark_columns import add_ascending
from scorereport.evaluation.engines.spark.spark_labels import Labels
from scorereport.evaluation.engines.spark.spark_partitions import (
    PACKET,
    Parts,
    join_batches,
    merge_chunks,
    pack_chunk,
    partition_number,
    read_chunk,
    split_by_part,
    unpack_packets,
    weight_of,
)
from scorereport.evaluation.engines.spark.spark_session import collect, quiet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import pyarrow as pa
    from pyspark.sql import DataFrame

    from scorereport.evaluation.engines.digest import Digest
    from scorereport.evaluation.engines.protocol import Chunk, Sums

    #: Computes the digest of a chunk.
    ChunkDigester = Callable[[Chunk, DigestPlan, CountsBelow], Digest]

#: The number of neighbouring digests that a worker adds before the driver adds the rest.
NEIGHBOURS = 32
#: Rows of a batch: enough for numpy to be quick, few enough for the processor's caches.
_BATCH_ROWS = 1 << 17
#: The number of partitions whose sums a worker adds before the driver adds the rest.
_PARTITIONS_PER_SUM = 64
_SUMS = "partition int, sums binary"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SortPlan:
    """How the rows of a model are sorted; the plan is sent to every worker."""

    parts: Parts
    plans: Mapping[int, DigestPlan]
    labels: Labels | None
    counted: bool
    digest_chunk: ChunkDigester

    @property
    def with_buckets(self) -> bool:
        """Whether any digest distinguishes buckets."""
        return any(plan.buckets > 1 for plan in self.plans.values())


def make_packets(rows: DataFrame, sorting: SortPlan) -> DataFrame:
    """Pack rows, with columns x, key and perhaps w and label, into packets of sorted rows of one part."""

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return _pack_rows(batches, sorting)

    with quiet():
        return rows.mapInArrow(work, PACKET.format("long" if sorting.counted else "double"))


def _pack_rows(batches: Iterator[pa.RecordBatch], sorting: SortPlan) -> Iterator[pa.RecordBatch]:
    import numpy as np
    import pyarrow as pa

    number = "int64" if sorting.counted else "float64"
    names = {"part": "int32", "source": "int64", "n": number, "events": number}
    schema = pa.schema([*names.items(), ("x", pa.binary()), ("key", pa.binary()), ("weight", pa.binary())])
    for at, table in enumerate(join_batches(batches)):
        chunk = read_chunk(table, counted=sorting.counted, with_buckets=sorting.with_buckets)
        codes = np.empty(0, dtype=np.int32) if sorting.labels is None else sorting.labels.find(table["label"])
        source = (partition_number() << 32) + at
        packets = [
            pack_chunk(part, source, rows) for part, rows in split_by_part(chunk, codes, sorting.parts)
        ]
        yield pa.RecordBatch.from_pylist(packets, schema=schema)


def weigh_parts(packets: DataFrame, *, counted: bool) -> dict[int, tuple[Any, Any]]:
    """The weights of cases and of events of each part."""
    from pyspark.sql import functions as F  # noqa: N812

    adding = F.sum if counted else add_ascending
    sums = packets.groupBy("part").agg(adding("n").alias("n"), adding("events").alias("events"))
    return {row["part"]: (row["n"], row["events"]) for row in collect(sums)}


def find_before(parts: Parts, weights: Mapping[int, tuple[Any, Any]]) -> dict[int, CountsBelow]:
    """The counts below each part, among the rows of its label."""
    before: dict[int, CountsBelow] = {}
    for of_label in parts.by_label.values():
        counts = [weights.get(part, (0, 0)) for part in of_label]
        below = accumulate(
            counts, lambda so_far, next_: (so_far[0] + next_[0], so_far[1] + next_[1]), initial=(0, 0)
        )
        before |= {
            part: CountsBelow(n=n, events=events) for part, (n, events) in zip(of_label, below, strict=False)
        }
    return before


def digest_packets(
    packets: DataFrame, sorting: SortPlan, before: Mapping[int, CountsBelow]
) -> dict[int, Digest]:
    """The digest of each label, from the packets of its parts."""
    label_of = sorting.parts.label

    def work(table: pa.Table) -> pa.Table:
        part = table["part"][0].as_py()
        label = int(label_of[part])
        rows = merge_chunks(unpack_packets(table, counted=sorting.counted))
        digest = fold(rows, sorting.plans[label], before.get(part, CountsBelow()), sorting.digest_chunk)
        return _digests_as_table(label, part, digest)

    with quiet():
        together = _repartition_packets(packets, len(sorting.parts)).groupBy("part")
        digests = together.applyInArrow(work, "label int, part int, digest binary")
        if len(sorting.parts) > NEIGHBOURS:
            digests = _add_neighbours(digests)
    found: dict[int, Digest] = {}
    for row in sorted(collect(digests), key=lambda row: row["part"]):
        digest, label = pickle.loads(row["digest"]), row["label"]
        found[label] = found[label] + digest if label in found else digest
    return found


def _repartition_packets(packets: DataFrame, parts: int) -> DataFrame:
    """Move the packets of each part to one partition of their own; older Spark may put parts together."""
    if hasattr(packets, "repartitionById"):
        return packets.repartitionById(parts, "part")
    return packets.repartition(parts, "part")


def fold(rows: Chunk, plan: DigestPlan, before: CountsBelow, digest_chunk: ChunkDigester) -> Digest:
    """The digest of sorted rows, computed chunk by chunk."""
    digests, n, events = [], before.n, before.events
    for chunk in cut_at_ties([rows]):
        digests.append(digest_chunk(chunk, plan, CountsBelow(n=n, events=events)))
        weight, of_events = weight_of(chunk)
        n, events = n + weight, events + of_events
    return reduce(add, digests)


def _add_neighbours(digests: DataFrame) -> DataFrame:
    """Add digests of neighbouring parts of a label on the workers."""
    from pyspark.sql import functions as F  # noqa: N812

    def work(table: pa.Table) -> pa.Table:
        in_order = table.sort_by("part")
        found = [pickle.loads(digest.as_py()) for digest in in_order["digest"]]
        return _digests_as_table(
            in_order["label"][0].as_py(), in_order["part"][0].as_py(), reduce(add, found)
        )

    with quiet():
        by = digests.groupBy("label", F.floor(F.col("part") / NEIGHBOURS))
        return by.applyInArrow(work, "label int, part int, digest binary")


def _digests_as_table(label: int, part: int, digest: Any) -> pa.Table:
    import pyarrow as pa

    schema = pa.schema([("label", "int32"), ("part", "int32"), ("digest", pa.binary())])
    row = {"label": label, "part": part, "digest": pickle.dumps(digest, protocol=5)}
    return pa.Table.from_pylist([row], schema=schema)


def sum_batches(
    rows: DataFrame,
    models: Mapping[str, str],
    labels: Mapping[str, Labels],
    function: Callable[[Batch], Sums],
) -> Sums:
    """Apply a function to each batch, and add up its results in the order of the partitions."""
    from pyspark.sql import functions as F  # noqa: N812

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        so_far: list[Sums] = []
        for table in join_batches(batches, _BATCH_ROWS):
            found = function(_read_batch(table, models, labels))
            so_far.append(found if not so_far else add_sums([so_far.pop(), found]))
        for sums in so_far:
            yield _sums_as_table(partition_number(), sums).to_batches()[0]

    def add(table: pa.Table) -> pa.Table:
        in_order = table.sort_by("partition")
        found = (pickle.loads(sums.as_py()) for sums in in_order["sums"])
        return _sums_as_table(in_order["partition"][0].as_py(), add_sums(found))

    with quiet():
        by_partition = rows.mapInArrow(work, _SUMS)
        neighbours = by_partition.groupBy(F.floor(F.col("partition") / _PARTITIONS_PER_SUM))
        summed = neighbours.applyInArrow(add, _SUMS)
    in_order = sorted(collect(summed), key=lambda row: row["partition"])
    return add_sums(pickle.loads(row["sums"]) for row in in_order)


def add_sums(found: Iterable[Sums]) -> Sums:
    """Add sums term by term, from first to last."""
    return reduce(lambda left, right: tuple(a + b for a, b in zip(left, right, strict=True)), found)


def _read_batch(table: pa.Table, models: Mapping[str, str], labels: Mapping[str, Labels]) -> Batch:
    key = table["key"].to_numpy().astype(np.uint16)
    return Batch(
        y=(key & 1).astype(np.float64),
        forecasts={model: table[short].to_numpy() for model, short in models.items()},
        bucket=key >> 1,
        weight=table["w"].to_numpy() if "w" in table.column_names else None,
        groups={column: of.find(table[of.short]) for column, of in labels.items()},
    )


def _sums_as_table(partition: int, sums: Any) -> pa.Table:
    import pyarrow as pa

    schema = pa.schema([("partition", "int32"), ("sums", pa.binary())])
    row = {"partition": partition, "sums": pickle.dumps(sums, protocol=5)}
    return pa.Table.from_pylist([row], schema=schema)
