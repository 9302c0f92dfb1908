"""Population shift: prevalence, forecasts and groups of an audit compared with a baseline or earlier audits.

A shift of the population is not a fault of a model by itself: whether its forecasts are calibrated is judged
by the evidence, not here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import isfinite, isnan, nan
from typing import TYPE_CHECKING, Literal

import numpy as np

from scorereport._utils.rounding import first_lowest
from scorereport.history.trend.drift_records import Drift, Snapshot
from scorereport.history.trend.drift_tests import (
    Contrast,
    compare_shares,
    find_error_distribution,
    group_bins,
    homogeneity_test,
    stability_index_interval,
)
from scorereport.history.trend.reference_audits import (
    ENOUGH_AUDITS,
    allow_for_audits,
    allow_for_shifts,
    explain_few_audits,
    find_audit_spread,
    find_spread_around,
)
from scorereport.inference.population_stability import stability_index
from scorereport.results.tallies import EDGES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scorereport._utils.arrays import FloatArray
    from scorereport.history.trend.drift_records import Distribution, Number
    from scorereport.history.trend.evidence_records import GroupShares
    from scorereport.history.trend.reference_audits import AuditSpread
    from scorereport.inference.mean_errors import ErrorDistribution

_SHARES = "chi-square test of homogeneity, the smaller of Pearson's statistic and the likelihood ratio"
#: Groups with fewer expected cases in the smaller sample are counted together.
_FEWEST_EXPECTED = 5.0


@dataclass(frozen=True, kw_only=True, eq=False)
class PopulationReference:
    """What the population of an audit is compared with: the samples of a baseline, or reference audits.

    The variance between audits is that of the reference audits or, for a baseline of few samples, that of
    `others`: the first audits after it.
    """

    samples: Sequence[Snapshot]
    others: Sequence[Snapshot] = ()
    is_baseline: bool = False

    @property
    def uses_others(self) -> bool:
        """Whether the variance between audits is that of other audits."""
        return self.is_baseline and len(self.samples) < ENOUGH_AUDITS <= len(self.others)

    @property
    def audits(self) -> int:
        """The number of audits whose variance is allowed for."""
        return len(self.others if self.uses_others else self.samples)

    def select(self, has: Callable[[Snapshot], bool]) -> PopulationReference:
        """Return the reference with only those samples and audits that have a number."""
        return replace(self, samples=list(filter(has, self.samples)), others=list(filter(has, self.others)))


def compare_outcome(current: Snapshot, reference: PopulationReference) -> Iterator[Drift]:
    """Compare the prevalence, or the shares of the classes, of which the most changed one is shown."""
    error_distribution, labels = _find_error_distribution(current, reference), current.labels
    now, before = count_outcomes(current), [count_outcomes(s) for s in reference.samples]
    contrasts = compare_shares(now, np.sum(before, axis=0), error_distribution, level=current.level)
    most = _most_changed(contrasts) if labels else 0
    others = [count_outcomes(s) for s in reference.others] if reference.uses_others else []
    if labels:
        contrast = _allow_for_classes(contrasts[most], now, before, others, error_distribution)
    else:
        between, ends = _find_share_spread(before, others), (contrasts[0].difference,) * 2
        contrast = allow_for_audits(contrasts[0], between, ends, error_distribution, level=current.level)
    yield make_drift(
        contrast,
        reference=reference,
        measure="prevalence",
        label=f"share of “{labels[most]}”" if labels else "prevalence",
        method=_SHARES,
    )


def _find_share_spread(before: Sequence[FloatArray], others: Sequence[FloatArray]) -> AuditSpread:
    """Return the error of one more share minus that of the reference, by the spread of audits."""
    shares, sizes = ([c[0] / c.sum() for c in before], [float(c.sum()) for c in before])
    if not others:
        return find_audit_spread(shares, sizes)
    pooled = float(np.sum(before, axis=0)[0] / sum(sizes))
    own = pooled * (1 - pooled) / sum(sizes)
    return find_spread_around([c[0] / c.sum() for c in others], sizes, own)


def _allow_for_classes(
    contrast: Contrast,
    now: FloatArray,
    before: Sequence[FloatArray],
    others: Sequence[FloatArray],
    error_distribution: ErrorDistribution,
) -> Contrast:
    chi_square, _ = homogeneity_test(now, np.sum(before, axis=0), error_distribution)
    return allow_for_shifts(contrast, chi_square, now, before, error_distribution, others=others)


def compare_forecasts(current: Snapshot, model: str, reference: PopulationReference) -> Iterator[Drift]:
    """Compare the distributions of a model's forecasts; with several classes, show the most changed."""
    of_model = _list_distributions(current, model)
    known = reference.select(lambda s: len(_list_distributions(s, model)) == len(of_model))
    if not (of_model and known.samples):
        return
    error_distribution = _find_error_distribution(current, known)
    contrasts = [
        _compare_distributions(
            now,
            [_list_distributions(s, model)[place] for s in known.samples],
            [_list_distributions(s, model)[place] for s in known.others] if known.uses_others else [],
            error_distribution,
            current.level,
        )
        for place, now in enumerate(of_model)
    ]
    most = first_lowest([1.0 if isnan(contrast.p_value) else contrast.p_value for contrast in contrasts])
    label = of_model[most].label
    yield make_drift(
        replace(contrasts[most], p_value=min(contrasts[most].p_value * len(contrasts), 1.0)),
        reference=known,
        model=model,
        measure="forecasts",
        label=f"forecasts of “{label}”" if label else "forecasts",
        method=_SHARES + (f", times {len(contrasts)} for the classes" if label else ""),
    )


