"""Drift: tests whether a model or its data have changed since earlier audits, with few false alarms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import hypot, isfinite, isnan, nan
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.checks import check_inside, check_option, check_whole
from scorereport.configuration.audit_tables import METHODS
from scorereport.history.trend.drift_records import Drift, Snapshot, Trend
from scorereport.history.trend.drift_sentences import (
    MISCALIBRATION,
    describe_drift,
    explain_configuration,
    explain_new_models,
    explain_reference,
    explain_untested,
    find_drift_kind,
    find_drift_size,
)
from scorereport.history.trend.drift_tests import (
    Contrast,
    MeanEstimate,
    compare_means,
    find_error_distribution,
    limit_error_distribution,
    list_differences,
    spread_of_overfit,
)
from scorereport.history.trend.population_shift import (
    PopulationReference,
    compare_forecasts,
    compare_groups,
    compare_outcome,
    count_outcomes,
    find_number,
    make_drift,
)
from scorereport.history.trend.reference_audits import (
    allow_for_audits,
    choose_reference,
    find_spread_of_means,
    has_standard_errors,
    list_earlier,
    select_shown,
)
from scorereport.inference.components import FEW_EVENTS
from scorereport.inference.estimates import holm

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from scorereport.history.trend.drift_records import Number
    from scorereport.inference.mean_errors import ErrorDistribution

_MEANS = "difference of means, pooled by size, over the larger of two standard errors"
_COMPONENT = f"{_MEANS}, overfit-corrected by the estimate that makes the difference smaller"


def find_drift(
    current: Snapshot,
    past: Sequence[Snapshot],
    *,
    audits: int,
    alpha: float,
    looks: int,
    method: str = "tests",
    baseline: Sequence[Snapshot] = (),
    shifted: Collection[str] = (),
) -> Trend:
    """Compare an audit with earlier ones: main scores, miscalibration, prevalence and forecasts.

    Every number is compared with that of the reference audits pooled: earlier audits that share no day with
    each other or with this one. P-values are adjusted for all tests of this audit by Holm's method and
    multiplied by `looks`, so that the probability of any false alarm in `looks` audits in a row is at most
    `alpha`, whatever the dependence between the tests. Nothing is drawn at random.

    Parameters
    ----------
    current : the snapshot of this audit
    past : snapshots of other audits of the same name, in any order; later periods are left out
    audits : the largest number of earlier audits to compare with, and to show
    alpha : the probability of any false alarm in `looks` audits in a row
    looks : the number of audits in a row that `alpha` refers to
    method : "tests", or "evidence" to compare only the population: prevalence, forecasts and groups
    baseline : the snapshots of a sealed baseline, with which the population is compared instead
    shifted : periods whose population differs from that of the baseline; the variance between audits is that
        of the others
    """
    audits, looks = check_whole(audits, "audits", 1), check_whole(looks, "looks", 1)
    alpha = check_inside(alpha, "alpha", 0, 1, closed="neither")
    earlier = list_earlier(current, past)
    is_evidence = check_option(method, "method", METHODS) == "evidence"
    comparable = [snapshot for snapshot in earlier if _is_comparable(current, snapshot)]
    testable = (
        [snapshot for snapshot in comparable if has_standard_errors(snapshot)]
        if has_standard_errors(current)
        else []
    )
    reference = choose_reference(current, testable, audits)
    comparison = _Comparison(
        current=current,
        reference=reference,
        population=(
            _find_baseline_reference(
                current, [s for s in comparable if s.period.label not in shifted], audits, baseline
            )
            if baseline and is_evidence
            else PopulationReference(samples=reference)
        ),
        is_population_only=is_evidence,
    )
    drifts = _adjust(list(comparison.list_drifts()), alpha, looks)
    shown = comparison.shown
    reasons = explain_reference(current, earlier, comparable, is_tested=bool(shown))
    return Trend(
        snapshots=select_shown(current, earlier, audits),
        drifts=tuple(drifts),
        reference=tuple(snapshot.period.label for snapshot in shown),
        alpha=alpha,
        looks=looks,
        notes=(*reasons, *explain_configuration(current, shown), *comparison.notes()),
    )


def _find_baseline_reference(
    current: Snapshot, comparable: Sequence[Snapshot], audits: int, baseline: Sequence[Snapshot]
) -> PopulationReference:
    """Return the baseline, with the first audits of the history, whose variance is allowed for."""
    first = choose_reference(current, comparable, max(len(comparable), 1))[:audits]
    samples = [snapshot for snapshot in baseline if snapshot.labels == current.labels]
    return PopulationReference(samples=samples, others=first, is_baseline=True)


def _is_comparable(current: Snapshot, snapshot: Snapshot) -> bool:
    """Whether two audits have the same main score and the same classes."""
    return (snapshot.main_score, snapshot.labels) == (current.main_score, current.labels)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Comparison:
    """An audit, its reference audits, and the reference of its population, which may be a baseline."""

    current: Snapshot
    reference: Sequence[Snapshot]
    population: PopulationReference
    is_population_only: bool

    @property
    def shown(self) -> Sequence[Snapshot]:
        """The samples that the report names as the reference."""
        return self.population.samples if self.is_population_only else self.reference

    def list_drifts(self) -> Iterator[Drift]:
        """Yield all tests before their adjustment: first of the sample, then of each model."""
        models = dict.fromkeys(number.model for number in self.current.numbers if number.model)
        if self.is_population_only:
            yield from self._compare_population(models)
        elif self.reference:
            yield from compare_outcome(self.current, self.population)
            for model in models:
                for measure in (self.current.main_score, f"{self.current.main_score}_miscalibration"):
                    yield from self._compare_number(model, measure)
                yield from compare_forecasts(self.current, model, self.population)

    def _compare_population(self, models: Iterable[str]) -> Iterator[Drift]:
        if not self.population.samples:
            return
        found = [
            *compare_outcome(self.current, self.population),
            *compare_groups(self.current, self.population),
            *(drift for model in models for drift in compare_forecasts(self.current, model, self.population)),
        ]
        yield from (replace(drift, kind="population") for drift in found)

    def notes(self) -> Iterator[str]:
        """Yield a note on models that no reference audit has."""
        before = {model for snapshot in self.shown for model in _list_models(snapshot)}
        new = [model for model in _list_models(self.current) if model not in before]
        if new and self.shown:
            yield explain_new_models(new)

    def _find_error_distribution(self, before: Sequence[Snapshot]) -> ErrorDistribution:
        return find_error_distribution(self.current.clusters, [snapshot.clusters for snapshot in before])

    def _compare_number(self, model: str, measure: str) -> Iterator[Drift]:
        """Compare a mean score or a component of one model; yield nothing if no reference audit has it."""
        now = find_number(self.current, model, measure)
        before = [
            (s, number) for s in self.reference if (number := find_number(s, model, measure)) is not None
        ]
        if now is None or not before:
            return
        is_component = measure != self.current.main_score
        contrast, known = self._contrast(now, before, is_component=is_component)
        yield make_drift(
            _clip_components(contrast) if is_component else contrast,
            reference=replace(self.population, samples=known),
            model=model,
            measure=measure,
            label=now.label,
            method=_COMPONENT if is_component else _MEANS,
        )

    def _contrast(
        self, now: Number, before: Sequence[tuple[Snapshot, Number]], *, is_component: bool
    ) -> tuple[Contrast, list[Snapshot]]:
        """Compare a number with those of earlier audits that can be tested; also return these."""
        known = [(s, n) for s, n in before if _is_testable(s, n, is_component=is_component)]
        if not known or not _is_testable(self.current, now, is_component=is_component):
            return Contrast(value=now.corrected), []
        error_distribution = self._find_error_distribution([s for s, _ in known])
        if is_component:
            rarer = _count_rarer_outcome(self.current), sum(_count_rarer_outcome(s) for s, _ in known)
            error_distribution = limit_error_distribution(error_distribution, rarer)
        measured, present = [_estimate_mean(s, n) for s, n in known], _estimate_mean(self.current, now)
        contrast = compare_means(present, measured, error_distribution, level=self.current.level)
        between, ends = find_spread_of_means(measured), list_differences(present, measured)
        widened = allow_for_audits(contrast, between, ends, error_distribution, level=self.current.level)
        return widened, [s for s, _ in known]


def _list_models(snapshot: Snapshot) -> list[str]:
    named = [*(n.model for n in snapshot.numbers), *(d.model for d in snapshot.distributions)]
    return [model for model in dict.fromkeys(named) if model]


def _is_testable(snapshot: Snapshot, number: Number, *, is_component: bool) -> bool:
    """Whether a number has a standard error and, for a component, enough rows of the rarer outcome."""
    return isfinite(number.standard_error) and (
        not is_component or _count_rarer_outcome(snapshot) >= FEW_EVENTS
    )


def _count_rarer_outcome(snapshot: Snapshot) -> float:
    """Return the number of independent rows with an outcome other than the most frequent one."""
    return snapshot.size - float(count_outcomes(snapshot).max())


def _estimate_mean(snapshot: Snapshot, number: Number) -> MeanEstimate:
    """Subtract the overfit from a number, without cutting at 0: its mean would become too large."""
    overfit = max(number.overfit, number.overfit_closed)
    spread = spread_of_overfit(overfit, _count_rarer_outcome(snapshot)) if overfit > 0 else 0.0
    return MeanEstimate(
        value=number.value - number.overfit,
        other=number.value - number.overfit_closed,
        standard_error=hypot(number.standard_error, spread),
        size=snapshot.size,
    )


def _clip_components(contrast: Contrast) -> Contrast:
    """Cut components at 0, as they are shown; a component then falls by no more than its earlier value."""
    value, reference = max(contrast.value, 0.0), max(contrast.reference, 0.0)
    return replace(
        contrast,
        value=value,
        reference=reference,
        difference=value - reference,
        lower=max(contrast.lower, -reference),
        upper=max(contrast.upper, -reference),
    )


def _adjust(drifts: Sequence[Drift], alpha: float, looks: int) -> Iterator[Drift]:
    """Adjust by Holm over the tests of this audit, then by Bonferroni over the looks; add the sentences."""
    adjusted = np.minimum(looks * holm([drift.p_value for drift in drifts]), 1.0).tolist()
    scores = {drift.model: drift.reference for drift in drifts if find_drift_kind(drift.measure) == "score"}
    for drift, p in zip(drifts, adjusted, strict=True):
        note = explain_untested(drift.measure) if isnan(p) else ""
        judged = replace(drift, p_value_adjusted=p, has_drifted=p <= alpha, note=note)
        whole = (
            scores.get(drift.model, nan)
            if find_drift_kind(drift.measure) == MISCALIBRATION
            else drift.reference
        )
        sentence = " ".join(filter(None, (describe_drift(judged, whole), judged.caution)))
        yield replace(judged, size=find_drift_size(judged, whole), sentence=sentence)
