"""Calibration of models of K classes: a reliability diagram with bands for each threshold and class."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from scorereport._utils.checks import name_some
from scorereport._utils.formatting import format_level, format_p_value
from scorereport.configuration.judging import find_alpha
from scorereport.inference.estimates import holm
from scorereport.plots import describe_views, plot_views
from scorereport.plots.class_reliability import choose_views, describe_axes, label_view
from scorereport.report.miscalibration_patterns import format_relation
from scorereport.report.section_parts import SectionContent, collect_parts, figure_part
from scorereport.report.shapes import describe_segments
from scorereport.report.tables.overview import describe_view_bands
from scorereport.results.class_records import THRESHOLD

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.report.report_record import Report
    from scorereport.report.section_parts import Part
    from scorereport.results.class_records import ClassModelResult, ViewFamily, ViewResult
    from scorereport.results.evaluation import Evaluation


def describe_class_calibration_section(report: Report) -> SectionContent | None:
    """What forecasts of classes promised, and what came true; None of binary models."""
    evaluation = report.evaluation
    if not evaluation.class_models:
        return None
    kinds = _choose_kinds(evaluation)
    figures = [_draw_figures(evaluation.class_models, kind, is_main=kind == kinds[0]) for kind in kinds]
    return SectionContent(
        name="calibration",
        title="Calibration",
        template="sections/class-calibration.html",
        parts=collect_parts(**{key: part for of_kind in figures for key, part in of_kind.items()}),
        content={
            "is_ordered": evaluation.kind == "ordinal",
            "blocks": [
                {"figures": list(of_kind), "sentences": list(_describe_findings(evaluation, kind))}
                for kind, of_kind in zip(kinds, figures, strict=True)
            ],
            "has_band": any(view.bands for view in evaluation.class_models[0].families[0].views),
            "band_level": format_level(evaluation.settings.band_level),
        },
    )


def _choose_kinds(evaluation: Evaluation) -> list[str]:
    """The kinds of views, the main one first; of two ordered classes the threshold tells all."""
    families = evaluation.class_models[0].families[::-1]
    return [family.kind for family in (families[:1] if len(families[0].views) == 1 else families)]


def _draw_figures(models: Sequence[ClassModelResult], kind: str, *, is_main: bool) -> dict[str, Part]:
    """A figure for each model; the first of the main kind is the one that texts refer to."""
    name = "reliability" if is_main else "class_reliability"
    return {
        f"{name}_{place}" if place > 1 else name: figure_part(
            plot_views, describe_views(model, kind), model, kind, caption=_caption(model, kind)
        )
        for place, model in enumerate(models, start=1)
    }


def _caption(model: ClassModelResult, kind: str) -> str:
    """What is seen and how it was made."""
    family = next(family for family in model.families if family.kind == kind)
    views = choose_views(family)
    each = (
        "for each threshold: the probability of a class up to the one named"
        if kind == THRESHOLD
        else "for each class against all others"
    )
    told = [f"CORP reliability diagrams of {model.model}, {each}."]
    if len(views) < len(family.views):
        told.append(f"Shown are the {len(views)} of {len(family.views)} with the largest miscalibration.")
    return " ".join(filter(None, [*told, describe_axes(views), *_describe_symbols(model, family)]))


def _describe_symbols(model: ClassModelResult, family: ViewFamily) -> list[str]:
    """What is drawn in a panel; in short if the same was drawn for the main kind of views."""
    bands, main = (list(_describe_bands(choose_views(f))) for f in (family, model.families[-1]))
    if family.kind != model.families[-1].kind and bands == main:
        return ["Bands, segments, bars and triangles as in the diagrams of the thresholds."]
    return [
        *bands,
        "Thick segments are bins of the isotonic fit, bars the distribution of the forecasts, triangles the "
        "share of cases.",
    ]


#: What the bands of a diagram show, by their coverage.
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


def _describe_findings(evaluation: Evaluation, kind: str) -> Iterator[str]:
    """Which curves leave their bands, and where miscalibration is shown, if many tests are allowed for."""
    for model in evaluation.class_models:
        of_kind = replace(model, families=tuple(f for f in model.families if f.kind == kind))
        yield from describe_view_bands(of_kind)
        for family in of_kind.families:
            yield from _describe_tests(model.model, family, evaluation)


def _describe_tests(model: str, family: ViewFamily, evaluation: Evaluation) -> Iterator[str]:
    """Where the test of miscalibration rejects, adjusted for the number of views; nothing without draws."""
    tests = [(view, view.scores.miscalibration_test("brier")) for view in family.views]
    known = [(view, test.p_value) for view, test in tests if test is not None]
    if not known:
        return
    alpha = find_alpha(evaluation)
    adjusted = holm([p for _, p in known]).tolist()
    shown = [
        f"{label_view(view, family.kind)} (p {format_relation(format_p_value(p))}{_describe_where(view)})"
        for (view, _), p in zip(known, adjusted, strict=True)
        if p <= alpha
    ]
    told = "no evidence of it"
    if shown:
        told = f"there is evidence of it for {name_some(shown)}"
    elif len(known) / (evaluation.settings.resamples + 1) > alpha:
        told = "too few draws to show it"
    yield f"{model}, test of miscalibration{_adjusted_for(family)}: {told}."


def _describe_where(view: ViewResult) -> str:
    """Which forecasts of a view are wrong, as far as its band shows it."""
    told = describe_segments(view.reliability, view.bands)
    return f": forecasts {told}" if told else ""


def _adjusted_for(family: ViewFamily) -> str:
    if len(family.views) == 1:
        return ""
    what = "thresholds" if family.kind == THRESHOLD else "classes"
    return f" of {len(family.views)} {what}, adjusted for their number (Holm)"
