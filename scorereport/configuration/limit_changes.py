"""Changes of limits between two configurations: which limit, from what to what, and whether it is looser."""

from __future__ import annotations

import hashlib
import json
import tomllib
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, ClassVar, Literal

from scorereport._utils.formatting import join_some, shortest
from scorereport.configuration.measure_limits import MEASURES
from scorereport.errors import UsageError
from scorereport.scores import Direction

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.configuration.configuration_tables import Configuration
    from scorereport.configuration.limit_records import LimitMeasure
    from scorereport.configuration.limits_table import (
        LimitsTable,
        ListedLimit,
        OneSidedLimit,
        TwoSidedLimit,
    )

Effect = Literal["looser", "stricter"]
#: The key that asks for a second signature; it is compared and approved as the limits are.
APPROVE_LIMITS = "audit.approve_limits"
#: The keys of limits on one side, whose side is that of the measure, and of all limits.
_ONE_SIDED = ("warn", "fail")
_NUMBERS = (*_ONE_SIDED, "min", "max", "warn_min", "warn_max")
_ALL_MODELS = "all"
#: Most changes that a sentence names; further ones are counted.
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitChange:
    """A limit that differs from the one before: its key in `[limits]`, and both values as text.

    A value is empty if there was no such limit, or is none any more. `effect` is known for numbers, and for
    keys that are true or false.
    """

    key: str
    before: str
    after: str
    effect: Effect | None = None

    OPTIONAL: ClassVar = ("effect",)

    @property
    def clause(self) -> str:
        """The change in words, as part of a sentence.

        >>> LimitChange(key="brier.fail", before="0.12", after="0.15", effect="looser").clause
        'brier.fail from 0.12 to 0.15 (looser)'
        """
        effect = f" ({self.effect})" if self.effect else ""
        if not self.before:
            return f"{self.key} set to {self.after}, without one before{effect}"
        if not self.after:
            return f"{self.key} removed, {self.before} before{effect}"
        return f"{self.key} from {self.before} to {self.after}{effect}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovedBy:
    """The approval that counts for a run: its record, time and reason, and the key that signed it."""

    record: int
    time: str
    reason: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitProvenance:
    """How the limits of an audit differ from those of the audit before, and who approved them.

    `record` and `since` are the record of that audit and the label of its period; 0 and "" if there is none.
    `note` is why limits could not be compared.
    """

    changes: tuple[LimitChange, ...] = ()
    record: int = 0
    since: str = ""
    note: str = ""
    approval: ApprovedBy | None = None

    @property
    def sentence(self) -> str:
        """The changes in a sentence; "" if there are none."""
        if not self.changes:
            return ""
        return f"Limits were changed since the audit of {self.since}: {describe_changes(self.changes)}."


@dataclass(frozen=True, slots=True)
class LimitValue:
    """A value of `[limits]` as text; of ordered values, the one with more `slack` is looser."""

    text: str
    slack: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfiguredLimits:
    """The limits of a configuration by their keys, and whether a run with them needs an approval.

    `problem` is why this version cannot read them; then there are no values.
    """

    values: dict[str, LimitValue] = field(default_factory=dict)
    needs_approval: bool = False
    problem: str = ""

    @property
    def sha256(self) -> str:
        """SHA-256 of the limits: the same for the same limits, however they are written; "" if unreadable."""
        if self.problem:
            return ""
        texts = {key: value.text for key, value in self.values.items()}
        text = json.dumps(texts, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


def list_limits(configuration: Configuration) -> ConfiguredLimits:
    """List the limits of a configuration."""
    asks = configuration.audit.approve_limits
    values = dict(_list_values(configuration.limits))
    values[APPROVE_LIMITS] = _describe_switch(asks)
    return ConfiguredLimits(values=values, needs_approval=asks)


def read_limits(content: bytes, name: str) -> ConfiguredLimits:
    """Read the limits of a stored configuration, which another version may have written."""
    from scorereport.configuration.toml_reader import decode_text, parse_configuration

    try:
        return list_limits(parse_configuration(decode_text(content, name), name))
    except UsageError as error:
        return ConfiguredLimits(needs_approval=_asks_for_approval(content), problem=str(error))


def _asks_for_approval(content: bytes) -> bool:
    try:
        audit = tomllib.loads(content.decode("utf-8-sig")).get("audit", {})
    except (ValueError, RecursionError):
        return False
    return isinstance(audit, dict) and audit.get("approve_limits") is True


def _list_values(limits: LimitsTable) -> Iterator[tuple[str, LimitValue]]:
    for name, measure in MEASURES.items():
        limit = limits.two_sided.get(name) or limits.one_sided.get(name)
        if limit is not None:
            yield from _list_numbers(measure, limit)
        for listed in limits.listed.get(name, ()):
            yield from _list_numbers(measure, listed, _name_argument(listed))
    yield "groups", _describe_switch(limits.groups)
    models = sorted(set(limits.models))
    yield "models", LimitValue(json.dumps(models, ensure_ascii=False) if models else _ALL_MODELS)
    yield from ((key, LimitValue(text)) for key in ("set_by", "set_on") if (text := getattr(limits, key)))


def _name_argument(limit: ListedLimit) -> str:
    if limit.at is not None:
        return f" at {shortest(limit.at)}"
    word = "of class" if limit.up_to is None else "up to class"
    return f" {word} {json.dumps(limit.argument, ensure_ascii=False)}"


def _list_numbers(
    measure: LimitMeasure, limit: OneSidedLimit | TwoSidedLimit | ListedLimit, argument: str = ""
) -> Iterator[tuple[str, LimitValue]]:
    for key in _NUMBERS:
        number: float | None = getattr(limit, key, None)
        if number is not None:
            is_lower = key.endswith("min") or (key in _ONE_SIDED and measure.direction is Direction.HIGHER)
            slack = -number if is_lower else number
            yield f"{measure.name}.{key}{argument}", LimitValue(shortest(number), slack)


def _describe_switch(is_on: bool) -> LimitValue:
    """A key that adds a check if it is true."""
    return LimitValue("true" if is_on else "false", 0.0 if is_on else 1.0)


def find_limit_changes(before: ConfiguredLimits, after: ConfiguredLimits) -> tuple[LimitChange, ...]:
    """Find the limits that differ between two configurations; those of the first one come first.

    If one of them cannot be read, no change is known.
    """
    if before.problem or after.problem:
        return ()
    changes = []
    for key in {**before.values, **after.values}:
        old, new = before.values.get(key), after.values.get(key)
        if (old and old.text) != (new and new.text):
            change = LimitChange(
                key=key,
                before=old.text if old else "",
                after=new.text if new else "",
                effect=_find_effect(old, new),
            )
            changes.append(change)
    return tuple(changes)


def _find_effect(before: LimitValue | None, after: LimitValue | None) -> Effect | None:
    """Whether a limit has become looser; without a limit everything is accepted."""
    old, new = (inf if value is None else value.slack for value in (before, after))
    if old is None or new is None or old == new:
        return None
    return "looser" if new > old else "stricter"


def describe_changes(changes: Sequence[LimitChange], most: int = _MOST_NAMED) -> str:
    """Describe changes as part of a sentence, "" without any; beyond `most`, further ones are counted."""
    return join_some([change.clause for change in changes], most) if changes else ""
