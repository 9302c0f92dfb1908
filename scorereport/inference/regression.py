"""Cox's recalibration line, logit P(y = 1) = a + b logit p: estimates, intervals and tests.

A calibrated forecast has a = 0 and b = 1. Two intercepts are in use, and both are given: that of the
joint fit, and that of the fit with the slope held at 1, calibration in the large in log-odds.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import chdtrc, expit, logit, ndtr, ndtri

from scorereport.arrays import FloatArray
from scorereport.checks import check_inside, check_option
from scorereport.errors import UsageError
from scorereport.inference.outcomes import Estimate, HypothesisTest
from scorereport.inference.panel import Panel, make_panel

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

COX_1958 = "Cox (1958), Biometrika 45, doi:10.1093/biomet/45.3-4.562"
HARRELL_2015 = "Harrell (2015), Regression Modeling Strategies, doi:10.1007/978-3-319-19425-7"
INTERVALS = ("wald", "profile")
#: Newton's method stops after a step so small; as steps shrink quadratically, it was the last that counts.
_LAST_STEP = 1e-8
#: Separated data make it climb for ever: it gives up after so many steps.
_MOST_STEPS = 60
#: A sandwich error below this is rounding: the sums over its clusters are 0.
_NO_ERROR = 1e-12
#: Slopes beyond this count as infinite.
_FAR = 1e12
#: A likelihood has not fallen unless by more than this, relative to its size.
_ROUNDING = 1e-10
#: The range of log-odds below which they count as equal, relative to their size.
_EQUAL = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationLine:
    """Slope and intercept of the joint fit, and the intercept where the slope is held at 1."""

    slope: Estimate
    intercept: Estimate
    intercept_at_slope_one: Estimate
    n: float
    events: float
    note: str = ""
    reference: str = COX_1958


@dataclass(frozen=True, kw_only=True, eq=False)
class _Fit:
    """Intercept and slope, or the intercept alone, with their covariance; NaN and why if there is none."""

    value: FloatArray
    covariance: FloatArray
    note: str = ""

    @property
    def standard_error(self) -> FloatArray:
        return np.sqrt(np.diag(self.covariance))

    def guess(self, k: int, at: float) -> float:
        """About where the other of two parameters is best, if the k-th is held somewhere."""
        ratio = self.covariance[0, 1] / self.covariance[k, k]
        return float(self.value[1 - k] + ratio * (at - self.value[k]))


# Estimates


def calibration_line(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    interval: str = "wald",
    level: float = 0.95,
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
) -> CalibrationLine:
    """Fit the recalibration line by statsmodels' binomial GLM.

    Forecasts of 0 or 1 have infinite log-odds: then there is no line, and nothing is clipped.
    With clusters or fractional weights, errors come from the sandwich of G clusters or rows,
    times √(G/(G - 1)).

    Parameters
    ----------
    y_true : outcomes 0 or 1
    y_prob : probabilities
    interval : "wald", estimate ± quantile times error; or "profile", where the likelihood ratio, the
        other parameter refitted, is not significant; it needs independent rows
    level : the probability with which an interval covers
    sample_weight : not negative; whole weights count as repeated rows
    cluster : a label per row; rows of a cluster may depend on each other

    References
    ----------
    Cox (1958), Biometrika 45, doi:10.1093/biomet/45.3-4.562

    >>> line = calibration_line([0, 1, 0, 1, 0, 1], [0.1, 0.2, 0.4, 0.5, 0.7, 0.9])
    >>> round(line.slope.value, 4), round(line.intercept.value, 4)
    (0.4449, 0.0742)
    >>> round(line.intercept_at_slope_one.value, 4)
    0.1915
    """
    check_option(interval, "interval", INTERVALS)
    level = check_inside(level, "level", 0, 1, closed="neither")
    panel = make_panel(y_true, {"y_prob": y_prob}, sample_weight=sample_weight, cluster=cluster)
    if interval == "profile" and _is_robust(panel):
        raise UsageError(
            '`interval` must be "wald" with clusters or fractional weights: they have no likelihood.'
        )
    return _line(panel, interval, level)


def _line(panel: Panel, interval: str, level: float) -> CalibrationLine:
    joint, offset = _fit_joint(panel), _fit_at_slope_one(panel)
    intercept, slope = _limits(panel, joint, interval, level)
    (at_slope_one,) = _limits(panel, offset, interval, level)
    how = f"{_describe_interval(interval)}, {_describe_errors(panel)}"

    def estimate(fit: _Fit, k: int, measure: str, limits: tuple[float, float], what: str) -> Estimate:
        return Estimate(
            measure=measure,
            value=float(fit.value[k]),
            standard_error=float(fit.standard_error[k]),
            lower=limits[0],
            upper=limits[1],
            level=level,
            method=f"{what}; {how}",
            note=fit.note,
        )

    notes = dict.fromkeys(note for note in (joint.note, offset.note) if note)
    return CalibrationLine(
        slope=estimate(joint, 1, "calibration slope", slope, "joint fit"),
        intercept=estimate(joint, 0, "calibration intercept", intercept, "joint fit"),
        intercept_at_slope_one=estimate(
            offset, 0, "calibration intercept at slope 1", at_slope_one, "fit with the slope held at 1"
        ),
        n=panel.units.total,
        events=float((panel.units.row_weight * panel.outcome).sum()),
        note=" ".join(notes),
    )


def _is_robust(panel: Panel) -> bool:
    return panel.cluster is not None or not panel.units.are_repeated_rows


def _describe_interval(interval: str) -> str:
    return "Wald interval" if interval == "wald" else "profile likelihood interval"


def _describe_errors(panel: Panel) -> str:
    if panel.cluster is not None:
        return f"sandwich errors over {panel.units.size:g} clusters"
    return "sandwich errors over weighted rows" if _is_robust(panel) else "errors from the likelihood"


# Fits


def _fit_joint(panel: Panel) -> _Fit:
    note = _why_no_intercept(panel) or _why_no_slope(panel)
    if note:
        return _no_fit(2, note)
    x = logit(panel.only)
    start = fit_line(x, panel.outcome, panel.units.row_weight)
    return _fit_glm(panel, np.column_stack([np.ones_like(x), x]), np.zeros_like(x), start)


def _fit_at_slope_one(panel: Panel) -> _Fit:
    note = _why_no_intercept(panel)
    if note:
        return _no_fit(1, note)
    x = logit(panel.only)
    start = fit_offset(x, panel.outcome, panel.units.row_weight)
    return _fit_glm(panel, np.ones((len(x), 1)), x, (start,))


def _why_no_intercept(panel: Panel) -> str:
    is_certain = (panel.only == 0) | (panel.only == 1)
    if is_certain.any():
        count, rows = np.count_nonzero(is_certain), len(is_certain)
        return f"{count} of {rows} forecasts are exactly 0 or 1 and have infinite log-odds: no line fits."
    if panel.outcome.min() == panel.outcome.max():
        return f"All outcomes are {panel.outcome[0]:g}: no line fits."
    return ""


def _why_no_slope(panel: Panel) -> str:
    """Decide exactly whether the likelihood has its top at a finite slope; both outcomes occur."""
    p, is_event = panel.only, panel.outcome == 1
    if p[0] == p[-1]:
        return "All forecasts are the same: the slope is not defined."
    if p[is_event].min() >= p[~is_event].max() or p[is_event].max() <= p[~is_event].min():
        return "The forecasts separate events from non-events: the slope is infinite."
    return ""


def _no_fit(size: int, note: str) -> _Fit:
    return _Fit(value=np.full(size, np.nan), covariance=np.full((size, size), np.nan), note=note)


def _fit_glm(panel: Panel, design: FloatArray, offset: FloatArray, start: Sequence[float]) -> _Fit:
    """Fit by statsmodels from where our own kernel ended; the two must agree."""
    from statsmodels.genmod.families import Binomial
    from statsmodels.genmod.generalized_linear_model import GLM

    if not np.isfinite(start).all():
        return _no_fit(len(start), "The fit did not converge.")
    weight = panel.units.row_weight
    model = GLM(panel.outcome, design, family=Binomial(), offset=offset, freq_weights=weight)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        result = model.fit(start_params=np.array(start), rtol=1e-12, **_covariance_options(panel))
        covariance = result.cov_params()
    if not (np.allclose(result.params, start, rtol=1e-6, atol=1e-6) and np.diag(covariance).min() >= 0):
        return _no_fit(len(start), "The fit did not converge.")  # also where the covariance is NaN
    return _correct(panel, _Fit(value=result.params, covariance=covariance))


def _covariance_options(panel: Panel) -> dict[str, Any]:
    if not _is_robust(panel):
        return {}
    groups = np.arange(len(panel.outcome)) if panel.cluster is None else panel.cluster
    return {"cov_type": "cluster", "cov_kwds": {"groups": groups, "use_correction": False}}


def _correct(panel: Panel, fit: _Fit) -> _Fit:
    """Stretch a sandwich over G draws by G/(G - 1), as `Units.standard_error` does."""
    draws, what = panel.units.size, panel.units.describes
    if not _is_robust(panel):
        return fit
    if draws < 2 or fit.standard_error.min() <= _NO_ERROR:
        note = f"The {draws:g} {what} do not vary enough to give standard errors."
        return _Fit(value=fit.value, covariance=np.full_like(fit.covariance, np.nan), note=note)
    return _Fit(value=fit.value, covariance=fit.covariance * draws / (draws - 1))


# Intervals


def _limits(panel: Panel, fit: _Fit, interval: str, level: float) -> list[tuple[float, float]]:
    """Lower and upper limit of each parameter."""
    quantile = float(ndtri((1 + level) / 2))
    if interval == "wald" or not np.isfinite(fit.value).all():
        half = quantile * fit.standard_error
        return [(float(value - h), float(value + h)) for value, h in zip(fit.value, half, strict=True)]
    profiles = _profiles(panel, fit)
    return [
        (_cross(profile, value, -error, quantile), _cross(profile, value, error, quantile))
        for profile, value, error in zip(profiles, fit.value, fit.standard_error, strict=True)
    ]


def _profiles(panel: Panel, fit: _Fit) -> list[Callable[[float], float]]:
    """For each parameter the log-likelihood at a value of it, the other one refitted."""
    x, y, weight = logit(panel.only), panel.outcome, panel.units.row_weight
    if len(fit.value) == 1:
        return [lambda a: _log_likelihood(a + x, y, weight)]

    def at_intercept(a: float) -> float:
        return _log_likelihood(a + x * _fit_slope(x, y, weight, a, fit.guess(0, a)), y, weight)

    def at_slope(b: float) -> float:
        return _log_likelihood(b * x + fit_offset(b * x, y, weight, fit.guess(1, b)), y, weight)

    return [at_intercept, at_slope]


def _fit_slope(x: FloatArray, y: FloatArray, weight: FloatArray, intercept: float, start: float) -> float:
    """Slope with the intercept held: where the likelihood, which rises before and falls after, is flat."""

    def rise(slope: float) -> float:
        return float((weight * x) @ (y - expit(intercept + slope * x)))

    step = 1.0 if rise(start) > 0 else -1.0
    end = start + step
    while rise(end) * step > 0 and abs(step) < _FAR:
        step *= 2
        end = start + step
    return float(brentq(rise, start, end)) if rise(end) * step <= 0 else np.nan


def _cross(profile: Callable[[float], float], value: float, step: float, quantile: float) -> float:
    """Where the profile has fallen by half the squared quantile, in the direction of the step."""
    floor = profile(value) - quantile**2 / 2
    end = value + quantile * step
    for _ in range(_MOST_STEPS):
        if profile(end) < floor:
            return float(brentq(lambda at: profile(at) - floor, value, end, xtol=1e-13 * abs(step)))
        end = value + 2 * (end - value)
    return np.nan


@np.errstate(all="ignore")
def _log_likelihood(log_odds: FloatArray, y: FloatArray, weight: FloatArray) -> float:
    return -float((weight * np.logaddexp(0, (1 - 2 * y) * log_odds)).sum())


# Kernels without statsmodels, for resampling


@np.errstate(all="ignore")
def fit_line(
    logit_p: FloatArray, y: FloatArray, weight: FloatArray, start: tuple[float, float] = (0.0, 1.0)
) -> tuple[float, float]:
    """Intercept and slope of the joint fit, quickest from a start near it; NaN where there is none.

    >>> a, b = fit_line(np.array([-2.0, -1, 1, 3]), np.array([0.0, 1, 0, 1]), np.ones(4))
    >>> round(a, 4), round(b, 4)
    (-0.0976, 0.4447)
    """
    centre = float(weight @ logit_p / weight.sum())
    spread = float(np.sqrt(weight @ (logit_p - centre) ** 2 / weight.sum()))
    if not spread > _EQUAL * np.abs(logit_p).max():
        return np.nan, np.nan
    columns = np.stack([np.ones_like(logit_p), (logit_p - centre) / spread])
    level = float(logit(weight @ y / weight.sum()))
    for near in ((start[0] + start[1] * centre, start[1] * spread), (level, 0.0)):
        middle, slope = _climb(columns, np.zeros_like(logit_p), y, weight, near)
        if np.isfinite(middle) or np.isinf(level):
            break
    return float(middle - slope / spread * centre), float(slope / spread)


@np.errstate(all="ignore")
def fit_offset(logit_p: FloatArray, y: FloatArray, weight: FloatArray, start: float = 0.0) -> float:
    """Intercept with the slope held at 1, quickest from a start near it; NaN where there is none.

    >>> round(fit_offset(np.array([-2.0, -1, 1, 2]), np.array([0.0, 1, 1, 1]), np.ones(4)), 4)
    1.6879
    """
    level = float(logit(weight @ y / weight.sum()))
    lower, upper = level - logit_p.max() - 1, level - logit_p.min() + 1
    if not np.isfinite([lower, upper]).all():
        return np.nan
    (intercept,) = _climb(np.ones((1, len(logit_p))), logit_p, y, weight, (start,))
    if np.isfinite(intercept):
        return float(intercept)
    return float(brentq(lambda a: float(weight @ (expit(a + logit_p) - y)), lower, upper, maxiter=1000))


@np.errstate(all="ignore")
def line_influence(logit_p: FloatArray, y: FloatArray, weight: FloatArray) -> FloatArray:
    """Influence of each row on the slope, the intercept and the intercept at slope 1: three rows of n.

    An estimate moves by the weighted mean of its influence, so its error is `Units.standard_error`.
    """
    a, b = fit_line(logit_p, y, weight)
    columns = np.stack([np.ones_like(logit_p), logit_p])
    at_one = fit_offset(logit_p, y, weight)
    intercept, slope = _influence(columns, a + b * logit_p, y, weight)
    (intercept_at_one,) = _influence(columns[:1], at_one + logit_p, y, weight)
    return np.stack([slope, intercept, intercept_at_one])


def _influence(columns: FloatArray, log_odds: FloatArray, y: FloatArray, weight: FloatArray) -> FloatArray:
    mean = expit(log_odds)
    information = (columns * (weight * mean * (1 - mean))) @ columns.T
    return weight.sum() * _solve(information, columns * (y - mean))


@np.errstate(all="ignore")
def _climb(
    columns: FloatArray, offset: FloatArray, y: FloatArray, weight: FloatArray, start: ArrayLike
) -> FloatArray:
    """Maximise the logistic likelihood by Newton's method; a step that lowers it is halved."""
    at, step, before = np.array(start, dtype=np.float64), np.zeros(len(columns)), -np.inf
    sign = 2 * y - 1
    for _ in range(_MOST_STEPS):
        probability = expit(sign * (at @ columns + offset))  # of what happened
        likelihood = float(weight @ np.log(probability))
        if likelihood < before - _ROUNDING * abs(before):
            step = step / 2
            at = at - step
            continue
        information = (columns * (weight * probability * (1 - probability))) @ columns.T
        step, before = _solve(information, columns @ (weight * sign * (1 - probability))), likelihood
        at = at + step
        if (np.abs(step) <= _LAST_STEP * (1 + np.abs(at))).all():
            return at
    return np.full(len(columns), np.nan)


