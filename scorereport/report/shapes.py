"""At which forecasts a reliability curve is shown to miss the diagonal, in words, checked against a band.

A slope says nothing about a single forecast: low forecasts of a flat line may be right. So each end is held
against a simultaneous band, and what the band does not show is not said.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from scorereport._utils.formatting import format_level, format_number, join_words
from scorereport._utils.rounding import exceeds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray
    from scorereport.curves.fitted import ReliabilityCurve
    from scorereport.reliability.bands import Band

#: Where segments are more than these, the rest is counted.
_MOST_SEGMENTS = 4
#: Most decimals of a forecast in percent that is not quite 0 or 100.
_MOST_DECIMALS = 4
_SHAPES: dict[tuple[int, ...], str] = {(1, -1): "too extreme", (-1, 1): "too timid"}


class Segment(NamedTuple):
    """Forecasts between two ends that are too low (`sign` 1: events happen more often) or too high (-1)."""

    sign: int
    lower: float
    upper: float


def find_segments(curve: ReliabilityCurve, bands: Sequence[Band]) -> tuple[Segment, ...]:
    """Segments of the forecasts at which a simultaneous band shows that they are wrong, in ascending order.

    A consistency band is held against the curve, a confidence band against the diagonal. Two positions of
    the same sign are in one segment if the curve stays on the same side of the diagonal between them.
    """
    band = _choose_band(bands)
    if band is None:
        return ()
    height = np.interp(band.x, curve.forecast, curve.cep)
    sign = _sign_of(height, band)
    starts_anew = _segment_starts(sign, exceeds(height, band.x).astype(int) - exceeds(band.x, height))
    places = np.split(np.flatnonzero(sign), starts_anew)
    return tuple(
        Segment(int(sign[part[0]]), float(band.x[part[0]]), float(band.x[part[-1]]))
        for part in places
        if len(part)
    )


def describe_segments(curve: ReliabilityCurve, bands: Sequence[Band]) -> str:
    """What is wrong with "forecasts", as a clause that follows this word; empty if no band shows anything."""
    segments = find_segments(curve, bands)
    if not segments:
        return ""
    shape = _SHAPES.get(tuple(segment.sign for segment in segments), "")
    told = [
        f"{_name_range(segment)} are too {_direction_word(segment)}" for segment in segments[:_MOST_SEGMENTS]
    ]
    more = len(segments) - _MOST_SEGMENTS
    told += [f"{more} more ranges leave the band"] if more > 0 else []
    how = f" ({_name_band(bands)})"
    if not shape:
        return f"{join_words(told)}{how}"
    return f"are {shape}: those {' and those '.join(told)}{how}"


def _choose_band(bands: Sequence[Band]) -> Band | None:
    """The simultaneous band, the one around the diagonal if there is one: it is narrower."""
    simultaneous = [band for band in bands if band.coverage == "simultaneous"]
    return min(simultaneous, key=lambda band: band.kind != "consistency", default=None)


def _name_band(bands: Sequence[Band]) -> str:
    band = _choose_band(bands)
    return "" if band is None else f"{format_level(band.level)} simultaneous {band.kind} band"


def _sign_of(height: FloatArray, band: Band) -> NDArray[np.int_]:
    """1 where events are shown to happen more often than forecast, -1 where less often, else 0."""
    if band.kind == "consistency":
        return exceeds(height, band.upper).astype(int) - exceeds(band.lower, height)
    return exceeds(band.lower, band.x).astype(int) - exceeds(band.x, band.upper)


def _segment_starts(sign: NDArray[np.int_], side: NDArray[np.int_]) -> list[int]:
    """Which of the positions with a sign start a segment, by their number."""
    shown = np.flatnonzero(sign)
    return [
        place
        for place, (before, after) in enumerate(pairwise(shown), start=1)
        if sign[before] != sign[after] or (side[before:after] != sign[before]).any()
    ]


def _direction_word(segment: Segment) -> str:
    return "low" if segment.sign > 0 else "high"


def _name_range(segment: Segment) -> str:
    ends = [_format_forecast(end) for end in (segment.lower, segment.upper)]
    return f"at {ends[0]}" if ends[0] == ends[1] else f"from {ends[0]} to {ends[1]}"


def _format_forecast(value: float) -> str:
    """A forecast in percent, with decimals enough to tell it from 0 and 100."""
    texts = [format_number(100 * value, decimals) for decimals in range(1, _MOST_DECIMALS + 1)]
    is_certain = value in (0, 1)
    told = next((text for text in texts if is_certain or 0 < float(text) < 100), texts[-1])
    return f"{told} %"
