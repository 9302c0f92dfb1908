"""Tables of the data: the flow of rows, missing values, forecasts, and classes with their frequencies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.formatting import (
    common_decimals,
    format_count,
    format_level,
    format_number,
    format_percent,
)
from scorereport.report.tables.table import Table, interval_text, percent_interval_text, section_size
from scorereport.results.class_records import CLASS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport._utils.arrays import FloatArray
    from scorereport.data.predictions import RowFlow
    from scorereport.results.class_records import ClassModelResult, ViewResult
    from scorereport.results.model_records import ClassSummary, ModelResult


def class_table(classes: ClassSummary, level: str) -> Table:
    """Table of the classes: cases, share and its interval."""
    has_intervals = any(count.interval is not None for count in classes.counts)
    order = "from lowest to highest" if classes.ordered else "unordered"
    with_intervals = f", with {level} intervals" if has_intervals else ""
    return Table(
        caption=f"The {len(classes.counts)} classes of the outcome, {order}: number and share of cases"
        f"{with_intervals}",
        heads=("class", "cases", "share", *(["interval"] if has_intervals else [])),
        rows=tuple(
            (
                count.label,
                format_count(count.weight),
                format_percent(count.share),
                *([percent_interval_text(count.interval)] if has_intervals else []),
            )
            for count in classes.counts
        ),
    )


def class_forecast_table(models: Sequence[ClassModelResult], classes: ClassSummary) -> Table:
    """Table of the forecasts of each class: mean, smallest, median and largest, with the observed share."""
    rows = [
        (
            count.label,
            model.model,
            format_percent(count.share),
            *(format_percent(value) for value in _summarise(view)),
        )
        for count, views in zip(classes.counts, _views_by_class(models), strict=True)
        for model, view in zip(models, views, strict=True)
    ]
    return Table(
        caption="Forecasts of each class: mean, which should be close to the observed share of the class, "
        "smallest, median and largest",
        heads=("class", "model", "observed", "mean", "smallest", "median", "largest"),
        rows=tuple(rows),
        n_labels=2,
        section=section_size(models),
    )


def _views_by_class(models: Sequence[ClassModelResult]) -> Iterator[tuple[ViewResult, ...]]:
    families = [model.family(CLASS) for model in models]
    return zip(*(family.views for family in families if family is not None), strict=True)


def _summarise(view: ViewResult) -> tuple[float, float, float, float]:
    forecasts = view.forecasts
    median = next((q.value for q in forecasts.quantiles if q.level == 0.5), np.nan)
    return forecasts.mean, forecasts.minimum, median, forecasts.maximum


def label_table(models: Sequence[ClassModelResult], classes: ClassSummary, level: str) -> Table:
    """Table of precision, recall and F1 of each class, and its AUC against the rest."""
    has_intervals = models[0].scores.scores[0].interval is not None
    found = [_rates(np.array(model.confusion.counts)) for model in models]
    rows = [
        (count.label, model.model, *rates[place], *_area(view, has_intervals=has_intervals))
        for place, (count, views) in enumerate(zip(classes.counts, _views_by_class(models), strict=True))
        for model, view, rates in zip(models, views, found, strict=True)
    ]
    blank, interval = (("", ""), ("interval",)) if has_intervals else (("",), ())
    means = [("mean over classes", model.model, "", "", _macro_f1(model), *blank) for model in models]
    with_intervals = f", with {level} intervals" if has_intervals else ""
    return Table(
        caption="By class, if the predicted class is the likeliest one: precision (share of predictions of "
        "the class that are right), recall (share of its cases that are predicted), F1 (harmonic mean of "
        "both; its mean is macro F1), and AUC of the class against all others"
        f"{with_intervals}. Higher is better; n/d: never predicted, or never observed",
        heads=("class", "model", "precision", "recall", "F1", "AUC", *interval),
        rows=(*rows, *means),
        n_labels=2,
        section=section_size(models),
    )


def _macro_f1(model: ClassModelResult) -> str:
    return format_number(model.scores.score("macro_f1").value, 4)


def _rates(counts: FloatArray) -> list[tuple[str, str, str]]:
    """Return precision, recall and F1 of each class, as text."""
    right, observed, predicted = np.diagonal(counts), counts.sum(axis=1), counts.sum(axis=0)
    precision, recall, f1 = (
        np.divide(top, bottom, out=np.full(len(counts), np.nan), where=bottom > 0)
        for top, bottom in ((right, predicted), (right, observed), (2 * right, observed + predicted))
    )
    return [
        (format_percent(precision[k]), format_percent(recall[k]), format_number(f1[k], 4))
        for k in range(len(counts))
    ]


def _area(view: ViewResult, *, has_intervals: bool) -> tuple[str, ...]:
    area = view.scores.score("roc_auc")
    text = format_number(area.value, 4)
    return (text, interval_text(area.interval, 4)) if has_intervals else (text,)


def row_flow_table(flow: RowFlow) -> Table:
    """Table of rows read, dropped with the reason, and kept."""
    steps = [("read", flow.read), *((f"dropped: {d.reason}", -d.rows) for d in flow.dropped)]
    return Table(
        caption="Flow of rows; a row with several missing values is counted for the first of them",
        heads=("step", "rows", "share of rows read"),
        rows=tuple(
            (step, format_number(n, 0) if n < 0 else format_count(n), format_percent(n / flow.read))
            for step, n in (*steps, ("kept and evaluated", flow.kept))
        ),
    )


def missing_table(flow: RowFlow) -> Table | None:
    """Table of missing values by column; None if there are none."""
    if not flow.missing:
        return None
    return Table(
        caption="Missing values by column; a row may have several",
        heads=("column", "rows without it", "share of rows read"),
        rows=tuple(
            (m.column, format_count(m.rows), format_percent(m.rows / flow.read)) for m in flow.missing
        ),
    )


def forecast_table(models: Sequence[ModelResult]) -> Table:
    """Table of the distribution of each model's forecasts."""
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
        caption="Forecasts: smallest, quantiles, largest, mean, and number of distinct values",
        heads=("model", "min", *levels, "max", "mean", "distinct"),
        rows=tuple(
            (m.model, *(format_number(v, decimals) for v in row), format_count(m.forecasts.n_distinct))
            for m, row in zip(models, numbers, strict=True)
        ),
    )
