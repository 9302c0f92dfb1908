"""Calibration lines: estimates and tests from fits of any engine."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc, fdtrc

from scorereport._utils.arrays import FloatArray
from scorereport._utils.formatting import conjugate, format_fixed, format_plain
from scorereport._utils.representation import short_repr
from scorereport.inference.estimates import Estimate, HypothesisTest
from scorereport.inference.mean_errors import ErrorDistribution
from scorereport.reliability.clusters import PUSTEJOVSKY_TIPTON

COX_1958 = "Cox (1958), Biometrika 45, doi:10.1093/biomet/45.3-4.562"
HARRELL_2015 = "Harrell (2015), Regression Modeling Strategies, doi:10.1007/978-3-319-19425-7"
#: A sandwich error below this is a rounding error: the sums over its clusters are 0.
NO_ERROR = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationLine:
    """Slope and intercept of the joint fit, and the intercept with the slope held at 1."""

    slope: Estimate
    intercept: Estimate
    intercept_at_slope_one: Estimate
    n: float
    events: float
    note: str = ""
    reference: str = COX_1958

    __repr__ = short_repr


@dataclass(frozen=True, kw_only=True, eq=False)
class LineFit:
    """Intercept and slope, or the intercept alone, with covariance; NaN, and the reason as a note, if no fit.

    `freedom` holds the degrees of freedom of the error of each, `freedom_together` those of the covariance;
    they are infinite where the covariance comes from the likelihood.
    """

    value: FloatArray
    covariance: FloatArray
    freedom: tuple[float, ...] = (np.inf, np.inf)
    freedom_together: float = np.inf
    note: str = ""

    @property
    def standard_error(self) -> FloatArray:
        """The standard error of each parameter."""
        return np.sqrt(np.diag(self.covariance))

    def guess(self, k: int, at: float) -> float:
        """Approximate best value of the other of two parameters, if the k-th is held at `at`."""
        ratio = self.covariance[0, 1] / self.covariance[k, k]
        return float(self.value[1 - k] + ratio * (at - self.value[k]))


def describe_certain(count: int, rows: int) -> str:
    """Describe why no line fits to forecasts of exactly 0 or 1."""
    are, have = conjugate(count, "are"), conjugate(count, "have")
    return f"{count} of {rows} forecasts {are} exactly 0 or 1 and {have} infinite log-odds: no line fits."


def no_fit(size: int, note: str) -> LineFit:
    """Return a fit without values, with the reason as its note."""
    return LineFit(value=np.full(size, np.nan), covariance=np.full((size, size), np.nan), note=note)


@dataclass(frozen=True, slots=True, kw_only=True)
class LineSample:
    """The sample of a line: numbers of cases and events, the method of its errors, and a warning."""

    n: float
    events: float
    errors: str
    warning: str = ""


#: Lower and upper limit of each parameter of a fit.
LineLimits = list[tuple[float, float]]


def describe_line(
    sample: LineSample,
    joint: LineFit,
    offset: LineFit,
    limits: tuple[LineLimits, LineLimits],
    *,
    how: str,
    level: float,
) -> CalibrationLine:
    """Make a calibration line from both its fits and their limits."""
    (intercept, slope), (at_slope_one,) = limits

    def estimate(fit: LineFit, k: int, measure: str, bounds: tuple[float, float], what: str) -> Estimate:
        return Estimate(
            measure=measure,
            value=float(fit.value[k]),
            standard_error=float(fit.standard_error[k]),
            lower=bounds[0],
            upper=bounds[1],
            level=level,
            method=f"{what}; {how}, {sample.errors}{', quantile of t' * bool(np.isfinite(fit.freedom[k]))}",
            n=sample.n,
            degrees_of_freedom=fit.freedom[k] if np.isfinite(fit.freedom[k]) else None,
            note=fit.note or sample.warning,
        )

    notes = dict.fromkeys(note for note in (joint.note, offset.note) if note)
    return CalibrationLine(
        slope=estimate(joint, 1, "calibration slope", slope, "joint fit"),
        intercept=estimate(joint, 0, "calibration intercept", intercept, "joint fit"),
        intercept_at_slope_one=estimate(
            offset, 0, "calibration intercept at slope 1", at_slope_one, "fit with the slope held at 1"
        ),
        n=sample.n,
        events=sample.events,
        note=" ".join(notes) or sample.warning,
    )


def wald_limits(fit: LineFit, level: float) -> LineLimits:
    """Return estimates minus and plus their errors times a quantile, normal or of t."""
    quantiles = [ErrorDistribution(df).critical_value(level) for df in fit.freedom[: len(fit.value)]]
    half = np.array(quantiles) * fit.standard_error
    return [(float(value - h), float(value + h)) for value, h in zip(fit.value, half, strict=True)]


def wald_slope_test(sample: LineSample, joint: LineFit) -> HypothesisTest:
    """Test that the slope is 1."""
    return _wald_test(sample, joint, 1, name="Calibration slope", null=1)


def wald_intercept_test(sample: LineSample, offset: LineFit) -> HypothesisTest:
    """Test that the intercept at slope 1 is 0."""
    return _wald_test(sample, offset, 0, name="Calibration intercept at slope 1", null=0)


def _wald_test(sample: LineSample, fit: LineFit, k: int, *, name: str, null: float) -> HypothesisTest:
    with np.errstate(divide="ignore", invalid="ignore"):
        z = float((fit.value[k] - null) / fit.standard_error[k])
    return HypothesisTest(
        name=name,
        statistic=z,
        p_value=ErrorDistribution(fit.freedom[k]).p_value(z),
        null_hypothesis=f"The {name.lower()} is {format_plain(null)}.",
        method=f"two-sided Wald test, {sample.errors}{_describe_t(fit.freedom[k])}",
        reference=COX_1958,
        n=sample.n,
        note=fit.note or sample.warning,
    )


def _describe_t(freedom: float) -> str:
    return f", t with {format_fixed(freedom, 1)} degrees of freedom" if np.isfinite(freedom) else ""


def describe_unreliability(
    sample: LineSample, joint: LineFit, statistic: float, note: str, *, has_likelihood: bool
) -> HypothesisTest:
    """Make the test that intercept 0 and slope 1 hold together: by likelihood ratio, or Wald's."""
    p_value, distribution = refer_wald(statistic, 2, joint.freedom_together)
    how = "likelihood ratio" if has_likelihood else f"Wald test, {sample.errors}"
    return HypothesisTest(
        name="Unreliability",
        statistic=statistic,
        p_value=p_value,
        null_hypothesis="The calibration intercept is 0 and the calibration slope is 1.",
        method=f"{how}, {distribution}",
        reference=HARRELL_2015 if has_likelihood else f"{HARRELL_2015}; {PUSTEJOVSKY_TIPTON}",
        n=sample.n,
        degrees_of_freedom=2,
        note=note or sample.warning,
    )


def refer_wald(statistic: float, size: int, freedom: float) -> tuple[float, str]:
    """Return the p-value of Wald's statistic of several parameters, and the name of its distribution.

    It is χ² if the degrees of freedom are infinite, else Hotelling's T-squared with these degrees of freedom.
    """
    if not np.isfinite(freedom):
        return float(chdtrc(size, statistic)), f"χ² with {size} degrees of freedom"
    second = freedom - size + 1
    p_value = float(fdtrc(size, second, second / (freedom * size) * statistic))
    return p_value, f"Hotelling's T² as F with {size} and {format_fixed(second, 1)} degrees of freedom"


def likelihood_ratio(sample: LineSample, rise: float) -> tuple[float, str]:
    """Return twice the rise of the log-likelihood over that of the forecasts, and the unreliability index."""
    statistic = 2 * max(rise, 0.0)
    return statistic, f"Unreliability index U = {format_plain((statistic - 2) / sample.n, 6)}."


def joint_wald(joint: LineFit) -> float:
    """Return Wald's statistic that the intercept is 0 and the slope 1."""
    off = joint.value - (0, 1)
    return float(off @ np.linalg.solve(joint.covariance, off))
