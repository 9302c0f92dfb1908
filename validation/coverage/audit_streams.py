"""Evidence against calibration over audits: false alarms of calibrated models, and delays after a change.

A stream is the audits of one model, in order. Bets of an audit are fitted to the binned outcomes of earlier
ones, as in a history. Where a tolerance is given, the true log-odds lie at its upper bound, where the bound
on false alarms is most likely to be reached.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from math import inf, log
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit, ndtri

from scorereport._utils.arrays import FloatArray
from scorereport.history.trend.drift import find_drift
from scorereport.inference.calibration_bets import (
    BinnedOutcomes,
    calibration_evidence,
    combine_evidence,
    fit_calibration_bets,
    tolerance_bounds,
    update_detector,
)
from scorereport.reliability.sampling import SamplingUnits
from scorereport.results.tallies import EDGES, find_bins
from validation.coverage.in_time import make_snapshot
from validation.coverage.settings import draw_correlated
from validation.coverage.simulate import ALPHA, Cell, Plan, Trial, simulate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.history.trend.drift_records import Trend
    from validation.coverage.record import Row

#: Audits of a calibrated model; the number of audits a year; audits before a change, and after it.
AUDITS, LOOKS, BEFORE, AFTER = 24, 12, 12, 24
#: Evidence at which the detector raises an alarm: the mean number of audits to a false one.
ALARM_AT = LOOKS / ALPHA
#: The detector reaches `ALARM_AT` within t audits with probability at most t/ALARM_AT.
ALARM_BOUND = AUDITS / ALARM_AT
STUDY, DELAYS = "evidence against calibration", "audits to an alarm"
EVER, ALARM = "evidence of 20 to 1 in any of 24 audits", "alarm in any of 24 audits"
#: Numbers of audits after a change within which alarms are counted.
WITHIN = (*range(1, 13), AFTER)
_MIDPOINTS = (np.arange(len(EDGES) + 1) - len(EDGES) / 2) / 8
_CLUSTER_SIZE, _CORRELATION = 10, 0.3
_CHANGES = {"shift .2": (0.2, 1.0), "shift .4": (0.4, 1.0), "slope .8": (0.0, 0.8), "slope .6": (0.0, 0.6)}


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRows:
    """Forecasts, outcomes and sampling units of the rows of an audit."""

    forecast: FloatArray
    outcome: FloatArray
    units: SamplingUnits


#: Draws the rows of an audit of n rows, whose log-odds are shifted and multiplied.
Draw = Callable[[np.random.Generator, int, float, float], AuditRows]


def study_audit_streams(plan: Plan) -> Iterator[Row]:
    """Simulate streams of calibrated models, then of models that change, then both beside the tests."""
    for setting, (draw, tolerance), n in plan.cells(_list_sizes(few=True), _list_sizes(few=False)):
        cell = Cell(study=STUDY, setting=setting, n=n, nominal=ALPHA)
        yield from _set_bounds(simulate(plan, cell, _size_trial(draw, n, tolerance), _runs(plan, n)))
    for n in plan.cells((300,), (300, 1000)):
        cell = Cell(study=STUDY, setting="clusters taken as independent rows", n=n, nominal=ALPHA)
        yield from _set_bounds(simulate(plan, cell, _size_trial(_ignore_clusters, n, 0.0), _runs(plan, n)))
    for setting, trial, n in plan.cells(_list_delays(few=True), _list_delays(few=False)):
        cell = Cell(study=DELAYS, setting=setting, n=n, nominal=ALARM_BOUND)
        yield from simulate(plan, cell, trial, plan.runs(4, 60 if n < 5000 else 30))
    for n in plan.cells((300,), (300, 1000)):
        cell = Cell(study=STUDY, setting="calibrated, beside the tests", n=n, nominal=ALPHA)
        yield from _set_bounds(simulate(plan, cell, _compared_sizes(n), plan.runs(2, 40)))
        for change, moved in _CHANGES.items():
            cell = Cell(study=DELAYS, setting=f"{change}, beside the tests", n=n, nominal=ALARM_BOUND)
            yield from simulate(plan, cell, _compared_delays(n, *moved), plan.runs(2, 20))


def _list_sizes(*, few: bool) -> list[tuple[str, tuple[Draw, float], int]]:
    designs: dict[str, tuple[Draw, float, tuple[int, ...]]] = {
        "calibrated": (draw_rows, 0.0, (100, 300, 1000, 5000, 20_000)),
        "tolerance .05, at its bound": (draw_rows, 0.05, (300, 1000, 5000)),
        "tolerance .1, at its bound": (draw_rows, 0.1, (100, 300, 1000, 5000)),
        "10 values": (_draw_ties, 0.0, (300, 1000)),
        "10 values, tolerance .1": (_draw_ties, 0.1, (300,)),
        "sampling weights": (_draw_weighted, 0.0, (300, 1000)),
        "one non-event in 9, with weights": (_draw_retained, 0.0, (300,)),
        "clusters of 10": (draw_clusters, 0.0, (300, 1000)),
        "clusters of 10, tolerance .1": (draw_clusters, 0.1, (1000,)),
        "audits of n/10 to 10n rows": (_draw_unequal, 0.0, (300,)),
        "1 % events": (_draw_rare, 0.0, (1000, 5000)),
    }
    cells = [
        (name, (draw, tolerance), n) for name, (draw, tolerance, sizes) in designs.items() for n in sizes
    ]
    return [cell for cell in cells if cell[2] == 300] if few else cells


def _list_delays(*, few: bool) -> list[tuple[str, Trial, int]]:
    """Settings, trials and sizes: rows with each tolerance, then other designs without one."""
    sizes = {0.0: (100, 300, 1000, 5000), 0.05: (300, 1000, 5000), 0.1: (300, 1000, 5000, 20_000)}
    designs: dict[str, Draw] = {
        "10 values": _draw_ties,
        "sampling weights": _draw_weighted,
        "clusters of 10": draw_clusters,
        "audits of n/10 to 10n rows": _draw_unequal,
        "1 % events": _draw_rare,
    }
    plain = [
        (f"{change}, tolerance {tolerance:g}", _delay_trial(draw_rows, n, tolerance, *moved), n)
        for tolerance, numbers in sizes.items()
        for change, moved in _CHANGES.items()
        for n in ((300,) if few else numbers)
    ]
    others = [
        (f"{change}, {design}", _delay_trial(draw, n, 0.0, *moved), n)
        for design, draw in designs.items()
        for change, moved in _CHANGES.items()
        for n in (1000,)
    ]
    return plain + others


def _runs(plan: Plan, n: int) -> int:
    return plan.runs(10, 200 if n <= 1000 else 80 if n <= 5000 else 40)


def _set_bounds(rows: Iterable[Row]) -> Iterator[Row]:
    """Give each row its bound: that of alarms within all audits is not that of evidence."""
    for row in rows:
        yield row if row.method == EVER else replace(row, nominal=ALARM_BOUND)


# Streams


def follow_evidence(audits: Iterable[AuditRows], tolerance: float) -> Iterator[float]:
    """Yield the log evidence of each audit, with bets that are fitted to the audits before."""
    earlier: list[BinnedOutcomes] = []
    for rows in audits:
        bets = fit_calibration_bets(earlier)
        bounds = tolerance_bounds(rows.forecast, tolerance)
        logs = calibration_evidence(rows.forecast, rows.outcome, rows.units, bets, *bounds)
        yield combine_evidence(logs, [bet.weight for bet in bets])
        earlier.append(count_outcomes(rows))


def count_outcomes(rows: AuditRows) -> BinnedOutcomes:
    """Count cases and events in the bins of forecasts."""
    place = find_bins(rows.forecast)
    weight = rows.units.row_weight / rows.units.case_weight
    cases, events = (
        np.bincount(place, weights=values, minlength=len(_MIDPOINTS)).astype(np.float64)
        for values in (weight, weight * rows.outcome)
    )
    return BinnedOutcomes(log_odds=_MIDPOINTS, weights=cases, events=events)


def _size_trial(draw: Draw, n: int, tolerance: float) -> Trial:
    """Whether the product of evidence, and the detector, reach their thresholds while nothing is wrong."""

    def trial(rng: np.random.Generator) -> dict[str, float]:
        return _judge_sizes(follow_evidence((draw(rng, n, tolerance, 1.0) for _ in range(AUDITS)), tolerance))

    return trial


def _judge_sizes(factors: Iterable[float]) -> dict[str, float]:
    product, detector, most, highest = 0.0, -inf, -inf, -inf
    for factor in factors:
        product, detector = product + factor, update_detector(detector, factor)
        most, highest = max(most, product), max(highest, detector)
    return {EVER: most >= log(1 / ALPHA), ALARM: highest >= log(ALARM_AT)}


def _delay_trial(draw: Draw, n: int, tolerance: float, shift: float, slope: float) -> Trial:
    def trial(rng: np.random.Generator) -> dict[str, float]:
        return count_within("evidence", _wait_for_alarm(_draw_change(draw, rng, n, shift, slope), tolerance))

    return trial


def _draw_change(
    draw: Draw, rng: np.random.Generator, n: int, shift: float, slope: float
) -> Iterator[AuditRows]:
    """Audits of a calibrated model, and of the same model after a change."""
    for number in range(BEFORE + AFTER):
        yield draw(rng, n, *((0.0, 1.0) if number < BEFORE else (shift, slope)))


def _wait_for_alarm(audits: Iterable[AuditRows], tolerance: float) -> float:
    """The number of audits from the change to the first alarm after it; ∞ without one.

    The detector goes on after a false alarm, as it would if the alarm is looked into and nothing is found.
    """
    detector = -inf
    for number, factor in enumerate(follow_evidence(audits, tolerance)):
        detector = update_detector(detector, factor)
        if number >= BEFORE and detector >= log(ALARM_AT):
            return number - BEFORE + 1
    return inf


def count_within(name: str, delay: float) -> dict[str, float]:
    """Whether an alarm is raised within each number of audits."""
    return {f"{name}, within {k} audits": delay <= k for k in WITHIN}


# The tests of drift on the same streams


def _compared_sizes(n: int) -> Trial:
    def trial(rng: np.random.Generator) -> dict[str, float]:
        audits = [draw_rows(rng, n) for _ in range(AUDITS)]
        alarms = list(_list_test_alarms(audits))
        return {
            **_judge_sizes(follow_evidence(audits, 0.0)),
            "tests of drift, any alarm in 24 audits": any(any_alarm for any_alarm, _ in alarms),
            "tests of score and miscalibration, any alarm in 24 audits": any(scores for _, scores in alarms),
        }

    return trial


def _compared_delays(n: int, shift: float, slope: float) -> Trial:
    def trial(rng: np.random.Generator) -> dict[str, float]:
        audits = list(_draw_change(draw_rows, rng, n, shift, slope))
        first = [inf, inf]
        for number, alarms in enumerate(_list_test_alarms(audits)):
            for kind, is_alarm in enumerate(alarms):
                if is_alarm and number >= BEFORE:
                    first[kind] = min(first[kind], number - BEFORE + 1)
        return {
            **count_within("evidence", _wait_for_alarm(audits, 0.0)),
            **count_within("tests of drift", first[0]),
            **count_within("tests of score and miscalibration", first[1]),
        }

    return trial


def _list_test_alarms(audits: Iterable[AuditRows]) -> Iterator[tuple[bool, bool]]:
    """For each audit, whether any test of drift raises an alarm, and whether one of a score does."""
    snapshots = [
        make_snapshot(rows.forecast, rows.outcome, None, number) for number, rows in enumerate(audits)
    ]
    yield False, False
    for number in range(1, len(snapshots)):
        past = snapshots[max(number - LOOKS, 0) : number]
        yield _find_alarms(find_drift(snapshots[number], past, audits=LOOKS, alpha=ALPHA, looks=LOOKS))


def _find_alarms(trend: Trend) -> tuple[bool, bool]:
    drifted = [drift.measure for drift in trend.drifts if drift.has_drifted]
    return bool(drifted), any(measure.startswith("brier") for measure in drifted)


# Audits


def _make_rows(x: FloatArray, theta: FloatArray, rng: np.random.Generator) -> AuditRows:
    outcome = (rng.random(len(x)) < theta).astype(np.float64)
    return AuditRows(forecast=expit(x), outcome=outcome, units=SamplingUnits(rows=len(x)))


def draw_rows(rng: np.random.Generator, n: int, shift: float = 0.0, slope: float = 1.0) -> AuditRows:
    """Draw independent rows."""
    x = rng.normal(-1, 1.2, n)
    return _make_rows(x, expit(shift + slope * x), rng)


def _draw_rare(rng: np.random.Generator, n: int, shift: float, slope: float) -> AuditRows:
    x = rng.normal(-5, 0.9, n)
    return _make_rows(x, expit(shift + slope * x), rng)


def _draw_ties(rng: np.random.Generator, n: int, shift: float, slope: float) -> AuditRows:
    x = logit((rng.integers(0, 10, n) + 0.5) / 10)
    return _make_rows(x, expit(shift + slope * x), rng)


def _draw_unequal(rng: np.random.Generator, n: int, shift: float, slope: float) -> AuditRows:
    return draw_rows(rng, round(n * 10 ** rng.uniform(-1, 1)), shift, slope)


def _draw_weighted(rng: np.random.Generator, n: int, shift: float, slope: float) -> AuditRows:
    rows = draw_rows(rng, n, shift, slope)
    return replace(rows, units=SamplingUnits(rows=n, weight=rng.gamma(2, 0.5, n)))


def _draw_retained(rng: np.random.Generator, n: int, shift: float, slope: float) -> AuditRows:
    """Of many rows, all events and one non-event in 9 are retained, about n rows, with inverse weights."""
    rows = draw_rows(rng, round(n * 2.6), shift, slope)
    kept = (rows.outcome == 1) | (rng.random(len(rows.outcome)) < 1 / 9)
    outcome = rows.outcome[kept]
    weight = np.where(outcome == 1, 1.0, 9.0)
    units = SamplingUnits(rows=len(outcome), weight=weight)
    return AuditRows(forecast=rows.forecast[kept], outcome=outcome, units=units)


def draw_clusters(rng: np.random.Generator, n: int, shift: float, slope: float) -> AuditRows:
    """Outcomes of a cluster correlate given the forecasts, by a normal variable with correlation .3."""
    cluster = np.arange(n) // _CLUSTER_SIZE
    x = rng.normal(-1, 1.2, n)
    theta = expit(shift + slope * x)
    outcome = (draw_correlated(rng, cluster, _CORRELATION) < ndtri(theta)).astype(np.float64)
    return AuditRows(forecast=expit(x), outcome=outcome, units=SamplingUnits(rows=n, cluster=cluster))


def _ignore_clusters(rng: np.random.Generator, n: int, shift: float, slope: float) -> AuditRows:
    return replace(draw_clusters(rng, n, shift, slope), units=SamplingUnits(rows=n))
