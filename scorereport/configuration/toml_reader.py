"""Reads a configuration: TOML text, its values, its structure and its rules, in this order."""

from __future__ import annotations

import json
import math
import tomllib
import unicodedata
from dataclasses import fields
from datetime import date, datetime, time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scorereport.configuration.configuration_rules import find_broken_rules
from scorereport.configuration.configuration_tables import Configuration, Tables
from scorereport.configuration.measure_limits import MEASURES, SHORTHANDS
from scorereport.configuration.messages import (
    LIMIT_HOMES,
    describe_errors,
    describe_unknown,
    join_key,
    name_as_written,
    raise_problems,
)
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import TypeAdapter

#: Tables and keys whose texts may have several lines.
_LONG = (
    ("text",),
    ("data",),
    ("report", "purpose"),
    ("model", "intended_use"),
    ("model", "users"),
    ("model", "out_of_scope"),
    ("model", "predictions"),
    ("model", "descriptions"),
    ("checklist", "not_applicable"),
    ("audit", "source", "query"),
)
#: How deep lists and tables may lie in each other, and how large a whole number may be.
_DEEPEST, _MOST_BITS = 50, 1000
#: Signs that change the order in which a text is read.
_BIDIRECTIONAL = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def read_configuration(path: str | Path) -> Configuration:
    """Read the configuration of a report from a TOML file."""
    file = Path(path)
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        raise UsageError(f"There is no configuration {str(path)!r}.") from None
    except OSError as error:
        raise UsageError(f"The configuration {str(path)!r} cannot be read: {error.strerror}.") from error
    return parse_configuration(decode_text(content, file.name), file.name, folder=str(file.parent))


def parse_configuration(text: str, name: str = "configuration", *, folder: str = "") -> Configuration:
    r"""Check the text of a configuration; `name` stands in messages, own files are looked for in `folder`.

    >>> parse_configuration('[model]\nowner = "Retail credit"').model.owner
    'Retail credit'
    """
    tables = _check_tables(parse_toml(text, name), name)
    parsed = {field.name: getattr(tables, field.name) for field in fields(Tables)}
    texts = parsed.pop("text")
    return Configuration(**parsed, texts=texts, text=text, name=name, folder=folder)


def decode_text(content: bytes, name: str) -> str:
    """The text of a file, unchanged to the byte; anything but UTF-8 is refused."""
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UsageError(
            f"{name} is not UTF-8 text: byte 0x{content[error.start]:02x} in line {line}. Save it as UTF-8."
        ) from error


def parse_toml(text: str, name: str) -> dict[str, Any]:
    """The tables of a TOML text, with dates as texts; a byte order mark is passed over."""
    plain = text.removeprefix("\ufeff")
    try:
        return {key: _plain(value, 1) for key, value in tomllib.loads(plain).items()}
    except tomllib.TOMLDecodeError as error:
        lines = plain.split("\n")
        end = f"at line {len(lines)}, column {len(lines[-1]) + 1}, the end"
        raise UsageError(f"{name} is no TOML: {str(error).replace('at end of document', end)}.") from error
    except RecursionError:
        raise UsageError(f"{name} is no configuration: its lists lie too deep in each other.") from None
    except ValueError:
        raise UsageError(
            f"{name} is no configuration: it holds a whole number of more than {_MOST_BITS} bits."
        ) from None


def _plain(value: Any, depth: int) -> Any:
    """Dates as texts; a ValueError for a number, and a RecursionError for a nest, that nothing here needs."""
    if depth > _DEEPEST:
        raise RecursionError
    if isinstance(value, dict):
        return {key: _plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item, depth + 1) for item in value]
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        raise ValueError
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    return value.isoformat() if isinstance(value, (date, time)) else value


def _check_tables(raw: dict[str, Any], name: str) -> Tables:
    from pydantic import ValidationError

    problems = list(find_invalid_values(raw))
    shaped, unknown = _normalize_tables(raw)
    problems += unknown
    try:
        tables = _adapter().validate_json(json.dumps(shaped))  # JSON: a list may be a tuple
    except ValidationError as error:
        problems += describe_errors(error.errors())
        raise_problems(name, [name_as_written(problem, raw.get("limits")) for problem in problems])
        raise
    problems += find_broken_rules(tables)
    raise_problems(name, [name_as_written(problem, raw.get("limits")) for problem in problems])
    return tables


@cache
def _adapter() -> TypeAdapter[Tables]:
    from pydantic import TypeAdapter

    return TypeAdapter(Tables)


