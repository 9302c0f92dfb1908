"""The scores of a model from its digest: means, decompositions, AUC, and intervals by bucket."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from scorereport.clusters import effective_number
from scorereport.engines.digest import OUTCOME_SUMS
from scorereport.engines.jackknife import skills_without, spread_of_auc
from scorereport.inference.components import (
    COMPONENTS,
    ComponentEstimate,
    bound_component,
    warn_of_few_events,
)
from scorereport.inference.delong import score_bounds
from scorereport.inference.few_values import MOST_VALUES, allow_for_few_values, tabulate_values
from scorereport.inference.rare_cases import (
    FEW_CASES,
    WIDENED,
    bound_mean,
    clip_to_range,
    effective_cases,
    split_cases,
    widen,
)
from scorereport.inference.rates import interval_of_rate
from scorereport.results import IndependentCases, ModelScores, SampleSummary, ScoreValue
from scorereport.uncertainty import with_prevalence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.arrays import FloatArray
    from scorereport.engines.scored import ScoredDigest
    from scorereport.inference.few_values import FewValues
    from scorereport.inference.outcomes import Estimate
    from scorereport.inference.rare_cases import Split


def score_digest(
    model: ScoredDigest, *, infers: bool, halves: int, is_miscalibrated: bool = False
) -> ModelScores:
    """All scores of a model with their decompositions and AUC; with intervals if they are asked for.

    `halves` counts forecasts of exactly 1/2, of which misclassification takes half an error. Intervals of
    miscalibration start at 0 unless a test has shown that there is some.
    """
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
        components=tuple(_bound_components(model, is_miscalibrated=is_miscalibrated)) if infers else (),
    )


def _with_intervals(model: ScoredDigest, value: ScoreValue, at: int, halves: int) -> ScoreValue:
    buckets = model.buckets
    error = buckets.error(lambda without: without.mean("score", at))
    skill_error = buckets.error(lambda without: skills_without(without, model.measures, at))
    interval = _allow_for_rare(model, model.estimate(value.name, value.value, error), at)
    if value.name == "misclassification" and halves == 0:
        own = binomial_error(value.value, model.fit.n) if model.units.are_independent else error
        interval = bound_rate(model, value.name, value.value, own)
    skill = model.estimate(f"{value.name} skill", value.skill, skill_error)
    few = warn_of_few_events(*model.counts)
    return replace(value, interval=interval, skill_interval=replace(skill, note=skill.note or few))


def _allow_for_rare(model: ScoredDigest, interval: Estimate, at: int) -> Estimate:
    """An interval that allows for events, or non-events, that did not happen: `inference.rare_cases`."""
    if not len(model.digest.outcome_sums) or not np.isfinite(interval.lower + interval.upper):
        return interval
    quantile = model.buckets.law.critical_value(model.level)
    asked = bound_mean(
        interval.value,
        interval.standard_error,
        [_split_by_outcome(model, at)],
        quantile=quantile,
        level=model.level,
    )
    lower, upper = widen((interval.lower, interval.upper), clip_to_range(asked, model.measures[at]))
    if (lower, upper) == (interval.lower, interval.upper):
        return interval
    return replace(interval, lower=lower, upper=upper, method=f"{interval.method}, {WIDENED}")


def _split_by_outcome(model: ScoredDigest, at: int) -> Split:
    sums = dict(zip(OUTCOME_SUMS, model.digest.outcome_sums[:, at].tolist(), strict=True))
    n, events = float(model.fit.n), float(model.fit.events)
    share, error = events / n, prevalence_error(model)
    others = model.means[at] * n - sums["of_events"]
    as_event, as_other = (
        sums[name] / sums[finite] if sums[finite] > 0 else np.inf
        for name, finite in (("as_event", "finite_events"), ("as_other", "finite_others"))
    )
    return split_cases(
        share=share,
        share_error=error,
        cases=_count_cases(model, share, error),
        means=(sums["of_events"] / events if events else 0.0, others / (n - events) if events < n else 0.0),
        typical=(as_event, as_other),
    )


def _count_cases(model: ScoredDigest, share: float, error: float) -> float:
    """The independent cases behind a share; where all are alike, buckets of clusters count as one each."""
    kish = float(model.fit.n) / model.units.case_weight
    if model.units.are_independent:
        return kish
    buckets = model.buckets
    return effective_cases(
        share,
        error,
        most=kish,
        alike=min(kish, len(buckets.n)) if model.units.clustered else kish,
        quantile=buckets.law.critical_value(model.level),
        level=model.level,
    )


def prevalence_error(model: ScoredDigest) -> float:
    """The standard error of the prevalence: binomial for independent cases, else over buckets."""
    if model.units.are_independent:
        return binomial_error(model.fit.prevalence, model.fit.n)
    return model.buckets.error(lambda without: without.prevalence)


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
    """The score interval of the AUC; where buckets do not show how much it varies, Newcombe's."""
    if not np.isfinite(auc):
        return model.estimate("roc_auc", auc, np.nan, "The AUC needs both outcomes.")
    buckets = model.buckets
    error, distribution = spread_of_auc(buckets.auc_influence, buckets.holds, model.auc_law)
    is_seen = 0 < auc < 1 and error > 0
    events, others = buckets.events, buckets.n - buckets.events
    if is_seen or not model.units.clustered:
        cases = tuple(float(of_class.sum()) / model.units.case_weight for of_class in (events, others))
    else:
        cases = effective_number(events), effective_number(others)
    freedom = distribution.degrees_of_freedom if is_seen or model.units.clustered else np.inf
    bounds = score_bounds(auc, (cases[0], cases[1]), model.level, error if is_seen else None, freedom)
    note = "" if is_seen else "The buckets do not show how much the AUC varies: bounds after Newcombe."
    return replace(
        model.estimate("roc_auc", auc, error, note),
        lower=bounds[0],
        upper=bounds[1],
        method=f"{model.method}, score interval of Newcombe's shape",
        degrees_of_freedom=freedom if np.isfinite(freedom) else None,
    )


