"""Reference audits: which earlier audits are compared with, and how much they vary among themselves.

Standard errors within an audit do not contain the variance between audits, which is estimated from the
earlier audits themselves: without a change, the present audit is one more draw from the same process, so that
the difference from their mean, divided by their spread, has a t distribution with one degree of freedom less
than audits. A drift is a difference that is larger than sampling explains and than this spread explains.

References
----------
DerSimonian, Laird (1986), Control. Clin. Trials 7, doi:10.1016/0197-2456(86)90046-2
Hahn, Meeker (1991), Statistical Intervals, doi:10.1002/9780470316771
"""

from __future__ import annotations

from dataclasses import replace
from math import isfinite, nan, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import fdtrc

from scorereport.history.trend.drift_tests import Contrast, tail_probability
from scorereport.inference.mean_errors import ErrorDistribution
from scorereport.inference.population_stability import stability_index

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport._utils.arrays import FloatArray
    from scorereport.history.trend.drift_records import Snapshot
    from scorereport.history.trend.drift_tests import MeanEstimate


#: From this many earlier audits on, their spread is used as the variance between audits.
ENOUGH_AUDITS = 5
#: With fewer, the variance between audits is assumed to equal the sampling variance.
_FEW_FACTOR = 2.0


class AuditSpread(NamedTuple):
    """Error of a difference from earlier audits, estimated from their spread (NaN for one); their number."""

    error: float
    audits: int

    @property
    def is_known(self) -> bool:
        """Whether there are enough audits to estimate how much they vary."""
        return self.audits >= ENOUGH_AUDITS


def find_audit_spread(values: Sequence[float], sizes: Sequence[float]) -> AuditSpread:
    """Return the standard error of one more audit minus the mean of earlier ones, from their spread alone.

    The mean is weighted by size.
    """
    if len(values) == 1:
        return AuditSpread(nan, 1)
    share = np.array(sizes) / sum(sizes)
    error = float(np.std(values, ddof=1)) * sqrt(1 + float((share**2).sum()))
    return AuditSpread(error, len(values))


def find_spread_around(
    values: Sequence[float], reference_sizes: Sequence[float], variance: float
) -> AuditSpread:
    """Return the standard error of one more audit minus a fixed reference, by the spread of other audits.

    The samples of the reference vary as audits do, and `variance` is the sampling variance of their mean,
    which audits with more rows do not have.
    """
    share = np.array(reference_sizes) / sum(reference_sizes)
    between = float(np.var(values, ddof=1)) * (1 + float((share**2).sum()))
    return AuditSpread(sqrt(between + variance), len(values))


def find_spread_of_means(samples: Sequence[MeanEstimate]) -> AuditSpread:
    """Return the spread of means over audits, by the estimate of the overfit that makes it larger."""
    sizes = [sample.size for sample in samples]
    both = [sample.value for sample in samples], [sample.other for sample in samples]
    return max(find_audit_spread(values, sizes) for values in both)


def allow_for_audits(
    contrast: Contrast,
    between: AuditSpread,
    ends: tuple[float, float],
    distribution: ErrorDistribution,
    *,
    level: float,
) -> Contrast:
    """Widen the interval and raise the p-value of a difference to allow for the variance between audits.

    `ends` are the two ends between which the estimate of the difference lies; the test uses the end nearer to
    0, or 0 if the ends have different signs. With few audits the sampling variance is doubled, and it is
    taken to be at least their spread.
    """
    if not isfinite(contrast.p_value):
        return contrast
    distance = max(min(ends), 0.0) + min(max(ends), 0.0)
    if between.is_known:
        spread = ErrorDistribution(between.audits - 1)
        reach, p_value = spread.critical_value(level) * between.error, _p_value(distance, between, spread)
        return _widen_interval(contrast, ends, reach, max(contrast.p_value, p_value))
    doubled = _double_variance(contrast)
    reach = distribution.critical_value(level) * (between.error if between.audits > 1 else 0.0)
    p_value = distribution.p_value(contrast.statistic / sqrt(_FEW_FACTOR))
    if between.audits > 1:
        p_value = max(p_value, _p_value(distance, between, distribution))
    return _widen_interval(doubled, ends, reach, max(contrast.p_value, p_value))


def _p_value(distance: float, between: AuditSpread, distribution: ErrorDistribution) -> float:
    """Return the p-value by the spread of audits; 0, which has no effect, if all audits are the same."""
    return distribution.p_value(distance / between.error) if between.error > 0 else 0.0


def _double_variance(contrast: Contrast) -> Contrast:
    """Widen an interval around the same difference as if the variance were doubled."""
    factor, at = sqrt(_FEW_FACTOR), contrast.difference
    return replace(
        contrast, lower=at - factor * (at - contrast.lower), upper=at + factor * (contrast.upper - at)
    )


def _widen_interval(contrast: Contrast, ends: tuple[float, float], reach: float, p_value: float) -> Contrast:
    return replace(
        contrast,
        lower=min(contrast.lower, min(ends) - reach),
        upper=max(contrast.upper, max(ends) + reach),
        p_value=p_value,
    )


