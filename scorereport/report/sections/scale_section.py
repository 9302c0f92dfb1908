"""The section on the probability scale: probabilities of observed outcomes against their frequencies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_level, format_number, join_words
from scorereport.inference.scale_results import WITHOUT_TAIL
from scorereport.plots.mean_spectrum import describe_spectrum, plot_spectrum
from scorereport.plots.scale_diagram import describe_scale, describe_window, plot_scale
from scorereport.report.section_declaration import Section
from scorereport.report.section_parts import (
    SectionContent,
    collect_parts,
    describe_time_note,
    figure_part,
    table_part,
)
from scorereport.report.tables.scale_tables import angle_table, class_scale_table, scale_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.inference.scale_results import ScaledModel
    from scorereport.report.report_record import Report
    from scorereport.report.section_parts import Part

#: With more panels on one page, they would be too small to read.
_MODELS_OF_A_FIGURE = 6


def describe_scale_section(report: Report) -> SectionContent | None:
    """Describe decisiveness, accuracy, robustness and their angle; None if no model has them."""
    models = [result for result in report.evaluation.results if result.scale]
    if not models:
        return None
    first, level = models[0].scale[0], format_level(report.evaluation.settings.level)
    figures, spectra = dict(_draw_scales(models)), dict(_draw_spectra(models))
    return SectionContent(
        parts=collect_parts(
            scale_marks=table_part(scale_table(models, level), describe_time_note(report.evaluation)),
            **figures,
            scale_angles=table_part(angle_table(models, level), describe_time_note(report.evaluation)),
            scale_classes=table_part(class_scale_table(models, level), describe_time_note(report.evaluation)),
            **spectra,
        ),
        content={
            "figures": list(figures),
            "spectra": list(spectra),
            "sentences": [sentence for model in models for sentence in _describe_angle(model)],
            "left_out": list(_list_missing_intervals(models)),
            "notes": list(_list_notes(models)),
            "is_binary": bool(getattr(report.evaluation, "models", ())),
            "n_bins": str(first.n_bins),
            "has_intervals": first.accuracy.model.method != "no resamples",
            "method": first.accuracy.model.method.partition(", ")[2],
            "level": level,
            "limit": format_number(first.limit, 4).rstrip("0") if first.limit else "",
        },
    )


def _describe_angle(model: ScaledModel) -> Iterator[str]:
    """Describe the verdict in CORP blocks, and in equal-count bins if that verdict differs."""
    cut, fitted = model.scale[:2]
    for result in (fitted, cut) if cut.verdict != fitted.verdict else (fitted,):
        sentence = result.sentence
        yield f"{model.model}, {result.bins}: {sentence[0].lower()}{sentence[1:]}"


def _slices(models: Sequence[ScaledModel], key: str) -> Iterator[tuple[str, int, Sequence[ScaledModel]]]:
    """Split models over as many figures as needed; texts refer to the first figure."""
    for start in range(0, len(models), _MODELS_OF_A_FIGURE):
        name = f"{key}_{start // _MODELS_OF_A_FIGURE + 1}" if start else key
        yield name, start, models[start : start + _MODELS_OF_A_FIGURE]


def _draw_scales(models: Sequence[ScaledModel]) -> Iterator[tuple[str, Part]]:
    for key, first, shown in _slices(models, "scale_plot"):
        window = describe_window(shown)
        caption = (
            "Model against source probability, all classes together. Filled bubbles are bins with equal "
            "numbers of pairs of case and class, outlined bubbles CORP blocks; their area is their share of "
            "the observed outcomes. Dark points, joined by a line with its angle: robustness, accuracy and "
            f"decisiveness in equal-count bins.{f' {window}' if window else ''}"
        )
        yield key, figure_part(plot_scale, describe_scale(shown), shown, first=first, caption=caption)


def _draw_spectra(models: Sequence[ScaledModel]) -> Iterator[tuple[str, Part]]:
    for key, first, shown in _slices(models, "scale_spectrum"):
        caption = (
            "Generalised mean of the probabilities of the observed outcomes against its exponent m: a small "
            "m gives more weight to small probabilities. Solid: model; dashed: source in equal-count bins. "
            "Dots: robustness, accuracy and decisiveness, at m = −2/3, 0 and 1."
        )
        yield key, figure_part(plot_spectrum, describe_spectrum(shown), shown, first=first, caption=caption)


def _list_notes(models: Sequence[ScaledModel]) -> Iterator[str]:
    """Return the notes of all results, once for each class, whatever the bins."""
    notes = dict.fromkeys((r.target, r.note) for model in models for r in model.scale if r.note)
    for target, note in notes:
        if not any(target == other and note != longer and note in longer for other, longer in notes):
            yield f"{target}: {note}" if target else note


def _list_missing_intervals(models: Sequence[ScaledModel]) -> Iterator[str]:
    """Name the models whose robustness has no interval because few small probabilities dominate it."""
    missing = [m.model for m in models if any(r.robustness.model.note == WITHOUT_TAIL for r in m.scale)]
    if missing:
        yield (
            "Some intervals of the robustness and its divergence, here or for single classes, are left out "
            f"({join_words(missing)}): a few observed outcomes with very small probabilities dominate these "
            "means, more such outcomes may occur, and no interval would be reliable."
        )


SCALE = Section(
    name="scale",
    title="Probability scale",
    order=110,
    describe=describe_scale_section,
)