def _solve(matrix: FloatArray, right: FloatArray) -> FloatArray:
    try:
        return np.linalg.solve(matrix, right).astype(np.float64, copy=False)
    except np.linalg.LinAlgError:
        return np.full(right.shape, np.nan)


# Tests


def line_tests(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
) -> tuple[HypothesisTest, ...]:
    """Test that the slope is 1, that the intercept at slope 1 is 0, and both together.

    Parameters
    ----------
    y_true : outcomes 0 or 1
    y_prob : probabilities
    sample_weight : not negative; whole weights count as repeated rows
    cluster : a label per row; rows of a cluster may depend on each other

    References
    ----------
    Cox (1958), Biometrika 45, doi:10.1093/biomet/45.3-4.562

    >>> tests = line_tests([0, 1, 0, 1, 0, 1], [0.1, 0.2, 0.4, 0.5, 0.7, 0.9])
    >>> [(test.name, round(test.p_value, 4)) for test in tests]
    [('Calibration slope', 0.3774), ('Calibration intercept at slope 1', 0.8446), ('Unreliability', 0.708)]
    """
    panel = make_panel(y_true, {"y_prob": y_prob}, sample_weight=sample_weight, cluster=cluster)
    joint = _fit_joint(panel)
    slope = _wald_test(panel, joint, 1, name="Calibration slope", null=1)
    intercept = _wald_test(
        panel, _fit_at_slope_one(panel), 0, name="Calibration intercept at slope 1", null=0
    )
    return slope, intercept, _test_unreliability(panel, joint)


