"""Reading of a configuration: the TOML text, its values, its structure and its rules, in this order."""

from __future__ import annotations

import json
import math
import re
import tomllib
import unicodedata
from datetime import date, datetime, time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scorereport.configuration.configuration_rules import find_broken_rules, find_two_references
from scorereport.configuration.configuration_tables import Configuration, EvaluationTable, Tables
from scorereport.configuration.evaluation_keys import read_evaluation
from scorereport.configuration.limit_names import SHORTHANDS
from scorereport.configuration.measure_limits import MEASURES
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
LONG_TEXTS = (
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
#: A number with a decimal comma as the value of a key.
_COMMA = re.compile(r"=\s*-?[0-9]+,[0-9]+\s*(?:#.*)?$")
#: How deep lists and tables may be nested, and how large a whole number may be.
_DEEPEST, _MOST_BITS = 50, 1000
#: Characters that change the direction in which a text is read.
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
    r"""Parse and check a configuration; `name` is for messages, `folder` is that of its own files.

    >>> parse_configuration('[model]\nowner = "Retail credit"').model.owner
    'Retail credit'
    """
    tables, evaluation = _check_tables(parse_toml(text, name), name)
    return Configuration(
        report=tables.report,
        model=tables.model,
        data=tables.data,
        people=tables.people,
        evaluation=evaluation,
        limits=tables.limits,
        texts=tables.text,
        checkpoints=tables.checkpoints,
        checklist=tables.checklist,
        audit=tables.audit,
        text=text,
        name=name,
        folder=folder,
    )


def decode_text(content: bytes, name: str) -> str:
    """The text of a file, without any change; anything but UTF-8 is refused."""
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UsageError(
            f"{name} is not UTF-8 text: byte 0x{content[error.start]:02x} in line {line}. Save it as UTF-8."
        ) from error


def parse_toml(text: str, name: str) -> dict[str, Any]:
    """The tables of a TOML text, with dates as texts; a byte order mark is ignored."""
    plain = text.removeprefix("\ufeff")
    try:
        return {key: _plain(value, 1) for key, value in tomllib.loads(plain).items()}
    except tomllib.TOMLDecodeError as error:
        lines = plain.split("\n")
        end = f"at line {len(lines)}, column {len(lines[-1]) + 1}, the end"
        reason = str(error).replace("at end of document", end)
        raise UsageError(f"{name} is not valid TOML: {reason}.{_find_comma(lines)}") from error
    except RecursionError:
        raise UsageError(f"{name} is not a configuration: its lists are nested too deeply.") from None
    except ValueError:
        raise UsageError(
            f"{name} is not a configuration: it holds a whole number of more than {_MOST_BITS} bits."
        ) from None


def _find_comma(lines: list[str]) -> str:
    """A sentence on the first number with a decimal comma."""
    number = next((number for number, line in enumerate(lines, start=1) if _COMMA.search(line)), 0)
    return f" Line {number} has a decimal comma; write a point." if number else ""


def _plain(value: Any, depth: int) -> Any:
    """The value with dates as texts.

    Raises a ValueError for whole numbers that are too large, a RecursionError for values nested too deeply.
    """
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


def _check_tables(raw: dict[str, Any], name: str) -> tuple[Tables, EvaluationTable]:
    from pydantic import ValidationError

    problems = list(find_invalid_values(raw))
    shaped, unknown = _normalize_tables(raw)
    problems += unknown
    evaluation = EvaluationTable()
    if isinstance(raw.get("evaluation"), dict):
        shaped["evaluation"] = {}
        evaluation, found = read_evaluation(raw["evaluation"])
        problems += found
    try:
        tables = _adapter().validate_json(json.dumps(shaped))  # JSON: a list may be a tuple
    except ValidationError as error:
        problems += describe_errors(error.errors())
        raise_problems(name, [name_as_written(problem, raw.get("limits")) for problem in problems])
        raise
    problems += [*find_broken_rules(tables), *find_two_references(tables.data, evaluation)]
    raise_problems(name, [name_as_written(problem, raw.get("limits")) for problem in problems])
    return tables, evaluation.add_reference(tables.data.reference)


@cache
def _adapter() -> TypeAdapter[Tables]:
    from pydantic import TypeAdapter

    return TypeAdapter(Tables)


def find_invalid_values(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[str]:
    """Sentences on texts with characters that cannot be printed, and on numbers that are not finite."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _describe_character(key, (*path, key), "a key", is_long=False)
            yield from find_invalid_values(item, (*path, key))
    elif isinstance(value, list):
        for item in value:
            yield from find_invalid_values(item, path)
    elif isinstance(value, str):
        is_long = any(path[:depth] in LONG_TEXTS for depth in (1, 2, 3))
        yield from _describe_character(value, path, "text", is_long=is_long)
    elif isinstance(value, float) and not math.isfinite(value) and path[0] != "evaluation":  # it has rules
        yield f"`{join_key(path)}` must be a finite number; got {value}."


def _describe_character(text: str, path: tuple[str | int, ...], kind: str, *, is_long: bool) -> Iterator[str]:
    """A sentence on the first character that is not allowed; long texts may have line breaks and tabs."""
    character = next((c for c in text if _is_invalid(c) and not (is_long and c in "\n\t")), "")
    if character:
        got = "a line break" if character == "\n" else f"U+{ord(character):04X}"
        yield f"`{join_key(path)}` must be {kind} without control characters; got {got}."


def _is_invalid(character: str) -> bool:
    """Whether it is a control character, line break, change of direction, or Unicode noncharacter."""
    is_noncharacter = ord(character) & 0xFFFE == 0xFFFE or 0xFDD0 <= ord(character) <= 0xFDEF
    category = unicodedata.category(character)
    return is_noncharacter or character in _BIDIRECTIONAL or category in ("Cc", "Zl", "Zp")


def _normalize_tables(raw: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The tables in the form of the records: a bare name is a person, a bare number a limit or a label."""
    shaped, unknown = dict(raw), []
    people, limits = raw.get("people"), raw.get("limits")
    if isinstance(people, dict):
        shaped["people"] = {
            role: {"name": who} if isinstance(who, str) else who for role, who in people.items()
        }
    if isinstance(limits, dict):
        unknown = [describe_unknown(("limits", home)) for home in LIMIT_HOMES if home in limits]
        unknown += _find_same_limits(limits)
        plain = {SHORTHANDS.get(key, key): limits[key] for key in map(str, limits)}
        written = {SHORTHANDS[key]: key for key in map(str, limits) if key in SHORTHANDS}
        shaped["limits"] = _normalize_limits(plain) | {"written": written}
    return shaped, unknown


def _find_same_limits(limits: dict[str, Any]) -> Iterator[str]:
    """Sentences on limits that are set under two names."""
    for short, name in SHORTHANDS.items():
        others = [other for other, meant in SHORTHANDS.items() if meant == name and other < short]
        for other in (name, *others):
            if short in limits and other in limits:
                relation = "is short for" if other == name else "is the same as"
                way_out = "which is set as well; remove one of them."
                yield f"`limits.{short}` {relation} `limits.{other}`, {way_out}"


def _normalize_label(limit: Any) -> Any:
    """A limit with a whole number as a label, as `evaluation.classes` may have it."""
    if not isinstance(limit, dict):
        return limit
    is_label = {"of_class", "up_to"}
    return {key: str(v) if key in is_label and type(v) is int else v for key, v in limit.items()}


def _normalize_limits(limits: dict[str, Any]) -> dict[str, Any]:
    one_sided, two_sided, listed = {}, {}, {}
    for name in MEASURES.keys() & limits.keys():
        value, measure = limits[name], MEASURES[name]
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if measure.argument is not None:
            listed[name] = [_normalize_label(one) for one in (value if isinstance(value, list) else [value])]
        elif measure.direction is None:
            two_sided[name] = value
        else:
            one_sided[name] = {"fail": value} if is_number else value
    own = {key: value for key, value in limits.items() if key not in MEASURES}
    return {**own, "one_sided": one_sided, "two_sided": two_sided, "listed": listed}
