"""What a bootstrap found: intervals of statistics, and of their differences between models.

References
----------
Efron (1987), J. Am. Stat. Assoc. 82, doi:10.1080/01621459.1987.10478410
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr, ndtri

from scorereport.checks import check_inside, check_option
from scorereport.errors import UsageError
from scorereport.inference.measures import PREVALENCE, UNCERTAINTY, Measure, image_of_prevalence
from scorereport.inference.outcomes import Estimate
from scorereport.inference.panel import Rows
from scorereport.inference.rare_cases import WIDENED, widen
from scorereport.inference.replicates import Statistic
from scorereport.rounding import are_equal, exceeds

if TYPE_CHECKING:
    import pandas as pd

    from scorereport.arrays import FloatArray
    from scorereport.sampling import Units

METHODS = ("bca", "percentile")
_LABELS = {"bca": "BCa bootstrap", "percentile": "percentile bootstrap"}


@dataclass(frozen=True, kw_only=True, eq=False)
class Bootstrap:
    """All statistics of all models on the same resamples; intervals and differences come from here."""

    panel: Rows
    measures: Mapping[str, Measure]
    statistics: tuple[Statistic, ...]
    resamples: int
    seed: int

    def interval(
        self,
        model: str,
        measure: str,
        *,
        level: float = 0.95,
        method: str = "bca",
        allow_for_rare: bool = True,
    ) -> Estimate:
        """The interval of one statistic; uncertainty belongs to no model, its `model` is "".

        Parameters
        ----------
        allow_for_rare : widen intervals of mean scores, skills and uncertainties by what cases that hardly
            happened, or not at all, could change; else they are what the resamples give
        """
        return self._estimate(self._find(model, measure), level, method, allow_for_rare=allow_for_rare)

    def difference(
        self, first: str, second: str, measure: str, *, level: float = 0.95, method: str = "bca"
    ) -> Estimate:
        """The interval of the difference of two models, first minus second, paired by resample."""
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
        return self._estimate(pair, level, method, allow_for_rare=False)

    def table(self, *, level: float = 0.95, method: str = "bca") -> pd.DataFrame:
        """All intervals: a row for each model and measure."""
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

    def _estimate(self, statistic: Statistic, level: float, method: str, *, allow_for_rare: bool) -> Estimate:
        check_inside(level, "level", 0, 1, closed="neither")
        check_option(method, "method", METHODS)
        label = (
            f"{_LABELS[method]}, {self.resamples} resamples of {self.panel.units.describes}, seed {self.seed}"
        )
        value, known = statistic.value, statistic.replicates[np.isfinite(statistic.replicates)]
        if not np.isfinite(value) or len(known) < 2 or self.panel.units.size <= 1:
            return _no_interval(statistic.measure, value, level, label, self.panel.units)
        lower, upper = bounds = self._interval(statistic, known, level, method)
        if allow_for_rare:
            lower, upper = self._widen(statistic, bounds, level, method)
            label += f", {WIDENED}" if (lower, upper) != bounds else ""
        return Estimate(
            measure=statistic.measure,
            value=value,
            standard_error=float(known.std(ddof=1)),
            lower=lower,
            upper=upper,
            level=level,
            method=label,
            n=self.panel.units.total,
            note=_describe_lost(len(statistic.replicates) - len(known), len(statistic.replicates)),
        )

    def _interval(
        self, statistic: Statistic, known: FloatArray, level: float, method: str
    ) -> tuple[float, float]:
        """Bounds of a statistic; those of an uncertainty come from the prevalence, of which it is a function.

        Its own replicates mislead near the prevalence at which it is largest: all lie on one side.
        """
        if statistic.measure.endswith(UNCERTAINTY):
            prevalence = self._find("", PREVALENCE)
            bounds = self._interval(prevalence, prevalence.replicates, level, method)
            return image_of_prevalence(self._uncertain(statistic), *bounds)
        acceleration = self.panel.units.acceleration(statistic.influence()) if method == "bca" else 0.0
        return _bounds(statistic.value, known, level, method, acceleration)

    def _widen(
        self, statistic: Statistic, bounds: tuple[float, float], level: float, method: str
    ) -> tuple[float, float]:
        """Bounds that allow for cases which resamples cannot hold."""
        if statistic.measure.endswith(UNCERTAINTY):
            known = self._find("", PREVALENCE)
            prevalence = self._interval(known, known.replicates, level, method)
            return image_of_prevalence(
                self._uncertain(statistic), *self._widen(known, prevalence, level, method)
            )
        return bounds if statistic.rare is None else widen(bounds, statistic.rare(level))

    def _uncertain(self, statistic: Statistic) -> Measure:
        return self.measures[statistic.measure.removesuffix(UNCERTAINTY)]


def _bounds(
    value: float, replicates: FloatArray, level: float, method: str, acceleration: float
) -> tuple[float, float]:
    """Quantiles of the replicates: at the level, or shifted for bias and skewness."""
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    if method == "bca":
        below = exceeds(value, replicates).mean() + are_equal(value, replicates).mean() / 2
        edge = 0.5 / len(replicates)
        bias = ndtri(np.clip(below, edge, 1 - edge))
        z = bias + ndtri(tails)
        tails = ndtr(bias + z / (1 - acceleration * z))
    lower, upper = np.quantile(replicates, tails)
    return float(lower), float(upper)


def _no_interval(measure: str, value: float, level: float, method: str, units: Units) -> Estimate:
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
