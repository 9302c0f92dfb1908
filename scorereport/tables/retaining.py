"""Areas under retention curves as tables, and in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport.formatting import common_decimals, format_number, join_words
from scorereport.scores.registry import REGISTRY, Direction
from scorereport.tables.table import Table, interval_text, label_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.class_results import ClassModelResult
    from scorereport.inference.outcomes import Estimate
    from scorereport.inference.retaining import RetentionBand

#: Decimals that a number loses when it is told in percent.
_PERCENT = 2


def retention_table(models: Sequence[ClassModelResult], level: str, *, percent: bool = False) -> Table:
    """The area under the curve of each metric, a row for each score that orders the cases of a model."""
    bands = [band for model in models for band in model.retention]
    metrics = list(dict.fromkeys(band.metric for band in bands))
    decimals = {metric: _decimals(bands, metric) - (_PERCENT if percent else 0) for metric in metrics}
    rows = [
        (model.model, label_of(score), *_cells(model, score, decimals, percent=percent))
        for model in models
        for score in dict.fromkeys(band.score for band in model.retention)
    ]
    return Table(
        caption=_percent_caption(bands[0]) if percent else _caption(bands[0], level),
        heads=(
            "model",
            "set aside by",
            *(head for metric in metrics for head in (_head(metric), "interval")),
        ),
        rows=tuple(rows),
        n_labels=2,
        section=len(rows) // len(models) if len(models) > 1 else 0,
    )


def _cells(
    model: ClassModelResult, score: str, decimals: dict[str, int], *, percent: bool
) -> tuple[str, ...]:
    """Areas with their intervals, metric by metric."""
    by_metric = {band.metric: band for band in model.retention if band.score == score}
    areas = {m: band.area_percent if percent else band.area for m, band in by_metric.items()}
    return tuple(text for metric, d in decimals.items() for text in _texts(areas.get(metric), d))


def _texts(area: Estimate | None, decimals: int) -> tuple[str, str]:
    value = np.nan if area is None else area.value
    return format_number(value, decimals), interval_text(area, decimals)


def _decimals(bands: Sequence[RetentionBand], metric: str) -> int:
    return common_decimals(band.area.value for band in bands if band.metric == metric)


def _head(metric: str) -> str:
    if metric not in REGISTRY:
        return metric
    return f"{label_of(metric)} {'↑' if _is_gain(metric) else '↓'}"


def _is_gain(metric: str) -> bool:
    return REGISTRY[metric].direction is Direction.HIGHER


def _caption(band: RetentionBand, level: str) -> str:
    first, last = float(band.fraction[0]), float(band.fraction[-1])
    with_intervals = f"; {level} intervals by {band.area.method}" if band.resamples else ""
    return (
        "Area under the retention curve, with the fraction of cases set aside on its axis, from "
        f"{first:g} to {last:g}: {last - first:g} if the metric is 1 throughout. ↑ higher, ↓ lower is "
        f"better{with_intervals}"
    )


def _percent_caption(band: RetentionBand) -> str:
    first, last = 100 * float(band.fraction[0]), 100 * float(band.fraction[-1])
    return (
        f"The same areas with the cases set aside in percent, from {first:g} to {last:g}, on the axis: 100 "
        "times as large. ↑ higher, ↓ lower is better"
    )


def describe_best_scores(models: Sequence[ClassModelResult]) -> list[str]:
    """A sentence for each model with several scores: by which of them each metric has its best area."""
    return [_describe_best(model) for model in models if len({band.score for band in model.retention}) > 1]


def _describe_best(model: ClassModelResult) -> str:
    metrics = dict.fromkeys(band.metric for band in model.retention if band.metric in REGISTRY)
    told = [_name_best([b for b in model.retention if b.metric == metric]) for metric in metrics]
    (metric, value, names), *others = told
    opening = f"{model.model}: {metric} has its best area, {value}, if cases are set aside by {names}"
    return "; ".join([opening, *(f"{metric}, {value}, by {names}" for metric, value, names in others)]) + "."


def _name_best(bands: Sequence[RetentionBand]) -> tuple[str, str, str]:
    """The metric, its best area and the scores that have it, all in words."""
    metric, decimals = bands[0].metric, _decimals(bands, bands[0].metric)
    sign = 1 if _is_gain(metric) else -1
    best = max(bands, key=lambda band: float(np.nan_to_num(sign * band.area.value, nan=-np.inf)))
    value = format_number(best.area.value, decimals)
    names = [label_of(b.score) for b in bands if format_number(b.area.value, decimals) == value]
    text = "every score alike" if len(names) == len(bands) else join_words(names)
    apart = " (interval apart from all others)" if _is_apart(best, bands) else ""
    return label_of(metric), value, f"{text}{apart}"


def _is_apart(best: RetentionBand, bands: Sequence[RetentionBand]) -> bool:
    others = [band.area for band in bands if band is not best]
    return all(best.area.lower > o.upper or best.area.upper < o.lower for o in others)
