"""The AUC with DeLong's standard error, for rows and, after Obuchowski, for clusters of rows.

All of it follows from placements: for an event the share of non-events with a lower forecast, for a non-event
the share of events with a higher forecast. Their class means are the AUC, and their spread gives its error.

References
----------
DeLong, DeLong, Clarke-Pearson (1988), Biometrics 44, doi:10.2307/2531595
Obuchowski (1997), Biometrics 53, doi:10.2307/2533958
Newcombe (2006), Stat. Med. 25, doi:10.1002/sim.2324
Welch (1947), Biometrika 34, doi:10.1093/biomet/34.1-2.28
Pustejovsky, Tipton (2018), J. Bus. Econ. Stat. 36, doi:10.1080/07350015.2016.1247004
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit, ndtri

from scorereport._utils.checks import check_inside, check_option
from scorereport._utils.formatting import format_plain
from scorereport.inference.estimates import Estimate
from scorereport.inference.mean_errors import ErrorDistribution, describe_few_draws
from scorereport.inference.panel import make_panel
from scorereport.inference.placements import placements
from scorereport.reliability.clusters import ClusterSums, sum_over_clusters, sums_of_mean
from scorereport.reliability.sampling import SamplingUnits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.panel import ForecastPanel

SCALES = ("score", "plain", "logit")
#: DeLong's variance counts more than Newcombe's where more wrongly ordered cases than this support it.
_FEW_WRONG = 5
#: Rounds after which a common AUC and the errors that weight it have converged.
_MOST_ROUNDS = 20


def auc_interval(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    level: float = 0.95,
    scale: str = "score",
    sample_weight: ArrayLike | None = None,
    weight_kind: str = "sampling",
    cluster: ArrayLike | None = None,
) -> Estimate:
    """Compute the AUC with its interval; bounds stay in [0, 1].

    The score interval contains all AUCs that are within reach of the value by their own standard error. It
    has the shape of Newcombe's interval, scaled to DeLong's variance, and a quantile of t with Welch's
    degrees of freedom, so that it covers with few events and near 1. Where the sample shows no spread (an AUC
    of 0 or 1, or one case of a class) it is Newcombe's interval, and the note states this. With only one
    class everything is NaN.

    Parameters
    ----------
    y_true, y_prob : outcomes 0 or 1, and any probabilities that order them
    level : confidence level of the interval
    scale : "score"; or "plain" or "logit", the scale on which a normal interval is symmetric; both cover less
        often than their level where events or non-events are few or the AUC is near 1
    sample_weight, weight_kind : not negative; "sampling" weights of rows that were drawn once, or
        "frequency", how often each row was observed
    cluster : rows of the same cluster depend on each other, the clusters do not

    >>> auc = auc_interval([0, 0, 1, 0, 1, 1], [0.1, 0.3, 0.4, 0.5, 0.6, 0.8])
    >>> round(auc.value, 4), round(auc.standard_error, 4), round(auc.lower, 4), round(auc.upper, 4)
    (0.8889, 0.1571, 0.2615, 0.9939)
    """
    panel = make_panel(
        y_true, {"y_prob": y_prob}, sample_weight=sample_weight, weight_kind=weight_kind, cluster=cluster
    )
    level = check_inside(level, "level", 0, 1, closed="neither")
    return estimate_auc(panel, level, check_option(scale, "scale", SCALES))


def estimate_auc(panel: ForecastPanel, level: float, scale: str = "score") -> Estimate:
    """Compute the AUC of a panel's only forecast with its interval."""
    shares = placements(panel.outcome, panel.only, panel.weight)
    value = mean_placement(panel, shares)
    error, freedom = (
        placement_spread(panel, shares) if scale == "score" else (placement_error(panel, shares), np.inf)
    )
    note = _describe_limits(panel, value, error)
    is_seen = 0 < value < 1 and not np.isnan(error)
    if np.isnan(value):
        lower = upper = np.nan
    elif scale == "score":
        cases = cases_by_class(panel) if is_seen else _draws_by_class(panel)
        lower, upper = score_bounds(value, cases, level, error if is_seen else None, freedom)
    elif is_seen:
        lower, upper = _normal_bounds(value, error, level, scale)
    else:
        lower, upper = score_bounds(value, _draws_by_class(panel), level)
    return Estimate(
        measure="roc_auc",
        value=value,
        standard_error=error,
        lower=lower,
        upper=upper,
        level=level,
        method=describe_interval(panel, scale),
        n=panel.units.total,
        degrees_of_freedom=freedom if np.isfinite(freedom) else None,
        note=note or describe_few_draws(panel.units),
    )


