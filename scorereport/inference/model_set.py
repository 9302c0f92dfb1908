"""Models that may still be the best: evidence that others are better, adjusted for the number of models.

The evidence against "model i is as good as any other" is the mean, over the other models j, of the evidence
that j is better than i: a mean of e-values is an e-value, however they depend on each other. Closed testing
adjusts it: the evidence against a set of models, all as good as the best, is the mean of theirs, and that
against one model is the least over all sets that contain it. A model leaves the set for good when its
adjusted evidence reaches 1/α. The probability that a model as good as the best ever leaves is at most α.

References
----------
Arnold, Gavrilopoulos, Schulz, Ziegel (2026), J. R. Stat. Soc. B, doi:10.1093/jrsssb/qkag066
Vovk, Wang (2021), Ann. Stat. 49, doi:10.1214/20-AOS2020
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport.errors import UsageError

if TYPE_CHECKING:
    from scorereport._utils.arrays import FloatArray


def merge_evidence(log_evidence: FloatArray) -> FloatArray:
    """Adjust the log evidence of several hypotheses for their number, by closed testing with means.

    >>> np.exp(merge_evidence(np.log([10, 2, 1, 40]))).round(4)
    array([ 4.3333,  1.5   ,  1.    , 13.25  ])
    """
    log_evidence = np.asarray(log_evidence, dtype=np.float64)
    if np.isnan(log_evidence).any():
        raise UsageError("`log_evidence` must not contain NaN.")
    order = np.argsort(log_evidence, kind="stable")
    ascending = log_evidence[order]
    # the least mean of a hypothesis with others is that with the smallest ones; larger ones do not lower it
    smallest = np.append(-np.inf, np.logaddexp.accumulate(ascending))
    means = np.logaddexp(ascending[:, None], smallest) - np.log(np.arange(1, len(smallest) + 1))
    merged = np.empty_like(ascending)
    merged[order] = means.min(axis=1)
    return merged


def adjust_pairs(log_pairs: FloatArray) -> FloatArray:
    """Return the adjusted log evidence against each model, from that of all pairs.

    Entry (i, j) of the square matrix is the log evidence that model j is better than model i; the diagonal is
    not used. A model without others has no evidence against it, 0 on the log scale.
    """
    pairs = np.array(log_pairs, dtype=np.float64)
    if pairs.ndim != 2 or pairs.shape[0] != pairs.shape[1]:
        raise UsageError(f"`log_pairs` must be a square matrix; got the shape {pairs.shape}.")
    if len(pairs) < 2:
        return np.zeros(len(pairs))
    np.fill_diagonal(pairs, -np.inf)
    return merge_evidence(np.logaddexp.reduce(pairs, axis=1) - np.log(len(pairs) - 1))
