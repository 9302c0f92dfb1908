"""Curves of an isotonic fit: the reliability curve, the histogram of forecasts and the ROC curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.arrays import CountArray, FloatArray, read_only
from scorereport._utils.record_frames import array_frame
from scorereport._utils.representation import short_repr
from scorereport.curves.fit_or_arrays import accept_fit_keyword, as_fit
from scorereport.reliability.blocks import sum_up
from scorereport.scores.ranking import area_under_roc

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from scorereport.curves.fit_or_arrays import IsotonicFit
    from scorereport.reliability.blocks import Blocks


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


@accept_fit_keyword
def reliability_curve(
    y_true: ArrayLike | IsotonicFit,
    y_prob: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
) -> ReliabilityCurve:
    """Return the reliability curve: the corners of the CORP reliability diagram.

    Parameters
    ----------
    y_true : outcomes 0 or 1, or a fit of `corp`, which replaces all three
    y_prob : probabilities
    sample_weight : not negative

    >>> reliability_curve([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.9]).cep
    array([0. , 0.5, 0.5, 1. ])
    """
    fit = as_fit(y_true, y_prob, sample_weight)
    forecast, cep = fit.corners
    return ReliabilityCurve(forecast=read_only(forecast), cep=read_only(cep), forecast_type=fit.forecast_type)


@accept_fit_keyword
def forecast_histogram(
    y_true: ArrayLike | IsotonicFit,
    y_prob: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
) -> Histogram:
    """Count the forecasts: one bar per value if discrete, else in bins by Freedman and Diaconis.

    Bins have a width of 2 IQR n^(-1/3), at least 1/400, between the smallest and the largest forecast;
    there are at least 5 of them, however narrow.

    Parameters
    ----------
    y_true : outcomes 0 or 1, or a fit of `corp`, which replaces all three
    y_prob : probabilities
    sample_weight : not negative

    >>> forecast_histogram([0, 1, 0, 1], [0.1, 0.2, 0.1, 0.9]).n
    array([2., 1., 1.])
    """
    fit = as_fit(y_true, y_prob, sample_weight)
    distinct = fit.distinct
    if fit.forecast_type == "discrete":
        edges = (distinct.x_min, distinct.x_max)
        return _histogram(*edges, distinct.n, distinct.events, "one bar per distinct forecast")
    edge = histogram_edges(distinct)
    cuts = np.searchsorted(distinct.x_min, edge)
    cuts[-1] = len(distinct)  # the last bin has its upper edge
    n, events = (np.diff(sum_up(counts)[cuts]) for counts in (distinct.n, distinct.events))
    return _histogram(edge[:-1], edge[1:], n, events, "Freedman-Diaconis")


def _histogram(
    lower: FloatArray, upper: FloatArray, n: CountArray, events: CountArray, rule: str
) -> Histogram:
    parts = [read_only(np.asarray(part, dtype=np.float64)) for part in (lower, upper, n, events)]
    return Histogram(lower=parts[0], upper=parts[1], n=parts[2], events=parts[3], rule=rule)


def histogram_edges(distinct: Blocks) -> FloatArray:
    """Return the edges of the bins by Freedman and Diaconis."""
    lower, upper = quantiles_of(distinct, (0.25, 0.75))
    spread = upper - lower
    width = 2 * spread / float(distinct.n.sum()) ** (1 / 3) if spread >= _NO_SPREAD else 0.0
    smallest, largest = distinct.x_min[0], distinct.x_max[-1]
    bins = round((largest - smallest) / max(width, _NARROWEST_BIN))
    return np.linspace(smallest, largest, max(bins, _FEWEST_BINS) + 1)


def quantiles_of(distinct: Blocks, levels: Sequence[float]) -> list[float]:
    """Return type-7 quantiles of the forecasts, with weights as counts."""
    reached, last = np.cumsum(distinct.n), len(distinct) - 1
    positions = (distinct.n.sum() - 1) * np.asarray(levels)
    below, above = (
        distinct.x_min[np.minimum(np.searchsorted(reached, ranks, side="right"), last)]
        for ranks in (np.floor(positions), np.ceil(positions))
    )
    found: list[float] = (below + (above - below) * (positions - np.floor(positions))).tolist()
    return found


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


@accept_fit_keyword
def roc_curve(
    y_true: ArrayLike | IsotonicFit,
    y_prob: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
) -> RocCurve:
    """Compute the ROC curve at every distinct forecast, from (0, 0) at threshold infinity to (1, 1).

    Parameters
    ----------
    y_true : outcomes 0 or 1, or a fit of `corp`, which replaces all three
    y_prob : probabilities
    sample_weight : not negative

    >>> roc_curve([0, 1, 0, 1], [0.1, 0.6, 0.4, 0.3]).auc
    0.75
    """
    fit = as_fit(y_true, y_prob, sample_weight)
    return _roc(fit, fit.distinct)


@accept_fit_keyword
def roc_hull(
    y_true: ArrayLike | IsotonicFit,
    y_prob: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
) -> RocCurve:
    """Compute the concave hull of the ROC curve, whose corners are those of the isotonic fit.

    Parameters
    ----------
    y_true : outcomes 0 or 1, or a fit of `corp`, which replaces all three
    y_prob : probabilities
    sample_weight : not negative

    >>> roc_hull([0, 1, 0, 1], [0.1, 0.6, 0.4, 0.3]).auc
    0.875
    """
    fit = as_fit(y_true, y_prob, sample_weight)
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
