"""The jobs that scan: a function of batches of rows, its results added partition by partition."""

from __future__ import annotations

import pickle
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport.evaluation.engines.protocol import Batch
from scorereport.evaluation.engines.spark.packing import join_batches, partition_number
from scorereport.evaluation.engines.spark.spark_session import collect, quiet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import pyarrow as pa
    from pyspark.sql import DataFrame

    from scorereport.evaluation.engines.protocol import Sums
    from scorereport.evaluation.engines.spark.spark_labels import Labels

#: Rows of a batch: enough for numpy to be quick, few enough for the processor's caches.
_BATCH_ROWS = 1 << 17
#: Sums of so many partitions are added on a worker before the driver adds what is left.
_NEIGHBOURS = 64
_SUMS = "partition int, sums binary"


def sum_batches(
    rows: DataFrame,
    models: Mapping[str, str],
    labels: Mapping[str, Labels],
    function: Callable[[Batch], Sums],
) -> Sums:
    """Sums of what the function gives for each batch, in the order of the partitions."""
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
        neighbours = by_partition.groupBy(F.floor(F.col("partition") / _NEIGHBOURS))
        summed = neighbours.applyInArrow(add, _SUMS)
    in_order = sorted(collect(summed), key=lambda row: row["partition"])
    return add_sums(pickle.loads(row["sums"]) for row in in_order)


def add_sums(found: Iterable[Sums]) -> Sums:
    """Several sums as one, from first to last."""
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
