"""The scores of a model from its digest: means, decompositions, AUC, and intervals by bucket."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from scorereport.clusters import effective_number
from scorereport.engines.digest import SUMS, Digest, Knots
from scorereport.engines.jackknife import Buckets, skills_without, spread_of_auc, sum_by_bucket
from scorereport.engines.marks import case_weight
from scorereport.engines.views import DigestedFit
from scorereport.formatting import counted
from scorereport.inference.components import (
    COMPONENTS,
    ComponentEstimate,
    bound_component,
    warn_of_few_events,
)
from scorereport.inference.delong import score_bounds
from scorereport.inference.mean_errors import describe_few_clusters
from scorereport.inference.measures import Measure
from scorereport.inference.outcomes import Estimate
from scorereport.inference.overfit import closed_overfit
from scorereport.inference.rates import interval_of_rate
from scorereport.reliability.decomposition import Decomposition, decompose_mean
from scorereport.results import ModelScores, SampleSummary, ScoreValue
from scorereport.uncertainty import with_prevalence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.engines.records import LabelCount, Survey
    from scorereport.inference.mean_errors import NormalOrT
    from scorereport.inference.overfit import Overfit


@dataclass(frozen=True, kw_only=True, eq=False)
class Units:
    """What was dealt out to buckets: rows or clusters, what a case weighs, whether weights are counts."""

    clustered: bool
    counted: bool
    case_weight: float

    @property
    def are_independent(self) -> bool:
        """Whether each case was drawn by itself."""
        return self.counted and not self.clustered

    @property
    def what(self) -> str:
        """What is dealt out, in a word."""
        return "clusters" if self.clustered else "rows"


def units_of(survey: Survey, counts: Survey | LabelCount) -> Units:
    """How the rows of a survey, or those of a label of it, were drawn."""
    return Units(
        clustered=survey.clusters is not None, counted=survey.counted, case_weight=case_weight(counts)
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoredDigest:
    """A model on one sample: its digest as a fit, and the measures it was scored by."""

    name: str
    digest: Digest
    measures: list[Measure]
    units: Units
    level: float
    late: Knots | None = None  # counted in a scan after the fit

    @cached_property
    def fit(self) -> DigestedFit:
        """The digest as a fit."""
        return DigestedFit(digest=self.digest, late=self.late)

    @cached_property
    def buckets(self) -> Buckets:
        """Sums by bucket."""
        return sum_by_bucket(self.digest, self.measures)

    @cached_property
    def law(self) -> NormalOrT:
        """The law of an estimate over its jackknife error."""
        buckets, units = self.buckets, self.units
        return buckets.law_over_clusters(units.case_weight) if units.clustered else buckets.law

    @property
    def warning(self) -> str:
        """A warning where buckets of clusters count as few; empty otherwise."""
        if not self.units.clustered:
            return ""
        return describe_few_clusters(len(self.buckets.n), self.effective_buckets)

    @property
    def effective_buckets(self) -> float:
        """As many buckets of equal weight would say as much as those that there are."""
        return effective_number(self.buckets.n)

    @property
    def auc_law(self) -> NormalOrT | None:
        """The same of an AUC; None where its classes were drawn apart."""
        return None if self.units.are_independent else self.law

    @property
    def method(self) -> str:
        """How intervals are made."""
        return f"grouped jackknife, {counted(len(self.buckets.n), 'bucket')} of {self.units.what}"

    @cached_property
    def means(self) -> list[float]:
        """The mean of each score."""
        return [float(total / self.fit.n) for total in self.digest.sums[len(SUMS) :]]

    def overfit(self, at: int) -> Overfit:
        """The overfit of the fit under one measure, in closed form."""
        return closed_overfit(self.digest.blocks, self.measures[at], self.units.case_weight)

    def decompose(self, at: int) -> Decomposition:
        """The decomposition of the mean of one score."""
        measure = self.measures[at]
        return decompose_mean(
            measure.name,
            measure.score,
            self.means[at],
            self.digest.blocks,
            infinite_cases=float(self.digest.infinite[at]),
            higher_is_better=measure.sign < 0,
        )

    def estimate(self, measure: str, value: float, error: float, note: str = "") -> Estimate:
        """A number with the interval that its error gives."""
        reach = self.law.critical_value(self.level) * error
        why = "" if np.isfinite(value) else "The score is infinite: there is no interval."
        if np.isfinite(value) and np.isnan(error):
            why = "Without some bucket it is not defined: there is no interval."
        return Estimate(
            measure=measure,
            value=value,
            standard_error=error,
            lower=value - reach,
            upper=value + reach,
            level=self.level,
            method=self.method,
            n=float(self.fit.n),
            degrees_of_freedom=self.law.degrees_of_freedom,
            note=note or why or self.warning,
        )


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
    interval = model.estimate(value.name, value.value, error)
    if value.name == "misclassification" and halves == 0:
        own = binomial_error(value.value, model.fit.n) if model.units.are_independent else error
        interval = bound_rate(model, value.name, value.value, own)
    skill = model.estimate(f"{value.name} skill", value.skill, skill_error)
    return replace(value, interval=interval, skill_interval=skill)


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
    for bound in _bracket_components(model):
        starts_at_0 = bound.component == "miscalibration" and not is_miscalibrated
        yield replace(bound, lower=0.0) if starts_at_0 and np.isfinite(bound.lower) else bound


def _bracket_components(model: ScoredDigest) -> list[ComponentEstimate]:
    note = warn_of_few_events(model.fit.events, model.fit.n, model.units.case_weight)
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
    sample = SampleSummary(rows=rows, total=float(fit.n), events=float(fit.events))
    if not infers:
        return sample
    error = model.buckets.error(lambda without: without.prevalence)
    if model.units.are_independent:
        error = binomial_error(sample.prevalence, fit.n)
    prevalence = bound_rate(model, "prevalence", sample.prevalence, error)
    return with_prevalence(sample, prevalence, model.measures)
