"""Formulas in plain arithmetic, ours and those of R packages, apart from the engine.

Where a definition is the difference, it is an argument: the same function gives both numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import betaincinv, expit, logit
from scipy.stats import chi2, kstwobign, norm, t
from statsmodels.nonparametric.smoothers_lowess import lowess

if TYPE_CHECKING:
    from collections.abc import Callable

    from scorereport._utils.arrays import FloatArray

#: glm stops when the deviance changes by less than this share; lrm when -2 log L changes by less than this,
#: after one more step.
GLM_STOP, LRM_STOP = 1e-8, 0.025
_MOST_STEPS = 50


# ---- Ranks ----


class Placements(NamedTuple):
    """The share of non-events below each event, and of events above each non-event."""

    events: FloatArray
    others: FloatArray


def place(y: FloatArray, p: FloatArray) -> Placements:
    """Placements, by comparing every pair."""
    difference = p[y == 1][:, None] - p[y == 0][None, :]
    wins = np.where(difference > 0, 1.0, np.where(difference == 0, 0.5, 0.0))
    return Placements(wins.mean(axis=1), wins.mean(axis=0))


def area(y: FloatArray, p: FloatArray) -> float:
    """The AUC, by comparing every pair."""
    return float(place(y, p).events.mean())


def delong_p_value(y: FloatArray, a: FloatArray, b: FloatArray, *, welch: bool) -> float:
    """The p-value of DeLong's paired test: normal, or t with Welch's degrees of freedom."""
    first, second = place(y, a), place(y, b)
    parts = [one - other for one, other in zip(first, second, strict=True)]
    variances = [part.var(ddof=1) / len(part) for part in parts]
    total = sum(variances)
    z = abs(parts[0].mean()) / total**0.5
    if not welch:
        return float(2 * norm.sf(z))
    freedom = total**2 / sum(v**2 / (len(part) - 1) for v, part in zip(variances, parts, strict=True))
    return float(2 * t.sf(z, freedom))


# ---- Logistic regression ----


class LineResult(NamedTuple):
    """Coefficients, the weights of the last step, fitted probabilities, and the inverse information."""

    value: FloatArray
    weight: FloatArray
    fitted: FloatArray
    inverse: FloatArray

    @property
    def errors(self) -> FloatArray:
        """Standard errors from the inverse information."""
        return np.sqrt(np.diag(self.inverse))


def glm_line(
    y: FloatArray,
    p: FloatArray,
    *,
    weight: FloatArray | None = None,
    slope: bool = True,
    stop: float = GLM_STOP,
) -> LineResult:
    """The calibration line by weighted least squares as in R's glm: its weights are those of the step before.

    With a `stop` of 0 it goes on until the coefficients stay the same.
    """
    w, x = np.ones(len(y)) if weight is None else weight, logit(p)
    columns, offset = (columns_of(p), 0.0) if slope else (np.ones((len(y), 1)), x)
    mean = (w * y + 0.5) / (w + 1)
    log_odds, before, value = logit(mean), _deviance(y, mean, w), np.zeros(columns.shape[1])
    for _ in range(_MOST_STEPS):
        spread = mean * (1 - mean)
        inverse = np.linalg.inv(columns.T @ ((w * spread)[:, None] * columns))
        value = inverse @ (columns.T @ (w * spread * (log_odds - offset + (y - mean) / spread)))
        log_odds = offset + columns @ value
        mean = expit(log_odds)
        now = _deviance(y, mean, w)
        if abs(now - before) / (abs(now) + 0.1) < stop:
            break
        before = now
    return LineResult(value, w * spread, mean, np.asarray(inverse, dtype=np.float64))


def converged_line(
    y: FloatArray, p: FloatArray, *, weight: FloatArray | None = None, slope: bool = True
) -> LineResult:
    """The calibration line, and the information at it."""
    found = glm_line(y, p, weight=weight, slope=slope, stop=0.0)
    w = np.ones(len(y)) if weight is None else weight
    columns = columns_of(p) if slope else np.ones((len(y), 1))
    spread = w * found.fitted * (1 - found.fitted)
    inverse = np.linalg.inv(columns.T @ (spread[:, None] * columns))
    return LineResult(found.value, spread, found.fitted, np.asarray(inverse, dtype=np.float64))


def lrm_line(y: FloatArray, p: FloatArray) -> FloatArray:
    """Intercept and slope by the Newton steps of lrm.fit, which end early."""
    columns, value = columns_of(p), np.array([logit(y.mean()), 0.0])
    before, is_last = np.inf, False
    for _ in range(_MOST_STEPS):
        mean = expit(columns @ value)
        now = _deviance(y, mean, np.ones(len(y)))
        is_last = before - now < LRM_STOP
        before = now
        spread = mean * (1 - mean)
        value = value + np.linalg.solve(columns.T @ (spread[:, None] * columns), columns.T @ (y - mean))
        if is_last:
            break
    return value


def columns_of(p: FloatArray) -> FloatArray:
    """The columns of a calibration line: ones and log-odds."""
    return np.column_stack([np.ones_like(p), logit(p)])


def _deviance(y: FloatArray, mean: FloatArray, weight: FloatArray) -> float:
    return float(-2 * (weight * np.where(y == 1, np.log(mean), np.log1p(-mean))).sum())


# ---- Calibration ----


def hosmer_lemeshow(y: FloatArray, p: FloatArray, group: FloatArray) -> float:
    """The statistic for given groups."""
    terms = []
    for one in np.unique(group):
        held = group == one
        observed, expected, n = y[held].sum(), p[held].sum(), held.sum()
        terms.append((observed - expected) ** 2 / (expected * (1 - expected / n)))
    return float(sum(terms))


def groups_at_quantiles(p: FloatArray, number: int = 10) -> FloatArray:
    """Groups between quantiles that are interpolated (type 7 of R), each with its upper end."""
    ends = np.unique(np.quantile(p, np.linspace(0, 1, number + 1)))
    return np.maximum(np.searchsorted(ends, p, side="left"), 1).astype(np.float64)


def groups_at_forecasts(p: FloatArray, number: int = 10) -> FloatArray:
    """Groups that end at the forecast that completes their share of the rows."""
    last = np.sort(p)[[-(-k * len(p) // number) - 1 for k in range(1, number)]]
    return np.searchsorted(np.unique(last), p, side="left").astype(np.float64)


def smooth_errors(y: FloatArray, p: FloatArray, *, interpolated: float, cut: bool) -> FloatArray:
    """Mean, 90 % quantile and maximum of the distance of lowess from the forecasts.

    Lowess is computed at forecasts that are this share of the range apart, and interpolated between them.
    """
    reach = interpolated * (p.max() - p.min())
    curve = lowess(y, p, frac=2 / 3, it=0, delta=reach, return_sorted=False)
    distance = np.abs(p - (np.clip(curve, 0, 1) if cut else curve))
    return np.array([distance.mean(), np.quantile(distance, 0.9), distance.max()])


class CumulativeTest(NamedTuple):
    """The parts of the tests by cumulative calibration errors: p-values, and statistics."""

    mean: float
    distance: float
    bridge_p: float
    motion_p: float
    bridge: float
    motion: float


def cumulative_calibration(y: FloatArray, p: FloatArray) -> CumulativeTest:
    """Sums of y - p in the order of p, in the time of their variance: a Brownian motion if calibrated."""
    order = np.argsort(p, kind="stable")
    variance, total = np.cumsum((p * (1 - p))[order]), np.cumsum((y - p)[order])
    last = np.append(np.diff(p[order]) > 0, True)
    time, path = (variance / variance[-1])[last], (total / np.sqrt(variance[-1]))[last]
    largest = float(np.abs(path).max())
    mean = float(2 * norm.sf(abs(path[-1])))
    distance = float(kstwobign.sf(np.abs(path - time * path[-1]).max()))
    bridge = -2 * (np.log(mean) + np.log(distance))
    k = 2 * np.arange(50) + 1
    inside = 4 / np.pi * ((-1.0) ** np.arange(50) / k * np.exp(-(k**2) * np.pi**2 / 8 / largest**2)).sum()
    p_values = float(chi2.sf(bridge, 4)), float(1 - inside)
    return CumulativeTest(mean, distance, *p_values, float(bridge), largest)


def linear_parts(y: FloatArray, p: FloatArray) -> tuple[float, float]:
    """MCB and DSC of the Brier score by a straight line of least squares in place of isotonic regression."""
    line = np.polyval(np.polyfit(p, y, 1), p)
    score, recalibrated, constant = (((q - y) ** 2).mean() for q in (p, line, y.mean()))
    return float(score - recalibrated), float(constant - recalibrated)


def honest_bounds_by_hand(n: FloatArray, events: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Bounds at each cell from all runs of cells, by Clopper and Pearson, with the error shared equally."""
    cells = len(n)
    error = (1 - level) / (cells * (cells + 1))
    lower, upper = np.zeros(cells), np.ones(cells)
    for first in range(cells):
        cases, happened = np.cumsum(n[first:]), np.cumsum(events[first:])
        low, high = clopper_pearson(happened, cases, error)
        for last in range(first, cells):  # a run bounds the right from below, and the left from above
            lower[last:] = np.maximum(lower[last:], low[last - first])
            upper[: first + 1] = np.minimum(upper[: first + 1], high[last - first])
    return lower, upper


