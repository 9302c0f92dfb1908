"""Rows of part of a period: those that are counted as evidence, because no earlier audit counted them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from scorereport.audit.rows.loaded_rows import LoadedRows
from scorereport.data.predictions import Predictions, RowFlow

if TYPE_CHECKING:
    from scorereport.audit.rows.source_reference import SourceReference
    from scorereport.configuration.periods import Period
    from scorereport.data.predictions import ClassPredictions


def load_counted_rows(
    rows: LoadedRows | SourceReference, period: Period, start: str | None, end: str
) -> Predictions | ClassPredictions | None:
    """Return the predictions from `start` up to, but not including, `end`, without reading the source again.

    Days and times are local ones of the audit. The result is None if such rows cannot be selected, for the
    reason that `explain_uncounted` gives.
    """
    if explain_uncounted(rows, period, start, end) or not isinstance(rows, LoadedRows):
        return None
    if (start, end) == (period.start, period.end) or rows.times is None:
        return rows.predictions
    return _select(rows.predictions, np.flatnonzero(_is_between(rows.times, start, end)))


def explain_uncounted(rows: LoadedRows | SourceReference, period: Period, start: str | None, end: str) -> str:
    """State why there are no rows of part of a period, as one of `list_reasons`; empty if there are."""
    in_engine, without_column, without_rows = list_reasons(period, start, end)
    if not isinstance(rows, LoadedRows):
        return in_engine
    if (start, end) == (period.start, period.end):
        return ""
    if rows.times is None:
        return without_column
    return "" if _is_between(rows.times, start, end).any() else without_rows


def list_reasons(period: Period, start: str | None, end: str) -> tuple[str, str, str]:
    """List the reasons why rows of part of a period do not count: engine, no column of times, no rows."""
    return (
        "The engine of this evaluation does not keep rows in memory.",
        "The rows of the days that no earlier audit counted are not known: there is no "
        "`audit.window.column`.",
        f"No evaluated row is of {replace(period, start=start, end=end).describe()}.",
    )


def _is_between(
    times: np.ndarray[tuple[int], np.dtype[np.datetime64]], start: str | None, end: str
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    is_before = times < np.datetime64(end)
    return is_before if start is None else is_before & (times >= np.datetime64(start))


def _select(
    predictions: Predictions | ClassPredictions, order: np.ndarray[tuple[int], np.dtype[np.intp]]
) -> Predictions | ClassPredictions:
    """Some rows of predictions; rows without an outcome are not among them."""
    if len(order) == len(predictions):
        return predictions
    flow = RowFlow(read=len(order), kept=len(order))
    if isinstance(predictions, Predictions):
        return replace(predictions.in_order(order), row_flow=flow, without_outcome=None)
    return replace(predictions.in_order(order), row_flow=flow)
