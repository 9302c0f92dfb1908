"""Keys that differ between two configurations, in words."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from scorereport.configuration.messages import join_key

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The longest value that is shown.
_LONGEST = 60


def describe_changed_keys(before: str, now: str) -> list[str]:
    """Describe each key that differs between two configurations, given as TOML, from what to what.

    >>> describe_changed_keys("limits = {auc = {fail = 0.7}}", "limits = {auc = {fail = 0.6}}")
    ['`limits.auc.fail` changed from 0.7 to 0.6.']
    """
    old, new = dict(_flatten(_parse(before))), dict(_flatten(_parse(now)))
    found = []
    for key in dict.fromkeys((*old, *new)):
        if key not in new:
            found.append(f"`{key}` was removed; it was {_show(old[key])}.")
        elif key not in old:
            found.append(f"`{key}` was added: {_show(new[key])}.")
        elif repr(old[key]) != repr(new[key]):
            found.append(f"`{key}` changed from {_show(old[key])} to {_show(new[key])}.")
    return found


def _parse(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return {}


def _flatten(table: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Yield the values of a table and the tables in it, with their keys from the top."""
    for key, value in table.items():
        if isinstance(value, Mapping) and value:
            yield from _flatten(value, (*path, key))
        else:
            yield join_key((*path, key)), value


def _show(value: Any) -> str:
    from scorereport.configuration.configuration_source import write_key

    text = write_key("value", value).removeprefix("value = ")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
