"""All tables of an evaluation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport.formatting import format_level
from scorereport.tables.calibrating import calibration_tables
from scorereport.tables.decompositions import decomposition_table
from scorereport.tables.differences import difference_table
from scorereport.tables.grouped import group_table, heterogeneity_table
from scorereport.tables.scoring import bounded_table, score_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.evaluation import Evaluation
    from scorereport.tables.table import Table


def evaluation_tables(evaluation: Evaluation) -> Iterator[Table]:
    """All tables of an evaluation, in reading order."""
    models = [result.scores for result in evaluation.models]
    ranks = {(rank.model, rank.measure): rank for rank in evaluation.comparisons.ranks}
    level = format_level(evaluation.settings.level)
    yield score_table(models, ranks, level)
    if evaluation.settings.cost_interval is not None:
        yield bounded_table(models, ranks, level, *evaluation.settings.cost_interval)
    yield decomposition_table(models, level)
    yield from calibration_tables(evaluation.models, level)
    if evaluation.comparisons.differences:
        yield difference_table(evaluation.comparisons.differences, level)
    for groups in (evaluation.groups, evaluation.windows):
        for column in dict.fromkeys(group.column for group in groups):
            yield group_table(column, [g for g in groups if g.column == column], level)
    if evaluation.heterogeneity:
        yield heterogeneity_table(evaluation)