def binomial_error(rate: float, n: float) -> float:
    """Standard error of a rate among n independent cases; NaN for one."""
    return float(np.sqrt(rate * (1 - rate) / (n - 1))) if n > 1 else np.nan


def bound_rate(model: ScoredDigest, measure: str, rate: float, error: float) -> Estimate:
    """The interval of a rate: Wilson's for independent cases, else on log-odds with the jackknife's error."""
    quantile = model.law.critical_value(model.level)
    method, (lower, upper) = interval_of_rate(
        rate,
        model.fit.n / model.units.case_weight,
        model.level,
        None if model.units.are_independent else quantile * error,
    )
    return replace(
        model.estimate(measure, rate, error),
        lower=lower,
        upper=upper,
        method=method if model.units.are_independent else f"{method}, {model.method}",
    )


def _bound_components(model: ScoredDigest, *, is_miscalibrated: bool) -> Iterator[ComponentEstimate]:
    few, measures = _find_few_values(model), {measure.label: measure for measure in model.measures}
    for bound in _bracket_components(model):
        starts_at_0 = bound.component == "miscalibration" and not is_miscalibrated
        cut = replace(bound, lower=0.0) if starts_at_0 and np.isfinite(bound.lower) else bound
        yield allow_for_few_values(cut, few, measures[bound.measure])


def _find_few_values(model: ScoredDigest) -> FewValues | None:
    """The distinct forecasts if they are few; each has its part of the independent cases."""
    distinct = model.digest.distinct
    if distinct is None or len(distinct) > MOST_VALUES:
        return None
    n = distinct.n.astype(np.float64)
    cases = _count_cases(model, model.fit.prevalence, prevalence_error(model))
    return tabulate_values(distinct, n * (cases / n.sum()))


def _bracket_components(model: ScoredDigest) -> list[ComponentEstimate]:
    note = warn_of_few_events(*model.counts)
    law = model.law
    return [
        bound_component(
            model.measures[at].label,
            component,
            raw=gain_of(model, component, at),
            error=gain_error(model, component, at),
            overfit=model.overfit(at),
            quantile=law.critical_value(model.level),
            level=model.level,
            n=model.fit.n,
            method=f"raw value less the overfit of isotonic regression in closed form; {model.method}",
            note=note,
        )
        for at in range(len(model.measures))
        for component in COMPONENTS
    ]


def gain_of(model: ScoredDigest, component: str, at: int) -> float:
    """A raw component: what recalibration gains, over the forecast or over the prevalence."""
    part = model.decompose(at)
    return part.miscalibration if component == "miscalibration" else part.discrimination


def gain_error(model: ScoredDigest, component: str, at: int) -> float:
    """Its standard error, with the fit and the prevalence held."""
    worse = "score" if component == "miscalibration" else "constant"
    if not np.isfinite(gain_of(model, component, at)):
        return np.nan
    return model.buckets.error(lambda without: without.mean(worse, at) - without.mean("recalibrated", at))


def describe_sample(model: ScoredDigest, rows: int, *, infers: bool) -> SampleSummary:
    """Rows, cases and events of a sample; the interval of its prevalence, and of each uncertainty."""
    fit = model.fit
    sample = SampleSummary(
        rows=rows,
        total=float(fit.n),
        events=float(fit.events),
        independent=_count_independent(model, infers=infers),
    )
    if not infers:
        return sample
    prevalence = bound_rate(model, "prevalence", sample.prevalence, prevalence_error(model))
    return with_prevalence(sample, prevalence, model.measures)


def _count_independent(model: ScoredDigest, *, infers: bool) -> IndependentCases | None:
    """Independent cases with either outcome: rows or, of clusters and weighted rows, what buckets tell.

    Clusters of a bucket count as one, so that no number is too large. Without buckets nothing is known of
    clusters.
    """
    n, events = float(model.fit.n), float(model.fit.events)
    weighted = n / model.units.case_weight, events / model.units.case_weight
    if not infers or model.units.are_independent:
        cases = IndependentCases(
            unit="row", total=weighted[0], events=weighted[1], non_events=weighted[0] - weighted[1]
        )
        return None if model.units.clustered else cases
    buckets = model.buckets
    if model.units.clustered:
        with_event, without = buckets.holds.sum(axis=1).tolist()
        return IndependentCases(
            unit="cluster", total=float(len(buckets.n)), events=float(with_event), non_events=float(without)
        )
    return IndependentCases(
        unit="row",
        total=weighted[0],
        events=_kish_of_buckets(buckets.events, weighted[1]),
        non_events=_kish_of_buckets(buckets.n - buckets.events, weighted[0] - weighted[1]),
    )


def _kish_of_buckets(sums: FloatArray, cases: float) -> float:
    """Kish's number of weighted rows of a kind: where they are few, that of their buckets."""
    squares = float((sums**2).sum())
    by_bucket = float(sums.sum() ** 2 / squares) if squares > 0 else 0.0
    return by_bucket if by_bucket < FEW_CASES else cases
