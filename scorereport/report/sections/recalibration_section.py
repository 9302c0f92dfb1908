"""The section on recalibration: parts of miscalibration, advice on each model, and gains of maps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_level
from scorereport.report.alarms import raise_alarms
from scorereport.report.recalibration_findings import advise_models
from scorereport.report.section_declaration import BINARY, Profile, Section
from scorereport.report.section_parts import SectionContent, collect_parts, describe_time_note, table_part
from scorereport.report.tables.recalibration_tables import advised_table, parts_table, recalibration_table
from scorereport.report.tables.table import score_label
from scorereport.scores.registry import inside_sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.report.report_record import Report
    from scorereport.results.evaluation import Evaluation


def describe_recalibration_section(report: Report) -> SectionContent | None:
    """Describe what would remove miscalibration, and the effect of maps; None if none was tried."""
    evaluation = report.evaluation
    level, detail = format_level(evaluation.settings.level), describe_time_note(evaluation)
    trials = recalibration_table(evaluation.models, level)
    if trials is None:
        return None
    advised = advise_models(evaluation, raise_alarms(evaluation), report.judgements)
    of_parts = list(_note_parts(evaluation))
    (first, *_) = (trial for model in evaluation.models for trial in model.recalibration)
    return SectionContent(
        parts=collect_parts(
            miscalibration_parts=table_part(parts_table(evaluation.models, "brier", level), detail),
            advised=table_part(advised_table(advised, level), detail),
            recalibration=table_part(trials, detail),
        ),
        content={
            "advice": [advice.sentence for advice in advised],
            "folds": str(first.folds),
            "seed": str(first.seed),
            "notes": [
                *of_parts,
                *_note_trials(evaluation),
            ],
            "advised_notes": of_parts,  # trials have notes on the log score, which only the full report shows
        },
    )


def _note_parts(evaluation: Evaluation) -> Iterator[str]:
    for model in evaluation.models:
        for parts in model.miscalibration_parts:
            if parts.note:
                score = inside_sentence(score_label(parts.measure))
                yield f"{model.model}, parts of MCB of the {score}: {parts.note}"


def _note_trials(evaluation: Evaluation) -> Iterator[str]:
    for model in evaluation.models:
        for trial in model.recalibration:
            if trial.note:
                yield f"{model.model}, {trial.method}: {trial.note}"


RECALIBRATION = Section(
    name="recalibration",
    title="Recalibration",
    order=160,
    describe=describe_recalibration_section,
    kinds=BINARY,
    profile=Profile.STANDARD,
    full_parts="recalibration",
)
