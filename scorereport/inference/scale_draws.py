"""Forecasts on the probability scale, and their targets: pairs of case and class, in bins and in groups."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from scorereport._utils.arrays import FloatArray
from scorereport.inference.class_panel import ClassDistribution
from scorereport.inference.scale_fits import group_values
from scorereport.inference.scale_powers import power_means
from scorereport.reliability.fit import corp
from scorereport.scores.probability import ROBUSTNESS
from scorereport.scores.scale import ScaleBins, equal_count_bins

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from scorereport._utils.arrays import IntArray


#: Classes are rescaled until their means are this close to their shares, or up to this many times.
_SAME_SHARE, _MOST_ROUNDS = 1e-4, 200
#: Marks this close are equal up to rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class ScaleForecast(ClassDistribution):
    """Class probabilities, as given and clipped to a limit, with the observed classes."""

    limit: float = 0.0

    @property
    def cases(self) -> int:
        """Number of rows, each counted as a case."""
        return len(self.outcome)

    @cached_property
    def table(self) -> FloatArray:
        """The probabilities, clipped to the limit."""
        return np.clip(self.given, self.limit, 1 - self.limit)

    def rescaled(self) -> ScaleForecast:
        """Multiply each class by a factor so that its mean probability is its observed share.

        Miscalibration that remains is not due to classes whose probabilities are too high throughout.
        """
        weight = self.units.row_weight / self.units.total
        share = np.bincount(self.outcome, weight, self.given.shape[1])
        p = self.shares
        for _ in range(_MOST_ROUNDS):
            mean = np.einsum("i,ik->k", weight, p)
            if np.abs(mean - share).max() < _SAME_SHARE:
                break
            p = p * np.divide(share, mean, out=np.ones_like(share), where=(mean > 0) & (share > 0))
            p = p / p.sum(axis=1, keepdims=True)
        return ScaleForecast(given=p, limit=self.limit, outcome=self.outcome, units=self.units)

    @cached_property
    def powers(self) -> Powers:
        """Each probability, its power -2/3 and its logarithm; the last two are not used for probability 0."""
        known = np.where(self.table > 0, self.table, 1.0)
        return self.table, known**ROBUSTNESS, np.log(known)

    def power_means(self, target: ScaleTarget, exponents: Sequence[float]) -> dict[float, float]:
        """Generalised means of the probabilities of observed pairs of a target, by exponent."""
        p, weight = target.observed_probabilities
        return power_means(p, exponents, weight)

    def smallest_of(self, target: ScaleTarget) -> tuple[FloatArray, FloatArray, float]:
        """Probabilities of observed pairs, ascending, the number of cases of each, and in total."""
        p, weight = target.observed_probabilities
        order = np.argsort(p, kind="stable")
        weight = weight[order] / self.units.case_weight
        return p[order], weight, float(weight.sum())


#: For each row and class: the probability, its power -2/3 and its logarithm.
Powers = tuple[FloatArray, FloatArray, FloatArray]


class ScaleMarks(NamedTuple):
    """Decisiveness, accuracy and robustness of model and source along the last axis."""

    model: FloatArray
    source: FloatArray

    @property
    def angle(self) -> FloatArray:
        """Angle in degrees of the line from robustness to decisiveness; NaN where these coincide."""
        rise, run = (_without_rounding(part[..., 0] - part[..., 2]) for part in self)
        return np.where((rise > 0) | (run > 0), np.degrees(np.arctan2(rise, run)), np.nan)


def _without_rounding(length: FloatArray) -> FloatArray:
    return np.where(length > _ROUNDING, length, np.where(np.isnan(length), np.nan, 0.0))


class ScaleTarget:
    """One class against the rest, or all classes together if `label` is None, under both kinds of bins."""

    def __init__(self, forecast: ScaleForecast, label: int | None, n_bins: int) -> None:
        self.forecast, self.label = forecast, label
        is_observed = forecast.outcome[:, None] == np.arange(forecast.table.shape[1])
        self.width = is_observed[:, self.classes].shape[1]
        self.is_observed = is_observed[:, self.classes].ravel()
        self.probability = forecast.table[:, self.classes].ravel()
        self.weight = self.pair_weight(forecast.units.row_weight)
        self.n_bins = min(n_bins, forecast.cases * self.width)
        self.sample = corp(
            self.is_observed,
            self.probability,
            self._given_weight,
            weight_kind=forecast.units.weight_kind,
            cluster=self._cluster,
        ).sample
        self.bins = (self._cut(), self._fit())
        self._means: dict[float, float] = {}

    @property
    def _given_weight(self) -> FloatArray | None:
        weight = self.forecast.units.weight
        return None if weight is None else self.pair_weight(weight)

    @property
    def _cluster(self) -> IntArray | None:
        cluster = self.forecast.units.cluster
        return None if cluster is None else np.repeat(cluster, self.width)

    def pair_weight(self, row_weight: FloatArray) -> FloatArray:
        """The weight of each pair under these weights of rows."""
        return np.repeat(row_weight, self.width) if self.width > 1 else row_weight

    def _cut(self) -> ScaleBins:
        return equal_count_bins(self.probability, self.weight, self.n_bins)

    def _fit(self) -> ScaleBins:
        blocks = self.sample.blocks
        return ScaleBins(cell=np.searchsorted(blocks.x_max, self.probability), n_cells=len(blocks))

    @cached_property
    def tail_index(self) -> float:
        """The tail index of the summands p^(-2/3) of the robustness; up to 2 they have no finite variance.

        It is Hill's estimator from the 2√n smallest probabilities of observed pairs, at most a quarter of
        them; ∞ where these are equal or 0.
        """
        p, weight, total = self.forecast.smallest_of(self)
        if not (len(p) and p[0] > 0):
            return np.inf
        last = int(np.searchsorted(np.cumsum(weight), min(2 * np.sqrt(total), total / 4)))
        excess = ROBUSTNESS * (np.log(p[:last]) - np.log(p[min(last, len(p) - 1)]))
        mean = (weight[:last] * excess).sum() / weight[:last].sum() if last else 0.0
        return 1 / float(mean) if mean > 0 else np.inf

    @property
    def observed_probabilities(self) -> tuple[FloatArray, FloatArray]:
        """The probabilities of observed pairs, and their weights."""
        return self.probability[self.is_observed], self.weight[self.is_observed]

    def power_means(self, exponents: Sequence[float]) -> dict[float, float]:
        """Generalised means of the probabilities of observed pairs, by exponent; each is computed once."""
        missing = [m for m in exponents if m not in self._means]
        self._means |= self.forecast.power_means(self, missing) if missing else {}
        return {m: self._means[m] for m in exponents}

    def geometric_means(self, kind: int) -> FloatArray:
        """Geometric mean of the probabilities of observed pairs in each bin of a kind."""
        weight = self.weight * self.is_observed
        return self.bins[kind].geometric_means(self.probability, weight, self.powers[2])

    @cached_property
    def powers(self) -> tuple[FloatArray, ...]:
        """For each pair, its probability, its power -2/3 and its logarithm."""
        return tuple(part[:, self.classes].ravel() for part in self.forecast.powers)

    @property
    def classes(self) -> slice:
        """The columns of its classes."""
        return slice(None) if self.label is None else slice(self.label, self.label + 1)

    @cached_property
    def groups(self) -> tuple[NDArray[np.intp], FloatArray]:
        """The group of neighbouring probabilities of each pair, and the weight of each group."""
        values, place = self._values
        start = group_values(np.bincount(place, self.weight, len(values)).astype(np.float64))
        group = (np.searchsorted(start, np.arange(len(values)), side="right") - 1)[place]
        return group, np.bincount(group, self.weight).astype(np.float64)

    def find_edges(self, *, fine: bool) -> FloatArray:
        """Probabilities at which a bin starts, or zeros end, and if `fine` a group, otherwise a block."""
        values, place = self._values
        starts = [np.searchsorted(values, [0.0], side="right")]
        for cell in (self.bins[0].cell, self.groups[0] if fine else self.bins[1].cell):
            of_value = np.empty(len(values), dtype=np.intp)
            of_value[place] = cell
            starts.append(np.flatnonzero(np.diff(of_value)) + 1)
        found = np.unique(np.concatenate(starts))
        return values[found[found < len(values)]]

    @cached_property
    def _values(self) -> tuple[FloatArray, NDArray[np.intp]]:
        return np.unique(self.probability, return_inverse=True)
