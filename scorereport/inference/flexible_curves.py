"""A flexible calibration curve with a band: logistic regression on a spline of the log-odds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy.special import expit, logit

from scorereport._utils.arrays import FloatArray, read_only
from scorereport._utils.checks import check_inside, check_whole
from scorereport._utils.formatting import conjugate, format_plain
from scorereport._utils.record_frames import array_frame
from scorereport._utils.representation import short_repr
from scorereport._utils.rounding import find_reached
from scorereport.inference.likelihood import combine, information, invert, sum_over_draws
from scorereport.inference.logistic import fit_columns
from scorereport.inference.panel import ForecastPanel, make_panel

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

VAN_CALSTER_2016 = (
    "Van Calster, Nieboer, Vergouwe, De Cock, Pencina, Steyerberg (2016), J. Clin. Epidemiol. 74, "
    "doi:10.1016/j.jclinepi.2015.12.005"
)
#: Quantiles of the log-odds at which knots are placed, by the number of knots, after Harrell (2015).
_KNOTS = {
    5: (0.05, 0.275, 0.5, 0.725, 0.95),
    4: (0.05, 0.35, 0.65, 0.95),
    3: (0.1, 0.5, 0.9),
}
#: Events, and non-events, needed for each coefficient except the intercept.
_CASES_PER_COEFFICIENT = 10
#: Log-odds are standardized by at least this many of them.
_STANDARDIZED = 10_000
_POINTWISE = (
    "The band is pointwise and assumes that the spline can follow the true curve; beyond the outer knots "
    "the curve is a line in log-odds."
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FlexibleCurve:
    """A smooth calibration curve with a pointwise band; without points, and the reason noted, if none fits.

    `knots` are those of the spline, as forecasts; a line in log-odds has none.
    """

    forecast: FloatArray
    probability: FloatArray
    lower: FloatArray
    upper: FloatArray
    level: float
    knots: FloatArray
    method: str
    n: float
    note: str = ""
    reference: str = VAN_CALSTER_2016

    COLUMNS: ClassVar = ("forecast", "probability", "lower", "upper")

    __repr__ = short_repr
    to_frame = array_frame


def flexible_curve(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    level: float = 0.95,
    points: int = 101,
    sample_weight: ArrayLike | None = None,
    weight_kind: str = "sampling",
    cluster: ArrayLike | None = None,
) -> FlexibleCurve:
    """Fit logit P(y = 1) by a restricted cubic spline of logit p, with a pointwise band.

    There are 5 knots at Harrell's quantiles; 4, 3 or none (a line) if events, non-events or distinct
    forecasts are too few. Each coefficient needs ten events and ten non-events. Forecasts of 0 or 1 have
    infinite log-odds and are left out, which the note states. With clusters or sampling weights errors come
    from the sandwich.

    Parameters
    ----------
    y_true : outcomes 0 or 1
    y_prob : probabilities
    level : confidence level of the band at each forecast
    points : the largest number of forecasts of the curve, half of them quantiles and half evenly spread
    sample_weight, weight_kind : not negative; "sampling" weights of rows that were drawn once, or
        "frequency", how often each row was observed
    cluster : a label per row; rows of a cluster may depend on each other

    References
    ----------
    Van Calster et al. (2016), J. Clin. Epidemiol. 74, doi:10.1016/j.jclinepi.2015.12.005
    Harrell (2015), Regression Modeling Strategies, doi:10.1007/978-3-319-19425-7, on splines

    >>> curve = flexible_curve([0, 1, 0, 1, 0, 1], [0.1, 0.2, 0.4, 0.5, 0.7, 0.9])
    >>> curve.probability.round(3)
    array([0.288, 0.368, 0.473, 0.519, 0.611, 0.741])
    """
    level = check_inside(level, "level", 0, 1, closed="neither")
    points = check_whole(points, "points", 2)
    panel = make_panel(
        y_true, {"y_prob": y_prob}, sample_weight=sample_weight, weight_kind=weight_kind, cluster=cluster
    )
    return fit_flexible(panel, level=level, points=points)


def fit_flexible(panel: ForecastPanel, *, level: float, points: int = 101) -> FlexibleCurve:
    """Fit the flexible curve of a panel's only forecast."""
    is_inside = (panel.only > 0) & (panel.only < 1)
    left_out = _note_left_out(is_inside)
    if not is_inside.any():
        return _no_curve(panel, level, f"{left_out} There is no curve.")
    inner = panel if is_inside.all() else panel.select(np.flatnonzero(is_inside))
    why = _why_no_curve(inner)
    if why:
        return _no_curve(panel, level, " ".join(filter(None, (left_out, why))))
    return _fit_most_knots(inner, level, points, left_out)


