"""Calibration: reliability diagrams with bands, the Brier score's components, tests, line and grades."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import (
    common_decimals,
    format_level,
    format_number,
    format_percent,
    join_words,
)
from scorereport.plots import describe_flexible, describe_reliability, plot_flexible, plot_reliability
from scorereport.plots.flexible import has_flexible
from scorereport.report.section_parts import (
    SectionContent,
    collect_parts,
    describe_time_note,
    figure_part,
    table_part,
)
from scorereport.report.tables.calibration_tables import (
    calibration_test_table,
    distance_table,
    grade_tables,
    line_table,
)
from scorereport.report.tables.overview import describe_bands
from scorereport.report.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.reliability.bands import Band
    from scorereport.report.report_record import Report
    from scorereport.report.section_parts import Part
    from scorereport.results.evaluation import Evaluation
    from scorereport.results.model_records import ModelResult


def describe_calibration_section(report: Report) -> SectionContent:
    """The signature of the report: what forecasts promised, and what came true."""
    evaluation = report.evaluation
    bands = [band for model in evaluation.models for band in model.bands]
    known = [(m.model, m.calibration) for m in evaluation.models if m.calibration is not None]
    level, has_smooth = format_level(evaluation.settings.level), evaluation.settings.engine == "memory"
    grades = {
        f"grades_{place}": table_part(table) for place, table in enumerate(grade_tables(known), start=1)
    }
    return SectionContent(
        name="calibration",
        title="Calibration",
        parts=collect_parts(
            brier=table_part(_brier_table(evaluation.models)),
            reliability=_draw_diagrams(evaluation),
            distances=table_part(
                distance_table(known, level, has_smooth=has_smooth), describe_time_note(evaluation)
            )
            if known
            else None,
            flexible=_draw_flexible(evaluation),
            line=table_part(line_table(known, level)) if known else None,
            tests=table_part(calibration_test_table(known)) if known else None,
            **grades,
        ),
        content={
            "sentences": [sentence for model in evaluation.models for sentence in describe_bands(model)],
            "grades": list(grades),
            "has_smooth": has_smooth,
            "no_curve": _explain_curves(evaluation.models),
            "has_band": any(model.bands for model in evaluation.models),
            "has_outline": any(map(_is_outline, bands)),
            "why_no_band": _explain_absence(evaluation),
            "band_level": format_level(evaluation.settings.band_level),
        },
    )


def _is_outline(band: Band) -> bool:
    """Whether a band is drawn as dashed lines."""
    return band.kind == "consistency" and band.coverage == "simultaneous"


def _explain_absence(evaluation: Evaluation) -> str:
    """Why there are no bands although there are intervals; empty if that is not so."""
    if evaluation.settings.resamples == 0 or any(model.bands for model in evaluation.models):
        return ""
    return (
        "There are no bands here: those that can be had without rows in memory need rows that are "
        "independent, without weights or with frequency weights."
    )


def _draw_diagrams(evaluation: Evaluation) -> Part:
    models, prevalence = evaluation.models, evaluation.data.sample.prevalence
    return figure_part(
        plot_reliability,
        describe_reliability(models, prevalence=prevalence),
        models,
        prevalence=prevalence,
        caption=f"CORP reliability diagrams. {_describe_drawing(models)}",
    )


def _draw_flexible(evaluation: Evaluation) -> Part | None:
    """The flexible curves, if any model has one."""
    models = [m for m in evaluation.models if has_flexible(m)]
    if not models:
        return None
    level = format_level(evaluation.settings.band_level)
    return figure_part(
        plot_flexible,
        describe_flexible(evaluation.models),
        evaluation.models,
        caption="Flexible calibration curves: logistic regression on a restricted cubic spline of the "
        f"log-odds of the forecast. Light: pointwise {level} confidence band; where the diagonal lies "
        "outside, the data speak against calibration at that forecast alone.",
    )


def _explain_curves(models: Sequence[ModelResult]) -> list[str]:
    """Why a model has no flexible curve, or which forecasts it leaves out."""
    found = [(m.model, m.calibration.flexible) for m in models if m.calibration is not None]
    return [
        f"{model}, flexible curve: {curve.note}"
        for model, curve in found
        if curve is not None and (not len(curve.forecast) or "left out" in curve.note)
    ]


#: What the bands of a diagram show, by their coverage.
_BANDS = {
    "pointwise": "Shaded: {}; at any one forecast the curve of a calibrated model lies inside with that "
    "probability.",
    "simultaneous": "Dashed: {}; the whole curve of a calibrated model stays inside with that probability.",
}


def _describe_drawing(models: Sequence[ModelResult]) -> str:
    """What the lines and areas are, and how they were made."""
    bands = [(m.model, band) for m in models for band in m.bands if band.kind == "consistency"]
    seeds = sorted({band.seed for _, band in bands if band.seed is not None})
    told = [
        text.format(_name_bands([pair for pair in bands if pair[1].coverage == coverage]))
        for coverage, text in _BANDS.items()
        if any(band.coverage == coverage for _, band in bands)
    ]
    return " ".join(
        [
            *told,
            *(f"Seed {seed}." for seed in seeds),
            "Thick segments are bins of the isotonic fit; bars show the distribution of the forecasts.",
        ]
    )


def _name_bands(bands: Sequence[tuple[str, Band]]) -> str:
    """The bands by their labels, with the models if these have different ones."""
    labels = list(dict.fromkeys(band.label for _, band in bands))
    if len(labels) == 1:
        return labels[0]
    return "; ".join(
        f"{label} of {join_words(model for model, band in bands if band.label == label)}" for label in labels
    )


def _brier_table(models: Sequence[ModelResult]) -> Table:
    parts = [(m.model, m.scores.decompositions[0]) for m in models]
    numbers = [[d.score, d.miscalibration, d.discrimination, d.uncertainty] for _, d in parts]
    decimals = [common_decimals(column) for column in zip(*numbers, strict=True)]
    return Table(
        caption="Brier score and its CORP decomposition, S = MCB − DSC + UNC. Lower S and MCB, higher DSC "
        "and skill are better",
        heads=("model", "S", "MCB", "DSC", "UNC", "skill"),
        rows=tuple(
            (
                model,
                *(format_number(v, d) for v, d in zip(row, decimals, strict=True)),
                format_percent(part.skill),
            )
            for (model, part), row in zip(parts, numbers, strict=True)
        ),
    )
