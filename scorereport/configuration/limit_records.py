"""The record of a number that may have a limit, and what it is made of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from math import inf, isnan

from scorereport._utils.formatting import shortest
from scorereport.configuration.limit_numbers import Argument, InScores, Place
from scorereport.inference.needed_cases import ErrorScale
from scorereport.scores import Direction

#: The beginning of the labels of overfit-corrected components.
CORRECTED = "corrected "


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
    UNCERTAINTY = "uncertainty"
    LINE = "calibration line"
    ERROR = "calibration error"
    SEPARATION = "separation"
    GRADES = "grades"
    DECISION = "decision"
    STABILITY = "stability"
    SAMPLE = "sample"
    SCALE = "probability scale"
    RETENTION = "retention"


class LimitArgument(StrEnum):
    """A key that a limit needs besides its numbers, because the measure has a value for each."""

    AT = "at"
    OF_CLASS = "of_class"
    UP_TO = "up_to"


class EvidenceRule(StrEnum):
    """The cases that must not be few: those of the rarer outcome, of the rarest class, or those found.

    A number without an error by chance needs none.
    """

    RARER = "rarer outcome"
    RAREST_CLASS = "rarest class"
    FOUND = "cases of the number"
    NONE = "none"


class ExactBound(StrEnum):
    """The bound that holds for every distribution: of a rate, of a rate among some cases, or of a mean."""

    RATE = "rate"
    RATE_AMONG = "rate among some cases"
    MEAN = "mean"
    NONE = "none"


class Requirement(StrEnum):
    """What an evaluation must have so that it has a number."""

    COSTS = "costs"
    RESAMPLES = "resamples"
    GRADES = "grades"
    REFERENCE = "reference"
    MEMORY = "memory"
    SCALE = "scale"


#: Kinds of models that have a measure.
BINARY_MODELS = (ModelKind.BINARY,)
ORDINAL_MODELS = (ModelKind.ORDINAL,)
CLASS_MODELS = (ModelKind.MULTICLASS, ModelKind.ORDINAL)
EVERY_MODEL = tuple(ModelKind)


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitMeasure:
    """A number that may have a limit; without a direction, it has limits on both sides.

    `kinds` are the kinds of models that have it, and `place` is where the evaluation has it. If it has an
    `argument`, there is a number for each threshold or class, and `at` is the one to which a limit applies.
    `decimals` are those that are shown, if they do not follow from the size of the number. `scale` is the one
    on which its interval shrinks as cases grow. `meaning` explains the measure in the documentation.
    """

    name: str
    part: MeasurePart
    label: str
    place: Place
    kinds: tuple[ModelKind, ...] = BINARY_MODELS
    score: str = ""
    direction: Direction | None = None
    lower: float = -inf
    upper: float = inf
    is_share: bool = False
    decimals: int | None = None
    argument: LimitArgument | None = None
    at: Argument = None
    evidence: EvidenceRule = EvidenceRule.RARER
    exact: ExactBound = ExactBound.NONE
    scale: ErrorScale = ErrorScale.LINEAR
    requires: tuple[Requirement, ...] = ()
    meaning: str = ""

    @property
    def is_component(self) -> bool:
        """Whether it is a component, which is overfit-corrected wherever it has an interval."""
        return self.part in (MeasurePart.MISCALIBRATION, MeasurePart.DISCRIMINATION)

    def label_of(self, lower: float) -> str:
        """The label of a number whose interval starts at `lower`: without one, it is not corrected."""
        return self.label.removeprefix(CORRECTED) if self.is_component and isnan(lower) else self.label

    @property
    def has_groups(self) -> bool:
        """Whether groups have it too."""
        return isinstance(self.place, InScores)

    def at_argument(self, at: float | str) -> LimitMeasure:
        """The measure at a threshold, or of a class."""
        shown = at if isinstance(at, str) else shortest(at)
        quoted = f"“{at}”" if isinstance(at, str) else shown
        return replace(
            self, name=f"{self.stem}{shown}", label=f"{self.label} {self._preposition} {quoted}", at=at
        )

    @property
    def stem(self) -> str:
        """The start of the names of this measure at its thresholds, or of its classes."""
        return f"{self.name}_{self._preposition.replace(' ', '_')}_"

    @property
    def _preposition(self) -> str:
        return {LimitArgument.OF_CLASS: "of", LimitArgument.UP_TO: "up to"}.get(
            self.argument or LimitArgument.AT, "at"
        )
