"""The section on calibration: reliability diagrams, bands, tests, line and grades; binary and K classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import (
    common_decimals,
    format_level,
    format_number,
    format_percent,
    join_words,
)
from scorereport.configuration.judgement import find_alpha
from scorereport.plots.class_reliability import (
    choose_views,
    describe_axes,
    describe_views,
    plot_views,
)
from scorereport.plots.reliability_diagram import (
    describe_flexible,
    describe_reliability,
    has_flexible,
    plot_flexible,
    plot_reliability,
)
from scorereport.report.calibration_decision import decide_calibration
from scorereport.report.section_declaration import Profile, Section
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
from scorereport.report.tables.table import Table
from scorereport.results.class_records import THRESHOLD

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.reliability.bands import Band
    from scorereport.report.calibration_decision import CalibrationDecision
    from scorereport.report.report_record import Report
    from scorereport.report.section_parts import Part
    from scorereport.results.class_records import ClassModelResult, ViewFamily, ViewResult
    from scorereport.results.evaluation import Evaluation
    from scorereport.results.model_records import ModelResult


def describe_calibration_section(report: Report) -> SectionContent:
    """Describe the calibration of binary models: diagrams, errors, line, tests and grades."""
    evaluation = report.evaluation
    bands = [band for model in evaluation.models for band in model.bands]
    known = [(m.model, m.calibration) for m in evaluation.models if m.calibration is not None]
    level, has_smooth = format_level(evaluation.settings.level), evaluation.settings.engine == "memory"
    grades = {
        f"grades_{place}": table_part(table) for place, table in enumerate(grade_tables(known), start=1)
    }
    return SectionContent(
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
            "verdicts": _list_verdicts(evaluation),
            "grades": list(grades),
            "has_smooth": has_smooth,
            "no_curve": _explain_curves(evaluation.models),
            "has_band": any(model.bands for model in evaluation.models),
            "has_outline": any(map(_is_outline, bands)),
            "why_no_band": _explain_absence(evaluation),
            "band_level": format_level(evaluation.settings.band_level),
        },
    )


def _list_verdicts(evaluation: Evaluation) -> list[CalibrationDecision]:
    """List the decision on the calibration of each model that was tested."""
    alpha = find_alpha(evaluation)
    decisions = (decide_calibration(result, evaluation, alpha) for result in evaluation.results)
    return [decision for decision in decisions if decision is not None]


def _is_outline(band: Band) -> bool:
    """Whether a band is drawn as dashed lines."""
    return band.kind == "consistency" and band.coverage == "simultaneous"


def _explain_absence(evaluation: Evaluation) -> str:
    """Explain why there are no bands although there are intervals; empty otherwise."""
    if not evaluation.settings.infers or any(model.bands for model in evaluation.models):
        return ""
    return (
        "There are no bands here: without rows in memory, bands require independent rows, unweighted or with "
        "frequency weights."
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
    """Draw the flexible curves; None if no model has one."""
    models = [m for m in evaluation.models if has_flexible(m)]
    if not models:
        return None
    level = format_level(evaluation.settings.band_level)
    return figure_part(
        plot_flexible,
        describe_flexible(evaluation.models),
        evaluation.models,
        caption="Flexible calibration curves: logistic regression on a restricted cubic spline of the "
        f"log-odds of the forecast. Light area: pointwise {level} confidence band; where the diagonal lies "
        "outside, there is evidence against calibration at that forecast, taken alone. Grey, dashed: the "
        "isotonic curve.",
    )


def _explain_curves(models: Sequence[ModelResult]) -> list[str]:
    """Explain why a model has no flexible curve, or which forecasts the curve leaves out."""
    found = [(m.model, m.calibration.flexible) for m in models if m.calibration is not None]
    return [
        f"{model}, flexible curve: {curve.note}"
        for model, curve in found
        if curve is not None and (not len(curve.forecast) or "left out" in curve.note)
    ]


#: Descriptions of the bands of a diagram, by their coverage.
_BANDS = {
    "pointwise": "Shaded: {}; at any one forecast, the curve of a calibrated model lies inside with that "
    "probability.",
    "simultaneous": "Dashed: {}; the whole curve of a calibrated model stays inside with that probability.",
}


def _describe_drawing(models: Sequence[ModelResult]) -> str:
    """Describe the lines and areas of a diagram, and how they were computed."""
    bands = [(m.model, band) for m in models for band in m.bands if band.kind == "consistency"]
    seeds = sorted({band.seed for _, band in bands if band.seed is not None})
    described = [
        text.format(_name_bands([pair for pair in bands if pair[1].coverage == coverage]))
        for coverage, text in _BANDS.items()
        if any(band.coverage == coverage for _, band in bands)
    ]
    return " ".join(
        [
            *described,
            *(f"Seed {seed}." for seed in seeds),
            "Thick segments: blocks of the isotonic fit. Bars: distribution of the forecasts. "
            "Triangles: prevalence.",
        ]
    )


def _name_bands(bands: Sequence[tuple[str, Band]]) -> str:
    """Return the labels of the bands, with the names of the models if labels differ."""
    labels = list(dict.fromkeys(band.label for _, band in bands))
    if len(labels) == 1:
        return labels[0]
    return "; ".join(
        f"{label} for {join_words(model for model, band in bands if band.label == label)}" for label in labels
    )


def _brier_table(models: Sequence[ModelResult]) -> Table:
    parts = [(m.model, m.scores.decompositions[0]) for m in models]
    numbers = [[d.score, d.miscalibration, d.discrimination, d.uncertainty] for _, d in parts]
    decimals = [common_decimals(column) for column in zip(*numbers, strict=True)]
    return Table(
        caption="CORP decomposition of the Brier score S = MCB − DSC + UNC; a lower MCB and a higher DSC are "
        "better",
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


def describe_class_calibration_section(report: Report) -> SectionContent | None:
    """Describe the calibration of models of K classes; None for binary models."""
    evaluation = report.evaluation
    if not evaluation.class_models:
        return None
    kinds = _choose_kinds(evaluation)
    figures = [_draw_figures(evaluation.class_models, kind, is_main=kind == kinds[0]) for kind in kinds]
    return SectionContent(
        parts=collect_parts(**{key: part for of_kind in figures for key, part in of_kind.items()}),
        content={
            "is_ordered": evaluation.kind == "ordinal",
            "blocks": [{"figures": list(of_kind)} for of_kind in figures],
            "verdicts": _list_verdicts(evaluation),
            "has_band": any(view.bands for view in evaluation.class_models[0].families[0].views),
            "band_level": format_level(evaluation.settings.band_level),
        },
    )


def _choose_kinds(evaluation: Evaluation) -> list[str]:
    """Return the kinds of views, the main one first; with two ordered classes, the one threshold suffices."""
    families = evaluation.class_models[0].families[::-1]
    return [family.kind for family in (families[:1] if len(families[0].views) == 1 else families)]


def _draw_figures(models: Sequence[ClassModelResult], kind: str, *, is_main: bool) -> dict[str, Part]:
    """Draw a figure for each model; texts refer to the first one of the main kind."""
    name = "reliability" if is_main else "class_reliability"
    return {
        f"{name}_{place}" if place > 1 else name: figure_part(
            plot_views, describe_views(model, kind), model, kind, caption=_caption(model, kind)
        )
        for place, model in enumerate(models, start=1)
    }


def _caption(model: ClassModelResult, kind: str) -> str:
    """Describe what a figure shows and how it was computed."""
    family = next(family for family in model.families if family.kind == kind)
    views = choose_views(family)
    each = (
        "one for each threshold: the probability of a class up to the one named"
        if kind == THRESHOLD
        else "one for each class against all others"
    )
    described = [f"CORP reliability diagrams of {model.model}, {each}."]
    if len(views) < len(family.views):
        described.append(
            f"The {len(views)} of {len(family.views)} with the largest miscalibration are shown."
        )
    return " ".join(filter(None, [*described, describe_axes(views), *_describe_symbols(model, family)]))


def _describe_symbols(model: ClassModelResult, family: ViewFamily) -> list[str]:
    """Describe what a panel shows; in short if it is the same as for the main kind of views."""
    bands, main = (list(_describe_bands(choose_views(f))) for f in (family, model.families[-1]))
    if family.kind != model.families[-1].kind and bands == main:
        return [
            "Bands, segments, bars and triangles have the same meaning as in the diagrams of the thresholds."
        ]
    return [
        *bands,
        "Thick segments: blocks of the isotonic fit. Bars: distribution of the forecasts. Triangles: "
        "observed share.",
    ]


#: Short descriptions of the bands of a diagram, by their coverage.
_VIEW_BANDS = {
    "pointwise": "Shaded: {}, at one forecast.",
    "simultaneous": "Dashed: {}, for the whole curve.",
}


def _describe_bands(views: Sequence[ViewResult]) -> Iterator[str]:
    bands = [band for view in views for band in view.bands if band.kind == "consistency"]
    for coverage, text in _VIEW_BANDS.items():
        labels = list(dict.fromkeys(band.label for band in bands if band.coverage == coverage))
        if labels:
            yield text.format(" or ".join(labels))
    for seed in sorted({band.seed for band in bands if band.seed is not None}):
        yield f"Seed {seed}."


CALIBRATION = Section(
    name="calibration",
    title="Calibration",
    order=60,
    describe=describe_calibration_section,
    describe_classes=describe_class_calibration_section,
    profile=Profile.STANDARD,
    full_parts=r"class_reliability(_\d+)?",
)
