"""All tables of an evaluation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_level
from scorereport.report.tables.calibration_tables import calibration_tables
from scorereport.report.tables.class_scoring import cost_table, find_decision_costs, penalty_table
from scorereport.report.tables.data_tables import label_table
from scorereport.report.tables.decomposition_tables import view_decomposition_table
from scorereport.report.tables.decompositions import decomposition_table
from scorereport.report.tables.differences import difference_table
from scorereport.report.tables.group_tables import group_table, heterogeneity_table
from scorereport.report.tables.score_tables import bounded_table, score_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.report.tables.table import Table
    from scorereport.results.evaluation import Evaluation


def evaluation_tables(evaluation: Evaluation) -> Iterator[Table]:
    """All tables of an evaluation, in reading order."""
    level = format_level(evaluation.settings.level)
    yield from _model_tables(evaluation, level) if evaluation.models else _class_tables(evaluation, level)
    if evaluation.comparisons.differences:
        yield difference_table(evaluation.comparisons.differences, level)
    for groups in (evaluation.groups, evaluation.windows):
        for column in dict.fromkeys(group.column for group in groups):
            of_column = [g for g in groups if g.column == column]
            yield group_table(column, of_column, level, weighted=evaluation.data.weighted)
    if evaluation.heterogeneity:
        yield heterogeneity_table(evaluation)


def _model_tables(evaluation: Evaluation, level: str) -> Iterator[Table]:
    """Scores, decompositions and calibration of binary models."""
    models = [result.scores for result in evaluation.models]
    ranks = {(rank.model, rank.measure): rank for rank in evaluation.comparisons.ranks}
    yield score_table(models, ranks, level)
    if evaluation.settings.cost_interval is not None:
        yield bounded_table(models, ranks, level, *evaluation.settings.cost_interval)
    yield decomposition_table(models, level)
    has_smooth = evaluation.settings.engine == "memory"
    yield from calibration_tables(evaluation.models, level, has_smooth=has_smooth)


def _class_tables(evaluation: Evaluation, level: str) -> Iterator[Table]:
    """Scores, penalties, costs, decompositions and views of models of K classes."""
    results, classes, costs = (
        evaluation.class_models,
        evaluation.data.classes,
        find_decision_costs(evaluation),
    )
    if classes is None or costs is None:
        return
    models = [result.scores for result in results]
    ranks = {(rank.model, rank.measure): rank for rank in evaluation.comparisons.ranks}
    yield score_table(models, ranks, level, n_classes=len(classes.counts))
    yield penalty_table(models, len(classes.counts), level)
    yield cost_table(models, costs, level)
    yield label_table(results, classes, level)
    yield decomposition_table(models, level)
    for result in results:
        yield view_decomposition_table(result, result.families[-1], level)
