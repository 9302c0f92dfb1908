"""Measures of how well forecasts rank the cases: AUC, partial AUC, and the top K."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.checks import check_binary, check_inside, check_interval
from scorereport._utils.representation import short_repr
from scorereport.scores.registry import HANLEY_MCNEIL_1982, Direction, Kind, Propriety, Reported, score

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from scorereport._utils.arrays import FloatArray
    from scorereport._utils.checks import CheckedCases


@score(
    label="AUC",
    kind=Kind.RANKING,
    within=(0, 1),
    propriety=Propriety.NOT_A_RULE,
    references=(HANLEY_MCNEIL_1982,),
    direction=Direction.HIGHER,
    per_case=False,
    formula="AUC = P(p₁ > p₀) + P(p₁ = p₀) / 2, p₁ of a random event, p₀ of a random non-event",
    convention=(
        "A tie counts half. Not defined (n/d) if all outcomes are the same. Its skill is the accuracy ratio."
    ),
    meaning="The probability that a row with the event has a higher forecast than a row without it.",
    reported=Reported.ALWAYS,
    keeps_capital=True,
    other_names=("auc", "auroc", "roc", "auc_roc", "aucroc", "c_statistic", "c_index", "concordance"),
)
def roc_auc(y_true: ArrayLike, y_prob: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Probability that a random event has a higher forecast than a random non-event; a tie counts half.

    NaN if only one class occurs.

    >>> roc_auc([0, 1, 1, 0], [0.1, 0.4, 0.4, 0.4])
    0.75
    """
    _, events, non_events = _class_weights(check_binary(y_true, y_prob, sample_weight))
    return area_under_roc(events, non_events)


def area_under_roc(events: FloatArray, non_events: FloatArray) -> float:
    """Compute the AUC from the weight of events and non-events at each distinct forecast, ascending."""
    pairs = events.sum() * non_events.sum()
    if pairs == 0:
        return np.nan
    below = np.cumsum(non_events)  # in place from here on, to save memory
    below -= non_events
    below += non_events / 2
    below *= events
    return min(float(below.sum() / pairs), 1.0)  # rounding may exceed 1


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialAuc:
    """The parts of the AUC that decisions with thresholds in [lower, upper] use."""

    lower: float
    upper: float
    plus: float
    minus: float
    delta_tpr: float
    delta_fpr: float

    __repr__ = short_repr

    @property
    def balanced_average_accuracy(self) -> float:
        """(pAUC+ + pAUC-) / (ΔTPR + ΔFPR); NaN if no case is in the interval."""
        width = self.delta_tpr + self.delta_fpr
        return (self.plus + self.minus) / width if width > 0 else np.nan


def partial_auc(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    lower: float,
    upper: float,
    sample_weight: ArrayLike | None = None,
) -> PartialAuc:
    """Parts of the AUC over the closed interval of thresholds a <= p <= b.

    pAUC+ = ∫ TPR dF0 and pAUC- = ∫ F0 dTPR, with TPR(t) = P(p >= t | 1) and F0(t) = P(p < t | 0):
    a tied pair counts in pAUC+ only. Over [0, 1] their sum is twice the AUC. NaN if one class is absent.

    Erratum: Definition I.8 prints ΔTPR with the opposite sign.

    References
    ----------
    Flores et al. (2025), Appendix I, doi:10.48550/arXiv.2504.04528

    >>> partial_auc([0, 1, 1, 0], [0.2, 0.3, 0.7, 0.5], lower=0.25, upper=0.6)
    PartialAuc(
        lower=0.25, upper=0.6, plus=0.25, minus=0.25, delta_tpr=0.5, delta_fpr=0.5,
    )
    """
    cases = check_binary(y_true, y_prob, sample_weight)
    a, b = check_interval(lower, upper)
    level, events, non_events = _class_weights(cases)
    inside = (level >= a) & (level <= b)
    if events.sum() == 0 or non_events.sum() == 0:
        return PartialAuc(lower=a, upper=b, plus=np.nan, minus=np.nan, delta_tpr=np.nan, delta_fpr=np.nan)
    of_events, of_non_events = events / events.sum(), non_events / non_events.sum()
    tpr = np.cumsum(of_events[::-1])[::-1]
    f0 = np.cumsum(of_non_events) - of_non_events
    return PartialAuc(
        lower=a,
        upper=b,
        plus=float((tpr * of_non_events)[inside].sum()),
        minus=float((f0 * of_events)[inside].sum()),
        delta_tpr=float(of_events[inside].sum()),
        delta_fpr=float(of_non_events[inside].sum()),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TopK:
    """The results of acting on the k cases with the highest forecasts."""

    k: float
    cost_ratio: float
    true_positives: float
    precision: float
    recall: float
    cost: float
    net_benefit: float

    __repr__ = short_repr


def top_k(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    k: float,
    cost: float,
    sample_weight: ArrayLike | None = None,
) -> TopK:
    """Compute the results of acting on the k highest forecasts; ties for the last places share them evenly.

    With TP events among the k, P events in all n and cost c of a false positive:
    cost = c k + (1 - c) P - TP, precision = TP/k, recall = TP/P and
    net benefit = (TP - (k - TP) c/(1 - c))/n. At fixed k and c all of them rank models in the same order.

    References
    ----------
    Flores et al. (2025), Appendix H, doi:10.48550/arXiv.2504.04528

    >>> top_k([0, 1, 1, 0], [0.2, 0.3, 0.7, 0.5], k=2, cost=0.5).precision
    0.5
    """
    _, events, non_events = _class_weights(check_binary(y_true, y_prob, sample_weight))
    c = check_inside(cost, "cost", 0, 1, closed="left")
    n = (events + non_events)[::-1]
    k = check_inside(k, "k", 0, n.sum())
    taken = np.clip(k - (np.cumsum(n) - n), 0, n)  # from the highest forecast down, the last in part
    share = np.divide(taken, n, out=np.zeros(len(n)), where=n > 0)
    found, total = float((share * events[::-1]).sum()), float(events.sum())
    return TopK(
        k=k,
        cost_ratio=c,
        true_positives=found,
        precision=found / k if k > 0 else np.nan,
        recall=found / total if total > 0 else np.nan,
        cost=c * k + (1 - c) * total - found,
        net_benefit=(found - (k - found) * c / (1 - c)) / float(n.sum()),
    )


def _class_weights(cases: CheckedCases) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the distinct forecasts, ascending, with the weight of events and of non-events at each."""
    y, p, weight = cases
    level, position = np.unique(p, return_inverse=True)
    w = np.ones(len(y)) if weight is None else weight
    events = np.bincount(position, weights=w * y, minlength=len(level))
    non_events = np.bincount(position, weights=w * (1 - y), minlength=len(level))
    return level, events.astype(np.float64), non_events.astype(np.float64)
