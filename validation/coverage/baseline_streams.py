"""Evidence against the calibration curve of a baseline over audits, and population shift against it.

A stream has a baseline, then the audits of one model. The baseline has the curve of the audits, which need
not be that of calibrated forecasts.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from math import inf, log
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from scorereport.configuration.periods import Period
from scorereport.history.trend.drift import find_drift
from scorereport.history.trend.drift_records import Number, Snapshot
from scorereport.history.trend.evidence_records import GroupShares
from scorereport.history.trend.snapshot import count_forecasts, effective_size
from scorereport.inference.baseline_bands import find_baseline_band
from scorereport.inference.baseline_bets import MEAN_SHARE, bet_on_mean, fit_baseline_bets
from scorereport.inference.calibration_bets import (
    AUDITS_FITTED,
    BinnedOutcomes,
    calibration_evidence,
    combine_evidence,
    update_detector,
)
from scorereport.reliability.sampling import SamplingUnits
from scorereport.results.tallies import EDGES
from validation.coverage.audit_streams import (
    AFTER,
    ALARM_AT,
    ALARM_BOUND,
    AUDITS,
    BEFORE,
    DELAYS,
    LOOKS,
    AuditRows,
    count_outcomes,
    count_within,
    draw_clusters,
    draw_rows,
)
from validation.coverage.in_time import draw_series
from validation.coverage.simulate import ALPHA, Cell, Plan, Trial, simulate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scorereport._utils.arrays import FloatArray, IntArray
    from scorereport.inference.baseline_bands import BaselineBand
    from validation.coverage.audit_streams import Draw
    from validation.coverage.record import Row

STUDY, POPULATION = "evidence against a baseline", "population shift"
MISSED = "the band misses the curve"
EVER, ALARM = "evidence of 40 to 1 in any of 24 audits", "alarm in any of 24 audits"
#: Half of the error is for a band that misses the curve, half for the evidence.
_BAND_LEVEL = 1 - ALPHA / 2
_BASELINES = (1000, 10_000, 50_000)
_CHANGES = {"shift .5": (0.5, 1.0), "shift 1": (1.0, 1.0), "slope .5": (0.0, 0.5)}
_MONTHS, _DAYS, _ROWS_A_DAY = 24, 30, 20
_KINDS = ("independent rows", "effects of days")
_REFERENCES = ("earlier audits", "a baseline of a year", "a baseline of a month", "the first 6 audits")


def study_baselines(plan: Plan) -> Iterator[Row]:
    """Simulate streams without a change, then with one, then the population of audits that stays as it is."""
    designs: dict[str, tuple[Draw, float]] = {
        "calibrated": (draw_rows, 1.0),
        "slope .7 from the start": (draw_rows, 0.7),
        "clusters of 10": (draw_clusters, 1.0),
    }
    for baseline in plan.cells(_BASELINES[1:2], _BASELINES):
        for design, (draw, slope) in designs.items():
            setting = f"{design}, baseline of {baseline} rows"
            cell = Cell(study=STUDY, setting=setting, n=1000, nominal=ALPHA)
            trial = _size_trial(draw, baseline, cell.n, slope)
            yield from _set_bounds(simulate(plan, cell, trial, plan.runs(10, 60)))
        for change, moved in _CHANGES.items():
            setting = f"{change}, against a baseline of {baseline} rows"
            for n in plan.cells((1000,), (300, 1000)):
                cell = Cell(study=DELAYS, setting=setting, n=n, nominal=ALARM_BOUND)
                yield from simulate(plan, cell, _delay_trial(baseline, n, *moved), plan.runs(4, 16))
    for kind in plan.cells(_KINDS, _KINDS):
        for reference in _REFERENCES:
            setting = f"{kind}, against {reference}"
            cell = Cell(study=POPULATION, setting=setting, n=_DAYS * _ROWS_A_DAY, nominal=ALPHA)
            yield from simulate(plan, cell, _population_trial(kind, reference), plan.runs(4, 40))


def _set_bounds(rows: Iterable[Row]) -> Iterator[Row]:
    bounds = {EVER: ALPHA, ALARM: ALARM_BOUND, MISSED: 1 - _BAND_LEVEL}
    return (replace(row, nominal=bounds[row.method]) for row in rows)


# Evidence


def _draw_band(draw: Draw, rng: np.random.Generator, rows: int, slope: float) -> BaselineBand:
    """The band of a baseline; clustered rows count as the effective number of independent ones."""
    drawn = draw(rng, rows, 0.0, slope)
    counts = count_outcomes(drawn)
    share = effective_size(drawn.units, drawn.outcome.astype(np.int64)) / rows
    return find_baseline_band(
        EDGES, share * counts.weights, share * counts.events, level=1 - (1 - _BAND_LEVEL) / 2
    )


def follow_baseline(audits: Iterable[AuditRows], band: BaselineBand) -> Iterator[float]:
    """Yield the log evidence of each audit against the band, with bets fitted to the audits before."""
    earlier: list[BinnedOutcomes] = []
    for rows in audits:
        bets = fit_baseline_bets(earlier[-AUDITS_FITTED:])
        bounds = band.bounds(rows.forecast)
        curves = calibration_evidence(rows.forecast, rows.outcome, rows.units, bets, *bounds)
        mean_bounds = band.mean_bounds(band.count(rows.forecast, rows.units.row_weight))
        means = bet_on_mean(rows.outcome.astype(np.float64), rows.units, *mean_bounds)
        weights = [(1 - MEAN_SHARE) * bet.weight for bet in bets] + [MEAN_SHARE * bet.weight for bet in means]
        yield combine_evidence([*curves, *(bet.log_evidence for bet in means)], weights)
        earlier.append(count_outcomes(rows))


def _size_trial(draw: Draw, baseline: int, n: int, slope: float) -> Trial:
    def trial(rng: np.random.Generator) -> dict[str, float]:
        band = _draw_band(draw, rng, baseline, slope)
        at = np.linspace(0.002, 0.998, 499)
        lower, upper = band.bounds(at)
        curve = expit(slope * np.log(at / (1 - at)))
        product, detector, most, highest = 0.0, -inf, -inf, -inf
        for factor in follow_baseline((draw(rng, n, 0.0, slope) for _ in range(AUDITS)), band):
            product, detector = product + factor, update_detector(detector, factor)
            most, highest = max(most, product), max(highest, detector)
        return {
            MISSED: float(((curve < lower) | (curve > upper)).any()),
            EVER: most >= log(2 / ALPHA),
            ALARM: highest >= log(ALARM_AT),
        }

    return trial


def _delay_trial(baseline: int, n: int, shift: float, slope: float) -> Trial:
    def trial(rng: np.random.Generator) -> dict[str, float]:
        band = _draw_band(draw_rows, rng, baseline, 1.0)
        audits = (
            draw_rows(rng, n, *((0.0, 1.0) if number < BEFORE else (shift, slope)))
            for number in range(BEFORE + AFTER)
        )
        detector, delay = -inf, inf
        for number, factor in enumerate(follow_baseline(audits, band)):
            detector = update_detector(detector, factor)
            if number >= BEFORE and detector >= log(ALARM_AT):
                delay = number - BEFORE + 1
                break
        return count_within("evidence against the baseline", delay)

    return trial


# Population


def _population_trial(kind: str, reference: str) -> Trial:
    """Two years of monthly audits, after a year before them: any alarm in each year."""

    def trial(rng: np.random.Generator) -> dict[str, float]:
        before, audits = _draw_population(rng, kind)
        first = 6 if reference == "the first 6 audits" else 0
        baseline = {
            "earlier audits": [],
            "a baseline of a year": [before[0]],
            "a baseline of a month": [before[1]],
            "the first 6 audits": audits[:6],
        }[reference]
        alarms: list[bool] = []
        shifted: set[str] = set()
        for number in range(max(first, 1), _MONTHS):
            trend = find_drift(
                audits[number],
                audits[:number],
                audits=LOOKS,
                alpha=ALPHA,
                looks=LOOKS,
                method="evidence",
                baseline=baseline,
                shifted=shifted,
            )
            alarms.append(trend.has_drifted)
            shifted |= {trend.period.label} if trend.has_drifted and baseline else set()
        few = 0 if first else 4
        return {
            **({"any alarm with 0 to 4 earlier audits, which is noted": any(alarms[:few])} if few else {}),
            "any alarm in a year": any(alarms[few : few + LOOKS]),
        }

    return trial


def _draw_population(rng: np.random.Generator, kind: str) -> tuple[list[Snapshot], list[Snapshot]]:
    """The year and the month before, and the audits; outcomes, forecasts and groups have effects of days."""
    days = 365 + _MONTHS * _DAYS
    strength = 0.0 if kind == "independent rows" else 1.0
    effects = [strength * size * draw_series(rng, days, 0.9) for size in (0.3, 0.2, 0.2)]

    def draw(first: int, length: int, number: int) -> Snapshot:
        day = first + np.repeat(np.arange(length), _ROWS_A_DAY)
        log_odds = rng.normal(-1, 1.2, len(day)) + effects[1][day]
        outcome = (rng.random(len(day)) < expit(log_odds + effects[0][day])).astype(np.float64)
        group = (rng.random(len(day)) < expit(effects[2][day])).astype(np.int64)
        return _make_snapshot(expit(log_odds), outcome, group + 2 * (rng.random(len(day)) < 0.2), number)

    before = [draw(0, 365, -1), draw(0, _DAYS, -1)]
    return before, [draw(365 + _DAYS * number, _DAYS, number) for number in range(_MONTHS)]


def _make_snapshot(p: FloatArray, y: FloatArray, group: IntArray, number: int) -> Snapshot:
    units = SamplingUnits(rows=len(y))
    start, end = (date(2020 + k // 12, k % 12 + 1, 1) for k in (number, number + 1))
    counts = np.bincount(group, minlength=4).astype(np.float64)
    return Snapshot(
        period=Period(label=f"{start:%Y-%m}", start=str(start), end=str(end)),
        time=f"{end}T06:00:00+00:00",
        rows=len(y),
        size=float(len(y)),
        level=0.95,
        main_score="brier",
        numbers=(_prevalence(float(y.mean()), units.standard_error(y)),),
        distributions=(count_forecasts("m", "", p, units),),
        groups=(GroupShares(column="group", values=("a", "b", "c", "d"), weights=tuple(counts.tolist())),),
    )


def _prevalence(value: float, error: float) -> Number:
    return Number(
        model="",
        measure="prevalence",
        label="prevalence",
        value=value,
        corrected=value,
        lower=value - 2 * error,
        upper=value + 2 * error,
        standard_error=error,
    )
