"""The scores of a model from its digest: means, decompositions, AUC, and intervals by bucket."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from scorereport.evaluation.engines.jackknife import leave_one_out_skills, spread_of_auc
from scorereport.evaluation.engines.rare_case_intervals import (
    binomial_error,
    count_independent_cases,
    find_share,
    widen_score_interval,
    widen_skill_interval,
)
from scorereport.evaluation.sample_summary import with_prevalence
from scorereport.inference.component_tests import is_miscalibrated
from scorereport.inference.components import (
    COMPONENTS,
    bound_component,
    reach_on_root_scale,
    warn_of_few_events,
)
from scorereport.inference.delong import score_bounds
from scorereport.inference.few_values import MOST_VALUES, allow_for_few_values, tabulate_values
from scorereport.inference.rates import interval_of_rate
from scorereport.results.model_records import IndependentCases, ModelScores, SampleSummary, ScoreValue

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.evaluation.engines.scored_digests import ScoredDigest
    from scorereport.inference.estimates import ComponentEstimate, Estimate, HypothesisTest
    from scorereport.inference.few_values import FewValues


def score_digest(
    model: ScoredDigest,
    *,
    infers: bool,
    halves: int,
    lines_reject: bool = False,
    tests: Sequence[HypothesisTest] = (),
) -> ModelScores:
    """All scores of a model with their decompositions and AUC; with intervals if `infers`.

    `halves` counts forecasts of exactly 1/2, each of which is half an error for misclassification. Intervals
    of miscalibration start at 0 unless a test has rejected calibration: the test of the measure or, without
    `tests`, those of the calibration line.
    """
    shown = [is_miscalibrated(test, model.level) for test in tests] or [lines_reject] * len(model.measures)
    parts = [model.decompose(at) for at in range(len(model.measures))]
    values = [ScoreValue(name=part.name, value=part.score, skill=part.skill) for part in parts]
    auc = ScoreValue(name="roc_auc", value=model.fit.auc, skill=2 * model.fit.auc - 1)
    if infers:
        values = [_with_intervals(model, value, at, halves) for at, value in enumerate(values)]
        auc = _with_auc_interval(model, auc)
    return ModelScores(
        model=model.name,
        scores=(*values, auc),
        decompositions=tuple(parts),
        components=tuple(_bound_components(model, shown)) if infers else (),
        miscalibration_tests=tuple(tests),
    )


def _with_intervals(model: ScoredDigest, value: ScoreValue, at: int, halves: int) -> ScoreValue:
    buckets = model.buckets
    error = buckets.error(lambda without: without.mean("score", at))
    skill_error = buckets.error(lambda without: leave_one_out_skills(without, model.measures, at))
    interval = widen_score_interval(model, model.estimate(value.name, value.value, error), at)
    if value.name == "misclassification" and halves == 0:
        own = binomial_error(value.value, model.fit.n) if model.units.are_independent else error
        interval = bound_rate(model, value.name, value.value, own)
    skill = widen_skill_interval(model, model.estimate(f"{value.name} skill", value.skill, skill_error), at)
    few = warn_of_few_events(*model.counts, are_effective=not model.units.are_repeated_rows)
    return replace(value, interval=interval, skill_interval=replace(skill, note=skill.note or few))


def _with_auc_interval(model: ScoredDigest, value: ScoreValue) -> ScoreValue:
    interval = _bound_auc(model, value.value)
    skill = replace(
        interval,
        measure="roc_auc skill",
        value=value.skill,
        standard_error=2 * interval.standard_error,
        lower=2 * interval.lower - 1,
        upper=2 * interval.upper - 1,
    )
    return replace(value, interval=interval, skill_interval=skill)


def _bound_auc(model: ScoredDigest, auc: float) -> Estimate:
    """The score interval of the AUC; Newcombe's if buckets do not show how much the AUC varies."""
    if not np.isfinite(auc):
        return model.estimate("roc_auc", auc, np.nan, "The AUC needs both outcomes.")
    buckets = model.buckets
    error, distribution = spread_of_auc(buckets.auc_influence, buckets.classes, model.auc_case)
    is_seen = 0 < auc < 1 and error > 0
    clusters = None if is_seen or not model.units.clustered else model.clusters
    cases = model.counts if clusters is None else (clusters.events, clusters.non_events)
    freedom = distribution.degrees_of_freedom if is_seen or model.units.clustered else np.inf
    bounds = score_bounds(auc, cases, model.level, error if is_seen else None, freedom)
    note = "" if is_seen else "The buckets do not show how much the AUC varies: bounds after Newcombe."
    return replace(
        model.estimate("roc_auc", auc, error, note),
        lower=bounds[0],
        upper=bounds[1],
        method=f"{model.method}, score interval of Newcombe's shape",
        degrees_of_freedom=freedom if np.isfinite(freedom) else None,
    )


