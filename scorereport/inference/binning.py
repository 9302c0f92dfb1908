"""The expected calibration error: forecasts in bins, with the warning that the bins decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorereport.arrays import FloatArray, read_only
from scorereport.checks import check_option, check_whole
from scorereport.inference.panel import Panel, make_panel
from scorereport.rounding import find_reached

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from scorereport.arrays import IntArray

NAEINI_2015 = "Naeini, Cooper, Hauskrecht (2015), AAAI 29, doi:10.1609/aaai.v29i1.9602"
STRATEGIES = ("uniform", "quantile")
NORMS = ("l1", "l2", "max")
#: Numbers of bins whose values stand in the warning.
OTHER_BINS = (5, 10, 20)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BinnedError:
    """A binned calibration error with its bins: forecasts in (lower, upper], empty bins left out.

    `bins` is how many were asked for, `n` how many cases are in each that has any.
    """

    value: float
    bins: int
    strategy: str
    norm: str
    lower: FloatArray
    upper: FloatArray
    n: FloatArray
    mean_forecast: FloatArray
    event_rate: FloatArray
    note: str
    reference: str = NAEINI_2015


def expected_calibration_error(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    bins: int = 10,
    strategy: str = "uniform",
    norm: str = "l1",
    sample_weight: ArrayLike | None = None,
    weight_kind: str = "sampling",
) -> BinnedError:
    """Distance between event rate and mean forecast in bins: ECE, which depends on the bins.

    Parameters
    ----------
    y_true : outcomes 0 or 1
    y_prob : probabilities
    bins : how many bins to make
    strategy : "uniform", of equal width; or "quantile", where a bin ends at the forecast that completes
        its share of the cases, so that equal forecasts stay together
    norm : "l1", the mean distance over cases; "l2", the root of the mean square; or "max"
    sample_weight, weight_kind : not negative; "sampling" weights of rows that were drawn once, or
        "frequency", how often each row was observed

    References
    ----------
    Naeini, Cooper, Hauskrecht (2015), AAAI 29, doi:10.1609/aaai.v29i1.9602

    >>> ece = expected_calibration_error([0, 1, 0, 1], [0.1, 0.3, 0.3, 0.6], bins=2)
    >>> round(ece.value, 4), ece.upper, ece.event_rate.round(2), ece.mean_forecast.round(2)
    (0.175, array([0.5, 1. ]), array([0.33, 1.  ]), array([0.23, 0.6 ]))
    >>> ece.note
    'The value depends on the bins: 0.2250 with 5, 0.2250 with 10, 0.2250 with 20.'
    """
    bins = check_whole(bins, "bins", 1)
    check_option(strategy, "strategy", STRATEGIES)
    check_option(norm, "norm", NORMS)
    panel = make_panel(y_true, {"y_prob": y_prob}, sample_weight=sample_weight, weight_kind=weight_kind)
    return _bin_cases(panel, bins, strategy, norm, _warn(panel, strategy, norm))


def _warn(panel: Panel, strategy: str, norm: str) -> str:
    values = [(_bin_cases(panel, bins, strategy, norm).value, bins) for bins in OTHER_BINS]
    return f"The value depends on the bins: {', '.join(f'{v:.4f} with {bins}' for v, bins in values)}."


def _bin_cases(panel: Panel, bins: int, strategy: str, norm: str, note: str = "") -> BinnedError:
    weight, edges = panel.units.row_weight, _edges(panel, bins, strategy)
    index = np.searchsorted(edges[1:-1], panel.only)
    n, events, forecast = (_sums(index, weight * v, bins) for v in (1.0, panel.outcome, panel.only))
    used = np.flatnonzero(n > 0)
    distance = np.abs(events[used] - forecast[used]) / n[used]
    return BinnedError(
        value=_combine(distance, n[used] / n.sum(), norm),
        bins=bins,
        strategy=strategy,
        norm=norm,
        lower=read_only(edges[used]),
        upper=read_only(edges[used + 1]),
        n=read_only(n[used]),
        mean_forecast=read_only(forecast[used] / n[used]),
        event_rate=read_only(events[used] / n[used]),
        note=note,
    )


def _edges(panel: Panel, bins: int, strategy: str) -> FloatArray:
    """Ends of the bins, from 0 or the lowest forecast to 1 or the highest."""
    if strategy == "uniform":
        return np.arange(bins + 1) / bins
    p, counted = panel.only, np.cumsum(panel.units.row_weight)
    inner = p[find_reached(counted, np.arange(1, bins) / bins)]
    return np.concatenate([p[:1], inner, p[-1:]])


def _sums(index: IntArray, values: FloatArray, bins: int) -> FloatArray:
    return np.bincount(index, values, minlength=bins).astype(np.float64)


def _combine(distance: FloatArray, share: FloatArray, norm: str) -> float:
    if norm == "max":
        return float(distance.max())
    return float((share * distance).sum() if norm == "l1" else np.sqrt((share * distance**2).sum()))
