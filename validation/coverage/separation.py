"""Coverage of intervals of the Kolmogorov-Smirnov statistic and of the population stability index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr, ndtri

import scorereport as sr
from scorereport.curves import roc_hull
from scorereport.inference.kolmogorov_smirnov import estimate_ks
from scorereport.inference.mean_errors import ErrorDistribution
from scorereport.inference.population_stability import BINS, compare_bins, count_in_bins, find_bin_ends
from validation.coverage.simulate import Cell, Plan, Trial, simulate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport._utils.arrays import FloatArray
    from validation.coverage.record import Row

LEVEL = 0.95
#: Cases of a cluster, which share their forecast up to noise.
_CLUSTER = 5
_KINDS = ("clusters", "weights")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """Normal scores of non-events, and of events with another mean; in `grades` of equal count, or all."""

    shift: float
    grades: int = 0

    @property
    def ks(self) -> float:
        """The largest distance of the two distributions."""
        at = ndtri(np.arange(1, self.grades) / self.grades) if self.grades else np.array([self.shift / 2])
        return float((ndtr(at) - ndtr(at - self.shift)).max())

    def cut(self, score: FloatArray) -> FloatArray:
        """The forecast of a score, or of its grade."""
        rank = ndtr(score)
        return np.floor(rank * self.grades) / self.grades if self.grades else rank


_SCORES = {
    "AUC .5": Scores(shift=0.0),
    "AUC .6": Scores(shift=0.358),
    "AUC .75": Scores(shift=0.954),
    "AUC .9": Scores(shift=1.812),
    "AUC .75, 5 grades": Scores(shift=0.954, grades=5),
    "AUC .5, 10 grades": Scores(shift=0.0, grades=10),
}
#: Rows, and the share of events among them: at least ten events in each.
_SIZES = ((40, 0.5), (200, 0.1), (1000, 0.02), (1000, 0.5), (200, 0.5), (1000, 0.1))
_SHIFTS = {"same": 0.0, "shift .1": 0.1, "shift .3": 0.3, "shift .7": 0.7, "shift 1.5": 1.5}
_SAMPLES = ((1000, 100), (1000, 1000), (10000, 200), (10000, 1000))


def study_separation(plan: Plan) -> Iterator[Row]:
    """Simulate the separation of events, then the stability of forecasts."""
    cells = [(name, 1000, 0.1, kind) for name in ("AUC .6", "AUC .75") for kind in _KINDS]
    cells += [(name, n, share, "") for n, share in _SIZES for name in _SCORES]
    for name, n, share, kind in plan.cells(cells[: -2 * len(_SCORES)], cells):
        setting = f"{name}, {share:g} events{f', {kind}' if kind else ''}"
        cell = Cell(study="separation", setting=setting, n=n, nominal=LEVEL)
        yield from simulate(plan, cell, _ks_trial(_SCORES[name], n, share, kind), plan.runs(400, 2000))
    pairs = [(name, rows, n) for rows, n in _SAMPLES for name in _SHIFTS]
    for name, rows, n in plan.cells(pairs, pairs):
        cell = Cell(study="stability", setting=f"{name}, reference {rows}", n=n, nominal=LEVEL)
        yield from simulate(plan, cell, _psi_trial(_SHIFTS[name], rows, n), plan.runs(1000, 2000))


def _ks_trial(scores: Scores, n: int, share: float, kind: str) -> Trial:
    events = round(n * share)

    def trial(rng: np.random.Generator) -> dict[str, float]:
        y = np.arange(n) < events
        cluster = np.arange(n) // _CLUSTER if kind == "clusters" else None
        noise = rng.standard_normal(n) if cluster is None else rng.standard_normal(n // _CLUSTER)[cluster]
        weight = rng.gamma(2, 0.5, n) if kind == "weights" else None
        fit = sr.corp(y, scores.cut(noise + scores.shift * y), weight, cluster=cluster)
        units = fit.sample.units
        is_event = fit.cases.y_true == 1
        found = estimate_ks(
            roc_hull(fit),
            events=units.count_draws(is_event),
            non_events=units.count_draws(~is_event),
            level=LEVEL,
        )
        return {"KS": float(found.lower <= scores.ks <= found.upper)}

    return trial


def _psi_trial(shift: float, rows: int, n: int) -> Trial:
    at = ndtri(np.arange(1, BINS) / BINS)
    share = np.diff(np.concatenate([[0.0], ndtr(at - shift), [1.0]]))
    truth = float(((share - 1 / BINS) * np.log(share * BINS)).sum())

    def trial(rng: np.random.Generator) -> dict[str, float]:
        reference, sample = rng.standard_normal(rows), shift + rng.standard_normal(n)
        ends = find_bin_ends(reference, np.ones(rows))
        found = compare_bins(
            "",
            ends=ends,
            sample=count_in_bins(sample, np.ones(n), ends),
            reference=count_in_bins(reference, np.ones(rows), ends),
            sizes=(n, rows),
            distribution=ErrorDistribution(),
            level=LEVEL,
        ).index
        return {"PSI": float(found.lower <= truth + 1e-12 and truth <= found.upper)}

    return trial
