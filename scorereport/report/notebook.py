"""The view of an evaluation in a notebook: its main tables and reliability diagrams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import format_level
from scorereport.plots.class_reliability import describe_views, plot_views
from scorereport.plots.reliability_diagram import describe_reliability, plot_reliability
from scorereport.report.section_parts import draw_parts, figure_part, table_part
from scorereport.report.tables.decomposition_tables import decomposition_table
from scorereport.report.tables.overview import describe_data, describe_uncertainty
from scorereport.report.tables.score_tables import score_table
from scorereport.report.templates import render_html

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.report.section_parts import Part
    from scorereport.results.evaluation import Evaluation


def render_notebook(evaluation: Evaluation) -> str:
    """Return an HTML fragment with the scores, decompositions and reliability diagrams of an evaluation."""
    scores = [result.scores for result in evaluation.results]
    level = format_level(evaluation.settings.level)
    ranks = {(rank.model, rank.measure): rank for rank in evaluation.comparisons.ranks}
    figures = list(_plan_figures(evaluation))
    draw_parts(figures)
    context: dict[str, Any] = {
        "sentences": [text for text in (describe_data(evaluation), describe_uncertainty(evaluation)) if text],
        "tables": [
            table_part(score_table(scores, ranks, level, n_classes=len(evaluation.data.sample.classes))),
            table_part(decomposition_table(scores, level)),
        ],
        "figures": figures,
        "notes": list(evaluation.notes),
    }
    return render_html("notebook.html", context)


def _plan_figures(evaluation: Evaluation) -> Iterator[Part]:
    """Plan the diagram of all binary models, or one of the main views of each class model."""
    if evaluation.models:
        models, prevalence = evaluation.models, evaluation.data.sample.prevalence
        alt = describe_reliability(models, prevalence=prevalence)
        yield figure_part(plot_reliability, alt, models, prevalence=prevalence, caption="")
    for result in evaluation.class_models:
        kind = result.families[-1].kind
        yield figure_part(plot_views, describe_views(result, kind), result, kind, caption="")
