"""Evidence from audit to audit on Brier scores: limits, confidence sequences, models still in the running."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from math import log
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, ndtr, ndtri

from scorereport.inference.confidence_sequences import find_confidence_sequence
from scorereport.inference.model_set import adjust_pairs
from scorereport.inference.score_bets import (
    ScoreBet,
    ScoreSums,
    add_sums,
    difference_evidence,
    fit_difference_bets,
    fit_score_bets,
    score_evidence,
    sum_scores,
)
from scorereport.reliability.sampling import SamplingUnits
from validation.coverage.settings import CLUSTER_SIZE, draw_correlated
from validation.coverage.simulate import ALPHA, Cell, Plan, Trial, simulate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport._utils.arrays import FloatArray
    from validation.coverage.record import Row

    #: Forecasts, event probabilities and sampling units of an audit.
    Forecasts = tuple[FloatArray, FloatArray, SamplingUnits]

_AUDITS = 24
_LEVEL = 0.95
#: A change is shown when the detector reaches 240, or, for a share of 5 % in 24 audits at most, 480.
_ALARM, _RARE_ALARM = log(240), log(_AUDITS / ALPHA)
_CENTER, _SCALE, _RARE_CENTER = -1.0, 1.2, -5.3
_TIED = np.array([0.05, 0.1, 0.2, 0.4, 0.7])
#: Sizes of clusters of which each audit has equally many, and the centre of the log-odds of each.
_UNEQUAL = {1: -0.2, 2: -0.4, 4: -0.8, 8: -1.6, 20: -3.0}
#: Latent correlation of the outcomes of a cluster.
_TOGETHER = 0.3
#: Audits of unequal sizes have these shares of the usual number of rows.
_SHARES = (1.0, 0.1, 3.0, 0.5)
_DELAYS = (1, 3, 6, 12)
#: Breaches of a limit, as shares of it.
_EXCESSES = (0.1, 0.25)
_SIZES, _FULL_SIZES = (100, 1000), (100, 1000, 20_000)
#: Noise of the log-odds of three models.
_EQUAL, _WORSE = (0.3, 0.3, 0.3), (0.3, 0.3, 0.8)
_MODEL_SIZES = (300, 1000, 5000)


def study_score_streams(plan: Plan) -> Iterator[Row]:
    """Simulate audits of a model at its limit, of one that breaches it, and of equal and unequal models."""
    for name, stream in _SEQUENCES.items():
        for n in plan.cells(_SIZES, _FULL_SIZES if name == _PLAIN else _SIZES):
            runs = plan.runs(20, 100 if n > _SIZES[-1] else 400 if name == _PLAIN else 200)
            cell = Cell(study="confidence sequences", setting=name, n=n, nominal=_LEVEL)
            yield from simulate(plan, cell, _sequence_trial(stream, n), runs)
            if not stream.is_drifting:
                cell = Cell(study="limits over time", setting=name, n=n, nominal=ALPHA)
                yield from simulate(plan, cell, _limit_trial(stream, n), runs)
    for excess in plan.cells(_EXCESSES, _EXCESSES):
        for n in plan.cells(_SIZES, _FULL_SIZES):
            setting = f"{100 * excess:g} % above the limit"
            cell = Cell(study="breached limits", setting=setting, n=n, nominal=ALPHA)
            yield from simulate(plan, cell, _breach_trial(excess, n), plan.runs(20, 100))
    yield from _study_models(plan)


def _study_models(plan: Plan) -> Iterator[Row]:
    for name in plan.cells(_MODELS, _MODELS):
        for n in plan.cells(_MODEL_SIZES[:1], _MODEL_SIZES if name == _MODELS[0] else _MODEL_SIZES[:2]):
            cell = Cell(study="models in the running", setting=name, n=n, nominal=ALPHA)
            yield from simulate(
                plan, cell, _equal_trial(name, n), plan.runs(20, 200 if n < _MODEL_SIZES[-1] else 100)
            )
    for n in plan.cells(_MODEL_SIZES[:1], _MODEL_SIZES):
        cell = Cell(study="worse models", setting="noise 0.8 against 0.3", n=n, nominal=ALPHA)
        yield from simulate(plan, cell, _worse_trial(n), plan.runs(20, 100))


# Audits


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stream:
    """How the rows of an audit are drawn, the expected Brier score, and how much it drifts."""

    draw: Callable[[np.random.Generator, int], Forecasts]
    mean: float
    sizes: tuple[float, ...] = (1.0,)
    is_drifting: bool = False

    def draw_audits(
        self, rng: np.random.Generator, n: int
    ) -> Iterator[tuple[FloatArray, SamplingUnits, float]]:
        """Brier scores and units of each audit, and the expected score."""
        for number in range(_AUDITS):
            rows = max(int(n * self.sizes[number % len(self.sizes)]), 1)
            p, chance, units = self.draw(rng, rows)
            share = 0.5 * (1 + np.sin(number / 4)) if self.is_drifting else 0.0
            yield (
                _draw_scores(rng, p, chance, units, share),
                units,
                self.mean + share * (_GUESSED - self.mean),
            )


def _draw_scores(
    rng: np.random.Generator, p: FloatArray, chance: FloatArray, units: SamplingUnits, share: float
) -> FloatArray:
    """Brier scores; outcomes of this share of rows are those of a coin."""
    cluster = units.cluster
    noise = rng.random(len(p)) if cluster is None else ndtr(draw_correlated(rng, cluster, _TOGETHER))
    if share:
        chance = np.where(rng.random(len(p)) < share, 0.5, chance)
    return (p - (noise < chance)) ** 2


def _average(value: Callable[[FloatArray], FloatArray], center: float, scale: float = _SCALE) -> float:
    """The mean over forecasts with normal log-odds."""
    u = (np.arange(20_000) + 0.5) / 20_000
    return float(value(expit(center + scale * ndtri(u))).mean())


def _brier(p: FloatArray) -> FloatArray:
    return p * (1 - p)


#: Expected Brier score where outcomes are those of a coin.
_GUESSED = _average(lambda p: (p - 0.5) ** 2 + 0.25, _CENTER)


def _draw_rows(rng: np.random.Generator, n: int) -> Forecasts:
    p = expit(rng.normal(_CENTER, _SCALE, n))
    return p, p, SamplingUnits(rows=n)


def _draw_rare(rng: np.random.Generator, n: int) -> Forecasts:
    p = expit(rng.normal(_RARE_CENTER, _SCALE, n))
    return p, p, SamplingUnits(rows=n)


def _draw_tied(rng: np.random.Generator, n: int) -> Forecasts:
    p = rng.choice(_TIED, n)
    return p, p, SamplingUnits(rows=n)


def _draw_weighted(rng: np.random.Generator, n: int) -> Forecasts:
    p, chance, _ = _draw_rows(rng, n)
    return p, chance, SamplingUnits(rows=n, weight=rng.gamma(2, 0.5, n))


def _draw_clusters(rng: np.random.Generator, n: int) -> Forecasts:
    p, chance, _ = _draw_rows(rng, n)
    return p, chance, SamplingUnits(rows=n, cluster=np.arange(n) // CLUSTER_SIZE)


def _draw_unequal_clusters(rng: np.random.Generator, n: int) -> Forecasts:
    """Rows of larger clusters have lower scores: the mean over clusters is not the mean over rows."""
    sizes = np.repeat(list(_UNEQUAL), max(n // sum(_UNEQUAL), 1))
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    center = np.repeat([_UNEQUAL[size] for size in sizes.tolist()], sizes)
    p = expit(rng.normal(center, _SCALE))
    return p, p, SamplingUnits(rows=len(p), cluster=cluster)


_PLAIN = "Brier score"
_MEAN = _average(_brier, _CENTER)
_STREAMS = {
    _PLAIN: _Stream(draw=_draw_rows, mean=_MEAN),
    "prevalence 1 %": _Stream(draw=_draw_rare, mean=_average(_brier, _RARE_CENTER)),
    "5 distinct forecasts": _Stream(draw=_draw_tied, mean=float(_brier(_TIED).mean())),
    "audits of unequal sizes": _Stream(draw=_draw_rows, mean=_MEAN, sizes=_SHARES),
    "sampling weights": _Stream(draw=_draw_weighted, mean=_MEAN),
    "clusters of 5, correlation .3": _Stream(draw=_draw_clusters, mean=_MEAN),
    "clusters of 1 to 20, correlation .3": _Stream(
        draw=_draw_unequal_clusters,
        mean=sum(size * _average(_brier, center) for size, center in _UNEQUAL.items()) / sum(_UNEQUAL),
    ),
}
_DRIFTING = _Stream(draw=_draw_rows, mean=_MEAN, sizes=_SHARES, is_drifting=True)
_SEQUENCES = {**_STREAMS, "Brier score that drifts": _DRIFTING}


# Limits


def _mix(log_evidence: FloatArray, bets: Sequence[ScoreBet]) -> float:
    """The evidence of an audit: the weighted mean of its bets, as a logarithm."""
    return float(np.logaddexp.reduce(log_evidence + np.log([bet.weight for bet in bets])))


class _Limit:
    """Evidence against one side of a limit from audit to audit."""

    def __init__(self, bound: float, *, is_upper: bool) -> None:
        self.bound, self.is_upper = bound, is_upper
        self.product, self.detector = [0.0], [-np.inf]

    def add(self, scores: FloatArray, units: SamplingUnits, earlier: Sequence[ScoreSums]) -> None:
        bets = fit_score_bets(earlier, self.bound, is_upper=self.is_upper)
        factor = _mix(score_evidence(scores, units, bets, self.bound, is_upper=self.is_upper), bets)
        self.product.append(self.product[-1] + factor)
        self.detector.append(factor + np.logaddexp(0.0, self.detector[-1]))


def _limit_trial(stream: _Stream, n: int) -> Trial:
    """The expected score is the limit: how often evidence ever speaks against it."""

    def trial(rng: np.random.Generator) -> dict[str, float]:
        sides = {"upper": _Limit(stream.mean, is_upper=True), "lower": _Limit(stream.mean, is_upper=False)}
        earlier: list[ScoreSums] = []
        largest = 0.0
        for scores, units, _ in stream.draw_audits(rng, n):
            for side in sides.values():
                side.add(scores, units, earlier)
            earlier.append(sum_scores(scores, units))
            largest = max(largest, _find_z(add_sums(earlier), stream.mean))
        found = {f"{name} limit, ever 20 to 1": max(one.product) >= log(20) for name, one in sides.items()}
        found |= {
            f"{name} limit, change ever 480 to 1": max(one.detector) >= _RARE_ALARM
            for name, one in sides.items()
        }
        return {**found, "one-sided test after each audit, for contrast": bool(largest >= ndtri(1 - ALPHA))}

    return trial


def _find_z(sums: ScoreSums, mean: float) -> float:
    """How many standard errors a mean is above this value."""
    spread = sums.square_deviations(sums.total / sums.count)
    return float((sums.total - mean * sums.count) / np.sqrt(max(spread, 1e-9)))


def _breach_trial(excess: float, n: int) -> Trial:
    """Half of the audits are 5 % below the limit, then outcomes of some rows are those of a coin."""
    limit = 1.05 * _MEAN
    share = ((1 + excess) * limit - _MEAN) / (_GUESSED - _MEAN)

    def trial(rng: np.random.Generator) -> dict[str, float]:
        side, earlier = _Limit(limit, is_upper=True), list[ScoreSums]()
        for number in range(_AUDITS):
            p, chance, units = _draw_rows(rng, n)
            scores = _draw_scores(rng, p, chance, units, share if number >= _AUDITS // 2 else 0.0)
            side.add(scores, units, earlier)
            earlier.append(sum_scores(scores, units))
        after = np.array(side.detector[1 + _AUDITS // 2 :])
        return {_delay("alarm", delay): after[:delay].max() >= _ALARM for delay in _DELAYS}

    return trial


def _delay(what: str, audits: int) -> str:
    return f"{what} within {audits} audit{'s' if audits > 1 else ''}"


# Confidence sequences


def _sequence_trial(stream: _Stream, n: int) -> Trial:
    """How often all intervals contain the mean of the expected scores so far."""

    def trial(rng: np.random.Generator) -> dict[str, float]:
        audits = list(stream.draw_audits(rng, n))
        sums = [sum_scores(scores, units) for scores, units, _ in audits]
        count = np.array([one.count for one in sums])
        truth = np.cumsum(count * [mean for _, _, mean in audits]) / count.cumsum()
        _, lower, upper = np.array(find_confidence_sequence(sums, _LEVEL)).T
        z = [abs(_find_z(add_sums(sums[: at + 1]), mean)) for at, mean in enumerate(truth.tolist())]
        return {
            "all intervals": bool(((lower <= truth) & (truth <= upper)).all()),
            "intersection of intervals, for contrast": bool(lower.max() <= truth[-1] <= upper.min()),
            "all intervals of one look, for contrast": bool(max(z) <= ndtri((1 + _LEVEL) / 2)),
        }

    return trial


# Models


_MODELS = (
    "3 equal models",
    "3 equal models, sampling weights",
    "3 equal models, clusters of 5, correlation .3",
)


def _equal_trial(name: str, n: int) -> Trial:
    def trial(rng: np.random.Generator) -> dict[str, float]:
        left, rejected = _compare(rng, _EQUAL, n, name)
        return {
            "any model left": bool((left < _AUDITS).any()),
            "paired tests after each audit, for contrast": rejected,
        }

    return trial


def _worse_trial(n: int) -> Trial:
    def trial(rng: np.random.Generator) -> dict[str, float]:
        left, _ = _compare(rng, _WORSE, n, "")
        found = {_delay("worse model left", delay): left[-1] < delay for delay in _DELAYS}
        return {**found, "a better model left within 24 audits": bool((left[:-1] < _AUDITS).any())}

    return trial


def _compare(rng: np.random.Generator, noise: Sequence[float], n: int, name: str) -> tuple[FloatArray, bool]:
    """The audit after which each model leaves, ∞ for never, and whether a test of a pair ever rejects."""
    pairs = list(combinations(range(len(noise)), 2))
    earlier: dict[tuple[int, int], list[ScoreSums]] = {pair: [] for pair in pairs}
    evidence, left, largest = np.zeros((len(noise),) * 2), np.full(len(noise), np.inf), 0.0
    for number in range(_AUDITS):
        scores, units = _draw_models(rng, noise, n, name)
        for (i, j), known in earlier.items():
            d = scores[i] - scores[j]
            evidence[i, j] += _add_difference(d, units, known)
            evidence[j, i] += _add_difference(-d, units, [one.negative for one in known])
            known.append(sum_scores(d, units))
            largest = max(largest, abs(_find_z(add_sums(known), 0.0)))
        left[(adjust_pairs(evidence) >= -log(ALPHA)) & np.isinf(left)] = number
    return left, bool(largest >= ndtri(1 - ALPHA / len(pairs) / 2))


def _add_difference(d: FloatArray, units: SamplingUnits, earlier: Sequence[ScoreSums]) -> float:
    bets = fit_difference_bets(earlier)
    return _mix(difference_evidence(d, units, bets), bets)


def _draw_models(
    rng: np.random.Generator, noise: Sequence[float], n: int, name: str
) -> tuple[list[FloatArray], SamplingUnits]:
    """Brier scores of models whose log-odds differ from the true ones by noise."""
    weight = rng.gamma(2, 0.5, n) if "weights" in name else None
    cluster = np.arange(n) // CLUSTER_SIZE if "clusters" in name else None
    units = SamplingUnits(rows=n, weight=weight, cluster=cluster)
    log_odds = rng.normal(_CENTER, _SCALE, n)
    uniform = rng.random(n) if cluster is None else ndtr(draw_correlated(rng, cluster, _TOGETHER))
    y = uniform < expit(log_odds)
    return [(expit(log_odds + scale * rng.normal(size=n)) - y) ** 2 for scale in noise], units
