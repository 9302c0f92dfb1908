"""Cases that decide a limit: how often a sample with as many cases as stated decides it.

The true number is the value that stays. A first sample has the interval from which the number of cases is
computed, moved on its scale so that it lies around the true number; a second sample has that many cases.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, sin
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit
from scipy.stats import norm

import scorereport as sr
from scorereport._utils.choices import SEED
from scorereport.configuration import MEASURES, Bounds
from scorereport.configuration.limit_verdicts import LimitVerdict, find_verdict
from scorereport.inference.bootstrap_resamples import bootstrap_panel
from scorereport.inference.losses import resolve_measure
from scorereport.inference.needed_cases import LIKELY, ErrorScale, find_growth
from scorereport.inference.panel import make_panel
from validation.coverage.simulate import Cell, Plan, Trial, simulate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport._utils.arrays import FloatArray
    from validation.coverage.record import Row

Finder = Callable[["FloatArray", "FloatArray"], tuple[float, float, float]]

LEVEL = 0.95
_THRESHOLD = 0.3
_RESAMPLES = 200
#: True log-odds are normal with this mean and standard deviation; forecasts have another slope.
_MEAN, _SPREAD, _SLOPE = -1.0, 1.2, 0.7
_GRID = _MEAN + _SPREAD * norm.ppf((np.arange(40_000) + 0.5) / 40_000)
_SIZES = (400, 1000)


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitedMeasure:
    """A measure, its true value, how its interval is computed, and the limit, relative to the true value."""

    truth: float
    find: Finder
    limits: tuple[float, ...]


def study_needed(plan: Plan) -> Iterator[Row]:
    """Simulate each measure and limit, with the cases for an even chance, and for a likely decision."""
    measures = _list_measures()
    settings = [(name, limit, n) for name in measures for limit in measures[name].limits for n in _SIZES]
    for name, limit, n in plan.cells(settings[::2], settings):
        for place, nominal in enumerate((0.5, LIKELY)):
            setting = f"{name}, limit {limit:+.3g}"
            cell = Cell(study="needed cases", setting=setting, n=n, nominal=nominal)
            trial = _trial(name, measures[name], measures[name].truth + limit, n, place)
            yield from simulate(plan, cell, trial, plan.runs(250, 1000))


def _trial(name: str, measure: LimitedMeasure, limit: float, n: int, place: int) -> Trial:
    scale = MEASURES[name].scale
    label = ("even chance", f"chance of {100 * LIKELY:.0f} %")[place]

    def trial(rng: np.random.Generator) -> dict[str, float]:
        found = measure.find(*_draw(rng, n))
        ends = tuple(_move(scale, found[0], end, measure.truth) for end in found[1:])
        growth = find_growth(measure.truth, (ends[0], ends[1]), [limit], level=LEVEL, scale=scale)[place]
        _, lower, upper = measure.find(*_draw(rng, ceil(n * growth)))
        is_above = limit > measure.truth
        bounds = Bounds(fail_upper=limit) if is_above else Bounds(fail_lower=limit)
        verdict = find_verdict(lower, upper, bounds)
        return {label: float(verdict is LimitVerdict.PASS)}

    return trial


def _move(scale: ErrorScale, value: float, end: float, truth: float) -> float:
    """The end of an interval that lies around the truth as it lies around the value, on the scale."""
    moved = scale.transform(truth) + scale.transform(end) - scale.transform(value)
    if scale is ErrorScale.LINEAR:
        return moved
    root = max(moved, 0.0) if scale is ErrorScale.ROOT else sin(min(max(moved, 0.0), np.pi / 2))
    return root**2


def _draw(rng: np.random.Generator, n: int) -> tuple[FloatArray, FloatArray]:
    z = rng.normal(_MEAN, _SPREAD, n)
    return (rng.random(n) < expit(z)).astype(np.float64), expit(z / _SLOPE)


def _list_measures() -> dict[str, LimitedMeasure]:
    p, x = expit(_GRID), expit(_GRID / _SLOPE)
    brier = float(((x - p) ** 2 + p * (1 - p)).mean())
    below = np.cumsum(1 - p) - (1 - p) / 2
    area = float((p * below).sum() / (p.sum() * (1 - p).sum()))
    found = float(p[x >= _THRESHOLD].sum() / p.sum())
    return {
        "brier": LimitedMeasure(truth=brier, find=_find_brier, limits=(0.01,)),
        "brier_miscalibration": LimitedMeasure(
            truth=float(((x - p) ** 2).mean()), find=_find_miscalibration, limits=(0.005,)
        ),
        "roc_auc": LimitedMeasure(truth=area, find=_find_auc, limits=(-0.025,)),
        "sensitivity": LimitedMeasure(truth=found, find=_find_sensitivity, limits=(-0.05,)),
        "calibration_slope": LimitedMeasure(truth=_SLOPE, find=_find_slope, limits=(0.1,)),
    }


def _find_brier(y: FloatArray, x: FloatArray) -> tuple[float, float, float]:
    measures = [resolve_measure("brier", {})]
    drawn = bootstrap_panel(make_panel(y, {"": x}), measures, resamples=_RESAMPLES, seed=SEED, whole=False)
    found = drawn.interval("", "brier", level=LEVEL)
    return found.value, found.lower, found.upper


def _find_miscalibration(y: FloatArray, x: FloatArray) -> tuple[float, float, float]:
    found, _ = sr.inference.component_intervals(sr.corp(y, x), level=LEVEL, resamples=_RESAMPLES)
    return found.corrected, found.lower, found.upper


def _find_auc(y: FloatArray, x: FloatArray) -> tuple[float, float, float]:
    found = sr.inference.auc_interval(y, x, level=LEVEL)
    return found.value, found.lower, found.upper


def _find_sensitivity(y: FloatArray, x: FloatArray) -> tuple[float, float, float]:
    (row,) = sr.inference.threshold_intervals(sr.corp(y, x), thresholds=[_THRESHOLD], level=LEVEL)
    found = row.interval("sensitivity")
    assert found is not None
    return found.value, found.lower, found.upper


def _find_slope(y: FloatArray, x: FloatArray) -> tuple[float, float, float]:
    found = sr.inference.calibration_line(y, x, level=LEVEL).slope
    return found.value, found.lower, found.upper
