"""An evaluation as a notebook shows it: its main tables and the reliability diagram."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scorereport.figures import describe_reliability, plot_reliability
from scorereport.formatting import format_level
from scorereport.report.parts import make_figure, make_table
from scorereport.report.render import render_html
from scorereport.tables.decompositions import decomposition_table
from scorereport.tables.scoring import score_table
from scorereport.tables.sentences import describe_data, describe_uncertainty

if TYPE_CHECKING:
    from scorereport.evaluation import Evaluation


def render_notebook(evaluation: Evaluation) -> str:
    """A fragment of HTML with scores, decompositions and the reliability diagram; all else is attributes."""
    models, prevalence = evaluation.models, evaluation.data.sample.prevalence
    scores, level = [result.scores for result in models], format_level(evaluation.settings.level)
    ranks = {(rank.model, rank.measure): rank for rank in evaluation.comparisons.ranks}
    context: dict[str, Any] = {
        "sentences": [text for text in (describe_data(evaluation), describe_uncertainty(evaluation)) if text],
        "tables": [
            make_table(score_table(scores, ranks, level)),
            make_table(decomposition_table(scores, level)),
        ],
        "figure": make_figure(
            plot_reliability,
            describe_reliability(models, prevalence=prevalence),
            models,
            prevalence=prevalence,
            caption="",
        ),
        "notes": list(evaluation.notes),
    }
    return render_html("notebook.html", context)
