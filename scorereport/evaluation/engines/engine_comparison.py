"""Every pair of models from their digests: differences of scores, AUC and components, and ranks."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from scorereport.evaluation.engines.digest_scores import gain_of
from scorereport.evaluation.engines.jackknife import EFRON_TIBSHIRANI, AucSpread, spread_of_auc
from scorereport.inference.components import COMPONENTS, bound_difference, no_difference, overfit_difference
from scorereport.inference.differences import AUC
from scorereport.inference.estimates import Difference, adjust_by_holm
from scorereport.inference.mean_errors import wald_test
from scorereport.inference.ranks import rank_models
from scorereport.results.model_records import Comparisons

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scorereport._utils.arrays import FloatArray
    from scorereport.evaluation.engines.jackknife import LeaveOneOut
    from scorereport.evaluation.engines.scored_digests import ScoredDigest
    from scorereport.inference.components import BracketDifference
    from scorereport.inference.mean_errors import WaldTest

#: Two models of the same rows.
Pair = tuple["ScoredDigest", "ScoredDigest"]
_NOTHING_TO_TEST = "The models do equally well in every bucket: there is nothing to test."


def compare_digests(models: Sequence[ScoredDigest]) -> Comparisons:
    """All differences with intervals and tests, adjusted by Holm over the pairs, and ranks."""
    pairs = list(combinations(models, 2))
    if not pairs:
        return Comparisons()
    measures = range(len(models[0].measures))
    by_score = [adjust_by_holm([_compare_scores(pair, at) for pair in pairs]) for at in measures]
    by_auc = adjust_by_holm([_compare_aucs(pair) for pair in pairs])
    told = [difference for found in (*by_score, by_auc) for difference in found]
    components = [
        adjust_by_holm([_compare_components(pair, at, component) for pair in pairs])
        for at in measures
        for component in COMPONENTS
    ]
    return Comparisons(
        differences=(*told, *(difference for found in components for difference in found)),
        ranks=rank_models(told, alpha=1 - models[0].level),
    )


def _compare_scores(pair: Pair, at: int) -> Difference:
    first, second = pair
    means = first.means[at], second.means[at]
    measure = first.measures[at]
    value = means[0] - means[1]
    error = _paired_error(pair, lambda without: without.mean("score", at)) if np.isfinite(value) else np.nan
    test = wald_test(value, error, first.level, first.law)
    infinite = f"The {measure.label} is not finite, so that there is no test."
    return _difference(
        pair,
        measure.label,
        means,
        value,
        test,
        higher_is_better=measure.sign < 0,
        null_hypothesis=f"Both models have the same expected {measure.label}.",
        note=_describe_error(error, infinite if not np.isfinite(value) else ""),
    )


def _compare_aucs(pair: Pair) -> Difference:
    first, second = pair
    values = first.fit.auc, second.fit.auc
    value = values[0] - values[1]
    spread = AucSpread(np.nan, first.law)
    if np.isfinite(value):
        influence = first.buckets.auc_influence - second.buckets.auc_influence
        spread = spread_of_auc(influence, first.buckets.classes, first.auc_case)
    test = wald_test(value, spread.error, first.level, spread.distribution)
    return _difference(
        pair,
        AUC,
        values,
        value,
        test._replace(lower=_cut(test.lower), upper=_cut(test.upper)),
        higher_is_better=True,
        null_hypothesis="Both models have the same AUC.",
        note=_describe_error(spread.error, "" if np.isfinite(value) else "The AUC needs both outcomes."),
    )


def _compare_components(pair: Pair, at: int, component: str) -> Difference:
    first, second = pair
    values = gain_of(first, component, at), gain_of(second, component, at)
    label = first.measures[at].label
    return _difference(
        pair,
        f"{label} {component}",
        values,
        *_bracket(pair, at, component, values),
        higher_is_better=component == "discrimination",
        null_hypothesis=f"Both models have the same {component} ({label}).",
        method="raw value less the overfit of isotonic regression in closed form; ",
    )


def _bracket(
    pair: Pair, at: int, component: str, values: tuple[float, float]
) -> tuple[float, BracketDifference]:
    first, second = pair
    if not np.isfinite(values).all():
        bracket = no_difference(*values)
        return bracket.value, bracket
    worse = "score" if component == "miscalibration" else "constant"
    error = _paired_error(pair, lambda w: w.mean(worse, at) - w.mean("recalibrated", at))
    is_same = np.array_equal(first.buckets.recalibrated, second.buckets.recalibrated)
    overfits = (0.0, 0.0) if is_same else overfit_difference(first.overfit(at), second.overfit(at))
    bracket = bound_difference(
        values[0] - values[1],
        error,
        overfits,
        law=first.law,
        level=first.level,
        note=_describe_error(error),
    )
    return bracket.value, bracket


def _paired_error(pair: Pair, estimate: Callable[[LeaveOneOut], FloatArray]) -> float:
    """Standard error of the difference of what a function makes of the sums of either model."""
    first, second = pair
    other = second.buckets
    return first.buckets.error(lambda without: estimate(without) - estimate(other.without))


def _difference(
    pair: Pair,
    measure: str,
    values: tuple[float, float],
    value: float,
    test: WaldTest | BracketDifference,
    *,
    higher_is_better: bool,
    null_hypothesis: str,
    method: str = "",
    note: str = "",
) -> Difference:
    first, second = pair
    return Difference(
        first=first.name,
        second=second.name,
        measure=measure,
        first_value=values[0],
        second_value=values[1],
        value=value,
        standard_error=test.standard_error,
        lower=test.lower,
        upper=test.upper,
        statistic=test.statistic,
        p_value=test.p_value,
        level=first.level,
        higher_is_better=higher_is_better,
        null_hypothesis=null_hypothesis,
        method=f"{method}{first.method}, paired",
        reference=EFRON_TIBSHIRANI,
        n=first.fit.n,
        note=note or getattr(test, "note", ""),
    )


def _describe_error(error: float, note: str = "") -> str:
    if note:
        return note
    if np.isnan(error):
        return "One bucket cannot tell how much the difference varies."
    return "" if error > 0 else _NOTHING_TO_TEST


def _cut(bound: float) -> float:
    return float(np.clip(bound, -1, 1))