def _fit_most_knots(panel: ForecastPanel, level: float, points: int, left_out: str) -> FlexibleCurve:
    """Fit the curve with as many knots as the sample allows, fewer where the fit fails."""
    for number in (*(k for k in _KNOTS if _has_enough_cases(panel, k)), 0):
        knots = _place_knots(panel, number)
        if knots is None:
            continue
        basis = _Basis.of(panel, knots)
        fit = _fit_spline(panel, basis)
        if all(np.isfinite(part).all() for part in fit):
            return _compute_curve(panel, basis, fit, level, points, left_out)
    return _no_curve(panel, level, " ".join(filter(None, (left_out, "The fit did not converge."))))


def _fit_spline(panel: ForecastPanel, basis: _Basis) -> tuple[FloatArray, FloatArray]:
    """Coefficients and their covariance: of the rows or, if they are many and independent, of cells."""
    if panel.cells is not None and _has_likelihood(panel):
        x, y, weight = panel.cells.without()
    else:
        x, y, weight = logit(panel.only), panel.outcome, panel.units.row_weight
    columns = basis.columns(x)
    value = fit_columns(columns, y, weight)
    if not np.isfinite(value).all():
        return value, np.full((len(value), len(value)), np.nan)
    return value, _covariance(panel, columns, value, weight)


def _has_likelihood(panel: ForecastPanel) -> bool:
    return panel.cluster is None and panel.units.are_repeated_rows


def _covariance(
    panel: ForecastPanel, columns: FloatArray, value: FloatArray, weight: FloatArray
) -> FloatArray:
    """Covariance of the coefficients: from the likelihood, or bias-reduced over clusters or weighted rows."""
    units, log_odds = panel.units, combine(value, columns)
    if _has_likelihood(panel):
        return invert(information(columns, log_odds, weight))
    if units.size < 2:
        return np.full((len(value), len(value)), np.nan)
    return sum_over_draws(columns, log_odds, panel.outcome, units).covariance


def _compute_curve(
    panel: ForecastPanel,
    basis: _Basis,
    fit: tuple[FloatArray, FloatArray],
    level: float,
    points: int,
    left_out: str,
) -> FlexibleCurve:
    x = _choose_points(panel, points)
    columns = basis.columns(logit(x))
    log_odds = combine(fit[0], columns)
    variance = np.einsum("it,jt,ij->t", columns, columns, fit[1])
    reach = panel.units.critical_value(level) * np.sqrt(np.maximum(variance, 0))
    number = len(basis.knots)
    how = f"restricted cubic spline of log-odds with {number} knots" if number else "line in log-odds"
    few = "" if number == max(_KNOTS) else "Cases or distinct forecasts are too few for 5 knots."
    return FlexibleCurve(
        forecast=read_only(x),
        probability=read_only(expit(log_odds)),
        lower=read_only(expit(log_odds - reach)),
        upper=read_only(expit(log_odds + reach)),
        level=level,
        knots=read_only(expit(basis.knots)),
        method=f"logistic regression on a {how}, {_describe_errors(panel)}, normal on log-odds",
        n=panel.units.total,
        note=" ".join(filter(None, (left_out, few, _POINTWISE))),
    )


def _no_curve(panel: ForecastPanel, level: float, note: str) -> FlexibleCurve:
    nothing = read_only(np.empty(0))
    return FlexibleCurve(
        forecast=nothing,
        probability=nothing,
        lower=nothing,
        upper=nothing,
        level=level,
        knots=nothing,
        method="logistic regression on log-odds",
        n=panel.units.total,
        note=note,
    )


