"""Drift: tests whether a model or its data have changed since earlier audits, with few false alarms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import hypot, isfinite, isnan, nan
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.checks import check_inside, check_whole
from scorereport._utils.rounding import first_lowest
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
    compare_shares,
    find_error_distribution,
    group_bins,
    homogeneity_test,
    limit_error_distribution,
    list_differences,
    spread_of_overfit,
    stability_index_interval,
)
from scorereport.history.trend.reference_audits import (
    ENOUGH_AUDITS,
    allow_for_audits,
    allow_for_shifts,
    choose_reference,
    explain_few_audits,
    find_audit_spread,
    find_spread_of_means,
    has_standard_errors,
    list_earlier,
    select_shown,
)
from scorereport.inference.components import FEW_EVENTS
from scorereport.inference.estimates import holm
from scorereport.inference.population_stability import stability_index
from scorereport.results.tallies import EDGES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport._utils.arrays import FloatArray
    from scorereport.history.trend.drift_records import Distribution, Number
    from scorereport.inference.mean_errors import ErrorDistribution

_MEANS = "difference of means, pooled by size, over the larger of two standard errors"
_COMPONENT = f"{_MEANS}, overfit-corrected by the estimate that makes the difference smaller"
_SHARES = "chi-square test of homogeneity, the smaller of Pearson's statistic and the likelihood ratio"


def find_drift(
    current: Snapshot, past: Sequence[Snapshot], *, audits: int, alpha: float, looks: int
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
    """
    audits, looks = check_whole(audits, "audits", 1), check_whole(looks, "looks", 1)
    alpha = check_inside(alpha, "alpha", 0, 1, closed="neither")
    earlier = list_earlier(current, past)
    comparable = [snapshot for snapshot in earlier if _is_comparable(current, snapshot)]
    testable = (
        [snapshot for snapshot in comparable if has_standard_errors(snapshot)]
        if has_standard_errors(current)
        else []
    )
    reference = choose_reference(current, testable, audits)
    comparison = _Comparison(current=current, reference=reference)
    drifts = _adjust(list(comparison.list_drifts()) if reference else [], alpha, looks)
    reasons = explain_reference(current, earlier, comparable, is_tested=bool(reference))
    return Trend(
        snapshots=select_shown(current, earlier, audits),
        drifts=tuple(drifts),
        reference=tuple(snapshot.period.label for snapshot in reference),
        alpha=alpha,
        looks=looks,
        notes=(*reasons, *explain_configuration(current, reference), *comparison.notes()),
    )


