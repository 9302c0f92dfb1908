"""Parts of miscalibration: how often intervals cover the true parts, and size and power of the local test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit, xlog1py, xlogy

from scorereport.inference.miscalibration_parts import split_miscalibration
from validation.coverage.settings import Setting, quadrature
from validation.coverage.simulate import ALPHA, Cell, Plan, Trial, draw_seed, rejects, simulate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.miscalibration_parts import MiscalibrationParts
    from validation.coverage.record import Row
    from validation.coverage.settings import Curve

_LEVEL = 0.95
_DRAWS = 199
_SIZES = (300, 1000)
_SCORES = ("Brier", "log")


def _of_log_odds(curve: Curve) -> Curve:
    return lambda x: expit(curve(logit(x)))


#: Curves of uniform forecasts: those of the first group are lines in log-odds.
_LINES: dict[str, Curve] = {
    "calibrated": lambda x: x,
    "intercept +.25": _of_log_odds(lambda z: z + 0.25),
    "slope .7": _of_log_odds(lambda z: 0.7 * z),
}
_OTHERS: dict[str, Curve] = {
    "sqrt": np.sqrt,
    "sine z + .5 sin(2 z)": _of_log_odds(lambda z: z + 0.5 * np.sin(2 * z)),
}


def study_parts(plan: Plan) -> Iterator[Row]:
    """Simulate the intervals of all parts, and the test of the local part, under both scores."""
    for study, curves in (("local test sizes", _LINES), ("local test power", _OTHERS)):
        for name in plan.cells(tuple(curves), tuple(curves)):
            setting = Setting(name=name, quantile=lambda u: u, cep=curves[name])
            for n in plan.cells(_SIZES, _SIZES):
                runs = plan.runs(300, 1000)
                cell = Cell(study="miscalibration parts", setting=name, n=n, nominal=_LEVEL)
                yield from simulate(plan, cell, _interval_trial(setting, n), runs)
                cell = Cell(study=study, setting=name, n=n, nominal=ALPHA)
                yield from simulate(plan, cell, _test_trial(setting, n), runs)


def _split(setting: Setting, n: int, rng: np.random.Generator) -> dict[str, MiscalibrationParts]:
    sample = setting.draw(rng, n)
    parts = split_miscalibration(sample.y, sample.x, draws=_DRAWS, seed=draw_seed(rng), level=_LEVEL)
    return dict(zip(_SCORES, parts, strict=True))


def _interval_trial(setting: Setting, n: int) -> Trial:
    truth = {score: true_parts(setting, score) for score in _SCORES}

    def trial(rng: np.random.Generator) -> dict[str, float]:
        covered: dict[str, float] = {}
        for score, parts in _split(setting, n, rng).items():
            estimates = (parts.by_shift, parts.by_slope, parts.global_part, parts.local_part)
            for estimate, true in zip(estimates, truth[score], strict=True):
                covered[f"{estimate.component}, {score}"] = estimate.lower <= true <= estimate.upper
        return covered

    return trial


def _test_trial(setting: Setting, n: int) -> Trial:
    def trial(rng: np.random.Generator) -> dict[str, float]:
        return rejects({s: parts.local_test.p_value for s, parts in _split(setting, n, rng).items()})

    return trial


def true_parts(setting: Setting, score: str) -> tuple[float, float, float, float]:
    """Shift, slope, global and local part in the population, by numerical integration."""
    u, weight = quadrature()
    x = setting.quantile(u)
    truth, z = setting.cep(x), logit(x)

    def risk(forecast: FloatArray) -> float:
        if score == "Brier":
            return float(weight @ (forecast - truth) ** 2)
        entropy = xlogy(truth, truth) + xlog1py(1 - truth, -truth)
        return float(weight @ (entropy - xlogy(truth, forecast) - xlog1py(1 - truth, -forecast)))

    def risk_of_shift(at: FloatArray) -> float:
        return risk(expit(at[0] + z))

    def risk_of_line(at: FloatArray) -> float:
        return risk(expit(at[0] + at[1] * z))

    best_shift = minimize(risk_of_shift, [0.0], method="Nelder-Mead", tol=1e-12)
    best_line = minimize(risk_of_line, [float(best_shift.x[0]), 1.0], method="Nelder-Mead", tol=1e-12)
    best_line = minimize(
        risk_of_line, best_line.x, method="Nelder-Mead", tol=1e-12
    )  # a simplex may get stuck
    shift, line = float(best_shift.fun), float(best_line.fun)
    original, rounding = risk(x), 1e-12
    parts = (original - shift, shift - line, original - line, line)
    by_shift, by_slope, together, rest = (part if part > rounding else 0.0 for part in parts)
    return by_shift, by_slope, together, rest