def clopper_pearson(events: FloatArray, n: FloatArray, tail: float) -> tuple[FloatArray, FloatArray]:
    """Exact limits with this error on each side."""
    lower = np.where(events > 0, betaincinv(np.maximum(events, 1), n - events + 1, tail), 0.0)
    upper = np.where(events < n, betaincinv(events + 1, np.maximum(n - events, 1), 1 - tail), 1.0)
    return lower, upper


def newey_west(values: FloatArray, lags: int) -> float:
    """The standard error of a mean with Bartlett weights, without a factor for the estimated mean."""
    e = values - values.mean()
    n = len(e)
    total = (e**2).sum()
    for lag in range(1, lags + 1):
        total += 2 * (1 - lag / (lags + 1)) * (e[lag:] * e[:-lag]).sum()
    return float(np.sqrt(total) / n)


def partial_area(fpr: FloatArray, tpr: FloatArray, upto: float) -> float:
    """The area under a ROC curve, in the order of its points, up to a false positive rate."""
    end = int(np.searchsorted(fpr, upto, side="left"))
    share = (upto - fpr[end - 1]) / (fpr[end] - fpr[end - 1])
    x = np.append(fpr[:end], upto)
    y = np.append(tpr[:end], tpr[end - 1] + share * (tpr[end] - tpr[end - 1]))
    return float((np.diff(x) * (y[1:] + y[:-1]) / 2).sum())