def unreliability_test(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
) -> HypothesisTest:
    """Test by likelihood ratio that intercept 0 and slope 1 hold together, with two degrees of freedom.

    Harrell's unreliability index U = (χ² - 2)/n stands in the note. With clusters or fractional
    weights, which have no likelihood, it is a Wald test, and there is no U.

    Parameters
    ----------
    y_true : outcomes 0 or 1
    y_prob : probabilities
    sample_weight : not negative; whole weights count as repeated rows
    cluster : a label per row; rows of a cluster may depend on each other

    References
    ----------
    Harrell (2015), Regression Modeling Strategies, doi:10.1007/978-3-319-19425-7

    >>> test = unreliability_test([0, 1, 0, 1, 0, 1], [0.1, 0.2, 0.4, 0.5, 0.7, 0.9])
    >>> round(test.statistic, 4), test.degrees_of_freedom, test.note
    (0.6907, 2, 'Unreliability index U = -0.218209.')
    """
    panel = make_panel(y_true, {"y_prob": y_prob}, sample_weight=sample_weight, cluster=cluster)
    return _test_unreliability(panel, _fit_joint(panel))


def _wald_test(panel: Panel, fit: _Fit, k: int, *, name: str, null: float) -> HypothesisTest:
    with np.errstate(divide="ignore", invalid="ignore"):
        z = float((fit.value[k] - null) / fit.standard_error[k])
    return HypothesisTest(
        name=name,
        statistic=z,
        p_value=float(2 * ndtr(-abs(z))),
        null_hypothesis=f"The {name.lower()} is {null:g}.",
        method=f"two-sided Wald test, {_describe_errors(panel)}",
        reference=COX_1958,
        n=panel.units.total,
        note=fit.note,
    )


