"""The bootstrap of models of K classes: every measure and its skill, on the same resamples.

With many independent rows, resamples are not drawn row by row. Their confusion tables are multinomial, and
for mean scores only the rows with a large influence are drawn (`drawn_sums`).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.arrays import row_chunks
from scorereport.inference.bootstrap_resamples import bootstrap_parts
from scorereport.inference.bootstrap_results import Bootstrap, make_statistic
from scorereport.inference.drawn_sums import DrawnSums, UnitColumns
from scorereport.inference.rare_cases import FEW_CASES, bound_mean, has_few, split_rows
from scorereport.inference.resampled_weights import BATCH
from scorereport.reliability.bands import MOST_CASES
from scorereport.reliability.sampling import random_stream
from scorereport.scores.registry import REGISTRY
from scorereport.scores.skills import relative_skill

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport._utils.arrays import FloatArray
    from scorereport.evaluation.class_measures import MeanMeasure, TableMeasure
    from scorereport.inference.bootstrap_results import ResampledStatistics, Statistic
    from scorereport.inference.class_panel import ClassPanel

SKILL = " skill"
#: Keys of the random streams of sums and of tables.
_SUMS_KEY, _TABLES_KEY = 19, 20


def bootstrap_classes(
    panel: ClassPanel,
    means: Sequence[MeanMeasure],
    tables: Sequence[TableMeasure],
    *,
    resamples: int,
    seed: int,
    most_cases: float = MOST_CASES,
) -> Bootstrap:
    """Bootstrap all measures of all models, and the skill of those with a constant reference forecast.

    More than `most_cases` independent cases are not drawn one by one.
    """
    scores, labels, units = MeanScores(panel, means), ConfusionTables(panel, tables), panel.units
    if units.cluster is not None or not units.are_repeated_rows or units.total <= most_cases:
        parts: list[ResampledStatistics] = [scores, labels]
        return bootstrap_parts(panel, parts, {}, resamples=resamples, seed=seed)
    found = [*scores.finish(scores.draw(resamples, seed)), *labels.finish(labels.draw(resamples, seed))]
    return Bootstrap(panel=panel, measures={}, statistics=tuple(found), resamples=resamples, seed=seed)


class MeanScores:
    """Mean scores, and the skills that follow from them and from the shares of the classes."""

    def __init__(self, panel: ClassPanel, measures: Sequence[MeanMeasure]) -> None:
        self.panel, self.measures = panel, measures
        self.keys = [(model, measure) for model in panel.forecasts for measure in measures]
        self.scores = np.array([m.score(panel.outcome, panel.forecasts[model]) for model, m in self.keys])
        self.is_finite = np.isfinite(self.scores).all(axis=1)
        self.scores[~self.is_finite] = 0.0

    def values(self, weight: FloatArray) -> FloatArray:
        """Weights of the classes, then weighted sums of each score."""
        classes = np.bincount(self.panel.outcome, weights=weight, minlength=self.panel.n_classes)
        sums = np.einsum("ji,i->j", self.scores, weight)  # not BLAS, whose sums depend on the threads
        return np.append(classes, sums)

    def draw(self, resamples: int, seed: int) -> FloatArray:
        """The values of resamples of independent rows, of which few are drawn one by one."""
        sums = DrawnSums.of(self._read, self._linearise)
        batches = [min(BATCH, resamples - start) for start in range(0, resamples, BATCH)]
        streams = (random_stream(seed, number, _SUMS_KEY) for number in range(len(batches)))
        drawn = np.concatenate([sums.draw(rng, size) for rng, size in zip(streams, batches, strict=True)])
        classes = drawn[:, : self.panel.n_classes]
        # the number of cases of a rare class is nearly normal: it may fall below 0
        np.maximum(classes, 0.0, out=classes)
        classes *= self.panel.units.total / classes.sum(axis=1, keepdims=True)
        return drawn

    def _read(self) -> Iterator[UnitColumns]:
        """For each row, in parts, which class it has, and its scores."""
        classes, weight = np.arange(self.panel.n_classes)[:, None], self.panel.units.row_weight
        for part in row_chunks(len(self.panel.outcome)):
            is_class = self.panel.outcome[part] == classes
            yield UnitColumns(np.concatenate([is_class, self.scores[:, part]]), weight[part])

    def _linearise(self, observed: FloatArray) -> FloatArray:
        """The influence of a row on each mean and skill as a linear function of its columns.

        Constants are left out.
        """
        size = self.panel.n_classes
        classes, sums = np.split(observed, [size])
        slopes = np.zeros((2 * len(self.keys), len(observed)))
        of_means, of_skills = slopes[0::2], slopes[1::2]
        for place, (_, measure) in enumerate(self.keys):
            of_means[place, size + place] = 1.0
            gap = float((measure.reference(classes[None]) - measure.perfect(classes[None]))[0])
            if gap != 0:
                skill = skill_of(sums[place] / classes.sum(), measure, classes)
                of_skills[place, :size] = self._skill_by_class(measure, skill, gap)
                of_skills[place, size + place] = -1 / gap
        return slopes

    def finish(self, drawn: FloatArray) -> Iterator[Statistic]:
        """Mean and skill of each model by each measure."""
        totals = np.vstack([self.values(self.panel.units.row_weight), drawn])
        classes, sums = np.split(totals, [self.panel.n_classes], axis=1)
        means = sums / classes.sum(axis=1, keepdims=True)
        means[:, ~self.is_finite] = np.inf
        limits = {m.name: (m.reference(classes), m.perfect(classes)) for m in self.measures}
        for place, (model, measure) in enumerate(self.keys):
            mean, (reference, perfect) = means[:, place], limits[measure.name]
            gap = reference - perfect
            skill = np.divide(reference - mean, gap, out=np.full(len(gap), np.nan), where=gap != 0)
            rare = partial(bound_class_mean, self.panel, model, measure, self.scores[place])
            yield make_statistic(model, measure.name, mean, partial(self._scores_at, place), rare)
            influence = partial(self._skill_influence, place, measure, float(skill[0]), float(gap[0]))
            yield make_statistic(model, f"{measure.name}{SKILL}", skill, influence)

    def _scores_at(self, place: int) -> FloatArray:
        return self.scores[place]

    def _skill_influence(self, place: int, measure: MeanMeasure, skill: float, gap: float) -> FloatArray:
        """The influence of each case on the skill: through its score and the references of its class."""
        return self._skill_by_class(measure, skill, gap)[self.panel.outcome] - self.scores[place] / gap

    def _skill_by_class(self, measure: MeanMeasure, skill: float, gap: float) -> FloatArray:
        """The influence of a case of each class on the skill through the references."""
        constant = self._constant_by_class(measure)
        perfect = measure.perfect(np.eye(self.panel.n_classes))
        return (constant - skill * (constant - perfect)) / gap

    def _constant_by_class(self, measure: MeanMeasure) -> FloatArray:
        """The derivative of the reference's sum of scores by the weight of each class, from a small step."""
        weight = self.panel.class_weight
        step = weight.sum() * 1e-6
        grown = weight + step * np.eye(len(weight))
        rise = measure.reference(grown) * grown.sum(axis=1) - measure.reference(weight[None]) * weight.sum()
        return rise / step