# ---- Agreement of labels ----


class Kappa(NamedTuple):
    """A weighted kappa, and the variances of Fleiss, Cohen and Everitt, and of psych."""

    value: float
    variance: float
    variance_of_psych: float


def weighted_kappa(y: FloatArray, label: FloatArray, distance: Callable[[FloatArray], FloatArray]) -> Kappa:
    """Kappa for a distance of two labels, with variances for a large number of rows."""
    size = int(max(y.max(), label.max()))
    joint = np.zeros((size, size))
    np.add.at(joint, (y.astype(int) - 1, label.astype(int) - 1), 1 / len(y))
    row, column = np.indices((size, size))
    far = distance(np.abs(row - column).astype(np.float64))
    weight = 1 - far / far.max()
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    observed, chance = (weight * joint).sum(), (weight * np.outer(rows, columns)).sum()

    def variance(of_row: FloatArray, of_column: FloatArray) -> float:
        mixed = weight * (1 - chance) - (of_row[:, None] + of_column[None, :]) * (1 - observed)
        spread = (joint * mixed**2).sum() - (observed * chance - 2 * chance + observed) ** 2
        return float(spread / (len(y) * (1 - chance) ** 4))

    means = weight @ columns, rows @ weight
    return Kappa(
        value=float((observed - chance) / (1 - chance)),
        variance=variance(*means),
        variance_of_psych=variance(means[0], rows * weight.sum(axis=1)),
    )
