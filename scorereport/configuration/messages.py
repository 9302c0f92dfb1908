"""Messages on what is wrong with a configuration, naming the key."""

from __future__ import annotations

import re
from dataclasses import fields
from types import NoneType
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

from scorereport._utils.suggestions import suggest_name
from scorereport.configuration.configuration_tables import LimitsTable, OneSidedLimit, Tables, TwoSidedLimit
from scorereport.configuration.measure_limits import (
    BINARY_SCORES,
    BOUNDED_SCORES,
    CLASS_SCORES,
    LINE_MEASURES,
    MEASURES,
    SHORTHANDS,
    find_limit_measure,
)
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    Path = tuple[str | int, ...]

#: Where the limits of measures stand in their record; in the file they stand beside its other keys.
LIMIT_HOMES = ("one_sided", "two_sided")
_LONGEST_SHOWN = 60
#: Keys whose lists are told by what they hold as a whole.
_LISTS: dict[Path, str] = {
    ("evaluation", "cost_interval"): "must be a list of two numbers",
    ("evaluation", "cost_matrix"): "must be a list of rows, each a list of numbers",
    ("evaluation", "classes"): "must be a list of labels, each a text or a whole number",
}
#: What pydantic found, and what we ask for.
_RULES = {
    "string_type": "must be text",
    "float_type": "must be a number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "bool_type": "must be true or false",
    "tuple_type": "must be a list",
    "dict_type": "must be a table",
    "dataclass_type": "must be a table",
}


def raise_problems(name: str, problems: Sequence[str]) -> None:
    """Raise the first problem and say how many more there are; nothing if there are none."""
    if problems:
        others = len(problems) - 1
        more = f" ({others} more {'problem' if others == 1 else 'problems'}.)" if others else ""
        raise UsageError(f"{name}: {problems[0]}{more}")


def find_failure(check: Callable[[Any, str], object], value: Any, name: str) -> Iterator[str]:
    """What a check has to say against a value; nothing if it passes."""
    try:
        check(value, name)
    except UsageError as error:
        yield str(error)


def describe_errors(errors: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What pydantic refused, one sentence for each."""
    for error in errors:
        path = _as_written(error["loc"])
        if error["type"] == "unexpected_keyword_argument":
            yield describe_unknown(path)
        elif path[:2] in _LISTS:
            yield f"`{join_key(path[:2])}` {_LISTS[path[:2]]}; got {quote_value(error['input'])}."
        elif error["type"] == "missing":
            yield f"`{join_key(path)}` is missing."
        elif isinstance(path[-1], int):
            noun = "texts" if error["type"] == "string_type" else "numbers"
            yield f"`{join_key(path[:-1])}` must be a list of {noun}; got {quote_value(error['input'])} in it."
        else:
            yield _describe_kind(path, error)


def _describe_kind(path: Path, error: Mapping[str, Any]) -> str:
    rule = _rule_of_table(path) if error["type"] in ("dataclass_type", "dict_type") else ""
    rule = rule or _RULES.get(error["type"], f"is refused ({error['msg']})")
    is_plain = isinstance(error["input"], (int, float)) and not isinstance(error["input"], bool)
    way_out = " Put it in quotes." if error["type"] == "string_type" and is_plain else ""
    return f"`{join_key(path)}` {rule}; got {quote_value(error['input'])}.{way_out}"


def _rule_of_table(path: Path) -> str:
    """What may stand in place of a table."""
    if path[0] == "people" and len(path) == 2:
        return "must be text or a table of `name`, `role`, `organisation`"
    if path == ("evaluation", "forecasts"):
        return "must be a list of models, or a table of the columns of each model"
    if path[0] == "limits" and len(path) == 2:
        known = ", ".join(f"`{key}`" for key in known_keys(path))
        is_two_sided = MEASURES[str(path[1])].direction is None
        return f"must be {'' if is_two_sided else 'a number or '}a table of {known}"
    return ""


def describe_unknown(path: Path) -> str:
    """A key that nobody knows, and the nearest that is known, or all of them."""
    known, word = known_keys(path[:-1]), str(path[-1])
    is_limit = path[0] == "limits" and len(path) == 2
    meant = find_limit_measure(word, known) if is_limit else suggest_name(word, known)
    way_out = f"did you mean `{meant}`?" if meant else _list_known(path, known)
    return f"`{join_key(path)}` is not known; {way_out}"


def _list_known(path: Path, known: Collection[str]) -> str:
    if path[0] == "limits" and len(path) == 2:
        scores = ", ".join(f"`{name}`" for name in (*BINARY_SCORES, "roc_auc", *BOUNDED_SCORES))
        others = ", ".join(f"`{name}`" for name, _, _ in LINE_MEASURES)
        of_classes = ", ".join(f"`{name}`" for name in CLASS_SCORES)
        return (
            f"limits can be set for {scores}, for each of these with `_skill` and, except `roc_auc`, with "
            f"`_miscalibration` or `_discrimination` behind its name, and for {others} and `prevalence`; "
            f"of several classes for {of_classes}, for most of these with `_skill`, and for "
            "`multiclass_brier` and `rps` with `_miscalibration` or `_discrimination` behind the name."
        )
    return f"{'its keys' if len(path) > 1 else 'tables'} are {', '.join(f'`{key}`' for key in known)}."


def suggest(word: str, known: Collection[str]) -> str:
    """A question after the known word that is misspelt; empty if none is."""
    meant = suggest_name(word, known)
    return f"did you mean `{meant}`?" if meant else ""


def known_keys(path: Path) -> list[str]:
    """The keys of the table at a place in the file."""
    if not path:
        return [field.name for field in fields(Tables)]
    if path == ("limits",):
        own = [field.name for field in fields(LimitsTable) if field.name not in LIMIT_HOMES]
        return [*own, *MEASURES, *SHORTHANDS]
    if path[0] == "limits":
        is_two_sided = MEASURES[str(path[1])].direction is None
        return [field.name for field in fields(TwoSidedLimit if is_two_sided else OneSidedLimit)]
    kind: Any = Tables
    for part in path:
        kind = _plain_kind(get_type_hints(kind)[str(part)])
    return [field.name for field in fields(kind)]


def _plain_kind(kind: Any) -> Any:
    """The record that may stand under a key, whether or not it may also be left out."""
    return next((kind for kind in get_args(kind) if kind is not NoneType), kind)


def join_key(path: Path) -> str:
    """A key as one writes it.

    >>> join_key(("limits", "brier", "fail")), join_key(("model", "descriptions", "my model"))
    ('limits.brier.fail', 'model.descriptions."my model"')
    """
    return ".".join(_quote(str(part)) for part in path)


def _quote(part: str) -> str:
    is_bare = part.replace("-", "").replace("_", "").isalnum() and part.isascii()
    return part if is_bare else '"' + ascii(part)[1:-1] + '"' if not part.isprintable() else f'"{part}"'


def quote_value(value: object) -> str:
    """A value as one writes it in Python, cut if it is long."""
    if isinstance(value, dict):
        return "a table"
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]} ..."


def name_as_written(problem: str, limits: object) -> str:
    """A sentence on a limit that names its key as it stands in the file, where it may have a short name."""
    if isinstance(limits, dict):
        for short, name in SHORTHANDS.items():
            if short in limits and name not in limits:
                problem = re.sub(rf"`limits\.{name}(?=[.`])", f"`limits.{short}", problem)
    return problem


def _as_written(path: Path) -> Path:
    """The place in the file of a place in the records."""
    if len(path) > 1 and path[0] == "limits" and path[1] in LIMIT_HOMES:
        return (path[0], *path[2:])
    return path