def compare_groups(current: Snapshot, reference: PopulationReference) -> Iterator[Drift]:
    """Compare the shares of the values of each column of groups; the most changed one is shown."""
    for shares in current.groups:
        known = reference.select(partial(_has_column, column=shares.column))
        if known.samples:
            yield _compare_column(current, shares.column, known)


def _find_column(snapshot: Snapshot, column: str) -> GroupShares | None:
    return next((shares for shares in snapshot.groups if shares.column == column), None)


def _has_column(snapshot: Snapshot, column: str) -> bool:
    return _find_column(snapshot, column) is not None


def _compare_column(current: Snapshot, column: str, reference: PopulationReference) -> Drift:
    found = [current, *reference.samples, *(reference.others if reference.uses_others else ())]
    counts = [_count_groups(_find_column(snapshot, column)) for snapshot in found]
    values = sorted({value for one in counts for value in one})
    table = np.array([[one.get(value, 0.0) for value in values] for one in counts])
    now, before, others = table[0], table[1 : len(reference.samples) + 1], table[len(reference.samples) + 1 :]
    group, names = _merge_rare(now, before.sum(axis=0), values)
    merged = [
        np.bincount(group, weights=row, minlength=len(names)).astype(np.float64)
        for row in (now, *before, *others)
    ]
    error_distribution = _find_error_distribution(current, reference)
    first, rest = list(merged[1 : len(before) + 1]), list(merged[len(before) + 1 :])
    contrast = _compare_counts(merged[0], first, rest, error_distribution, current.level)
    each = compare_shares(merged[0], np.sum(first, axis=0), error_distribution, level=current.level)
    most = _most_changed(each)
    return make_drift(
        replace(contrast, value=each[most].value, reference=each[most].reference),
        reference=reference,
        measure="groups",
        label=column,
        method=_SHARES,
        group=names[most],
    )


def _count_groups(shares: GroupShares | None) -> dict[str, float]:
    return {} if shares is None else dict(zip(shares.values, shares.weights, strict=True))


def _merge_rare(now: FloatArray, before: FloatArray, values: Sequence[str]) -> tuple[np.ndarray, list[str]]:
    """Return the place of each value, and the names of the places; rare values share the last place."""
    together = now + before
    expected = together / together.sum() * min(now.sum(), before.sum())
    is_rare = expected < _FEWEST_EXPECTED
    if is_rare.sum() <= 1:
        return np.arange(len(values)), [f"“{value}”" for value in values]
    names = [f"“{value}”" for value, rare in zip(values, is_rare, strict=True) if not rare]
    place = np.where(is_rare, len(names), np.cumsum(~is_rare) - 1)
    return place, [*names, f"{int(is_rare.sum())} rare values together"]


