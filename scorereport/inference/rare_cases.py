"""Intervals of mean scores that allow for rare cases that were not observed.

Resamples contain only observed cases: every resample of 30 rows without an event has no event, though one
case in nine may be an event. Cases are of two kinds, by outcome or by whether they surprise a forecast, and a
mean score is π m₁ + (1 - π) m₀, where π is the share of the first kind and m₁, m₀ are the means of both
kinds. The share has an exact interval. Each mean counts one case more than was observed, with the mean over
all forecasts of the score of such a case. The rest of the standard error, which does not come from the share,
is added in squares. Intervals reach at least that far; with `FEW_CASES` or more of both kinds, resamples are
enough.

References
----------
Clopper, Pearson (1934), Biometrika 26, doi:10.1093/biomet/26.4.404
Korn, Graubard (1998), Survey Methodology 24, 193-201: the number of cases of weighted and clustered rows
Zou, Donner (2008), Statistics in Medicine 27, doi:10.1002/sim.3095: adding in squares
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import betaincinv, ndtri

from scorereport.inference.losses import expected_score
from scorereport.inference.panel import are_surprises
from scorereport.scores.registry import REGISTRY

if TYPE_CHECKING:
    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.losses import Measure
    from scorereport.inference.panel import ForecastPanel
    from scorereport.reliability.sampling import SamplingUnits

#: With this many cases of both kinds or more, resamples are enough.
FEW_CASES = 50
WIDENED = "widened by the exact interval of the share of rare cases"
#: Returns the bounds of an interval at a level.
Bounds = Callable[[float], tuple[float, float]]
#: Number of prevalences at which a skill is computed.
_GRID = 201


class CaseSplit(NamedTuple):
    """Cases of a kind and all others: the share of the kind, the effective number of cases, and both means.

    The means count one case more than was observed; `share_error` is the standard error of the share.
    """

    share: float
    share_error: float
    cases: float
    inside: float
    outside: float

    @property
    def fewest(self) -> float:
        """The number of cases of the rarer kind."""
        return min(self.share, 1 - self.share) * self.cases

    def mean(self, share: float) -> float:
        """The mean score if the kind had this share; a kind of share 0 does not count, even if infinite."""
        inside = share * self.inside if share > 0 else 0.0
        return inside + ((1 - share) * self.outside if share < 1 else 0.0)

    def reach(self, within: float, level: float) -> tuple[float, float]:
        """How far the mean score may be below and above the observed one; `within` is added in squares."""
        middle = self.mean(self.share)
        ends = sorted(self.mean(share) for share in exact_share(self.share, self.cases, level))
        return float(np.hypot(middle - ends[0], within)), float(np.hypot(ends[1] - middle, within))


def exact_share(share: float, cases: float, level: float) -> tuple[float, float]:
    """Return Clopper and Pearson's interval of a share; the number of cases need not be whole.

    >>> round(exact_share(0.0, 30, 0.95)[1], 4)  # 1 - 0.025**(1/30)
    0.1157
    """
    tail, happened = (1 - level) / 2, share * cases
    lower = betaincinv(happened, cases - happened + 1, tail) if share > 0 else 0.0
    upper = betaincinv(happened + 1, cases - happened, 1 - tail) if share < 1 else 1.0
    return float(lower), float(upper)


def split_cases(
    *,
    share: float,
    share_error: float,
    cases: float,
    means: tuple[float, float],
    typical: tuple[float, float],
) -> CaseSplit:
    """Make a split whose means, of the kind and of the others, include one more case with a typical score."""
    counts = share * cases, (1 - share) * cases
    inside, outside = (
        ((mean * count if count > 0 else 0.0) + one) / (count + 1)
        for mean, count, one in zip(means, counts, typical, strict=True)
    )
    return CaseSplit(share, share_error, cases, inside, outside)


def bound_mean(
    value: float, error: float, splits: Iterable[CaseSplit], *, quantile: float, level: float
) -> tuple[float, float]:
    """Return the interval of a mean score that allows for rare cases in each split; NaN if none is rare."""
    bounds = []
    for split in splits:
        if split.fewest < FEW_CASES:
            between = (split.inside - split.outside) * split.share_error
            rest = max(error**2 - between**2, 0.0) if np.isfinite(between) else 0.0
            below, above = split.reach(quantile * rest**0.5, level)
            bounds.append((value - below, value + above))
    lower, upper = zip(*bounds, strict=True) if bounds else ((np.nan,), (np.nan,))
    return min(lower), max(upper)


def clip_to_range(bounds: tuple[float, float], measure: Measure) -> tuple[float, float]:
    """Clip bounds to the range of a mean score; unchanged if the range is unknown or on another scale."""
    known = REGISTRY.get(measure.name)
    if known is None or "scale" in measure.options:
        return bounds
    lower, upper = np.clip(bounds, known.lower, known.upper)
    return float(lower), float(upper)


def widen(bounds: tuple[float, float], by: tuple[float, float]) -> tuple[float, float]:
    """Extend an interval to include another; NaN bounds are ignored.

    >>> widen((0.1, 0.2), (0.0, 0.15)), widen((0.1, 0.2), (float("nan"), 0.3))
    ((0.0, 0.2), (0.1, 0.3))
    """
    return float(np.fmin(bounds[0], by[0])), float(np.fmax(bounds[1], by[1]))


class WeightedForecasts(NamedTuple):
    """Forecasts, and the weight of each."""

    p: FloatArray
    weight: FloatArray

    def mean(self, values: FloatArray) -> float:
        """Weighted mean of a value per forecast."""
        return float((self.weight * values).sum() / self.weight.sum())


class RareSkill(NamedTuple):
    """A skill by a measure, the forecasts, and their cases split by outcome and by surprise."""

    measure: Measure
    value: float
    forecasts: WeightedForecasts
    events: CaseSplit
    surprises: CaseSplit

    def bound(self, quantile: float, level: float) -> tuple[float, float]:
        """The interval that allows for rare cases; NaN where they are not rare.

        Its standard error is that of outcomes drawn from the forecasts, scaled to the observed prevalence:
        the scores of a few events do not show how scores vary. Its upper limit is at least the highest skill
        at any prevalence of the exact interval. Where surprises are rarer than events and non-events, its
        lower limit assumes that they are as frequent as their exact interval allows.
        """
        lower = upper = np.nan
        if self.events.fewest < FEW_CASES:
            reach = quantile * self._error()
            lower, upper = self.value - reach, np.fmax(self.value + reach, self._highest(level))
        if self.surprises.fewest < min(FEW_CASES, self.events.fewest / 2):
            lower = np.fmin(lower, self.value - self._loss_by_surprises(level))
        return float(lower), float(np.minimum(upper, 1.0))  # NaN stays NaN

    def _error(self) -> float:
        """Standard error of the skill if forecasts, scaled to the observed prevalence, are true."""
        (forecast, _), prevalence = self.forecasts, np.array([self.events.share])
        distance = _distance_to_perfect(self.measure, prevalence)[0]
        if not distance:
            return np.nan
        p = _scale(forecast, self.forecasts.mean(forecast), self.events.share)
        squares = np.zeros(len(p))
        for outcome, probability in ((1.0, p), (0.0, 1 - p)):
            at = np.array([outcome])
            constant, perfect = self.measure.score(at, prevalence)[0], self.measure.score(at, at)[0]
            scores = self.measure.score(np.full(len(p), outcome), forecast)
            influence = ((constant - scores) - self.value * (constant - perfect)) / distance
            squares += probability * np.where(np.isfinite(influence), influence, 0.0) ** 2
        return float(np.sqrt(self.forecasts.mean(squares) / self.events.cases))

    def _loss_by_surprises(self, level: float) -> float:
        """The loss of skill, at the observed prevalence, if surprises have the upper limit of their share."""
        distance, split = _distance_to_perfect(self.measure, np.array([self.events.share]))[0], self.surprises
        _, upper = exact_share(split.share, split.cases, level)
        rise = split.mean(upper) - split.mean(split.share)
        return float(rise / distance) if distance else np.nan

    def _highest(self, level: float) -> float:
        """The highest skill at a prevalence of the exact interval, among them the mean forecast if inside."""
        split = self.events
        lower, upper = exact_share(split.share, split.cases, level)
        mean = self.forecasts.mean(self.forecasts.p)
        shares = np.append(np.linspace(lower, upper, _GRID), np.clip(mean, lower, upper))
        distance, reference = (
            _distance_to_perfect(self.measure, shares),
            expected_score(self.measure, shares, shares),
        )
        score = shares * split.inside + (1 - shares) * split.outside
        skill = np.divide(
            reference - score, distance, out=np.full(len(distance), -np.inf), where=distance != 0
        )
        return float(skill.max())


def _scale(p: FloatArray, mean: float, share: float) -> FloatArray:
    """Multiply forecasts of the rarer outcome so that their mean is its share; no forecast exceeds 1."""
    if share > 0.5:
        return 1 - _scale(1 - p, 1 - mean, 1 - share)
    return np.clip(p * (share / mean), 0, 1) if mean > 0 else np.full(len(p), share)


def _distance_to_perfect(measure: Measure, prevalence: FloatArray) -> FloatArray:
    """Expected score of the prevalence as a forecast minus that of the perfect forecast."""
    return expected_score(measure, prevalence, prevalence) - expected_score(measure, prevalence, None)


# Rows in memory


def count_cases(share: float, error: float, units: SamplingUnits, level: float) -> float:
    """Return the effective number of cases of a share: Kish's number, or fewer after Korn and Graubard.

    Where all cases are of one kind, clusters count by their effective number.
    """
    kish = units.total / units.case_weight
    if units.cluster is None and units.are_repeated_rows:
        return kish
    alike = kish if units.cluster is None else min(kish, units.effective_size)
    most = kish if units.cluster is not None else limit_cases(share, error, kish)
    return effective_cases(
        share, error, most=most, alike=alike, quantile=units.critical_value(level), level=level
    )


def limit_cases(share: float, error: float, kish: float) -> float:
    """Return Kish's number of weighted rows, or ∞ if the error of the share shows that neither kind is rare.

    A sample may oversample the rarer kind: with all events and one non-event in nine, the share of events is
    known more precisely than Kish's number of all rows implies.
    """
    if not error > 0:
        return kish
    return np.inf if min(share, 1 - share) * share * (1 - share) / error**2 >= FEW_CASES else kish


def effective_cases(
    share: float, error: float, *, most: float, alike: float, quantile: float, level: float
) -> float:
    """Return the number of cases that gives a share this error, up to `most`, after Korn and Graubard.

    Their factor allows for few sampling units. Where all cases are of one kind there is no error, and the
    number is `alike`.
    """
    if share in {0.0, 1.0} or not error > 0:
        return alike
    narrower = float(ndtri((1 + level) / 2)) / quantile
    return float(min(most, share * (1 - share) / error**2 * narrower**2))


def split_rows(
    kind: FloatArray,
    scores: FloatArray,
    typical: tuple[FloatArray, FloatArray],
    units: SamplingUnits,
    level: float,
) -> CaseSplit:
    """Split rows by a kind, 0 or 1 for each; `typical` has each row's score as a case of either kind."""
    share, error = units.mean(kind), units.standard_error(kind)
    of_kind = units.mean(np.where(kind == 1, scores, 0.0))
    of_others = units.mean(np.where(kind == 1, 0.0, scores))
    return split_cases(
        share=share,
        share_error=error,
        cases=count_cases(share, error, units, level),
        means=(of_kind / share if share > 0 else 0.0, of_others / (1 - share) if share < 1 else 0.0),
        typical=(_mean_of_finite(typical[0], units), _mean_of_finite(typical[1], units)),
    )


