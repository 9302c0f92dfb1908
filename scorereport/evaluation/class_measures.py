"""The measures of models of K classes: means over cases, and measures of the confusion table.

Most are means over the cases. Macro F1 and kappa are not: they are smooth functions of the confusion table,
so that the influence of each case on them is known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.arrays import FloatArray, IntArray
from scorereport.scores.hard_labels import check_cost, kappa_of, macro_f1_of, naive_cost_of
from scorereport.scores.registry import REGISTRY, Direction, Kind, Reported, list_reported

if TYPE_CHECKING:
    from scorereport.results.settings import EvaluationSettings

BRIER, RPS = "multiclass_brier", "rps"
KAPPA, F1 = "quadratic_weighted_kappa", "macro_f1"
_OF_PROBABILITIES = (Kind.MULTICLASS, Kind.ORDINAL)


@dataclass(frozen=True, kw_only=True, eq=False)
class MeanMeasure:
    """A measure that is a mean over cases.

    `score` takes class indices and probabilities; `reference` takes the weights of the classes, a row
    for each sample, and gives the mean score of forecasting their shares, or of the best constant label.
    """

    name: str
    score: Callable[[IntArray, FloatArray], FloatArray]
    reference: Callable[[FloatArray], FloatArray]
    perfect: Callable[[FloatArray], FloatArray]

    @property
    def higher_is_better(self) -> bool:
        """Whether higher values are better."""
        return REGISTRY[self.name].direction is Direction.HIGHER


@dataclass(frozen=True, kw_only=True, eq=False)
class TableMeasure:
    """A measure of the confusion table; `slope` is its derivative by each cell of a table."""

    name: str
    value: Callable[[FloatArray], FloatArray]
    slope: Callable[[FloatArray], FloatArray]


def choose_mean_measures(n_classes: int, settings: EvaluationSettings, *, ordered: bool) -> list[MeanMeasure]:
    """All measures that are means, in the order of tables in reports."""
    names = list_class_measures(ordered=ordered)
    scores = [_probability_measure(name) for name in names if REGISTRY[name].kind in _OF_PROBABILITIES]
    return [*scores, _accuracy(), _cost(choose_cost(n_classes, settings, ordered=ordered))]


def choose_table_measures(*, ordered: bool) -> list[TableMeasure]:
    """All measures of the confusion table, in the order of tables."""
    measures = [TableMeasure(name=F1, value=macro_f1_of, slope=_slope_of_f1)]
    if ordered:
        measures.append(TableMeasure(name=KAPPA, value=kappa_of, slope=_slope_of_kappa))
    return measures


def list_class_measures(*, ordered: bool) -> tuple[str, ...]:
    """The names of all measures, in the order of tables."""
    when = (Reported.ALWAYS, Reported.ORDERED) if ordered else (Reported.ALWAYS,)
    return list_reported(*when, kinds=(*_OF_PROBABILITIES, Kind.LABELS))


def choose_cost(n_classes: int, settings: EvaluationSettings, *, ordered: bool) -> FloatArray:
    """The cost matrix of the settings; else squared distances of ordered classes, or 1 per wrong label."""
    if settings.cost_matrix is None and not ordered:
        return 1 - np.eye(n_classes)
    return check_cost(settings.cost_matrix, n_classes)


def _probability_measure(name: str) -> MeanMeasure:
    score = REGISTRY[name].function

    def reference(classes: FloatArray) -> FloatArray:
        share = classes / classes.sum(axis=1, keepdims=True)
        samples, n_classes = share.shape
        observed = np.tile(np.arange(n_classes), samples)
        scores = score(observed, np.repeat(share, n_classes, axis=0)).reshape(samples, n_classes)
        return (share * np.where(share == 0, 0.0, scores)).sum(axis=1)  # 0 x inf of an absent class is 0

    return MeanMeasure(name=name, score=score, reference=reference, perfect=_zero)


def _accuracy() -> MeanMeasure:
    return MeanMeasure(
        name="accuracy",
        score=lambda y, p: (p.argmax(axis=1) == y).astype(np.float64),
        reference=lambda classes: classes.max(axis=1) / classes.sum(axis=1),
        perfect=lambda classes: np.ones(len(classes)),
    )


def _cost(cost: FloatArray) -> MeanMeasure:
    return MeanMeasure(
        name="expected_cost",
        score=lambda y, p: cost[y, p.argmax(axis=1)],
        reference=lambda classes: naive_cost_of(classes, cost),
        perfect=lambda classes: (classes * np.diagonal(cost)).sum(axis=1) / classes.sum(axis=1),
    )


def _zero(classes: FloatArray) -> FloatArray:
    return np.zeros(len(classes))


def _slope_of_f1(table: FloatArray) -> FloatArray:
    """The derivative of F, the mean of 2 TP/(R + C) over the classes that occur.

    R and C are the sums of rows and of columns.
    """
    both = table.sum(axis=1) + table.sum(axis=0)
    is_met = both > 0
    size = np.where(is_met, both, 1.0)
    right = np.diagonal(table)
    less = np.where(is_met, 2 * right / size**2, 0.0)
    gain = np.diag(np.where(is_met, 2 / size, 0.0))
    return (gain - less[:, None] - less[None, :]) / is_met.sum()


def _slope_of_kappa(table: FloatArray) -> FloatArray:
    """The derivative of 1 - A/B, A the sum of distances and B that of independent labels, r'Wc/N."""
    grade = np.arange(len(table), dtype=np.float64)
    distance = (grade[:, None] - grade) ** 2
    rows, columns, total = table.sum(axis=1), table.sum(axis=0), table.sum()
    observed = (distance * table).sum()
    of_row = (distance * columns).sum(axis=1) / total
    of_column = (distance * rows[:, None]).sum(axis=0) / total
    by_chance = (of_row * rows).sum()
    if by_chance == 0:
        return np.full(table.shape, np.nan)
    slope_of_chance = of_row[:, None] + of_column[None, :] - by_chance / total
    return -(distance * by_chance - observed * slope_of_chance) / by_chance**2
