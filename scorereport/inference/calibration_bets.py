"""Evidence against calibration within a tolerance: bets on outcomes that are fixed before they are read.

The hypothesis: given its forecast and all that was known before, an outcome is an event with a probability
between a lower and an upper bound. A bet is another probability q, a function of the forecast that was fitted
to earlier audits. With p the number between the bounds that is nearest to q, the evidence of a row is the
likelihood ratio (q/p)^y ((1 - q)/(1 - p))^(1 - y). Its mean is at most 1 under the hypothesis: it is an
e-value. If q is above the upper bound u, the mean at probability θ is θ q/u + (1 - θ)(1 - q)/(1 - u), which
rises with θ and is 1 at u; the other side is the mirror image.

- Evidence of independent rows is multiplied; a frequency weight repeats a row.
- A sampling weight w, scaled to at most 1, makes evidence e to 1 + w (e - 1). This is the mean of e and 1, at
  least as large as e^w, and an e-value also if weights depend on outcomes, as inverse probabilities do.
- In a cluster the mean over rows is taken: the mean of e-values is an e-value, however they depend on each
  other. Clusters are multiplied.
- The evidence of an audit is the weighted mean over bets, with weights that are fixed before, too.

Evidence is the product over audits. By Ville's inequality it ever reaches 1/α with probability at most α.
For changes the detector R = e (1 + R) is used, with R = 0 before the first audit: if the hypothesis is true,
the mean number of audits until R reaches A is at least A.

With bounds equal to the forecast, the evidence of a bet is the e-value of the "safe" Hosmer-Lemeshow test for
the same q. That test fits q by isotonic regression to a random half of the sample, computes the e-value of
the other half, and takes the mean over splits. Here q is fitted to earlier audits, so that all rows count,
nothing is random, and evidence can be multiplied over audits; several bets and a tolerance are added.

References
----------
Henzi, Ziegel (2022), Biometrika 109, doi:10.1093/biomet/asab047
Arnold, Henzi, Ziegel (2023), Ann. Appl. Stat. 17, doi:10.1214/22-AOAS1697
Shin, Ramdas, Rinaldo (2024), New Engl. J. Stat. Data Sci. 2, doi:10.51387/23-NEJSDS51
Henzi, Puke, Dimitriadis, Ziegel (2023), A safe Hosmer-Lemeshow test, arXiv:2203.00426
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from math import inf, log
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.special import expit

from scorereport._utils.arrays import FloatArray, IntArray, row_chunks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import ArrayLike

    from scorereport.reliability.sampling import SamplingUnits

#: Bets are fitted to this many audits, the last ones.
AUDITS_FITTED = 6
#: Bets that need no earlier audit: shifts of log-odds, and factors of log-odds.
SHIFTS = (-0.5, -0.25, 0.25, 0.5)
SLOPES = (0.6, 0.8, 1.25, 1.6)
#: Shares of the logistic and of the isotonic bet; the fixed bets share the rest equally.
LOGISTIC_SHARE, ISOTONIC_SHARE = 0.4, 0.3
#: Penalty of the logistic bet: half of it times the squared distance of intercept and slope from 0 and 1.
RIDGE = 5.0
#: The isotonic curve of n cases replaces the forecast by n/(n + _PRIOR_CASES) times _MOST_CURVE.
_PRIOR_CASES, _MOST_CURVE = 200.0, 0.8
#: No bet is closer than this to 0 or 1, and no bound for a forecast of 0 or 1 is: evidence of a row stays
#: between a millionth and a million, also for an event that was forecast with probability 0.
_SUREST = 1e-6
#: Log-odds beyond this are those of bets that are cut.
_FARTHEST = 100.0
_MOST_STEPS, _MOST_HALVINGS = 100, 40
#: Newton's method has converged when its next step is at most this share of the parameters, plus 1.
_LAST_STEP = 1e-9
#: A likelihood counts as lower only if it is lower by more than this, relative to its size.
_ROUNDING = 1e-12
_NO_CURVE = np.empty(0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BinnedOutcomes:
    """Outcomes of an earlier audit in bins of the forecast.

    `log_odds` are the midpoints of the bins in log-odds, `weights` the numbers of cases in them, and `events`
    those with the event.
    """

    log_odds: FloatArray
    weights: FloatArray
    events: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CalibrationBet:
    """A function of the forecast that is fixed before the outcomes are read, and its weight among the bets.

    Parameters of a "logistic" bet are intercept and slope of the log-odds; that of a "shift" or a "slope" is
    its value. That of an "isotonic" bet is the share of `curve`, probabilities at `log_odds`, in its mean
    with the forecast.
    """

    name: str
    parameters: tuple[float, ...]
    weight: float
    log_odds: FloatArray = field(default_factory=_NO_CURVE.copy)
    curve: FloatArray = field(default_factory=_NO_CURVE.copy)

    def probability(self, forecast: ArrayLike) -> FloatArray:
        """Return the probability that the bet gives to the event, never within a millionth of 0 or 1.

        >>> CalibrationBet(name="shift", parameters=(0.5,), weight=1.0).probability([0.2, 0.5]).round(4)
        array([0.2919, 0.6225])
        """
        inside = _keep_inside(np.asarray(forecast, dtype=np.float64))
        return self.bet_on(inside, _find_log_odds(inside))

    def bet_on(self, forecast: FloatArray, log_odds: FloatArray) -> FloatArray:
        """Return the probability for forecasts strictly between 0 and 1, given with their log-odds."""
        if self.name == "isotonic":
            share = self.parameters[0]
            q = share * np.interp(log_odds, self.log_odds, self.curve) + (1 - share) * forecast
        else:
            intercept, slope = self._line
            q = _find_probability(intercept + slope * log_odds)
        return _keep_inside(q)

    @property
    def _line(self) -> tuple[float, float]:
        if self.name == "shift":
            return self.parameters[0], 1.0
        return (0.0, self.parameters[0]) if self.name == "slope" else (self.parameters[0], self.parameters[1])


def fit_calibration_bets(earlier: Sequence[BinnedOutcomes]) -> tuple[CalibrationBet, ...]:
    """Return the bets of an audit, with weights that sum to 1, from earlier audits, oldest first.

    Without cases in earlier audits there are only the fixed bets.

    >>> [bet.name for bet in fit_calibration_bets([])]
    ['shift', 'shift', 'shift', 'shift', 'slope', 'slope', 'slope', 'slope']
    """
    x, cases, events = _pool_bins(earlier[-AUDITS_FITTED:])
    if not len(x):
        return _make_fixed_bets(1.0)
    logistic = CalibrationBet(name="logistic", parameters=_fit_ridge(x, cases, events), weight=LOGISTIC_SHARE)
    total = float(cases.sum())
    isotonic = CalibrationBet(
        name="isotonic",
        parameters=(_MOST_CURVE * total / (total + _PRIOR_CASES),),
        weight=ISOTONIC_SHARE,
        log_odds=x,
        curve=isotonic_regression(events / cases, weights=cases).x,
    )
    return logistic, isotonic, *_make_fixed_bets(1 - LOGISTIC_SHARE - ISOTONIC_SHARE)


def tolerance_bounds(forecast: ArrayLike, tolerance: float) -> tuple[FloatArray, FloatArray]:
    """Return the bounds of probabilities whose log-odds differ from those of the forecast by the tolerance.

    They are exact for forecasts of 0 and 1, and without a tolerance.

    >>> lower, upper = tolerance_bounds([0.0, 0.5, 1.0], 0.1)
    >>> lower.round(4), upper.round(4)
    (array([0.   , 0.475, 1.   ]), array([0.   , 0.525, 1.   ]))
    """
    p = np.asarray(forecast, dtype=np.float64)
    if tolerance == 0:
        return p, p
    odds_ratio = np.exp(tolerance)
    return p / (p + (1 - p) * odds_ratio), p / (p + (1 - p) / odds_ratio)


def calibration_evidence(
    forecast: FloatArray,
    outcome: ArrayLike,
    units: SamplingUnits,
    bets: Sequence[CalibrationBet],
    lower: FloatArray,
    upper: FloatArray,
) -> FloatArray:
    """Return the log evidence of the rows for each bet against probabilities between the bounds of each row.

    It is always finite, and depends on the order of rows only by rounding. That of several parts of a sample,
    which share no cluster, adds up.
    """
    y = np.asarray(outcome)
    totals = _totals_of(units, len(bets))
    for rows in row_chunks(len(y)):
        inside = _keep_inside(forecast[rows])
        log_odds, miss = _find_log_odds(inside), 1.0 - y[rows]
        bounds = np.minimum(lower[rows], 1 - _SUREST), np.maximum(upper[rows], _SUREST)
        for number, bet in enumerate(bets):
            q = bet.bet_on(inside, log_odds)
            nearest = np.clip(q, *bounds)
            q -= miss
            nearest -= miss
            q /= nearest
            totals.add(number, rows, q)
    return totals.log_evidence()


def combine_evidence(log_evidence: ArrayLike, weights: ArrayLike) -> float:
    """Return the log of the weighted mean of evidence.

    >>> round(combine_evidence([0.0, -np.inf, np.log(4)], [1.0, 1.0, 2.0]), 6) == round(log(9 / 4), 6)
    True
    """
    logs, shares = (np.asarray(values, dtype=np.float64) for values in (log_evidence, weights))
    greatest = float(logs.max())
    if greatest == -inf:
        return -inf
    return greatest + log(float((shares * np.exp(logs - greatest)).sum() / shares.sum()))


def update_detector(log_detector: float, log_factor: float) -> float:
    """Return log R of R = e (1 + R): evidence for a change at some audit so far; -∞ before the first audit.

    >>> round(update_detector(update_detector(-inf, log(2)), log(3)), 6) == round(log(9), 6)
    True
    """
    return log_factor + float(np.logaddexp(0.0, log_detector))


# Bets


def _make_fixed_bets(weight: float) -> tuple[CalibrationBet, ...]:
    values = [("shift", shift) for shift in SHIFTS] + [("slope", slope) for slope in SLOPES]
    share = weight / len(values)
    return tuple(CalibrationBet(name=name, parameters=(value,), weight=share) for name, value in values)


def _keep_inside(probability: FloatArray) -> FloatArray:
    return np.clip(probability, _SUREST, 1 - _SUREST)


def _find_log_odds(probability: FloatArray) -> FloatArray:
    """Log-odds of probabilities that are not close to 0 or 1: `logit` takes several times as long."""
    return np.log(probability / (1 - probability))


def _find_probability(log_odds: FloatArray) -> FloatArray:
    """Probabilities of log-odds, which are cut far out: `expit` takes several times as long."""
    return 1 / (1 + np.exp(np.clip(-log_odds, -_FARTHEST, _FARTHEST)))


def _pool_bins(earlier: Sequence[BinnedOutcomes]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Midpoints of the bins that are not empty, ascending, with cases and events of all audits in them."""
    columns = [(audit.log_odds, audit.weights, audit.events) for audit in earlier]
    x, cases, events = (
        np.concatenate([np.empty(0), *values]).astype(np.float64)
        for values in (zip(*columns, strict=True) if columns else ((), (), ()))
    )
    bins, number = np.unique(x[cases > 0], return_inverse=True)
    count, hits = (np.bincount(number, weights=values[cases > 0]) for values in (cases, events))
    return bins, count.astype(np.float64), hits.astype(np.float64)


