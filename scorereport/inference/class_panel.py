"""Panels of class probabilities: several models' forecasts of the same cases, and classes drawn from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from scorereport._utils.arrays import FloatArray, IntArray, row_chunks
from scorereport._utils.checks import (
    check_clusters,
    check_distribution,
    check_labels,
    check_same_length,
    check_times,
    check_weight,
)
from scorereport._utils.representation import short_repr
from scorereport.errors import UsageError
from scorereport.inference.panel import PanelRows
from scorereport.reliability.draws import draw_bits
from scorereport.reliability.fit import corp
from scorereport.reliability.sampling import SamplingUnits

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassPanel(PanelRows):
    """Classes as indices, with one row of K probabilities per case and model."""

    outcome: IntArray

    __repr__ = short_repr

    @property
    def n_classes(self) -> int:
        """K."""
        return int(next(iter(self.forecasts.values())).shape[1])

    @cached_property
    def class_weight(self) -> FloatArray:
        """The total weight of the cases of each class."""
        sums = np.bincount(self.outcome, weights=self.units.row_weight, minlength=self.n_classes)
        return sums.astype(np.float64)

    @cached_property
    def labels(self) -> Mapping[str, IntArray]:
        """The predicted class of each model: the likeliest, and the first of those that tie."""
        return {name: p.argmax(axis=1) for name, p in self.forecasts.items()}


def make_class_panel(
    y_true: ArrayLike,
    forecasts: Mapping[str, ArrayLike],
    *,
    sample_weight: ArrayLike | None = None,
    weight_kind: str = "sampling",
    cluster: ArrayLike | None = None,
    time: ArrayLike | None = None,
) -> ClassPanel:
    """Check classes and forecasts and put their rows in canonical order."""
    if not forecasts:
        raise UsageError("`forecasts` must name at least one forecast.")
    checked = {name: check_distribution(p, name) + 0.0 for name, p in forecasts.items()}  # no -0
    widths = {p.shape[1] for p in checked.values()}
    if len(widths) > 1:
        raise UsageError(f"All forecasts must be of the same classes; got {sorted(widths)} of them.")
    outcome = check_labels(y_true, "y_true", widths.pop())
    check_same_length(("y_true", outcome), *checked.items())
    panel = ClassPanel(
        outcome=outcome,
        forecasts=checked,
        weight=check_weight(sample_weight, len(outcome), kind=weight_kind),
        cluster=check_clusters(cluster, len(outcome)),
        time=check_times(time, len(outcome)),
        weight_kind=weight_kind,
    )
    return panel.in_canonical_order()


#: The largest number of 32 bits.
_LARGEST = np.uint32(2**32 - 1)
#: Random numbers that are compared at a time: few enough for the cache of a processor.
_NUMBERS_AT_A_TIME = 1 << 16


class DrawnClasses(NamedTuple):
    """The observed or drawn class of each row, and its weight; a row may appear more than once."""

    row: NDArray[np.intp]
    label: NDArray[np.intp]
    weight: FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassDistribution:
    """Class probabilities as the distribution from which classes are drawn.

    The observed classes determine how much rows of a cluster depend on each other.
    """

    given: FloatArray
    outcome: IntArray
    units: SamplingUnits

    @cached_property
    def rows(self) -> NDArray[np.intp]:
        """The positions of the rows."""
        return np.arange(len(self.outcome))

    def draw(self, rng: np.random.Generator) -> DrawnClasses:
        """Draw classes from the forecasts; each repetition of a repeated row has a class of its own.

        Rows of a cluster depend on each other as much as they do in the sample: with probability √ρ a row
        takes the random number of its cluster.
        """
        units = self.units
        if units.cluster is None and units.weight is not None and units.are_repeated_rows:
            times = rng.multinomial(units.weight.astype(np.int64), self.shares)
            row, label = np.nonzero(times)
            return DrawnClasses(row, label, times[row, label].astype(np.float64))
        return DrawnClasses(self.rows, self.draw_labels(rng)[:, 0].astype(np.intp), units.row_weight)

    def draw_labels(self, rng: np.random.Generator, samples: int = 1) -> NDArray[np.unsignedinteger[Any]]:
        """Draw a class for each row, a column for each sample.

        Random numbers have 31 bits: no probability is off by 2^-31.
        """
        numbers = self._draw_numbers(rng, samples)
        labels = np.zeros((len(self.rows), samples), dtype=np.min_scalar_type(self.given.shape[1]))
        for rows in row_chunks(len(self.rows), max(_NUMBERS_AT_A_TIME // samples, 1)):
            number, of_rows = numbers(rows), labels[rows]
            for end in self._inner_ends[:, rows, None]:
                of_rows += number >= end
        return labels

    def _draw_numbers(self, rng: np.random.Generator, samples: int) -> Callable[[slice], NDArray[np.uint32]]:
        """The random numbers of rows, which are called for in order: with clusters, some are shared."""
        cluster = self.units.cluster

        def draw(rows: slice) -> NDArray[np.uint32]:
            return _draw_even(rng, rows.stop - rows.start, samples)

        if cluster is None or not self._correlation > 0:
            return draw
        shared, limit = _draw_even(rng, int(self.units.size), samples), np.ldexp(self._correlation**0.5, 32)

        def draw_dependent(rows: slice) -> NDArray[np.uint32]:
            is_shared = _draw_even(rng, rows.stop - rows.start, samples) < limit
            return np.where(is_shared, shared.take(cluster[rows], axis=0), draw(rows))

        return draw_dependent

    @cached_property
    def _correlation(self) -> float:
        """The correlation of rows of a cluster: the mean over the classes."""
        units = self.units
        fits = (
            corp(self.outcome == k, p, units.weight, weight_kind=units.weight_kind, cluster=units.cluster)
            for k, p in enumerate(self.given.T)
        )
        return float(np.mean([fit.sample.correlation for fit in fits]))

    @cached_property
    def shares(self) -> FloatArray:
        """The probabilities divided by their sum."""
        return self.given / self.given.sum(axis=1, keepdims=True)

    @cached_property
    def _inner_ends(self) -> NDArray[np.uint32]:
        """The boundaries of the classes in units of 2^-32, by row; the largest after the last possible class.

        Numbers are even: none reaches the largest. Sums of shares are rounded by much less than a unit.
        """
        scaled = np.rint(np.ldexp(np.cumsum(self.shares, axis=1)[:, :-1].T, 32))
        return np.minimum(scaled, _LARGEST).astype(np.uint32)


def _draw_even(rng: np.random.Generator, rows: int, samples: int) -> NDArray[np.uint32]:
    """Even random numbers of 32 bits, a row for each row and a column for each sample."""
    return (draw_bits(rng, rows * samples, np.uint32) & (_LARGEST - 1)).reshape(rows, samples)