def find_invalid_values(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[str]:
    """Texts with signs that cannot be printed, and numbers that are not finite, wherever they stand."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _describe_character(key, (*path, key), "a key", is_long=False)
            yield from find_invalid_values(item, (*path, key))
    elif isinstance(value, list):
        for item in value:
            yield from find_invalid_values(item, path)
    elif isinstance(value, str):
        is_long = any(path[:depth] in _LONG for depth in (1, 2, 3))
        yield from _describe_character(value, path, "text", is_long=is_long)
    elif isinstance(value, float) and not math.isfinite(value):
        yield f"`{join_key(path)}` must be a finite number; got {value}."


def _describe_character(text: str, path: tuple[str | int, ...], kind: str, *, is_long: bool) -> Iterator[str]:
    """The first sign that a line, or a text of several lines, cannot have."""
    sign = next((s for s in text if _is_invalid(s) and not (is_long and s in "\n\t")), "")
    if sign:
        got = "a line break" if sign == "\n" else f"U+{ord(sign):04X}"
        yield f"`{join_key(path)}` must be {kind} without control characters; got {got}."


def _is_invalid(sign: str) -> bool:
    """Control characters, breaks of lines, changes of direction, and what no character will ever be."""
    is_none = ord(sign) & 0xFFFE == 0xFFFE or 0xFDD0 <= ord(sign) <= 0xFDEF
    return is_none or sign in _BIDIRECTIONAL or unicodedata.category(sign) in ("Cc", "Zl", "Zp")


def _normalize_tables(raw: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The tables as the records have them: a bare name is a person, a bare number a limit or a label."""
    shaped, unknown = dict(raw), []
    people, limits, evaluation = raw.get("people"), raw.get("limits"), raw.get("evaluation")
    if isinstance(people, dict):
        shaped["people"] = {
            role: {"name": who} if isinstance(who, str) else who for role, who in people.items()
        }
    if isinstance(limits, dict):
        unknown = [describe_unknown(("limits", home)) for home in LIMIT_HOMES if home in limits]
        unknown += [
            f"`limits.{short}` is short for `limits.{name}`, which is set as well; remove one of them."
            for short, name in SHORTHANDS.items()
            if short in limits and name in limits
        ]
        shaped["limits"] = _normalize_limits(
            {SHORTHANDS.get(key, key): limits[key] for key in map(str, limits)}
        )
    if isinstance(evaluation, dict):
        unknown += _find_invalid_models(evaluation)
        shaped["evaluation"] = _normalize_evaluation(evaluation)
    return shaped, unknown


def _find_invalid_models(evaluation: dict[str, Any]) -> Iterator[str]:
    """Models that a list names more than once, and models of a table that have no columns."""
    forecasts = evaluation.get("forecasts")
    if isinstance(forecasts, list):
        models = [model for model in forecasts if isinstance(model, str)]
        for model in dict.fromkeys(model for model in models if models.count(model) > 1):
            yield f"`evaluation.forecasts` must differ; got {model!r} {models.count(model)} times."
    elif isinstance(forecasts, dict):
        for model, columns in forecasts.items():
            if columns == []:
                key = join_key(("evaluation", "forecasts", model))
                yield f"`{key}` must name a column for each class; got an empty list."


def _normalize_evaluation(evaluation: dict[str, Any]) -> dict[str, Any]:
    """Whole numbers are labels; models of a list have columns that go by their names."""
    shaped = dict(evaluation)
    classes, forecasts = evaluation.get("classes"), evaluation.get("forecasts")
    if type(evaluation.get("positive")) is int:
        shaped["positive"] = str(evaluation["positive"])
    if isinstance(classes, list):
        shaped["classes"] = [str(label) if type(label) is int else label for label in classes]
    if isinstance(forecasts, list) and all(isinstance(model, str) for model in forecasts):
        shaped["forecasts"] = dict.fromkeys(forecasts, ())
    return shaped


def _normalize_limits(limits: dict[str, Any]) -> dict[str, Any]:
    one_sided, two_sided = {}, {}
    for name in MEASURES.keys() & limits.keys():
        value, measure = limits[name], MEASURES[name]
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if measure.direction is None:
            two_sided[name] = value
        else:
            one_sided[name] = {"fail": value} if is_number else value
    own = {key: value for key, value in limits.items() if key not in MEASURES}
    return {**own, "one_sided": one_sided, "two_sided": two_sided}
