"""The view of an evaluation in a notebook: its main tables and a reliability diagram, in at most 100 kB.

A notebook keeps every display in its file, so this one shows some of many models, and states which.
"""

from __future__ import annotations

import re
from base64 import b64decode
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from scorereport._utils.formatting import format_level, join_words
from scorereport.plots.class_reliability import describe_views, plot_views
from scorereport.plots.reliability_diagram import describe_reliability, plot_reliability
from scorereport.report.section_parts import SVG_ADDRESS, draw_parts, figure_part, table_part
from scorereport.report.tables.decomposition_tables import decomposition_table
from scorereport.report.tables.overview import describe_data, describe_uncertainty
from scorereport.report.tables.score_tables import score_table
from scorereport.report.tables.short_tables import MOST_MODELS, choose_best, describe_chosen_models
from scorereport.report.templates import render_html

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.report.section_parts import Part
    from scorereport.results.class_records import ClassModelResult, ViewFamily
    from scorereport.results.evaluation import Evaluation
    from scorereport.results.model_records import ModelResult

    Result = ModelResult | ClassModelResult

#: Most binary models, and most views of a class model, in the diagram.
_MOST_DIAGRAMS, _MOST_VIEWS = 2, 3
#: Characters of an SVG that an address may have as they are; the other quotation mark ends the attribute.
_ADDRESS_CHARACTERS = " =/'();,.-_!@&+*?"


def render_notebook(evaluation: Evaluation) -> str:
    """Return an HTML fragment with the scores, decompositions and a reliability diagram of an evaluation."""
    listed, drawn = choose_best(evaluation, MOST_MODELS), _choose_drawn(evaluation)
    scores = [result.scores for result in listed]
    level = format_level(evaluation.settings.level)
    ranks = {(rank.model, rank.measure): rank for rank in evaluation.comparisons.ranks}
    figures = [_plan_figure(evaluation, drawn)] if drawn else []
    draw_parts(figures)
    for figure in figures:
        figure["src"] = _shorten_address(figure["src"])
    sentences = (describe_data(evaluation), describe_uncertainty(evaluation))
    context: dict[str, Any] = {
        "sentences": [*filter(None, sentences), *_describe_choice(evaluation, drawn)],
        "tables": [
            table_part(score_table(scores, ranks, level, n_classes=len(evaluation.data.sample.classes))),
            table_part(decomposition_table(scores, level)),
        ],
        "figures": figures,
        "notes": list(evaluation.notes),
    }
    return render_html("notebook.html", context)


def _choose_drawn(evaluation: Evaluation) -> list[Result]:
    return choose_best(evaluation, _MOST_DIAGRAMS if evaluation.models else 1)


def _describe_choice(evaluation: Evaluation, drawn: list[Result]) -> Iterator[str]:
    """State which of many models tables and diagrams show."""
    total = len(evaluation.results)
    if choice := describe_chosen_models(evaluation):
        yield choice
    if len(drawn) < total:
        names = join_words(result.model for result in drawn)
        yield f"Diagrams are of {names}; a report has those of all {total} models."


def _plan_figure(evaluation: Evaluation, drawn: list[Result]) -> Part:
    """Plan the diagram of some binary models, or of the main views of a class model."""
    models = [model for model in evaluation.models if model in drawn]
    if models:
        prevalence = evaluation.data.sample.prevalence
        alt = describe_reliability(models, prevalence=prevalence)
        return figure_part(plot_reliability, alt, models, prevalence=prevalence, caption="")
    (result,) = (result for result in evaluation.class_models if result in drawn)
    family = result.families[-1]
    shown = replace(result, families=(*result.families[:-1], _keep_least_calibrated(family)))
    return figure_part(plot_views, describe_views(shown, family.kind), shown, family.kind, caption="")


def _keep_least_calibrated(family: ViewFamily) -> ViewFamily:
    """Keep the views with the largest miscalibration."""
    sizes = [view.scores.decomposition("brier").miscalibration for view in family.views]
    worst = sorted(range(len(sizes)), key=lambda place: -sizes[place])[:_MOST_VIEWS]
    return replace(family, views=tuple(family.views[place] for place in sorted(worst)))


def _shorten_address(address: str) -> str:
    """Write the SVG of an address as text, which takes three quarters of base64."""
    svg = b64decode(address.removeprefix(SVG_ADDRESS)).decode()
    if "'" in svg:
        return address
    plain = re.sub(r"\n+", "\n", svg[svg.index("<svg") :]).replace('"', "'")
    return f"data:image/svg+xml,{quote(plain.replace(chr(10), ' '), safe=_ADDRESS_CHARACTERS)}"
