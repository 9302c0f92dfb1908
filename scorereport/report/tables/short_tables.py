"""The short form of an evaluation: its main findings and tables, and the names of what it leaves out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, isnan
from typing import TYPE_CHECKING

from scorereport.report.tables.table_catalogue import CATALOGUE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.report.tables.table import Table  # noqa: TC004  # the type of a field
    from scorereport.report.tables.table_catalogue import CataloguedTable
    from scorereport.results.class_records import ClassModelResult
    from scorereport.results.evaluation import Evaluation
    from scorereport.results.model_records import ModelResult

#: Most models in a table.
MOST_MODELS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortTable:
    """The first rows of a table, its name in the catalogue, and the number of rows that are left out."""

    name: str
    table: Table
    left_out: int


def choose_best(evaluation: Evaluation, most: int) -> list[ModelResult | ClassModelResult]:
    """Choose the models with the lowest main score, in the order of the evaluation."""
    results: Sequence[ModelResult | ClassModelResult] = evaluation.results
    values = [result.scores.score(evaluation.main_score).value for result in results]
    best = sorted(range(len(results)), key=lambda place: inf if isnan(values[place]) else values[place])
    return [results[place] for place in sorted(best[:most])]


def describe_chosen_models(evaluation: Evaluation) -> str:
    """State which of many models are in short tables; empty if all are."""
    total = len(evaluation.results)
    if total <= MOST_MODELS:
        return ""
    return f"Tables show the {MOST_MODELS} of {total} models with the lowest main score."


def short_tables(evaluation: Evaluation) -> Iterator[ShortTable]:
    """Yield the tables that are shown without being asked for, with the best models and the first scores."""
    models = [result.model for result in choose_best(evaluation, MOST_MODELS)]
    for declared in CATALOGUE:
        if declared.short_rows:
            for table in declared.make(evaluation):
                yield _shorten(declared, table, models)


def _shorten(declared: CataloguedTable, table: Table, models: Sequence[str]) -> ShortTable:
    """Keep the rows of some models, and of these as many whole sections as a short table has room for."""
    place = table.heads.index("model")
    rows = [row for row in table.rows if row[place] in models]
    sections = max(declared.short_rows // len(models), 1)
    kept = tuple(rows[: sections * len(models)])
    section = len(models) if len(models) > 1 else 0
    short = replace(table, rows=kept, section=section)
    return ShortTable(name=declared.name, table=short, left_out=len(table.rows) - len(kept))


def list_table_names(evaluation: Evaluation) -> list[str]:
    """List the names of the tables that an evaluation has."""
    return [declared.name for declared in CATALOGUE if declared.make(evaluation)]
