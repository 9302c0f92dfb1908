"""Segments of forecasts that a simultaneous band shows to be wrong: where, which way and by how much."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from scorereport._utils.arrays import CountArray, FloatArray  # noqa: TC001  # of a NamedTuple
from scorereport._utils.representation import short_repr
from scorereport._utils.rounding import exceeds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from scorereport.curves.fitted import ReliabilityCurve
    from scorereport.reliability.bands import Band
    from scorereport.reliability.blocks import Blocks


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """Forecasts between two ends that are too low (`sign` 1: events happen more often) or too high (-1).

    `size` is the mean over its cases of the recalibrated minus the forecast probability, `share` the share of
    all cases that it holds; both are weighted if cases are. They are None if they were not computed.
    """

    sign: int
    lower: float
    upper: float
    size: float | None = None
    share: float | None = None

    __repr__ = short_repr

    @property
    def weight(self) -> float:
        """By how much the segment moves the mean forecast; its width if size and share are not known."""
        if self.size is None or self.share is None:
            return self.upper - self.lower
        return abs(self.size) * self.share


class ForecastRanges(NamedTuple):
    """Forecasts in ascending order, in cells from `start` to `end`: their cases and sums of forecasts."""

    start: FloatArray
    end: FloatArray
    n: CountArray
    forecast: FloatArray

    @classmethod
    def of(cls, distinct: Blocks) -> Self:
        """Return a cell for each distinct forecast."""
        return cls(distinct.x_min, distinct.x_max, distinct.n, distinct.n * distinct.x_min)


def choose_band(bands: Sequence[Band]) -> Band | None:
    """Return the band that shows segments: simultaneous, preferably of consistency, which is narrower."""
    simultaneous = [band for band in bands if band.coverage == "simultaneous"]
    return min(simultaneous, key=lambda band: band.kind != "consistency", default=None)


def find_segments(curve: ReliabilityCurve, bands: Sequence[Band]) -> tuple[Segment, ...]:
    """Return the segments of forecasts that a simultaneous band shows to be wrong, in ascending order.

    A consistency band is compared with the curve, a confidence band with the diagonal. Two positions with
    the same sign are in one segment if the curve stays on the same side of the diagonal between them.
    """
    band = choose_band(bands)
    if band is None:
        return ()
    height = np.interp(band.x, curve.forecast, curve.cep)
    sign = _sign_of(height, band)
    starts_anew = _segment_starts(sign, exceeds(height, band.x).astype(int) - exceeds(band.x, height))
    places = np.split(np.flatnonzero(sign), starts_anew)
    return tuple(
        Segment(sign=int(sign[part[0]]), lower=float(band.x[part[0]]), upper=float(band.x[part[-1]]))
        for part in places
        if len(part)
    )


def measure_segments(
    segments: Sequence[Segment], cells: ForecastRanges, blocks: Blocks
) -> tuple[Segment, ...]:
    """Add size and share to segments, from cells of forecasts and the blocks of the isotonic fit.

    Segments are extended to whole cells. In the order of forecasts, recalibrated probabilities add up to
    the events at the end of every block and rise evenly inside it, so that no case has to be looked up.
    """
    ranks = np.append(0.0, np.cumsum(cells.n))
    at_blocks = np.append(0.0, np.cumsum(blocks.n)), np.append(0.0, np.cumsum(blocks.events))
    return tuple(_measure(segment, cells, ranks, at_blocks) for segment in segments)


def _measure(
    segment: Segment, cells: ForecastRanges, ranks: FloatArray, at_blocks: tuple[FloatArray, FloatArray]
) -> Segment:
    first = int(np.searchsorted(cells.end, segment.lower))
    last = int(np.searchsorted(cells.start, segment.upper, side="right"))
    below, reached = np.interp(ranks[[first, last]], *at_blocks)
    cases = float(ranks[last] - ranks[first])
    excess = float(reached - below) - float(cells.forecast[first:last].sum())
    return replace(
        segment,
        lower=float(cells.start[first]),
        upper=float(cells.end[last - 1]),
        size=excess / cases,
        share=cases / float(ranks[-1]),
    )


def _sign_of(height: FloatArray, band: Band) -> NDArray[np.int_]:
    """Return 1 where a band shows more events than forecast, -1 where fewer, else 0."""
    if band.kind == "consistency":
        return exceeds(height, band.upper).astype(int) - exceeds(band.lower, height)
    return exceeds(band.lower, band.x).astype(int) - exceeds(band.x, band.upper)


def _segment_starts(sign: NDArray[np.int_], side: NDArray[np.int_]) -> list[int]:
    """Return the indices, among positions with a sign, at which a new segment starts."""
    shown = np.flatnonzero(sign)
    return [
        place
        for place, (before, after) in enumerate(pairwise(shown), start=1)
        if sign[before] != sign[after] or (side[before:after] != sign[before]).any()
    ]
