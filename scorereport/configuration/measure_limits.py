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
    CORRECTED,
    ORDINAL_MODELS,
    EvidenceRule,
    ExactBound,
    LimitArgument,
    LimitMeasure,
    MeasurePart,
    ModelKind,
    Requirement,
)
from scorereport.evaluation.class_measures import list_class_measures
from scorereport.inference.needed_cases import ErrorScale
from scorereport.results.class_records import CLASS, THRESHOLD
from scorereport.scores.registry import REGISTRY, Direction, Kind, Reported, inside_sentence, list_reported

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.configuration.limit_numbers import Place

#: The scores of every evaluation of binary models, and those over an interval of costs.
BINARY_SCORES = list_reported(Reported.ALWAYS, kinds=[Kind.BINARY])
BOUNDED_SCORES = list_reported(Reported.WITH_COSTS, kinds=[Kind.BINARY])
#: The scores of models of several classes, in the order of tables.
CLASS_SCORES = list_class_measures(ordered=True)


def _list_measures() -> Iterator[LimitMeasure]:
    for name in (*BINARY_SCORES, "roc_auc", *BOUNDED_SCORES):
        yield from _measures_of(name, BINARY_MODELS)
    for name in CLASS_SCORES:
        is_ordinal = REGISTRY[name].reported is Reported.ORDERED
        yield from _measures_of(name, ORDINAL_MODELS if is_ordinal else CLASS_MODELS)
    yield from list_calibration()
    yield from list_decisions()
    yield from list_of_sample()
    for name in (*BINARY_SCORES, *BOUNDED_SCORES):
        part, place = MeasurePart.UNCERTAINTY, numbers.in_uncertainty(name)
        yield _derived(name, part, "uncertainty of", BINARY_MODELS, place, None, (-inf, inf))
    yield from _list_views()
    yield from list_scale()
    yield from list_retention()


def _measures_of(score: str, kinds: tuple[ModelKind, ...]) -> Iterator[LimitMeasure]:
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
        exact=ExactBound.RATE if entry.is_rate else ExactBound.MEAN if is_mean else ExactBound.NONE,
        scale=ErrorScale.ARCSINE if entry.is_rate or score == "roc_auc" else ErrorScale.LINEAR,
        requires=_requires(score),
    )
    if entry.has_skill:
        yield _derived(
            score, MeasurePart.SKILL, "skill in", kinds, numbers.in_skill(score), Direction.HIGHER, (-inf, 1)
        )
    if entry.is_decomposed:
        for part, of, direction in (
            (MeasurePart.MISCALIBRATION, f"{CORRECTED}MCB of", Direction.LOWER),
            (MeasurePart.DISCRIMINATION, f"{CORRECTED}DSC of", Direction.HIGHER),
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
        label=f"{of} the {inside_sentence(REGISTRY[score].label)}",
        place=place,
        kinds=kinds,
        score=score,
        direction=direction,
        lower=within[0],
        upper=within[1],
        is_share=part is MeasurePart.SKILL,
        scale=ErrorScale.ROOT if part is MeasurePart.MISCALIBRATION else ErrorScale.LINEAR,
        evidence=_evidence_of(score),
        requires=_requires(score),
    )


def _requires(score: str) -> tuple[Requirement, ...]:
    return (Requirement.COSTS,) if score in BOUNDED_SCORES else ()


def _evidence_of(score: str) -> EvidenceRule:
    return EvidenceRule.RAREST_CLASS if REGISTRY[score].is_over_classes else EvidenceRule.RARER


def _list_views() -> Iterator[LimitMeasure]:
    """Numbers of one class against the others, and of the classes up to one against those above."""
    families = (
        ("class", CLASS, LimitArgument.OF_CLASS, CLASS_MODELS),
        ("threshold", THRESHOLD, LimitArgument.UP_TO, ORDINAL_MODELS),
    )
    views = [measure for score in ("brier", "roc_auc") for measure in _measures_of(score, BINARY_MODELS)]
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
    score = REGISTRY[measure.score].counterpart if measure.score else ""
    return MEASURES.get(score if measure.part is MeasurePart.MEAN else f"{score}_{measure.part}")
