"""The catalogue of the tables of an evaluation: the name, contents and order of each, declared once."""

from __future__ import annotations

from dataclasses import dataclass, replace
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
    stability_table,
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
from scorereport.report.tables.recalibration_tables import parts_table, recalibration_table
from scorereport.report.tables.retention_tables import retention_table
from scorereport.report.tables.scale_tables import angle_table, class_scale_table, scale_table
from scorereport.report.tables.score_tables import bounded_table, difference_table, score_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from scorereport.inference.estimates import Rank
    from scorereport.report.tables.table import Table
    from scorereport.results.evaluation import Evaluation
    from scorereport.results.model_records import GroupResult, ModelCalibration, ModelScores

    #: Yields the tables of an evaluation, with its level as text; None stands for a table without contents.
    Builder = Callable[[Evaluation, str], Iterator[Table | None]]


@dataclass(frozen=True, kw_only=True, eq=False)
class CataloguedTable:
    """A table of an evaluation, or several of one kind, such as one for each column of groups.

    `contents` completes "Table of ..."; `needs` says what an evaluation must have for it. One with
    `short_rows` is shown even where nobody asked for it: up to this many rows, and the main score at least.
    """

    name: str
    contents: str
    build: Builder
    needs: str = ""
    short_rows: int = 0

    def make(self, evaluation: Evaluation) -> list[Table]:
        """Return the tables of an evaluation; none if it lacks what they need."""
        level = format_level(evaluation.settings.level)
        return [_drop_empty(table) for table in self.build(evaluation, level) if table is not None]


def find_table(name: str) -> CataloguedTable | None:
    """Return the table with a name, in which underscores may stand for hyphens; None if there is none.

    >>> find_table("calibration_tests").contents, find_table("p.csv")
    ('tests of calibration', None)
    """
    return next((table for table in CATALOGUE if table.name == name.replace("_", "-")), None)


def _drop_empty(table: Table) -> Table:
    """Return a table without columns that are empty in every row, such as intervals without resamples."""
    places = range(len(table.heads))
    kept = [place for place in places if place < table.n_labels or any(row[place] for row in table.rows)]
    return replace(
        table,
        heads=tuple(table.heads[place] for place in kept),
        rows=tuple(tuple(row[place] for place in kept) for row in table.rows),
    )


def _scores(evaluation: Evaluation) -> list[ModelScores]:
    return [result.scores for result in evaluation.results]


def _ranks(evaluation: Evaluation) -> dict[tuple[str, str], Rank]:
    return {(rank.model, rank.measure): rank for rank in evaluation.comparisons.ranks}


def _calibrations(evaluation: Evaluation) -> list[tuple[str, ModelCalibration]]:
    return [(m.model, m.calibration) for m in evaluation.models if m.calibration is not None]


def _make_scores(evaluation: Evaluation, level: str) -> Iterator[Table]:
    n_classes = len(evaluation.data.sample.classes)
    yield score_table(_scores(evaluation), _ranks(evaluation), level, n_classes=n_classes)


def _make_bounded_scores(evaluation: Evaluation, level: str) -> Iterator[Table]:
    costs = evaluation.settings.cost_interval
    if costs is not None and evaluation.models:
        yield bounded_table(_scores(evaluation), _ranks(evaluation), level, *costs)


def _make_penalties(evaluation: Evaluation, level: str) -> Iterator[Table]:
    if evaluation.data.classes is not None:
        yield penalty_table(_scores(evaluation), len(evaluation.data.classes.counts), level)


def _make_costs(evaluation: Evaluation, level: str) -> Iterator[Table]:
    costs = find_decision_costs(evaluation)
    if costs is not None and evaluation.class_models:
        yield cost_table(_scores(evaluation), costs, level)


def _make_labels(evaluation: Evaluation, level: str) -> Iterator[Table]:
    if evaluation.data.classes is not None:
        yield label_table(evaluation.class_models, evaluation.data.classes, level)


