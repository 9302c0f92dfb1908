"""Comparisons of models and of groups, from their digests."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.progress import parts, report_stage
from scorereport._utils.work_plan import Stage
from scorereport.evaluation.binary_measures import choose_measures
from scorereport.evaluation.engines.digest_plan import plan_group_digest
from scorereport.evaluation.engines.digest_scores import describe_digest_sample, gain_of, score_digest
from scorereport.evaluation.engines.jackknife import EFRON_TIBSHIRANI, AucSpread, spread_of_auc
from scorereport.evaluation.engines.scored_digests import ScoredDigest, bucket_units_of
from scorereport.evaluation.subgroups import (
    MOST_GROUPS_WITH_INTERVALS,
    GroupedResults,
    adjust_heterogeneity,
    compare_group_scores,
    warn_of_groups,
)
from scorereport.inference.components import COMPONENTS, bound_difference, no_difference, overfit_difference
from scorereport.inference.differences import AUC
from scorereport.inference.estimates import Difference, adjust_by_holm, rank_models
from scorereport.inference.mean_errors import wald_test
from scorereport.results.model_records import Comparisons, GroupResult, Heterogeneity, SampleSummary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from scorereport._utils.arrays import FloatArray
    from scorereport.evaluation.engines.jackknife import LeaveOneOut
    from scorereport.evaluation.engines.protocol import Engine, LabelCount
    from scorereport.inference.components import BracketDifference
    from scorereport.inference.mean_errors import WaldTest
    from scorereport.results.model_records import ModelScores
    from scorereport.results.settings import EvaluationSettings


#: Two models of the same rows.
Pair = tuple["ScoredDigest", "ScoredDigest"]
_NOTHING_TO_TEST = "The models do equally well in every bucket: there is nothing to test."


def compare_digests(models: Sequence[ScoredDigest]) -> Comparisons:
    """All differences between models, with intervals and tests adjusted by Holm over the pairs, and ranks."""
    pairs = list(combinations(models, 2))
    if not pairs:
        return Comparisons()
    measures = range(len(models[0].measures))
    by_score = [adjust_by_holm([_compare_scores(pair, at) for pair in pairs]) for at in measures]
    by_auc = adjust_by_holm([_compare_aucs(pair) for pair in pairs])
    differences = [difference for found in (*by_score, by_auc) for difference in found]
    components = [
        adjust_by_holm([_compare_components(pair, at, component) for pair in pairs])
        for at in measures
        for component in COMPONENTS
    ]
    return Comparisons(
        differences=(*differences, *(difference for found in components for difference in found)),
        ranks=rank_models(differences, alpha=1 - models[0].level),
    )


def _compare_scores(pair: Pair, at: int) -> Difference:
    first, second = pair
    means = first.means[at], second.means[at]
    measure = first.measures[at]
    value = means[0] - means[1]
    error = _paired_error(pair, lambda without: without.mean("score", at)) if np.isfinite(value) else np.nan
    test = wald_test(value, error, first.level, first.error_distribution)
    infinite = f"The {measure.label} is not finite, so there is no test."
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
    spread = AucSpread(np.nan, first.error_distribution)
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
        distribution=first.error_distribution,
        level=first.level,
        note=_describe_error(error),
    )
    return bracket.value, bracket


def _paired_error(pair: Pair, estimate: Callable[[LeaveOneOut], FloatArray]) -> float:
    """Standard error of the difference between two models in an estimate computed from their sums."""
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
        n=float(first.fit.n),
        note=note or getattr(test, "note", ""),
    )


def _describe_error(error: float, note: str = "") -> str:
    if note:
        return note
    if np.isnan(error):
        return "One bucket does not show how much the difference varies."
    return "" if error > 0 else _NOTHING_TO_TEST


def _cut(bound: float) -> float:
    return float(np.clip(bound, -1, 1))


def evaluate_digested_groups(engine: Engine, settings: EvaluationSettings) -> GroupedResults:
    """The results of each group of each column, and of each period of the time column."""
    survey = engine.survey
    columns = len(survey.groups) + bool(survey.windows)
    if columns:
        report_stage(Stage.GROUPS)
    by_column = {
        column: _evaluate_column(engine, column, labels, settings)
        for column, labels in parts(survey.groups.items(), columns)
    }
    if not survey.windows:
        return GroupedResults(by_column=by_column)
    windows = _evaluate_column(engine, survey.time_name, survey.windows, settings)
    return GroupedResults(by_column=by_column, windows=windows)


def _evaluate_column(
    engine: Engine, column: str, labels: Sequence[LabelCount], settings: EvaluationSettings
) -> tuple[GroupResult, ...]:
    infers = settings.infers and len(labels) <= MOST_GROUPS_WITH_INTERVALS
    measures = choose_measures(settings)
    plans = {
        label.code: plan_group_digest(engine.survey, label, measures, infers=infers)
        for label in labels
        if label.rows >= settings.smallest_group
    }
    scored: dict[int, list[ModelScores]] = {code: [] for code in plans}
    samples: dict[int, SampleSummary] = {}
    by_code = {label.code: label for label in labels}
    for model in engine.survey.models if plans else ():
        halves = engine.survey.halves.get(model, 0)
        for code, digest in engine.digest_groups(model, column, plans).items():
            units = bucket_units_of(engine.survey, by_code[code])
            group = ScoredDigest(
                name=model, digest=digest, measures=measures, units=units, level=settings.level
            )
            scored[code].append(score_digest(group, infers=infers, halves=halves))
            samples[code] = describe_digest_sample(group, by_code[code].rows, infers=infers)
    small = f"Fewer than {settings.smallest_group} rows: counted, not scored."
    return tuple(
        GroupResult(
            column=column,
            label=label.label,
            sample=samples.get(label.code) or _count_label(label),
            models=tuple(scored.get(label.code, ())),
            note="" if label.code in plans else small,
        )
        for label in labels
    )


def _count_label(label: LabelCount) -> SampleSummary:
    return SampleSummary(rows=label.rows, total=float(label.total), events=float(label.events))


def compare_digested_groups(groups: GroupedResults, *, clustered: bool) -> tuple[Heterogeneity, ...]:
    """Tests of whether each model has the same scores in all groups of a column."""
    return tuple(
        found
        for column, of_column in groups.by_column.items()
        for found in adjust_heterogeneity(list(_compare_column(column, of_column, clustered=clustered)))
    )


def _compare_column(
    column: str, groups: Sequence[GroupResult], *, clustered: bool
) -> Iterator[Heterogeneity]:
    scored = [group for group in groups if group.models and group.models[0].scores[0].interval is not None]
    if len(scored) < 2:
        return
    for place, model in enumerate(scored[0].models):
        tests = compare_group_scores(scored, place, warn_of_groups(scored), clustered=clustered)
        yield from (Heterogeneity(column=column, model=model.model, test=test) for test in tests)