def _is_comparable(current: Snapshot, snapshot: Snapshot) -> bool:
    """Whether two audits have the same main score and the same classes."""
    return (snapshot.main_score, snapshot.labels) == (current.main_score, current.labels)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Comparison:
    """An audit and its reference audits."""

    current: Snapshot
    reference: Sequence[Snapshot]

    def list_drifts(self) -> Iterator[Drift]:
        """Yield all tests before their adjustment: first of the sample, then of each model."""
        yield from self._compare_outcome()
        for model in dict.fromkeys(number.model for number in self.current.numbers if number.model):
            for measure in (self.current.main_score, f"{self.current.main_score}_miscalibration"):
                yield from self._compare_number(model, measure)
            yield from self._compare_forecasts(model)

    def notes(self) -> Iterator[str]:
        """Yield a note on models that no reference audit has."""
        now, before = (
            list(dict.fromkeys(number.model for s in snapshots for number in s.numbers if number.model))
            for snapshots in ([self.current], self.reference)
        )
        new = [model for model in now if model not in before]
        if new and self.reference:
            yield explain_new_models(new)

    def _find_error_distribution(self, before: Sequence[Snapshot]) -> ErrorDistribution:
        return find_error_distribution(self.current.clusters, [snapshot.clusters for snapshot in before])

    def _compare_outcome(self) -> Iterator[Drift]:
        """Compare the prevalence, or the shares of the classes, of which the most changed one is shown."""
        error_distribution, labels = self._find_error_distribution(self.reference), self.current.labels
        now = _count_outcomes(self.current)
        pooled = np.sum([_count_outcomes(s) for s in self.reference], axis=0)
        contrasts = compare_shares(now, pooled, error_distribution, level=self.current.level)
        most = _most_changed(contrasts) if labels else 0
        yield _make_drift(
            self._allow_for_shares(contrasts[most], error_distribution),
            audits=len(self.reference),
            measure="prevalence",
            label=f"share of “{labels[most]}”" if labels else "prevalence",
            method=_SHARES,
        )

    def _allow_for_shares(self, contrast: Contrast, error_distribution: ErrorDistribution) -> Contrast:
        """Allow for the variance of the prevalence, or of the shares of the classes, between audits."""
        before = [_count_outcomes(snapshot) for snapshot in self.reference]
        if self.current.labels:
            now = _count_outcomes(self.current)
            chi_square, _ = homogeneity_test(now, np.sum(before, axis=0), error_distribution)
            return allow_for_shifts(contrast, chi_square, now, before, error_distribution)
        shares, sizes = [c[0] / c.sum() for c in before], [float(c.sum()) for c in before]
        between, ends = find_audit_spread(shares, sizes), (contrast.difference, contrast.difference)
        return allow_for_audits(contrast, between, ends, error_distribution, level=self.current.level)

    def _compare_number(self, model: str, measure: str) -> Iterator[Drift]:
        """Compare a mean score or a component of one model; yield nothing if no reference audit has it."""
        now = _find_number(self.current, model, measure)
        before = [
            (s, number) for s in self.reference if (number := _find_number(s, model, measure)) is not None
        ]
        if now is None or not before:
            return
        is_component = measure != self.current.main_score
        contrast, audits = self._contrast(now, before, is_component=is_component)
        yield _make_drift(
            _clip_components(contrast) if is_component else contrast,
            audits=audits,
            model=model,
            measure=measure,
            label=now.label,
            method=_COMPONENT if is_component else _MEANS,
        )

    def _contrast(
        self, now: Number, before: Sequence[tuple[Snapshot, Number]], *, is_component: bool
    ) -> tuple[Contrast, int]:
        """Compare a number with those of earlier audits that can be tested; also return their number."""
        known = [(s, n) for s, n in before if _is_testable(s, n, is_component=is_component)]
        if not known or not _is_testable(self.current, now, is_component=is_component):
            return Contrast(value=now.corrected), 0
        error_distribution = self._find_error_distribution([s for s, _ in known])
        if is_component:
            rarer = _count_rarer_outcome(self.current), sum(_count_rarer_outcome(s) for s, _ in known)
            error_distribution = limit_error_distribution(error_distribution, rarer)
        measured, present = [_estimate_mean(s, n) for s, n in known], _estimate_mean(self.current, now)
        contrast = compare_means(present, measured, error_distribution, level=self.current.level)
        between, ends = find_spread_of_means(measured), list_differences(present, measured)
        widened = allow_for_audits(contrast, between, ends, error_distribution, level=self.current.level)
        return widened, len(known)

    def _compare_forecasts(self, model: str) -> Iterator[Drift]:
        """Compare the distributions of a model's forecasts; with several classes, show the most changed."""
        of_model = [d for d in self.current.distributions if d.model == model]
        before = [(s, [d for d in s.distributions if d.model == model]) for s in self.reference]
        before = [(s, found) for s, found in before if len(found) == len(of_model)]
        if not (of_model and before):
            return
        error_distribution, level = self._find_error_distribution([s for s, _ in before]), self.current.level
        contrasts = [
            _compare_distributions(now, [found[place] for _, found in before], error_distribution, level)
            for place, now in enumerate(of_model)
        ]
        p_values = [1.0 if isnan(contrast.p_value) else contrast.p_value for contrast in contrasts]
        most = first_lowest(p_values)
        label = of_model[most].label
        yield _make_drift(
            replace(contrasts[most], p_value=min(contrasts[most].p_value * len(contrasts), 1.0)),
            audits=len(before),
            model=model,
            measure="forecasts",
            label=f"forecasts of “{label}”" if label else "forecasts",
            method=_SHARES + (f", times {len(contrasts)} for the classes" if label else ""),
        )


