"""The section on discrimination: how well models separate events from non-events, or K classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_level
from scorereport.plots.confusion_grid import MOST_NUMBERED
from scorereport.plots.confusion_matrix import describe_confusion, plot_confusion
from scorereport.plots.roc_curves import describe_roc, plot_roc
from scorereport.report.section_declaration import Profile, Section
from scorereport.report.section_parts import (
    SectionContent,
    collect_parts,
    describe_time_note,
    figure_part,
    table_part,
)
from scorereport.report.tables.data_tables import label_table
from scorereport.report.tables.decision_tables import discrimination_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.report.report_record import Report
    from scorereport.report.section_parts import Part
    from scorereport.results.class_records import ClassModelResult
    from scorereport.results.model_records import ClassSummary


#: Most models in a figure that fits on one page.
_MODELS_OF_A_FIGURE = 6


def describe_class_discrimination_section(report: Report) -> SectionContent | None:
    """Describe confusion matrices, and precision, recall and AUC by class; None for binary models."""
    evaluation = report.evaluation
    models, classes = evaluation.class_models, evaluation.data.classes
    if classes is None:
        return None
    figures = dict(_draw_figures(models, classes))
    return SectionContent(
        parts=collect_parts(
            **figures,
            labels=table_part(
                label_table(models, classes, format_level(evaluation.settings.level)),
                describe_time_note(evaluation),
            ),
        ),
        content={"figures": list(figures), "is_ordered": classes.ordered},
    )


def _draw_figures(models: Sequence[ClassModelResult], classes: ClassSummary) -> Iterator[tuple[str, Part]]:
    """Draw as many figures as the models need; texts refer to the first one."""
    for start in range(0, len(models), _MODELS_OF_A_FIGURE):
        shown = models[start : start + _MODELS_OF_A_FIGURE]
        key = f"confusion_{start // _MODELS_OF_A_FIGURE + 1}" if start else "confusion"
        alt = describe_confusion(shown, classes.labels)
        yield key, figure_part(plot_confusion, alt, shown, classes.labels, caption=_caption(classes))


def _caption(classes: ClassSummary) -> str:
    cells = (
        "Numbers are percentages of the row"
        if len(classes.counts) <= MOST_NUMBERED
        else "The darker a cell, the larger its share of the row"
    )
    is_absent = any(count.weight == 0 for count in classes.counts)
    line = " A line through a row marks a class that was never observed." if is_absent else ""
    return (
        "Confusion matrices: for the cases of each observed class (rows), the share with each predicted "
        f"class, the likeliest one (columns). {cells}; on the diagonal, the prediction is correct.{line}"
    )


def describe_discrimination_section(report: Report) -> SectionContent | None:
    """Describe ROC curves and their summary measures; None if all outcomes are the same."""
    evaluation = report.evaluation
    if evaluation.data.sample.prevalence in (0.0, 1.0):
        return None
    models = evaluation.models
    return SectionContent(
        parts=collect_parts(
            auc=table_part(
                discrimination_table(models, format_level(evaluation.settings.level)),
                describe_time_note(evaluation),
            ),
            roc=figure_part(
                plot_roc,
                describe_roc(models),
                models,
                caption="Left, ROC curves: share of events found against share of non-events flagged, at "
                "every threshold. Thin lines: concave hulls, the ROC curves after isotonic recalibration on "
                "these cases. Right, cumulative accuracy profiles (CAP): share of events among the cases "
                "with the highest forecasts. Grey: a perfect and a random ranking. AR is the area above the "
                "diagonal, relative to that of the perfect ranking.",
            ),
        ),
    )


DISCRIMINATION = Section(
    name="discrimination",
    title="Discrimination",
    order=70,
    describe=describe_discrimination_section,
    describe_classes=describe_class_discrimination_section,
    profile=Profile.STANDARD,
)
