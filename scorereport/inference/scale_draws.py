"""Marks of the probability scale under the weights of a resample, and under outcomes drawn from forecasts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from scorereport._utils.arrays import FloatArray
from scorereport.inference.class_panel import ClassDistribution
from scorereport.reliability.blocks import edges_in_floats
from scorereport.reliability.fit import corp
from scorereport.scores.probability import ROBUSTNESS, power_mean
from scorereport.scores.scale import ScaleBins, equal_count_bins

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from scorereport._utils.arrays import IntArray
    from scorereport.inference.class_panel import DrawnClasses


#: Drawn outcomes are fitted on up to this many groups of neighbouring probabilities. A block of an
#: isotonic fit has many times as many pairs; angles change by a few hundredths of their spread.
_MOST_GROUPS = 4000
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

    def power_means(self, target: ScaleTarget, exponents: Sequence[float]) -> FloatArray:
        """Generalised means of the probabilities of observed pairs of a target."""
        p, weight = target.observed_probabilities
        return np.array([power_mean(p, m, weight) for m in exponents])

    def smallest_of(self, target: ScaleTarget) -> tuple[FloatArray, FloatArray, float]:
        """Probabilities of observed pairs, ascending, the number of cases of each, and in total."""
        p, weight = target.observed_probabilities
        order = np.argsort(p, kind="stable")
        weight = weight[order] / self.units.case_weight
        return p[order], weight, float(weight.sum())


#: For each row and class: the probability, its power -2/3 and its logarithm.
Powers = tuple[FloatArray, FloatArray, FloatArray]


class _Chosen(NamedTuple):
    """Observed pairs of a target: positions among all observed pairs, rows, pairs of it, table cells."""

    place: NDArray[np.intp]
    row: NDArray[np.intp]
    pair: NDArray[np.intp]
    cell: NDArray[np.intp]


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


def stack_marks(marks: Sequence[ScaleMarks]) -> ScaleMarks:
    """Stack the marks of many draws, a row for each."""
    model, source = (np.array(part).reshape(-1, 3) for part in zip(*marks, strict=True)) if marks else _NONE
    return ScaleMarks(model, source)


_NONE = (np.empty((0, 3)), np.empty((0, 3)))


class ResampledScale(NamedTuple):
    """The model's marks in a resample, and the sums of each bin."""

    model: FloatArray
    events: FloatArray
    n: FloatArray


class ScaleTarget:
    """One class against the rest, or all classes together if `label` is None, under both kinds of bins."""

    def __init__(self, forecast: ScaleForecast, label: int | None, n_bins: int) -> None:
        self.forecast, self.label = forecast, label
        is_observed = forecast.outcome[:, None] == np.arange(forecast.table.shape[1])
        chosen = slice(None) if label is None else slice(label, label + 1)
        self.width = is_observed[:, chosen].shape[1]
        self.is_observed = is_observed[:, chosen].ravel()
        self.probability = forecast.table[:, chosen].ravel()
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
    def observed(self) -> _Chosen:
        """The observed pairs."""
        return self._choose(self.forecast.rows, self.forecast.outcome)

    def resampled(self, row_weight: FloatArray) -> list[ResampledScale]:
        """Sums under these weights of rows, in the bins of the sample.

        Bins are kept: the interval is for the values with these bins, and isotonic regression of a
        resample would add its overfit to that of the sample.
        """
        weight, happened = self.pair_weight(row_weight), row_weight[self.observed.row]
        model = _model_marks(self._powers_of_observed, happened)
        return [
            ResampledScale(model, bins.sums(happened, self.observed.pair), bins.sums(weight))
            for bins in self.bins
        ]

    def calibrated(self, drawn: DrawnClasses) -> list[ScaleMarks]:
        """Marks under drawn outcomes: in the same equal-count bins, and in CORP blocks fitted anew."""
        chosen = self._choose(drawn.row, drawn.label)
        weight = drawn.weight[chosen.place]
        model = _model_marks(self._powers_of(chosen), weight)
        by_count = source_marks(self.bins[0].sums(weight, chosen.pair), self._counts)
        group, n = self._groups
        happened = np.bincount(group[chosen.pair], weight, len(n)).astype(np.float64)
        start = edges_in_floats(n, happened)[:-1]
        fitted = source_marks(np.add.reduceat(happened, start), np.add.reduceat(n, start))
        return [ScaleMarks(model, by_count), ScaleMarks(model, fitted)]

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

    def power_means(self, exponents: Sequence[float]) -> FloatArray:
        """Generalised means of the probabilities of observed pairs."""
        return self.forecast.power_means(self, exponents)

    def geometric_means(self, kind: int) -> FloatArray:
        """Geometric mean of the probabilities of observed pairs in each bin of a kind."""
        chosen = slice(None) if self.label is None else slice(self.label, self.label + 1)
        logs = self.forecast.powers[2][:, chosen].ravel()
        return self.bins[kind].geometric_means(self.probability, self.weight * self.is_observed, logs)

    @cached_property
    def _counts(self) -> FloatArray:
        return self.bins[0].sums(self.weight)

    @cached_property
    def _groups(self) -> tuple[NDArray[np.intp], FloatArray]:
        """The group of neighbouring probabilities of each pair, and the weight of each group."""
        values, place = np.unique(self.probability, return_inverse=True)
        if len(values) > _MOST_GROUPS:
            end = np.cumsum(np.bincount(place, self.weight))
            group = np.minimum(end / end[-1] * _MOST_GROUPS, _MOST_GROUPS - 1).astype(np.intp)
            place = np.unique(group, return_inverse=True)[1][place]
        return place, np.bincount(place, self.weight).astype(np.float64)

    def _choose(self, row: NDArray[np.intp], label: NDArray[np.intp]) -> _Chosen:
        """The observed pairs of this target, from the row and label of all."""
        if self.label is None:
            place = np.arange(len(row))
            return _Chosen(place, row, row * self.width + label, row * self.width + label)
        place = np.flatnonzero(label == self.label)
        row = row[place]
        return _Chosen(place, row, row, row * self.forecast.table.shape[1] + self.label)

    def _powers_of(self, chosen: _Chosen) -> list[FloatArray]:
        return [part.take(chosen.cell) for part in self.forecast.powers]

    @cached_property
    def _powers_of_observed(self) -> list[FloatArray]:
        return self._powers_of(self.observed)


def _model_marks(powers: Sequence[FloatArray], weight: FloatArray) -> FloatArray:
    total = weight.sum()
    if total == 0:
        return np.full(3, np.nan)
    p, inverse, logs = powers
    decisiveness = (weight * p).sum() / total
    if weight[p == 0].any():
        return np.array([decisiveness, 0.0, 0.0])
    robustness = ((weight * inverse).sum() / total) ** (1 / ROBUSTNESS)
    return np.array([decisiveness, np.exp((weight * logs).sum() / total), robustness])


def source_marks(events: FloatArray, n: FloatArray) -> FloatArray:
    """Return the three means of the shares of events in bins, weighted by events; NaN without events."""
    share = np.divide(events, n, out=np.ones(events.shape), where=events > 0)
    total = events.sum(axis=-1)
    sums = (events * np.array([share, np.log(share), share**ROBUSTNESS])).sum(axis=-1)
    means = np.divide(sums, total, out=np.full(sums.shape, np.nan), where=total > 0)
    return np.stack([means[0], np.exp(means[1]), np.power(means[2], 1 / ROBUSTNESS)], axis=-1)
