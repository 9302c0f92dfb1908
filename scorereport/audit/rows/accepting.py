"""The rows of a period as predictions: checked, and counted from the source on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import format_counted
from scorereport.audit.rows.source_rows import list_label_columns
from scorereport.data.predictions import DroppedRows, MissingValues, RowFlow
from scorereport.data.reader import read_predictions
from scorereport.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scorereport._utils.arrays import IntArray
    from scorereport.audit.rows.period_rows import SpoolCounts
    from scorereport.audit.rows.period_window import PeriodRows
    from scorereport.audit.rows.source_rows import SourceRows
    from scorereport.configuration.periods import Period
    from scorereport.data.roles import Roles
    from scorereport.data.scorereport_predictions import ClassPredictions, Predictions


def check_period_rows(
    chosen: PeriodRows,
    read: SourceRows,
    column: str,
    period: Period,
    columns: Mapping[str, Any],
    roles: Roles,
) -> Predictions | ClassPredictions:
    """The predictions in the rows of a period, which the column of the window told."""
    predictions = _check_chosen_rows(chosen, read, period, columns)
    return replace(
        predictions,
        source=read.source,
        file_sha256=read.sha256,
        rows=_find_source_rows(predictions, chosen),
        row_flow=extend_row_flow(predictions.row_flow, chosen, column, period, roles),
    )


def _check_chosen_rows(
    chosen: PeriodRows, read: SourceRows, period: Period, columns: Mapping[str, Any]
) -> Predictions | ClassPredictions:
    """Check the rows of the period; a refusal says how rows are counted, if it names any."""
    try:
        return read_predictions(chosen.frame, **columns)
    except DataError as error:
        is_file_order = len(chosen.frame) == chosen.read and read.sha256
        if " at row " not in str(error) or is_file_order:
            raise
        raise DataError(
            f"{error} {describe_row_counting(len(chosen.frame), chosen.read, period, read.order)}"
        ) from error


def describe_row_counting(rows: int, read: int, period: Period, order: str) -> str:
    """How rows are counted in a refusal, if it is not from the first of the source."""
    which = "" if rows == read else f" of {period.describe()}"
    return f"Rows are counted from 0 among the {format_counted(rows, 'row')}{which}, {order}."


def _find_source_rows(predictions: Predictions | ClassPredictions, chosen: PeriodRows) -> IntArray | None:
    """Where the rows stood in the source, if some were left out."""
    if predictions.rows is not None:
        return chosen.rows[predictions.rows]
    return None if len(chosen.rows) == chosen.read else chosen.rows


def extend_row_flow(
    flow: RowFlow, chosen: PeriodRows | SpoolCounts, column: str, period: Period, roles: Roles
) -> RowFlow:
    """The flow of rows from the source, those of other days and those without a time first."""
    counts = {
        f"missing `{column}`": chosen.without_time,
        f"outside of {period.describe()}": chosen.others,
    }
    dropped = tuple(DroppedRows(reason=reason, rows=rows) for reason, rows in counts.items() if rows)
    missing = {item.column: item.rows for item in flow.missing}
    if chosen.without_time:
        used = dict.fromkeys([roles.outcome, *roles.numbers, *list_label_columns(roles, column)], 0)
        missing = used | missing | {column: chosen.without_time}
    return RowFlow(
        read=chosen.read,
        kept=flow.kept,
        dropped=(*dropped, *flow.dropped),
        missing=tuple(MissingValues(column=name, rows=rows) for name, rows in missing.items()),
    )
