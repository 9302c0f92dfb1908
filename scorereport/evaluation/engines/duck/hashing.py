"""The SHA-256 of `Cases`, column after column, without holding one in memory."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from scorereport.data.columns import label_text
from scorereport.errors import DataError
from scorereport.evaluation.engines.duck import sql
from scorereport.evaluation.engines.duck.ranges import BINS, count_bins

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

    from scorereport._utils.arrays import FloatArray, IntArray
    from scorereport.evaluation.engines.duck.layout import SqlLayout
    from scorereport.evaluation.engines.duck.workspace import Workspace

    Bytes = Callable[[pa.Array], memoryview | bytes | pa.Buffer]

_BATCH_ROWS = 1 << 19


def hash_columns(workspace: Workspace, layout: SqlLayout) -> tuple[str, dict[str, IntArray]]:
    """What `Cases.sha256` is of the rows that are kept; on the way, each model's forecasts by bins."""
    digest = hashlib.sha256()
    clause = sql.where(layout.kept)
    bins = {name: np.zeros(BINS, dtype=np.int64) for name in layout.roles.forecasts}
    for name, column, to_bytes in _columns(layout):
        digest.update(name.encode() + b"\0")
        query = f"SELECT {column} AS a FROM {layout.rows.relation}{clause}"
        for batch in workspace.batches(query, _BATCH_ROWS):
            digest.update(to_bytes(batch.column(0)))
            if to_bytes is _bytes_of_numbers:
                x = batch.column(0).to_numpy()
                _check_bounds(x, name, layout)
                if name in bins:
                    bins[name] += count_bins(x)
    return digest.hexdigest(), bins


def _check_bounds(x: FloatArray, name: str, layout: SqlLayout) -> None:
    """What was inside its bounds by the statistics of a file must be so row by row."""
    highest = np.finfo(np.float64).max if name == layout.roles.weight else 1
    if not (x.min() >= 0 and x.max() <= highest):
        raise DataError(
            f"{layout.rows.name} is damaged: `{name}` holds values that the file says it does not hold."
        )


def _columns(layout: SqlLayout) -> Iterator[tuple[str, str, Bytes]]:
    """The columns in the order of the hash: name, SQL, and how values become bytes."""
    rows, roles = layout.rows, layout.roles
    yield roles.outcome, layout.outcome, _bytes_of_numbers
    for name in roles.numbers:
        yield name, sql.number(rows, name), _bytes_of_numbers
    labels = [*((name, name) for name in roles.groups), ("cluster", roles.cluster), ("grade", roles.grade)]
    for name, column in labels:
        if column is not None:
            yield name, rows.columns[column], _bytes_of_labels
    if roles.time is not None:
        yield roles.time, f"epoch_us({sql.time(rows, roles.time)})", _bytes_of_times


def _bytes_of_numbers(column: pa.Array) -> memoryview:
    return column.to_numpy().astype("<f8", copy=False).data


def _bytes_of_labels(column: pa.Array) -> bytes | pa.Buffer:
    """Each label as text in UTF-8 with a zero byte after it."""
    import pyarrow as pa

    encoded = column.dictionary_encode()
    texts = [label_text(value) + "\0" for value in encoded.dictionary.to_pandas()]
    return pa.array(texts, type=pa.large_string()).take(encoded.indices).buffers()[2]


def _bytes_of_times(column: pa.Array) -> memoryview:
    """Nanoseconds since 1970."""
    return (column.to_numpy() * np.int64(1000)).astype("<i8", copy=False).data
