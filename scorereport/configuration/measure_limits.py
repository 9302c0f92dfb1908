"""The measures that may have limits, each declared once.

The check of a configuration, its JSON Schema, the messages, the judgement and the tables in the documentation
follow from these declarations: a new measure is one new entry.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

from scorereport.configuration import limit_numbers as numbers
from scorereport.configuration.limit_families import (
    list_calibration,
    list_decisions,
    list_of_sample,
    list_retention,
    list_scale,
)
from scorereport.configuration.limit_records import (
    BINARY_MODELS,
    CLASS_MODELS,
    ORDINAL_MODELS,
    EvidenceRule,
    ExactBound,
    LimitArgument,
    LimitMeasure,
    MeasurePart,
    ModelKind,
    Requirement,
    inside_label,
)
from scorereport.evaluation.class_measures import list_class_measures
from scorereport.results.class_records import CLASS, THRESHOLD
from scorereport.scores import REGISTRY, Direction

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.configuration.limit_numbers import Place

#: The scores of every evaluation of binary models, and those over an interval of costs.
BINARY_SCORES = ("brier", "log_loss", "misclassification", "spherical")
BOUNDED_SCORES = ("bounded_brier", "bounded_log_loss", "bounded_net_benefit")
#: The scores of models of several classes, in the order of tables.
CLASS_SCORES = list_class_measures(ordered=True)
#: The class scores that only ordered classes have, those that are decomposed, and those without a skill.
ORDINAL_SCORES = ("rps", "sa_rps", "quadratic_weighted_kappa")
DECOMPOSED_CLASS_SCORES = ("multiclass_brier", "rps")
UNSKILLED_SCORES = ("macro_f1", "quadratic_weighted_kappa")
_COUNTERPARTS = {
    "brier": "multiclass_brier",
    "log_loss": "multiclass_log_loss",
    "misclassification": "accuracy",
    "spherical": "multiclass_spherical",
    "multiclass_brier": "brier",
    "multiclass_log_loss": "log_loss",
    "multiclass_spherical": "spherical",
    "rps": "brier",
    "accuracy": "misclassification",
}
#: Scores that are rates: each case scores 0 or 1.
_RATES = ("misclassification", "accuracy")
#: Scores that are means over classes, and need cases of each class.
_OVER_CLASSES = ("macro_f1",)


def _list_measures() -> Iterator[LimitMeasure]:
    for name in (*BINARY_SCORES, "roc_auc", *BOUNDED_SCORES):
        yield from _measures_of(name, BINARY_MODELS, has_components=name != "roc_auc")
    for name in CLASS_SCORES:
        yield from _measures_of(
            name,
            ORDINAL_MODELS if name in ORDINAL_SCORES else CLASS_MODELS,
            has_skill=name not in UNSKILLED_SCORES,
            has_components=name in DECOMPOSED_CLASS_SCORES,
        )
    yield from list_calibration()
    yield from list_decisions()
    yield from list_of_sample()
    for name in (*BINARY_SCORES, *BOUNDED_SCORES):
        part, place = MeasurePart.UNCERTAINTY, numbers.in_uncertainty(name)
        yield _derived(name, part, "uncertainty of", BINARY_MODELS, place, None, (-inf, inf))
    yield from _list_views()
    yield from list_scale()
    yield from list_retention()


def _measures_of(
    score: str, kinds: tuple[ModelKind, ...], *, has_skill: bool = True, has_components: bool
) -> Iterator[LimitMeasure]:
    """The mean of a score, its skill if it has one and, if it is decomposed, both components."""
    entry = REGISTRY[score]
    is_mean = entry.per_case and entry.upper < inf and entry.lower > -inf
    yield LimitMeasure(
        name=score,
        part=MeasurePart.MEAN,
        label=entry.label,
        place=numbers.in_mean(score),
        kinds=kinds,
        score=score,
        direction=entry.direction,
        lower=entry.lower,
        upper=entry.upper,
        evidence=_evidence_of(score),
        exact=ExactBound.RATE if score in _RATES else ExactBound.MEAN if is_mean else ExactBound.NONE,
        requires=_requires(score),
    )
    if has_skill:
        yield _derived(
            score, MeasurePart.SKILL, "skill in", kinds, numbers.in_skill(score), Direction.HIGHER, (-inf, 1)
        )
    if has_components:
        for part, of, direction in (
            (MeasurePart.MISCALIBRATION, "MCB of", Direction.LOWER),
            (MeasurePart.DISCRIMINATION, "DSC of", Direction.HIGHER),
        ):
            yield _derived(score, part, of, kinds, numbers.in_component(score, part), direction, (0, inf))


def _derived(
    score: str,
    part: MeasurePart,
    of: str,
    kinds: tuple[ModelKind, ...],
    place: Place,
    direction: Direction | None,
    within: tuple[float, float],
) -> LimitMeasure:
    """A number that belongs to a score."""
    return LimitMeasure(
        name=f"{score}_{part}",
        part=part,
        label=f"{of} the {inside_label(REGISTRY[score].label)}",
        place=place,
        kinds=kinds,
        score=score,
        direction=direction,
        lower=within[0],
        upper=within[1],
        is_share=part is MeasurePart.SKILL,
        evidence=_evidence_of(score),
        requires=_requires(score),
    )


def _requires(score: str) -> tuple[Requirement, ...]:
    return (Requirement.COSTS,) if score in BOUNDED_SCORES else ()


def _evidence_of(score: str) -> EvidenceRule:
    return EvidenceRule.RAREST_CLASS if score in _OVER_CLASSES else EvidenceRule.RARER


def _list_views() -> Iterator[LimitMeasure]:
    """Numbers of one class against the others, and of the classes up to one against those above."""
    families = (
        ("class", CLASS, LimitArgument.OF_CLASS, CLASS_MODELS),
        ("threshold", THRESHOLD, LimitArgument.UP_TO, ORDINAL_MODELS),
    )
    views = [
        measure
        for score in ("brier", "roc_auc")
        for measure in _measures_of(score, BINARY_MODELS, has_components=score == "brier")
    ]
    for prefix, family, argument, kinds in families:
        for measure in views:
            if isinstance(measure.place, numbers.InScores):
                yield replace(
                    measure,
                    name=f"{prefix}_{measure.name}",
                    kinds=kinds,
                    score="",
                    place=numbers.in_view(family, measure.place),
                    argument=argument,
                )


#: All measures that may have limits in `[limits]`, by name, in the order of judgements.
MEASURES: dict[str, LimitMeasure] = {measure.name: measure for measure in _list_measures()}


def find_measure(name: str) -> LimitMeasure | None:
    """The measure of a judgement by its name, which may name a threshold or a class; None if unknown.

    >>> find_measure("sensitivity_at_0.1").label
    'sensitivity at 0.1'
    """
    if name in MEASURES:
        return MEASURES[name]
    family = next((m for m in MEASURES.values() if m.argument and name.startswith(m.stem)), None)
    text = "" if family is None else name.removeprefix(family.stem)
    if family is None or family.argument is not LimitArgument.AT:
        return None if family is None else family.at_argument(text)
    try:
        return family.at_argument(float(text))
    except ValueError:
        return None


def known_measure(name: str) -> LimitMeasure:
    """The measure of a judgement of this version."""
    found = find_measure(name)
    if found is None:
        raise KeyError(name)
    return found


def find_counterpart(measure: LimitMeasure) -> LimitMeasure | None:
    """The corresponding measure of models of the other kind; None if there is none."""
    score = _COUNTERPARTS.get(measure.score, "")
    return MEASURES.get(score if measure.part is MeasurePart.MEAN else f"{score}_{measure.part}")