def _mean_of_finite(scores: FloatArray, units: SamplingUnits) -> float:
    """The mean of finite scores; infinite ones, of outcomes with probability 0, are left out."""
    finite = np.isfinite(scores)
    if not finite.any():
        return float(scores[0])
    share = units.mean(finite.astype(np.float64))
    return units.mean(np.where(finite, scores, 0.0)) / share if share > 0 else 0.0


def has_few(kind: FloatArray, units: SamplingUnits) -> bool:
    """Whether cases of a kind, or others, may be few: a quick check before scores are computed."""
    return _is_rare(units.mean(kind), units)


def _is_rare(share: float, units: SamplingUnits) -> bool:
    if units.cluster is not None or not units.are_repeated_rows:
        return True
    return min(share, 1 - share) * units.total < FEW_CASES


def exact_rate(happened: FloatArray, units: SamplingUnits, level: float) -> tuple[float, float]:
    """Return Clopper and Pearson's interval of a rate; NaN where neither kind of case is rare."""
    if not has_few(happened, units):
        return np.nan, np.nan
    rate = units.mean(happened)
    cases = count_cases(rate, units.standard_error(happened), units, level)
    return exact_share(rate, cases, level) if min(rate, 1 - rate) * cases < FEW_CASES else (np.nan, np.nan)


