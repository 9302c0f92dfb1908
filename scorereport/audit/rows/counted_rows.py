"""Rows of part of a period: those that are counted as evidence, because no earlier audit counted them."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.formatting import format_count
from scorereport.audit.rows.loaded_rows import LoadedRows
from scorereport.audit.rows.period_window import is_in_period, parse_times
from scorereport.audit.rows.source_rows import hash_while_unchanged, open_batches
from scorereport.data.predictions import Predictions, RowFlow
from scorereport.evaluation.arguments import columns_in
from scorereport.evaluation.engines.duck.panel_batches import open_panels
from scorereport.evaluation.prediction_panels import class_panel_of, panel_of
from scorereport.inference.panel import PanelRows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport._utils.arrays import IntArray
    from scorereport.audit.rows.source_reference import SourceCopy, SourceReference
    from scorereport.configuration.periods import Period
    from scorereport.data.predictions import ClassPredictions

#: A cluster is read as a whole; with more rows than this, there is no evidence.
MOST_CLUSTER_ROWS = 5_000_000
#: Beginnings of the reasons why no row gives evidence.
_NOT_KNOWN = "The rows of the days that no earlier audit counted are not known"
_EMPTY = "No evaluated row is of"
_LARGE_CLUSTER = "There is no evidence: the rows of a cluster are read together"


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedPanels:
    """Rows that give evidence as panels, which can be read repeatedly; `reason` states why there are none."""

    panels: Iterable[PanelRows] = ()
    reason: str = ""


@contextmanager
def open_counted_rows(
    rows: LoadedRows | SourceReference, period: Period, start: str | None, end: str
) -> Iterator[CountedPanels]:
    """Yield the rows from `start` up to, but not including, `end`: one panel in memory, or several of a file.

    Days and times are local ones of the audit.
    """
    if reason := explain_uncounted(rows, period, start, end):
        yield CountedPanels(reason=reason)
    elif isinstance(rows, LoadedRows):
        yield CountedPanels(panels=[_make_panel(load_counted_rows(rows, period, start, end))])
    else:
        days = replace(period, start=start, end=end)
        with open_source_rows(rows, None if days == period else days) as counted:
            yield counted


@contextmanager
def open_source_rows(
    rows: SourceReference, days: Period | None = None, *, joins_clusters: bool = True
) -> Iterator[CountedPanels]:
    """Yield the rows of a source that stay in its file, all or those of some days, by cluster if need be.

    A source that is not copied must not change meanwhile.
    """
    chosen = None if days is None or rows.copy is None else _find_rows(rows.copy, days)
    is_copied = rows.copy is not None
    with (
        nullcontext() if is_copied else hash_while_unchanged(rows.path, rows.source_sha256),
        open_panels(
            rows.path,
            chosen=chosen,
            joins_clusters=joins_clusters,
            memory_limit=rows.arguments.get("memory_limit"),
            temporary_folder=rows.arguments.get("temporary_folder"),
            **columns_in(rows.arguments),
        ) as panels,
    ):
        if days is not None and not panels.rows:
            yield CountedPanels(reason=_explain_empty(days))
        elif (largest := panels.find_largest_cluster()) > MOST_CLUSTER_ROWS:
            yield CountedPanels(reason=_explain_large_cluster(largest))
        else:
            yield CountedPanels(panels=panels)


def _find_rows(copy: SourceCopy, days: Period) -> Iterator[IntArray]:
    """Yield the numbers of the copied rows of some days, in batches."""
    column, before = copy.choice.column, 0
    with open_batches(copy.path, "", [column]) as batches:
        for batch in batches:
            times, _ = parse_times(batch.column(column).to_pandas(), copy.choice.zone)
            yield before + np.flatnonzero(is_in_period(times, days))
            before += len(batch)


def load_counted_rows(
    rows: LoadedRows, period: Period, start: str | None, end: str
) -> Predictions | ClassPredictions:
    """Return the predictions in memory from `start` up to, but not including, `end`.

    There must be such rows: `explain_uncounted` gives no reason.
    """
    if (start, end) == (period.start, period.end) or rows.times is None:
        return rows.predictions
    days = replace(period, start=start, end=end)
    return _select(rows.predictions, np.flatnonzero(is_in_period(rows.times, days)))


def explain_uncounted(rows: LoadedRows | SourceReference, period: Period, start: str | None, end: str) -> str:
    """State why there are no rows of part of a period; empty if there are.

    Whether a file that is not in memory has any is known only when it is opened.
    """
    if (start, end) == (period.start, period.end):
        return ""
    if not _has_times(rows):
        return f"{_NOT_KNOWN}: there is no `audit.window.column`."
    days = replace(period, start=start, end=end)
    return _explain_empty(days) if isinstance(rows, LoadedRows) and not _has_rows(rows, days) else ""


def is_reason(note: str) -> bool:
    """Whether a note of a report states why no row of part of a period gives evidence."""
    return note.startswith((_NOT_KNOWN, _EMPTY, _LARGE_CLUSTER))


def _has_times(rows: LoadedRows | SourceReference) -> bool:
    if isinstance(rows, LoadedRows):
        return rows.times is not None
    return rows.copy is not None and bool(rows.copy.choice.column)


def _has_rows(rows: LoadedRows, days: Period) -> bool:
    """Whether rows with a weight are of some days."""
    weight = rows.predictions.weight
    is_in = np.zeros(0, dtype=np.bool_) if rows.times is None else is_in_period(rows.times, days)
    return bool(is_in.any() if weight is None else weight[is_in].any())


def _explain_empty(days: Period) -> str:
    return f"{_EMPTY} {days.describe()}."


def _explain_large_cluster(rows: int) -> str:
    return (
        f"{_LARGE_CLUSTER}, at most "
        f"{format_count(MOST_CLUSTER_ROWS)} of them, and the largest cluster has {format_count(rows)}."
    )


def _make_panel(predictions: Predictions | ClassPredictions) -> PanelRows:
    return panel_of(predictions) if isinstance(predictions, Predictions) else class_panel_of(predictions)


def _select(
    predictions: Predictions | ClassPredictions, order: np.ndarray[tuple[int], np.dtype[np.intp]]
) -> Predictions | ClassPredictions:
    """Some rows of predictions; rows without an outcome are not among them."""
    if len(order) == len(predictions):
        return predictions
    flow = RowFlow(read=len(order), kept=len(order))
    return replace(predictions.in_order(order), row_flow=flow, without_outcome=None)
