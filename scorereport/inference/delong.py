"""The AUC with DeLong's standard error, for rows and, after Obuchowski, for clusters of rows.

All follows from placements: for an event the share of non-events that it outdoes, for a non-event
the share of events that outdo it. Their class means are the AUC, and their spread is its error.

References
----------
DeLong, DeLong, Clarke-Pearson (1988), Biometrics 44, doi:10.2307/2531595
Obuchowski (1997), Biometrics 53, doi:10.2307/2533958
Newcombe (2006), Stat. Med. 25, doi:10.1002/sim.2324
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit, ndtri

from scorereport.checks import check_inside, check_option
from scorereport.inference.outcomes import Estimate
from scorereport.inference.panel import make_panel
from scorereport.sampling import Units

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from scorereport.arrays import FloatArray
    from scorereport.inference.panel import Panel

SCALES = ("plain", "logit")


def auc_interval(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    level: float = 0.95,
    scale: str = "plain",
    sample_weight: ArrayLike | None = None,
    weight_kind: str = "sampling",
    cluster: ArrayLike | None = None,
) -> Estimate:
    """The AUC with its interval; bounds stay in [0, 1].

    Where no spread can be seen (an AUC of 0 or 1, or one case of a class) the bounds are Newcombe's
    score interval, and the note says so. With one class only everything is NaN.

    Parameters
    ----------
    y_true, y_prob : outcomes 0 or 1, and any probabilities that order them
    level : the probability with which the interval covers
    scale : on which the interval is symmetric: "plain", or "logit", which suits an AUC near 1
    sample_weight, weight_kind : not negative; "sampling" weights of rows that were drawn once, or
        "frequency", how often each row was observed
    cluster : rows of the same cluster depend on each other, the clusters do not

    >>> auc = auc_interval([0, 0, 1, 0, 1, 1], [0.1, 0.3, 0.4, 0.5, 0.6, 0.8])
    >>> round(auc.value, 4), round(auc.standard_error, 4), round(auc.lower, 4), auc.upper
    (0.8889, 0.1571, 0.5809, 1.0)
    """
    panel = make_panel(
        y_true, {"y_prob": y_prob}, sample_weight=sample_weight, weight_kind=weight_kind, cluster=cluster
    )
    level = check_inside(level, "level", 0, 1, closed="neither")
    return estimate_auc(panel, level, check_option(scale, "scale", SCALES))


def estimate_auc(panel: Panel, level: float, scale: str = "plain") -> Estimate:
    """The AUC of a panel's only forecast with its interval."""
    shares = placements(panel.outcome, panel.only, panel.weight)
    value = mean_placement(panel, shares)
    error = placement_error(panel, shares)
    note = _describe_limits(panel, value, error)
    if np.isnan(value):
        lower = upper = np.nan
    elif value in {0, 1} or np.isnan(error):
        lower, upper = score_bounds(value, _draws_by_class(panel), level)
    else:
        lower, upper = _normal_bounds(value, error, level, scale)
    return Estimate(
        measure="roc_auc",
        value=value,
        standard_error=error,
        lower=lower,
        upper=upper,
        level=level,
        method=f"{describe_method(panel)}, {scale} scale",
        n=panel.units.total,
        note=note,
    )


def placements(outcome: FloatArray, forecast: FloatArray, weight: FloatArray | None = None) -> FloatArray:
    """Share of the other class that each case is ordered rightly against; ties count half.

    NaN where the other class is absent.

    >>> placements(np.array([0.0, 1.0, 1.0, 0.0]), np.array([0.1, 0.4, 0.3, 0.4]))
    array([1.  , 0.75, 0.5 , 0.25])
    """
    level, position = np.unique(forecast, return_inverse=True)
    w = np.ones(len(outcome)) if weight is None else weight
    events, non_events = (
        np.bincount(position, weights=of_class, minlength=len(level)).astype(np.float64)
        for of_class in (w * outcome, w * (1 - outcome))
    )
    of_event, of_non_event = _share_below(non_events), 1 - _share_below(events)
    return np.where(outcome == 1, of_event[position], of_non_event[position])