def bound_class_mean(
    panel: ClassPanel, model: str, measure: MeanMeasure, scores: FloatArray, level: float
) -> tuple[float, float]:
    """The interval of a mean score that allows for rare classes and rare surprises; NaN if none is rare.

    A surprise is an observed class that is not the predicted class. Each case is scored as if one of the rare
    classes (or of the classes that were not predicted) were observed, taking these classes in turn: an
    average over all of them would need a score for each.
    """
    units, label, turn = panel.units, panel.labels[model], np.arange(len(panel.outcome))
    counts = [units.count(panel.outcome == k) for k in range(panel.n_classes)]
    rare = np.flatnonzero(np.array(counts) < FEW_CASES)
    other = (label + 1 + turn % (panel.n_classes - 1)) % panel.n_classes
    kinds = [(panel.outcome != label, other)]
    kinds += [(np.isin(panel.outcome, rare), rare[turn % len(rare)])] if len(rare) else []
    splits = [
        split_rows(
            kind.astype(np.float64),
            scores,
            (measure.score(supposed, panel.forecasts[model]), scores),
            units,
            level,
        )
        for kind, supposed in kinds
        if has_few(kind.astype(np.float64), units)
    ]
    error, quantile = units.standard_error(scores), units.critical_value(level)
    bounds = bound_mean(units.mean(scores), error, splits, quantile=quantile, level=level)
    known = REGISTRY[measure.name]
    lower, upper = np.clip(bounds, known.lower, known.upper)
    return float(lower), float(upper)


class ConfusionTables:
    """Measures of the confusion table of each model."""

    def __init__(self, panel: ClassPanel, measures: Sequence[TableMeasure]) -> None:
        self.panel, self.measures = panel, measures
        self.cells = [panel.outcome * panel.n_classes + label for label in panel.labels.values()]

    def values(self, weight: FloatArray) -> FloatArray:
        """The measures of each model under these weights."""
        tables = self._tables(weight)
        return np.concatenate([measure.value(tables) for measure in self.measures])

    def draw(self, resamples: int, seed: int) -> FloatArray:
        """The values of resamples of independent rows: their tables are multinomial."""
        tables, rng = self._tables(self.panel.units.row_weight), random_stream(seed, 0, _TABLES_KEY)
        drawn = [
            rng.multinomial(round(table.sum()), table.ravel() / table.sum(), resamples) for table in tables
        ]
        of_models = [of_model.reshape(-1, *tables.shape[1:]).astype(np.float64) for of_model in drawn]
        return np.column_stack([measure.value(table) for measure in self.measures for table in of_models])

    def finish(self, drawn: FloatArray) -> Iterator[Statistic]:
        """A statistic for each measure and model."""
        weight = self.panel.units.row_weight
        values = np.vstack([self.values(weight), drawn])
        keys = [(measure, model) for measure in self.measures for model in self.panel.forecasts]
        for column, (measure, model) in zip(values.T, keys, strict=True):
            yield make_statistic(model, measure.name, column, partial(self.influence, measure, model))

    def influence(self, measure: TableMeasure, model: str) -> FloatArray:
        """The influence of each case on a measure: the slope at its cell, times the total."""
        place = list(self.panel.forecasts).index(model)
        table = self._tables(self.panel.units.row_weight)[place]
        return (measure.slope(table) * table.sum()).ravel()[self.cells[place]]

    def _tables(self, weight: FloatArray) -> FloatArray:
        size = self.panel.n_classes
        counts = [np.bincount(cells, weights=weight, minlength=size**2) for cells in self.cells]
        return np.array(counts, dtype=np.float64).reshape(-1, size, size)


def skill_of(mean: float, measure: MeanMeasure, class_weight: FloatArray) -> float:
    """Skill of a mean score against the constant forecast."""
    weight = class_weight[None]
    return relative_skill(mean, float(measure.reference(weight)[0]), float(measure.perfect(weight)[0]))
