"""Cox's calibration line, logit P(y = 1) = a + b logit p: estimates, intervals and tests.

A calibrated forecast has a = 0 and b = 1. Two intercepts are in common use, and both are returned: that of
the joint fit, and that of the fit with the slope held at 1, which is calibration in the large in log-odds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq
from scipy.special import logit, ndtri

from scorereport._utils.checks import check_inside, check_option
from scorereport._utils.formatting import format_plain
from scorereport.errors import UsageError
from scorereport.inference.grouped_rows import GroupedRows
from scorereport.inference.likelihood import information, invert, log_likelihood, sum_over_draws
from scorereport.inference.logistic import fit_line, fit_offset, fit_slope
from scorereport.inference.mean_errors import describe_few_draws
from scorereport.inference.panel import ForecastPanel, make_panel
from scorereport.inference.recalibration_lines import (
    NO_ERROR,
    CalibrationLine,
    LineFit,
    LineLimits,
    LineSample,
    describe_certain,
    describe_line,
    describe_unreliability,
    joint_wald,
    likelihood_ratio,
    no_fit,
    wald_intercept_test,
    wald_limits,
    wald_slope_test,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.estimates import HypothesisTest

INTERVALS = ("wald", "profile")
#: A profile limit is searched for up to this many doublings of the first step.
_MOST_STEPS = 60


# Estimates


def calibration_line(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    interval: str = "wald",
    level: float = 0.95,
    sample_weight: ArrayLike | None = None,
    weight_kind: str = "sampling",
    cluster: ArrayLike | None = None,
) -> CalibrationLine:
    """Fit the calibration line by a binomial GLM, equal to that of statsmodels.

    Forecasts of 0 or 1 have infinite log-odds: then there is no line; forecasts are not clipped.
    With clusters or fractional weights, errors are bias-reduced (CR2) over clusters or rows, and quantiles
    are those of t with Satterthwaite's degrees of freedom.

    Parameters
    ----------
    y_true : outcomes 0 or 1
    y_prob : probabilities
    interval : "wald", estimate ± quantile times error; or "profile", the values at which the likelihood
        ratio, with the other parameter refitted, is not significant, which needs independent rows
    level : confidence level of the intervals
    sample_weight, weight_kind : not negative; "sampling" weights of rows that were drawn once, or
        "frequency", how often each row was observed
    cluster : a label per row; rows of a cluster may depend on each other

    References
    ----------
    Cox (1958), Biometrika 45, doi:10.1093/biomet/45.3-4.562
    Pustejovsky, Tipton (2018), J. Bus. Econ. Stat. 36, doi:10.1080/07350015.2016.1247004

    >>> line = calibration_line([0, 1, 0, 1, 0, 1], [0.1, 0.2, 0.4, 0.5, 0.7, 0.9])
    >>> round(line.slope.value, 4), round(line.intercept.value, 4)
    (0.4449, 0.0742)
    >>> round(line.intercept_at_slope_one.value, 4)
    0.1915
    """
    check_option(interval, "interval", INTERVALS)
    level = check_inside(level, "level", 0, 1, closed="neither")
    panel = make_panel(
        y_true, {"y_prob": y_prob}, sample_weight=sample_weight, weight_kind=weight_kind, cluster=cluster
    )
    if interval == "profile" and _is_robust(panel):
        raise UsageError(
            '`interval` must be "wald" with clusters or fractional weights: they have no likelihood.'
        )
    return _line(panel, (_fit_joint(panel), _fit_at_slope_one(panel)), interval, level)


def examine_line(panel: ForecastPanel, *, level: float) -> tuple[CalibrationLine, tuple[HypothesisTest, ...]]:
    """Return the calibration line of a panel's only forecast, with Wald intervals, and the tests of it."""
    fits = _fit_joint(panel), _fit_at_slope_one(panel)
    return _line(panel, fits, "wald", level), _test_line(panel, *fits)


def _line(
    panel: ForecastPanel, fits: tuple[LineFit, LineFit], interval: str, level: float
) -> CalibrationLine:
    joint, offset = fits
    limits = _limits(panel, joint, interval, level), _limits(panel, offset, interval, level)
    how = _describe_interval(interval)
    return describe_line(_describe_sample(panel), joint, offset, limits, how=how, level=level)


def _describe_sample(panel: ForecastPanel) -> LineSample:
    events = float((panel.units.row_weight * panel.outcome).sum())
    return LineSample(
        n=panel.units.total,
        events=events,
        errors=_describe_errors(panel),
        warning=describe_few_draws(panel.units),
    )


def _is_robust(panel: ForecastPanel) -> bool:
    return panel.cluster is not None or not panel.units.are_repeated_rows


def _describe_interval(interval: str) -> str:
    return "Wald interval" if interval == "wald" else "profile likelihood interval"


