"""Rows that depend in time: tests of calibration, comparisons of models, and drift between audits."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, ndtri

import scorereport as sr
from scorereport.configuration.periods import Period
from scorereport.history.trend.drift import find_drift
from scorereport.history.trend.drift_records import Number, Snapshot
from scorereport.history.trend.snapshot import count_forecasts, effective_size
from scorereport.inference import score_difference
from scorereport.inference.calibration_in_time import allow_for_time
from scorereport.inference.calibration_tests import mean_calibration_test, spiegelhalter_test
from scorereport.inference.component_tests import miscalibration_test
from scorereport.inference.losses import resolve_measure
from scorereport.inference.overfit import estimate_overfit
from scorereport.inference.panel import make_panel
from scorereport.inference.regression import calibration_line, line_tests
from scorereport.inference.time_errors import AUTOCORRELATION
from scorereport.reliability.sampling import SamplingUnits
from validation.coverage.simulate import ALPHA, Cell, Plan, Trial, draw_seed, rejects, simulate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport._utils.arrays import FloatArray, IntArray
    from validation.coverage.record import Row

_TIMES, _RESAMPLES = 365, 199
_CORRELATIONS = (0.0, 0.5, 0.9)
_SMALL = (8, 20, 50)
_SERIES = 400
_DRIFT_KINDS = ("independent rows", "effects of days", "effects of days, clusters by day")
_MONTHS, _DAYS, _ROWS_A_DAY = 24, 30, 20
_BRIER = resolve_measure("brier", {})


def study_time(plan: Plan) -> Iterator[Row]:
    """Simulate calibrated forecasts of a year, equal forecasts, and audits of a stable model."""
    for correlation in plan.cells(_CORRELATIONS, _CORRELATIONS):
        setting = f"calibrated, autocorrelation {correlation:g}"
        cell = Cell(study="calibration in time", setting=setting, n=_TIMES, nominal=ALPHA)
        yield from simulate(plan, cell, _calibration_trial(correlation), plan.runs(100, 2000))
    for n in plan.cells(_SMALL, _SMALL):
        cell = Cell(study="comparisons in time", setting="independent rows", n=n, nominal=ALPHA)
        yield from simulate(plan, cell, _small_trial(n), plan.runs(500, 10_000))
    for correlation in plan.cells((0.5, 0.95), (0.5, 0.95)):
        setting = f"autocorrelation {correlation:g}"
        cell = Cell(study="comparisons in time", setting=setting, n=_SERIES, nominal=ALPHA)
        yield from simulate(plan, cell, _series_trial(correlation), plan.runs(300, 4000))
    for kind in plan.cells(_DRIFT_KINDS, _DRIFT_KINDS):
        cell = Cell(study="drift", setting=kind, n=_DAYS * _ROWS_A_DAY, nominal=ALPHA)
        yield from simulate(plan, cell, _drift_trial(kind), plan.runs(20, 1000))


def draw_series(rng: np.random.Generator, times: int, correlation: float) -> FloatArray:
    """A stationary normal series of variance 1 with this autocorrelation."""
    noise = rng.normal(size=times)
    noise[1:] *= np.sqrt(1 - correlation**2)
    for time in range(1, times):
        noise[time] += correlation * noise[time - 1]
    return noise


# Calibration


def _calibration_trial(correlation: float) -> Trial:
    """One row a day: the event happens if a series stays below the quantile of the forecast."""

    def trial(rng: np.random.Generator) -> dict[str, float]:
        p = rng.random(_TIMES)
        y = (draw_series(rng, _TIMES, correlation) < ndtri(p)).astype(np.float64)
        panel = make_panel(y, {"p": p}, time=np.arange(_TIMES))
        tests = [spiegelhalter_test(y, p), mean_calibration_test(y, p), *line_tests(y, p)]
        _, in_time = allow_for_time(panel, calibration_line(y, p), tests)
        found = {test.name: test.p_value for test in in_time}
        alone = miscalibration_test(sr.corp(y, p), resamples=_RESAMPLES, seed=draw_seed(rng)).p_value
        detected = found.pop(AUTOCORRELATION)
        on_page_one = found["Unreliability"] if detected <= ALPHA else alone
        return rejects(
            {f"{name}, in time": p_value for name, p_value in found.items()}
            | {
                "Calibration in the large, rows as independent": tests[1].p_value,
                "MCB Brier, rows as independent": alone,
                "dependence in time shown": detected,
                "page one states evidence": on_page_one,
            }
        )

    return trial


# Comparisons


def _small_trial(n: int) -> Trial:
    """Two forecasts that differ from the same truth by noise of the same size."""

    def trial(rng: np.random.Generator) -> dict[str, float]:
        log_odds = rng.normal(size=n)
        y = (rng.random(n) < expit(log_odds)).astype(np.float64)
        first, second = (expit(log_odds + 0.5 * rng.normal(size=n)) for _ in range(2))
        return rejects({"Diebold-Mariano": score_difference(y, first, second).p_value})

    return trial


def _series_trial(correlation: float) -> Trial:
    """Constant forecasts of 60 % and 40 % for autocorrelated events of probability 1/2."""

    def trial(rng: np.random.Generator) -> dict[str, float]:
        y = (draw_series(rng, _SERIES, correlation) > 0).astype(np.float64)
        high, low, time = np.full(_SERIES, 0.6), np.full(_SERIES, 0.4), np.arange(_SERIES)
        return rejects(
            {
                "Diebold-Mariano, cosines": score_difference(y, high, low, time=time).p_value,
                "Diebold-Mariano, 5 lags": score_difference(y, high, low, time=time, lags=5).p_value,
            }
        )

    return trial


# Drift


def _drift_trial(kind: str) -> Trial:
    """Two years of monthly audits: any alarm in the first year, and in the second."""

    def trial(rng: np.random.Generator) -> dict[str, float]:
        audits = list(_draw_audits(rng, kind))
        looks = _MONTHS // 2
        alarms = [
            find_drift(audits[k], audits[:k], audits=looks, alpha=ALPHA, looks=looks).has_drifted
            for k in range(1, _MONTHS)
        ]
        return {
            "any alarm against 1 to 4 audits, which is noted": any(alarms[:4]),
            "any alarm in a year against 5 to 12 audits": any(alarms[4 : 4 + looks]),
            "any alarm in a year against 12 audits": any(alarms[-looks:]),
        }

    return trial


def _draw_audits(rng: np.random.Generator, kind: str) -> Iterator[Snapshot]:
    days = _MONTHS * _DAYS
    effect = np.zeros(days) if kind == "independent rows" else 0.3 * draw_series(rng, days, 0.9)
    for number in range(_MONTHS):
        day = np.repeat(np.arange(_DAYS), _ROWS_A_DAY)
        log_odds = rng.normal(-1, 1.2, len(day))
        moved = log_odds + effect[_DAYS * number + day]
        outcome = (rng.random(len(day)) < expit(moved)).astype(np.float64)
        cluster = day if kind.endswith("by day") else None
        yield make_snapshot(expit(log_odds), outcome, cluster, number)


def make_snapshot(p: FloatArray, y: FloatArray, cluster: IntArray | None, number: int) -> Snapshot:
    """The snapshot of an audit, without a whole evaluation, which would take a hundred times as long."""
    units = SamplingUnits(rows=len(y), cluster=cluster)
    fit, loss = sr.corp(y, p), (p - y) ** 2
    gain = loss - (fit.sample.cep(p) - y) ** 2
    overfit = estimate_overfit(fit.sample, [_BRIER], draws=8, seed=number)[0]
    numbers = (
        _number("m", "brier", loss, units),
        _number("m", "brier_miscalibration", gain, units, overfit.resampled, overfit.closed),
        _number("", "prevalence", y, units),
    )
    return Snapshot(
        period=_period(number),
        time=f"{2020 + number // 12}-{number % 12 + 1:02d}-28T06:00:00+00:00",
        rows=len(y),
        size=effective_size(units, y.astype(np.int64)),
        level=0.95,
        main_score="brier",
        numbers=numbers,
        distributions=(count_forecasts("m", "", p, units),),
        clusters=None if cluster is None else _DAYS,
    )


def _period(number: int) -> Period:
    start, end = (date(2020 + k // 12, k % 12 + 1, 1) for k in (number, number + 1))
    return Period(label=f"{start:%Y-%m}", start=str(start), end=str(end))


def _number(
    model: str,
    measure: str,
    values: FloatArray,
    units: SamplingUnits,
    overfit: float = 0.0,
    closed: float = 0.0,
) -> Number:
    value, error = units.mean(values), units.standard_error(values)
    return Number(
        model=model,
        measure=measure,
        label=measure,
        value=value,
        corrected=max(value - overfit, 0.0),
        lower=value - 2 * error,
        upper=value + 2 * error,
        standard_error=error,
        overfit=overfit,
        overfit_closed=closed,
    )