def allow_for_shifts(
    contrast: Contrast,
    chi_square: float,
    now: FloatArray,
    before: Sequence[FloatArray],
    distribution: ErrorDistribution,
    *,
    others: Sequence[FloatArray] = (),
) -> Contrast:
    """Raise the p-value of a comparison of counts in several groups to allow for the variance between audits.

    The stability index of the present audit is compared with those of the earlier audits, each against the
    others. If there are `others`, their variance is used for a fixed reference `before`.
    """
    if not isfinite(contrast.p_value):
        return contrast
    if others:
        p_value = _rank_fixed_index(now, before, others)
    elif len(before) < ENOUGH_AUDITS:
        filled = np.count_nonzero(now + np.sum(before, axis=0))
        p_value = tail_probability(chi_square / _FEW_FACTOR, int(filled) - 1, distribution)
    else:
        p_value = _rank_index(now, before)
    return replace(contrast, p_value=max(contrast.p_value, p_value))


def _rank_index(now: FloatArray, before: Sequence[FloatArray]) -> float:
    """Return the p-value of the stability index against earlier audits, by the spread of these audits."""
    return _rank_ratio(stability_index(now, np.sum(before, axis=0)), before, 1 + 1 / len(before))


def _rank_fixed_index(now: FloatArray, before: Sequence[FloatArray], others: Sequence[FloatArray]) -> float:
    """Return the p-value of the stability index against a fixed reference, by the spread of other audits.

    A reference with fewer rows than an audit adds a part by chance to the index, which is subtracted.
    """
    total = np.sum(before, axis=0)
    groups = int(np.count_nonzero(now + total))
    chance = (groups - 1) * max(1 / float(total.sum()) - len(others) / float(np.sum(others)), 0.0)
    return _rank_ratio(stability_index(now, total) - chance, others, 1 + 1 / len(before))


def _rank_ratio(index: float, audits: Sequence[FloatArray], factor: float) -> float:
    """Return the p-value of an index over the variance between audits, times `factor`, by an F distribution.

    The index of n audits, each against the others, estimates the variance as n/(n - 1) times itself. One part
    of it is due to chance, with as many degrees of freedom as groups less one. The rest is due to effects of
    audits, which may all lie in one direction, such as higher forecasts: it has one degree of freedom, and
    the estimate of its variance n - 1.
    """
    total, n = np.sum(audits, axis=0), len(audits)
    mean = float(np.mean([stability_index(counts, total - counts) for counts in audits]))
    if mean <= 0:
        return 0.0
    df = int(np.count_nonzero(total)) - 1
    sizes = np.array([counts.sum() for counts in audits])
    chance = min(df * float(np.mean(1 / sizes + 1 / (sizes.sum() - sizes))), mean)
    freedom = mean**2 / (chance**2 / max(df, 1) + (mean - chance) ** 2)
    ratio = max(index, 0.0) / (mean * (n - 1) / n * factor)
    return float(fdtrc(freedom, n - 1, ratio))


def explain_few_audits(audits: int, *, is_baseline: bool = False) -> str:
    """Explain the assumption of a test against few audits; "" if there are enough."""
    if audits >= ENOUGH_AUDITS:
        return ""
    if is_baseline:
        return (
            f"With fewer than {ENOUGH_AUDITS} audits before this one the variance between audits is not "
            "known; the test assumes that it equals the sampling variance."
        )
    spread = ", or for means the spread of these audits if that is larger" if audits > 1 else ""
    return (
        f"With fewer than {ENOUGH_AUDITS} earlier audits (here {audits}) the variance between audits is not "
        f"known; the test assumes that it equals the sampling variance{spread}."
    )


def list_earlier(current: Snapshot, past: Sequence[Snapshot]) -> list[Snapshot]:
    """List audits whose period ends before that of the present one, oldest first; the last of each period."""
    latest: dict[str, Snapshot] = {}
    for snapshot in sorted(past, key=lambda snapshot: snapshot.time):
        if snapshot.period.ends < current.period.ends:
            latest[snapshot.period.label] = snapshot
    return sorted(latest.values(), key=lambda snapshot: snapshot.period.order)


def choose_reference(current: Snapshot, earlier: Sequence[Snapshot], audits: int) -> list[Snapshot]:
    """Choose up to `audits` earlier audits without rows in common, oldest first.

    Rows that two audits share would make the audits look alike. The latest audit that ends at or before the
    start of the present one is chosen, then the latest that ends at or before the start of that one, and so
    on.
    """
    chosen: list[Snapshot] = []
    start = current.period.begins
    for snapshot in sorted(earlier, key=lambda s: (s.period.order, s.time), reverse=True):
        if start is None or len(chosen) == audits:
            break
        if snapshot.period.ends <= start:
            chosen.append(snapshot)
            start = snapshot.period.begins
    return chosen[::-1]


def has_standard_errors(snapshot: Snapshot) -> bool:
    """Whether any number of an audit has a standard error; without resamples none has one."""
    return any(isfinite(number.standard_error) for number in snapshot.numbers)


def select_shown(current: Snapshot, earlier: Sequence[Snapshot], audits: int) -> tuple[Snapshot, ...]:
    """Return the last `audits` and the present one, which alone keeps its distributions and groups."""
    return (*(replace(snapshot, distributions=(), groups=()) for snapshot in earlier[-audits:]), current)