def _describe_errors(panel: ForecastPanel) -> str:
    if panel.cluster is not None:
        return f"bias-reduced errors over {format_plain(panel.units.size)} clusters"
    return "bias-reduced errors over weighted rows" if _is_robust(panel) else "errors from the likelihood"


# Fits


def _fit_joint(panel: ForecastPanel) -> LineFit:
    note = _why_no_intercept(panel) or _why_no_slope(panel)
    if note:
        return no_fit(2, note)
    line = (np.nan, np.nan) if panel.cells is None else fit_line(*panel.cells.without())
    if panel.cells is None or not panel.cells.represent(line[1]):
        line = fit_line(*_rows_of(panel))
    return _fit(panel, line)


def _fit_at_slope_one(panel: ForecastPanel) -> LineFit:
    note = _why_no_intercept(panel)
    return no_fit(1, note) if note else _fit(panel, (fit_offset(*_cases_for(panel, 1.0)),))


def _rows_of(panel: ForecastPanel) -> GroupedRows:
    """Log-odds, outcome and weight of each row."""
    return GroupedRows(logit(panel.only), panel.outcome, panel.units.row_weight)


def _cases_for(panel: ForecastPanel, slope: float) -> GroupedRows:
    """Cases that give the likelihood of a line with this slope: cells that represent rows, or the rows."""
    cells = panel.cells
    return cells.without() if cells is not None and cells.represent(slope) else _rows_of(panel)


def _why_no_intercept(panel: ForecastPanel) -> str:
    is_certain = (panel.only == 0) | (panel.only == 1)
    if is_certain.any():
        return describe_certain(int(is_certain.sum()), len(is_certain))
    if panel.outcome.min() == panel.outcome.max():
        return f"All outcomes are {format_plain(panel.outcome[0])}: no line fits."
    return ""


def _why_no_slope(panel: ForecastPanel) -> str:
    """Describe why the likelihood has no maximum at a finite slope, given both outcomes; empty if it has."""
    if panel.only[0] == panel.only[-1]:
        return "All forecasts are the same: the slope is not defined."
    if panel.separates:
        return "The forecasts separate events from non-events: the slope is infinite."
    return ""


def _fit(panel: ForecastPanel, value: tuple[float, ...]) -> LineFit:
    """Make the fit of a value that was found, with its covariance: from the likelihood, or a sandwich.

    The value is intercept and slope, or the intercept alone if the slope is held at 1.
    """
    if not np.isfinite(value).all():
        return no_fit(len(value), "The fit did not converge.")
    is_robust, slope = _is_robust(panel), value[1] if len(value) == 2 else 1.0
    x, _, weight = _rows_of(panel) if is_robust else _cases_for(panel, slope)
    columns, log_odds = np.stack([np.ones_like(x), x][: len(value)]), value[0] + slope * x
    if is_robust:
        return _fit_over_draws(panel, np.array(value), columns, log_odds)
    return LineFit(value=np.array(value), covariance=invert(information(columns, log_odds, weight)))


def _fit_over_draws(
    panel: ForecastPanel, value: FloatArray, columns: FloatArray, log_odds: FloatArray
) -> LineFit:
    """Make a fit with bias-reduced covariance over clusters or weighted rows, and degrees of freedom."""
    draws, what, size = panel.units.size, panel.units.describes, len(value)
    sums = sum_over_draws(columns, log_odds, panel.outcome, panel.units)
    nothing = LineFit(
        value=value,
        covariance=np.full((size, size), np.nan),
        note=f"The {format_plain(draws)} {what} do not vary enough to give standard errors.",
    )
    if draws < 2 or not np.sqrt(np.diag(sums.covariance)).min() > NO_ERROR:
        return nothing
    freedom = tuple(sums.degrees_of_freedom(row) for row in np.eye(size))
    if np.isnan(freedom).any():  # one row or cluster determines a coefficient
        return nothing
    together = sums.degrees_of_freedom(np.eye(size))
    return LineFit(value=value, covariance=sums.covariance, freedom=freedom, freedom_together=together)


# Intervals


def _limits(panel: ForecastPanel, fit: LineFit, interval: str, level: float) -> LineLimits:
    """Lower and upper limit of each parameter."""
    if interval == "wald" or not np.isfinite(fit.value).all():
        return wald_limits(fit, level)
    quantile = float(ndtri((1 + level) / 2))
    profiles = _profiles(panel, fit)
    return [
        (_cross(profile, value, -error, quantile), _cross(profile, value, error, quantile))
        for profile, value, error in zip(profiles, fit.value, fit.standard_error, strict=True)
    ]


def _profiles(panel: ForecastPanel, fit: LineFit) -> list[Callable[[float], float]]:
    """For each parameter, the function that returns its log-likelihood with the other parameter refitted."""
    x, y, weight = logit(panel.only), panel.outcome, panel.units.row_weight
    if len(fit.value) == 1:
        return [lambda a: log_likelihood(a + x, y, weight)]

    def at_intercept(a: float) -> float:
        return log_likelihood(a + x * fit_slope(x, y, weight, a, fit.guess(0, a)), y, weight)

    def at_slope(b: float) -> float:
        return log_likelihood(b * x + fit_offset(b * x, y, weight, fit.guess(1, b)), y, weight)

    return [at_intercept, at_slope]


