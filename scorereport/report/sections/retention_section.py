"""The section on retention curves: which score identifies the cases that a model gets wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_level, format_plain
from scorereport.plots.retention_curves import describe_retention, plot_retention
from scorereport.report.section_declaration import CLASSES, Section
from scorereport.report.section_parts import (
    SectionContent,
    collect_parts,
    describe_time_note,
    figure_part,
    table_part,
)
from scorereport.report.tables.retention_tables import describe_best_scores, retention_table
from scorereport.report.tables.table import score_label

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.inference.retention_bands import RetentionBand
    from scorereport.report.report_record import Report
    from scorereport.report.section_parts import Part
    from scorereport.results.class_records import ClassModelResult

#: Most models in a figure that fits on one page.
_MODELS_OF_A_FIGURE = 4


def describe_retention_section(report: Report) -> SectionContent | None:
    """Describe the retention curves of each metric and the areas under them; None if there are none."""
    models = [model for model in report.evaluation.class_models if model.retention]
    if not models:
        return None
    level, band = format_level(models[0].retention[0].level), models[0].retention[0]
    figures = dict(_draw_figures(models))
    return SectionContent(
        parts=collect_parts(
            **figures,
            retention_areas=table_part(retention_table(models, level), describe_time_note(report.evaluation)),
        ),
        content={
            "figures": list(figures),
            "best": describe_best_scores(models),
            "notes": list(_list_notes(models)),
            "has_band": band.resamples > 0,
            "level": level,
            "method": band.area.method,
            **_describe_window(band),
        },
    )


def _draw_figures(models: Sequence[ClassModelResult]) -> Iterator[tuple[str, Part]]:
    """Draw as many figures as the models need; texts refer to the first one."""
    for start in range(0, len(models), _MODELS_OF_A_FIGURE):
        shown = models[start : start + _MODELS_OF_A_FIGURE]
        key = f"retention_{start // _MODELS_OF_A_FIGURE + 1}" if start else "retention"
        yield key, figure_part(plot_retention, describe_retention(shown), shown, caption=_caption(shown))


def _caption(models: Sequence[ClassModelResult]) -> str:
    band = models[0].retention[0]
    shaded = (
        f" Shaded: pointwise {format_level(band.level)} bands, {band.area.method}." if band.resamples else ""
    )
    return (
        "Retention curves: each metric on the cases that remain after those with the worst score are set "
        f"aside, one line for each score; lines that coincide overlap.{shaded}"
    )


def _describe_window(band: RetentionBand) -> dict[str, str]:
    """Return the fractions as text: the first, the last and their distance."""
    first, last = float(band.fraction[0]), float(band.fraction[-1])
    return {
        "first": format_level(first),
        "last": format_level(last),
        "width": format_plain(last - first),
        "width_percent": format_plain(100 * (last - first)),
        "steps": str(len(band.fraction)),
    }


def _list_notes(models: Sequence[ClassModelResult]) -> Iterator[str]:
    """Return the notes of the curves, once for each model and metric."""
    for model in models:
        notes = dict.fromkeys((band.metric, band.note) for band in model.retention if band.note)
        yield from (f"{model.model}, {score_label(metric)}: {note}" for metric, note in notes)


RETENTION = Section(
    name="retention",
    title="Retention curves",
    order=100,
    describe=describe_retention_section,
    kinds=CLASSES,
)
