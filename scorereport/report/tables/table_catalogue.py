"""The catalogue of the tables of an evaluation: the name, contents and order of each, declared once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_level
from scorereport.report.tables import table_builders as builders

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scorereport.report.tables.table import Table
    from scorereport.results.evaluation import Evaluation

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


#: What an evaluation must have, as tables say it.
_BINARY, _CLASSES = "binary models", "--classes"
_INTERVALS = "binary models with intervals"

#: All tables of an evaluation, in reading order.
CATALOGUE = (
    CataloguedTable(
        name="scores",
        contents="mean scores, skills and ranks",
        build=builders.make_scores,
        short_rows=30,
    ),
    CataloguedTable(
        name="bounded-scores",
        contents="regret and net benefit over an interval of costs",
        build=builders.make_bounded_scores,
        needs="binary models and --cost-interval",
        short_rows=12,
    ),
    CataloguedTable(
        name="penalties",
        contents="penalised scores",
        build=builders.make_penalties,
        needs=_CLASSES,
    ),
    CataloguedTable(
        name="costs",
        contents="expected costs of decisions",
        build=builders.make_costs,
        needs=_CLASSES,
    ),
    CataloguedTable(
        name="labels",
        contents="precision, recall, F1 and AUC of each class",
        build=builders.make_labels,
        needs=_CLASSES,
    ),
    CataloguedTable(
        name="decompositions",
        contents="miscalibration, discrimination and uncertainty",
        build=builders.make_decompositions,
        short_rows=1,
    ),
    CataloguedTable(
        name="views",
        contents="decompositions of each class or threshold",
        build=builders.make_views,
        needs=_CLASSES,
    ),
    CataloguedTable(
        name="calibration-line",
        contents="slope and intercepts of calibration",
        build=builders.make_line,
        needs=_INTERVALS,
    ),
    CataloguedTable(
        name="calibration-errors",
        contents="ICI, E50, E90, Emax and ECE",
        build=builders.make_distances,
        needs=_INTERVALS,
    ),
    CataloguedTable(
        name="calibration-tests",
        contents="tests of calibration",
        build=builders.make_tests,
        needs=_INTERVALS,
    ),
    CataloguedTable(
        name="grades",
        contents="tests of each rating grade",
        build=builders.make_grades,
        needs="binary models and --grade",
    ),
    CataloguedTable(
        name="discrimination",
        contents="AUC, accuracy ratio and Kolmogorov-Smirnov statistic",
        build=builders.make_discrimination,
        needs=_BINARY,
    ),
    CataloguedTable(
        name="thresholds",
        contents="decisions at thresholds",
        build=builders.make_thresholds,
        needs=_BINARY,
    ),
    CataloguedTable(
        name="decision-counts",
        contents="confusion counts at thresholds",
        build=builders.make_decision_counts,
        needs=_BINARY,
    ),
    CataloguedTable(
        name="decision-ranges",
        contents="thresholds at which a model decides better than another",
        build=builders.make_decision_ranges,
        needs=_INTERVALS,
    ),
    CataloguedTable(
        name="differences",
        contents="differences between models, with tests",
        build=builders.make_differences,
        needs="two or more models, with intervals",
    ),
    CataloguedTable(
        name="groups",
        contents="scores by subgroup",
        build=builders.make_groups,
        needs="--group",
    ),
    CataloguedTable(
        name="periods",
        contents="scores by period",
        build=builders.make_periods,
        needs="--time",
    ),
    CataloguedTable(
        name="heterogeneity",
        contents="tests whether groups differ",
        build=builders.make_heterogeneity,
        needs="--group, with intervals",
    ),
    CataloguedTable(
        name="miscalibration-parts",
        contents="global and local miscalibration",
        build=builders.make_parts,
        needs=_INTERVALS,
    ),
    CataloguedTable(
        name="recalibration",
        contents="gain from recalibration",
        build=builders.make_recalibration,
        needs=_INTERVALS,
    ),
    CataloguedTable(
        name="retention",
        contents="areas under retention curves",
        build=builders.make_retention,
        needs=_CLASSES,
    ),
    CataloguedTable(
        name="scale",
        contents="the probability scale",
        build=builders.make_scale,
        needs="--scale",
    ),
    CataloguedTable(name="rows", contents="rows read, dropped and kept", build=builders.make_rows),
    CataloguedTable(
        name="missing-outcomes",
        contents="bounds over all values of missing outcomes",
        build=builders.make_missing_outcomes,
        needs="--missing drop",
    ),
    CataloguedTable(
        name="classes", contents="classes and their shares", build=builders.make_classes, needs=_CLASSES
    ),
    CataloguedTable(
        name="forecasts", contents="distribution of the forecasts", build=builders.make_forecasts
    ),
    CataloguedTable(
        name="stability",
        contents="forecasts against a reference sample",
        build=builders.make_stability,
        needs="--reference",
    ),
    CataloguedTable(
        name="changes",
        contents="event rate and scores against a reference sample",
        build=builders.make_changes,
        needs="--reference, with outcomes",
    ),
)
