"""Scans of all rows in order: sums over batches, and the SHA-256 of the rows."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.progress import report_progress
from scorereport.data.column_rules import label_text
from scorereport.errors import DataError
from scorereport.evaluation.engines.duck import sql
from scorereport.evaluation.engines.duck.disk_sort import BINS, count_bins, map_in_order
from scorereport.evaluation.engines.protocol import Batch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

    from scorereport._utils.arrays import FloatArray, IntArray
    from scorereport.evaluation.engines.duck.row_layout import SqlLayout
    from scorereport.evaluation.engines.duck.workspace import Workspace
    from scorereport.evaluation.engines.protocol import Sums

    ToBytes = Callable[[pa.Array], memoryview | bytes | pa.Buffer]


#: Rows of a batch of a reduction; the last bits of results depend on it, and on nothing else.
BATCH_ROWS = 1 << 18
#: Rows of a batch that is hashed.
_HASHED_ROWS = 1 << 19


class _UnreadCodes(Mapping[str, Any]):
    """Codes of labels that were not read, because reading them takes longer than all other columns."""

    def __getitem__(self, _: str) -> Any:
        raise _CodesNeededError

    def __iter__(self) -> Iterator[str]:
        raise _CodesNeededError

    def __len__(self) -> int:
        raise _CodesNeededError


class _CodesNeededError(Exception):
    """A function needs the codes of labels."""


def reduce_rows(
    workspace: Workspace, layout: SqlLayout, rows: int, function: Callable[[Batch], Sums], what: str
) -> Sums:
    """Apply a function to each batch of the rows that count, and add up its results.

    The scan starts without codes of labels; if the function needs them, it starts again with them.
    """
    try:
        return _reduce(workspace, replace(layout, codings={}), rows, function, what, groups=_UnreadCodes())
    except _CodesNeededError:
        return _reduce(workspace, layout, rows, function, what)


def _reduce(
    workspace: Workspace,
    layout: SqlLayout,
    rows: int,
    function: Callable[[Batch], Sums],
    what: str,
    groups: Mapping[str, Any] | None = None,
) -> Sums:
    models = layout.roles.forecasts
    columns = [
        f"CAST({layout.outcome} AS DOUBLE)",
        *map(layout.forecast, models),
        f"CAST({layout.bucket} AS USMALLINT)",
        *([] if layout.roles.weight is None else [layout.weight]),
        *(coding.code for coding in layout.codings.values()),
    ]
    query = f"SELECT {_name(columns)} FROM {layout.rows.relation}{layout.counts}"

    def work(batch: pa.RecordBatch) -> tuple[int, Sums]:
        return len(batch), function(_make_batch(batch, layout, groups))

    done, sums = 0, None
    for n, found in map_in_order(work, workspace.equal_batches(query, BATCH_ROWS)):
        sums = found if sums is None else tuple(a + b for a, b in zip(sums, found, strict=True))
        done += n
        report_progress(what, done, rows, unit="rows")
    return sums or ()


def _name(columns: list[str]) -> str:
    return ", ".join(f"{column} AS a{at}" for at, column in enumerate(columns))


def _make_batch(batch: pa.RecordBatch, layout: SqlLayout, groups: Mapping[str, Any] | None) -> Batch:
    y, *others = (column.to_numpy(zero_copy_only=False) for column in batch.columns)
    models = layout.roles.forecasts
    forecasts = {model: x + 0.0 for model, x in zip(models, others, strict=False)}  # -0.0 is 0
    bucket, *others = others[len(models) :]
    weight = others.pop(0) if layout.roles.weight is not None else None
    codes = (code.astype(np.int32, copy=False) for code in others)
    found = dict(zip(layout.codings, codes, strict=True)) if groups is None else groups
    return Batch(y=y, forecasts=forecasts, bucket=bucket, weight=weight, groups=found)


def hash_columns(workspace: Workspace, layout: SqlLayout) -> tuple[str, dict[str, IntArray]]:
    """The SHA-256 of the kept rows, as that of predictions in memory; and each model's forecasts by bin."""
    digest = hashlib.sha256()
    clause = sql.where(layout.kept)
    bins = {name: np.zeros(BINS, dtype=np.int64) for name in layout.roles.forecasts}
    for name, column, to_bytes in _columns(layout):
        digest.update(name.encode() + b"\0")
        query = f"SELECT {column} AS a FROM {layout.rows.relation}{clause}"
        for batch in workspace.batches(query, _HASHED_ROWS):
            digest.update(to_bytes(batch.column(0)))
            if to_bytes is _bytes_of_numbers:
                x = batch.column(0).to_numpy()
                _check_bounds(x, name, layout)
                if name in bins:
                    bins[name] += count_bins(x)
    return digest.hexdigest(), bins


def _check_bounds(x: FloatArray, name: str, layout: SqlLayout) -> None:
    """Refuse values outside of their bounds, which the statistics of a damaged file do not show."""
    highest = np.finfo(np.float64).max if name == layout.roles.weight else 1
    if not (x.min() >= 0 and x.max() <= highest):
        raise DataError(
            f"{layout.rows.name} is damaged: `{name}` holds values that the file's statistics exclude."
        )


def _columns(layout: SqlLayout) -> Iterator[tuple[str, str, ToBytes]]:
    """The columns in the order of the hash: name, SQL, and the function that converts values to bytes."""
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
