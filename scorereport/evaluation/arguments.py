"""The arguments of `evaluate`: their types, and checks of each and of all together."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, cast

from scorereport._utils.declarations import check_arguments
from scorereport.data.roles import (
    COLUMNS,
    Columns,
    MainColumns,
    OtherColumns,
    describe_other_kind,
    find_column_conflicts,
)
from scorereport.errors import UsageError
from scorereport.results.settings import SETTINGS, EvaluationSettings, MainSettings, OtherSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from scorereport._utils.declarations import Declared


class OtherArguments(OtherColumns, OtherSettings, total=False):
    """The arguments of `evaluate` that are not in its signature."""


class Arguments(MainColumns, MainSettings, OtherArguments, total=False):
    """All arguments of `evaluate` beside the data."""


#: All arguments by name.
ARGUMENTS: dict[str, Declared] = {**COLUMNS, **SETTINGS}
#: Settings of models of several classes only, and of binary models only.
_OF_CLASSES = ("cost_matrix", "retention_fractions")
_OF_EVENTS = ("cost_interval", "thresholds", "reference")
#: Settings of the probability scale, which is computed if one of them is given.
_OF_SCALE = ("scale_bins", "scale_limit")


def name_key(name: str) -> str:
    """The name of an argument in a configuration."""
    return f"evaluation.{name}"


def check_evaluation_arguments(given: Mapping[str, object], name_of: Callable[[str], str] = str) -> Arguments:
    """Check each argument of `evaluate` alone; those that are None are left out."""
    return cast("Arguments", check_arguments(given, ARGUMENTS, name_of))


def find_conflicts(
    arguments: Arguments,
    n_classes: int | None,
    name_of: Callable[[str], str] = str,
    *,
    are_complete: bool = True,
) -> Iterator[str]:
    """A sentence for each argument that does not fit the others, or the number of classes.

    `n_classes` is None for binary models. Arguments that are not complete may lack others that they need.
    """
    yield from find_column_conflicts(columns_in(arguments), n_classes, name_of, are_complete=are_complete)
    kind, others = ("classes", _OF_EVENTS) if n_classes is not None else ("binary", _OF_CLASSES)
    for name in others:
        if name in arguments:
            yield describe_other_kind(name, kind, name_of)
    if are_complete and "window" in arguments and "time" not in arguments:
        yield f"`{name_of('window')}` needs a column of times; name it as `{name_of('time')}`."
    costs = arguments.get("cost_matrix")
    if n_classes is not None and costs is not None:
        yield from _find_wrong_costs(costs, n_classes, name_of)
    yield from _find_few_resamples(arguments, name_of)


def _find_wrong_costs(
    costs: Sequence[Sequence[float]], n_classes: int, name_of: Callable[[str], str]
) -> Iterator[str]:
    if [len(row) for row in costs] != [n_classes] * n_classes:
        got = f"{len(costs)} of {', '.join(map(str, sorted({len(row) for row in costs})))}"
        yield (
            f"`{name_of('cost_matrix')}` must have {n_classes} rows of {n_classes} numbers, one for each "
            f"class; got {got}."
        )


def _find_few_resamples(arguments: Arguments, name_of: Callable[[str], str]) -> Iterator[str]:
    """Resamples must be 0, or enough for every band and interval."""
    resamples = arguments.get("resamples")
    if not resamples:
        return
    from scorereport._utils.formatting import shortest
    from scorereport.reliability.band_bounds import fewest_resamples

    level = arguments.get("band_level", SETTINGS["band_level"].default)
    needed = max(fewest_resamples(level), 2)
    if resamples < needed:
        yield (
            f"`{name_of('resamples')}` must be 0, or at least {needed} for bands of level {shortest(level)}; "
            f"got {resamples}."
        )


def refuse_conflicts(
    arguments: Arguments,
    n_classes: int | None,
    name_of: Callable[[str], str] = str,
    *,
    are_complete: bool = True,
) -> None:
    """Raise an error for the first argument that does not fit the others."""
    for sentence in find_conflicts(arguments, n_classes, name_of, are_complete=are_complete):
        raise UsageError(sentence)


def columns_in(arguments: Arguments) -> Columns:
    """The columns among checked arguments."""
    return cast("Columns", {name: value for name, value in arguments.items() if name in COLUMNS})


def settings_in(arguments: Arguments, engine: str) -> EvaluationSettings:
    """The record of the settings among checked arguments."""
    recorded = {field.name for field in fields(EvaluationSettings)} & SETTINGS.keys()
    values: dict[str, Any] = {name: value for name, value in arguments.items() if name in recorded}
    return EvaluationSettings(**values | {"engine": engine, "scale": asks_for_scale(arguments)})


def asks_for_scale(arguments: Arguments) -> bool:
    """Whether there is the probability scale: as `scale` says or, without it, if its settings are given."""
    return arguments.get("scale", any(name in arguments for name in _OF_SCALE))
