"""Nelson's probability scale: generalised means of the probabilities given to what happened.

The arithmetic mean (m = 1) is called decisiveness, the geometric mean (m = 0) accuracy and the
mean with m = -2/3 robustness. Formulas after Nelson (2017), with the corrections named below.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from scorereport.arrays import FloatArray, read_only
from scorereport.checks import (
    check_binary,
    check_classes,
    check_distribution,
    check_finite,
    check_inside,
    check_probability,
    check_same_length,
    check_weight,
)
from scorereport.errors import UsageError
from scorereport.scores.binary import probability_of_outcome
from scorereport.scores.multiclass import true_class_probability
from scorereport.scores.references import NELSON_2017
from scorereport.scores.registry import Direction, Kind, Propriety, score

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

DECISIVENESS, ACCURACY, ROBUSTNESS = 1.0, 0.0, -2 / 3
#: An exponent this small changes no digit of the mean, and its powers would underflow.
_AS_GOOD_AS_ZERO = 1e-100

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
    """Arithmetic mean of the probabilities given to what happened.

    `y_prob` holds the probability of the event, or one row of K class probabilities per case.

    >>> decisiveness([1, 0], [0.9, 0.4])
    0.75
    """
    return _mean_of_true(y_true, y_prob, sample_weight, DECISIVENESS)


@_probability_score(label="Accuracy on the probability scale")
def probability_accuracy(
    y_true: ArrayLike, y_prob: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Geometric mean of the probabilities given to what happened: exp(-mean log score).

    >>> round(probability_accuracy([1, 0], [0.9, 0.6]), 6)
    0.6
    """
    return _mean_of_true(y_true, y_prob, sample_weight, ACCURACY)