def _cross(profile: Callable[[float], float], value: float, step: float, quantile: float) -> float:
    """The value, in the direction of the step, at which the profile is lower by half the squared quantile."""
    floor = profile(value) - quantile**2 / 2
    end = value + quantile * step
    for _ in range(_MOST_STEPS):
        if profile(end) < floor:
            return float(brentq(lambda at: profile(at) - floor, value, end, xtol=1e-13 * abs(step)))
        end = value + 2 * (end - value)
    return np.nan


# Tests


def line_tests(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    weight_kind: str = "sampling",
    cluster: ArrayLike | None = None,
) -> tuple[HypothesisTest, ...]:
    """Test that the slope is 1, that the intercept at slope 1 is 0, and both together.

    Parameters
    ----------
    y_true : outcomes 0 or 1
    y_prob : probabilities
    sample_weight, weight_kind : not negative; "sampling" weights of rows that were drawn once, or
        "frequency", how often each row was observed
    cluster : a label per row; rows of a cluster may depend on each other

    References
    ----------
    Cox (1958), Biometrika 45, doi:10.1093/biomet/45.3-4.562

    >>> tests = line_tests([0, 1, 0, 1, 0, 1], [0.1, 0.2, 0.4, 0.5, 0.7, 0.9])
    >>> [(test.name, round(test.p_value, 4)) for test in tests]
    [('Calibration slope', 0.3774), ('Calibration intercept at slope 1', 0.8446), ('Unreliability', 0.708)]
    """
    panel = make_panel(
        y_true, {"y_prob": y_prob}, sample_weight=sample_weight, weight_kind=weight_kind, cluster=cluster
    )
    return _test_line(panel, _fit_joint(panel), _fit_at_slope_one(panel))


def _test_line(panel: ForecastPanel, joint: LineFit, offset: LineFit) -> tuple[HypothesisTest, ...]:
    sample = _describe_sample(panel)
    slope, intercept = wald_slope_test(sample, joint), wald_intercept_test(sample, offset)
    return slope, intercept, _test_unreliability(panel, joint)


def unreliability_test(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    weight_kind: str = "sampling",
    cluster: ArrayLike | None = None,
) -> HypothesisTest:
    """Test by likelihood ratio that intercept 0 and slope 1 hold together, with two degrees of freedom.

    The note gives Harrell's unreliability index U = (χ² - 2)/n. With clusters or fractional weights, which
    have no likelihood, it is a Wald test, and there is no U.

    Parameters
    ----------
    y_true : outcomes 0 or 1
    y_prob : probabilities
    sample_weight, weight_kind : not negative; "sampling" weights of rows that were drawn once, or
        "frequency", how often each row was observed
    cluster : a label per row; rows of a cluster may depend on each other

    References
    ----------
    Harrell (2015), Regression Modeling Strategies, doi:10.1007/978-3-319-19425-7

    >>> test = unreliability_test([0, 1, 0, 1, 0, 1], [0.1, 0.2, 0.4, 0.5, 0.7, 0.9])
    >>> round(test.statistic, 4), test.degrees_of_freedom, test.note
    (0.6907, 2, 'Unreliability index U = -0.218209.')
    """
    panel = make_panel(
        y_true, {"y_prob": y_prob}, sample_weight=sample_weight, weight_kind=weight_kind, cluster=cluster
    )
    return _test_unreliability(panel, _fit_joint(panel))


def _test_unreliability(panel: ForecastPanel, joint: LineFit) -> HypothesisTest:
    is_robust = _is_robust(panel)
    statistic, note = (_joint_wald if is_robust else _likelihood_ratio)(panel, joint)
    sample = _describe_sample(panel)
    return describe_unreliability(sample, joint, statistic, note, has_likelihood=not is_robust)


def _likelihood_ratio(panel: ForecastPanel, joint: LineFit) -> tuple[float, str]:
    if joint.note:
        return np.nan, joint.note
    a, b = joint.value.tolist()
    x, y, weight = _cases_for(panel, max(abs(b), 1.0))
    rise = log_likelihood(a + b * x, y, weight) - log_likelihood(x, y, weight)
    return likelihood_ratio(_describe_sample(panel), rise)


def _joint_wald(panel: ForecastPanel, joint: LineFit) -> tuple[float, str]:
    if joint.note:
        return np.nan, joint.note
    if panel.units.size < 3 or not joint.freedom_together > 1 or np.linalg.matrix_rank(joint.covariance) < 2:
        return (
            np.nan,
            f"{format_plain(panel.units.size)} {panel.units.describes} are too few to test two parameters.",
        )
    return joint_wald(joint), ""