def _fit_ridge(x: FloatArray, cases: FloatArray, events: FloatArray) -> tuple[float, float]:
    """Intercept and slope of the penalised logistic regression, or 0 and 1 should it not converge.

    The penalised likelihood is strictly concave, so Newton's method with halved steps converges.
    """
    at = (0.0, 1.0)
    step = _find_step(x, cases, events, at)
    for _ in range(_MOST_STEPS):
        if _is_small(step, at):
            return at[0] + step[0], at[1] + step[1]
        at = _climb(partial(_likelihood, x, cases, events), at, step)
        step = _find_step(x, cases, events, at)
    return 0.0, 1.0


def _find_step(
    x: FloatArray, cases: FloatArray, events: FloatArray, at: tuple[float, float]
) -> tuple[float, float]:
    """The step of Newton's method."""
    line = at[0] + at[1] * x
    q, rest = expit(line), expit(-line)
    residual, information = events * rest - (cases - events) * q, cases * q * rest
    slope_a = float(residual.sum()) - RIDGE * at[0]
    slope_b = float((residual * x).sum()) - RIDGE * (at[1] - 1)
    aa = float(information.sum()) + RIDGE
    ab = float((information * x).sum())
    bb = float((information * x * x).sum()) + RIDGE
    determinant = aa * bb - ab * ab
    return (bb * slope_a - ab * slope_b) / determinant, (aa * slope_b - ab * slope_a) / determinant


