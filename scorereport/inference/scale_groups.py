"""Groups of neighbouring forecasts of an event in a large sample, for draws of the probability scale.

Bins, blocks, counts and means are those of all cases, up to rounding. A draw only counts cases by group:
a group has at most a five-hundredth of the cases, and where probabilities are smallest,
and powers of them are steep, every case is a group of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from scorereport._utils.arrays import FloatArray
from scorereport._utils.checks import CheckedCases
from scorereport.inference.class_panel import DrawnClasses
from scorereport.inference.scale_draws import Powers, ScaleForecast
from scorereport.inference.scale_fits import spread_places
from scorereport.inference.scale_powers import power_means
from scorereport.reliability.blocks import pool_cases
from scorereport.reliability.fitted_sample import order_cases
from scorereport.reliability.sampling import SamplingUnits
from scorereport.scores.probability import ROBUSTNESS, power_mean
from scorereport.scores.scale import split_evenly

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from scorereport._utils.arrays import IntArray
    from scorereport.inference.panel import ForecastPanel
    from scorereport.inference.scale_draws import ScaleTarget

#: Up to this many rows, rows are drawn individually.
MOST_ROWS = 20_000


class ObservedProbabilities(NamedTuple):
    """Probabilities of observed labels: their number, the smallest in ascending order, and means of all."""

    n: int
    smallest: FloatArray
    means: dict[float, float]


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupedForecast(ScaleForecast):
    """Groups of cases with the same outcome, as rows with counts; probabilities are means over a group.

    `place` are the probabilities of both labels by which a row is ordered among all rows.
    """

    place: FloatArray
    means: Powers
    of_labels: tuple[ObservedProbabilities, ObservedProbabilities]

    def draw(self, rng: np.random.Generator) -> DrawnClasses:
        """Draw the number of events of each group; a group is drawn at its first row."""
        first, n = self._groups
        events = rng.binomial(n, self.shares[first, 1])
        times = np.append(n - events, events)
        label = np.repeat([0, 1], len(first))
        return DrawnClasses(np.tile(first, 2), label, times.astype(np.float64))

    @cached_property
    def _groups(self) -> tuple[NDArray[np.intp], IntArray]:
        """The first row and the number of cases of each group: rows of a group are neighbours."""
        given = self.given[:, 1]
        first = np.flatnonzero(np.append(True, given[1:] != given[:-1]))
        return first, np.add.reduceat(self.units.row_weight, first).astype(np.int64)

    @property
    def table(self) -> FloatArray:
        """The probabilities by which rows are ordered, the same for all cases of a group."""
        return self.place

    @property
    def cases(self) -> int:
        """Number of cases."""
        return sum(observed.n for observed in self.of_labels)

    @property
    def powers(self) -> Powers:
        """Means of each probability, of its power -2/3 and of its logarithm over the cases of a row."""
        return self.means

    def power_means(self, target: ScaleTarget, exponents: Sequence[float]) -> dict[float, float]:
        """Generalised means over all cases; those of both labels together follow from those of each."""
        labels = self._labels_of(target)
        n = np.array([float(observed.n) for observed in labels])
        return {m: power_mean(np.array([observed.means[m] for observed in labels]), m, n) for m in exponents}

    def smallest_of(self, target: ScaleTarget) -> tuple[FloatArray, FloatArray, float]:
        """The smallest probabilities of observed labels, one for each case, and the number of all cases."""
        labels = self._labels_of(target)
        smallest = np.sort(np.concatenate([observed.smallest for observed in labels]))
        return smallest, np.ones(len(smallest)), float(sum(observed.n for observed in labels))

    def _labels_of(self, target: ScaleTarget) -> tuple[ObservedProbabilities, ...]:
        return self.of_labels if target.label is None else (self.of_labels[target.label],)


def is_groupable(panel: ForecastPanel) -> bool:
    """Whether rows are many and have neither weights nor clusters, so that counts by group are enough."""
    return len(panel.outcome) > MOST_ROWS and panel.weight is None and panel.cluster is None


def group_forecast(
    outcome: FloatArray, forecast: FloatArray, limit: float, n_bins: int, exponents: Sequence[float]
) -> GroupedForecast:
    """Group neighbouring cases so that no group crosses the edge of a bin or block of any target."""
    y, p, _ = order_cases(CheckedCases(outcome, forecast, None), binary=True)
    clipped = (1 - p, p) if limit == 0 else (np.clip(part, limit, 1 - limit) for part in (1 - p, p))
    pairs = _Pairs(y == 1, *clipped)
    del y
    edges = _edges(pairs, n_bins)
    start = _cut(pairs, edges)
    n = np.diff(start, append=len(forecast))
    middle = np.add.reduceat(p, start) / n
    events = np.add.reduceat(pairs.is_event, start, dtype=np.int64)
    counts = np.column_stack([n - events, events])
    group, label = np.nonzero(counts)
    return GroupedForecast(
        given=np.column_stack([1 - middle, middle])[group],
        place=_places(pairs, start, n, edges)[group],
        limit=limit,
        outcome=label,
        units=SamplingUnits(
            rows=len(group), weight=counts[group, label].astype(np.float64), weight_kind="frequency"
        ),
        means=_mean_powers(pairs, start, counts, (group, label)),
        of_labels=_describe_observed(pairs, exponents),
    )


class _Pairs(NamedTuple):
    """Which cases are events, and the clipped probabilities of both labels, those of events ascending."""

    is_event: NDArray[np.bool_]
    other: FloatArray
    event: FloatArray


# Starts of groups


def _edges(pairs: _Pairs, n_bins: int) -> FloatArray:
    """Probabilities of either label at which groups start: edges of bins and blocks, and others between."""
    is_event, of_other, of_event = pairs
    edges = [
        np.array([0.0]),
        of_event[spread_places(len(is_event))],
        _starts(~is_event, of_other, n_bins),
        _starts(is_event, of_event, n_bins),
        _starts(np.append(~is_event, is_event), np.append(of_other, of_event), n_bins),
    ]
    return np.unique(np.concatenate(edges))


def _starts(is_observed: NDArray[Any], p: FloatArray, n_bins: int) -> FloatArray:
    """Probabilities at which bins or blocks start, or at which zeros, or ties that bins share, end."""
    cases = _order(CheckedCases(is_observed, p, None))
    x = cases.y_prob
    inner = x[np.cumsum(split_evenly(len(x), n_bins))[:-1].astype(np.intp)]
    after = np.searchsorted(x, np.append(inner, 0.0), side="right")
    return np.concatenate([pool_cases(cases, binary=True).x_min, inner, x[after[after < len(x)]]])


def _order(cases: CheckedCases) -> CheckedCases:
    """Put cases in canonical order; a stable sort is fast for probabilities that are in order piecewise."""
    order = np.argsort(cases.y_prob, kind="stable")
    ordered = CheckedCases(cases.y_true[order], cases.y_prob[order], None)
    has_ties = bool((ordered.y_prob[1:] == ordered.y_prob[:-1]).any())
    return order_cases(cases, binary=True) if has_ties else ordered


def _cut(pairs: _Pairs, edges: FloatArray) -> NDArray[np.intp]:
    """The starts of groups in which the probabilities of neither label cross an edge."""
    n = len(pairs.is_event)
    of_other = n - np.searchsorted(pairs.other[::-1], edges)
    start = np.unique(np.append(np.searchsorted(pairs.event, edges), of_other))
    return start[start < n]


def _places(pairs: _Pairs, start: NDArray[np.intp], n: IntArray, edges: FloatArray) -> FloatArray:
    """For both labels, the mean of all probabilities of either label between the same edges."""
    between = [np.searchsorted(edges, p[start], side="right") - 1 for p in (pairs.other, pairs.event)]
    sums = [np.add.reduceat(p, start) for p in (pairs.other, pairs.event)]
    cases = np.bincount(np.concatenate(between), np.append(n, n), len(edges))
    total = np.bincount(np.concatenate(between), np.concatenate(sums), len(edges))
    mean = np.divide(total, cases, out=edges.copy(), where=cases > 0)
    mean = np.clip(mean, edges, np.append(np.nextafter(edges[1:], 0.0), 1.0))  # despite rounding
    return np.column_stack([mean[at] for at in between])


# Contents of groups


def _mean_powers(
    pairs: _Pairs,
    start: NDArray[np.intp],
    counts: NDArray[np.int64],
    rows: tuple[NDArray[np.intp], NDArray[np.intp]],
) -> Powers:
    """Means of the powers of both probabilities over the cases of each group and outcome."""
    functions: tuple[Callable[[FloatArray], FloatArray], ...] = (
        lambda p: p,
        lambda p: np.where(p > 0, p, 1.0) ** ROBUSTNESS,
        lambda p: np.log(np.where(p > 0, p, 1.0)),
    )
    found = []
    for function in functions:
        columns = []
        for p in (pairs.other, pairs.event):
            value = function(p)
            whole, of_events = (np.add.reduceat(v, start) for v in (value, value * pairs.is_event))
            columns.append((np.column_stack([whole - of_events, of_events]) / np.maximum(counts, 1))[rows])
        found.append(np.column_stack(columns))
    return found[0], found[1], found[2]


def _describe_observed(
    pairs: _Pairs, exponents: Sequence[float]
) -> tuple[ObservedProbabilities, ObservedProbabilities]:
    few = int(2 * np.sqrt(len(pairs.is_event))) + 2  # no estimate of a tail needs more
    return (
        _describe_label(pairs.other[~pairs.is_event][::-1], few, exponents),
        _describe_label(pairs.event[pairs.is_event], few, exponents),
    )


def _describe_label(p: FloatArray, few: int, exponents: Sequence[float]) -> ObservedProbabilities:
    """Summarise ascending probabilities."""
    return ObservedProbabilities(n=len(p), smallest=p[:few].copy(), means=power_means(p, exponents))