class RareOutcomes:
    """Intervals of a model's score and skill that allow for rare events, non-events and surprises.

    Nothing of the length of the rows is kept: there is one of these for each model and measure.
    """

    def __init__(self, panel: ForecastPanel, model: str, measure: Measure) -> None:
        self.panel, self.model, self.measure = panel, model, measure
        self.forecast = panel.forecasts[model]

    def bound_score(self, level: float) -> tuple[float, float]:
        """The interval of the mean score that allows for rare cases; NaN where none is rare."""
        units, p = self.panel.units, self.forecast
        kinds = [self._events] if has_few(self.panel.outcome, units) else []
        kinds += [self._surprises] if self._has_few_surprises else []
        if not kinds:
            return np.nan, np.nan
        scores = self.measure.score(self.panel.outcome, p)
        splits = [self._split(kind, scores, level) for kind in kinds]
        error, quantile = units.standard_error(scores), units.critical_value(level)
        bounds = bound_mean(units.mean(scores), error, splits, quantile=quantile, level=level)
        return clip_to_range(bounds, self.measure)

    def bound_skill(self, value: float, level: float) -> tuple[float, float]:
        """The interval of the skill that allows for rare cases; NaN where none is rare."""
        y, units = self.panel.outcome, self.panel.units
        if not (has_few(y, units) or self._has_few_surprises):
            return np.nan, np.nan
        scores = self.measure.score(y, self.forecast)
        events, surprises = (self._split(kind, scores, level) for kind in (self._events, self._surprises))
        skill = RareSkill(
            self.measure, value, WeightedForecasts(self.forecast, units.row_weight), events, surprises
        )
        return skill.bound(units.critical_value(level), level)

    @property
    def _has_few_surprises(self) -> bool:
        return _is_rare(self.panel.shares_surprised[self.model], self.panel.units)

    @property
    def _events(self) -> tuple[FloatArray, FloatArray]:
        """Which cases are events, and the outcome that makes a case one."""
        return self.panel.outcome, np.broadcast_to(1.0, len(self.forecast))

    @property
    def _surprises(self) -> tuple[FloatArray, FloatArray]:
        """Which cases have an outcome on the other side of 1/2 than their forecasts, and that outcome."""
        surprises = are_surprises(self.panel.outcome, self.forecast)
        return surprises.astype(np.float64), (self.forecast < 0.5).astype(np.float64)

    def _split(self, kind: tuple[FloatArray, FloatArray], scores: FloatArray, level: float) -> CaseSplit:
        cases, outcome = kind
        typical = self._score(outcome), self._score(1 - outcome)
        return split_rows(cases, scores, typical, self.panel.units, level)

    def _score(self, outcome: FloatArray) -> FloatArray:
        return self.measure.score(outcome, self.forecast)