def auc_influence(outcome: FloatArray, forecast: FloatArray, weight: FloatArray | None = None) -> FloatArray:
    """Return the influence of each case on the AUC: deviations whose mean is 0.

    The standard error of their mean is that of the AUC, up to DeLong's m/(m - 1) within classes.
    NaN if only one class occurs.
    """
    shares = placements(outcome, forecast, weight)
    w = np.ones(len(outcome)) if weight is None else weight
    influence = np.full(len(outcome), np.nan)
    for chosen in _classes(outcome):
        if chosen.any() and not chosen.all():
            of_class = w[chosen].sum()
            deviation = shares[chosen] - (w * shares)[chosen].sum() / of_class
            influence[chosen] = deviation * (w.sum() / of_class)
    return influence


def mean_placement(panel: ForecastPanel, shares: FloatArray) -> float:
    """Return the AUC or, from differences of placements, the difference of AUCs; NaN if a class is absent."""
    units, of_class = _draws_of_class(panel, shares, panel.outcome)
    return units.mean(of_class) if units.total > 0 else np.nan


def placement_error(panel: ForecastPanel, shares: FloatArray) -> float:
    """Standard error of the mean of placements, or of their differences, after DeLong or Obuchowski.

    NaN if a class has fewer than two independent draws.
    """
    if not panel.outcome.any() or panel.outcome.all():
        return np.nan
    variance = _delong_variance if panel.cluster is None else _obuchowski_variance
    return float(np.sqrt(variance(panel, shares)))


class PlacementSpread(NamedTuple):
    """Standard error of a mean of placements, and the degrees of freedom of its t distribution."""

    error: float
    freedom: float


def placement_spread(panel: ForecastPanel, shares: FloatArray) -> PlacementSpread:
    """Standard error of a mean of placements, or of their differences, with its degrees of freedom.

    For rows it is DeLong's, with Welch's degrees of freedom of two class means; for clusters it is the
    bias-reduced error of the sum of both class means, with Satterthwaite's. NaN if a class has fewer than
    two independent draws.
    """
    if panel.cluster is None:
        return _spread_of_rows(panel, shares)
    error = placement_error(panel, shares)
    if not np.isnan(error):
        sums = _cluster_sums(panel, shares)
        both = np.ones(2)
        variance, freedom = float(both @ sums.covariance @ both), sums.degrees_of_freedom(both)
        is_known = freedom > 0
        return PlacementSpread(variance**0.5, freedom) if is_known else PlacementSpread(np.nan, np.inf)
    return PlacementSpread(error, np.inf)


def _spread_of_rows(panel: ForecastPanel, shares: FloatArray) -> PlacementSpread:
    """DeLong's error of independent rows, with Welch's degrees of freedom."""
    if not panel.outcome.any() or panel.outcome.all():
        return PlacementSpread(np.nan, np.inf)
    parts = [
        (units.standard_error(of_class) ** 2, _freedom_of_mean(units))
        for units, of_class in _by_class(panel, shares)
    ]
    error = float(np.sqrt(sum(variance for variance, _ in parts)))
    if not error > 0:
        return PlacementSpread(error, np.inf)
    spread = sum(variance**2 / freedom for variance, freedom in parts)
    # NaN, or 0 by rounding, where one row has all the weight of a class
    return PlacementSpread(error, error**4 / spread) if spread > 0 else PlacementSpread(np.nan, np.inf)


def _freedom_of_mean(units: SamplingUnits) -> float:
    """Degrees of freedom of the variance of a mean over independent draws."""
    if units.are_repeated_rows:
        return units.total - 1
    return sums_of_mean(units.row_weight, np.zeros(units.rows), units.case_weight).degrees_of_freedom(
        np.ones(1)
    )


