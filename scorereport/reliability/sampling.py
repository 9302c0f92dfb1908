"""Sampling units: the rows, repeated rows, weighted rows or clusters that were drawn independently.

Every standard error and every resample uses these units, so that all of them refer to the same sample:

- frequency weights are repeated rows, and the weight of a row is its number of repetitions;
- sampling weights belong to rows that were drawn once;
- clusters are drawn as a whole, with the weights of their rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random.bit_generator import ISeedSequence
from scipy.special import ndtri, stdtrit

from scorereport._utils.arrays import FloatArray, IntArray, read_only, sum_over_parts
from scorereport.reliability.clusters import effective_number, raise_by_share, sums_of_mean

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Repeated rows are drawn one by one up to this many per row, beyond that by their multinomial distribution.
_FEW_REPEATS = 8
#: Deviations this small relative to the values come from rounding of equal values.
_ROUNDING = 1e-14
#: Start states of up to this many streams are cached: every band, model and test uses the same streams.
_MOST_STARTS = 10_000


def random_stream(seed: int, *key: int) -> np.random.Generator:
    """Return an independent random stream for each key: results do not depend on the order of draws."""
    return np.random.Generator(np.random.SFC64(_Start(seed, key)))  # type: ignore[arg-type]  # of the stubs


class _Start(ISeedSequence):
    """The start state of a stream, cached: numpy's `SeedSequence` takes ten times as long."""

    def __init__(self, seed: int, key: tuple[int, ...]) -> None:
        self._seed, self._key = seed, key

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> NDArray[Any]:
        """The first words of a state."""
        return _find_start(self._seed, self._key, n_words, dtype)


