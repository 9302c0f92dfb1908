"""Sums over resamples of many units, without drawing most of these.

A unit of a resample has nearly a Poisson number of copies. Units with a large influence on some statistic are
drawn; the sum over the others is normal, with their covariance. Deviations from the mean of all units are
summed, so that the covariance of the sums is that of resamples with a fixed number of units. An influence is
large if it exceeds a small share of the spread of the statistic: of each statistic, few can be so large, and
the others together have at most this share as their skewness.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from scorereport._utils.arrays import FloatArray

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

#: Influences above this share of the spread of a statistic are large.
LARGE = 0.03
#: A pivot this small, relative to the variance, may be rounding.
_NO_PIVOT = 1e-9


class UnitColumns(NamedTuple):
    """Columns of some units, a row for each column, and how often each unit is in the sample."""

    values: FloatArray
    times: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class DrawnSums:
    """What draws of sums need: the sums of the sample, the units that are drawn, and a root for the others.

    `large` holds the deviations of the units that are drawn, a row for each column.
    """

    observed: FloatArray
    large: UnitColumns
    root: FloatArray

    @classmethod
    def of(
        cls,
        read: Callable[[], Iterator[UnitColumns]],
        linearise: Callable[[FloatArray], FloatArray],
    ) -> DrawnSums:
        """Read the units thrice, in parts.

        `linearise` returns the influence of a unit on each statistic as a linear function of its columns,
        from the sums of the sample: a row for each statistic.
        """
        sums = _add_up(_sum_columns(*units) for units in read())
        observed, mean = sums[1:], (sums[1:] / sums[0])[:, None]
        covariance = _add_up(_products(units.values - mean, units.times) for units in read())
        slopes = linearise(observed)
        spread = np.sqrt(np.maximum(np.einsum("sj,jk,sk->s", slopes, covariance, slopes), 0.0))
        slopes = slopes[spread > 0] / spread[spread > 0, None]
        large = _join([_find_large(units, mean, slopes) for units in read()])
        rest = covariance - _products(*large)
        return cls(observed, large, find_root(rest, np.diag(covariance), range(len(mean))))

    def draw(self, rng: np.random.Generator, resamples: int) -> FloatArray:
        """Draw the sums over some resamples: a row for each."""
        values, times = self.large
        copies = rng.poisson(times, (resamples, len(times))) - times
        normal = rng.standard_normal((resamples, self.root.shape[1]))
        # not BLAS: its sums depend on its threads
        return (
            self.observed + np.einsum("bi,ji->bj", copies, values) + np.einsum("bk,jk->bj", normal, self.root)
        )


def _add_up(parts: Iterator[FloatArray]) -> FloatArray:
    return np.asarray(sum(parts), dtype=np.float64)


def _sum_columns(values: FloatArray, times: FloatArray) -> FloatArray:
    """The number of units, and the sums of their columns."""
    return np.append(times.sum(), (values * times).sum(axis=1))


def _products(values: FloatArray, times: FloatArray) -> FloatArray:
    """Sums of products of every two columns."""
    return np.einsum("ji,ki->jk", values, values * times)


def _find_large(units: UnitColumns, mean: FloatArray, slopes: FloatArray) -> UnitColumns:
    """The deviations of the units with a large influence on a statistic, of which `slopes` give the share."""
    away = units.values - mean
    is_large = np.zeros(away.shape[1], dtype=np.bool_)
    for slope in slopes:
        is_large |= np.abs(np.einsum("j,ji->i", slope, away)) > LARGE
    return UnitColumns(away[:, is_large], units.times[is_large])


def _join(parts: Sequence[UnitColumns]) -> UnitColumns:
    values, times = zip(*parts, strict=True)
    return UnitColumns(np.concatenate(values, axis=1), np.concatenate(times))


def find_root(covariance: FloatArray, whole: FloatArray, order: Sequence[int]) -> FloatArray:
    """Return a matrix whose product with its transpose is the covariance, which may be singular (Cholesky).

    It is computed here, because LAPACK's depends on the number of threads. Pivots are taken in the given
    order: by size, they would depend on rounding. Variances that are rounding of `whole` count as 0.
    """
    variance, places = np.diag(covariance), np.array(order)
    places = places[variance[places] > _NO_PIVOT * whole[places]]
    scale = np.sqrt(variance[places])
    matrix = covariance[np.ix_(places, places)] / np.outer(scale, scale)
    root = np.zeros((len(places),) * 2)
    for k in range(len(places)):  # each column from those before: the rest is not rewritten for each
        rest = matrix[k:, k] - np.einsum("ij,j->i", root[k:, :k], root[k, :k])
        if rest[0] > _NO_PIVOT:
            root[k:, k] = rest / np.sqrt(rest[0])
    in_place = np.zeros((len(variance), len(places)))
    in_place[places] = scale[:, None] * root
    return in_place[:, in_place.any(axis=0)]
