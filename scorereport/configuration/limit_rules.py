"""Rules for the limits of a configuration: their ranges, their order, and what they apply to."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from itertools import pairwise
from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_plain, shortest
from scorereport.configuration.limit_records import LimitArgument
from scorereport.configuration.measure_limits import MEASURES
from scorereport.configuration.messages import describe_unknown, known_keys, show_example
from scorereport.scores import Direction

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.configuration.limit_records import LimitMeasure
    from scorereport.configuration.limits_table import LimitsTable, ListedLimit, OneSidedLimit, TwoSidedLimit

#: What each key names to which a limit applies.
_ARGUMENTS = {
    LimitArgument.AT: "the threshold of the decisions",
    LimitArgument.OF_CLASS: "the class",
    LimitArgument.UP_TO: "the last class below the threshold",
}


def find_broken_limits(limits: LimitsTable) -> Iterator[str]:
    """A sentence for each limit that makes no sense."""
    for name, one in limits.one_sided.items():
        yield from _check_range(name, {"warn": one.warn, "fail": one.fail})
        yield from _check_order(name, one)
    for name, two in limits.two_sided.items():
        keys = {key: getattr(two, key) for key in ("min", "max", "warn_min", "warn_max")}
        yield from _check_range(name, keys)
        yield from _check_orders(name, two)
    for name, listed in limits.listed.items():
        yield from _check_listed(MEASURES[name], listed)


def _check_listed(measure: LimitMeasure, limits: Sequence[ListedLimit]) -> Iterator[str]:
    """Check limits that name a threshold or a class: each once, and with the keys of this measure."""
    key = measure.argument or LimitArgument.AT
    named = [getattr(limit, key) for limit in limits]
    if not limits:
        yield f"`limits.{measure.name}` must have a table such as {show_example(measure)}; got an empty list."
    for limit, argument in zip(limits, named, strict=True):
        yield from _check_keys(measure, limit)
        if argument is None:
            yield (
                f"`limits.{measure.name}` must have `{key}`, {_ARGUMENTS[key]}, such as "
                f"{show_example(measure)}."
            )
        elif isinstance(argument, float) and not 0 < argument < 1:
            yield f"`limits.{measure.name}.at` must lie in (0, 1); got {shortest(argument)}."
    for argument, times in Counter(named).items():
        if argument is not None and times > 1:
            shown = repr(argument) if isinstance(argument, str) else shortest(argument)
            yield f"`limits.{measure.name}.{key}` must differ; got {shown} {times} times."


def _check_keys(measure: LimitMeasure, limit: ListedLimit) -> Iterator[str]:
    """Check the numbers of a limit, and that it has no keys that are for other measures."""
    known = known_keys(("limits", measure.name))
    for field in fields(limit):
        if getattr(limit, field.name) is not None and field.name not in known:
            yield describe_unknown(("limits", measure.name, field.name))
    if measure.direction is None:
        two = limit.two_sided
        yield from _check_range(measure.name, {key.name: getattr(two, key.name) for key in fields(two)})
        yield from _check_orders(measure.name, two)
    else:
        one = limit.one_sided
        yield from _check_range(measure.name, {"warn": one.warn, "fail": one.fail})
        yield from _check_order(measure.name, one)


def _check_range(name: str, keys: dict[str, float | None]) -> Iterator[str]:
    """Check that there is a number, and that each is in the range of the measure.

    This finds limits in percent, and limits that are meant for another measure.
    """
    measure = MEASURES[name]
    if all(value is None for value in keys.values()):
        yield f"`limits.{name}` must have one of {', '.join(f'`{key}`' for key in keys)}; got an empty table."
    for key, value in keys.items():
        if value is not None and not measure.lower <= value <= measure.upper:
            span = f"in [{format_plain(measure.lower)}, {format_plain(measure.upper)}]"
            span = f"at {format_plain(measure.upper)} or below" if measure.lower == -float("inf") else span
            span = f"at {format_plain(measure.lower)} or above" if measure.upper == float("inf") else span
            yield f"`limits.{name}.{key}` must lie {span}, the range of this measure; got {shortest(value)}."


def _check_order(name: str, limit: OneSidedLimit) -> Iterator[str]:
    if limit.warn is None or limit.fail is None:
        return
    higher = MEASURES[name].direction is Direction.HIGHER
    side, better = ("below", "higher") if higher else ("above", "lower")
    if limit.warn < limit.fail if higher else limit.warn > limit.fail:
        yield (
            f"`limits.{name}.warn` must not be {side} `limits.{name}.fail`, because {better} is better; "
            f"got {shortest(limit.warn)} and {shortest(limit.fail)}."
        )


def _check_orders(name: str, limit: TwoSidedLimit) -> Iterator[str]:
    """Check the order min ≤ warn_min < warn_max ≤ max."""
    keys = ("min", "warn_min", "warn_max", "max")
    limits = [(key, getattr(limit, key)) for key in keys if getattr(limit, key) is not None]
    for (a, low), (b, high) in pairwise(limits):
        same_side = {a, b} in ({"min", "warn_min"}, {"max", "warn_max"})
        if low > high or (low == high and not same_side):
            must = "must not be above" if same_side else "must be below"
            yield f"`limits.{name}.{a}` {must} `limits.{name}.{b}`; got {shortest(low)} and {shortest(high)}."
