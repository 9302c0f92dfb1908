"""Tests of calibration and the calibration line for rows that depend on each other in time.

Sums over rows, and the influence of rows on a fit, are summed at each time; their long-run covariance is
estimated with the slowest cosines, as for means, and statistics are compared with t and F.

References
----------
Lazarus, Lewis, Stock, Watson (2018), J. Bus. Econ. Stat. 36, doi:10.1080/07350015.2018.1506926
"""

from __future__ import annotations

from dataclasses import replace
from math import isfinite, sqrt
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import fdtrc, logit

from scorereport._utils.checks import CheckedCases
from scorereport.inference.calibration_tests import IN_THE_LARGE, SPIEGELHALTER
from scorereport.inference.likelihood import combine, influence
from scorereport.inference.mean_errors import ErrorDistribution
from scorereport.inference.time_errors import (
    FEWEST_TIMES,
    LAZARUS_2018,
    autocorrelation_test,
    describe_slow,
    long_run_covariance,
    number_of_cosines,
    number_of_times,
    sum_by_time,
)
from scorereport.reliability.blocks import pool_cases
from scorereport.reliability.fitted_sample import order_cases

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.estimates import Estimate, HypothesisTest
    from scorereport.inference.panel import ForecastPanel, PanelRows
    from scorereport.inference.recalibration_lines import CalibrationLine

#: The note of tests that do not allow for dependence in time although rows have times.
INDEPENDENT = "Treats rows as independent, also in time."


def needs_time(panel: PanelRows) -> bool:
    """Whether rows have times and no clusters; clusters would define which rows depend on each other."""
    return panel.time is not None and panel.cluster is None


def allow_for_time(
    panel: ForecastPanel, line: CalibrationLine, tests: Sequence[HypothesisTest]
) -> tuple[CalibrationLine, list[HypothesisTest]]:
    """Return the line and the tests of calibration with errors over time, and a test of autocorrelation.

    Parameters
    ----------
    panel : outcomes and one forecast with their times
    line, tests : those of independent rows; tests without a version over time keep their numbers, with a note
    """
    cases = CheckedCases(panel.outcome, panel.only, panel.weight)
    blocks = pool_cases(order_cases(cases, binary=True), binary=True)
    dependence = autocorrelation_test(panel, panel.outcome - np.interp(panel.only, *blocks.corners))
    if number_of_times(panel) < FEWEST_TIMES:
        return line, [*map(note_independence, tests), dependence]
    fits = _Fits(panel, line)
    return fits.line(), [*(fits.retest(test) for test in tests), dependence]


def note_independence(test: HypothesisTest) -> HypothesisTest:
    """Add a note to a test that it treats rows as independent."""
    return replace(test, note=f"{test.note} {INDEPENDENT}".strip())


class _Fits:
    """The sums and fits of one model, with covariances over time."""

    def __init__(self, panel: ForecastPanel, line: CalibrationLine) -> None:
        self._panel, self._line = panel, line
        self._cosines = number_of_cosines(number_of_times(panel))
        self._distribution = ErrorDistribution(self._cosines)
        self._slow = describe_slow(panel, panel.outcome - panel.only)
        self._how = f"errors in time ({self._cosines} cosines, {number_of_times(panel)} times)"
        is_fit = isfinite(line.slope.value) and isfinite(line.intercept_at_slope_one.value)
        self._joint = self._covariance((line.intercept.value, line.slope.value)) if is_fit else None
        self._offset = self._covariance((line.intercept_at_slope_one.value,)) if is_fit else None

    def _covariance(self, value: tuple[float, ...]) -> FloatArray:
        """Covariance of a fit from the influence of each time on its coefficients."""
        x, weight = logit(self._panel.only), self._panel.units.row_weight
        columns = np.stack([np.ones_like(x), x])[: len(value)]
        log_odds = combine(value, columns) if len(value) == 2 else x + value[0]
        moved = influence(columns, log_odds, self._panel.outcome, weight) * weight
        return long_run_covariance(sum_by_time(self._panel, moved)) / self._panel.units.total**2

    def line(self) -> CalibrationLine:
        """The line with errors and intervals over time."""
        if self._joint is None or self._offset is None:
            return self._line
        line = self._line
        return replace(
            line,
            intercept=self._estimate(line.intercept, self._joint[0, 0]),
            slope=self._estimate(line.slope, self._joint[1, 1]),
            intercept_at_slope_one=self._estimate(line.intercept_at_slope_one, self._offset[0, 0]),
        )

    def _estimate(self, estimate: Estimate, variance: float) -> Estimate:
        error = sqrt(variance)
        reach = self._distribution.critical_value(estimate.level) * error
        what = estimate.method.split(";")[0]
        return replace(
            estimate,
            standard_error=error,
            lower=estimate.value - reach,
            upper=estimate.value + reach,
            method=f"{what}; Wald interval by t, {self._how}",
        )

    def retest(self, test: HypothesisTest) -> HypothesisTest:
        """Repeat a test with errors over time; a test without such a version only gets a note."""
        p = self._panel.only
        factors = {SPIEGELHALTER.name: 1 - 2 * p, IN_THE_LARGE.name: np.ones_like(p)}
        if not isfinite(test.statistic):
            return test
        if test.name in factors:
            return self._retest_sum(test, factors[test.name])
        if self._joint is None or self._offset is None:
            return note_independence(test)
        if test.name == "Calibration slope":
            return self._by_t(test, (self._line.slope.value - 1) / sqrt(self._joint[1, 1]))
        if test.name == "Calibration intercept at slope 1":
            value = self._line.intercept_at_slope_one.value
            return self._by_t(test, value / sqrt(self._offset[0, 0]))
        return self._retest_line(test) if test.name == "Unreliability" else note_independence(test)

    def _retest_sum(self, test: HypothesisTest, factor: FloatArray) -> HypothesisTest:
        rows = self._panel
        terms = rows.units.row_weight * factor * (rows.outcome - rows.only)
        variance = float(long_run_covariance(sum_by_time(rows, terms))[0, 0])
        return self._by_t(test, float(terms.sum()) / sqrt(variance)) if variance > 0 else test

    def _by_t(self, test: HypothesisTest, statistic: float) -> HypothesisTest:
        return replace(
            test,
            statistic=statistic,
            p_value=self._distribution.p_value(statistic),
            method=f"two-sided t test, {self._how}",
            reference=f"{test.reference}; {LAZARUS_2018}",
            note=f"{test.note} {self._slow}".strip(),
        )

    def _retest_line(self, test: HypothesisTest) -> HypothesisTest:
        """Wald's test of intercept and slope by F, whose degrees of freedom are the cosines minus one."""
        off = np.array([self._line.intercept.value, self._line.slope.value - 1])
        wald = float(off @ np.linalg.solve(np.asarray(self._joint), off))
        df = self._cosines - 1
        return replace(
            test,
            statistic=wald,
            p_value=float(fdtrc(2, df, wald * df / (2 * self._cosines))),
            method=f"Wald test, F with 2 and {df} degrees of freedom, {self._how}",
            reference=f"{test.reference}; {LAZARUS_2018}",
            note=self._slow,
        )
