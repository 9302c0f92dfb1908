"""Nelson's probability scale: generalised means of probabilities, and the coupled Gaussian.

The arithmetic mean (m = 1) is the decisiveness, the geometric mean (m = 0) the accuracy and the
mean with m = -2/3 the robustness. Formulas are those of Nelson (2017), with the corrections named below.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import poch

from scorereport._utils.checks import (
    check_binary,
    check_classes,
    check_distribution,
    check_finite,
    check_probability,
    check_same_length,
    check_weight,
)
from scorereport._utils.formatting import format_plain
from scorereport.errors import UsageError
from scorereport.scores.binary import probability_of_outcome
from scorereport.scores.multiclass import true_class_probability
from scorereport.scores.registry import NELSON_2017, Direction, Kind, Propriety, score

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from scorereport._utils.arrays import FloatArray


#: Exponents of the three means.
DECISIVENESS, ACCURACY, ROBUSTNESS = 1.0, 0.0, -2 / 3
#: An exponent this small changes no digit of the mean, and its powers would underflow.
_AS_GOOD_AS_ZERO = 1e-100


def power_mean(p: FloatArray, m: float, weight: FloatArray) -> float:
    """Return (Σ w p^m)^(1/m) with weights as shares; geometric at m = 0, max and min at ±∞; NaN if empty."""
    p, weight = p[weight > 0], weight[weight > 0]
    if len(p) == 0:
        return np.nan
    if np.isinf(m):
        return float(p.max() if m > 0 else p.min())
    if m <= 0 and p.min() == 0:
        return 0.0
    share = weight / weight.sum()
    if abs(m) < 0.5:
        return _mean_near_geometric(p, m, share)
    scale = p.max() if m > 0 else p.min()  # relative to it every power is in [0, 1]
    if scale == 0:
        return 0.0
    with np.errstate(over="ignore"):  # a ratio to a subnormal may be infinite, and its power is 0
        return float(scale * (share * (p / scale) ** m).sum() ** (1 / m))


def _mean_near_geometric(p: FloatArray, m: float, share: FloatArray) -> float:
    """Compute the mean relative to the geometric mean, as (Σ w p^m)^(1/m) loses digits for small m."""
    if p.min() == 0:
        return float((share * p**m).sum() ** (1 / m))
    logs = np.log(p)
    centre = (share * logs).sum()
    if abs(m) < _AS_GOOD_AS_ZERO:
        return float(np.exp(centre))
    return float(np.exp(centre + np.log1p((share * np.expm1(m * (logs - centre))).sum()) / m))


_probability_score = partial(
    score,
    kind=Kind.PROBABILITY_SCALE,
    within=(0, 1),
    propriety=Propriety.NOT_A_RULE,
    references=(NELSON_2017,),
    direction=Direction.HIGHER,
    per_case=False,
)


@_probability_score(label="Decisiveness")
def decisiveness(y_true: ArrayLike, y_prob: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Arithmetic mean of the probabilities of the observed outcomes.

    `y_prob` holds the probability of the event, or one row of K class probabilities per case.

    >>> decisiveness([1, 0], [0.9, 0.4])
    0.75
    """
    return _mean_of_true(y_true, y_prob, sample_weight, DECISIVENESS)