def _cluster_sums(panel: ForecastPanel, shares: FloatArray) -> ClusterSums:
    """The two class means as a fit of two columns, over clusters."""
    columns = np.stack([panel.outcome, 1 - panel.outcome])
    weight = panel.units.row_weight
    fitted = [(weight * column * shares).sum() / (weight * column).sum() for column in columns]
    deviation = shares - np.where(panel.outcome == 1, *fitted)
    information, score = sum_over_clusters(columns, weight, weight * deviation, panel.cluster)
    return ClusterSums(information=information, score=score, common=np.ones(2), case=panel.units.case_weight)


def describe_method(panel: ForecastPanel) -> str:
    """Describe the method of the variance."""
    if panel.cluster is None:
        return "DeLong"
    return f"DeLong with bias-reduced cluster errors ({format_plain(panel.units.size)} clusters)"


def describe_interval(panel: ForecastPanel, scale: str) -> str:
    """Describe the method of the variance and of the interval."""
    if scale == "score":
        return f"{describe_method(panel)}, score interval of Newcombe's shape, quantile of t"
    of_clusters = f" with Obuchowski's cluster errors ({format_plain(panel.units.size)} clusters)"
    return f"DeLong{of_clusters if panel.cluster is not None else ''}, {scale} scale"


def _classes(outcome: FloatArray) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which rows are events, and which are not."""
    return outcome == 1, outcome == 0


def _delong_variance(panel: ForecastPanel, shares: FloatArray) -> float:
    """DeLong's variance: the sum of the variances of the two class means."""
    return sum(units.standard_error(of_class) ** 2 for units, of_class in _by_class(panel, shares))


def _by_class(panel: ForecastPanel, shares: FloatArray) -> Iterator[tuple[SamplingUnits, FloatArray]]:
    """The rows of each class as independent draws, and their placements."""
    for is_of_class in (panel.outcome, 1 - panel.outcome):
        yield _draws_of_class(panel, shares, is_of_class)


def _draws_of_class(
    panel: ForecastPanel, shares: FloatArray, is_of_class: FloatArray
) -> tuple[SamplingUnits, FloatArray]:
    """The rows of a class as independent draws, and their placements.

    Where rows are counted, those of the other class are counted 0 times: none need be left out.
    """
    if panel.units.are_repeated_rows:
        counts = is_of_class if panel.weight is None else panel.weight * is_of_class
        return SamplingUnits(rows=len(counts), weight=counts, weight_kind="frequency"), shares
    rows = is_of_class == 1
    weight = panel.units.row_weight.compress(rows)
    return SamplingUnits(rows=len(weight), weight=weight), shares.compress(rows)


def _obuchowski_variance(panel: ForecastPanel, shares: FloatArray) -> float:
    """Obuchowski's variance: of both classes' sums of deviations in each cluster, with their covariance.

    With one row in each cluster it is DeLong's. It is never negative: a class occurs in at most G clusters,
    so its factor is at least G/(G - 1).
    """
    clusters = int(panel.units.size)
    sums, variance = [], 0.0
    for chosen in _classes(panel.outcome):
        w, of_class = panel.units.row_weight[chosen], panel.cluster[chosen]  # type: ignore[index]
        deviation = w * (shares[chosen] - (w * shares[chosen]).sum() / w.sum()) / w.sum()
        sums.append(np.bincount(of_class, weights=deviation, minlength=clusters))
        variance += float((sums[-1] ** 2).sum()) * _unbiased(len(np.unique(of_class)))
    return variance + 2 * float((sums[0] * sums[1]).sum()) * _unbiased(clusters)


def _unbiased(n: int) -> float:
    """Return n/(n - 1), NaN for n = 1."""
    return n / (n - 1) if n > 1 else np.nan


def cases_by_class(panel: ForecastPanel) -> tuple[float, float]:
    """Return the effective numbers of events and of non-events (Kish); clusters are not considered."""
    events, others = (panel.units.count(chosen) for chosen in _classes(panel.outcome))
    return events, others


def _draws_by_class(panel: ForecastPanel) -> tuple[float, float]:
    """Numbers of independent draws with events and with non-events; for clusters their effective number."""
    events, others = (panel.units.count_draws(chosen) for chosen in _classes(panel.outcome))
    return events, others


