"""What makes each table of the catalogue from an evaluation and its level as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_level
from scorereport.report.tables.calibration_tables import (
    calibration_test_table,
    distance_table,
    grade_tables,
    line_table,
)
from scorereport.report.tables.data_tables import (
    class_forecast_table,
    class_table,
    forecast_table,
    label_table,
    missing_table,
    row_flow_table,
)
from scorereport.report.tables.decision_tables import (
    cost_table,
    discrimination_table,
    find_decision_costs,
    penalty_table,
    threshold_decision_table,
)
from scorereport.report.tables.decomposition_tables import decomposition_table, view_decomposition_table
from scorereport.report.tables.group_tables import group_table, heterogeneity_table
from scorereport.report.tables.missing_outcome_tables import missing_outcome_table
from scorereport.report.tables.recalibration_tables import parts_table, recalibration_table
from scorereport.report.tables.retention_tables import retention_table
from scorereport.report.tables.sample_change_tables import (
    change_table,
    column_table,
    component_change_table,
    rate_table,
    stability_table,
)
from scorereport.report.tables.scale_tables import angle_table, class_scale_table, scale_table
from scorereport.report.tables.score_tables import bounded_table, difference_table, score_table
from scorereport.report.tables.threshold_tables import decision_count_table, decision_range_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.inference.estimates import Rank
    from scorereport.report.tables.table import Table
    from scorereport.results.evaluation import Evaluation
    from scorereport.results.model_records import GroupResult, ModelCalibration, ModelScores


def _scores(evaluation: Evaluation) -> list[ModelScores]:
    return [result.scores for result in evaluation.results]


def _ranks(evaluation: Evaluation) -> dict[tuple[str, str], Rank]:
    return {(rank.model, rank.measure): rank for rank in evaluation.comparisons.ranks}


def _calibrations(evaluation: Evaluation) -> list[tuple[str, ModelCalibration]]:
    return [(m.model, m.calibration) for m in evaluation.models if m.calibration is not None]


def make_scores(evaluation: Evaluation, level: str) -> Iterator[Table]:
    """Make the table of mean scores, skills and ranks."""
    n_classes = len(evaluation.data.sample.classes)
    yield score_table(_scores(evaluation), _ranks(evaluation), level, n_classes=n_classes)


def make_bounded_scores(evaluation: Evaluation, level: str) -> Iterator[Table]:
    """Make the table of regret and net benefit over an interval of costs."""
    costs = evaluation.settings.cost_interval
    if costs is not None and evaluation.models:
        yield bounded_table(_scores(evaluation), _ranks(evaluation), level, *costs)


def make_penalties(evaluation: Evaluation, level: str) -> Iterator[Table]:
    """Make the table of penalised scores."""
    if evaluation.data.classes is not None:
        yield penalty_table(_scores(evaluation), len(evaluation.data.classes.counts), level)


def make_costs(evaluation: Evaluation, level: str) -> Iterator[Table]:
    """Make the table of expected costs of decisions."""
    costs = find_decision_costs(evaluation)
    if costs is not None and evaluation.class_models:
        yield cost_table(_scores(evaluation), costs, level)


def make_labels(evaluation: Evaluation, level: str) -> Iterator[Table]:
    """Make the table of precision, recall, F1 and AUC of each class."""
    if evaluation.data.classes is not None:
        yield label_table(evaluation.class_models, evaluation.data.classes, level)


def make_decompositions(evaluation: Evaluation, level: str) -> Iterator[Table]:
    """Make the table of miscalibration, discrimination and uncertainty."""
    yield decomposition_table(_scores(evaluation), level)


def make_views(evaluation: Evaluation, level: str) -> Iterator[Table]:
    """Make the table of decompositions of each class or threshold."""
    for result in evaluation.class_models:
        yield view_decomposition_table(result, result.families[-1], level)


def make_line(evaluation: Evaluation, level: str) -> Iterator[Table]:
    """Make the table of slope and intercepts of calibration."""
    if known := _calibrations(evaluation):
        yield line_table(known, level)


def make_distances(evaluation: Evaluation, level: str) -> Iterator[Table]:
    """Make the table of ICI, E50, E90, Emax and ECE."""
    if known := _calibrations(evaluation):
        yield distance_table(known, level, has_smooth=evaluation.settings.engine == "memory")


def make_tests(evaluation: Evaluation, _: str) -> Iterator[Table]:
    """Make the table of tests of calibration."""
    if known := _calibrations(evaluation):
        yield calibration_test_table(known)


def make_grades(evaluation: Evaluation, _: str) -> Iterator[Table]:
    """Make the table of tests of each rating grade."""
    yield from grade_tables(_calibrations(evaluation))


def make_discrimination(evaluation: Evaluation, level: str) -> Iterator[Table]:
    """Make the table of AUC, accuracy ratio and Kolmogorov-Smirnov statistic."""
    if evaluation.models:
        yield discrimination_table(evaluation.models, level)


def make_thresholds(evaluation: Evaluation, level: str) -> Iterator[Table | None]:
    """Make the table of decisions at thresholds."""
    if evaluation.models:
        yield threshold_decision_table(evaluation.models, level)


def make_decision_counts(evaluation: Evaluation, _: str) -> Iterator[Table | None]:
    """Make the table of confusion counts at thresholds."""
    if evaluation.models:
        yield decision_count_table(evaluation.models, weighted=evaluation.data.weighted)


def make_decision_ranges(evaluation: Evaluation, level: str) -> Iterator[Table | None]:
    """Make the table of thresholds at which a model decides better than another."""
    yield decision_range_table(evaluation.comparisons.decisions, level)


def make_differences(evaluation: Evaluation, level: str) -> Iterator[Table]:
    """Make the table of differences between models, with tests."""
    if evaluation.comparisons.differences:
        yield difference_table(evaluation.comparisons.differences, level)


def make_groups(evaluation: Evaluation, level: str) -> Iterator[Table]:
    """Make the table of scores by subgroup."""
    return _make_by_column(evaluation, evaluation.groups, level)


def make_periods(evaluation: Evaluation, level: str) -> Iterator[Table]:
    """Make the table of scores by period."""
    return _make_by_column(evaluation, evaluation.windows, level)


def _make_by_column(evaluation: Evaluation, groups: Sequence[GroupResult], level: str) -> Iterator[Table]:
    for column in dict.fromkeys(group.column for group in groups):
        members = [group for group in groups if group.column == column]
        yield group_table(column, members, level, weighted=evaluation.data.weighted)


def make_heterogeneity(evaluation: Evaluation, _: str) -> Iterator[Table]:
    """Make the table of tests whether groups differ."""
    if evaluation.heterogeneity:
        yield heterogeneity_table(evaluation)


def make_parts(evaluation: Evaluation, level: str) -> Iterator[Table | None]:
    """Make the table of global and local miscalibration."""
    if evaluation.models:
        yield parts_table(evaluation.models, "brier", level)


def make_recalibration(evaluation: Evaluation, level: str) -> Iterator[Table | None]:
    """Make the table of gain from recalibration."""
    if evaluation.models:
        yield recalibration_table(evaluation.models, level)


def make_retention(evaluation: Evaluation, _: str) -> Iterator[Table]:
    """Make the table of areas under retention curves."""
    if models := [model for model in evaluation.class_models if model.retention]:
        yield retention_table(models, format_level(models[0].retention[0].level))


def make_scale(evaluation: Evaluation, level: str) -> Iterator[Table | None]:
    """Make the table of the probability scale."""
    if models := [result for result in evaluation.results if result.scale]:
        yield scale_table(models, level)
        yield angle_table(models, level)
        yield class_scale_table(models, level)


def make_rows(evaluation: Evaluation, _: str) -> Iterator[Table | None]:
    """Make the table of rows read, dropped and kept."""
    yield row_flow_table(evaluation.data.row_flow)
    yield missing_table(evaluation.data.row_flow)


def make_missing_outcomes(evaluation: Evaluation, _: str) -> Iterator[Table | None]:
    """Make the table of bounds over all values of missing outcomes."""
    yield missing_outcome_table(evaluation.missing_outcomes)


def make_classes(evaluation: Evaluation, level: str) -> Iterator[Table]:
    """Make the table of classes and their shares."""
    if evaluation.data.classes is not None:
        yield class_table(evaluation.data.classes, level)


def make_forecasts(evaluation: Evaluation, _: str) -> Iterator[Table]:
    """Make the table of distribution of the forecasts."""
    if evaluation.data.classes is None:
        yield forecast_table(evaluation.models)
    else:
        yield class_forecast_table(evaluation.class_models, evaluation.data.classes)


def make_stability(evaluation: Evaluation, level: str) -> Iterator[Table | None]:
    """Make the table of forecasts against a reference sample."""
    yield stability_table(evaluation.stability, evaluation.reference)
    yield column_table(evaluation.reference, level)


def make_changes(evaluation: Evaluation, level: str) -> Iterator[Table | None]:
    """Make the table of event rate and scores against a reference sample."""
    yield rate_table(evaluation.reference, level)
    yield change_table(evaluation, level)
    yield component_change_table(evaluation)
    yield change_table(evaluation, level, is_main=False)
