"""Curves of an isotonic fit: the reliability curve, the histogram of forecasts and the ROC curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from scorereport._utils.arrays import CountArray, FloatArray, read_only
from scorereport._utils.record_frames import array_frame
from scorereport._utils.representation import short_repr
from scorereport.scores.ranking import area_under_roc

if TYPE_CHECKING:
    from scorereport.reliability.blocks import Blocks


class IsotonicFit(Protocol):
    """A fit with its distinct forecasts, or with those that a curve needs."""

    @property
    def distinct(self) -> Blocks:
        """One block for each distinct forecast, ascending; of a digest, for those marked and for gaps."""

    @property
    def blocks(self) -> Blocks:
        """The blocks of the isotonic fit."""

    @property
    def n(self) -> float:
        """Number of cases; with weights, their sum."""

    @property
    def events(self) -> float:
        """Number of events; with weights, the sum of their weights."""

    @property
    def prevalence(self) -> float:
        """Share of events."""

    @property
    def forecast_type(self) -> str:
        """Either "discrete" or "continuous"."""

    @property
    def corners(self) -> tuple[FloatArray, FloatArray]:
        """The reliability curve at both ends of each block."""

    def require_events(self, what: str) -> None:
        """Raise an error if outcomes are real numbers, for results that need events."""


_FEWEST_BINS = 5
_NARROWEST_BIN = 1 / 400
#: An interquartile range below this is not a measure of spread (R's rule).
_NO_SPREAD = float(np.sqrt(np.finfo(np.float64).eps))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReliabilityCurve:
    """Recalibrated probability against forecast, at the corners of the blocks; lines join them."""

    forecast: FloatArray
    cep: FloatArray
    forecast_type: str

    __repr__ = short_repr
    to_frame = array_frame


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Histogram:
    """Number of cases and of events between `lower` and `upper`; bars have no width if discrete."""

    lower: FloatArray
    upper: FloatArray
    n: FloatArray
    events: FloatArray
    rule: str

    __repr__ = short_repr
    to_frame = array_frame


def reliability_curve(fit: IsotonicFit) -> ReliabilityCurve:
    """Return the reliability curve: the corners of the CORP reliability diagram."""
    forecast, cep = fit.corners
    return ReliabilityCurve(forecast=read_only(forecast), cep=read_only(cep), forecast_type=fit.forecast_type)


def forecast_histogram(fit: IsotonicFit) -> Histogram:
    """Count the forecasts: one bar per value if discrete, else in bins by Freedman and Diaconis.

    Bins have a width of 2 IQR n^(-1/3), at least 1/400, between the smallest and the largest forecast;
    there are at least 5 of them, however narrow.
    """
    distinct = fit.distinct
    if fit.forecast_type == "discrete":
        edges = (distinct.x_min, distinct.x_max)
        return _histogram(*edges, distinct.n, distinct.events, "one bar per distinct forecast")
    edge = histogram_edges(distinct)
    n, _ = np.histogram(distinct.x_min, bins=edge, weights=distinct.n)
    events, _ = np.histogram(distinct.x_min, bins=edge, weights=distinct.events)
    return _histogram(edge[:-1], edge[1:], n, events, "Freedman-Diaconis")


def _histogram(
    lower: FloatArray, upper: FloatArray, n: CountArray, events: CountArray, rule: str
) -> Histogram:
    parts = [read_only(np.asarray(part, dtype=np.float64)) for part in (lower, upper, n, events)]
    return Histogram(lower=parts[0], upper=parts[1], n=parts[2], events=parts[3], rule=rule)


def histogram_edges(distinct: Blocks) -> FloatArray:
    """Return the edges of the bins by Freedman and Diaconis."""
    spread = quantile_of(distinct, 0.75) - quantile_of(distinct, 0.25)
    width = 2 * spread / float(distinct.n.sum()) ** (1 / 3) if spread >= _NO_SPREAD else 0.0
    smallest, largest = distinct.x_min[0], distinct.x_max[-1]
    bins = round((largest - smallest) / max(width, _NARROWEST_BIN))
    return np.linspace(smallest, largest, max(bins, _FEWEST_BINS) + 1)


def quantile_of(distinct: Blocks, level: float) -> float:
    """Return the type-7 quantile of the forecasts, with weights as counts."""
    position = (distinct.n.sum() - 1) * level
    reached = np.cumsum(distinct.n)
    below, above = (
        distinct.x_min[min(np.searchsorted(reached, rank, side="right"), len(distinct) - 1)]
        for rank in (np.floor(position), np.ceil(position))
    )
    return float(below + (above - below) * (position - np.floor(position)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RocCurve:
    """Rates of true and false positives for decisions p >= threshold, thresholds descending.

    The rate of an absent class is NaN, and so is the area then.
    """

    threshold: FloatArray
    fpr: FloatArray
    tpr: FloatArray
    auc: float

    __repr__ = short_repr
    to_frame = array_frame


def roc_curve(fit: IsotonicFit) -> RocCurve:
    """Compute the ROC curve at every distinct forecast, from (0, 0) at threshold infinity to (1, 1)."""
    return _roc(fit, fit.distinct)


def roc_hull(fit: IsotonicFit) -> RocCurve:
    """Compute the concave hull of the ROC curve, whose corners are those of the isotonic fit."""
    return _roc(fit, fit.blocks)


def _roc(fit: IsotonicFit, blocks: Blocks) -> RocCurve:
    fit.require_events("An ROC curve")
    # first, as it takes memory; nothing holds on to the numbers that it replaces by others
    auc = area_under_roc(blocks.events.astype(np.float64), (blocks.n - blocks.events).astype(np.float64))
    return RocCurve(
        threshold=read_only(np.append(np.inf, blocks.x_min[::-1])),
        fpr=_cumulative_rate(blocks.n - blocks.events),
        tpr=_cumulative_rate(blocks.events),
        auc=auc,
    )


def _cumulative_rate(weight: CountArray) -> FloatArray:
    found = np.zeros(len(weight) + 1)
    np.cumsum(weight[::-1], out=found[1:])
    found /= found[-1] if found[-1] > 0 else np.nan
    return read_only(found)