def _find_error_distribution(current: Snapshot, reference: PopulationReference) -> ErrorDistribution:
    return find_error_distribution(current.clusters, [snapshot.clusters for snapshot in reference.samples])


def _list_distributions(snapshot: Snapshot, model: str) -> list[Distribution]:
    return [distribution for distribution in snapshot.distributions if distribution.model == model]


def _most_changed(contrasts: Sequence[Contrast]) -> int:
    """Return the position of the share that differs most, relative to the root of the share."""
    shares = np.array([(c.value, c.reference) for c in contrasts]).mean(axis=1)
    differences = np.array([abs(c.difference) for c in contrasts])
    return first_lowest(-differences / np.sqrt(np.maximum(shares, np.finfo(float).tiny)))


def _compare_distributions(
    now: Distribution,
    before: Sequence[Distribution],
    others: Sequence[Distribution],
    error_distribution: ErrorDistribution,
    level: float,
) -> Contrast:
    """Compare mean forecasts, and test the stability index over about ten groups of forecasts."""
    size = sum(old.size for old in before)
    counts, old_counts = _spread_over_bins(now), sum(map(_spread_over_bins, before), np.zeros(len(EDGES) + 1))
    group = group_bins(counts + old_counts, min(now.size, size))
    in_groups, old, rest = (
        [np.bincount(group, weights=_spread_over_bins(one)).astype(np.float64) for one in samples]
        for samples in ([now], before, others)
    )
    contrast = _compare_counts(in_groups[0], old, rest, error_distribution, level)
    return replace(contrast, value=now.mean, reference=sum(old.size * old.mean for old in before) / size)


def _compare_counts(
    now: FloatArray,
    before: Sequence[FloatArray],
    others: Sequence[FloatArray],
    error_distribution: ErrorDistribution,
    level: float,
) -> Contrast:
    """Test the stability index of counts in several groups, with its interval."""
    total = np.sum(before, axis=0)
    statistic, p_value = homogeneity_test(now, total, error_distribution)
    index = stability_index(now, total)
    df = int(np.count_nonzero(now + total)) - 1
    lower, upper = stability_index_interval(index, statistic, df, error_distribution, level)
    contrast = Contrast(difference=index, lower=lower, upper=upper, statistic=statistic, p_value=p_value)
    return allow_for_shifts(contrast, statistic, now, before, error_distribution, others=others)


def _spread_over_bins(distribution: Distribution) -> FloatArray:
    """Return the number of independent rows in each of all bins."""
    counts = np.zeros(len(EDGES) + 1)
    counts[list(distribution.bins)] = distribution.weights
    return counts * (distribution.size / counts.sum())


def make_drift(
    contrast: Contrast,
    *,
    reference: PopulationReference,
    model: str = "",
    measure: str,
    label: str,
    method: str,
    group: str | None = None,
    kind: Literal["population"] | None = None,
) -> Drift:
    """Make a drift whose p-value is not adjusted yet."""
    audits, is_tested = reference.audits, isfinite(contrast.p_value)
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
        caution=explain_few_audits(audits, is_baseline=reference.is_baseline) if is_tested else "",
        kind=kind,
        against="baseline" if reference.is_baseline else None,
        group=group,
    )


def find_number(snapshot: Snapshot, model: str, measure: str) -> Number | None:
    """Return a number of a snapshot; None if it has none."""
    return next((n for n in snapshot.numbers if (n.model, n.measure) == (model, measure)), None)


def count_outcomes(snapshot: Snapshot) -> FloatArray:
    """Return the numbers of independent rows by outcome: event and non-event, or each class."""
    prevalence = find_number(snapshot, "", "prevalence")
    weights = np.array(snapshot.classes if prevalence is None else (prevalence.value, 1 - prevalence.value))
    return snapshot.size * weights / weights.sum()
