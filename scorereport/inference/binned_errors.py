"""The expected calibration error: forecasts in bins, with an interval and a note on the bins."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from scorereport._utils.arrays import FloatArray, read_only
from scorereport._utils.checks import check_inside, check_option, check_whole
from scorereport._utils.choices import SEED
from scorereport._utils.formatting import format_fixed
from scorereport._utils.representation import short_repr
from scorereport._utils.rounding import find_reached
from scorereport.inference.distances import (
    DRAWS,
    DrawnCurve,
    ForecastCells,
    bound_distances,
    describe_distance,
    reach_of_prevalence,
    shrink,
)
from scorereport.inference.estimates import Estimate
from scorereport.inference.panel import ForecastPanel, make_panel

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from scorereport._utils.arrays import IntArray

NAEINI_2015 = "Naeini, Cooper, Hauskrecht (2015), AAAI 29, doi:10.1609/aaai.v29i1.9602"
KUMAR_2019 = "Kumar, Liang, Ma (2019), NeurIPS 32, doi:10.48550/arXiv.1909.10155"
STRATEGIES = ("uniform", "quantile")
NORMS = ("l1", "l2", "max")
#: Numbers of bins whose values the warning shows.
OTHER_BINS = (5, 10, 20)
_BIASED = "Noise makes the value too large; the corrected value subtracts the estimated bias."
_TARGET = (
    "The interval is for the value with these bins in an infinite sample, not for miscalibration within bins."
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BinnedError:
    """A binned calibration error with its bins: forecasts in (lower, upper], empty bins left out.

    `bins` is the number requested, `n` the number of cases in each bin kept. `corrected` is the value minus
    its bias from noise, for the norm "l1" only; `interval` is the interval of the value.
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
    reference: str = f"{NAEINI_2015}; {KUMAR_2019}"
    corrected: float | None = None
    interval: Estimate | None = None

    __repr__ = short_repr


def expected_calibration_error(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    bins: int = 10,
    strategy: str = "uniform",
    norm: str = "l1",
    level: float = 0.95,
    draws: int = DRAWS,
    seed: int = SEED,
    sample_weight: ArrayLike | None = None,
    weight_kind: str = "sampling",
    cluster: ArrayLike | None = None,
) -> BinnedError:
    """Compute the expected calibration error (ECE): the distance of event rate and mean forecast in bins.

    It depends on the bins, and noise makes it too large. The corrected value is 2 ECE - E, cut at 0, where E
    is the mean ECE if normal noise is added to the observed event rates: E - ECE estimates the bias of ECE.

    Parameters
    ----------
    y_true : outcomes 0 or 1
    y_prob : probabilities
    bins : number of bins
    strategy : "uniform", bins of equal width; or "quantile", where a bin ends at the forecast that completes
        its share of the cases, so that equal forecasts stay together
    norm : "l1", the mean distance over cases; "l2", the root of the mean square; or "max"
    level : confidence level of the interval
    draws, seed : number of draws of the bins for the interval, and their seed
    sample_weight, weight_kind : not negative; "sampling" weights of rows that were drawn once, or
        "frequency", how often each row was observed
    cluster : a label per row; rows of a cluster may depend on each other

    References
    ----------
    Naeini, Cooper, Hauskrecht (2015), AAAI 29, doi:10.1609/aaai.v29i1.9602
    Kumar, Liang, Ma (2019), NeurIPS 32, doi:10.48550/arXiv.1909.10155, on the bias

    >>> ece = expected_calibration_error([0, 1, 0, 1], [0.1, 0.3, 0.3, 0.6], bins=2)
    >>> round(ece.value, 4), ece.upper, ece.event_rate.round(2), ece.mean_forecast.round(2)
    (0.175, array([0.5, 1. ]), array([0.33, 1.  ]), array([0.23, 0.6 ]))
    >>> ece.note
    'The value depends on the bins: 0.2250 with 5, 0.2250 with 10, 0.2250 with 20.'
    """
    bins = check_whole(bins, "bins", 1)
    check_option(strategy, "strategy", STRATEGIES)
    check_option(norm, "norm", NORMS)
    level = check_inside(level, "level", 0, 1, closed="neither")
    draws, seed = check_whole(draws, "draws", 2), check_whole(seed, "seed", 0)
    panel = make_panel(
        y_true, {"y_prob": y_prob}, sample_weight=sample_weight, weight_kind=weight_kind, cluster=cluster
    )
    return bin_errors(panel, bins, strategy, norm, level=level, draws=draws, seed=seed)


