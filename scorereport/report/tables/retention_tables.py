"""Tables and sentences on areas under retention curves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.formatting import common_decimals, format_number, format_plain, join_words
from scorereport._utils.rounding import first_lowest
from scorereport.report.tables.table import Table, interval_text, score_label
from scorereport.scores.registry import REGISTRY, Direction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.inference.estimates import Estimate
    from scorereport.inference.retention_bands import RetentionBand
    from scorereport.results.class_records import ClassModelResult

#: Decimals that a number loses when it is given in percent.
_PERCENT = 2


def retention_table(models: Sequence[ClassModelResult], level: str) -> Table:
    """Table of the areas under the curves of each metric on both axes, a row for each score."""
    bands = [band for model in models for band in model.retention]
    metrics = list(dict.fromkeys(band.metric for band in bands))
    decimals = {metric: _decimals(bands, metric) for metric in metrics}
    rows = [
        (model.model, _name_in_short(score), *_cells(model, score, decimals))
        for model in models
        for score in dict.fromkeys(band.score for band in model.retention)
    ]
    return Table(
        caption=_caption(bands[0], level),
        heads=(
            "model",
            "set aside by",
            *(head for metric in metrics for head in (_heading(metric), "interval", "percent")),
        ),
        rows=tuple(rows),
        n_labels=2,
        section=len(rows) // len(models) if len(models) > 1 else 0,
    )


def _name_in_short(score: str) -> str:
    """Return a short label of a score, for a narrow column."""
    return REGISTRY[score].short.removesuffix(" (K classes)") if score in REGISTRY else score


def _cells(model: ClassModelResult, score: str, decimals: dict[str, int]) -> tuple[str, ...]:
    """Return areas with their intervals and in percent, by metric."""
    areas = {band.metric: band.area for band in model.retention if band.score == score}
    return tuple(text for metric, d in decimals.items() for text in _texts(areas.get(metric), d))


def _texts(area: Estimate | None, decimals: int) -> tuple[str, str, str]:
    value = np.nan if area is None else area.value
    percent = format_number(100 * value, decimals - _PERCENT)
    return format_number(value, decimals), interval_text(area, decimals), percent


def _decimals(bands: Sequence[RetentionBand], metric: str) -> int:
    return common_decimals(band.area.value for band in bands if band.metric == metric)


def _heading(metric: str) -> str:
    if metric not in REGISTRY:
        return metric
    return f"{score_label(metric)}\N{NO-BREAK SPACE}{'↑' if _is_gain(metric) else '↓'}"


def _is_gain(metric: str) -> bool:
    return REGISTRY[metric].direction is Direction.HIGHER


def _caption(band: RetentionBand, level: str) -> str:
    first, last = float(band.fraction[0]), float(band.fraction[-1])
    with_intervals = f"; {level} intervals by {band.area.method}" if band.resamples else ""
    return (
        "Area under the retention curve. The axis is the fraction of cases set aside, from "
        f"{format_plain(first)} to {format_plain(last)}; an area is {format_plain(last - first)} if the "
        "metric is 1 throughout. In the next column, the axis is in percent and areas are 100 times as "
        f"large. ↑ higher, ↓ lower is better{with_intervals}"
    )


def describe_best_scores(models: Sequence[ClassModelResult]) -> list[str]:
    """State for each model with several scores which of them gives each metric its best area."""
    several = [model for model in models if len({band.score for band in model.retention}) > 1]
    return [_describe_best(model) for model in several if any(map(_is_known, model.retention))]


def _is_known(band: RetentionBand) -> bool:
    """Whether the area is defined, and the direction of its metric is known."""
    return band.metric in REGISTRY and not np.isnan(band.area.value)


def _describe_best(model: ClassModelResult) -> str:
    known = [band for band in model.retention if _is_known(band)]
    found = [
        _name_best([band for band in known if band.metric == metric])
        for metric in dict.fromkeys(band.metric for band in known)
    ]
    (metric, value, names), *others = found
    opening = f"{model.model}: {metric} has its best area, {value}, if cases are set aside by {names}"
    return "; ".join([opening, *(f"{metric}, {value}, by {names}" for metric, value, names in others)]) + "."


def _name_best(bands: Sequence[RetentionBand]) -> tuple[str, str, str]:
    """Return the metric, its best area and the scores that have it, as text."""
    metric, decimals = bands[0].metric, _decimals(bands, bands[0].metric)
    sign = 1 if _is_gain(metric) else -1
    best = bands[first_lowest([-sign * float(band.area.value) for band in bands])]
    value = format_number(best.area.value, decimals)
    names = [score_label(b.score) for b in bands if format_number(b.area.value, decimals) == value]
    text = "every score alike" if len(names) == len(bands) else join_words(names)
    apart = " (its interval overlaps no other)" if _is_separated(best, bands) else ""
    return score_label(metric), value, f"{text}{apart}"


def _is_separated(best: RetentionBand, bands: Sequence[RetentionBand]) -> bool:
    others = [band.area for band in bands if band is not best]
    return all(best.area.lower > o.upper or best.area.upper < o.lower for o in others)
