"""Resamples of retention queues of many cases, which are counted in groups of neighbours.

In a resample each case has nearly a Poisson number of copies. The cases of a group with the same observed and
predicted class are alike: their copies are drawn as one number. Where a resample is cut within a group, the
group gives the same share of each kind of case. Groups end where the sample itself is cut, and are small
around it: most resamples are cut within two standard deviations of their number of cases before the cut.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from scorereport._utils.arrays import FloatArray, IntArray
from scorereport.curves.retention import RetentionOrder
from scorereport.reliability.cells import Counts, poisson_counts

#: Number of groups of equal size, and distances from a cut, in standard deviations, at which others end.
_GROUPS = 64
_AROUND = np.array([0.2, 0.4, 0.6, 0.9, 1.2, 1.6, 2.0, 3.0])
#: Numbers of cases in a chunk of resamples: few enough for the cache of a processor.
_CHUNK = 1 << 16


class RetainedTables(NamedTuple):
    """The confusion tables of the cases retained, by resample and fraction."""

    tables: FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupedQueue:
    """A queue of cases that each count once, or a whole number of times.

    A kind is the cases of a group with the same cell of the confusion table; `kinds` are the places of those
    that occur in a table of groups and cells.
    """

    queue: RetentionOrder
    groups: int
    kinds: IntArray
    copies: Counts

    @classmethod
    def of(cls, queue: RetentionOrder) -> GroupedQueue:
        """Count the cases of a queue."""
        weight = queue.row_weight[queue.order]
        reach = np.cumsum(weight)
        ends = _place_ends(reach[-1], queue.count_retained(reach[-1]))
        group, cells = np.searchsorted(ends, reach - weight, side="right"), queue.n_classes**2
        counts = np.bincount(group * cells + queue.cell, weight).astype(np.float64, copy=False)
        kinds = np.flatnonzero(counts)
        return cls(queue=queue, groups=len(ends) + 1, kinds=kinds, copies=poisson_counts(counts[kinds]))

    @property
    def resamples_of_a_chunk(self) -> int:
        """How many resamples are drawn at a time."""
        return max(_CHUNK // (self.groups * self.queue.n_classes**2), 1)

    def draw(self, rng: np.random.Generator, resamples: int) -> RetainedTables:
        """Draw resamples, and cut each at every fraction."""
        classes = self.queue.n_classes
        copies = np.zeros((resamples, self.groups * classes**2))
        copies[:, self.kinds] = self.copies.draw(rng, resamples)
        drawn: FloatArray = copies.reshape(resamples, self.groups, classes**2)
        upto = np.cumsum(drawn, axis=1)
        reach = upto.sum(axis=2)
        retained = self.queue.count_retained(reach[:, -1:])
        last = np.array([np.searchsorted(*one) for one in zip(reach, retained, strict=True)])
        resample = np.arange(resamples)[:, None]
        inside = drawn[resample, last]
        beyond = (reach[resample, last] - retained) / inside.sum(axis=2)
        tables = upto[resample, last] - beyond[:, :, None] * inside
        return RetainedTables(tables.reshape(*last.shape, classes, classes))


def _place_ends(total: float, cuts: FloatArray) -> FloatArray:
    """The number of cases up to the end of each group but the last."""
    spread = np.sqrt(cuts * (1 - cuts / total))
    around = np.multiply.outer(np.concatenate([-_AROUND, [0.0], _AROUND]), spread) + cuts
    ends = np.unique(np.rint(np.append(around, np.arange(1, _GROUPS) * (total / _GROUPS))))
    return ends[(ends > 0) & (ends < total)]
