"""Results of a bootstrap: statistics with their replicates, their intervals, and intervals of differences.

References
----------
Efron (1987), J. Am. Stat. Assoc. 82, doi:10.1080/01621459.1987.10478410
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from scipy.special import expit, logit, ndtr, ndtri

from scorereport._utils.checks import check_inside, check_option
from scorereport._utils.choices import INTERVAL_METHODS
from scorereport._utils.representation import short_repr
from scorereport._utils.rounding import are_equal, exceeds
from scorereport.errors import UsageError
from scorereport.inference.estimates import Estimate
from scorereport.inference.losses import PREVALENCE, UNCERTAINTY, Measure, image_of_prevalence
from scorereport.inference.mean_errors import describe_few_draws
from scorereport.inference.panel import PanelRows
from scorereport.inference.rare_cases import WIDENED, clip_to_range, widen

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.expansions import Expansion
    from scorereport.reliability.sampling import SamplingUnits


class Statistic(NamedTuple):
    """A statistic: its value in the sample and in every resample, and the influence of each row on it.

    `rare` returns, for a level, the interval that allows for rare cases, which resamples cannot contain. With
    an `expansion` of their distribution there are no replicates. `acceleration` is that of BCa intervals, if
    it was computed already.
    """

    model: str
    measure: str
    value: float
    replicates: FloatArray
    influence: Callable[[], FloatArray]
    rare: Callable[[float], tuple[float, float]] | None = None
    expansion: Expansion | None = None
    acceleration: float | None = None

    def __repr__(self) -> str:
        return short_repr(self)

    def accelerate(self, units: SamplingUnits) -> float:
        """The acceleration of BCa intervals, which the rows decide."""
        return units.acceleration(self.influence()) if self.acceleration is None else self.acceleration

    @property
    def known(self) -> FloatArray:
        """The replicates that are defined."""
        return self.replicates[np.isfinite(self.replicates)]

    @property
    def spread(self) -> float:
        """The standard deviation over resamples."""
        return float(self.known.std(ddof=1)) if self.expansion is None else self.expansion.spread


def make_statistic(
    model: str,
    measure: str,
    values: FloatArray,
    influence: Callable[[], FloatArray],
    rare: Callable[[float], tuple[float, float]] | None = None,
) -> Statistic:
    """Make a statistic from its values: the first of the sample, the others of the resamples."""
    return Statistic(model, measure, float(values[0]), values[1:], influence, rare)


class ResampledStatistics(Protocol):
    """A group of statistics: their values under the weights of a resample, and their results."""

    def values(self, weight: FloatArray) -> FloatArray:
        """Values under these weights of rows."""

    def finish(self, drawn: FloatArray) -> Iterator[Statistic]:
        """Statistics from the values of all resamples, a row for each."""


#: Scales on which intervals are widened: the transformation, its inverse, and its derivative.
_SCALES: dict[str, tuple[Callable[..., Any], Callable[..., Any], Callable[[float], float]]] = {
    "plain": (np.positive, np.positive, lambda _: 1.0),
    "score": (np.log, np.exp, lambda score: 1 / score),
    "skill": (
        lambda skill: np.log(1 - skill),
        lambda transformed: 1 - np.exp(transformed),
        lambda skill: 1 / (1 - skill),
    ),
    "odds": (logit, expit, lambda rate: 1 / (rate * (1 - rate))),
}
_SKILL = " skill"
_LABELS = {"bca": "BCa", "percentile": "percentile"}
#: What a method says of an interval that was computed without resamples.
FROM_INFLUENCE = "from the influence of"


@dataclass(frozen=True, kw_only=True, eq=False)
class Bootstrap:
    """All statistics of all models on the same resamples, with their intervals and differences."""

    panel: PanelRows
    measures: Mapping[str, Measure]
    statistics: tuple[Statistic, ...]
    resamples: int
    seed: int

    __repr__ = short_repr

    def interval(
        self,
        model: str,
        measure: str,
        *,
        level: float = 0.95,
        method: str = "bca",
        allow_for_rare: bool = True,
    ) -> Estimate:
        """Return the interval of one statistic; prevalence and uncertainty have the `model` "".

        Parameters
        ----------
        allow_for_rare : widen intervals of mean scores, skills and uncertainties to allow for cases that the
            sample holds few or none of; otherwise they are those of the resamples
        """
        return self._estimate(self._find(model, measure), level, method, allow_for_rare=allow_for_rare)

    def difference(
        self, first: str, second: str, measure: str, *, level: float = 0.95, method: str = "bca"
    ) -> Estimate:
        """Return the interval of the difference of two models, first minus second, paired by resample."""
        if first == second:
            raise UsageError(f"`first` and `second` must be two models; got {first!r} twice.")
        a, b = self._find(first, measure), self._find(second, measure)
        pair = Statistic(
            f"{first} - {second}",
            measure,
            a.value - b.value,
            a.replicates - b.replicates,
            lambda: a.influence() - b.influence(),
        )
        return self._estimate(pair, level, method, "plain", allow_for_rare=False)

    def table(self, *, level: float = 0.95, method: str = "bca") -> pd.DataFrame:
        """Return all intervals as a frame: a row for each model and measure."""
        import pandas as pd

        estimates = [self._estimate(s, level, method, allow_for_rare=True) for s in self.statistics]
        columns = ("value", "standard_error", "lower", "upper", "note")
        return pd.DataFrame(
            [
                {"model": s.model, "measure": s.measure, **{name: getattr(e, name) for name in columns}}
                for s, e in zip(self.statistics, estimates, strict=True)
            ]
        )

    def _find(self, model: str, measure: str) -> Statistic:
        for statistic in self.statistics:
            if (statistic.model, statistic.measure) == (model, measure):
                return statistic
        known = sorted({s.measure for s in self.statistics})
        raise UsageError(f"There is no {measure!r} of {model!r}; measures are {', '.join(known)}.")

    def _estimate(
        self, statistic: Statistic, level: float, method: str, scale: str = "", *, allow_for_rare: bool
    ) -> Estimate:
        check_inside(level, "level", 0, 1, closed="neither")
        check_option(method, "method", INTERVAL_METHODS)
        units, value, label = self.panel.units, statistic.value, self._describe(statistic, method)
        is_known = statistic.expansion is not None or len(statistic.known) >= 2
        if not (np.isfinite(value) and is_known and units.size > 1):
            return _no_interval(statistic.measure, value, level, label, units)
        scale = scale or self._scale_of(statistic.measure)
        lower, upper = bounds = self._interval(statistic, level, method, scale)
        if allow_for_rare:
            lower, upper = self._allow_for_rare(statistic, bounds, level, method)
            label += f", {WIDENED}" if (lower, upper) != bounds else ""
        if scale != "plain" and statistic.measure in self.measures:
            lower, upper = clip_to_range((lower, upper), self.measures[statistic.measure])
        freedom = units.degrees_of_freedom
        lost = _describe_lost(len(statistic.replicates) - len(statistic.known), len(statistic.replicates))
        return Estimate(
            measure=statistic.measure,
            value=value,
            standard_error=_error(statistic, units),
            lower=lower,
            upper=upper,
            level=level,
            method=label,
            n=units.total,
            degrees_of_freedom=freedom if np.isfinite(freedom) else None,
            note=lost or describe_few_draws(units),
        )

    def _describe(self, statistic: Statistic, method: str) -> str:
        """How an interval was computed."""
        units, resamples = self.panel.units, len(statistic.replicates)
        if resamples == 0:
            label = f"{_LABELS[method]} {FROM_INFLUENCE} {units.describes}"
        else:
            label = (
                f"{_LABELS[method]} bootstrap, {resamples} resamples of {units.describes}, seed {self.seed}"
            )
        return label if units.cluster is None else f"{label}, widened for the number of clusters"

    def _interval(self, statistic: Statistic, level: float, method: str, scale: str) -> tuple[float, float]:
        """Bounds of a statistic; those of an uncertainty come from the prevalence, of which it is a function.

        Replicates of the uncertainty mislead near the prevalence at which it is largest: all are smaller.
        """
        if statistic.measure.endswith(UNCERTAINTY):
            prevalence = self._find("", PREVALENCE)
            bounds = self._interval(prevalence, level, method, "odds")
            return image_of_prevalence(self._measure_of_uncertainty(statistic), *bounds)
        units = self.panel.units
        if statistic.expansion is None:
            acceleration = statistic.accelerate(units) if method == "bca" else 0.0
            bounds = _bounds(statistic.value, statistic.known, level, method, acceleration)
        else:
            bounds = statistic.expansion.bounds(level, method)
        if units.cluster is None or not statistic.spread > 0:
            return bounds
        reach = units.critical_value(level) * units.standard_error(statistic.influence())
        factor = reach / (float(ndtri((1 + level) / 2)) * statistic.spread)
        return _widen_for_clusters(statistic.value, bounds, factor, reach, scale)

    def _scale_of(self, measure: str) -> str:
        """The scale on which an interval is widened so that its bounds remain possible values."""
        if measure in (PREVALENCE, "roc_auc"):
            return "odds"
        if measure.endswith(_SKILL):
            return "skill"
        return "score" if measure in self.measures else "plain"

    def _allow_for_rare(
        self, statistic: Statistic, bounds: tuple[float, float], level: float, method: str
    ) -> tuple[float, float]:
        """Widen bounds to allow for rare cases, which resamples cannot contain."""
        if statistic.measure.endswith(UNCERTAINTY):
            known = self._find("", PREVALENCE)
            prevalence = self._interval(known, level, method, "odds")
            return image_of_prevalence(
                self._measure_of_uncertainty(statistic),
                *self._allow_for_rare(known, prevalence, level, method),
            )
        return bounds if statistic.rare is None else widen(bounds, statistic.rare(level))

    def _measure_of_uncertainty(self, statistic: Statistic) -> Measure:
        return self.measures[statistic.measure.removesuffix(UNCERTAINTY)]


def _error(statistic: Statistic, units: SamplingUnits) -> float:
    """The standard deviation over resamples; over clusters, where it is too small, the bias-reduced error."""
    if units.cluster is None:
        return statistic.spread
    error = units.standard_error(statistic.influence())
    return error if np.isfinite(error) else statistic.spread


def _widen_for_clusters(
    value: float, bounds: tuple[float, float], factor: float, reach: float, scale: str
) -> tuple[float, float]:
    """Widen an interval over clusters by a factor, and at least to the t interval, of half-width `reach`.

    Both are computed on a scale on which all distances from the value are possible.
    """
    points = np.array([value, *bounds])
    transform, invert, derivative = _SCALES["plain" if scale == "score" and points.min() <= 0 else scale]
    with np.errstate(divide="ignore"):
        transformed = transform(points)
    if not np.isfinite([*transformed, factor, reach]).all():
        return bounds
    away = factor * (transformed[1:] - transformed[0])
    half = reach * derivative(value)
    with np.errstate(over="ignore"):  # a bound that overflows is infinite
        possible = invert(transformed[0] + np.array([*away, -half, half]))
    return float(min(possible.min(), bounds[0])), float(max(possible.max(), bounds[1]))


def _bounds(
    value: float, replicates: FloatArray, level: float, method: str, acceleration: float
) -> tuple[float, float]:
    """Quantiles of the replicates: those of the level, or shifted for bias and skewness (BCa)."""
    lower, upper = np.quantile(replicates, find_tails(value, replicates, level, method, acceleration))
    return float(lower), float(upper)


def find_tails(
    value: float, replicates: FloatArray, level: float, method: str, acceleration: float
) -> FloatArray:
    """Return the shares of replicates below both ends of an interval."""
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    if method != "bca":
        return tails
    bias = ndtri(share_below(value, replicates))
    z = bias + ndtri(tails)
    return np.asarray(ndtr(bias + z / (1 - acceleration * z)))


def share_below(value: float, replicates: FloatArray) -> float:
    """Return the share of replicates below the value, and of half of its ties; never 0 or 1."""
    below = exceeds(value, replicates).mean() + are_equal(value, replicates).mean() / 2
    edge = 0.5 / len(replicates)
    return float(np.clip(below, edge, 1 - edge))


def _no_interval(measure: str, value: float, level: float, method: str, units: SamplingUnits) -> Estimate:
    why = "The score is infinite" if np.isinf(value) else "The value is not defined"
    if np.isfinite(value) and units.size <= 1:
        why = f"One {units.unit} has no spread"
    return Estimate(
        measure=measure,
        value=value,
        standard_error=np.nan,
        lower=np.nan,
        upper=np.nan,
        level=level,
        method=method,
        n=units.total,
        note=f"{why}: there is no interval.",
    )


def _describe_lost(lost: int, resamples: int) -> str:
    return f"Not defined in {lost} of {resamples} resamples, which were left out." if lost else ""
