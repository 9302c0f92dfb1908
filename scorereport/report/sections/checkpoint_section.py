"""The section on the choice of a checkpoint: scores during training, and the checkpoint that each selects."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import format_count, format_counted, format_number
from scorereport.plots.checkpoint_plot import describe_checkpoints, plot_checkpoints
from scorereport.report.section_declaration import Section
from scorereport.report.section_parts import SectionContent, collect_parts, figure_part, table_part
from scorereport.report.tables.checkpoint_tables import choice_table, correlation_table
from scorereport.report.tables.table import score_label
from scorereport.scores.registry import inside_sentence

if TYPE_CHECKING:
    from scorereport.evaluation.selection.selection_records import Selection
    from scorereport.report.report_record import Report

_PENALISED = ("penalized_brier", "penalized_log_loss")


def describe_checkpoints_section(report: Report) -> SectionContent | None:
    """Describe scores over checkpoints, choices and correlations; None if no checkpoint was chosen."""
    selection: Selection | None = report.selection
    if selection is None:
        return None
    return SectionContent(
        parts=collect_parts(
            checkpoints=figure_part(
                plot_checkpoints, describe_checkpoints(selection), selection, caption=_caption(selection)
            ),
            choices=table_part(choice_table(selection)),
            checkpoint_correlations=table_part(correlation_table(selection)),
        ),
        content=_describe_choice(selection),
    )


def _describe_choice(selection: Selection) -> dict[str, Any]:
    """Return the values that the template shows."""
    scores = {track.score for track in selection.tracks}
    return {
        "count": format_counted(len(selection.checkpoints), "checkpoint"),
        "is_single": len(selection.checkpoints) == 1,
        "source": selection.source if selection.file_sha256 else "",
        "cases": "" if selection.n is None else format_counted(selection.n, "case"),
        "sentences": _describe_selection(selection),
        "patience": "" if selection.patience is None else format_counted(selection.patience, "checkpoint"),
        "has_penalty": bool(scores.intersection(_PENALISED)),
        "penalty": _penalty(selection),
        "notes": list(selection.notes),
    }


def _describe_selection(selection: Selection) -> list[str]:
    """Describe the chosen checkpoint, and the one that early stopping keeps, in sentences."""
    chosen = selection.chosen
    sentences = [
        f"The {inside_sentence(score_label(chosen.score))} chooses checkpoint {chosen.best}, where it is "
        f"{format_number(chosen.value, 4)}.{_describe_loss(chosen.macro_f1, chosen.macro_f1_loss)}"
    ]
    if chosen.stop is not None:
        ends = (
            "would not end training early" if chosen.stop.at is None else f"ends training at {chosen.stop.at}"
        )
        sentences.append(
            f"Early stopping by the same score {ends} and keeps checkpoint {chosen.stop.kept}."
            f"{_describe_loss(chosen.stop.macro_f1, chosen.stop.macro_f1_loss)}"
        )
    return sentences


def _describe_loss(f1: float, loss: float) -> str:
    if math.isnan(f1):
        return ""
    lost = f", {format_number(loss, 4)} below the best" if loss > 0 else ", the best of all checkpoints"
    return f" Its macro F1 is {format_number(f1, 4)}{lost}."


def _penalty(selection: Selection) -> str:
    """State the penalties for this number of classes; empty if it is not known."""
    if not selection.classes:
        return ""
    k = len(selection.classes)
    return (
        f"With {format_count(k)} classes, the penalty is {format_number((k - 1) / k, 4)} for the Brier "
        f"score and log {k} = {format_number(math.log(k), 4)} for the log score."
    )


def _caption(selection: Selection) -> str:
    grey = " Grey line: the best macro F1." if selection.correlations else ""
    stop = (
        " Dashed line: where early stopping ends training; a diamond marks the checkpoint that it keeps, "
        "unless that is the best one."
        if selection.patience is not None
        else ""
    )
    return f"Each score against the checkpoints; a dot marks its best value.{stop}{grey}"


CHECKPOINTS = Section(
    name="checkpoints",
    title="Choice of a checkpoint",
    order=170,
    describe=describe_checkpoints_section,
)
