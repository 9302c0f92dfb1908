"""Expansions of mean scores and skills: one pass over the rows replaces thousands of resamples.

A resample changes a mean score m, the prevalence π and, with sampling weights or clusters, the total weight.
Skill is a function of m and π. Its derivatives are differences over one standard error of π; within three
standard errors the function is compared with its second-order expansion, which fails at a kink, such as
that of misclassification at a prevalence of 1/2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from scorereport._utils.arrays import row_chunks
from scorereport.inference.expansions import FEWEST_UNITS, InfluenceMoments
from scorereport.inference.losses import Measure, expected_score
from scorereport.inference.panel import ForecastPanel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport._utils.arrays import FloatArray, IntArray
    from scorereport.inference.expansions import Expansion

#: Standard errors of the prevalence at which a skill is compared with its second-order expansion.
_STEPS = np.arange(-3.0, 4.0)
_MIDDLE = 3


class ScoreExpansions(NamedTuple):
    """The expansions of a mean score and of its skill."""

    score: Expansion
    skill: Expansion


class _Units(NamedTuple):
    """Some units: deviations of weight, outcome and score from their means; and how often each unit is drawn.

    All three are divided by the mean weight of a unit. `weight` is the number 0 where all weigh the same, and
    `times` the number 1 where each is drawn once.
    """

    weight: FloatArray | float
    outcome: FloatArray
    score: FloatArray
    times: FloatArray | float


@dataclass(frozen=True, kw_only=True, eq=False)
class PanelMoments:
    """A panel whose scores are expanded: it is read in chunks, or by cluster.

    `means` are the mean scores that are known already, by model and label of the measure.
    """

    panel: ForecastPanel
    means: Mapping[tuple[str, str], float] = field(default_factory=dict)

    @property
    def has_enough_units(self) -> bool:
        """Whether units are enough for any expansion, and none has much of the weight."""
        units = self.panel.units
        if units.cluster is None:
            return units.total / units.case_weight >= FEWEST_UNITS
        return units.effective_size >= FEWEST_UNITS

    @cached_property
    def prevalence(self) -> float:
        """Share of events."""
        return self.panel.units.mean(self.panel.outcome)

    def expand(self, model: str, measure: Measure) -> ScoreExpansions | None:
        """The expansions of a score and of its skill; None if the score is infinite or has no skill."""
        mean = self.mean(model, measure)
        skill = _Skill.of(measure, mean, self.prevalence, self._error_of_prevalence)
        if not np.isfinite(mean) or skill is None:
            return None
        sums, largest = np.zeros(12), np.zeros(2)
        for units in self._read(model, measure, mean):
            found, most = _add_up(units, skill)
            sums += found
            largest = np.maximum(largest, most)
        return self._expand(mean, skill, sums, largest)

    def _expand(self, mean: float, skill: _Skill, sums: FloatArray, largest: FloatArray) -> ScoreExpansions:
        size = float(self.panel.units.size)
        of_score = InfluenceMoments(second=sums[0], third=sums[1], fourth=sums[2], largest=largest[0])
        of_skill = InfluenceMoments(second=sums[3], third=sums[4], fourth=sums[5], largest=largest[1])
        with_weight, skill_with_weight, with_outcome, with_score, both, outcome = sums[6:] / size**2
        variance = sums[3] / size**2
        score_error = sums[0] ** 0.5 / size
        return ScoreExpansions(
            of_score.expand(mean, size, bias=-with_weight, bend=-with_weight * sums[0] / size**2),
            of_skill.expand(
                skill.value,
                size,
                bias=skill.second_order(outcome, both) - skill_with_weight,
                bend=skill.second_order(with_outcome**2, with_outcome * with_score)
                - skill_with_weight * variance,
                rest=skill.rest(score_error),
            ),
        )

    def mean(self, model: str, measure: Measure) -> float:
        """The mean score, computed if it is not known."""
        known = self.means.get((model, measure.label))
        return self._mean(model, measure) if known is None else known

    def _mean(self, model: str, measure: Measure) -> float:
        y, p, units = self.panel.outcome, self.panel.forecasts[model], self.panel.units
        parts = row_chunks(len(y))
        return float(
            sum((units.row_weight[part] * measure.score(y[part], p[part])).sum() for part in parts)
            / units.total
        )

    @cached_property
    def _error_of_prevalence(self) -> float:
        return self.panel.units.standard_error(self.panel.outcome)

    def _read(self, model: str, measure: Measure, mean: float) -> Iterator[_Units]:
        units = self.panel.units
        if units.cluster is not None:
            yield self._sum_clusters(model, measure, mean)
            return
        scale = units.size / units.total
        for part in row_chunks(len(self.panel.outcome)):
            y, p = self.panel.outcome[part], self.panel.forecasts[model][part]
            outcome, score = y - self.prevalence, measure.score(y, p) - mean
            if units.are_repeated_rows:
                yield _Units(0.0, outcome, score, 1.0 if units.weight is None else units.weight[part])
            else:
                weight = units.row_weight[part] * scale
                yield _Units(weight - 1, weight * outcome, weight * score, 1.0)

    def _sum_clusters(self, model: str, measure: Measure, mean: float) -> _Units:
        y, units = self.panel.outcome, self.panel.units
        score = measure.score(y, self.panel.forecasts[model]) - mean
        scale = units.size / units.total
        outcome, score = (
            scale * _sum_by(units.cluster, units.row_weight * values)
            for values in (y - self.prevalence, score)
        )
        return _Units(scale * units.cluster_weight - 1, outcome, score, 1.0)


def _sum_by(cluster: IntArray | None, values: FloatArray) -> FloatArray:
    return np.bincount(cluster, weights=values).astype(np.float64)  # type: ignore[arg-type]  # there are clusters


def _add_up(units: _Units, skill: _Skill) -> tuple[FloatArray, FloatArray]:
    """Sums of powers of both influences and of products, and the largest influences."""
    weight, outcome, score, times = units
    influence = skill.by_score * score + skill.by_outcome * outcome
    drawn_outcome, drawn_score, drawn = (_weigh(values, times) for values in (outcome, score, influence))
    sums = [
        *_powers(score, times),
        *_powers(influence, times),
        _sum_products(drawn_score, weight),
        _sum_products(drawn, weight),
        _sum_products(drawn, outcome),
        _sum_products(drawn, score),
        _sum_products(drawn_outcome, score),
        _sum_products(drawn_outcome, outcome),
    ]
    return np.array(sums), np.array([_largest(score), _largest(influence)])


def _powers(values: FloatArray, times: FloatArray | float) -> list[float]:
    """Sums of the second, third and fourth power."""
    square = values * values
    drawn = _weigh(square, times)
    return [float(drawn.sum()), _sum_products(drawn, values), _sum_products(drawn, square)]


def _weigh(values: FloatArray, times: FloatArray | float) -> FloatArray:
    return values if isinstance(times, float) else values * times


def _sum_products(values: FloatArray, others: FloatArray | float) -> float:
    """The sum of products, of which no array is made; not by BLAS, whose sums depend on its threads."""
    return 0.0 if isinstance(others, float) else float(np.einsum("i,i->", values, others))


def _largest(values: FloatArray) -> float:
    """The largest absolute value."""
    return max(float(values.max()), -float(values.min()))


class _Skill(NamedTuple):
    """Skill as a function of prevalence and mean score around those of the sample, and its derivatives.

    `at_steps` are the skills at the mean score of the sample and `slopes` the derivatives by the mean score,
    both at multiples of `step`, the standard error of the prevalence.
    """

    step: float
    at_steps: FloatArray
    slopes: FloatArray

    @classmethod
    def of(cls, measure: Measure, mean: float, prevalence: float, step: float) -> _Skill | None:
        """The skill near a prevalence; None if it is not defined there."""
        shares = prevalence + step * _STEPS
        if not (step > 0 and shares[0] > 0 and shares[-1] < 1):
            return None
        reference = expected_score(measure, shares, shares)
        gain = reference - expected_score(measure, shares, None)
        if not (np.isfinite(gain).all() and (gain != 0).all()):
            return None
        return cls(step, (reference - mean) / gain, -1 / gain)

    @property
    def value(self) -> float:
        return float(self.at_steps[_MIDDLE])

    @property
    def by_score(self) -> float:
        return float(self.slopes[_MIDDLE])

    @property
    def by_outcome(self) -> float:
        return self._slope(self.at_steps)

    def second_order(self, outcome: float, both: float) -> float:
        """The second-order term for a square of the outcome and its product with the score."""
        bend = (self.at_steps[_MIDDLE + 1] - 2 * self.value + self.at_steps[_MIDDLE - 1]) / self.step**2
        return float(self._slope(self.slopes) * both + bend / 2 * outcome)

    def rest(self, score_error: float) -> float:
        """How far the function leaves its expansion within three standard errors of both arguments."""
        moved = self.step * _STEPS
        expanded = self.value + self.by_outcome * moved
        expanded += [self.second_order(square, 0.0) for square in moved**2]
        slopes = self.by_score + self._slope(self.slopes) * moved
        away = np.abs(self.at_steps - expanded) + 3 * score_error * np.abs(self.slopes - slopes)
        return float(away.max())

    def _slope(self, values: FloatArray) -> float:
        return float((values[_MIDDLE + 1] - values[_MIDDLE - 1]) / (2 * self.step))
