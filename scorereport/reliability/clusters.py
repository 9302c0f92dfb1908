"""Errors over few or unequal clusters: bias-reduced covariance, and the degrees of freedom of its tests.

A fit of p columns needs two small sums for each cluster, or each weighted row: its information
S = Σ w x x' and its score u = Σ w x (y - fit). With M the inverse of the total information, the
bias-reduced covariance CR2 is M (Σ u* u*') M with u* = (I - S M)^(-1/2) u. It is unbiased where rows are
independent; for the mean of equal clusters it is the sandwich times G/(G - 1). A contrast over its error
follows t, and several follow Hotelling's T-squared, with the degrees of freedom that the variance of the
covariance implies (Satterthwaite). To compute these, rows of a cluster are assumed to be slightly correlated,
so that there are few degrees of freedom if one cluster has most of the rows.

References
----------
Bell, McCaffrey (2002), Surv. Methodol. 28, 169-181
Pustejovsky, Tipton (2018), J. Bus. Econ. Stat. 36, doi:10.1080/07350015.2016.1247004
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from scorereport._utils.arrays import FloatArray

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport._utils.arrays import IntArray

PUSTEJOVSKY_TIPTON = "Pustejovsky, Tipton (2018), J. Bus. Econ. Stat. 36, doi:10.1080/07350015.2016.1247004"
#: Correlation of two rows of a cluster in the working model for degrees of freedom.
WORKING_CORRELATION = 0.005
#: Up to this leverage the inverse root is computed by a series.
_SMALL = 1e-4
#: A cluster determines a coefficient alone if the others have no more than this share of its information.
_ALONE = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class ClusterSums:
    """Information and score of each cluster, or of each row.

    The coefficients `common` shift the fit of all rows equally. `case` is the information of one row.
    """

    information: FloatArray
    score: FloatArray
    common: FloatArray
    case: float

    @cached_property
    def covariance(self) -> FloatArray:
        """The bias-reduced covariance of the coefficients."""
        return self._spread((self._reduction @ (self.score @ self._root)[:, :, None])[:, :, 0])

    @cached_property
    def sandwich(self) -> FloatArray:
        """The covariance corrected by G/(G - 1) only, as in R's sandwich and in statsmodels."""
        clusters = len(self.score)
        return self._spread(self.score @ self._root) * (clusters / (clusters - 1))

    def degrees_of_freedom(self, contrasts: FloatArray) -> float:
        """Degrees of freedom of one contrast of the coefficients, or of several together; NaN if none."""
        return degrees_of_freedom([self], [np.atleast_2d(contrasts)])

    def _spread(self, moved: FloatArray) -> FloatArray:
        moved = moved @ self._root
        return np.asarray(np.einsum("gi,gj->ij", moved, moved))

    @cached_property
    def _root(self) -> FloatArray:
        """The symmetric root L of the inverse information, M = L L; NaN if some direction has none."""
        value, vector = np.linalg.eigh(self.information.sum(axis=0))
        return np.asarray((vector / np.sqrt(np.where(value > 0, value, np.nan))) @ vector.T)

    @cached_property
    def _leverage(self) -> FloatArray:
        """L S L of each cluster; these sum to the identity."""
        return np.asarray(self._root @ self.information @ self._root)

    @cached_property
    def _reduction(self) -> FloatArray:
        """(I - L S L)^(-1/2) of each cluster, 0 in directions that it determines alone."""
        leverage, eye = self._leverage, np.eye(len(self._root))
        # the series is exact up to rounding where the leverage is small, as for most clusters if there are
        # many
        reduction = eye + leverage @ (eye / 2 + leverage @ (3 / 8 * eye + 5 / 16 * leverage))
        is_large = np.trace(leverage, axis1=1, axis2=2) > _SMALL
        value, vector = np.linalg.eigh(eye - leverage[is_large])
        power = np.where(value > _ALONE, np.maximum(value, _ALONE) ** -0.5, 0.0)
        reduction[is_large] = (vector * power[:, None, :]) @ _transpose(vector)
        return reduction

    def products(self, contrasts: FloatArray) -> _Products:
        """Covariances of the contributions of two clusters to two contrasts, in the working model."""
        turned = np.linalg.solve(self._root, self.common)
        shared = WORKING_CORRELATION / self.case * np.outer(turned, turned)
        adjusted = self._reduction @ (self._root @ contrasts.T)
        moved = self._leverage @ adjusted
        carried = shared @ moved
        eye, shifts = np.eye(len(self._root)), self._leverage @ turned
        together = WORKING_CORRELATION / self.case * np.einsum("gi,gj->ij", shifts, shifts)
        return _Products(
            alone=_transpose(adjusted) @ moved + _transpose(moved) @ carried,
            factor=np.concatenate([moved, self._leverage @ carried], axis=1),
            core=np.block([[together - eye, -eye], [-eye, np.zeros_like(eye)]]),
        )


