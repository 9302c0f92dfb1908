"""Calibration errors from a smooth curve: ICI, E50, E90 and Emax, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.arrays import FloatArray
from scorereport._utils.checks import check_inside, check_whole
from scorereport._utils.choices import SEED
from scorereport._utils.formatting import format_plain
from scorereport._utils.representation import short_repr
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
from scorereport.inference.lowess import (
    CLEVELAND_1979,
    MANY_VALUES,
    MOST_CELLS,
    local_lines,
    neighbours,
    pool_neighbours,
    smooth_weighted,
)
from scorereport.inference.panel import ForecastPanel, make_panel
from scorereport.reliability.sampling import are_whole

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

AUSTIN_STEYERBERG_2019 = "Austin, Steyerberg (2019), Stat. Med. 38, doi:10.1002/sim.8281"
#: Up to this many cases, or this many distinct forecasts, the curve is computed at every forecast.
_FEW_CASES = 1000
_FEW_FORECASTS = 300
#: With more, it is computed at about this many quantiles of the forecasts, and half as many equal steps.
_NODES = 200
#: With fewer neighbours than this the curve follows single outcomes.
_FEW_NEIGHBOURS = 10
#: For intervals, cases are pooled by forecast into up to this many cells.
_CELLS = 60
#: Shares of the cases up to the median and the 90 % quantile; sums of weights reach them up to rounding.
_QUANTILES, _TIE = (0.5, 0.9), 1e-12
#: The measures, in the order of the record.
_MEASURES = ("ici", "e50", "e90", "emax")
_TARGET = (
    "The interval is for the distance of the lowess curve of an infinite sample; where the true "
    "curve bends, lowess flattens it."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationErrors:
    """Distance between forecast and smooth curve over cases: mean, median, 90 % quantile and maximum.

    `intervals` has an estimate with its interval for each.
    """

    ici: float
    e50: float
    e90: float
    emax: float
    method: str
    fraction: float
    n: float
    reference: str = f"{AUSTIN_STEYERBERG_2019}; {CLEVELAND_1979}"
    note: str = ""
    intervals: tuple[Estimate, ...] = ()

    __repr__ = short_repr


def calibration_errors(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    fraction: float = 2 / 3,
    level: float = 0.95,
    draws: int = DRAWS,
    seed: int = SEED,
    sample_weight: ArrayLike | None = None,
    weight_kind: str = "sampling",
    cluster: ArrayLike | None = None,
) -> CalibrationErrors:
    """Smooth the outcomes over the forecasts by lowess and measure the distance between curve and forecast.

    Lowess fits local lines, of degree 1; Austin and Steyerberg, whose measures these are, used loess of
    degree 2, which gives other values. The curve is cut to [0, 1]. Where a neighbourhood has no width it
    is the event rate at its forecast.

    Parameters
    ----------
    y_true : outcomes 0 or 1
    y_prob : probabilities
    fraction : share of the cases, or of their weight, that makes up a neighbourhood
    level : confidence level of the intervals
    draws, seed : number of draws of curves for the intervals, and their seed
    sample_weight, weight_kind : not negative; "sampling" weights of rows that were drawn once, or
        "frequency", how often each row was observed
    cluster : a label per row; rows of a cluster may depend on each other

    References
    ----------
    Austin, Steyerberg (2019), Stat. Med. 38, doi:10.1002/sim.8281
    Cleveland (1979), J. Am. Stat. Assoc. 74, doi:10.1080/01621459.1979.10481038

    >>> errors = calibration_errors([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.6, 0.8, 0.9])
    >>> round(errors.ici, 4), round(errors.e50, 4), round(errors.emax, 4)
    (0.253, 0.114, 0.6)
    >>> errors.intervals[0].lower
    0.0
    """
    fraction = check_inside(fraction, "fraction", 0, 1)
    level = check_inside(level, "level", 0, 1, closed="neither")
    draws, seed = check_whole(draws, "draws", 2), check_whole(seed, "seed", 0)
    panel = make_panel(
        y_true, {"y_prob": y_prob}, sample_weight=sample_weight, weight_kind=weight_kind, cluster=cluster
    )
    return smooth_errors(panel, fraction=fraction, level=level, draws=draws, seed=seed)


def smooth_errors(
    panel: ForecastPanel,
    *,
    fraction: float = 2 / 3,
    level: float = 0.95,
    draws: int = DRAWS,
    seed: int = SEED,
) -> CalibrationErrors:
    """Compute the calibration errors of a panel's only forecast."""
    p, weight = panel.only, _case_weights(panel)
    nodes = _nodes(p, weight)
    error = np.abs(np.interp(p, nodes, _smooth(panel, nodes, fraction)) - p)
    ici, emax = float((weight * error).sum() / weight.sum()), float(error.max())
    e50, e90 = _quantiles(error, weight)
    return CalibrationErrors(
        ici=ici,
        e50=e50,
        e90=e90,
        emax=emax,
        method=_describe(panel, nodes, fraction),
        fraction=fraction,
        n=panel.units.total,
        note=_note_few(neighbours(weight, fraction)),
        intervals=_bound(panel, (ici, e50, e90, emax), fraction, level=level, draws=draws, seed=seed),
    )