def _make_decompositions(evaluation: Evaluation, level: str) -> Iterator[Table]:
    yield decomposition_table(_scores(evaluation), level)


def _make_views(evaluation: Evaluation, level: str) -> Iterator[Table]:
    for result in evaluation.class_models:
        yield view_decomposition_table(result, result.families[-1], level)


def _make_line(evaluation: Evaluation, level: str) -> Iterator[Table]:
    if known := _calibrations(evaluation):
        yield line_table(known, level)


def _make_distances(evaluation: Evaluation, level: str) -> Iterator[Table]:
    if known := _calibrations(evaluation):
        yield distance_table(known, level, has_smooth=evaluation.settings.engine == "memory")


def _make_tests(evaluation: Evaluation, _: str) -> Iterator[Table]:
    if known := _calibrations(evaluation):
        yield calibration_test_table(known)


def _make_grades(evaluation: Evaluation, _: str) -> Iterator[Table]:
    yield from grade_tables(_calibrations(evaluation))


def _make_discrimination(evaluation: Evaluation, level: str) -> Iterator[Table]:
    if evaluation.models:
        yield discrimination_table(evaluation.models, level)


def _make_thresholds(evaluation: Evaluation, level: str) -> Iterator[Table | None]:
    if evaluation.models:
        yield threshold_decision_table(evaluation.models, level)


def _make_differences(evaluation: Evaluation, level: str) -> Iterator[Table]:
    if evaluation.comparisons.differences:
        yield difference_table(evaluation.comparisons.differences, level)


def _make_groups(evaluation: Evaluation, level: str) -> Iterator[Table]:
    return _make_by_column(evaluation, evaluation.groups, level)


def _make_periods(evaluation: Evaluation, level: str) -> Iterator[Table]:
    return _make_by_column(evaluation, evaluation.windows, level)


def _make_by_column(evaluation: Evaluation, groups: Sequence[GroupResult], level: str) -> Iterator[Table]:
    for column in dict.fromkeys(group.column for group in groups):
        members = [group for group in groups if group.column == column]
        yield group_table(column, members, level, weighted=evaluation.data.weighted)


def _make_heterogeneity(evaluation: Evaluation, _: str) -> Iterator[Table]:
    if evaluation.heterogeneity:
        yield heterogeneity_table(evaluation)


def _make_parts(evaluation: Evaluation, level: str) -> Iterator[Table | None]:
    if evaluation.models:
        yield parts_table(evaluation.models, "brier", level)


def _make_recalibration(evaluation: Evaluation, level: str) -> Iterator[Table | None]:
    if evaluation.models:
        yield recalibration_table(evaluation.models, level)


def _make_retention(evaluation: Evaluation, _: str) -> Iterator[Table]:
    if models := [model for model in evaluation.class_models if model.retention]:
        yield retention_table(models, format_level(models[0].retention[0].level))


def _make_scale(evaluation: Evaluation, level: str) -> Iterator[Table | None]:
    if models := [result for result in evaluation.results if result.scale]:
        yield scale_table(models, level)
        yield angle_table(models, level)
        yield class_scale_table(models, level)


def _make_rows(evaluation: Evaluation, _: str) -> Iterator[Table | None]:
    yield row_flow_table(evaluation.data.row_flow)
    yield missing_table(evaluation.data.row_flow)


def _make_classes(evaluation: Evaluation, level: str) -> Iterator[Table]:
    if evaluation.data.classes is not None:
        yield class_table(evaluation.data.classes, level)


def _make_forecasts(evaluation: Evaluation, _: str) -> Iterator[Table]:
    if evaluation.data.classes is None:
        yield forecast_table(evaluation.models)
    else:
        yield class_forecast_table(evaluation.class_models, evaluation.data.classes)


def _make_stability(evaluation: Evaluation, _: str) -> Iterator[Table | None]:
    yield stability_table(evaluation.stability)


