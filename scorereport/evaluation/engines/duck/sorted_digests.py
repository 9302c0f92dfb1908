"""Digests of a model, or of its groups, from rows that are sorted on disk by forecast."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.progress import report_progress, report_start
from scorereport.evaluation.engines.chunk_digest import digest_chunk
from scorereport.evaluation.engines.chunks import ROWS_PER_CHUNK, cut_at_ties, join_chunks
from scorereport.evaluation.engines.duck.disk_sort import (
    LabelBins,
    map_in_order,
    plan_ranges,
    sort_by_ranges,
    unpack_chunk,
)
from scorereport.evaluation.engines.protocol import Chunk, CountsBelow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import pyarrow as pa

    from scorereport._utils.arrays import IntArray
    from scorereport.evaluation.engines.digest import Digest
    from scorereport.evaluation.engines.duck.disk_sort import ForecastRanges
    from scorereport.evaluation.engines.duck.row_layout import SqlLayout
    from scorereport.evaluation.engines.duck.workspace import Workspace
    from scorereport.evaluation.engines.protocol import DigestPlan

#: A range has at most as many rows as the memory limit divided by this: 8 bytes for each, in several copies.
_LIMIT_OVER_ROWS = 128
#: The same if rows have weights.
_LIMIT_OVER_WEIGHTED_ROWS = 512
#: With more cells or labels, DuckDB sorts by ORDER BY.
_MOST_CELLS, _MOST_LABELS = 1 << 22, 1000


def digest_model(workspace: Workspace, layout: SqlLayout, model: str, plan: DigestPlan, rows: int) -> Digest:
    """The digest of all rows of a model."""
    columns = _columns(layout, model, has_buckets=plan.buckets > 1)
    query = f"SELECT {_select(columns)} FROM {layout.rows.relation}{layout.counts}"
    cells, counts = LabelBins.of(layout.bins[model]), layout.bins[model]
    of_cells = _count(workspace, cells, query) if layout.has_zeros else counts[cells.bins]
    ranges = plan_ranges(cells, of_cells, _most_rows(workspace, layout))
    stream = _sort(workspace, query, columns, ranges, f"sorting {model}", rows)
    return _fold(map(itemgetter(1), stream), plan, layout)


def digest_labels(
    workspace: Workspace, layout: SqlLayout, model: str, column: str, plans: Mapping[int, DigestPlan]
) -> dict[int, Digest]:
    """The digests of some labels by their codes, from one sort by label and forecast."""
    if not plans:
        return {}
    coding, what = layout.codings[column], f"sorting {model} by {column}"
    has_buckets = any(plan.buckets > 1 for plan in plans.values())
    columns = {"code": coding.code, **_columns(layout, model, has_buckets=has_buckets)}
    is_all = len(plans) == len(coding.counts)
    clause = layout.counts if is_all else f"{layout.counts}{_among(layout, coding.code, plans)}"
    source = f"FROM {layout.rows.relation}{clause}"
    rows = sum(label.rows for label in coding.counts if label.code in plans)
    ranges = _plan_label_ranges(workspace, layout, model, column, source)
    stream = _sort(workspace, f"SELECT {_select(columns)} {source}", columns, ranges, what, rows)
    parts = groupby(stream, key=itemgetter(0))
    return {code: _fold(map(itemgetter(1), of_label), plans[code], layout) for code, of_label in parts}


def _among(layout: SqlLayout, code: str, wanted: Iterable[int]) -> str:
    listed = ", ".join(map(str, wanted))
    return f"{' AND' if layout.counts else ' WHERE'} {code} IN ({listed})"


def _plan_label_ranges(
    workspace: Workspace, layout: SqlLayout, model: str, column: str, source: str
) -> ForecastRanges | None:
    """Ranges of forecasts for each label, from a scan that counts; None if there are too many labels."""
    coding = layout.codings[column]
    cells = LabelBins.of(layout.bins[model], len(coding.labels))
    if len(cells) > _MOST_CELLS or len(coding.labels) > _MOST_LABELS:
        return None
    query = f"SELECT {layout.forecast(model)} AS x, {coding.code} AS code {source}"
    return plan_ranges(cells, _count(workspace, cells, query), _most_rows(workspace, layout))


def _count(workspace: Workspace, cells: LabelBins, query: str) -> IntArray:
    """How many rows of a query lie in each cell."""
    counts = np.zeros(len(cells), dtype=np.int64)
    for batch in workspace.batches(query, ROWS_PER_CHUNK):
        code = batch.column("code").to_numpy() if "code" in batch.schema.names else None
        counts += cells.count(batch.column("x").to_numpy(), code)
    return counts


def _most_rows(workspace: Workspace, layout: SqlLayout) -> int:
    over = _LIMIT_OVER_ROWS if layout.roles.weight is None else _LIMIT_OVER_WEIGHTED_ROWS
    return workspace.limit // over


def _columns(layout: SqlLayout, model: str, *, has_buckets: bool) -> dict[str, str]:
    """SQL for forecast, outcome and weight; the bucket is in the column of the outcome to sort faster."""
    outcome = f"CAST({layout.outcome} AS USMALLINT)"
    packed = f"CAST({layout.bucket} * 2 + {outcome} AS USMALLINT)" if has_buckets else outcome
    columns = {"x": layout.forecast(model), "packed": packed}
    return columns if layout.roles.weight is None else columns | {"weight": layout.weight}


def _select(columns: Mapping[str, str]) -> str:
    return ", ".join(f"{column} AS {name}" for name, column in columns.items())


def _sort(
    workspace: Workspace,
    query: str,
    columns: Mapping[str, str],
    ranges: ForecastRanges | None,
    what: str,
    rows: int,
) -> Iterator[tuple[int, Chunk]]:
    """Codes of labels with chunks of their sorted rows: sorted by ranges that fit into memory, or by DuckDB.

    Either way rows are sorted by all columns. Rows that tie in all of them are equal, so the stream is the
    same every time.
    """
    report_start(what)
    if ranges is not None:
        return sort_by_ranges(_with_progress(workspace, query, what, rows), ranges, workspace.folder)
    batches = _with_progress(workspace, f"{query} ORDER BY {', '.join(columns)}", what, rows)
    return (part for batch in batches for part in _split(batch))


def _with_progress(workspace: Workspace, query: str, what: str, rows: int) -> Iterator[pa.RecordBatch]:
    """The batches of a result, while progress is reported."""
    done = 0
    for batch in workspace.batches(query, ROWS_PER_CHUNK):
        yield batch
        done += len(batch)
        report_progress(what, done, rows, unit="rows")


def _split(batch: pa.RecordBatch) -> Iterator[tuple[int, Chunk]]:
    """The chunks of a batch with the same label, with its code."""
    columns = {name: batch.column(name).to_numpy() for name in batch.schema.names}
    codes = columns.pop("code", np.zeros(len(batch), dtype=np.int32))
    x = columns["x"] + 0.0  # -0.0 is 0
    chunk = unpack_chunk(x, columns["packed"], columns.get("weight"))
    cuts = [0, *(np.flatnonzero(codes[1:] != codes[:-1]) + 1).tolist(), len(codes)]
    for start, end in pairwise(cuts):
        yield int(codes[start]), chunk.select(slice(start, end))


def _fold(chunks: Iterable[Chunk], plan: DigestPlan, layout: SqlLayout) -> Digest:
    """The digest of a sorted stream: the sum of the digests of its chunks."""
    whole = (_with_counts(s) for s in chunks) if layout.counted else chunks
    pieces = cut_at_ties(_in_equal_chunks(whole), ROWS_PER_CHUNK)
    digests = map_in_order(lambda item: digest_chunk(item[0], plan, item[1]), _with_before(pieces))
    total = next(digests)
    for digest in digests:
        total = total + digest
    return total


def _with_counts(chunk: Chunk) -> Chunk:
    weight: Any = chunk.weight
    return chunk if weight is None else replace(chunk, weight=weight.astype(np.int64))


def _in_equal_chunks(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    """Chunks of the same number of rows, except the last, however the stream was cut before."""
    waiting: list[Chunk] = []
    for chunk in chunks:
        waiting.append(chunk)
        while sum(map(len, waiting)) >= ROWS_PER_CHUNK:
            joined = join_chunks(waiting)
            yield joined.select(slice(ROWS_PER_CHUNK))
            waiting = [joined.select(slice(ROWS_PER_CHUNK, None))] if len(joined) > ROWS_PER_CHUNK else []
    if waiting:
        yield join_chunks(waiting)


def _with_before(chunks: Iterable[Chunk]) -> Iterator[tuple[Chunk, CountsBelow]]:
    before = CountsBelow()
    for chunk in chunks:
        yield chunk, before
        n, events = _weigh(chunk)
        before = CountsBelow(n=before.n + n, events=before.events + events)


def _weigh(chunk: Chunk) -> tuple[int | float, int | float]:
    if chunk.weight is None:
        return len(chunk), int(np.count_nonzero(chunk.y))
    return chunk.weight.sum().item(), chunk.weight[chunk.y].sum().item()
