"""What of a measure fits into its chart: the scale, and what the picture does not show in full."""

from __future__ import annotations

import math
from statistics import median
from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_counted, format_value, join_words
from scorereport.audit.site.chart_axes import NumberScale, scale_of_numbers
from scorereport.audit.site.measure_series import BOUNDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scorereport.audit.site.measure_series import MeasuredValue

#: An interval so many times as wide as others may be cut at the edge.
_WIDE_FACTOR = 4
#: A limit is left outside of the picture if it would leave so small a share of it to the data.
_SMALLEST_SHARE = 0.2


def choose_number_scale(readings: Sequence[MeasuredValue], height: int) -> NumberScale:
    """Room for all numbers, for intervals unless they are far wider than others, and for limits nearby."""
    values = [reading.value for reading in readings if math.isfinite(reading.value)]
    ends = [*values, *_usual_ends(readings)]
    span = max(ends) - min(ends) if ends else 0.0
    for limit in sorted(_all_limits(readings), key=lambda limit: abs(limit - median(values or [0.0]))):
        reach = max([*ends, limit]) - min([*ends, limit])
        if not span or span >= _SMALLEST_SHARE * reach:
            ends.append(limit)
    return scale_of_numbers(ends, height)


def describe_outside(readings: Sequence[MeasuredValue], scale: NumberScale) -> Iterator[str]:
    """What the picture does not show in full, in words."""
    infinite = sum(math.isinf(reading.value) for reading in readings)
    if infinite:
        yield f"{format_counted(infinite, 'infinite number')} drawn at the edge."
    cut = sum(
        reading.has_interval and not (scale.holds(reading.lower) and scale.holds(reading.upper))
        for reading in readings
    )
    if cut:
        yield f"{format_counted(cut, 'interval')} far wider than the others, cut at the edge."
    outside = sorted(limit for limit in _all_limits(readings) if not scale.holds(limit))
    if outside:
        told = join_words(format_value(limit) for limit in outside)
        yield f"Beyond the edge, far from all numbers: {'limits' if len(outside) > 1 else 'limit'} {told}."


def _usual_ends(readings: Sequence[MeasuredValue]) -> Iterator[float]:
    drawn = [reading for reading in readings if reading.has_interval and math.isfinite(reading.value)]
    usual = median([reading.upper - reading.lower for reading in drawn]) if drawn else 0.0
    for reading in drawn:
        if reading.upper - reading.lower <= _WIDE_FACTOR * usual:
            yield from (reading.lower, reading.upper)


def _all_limits(readings: Iterable[MeasuredValue]) -> set[float]:
    judgements = [reading.judgement for reading in readings if reading.judgement is not None]
    limits = {getattr(judgement, name) for judgement in judgements for name, _, _ in BOUNDS}
    return {limit for limit in limits if limit is not None and math.isfinite(limit)}
