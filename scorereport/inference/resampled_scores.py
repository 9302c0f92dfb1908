"""Mean scores of resamples, with the skill and the uncertainty that follow from them."""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from scorereport.inference.losses import PREVALENCE, UNCERTAINTY, expected_score
from scorereport.inference.rare_cases import RareOutcomes, exact_rate
from scorereport.inference.replicates import make_statistic

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.losses import Measure
    from scorereport.inference.panel import ForecastPanel
    from scorereport.inference.replicates import Statistic


class ResampledScores:
    """Mean scores, and the skill and uncertainty that follow from them and from the prevalence."""

    def __init__(self, panel: ForecastPanel, measures: Sequence[Measure]) -> None:
        self.panel, self.measures = panel, measures
        self.keys = [(model, measure) for model in panel.forecasts for measure in measures]

    def score(self, rows: slice) -> FloatArray:
        """What is summed, for some rows: 1, outcomes, and each score of each model."""
        y = self.panel.outcome[rows]
        columns = np.ones((2 + len(self.keys), len(y)))
        columns[1] = y
        for column, (model, measure) in zip(columns[2:], self.keys, strict=True):
            column[:] = measure.score(y, self.panel.forecasts[model][rows])
        return columns

    @cached_property
    def _columns(self) -> tuple[FloatArray, NDArray[np.bool_]]:
        """All of it, with 0 for scores that are infinite somewhere, and which are not."""
        columns = self.score(slice(None))
        are_finite = np.array([np.isfinite(column).all() for column in columns])
        columns[~are_finite] = 0.0
        return columns, are_finite

    def values(self, weight: FloatArray) -> FloatArray:
        """Weighted sums: of nothing but the weight, of outcomes, of each score."""
        return np.einsum("ji,i->j", self._columns[0], weight)  # no BLAS: its sums depend on its threads

    def finish(self, sums: FloatArray, observed: FloatArray | None = None) -> Iterator[Statistic]:
        """Prevalence, and for each measure uncertainty and every model's score and skill.

        Those of the sample may have been summed elsewhere.
        """
        if observed is None:
            observed = np.where(self._columns[1], self.values(self.panel.units.row_weight.copy()), np.inf)
        totals = np.vstack([observed, sums])
        means = totals[:, 1:] / totals[:, :1]
        means[:, ~np.isfinite(observed[1:])] = np.inf
        prevalence = means[:, 0]
        exact = partial(exact_rate, self.panel.outcome, self.panel.units)
        yield make_statistic("", PREVALENCE, prevalence, lambda: self.panel.outcome, exact)
        for measure in self.measures:
            reference = expected_score(measure, prevalence, prevalence)
            at_constant = partial(self._score_of_constant, measure, prevalence[0])
            yield make_statistic("", f"{measure.label}{UNCERTAINTY}", reference, at_constant)
        for column, (model, measure) in enumerate(self.keys, start=1):
            yield from self._of_model(model, measure, prevalence, means[:, column])

    def _of_model(
        self, model: str, measure: Measure, prevalence: FloatArray, mean: FloatArray
    ) -> Iterator[Statistic]:
        scores = partial(self._scores_of, model, measure)
        reference = expected_score(measure, prevalence, prevalence)
        way = reference - expected_score(measure, prevalence, None)
        skill = np.divide(reference - mean, way, out=np.full(len(way), np.nan), where=way != 0)

        def skill_influence() -> FloatArray:
            y = self.panel.outcome
            constant = self._score_of_constant(measure, prevalence[0])
            return ((constant - scores()) - skill[0] * (constant - measure.score(y, y))) / way[0]

        rare = RareOutcomes(self.panel, model, measure)
        of_skill = partial(rare.bound_skill, float(skill[0]))
        yield make_statistic(model, measure.label, mean, scores, rare.bound_score)
        yield make_statistic(model, f"{measure.label} skill", skill, skill_influence, of_skill)

    def _scores_of(self, model: str, measure: Measure) -> FloatArray:
        return measure.score(self.panel.outcome, self.panel.forecasts[model])

    def _score_of_constant(self, measure: Measure, constant: float) -> FloatArray:
        y = self.panel.outcome
        return measure.score(y, np.full(len(y), constant))