@lru_cache(maxsize=_MOST_STARTS)
def _find_start(seed: int, key: tuple[int, ...], n_words: int, dtype: Any) -> NDArray[Any]:
    return read_only(np.random.SeedSequence(seed, spawn_key=key).generate_state(n_words, dtype))


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightSums:
    """Sums of the weights of rows and of their squares, and the largest weight of a row and of a unit.

    A unit is a row or, with clusters, a whole cluster.
    """

    total: float = 0.0
    squares: float = 0.0
    largest_row: float = 0.0
    largest_unit: float = 0.0

    def add(self, other: WeightSums) -> WeightSums:
        """Return the sums of both parts of a sample, which share no cluster."""
        return WeightSums(
            total=self.total + other.total,
            squares=self.squares + other.squares,
            largest_row=max(self.largest_row, other.largest_row),
            largest_unit=max(self.largest_unit, other.largest_unit),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class SamplingUnits:
    """The rows of a sample as independent draws; `cluster` numbers the clusters from 0.

    If they are one of several parts of a sample, `whole` has the weights of all parts: weights are then
    related to those of the whole sample.
    """

    rows: int
    weight: FloatArray | None = None
    cluster: IntArray | None = None
    weight_kind: str = "sampling"
    whole: WeightSums | None = None

    @property
    def are_repeated_rows(self) -> bool:
        """Whether weights are counts of equal rows; rows without weights are counted once."""
        return self.weight is None or self.weight_kind == "frequency"

    @property
    def case_weight(self) -> float:
        """The weight of a case, Σw²/Σw: 1 for repeated rows. Weights divided by it count cases."""
        if self.are_repeated_rows:
            return 1.0
        return self.weight_sums.squares / self.weight_sums.total

    @cached_property
    def weight_sums(self) -> WeightSums:
        """The weights of the whole sample: of these rows, unless they are a part of it."""
        if self.whole is not None:
            return self.whole
        units = self.row_weight if self.cluster is None else self.cluster_weight
        return WeightSums(
            total=self.total,
            squares=float((self.row_weight**2).sum()),
            largest_row=float(self.row_weight.max(initial=0.0)),
            largest_unit=float(units.max(initial=0.0)),
        )

    def count(self, chosen: NDArray[np.bool_]) -> float:
        """The number of cases among some rows: Kish's, (Σw)²/Σw², if they have sampling weights."""
        if self.weight is None:
            return float(np.count_nonzero(chosen))
        weight = self.weight.compress(chosen)
        if self.are_repeated_rows or not len(weight):
            return float(weight.sum())
        return float(weight.sum() ** 2 / (weight**2).sum())

    def count_draws(self, chosen: NDArray[np.bool_]) -> float:
        """The number of independent draws among some rows; for clusters, their effective number."""
        if self.cluster is None or not chosen.any():
            return self.count(chosen)
        weight = np.bincount(self.cluster[chosen], weights=self.row_weight[chosen])
        return effective_number(weight.astype(np.float64))

    @property
    def describes(self) -> str:
        """What is resampled: "rows" or "clusters"."""
        return "rows" if self.cluster is None else "clusters"

    @property
    def unit(self) -> str:
        """One sampling unit: "row" or "cluster"."""
        return "row" if self.cluster is None else "cluster"

    @cached_property
    def row_weight(self) -> FloatArray:
        """The weight of each row."""
        return np.broadcast_to(1.0, self.rows) if self.weight is None else self.weight

    @cached_property
    def total(self) -> float:
        """Sum of all weights."""
        return float(self.rows if self.weight is None else self.weight.sum())

    @property
    def size(self) -> float:
        """Number of independent draws."""
        if self.cluster is not None:
            return int(self.cluster.max()) + 1
        return self.total if self.are_repeated_rows else self.rows

    @cached_property
    def cluster_weight(self) -> FloatArray:
        """The weight of each cluster; only if there are clusters."""
        return np.bincount(self.cluster, weights=self.row_weight).astype(np.float64)  # type: ignore[arg-type]

    @property
    def effective_size(self) -> float:
        """Number of independent draws; for clusters their effective number."""
        return self.size if self.cluster is None else effective_number(self.cluster_weight)

    @cached_property
    def degrees_of_freedom(self) -> float:
        """Degrees of freedom of the variance of a mean over clusters; ∞ without clusters, NaN for one."""
        if self.cluster is None:
            return np.inf
        if self.size <= 1:
            return np.nan
        sums = sums_of_mean(self.cluster_weight, np.zeros(int(self.size)), self.case_weight)
        return sums.degrees_of_freedom(np.ones(1))

    def critical_value(self, level: float) -> float:
        """The two-sided quantile of an estimate over its error: normal, or of t for clusters."""
        upper = (1 + level) / 2
        return float(ndtri(upper) if self.cluster is None else stdtrit(self.degrees_of_freedom, upper))

    def mean(self, values: FloatArray) -> float:
        """Weighted mean of one value per row."""
        if self.weight is None:
            return float(values.sum() / self.total)
        weight = self.weight
        return sum_over_parts(lambda rows: weight[rows] * values[rows], slice(0, self.rows)) / self.total

    def standard_error(self, values: FloatArray) -> float:
        """Standard error of the weighted mean of `values`; NaN if there was only one draw.

        With weights w, total weight W and deviations r from the mean it is √(n/(n - 1) Σ (w r)²)/W for
        n draws. With clusters it is √(Σ (Σ w r)²/(1 - w/W))/W, with the inner sum and w over a cluster: the
        bias-reduced CR2, which is statsmodels' robust error of a mean if clusters have equal weights.
        """
        if self.size <= 1:
            return np.nan
        if self.cluster is not None:
            squares = np.square(self._deviation_sums(values))
            raised = raise_by_share(squares, self.cluster_weight / self.total)
            return float(np.sqrt(raised.sum()) / self.total)
        spread = sum_over_parts(partial(self._squares, values, self.mean(values)), slice(0, self.rows))
        return float(np.sqrt(spread * self.size / (self.size - 1)) / self.total)

    def acceleration(self, values: FloatArray) -> float:
        """A sixth of the skewness of a mean, which BCa intervals need; 0 where nothing varies."""
        deviations = self._deviation_sums(values)
        weighted = values if self.weight is None else values * self.weight
        if np.abs(deviations).max() <= _ROUNDING * np.abs(weighted).max():
            return 0.0
        powers = np.square(deviations)
        spread = float(self._repeat(powers).sum())
        powers *= deviations  # numpy takes third powers many times more slowly
        return float(self._repeat(powers).sum() / (6 * spread**1.5))

    def draw(self, rng: np.random.Generator) -> FloatArray:
        """Draw as many units as there are, with replacement, and return the weights of rows."""
        if self.cluster is not None:
            drawn = _count_draws(rng, int(self.size))[self.cluster]
        elif not self.are_repeated_rows:
            drawn = _count_draws(rng, self.rows)
        else:
            return self._draw_repeated(rng).astype(np.float64)
        return drawn * self.row_weight

    def _draw_repeated(self, rng: np.random.Generator) -> NDArray[np.int64]:
        total = int(self.total)
        if self.weight is None:
            return _count_draws(rng, total)
        if total > _FEW_REPEATS * self.rows:
            return rng.multinomial(total, self.weight / total)
        row = np.repeat(np.arange(self.rows), self.weight.astype(np.int64))
        return np.bincount(row[rng.integers(0, total, total)], minlength=self.rows)

    def _deviation_sums(self, values: FloatArray) -> FloatArray:
        """For each unit, the weighted sum of its deviations; for repeated rows, that of one repetition."""
        deviation = values - self.mean(values)
        if self.cluster is not None:
            return np.bincount(self.cluster, weights=deviation * self.row_weight).astype(np.float64)
        return deviation if self.are_repeated_rows else deviation * self.row_weight

    def _squares(self, values: FloatArray, mean: float, rows: slice) -> FloatArray:
        """The squared deviations of some rows from the mean, for each of their repetitions together."""
        deviation = values[rows] - mean
        if self.weight is None:
            return np.square(deviation, out=deviation)
        weight = self.weight[rows]
        return weight * deviation**2 if self.are_repeated_rows else (weight * deviation) ** 2

    def _repeat(self, values: FloatArray) -> FloatArray:
        """Values of each unit, times the number of repetitions for repeated rows."""
        if self.weight is None or self.cluster is not None or not self.are_repeated_rows:
            return values
        return values * self.weight


def are_whole(weight: FloatArray | None) -> bool:
    """Whether all weights are whole numbers: then point values are those of repeated rows."""
    return weight is None or bool((weight == np.floor(weight)).all())


def _count_draws(rng: np.random.Generator, n: int) -> NDArray[np.int64]:
    """How often each of n units is drawn in n draws."""
    return np.bincount(rng.integers(0, n, n), minlength=n)