def bound_rate(model: ScoredDigest, measure: str, rate: float, error: float) -> Estimate:
    """The interval of a rate: Wilson's for independent cases, else on log-odds with the jackknife error."""
    quantile = model.error_distribution.critical_value(model.level)
    method, (lower, upper) = interval_of_rate(
        rate,
        model.cases,
        model.level,
        None if model.units.are_independent else quantile * error,
    )
    return replace(
        model.estimate(measure, rate, error),
        lower=lower,
        upper=upper,
        method=method if model.units.are_independent else f"{method}, {model.method}",
    )


def _bound_components(model: ScoredDigest, shown: Sequence[bool]) -> Iterator[ComponentEstimate]:
    """`shown` states for each measure whether a test has rejected calibration."""
    few, measures = _find_few_values(model), {measure.label: measure for measure in model.measures}
    is_shown = dict(zip(measures, shown, strict=True))
    for bracket in _bracket_components(model):
        bound = bracket
        if model.units.clustered and bound.component == "miscalibration":
            reach = model.error_distribution.critical_value(model.level) * bound.standard_error
            bound = reach_on_root_scale(bound, reach)
        starts_at_0 = bound.component == "miscalibration" and not is_shown[bound.measure]
        cut = replace(bound, lower=0.0) if starts_at_0 and np.isfinite(bound.lower) else bound
        yield allow_for_few_values(cut, few, measures[bound.measure])


def _find_few_values(model: ScoredDigest) -> FewValues | None:
    """The distinct forecasts if they are few, each with its share of the independent cases."""
    distinct = model.digest.distinct
    if distinct is None or len(distinct) > MOST_VALUES:
        return None
    n = distinct.n.astype(np.float64)
    cases = count_independent_cases(model, *find_share(model))
    return tabulate_values(distinct, n * (cases / n.sum()))


def _bracket_components(model: ScoredDigest) -> list[ComponentEstimate]:
    note = warn_of_few_events(*model.counts, are_effective=not model.units.are_repeated_rows)
    quantile = model.error_distribution.critical_value(model.level)
    return [
        bound_component(
            model.measures[at].label,
            component,
            raw=gain_of(model, component, at),
            error=gain_error(model, component, at),
            overfit=model.overfit(at),
            quantile=quantile,
            level=model.level,
            n=float(model.fit.n),
            method=f"raw value less the overfit of isotonic regression in closed form; {model.method}",
            note=note,
        )
        for at in range(len(model.measures))
        for component in COMPONENTS
    ]


def gain_of(model: ScoredDigest, component: str, at: int) -> float:
    """A raw component of the score: the gain of recalibration over the forecasts or over the prevalence."""
    part = model.decompose(at)
    return part.miscalibration if component == "miscalibration" else part.discrimination


def gain_error(model: ScoredDigest, component: str, at: int) -> float:
    """The standard error of a raw component, with the fit and the prevalence held fixed."""
    worse = "score" if component == "miscalibration" else "constant"
    if not np.isfinite(gain_of(model, component, at)):
        return np.nan
    return model.buckets.error(lambda without: without.mean(worse, at) - without.mean("recalibrated", at))


def describe_digest_sample(model: ScoredDigest, rows: int, *, infers: bool) -> SampleSummary:
    """Rows, cases and events of a sample, with intervals of its prevalence and of each uncertainty."""
    fit = model.fit
    sample = SampleSummary(
        rows=rows,
        total=float(fit.n),
        events=float(fit.events),
        independent=_count_independent(model),
    )
    if not infers:
        return sample
    prevalence = bound_rate(model, "prevalence", sample.prevalence, find_share(model)[1])
    return with_prevalence(sample, prevalence, model.measures)


def _count_independent(model: ScoredDigest) -> IndependentCases:
    """Numbers of independent cases by outcome: rows, Kish's number of rows, or effective clusters."""
    if model.units.clustered:
        return model.clusters
    events, others = model.counts
    return IndependentCases(unit="row", total=model.cases, events=events, non_events=others)