def _note_left_out(is_inside: NDArray[np.bool_]) -> str:
    count = int((~is_inside).sum())
    if not count:
        return ""
    are, have = conjugate(count, "are"), conjugate(count, "have")
    of_all = f"{count} of {len(is_inside)} forecasts"
    return f"{of_all} {are} exactly 0 or 1, {have} infinite log-odds and {are} left out."


def _why_no_curve(panel: ForecastPanel) -> str:
    """Describe why not even a line fits; empty if one does."""
    p = panel.only
    if panel.outcome.all() or not panel.outcome.any():
        return f"All outcomes are {format_plain(panel.outcome[0])}: no curve fits."
    if p[0] == p[-1]:
        return "All forecasts are the same: there is no curve."
    if panel.units.size < 2:
        return f"One {panel.units.unit} does not show how much outcomes vary: there is no curve."
    if panel.separates:
        return "The forecasts separate events from non-events: no curve fits."
    return ""


def _describe_errors(panel: ForecastPanel) -> str:
    if panel.cluster is not None:
        return f"sandwich errors over {format_plain(panel.units.size)} clusters"
    return (
        "errors from the likelihood"
        if panel.units.are_repeated_rows
        else "sandwich errors over weighted rows"
    )


# The spline


def _has_enough_cases(panel: ForecastPanel, knots: int) -> bool:
    """Whether events and non-events are enough for the coefficients of this number of knots."""
    fewest = min(panel.units.count(panel.outcome == 1), panel.units.count(panel.outcome == 0))
    return fewest >= _CASES_PER_COEFFICIENT * (knots - 1)


def _place_knots(panel: ForecastPanel, number: int) -> FloatArray | None:
    """Knots at quantiles of the log-odds; None if some of them coincide."""
    if number == 0:
        return np.empty(0)
    reached = find_reached(np.cumsum(panel.units.row_weight), np.array(_KNOTS[number]))
    knots = panel.only[reached]
    distinct = 1 + np.count_nonzero(panel.only[1:] != panel.only[:-1])
    has_all = len(np.unique(knots)) == number and distinct > number
    return logit(knots) if has_all else None


@dataclass(frozen=True, kw_only=True, eq=False)
class _Basis:
    """A restricted cubic spline of standardized log-odds z: 1, z, and terms linear beyond the outer knots."""

    knots: FloatArray
    centre: float
    spread: float

    @classmethod
    def of(cls, panel: ForecastPanel, knots: FloatArray) -> _Basis:
        """Standardize by the log-odds of the sample; any centre and spread near them would do."""
        step = max(len(panel.only) // _STANDARDIZED, 1)
        x = logit(panel.only[step // 2 :: step])
        return cls(knots=knots, centre=float(x.mean()), spread=float(x.std()) or 1.0)

    def columns(self, x: FloatArray) -> FloatArray:
        """The columns of the regression at log-odds; as in Harrell (2015), section 2.4.5."""
        z = (x - self.centre) / self.spread
        columns = [np.ones_like(z), z]
        if len(self.knots):
            *inner, before, last = ((self.knots - self.centre) / self.spread).tolist()
            for knot in inner:
                left, right = (last - knot) / (last - before), (before - knot) / (last - before)
                term = _cube(z - knot) - left * _cube(z - before) + right * _cube(z - last)
                columns.append(term / (last - inner[0]) ** 2)
        return np.stack(columns)


def _cube(x: FloatArray) -> FloatArray:
    return np.maximum(x, 0) ** 3


def _choose_points(panel: ForecastPanel, points: int) -> FloatArray:
    """Forecasts of the sample: all, or half quantiles and half those nearest to evenly spread values."""
    p = panel.only[np.append(True, panel.only[1:] != panel.only[:-1])]
    if len(p) <= points:
        return p
    reached = np.cumsum(panel.units.row_weight)
    quantiles = panel.only[find_reached(reached, np.linspace(0, 1, points // 2 + 1)[1:])]
    even = p[np.searchsorted(p, np.linspace(p[0], p[-1], points - points // 2))]
    return np.union1d(quantiles, even)