def _normal_bounds(value: float, error: float, level: float, scale: str) -> tuple[float, float]:
    """Bounds symmetric around the AUC, or around its logit."""
    z = float(ndtri((1 + level) / 2))
    if scale == "plain":
        return max(value - z * error, 0.0), min(value + z * error, 1.0)
    half_width = z * error / (value * (1 - value))
    return float(expit(logit(value) - half_width)), float(expit(logit(value) + half_width))


def score_bounds(
    value: float,
    cases: tuple[float, float],
    level: float,
    error: float | None = None,
    freedom: float = np.inf,
) -> tuple[float, float]:
    """Return the bounds of all AUCs that are within reach of the value by their own standard error.

    The error is Newcombe's (his method 5) for these numbers of events and non-events. It is scaled to the
    estimated error: fully if that is larger; if it is smaller, the more so the more cases are wrongly
    ordered, because few such cases often give too small a variance. The quantile is of t if there are degrees
    of freedom.
    """
    if error == 0 and 0 < value < 1:
        return value, value
    scale = 1.0 if error is None or value in {0, 1} else _scale_to(error, value, cases)
    reach = ErrorDistribution(freedom).critical_value(level) * scale**0.5
    lower, upper = _lower_score_bound(value, cases, reach), 1 - _lower_score_bound(1 - value, cases, reach)
    return min(lower, value), max(upper, value)


def _scale_to(error: float, value: float, cases: tuple[float, float]) -> float:
    """The factor by which Newcombe's variance is multiplied."""
    ratio = error**2 / score_variance(value, cases)
    if ratio >= 1:
        return ratio
    wrong = 4 * value * (1 - value) * min(cases)
    return 1 - (1 - ratio) * wrong / (wrong + _FEW_WRONG)


def score_variance(auc: float, cases: tuple[float, float]) -> float:
    """Return the variance of an AUC for given numbers of events and non-events, after Newcombe."""
    events, others = cases
    spread = 1 + ((events + others) / 2 - 1) * ((1 - auc) / (2 - auc) + auc / (1 + auc))
    return auc * (1 - auc) * spread / (events * others)


def errors_at_common_auc(
    values: FloatArray, errors: FloatArray, cases: Sequence[tuple[float, float]]
) -> FloatArray:
    """Return the standard errors of the AUCs of groups under the hypothesis that all have the common AUC.

    With few events an AUC that is high by chance also has a small error by chance, and Cochran's Q treats it
    as precise. Each error is Newcombe's at the common AUC, scaled as in an interval.
    """
    is_seen = (values > 0) & (values < 1) & (errors > 0)
    scales = np.array(
        [
            _scale_to(error, value, numbers) if seen else 1.0
            for value, error, numbers, seen in zip(values, errors, cases, is_seen, strict=True)
        ]
    )
    common = float(values.mean())
    for _ in range(_MOST_ROUNDS):
        variances = scales * [score_variance(common, numbers) for numbers in cases]
        if not variances.all():  # the common AUC is 0 or 1
            break
        common = float(np.average(values, weights=1 / variances))
    return np.sqrt(variances)


def _lower_score_bound(value: float, cases: tuple[float, float], reach: float) -> float:
    if value == 0:
        return 0.0

    def excess(auc: float) -> float:
        return value - auc - reach * float(np.sqrt(score_variance(auc, cases)))

    return float(brentq(excess, 0.0, min(value, np.nextafter(1.0, 0.0)), xtol=1e-15))


def _describe_limits(panel: ForecastPanel, value: float, error: float) -> str:
    """Describe why the interval is not DeLong's, or has no width; empty if neither applies."""
    if np.isnan(value):
        return f"The AUC needs both outcomes; all are {format_plain(panel.outcome[0])}."
    if value in {0, 1}:
        return (
            f"The forecasts separate the outcomes and DeLong's error is {format_plain(error)}: bounds after "
            "Newcombe."
            if error == 0
            else f"The forecasts separate the outcomes, with one {_unit(panel)} of a class: "
            "bounds after Newcombe."
        )
    if np.isnan(error):
        return f"One {_unit(panel)} of a class has no spread: bounds after Newcombe."
    return "The placements do not vary, so the interval has no width." if error == 0 else ""


def _unit(panel: ForecastPanel) -> str:
    return panel.units.describes.removesuffix("s")
