"""The table `[limits]` of a configuration as frozen records."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, ClassVar

from scorereport.configuration.audit_tables import STRICT
from scorereport.configuration.documented_keys import Help
from scorereport.configuration.limit_names import SHORTHAND_LABELS
from scorereport.configuration.limit_records import MeasurePart
from scorereport.configuration.measure_limits import MEASURES
from scorereport.evaluation.decision_thresholds import choose_thresholds
from scorereport.scores import Direction

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.configuration.limit_records import LimitMeasure


@dataclass(frozen=True, slots=True, kw_only=True)
class OneSidedLimit:
    """The limits at which a measure warns and fails; its direction determines the side."""

    __pydantic_config__: ClassVar = STRICT

    warn: float | None = None
    fail: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoSidedLimit:
    """The range in which a measure must lie, and the range in which it lies without a warning."""

    __pydantic_config__: ClassVar = STRICT

    min: float | None = None
    max: float | None = None
    warn_min: float | None = None
    warn_max: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedLimit:
    """One of the limits on a measure that has a number for each threshold, or for each class.

    It has the key that the measure needs, and the numbers of a limit on one side or on two.
    """

    __pydantic_config__: ClassVar = STRICT

    at: float | None = None
    of_class: str | None = None
    up_to: str | None = None
    warn: float | None = None
    fail: float | None = None
    min: float | None = None
    max: float | None = None
    warn_min: float | None = None
    warn_max: float | None = None

    @property
    def argument(self) -> float | str | None:
        """The threshold or the class."""
        return next((value for value in (self.at, self.of_class, self.up_to) if value is not None), None)

    @property
    def one_sided(self) -> OneSidedLimit:
        """Its numbers as those of a limit on one side."""
        return OneSidedLimit(warn=self.warn, fail=self.fail)

    @property
    def two_sided(self) -> TwoSidedLimit:
        """Its numbers as those of a limit on two sides."""
        return TwoSidedLimit(min=self.min, max=self.max, warn_min=self.warn_min, warn_max=self.warn_max)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """A limit as it is judged: bounds for warning and for failing, on either side."""

    warn_lower: float | None = None
    warn_upper: float | None = None
    fail_lower: float | None = None
    fail_upper: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitsTable:
    """`[limits]`: the limits by measure, who set them and when, and to what they apply.

    In the file, limits are keys of the table. `written` has the short name of each measure that was given by
    one.
    """

    __pydantic_config__: ClassVar = STRICT

    set_by: Annotated[str, Help("who set the limits")] = ""
    set_on: Annotated[str, Help("when they were set: a date or text")] = ""
    models: Annotated[tuple[str, ...], Help("the models to which the limits apply; all unless given")] = ()
    groups: Annotated[bool, Help("true: every subgroup is judged too; false unless given")] = False
    one_sided: dict[str, OneSidedLimit] = field(default_factory=dict)
    two_sided: dict[str, TwoSidedLimit] = field(default_factory=dict)
    listed: dict[str, tuple[ListedLimit, ...]] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)

    @property
    def bounds(self) -> tuple[tuple[LimitMeasure, Bounds], ...]:
        """Each measure that has a limit, with its bounds, in the order of judgements."""
        return tuple(self._list_bounds())

    def _list_bounds(self) -> Iterator[tuple[LimitMeasure, Bounds]]:
        for name, declared in MEASURES.items():
            label = SHORTHAND_LABELS.get(self.written.get(name, ""))
            measure = replace(declared, label=label) if label else declared
            if name in self.two_sided:
                yield measure, _bound_two_sides(self.two_sided[name])
            elif name in self.one_sided:
                yield measure, _bound_one_side(self.one_sided[name], measure)
            for limit in self.listed.get(name, ()):
                if limit.argument is not None:
                    yield measure.at_argument(limit.argument), bound_listed(limit, measure)

    @property
    def need_scale(self) -> bool:
        """Whether one of the limits is on a number of the probability scale."""
        return any(MEASURES[name].part is MeasurePart.SCALE for name in (*self.one_sided, *self.two_sided))

    @property
    def thresholds(self) -> tuple[float, ...]:
        """The thresholds at which limits apply, each once, in ascending order."""
        limits = (limit for found in self.listed.values() for limit in found)
        return tuple(sorted({limit.at for limit in limits if limit.at is not None}))

    def add_thresholds(
        self, chosen: Sequence[float] | None, cost_interval: Sequence[float] | None
    ) -> Sequence[float] | None:
        """The thresholds of an evaluation that has those of limits too; None if it has them by default."""
        usual = choose_thresholds(cost_interval) if chosen is None else chosen
        every = tuple(sorted({*usual, *self.thresholds}))
        return chosen if set(self.thresholds) <= set(usual) else every


def bound_listed(limit: ListedLimit, measure: LimitMeasure) -> Bounds:
    """The bounds of a limit that names a threshold or a class."""
    if measure.direction is None:
        return _bound_two_sides(limit.two_sided)
    return _bound_one_side(limit.one_sided, measure)


def _bound_two_sides(limit: TwoSidedLimit) -> Bounds:
    return Bounds(
        warn_lower=limit.warn_min, warn_upper=limit.warn_max, fail_lower=limit.min, fail_upper=limit.max
    )


def _bound_one_side(limit: OneSidedLimit, measure: LimitMeasure) -> Bounds:
    if measure.direction is Direction.HIGHER:
        return Bounds(warn_lower=limit.warn, fail_lower=limit.fail)
    return Bounds(warn_upper=limit.warn, fail_upper=limit.fail)
