"""Whether a configuration belongs to an evaluation: to one that is asked for, and to one that is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scorereport.configuration.measures import Part
from scorereport.configuration.messages import refuse, suggest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from scorereport.configuration.records import Configuration
    from scorereport.evaluation import Evaluation


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is known of an evaluation before it is made: its models, and what it will have."""

    models: Sequence[str]
    has_costs: bool
    has_line: bool
    has_groups: bool


def check_request(configuration: Configuration, asked: Asked) -> None:
    """Refuse, before the work, names of models that will not be there and limits on numbers that will not."""
    refuse(configuration.name, list(_find_misfits(configuration, asked)))


def check_configuration(
    configuration: Configuration, evaluation: Evaluation, *, overridden: Collection[str] = ()
) -> None:
    """Refuse names and limits that the evaluation lacks, and settings that it was not made with.

    Settings that somebody has `overridden` on purpose may differ.
    """
    asked = Asked(
        models=[result.model for result in evaluation.models],
        has_costs=evaluation.settings.cost_interval is not None,
        has_line=all(result.calibration is not None for result in evaluation.models),
        has_groups=bool(evaluation.groups),
    )
    others = _find_other_settings(configuration, evaluation, overridden)
    refuse(configuration.name, [*_find_misfits(configuration, asked), *others])


def _find_misfits(configuration: Configuration, asked: Asked) -> Iterator[str]:
    yield from _find_strangers("limits.models", configuration.limits.models, asked.models)
    yield from _find_strangers("model.descriptions", configuration.model.descriptions, asked.models)
    yield from _find_absent_measures(configuration, asked)
    if configuration.limits.groups and not asked.has_groups:
        yield (
            "`limits.groups` asks to judge groups, and the evaluation has none: "
            "name columns in `evaluation.groups`, or set `limits.groups` to false."
        )


def _find_strangers(key: str, names: Iterable[str], models: Sequence[str]) -> Iterator[str]:
    for name in names:
        if name not in models:
            known = suggest(name, models) or f"models are {', '.join(models)}."
            yield f"`{key}` names a model that is not evaluated: {name!r}; {known}"


def _find_absent_measures(configuration: Configuration, asked: Asked) -> Iterator[str]:
    for measure, _ in configuration.limits.bounds:
        key = f"limits.{measure.name}"
        if measure.needs_costs and not asked.has_costs:
            yield (
                f"`{key}` needs an interval of costs, and the evaluation has none: "
                "set `evaluation.cost_interval`, or remove the limit."
            )
        if measure.part is Part.LINE and not asked.has_line:
            yield (
                f"`{key}` needs the calibration line, which is not fitted where `evaluation.resamples` is 0: "
                "set it to 1000, or remove the limit."
            )


def _find_other_settings(
    configuration: Configuration, evaluation: Evaluation, overridden: Collection[str]
) -> Iterator[str]:
    asked = configuration.evaluation
    for name, value in asked.settings.items():
        made_with = getattr(evaluation.settings, name)
        if made_with != value and name not in overridden:
            yield (
                f"`evaluation.{name}` is {value!r}, and the evaluation was made with {made_with!r}: "
                "evaluate again with this configuration, or change the key."
            )
    columns = list(dict.fromkeys(group.column for group in evaluation.groups))
    if asked.groups and set(asked.groups) != set(columns) and "group" not in overridden:
        made_with = f"with {', '.join(columns)}" if columns else "without groups"
        yield (
            f"`evaluation.groups` is {list(asked.groups)!r}, and the evaluation was made {made_with}: "
            "evaluate again with this configuration, or change the key."
        )
