"""Type-I error of tests that compare two equally good models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.signal import lfilter

from scorereport.inference.differences import delong_test, score_difference
from validation.coverage.pairs import PAIRS
from validation.coverage.settings import CLUSTER_SIZE, draw_correlated
from validation.coverage.simulate import ALPHA, Cell, Plan, Trial, rejects, simulate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scorereport._utils.arrays import FloatArray
    from validation.coverage.pairs import PairedSample
    from validation.coverage.record import Row

#: Autocorrelation of the signals in time.
_PERSISTENCE = 0.6
_SIZES = (200, 1000)


def study_comparisons(plan: Plan) -> Iterator[Row]:
    """Simulate independent rows, rows in time, rows in clusters, rows with weights."""
    for name, trial in _TRIALS.items():
        for n in plan.cells(_SIZES, _SIZES):
            cell = Cell(study="test sizes", setting=name, n=n, nominal=ALPHA)
            yield from simulate(plan, cell, trial(n), plan.runs(1000, 3000))


def _independent_trial(n: int) -> Trial:
    def trial(rng: np.random.Generator) -> dict[str, float]:
        return rejects(_p_values(PAIRS["equal"].draw(rng, n), errors="iid"))

    return trial


def _serial_trial(n: int) -> Trial:
    """Signals depend on those before, and so do differences between scores."""

    def trial(rng: np.random.Generator) -> dict[str, float]:
        sample = PAIRS["equal"].forecast(rng, _persistent(rng, n), _persistent(rng, n))
        scores = (sample.y, sample.first, sample.second)
        hac, naive = score_difference(*scores, time=np.arange(n)), score_difference(*scores)
        return rejects({"Diebold-Mariano, HAC": hac.p_value, "Diebold-Mariano, iid errors": naive.p_value})

    return trial


def _persistent(rng: np.random.Generator, n: int) -> FloatArray:
    """A stationary autoregression with variance 1."""
    noise = np.sqrt(1 - _PERSISTENCE**2) * rng.standard_normal(n)
    noise[0] = rng.standard_normal()
    return np.asarray(lfilter([1.0], [1.0, -_PERSISTENCE], noise), dtype=np.float64)


def _clustered_trial(n: int) -> Trial:
    """Signals correlate within clusters."""

    def trial(rng: np.random.Generator) -> dict[str, float]:
        cluster = np.arange(n) // CLUSTER_SIZE
        sample = PAIRS["equal"].forecast(
            rng, draw_correlated(rng, cluster, 0.5), draw_correlated(rng, cluster, 0.5)
        )
        naive = score_difference(sample.y, sample.first, sample.second)
        p_values = _p_values(sample, errors="cluster", cluster=cluster)
        return rejects(p_values | {"Diebold-Mariano, iid errors": naive.p_value})

    return trial


def _weighted_trial(n: int) -> Trial:
    def trial(rng: np.random.Generator) -> dict[str, float]:
        sample = PAIRS["equal"].draw(rng, n)
        return rejects(_p_values(sample, errors="iid", sample_weight=rng.gamma(2, 0.5, n)))

    return trial


def _p_values(sample: PairedSample, *, errors: str, **columns: Any) -> dict[str, float]:
    """Diebold and Mariano's test of Brier and log scores, and DeLong's test of AUCs."""
    models = (sample.y, sample.first, sample.second)
    brier, log = (score_difference(*models, score, errors=errors, **columns) for score in ("brier", "log"))
    return {
        f"Diebold-Mariano, {errors}": brier.p_value,
        f"Diebold-Mariano, {errors}, log": log.p_value,
        "DeLong": delong_test(*models, **columns).p_value,
    }


_TRIALS: dict[str, Callable[[int], Trial]] = {
    "equal pair": _independent_trial,
    "equal pair in time": _serial_trial,
    "equal pair in clusters": _clustered_trial,
    "equal pair, weighted": _weighted_trial,
}