def bin_errors(
    panel: ForecastPanel,
    bins: int = 10,
    strategy: str = "uniform",
    norm: str = "l1",
    *,
    level: float = 0.95,
    draws: int = DRAWS,
    seed: int = SEED,
) -> BinnedError:
    """Compute the binned error of a panel's only forecast, with its correction and its interval."""
    cells = _cells(panel, bins, strategy)
    found = _correct_bins(panel, cells, bins, strategy, norm)
    interval = _bound_error(panel, cells, found, level=level, draws=draws, seed=seed)
    return replace(found, interval=interval)


def correct_bins(
    panel: ForecastPanel, bins: int = 10, strategy: str = "uniform", norm: str = "l1"
) -> BinnedError:
    """Compute the binned error of a panel's only forecast, with its correction and without an interval."""
    return _correct_bins(panel, _cells(panel, bins, strategy), bins, strategy, norm)


def _correct_bins(
    panel: ForecastPanel, cells: ForecastCells, bins: int, strategy: str, norm: str
) -> BinnedError:
    found = _bin_cases(panel, bins, strategy, norm)
    share, spread = cells.weight / cells.weight.sum(), cells.noise_error(panel, _expect(panel, cells))
    corrected = _correct(found, share, spread) if norm == "l1" else None
    return replace(found, note=_warn(panel, strategy, norm), corrected=corrected)


