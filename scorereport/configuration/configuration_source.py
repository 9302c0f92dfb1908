"""A configuration given as a file, or as a dictionary, which is written as the TOML text of a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, time
from numbers import Integral, Real
from pathlib import Path

from scorereport._utils.rules import list_items, show_value
from scorereport.configuration.configuration_tables import Configuration
from scorereport.configuration.messages import join_key
from scorereport.configuration.toml_reader import parse_configuration, read_configuration
from scorereport.errors import UsageError

#: A configuration, the path of one, or its tables as they stand in the file.
ConfigurationSource = Configuration | str | Path | Mapping[str, object]


def as_configuration(config: ConfigurationSource | None) -> Configuration | None:
    """Return a configuration that was given as a file, as its tables, or as it is; None stays None.

    Tables are written as TOML and parsed, so that the checks are those of a file, and reports have its text.
    """
    if config is None or isinstance(config, Configuration):
        return config
    if isinstance(config, Mapping):
        return replace(parse_configuration(write_toml(config, "config"), "config"), name="config.toml")
    if not isinstance(config, (str, Path)):
        raise UsageError(
            "`config` must be the path of a .toml file, or a dictionary of its tables; got "
            f"{show_value(config)}."
        )
    return read_configuration(config)


def write_toml(tables: Mapping[str, object], name: str = "config") -> str:
    """Write tables as TOML text; `name` is for messages.

    >>> print(write_toml({"limits": {"brier": {"warn": 0.19, "fail": 0.21}}, "model": {"owner": "Risk"}}))
    [limits]
    brier = {warn = 0.19, fail = 0.21}
    <BLANKLINE>
    [model]
    owner = "Risk"
    <BLANKLINE>
    """
    plain = {key: value for key, value in tables.items() if not isinstance(value, Mapping)}
    parts = [_write_items(plain, (), name)] if plain else []
    for key, table in tables.items():
        if isinstance(table, Mapping):
            parts.append(f"[{_quote(key)}]\n{_write_items(table, (str(key),), name)}")
    return "\n".join(parts)


def write_key(key: str, value: object) -> str:
    """Write a key with its value as one line of TOML.

    >>> write_key("groups", ["a", "b c"])
    'groups = ["a", "b c"]'
    """
    return _write_items({key: value}, (), "value").rstrip("\n")


def _write_items(items: Mapping[str, object], path: tuple[str, ...], name: str) -> str:
    """The keys of a table, one on each line."""
    lines = (f"{_quote(key)} = {_write(item, (*path, str(key)), name)}\n" for key, item in items.items())
    return "".join(lines)


def _write(value: object, path: tuple[str, ...], name: str) -> str:
    if isinstance(value, Mapping):
        items = (f"{_quote(key)} = {_write(item, (*path, str(key)), name)}" for key, item in value.items())
        return f"{{{', '.join(items)}}}"
    if isinstance(value, str):
        return _quote_text(value)
    if (items_of := list_items(value)) is not None:
        return f"[{', '.join(_write(item, path, name) for item in items_of)}]"
    if plain := _write_plain(value):
        return plain
    way_out = " To fix: leave the key out." if value is None else ""
    raise UsageError(
        f"{name}: `{join_key(path)}` must be text, a number, a date, true, false, a list or a table; got "
        f"{show_value(value)}.{way_out}"
    )


def _write_plain(value: object) -> str:
    """A value without parts; empty if TOML has no such value."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        return repr(float(value))
    return value.isoformat() if isinstance(value, (date, time)) else ""


def _quote(key: object) -> str:
    """A key, in quotes unless it is a plain word."""
    text = str(key)
    return text if text.replace("-", "").replace("_", "").isalnum() and text.isascii() else _quote_text(text)


def _quote_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