@_probability_score(label="Accuracy on the probability scale")
def probability_accuracy(
    y_true: ArrayLike, y_prob: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Geometric mean of the probabilities of the observed outcomes: exp(-mean log score).

    >>> round(probability_accuracy([1, 0], [0.9, 0.6]), 6)
    0.6
    """
    return _mean_of_true(y_true, y_prob, sample_weight, ACCURACY)


@_probability_score(label="Robustness")
def robustness(y_true: ArrayLike, y_prob: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Mean with exponent -2/3 of the probabilities of the observed outcomes: small ones count most.

    The paper does not derive the -2/3.

    >>> round(robustness([1, 0], [0.9, 0.6]), 4)
    0.5684
    """
    return _mean_of_true(y_true, y_prob, sample_weight, ROBUSTNESS)


def generalized_mean(p: ArrayLike, m: float, weights: ArrayLike | None = None) -> float:
    """(Σ w p^m)^(1/m) for weights that sum to one; exp(Σ w log p) at m = 0; max and min at ±∞.

    For m <= 0 it is 0 if one probability with a positive weight is 0. It increases with m. It equals
    exp(-S) for the Rényi-type entropy S = -(1/m) log Σ w p^m.

    Errata: equation 12 has the sum outside the logarithm; equation 18 takes the root twice.

    References
    ----------
    Nelson (2017), Entropy 19, doi:10.3390/e19060286

    >>> generalized_mean([0.9, 0.4], 1), round(generalized_mean([0.9, 0.4], 0), 6)
    (0.65, 0.6)
    """
    values = check_probability(p, "p")
    w = check_weight(weights, len(values), "weights")
    if np.isnan(m):
        raise UsageError("`m` must be a number; got nan.")
    return power_mean(values, m, np.ones(len(values)) if w is None else w)


def probability_deviation(p: ArrayLike, weights: ArrayLike | None = None) -> float:
    """Exponential of the standard deviation of log p: a factor, which is 1 if all probabilities are equal.

    Errata: equation 10 does not square the mean and has the root outside the exponential; and the
    text after it must compare the product, not the ratio, of mean and deviation with 1.

    References
    ----------
    Nelson (2017), Entropy 19, doi:10.3390/e19060286

    >>> probability_deviation([0.5, 0.5])
    1.0
    """
    values = check_probability(p, "p")
    w = check_weight(weights, len(values), "weights")
    if w is not None:
        values, w = values[w > 0], w[w > 0]
    if values.min() == 0:
        return np.inf
    logs = np.log(values)
    spread = np.average((logs - np.average(logs, weights=w)) ** 2, weights=w)
    return float(np.exp(np.sqrt(spread)))


def entropy_probability(p: ArrayLike) -> float:
    """Π p^p: the entropy of a distribution, expressed as a probability.

    References
    ----------
    Nelson (2017), Entropy 19, doi:10.3390/e19060286

    >>> round(entropy_probability([0.5, 0.5]), 6)
    0.5
    """
    return cross_entropy_probability(p, p)


def cross_entropy_probability(p: ArrayLike, q: ArrayLike) -> float:
    """Π q^p: the cross-entropy of model q under source p, expressed as a probability; 0⁰ = 1.

    References
    ----------
    Nelson (2017), Entropy 19, doi:10.3390/e19060286

    >>> round(cross_entropy_probability([0.5, 0.5, 0.0], [0.8, 0.2, 0.0]), 6)
    0.4
    """
    source, model = _check_one_distribution(p, "p"), _check_one_distribution(q, "q")
    check_same_length(("p", source), ("q", model))
    return power_mean(model, 0, source)


def divergence_probability(p: ArrayLike, q: ArrayLike) -> float:
    """Π (q/p)^p: the divergence of model q from source p, expressed as a probability; 1 iff they agree.

    Erratum: the text says that model probability never exceeds source probability. That holds in
    expectation, as here, but not for the probabilities of a sample.

    References
    ----------
    Nelson (2017), Entropy 19, doi:10.3390/e19060286

    >>> divergence_probability([0.5, 0.5], [0.5, 0.5])
    1.0
    """
    return cross_entropy_probability(p, q) / entropy_probability(p)


def _mean_of_true(y_true: ArrayLike, y_prob: ArrayLike, sample_weight: ArrayLike | None, m: float) -> float:
    if np.ndim(y_prob) == 1:
        y, p, weight = check_binary(y_true, y_prob, sample_weight)
        probability = probability_of_outcome(y, p)
    else:
        label, table, weight = check_classes(y_true, y_prob, sample_weight)
        probability = true_class_probability(label, table)
    return power_mean(probability, m, np.ones(len(probability)) if weight is None else weight)


def _check_one_distribution(values: ArrayLike, name: str) -> FloatArray:
    return check_distribution(check_finite(values, name)[None, :], name)[0]


def coupling_exponent(kappa: float, *, dimensions: int = 1) -> float:
    """Exponent m = 2κ/(1 + dκ) of a coupling κ in d dimensions.

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
        raise UsageError(f"`kappa` must be above -1/{d} and finite; got {format_plain(kappa)}.")
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