def _test_unreliability(panel: Panel, joint: _Fit) -> HypothesisTest:
    is_robust, n = _is_robust(panel), panel.units.total
    statistic, note = (_joint_wald if is_robust else _likelihood_ratio)(panel, joint)
    how = f"Wald test, {_describe_errors(panel)}" if is_robust else "likelihood ratio"
    return HypothesisTest(
        name="Unreliability",
        statistic=statistic,
        p_value=float(chdtrc(2, statistic)),
        null_hypothesis="The calibration intercept is 0 and the calibration slope is 1.",
        method=f"{how}, χ² with 2 degrees of freedom",
        reference=HARRELL_2015,
        n=n,
        degrees_of_freedom=2,
        note=note,
    )


def _likelihood_ratio(panel: Panel, joint: _Fit) -> tuple[float, str]:
    if joint.note:
        return np.nan, joint.note
    x, y, weight = logit(panel.only), panel.outcome, panel.units.row_weight
    a, b = joint.value
    rise = _log_likelihood(a + b * x, y, weight) - _log_likelihood(x, y, weight)
    statistic = 2 * max(rise, 0.0)
    return statistic, f"Unreliability index U = {(statistic - 2) / panel.units.total:.6g}."


def _joint_wald(panel: Panel, joint: _Fit) -> tuple[float, str]:
    if joint.note:
        return np.nan, joint.note
    if panel.units.size < 3 or np.linalg.matrix_rank(joint.covariance) < 2:
        return np.nan, f"{panel.units.size:g} {panel.units.describes} are too few to test two parameters."
    off = joint.value - (0, 1)
    return float(off @ np.linalg.solve(joint.covariance, off)), ""
