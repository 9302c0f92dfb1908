"""The data of an evaluation as tables: the flow of rows, missing values, and the forecasts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import (
    common_decimals,
    format_count,
    format_level,
    format_number,
    format_percent,
)
from scorereport.report.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.data.predictions import RowFlow
    from scorereport.results.model_records import ModelResult


def row_flow_table(flow: RowFlow) -> Table:
    """Rows read, dropped and why, and kept."""
    steps = [("read", flow.read), *((f"dropped: {d.reason}", -d.rows) for d in flow.dropped)]
    return Table(
        caption="Flow of rows; a row that lacks several values is counted for the first of them",
        heads=("step", "rows", "of those read"),
        rows=tuple(
            (step, format_number(n, 0) if n < 0 else format_count(n), format_percent(n / flow.read))
            for step, n in (*steps, ("kept and evaluated", flow.kept))
        ),
    )


def missing_table(flow: RowFlow) -> Table | None:
    """Missing values of every column, if there are any."""
    if not flow.missing:
        return None
    return Table(
        caption="Missing values by column; a row may lack several",
        heads=("column", "rows that lack it", "of those read"),
        rows=tuple(
            (m.column, format_count(m.rows), format_percent(m.rows / flow.read)) for m in flow.missing
        ),
    )


def forecast_table(models: Sequence[ModelResult]) -> Table:
    """The distribution of each model's forecasts in a few numbers."""
    numbers = [
        [
            m.forecasts.minimum,
            *(q.value for q in m.forecasts.quantiles),
            m.forecasts.maximum,
            m.forecasts.mean,
        ]
        for m in models
    ]
    decimals = common_decimals([row[-1] for row in numbers])
    levels = tuple(format_level(q.level) for q in models[0].forecasts.quantiles)
    return Table(
        caption="Forecasts: smallest, quantiles, largest, mean, and how many different ones there are",
        heads=("model", "min", *levels, "max", "mean", "distinct"),
        rows=tuple(
            (m.model, *(format_number(v, decimals) for v in row), format_count(m.forecasts.n_distinct))
            for m, row in zip(models, numbers, strict=True)
        ),
    )