_BINARY, _CLASSES = "binary models", "--classes"
_INTERVALS = "binary models with intervals"

#: All tables of an evaluation, in reading order.
CATALOGUE = (
    CataloguedTable(
        name="scores",
        contents="mean scores, skills and ranks",
        build=_make_scores,
        short_rows=30,
    ),
    CataloguedTable(
        name="bounded-scores",
        contents="regret and net benefit over an interval of costs",
        build=_make_bounded_scores,
        needs="binary models and --cost-interval",
        short_rows=12,
    ),
    CataloguedTable(
        name="penalties",
        contents="penalised scores",
        build=_make_penalties,
        needs=_CLASSES,
    ),
    CataloguedTable(
        name="costs",
        contents="expected costs of decisions",
        build=_make_costs,
        needs=_CLASSES,
    ),
    CataloguedTable(
        name="labels",
        contents="precision, recall, F1 and AUC of each class",
        build=_make_labels,
        needs=_CLASSES,
    ),
    CataloguedTable(
        name="decompositions",
        contents="miscalibration, discrimination and uncertainty",
        build=_make_decompositions,
        short_rows=1,
    ),
    CataloguedTable(
        name="views",
        contents="decompositions of each class or threshold",
        build=_make_views,
        needs=_CLASSES,
    ),
    CataloguedTable(
        name="calibration-line",
        contents="slope and intercepts of calibration",
        build=_make_line,
        needs=_INTERVALS,
    ),
    CataloguedTable(
        name="calibration-errors",
        contents="ICI, E50, E90, Emax and ECE",
        build=_make_distances,
        needs=_INTERVALS,
    ),
    CataloguedTable(
        name="calibration-tests",
        contents="tests of calibration",
        build=_make_tests,
        needs=_INTERVALS,
    ),
    CataloguedTable(
        name="grades",
        contents="tests of each rating grade",
        build=_make_grades,
        needs="binary models and --grade",
    ),
    CataloguedTable(
        name="discrimination",
        contents="AUC, accuracy ratio and Kolmogorov-Smirnov statistic",
        build=_make_discrimination,
        needs=_BINARY,
    ),
    CataloguedTable(
        name="thresholds",
        contents="decisions at thresholds",
        build=_make_thresholds,
        needs=_BINARY,
    ),
    CataloguedTable(
        name="differences",
        contents="differences between models, with tests",
        build=_make_differences,
        needs="two or more models, with intervals",
    ),
    CataloguedTable(
        name="groups",
        contents="scores by subgroup",
        build=_make_groups,
        needs="--group",
    ),
    CataloguedTable(
        name="periods",
        contents="scores by period",
        build=_make_periods,
        needs="--time",
    ),
    CataloguedTable(
        name="heterogeneity",
        contents="tests whether groups differ",
        build=_make_heterogeneity,
        needs="--group, with intervals",
    ),
    CataloguedTable(
        name="miscalibration-parts",
        contents="global and local miscalibration",
        build=_make_parts,
        needs=_INTERVALS,
    ),
    CataloguedTable(
        name="recalibration",
        contents="gain from recalibration",
        build=_make_recalibration,
        needs=_INTERVALS,
    ),
    CataloguedTable(
        name="retention",
        contents="areas under retention curves",
        build=_make_retention,
        needs=_CLASSES,
    ),
    CataloguedTable(
        name="scale",
        contents="the probability scale",
        build=_make_scale,
        needs="--scale",
    ),
    CataloguedTable(name="rows", contents="rows read, dropped and kept", build=_make_rows),
    CataloguedTable(name="classes", contents="classes and their shares", build=_make_classes, needs=_CLASSES),
    CataloguedTable(name="forecasts", contents="distribution of the forecasts", build=_make_forecasts),
    CataloguedTable(
        name="stability",
        contents="forecasts against a reference sample",
        build=_make_stability,
        needs="--reference",
    ),
)