def _is_small(step: Iterable[float], at: Iterable[float]) -> bool:
    return all(abs(s) <= _LAST_STEP * (1 + abs(t)) for s, t in zip(step, at, strict=True))


def _likelihood(x: FloatArray, cases: FloatArray, events: FloatArray, at: tuple[float, float]) -> float:
    line = at[0] + at[1] * x
    loss = events * np.logaddexp(0.0, -line) + (cases - events) * np.logaddexp(0.0, line)
    return -float(loss.sum()) - RIDGE / 2 * (at[0] ** 2 + (at[1] - 1) ** 2)


def _climb(
    likelihood: Callable[[tuple[float, float]], float], at: tuple[float, float], step: tuple[float, float]
) -> tuple[float, float]:
    """Where the likelihood is not lower, by the whole step or by a half, a quarter and so on of it."""
    lowest = likelihood(at)
    lowest -= _ROUNDING * abs(lowest)
    for _ in range(_MOST_HALVINGS):
        moved = (at[0] + step[0], at[1] + step[1])
        if likelihood(moved) >= lowest:
            return moved
        step = (step[0] / 2, step[1] / 2)
    return at


# Sums over rows and clusters


def _totals_of(units: SamplingUnits, bets: int) -> _RowTotals | _ClusterTotals:
    """Where evidence of rows is collected, with weights as repetitions or as shares of at most 1."""
    weight = units.weight
    repeats = weight if units.are_repeated_rows else None
    share = None
    if weight is not None and not units.are_repeated_rows:
        share = weight / max(units.weight_sums.largest_row, np.finfo(float).tiny)
    if units.cluster is None:
        return _RowTotals(repeats, share, np.zeros(bets))
    cases = np.bincount(units.cluster, weights=repeats).astype(np.float64)
    return _ClusterTotals(repeats, share, units.cluster, cases, np.zeros((bets, len(cases))))


