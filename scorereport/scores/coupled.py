"""The coupled Gaussian: heavy tails or compact support by one parameter, after Nelson (2017)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import poch

from scorereport.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from scorereport._utils.arrays import FloatArray


def coupling_exponent(kappa: float, *, dimensions: int = 1) -> float:
    """Exponent m = 2κ/(1 + dκ) that belongs to a coupling κ in d dimensions.

    References
    ----------
    Nelson (2017), Entropy 19, doi:10.3390/e19060286

    >>> coupling_exponent(0.5)
    0.6666666666666666
    """
    return 2 * kappa / (1 + dimensions * kappa)


def coupled_gaussian_logpdf(
    x: ArrayLike, *, mean: ArrayLike = 0.0, scale: ArrayLike = 1.0, kappa: float = 0.0
) -> FloatArray:
    """Log density of the coupled Gaussian: Student t for κ > 0 (ν = 1/κ), compact support for κ < 0.

    -(1/κ + d)/2 log(1 + κ r²) - log Z, with r² the squared distance (x - μ)' S⁻¹ (x - μ). For one
    dimension `x` is a vector and `scale` the standard scale σ; for d dimensions `x` has d columns,
    `mean` d values and `scale` is the matrix S. Needs κ > -1/d.

    Errata: equation 14 prints a positive exponent; the compact example of Fig. 1 has κ = -0.095.

    References
    ----------
    Nelson (2017), Entropy 19, doi:10.3390/e19060286

    >>> coupled_gaussian_logpdf([0.0, 1.3], kappa=0.5).round(6)
    array([-1.039721, -1.95844 ])
    """
    points = np.atleast_1d(np.asarray(x, dtype=np.float64))
    points = points[:, None] if points.ndim == 1 else points
    d = points.shape[1]
    if not -1 < kappa * d < np.inf:
        raise UsageError(f"`kappa` must be above -1/{d} and finite; got {kappa:g}.")
    matrix = np.asarray(scale, dtype=np.float64)
    matrix = np.eye(d) * matrix * np.abs(matrix) if matrix.ndim == 0 else matrix
    if not (np.linalg.eigvalsh(matrix) > 0).all():
        raise UsageError("`scale` must be positive, or a positive definite matrix.")
    shift = points - np.asarray(mean, dtype=np.float64)
    distance = np.einsum("ij,ij->i", shift, np.linalg.solve(matrix, shift.T).T)
    log_volume = np.linalg.slogdet(matrix)[1] / 2
    return _coupled_kernel(distance, kappa, d) - log_volume - _coupled_log_normaliser(kappa, d)


def _coupled_kernel(distance: FloatArray, kappa: float, d: int) -> FloatArray:
    if kappa == 0:
        return -distance / 2
    inside = 1 + kappa * distance > 0
    base = np.where(inside, kappa * distance, 0.0)
    return np.where(inside, -(1 / kappa + d) / 2 * np.log1p(base), -np.inf)


def _coupled_log_normaliser(kappa: float, d: int) -> float:
    if kappa == 0:
        return d / 2 * float(np.log(2 * np.pi))
    reach = 1 / abs(kappa)
    start = reach / 2 if kappa > 0 else (reach - d) / 2 + 1
    # Γ(start + d/2)/Γ(start) in one piece: the difference of two log-gammas would cancel for small κ
    return float(d / 2 * np.log(np.pi * reach) - np.log(poch(start, d / 2)))
