"""All rows in their order, in batches, with what a function makes of each added up in the same order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.progress import report_progress
from scorereport.evaluation.engines.duck.working import map_in_order
from scorereport.evaluation.engines.protocol import Batch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

    from scorereport.evaluation.engines.duck.layout import SqlLayout
    from scorereport.evaluation.engines.duck.workspace import Workspace
    from scorereport.evaluation.engines.protocol import Sums

#: Rows of a batch; results depend on it in the last bits, and on nothing else.
BATCH_ROWS = 1 << 18


class _Unread(Mapping[str, Any]):
    """Stands for codes that no function may ask for; to find them takes longer than all other columns."""

    def __getitem__(self, _: str) -> Any:
        raise _CodesAreAskedForError

    def __iter__(self) -> Iterator[str]:
        raise _CodesAreAskedForError

    def __len__(self) -> int:
        raise _CodesAreAskedForError


class _CodesAreAskedForError(Exception):
    """A function wants the codes of labels."""


def reduce_rows(
    workspace: Workspace, layout: SqlLayout, rows: int, function: Callable[[Batch], Sums], what: str
) -> Sums:
    """Sums of what a function gives for each batch of the rows that count.

    The scan begins without codes of labels, and begins again with them once the function asks for some.
    """
    try:
        return _reduce(workspace, replace(layout, codings={}), rows, function, what, groups=_Unread())
    except _CodesAreAskedForError:
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
    for n, found in map_in_order(work, workspace.lots(query, BATCH_ROWS)):
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