def _bound_error(
    panel: ForecastPanel, cells: ForecastCells, found: BinnedError, *, level: float, draws: int, seed: int
) -> Estimate:
    """The interval of a binned error, from draws of the event rates of its bins."""
    expected = _expect(panel, cells)
    drawn = DrawnCurve(
        forecast=cells.forecast,
        curve=cells.event_rate,
        calibrated=cells.noise(panel, _calibrated(panel, cells, expected), draws, seed, level),
        observed=cells.noise(panel, expected, draws, seed, level),
    )
    distance = _BinnedDistance(share=cells.weight / cells.weight.sum(), norm=found.norm)
    (limits,) = bound_distances(drawn, distance, level)
    return describe_distance(
        "ece",
        found.value,
        limits,
        panel,
        level=level,
        least_upper=reach_of_prevalence(panel, level),
        draws=draws,
        seed=seed,
        note=f"{_BIASED} {_TARGET}" if found.norm == "l1" else _TARGET,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _BinnedDistance:
    """The binned error as a function of the distances of bins, which have these shares of the cases."""

    share: FloatArray
    norm: str

    def values(self, distance: FloatArray) -> FloatArray:
        """The errors as one row, with a column for each draw."""
        return _combine(distance, self.share[:, None], self.norm)[None]

    def reach(self, distance: FloatArray, *bounds: FloatArray) -> list[FloatArray]:
        """For each bound: which draws are at least as large, as 0 and 1."""
        values = self.values(distance)
        return [(values >= bound).astype(np.float64) for bound in bounds]


def _cells(panel: ForecastPanel, bins: int, strategy: str) -> ForecastCells:
    """The bins that have cases, numbered without gaps."""
    n = np.diff(_bounds(panel, _edges(panel, bins, strategy)))
    n = n[n > 0]
    return ForecastCells.of(panel, np.repeat(np.arange(len(n)), n))


def _expect(panel: ForecastPanel, cells: ForecastCells) -> FloatArray:
    """Event rates of the bins, shrunk so that none of them is 0 or 1."""
    return shrink(cells.event_rate, cells.weight / panel.units.case_weight)


def _calibrated(panel: ForecastPanel, cells: ForecastCells, expected: FloatArray) -> FloatArray:
    """The probability that gives each bin the variance of calibrated outcomes, the mean of p(1 - p).

    With clusters the variance comes from residuals, which are those of the observed event rates.
    """
    if panel.cluster is not None:
        return expected
    start = np.flatnonzero(np.diff(cells.index, prepend=-1))
    spread = np.add.reduceat(panel.units.row_weight * panel.only * (1 - panel.only), start) / cells.weight
    return (1 - np.sqrt(np.maximum(1 - 4 * spread, 0))) / 2


def _correct(found: BinnedError, share: FloatArray, spread: FloatArray) -> float:
    """2 ECE - E, cut at 0, where E is the mean of |d + noise| over bins: of folded normal distributions."""
    d = np.abs(found.event_rate - found.mean_forecast)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(spread > 0, d / spread, np.inf)
    folded = spread * np.sqrt(2 / np.pi) * np.exp(-(ratio**2) / 2) + d * (1 - 2 * ndtr(-ratio))
    return max(float((share * (2 * d - folded)).sum()), 0.0)


def _warn(panel: ForecastPanel, strategy: str, norm: str) -> str:
    values = [(_bin_cases(panel, bins, strategy, norm).value, bins) for bins in OTHER_BINS]
    listed = ", ".join(f"{format_fixed(value, 4)} with {bins}" for value, bins in values)
    return f"The value depends on the bins: {listed}."


def _bin_cases(panel: ForecastPanel, bins: int, strategy: str, norm: str) -> BinnedError:
    edges = _edges(panel, bins, strategy)
    bounds, one = _bounds(panel, edges), np.broadcast_to(1.0, len(panel.only))
    n, events, forecast = (_sums(panel, values, bounds) for values in (one, panel.outcome, panel.only))
    used = np.flatnonzero(n > 0)
    distance = np.abs(events[used] - forecast[used]) / n[used]
    return BinnedError(
        value=float(_combine(distance, n[used] / n.sum(), norm)),
        bins=bins,
        strategy=strategy,
        norm=norm,
        lower=read_only(edges[used]),
        upper=read_only(edges[used + 1]),
        n=read_only(n[used]),
        mean_forecast=read_only(forecast[used] / n[used]),
        event_rate=read_only(events[used] / n[used]),
        note="",
    )


def _edges(panel: ForecastPanel, bins: int, strategy: str) -> FloatArray:
    """Ends of the bins, from 0 or the lowest forecast to 1 or the highest."""
    if strategy == "uniform":
        return np.arange(bins + 1) / bins
    p, counted = panel.only, np.cumsum(panel.units.row_weight)
    inner = p[find_reached(counted, np.arange(1, bins) / bins)]
    return np.concatenate([p[:1], inner, p[-1:]])


def _bounds(panel: ForecastPanel, edges: FloatArray) -> IntArray:
    """The first row of each bin, and the end of the last: a bin includes its upper end."""
    inner = np.searchsorted(panel.only, edges[1:-1], side="right")
    return np.concatenate([[0], inner, [len(panel.only)]])


def _sums(panel: ForecastPanel, values: FloatArray, bounds: IntArray) -> FloatArray:
    """Weighted sums of the values of each bin, which may be empty."""
    weighted = values if panel.weight is None else panel.weight * values
    return np.array([weighted[start:end].sum() for start, end in pairwise(bounds.tolist())])


def _combine(distance: FloatArray, share: FloatArray, norm: str) -> FloatArray:
    """Combine the distances of all bins by the norm, separately for each column if there are several."""
    if norm == "max":
        return np.asarray(distance.max(axis=0))
    sums = (share * (distance if norm == "l1" else distance**2)).sum(axis=0)
    return np.asarray(sums if norm == "l1" else np.sqrt(sums))
