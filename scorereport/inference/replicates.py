"""A number with its values in all resamples, and what computes these."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scorereport._utils.arrays import FloatArray


class Statistic(NamedTuple):
    """A number, its value in every resample, and how much each row moves it.

    `rare` gives, for a level, the interval that cases ask for which resamples cannot hold.
    """

    model: str
    measure: str
    value: float
    replicates: FloatArray
    influence: Callable[[], FloatArray]
    rare: Callable[[float], tuple[float, float]] | None = None


def make_statistic(
    model: str,
    measure: str,
    values: FloatArray,
    influence: Callable[[], FloatArray],
    rare: Callable[[float], tuple[float, float]] | None = None,
) -> Statistic:
    """A statistic from its value in the sample, first, and in the resamples."""
    return Statistic(model, measure, float(values[0]), values[1:], influence, rare)


class ResampledStatistics(Protocol):
    """Some of the statistics: values under the weights of a resample, and what all resamples amount to."""

    def values(self, weight: FloatArray) -> FloatArray:
        """Values under these weights of the rows."""

    def finish(self, drawn: FloatArray) -> Iterator[Statistic]:
        """Statistics from the values of all resamples, a row for each."""