class _Products(NamedTuple):
    """Covariances of contributions of clusters g and h to contrasts: factor' core factor, + `alone` if g = h.

    The low rank makes the cost of double sums over clusters linear in their number.
    """

    alone: FloatArray
    factor: FloatArray
    core: FloatArray

    @property
    def own(self) -> FloatArray:
        """The second part for g = h."""
        return np.asarray(_transpose(self.factor) @ (self.core @ self.factor))

    @property
    def expected(self) -> FloatArray:
        """The mean of the covariance of the contrasts."""
        return np.asarray((self.alone + self.own).sum(axis=0))

    @property
    def variance(self) -> float:
        """Sum of the variances of all entries of that covariance."""
        alone, own = self.alone, self.own
        clusters, rank, size = self.factor.shape
        flat = self.factor.reshape(clusters, rank * size)
        sums = np.einsum("gi,gj->ij", flat, flat).reshape(rank, size, rank, size)
        left = np.einsum("ba,asct->bsct", self.core, sums)
        right = np.einsum("asdt,dc->asct", sums, self.core)
        of_alone, of_own = np.einsum("gss->g", alone), np.einsum("gss->g", own)
        same = (of_alone * (of_alone + 2 * of_own)).sum() + (left * right).sum()
        crossed = np.einsum("gst,gts->", alone, alone + 2 * own) + np.einsum("bsct,csbt->", left, left)
        return float(same + crossed)

    def turn(self, rows: FloatArray) -> _Products:
        """Covariances for linear combinations of the contrasts, one for each row."""
        return _Products(rows @ self.alone @ rows.T, self.factor @ rows.T, self.core)


def degrees_of_freedom(parts: Sequence[ClusterSums], contrasts: Sequence[FloatArray]) -> float:
    """Return the degrees of freedom of contrasts, each a sum over independent parts; NaN if there are none.

    For one contrast they are Satterthwaite's; for q contrasts η such that (η - q + 1)/(η q) times Wald's
    statistic follows F with q and η - q + 1 degrees of freedom.
    """
    products = [part.products(rows) for part, rows in zip(parts, contrasts, strict=True)]
    value, vector = np.linalg.eigh(np.sum([one.expected for one in products], axis=0))
    if not value[0] > _ALONE * value[-1]:
        return np.nan
    standardise = (vector / np.sqrt(value)).T
    variance = sum(
        part.products(_root_of(rows.T @ standardise.T @ standardise @ rows)).variance
        if len(rows) > rows.shape[1]  # only inner products matter: of fewer contrasts
        else one.turn(standardise).variance
        for part, rows, one in zip(parts, contrasts, products, strict=True)
    )
    return float(len(value) * (len(value) + 1) / variance) if variance > 0 else np.nan


def _transpose(matrices: FloatArray) -> FloatArray:
    return matrices.transpose(0, 2, 1)


def _root_of(matrix: FloatArray) -> FloatArray:
    value, vector = np.linalg.eigh(matrix)
    return np.asarray((vector * np.sqrt(np.maximum(value, 0.0))) @ vector.T)


def sum_over_clusters(
    columns: FloatArray, information: FloatArray, score: FloatArray, cluster: IntArray | None
) -> tuple[FloatArray, FloatArray]:
    """Sum information and score of rows over each cluster; without clusters, return those of rows."""
    size = len(columns)
    products = [columns[i] * columns[j] * information for i in range(size) for j in range(size)]
    scores = [column * score for column in columns]
    if cluster is not None:
        products, scores = (
            [np.bincount(cluster, weights=terms) for terms in rows] for rows in (products, scores)
        )
    return np.stack(products, axis=1).reshape(-1, size, size), np.stack(scores, axis=1)


def sums_of_mean(weight: FloatArray, score: FloatArray, case: float) -> ClusterSums:
    """Return the sums of a mean, as a fit of one column: weights and weighted sums of deviations."""
    return ClusterSums(information=weight[:, None, None], score=score[:, None], common=np.ones(1), case=case)


def variance_of_sum(sums: FloatArray, weight: FloatArray, rounding: FloatArray) -> float:
    """Return the bias-reduced variance of a sum over clusters, from the sum and the weight of each.

    Deviations from the share by weight that do not exceed `rounding` count as 0.
    """
    share = weight / weight.sum()
    deviation = sums - share * sums.sum()
    deviation[np.abs(deviation) <= rounding] = 0
    return float(raise_by_share(deviation**2, share).sum())


def raise_by_share(squares: FloatArray, share: FloatArray) -> FloatArray:
    """Return squared deviations over 1 - share, as each affects the mean; 0 where the share is 1."""
    return np.divide(squares, 1 - share, out=np.zeros_like(squares), where=share < 1)


def effective_number(weight: FloatArray) -> float:
    """Return the effective number of clusters, (Σ w)²/Σ w²: as many of equal weight are as precise.

    >>> effective_number(np.array([10.0, 10.0, 10.0])), effective_number(np.array([2.0, 1.0, 1.0]))
    (3.0, 2.6666666666666665)
    """
    share = weight / weight.max()
    return float(share.sum() ** 2 / (share**2).sum())
