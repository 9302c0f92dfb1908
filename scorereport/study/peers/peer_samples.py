"""Cases in the form that peers accept, with derived quantities, and the rules that select cases."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import logit

from scorereport._utils.choices import SEED
from scorereport.reliability.fit import Corp, corp
from scorereport.reliability.sampling import random_stream
from scorereport.study.seeded_cases import Case

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray, IntArray

#: scikit-learn treats forecasts closer than this as equal: `numpy.finfo(...).resolution` of their precision.
RESOLUTION = {np.dtype(np.float64): 1e-15, np.dtype(np.float32): 1e-6}
#: scikit-learn clips probabilities to this distance from 0 and 1 before it takes logarithms.
CLIP = float(np.finfo(np.float64).eps)
#: The interval of costs for which bounded scores are compared.
INTERVAL = (0.1, 0.4)
#: The number of grades for which labels are compared.
GRADES = 5
#: Number of cases, ten of every shape, where a comparison is repeated with weights or labels.
FEWER_CASES = 110
#: Rows of a cluster, where rows are compared in clusters.
ROWS_OF_A_CLUSTER = 3
#: Larger cases are left out where a peer builds a table of rows times thresholds.
MANY_ROWS = 100_000


@dataclass(frozen=True, kw_only=True, eq=False)
class PeerSample:
    """A case with forecasts in double precision, and the quantities that comparisons derive from it."""

    case: Case
    number: int

    @property
    def y(self) -> FloatArray:
        """Outcomes."""
        return self.case.y_true

    @cached_property
    def p(self) -> FloatArray:
        """Forecasts in double precision."""
        return self.case.y_prob.astype(np.float64)

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.y)

    @cached_property
    def drawn(self) -> tuple[FloatArray, FloatArray]:
        """Whole weights from 1 to 4, and the forecasts of a second model, which adds noise to the first."""
        rng = random_stream(SEED, self.number)
        weight = rng.integers(1, 5, self.n).astype(np.float64)
        return weight, 0.8 * self.p + 0.2 * rng.random(self.n)

    @property
    def weight(self) -> FloatArray:
        """Whole weights from 1 to 4."""
        return self.drawn[0]

    @property
    def other(self) -> FloatArray:
        """Forecasts of a second model."""
        return self.drawn[1]

    @cached_property
    def cluster(self) -> IntArray:
        """The cluster of each row."""
        return np.arange(self.n) // ROWS_OF_A_CLUSTER

    @cached_property
    def fit(self) -> Corp:
        """Our isotonic fit."""
        return corp(self.y, self.p)

    @cached_property
    def weighted_fit(self) -> Corp:
        """Our isotonic fit with weights."""
        return corp(self.y, self.p, self.weight)

    @cached_property
    def thresholds(self) -> FloatArray:
        """Five fixed thresholds and up to three that are forecasts themselves, all inside (0, 1)."""
        at_forecasts = self.p[[0, self.n // 2, -1]]
        inside = at_forecasts[(at_forecasts > 0) & (at_forecasts < 1)]
        return np.unique(np.concatenate([[0.05, 0.2, 0.35, 0.5, 0.8], inside]))

    @cached_property
    def grades(self) -> tuple[IntArray, IntArray]:
        """Grades by the second model, which are the outcomes, and by the first."""
        return _grade(self.other), _grade(self.p)

    @cached_property
    def three_classes(self) -> tuple[IntArray, FloatArray]:
        """One of three classes, and the probabilities of 0, 1 and 2 events in two draws."""
        p = self.p
        classes = np.where(self.y == 1, 2, (self.weight > 2).astype(np.int64))
        return classes, np.column_stack([(1 - p) ** 2, 2 * p * (1 - p), p**2])

    @property
    def loss_differences(self) -> FloatArray:
        """Differences between the Brier scores of the two models, computed independently."""
        return np.asarray((self.p - self.y) ** 2 - (self.other - self.y) ** 2)

    @property
    def log_odds(self) -> FloatArray:
        """Log-odds of the forecasts."""
        return np.asarray(logit(self.p))

    @property
    def counts(self) -> tuple[int, int]:
        """Number of rows and of events."""
        return self.n, int(self.y.sum())


def _grade(probability: FloatArray) -> IntArray:
    return np.minimum((GRADES * probability).astype(np.int64), GRADES - 1)


def merge_like_scikit_learn(forecasts: NDArray[Any]) -> FloatArray:
    """Replace forecasts that scikit-learn treats as equal by the first of their group."""
    gap = np.asarray(RESOLUTION[forecasts.dtype], dtype=forecasts.dtype)
    level, position = np.unique(forecasts, return_inverse=True)
    merged = level.copy()
    for index in range(1, len(level)):
        if level[index] - merged[index - 1] < gap:
            merged[index] = merged[index - 1]
    return merged[position].astype(np.float64)


class CaseRule(NamedTuple):
    """A property of cases that is known before anything is compared."""

    text: str
    holds: Callable[[PeerSample], bool]


def _has_close_forecasts(forecasts: NDArray[Any]) -> bool:
    gaps = np.diff(np.unique(forecasts))
    return bool((gaps < RESOLUTION[forecasts.dtype]).any())


def _has_clipped(probability: FloatArray) -> bool:
    return bool(((probability < CLIP) | (probability > 1 - CLIP)).any())


def _separates(sample: PeerSample) -> bool:
    """Whether a threshold separates the outcomes, so that a logistic fit diverges."""
    events, others = sample.p[sample.y == 1], sample.p[sample.y == 0]
    return bool(events.min() >= others.max() or events.max() <= others.min())


def _lacks_spread(sample: PeerSample) -> bool:
    """Whether the placements of both classes are the same throughout, or a class has one row."""
    events, others = sample.p[sample.y == 1], sample.p[sample.y == 0]
    return min(len(events), len(others)) < 2 or _separates(sample)


ONE_CLASS = CaseRule("outcomes of one class", lambda s: bool(s.y.min() == s.y.max()))
CLIPPED = CaseRule("forecasts within 2.2e-16 of 0 or 1", lambda s: _has_clipped(s.p))
CLIPPED_CLASSES = CaseRule(
    "probabilities within 2.2e-16 of 0 or 1", lambda s: _has_clipped(s.three_classes[1])
)
CERTAIN = CaseRule("forecasts of 0 or 1", lambda s: bool(((s.p == 0) | (s.p == 1)).any()))
ZERO = CaseRule("forecasts of 0", lambda s: bool((s.p == 0).any()))
CONSTANT = CaseRule("constant forecasts", lambda s: bool(s.p.min() == s.p.max()))
SEPARATED = CaseRule("separated outcomes", _separates)
NO_SPREAD = CaseRule("separated outcomes or one row of a class", _lacks_spread)
LARGE = CaseRule(f"more than {MANY_ROWS:,} rows", lambda s: s.n > MANY_ROWS)
CLOSE = CaseRule("forecasts within 1e-15 of each other", lambda s: _has_close_forecasts(s.p))
SINGLE = CaseRule("single precision", lambda s: s.case.y_prob.dtype == np.float32)
DOUBLE = CaseRule("double precision", lambda s: s.case.y_prob.dtype != np.float32)
NOT_CORRELATED = CaseRule(
    "forecasts not positively correlated", lambda s: not np.cov(s.p, s.y)[0, 1] > 0 or CONSTANT.holds(s)
)
UNLIKELY_EVENTS = CaseRule("events forecast below 0.001", lambda s: bool((s.p[s.y == 1] < 1e-3).any()))
ONE_CLUSTER = CaseRule("one cluster", lambda s: s.n <= ROWS_OF_A_CLUSTER)
FEW_CLUSTERS = CaseRule("fewer than ten clusters", lambda s: s.n <= 9 * ROWS_OF_A_CLUSTER)
SAME_LABELS = CaseRule("one and the same label throughout", lambda s: len(np.unique(s.grades)) == 1)
