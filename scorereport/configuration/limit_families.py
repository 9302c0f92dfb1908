"""Declarations of the measures with limits that are not scores: calibration, decisions, sample, scale."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from scorereport.configuration import limit_numbers as numbers
from scorereport.configuration.limit_records import (
    CLASS_MODELS,
    EVERY_MODEL,
    EvidenceRule,
    ExactBound,
    LimitArgument,
    LimitMeasure,
    MeasurePart,
    ModelKind,
    Requirement,
)
from scorereport.inference.needed_cases import ErrorScale
from scorereport.inference.scale_results import CORP, EQUAL_COUNT, MARKS
from scorereport.scores.registry import REGISTRY, Direction, inside_sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.configuration.limit_numbers import Place

#: The numbers of the calibration line: attribute in the record, label, and meaning.
LINE_MEASURES = {
    "calibration_slope": ("slope", "calibration slope", "slope of the calibration line; 1 is ideal"),
    "calibration_intercept": (
        "intercept",
        "calibration intercept",
        "intercept of the calibration line; 0 is ideal",
    ),
    "calibration_in_the_large": (
        "intercept_at_slope_one",
        "calibration in the large",
        "intercept at slope 1; 0 is ideal",
    ),
}
#: For each kind of classes, the scores by which retention curves set cases aside, and the metrics.
_RETENTION = {
    ModelKind.ORDINAL: (
        ("multiclass_brier", "multiclass_log_loss", "rps", "sa_rps"),
        ("quadratic_weighted_kappa", "expected_cost", "accuracy"),
    ),
    ModelKind.MULTICLASS: (
        ("multiclass_brier", "multiclass_log_loss", "multiclass_spherical"),
        ("macro_f1", "expected_cost", "accuracy"),
    ),
}
#: The smooth calibration errors: label and meaning.
_ERRORS = {
    "ici": ("ICI", "mean distance of the smooth calibration curve from the forecasts"),
    "e50": ("E50", "median of these distances"),
    "e90": ("E90", "90 % quantile of these distances"),
    "emax": ("Emax", "largest of these distances"),
}


def list_calibration() -> Iterator[LimitMeasure]:
    """The calibration line, errors of calibration, separation of events, grades, and stability."""
    yield from _list_line()
    yield from _list_errors()
    yield from _list_separation()
    yield from _list_red_grades()
    yield from _list_stability()


def _list_line() -> Iterator[LimitMeasure]:
    for name, (attribute, label, meaning) in LINE_MEASURES.items():
        yield LimitMeasure(
            name=name,
            part=MeasurePart.LINE,
            label=label,
            place=numbers.in_line(attribute),
            decimals=3,
            requires=(Requirement.RESAMPLES,),
            meaning=meaning,
        )


def _list_errors() -> Iterator[LimitMeasure]:
    drawn = (Requirement.RESAMPLES,)
    for name, (label, meaning) in _ERRORS.items():
        yield LimitMeasure(
            name=name,
            part=MeasurePart.ERROR,
            label=label,
            place=numbers.in_errors(name),
            direction=Direction.LOWER,
            lower=0,
            upper=1,
            requires=(*drawn, Requirement.MEMORY),
            meaning=meaning,
        )
    yield LimitMeasure(
        name="ece",
        part=MeasurePart.ERROR,
        label="expected calibration error",
        place=numbers.InModel(numbers.find_binned_error),
        direction=Direction.LOWER,
        lower=0,
        upper=1,
        requires=drawn,
        meaning="expected calibration error in ten bins of equal width, with the interval for these bins",
    )


def _list_separation() -> Iterator[LimitMeasure]:
    yield LimitMeasure(
        name="ks",
        part=MeasurePart.SEPARATION,
        label="Kolmogorov-Smirnov statistic",
        place=numbers.InModel(numbers.find_ks),
        direction=Direction.HIGHER,
        lower=0,
        upper=1,
        is_share=True,
        meaning="Kolmogorov-Smirnov statistic of events against non-events, the largest sensitivity + "
        "specificity - 1",
    )


def _list_red_grades() -> Iterator[LimitMeasure]:
    red: dict[str, tuple[str, Place]] = {
        "red_grades": ("share of red grades", numbers.InModel(numbers.find_red_grades)),
        "red_grade_cases": ("share of cases in red grades", numbers.InModel(numbers.find_red_grade_cases)),
    }
    for name, (label, place) in red.items():
        yield LimitMeasure(
            name=name,
            part=MeasurePart.GRADES,
            label=label,
            place=place,
            direction=Direction.LOWER,
            lower=0,
            upper=1,
            is_share=True,
            evidence=EvidenceRule.NONE,
            requires=(Requirement.RESAMPLES, Requirement.GRADES, Requirement.MEMORY),
            meaning=f"{label}, by the tests of the column `grade`; it has no interval",
        )


def _list_stability() -> Iterator[LimitMeasure]:
    yield LimitMeasure(
        name="psi",
        part=MeasurePart.STABILITY,
        label="population stability index",
        place=numbers.InModel(numbers.find_stability),
        direction=Direction.LOWER,
        lower=0,
        evidence=EvidenceRule.FOUND,
        scale=ErrorScale.ROOT,
        requires=(Requirement.REFERENCE,),
        meaning="population stability index of the forecasts against the reference sample",
    )


def list_decisions() -> Iterator[LimitMeasure]:
    """Numbers of the decisions at a threshold."""
    rate, none = ExactBound.RATE_AMONG, ExactBound.NONE
    higher, lower = Direction.HIGHER, Direction.LOWER
    among = (numbers.count_events, numbers.count_non_events, numbers.count_flagged, numbers.count_unflagged)
    both = numbers.count_rarer
    rows = (
        ("sensitivity", "sensitivity", "sensitivity", higher, 0, 1, rate, among[0]),
        ("specificity", "specificity", "specificity", higher, 0, 1, rate, among[1]),
        ("ppv", "positive_predictive_value", "positive predictive value", higher, 0, 1, rate, among[2]),
        ("npv", "negative_predictive_value", "negative predictive value", higher, 0, 1, rate, among[3]),
        ("flagged", "flagged", "share of cases acted on", None, 0, 1, none, both),
        ("net_benefit", "net_benefit", "net benefit", higher, -inf, 1, none, both),
        ("net_benefit_gain", "net_benefit_over_treat_all", "net benefit over treating all", higher, -inf,
         inf, none, both),
        ("interventions_avoided", "interventions_avoided", "interventions avoided per 100 cases", higher,
         -inf, 100, none, both),
        ("regret", "regret", "regret", lower, 0, 1, none, both),
    )  # fmt: skip
    for name, measure, label, direction, low, high, exact, cases in rows:
        yield LimitMeasure(
            name=name,
            part=MeasurePart.DECISION,
            label=label,
            place=numbers.in_decisions(measure, cases),
            direction=direction,
            lower=low,
            upper=high,
            is_share=exact is rate or name == "flagged",
            argument=LimitArgument.AT,
            evidence=EvidenceRule.FOUND,
            exact=exact,
            scale=ErrorScale.ARCSINE if (low, high) == (0, 1) and name != "regret" else ErrorScale.LINEAR,
            meaning=f"{label}, if forecasts at or above the threshold `at` lead to action",
        )


def list_of_sample() -> Iterator[LimitMeasure]:
    """Numbers of the sample, which are not of a model."""
    yield LimitMeasure(
        name="prevalence",
        part=MeasurePart.SAMPLE,
        label="prevalence",
        place=numbers.InSample(numbers.find_prevalence),
        lower=0,
        upper=1,
        is_share=True,
        exact=ExactBound.RATE,
        scale=ErrorScale.ARCSINE,
        meaning="share of events, a property of the data, not of a model",
    )
    yield LimitMeasure(
        name="class_share",
        part=MeasurePart.SAMPLE,
        label="share",
        kinds=CLASS_MODELS,
        place=numbers.InSample(numbers.find_class_share),
        lower=0,
        upper=1,
        is_share=True,
        argument=LimitArgument.OF_CLASS,
        evidence=EvidenceRule.FOUND,
        exact=ExactBound.RATE,
        scale=ErrorScale.ARCSINE,
        meaning="share of a class, a property of the data, not of a model",
    )


def list_scale() -> Iterator[LimitMeasure]:
    """Marks of all classes together, in equal-count bins and in CORP blocks, and the angle of their line."""
    parts = {"model": "", "source": "_source", "divergence": "_divergence"}
    words = {"model": "", "source": " of the source", "divergence": " over that of the source"}
    for prefix, bins in (("scale", EQUAL_COUNT), ("corp_scale", CORP)):
        in_blocks = ", CORP blocks" if bins == CORP else ""
        for mark in MARKS:
            for part, suffix in parts.items():
                if bins == EQUAL_COUNT or part != "model":  # that of the model does not depend on bins
                    rises = part == "model" and mark != "decisiveness"
                    yield LimitMeasure(
                        name=f"{prefix}_{mark}{suffix}",
                        part=MeasurePart.SCALE,
                        label=f"{mark}{words[part]} on the probability scale{in_blocks}",
                        kinds=EVERY_MODEL,
                        place=numbers.in_scale(bins, mark, part),
                        direction=Direction.HIGHER if rises else None,
                        lower=0,
                        upper=inf if part == "divergence" else 1,
                        requires=(Requirement.MEMORY, Requirement.SCALE),
                    )
        yield LimitMeasure(
            name=f"{prefix}_angle",
            part=MeasurePart.SCALE,
            label=f"angle on the probability scale{in_blocks} (degrees)",
            kinds=EVERY_MODEL,
            place=numbers.in_angle(bins),
            decimals=1,
            lower=-180,
            upper=180,
            requires=(Requirement.MEMORY, Requirement.SCALE),
        )


def list_retention() -> Iterator[LimitMeasure]:
    """Areas under retention curves, by metric and by the score that sets cases aside."""
    kinds: dict[tuple[str, str], list[ModelKind]] = {}
    for kind, (scores, metrics) in _RETENTION.items():
        for pair in ((score, metric) for score in scores for metric in metrics):
            kinds.setdefault(pair, []).append(kind)
    for (score, metric), found in kinds.items():
        entry = REGISTRY[metric]
        curve = f"{inside_sentence(entry.label)} by {inside_sentence(REGISTRY[score].label)}"
        yield LimitMeasure(
            name=f"retention_{metric}_by_{score}",
            part=MeasurePart.RETENTION,
            label=f"retention area of {curve}",
            kinds=tuple(kind for kind in ModelKind if kind in found),
            place=numbers.in_retention(score, metric),
            direction=entry.direction,
            lower=entry.lower,
            upper=entry.upper,
            meaning=f"area under the retention curve of {curve}",
        )
