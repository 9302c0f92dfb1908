"""The measures that may have limits, and the limits that a configuration sets."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import inf
from typing import TYPE_CHECKING

from scorereport._utils.suggestions import suggest_name
from scorereport.evaluation.class_measures import list_class_measures
from scorereport.scores.registry import REGISTRY, Direction, Kind, Reported, inside_sentence, list_reported

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator


class ModelKind(StrEnum):
    """The kind of outcome that models forecast: an event, one of several classes, or of ordered classes."""

    BINARY = "binary"
    MULTICLASS = "multiclass"
    ORDINAL = "ordinal"

    @classmethod
    def of(cls, *, has_classes: bool, ordered: bool) -> ModelKind:
        """The kind of models with or without classes, ordered or not."""
        if not has_classes:
            return cls.BINARY
        return cls.ORDINAL if ordered else cls.MULTICLASS


class MeasurePart(StrEnum):
    """The part of an evaluation to which a number belongs."""

    MEAN = "mean"
    SKILL = "skill"
    MISCALIBRATION = "miscalibration"
    DISCRIMINATION = "discrimination"
    LINE = "calibration line"
    SAMPLE = "sample"


_BINARY = (ModelKind.BINARY,)
_ORDINAL = (ModelKind.ORDINAL,)
_CLASSES = (ModelKind.MULTICLASS, ModelKind.ORDINAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitMeasure:
    """A number that may have a limit; without a direction, it has limits on both sides.

    `kinds` are the kinds of models that have it.
    """

    name: str
    part: MeasurePart
    label: str
    kinds: tuple[ModelKind, ...] = _BINARY
    score: str = ""
    direction: Direction | None = None
    lower: float = -inf
    upper: float = inf

    @property
    def is_share(self) -> bool:
        """Whether it is shown in percent, as in the tables."""
        return self.part in (MeasurePart.SKILL, MeasurePart.SAMPLE)

    @property
    def needs_costs(self) -> bool:
        """Whether it exists only over an interval of costs."""
        return self.score in BOUNDED_SCORES

    @property
    def counterpart(self) -> str:
        """The corresponding measure of models of the other kind; empty if there is none."""
        score = REGISTRY[self.score].counterpart if self.score else ""
        name = score if self.part is MeasurePart.MEAN else f"{score}_{self.part}"
        return name if name in MEASURES else ""


#: The scores of every evaluation of binary models, and those over an interval of costs.
BINARY_SCORES = list_reported(Reported.ALWAYS, kinds=[Kind.BINARY])
BOUNDED_SCORES = list_reported(Reported.WITH_COSTS, kinds=[Kind.BINARY])
#: The scores of models of several classes, in the order of tables.
CLASS_SCORES = list_class_measures(ordered=True)
#: The numbers of the calibration line: name in a limit, attribute in the record, label.
LINE_MEASURES = (
    ("calibration_slope", "slope", "calibration slope"),
    ("calibration_intercept", "intercept", "calibration intercept"),
    ("calibration_in_the_large", "intercept_at_slope_one", "calibration in the large"),
)


def _list_measures() -> Iterator[LimitMeasure]:
    for name in (*BINARY_SCORES, "roc_auc", *BOUNDED_SCORES):
        yield from _measures_of(name, _BINARY)
    for name in CLASS_SCORES:
        is_ordinal = REGISTRY[name].reported is Reported.ORDERED
        yield from _measures_of(name, _ORDINAL if is_ordinal else _CLASSES)
    for name, _, label in LINE_MEASURES:
        yield LimitMeasure(name=name, part=MeasurePart.LINE, label=label)
    yield LimitMeasure(name="prevalence", part=MeasurePart.SAMPLE, label="prevalence", lower=0, upper=1)


def _measures_of(score: str, kinds: tuple[ModelKind, ...]) -> Iterator[LimitMeasure]:
    """The mean of a score, its skill if it has one and, if it is decomposed, both components."""
    entry = REGISTRY[score]
    label = inside_sentence(entry.label)
    yield LimitMeasure(
        name=score,
        part=MeasurePart.MEAN,
        label=entry.label,
        kinds=kinds,
        score=score,
        direction=entry.direction,
        lower=entry.lower,
        upper=entry.upper,
    )
    others = [(MeasurePart.SKILL, "skill in", Direction.HIGHER, -inf, 1.0)] if entry.has_skill else []
    if entry.is_decomposed:
        others.append((MeasurePart.MISCALIBRATION, "MCB of", Direction.LOWER, 0.0, inf))
        others.append((MeasurePart.DISCRIMINATION, "DSC of", Direction.HIGHER, 0.0, inf))
    for part, of, direction, lower, upper in others:
        yield LimitMeasure(
            name=f"{score}_{part}",
            part=part,
            label=f"{of} the {label}",
            kinds=kinds,
            score=score,
            direction=direction,
            lower=lower,
            upper=upper,
        )


#: All measures that may have limits in `[limits]`, by name, in the order of judgements.
MEASURES: dict[str, LimitMeasure] = {measure.name: measure for measure in _list_measures()}

#: Short names of limits: a test of equivalence is a limit on miscalibration.
SHORTHANDS = {"calibrated_within": "brier_miscalibration"}

#: Names of measures in other software. CRPS is none of the measures; RPSS, a skill, must not be read as RPS.
_OTHER_NAMES = {name: entry.other_names for name, entry in REGISTRY.items()} | {
    "brier_skill": ("bss",),
    "calibration_slope": ("slope",),
    "calibration_intercept": ("intercept",),
    "calibration_in_the_large": ("citl", "calibration_in_large"),
    "prevalence": ("event_rate", "base_rate", "default_rate"),
    "": ("crps", "rpss"),
}
_MEANT = {other: name for name, others in _OTHER_NAMES.items() for other in others}
#: Suffixes of names in other software, and here.
_ENDINGS = {
    "_skill_score": "_skill",
    "_mcb": "_miscalibration",
    "_dsc": "_discrimination",
    "_skill": "_skill",
    "_miscalibration": "_miscalibration",
    "_discrimination": "_discrimination",
    "_score": "",
    "_loss": "",
    "": "",
}


def find_limit_measure(key: str, known: Collection[str]) -> str:
    """The measure that an unknown key means, or the known key that is misspelt; empty if there is none.

    A measure with another meaning is never returned.

    >>> [find_limit_measure(key, MEASURES) for key in ("brier_score", "auc", "gini")]
    ['brier', 'roc_auc', '']
    """
    plain = key.lower().replace("-", "_").replace("_score_", "_")
    for ending, part in _ENDINGS.items():
        base = plain.removesuffix(ending)
        if plain.endswith(ending) and base in (*_MEANT, *MEASURES):
            name = _MEANT.get(base, base) + part
            is_opposite = (
                ending == "_loss" and name in MEASURES and MEASURES[name].direction is not Direction.LOWER
            )
            return name if name in MEASURES and not is_opposite else ""
    return suggest_name(key, known)
