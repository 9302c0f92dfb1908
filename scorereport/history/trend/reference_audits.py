"""Earlier audits used as reference: which ones are compared, and how much they vary among themselves.

Standard errors within an audit do not contain it. It is taken from the earlier audits themselves: under no
change the present audit is one more draw from the same process, so that the difference to their mean, over
their spread, has a t distribution with one degree of freedom less than audits. A change must be more than
sampling explains and more than this spread explains.

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
from scipy.special import stdtr

from scorereport.history.trend.drift_tests import Contrast, stability_index, tail_probability
from scorereport.inference.mean_errors import ErrorDistribution

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport._utils.arrays import FloatArray
    from scorereport.history.trend.drift_records import Snapshot
    from scorereport.history.trend.drift_tests import MeanEstimate


#: From this many earlier audits on, their spread says how much audits vary.
ENOUGH_AUDITS = 5
#: With fewer, audits are taken to vary between each other as much as by sampling.
_FEW_FACTOR = 2.0


class AuditSpread(NamedTuple):
    """The error of a difference to earlier audits as their spread shows it, NaN for one; and their number."""

    error: float
    audits: int

    @property
    def is_known(self) -> bool:
        """Whether audits are enough to show how much they vary."""
        return self.audits >= ENOUGH_AUDITS


def find_audit_spread(values: Sequence[float], sizes: Sequence[float]) -> AuditSpread:
    """The error of one more audit less the mean of earlier ones by size, from their spread alone."""
    if len(values) == 1:
        return AuditSpread(nan, 1)
    share = np.array(sizes) / sum(sizes)
    error = float(np.std(values, ddof=1)) * sqrt(1 + float((share**2).sum()))
    return AuditSpread(error, len(values))


def find_spread_of_means(samples: Sequence[MeanEstimate]) -> AuditSpread:
    """The same for means, by the estimate of the overfit that makes it larger."""
    sizes = [sample.size for sample in samples]
    both = [sample.value for sample in samples], [sample.other for sample in samples]
    return max(find_audit_spread(values, sizes) for values in both)


def allow_for_audits(
    contrast: Contrast,
    between: AuditSpread,
    ends: tuple[float, float],
    law: ErrorDistribution,
    *,
    level: float,
) -> Contrast:
    """Interval and test of a difference that allow for the variance between audits.

    `ends` are those between which the estimate of the difference lies: what is tested is how far both are
    from 0. With few audits the variance of sampling is doubled, and is no less than their spread shows.
    """
    if not isfinite(contrast.p_value):
        return contrast
    distance = max(min(ends), 0.0) + min(max(ends), 0.0)
    if between.is_known:
        spread = ErrorDistribution(between.audits - 1)
        reach, p_value = spread.critical_value(level) * between.error, _p_value(distance, between, spread)
        return _widen_interval(contrast, ends, reach, max(contrast.p_value, p_value))
    doubled = _double_variance(contrast)
    reach = law.critical_value(level) * (between.error if between.audits > 1 else 0.0)
    p_value = law.p_value(contrast.statistic / sqrt(_FEW_FACTOR))
    if between.audits > 1:
        p_value = max(p_value, _p_value(distance, between, law))
    return _widen_interval(doubled, ends, reach, max(contrast.p_value, p_value))


def _p_value(distance: float, between: AuditSpread, law: ErrorDistribution) -> float:
    """The p-value by the spread of audits; that of audits that are all the same says nothing."""
    return law.p_value(distance / between.error) if between.error > 0 else 0.0


def _double_variance(contrast: Contrast) -> Contrast:
    """An interval whose variance is doubled, around the same difference."""
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
    law: ErrorDistribution,
) -> Contrast:
    """The same for how cases are spread over several groups, from the counts of each audit.

    The root of the stability index is compared with that of each earlier audit against the others.
    """
    if not isfinite(contrast.p_value):
        return contrast
    if len(before) < ENOUGH_AUDITS:
        filled = np.count_nonzero(now + np.sum(before, axis=0))
        p_value = tail_probability(chi_square / _FEW_FACTOR, int(filled) - 1, law)
    else:
        p_value = _rank_index(now, before)
    return replace(contrast, p_value=max(contrast.p_value, p_value))


def _rank_index(now: FloatArray, before: Sequence[FloatArray]) -> float:
    """How rarely an ordinary audit is as far from the others as the present one, by t."""
    total = np.sum(before, axis=0)
    root = sqrt(max(stability_index(now, total), 0.0))
    roots = np.sqrt([max(stability_index(counts, total - counts), 0.0) for counts in before])
    n = len(roots)
    error = float(np.std(roots, ddof=1)) * sqrt(1 + 1 / n)
    return float(stdtr(n - 1, -(root - roots.mean()) / error)) if error > 0 else 0.0


def explain_few_audits(audits: int) -> str:
    """What a reader must know of a test against few audits; empty if they are enough."""
    if audits >= ENOUGH_AUDITS:
        return ""
    spread = ", or for means the spread of these audits if that is larger" if audits > 1 else ""
    return (
        f"With fewer than {ENOUGH_AUDITS} earlier audits (here {audits}) the variance between audits is not "
        f"known; the test assumes that it equals the sampling variance{spread}."
    )


def list_earlier(current: Snapshot, past: Sequence[Snapshot]) -> list[Snapshot]:
    """Audits whose period ends before that of the present one, oldest first; the last of each period."""
    latest: dict[str, Snapshot] = {}
    for snapshot in sorted(past, key=lambda snapshot: snapshot.time):
        if snapshot.period.day_after < current.period.day_after:
            latest[snapshot.period.label] = snapshot
    return sorted(latest.values(), key=lambda snapshot: (snapshot.period.end, snapshot.period.start or ""))


def choose_reference(current: Snapshot, earlier: Sequence[Snapshot], audits: int) -> list[Snapshot]:
    """So many audits back from the present one that no two have days in common, oldest first.

    Rows that two audits share would make them look alike. The latest that ends at or before the start of the
    present one is taken, then the latest that ends at or before the start of that one, and so on.
    """
    chosen: list[Snapshot] = []
    start = current.period.first_day
    for snapshot in sorted(earlier, key=lambda s: (s.period.end, s.period.start or "", s.time), reverse=True):
        if start is None or len(chosen) == audits:
            break
        if snapshot.period.day_after <= start:
            chosen.append(snapshot)
            start = snapshot.period.first_day
    return chosen[::-1]


def has_standard_errors(snapshot: Snapshot) -> bool:
    """Whether anything of an audit can be tested: without resamples there are no standard errors."""
    return any(isfinite(number.standard_error) for number in snapshot.numbers)


def select_shown(current: Snapshot, earlier: Sequence[Snapshot], audits: int) -> tuple[Snapshot, ...]:
    """The last audits and the present one, which alone keeps the distribution of its forecasts."""
    return (*(replace(snapshot, distributions=()) for snapshot in earlier[-audits:]), current)
