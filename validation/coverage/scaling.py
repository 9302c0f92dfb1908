"""Intervals and verdicts of the probability scale, for right and wrong forecasts of three classes."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from scorereport.inference.class_panel import make_class_panel
from scorereport.inference.nelson_scale import scale_panel
from scorereport.inference.scale_results import CLASS_BIAS, KINDS_OF_BINS, MARKS, OVER, UNDER
from validation.coverage.simulate import ALPHA, Cell, Plan, Trial, draw_seed, simulate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport._utils.arrays import FloatArray, IntArray
    from scorereport.inference.estimates import Estimate
    from scorereport.inference.scale_results import ScaleResult
    from validation.coverage.record import Row

LEVEL, RESAMPLES, N_BINS = 0.95, 399, 10
_SIZES = (300, 2000)
_MANY = 400_000
_PARTS = ("model", "source", "divergence")
#: Forecasts are the true probabilities to this power, rescaled; outcomes of "uninformative" are independent.
_POWERS = {"calibrated": 1.0, "over-confident": 2.0, "under-confident": 0.5, "uninformative": 1.0}
SETTINGS = (*_POWERS, "one-hot")
#: Factors of the classes' probabilities in the setting "class bias".
_BIAS = (3.0, 1.0, 1 / 3)
_BIASED = "class bias"
_ROUNDING = 1e-12


def study_scaling(plan: Plan) -> Iterator[Row]:
    """Simulate intervals of model, source and divergence, then verdicts of over- and under-confidence."""
    for name in SETTINGS:
        for n in plan.cells(_SIZES, _SIZES):
            cell = Cell(study="scale intervals", setting=name, n=n, nominal=LEVEL)
            yield from simulate(plan, cell, _interval_trial(name, n), plan.runs(60, 1000))
    for name in ("calibrated", _BIASED, "over-confident", "under-confident", "uninformative"):
        for n in plan.cells(_SIZES[:1], _SIZES):
            cell = Cell(study="scale verdicts", setting=name, n=n, nominal=ALPHA)
            yield from simulate(plan, cell, _verdict_trial(name, n), plan.runs(60, 1000))


def draw(rng: np.random.Generator, name: str, n: int) -> tuple[IntArray, FloatArray]:
    """Draw observed classes and forecasts."""
    p = rng.dirichlet(np.ones(3), n)
    observed = (rng.random(n)[:, None] >= np.cumsum(p, axis=1)[:, :-1]).sum(axis=1)
    if name == "uninformative":
        observed = rng.integers(0, 3, n)
    if name == "one-hot":
        return observed, np.eye(3)[p.argmax(axis=1)]
    q = p * _BIAS if name == _BIASED else p ** _POWERS[name]
    return observed, q / q.sum(axis=1, keepdims=True)


def _scale(observed: IntArray, p: FloatArray, resamples: int, seed: int = 1) -> tuple[ScaleResult, ...]:
    panel = make_class_panel(observed, {"m": p})
    return scale_panel(panel, "m", (), n_bins=N_BINS, limit=0.0, level=LEVEL, resamples=resamples, seed=seed)


@cache
def population(name: str) -> dict[str, float]:
    """The marks over very many rows, whose bins are nearly those of the population."""
    found = _scale(*draw(np.random.default_rng(1), name, _MANY), 0)
    return {label: estimate.value for result in found for label, estimate in _estimates(result)}


def _estimates(result: ScaleResult) -> Iterator[tuple[str, Estimate]]:
    for part in _PARTS:
        bins = "" if part == "model" else f", {result.bins}"
        for mark in MARKS:
            yield f"{part}, {mark}{bins}", getattr(getattr(result, mark), part)


def _interval_trial(name: str, n: int) -> Trial:
    truth = population(name)

    def trial(rng: np.random.Generator) -> dict[str, float]:
        found = _scale(*draw(rng, name, n), RESAMPLES, draw_seed(rng))
        estimates = {label: e for result in found for label, e in _estimates(result)}
        covered = {label: float(_is_not_wrong(e, truth[label])) for label, e in estimates.items()}
        given = np.isfinite(found[0].robustness.model.lower)
        return covered | {"intervals of the model's robustness given": float(given)}

    return trial


def _is_not_wrong(estimate: Estimate, truth: float) -> bool:
    """Whether the interval covers the true value, or was left out."""
    return bool(np.isnan(estimate.lower)) or estimate.lower - _ROUNDING <= truth <= estimate.upper + _ROUNDING


def _verdict_trial(name: str, n: int) -> Trial:
    def trial(rng: np.random.Generator) -> dict[str, float]:
        found = _scale(*draw(rng, name, n), RESAMPLES, draw_seed(rng))
        return {
            f"{verdict}, {bins}": float(result.verdict == verdict)
            for bins, result in zip(KINDS_OF_BINS, found, strict=True)
            for verdict in (OVER, UNDER, CLASS_BIAS)
        }

    return trial