@_probability_score(label="Robustness")
def robustness(y_true: ArrayLike, y_prob: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Mean with exponent -2/3 of the probabilities given to what happened: small ones weigh most.

    The paper does not derive the -2/3.

    >>> round(robustness([1, 0], [0.9, 0.6]), 4)
    0.5684
    """
    return _mean_of_true(y_true, y_prob, sample_weight, ROBUSTNESS)


def generalized_mean(p: ArrayLike, m: float, weights: ArrayLike | None = None) -> float:
    """(Σ w p^m)^(1/m) for weights that sum to one; exp(Σ w log p) at m = 0; max and min at ±∞.

    For m <= 0 it is 0 as soon as one probability with weight is 0. Increasing in m. It equals
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
    return _generalized_mean(values, m, np.ones(len(values)) if w is None else w)


def probability_deviation(p: ArrayLike, weights: ArrayLike | None = None) -> float:
    """Exponential of the standard deviation of log p: a factor, 1 where all probabilities are equal.

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
    """Π p^p: the entropy of a distribution, told as a probability.

    References
    ----------
    Nelson (2017), Entropy 19, doi:10.3390/e19060286

    >>> round(entropy_probability([0.5, 0.5]), 6)
    0.5
    """
    return cross_entropy_probability(p, p)


def cross_entropy_probability(p: ArrayLike, q: ArrayLike) -> float:
    """Π q^p: the cross-entropy of model q under source p, told as a probability; 0⁰ = 1.

    References
    ----------
    Nelson (2017), Entropy 19, doi:10.3390/e19060286

    >>> round(cross_entropy_probability([0.5, 0.5, 0.0], [0.8, 0.2, 0.0]), 6)
    0.4
    """
    source, model = _check_one_distribution(p, "p"), _check_one_distribution(q, "q")
    check_same_length(("p", source), ("q", model))
    return _generalized_mean(model, 0, source)


def divergence_probability(p: ArrayLike, q: ArrayLike) -> float:
    """Π (q/p)^p: the divergence of model q from source p, told as a probability; 1 iff they agree.

    Erratum: the text says that model probability never exceeds source probability. That holds in
    expectation, as here, but not for the probabilities of a sample.

    References
    ----------
    Nelson (2017), Entropy 19, doi:10.3390/e19060286

    >>> divergence_probability([0.5, 0.5], [0.5, 0.5])
    1.0
    """
    return cross_entropy_probability(p, q) / entropy_probability(p)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleMean:
    """One generalised mean of the model's probabilities and of the source's, and their ratio."""

    exponent: float
    model: float
    source: float

    @property
    def divergence(self) -> float:
        """Model over source; NaN if the source is 0."""
        return self.model / self.source if self.source > 0 else np.nan


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProbabilityScale:
    """Model against source probabilities over bins, and their three means."""

    decisiveness: ScaleMean
    accuracy: ScaleMean
    robustness: ScaleMean
    n: FloatArray
    events: FloatArray
    model: FloatArray
    source: FloatArray
    limit: float


def probability_scale(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    n_bins: int,
    limit: float = 0.0,
    sample_weight: ArrayLike | None = None,
) -> ProbabilityScale:
    """Compare the probabilities a model reports with the frequencies that came, on Nelson's scale.

    All pairs (case, class) are sorted by probability and cut into `n_bins` of equal count. In each,
    `source` is the share of pairs that came true and `model` the geometric mean of their
    probabilities; the overall means weigh bins by their true pairs. Pairs with the same probability
    are sorted by whether they came true, so the order of rows does not matter; with weights a pair may
    stand in two bins in part. `limit` pulls
    probabilities into [limit, 1 - limit] first (the paper uses 0.01).

    Errata: weights 1/B in equations 18 and 19 contradict equations 2, 9 and 17; with the number of
    true pairs the overall model mean equals that of `generalized_mean`, whatever the bins.

    References
    ----------
    Nelson (2017), Entropy 19, doi:10.3390/e19060286

    >>> scale = probability_scale([1, 0, 1, 0], [0.8, 0.3, 0.6, 0.1], n_bins=2)
    >>> round(scale.accuracy.model, 4), scale.accuracy.source
    (0.7416, 1.0)
    """
    is_true, pairs, weight = _pairs(y_true, y_prob, sample_weight)
    limit = check_inside(limit, "limit", 0, 0.5, closed="left")
    if not 1 <= n_bins <= len(pairs) or n_bins != int(n_bins):
        raise UsageError(
            f"`n_bins` must be a whole number between 1 and the number of pairs, {len(pairs)}; got {n_bins}."
        )
    bins = _equal_count_bins(is_true, np.clip(pairs, limit, 1 - limit), weight, n_bins)
    frequency = bins.events / bins.n

    def mean(m: float) -> ScaleMean:
        model = _generalized_mean(bins.true_probability, m, bins.true_weight)
        return ScaleMean(exponent=m, model=model, source=_generalized_mean(frequency, m, bins.events))

    return ProbabilityScale(
        decisiveness=mean(DECISIVENESS),
        accuracy=mean(ACCURACY),
        robustness=mean(ROBUSTNESS),
        n=read_only(bins.n),
        events=read_only(bins.events),
        model=read_only(bins.model),
        source=read_only(frequency),
        limit=limit,
    )


def _mean_of_true(y_true: ArrayLike, y_prob: ArrayLike, sample_weight: ArrayLike | None, m: float) -> float:
    if np.ndim(y_prob) == 1:
        y, p, weight = check_binary(y_true, y_prob, sample_weight)
        probability = probability_of_outcome(y, p)
    else:
        label, table, weight = check_classes(y_true, y_prob, sample_weight)
        probability = true_class_probability(label, table)
    return _generalized_mean(probability, m, np.ones(len(probability)) if weight is None else weight)


def _generalized_mean(p: FloatArray, m: float, weight: FloatArray) -> float:
    p, weight = p[weight > 0], weight[weight > 0]
    if np.isinf(m):
        return float(p.max() if m > 0 else p.min())
    if m <= 0 and p.min() == 0:
        return 0.0
    share = weight / weight.sum()
    if abs(m) < 0.5:
        return _mean_near_geometric(p, m, share)
    scale = p.max() if m > 0 else p.min()  # relative to it every power lies in [0, 1]
    if scale == 0:
        return 0.0
    with np.errstate(over="ignore"):  # a ratio to a subnormal may be infinite; its power is 0 as it should
        return float(scale * (share * (p / scale) ** m).sum() ** (1 / m))


def _mean_near_geometric(p: FloatArray, m: float, share: FloatArray) -> float:
    """Work relative to the geometric mean, where (Σ w p^m)^(1/m) would lose its digits."""
    if p.min() == 0:
        return float((share * p**m).sum() ** (1 / m))
    logs = np.log(p)
    centre = (share * logs).sum()
    if abs(m) < _AS_GOOD_AS_ZERO:
        return float(np.exp(centre))
    return float(np.exp(centre + np.log1p((share * np.expm1(m * (logs - centre))).sum()) / m))


def _check_one_distribution(values: ArrayLike, name: str) -> FloatArray:
    return check_distribution(check_finite(values, name)[None, :], name)[0]


def _pairs(
    y_true: ArrayLike, y_prob: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """All pairs of case and class: whether the class came, its probability, the weight of the case."""
    if np.ndim(y_prob) == 1:
        y, p, given = check_binary(y_true, y_prob, sample_weight)
        label, table = y.astype(np.int64), np.column_stack([1 - p, p])
    else:
        label, table, given = check_classes(y_true, y_prob, sample_weight)
    came = (label[:, None] == np.arange(table.shape[1])).astype(np.float64)
    weight = np.ones(len(label)) if given is None else given
    return came.ravel(), table.ravel(), np.repeat(weight, table.shape[1])


class _Bins(NamedTuple):
    n: FloatArray
    events: FloatArray
    model: FloatArray
    true_probability: FloatArray
    true_weight: FloatArray


def _equal_count_bins(is_true: FloatArray, probability: FloatArray, weight: FloatArray, n_bins: int) -> _Bins:
    order = np.lexsort((weight, is_true, probability))
    came, p, w = is_true[order] == 1, probability[order], weight[order]
    end = np.cumsum(w)
    edge = np.cumsum([0.0, *_split_evenly(end[-1], n_bins)])
    parts = [np.clip(np.minimum(end, b) - np.maximum(end - w, a), 0, None) for a, b in pairwise(edge)]
    true_parts = [part * came for part in parts]
    return _Bins(
        n=np.array([part.sum() for part in parts]),
        events=np.array([part.sum() for part in true_parts]),
        model=np.array([_generalized_mean(p, 0, part) if part.any() else np.nan for part in true_parts]),
        true_probability=p[came],
        true_weight=w[came],
    )


def _split_evenly(total: float, n_bins: int) -> FloatArray:
    """Sizes as even as whole numbers allow, the larger ones first; exactly even for a fractional total."""
    if total != np.floor(total):
        return np.full(n_bins, total / n_bins)
    return np.full(n_bins, total // n_bins) + (np.arange(n_bins) < total % n_bins)