def _case_weights(panel: ForecastPanel) -> FloatArray:
    """Weights in units of cases: whole weights unchanged, others divided by the weight of a case."""
    weight = panel.units.row_weight
    return weight if are_whole(weight) else weight / panel.units.case_weight


def _nodes(p: FloatArray, weight: FloatArray) -> FloatArray:
    """Forecasts at which the curve is computed: all, or many where forecasts are dense and some elsewhere."""
    distinct, counted = p[np.append(True, p[1:] != p[:-1])], np.cumsum(weight)
    if counted[-1] <= _FEW_CASES or len(distinct) <= _FEW_FORECASTS:
        return distinct
    places = np.linspace(0, counted[-1] - 1, _NODES + 1).astype(np.int64)
    dense = p[np.minimum(np.searchsorted(counted, places, side="right"), len(p) - 1)]
    even = np.linspace(p[0], p[-1], _NODES // 2 + 1)
    return np.union1d(dense, distinct[np.searchsorted(distinct, even)])


def _smooth(panel: ForecastPanel, nodes: FloatArray, fraction: float) -> FloatArray:
    """The lowess curve at the nodes, without robustness steps, in [0, 1]."""
    curve = smooth_weighted(panel.outcome, panel.only, panel.units.row_weight, nodes, fraction)
    return np.clip(curve, 0, 1)


def _quantiles(error: FloatArray, weight: FloatArray) -> list[float]:
    """Median and 90 % quantile over cases; for whole weights those of repeated rows, as in numpy."""
    if weight.strides == (0,):  # all cases count once: nothing need be sorted
        return list(np.quantile(error, _QUANTILES).tolist())
    order = np.argsort(error)
    e, n = error[order], weight[order]
    reached = np.cumsum(n)
    if not are_whole(weight):
        places, sought = reached - n / 2, np.array(_QUANTILES) * reached[-1]
        return list(np.interp(sought, places, e).tolist())
    sought = np.array(_QUANTILES) * (reached[-1] - 1)
    whole = np.floor(sought)
    low, high = (
        e[np.minimum(np.searchsorted(reached, at, side="right"), len(e) - 1)] for at in (whole, whole + 1)
    )
    return list((low + (sought - whole) * (high - low)).tolist())


# Intervals


def _bound(
    panel: ForecastPanel, values: tuple[float, ...], fraction: float, *, level: float, draws: int, seed: int
) -> tuple[Estimate, ...]:
    """Intervals of the four errors, from curves on cells of neighbouring forecasts."""
    drawn, weight = _draw(panel, fraction, level=level, draws=draws, seed=seed)
    limits = bound_distances(drawn, _FourDistances(weight=weight), level)
    reach = reach_of_prevalence(panel, level)
    return tuple(
        describe_distance(
            measure,
            value,
            found,
            panel,
            level=level,
            least_upper=reach if measure in {"ici", "emax"} else 0.0,
            draws=draws,
            seed=seed,
            note=_TARGET,
        )
        for measure, value, found in zip(_MEASURES, values, limits, strict=True)
    )


def _draw(
    panel: ForecastPanel, fraction: float, *, level: float, draws: int, seed: int
) -> tuple[DrawnCurve, FloatArray]:
    """Draw curves at each cell and both ends; return them and the weight of each point."""
    cells = ForecastCells.of(panel, pool_neighbours(panel.only, panel.units.row_weight, _CELLS))
    at = np.concatenate([panel.only[:1], cells.forecast, panel.only[-1:]])
    lines = local_lines(at, cells.forecast, cells.weight, fraction)
    curve = np.clip(at + np.einsum("km,m->k", lines, cells.deviation), 0, 1)
    expected = shrink(curve[1:-1], max(fraction * panel.units.total / panel.units.case_weight, 1))
    noise = [
        np.einsum("km,mb->kb", lines, cells.noise(panel, probability, draws, seed, level))  # not BLAS
        for probability in (cells.forecast if panel.cluster is None else expected, expected)
    ]
    weight = np.concatenate([[0.0], cells.weight, [0.0]])  # ends count for the maximum only
    return DrawnCurve(forecast=at, curve=curve, calibrated=noise[0], observed=noise[1]), weight


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _FourDistances:
    """Mean, median, 90 % quantile and maximum of the distances of cells with these weights."""

    weight: FloatArray

    def values(self, distance: FloatArray) -> FloatArray:
        """A row for each statistic, a column for each draw."""
        rows = np.ascontiguousarray(distance.T)
        order = np.argsort(rows, axis=1)
        reached = np.cumsum(self.weight[order], axis=1) / self.weight.sum()
        draws = np.arange(len(rows))
        middle, high = (
            rows[draws, order[draws, (reached < share - _TIE).sum(axis=1)]] for share in _QUANTILES
        )
        return np.stack([self._mean(distance), middle, high, rows.max(axis=1)])

    def reach(self, distance: FloatArray, *bounds: FloatArray) -> list[FloatArray]:
        """For each set of bounds: which statistics of the draws are at least as large, without sorting."""
        means, maxima = self._mean(distance), distance.max(axis=0)
        reached = []
        for mean, middle, high, largest in (bound[:, 0] for bound in bounds):
            below = (
                self._mean((distance < value).astype(np.float64)) < share - _TIE
                for value, share in zip((middle, high), _QUANTILES, strict=True)
            )
            reached.append(np.stack([means >= mean, *below, maxima >= largest]).astype(np.float64))
        return reached

    def _mean(self, values: FloatArray) -> FloatArray:
        return np.asarray(np.einsum("k,kb->b", self.weight, values) / self.weight.sum())


# Descriptions


def _describe(panel: ForecastPanel, nodes: FloatArray, fraction: float) -> str:
    distinct = 1 + int((panel.only[1:] != panel.only[:-1]).sum())
    where = (
        f"at {len(nodes)} forecasts and straight between them"
        if len(nodes) < distinct
        else "at every forecast"
    )
    name, whole = ("lowess", "cases") if panel.weight is None else ("weighted lowess", "weight")
    pooled = f", of {MOST_CELLS} cells of neighbouring forecasts" if distinct > MANY_VALUES else ""
    return (
        f"{name}, local lines (degree 1) over {format_plain(fraction, 3)} of the {whole}, no robustness "
        f"steps{pooled}, {where}"
    )


def _note_few(cases: float) -> str:
    if cases >= _FEW_NEIGHBOURS:
        return ""
    return f"A neighbourhood has only {format_plain(cases)} cases; the curve follows single outcomes."
