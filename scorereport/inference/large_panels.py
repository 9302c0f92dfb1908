"""Panels of many rows: sums over resamples in chunks of rows, and fits that are made one at a time.

The number of draws from each chunk is drawn first, then the rows drawn within the chunk: together they have
the distribution of drawing rows with replacement.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from scorereport._utils.arrays import row_chunks
from scorereport._utils.machine import release_memory, repeat
from scorereport.reliability.fit import Corp, corp
from scorereport.reliability.sampling import random_stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.panel import ForecastPanel, PanelRows


#: Up to this many rows each resample is drawn at once.
MANY_ROWS = 100_000
#: Rows of all fits that are kept; each takes some 50 bytes.
_MOST_FITTED = 6_000_000
#: Key of the random streams of this module.
_KEY = 3


class ResampledSums(NamedTuple):
    """Sums over all rows, and over each resample: a row for each resample."""

    observed: FloatArray
    drawn: FloatArray


def are_many_alike(panel: PanelRows) -> bool:
    """Whether rows are many and have neither weights nor clusters, so that only counts of draws matter."""
    return len(panel.outcome) > MANY_ROWS and panel.weight is None and panel.cluster is None


@np.errstate(invalid="ignore")  # a column with an infinite value has an infinite sum
def resample_sums(
    columns_of: Callable[[slice], FloatArray], n: int, *, resamples: int, seed: int, what: str
) -> ResampledSums:
    """Sum columns of n rows, over all rows and over resamples; `columns_of` returns those of a chunk."""
    parts = row_chunks(n)
    shares = [(part.stop - part.start) / n for part in parts]
    times = random_stream(seed, 0, _KEY).multinomial(n, shares, resamples)

    def add_up(number: int) -> FloatArray:
        columns, rng = columns_of(parts[number]), random_stream(seed, 1 + number, _KEY)
        size = columns.shape[1]
        sums = np.empty((1 + resamples, len(columns)))
        sums[0] = columns.sum(axis=1)
        for row, draws in zip(sums[1:], times[:, number].tolist(), strict=True):
            weight = np.bincount(rng.integers(0, size, draws, dtype=np.uint32), minlength=size)
            np.einsum("ji,i->j", columns, weight.astype(np.float64), out=row)  # BLAS would depend on threads
        return sums

    sums = reduce(np.add, repeat(add_up, len(parts), rows=n, what=what, resamples=resamples))
    return ResampledSums(sums[0], sums[1:])


class PanelFits(Mapping[str, Corp]):
    """A CORP fit for each forecast, made on first use and kept if rows are not many."""

    def __init__(self, panel: ForecastPanel) -> None:
        self._panel = panel
        self._kept: dict[str, Corp] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._panel.forecasts)

    def __len__(self) -> int:
        return len(self._panel.forecasts)

    def __getitem__(self, name: str) -> Corp:
        if name in self._kept:
            return self._kept[name]
        panel = self._panel
        fit = corp(
            panel.outcome,
            panel.forecasts[name],
            panel.weight,
            weight_kind=panel.weight_kind,
            cluster=panel.cluster,
        )
        if len(panel.outcome) * len(self) <= _MOST_FITTED:
            self._kept[name] = fit
        else:
            release_memory()
        return fit