def auc_influence(outcome: FloatArray, forecast: FloatArray, weight: FloatArray | None = None) -> FloatArray:
    """How much each case moves the AUC: deviations whose mean is 0.

    The standard error of their mean is that of the AUC, up to DeLong's m/(m - 1) within classes.
    NaN if only one class is there.
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


def mean_placement(panel: Panel, shares: FloatArray) -> float:
    """The AUC, or with differences of placements that of two AUCs; NaN if a class is absent."""
    is_event, _ = _classes(panel.outcome)
    w = panel.units.row_weight[is_event]
    return float((w * shares[is_event]).sum() / w.sum()) if len(w) else np.nan


def placement_error(panel: Panel, shares: FloatArray) -> float:
    """Standard error of the mean of placements, or of their differences, after DeLong or Obuchowski.

    NaN if a class has fewer than two independent draws.
    """
    if not panel.outcome.any() or panel.outcome.all():
        return np.nan
    variance = _delong_variance if panel.cluster is None else _obuchowski_variance
    return float(np.sqrt(variance(panel, shares)))


def describe_method(panel: Panel) -> str:
    """Whose variance it is."""
    if panel.cluster is None:
        return "DeLong"
    return f"DeLong with Obuchowski's cluster errors ({panel.units.size:g} clusters)"


def _share_below(weight: FloatArray) -> FloatArray:
    """Share of the weight below each level, with half of what lies at it."""
    upto = np.cumsum(weight)
    return (upto - weight / 2) / upto[-1] if upto[-1] > 0 else np.full(len(weight), np.nan)


def _classes(outcome: FloatArray) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which rows are events, and which are not."""
    return outcome == 1, outcome == 0


def _delong_variance(panel: Panel, shares: FloatArray) -> float:
    """Sum of the variances of the two class means."""
    variance = 0.0
    for chosen in _classes(panel.outcome):
        weight = None if panel.weight is None else panel.weight[chosen]
        units = Units(rows=int(chosen.sum()), weight=weight, weight_kind=panel.weight_kind)
        variance += units.standard_error(shares[chosen]) ** 2
    return variance


def _obuchowski_variance(panel: Panel, shares: FloatArray) -> float:
    """Both classes' sums of deviations in each cluster, with their covariance.

    With one row in each cluster it is DeLong's. It is never negative, as each class has at most as
    many clusters as there are, and so at least their factor G/(G - 1).
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
    """Give n/(n - 1), and NaN for one."""
    return n / (n - 1) if n > 1 else np.nan


def _draws_by_class(panel: Panel) -> tuple[float, float]:
    """Number of independent draws with events and with non-events."""
    is_event, is_other = _classes(panel.outcome)
    if panel.cluster is not None:
        return len(np.unique(panel.cluster[is_event])), len(np.unique(panel.cluster[is_other]))
    count = panel.units.row_weight if panel.units.are_repeated_rows else np.ones(panel.units.rows)
    return float(count[is_event].sum()), float(count[is_other].sum())


def _normal_bounds(value: float, error: float, level: float, scale: str) -> tuple[float, float]:
    """Bounds symmetric around the AUC, or around its logit."""
    z = float(ndtri((1 + level) / 2))
    if scale == "plain":
        return max(value - z * error, 0.0), min(value + z * error, 1.0)
    half_width = z * error / (value * (1 - value))
    return float(expit(logit(value) - half_width)), float(expit(logit(value) + half_width))


def score_bounds(value: float, draws: tuple[float, float], level: float) -> tuple[float, float]:
    """Newcombe's interval (his method 5): all AUCs whose own standard error reaches the value."""
    z = float(ndtri((1 + level) / 2))
    return _lower_score_bound(value, draws, z), 1 - _lower_score_bound(1 - value, draws, z)


def _lower_score_bound(value: float, draws: tuple[float, float], z: float) -> float:
    if value == 0:
        return 0.0
    events, others = draws
    more = (events + others) / 2 - 1

    def excess(auc: float) -> float:
        spread = 1 + more * ((1 - auc) / (2 - auc) + auc / (1 + auc))
        return value - auc - z * float(np.sqrt(auc * (1 - auc) * spread / (events * others)))

    return float(brentq(excess, 0.0, min(value, np.nextafter(1.0, 0.0)), xtol=1e-15))


def _describe_limits(panel: Panel, value: float, error: float) -> str:
    """Why the interval is not DeLong's, or has no width; empty if nothing is wrong."""
    if np.isnan(value):
        return f"The AUC needs both outcomes; all are {panel.outcome[0]:g}."
    if value in {0, 1}:
        return (
            f"The forecasts separate the outcomes and DeLong's error is {error:g}: bounds after Newcombe."
            if error == 0
            else f"The forecasts separate the outcomes, with one {_unit(panel)} of a class: "
            "bounds after Newcombe."
        )
    if np.isnan(error):
        return f"One {_unit(panel)} of a class has no spread: bounds after Newcombe."
    return "Nothing varies, so that the interval has no width." if error == 0 else ""


def _unit(panel: Panel) -> str:
    return panel.units.describes.removesuffix("s")