def _find_number(snapshot: Snapshot, model: str, measure: str) -> Number | None:
    return next((n for n in snapshot.numbers if (n.model, n.measure) == (model, measure)), None)


def _is_testable(snapshot: Snapshot, number: Number, *, is_component: bool) -> bool:
    """Whether a number has a standard error and, for a component, enough rows of the rarer outcome."""
    return isfinite(number.standard_error) and (
        not is_component or _count_rarer_outcome(snapshot) >= FEW_EVENTS
    )


def _count_rarer_outcome(snapshot: Snapshot) -> float:
    """Return the number of independent rows with an outcome other than the most frequent one."""
    return snapshot.size - float(_count_outcomes(snapshot).max())


def _count_outcomes(snapshot: Snapshot) -> FloatArray:
    """Return the numbers of independent rows by outcome: event and non-event, or each class."""
    prevalence = _find_number(snapshot, "", "prevalence")
    weights = np.array(snapshot.classes if prevalence is None else (prevalence.value, 1 - prevalence.value))
    return snapshot.size * weights / weights.sum()


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


def _most_changed(contrasts: Sequence[Contrast]) -> int:
    """Return the position of the class whose share differs most, relative to the root of the share."""
    shares = np.array([(c.value, c.reference) for c in contrasts]).mean(axis=1)
    differences = np.array([abs(c.difference) for c in contrasts])
    return first_lowest(-differences / np.sqrt(np.maximum(shares, np.finfo(float).tiny)))


def _compare_distributions(
    now: Distribution, before: Sequence[Distribution], error_distribution: ErrorDistribution, level: float
) -> Contrast:
    """Compare mean forecasts, and test the stability index over about ten groups of forecasts."""
    size = sum(old.size for old in before)
    counts, old_counts = _spread_over_bins(now), sum(map(_spread_over_bins, before), np.zeros(len(EDGES) + 1))
    group = group_bins(counts + old_counts, min(now.size, size))
    in_groups, old_in_groups = (
        np.bincount(group, weights=c).astype(np.float64) for c in (counts, old_counts)
    )
    each = [np.bincount(group, weights=_spread_over_bins(old)).astype(np.float64) for old in before]
    statistic, p_value = homogeneity_test(in_groups, old_in_groups, error_distribution)
    index = stability_index(in_groups, old_in_groups)
    lower, upper = stability_index_interval(index, statistic, int(group.max()), error_distribution, level)
    contrast = Contrast(
        value=now.mean,
        reference=sum(old.size * old.mean for old in before) / size,
        difference=index,
        lower=lower,
        upper=upper,
        statistic=statistic,
        p_value=p_value,
    )
    return allow_for_shifts(contrast, statistic, in_groups, each, error_distribution)


def _spread_over_bins(distribution: Distribution) -> FloatArray:
    """Return the number of independent rows in each of all bins."""
    counts = np.zeros(len(EDGES) + 1)
    counts[list(distribution.bins)] = distribution.weights
    return counts * (distribution.size / counts.sum())


def _make_drift(
    contrast: Contrast, *, audits: int, model: str = "", measure: str, label: str, method: str
) -> Drift:
    """Make a drift whose p-value is not adjusted yet; `audits` is the number of earlier audits."""
    spread = (
        f", and over the spread of {audits} audits with a t distribution" if audits >= ENOUGH_AUDITS else ""
    )
    return Drift(
        model=model,
        measure=measure,
        label=label,
        value=contrast.value,
        reference=contrast.reference,
        difference=contrast.difference,
        lower=contrast.lower,
        upper=contrast.upper,
        statistic=contrast.statistic,
        p_value=contrast.p_value,
        p_value_adjusted=nan,
        has_drifted=False,
        method=method + spread,
        sentence="",
        caution=explain_few_audits(audits) if isfinite(contrast.p_value) else "",
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