@dataclass(frozen=True, slots=True)
class _RowTotals:
    """Sums of log evidence of independent rows, for each bet."""

    repeats: FloatArray | None
    share: FloatArray | None
    totals: FloatArray

    def add(self, bet: int, rows: slice, evidence: FloatArray) -> None:
        logs = np.log(_soften(evidence, self.share, rows))
        self.totals[bet] += (logs if self.repeats is None else logs * self.repeats[rows]).sum()

    def log_evidence(self) -> FloatArray:
        return self.totals


@dataclass(frozen=True, slots=True)
class _ClusterTotals:
    """Sums of evidence of the rows of each cluster, for each bet."""

    repeats: FloatArray | None
    share: FloatArray | None
    cluster: IntArray
    cases: FloatArray
    totals: FloatArray

    def add(self, bet: int, rows: slice, evidence: FloatArray) -> None:
        softened = _soften(evidence, self.share, rows)
        repeated = softened if self.repeats is None else softened * self.repeats[rows]
        self.totals[bet] += np.bincount(self.cluster[rows], weights=repeated, minlength=len(self.cases))

    def log_evidence(self) -> FloatArray:
        counted = self.cases > 0
        return np.log(self.totals[:, counted] / self.cases[counted]).sum(axis=1)


def _soften(evidence: FloatArray, share: FloatArray | None, rows: slice) -> FloatArray:
    """The mean of evidence and 1, with the share of each row."""
    return evidence if share is None else 1 + share[rows] * (evidence - 1)
