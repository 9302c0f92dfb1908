"""How many independent rows a sample is worth, once weights and clusters are allowed for.

References
----------
Kish (1965), Survey Sampling, Wiley
Rao, Scott (1981), J. Am. Stat. Assoc. 76, doi:10.1080/01621459.1981.10477633
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport._utils.arrays import FloatArray, IntArray
    from scorereport.reliability.sampling import SamplingUnits


def effective_size(units: SamplingUnits, group: IntArray) -> float:
    """The number of independent rows that would tell the shares of some groups no better.

    Of repeated rows it is their number. Fractional weights make it Kish's, (Σw)²/Σw², and they and clusters
    divide it by the largest design effect of any share: how much more it varies than that of independent
    rows. Rao and Scott take the mean, with which a chi-square test of few clusters rejects too often. It is
    never taken as less than 1; where all rows are in one group it is not known, and clusters are counted.
    """
    rows = units.total / units.case_weight
    if units.cluster is None and units.are_repeated_rows:
        return rows
    members = [(group == number).astype(np.float64) for number in np.unique(group)]
    if units.size <= 1 or len(members) == 1:
        return min(rows, units.size)
    return _divide(rows, [(units.mean(member), units.standard_error(member)) for member in members])


def effective_size_by_bucket(rows: float, sums: FloatArray) -> float:
    """The same from the weights of some groups (columns) in buckets (rows), which are taken for clusters.

    `rows` is the number of independent rows if there were no clusters. Rows, or clusters, were dealt out to
    buckets at random, so that what varies between buckets is what varies between them.
    """
    filled = sums[sums.sum(axis=1) > 0][:, sums.sum(axis=0) > 0]
    buckets, groups = filled.shape
    if buckets <= 1 or groups == 1:
        return min(rows, float(buckets))
    total = filled.sum()
    shares = filled.sum(axis=0) / total
    deviations = filled - filled.sum(axis=1, keepdims=True) * shares
    errors = np.sqrt((deviations**2).sum(axis=0) * buckets / (buckets - 1)) / total
    return _divide(rows, list(zip(shares.tolist(), errors.tolist(), strict=True)))


def _divide(rows: float, shares: Sequence[tuple[float, float]]) -> float:
    """Rows over the largest design effect of shares, each with its standard error."""
    return float(rows / max(1.0, *(rows * error**2 / (share * (1 - share)) for share, error in shares)))
